"""Who judges which topic, and what that means for each annotator."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from annotate.auth import session
from annotate.elements import display, widgets

EVERYBODY = "everybody"


def draw(judges: Sequence[str]) -> None:
    """Draw the topics, in which rows are selected to assign them, and what each annotator has."""
    campaign = session.current().campaign
    table = campaign.assignments.table()
    table["who"] = [_named(*who) for who in zip(table["accounts"], table["groups"], strict=True)]
    st.caption("A topic is for everybody who may judge until it is given to somebody. Select rows to change them.")
    selection = display.table(
        table,
        {
            "query_id": TextColumn("Topic", width="small"),
            "title": TextColumn("Title", width="medium"),
            "who": TextColumn("Judged by", width="medium"),
            "pool": NumberColumn("Pairs", width="small"),
            "wanted": NumberColumn("Wanted", width="small", help="Judgements of these pairs in all."),
            "made": NumberColumn("Made", width="small"),
            "left": NumberColumn("Left", width="small"),
        },
        most_height=388,
        on_select="rerun",
        selection_mode="multi-row",
        key="assigned",
        alt="Who judges each topic",
    )
    rows = [row for row in selection["selection"]["rows"] if row < len(table)]
    chosen = table["query_id"].iloc[rows].tolist()
    many = f"{len(chosen):,} topic{'s' if len(chosen) != 1 else ''}"
    _give(chosen, many, judges)
    _deal(chosen, many if chosen else "all topics", judges)
    for notice in campaign.assignments.notices():
        st.warning(widgets.sentence(notice))
    st.subheader("What each annotator has")
    _workloads(judges)


def _named(accounts: Sequence[str], groups: Sequence[str]) -> str:
    """``ann, ben; group students``."""
    parts = [", ".join(accounts)] * bool(accounts) + [f"group {name}" for name in groups]
    return "; ".join(parts) or EVERYBODY


def _give(chosen: list[str], many: str, judges: Sequence[str]) -> None:
    """Selected topics to people and groups."""
    campaign = session.current().campaign
    with st.form("give"):
        left, right = st.columns(2)
        accounts = left.multiselect("People", judges, key="people", placeholder="Nobody in particular")
        groups = right.multiselect("Groups", list(campaign.accounts.groups()), key="groups", placeholder="No group")
        pressed = st.form_submit_button("Give them the selected topics", type="primary", key="give-topics")
        st.caption(f"{many} selected. With neither people nor groups they are for everybody again.")
    if pressed and not chosen:
        st.error("Select one topic or more in the table first.")
    elif pressed:
        with widgets.shown_errors():
            campaign.assignments.assign(chosen, accounts, groups)
            st.toast(f"{many}: {widgets.plain(_named(accounts, groups))}.")
            st.rerun()


def _deal(chosen: list[str], of: str, judges: Sequence[str]) -> None:
    """Topics dealt out evenly, seen before it is done."""
    campaign = session.current().campaign
    settings = campaign.settings.assignment()
    with st.expander("Deal topics out evenly"):
        left, right = st.columns([3, 1])
        among = left.multiselect("Among", judges, judges, key="among")
        most = max(len(judges), 1)
        each = right.number_input("People for each topic", 1, most, min(settings.annotators, most), key="each")
        st.caption(f"Of {of}, so that each person has about as many pairs as any other.")
        if each < settings.annotators and settings.which != "topics":
            st.caption(f"A pair is judged by {settings.annotators} annotators: each topic needs as many people.")
        with widgets.shown_errors(st.info):
            dealt = campaign.assignments.deal(among, each, chosen or None)
            sizes = campaign.assignments.table().set_index("query_id")["pool"]
            rows = [(name, query_id, sizes[query_id]) for query_id, names in dealt.items() for name in names]
            plan = pd.DataFrame(rows, columns=["name", "query_id", "pairs"]).groupby("name", sort=False, as_index=False)
            display.table(
                plan.agg(topics=("query_id", "size"), pairs=("pairs", "sum")).sort_values("name"),
                {"name": "Person", "topics": "Topics", "pairs": "Pairs"},
                alt="What each person would have",
            )
            if st.button(f"Deal {of}", key="deal"):
                with campaign.transaction():
                    for query_id, names in dealt.items():
                        campaign.assignments.assign([query_id], names)
                st.toast("Dealt.")
                st.rerun()


def _workloads(judges: Sequence[str]) -> None:
    """What each annotator has before them."""
    campaign = session.current().campaign
    rows = []
    for name in judges:
        done, goal = campaign.progress.totals(name)
        rows.append(
            (name, len(campaign.progress.topics_for(name)), done, None if goal is None else max(goal - done, 0))
        )
    table = pd.DataFrame(rows, columns=["name", "topics", "done", "left"])
    display.table(
        table.astype({"left": "Int64"}),
        {
            "name": "Annotator",
            "topics": NumberColumn("Topics", help="Those for everybody among them."),
            "done": NumberColumn("Done", help="Pairs that want no judgement of theirs any more."),
            "left": NumberColumn("Pairs left", help="Pairs that still take a judgement of theirs."),
        },
        most_height=388,
        placeholder="no end",
        alt="What each annotator has",
    )
    st.caption("A pair that any of several people may judge is counted for each of them until it has all it wants.")
