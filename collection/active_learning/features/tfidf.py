"""Counts -> weights: (1 + ln count) x idf, each row scaled to unit length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.active_learning.features.term_counts import MOST
from collection.core.arrays import Floats32, Ints

STEP = 4_000_000
"""Number of stored values processed at a time, a few dozen megabytes."""


class Pruning(NamedTuple):
    """Terms get weight 0 in fewer than `fewest` documents or in more than the share `most` of them."""

    fewest: int
    most: float


PRUNING = {"words": Pruning(1, 0.95), "chars": Pruning(2, 0.7)}


def idf(block: str, frequency: Ints, documents: int) -> Floats32:
    """(terms,): ln((1 + N) / (1 + df)) + 1, and 0 for terms that are too rare or too frequent (:data:`PRUNING`).

    N is `documents`, the number that have a text; df is `frequency` (terms,), the number that have each term.
    """
    fewest, share = PRUNING[block]
    # In a collection of one document, every term is in all documents, and some must remain.
    most = max(share * documents, fewest)
    weight = np.log((1 + documents) / (1 + frequency.astype(np.float64))) + 1
    return np.where((frequency >= fewest) & (frequency <= most), weight, 0).astype(np.float32)


def frequencies(indices: NDArray[np.int32], columns: int) -> Ints:
    """(columns,) number of rows in which each column occurs."""
    total = np.zeros(columns, np.int64)
    for start in range(0, len(indices), STEP):
        total += np.bincount(indices[start : start + STEP], minlength=columns)
    return total


def row_ranges(indptr: Ints) -> list[tuple[int, int]]:
    """Ranges of rows with about STEP values each."""
    cuts = np.searchsorted(indptr, np.arange(STEP, max(STEP, int(indptr[-1])), STEP))
    edges = np.unique(np.concatenate([[0], cuts, [len(indptr) - 1]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def write_weights(
    indptr: Ints, indices: NDArray[np.int32], counts: NDArray[np.uint16], weight: Floats32, out: Floats32
) -> None:
    """Write the weights of all counts (:class:`.TermCounts`) to `out`, which may be a memory map.

    `weight` (columns,) is the :func:`idf`.
    """
    damped = (1 + np.log(np.maximum(np.arange(MOST + 1), 1))).astype(np.float32)
    for first, last in row_ranges(indptr):
        begin, end = indptr[first], indptr[last]
        if begin == end:
            continue
        values = damped[counts[begin:end]] * weight[indices[begin:end]]
        size = np.diff(indptr[first : last + 1])
        # For an empty row, reduceat would return the next value as its sum.
        filled = size > 0
        squares = np.add.reduceat(values.astype(np.float64) ** 2, (indptr[first:last] - begin)[filled])
        length = np.sqrt(squares)
        length[length == 0] = 1
        out[begin:end] = values / np.repeat(length, size[filled]).astype(np.float32)
