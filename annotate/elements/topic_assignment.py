"""The assignment of topics to annotators, and the workload of each annotator."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.elements.columns import number, text
from collection.phrases import count

EVERYBODY = "everybody"


def draw(judges: Sequence[str]) -> None:
    """Draw the topics, whose selected rows can be assigned, and the workload of each annotator."""
    campaign = session.current().campaign
    table = campaign.assignments.table()
    table["who"] = [_named(*who) for who in zip(table["accounts"], table["groups"], strict=True)]
    st.caption("A topic is for everybody who may judge until it is given to somebody. Select rows to change them.")
    selection = display.table(
        table,
        {
            "query_id": text("Topic", "small"),
            "title": text("Title", "medium"),
            "who": text("Judged by", "medium"),
            "pool": number("Pairs", width="small"),
            "wanted": number("Wanted", width="small", help="Judgements of these pairs in all."),
            "made": number("Made", width="small"),
            "left": number("Left", width="small"),
        },
        most_height=388,
        on_select="rerun",
        selection_mode="multi-row",
        key="assigned",
        alt="Who judges each topic",
    )
    rows = [row for row in selection["selection"]["rows"] if row < len(table)]
    chosen = table["query_id"].iloc[rows].tolist()
    selected = count(len(chosen), "topic")
    _draw_assignment(chosen, selected, judges)
    _draw_even_assignment(chosen, selected if chosen else "all topics", judges)
    for notice in campaign.assignments.notices():
        st.warning(widgets.sentence(notice))
    st.subheader("What each annotator has")
    _draw_workloads(judges)


def _named(accounts: Sequence[str], groups: Sequence[str]) -> str:
    """``ann, ben; group students``."""
    parts = [", ".join(accounts)] * bool(accounts) + [f"group {name}" for name in groups]
    return "; ".join(parts) or EVERYBODY


def _draw_assignment(chosen: list[str], selected: str, judges: Sequence[str]) -> None:
    campaign = session.current().campaign
    with st.form("give"):
        left, right = st.columns(2)
        accounts = left.multiselect("People", judges, key="people", placeholder="Nobody in particular")
        groups = right.multiselect("Groups", list(campaign.accounts.groups()), key="groups", placeholder="No group")
        pressed = st.form_submit_button("Give them the selected topics", type="primary", key="give-topics")
        st.caption(f"{selected} selected. With neither people nor groups they are for everybody again.")
    if pressed and not chosen:
        st.error("Select one topic or more in the table first.")
    elif pressed:
        with widgets.saving(f"{selected}: {widgets.plain(_named(accounts, groups))}."):
            campaign.assignments.assign(chosen, accounts, groups)


def _draw_even_assignment(chosen: list[str], selected: str, judges: Sequence[str]) -> None:
    campaign = session.current().campaign
    settings = campaign.settings.assignment()
    with st.expander("Deal topics out evenly"):
        left, right = st.columns([3, 1])
        among = left.multiselect("Among", judges, judges, key="among")
        most = max(len(judges), 1)
        each = right.number_input("People for each topic", 1, most, min(settings.annotators, most), key="each")
        st.caption(f"Of {selected}, so that each person has about as many pairs as any other.")
        if each < settings.annotators and settings.which != "topics":
            st.caption(f"A pair is judged by {settings.annotators} annotators: each topic needs as many people.")
        with widgets.shown_errors(st.info):
            dealt = campaign.assignments.deal(among, each, chosen or None)
            sizes = campaign.assignments.table().set_index("query_id")["pool"]
            rows = [(name, query_id, sizes[query_id]) for query_id, names in dealt.items() for name in names]
            by_name = pd.DataFrame(rows, columns=["name", "query_id", "pairs"]).groupby("name", as_index=False)
            plan = by_name.agg(topics=("query_id", "size"), pairs=("pairs", "sum"))
            columns = {"name": "Person", "topics": "Topics", "pairs": "Pairs"}
            display.table(plan, columns, alt="What each person would have")
            if st.button(f"Deal {selected}", key="deal"):
                with widgets.saving("Dealt."), campaign.transaction():
                    for query_id, names in dealt.items():
                        campaign.assignments.assign([query_id], names)


def _draw_workloads(judges: Sequence[str]) -> None:
    progress = session.current().campaign.progress
    table = pd.DataFrame([(name, *progress.totals(name)) for name in judges], columns=["name", "done", "goal"])
    table = table.astype({"done": "Int64", "goal": "Int64"})
    table["topics"] = [len(progress.topics_for(name)) for name in judges]
    table["left"] = (table["goal"] - table["done"]).clip(lower=0)
    display.table(
        table,
        {
            "name": "Annotator",
            "topics": number("Topics", help="Those for everybody among them."),
            "done": number("Done", help="Pairs that want no judgement of theirs any more."),
            "left": number("Pairs left", help="Pairs that still take a judgement of theirs."),
        },
        most_height=388,
        placeholder="no end",
        alt="What each annotator has",
    )
    st.caption("A pair that any of several people may judge is counted for each of them until it has all it wants.")
