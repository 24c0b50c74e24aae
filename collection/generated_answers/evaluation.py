"""Evaluation of generated answers by answer measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from collection.comparison import Evaluation
from collection.comparison.evaluation import Coverage
from collection.core.arrays import Bools, Floats
from collection.core.errors import InputError, require_known
from collection.core.phrases import count, join_first, plural
from collection.core.records import ALL_TOPICS, sort_naturally
from collection.generated_answers.labelled_answers import LabelledAnswers
from collection.generated_answers.registry import AnswerMeasure, as_answer_measures

DEFAULT_ANSWER_MEASURES = (
    "nugget_vital(strict=True)",
    "nugget_vital",
    "nugget_all",
    "support_precision",
    "support_recall",
    "words",
)

MissingAnswers = Literal["zero", "leave-out"]
"""How a topic without an answer counts in the mean of a run."""

COUNT_AS = {"zero": "missing answers count as 0", "leave-out": "means are over the other topics"}


def evaluate_labelled(
    labelled: LabelledAnswers,
    measures: AnswerMeasure | str | Iterable[AnswerMeasure | str] = (),
    *,
    missing_answers: MissingAnswers = "zero",
) -> Evaluation:
    """Evaluate labelled answers: values per run, measure and topic, and means over topics.

    Parameters
    ----------
    labelled
        From :func:`.label_answers`.
    measures
        :data:`.ANSWER_MEASURES` by name; by default those of :data:`DEFAULT_ANSWER_MEASURES` whose labels are there.
    missing_answers
        "zero": a topic that a run did not answer counts as 0, if any answer to it has a value. "leave-out": it has no
        value, and the mean is over the topics that the run answered.

    Raises
    ------
    InputError, UnknownNameError
        A measure is unknown or given twice, its labels are missing, or `missing_answers` is unknown.
    """
    require_known("value of missing_answers", get_args(MissingAnswers), missing_answers)
    measured = as_answer_measures(measures)
    if not measured:
        measured = [m for m in as_answer_measures(DEFAULT_ANSWER_MEASURES) if labelled.topics[m.entry.reads]]
    for measure in measured:
        if not labelled.topics[measure.entry.reads]:
            raise InputError(f"{measure} needs {measure.entry.inputs}, found none")
    names = labelled.answers
    runs = list(dict.fromkeys(names["run"]))
    every = {topic for measure in measured for topic in labelled.topics[measure.entry.reads]}
    topics = sort_naturally(pd.DataFrame({"query_id": sorted(every)}, dtype="str"))["query_id"].tolist()
    if ALL_TOPICS in every:
        raise InputError(f"a topic is named {ALL_TOPICS!r}, a name reserved for the mean over topics")
    at = pd.MultiIndex.from_product([runs, topics]).get_indexer(pd.MultiIndex.from_frame(names[["run", "query_id"]]))
    has = np.isin(np.arange(len(runs) * len(topics)), at).reshape(len(runs), len(topics))
    values = [_values(measure, labelled, at, has, topics, missing_answers) for measure in measured]
    table = np.array(
        [[_with_mean(measure, row) for row in rows] for measure, rows in zip(measured, values, strict=True)]
    )
    labels = [str(measure) for measure in measured]
    columns: dict[str, Sequence[Any]] = {
        "run": np.repeat(runs, len(labels) * (len(topics) + 1)).tolist(),
        "query_id": [*topics, ALL_TOPICS] * (len(runs) * len(labels)),
        "measure": np.tile(np.repeat(labels, len(topics) + 1), len(runs)).tolist(),
        "value": table.transpose(1, 0, 2).ravel().tolist(),
    }
    shares = [_unlabelled_shares(measure, labelled, runs) for measure in measured]
    unjudged: dict[str, Sequence[Any]] = {
        "run": np.repeat(runs, len(labels)).tolist(),
        "measure": labels * len(runs),
        "cutoff": [None] * (len(labels) * len(runs)),
        "unjudged": np.array(shares).T.ravel().tolist(),
    }
    notes = [*labelled.notes, *_describe_gaps(measured, labelled, set(topics))]
    return Evaluation(
        columns,
        _coverage(labelled, runs, topics, has),
        unjudged,
        dict(zip(labels, measured, strict=True)),
        notes=tuple(notes),
        missing=COUNT_AS[missing_answers],
    )


def _values(
    measure: AnswerMeasure, labelled: LabelledAnswers, at: Any, has: Bools, topics: list[str], missing: MissingAnswers
) -> Floats:
    """(R, T) values; nan for topics without what the measure reads, and for answers without labels."""
    reads = measure.entry.reads
    of_answers = np.where(_unlabelled(measure, labelled), np.nan, measure.compute(labelled))
    values: Floats = np.full(has.shape, np.nan)
    values.flat[at[at >= 0]] = of_answers[at >= 0]
    values[:, [topic not in labelled.topics[reads] for topic in topics]] = np.nan
    if missing == "zero":
        values[~has & ~np.isnan(values).all(axis=0)] = 0.0  # nobody has judged the other topics yet
    return values


def _unlabelled(measure: AnswerMeasure, labelled: LabelledAnswers) -> Bools:
    """(A,) whether an answer has none of the labels that a measure reads."""
    reads = measure.entry.reads
    return labelled.unlabelled(reads, None if reads == "words" else measure.needed(labelled))


def _with_mean(measure: AnswerMeasure, row: Floats) -> Floats:
    known = row[~np.isnan(row)]
    return np.append(row, measure.summarise(known) if len(known) else np.nan)


def _unlabelled_shares(measure: AnswerMeasure, labelled: LabelledAnswers, runs: list[str]) -> list[float]:
    """Share of the labels that a measure reads which are missing, for each run."""
    if measure.entry.reads == "words":
        return [0.0] * len(runs)
    answer, grade = labelled.labels(measure.entry.reads)
    needed = measure.needed(labelled)
    run = labelled.answers["run"].to_numpy()[answer[needed]]
    return pd.Series(np.isnan(grade[needed])).groupby(run).mean().reindex(runs, fill_value=0.0).tolist()


def _coverage(labelled: LabelledAnswers, runs: list[str], topics: list[str], has: Bools) -> list[Coverage]:
    """Missing answers of each run, and how many of the labels of its other answers are known."""
    parts = [labelled.labels(reads) for reads in ("nugget assignments", "support")]
    answer, grade = (np.concatenate(each) for each in zip(*parts, strict=True))
    needed = ~labelled.empty[answer.astype(np.int64)]
    answer, grade = answer[needed], grade[needed]
    run = labelled.answers["run"].to_numpy()[answer.astype(np.int64)]
    place = pd.Index(runs).get_indexer(pd.Index(run))
    every, unknown = np.bincount(place, minlength=len(runs)), np.bincount(place[np.isnan(grade)], minlength=len(runs))
    answered = labelled.answers["query_id"].groupby(labelled.answers["run"]).agg(list)
    return [
        Coverage(
            name,
            len(topics),
            tuple(topic for topic, present in zip(topics, row, strict=True) if not present),
            tuple(topic for topic in answered[name] if topic not in set(topics)),
            int(every[number]),
            int(unknown[number]),
            0.0,
        )
        for number, (name, row) in enumerate(zip(runs, has, strict=True))
    ]


def _describe_gaps(measured: list[AnswerMeasure], labelled: LabelledAnswers, topics: set[str]) -> list[str]:
    """Notes on answers without any label, and on topics that a measure leaves out."""
    notes = []
    for reads in dict.fromkeys(measure.entry.reads for measure in measured):
        at_topic = labelled.answers["query_id"].isin(labelled.topics[reads]).to_numpy()
        what = (
            "number of words" if reads == "words" else "nugget assignment" if "nugget" in reads else "judged citation"
        )
        if lacking := int((labelled.unlabelled(reads) & at_topic).sum()):
            notes.append(f"{count(lacking, 'answer')} without a {what} {plural(lacking, 'has', 'have')} no value")
        for measure in (each for each in measured if each.entry.reads == reads):
            more = int((_unlabelled(measure, labelled) & ~labelled.unlabelled(reads) & at_topic).sum())
            if more:
                notes.append(
                    f"{count(more, 'answer')} with other labels, but none that {measure} reads, "
                    f"{plural(more, 'has', 'have')} no value by it"
                )
        if left := sorted(topics - labelled.topics[reads]):
            names = ", ".join(str(measure) for measure in measured if measure.entry.reads == reads)
            notes.append(
                f"{count(len(left), 'topic')} {plural(len(left), 'has', 'have')} no value by {names}, since "
                f"{plural(len(left), 'it has', 'they have')} no labels ({join_first(left)})"
            )
    return list(dict.fromkeys(notes))
