"""The Agreement page's answer, tables and charts: coefficients by grades, annotators, topics and time, and rankings."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.results import agreement_charts as charts
from annotate.views.widgets import display, pickers, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.service_cache import cached
from collection import annotator_agreement
from collection.annotator_agreement import (
    COEFFICIENTS,
    MIN_WINDOW_PAIRS,
    Agreement,
    AgreementOptions,
    Labels,
    describe_tau,
    disagreements,
)
from collection.campaign.results.agreement import AgreementStudy
from collection.core.phrases import count, percent
from collection.core.records import sort_naturally
from collection.core.review import MAYBE
from collection.core.vocabulary import RETRIEVAL
from collection.measures import parse

MOST_COUPLES = 20  # pairs of annotators whose conclusions are shown by default; each takes two evaluations
Key = tuple[str, tuple[str, ...], float]
"""Cache key of agreement: state of the judgements, annotators left out, and the minimum relevant grade."""


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
    study: AgreementStudy
    """Of the question that is compared."""

    @property
    def names(self) -> dict[int, str]:
        """The labels of the grades."""
        if self.study.question is not None:
            return self.study.question.labels
        return {grade: self.study.settings.grades.label(grade) for grade in self.study.scale}

    @property
    def is_nominal(self) -> bool:
        """Return whether the grades are answers without an order."""
        return self.study.question is not None and self.study.question.is_nominal

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

    def break_down(self, side: Literal["between", "topics", "windows"], resamples: int = 0) -> pd.DataFrame:
        """The values of this scale and coefficient by one side; `resamples` are for their intervals."""
        compute = cached(annotator_agreement.break_down, self.key, "Comparing")
        options = AgreementOptions(level=self.key[2], resamples=resamples, nominal=self.is_nominal)
        return self.select(compute(self.labels, side, **options))

    def select(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this scale and coefficient."""
        shown = (frame["scale"] == self.scale) & (frame["coefficient"] == self.coefficient)
        return frame[shown].reset_index(drop=True)


def draw_answer(agreement: Agreement, *, of_relevance: bool = True) -> None:
    """Draw the interpretation of the agreement, with at most six numbers."""
    words, is_review = widgets.words(), session.current().campaign.settings.review() is not None
    # Published values for relevance judgements apply neither to screening decisions nor to generated answers.
    _, reading, *more = annotator_agreement.interpret(agreement, of_relevance=of_relevance and words is RETRIEVAL)
    st.markdown(f"#### {widgets.plain(words.apply(reading))}")
    for sentence in more:
        st.write(widgets.plain(words.apply(sentence)))
    numbers = {
        words.apply("Annotators"): f"{len(agreement.annotators):,}",
        words.apply("Pairs with 2+ grades"): f"{agreement.several:,} of {agreement.pairs:,}",
    }
    shown = [
        ("Observed agreement", "observed", "graded"),
        (words.apply(COEFFICIENTS["overlap"].label) if of_relevance else "Overlap", "overlap", "binary"),
    ]
    for label, name, on in shown[:1] if agreement.is_nominal else shown:
        value = annotator_agreement.select_value(agreement.values, name, on)["value"]
        numbers |= {} if isnan(value) else {label: percent(value)}
    for name in ("ordinal", "nominal") if len(agreement.grades) > 2 and not agreement.is_nominal else ("nominal",):
        value = annotator_agreement.select_value(agreement.values, f"alpha-{name}")["value"]
        numbers |= {} if isnan(value) else {f"Alpha, {name}": f"{value:.3f}"}
    if is_review:
        either = "include" if agreement.level > MAYBE else "exclude"
        for label, on in (("all decisions", "graded"), (f"{either} or not", "binary")):
            value = annotator_agreement.select_value(agreement.values, "cohen", on)["value"]
            numbers |= {} if isnan(value) else {f"Kappa, {label}": f"{value:.3f}"}
    widgets.metrics(numbers)
    widgets.documentation_link("explanation/agreement", "How to interpret agreement")


def by_grade(breakdown: Breakdown) -> SelectedPairs | None:
    """Draw the confusion matrix of two annotators, or of all."""
    couples = list(breakdown.labels.met())
    words = widgets.words()
    names = {-1: words.apply("All pairs of annotators")} | {n: " and ".join(couple) for n, couple in enumerate(couples)}
    position = 0 if couples else -1
    if len(couples) > 1:
        position = pickers.pick(words.apply("Compared annotators"), names, -1, f"who-{len(couples)}")
    couple = None if position < 0 else couples[position]
    counts = annotator_agreement.confusion(breakdown.scaled, *(couple or ()))
    labels = {float(grade): name for grade, name in breakdown.names.items()}
    if breakdown.scale == "binary":
        labels = {0.0: words.apply("not relevant"), 1.0: words.apply("relevant")}
    first, second = couple or (words.apply("Annotator A"), words.apply("Annotator B"))
    is_review = session.current().campaign.settings.review() is not None
    chart = charts.confusion_chart(counts, first, second, labels, on_axes=is_review)
    key = f"confusion-{breakdown.state}-{position if couple else 'all'}"
    alt = f"Confusion matrix: {names[position] if couple else words.apply('all annotators')}"
    event = display.altair_chart(chart, on_select="rerun", key=key, alt=alt)
    twice = "" if couple else "; each disagreement is counted in two cells"
    st.caption(words.apply(f"Number of pairs by the grades of both annotators{twice}. Select a cell to see its pairs."))
    if breakdown.study.question is not None:
        st.caption(widgets.plain(", ".join(f"{grade}: {name}" for grade, name in breakdown.names.items())))
    if (cell := charts.selected_cell(event)) is None:
        return None
    a, b = map(float, cell)
    pairs = disagreements(breakdown.scaled, annotators=couple, grades=(a, b))
    one, other = couple or (words.apply("one annotator"), "another")
    gave = [labels[grade].lower() if is_review else f"grade {grade:g}" for grade in (a, b)]
    return SelectedPairs(pairs, f"{one} gave {gave[0]}, {other} gave {gave[1]}")


def by_annotator(breakdown: Breakdown, rest: pd.DataFrame) -> SelectedPairs | None:
    """Draw all pairs of annotators, and each annotator against the others (`rest`: ``Agreement.rest``)."""
    selected = None
    if len(breakdown.labels.met()) > 1:
        between = breakdown.break_down("between")
        chart = charts.annotators_chart(between[["a", "b", "pairs", "value"]], breakdown.name)
        alt = f"{breakdown.name} " + widgets.words().apply("by pair of annotators")
        key = f"annotators-{breakdown.state}-{breakdown.coefficient}"
        event = display.altair_chart(chart, on_select="rerun", key=key, alt=alt)
        st.caption(f"{alt}. " + widgets.words().apply("Select a cell to see the pairs on which they differ."))
        if couple := charts.selected_cell(event):
            pairs = disagreements(breakdown.scaled, annotators=couple)
            selected = SelectedPairs(pairs, f"{couple[0]} and {couple[1]} differ")
    rest = breakdown.select(rest)
    higher = "Mean grade minus that of the other annotators on the same pairs."
    row = display.select_row(
        rest.drop(columns="difference") if breakdown.is_nominal else rest,
        {
            "annotator": text(widgets.words().apply("Annotator"), "medium"),
            "value": number(breakdown.name, "%.3f"),
            "low": number("95% CI low", "%.3f"),
            "high": number("95% CI high", "%.3f"),
            "difference": number(widgets.words().apply("Mean grade difference"), "%+.2f", help=higher),
            "pairs": widgets.words().apply("Common pairs"),
        },
        key=f"rest-{breakdown.state}",
        alt="Each annotator compared with the others",
    )
    compared = "Each annotator compared with the majority of the others (lower grade in a tie)."
    st.caption(widgets.words().apply(f"{compared} Select a row to see the pairs on which they differ."))
    if row is None:
        return selected
    annotator = rest["annotator"][row]
    against = disagreements(breakdown.scaled.against_rest(annotator))[["query_id", "doc_id"]]
    pairs = against.merge(disagreements(breakdown.scaled), on=["query_id", "doc_id"])
    return SelectedPairs(pairs, f"{annotator} differs from the majority of the others")


def by_topic(breakdown: Breakdown) -> SelectedPairs | None:
    """Draw a table of the topics, least agreement first."""
    rows = sort_naturally(breakdown.break_down("topics"))
    rows = rows.sort_values("value", kind="stable", na_position="last")
    now = session.current()
    campaign = now.campaign
    is_task = campaign.settings.task() is not None  # whose answers are compared by the topics of the campaign around it
    topics = (now.outer if is_task else campaign).store.corpus.topics()
    rows = rows.merge(topics[["query_id", "title"]], on="query_id")
    rare = "Alpha and kappa are low if nearly all pairs have the same grade; Gwet's AC1 is not."
    row = display.select_row(
        rows if rows["note"].any() else rows.drop(columns="note"),
        {
            "query_id": text("Topic", "small"),
            "value": number(breakdown.name, "%.3f", help=rare),
            "pairs": "Pairs with 2+ grades",
            "title": text("Title", "medium"),
            "note": text("Note", "medium"),
        },
        most_height=318,
        in_words=not is_task,
        key=f"topics-{breakdown.state}-{breakdown.coefficient}",
        alt="Agreement by topic, lowest first",
    )
    reason = "Low agreement may be due to an ambiguous topic description."
    if campaign.settings.review() is not None:
        reason = "Low agreement may be due to ambiguous criteria."
    st.caption(f"Lowest agreement first. {reason} Select a row to see the disagreements.")
    if row is None:
        return None
    topic = rows["query_id"][row]
    words = "annotators differ in topic"
    cell = f"{words if is_task else widgets.words().apply(words)} {topic}"
    return SelectedPairs(disagreements(breakdown.scaled, query_id=topic), cell)


def over_time(breakdown: Breakdown) -> None:
    """Draw the coefficient in windows of pairs."""
    windows = breakdown.break_down("windows", resamples=500)
    if windows.empty:
        st.write(
            f"At least {MIN_WINDOW_PAIRS} pairs with two or more grades and known times are needed. "
            "Imported grades have no times."
        )
        return
    chart = charts.windows_chart(windows, breakdown.name)
    display.altair_chart(chart, alt=f"{breakdown.name} in windows over time")
    st.caption(
        widgets.words().apply("Windows with equal numbers of pairs, by the time of the last judgement.")
        + " Grey: 95% confidence intervals. "
        + widgets.words().apply("A steady trend may mean that annotators now interpret the guidelines differently.")
    )


def draw_answers(by_answer: Mapping[str, Agreement], names: Mapping[str, str]) -> None:
    """Draw the agreement on whether each tag was given, and its mean; `names` are the labels of the tags."""
    rows = []
    for answer, agreement in by_answer.items():
        alpha = annotator_agreement.select_value(agreement.values, "alpha-nominal")
        observed = annotator_agreement.select_value(agreement.values, "observed")["value"]
        rows.append({"answer": names[answer], "observed": observed, **alpha[["value", "low", "high", "note"]]})
    mean = {"answer": "Mean", **pd.DataFrame(rows)[["observed", "value"]].mean()}
    display.table(
        pd.DataFrame([*rows, mean]),
        {
            "answer": text("Tag", "medium"),
            "observed": number("Observed agreement", "%.3f"),
            "value": number("Krippendorff's alpha, nominal", "%.3f"),
            "low": number("95% CI low", "%.3f"),
            "high": number("95% CI high", "%.3f"),
            "note": text("Note", "large"),
        },
        height="content",
        alt="Agreement on each tag",
    )
    pairs = count(next(iter(by_answer.values())).several, "pair")
    st.caption(
        f"{pairs} with 2 or more answers. Each tag is compared by whether it was given. Select a tag above for its "
        "details."
    )


def draw_coefficients(rows: pd.DataFrame) -> None:
    """Draw the rows: ``coefficient``, ``value``, ``low``, ``high``, ``note``."""
    entries = [COEFFICIENTS[name] for name in rows["coefficient"]]
    display.table(
        (rows if rows["note"].any() else rows.drop(columns="note")).assign(
            label=[entry.label for entry in entries], tolerates=[entry.tolerates for entry in entries]
        ),
        {
            "coefficient": None,
            "label": text("Coefficient", "medium"),
            "value": number("Value", "%.3f", "small"),
            "low": number("95% CI low", "%.3f", "small"),
            "high": number("95% CI high", "%.3f", "small"),
            "tolerates": text("Tolerates", "medium"),
            "note": text("Note", "large"),
        },
        height="content",
        alt="Every coefficient with its interval",
    )
    st.caption("0 = chance agreement, 1 = perfect agreement. Observed agreement and overlap are not chance-corrected.")
    with st.expander("Definitions"):
        for entry in entries:
            st.markdown(f"**{entry.label}**: {widgets.plain(entry.description)}")


def draw_conclusions(breakdown: Breakdown) -> None:
    """Draw a measure's field, the pairs of annotators, and the runs by the grades of the selected two."""
    campaign = session.current().campaign
    if campaign.store.judgements.counts()["runs"] < 2:
        st.write("Import two or more runs to compare the rankings of systems.")
        return
    written = st.text_input("Measure", "nDCG@10", help="Ranks the runs. For example AP(rel=2)@100.")
    couples = len(breakdown.labels.met())
    most = None
    if couples > MOST_COUPLES and not st.toggle(
        f"Compare all {couples:,} pairs of annotators (slow)", key="all-couples"
    ):
        st.caption(f"The {MOST_COUPLES:,} pairs of annotators with the most pairs in common are shown.")
        most = MOST_COUPLES
    compute = cached(breakdown.study.conclusions, breakdown.key, "Evaluating")
    conclusions = compute(str(parse(written)), without=breakdown.key[1], most=most)
    row = None
    if len(conclusions) > 1:
        row = display.select_row(
            pd.DataFrame([c._asdict() for c in conclusions]),
            {
                "a": "Annotator A",
                "b": "Annotator B",
                "pairs": "Common pairs",
                "tau": number("Kendall's tau", "%.3f"),
                "swaps": "Swapped pairs of runs",
                "note": "Note",
            },
            most_height=318,
            key=f"conclusions-{breakdown.state}-{written}",
        )
    chosen = conclusions[row or 0]
    note = widgets.sentence(chosen.note or describe_tau(chosen.tau, chosen.swaps, chosen.runs))
    st.markdown(f"**{widgets.plain(chosen.a)} and {widgets.plain(chosen.b)}:** {note}")
    columns: display.Columns = {
        "run": "Run",
        "a": number(f"{written} by {chosen.a}", "%.4f"),
        "place_a": f"Rank by {chosen.a}",
        "b": number(f"{written} by {chosen.b}", "%.4f"),
        "place_b": f"Rank by {chosen.b}",
    }
    display.table(chosen.table, columns, alt="The runs by the grades of each annotator")
    st.caption(
        f"Means over {count(chosen.topics, 'topic')}, by the {count(chosen.pairs, 'pair')} that both graded; other "
        "pairs count as unjudged. Tau is 1 for identical rankings; swaps of runs with similar values mean little."
    )
