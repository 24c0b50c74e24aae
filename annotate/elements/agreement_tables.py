"""The tables and charts of the Agreement page: coefficients over all, by grades, annotators, topics and time."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from annotate.auth import session
from annotate.charts import agreement as charts
from annotate.elements import display, pairs_table, widgets
from collection import annotator_agreement
from collection.annotator_agreement import COEFFICIENTS, Labels
from collection.records import sort_naturally

Key = tuple[str, str, tuple[str, ...], float]
"""What agreement rests on: the campaign, the state of its judgements, who is left out, and the least relevant grade."""


class SelectedPairs(NamedTuple):
    """The pairs behind a selected cell or row, and which they are, in words."""

    pairs: pd.DataFrame
    cell: str


@dataclass(frozen=True)
class Breakdown:
    """Grades on one scale (``graded`` or ``binary``), and the coefficient whose values are broken down."""

    key: Key
    labels: Labels
    scale: str
    coefficient: str

    @property
    def name(self) -> str:
        """What the coefficient is called."""
        return COEFFICIENTS[self.coefficient].label

    @property
    def shown(self) -> Labels:
        """The grades on this scale."""
        return self.labels if self.scale == "graded" else self.labels.binary(self.key[3])

    @property
    def state(self) -> int:
        """Part of each element's key: no cell stays selected where another has come to stand."""
        return abs(hash((self.key, self.scale)))

    def values(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this scale and coefficient."""
        mine = (frame["scale"] == self.scale) & (frame["coefficient"] == self.coefficient)
        return frame[mine].reset_index(drop=True)


@st.cache_data(show_spinner="Comparing", max_entries=16)
def _values(key: Key, side: Literal["between", "topics", "windows"], _labels: Labels) -> pd.DataFrame:
    """One breakdown, kept as the grades are; only that over time has intervals, since it is a picture of them."""
    resamples = 500 if side == "windows" else 0
    return annotator_agreement.break_down(_labels, side, level=key[3], resamples=resamples)


def by_grade(of: Breakdown) -> SelectedPairs | None:
    """Draw the confusion matrix of two annotators, or of all."""
    names_of = of.labels.annotators
    couples = [(a, b) for n, a in enumerate(names_of) for b in names_of[n + 1 :]]
    number = 0 if couples else -1
    if len(couples) > 1:
        number = st.selectbox(
            "Whose grades",
            range(-1, len(couples)),
            key=f"who-{len(couples)}",
            format_func=lambda n: "every two annotators" if n < 0 else " and ".join(couples[n]),
        )
    couple = None if number < 0 else couples[number]
    counts = annotator_agreement.confusion(of.shown, *(couple or ()))
    if not counts.to_numpy().any():
        st.info("These two graded no pair in common.")
        st.stop()
    scale = session.current().campaign.grades
    names = {float(g): scale.label(g) for g in scale.sentences}
    if of.scale == "binary":
        names = {0.0: "not relevant", 1.0: "relevant"}
    rows_are, columns_are = couple or ("one", "the other")
    event = display.altair_chart(
        charts.confusion_chart(counts, rows_are, columns_are, names),
        on_select="rerun",
        key=f"confusion-{of.state}-{number if couple else 'all'}",
        alt=f"Confusion matrix of {' and '.join(couple) if couple else 'all annotators'}",
    )
    st.caption(
        ("" if couple else "Every two judgements of a pair count once; a disagreement stands in both of its cells. ")
        + "Framed: both gave the same grade. Select a cell to see its pairs."
    )
    if (at := charts.selected_cell(event)) is None:
        return None
    one, other = map(float, at)
    pairs = annotator_agreement.disagreements(of.shown, annotators=couple, grades=(one, other))
    return SelectedPairs(pairs, f"{rows_are} said {one:g} and {columns_are} {other:g}")


def by_annotator(of: Breakdown, rest: pd.DataFrame) -> SelectedPairs | None:
    """Draw every two annotators, and each against the others (`rest`: ``Agreement.rest``)."""
    found = None
    if len(of.labels.annotators) > 2:
        between = of.values(_values(of.key, "between", of.labels))
        event = display.altair_chart(
            charts.annotators_chart(between[["a", "b", "pairs", "value"]], of.name),
            on_select="rerun",
            key=f"annotators-{of.state}-{of.coefficient}",
            alt=f"{of.name} of every two annotators",
        )
        st.caption(f"{of.name} of every two annotators who graded a pair in common. Select a cell for its pairs.")
        if at := charts.selected_cell(event):
            found = SelectedPairs(
                annotator_agreement.disagreements(of.shown, annotators=at), f"{at[0]} and {at[1]} differ"
            )
    rest = of.values(rest)
    selection = display.table(
        rest,
        {
            "annotator": TextColumn("Annotator", width="medium"),
            "value": NumberColumn("Value", format="%.3f", width="small", help=of.name),
            "low": NumberColumn("95 % from", format="%.3f", width="small"),
            "high": NumberColumn("to", format="%.3f", width="small"),
            "difference": NumberColumn(
                "Grades higher by",
                format="%+.2f",
                width="small",
                help="Mean of their grade minus the mean of the others'.",
            ),
            "pairs": NumberColumn("Pairs", width="small"),
        },
        on_select="rerun",
        selection_mode="single-row",
        key=f"rest-{of.state}",
        alt="Each annotator against the others",
    )
    st.caption(
        "Each annotator against the majority of the others (in a tie the lower grade). Select a row to see where "
        "they differ."
    )
    if (row := pairs_table.selected_row(selection, len(rest))) is None:
        return found
    annotator = rest["annotator"][row]
    against = annotator_agreement.disagreements(of.shown.against_rest(annotator))[["query_id", "doc_id"]]
    pairs = against.merge(annotator_agreement.disagreements(of.shown), on=["query_id", "doc_id"])
    return SelectedPairs(pairs, f"{annotator} differs from the majority of the others")


def by_topic(of: Breakdown) -> SelectedPairs | None:
    """Draw a table of the topics, least agreement first."""
    rows = sort_naturally(of.values(_values(of.key, "topics", of.labels)))
    rows = rows.sort_values("value", kind="stable", na_position="last")
    rows = rows.merge(session.current().campaign.corpus.topics()[["query_id", "title"]], on="query_id")
    selection = display.table(
        rows if rows["note"].any() else rows.drop(columns="note"),
        {
            "query_id": TextColumn("Topic", width="small"),
            "value": NumberColumn("Value", format="%.3f", width="small", help=of.name),
            "pairs": NumberColumn("Pairs", width="small", help="Those that several graded."),
            "title": TextColumn("Title", width="medium"),
            "note": TextColumn("Note", width="medium"),
        },
        most_height=318,
        on_select="rerun",
        selection_mode="single-row",
        key=f"topics-{of.state}-{of.coefficient}",
        alt="Agreement topic by topic, least first",
    )
    st.caption(
        "Least agreement first: often the topic's description leaves room for two readings. Where nearly all pairs "
        "have the same grade, alpha and kappa are low although most grades are the same; Gwet's AC1 is not. Select a "
        "row to see its disagreements."
    )
    if (row := pairs_table.selected_row(selection, len(rows))) is None:
        return None
    topic = rows["query_id"][row]
    return SelectedPairs(
        annotator_agreement.disagreements(of.shown, query_id=topic), f"annotators differ in topic {topic}"
    )


def over_time(of: Breakdown) -> None:
    """Draw the coefficient in windows of pairs."""
    windows = of.values(_values(of.key, "windows", of.labels))
    if windows.empty:
        st.write(
            "There are not enough pairs of which it is known when they were graded: twenty or more by several "
            "annotators. Of imported grades that is not known."
        )
        return
    display.altair_chart(charts.windows_chart(windows, of.name), alt=f"{of.name} in windows over time")
    st.caption(
        "Windows of equally many pairs, in the order in which their last judgement came; grey: 95 % intervals. A "
        "line that falls or rises steadily is drift: annotators have begun to read the guidelines otherwise. A "
        "single low window may be one hard topic."
    )


def draw_coefficients(rows: pd.DataFrame) -> None:
    """Draw them.

    Parameters
    ----------
    rows
        ``coefficient``, ``value``, ``low``, ``high``, ``note``.
    """
    labels = [COEFFICIENTS[name].label for name in rows["coefficient"]]
    display.table(
        (rows if rows["note"].any() else rows.drop(columns="note")).assign(label=labels),
        {
            "coefficient": None,
            "label": TextColumn("Coefficient", width="medium"),
            "value": NumberColumn("Value", format="%.3f", width="small"),
            "low": NumberColumn("95 % from", format="%.3f", width="small"),
            "high": NumberColumn("to", format="%.3f", width="small"),
            "note": TextColumn("Note", width="large"),
        },
        height="content",
        alt="Every coefficient with its interval",
    )
    with st.expander("How to read each of them"):
        for name in rows["coefficient"]:
            st.markdown(f"**{COEFFICIENTS[name].label}**: {widgets.plain(COEFFICIENTS[name].description)}")
    st.caption(
        "0 is what chance would bring and 1 always the same, save for observed agreement and overlap, which know no "
        "chance. Krippendorff's custom is to rely on grades from alpha 0.80 on and to draw tentative conclusions from "
        "0.667 on; judgements of relevance rarely get there, and serve all the same to tell which system is better. "
        "Look at Conclusions for that."
    )
