"""Values that measures are expected to have, given the probabilities of grades, and how a grade would change them.

A value is a numerator of the ranking over an ideal. Both depend on steps: whether the grade of a pair is at least the
g-th of the scale. Each step of each pair has a probability, 0 or 1 where the grade is known. Grades of different pairs
are taken as independent; the correction by people's grades does not rely on that
(:mod:`collection.machine_labels.corrected_values`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.errors import InputError
from collection.measures import Measure
from collection.phrases import join

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class _Form(NamedTuple):
    """How a measure sums gains."""

    parameters: frozenset[str]
    """Parameters that it may have."""
    discounted: bool
    """Whether a gain counts by the logarithm of its rank, and has the size of the grade; else all relevant ones count
    the same, and their sum is divided by the cut-off."""
    ideal: bool
    """Whether the sum is divided by that of the ideal ranking."""


MEASURES = {
    "nDCG": _Form(frozenset({"dcg", "gains"}), discounted=True, ideal=True),
    "DCG": _Form(frozenset({"dcg", "gains"}), discounted=True, ideal=False),
    "P": _Form(frozenset({"rel"}), discounted=False, ideal=False),
}
"""Measures that have an expected value here: sums over documents, and such sums over an ideal.

Recall divides by a number that small samples hardly tell, and average precision depends on products of grades: in
replays, their 95% intervals held the value in 87 to 93%, so both are refused.
"""

LEAST_IDEAL = 0.3
"""Lower bound of an ideal, for topics in which hardly anything relevant is expected."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
"""Gauss-Hermite quadrature: the mean over a normal distribution."""


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected values of R runs on T topics, and their slopes for n pairs."""

    values: Floats
    """(R, T)"""
    slopes: Floats
    """(R, n, G): change of the value of a pair's own topic by each step of the pair's grade."""


def require_measure(measure: Measure) -> None:
    """Raise InputError unless a measure has an expected value."""
    form = MEASURES.get(measure.name)
    if form is None or set(measure.parameters) - form.parameters:
        raise InputError(f"{measure} cannot be corrected; expected one of {join(MEASURES)} without other parameters")


def rank_weights(measure: Measure, places: Ints) -> Floats:
    """(R, N) weights of the grades in the values, at most 1: 1 / log2(rank + 1), or 1 for P.

    `places` (R, N) are the ranks of the pairs, 0 if the run does not have the pair.
    """
    shown = places > 0
    if measure.level is not None:
        shown &= places <= measure.level
    discounted = MEASURES[measure.name].discounted
    weights = 1 / np.log2(np.maximum(places, 1) + 1.0) if discounted else np.ones(places.shape)
    return np.where(shown, weights, 0.0)


def expected_values(measure: Measure, places: Ints, topic: Ints, steps: Floats, levels: Floats, rows: Ints) -> Expected:
    """Expected values of a measure.

    Parameters
    ----------
    measure
        One of :data:`MEASURES`.
    places
        (R, N) rank of each pair in each run, 0 if the run does not have it.
    topic
        (N,) number of the topic, from 0 to T - 1.
    steps
        (N, G) probability that the grade is at least ``levels[g + 1]``.
    levels
        (G + 1,) the scale, from 0, ascending.
    rows
        (n,) numbers of the pairs whose slopes are asked for.

    Raises
    ------
    InputError
        Another measure.

    Examples
    --------
    >>> from collection.measures import parse
    >>> places, topic, steps = np.array([[1, 2]]), np.array([0, 0]), np.array([[0.5], [1.0]])
    >>> found = expected_values(parse("P@2"), places, topic, steps, np.array([0.0, 1.0]), np.array([0]))
    >>> found.values.tolist(), found.slopes.tolist()
    ([[0.75]], [[[0.5]]])
    """
    require_measure(measure)
    gains = _gains(measure, levels)
    topics = int(topic.max(initial=0)) + 1
    weights = rank_weights(measure, places)
    if not MEASURES[measure.name].discounted:
        weights = weights / (measure.level or np.nan)
    gain = steps @ gains
    above: Floats = np.stack([np.bincount(topic, each * gain, topics) for each in weights]).astype(np.float64)
    slopes = weights[:, rows, None] * gains
    if not MEASURES[measure.name].ideal:
        return Expected(above, slopes)
    ideal, by_step = _ideal(measure.level, topic, steps, gains, topics)
    values = above / ideal
    at = topic[rows]
    slopes -= values[:, at, None] * by_step[at]
    slopes /= ideal[at, None]
    return Expected(values, slopes)


def _gains(measure: Measure, levels: Floats) -> Floats:
    """(G,) by how much each step raises the gain."""
    named = measure.parameters.get("gains")
    if not MEASURES[measure.name].discounted:
        gain = (levels >= float(measure.parameters.get("rel", 1))).astype(np.float64)
    elif named is not None:
        gain = np.array([float(named.get(each, each)) for each in levels.tolist()])
    elif measure.parameters.get("dcg") == "exp-log2":
        gain = np.exp2(levels) - 1
    else:
        gain = levels
    if gain[0] != 0 or not np.diff(gain).any():
        raise InputError(
            f"{measure} cannot be corrected; expected a gain of 0 for grade {levels[0]:g} and others above"
        )
    return np.diff(gain)


def _ideal(cutoff: float | None, topic: Ints, steps: Floats, gains: Floats, topics: int) -> tuple[Floats, Floats]:
    """(T,) expected ideal, and (T, G) its slope by the number of documents that reach each step.

    The ideal bends, so its mean is not the ideal of the mean number: the number is taken as normal, with the variance
    of independent grades.
    """
    deepest = int(cutoff or len(topic))
    total = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, deepest + 2)))])
    count = np.stack([np.bincount(topic, each, topics) for each in steps.T], axis=1)
    certain = np.stack([np.bincount(topic, each >= 1.0, topics) for each in steps.T], axis=1)
    spread = np.sqrt(np.stack([np.bincount(topic, each * (1 - each), topics) for each in steps.T], axis=1))

    def mean(shift: float) -> Floats:
        numbers = np.maximum((count + shift)[..., None] + spread[..., None] * _NODES, certain[..., None])
        return np.asarray(np.interp(numbers, np.arange(deepest + 1), total) @ _WEIGHTS)

    ideal = mean(0.0) @ gains
    slopes = (mean(0.25) - mean(-0.25)) / 0.5 * gains
    return np.maximum(ideal, LEAST_IDEAL), np.where(ideal[:, None] > LEAST_IDEAL, slopes, 0.0)
