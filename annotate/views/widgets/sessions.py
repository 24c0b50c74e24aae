"""The sessions of an account, with buttons that end them."""

import streamlit as st

from annotate.views.widgets import widgets
from collection.campaign import Campaign
from collection.core.phrases import count


def draw_sessions(campaign: Campaign, name: str, current: str | None = None) -> None:
    """Draw an account's sessions, each with a button that ends it; `current` is the digest of this browser's own.

    Times are in UTC.
    """
    sessions = campaign.people.accounts.sessions(name).to_dict("records")
    others = [each for each in sessions if each["session"] != current]
    for each in sessions:
        left, right = st.columns([4, 1], vertical_alignment="center")
        device = widgets.plain(each["device"] or "unknown browser")
        address = f" at {widgets.plain(each['address'])}" if each["address"] else ""
        opened, seen = (_minutes(each[when]) for when in ("opened_at", "seen_at"))
        left.markdown(f"**{device}**{address}  \nSigned in {opened}, last seen {seen} (UTC)")
        if each["session"] == current:
            right.write("This browser")
        elif right.button("End session", key=f"end-{name}-{each['session']}"):
            with widgets.saving("Session ended."):
                campaign.people.accounts.end_session(each["session"])
    label = "End all other sessions" if current else "End all sessions"
    if len(others) > 1 and st.button(label, key=f"end-{name}"):
        with widgets.saving(f"Ended {count(len(others), 'session')}."):
            campaign.people.accounts.end_sessions(name, keep=current)


def _minutes(at: str | None) -> str:
    return "unknown" if at is None else at[:16].replace("T", " ")
