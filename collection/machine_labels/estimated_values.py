"""Estimates of measures from the probabilities of grades, and how a grade would change them.

A value is a numerator of the ranking over an ideal. Both depend on steps: whether the grade of a pair is at least the
g-th of the scale. Each step of each pair has a probability, 0 or 1 where the grade is known. Grades of different pairs
are taken as independent; the correction by people's grades does not rely on that
(:mod:`collection.machine_labels.corrected_values`).

A sum over pairs is expected to be the sum of the expectations. A value with an ideal is not: with few relevant
documents, numerator and ideal rise together, and the ideal bends. So grades are drawn, and the mean over the draws
counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import join
from collection.measures import Measure


class _MeasureForm(NamedTuple):
    """Form in which a measure sums gains."""

    parameters: frozenset[str]
    """Parameters that it may have."""
    discounted: bool
    """Whether a gain counts by the logarithm of its rank, and has the size of the grade; else all relevant ones count
    the same, and their sum is divided by the cut-off."""
    ideal: bool
    """Whether the sum is divided by that of the ideal ranking."""


MEASURES = {
    "nDCG": _MeasureForm(frozenset({"dcg", "gains"}), discounted=True, ideal=True),
    "DCG": _MeasureForm(frozenset({"dcg", "gains"}), discounted=True, ideal=False),
    "P": _MeasureForm(frozenset({"rel"}), discounted=False, ideal=False),
}
"""Measures that can be estimated here: sums over documents, and such sums over an ideal.

Recall divides by a number that small samples hardly tell, and average precision depends on products of grades: in
replays, their 95% intervals held the value in 87 to 93%, so both are refused.
"""

DRAWS = 256
"""Draws of the grades of a topic. Of each pair, its own share of the draws is relevant, exactly but for rounding."""


class _Change(NamedTuple):
    """Change of values if one more document, or one less, reaches a step: constant + weight of the document * factor.

    `constant` is (R, T, G) and `factor` (T, G).
    """

    constant: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class EstimatedValues:
    """Estimates of R runs on T topics, and how much the step of a pair changes them."""

    values: Floats
    """(R, T)"""
    _weights: Floats
    _topic: Ints
    _steps: Floats
    _more: _Change
    _less: _Change

    def slopes(self, rows: Ints) -> Floats:
        """(R, n, G): change of the value of its own topic by each step of the grades of these (n,) pairs.

        The other pairs keep their probabilities.
        """
        at, weights = self._topic[rows], self._weights[:, rows, None]
        reached = self._steps[rows]
        up, down = (each.constant[:, at] + weights * each.factor[at] for each in (self._more, self._less))
        return np.asarray((1 - reached) * up + reached * down)


def require_measure(measure: Measure) -> None:
    """Raise InputError unless a measure can be estimated."""
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


def estimate_values(measure: Measure, places: Ints, topic: Ints, steps: Floats, levels: Floats) -> EstimatedValues:
    """Estimate the values of a measure.

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

    Raises
    ------
    InputError
        Another measure.

    Examples
    --------
    A document that is relevant with a probability of .5 is the only one, so the ideal is that of its own grade.

    >>> from collection.measures import parse
    >>> places, topic, steps = np.array([[1, 2]]), np.array([0, 0]), np.array([[0.5], [0.0]])
    >>> found = estimate_values(parse("P@2"), places, topic, steps, np.array([0.0, 1.0]))
    >>> found.values.tolist(), found.slopes(np.array([0])).tolist()
    ([[0.25]], [[[0.5]]])
    >>> estimate_values(parse("nDCG@2"), places, topic, steps, np.array([0.0, 1.0])).values.tolist()
    [[0.5]]
    """
    require_measure(measure)
    gains = _gains(measure, levels)
    topics = int(topic.max(initial=0)) + 1
    weights = rank_weights(measure, places)
    if not MEASURES[measure.name].discounted:
        weights = weights / (measure.level or np.nan)
    if MEASURES[measure.name].ideal:
        return _mean_of_draws(measure.level, weights, topic, steps, gains, topics)
    gain = steps @ gains
    values: Floats = np.stack([np.bincount(topic, each * gain, topics) for each in weights]).astype(np.float64)
    same = _Change(np.zeros((len(weights), topics, len(gains))), np.tile(gains, (topics, 1)))
    return EstimatedValues(values, weights, topic, steps, same, same)


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


def _mean_of_draws(
    cutoff: float | None, weights: Floats, topic: Ints, steps: Floats, gains: Floats, topics: int
) -> EstimatedValues:
    """Estimate values with an ideal: means over draws of all grades, which are the same at every call."""
    runs, width = len(weights), len(gains)
    values = np.zeros((runs, topics))
    more, less = (_Change(np.zeros((runs, topics, width)), np.zeros((topics, width))) for _ in range(2))
    order = np.argsort(topic, kind="stable")
    rng = np.random.default_rng(0)
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(topic, minlength=topics))[:-1])):
        shown = np.flatnonzero(weights[:, rows].any(axis=0))  # by a run; the others matter to the ideal only
        gain, count = _draw(steps[rows], gains, shown, rng)
        top: Floats = weights[:, rows[shown]] @ gain
        # Of the ideal ranking: (n,) the sum of the first discounts.
        total = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, len(rows) + 3)))])
        if cutoff is not None:
            total = np.minimum(total, total[min(int(cutoff), len(total) - 1)])
        ideal = total[count] @ gains
        values[:, number] = (top * _inverse(ideal)).mean(axis=1)
        for step, gain in enumerate(gains):
            here = total[count[:, step]]
            above = _inverse(ideal + gain * (total[count[:, step] + 1] - here))
            below = _inverse(ideal - gain * (here - total[np.maximum(count[:, step] - 1, 0)]))
            more.constant[:, number, step] = (top * (above - _inverse(ideal))).mean(axis=1)
            more.factor[number, step] = gain * above.mean()
            less.constant[:, number, step] = (top * (_inverse(ideal) - below)).mean(axis=1)
            less.factor[number, step] = gain * below.mean()
    return EstimatedValues(values, weights, topic, steps, more, less)


def _draw(steps: Floats, gains: Floats, shown: Ints, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """(shown, draws) the gains of those of n pairs that are `shown`, and (draws, G) how many pairs reach each step.

    One draw where everything is known.
    """
    if ((steps == 0) | (steps == 1)).all():
        return (steps[shown] @ gains)[:, None], steps.sum(axis=0).astype(np.int64)[None]
    parts = rng.permuted(np.tile(np.arange(DRAWS), (len(steps), 1)), axis=1)
    uniform = (parts + rng.random(len(steps))[:, None]) / DRAWS  # each pair in each part of the range once
    gain: Floats = (uniform[shown, :, None] < steps[shown, None]) @ gains
    return gain, np.column_stack([(uniform < step[:, None]).sum(axis=0) for step in steps.T])


def _inverse(ideal: Floats) -> Floats:
    """1 / ideal, and 0 where nothing is relevant: the value is 0 then."""
    return np.where(ideal > 1e-9, 1 / np.maximum(ideal, 1e-9), 0.0)
