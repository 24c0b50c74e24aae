"""Tables and charts of the Agreement page: coefficients by grades, annotators, topics and time, and conclusions."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import agreement as charts
from annotate.elements import display, pickers, widgets
from annotate.elements.columns import number, text
from annotate.elements.service_cache import cached
from collection import annotator_agreement
from collection.annotator_agreement import COEFFICIENTS, Labels, describe_tau, disagreements
from collection.measures import parse
from collection.records import sort_naturally

MOST_COUPLES = 20  # pairs of annotators whose conclusions are shown by default; each takes two evaluations
Key = tuple[str, tuple[str, ...], float]
"""What agreement rests on: state of the judgements, annotators left out, and the lowest relevant grade."""


class SelectedPairs(NamedTuple):
    """The pairs of a selected cell or row, and its description."""

    pairs: pd.DataFrame
    cell: str


@dataclass(frozen=True)
class Breakdown:
    """Grades, and the scale (``graded`` or ``binary``) and coefficient by which they are broken down."""

    key: Key
    labels: Labels
    scale: str
    coefficient: str

    @property
    def name(self) -> str:
        """Label of the coefficient."""
        return COEFFICIENTS[self.coefficient].label

    @property
    def scaled(self) -> Labels:
        """The grades on this scale."""
        return self.labels if self.scale == "graded" else self.labels.binary(self.key[2])

    @property
    def state(self) -> int:
        """Part of each element's key: a selection ends where the grades change."""
        return abs(hash((self.key, self.scale)))

    def by_side(self, side: Literal["between", "topics", "windows"], resamples: int = 0) -> pd.DataFrame:
        """The values of this scale and coefficient by one side; `resamples` are for their intervals."""
        break_down = cached(annotator_agreement.break_down, self.key, "Comparing")
        return self.select(break_down(self.labels, side, level=self.key[2], resamples=resamples))

    def select(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this scale and coefficient."""
        mine = (frame["scale"] == self.scale) & (frame["coefficient"] == self.coefficient)
        return frame[mine].reset_index(drop=True)


def by_grade(breakdown: Breakdown) -> SelectedPairs | None:
    """Draw the confusion matrix of two annotators, or of all."""
    couples = list(combinations(breakdown.labels.annotators, 2))
    names = {-1: "every two annotators"} | {n: " and ".join(couple) for n, couple in enumerate(couples)}
    position = 0 if couples else -1
    if len(couples) > 1:
        position = pickers.pick("Whose grades", names, -1, f"who-{len(couples)}")
    couple = None if position < 0 else couples[position]
    counts = annotator_agreement.confusion(breakdown.scaled, *(couple or ()))
    if not counts.to_numpy().any():
        st.info("These two graded no pair in common.")
        st.stop()
    scale = session.current().campaign.grades
    labels = {float(g): scale.label(g) for g in scale.sentences}
    if breakdown.scale == "binary":
        labels = {0.0: "not relevant", 1.0: "relevant"}
    first, second = couple or ("one", "the other")
    chart = charts.confusion_chart(counts, first, second, labels)
    key = f"confusion-{breakdown.state}-{position if couple else 'all'}"
    alt = f"Confusion matrix of {names[position] if couple else 'all annotators'}"
    event = display.altair_chart(chart, on_select="rerun", key=key, alt=alt)
    st.caption(
        ("" if couple else "Every two judgements of a pair count once; a disagreement stands in both of its cells. ")
        + "Framed: both gave the same grade. Select a cell to see its pairs."
    )
    if (cell := charts.selected_cell(event)) is None:
        return None
    a, b = map(float, cell)
    pairs = disagreements(breakdown.scaled, annotators=couple, grades=(a, b))
    return SelectedPairs(pairs, f"{first} said {a:g} and {second} {b:g}")


def by_annotator(breakdown: Breakdown, rest: pd.DataFrame) -> SelectedPairs | None:
    """Draw every two annotators, and each against the others (`rest`: ``Agreement.rest``)."""
    selected = None
    if len(breakdown.labels.annotators) > 2:
        between = breakdown.by_side("between")
        chart = charts.annotators_chart(between[["a", "b", "pairs", "value"]], breakdown.name)
        key, alt = f"annotators-{breakdown.state}-{breakdown.coefficient}", f"{breakdown.name} of every two annotators"
        event = display.altair_chart(chart, on_select="rerun", key=key, alt=alt)
        st.caption(f"{alt} who graded a pair in common. Select a cell for its pairs.")
        if couple := charts.selected_cell(event):
            pairs = disagreements(breakdown.scaled, annotators=couple)
            selected = SelectedPairs(pairs, f"{couple[0]} and {couple[1]} differ")
    rest = breakdown.select(rest)
    higher = "Mean of their grade minus the mean of the others'."
    row = display.select_row(
        rest,
        {
            "annotator": text("Annotator", "medium"),
            "value": number("Value", "%.3f", "small", breakdown.name),
            "low": number("95% from", "%.3f", "small"),
            "high": number("to", "%.3f", "small"),
            "difference": number("Grades higher by", "%+.2f", "small", higher),
            "pairs": number("Pairs", width="small"),
        },
        key=f"rest-{breakdown.state}",
        alt="Each annotator against the others",
    )
    st.caption(
        "Each annotator against the majority of the others (in a tie the lower grade). Select a row to see where "
        "they differ."
    )
    if row is None:
        return selected
    annotator = rest["annotator"][row]
    against = disagreements(breakdown.scaled.against_rest(annotator))[["query_id", "doc_id"]]
    pairs = against.merge(disagreements(breakdown.scaled), on=["query_id", "doc_id"])
    return SelectedPairs(pairs, f"{annotator} differs from the majority of the others")


def by_topic(breakdown: Breakdown) -> SelectedPairs | None:
    """Draw a table of the topics, least agreement first."""
    rows = sort_naturally(breakdown.by_side("topics"))
    rows = rows.sort_values("value", kind="stable", na_position="last")
    rows = rows.merge(session.current().campaign.corpus.topics()[["query_id", "title"]], on="query_id")
    row = display.select_row(
        rows if rows["note"].any() else rows.drop(columns="note"),
        {
            "query_id": text("Topic", "small"),
            "value": number("Value", "%.3f", "small", breakdown.name),
            "pairs": number("Pairs", width="small", help="Those that several graded."),
            "title": text("Title", "medium"),
            "note": text("Note", "medium"),
        },
        most_height=318,
        key=f"topics-{breakdown.state}-{breakdown.coefficient}",
        alt="Agreement topic by topic, least first",
    )
    st.caption(
        "Least agreement first: often the topic's description leaves room for two readings. Where nearly all pairs "
        "have the same grade, alpha and kappa are low although most grades are the same; Gwet's AC1 is not. Select a "
        "row to see its disagreements."
    )
    if row is None:
        return None
    topic = rows["query_id"][row]
    return SelectedPairs(disagreements(breakdown.scaled, query_id=topic), f"annotators differ in topic {topic}")


def over_time(breakdown: Breakdown) -> None:
    """Draw the coefficient in windows of pairs."""
    windows = breakdown.by_side("windows", resamples=500)
    if windows.empty:
        st.write(
            "There are not enough pairs of which it is known when they were graded: twenty or more by several "
            "annotators. Of imported grades that is not known."
        )
        return
    chart = charts.windows_chart(windows, breakdown.name)
    display.altair_chart(chart, alt=f"{breakdown.name} in windows over time")
    st.caption(
        "Windows of equally many pairs, in the order in which their last judgement came; grey: 95% intervals. A "
        "line that falls or rises steadily is drift: annotators have begun to read the guidelines otherwise. A "
        "single low window may be one hard topic."
    )


def draw_coefficients(rows: pd.DataFrame) -> None:
    """Draw the rows: ``coefficient``, ``value``, ``low``, ``high``, ``note``."""
    entries = [COEFFICIENTS[name] for name in rows["coefficient"]]
    display.table(
        (rows if rows["note"].any() else rows.drop(columns="note")).assign(label=[entry.label for entry in entries]),
        {
            "coefficient": None,
            "label": text("Coefficient", "medium"),
            "value": number("Value", "%.3f", "small"),
            "low": number("95% from", "%.3f", "small"),
            "high": number("to", "%.3f", "small"),
            "note": text("Note", "large"),
        },
        height="content",
        alt="Every coefficient with its interval",
    )
    with st.expander("How to read each of them"):
        for entry in entries:
            st.markdown(f"**{entry.label}**: {widgets.plain(entry.description)}")
    st.caption(
        "0 is what chance would bring and 1 always the same, save for observed agreement and overlap, which know no "
        "chance. Krippendorff's custom is to rely on grades from alpha 0.80 on and to draw tentative conclusions from "
        "0.667 on; judgements of relevance rarely get there, and serve all the same to tell which system is better. "
        "Look at Conclusions for that."
    )


def draw_conclusions(breakdown: Breakdown) -> None:
    """Draw a measure's field, the pairs of annotators, and the runs by the grades of the selected two."""
    campaign = session.current().campaign
    if campaign.progress.counts()["runs"] < 2:
        st.write("Conclusions are about systems: import the runs of two or more of them.")
        return
    written = st.text_input("Measure", "nDCG@10", help="Written as AP(rel=2)@100; `cleverdon measures` lists them.")
    couples = len(breakdown.labels.met())
    most = None
    if couples > MOST_COUPLES and not st.toggle(
        f"All {couples:,} pairs of annotators: each takes as long as evaluating every run twice", key="all-couples"
    ):
        st.caption(f"The {MOST_COUPLES:,} pairs of annotators with the most pairs in common:")
        most = MOST_COUPLES
    compute = cached(campaign.agreement.conclusions, breakdown.key, "Evaluating")
    conclusions = compute(str(parse(written)), without=breakdown.key[1], most=most)
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
