"""Values of systems by machine labels, corrected by people's grades of a random sample of the pairs.

Grades of all pairs are predicted from the labels, the ranks and the topics. The errors of these predictions, seen where
people have judged and weighted by the probability of the sample, correct the values that the predictions give. So the
result is right on average whatever the labels are; better labels can only make the interval narrower. For nDCG it is
nearly right: its ideal bends, so with a few judgements of a topic whose relevant documents are rare, values are too
low by a part of the interval.

Sources: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic, "Prediction-powered inference", Science 2023; Zrnic & Candès,
"Cross-prediction-powered inference", PNAS 2024; Satterthwaite, Biometrics Bulletin 1946, for the degrees of freedom.
Measures that are no sums over pairs, such as nDCG, are corrected along their slopes (von Mises expansion).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import count, plural
from collection.expected_judgements import Pairs
from collection.machine_labels.combined_values import CombinedValues, combine
from collection.machine_labels.estimated_values import estimate_values, require_measure
from collection.machine_labels.human_sample import JudgedSample
from collection.machine_labels.predicted_grades import describe_labels, label_steps, predict_steps
from collection.measures import Measure

COMMON = 3
"""Number of features of the ranks in :attr:`.Pairs.features` that do not belong to one run."""

LEAST_SAMPLE = 20
"""Smallest number of sampled judgements for a correction."""

BLOCK = 100_000
"""Runs times pairs whose slopes are computed at a time: those of all pairs in hundreds of runs would take gigabytes."""


@dataclass(frozen=True, eq=False)
class CorrectedValues:
    """Corrected values of R runs by one measure.

    Attributes
    ----------
    values
        ``run``, ``labels`` (the value by machine labels alone), ``corrected``, ``low``, ``high``, ``combined``,
        ``combined_low``, ``combined_high`` (:func:`.combine`). Intervals are cut at the ends of the measure's range.
    differences
        A row per pair of runs: ``run_a``, ``run_b``, ``difference`` (a minus b, corrected), ``low``, ``high``, and
        ``combined``, ``combined_low``, ``combined_high``.
    by_topic, labels_by_topic
        (R, T) corrected values of single topics, which are right on average but scatter widely, and the values by
        machine labels.
    parts
        (R, n) independent parts of the error of each corrected value (:func:`half_width`).
    sampled, before, pairs
        Number of judgements of the sample, of judgements before it, and of all pairs.
    """

    measure: str
    values: pd.DataFrame
    differences: pd.DataFrame
    by_topic: Floats
    labels_by_topic: Floats
    parts: Floats
    sampled: int
    before: int
    pairs: int
    alpha: float


def correct(
    pairs: Pairs,
    measure: Measure,
    labels: Floats | None,
    drawn: JudgedSample,
    grades: Floats,
    levels: Sequence[float],
    *,
    alpha: float = 0.05,
) -> CorrectedValues:
    """Correct the values of runs by people's grades of a sample.

    The target is the value that people's grades of all pairs would give; other documents count as not relevant. The
    intervals are about the sample, not about the choice of topics.

    Parameters
    ----------
    pairs
        The N pairs with their R runs, from :func:`collection.expected_judgements.describe`.
    measure
        One of :data:`collection.machine_labels.estimated_values.MEASURES`.
    labels
        (N,) machine labels, nan without one, or (N, J) of J label sets; None to correct without labels, for comparison.
        The values by labels alone are those of the first set.
    drawn
        The judged pairs, from :func:`.judged_sample`.
    grades
        (n,) people's grades of the judged pairs.
    levels
        The grades of the scale.

    Raises
    ------
    InputError
        Fewer than :data:`LEAST_SAMPLE` judgements, or judgements from before the sample that are missing now; or
        another measure.
    """
    require_measure(measure)
    sampled = len(drawn.rows) - drawn.before
    _require_enough(pairs, drawn, sampled)
    scale = np.unique(np.asarray([0.0, *levels, *grades.tolist()]))
    features = describe_labels(labels, pairs.topic, pairs.features[:, :COMMON], scale)
    known = (grades[:, None] >= scale[1:]).astype(np.float64)
    steps, apart = np.zeros((len(pairs.topic), len(scale) - 1)), known.copy()
    if sampled:
        # Pairs that were judged before the sample may have been selected for their grades: nothing is learned there.
        steps, apart[drawn.before :] = predict_steps(
            features, drawn.rows[drawn.before :], grades[drawn.before :], scale
        )
    steps[drawn.rows] = known
    estimates = estimate_values(measure, pairs.places, pairs.topic, steps, scale)
    slopes = estimates.slopes(drawn.rows)
    errors = np.einsum("rng,ng->rn", slopes, known - apart)
    topics = estimates.values.shape[1]
    p, at = drawn.probability, pairs.topic[drawn.rows]
    shifts = np.stack([np.bincount(at, each, topics) for each in errors * ((1 - p) / p)])
    by_topic = estimates.values + shifts
    # Half of the variance as the predictions expect it: where relevant documents are rare, the few that the sample
    # happens to have say little about it.
    expected = spread(slopes, apart)
    parts = np.hstack([errors, expected]) * np.tile(np.sqrt((1 - p) / 2) / p, 2) / topics
    rest = np.setdiff1d(np.arange(len(pairs.topic)), drawn.rows)
    unjudged = np.zeros((len(pairs.runs), len(pairs.runs)))
    for block in blocks(rest, len(pairs.runs)):
        part = spread(estimates.slopes(block), steps[block])
        unjudged += part @ part.T
    # The errors of the sample tell how far the predictions are too sure of themselves.
    ratio = np.square(errors).sum() / max(float(np.square(expected).sum()), 1e-300)
    first = first_labels(labels)
    by_labels = label_values(pairs, measure, first, scale)
    if first is not None:  # where people have judged, the labels have nothing more to tell
        first = first.copy()
        first[drawn.rows] = grades
    filled = label_values(pairs, measure, first, scale).mean(axis=1)
    means = estimates.values.mean(axis=1), shifts.mean(axis=1)
    combined = combine(*means, parts, unjudged * (ratio / topics**2), filled)
    counts = sampled, drawn.before, len(pairs.topic)
    return tabulate_corrected(measure, pairs.runs, by_topic, by_labels, parts, combined, counts, alpha)


def tabulate_corrected(
    measure: Measure,
    runs: Sequence[str],
    by_topic: Floats,
    labels_by_topic: Floats,
    parts: Floats,
    combined: CombinedValues,
    counts: tuple[int, int, int],
    alpha: float,
) -> CorrectedValues:
    """Put corrected values of R runs, their intervals and their differences in tables.

    `counts` are judgements of the sample, judgements before it, and all pairs; for the others see
    :class:`CorrectedValues`.
    """
    corrected, lowest, highest = by_topic.mean(axis=1), measure.entry.lowest, measure.entry.highest
    half, narrow = half_width(parts, alpha), half_width(combined.parts, alpha)
    values = pd.DataFrame(
        {
            "run": pd.array(runs, dtype="str"),
            "labels": labels_by_topic.mean(axis=1),
            "corrected": corrected,
            "low": (corrected - half).clip(lowest, highest),
            "high": (corrected + half).clip(lowest, highest),
            "combined": combined.values,
            "combined_low": (combined.values - narrow).clip(lowest, highest),
            "combined_high": (combined.values + narrow).clip(lowest, highest),
        }
    )
    one, other = np.triu_indices(len(runs), 1)
    names = np.array(runs, dtype=object)
    named = {"run_a": pd.array(names[one], dtype="str"), "run_b": pd.array(names[other], dtype="str")}
    difference, width = corrected[one] - corrected[other], difference_widths(parts, alpha)
    shrunk, narrow = combined.values[one] - combined.values[other], difference_widths(combined.parts, alpha)
    differences = pd.DataFrame(
        {**named, "difference": difference, "low": difference - width, "high": difference + width,
         "combined": shrunk, "combined_low": shrunk - narrow, "combined_high": shrunk + narrow}
    )  # fmt: skip
    return CorrectedValues(str(measure), values, differences, by_topic, labels_by_topic, parts, *counts, alpha)


def _require_enough(pairs: Pairs, drawn: JudgedSample, sampled: int) -> None:
    """Raise InputError for too few judgements of the sample, with the reason why others do not count."""
    where = ""
    if drawn.gap is not None:
        query_id, doc_id = pairs.frame[["query_id", "doc_id"]].iloc[drawn.gap]
        where = f"topic {query_id}, document {doc_id}"
    if undone := len(drawn.undone):
        raise InputError(
            f"{count(undone, 'pair')} known before the sample was drawn (judged, or without a text) "
            f"{plural(undone, 'has', 'have')} no judgement now; judge {plural(undone, 'it', 'them')}, beginning with "
            f"{where}"
        )
    if sampled < LEAST_SAMPLE and len(drawn.rows) < len(pairs.topic):
        beyond = f"; {drawn.beyond:,} more do not count, since {where} comes before them" if drawn.beyond else ""
        raise InputError(
            f"expected at least {LEAST_SAMPLE} judgements of the sample without a gap in its random order, "
            f"found {sampled}{beyond}"
        )


def half_width(parts: Floats, alpha: float) -> Floats:
    """Half the width of intervals, (K,), from the (K, n) independent parts of K errors.

    The quantile is that of Student's t with Satterthwaite's degrees of freedom, since a few pairs that were improbable
    in the sample may make up most of the variance.
    """
    # The quantile itself: scipy.stats checks and broadcasts for longer than this takes for a few systems.
    from scipy.special import stdtrit

    squares = np.square(parts)
    variance = squares.sum(axis=1)
    freedom = np.maximum(np.square(variance) / np.maximum(np.square(squares).sum(axis=1), 1e-300), 2.0)
    width: Floats = stdtrit(freedom, 1 - alpha / 2) * np.sqrt(variance)
    return width


def difference_widths(parts: Floats, alpha: float) -> Floats:
    """Half the widths of the intervals of all differences of R values, from their (R, n) parts."""
    # Run by run: the parts of all differences at once would take gigabytes with hundreds of runs.
    return np.concatenate([half_width(each - parts[number + 1 :], alpha) for number, each in enumerate(parts)])


def blocks(rows: Ints, runs: int) -> list[Ints]:
    """Rows in blocks whose slopes in so many runs fit in memory."""
    return np.array_split(rows, len(rows) * runs // BLOCK + 1)


def first_labels(labels: Floats | None) -> Floats | None:
    """(N,) the first label set of one or several."""
    return labels if labels is None or labels.ndim == 1 else labels[:, 0]


def spread(slopes: Floats, steps: Floats) -> Floats:
    """(R, n) standard deviation of the value by the unknown grade of each pair, from (R, n, G) slopes.

    `steps` (n, G) are the probabilities of the pair's steps. The sign is that of the change, since a grade may raise
    the value of one run and the ideal of another.
    """
    chance = -np.diff(steps, axis=1, append=0.0)  # of each grade above the lowest
    changes = np.cumsum(slopes, axis=2)
    mean = np.einsum("rng,ng->rn", changes, chance)
    squares = np.einsum("rng,ng->rn", np.square(changes), chance)
    return np.copysign(np.sqrt(np.maximum(squares - np.square(mean), 0)), mean)


def label_values(pairs: Pairs, measure: Measure, labels: Floats | None, scale: Floats) -> Floats:
    """(R, T) values that machine labels alone give, as if the nearest grades were people's; nan without labels.

    A pair without a label counts as not relevant.
    """
    if labels is None:
        return np.full((len(pairs.runs), int(pairs.topic.max()) + 1), np.nan)
    return estimate_values(measure, pairs.places, pairs.topic, label_steps(labels, scale), scale).values
