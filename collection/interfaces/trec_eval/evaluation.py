"""Evaluation of a run as trec_eval 10 or 9 does it, and the lines that it prints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import join_first
from collection.core.records import ALL_TOPICS, JudgementFormat, Run
from collection.interfaces.trec_eval.arguments import OutputColumn
from collection.interfaces.trec_eval.measures import Graded, GradedGroups, NeededJudgements
from collection.interfaces.trec_eval.preferences import Level, TopicPreferences, add_in_order, gather
from collection.measures import UNJUDGED, UNPOOLED, Aligned, Version, align, rank_as
from collection.measures.table import GEOMETRIC_FLOOR

_READS: dict[JudgementFormat, NeededJudgements] = {
    "qrels": "qrels",
    "qrels_jg": "groups",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
}
"""Format -> the kind of judgements that measures read from it."""

MISSING_SCORE = -1000000.0
"""The z-score of a value that has no line in the file."""


@dataclass(frozen=True)
class TrecOptions:
    """Options of trec_eval that change values.

    Attributes
    ----------
    level
        Minimum relevant grade (``-l``); at 0 or less every judged document is relevant, below 0 also documents that are
        not judged, where a measure looks at ranks.
    depth
        Number of ranks evaluated in each topic, None for all, none at 0 or less (``-M``).
    judged_only
        Whether unjudged documents are removed first (``-J``).
    complete
        Whether a topic that the run lacks counts (``-c``); otherwise version 10 refuses it and version 9 leaves it out.
    documents
        Number of documents in the collection, for ``utility`` (``-N``).
    version
        The version whose order of ties, recall levels and treatment of missing topics apply.
    """

    level: int = 1
    depth: int | None = None
    judged_only: bool = False
    complete: bool = False
    documents: int = 0
    version: Version = 10


class ColumnValues(NamedTuple):
    """The values of a column, one per topic, numbers or texts; `total` is the summary if they do not give it."""

    column: OutputColumn
    values: Floats | Sequence[str]
    total: float | str | None = None

    @property
    def are_texts(self) -> bool:
        """Return whether the values are texts."""
        return not isinstance(self.values, np.ndarray)


class RunEvaluation(NamedTuple):
    """The topics in order, the values of each column, and whether these are z-scores."""

    topics: list[str]
    columns: list[ColumnValues]
    z_scores: bool = False


def evaluate(
    judgements: pd.DataFrame, run: Run, columns: Sequence[OutputColumn], form: JudgementFormat, options: TrecOptions
) -> RunEvaluation:
    """Evaluate a run as trec_eval does.

    Parameters
    ----------
    judgements
        :data:`collection.core.frames.LEVELS` for "prefs", else :data:`collection.core.frames.QRELS`, for "qrels_jg" and
        "qrels_prefs" with the group in ``subtopic``.
    run
        Ranked by :func:`collection.core.ranking.rank_run`.
    columns
        From :func:`collection.interfaces.trec_eval.choose`.
    form
        The format of the file of judgements.

    Raises
    ------
    InputError
        A measure reads judgements of another format; the run lacks a topic (for version 9: all topics) and
        ``options.complete`` is not set; or preferences contradict each other.
    """
    for column in columns:
        if column.measure.needs not in ("any", _READS[form]):
            formats = " or ".join(f"-R {name}" for name, reads in _READS.items() if reads == column.measure.needs)
            raise InputError(f"{column.name} needs {formats}, found -R {form}")
    present = set(_topics(run.frame))
    if options.version == 9 and (options.depth is not None or _READS[form] == "preferences"):  # else align() ranks
        run = run._replace(frame=rank_as(run.frame, 9))
    if options.version == 9 and not options.complete:
        judgements = judgements[judgements["query_id"].astype("str").isin(present)]
        if judgements.empty:
            raise InputError("the run has no topic of the judgements; use -c to count them as 0")
    topics = _topics(judgements)
    missing = np.array([topic not in present for topic in topics], dtype=np.bool_)
    if missing.any() and not options.complete:
        names = join_first([repr(topic) for topic, lacks in zip(topics, missing, strict=True) if lacks])
        raise InputError(f"the run lacks topics of the judgements: {names}; use -c to count them as 0")
    graded_runs: Graded | GradedGroups | list[TopicPreferences]
    if _READS[form] == "preferences":
        graded_runs = _preferences(judgements, run, topics, options)
    elif _READS[form] == "groups":
        graded_runs = _groups(judgements, run, topics, options)
    else:
        graded_runs = _graded(judgements, run, topics, options)
    evaluated = [_values(column, graded_runs, missing) for column in columns]
    totals: dict[str, float | str] = {"runid": run.name, "num_q": len(topics)}
    if options.complete and _READS[form] == "qrels":
        # With -c, trec_eval counts the grades above 0 in the file, whatever the level.
        totals["num_rel"] = int((judgements["relevance"] >= 1).sum())
    return RunEvaluation(topics, [each._replace(total=totals.get(each.column.name)) for each in evaluated])


def _topics(frame: pd.DataFrame) -> list[str]:
    """The topics of a frame in order."""
    return sorted(map(str, frame["query_id"].unique()))


def _graded(qrels: pd.DataFrame, run: Run, topics: list[str], options: TrecOptions) -> Graded:
    """Align a run with qrels; rows in the order of the topics."""
    # trec_eval reads only the integer part of a grade.
    qrels = qrels.assign(relevance=np.trunc(qrels["relevance"].to_numpy()))
    frame = run.frame if options.depth is None else run.frame[run.frame["rank"] <= options.depth]
    aligned = _in_order(align(frame, qrels, version=options.version), topics)
    lacking = ~np.isin(topics, run.frame["query_id"].astype("str").unique().tolist())
    if lacking.any():
        aligned = _with_one_document(aligned, lacking)
    aligned = aligned.condensed if options.judged_only else aligned
    return Graded(aligned, max(options.level, 0), options.documents, _with_unjudged(aligned, options.level))


def _with_unjudged(aligned: Aligned, level: int) -> Aligned:
    """The run with grade 0 for documents that are not in the qrels (level -1 or less) or have no grade (-2 or less)."""
    if level >= 0:
        return aligned
    retrieved = np.arange(aligned.grades.shape[1]) < aligned.retrieved[:, None]
    counts = retrieved & ((aligned.grades == UNPOOLED) | ((aligned.grades == UNJUDGED) & (level <= -2)))
    return replace(aligned, grades=np.where(counts, 0, aligned.grades).astype(aligned.grades.dtype))


def _in_order(aligned: Aligned, topics: list[str]) -> Aligned:
    """The same with its topics in this order."""
    if aligned.topics == topics:
        return aligned
    row = {topic: i for i, topic in enumerate(aligned.topics)}
    rows = np.array([row[topic] for topic in topics], dtype=np.int64)
    return replace(
        aligned,
        topics=topics,
        grades=aligned.grades[rows],
        retrieved=aligned.retrieved[rows],
        judged=aligned.judged[rows],
    )


def _with_one_document(aligned: Aligned, lacking: Bools) -> Aligned:
    """Give topics that the run lacks one document that is not pooled, as trec_eval does."""
    grades = aligned.grades
    if not grades.shape[1]:
        grades = np.full((len(aligned.topics), 1), UNPOOLED, dtype=grades.dtype)
    return replace(aligned, grades=grades, retrieved=np.where(lacking, 1, aligned.retrieved))


def _groups(qrels: pd.DataFrame, run: Run, topics: list[str], options: TrecOptions) -> GradedGroups:
    """Align a run with the qrels of each group."""
    place = {topic: i for i, topic in enumerate(topics)}
    groups: list[tuple[Ints, Graded]] = []
    for _, rows in qrels.groupby("subtopic", sort=True, observed=True):
        own = _topics(rows)
        places = np.array([place[topic] for topic in own], dtype=np.int64)
        groups.append((places, _graded(rows.drop(columns="subtopic"), run, own, options)))
    return GradedGroups(len(topics), groups)


def _preferences(levels: pd.DataFrame, run: Run, topics: list[str], options: TrecOptions) -> list[TopicPreferences]:
    """Gather the preferences of each topic about the run, whose ties are in ascending order of document ids."""
    if "subtopic" in levels:  # qrels whose second column names the group
        levels = levels.rename(columns={"subtopic": "group", "relevance": "level"}).assign(subgroup="0")
    frame = run.frame[run.frame["query_id"].isin(topics)]
    order = frame.assign(query_id=frame["query_id"].astype("str"))
    order = order.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, True])
    depth = None if options.depth is None else max(0, options.depth)
    rankings = {str(topic): docs.tolist()[:depth] for topic, docs in order.groupby("query_id")["doc_id"]}
    rows = zip(*(levels[name].tolist() for name in ("query_id", *Level._fields)), strict=True)
    by_topic = groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0])
    return [gather(topic, [Level(*row[1:]) for row in own], rankings.get(topic, [])) for topic, own in by_topic]


def _values(
    column: OutputColumn, evaluated: Graded | GradedGroups | list[TopicPreferences], missing: np.ndarray
) -> ColumnValues:
    """The values of a column; those of topics that the run lacks are corrected as trec_eval corrects them."""
    measure = column.measure
    values = measure.function(evaluated, *(() if column.argument is None else (column.argument,)))
    if measure.summary == "geometric mean":
        values = np.array([math.log(max(value, GEOMETRIC_FLOOR)) for value in np.asarray(values).tolist()])
    if measure.cleared and (column.name == measure.name or measure.takes == "cutoffs"):
        if isinstance(values, np.ndarray):
            values = np.where(missing, 0.0, values)
        else:
            values = ["" if lacks else text for text, lacks in zip(values, missing.tolist(), strict=True)]
    return ColumnValues(column, values)


def to_z_scores(evaluation: RunEvaluation, reference: pd.DataFrame) -> RunEvaluation:
    """Replace each value by its distance from a mean, in standard deviations.

    Parameters
    ----------
    reference
        :data:`collection.core.frames.REFERENCE_SCORES`: the mean and standard deviation for topics and columns. Values
        without a row become -1000000, as do values that differ from a mean with a standard deviation of 0.

    Returns
    -------
    RunEvaluation
        The z-scores of the same topics and columns; texts stay.
    """
    columns = (reference[name].tolist() for name in ("query_id", "measure", "mean", "deviation"))
    known = {(topic, name): (mean, deviation) for topic, name, mean, deviation in zip(*columns, strict=True)}

    def convert(topic: str, name: str, value: float) -> float:
        mean, deviation = known.get((topic, name), (math.nan, 0.0))
        if deviation:
            return (value - mean) / deviation
        return 0.0 if value == mean else MISSING_SCORE

    def convert_all(each: ColumnValues) -> ColumnValues:
        if each.are_texts:
            return each
        pairs = zip(evaluation.topics, np.asarray(each.values).tolist(), strict=True)
        return each._replace(values=np.array([convert(topic, each.column.name, value) for topic, value in pairs]))

    return RunEvaluation(evaluation.topics, [convert_all(each) for each in evaluation.columns], z_scores=True)


def summarise(each: ColumnValues, topics: int) -> float | str | None:
    """The value for all topics; None if there is none."""
    if each.total is not None:
        return each.total
    if each.are_texts:
        return None
    total = add_in_order(np.asarray(each.values, dtype=np.float64).tolist())
    if each.column.measure.summary == "sum":
        return total
    mean = total / topics
    return math.exp(mean) if each.column.measure.summary == "geometric mean" else mean


def format_lines(evaluation: RunEvaluation, *, by_topic: bool, with_summary: bool) -> Iterator[str]:
    """Yield the lines of trec_eval's output: measure, topic and value, with tabs between them."""
    if by_topic:
        shown = [each for each in evaluation.columns if each.column.measure.by_topic]
        starts = [_start(each, evaluation.z_scores) for each in shown]
        texts = [[_text(each, value, evaluation.z_scores) for value in each.values] for each in shown]
        for place, topic in enumerate(evaluation.topics):
            for start, values in zip(starts, texts, strict=True):
                yield f"{start}\t{topic}\t{values[place]}"
    if with_summary:
        for each in evaluation.columns:
            value = summarise(each, len(evaluation.topics))
            if value is not None:
                text = value if isinstance(value, str) else _text(each, value, evaluation.z_scores)
                yield f"{_start(each, evaluation.z_scores)}\t{ALL_TOPICS}\t{text}"


def _start(each: ColumnValues, z_scores: bool) -> str:
    """The first column: z-scores have a Z before the name, except for texts."""
    return f"{'Z' if z_scores and not each.are_texts else ''}{each.column.name:<22}"


def _text(each: ColumnValues, value: float | str, z_scores: bool) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return str(int(value)) if each.column.measure.whole and not z_scores else f"{value:6.4f}"
