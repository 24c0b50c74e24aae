"""Selection of the best rows by their scores."""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Bools, Ints
from collection.core.errors import InputError

STRIPE = 1024


def top(scores: np.ndarray, count: int, allowed: Bools | None = None) -> Ints:
    """Rows of the `count` best scores, best first; ties in row order, nan last.

    `allowed` (n,) marks the rows that may be chosen; None for all.

    >>> top(np.array([1, 3, 2, 3], np.float32), 3).tolist()
    [1, 3, 2]
    >>> top(np.array([1, 3, 2, 3], np.float32), 3, np.array([True, False, True, True])).tolist()
    [3, 2, 0]
    """
    if scores.ndim != 1 or (allowed is not None and allowed.shape != scores.shape):
        shapes = f"{scores.shape} and {'none' if allowed is None else allowed.shape}"
        raise InputError(
            f"top: expected one score and, if given, one value of `allowed` per row; found the shapes {shapes}"
        )
    if count <= 0 or not len(scores):
        return np.zeros(0, np.int64)
    values = scores if allowed is None else np.where(allowed, scores, scores.dtype.type(-np.inf))
    if np.isnan(values.max()):
        values = np.where(np.isnan(values), values.dtype.type(-np.inf), values)
    rows = np.flatnonzero(values >= _bound(values, count))
    if allowed is not None:
        rows = rows[allowed[rows]]
    if len(rows) > count:
        found_values = values[rows]
        last = np.partition(found_values, len(rows) - count)[len(rows) - count]
        above = rows[found_values > last]
        rows = np.concatenate([above, rows[found_values == last][: count - len(above)]])
    return rows[np.argsort(-values[rows], kind="stable")]


def _bound(values: np.ndarray, count: int) -> float:
    """A lower bound of the `count` best values that few other values reach, from the maxima of stripes of rows."""
    stripes = len(values) // STRIPE
    if stripes < count:
        return -np.inf
    best = values[: stripes * STRIPE].reshape(stripes, STRIPE).max(axis=1)
    return float(np.partition(best, stripes - count)[stripes - count])
