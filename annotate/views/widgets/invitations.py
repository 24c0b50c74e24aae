"""Links of invitations, which a manager copies and sends."""

from urllib.parse import quote, urlsplit

import streamlit as st

from annotate.auth import session
from annotate.views.widgets.widgets import plain
from collection.campaign import Campaign
from collection.campaign.operations.server_state import is_loopback
from collection.campaign.people.accounts import LINK_DAYS
from collection.core.phrases import count

LINK = "link"  # key of the session's newest link: a name and an address


def keep_link(name: str, token: str) -> None:
    """Keep a new link; every script run shows it until the manager closes it."""
    parts, address = urlsplit(st.context.url or ""), session.current().campaign.operations.server_state.address() or ""
    home = f"{parts.scheme}://{parts.netloc}" if parts.netloc else address
    if is_loopback(home) and address and not is_loopback(address):  # the manager is at the server itself
        home = address
    st.session_state[LINK] = (name, f"{home}/invitation?token={quote(token)}")


def draw_takeover(campaign: Campaign) -> bool:
    """Draw the choice to let a person continue with imported judgements, if some have a name without an account."""
    if not campaign.people.accounts.imported_names():
        return False
    words = campaign.settings.vocabulary
    return st.checkbox(
        words.apply("Judgements imported under this name are by this person"),
        key="imported",
        help=words.apply("The person continues with these judgements, and can change them."),
    )


def draw_link(help_page: str) -> None:
    """Draw the kept link, if there is one; `help_page` is the text that says where to read about addresses."""
    if not (link := st.session_state.get(LINK)):
        return
    with st.container(border=True):
        st.write(
            f"**Link for {plain(link[0])}.** Copy it and send it yourself. It cannot be shown again after you close it "
            "or create another link."
        )
        st.caption(f"It works once, within {count(LINK_DAYS, 'day')}.")
        st.code(link[1], language=None, wrap_lines=True)
        if is_loopback(link[1]):
            st.caption(
                "People on other machines cannot open this address. Serve the app at an address that they can reach: "
                f"see {help_page}."
            )
        if st.button("Close", key="close-link"):
            del st.session_state[LINK]
            st.rerun()
