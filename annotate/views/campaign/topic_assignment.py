"""Assignment of topics to annotators, and the workload of each annotator."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from collection.core.phrases import count

EVERYONE = "everyone"


def draw(judges: Sequence[str]) -> None:
    """Draw the topics, of which selected ones can be assigned, and the workload of each annotator."""
    campaign, words = session.current().campaign, widgets.words()
    table = campaign.people.assignments.table()
    table["who"] = [_named(*who) for who in zip(table["accounts"], table["groups"], strict=True)]
    st.caption(words.apply("Select the topics to assign in the first column."))
    selection = display.table(
        table,
        {
            "query_id": display.identifier("Topic", table["query_id"]),
            "title": text("Title", 170),
            "who": text("Annotators", 150),
            "pool": number("Pairs", width=60),
            "wanted": number("Judgements needed", width=135),
            "made": number("Judgements made", width=125),
            "left": number("Judgements left", width=115),
        },
        placeholder="–",
        most_height=388,
        on_select="rerun",
        selection_mode="multi-row",
        key="assigned",
        alt=words.apply("Annotators of each topic"),
    )
    rows = [row for row in selection["selection"]["rows"] if row < len(table)]
    chosen = table["query_id"].iloc[rows].tolist()
    selected = count(len(chosen), words.topic, words.topics)
    _draw_assignment(chosen, selected, judges)
    sizes = table.set_index("query_id")["pool"]
    _draw_even_assignment(chosen, selected if chosen else f"all {words.topics}", judges, sizes)
    for notice in campaign.people.assignments.notices(table):
        st.warning(widgets.sentence(notice))
    st.subheader("Workload by annotator")
    _draw_workloads(judges)


def _named(accounts: Sequence[str], groups: Sequence[str]) -> str:
    """``ann, ben; group students``."""
    parts = [", ".join(accounts)] * bool(accounts) + [f"group {name}" for name in groups]
    return "; ".join(parts) or EVERYONE


def _draw_assignment(chosen: list[str], selected: str, judges: Sequence[str]) -> None:
    campaign, words = session.current().campaign, widgets.words()
    with st.form("give"):
        left, right = st.columns(2)
        accounts = left.multiselect("Annotators", judges, key="people", placeholder="Everybody")
        groups = right.multiselect(
            "Groups", list(campaign.store.accounts.groups()), key="groups", placeholder="No groups"
        )
        pressed = st.form_submit_button(words.apply("Assign selected topics"), type="primary", key="give-topics")
        st.caption(f"{selected} selected. Without annotators and groups, {words.topics} are open to everyone.")
    if pressed and not chosen:
        st.error(words.apply("Select at least one topic in the table."))
    elif pressed:
        with widgets.saving(f"Assigned {selected} to {widgets.plain(_named(accounts, groups))}."):
            campaign.people.assignments.assign(chosen, accounts, groups)


def _draw_even_assignment(chosen: list[str], selected: str, judges: Sequence[str], sizes: pd.Series) -> None:
    """Draw the distribution of topics; `sizes` are the numbers of pooled pairs by topic."""
    campaign = session.current().campaign
    settings, words = campaign.settings.assignment(), widgets.words()
    with st.expander(words.apply("Distribute topics evenly")):
        left, right = st.columns([3, 1])
        among = left.multiselect("Distribute among", judges, judges, key="among")
        most = max(len(judges), 1)
        each = right.number_input(
            words.apply("Annotators per topic"), 1, most, min(settings.annotators, most), key="each"
        )
        st.caption(f"Distributes {selected} so that everyone gets about the same number of pairs.")
        if each < settings.annotators and settings.which != "topics":
            needed = f"{settings.annotators} annotators, because {settings.annotators} judge each pair."
            st.caption(f"Each {words.topic} needs {needed}")
        with widgets.shown_errors(st.info):
            dealt = campaign.people.assignments.deal(among, each, chosen or None)
            rows = [(name, query_id, sizes[query_id]) for query_id, names in dealt.items() for name in names]
            by_name = pd.DataFrame(rows, columns=["name", "query_id", "pairs"]).groupby("name", as_index=False)
            plan = by_name.agg(topics=("query_id", "size"), pairs=("pairs", "sum"))
            columns = {"name": "Annotator", "topics": "Topics", "pairs": "Pairs"}
            display.table(plan, columns, alt=words.apply("Topics and pairs of each annotator"))
            if st.button(f"Assign {selected}", key="deal"):
                with widgets.saving(f"Assigned {selected}."), campaign.transaction():
                    for query_id, names in dealt.items():
                        campaign.people.assignments.assign([query_id], names)


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
            "topics": number("Topics", help=f"Including {widgets.words().topics} open to everyone."),
            "done": number("Pairs done", "localized", help="Pairs that need no further judgement from this annotator."),
            "left": number("Pairs left", "localized", help="Pairs that this annotator can still judge."),
        },
        most_height=388,
        placeholder="unlimited",
        alt="Workload by annotator",
    )
    st.caption("A pair that several annotators can judge counts for each of them.")
