"""Corrections of p-values for multiple comparisons: of twenty tests at 5% one is significant by chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from collection.core.errors import InputError
from collection.core.registry import Entry, Registry
from collection.statistics.arrays import Floats, Ints

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
    return _stepwise(p, lambda ordered, left: ordered * left)


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


@CORRECTIONS.add(
    "holm-sidak", label="Holm-Šidák", description="Slightly more powerful than Holm; assumes independent tests."
)
def holm_sidak(p: npt.ArrayLike) -> Floats:
    """Take Holm's steps with 1 - (1 - p)^m in place of p m; Šidák (1967), JASA 62."""
    return _stepwise(p, lambda ordered, left: -np.expm1(left * np.log1p(-np.minimum(ordered, 1 - 1e-16))))


@CORRECTIONS.add(
    "hommel",
    label="Hommel",
    description="Controls the family-wise error rate; more powerful than Holm, with Benjamini-Hochberg's assumptions.",
)
def hommel(p: npt.ArrayLike) -> Floats:
    """Close Simes' test over all sets of comparisons; Hommel (1988), Biometrika 75.

    A comparison's adjusted p is the largest p of Simes' test (the minimum of s p / i) over the sets that contain it; of
    the sets of size s the one with the s - 1 largest others is enough.
    """
    values = _checked(p)
    m = len(values)
    order = np.argsort(values, kind="stable")
    ordered, adjusted = values[order], values[order].copy()
    for size in range(m, 1, -1):
        last = m - size + 1
        least = float(np.min(size * ordered[last:] / np.arange(2, size + 1)))
        # Of the sets of this size: those with a small p besides the largest ones, and those of the largest only.
        candidate = np.where(np.arange(m) < last, np.minimum(least, size * ordered), least)
        adjusted = np.maximum(adjusted, candidate)
    return _back(adjusted, order)


@CORRECTIONS.add("none", label="None", description="No correction: for a single comparison planned in advance.")
def none(p: npt.ArrayLike) -> Floats:
    """Return p unchanged."""
    return _checked(p).copy()


def _stepwise(p: npt.ArrayLike, adjust: Callable[[Floats, Floats], Floats]) -> Floats:
    """Adjust each p, smallest first, by the number of those that are not smaller; never below the one before."""
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    left = np.arange(len(values), 0, -1).astype(np.float64)
    return _back(np.maximum.accumulate(adjust(values[order], left)), order)


def _back(adjusted: Floats, order: Ints) -> Floats:
    """The adjusted p, at most 1, in the original order."""
    return np.minimum(adjusted, 1.0)[np.argsort(order)]


def _checked(p: npt.ArrayLike) -> Floats:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InputError(f"p: expected a list of numbers from 0 to 1, found {p!r:.60}")
    return values
