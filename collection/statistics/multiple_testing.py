"""Corrections of p-values for multiple comparisons: of twenty tests at 5% one is significant by chance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.registry import Entry, Registry

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
