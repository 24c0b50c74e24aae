"""The runs under each annotator's grades: whether two annotators would put the systems into the same order."""

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn

from annotate.auth import session
from annotate.elements import display, pairs_table, widgets
from annotate.elements.agreement_tables import Breakdown, Key
from collection.annotator_agreement import describe_tau
from collection.campaign.agreement import Conclusion
from collection.measures import parse

MOST = 20
"""Pairs of annotators whose conclusions are drawn unasked: each evaluates every run twice."""


@st.cache_data(show_spinner="Evaluating", max_entries=16)
def _conclusions(key: Key, measure: str, most: int | None) -> list[Conclusion]:
    """The runs under each one's grades, kept as the grades are."""
    return session.current().campaign.agreement.conclusions(parse(measure), without=key[2], most=most)


def draw(of: Breakdown) -> None:
    """Draw a measure's field, the pairs of annotators, and the runs by the grades of the selected two."""
    if session.current().campaign.progress.counts()["runs"] < 2:
        st.write("Conclusions are about systems: import the runs of two or more of them.")
        return
    written = st.text_input("Measure", "nDCG@10", help="Written as AP(rel=2)@100; `cleverdon measures` lists them.")
    couples = len(of.labels.met())
    most = None
    if couples > MOST and not st.toggle(
        f"All {couples:,} pairs of annotators: each takes as long as evaluating every run twice", key="all-couples"
    ):
        st.caption(f"The {MOST:,} pairs of annotators with the most pairs in common:")
        most = MOST
    conclusions = _conclusions(of.key, str(parse(written)), most)
    told = conclusions[0]
    if len(conclusions) > 1:
        selection = display.table(
            pd.DataFrame([c._asdict() for c in conclusions]),
            {
                **{name: name for name in ("a", "b", "topics", "pairs", "runs")},
                "tau": NumberColumn("Kendall's tau", format="%.3f"),
                "swaps": NumberColumn("Pairs of runs swapped"),
                "note": "note",
            },
            most_height=318,
            on_select="rerun",
            selection_mode="single-row",
            key=f"conclusions-{of.state}-{written}",
        )
        told = conclusions[pairs_table.selected_row(selection, len(conclusions)) or 0]
    said = told.note[0].upper() + told.note[1:] if told.note else describe_tau(told.tau, told.swaps, told.runs)
    st.markdown(f"**{widgets.plain(told.a)} and {widgets.plain(told.b)}:** {widgets.plain(said)}.")
    display.table(
        told.table,
        {
            "run": "Run",
            "a": NumberColumn(told.a, format="%.4f"),
            "place_a": NumberColumn("Place", width="small"),
            "b": NumberColumn(told.b, format="%.4f"),
            "place_b": NumberColumn("Place ", width="small"),
        },
        alt="The runs by each one's grades",
    )
    st.caption(
        f"Means over {told.topics:,} topics by the {told.pairs:,} pairs that both graded, with everything else "
        "unjudged. Tau is 1 where both put the systems into the same order. In TREC's study it was 0.94 on average "
        "while the relevant documents overlapped by less than half (Voorhees 2000). Swaps of systems that are close "
        "to each other mean little."
    )
