"""Scores of systems by machine labels of their answers, corrected with human labels of a random sample.

A score by nuggets or by support is a weighted sum of grades, which are predicted from the machine labels. Where people
labelled a pair, the error of its prediction is known; these errors, weighted by the sampling probability, correct the
scores (:mod:`collection.machine_labels.corrected_values`). Each label belongs to one answer, so a run has only its
share of the sample. A variance from so few errors is uncertain, so it is averaged with the variance that the
predictions expect, scaled to the errors of all runs.

Sources: those of :mod:`collection.machine_labels.corrected_values`; Cochran, Sampling techniques, 3rd edition, 1977,
for the difference estimator.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.generated_answers.labelled_answers import FULL, PARTIAL, LabelledAnswers
from collection.generated_answers.registry import AnswerMeasure, as_answer_measures, parse_answer_measure
from collection.machine_labels import (
    LEAST_SAMPLE,
    CorrectedValues,
    combine,
    judged_sample,
    label_steps,
    pair_sizes,
    predict_steps,
    spread,
    tabulate_corrected,
)

SCALE = np.array([0.0, PARTIAL, FULL])

PRIOR = 40
"""Weight of the expected variance, in sampled labels of a run; chosen on simulated labels."""

TOLERANCE = 1e-9


def label_slopes(measure: AnswerMeasure, labelled: LabelledAnswers) -> Floats:
    """(N, 2) change of an answer's value as one of its labels becomes partial support, and then full support.

    The slopes are measured by setting one label of each answer at a time.

    Raises
    ------
    InputError
        The measure reads no labels, or is not a weighted sum of them, such as support by the best citation.
    """
    reads = measure.entry.reads
    if reads == "words":
        raise InputError(f"{measure} reads no labels, so there is nothing to correct")
    if measure.parameters.get("citations") == "max":
        raise InputError(
            f"{measure} cannot be corrected: the best of several citations is not a weighted sum of their labels; use "
            "citations='all' or citations='first'"
        )
    answer, grades = labelled.labels(reads)
    place = pd.Series(answer).groupby(answer).cumcount().to_numpy(dtype=np.int64)
    nothing = measure.compute(labelled.with_grades(reads, np.zeros(len(answer))))
    slopes = np.zeros((len(answer), 2))
    for number in range(int(place.max(initial=-1)) + 1):
        rows, before = np.flatnonzero(place == number), nothing
        for step, grade in enumerate(SCALE[1:]):
            only = np.zeros(len(answer))
            only[rows] = grade
            values = measure.compute(labelled.with_grades(reads, only))
            slopes[rows, step] = (values - before)[answer[rows]]
            before = values
    for known in (np.nan_to_num(grades), np.full(len(answer), float(FULL))):
        summed = nothing + labelled.total(answer, (slopes * label_steps(known, SCALE)).sum(axis=1))
        if np.abs(summed - measure.compute(labelled.with_grades(reads, known))).max(initial=0) > TOLERANCE:
            raise InputError(f"{measure} cannot be corrected; expected a weighted sum of labels")
    return slopes


def label_sizes(measures: AnswerMeasure | str | Iterable[AnswerMeasure | str], labelled: LabelledAnswers) -> Floats:
    """Compute the sampling sizes of labels, for one sample that serves several measures of these labels.

    Returns
    -------
    array
        (N,) sizes of the labels of `labelled`, as from :func:`.pair_sizes`: labels that count more are sampled more
        often.

    Raises
    ------
    InputError
        A measure is not a weighted sum of labels.
    """
    weights = [np.abs(label_slopes(measure, labelled)).sum(axis=1) for measure in as_answer_measures(measures)]
    return pair_sizes(np.array([each / max(float(each.max(initial=0)), TOLERANCE) for each in weights]))


def correct_scores(
    machine: LabelledAnswers,
    people: LabelledAnswers,
    measure: AnswerMeasure | str,
    sizes: Floats,
    priorities: Floats,
    *,
    with_labels: bool = True,
    alpha: float = 0.05,
) -> CorrectedValues:
    """Correct scores by machine labels with human labels of a random sample.

    The corrected scores estimate those that human labels of all pairs would give on these topics. A missing answer
    counts as 0.

    Parameters
    ----------
    machine, people
        The same answers with machine labels and with human labels; a grade in `people` is nan if nobody labelled the
        pair.
    measure
        An answer measure that is a weighted sum of labels.
    sizes, priorities
        (N,) sizes and priorities of the labels, from :func:`label_sizes` and
        :func:`collection.machine_labels.draw_priorities`. People label in order of falling priority; a label from
        before the sample has the priority nan.
    with_labels
        False ignores the machine labels, for comparison.
    alpha
        Intervals have confidence 1 - alpha.

    Raises
    ------
    InputError
        Fewer than :data:`.LEAST_SAMPLE` labels of the sample without a gap in its order, different answers, or a
        measure that is not a weighted sum of labels.
    """
    measure = parse_answer_measure(measure)
    reads = measure.entry.reads
    slopes = label_slopes(measure, machine)
    (answer, guessed), (other, given) = machine.labels(reads), people.labels(reads)
    same = machine.answers[["run", "query_id"]].equals(people.answers[["run", "query_id"]])
    if not same or not np.array_equal(answer, other):
        raise InputError("expected machine labels and people's labels of the same answers, nuggets and citations")
    drawn = judged_sample(sizes, priorities, ~np.isnan(given))
    sampled = len(drawn.rows) - drawn.before
    if sampled < LEAST_SAMPLE and len(drawn.rows) < len(answer):
        raise InputError(
            f"expected at least {LEAST_SAMPLE} labels of the sample without a gap in its random order, found {sampled}"
        )
    runs = list(dict.fromkeys(machine.answers["run"]))
    run = pd.Index(runs).get_indexer(machine.answers["run"])
    topic, topics = pd.factorize(machine.answers["query_id"])
    grades = given[drawn.rows]
    known = label_steps(grades, SCALE)
    features = _features(machine, reads, guessed if with_labels else None, answer, run, topic)
    steps, apart = np.zeros((len(answer), 2)), known.copy()
    if sampled:
        own = slice(drawn.before, None)
        steps, apart[own] = predict_steps(features, drawn.rows[own], grades[own], SCALE)
    expected = spread(slopes[None], steps)[0] / len(topics)
    steps[drawn.rows] = known
    errors = (slopes[drawn.rows] * (known - apart)).sum(axis=1)
    p = drawn.probability
    nothing = measure.compute(machine.with_grades(reads, np.zeros(len(answer))))
    predicted = nothing + machine.total(answer, (slopes * steps).sum(axis=1))
    shifts = machine.total(answer[drawn.rows], errors * (1 - p) / p)
    of_machine = nothing + machine.total(answer, (slopes * label_steps(guessed, SCALE)).sum(axis=1))
    threshold = 0.0 if drawn.gap is None else float(priorities[drawn.gap])
    chance = np.where(np.isnan(priorities), 1.0, np.minimum(1.0, sizes / max(threshold, 1e-300)))
    variance = np.square(expected) * (1 - chance) / chance
    owner = run[answer]
    parts = _parts(
        errors * np.sqrt(1 - p) / p / len(topics),
        owner[drawn.rows],
        np.bincount(owner, variance, len(runs)).astype(np.float64),
    )
    unjudged = np.bincount(owner, np.square(expected) * np.isnan(given), len(runs))
    # The errors of the sample tell how far the predictions are too sure of themselves.
    ratio = np.square(errors / len(topics)).sum() / max(float(np.square(expected[drawn.rows]).sum()), 1e-300)

    def tabulate(values: Floats) -> Floats:
        table = np.zeros((len(runs), len(topics)))
        table[run, topic] = values
        return table

    counts = sampled, drawn.before, len(answer)
    before, added = tabulate(predicted), tabulate(shifts)
    by_labels = tabulate(of_machine)
    alone = by_labels.mean(axis=1) if with_labels else None
    combined = combine(before.mean(axis=1), added.mean(axis=1), parts, np.diag(unjudged * ratio), alone)
    return tabulate_corrected(measure, runs, before + added, by_labels, parts, combined, counts, alpha)


def _features(
    machine: LabelledAnswers, reads: str, labels: Floats | None, answer: Ints, run: Ints, topic: Ints
) -> Floats:
    """(N, F): the topic, and the label beside the means of the run, the answer and the nugget."""
    topics = np.eye(int(topic.max(initial=0)) + 1)[topic[answer]]
    if labels is None:
        return topics
    known = ~np.isnan(labels)
    one_of = np.eye(len(SCALE))[np.nan_to_num(labels).astype(np.int64)] * known[:, None]
    groups = [run[answer], answer, *([] if reads == "support" else [machine.nuggets.nugget])]
    means = [
        np.bincount(group, np.where(known, labels, 0) / FULL) / np.maximum(np.bincount(group, known), 1)
        for group in groups
    ]
    beside = [mean[group] for mean, group in zip(means, groups, strict=True)]
    return np.column_stack([topics, one_of, *beside])


def _parts(seen: Floats, run: Ints, expected: Floats) -> Floats:
    """(R, n + R * PRIOR) independent parts of the error of each run.

    `seen` (n,) are those of the sampled labels, `run` (n,) their runs, and `expected` (R,) the variances that the
    predictions expect. Each variance counts for as many labels as it has, the expected one for :data:`PRIOR`.
    """
    number = len(expected)
    squares = np.bincount(run, np.square(seen), number)
    # Over all runs the expected variance is the one that was seen.
    prior = expected * (squares.sum() / max(float(expected.sum()), 1e-300))
    own = np.bincount(run, minlength=number)
    parts = np.zeros((number, len(seen)))
    parts[run, np.arange(len(seen))] = seen * np.sqrt(own / (own + PRIOR))[run]
    blocks = np.repeat(np.diag(np.sqrt(prior / (own + PRIOR))), PRIOR, axis=1)
    return np.hstack([parts, blocks])
