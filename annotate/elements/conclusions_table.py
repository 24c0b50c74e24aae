"""The order of the systems under the grades of each of two annotators."""

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.elements.agreement_tables import Breakdown
from annotate.elements.columns import number
from annotate.elements.service_cache import cached
from collection.annotator_agreement import describe_tau
from collection.measures import parse

MOST = 20
"""Pairs of annotators whose conclusions are shown by default: each evaluates every run twice."""


def draw(breakdown: Breakdown) -> None:
    """Draw a measure's field, the pairs of annotators, and the runs by the grades of the selected two."""
    campaign = session.current().campaign
    if campaign.progress.counts()["runs"] < 2:
        st.write("Conclusions are about systems: import the runs of two or more of them.")
        return
    written = st.text_input("Measure", "nDCG@10", help="Written as AP(rel=2)@100; `cleverdon measures` lists them.")
    couples = len(breakdown.labels.met())
    most = None
    if couples > MOST and not st.toggle(
        f"All {couples:,} pairs of annotators: each takes as long as evaluating every run twice", key="all-couples"
    ):
        st.caption(f"The {MOST:,} pairs of annotators with the most pairs in common:")
        most = MOST
    compute = cached(campaign.agreement.conclusions, breakdown.key, "Evaluating")
    conclusions = compute(str(parse(written)), without=breakdown.key[2], most=most)
    row = None
    if len(conclusions) > 1:
        row = display.select_row(
            pd.DataFrame([c._asdict() for c in conclusions]),
            {
                **{name: name for name in ("a", "b", "topics", "pairs", "runs")},
                "tau": number("Kendall's tau", "%.3f"),
                "swaps": number("Pairs of runs swapped"),
                "note": "note",
            },
            most_height=318,
            key=f"conclusions-{breakdown.state}-{written}",
        )
    chosen = conclusions[row or 0]
    note = (
        chosen.note[0].upper() + chosen.note[1:] if chosen.note else describe_tau(chosen.tau, chosen.swaps, chosen.runs)
    )
    st.markdown(f"**{widgets.plain(chosen.a)} and {widgets.plain(chosen.b)}:** {widgets.plain(note)}.")
    by_a = {"a": number(chosen.a, "%.4f"), "place_a": number("Place", width="small")}
    by_b = {"b": number(chosen.b, "%.4f"), "place_b": number("Place ", width="small")}
    display.table(chosen.table, {"run": "Run", **by_a, **by_b}, alt="The runs by each one's grades")
    st.caption(
        f"Means over {chosen.topics:,} topics by the {chosen.pairs:,} pairs that both graded, with everything else "
        "unjudged. Tau is 1 where both put the systems into the same order. In TREC's study it was 0.94 on average "
        "while the relevant documents overlapped by less than half (Voorhees 2000). Swaps of systems that are close "
        "to each other mean little."
    )
