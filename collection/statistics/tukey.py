"""All pairs of systems at once: which of them differ, when every pair is looked at."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from collection.errors import InputError
from collection.statistics.arrays import NOISE, Floats, Ints, as_topic_table

_CELLS = 2_000_000
"""Numbers permuted at a time."""


class TukeyPairs(NamedTuple):
    """Every pair of systems; arrays of shape (pairs,).

    Attributes
    ----------
    a, b
        Columns of the values, a < b.
    difference
        Mean of a less mean of b.
    p
        For all pairs together already: no correction on top of it.
    low, high
        Simultaneous bounds of the differences.
    """

    a: Ints
    b: Ints
    difference: Floats
    p: Floats
    low: Floats
    high: Floats


def randomised_tukey(values: Any, alpha: float = 0.05, *, resamples: int = 10_000, seed: int = 0) -> TukeyPairs:
    """The randomised Tukey HSD test: how far apart the best and the worst would be if all systems were alike.

    In each resample the systems change names at random in every topic; p of a pair is the share (b + 1) / (m + 1) of
    resamples whose largest difference of means is at least the pair's. The bounds are the difference and what 1 - alpha
    of the resamples stay within on either side.

    Parameters
    ----------
    values
        (topics x systems), two systems or more.
    alpha, resamples, seed
        Of the bounds; how many resamples; of their random numbers: the same seed gives the same p.

    Notes
    -----
    Carterette (2012), Multiple testing in statistical analysis of systems-based information retrieval experiments.
    TOIS 30(1).

    Examples
    --------
    >>> found = randomised_tukey([[0.1, 0.2, 0.9], [0.2, 0.1, 0.8], [0.3, 0.3, 0.9]], resamples=999)
    >>> found.difference.round(2).tolist()
    [0.0, -0.67, -0.67]
    """
    table = as_topic_table(values, "values", 2)
    if resamples < 1:
        raise InputError(f"resamples are 1 or more, found {resamples}")
    topics, systems = table.shape
    random = np.random.default_rng(seed)
    ranges = np.empty(resamples)
    step = max(1, _CELLS // table.size)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        shuffled = random.permuted(np.broadcast_to(table, (count, topics, systems)), axis=2)
        ranges[start : start + count] = np.ptp(shuffled.sum(axis=1), axis=1) / topics
    a, b, difference = _differences(table)
    ranges.sort()
    bound = np.abs(difference) - NOISE * np.abs(table).max()
    beyond = resamples - np.searchsorted(ranges, bound, side="left")
    # The least width that no more than alpha of m + 1 ranges reach beyond, the observed one counted among them.
    place = math.ceil((1 - alpha) * (resamples + 1)) - 1
    wide = ranges[place] if place < resamples else np.inf
    return TukeyPairs(a, b, difference, (beyond + 1) / (resamples + 1), difference - wide, difference + wide)


def _differences(table: Floats) -> tuple[Ints, Ints, Floats]:
    a, b = np.triu_indices(table.shape[1], 1)
    means = table.mean(axis=0)
    return a, b, means[a] - means[b]
