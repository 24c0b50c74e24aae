"""Tables and charts of the Agreement page: coefficients over all, by grades, annotators, topics and time."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts import agreement as charts
from annotate.elements import display, pickers, widgets
from annotate.elements.columns import number, text
from collection import annotator_agreement
from collection.annotator_agreement import COEFFICIENTS, Labels, disagreements
from collection.records import sort_naturally

Key = tuple[str, str, tuple[str, ...], float]
"""What agreement rests on: campaign, state of the judgements, annotators left out, and the lowest relevant grade."""


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
        return self.labels if self.scale == "graded" else self.labels.binary(self.key[3])

    @property
    def state(self) -> int:
        """Part of each element's key: a selection ends where the grades change."""
        return abs(hash((self.key, self.scale)))

    def values(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this scale and coefficient."""
        mine = (frame["scale"] == self.scale) & (frame["coefficient"] == self.coefficient)
        return frame[mine].reset_index(drop=True)


@st.cache_data(show_spinner="Comparing", max_entries=16)
def _values(key: Key, side: Literal["between", "topics", "windows"], _labels: Labels) -> pd.DataFrame:
    """The values of one breakdown; only those over time have intervals, which their chart shows."""
    resamples = 500 if side == "windows" else 0
    return annotator_agreement.break_down(_labels, side, level=key[3], resamples=resamples)


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
        between = breakdown.values(_values(breakdown.key, "between", breakdown.labels))
        chart = charts.annotators_chart(between[["a", "b", "pairs", "value"]], breakdown.name)
        key, alt = f"annotators-{breakdown.state}-{breakdown.coefficient}", f"{breakdown.name} of every two annotators"
        event = display.altair_chart(chart, on_select="rerun", key=key, alt=alt)
        st.caption(f"{alt} who graded a pair in common. Select a cell for its pairs.")
        if couple := charts.selected_cell(event):
            pairs = disagreements(breakdown.scaled, annotators=couple)
            selected = SelectedPairs(pairs, f"{couple[0]} and {couple[1]} differ")
    rest = breakdown.values(rest)
    higher = "Mean of their grade minus the mean of the others'."
    row = display.select_row(
        rest,
        {
            "annotator": text("Annotator", "medium"),
            "value": number("Value", "%.3f", "small", breakdown.name),
            "low": number("95 % from", "%.3f", "small"),
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
    rows = sort_naturally(breakdown.values(_values(breakdown.key, "topics", breakdown.labels)))
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
    windows = breakdown.values(_values(breakdown.key, "windows", breakdown.labels))
    if windows.empty:
        st.write(
            "There are not enough pairs of which it is known when they were graded: twenty or more by several "
            "annotators. Of imported grades that is not known."
        )
        return
    chart = charts.windows_chart(windows, breakdown.name)
    display.altair_chart(chart, alt=f"{breakdown.name} in windows over time")
    st.caption(
        "Windows of equally many pairs, in the order in which their last judgement came; grey: 95 % intervals. A "
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
            "low": number("95 % from", "%.3f", "small"),
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
