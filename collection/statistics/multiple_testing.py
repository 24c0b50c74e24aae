"""Corrections of p-values for multiple comparisons, and the randomised Tukey HSD test of all pairs of systems."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.registry import Entry, Registry
from collection.statistics.arrays import NOISE, as_topic_table, check_resamples

Correction = Callable[[npt.ArrayLike], Floats]
"""p of m comparisons, shape (m,), in any order -> adjusted p, each to be compared with alpha."""

CORRECTIONS = Registry("correction", Entry[Correction])
DEFAULT_CORRECTION = "holm"


@CORRECTIONS.add(
    "holm", label="Holm", description="Controls the family-wise error rate; never less powerful than Bonferroni."
)
def holm(p: npt.ArrayLike) -> Floats:
    """Multiply the smallest by m, the next by m - 1, ...; Holm (1979), Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    return _back(np.maximum.accumulate(scaled), order)


@CORRECTIONS.add(
    "bonferroni",
    label="Bonferroni",
    description="Controls the family-wise error rate: p times the number of comparisons.",
)
def bonferroni(p: npt.ArrayLike) -> Floats:
    """Multiply every p by m."""
    values = _checked(p)
    return np.minimum(1.0, values * len(values))


@CORRECTIONS.add(
    "benjamini-hochberg",
    label="Benjamini-Hochberg",
    description="Controls the false discovery rate, for independent or positively dependent tests.",
)
def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Multiply the ith smallest by m / i, from the largest down; Benjamini, Hochberg (1995), JRSS B 57.

    This controls the false discovery rate if tests are independent or positively dependent.
    """
    values = _checked(p)
    order = np.argsort(-values, kind="stable")
    scaled = values[order] * len(values) / np.arange(len(values), 0, -1)
    return _back(np.minimum.accumulate(scaled), order)


@CORRECTIONS.add("none", label="None", description="No correction: for a single comparison planned in advance.")
def none(p: npt.ArrayLike) -> Floats:
    """Return p unchanged."""
    return _checked(p).copy()


def _back(adjusted: Floats, order: Ints) -> Floats:
    """The adjusted p, at most 1, in the original order."""
    return np.minimum(adjusted, 1.0)[np.argsort(order)]


def _checked(p: npt.ArrayLike) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"p: expected a list of numbers from 0 to 1, found {p!r:.60}")
    return values


_CELLS = 2_000_000
"""Numbers permuted at a time."""


class TukeyPairs(NamedTuple):
    """Every pair of systems; arrays of shape (pairs,).

    Attributes
    ----------
    a, b
        Columns of the values, a < b.
    difference
        Mean of a minus mean of b.
    p
        Already corrected for all pairs together.
    low, high
        Simultaneous bounds of the differences.
    """

    a: Ints
    b: Ints
    difference: Floats
    p: Floats
    low: Floats
    high: Floats


def randomised_tukey(
    values: npt.ArrayLike, alpha: float = 0.05, *, resamples: int = 10_000, seed: int = 0
) -> TukeyPairs:
    """Test all pairs of systems, given (topics x systems), by the range of means expected if all systems were equal.

    Each resample permutes the systems in every topic; p of a pair is the share (b + 1) / (m + 1) of resamples whose
    largest difference of means is at least the pair's. The bounds are the difference plus and minus the width that
    contains 1 - alpha of the resamples.

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
    check_resamples(resamples)
    topics, systems = table.shape
    random = np.random.default_rng(seed)
    ranges = np.empty(resamples)
    step = max(1, _CELLS // table.size)
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        shuffled = random.permuted(np.broadcast_to(table, (count, topics, systems)), axis=2)
        ranges[start : start + count] = np.ptp(shuffled.sum(axis=1), axis=1) / topics
    a, b = np.triu_indices(systems, 1)
    means = table.mean(axis=0)
    difference = means[a] - means[b]
    ranges.sort()
    bound = np.abs(difference) - NOISE * np.abs(table).max()
    beyond = resamples - np.searchsorted(ranges, bound, side="left")
    # The smallest width exceeded by at most alpha of the m + 1 ranges, which include the observed one.
    place = math.ceil((1 - alpha) * (resamples + 1)) - 1
    wide = ranges[place] if place < resamples else np.inf
    return TukeyPairs(a, b, difference, (beyond + 1) / (resamples + 1), difference - wide, difference + wide)
