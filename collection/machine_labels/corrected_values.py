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
from statistics import NormalDist

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import count, plural
from collection.expected_judgements import Pairs
from collection.machine_labels.estimated_values import estimate_values, require_measure
from collection.machine_labels.human_sample import JudgedSample, expected_probabilities
from collection.machine_labels.predicted_grades import describe_labels, label_steps, predict_steps
from collection.measures import Measure

COMMON = 3
"""Number of features of the ranks in :attr:`.Pairs.features` that do not belong to one run."""

LEAST_SAMPLE = 20
"""Smallest number of sampled judgements for a correction."""

BLOCK = 4096
"""Pairs whose slopes are computed at a time for a plan: those of all pairs in hundreds of runs would take gigabytes."""

LABEL_WEIGHT = 1 / 3
"""How far labels are trusted before anybody has judged, between 0 and 1; see :func:`plan`."""

PLAN_ASSUMES = (
    "95% intervals as expected before anybody judges, if labels tell as much about people's grades as those of the "
    "judges of LLMJudge 2024"
)
"""What a plan shows, and the assumption behind it."""


@dataclass(frozen=True, eq=False)
class CorrectedValues:
    """Corrected values of R runs by one measure.

    Attributes
    ----------
    values
        ``run``, ``labels`` (the value by machine labels alone), ``corrected``, ``low``, ``high`` (cut at the
        ends of the measure's range).
    differences
        A row per pair of runs: ``run_a``, ``run_b``, ``difference`` (a minus b, corrected), ``low``, ``high``.
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
        (N,) machine labels, nan without one; None to correct without labels, for comparison.
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
    corrected = by_topic.mean(axis=1)
    # Half of the variance as the predictions expect it: where relevant documents are rare, the few that the sample
    # happens to have say little about it.
    parts = np.hstack([errors, _spread(slopes, apart)]) * np.tile(np.sqrt((1 - p) / 2) / p, 2) / topics
    half = half_width(parts, alpha)
    by_labels = label_values(pairs, measure, labels, scale)
    values = pd.DataFrame(
        {
            "run": pd.array(pairs.runs, dtype="str"),
            "labels": by_labels.mean(axis=1),
            "corrected": corrected,
            "low": (corrected - half).clip(measure.entry.lowest, measure.entry.highest),
            "high": (corrected + half).clip(measure.entry.lowest, measure.entry.highest),
        }
    )
    one, other = np.triu_indices(len(pairs.runs), 1)
    difference = corrected[one] - corrected[other]
    # Run by run: the parts of all differences at once would take gigabytes with hundreds of runs.
    width = np.concatenate([half_width(each - parts[number + 1 :], alpha) for number, each in enumerate(parts)])
    names = np.array(pairs.runs, dtype=object)
    differences = pd.DataFrame(
        {"run_a": pd.array(names[one], dtype="str"), "run_b": pd.array(names[other], dtype="str"),
         "difference": difference, "low": difference - width, "high": difference + width}
    )  # fmt: skip
    return CorrectedValues(
        str(measure), values, differences, by_topic, by_labels, parts, sampled, drawn.before, len(pairs.topic), alpha
    )


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
    from scipy.stats import t

    squares = np.square(parts)
    variance = squares.sum(axis=1)
    freedom = np.maximum(np.square(variance) / np.maximum(np.square(squares).sum(axis=1), 1e-300), 2.0)
    width: Floats = t.ppf(1 - alpha / 2, freedom) * np.sqrt(variance)
    return width


def _spread(slopes: Floats, steps: Floats) -> Floats:
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


def plan(
    pairs: Pairs,
    measure: Measure,
    labels: Floats | None,
    sizes: Floats,
    levels: Sequence[float],
    counts: Sequence[int],
    *,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Expected width of the intervals for several numbers of human judgements, before anybody judges.

    People's grade of a pair is taken as its label with probability :data:`LABEL_WEIGHT`, otherwise as that of a random
    pair. The weight was chosen on TREC DL 2019 with labels of the quality that the judges of LLMJudge 2024 have.

    Parameters
    ----------
    sizes
        (N,) sizes of the sample (:func:`.pair_sizes`).
    counts
        Numbers of judgements.

    Returns
    -------
    DataFrame
        ``judgements``, ``share`` (of all pairs), ``width`` (of the interval of a value, mean over the runs),
        ``difference_width`` (of that of a difference of two runs).
    """
    scale = np.unique(np.asarray([0.0, *levels]))
    given = np.zeros((len(pairs.topic), len(scale) - 1)) if labels is None else label_steps(labels, scale)
    steps = LABEL_WEIGHT * given + (1 - LABEL_WEIGHT) * np.clip(given.mean(axis=0), 0.05, 0.95)
    every, topics = np.arange(len(pairs.topic)), int(pairs.topic.max()) + 1
    errors = np.empty(pairs.places.shape)
    estimates = estimate_values(measure, pairs.places, pairs.topic, steps, scale)
    for block in np.array_split(every, len(every) // BLOCK + 1):
        errors[:, block] = _spread(estimates.slopes(block), steps[block])
    errors /= topics
    one, other = np.triu_indices(len(pairs.runs), 1)
    rows = []
    for number in counts:
        p = expected_probabilities(sizes, number)
        parts = errors * np.sqrt((1 - p) / p)
        # The variance of a difference from the products of all runs, which are fewer than the pairs of runs.
        products = parts @ parts.T
        own = np.diag(products)
        between = own[one] + own[other] - 2 * products[one, other]
        z = NormalDist().inv_cdf(1 - alpha / 2)
        widths = [
            2 * z * float(np.sqrt(np.maximum(each, 0)).mean()) if len(each) else np.nan for each in (own, between)
        ]
        rows.append((min(number, len(every)), min(1.0, number / len(every)), *widths))
    return pd.DataFrame(rows, columns=["judgements", "share", "width", "difference_width"])
