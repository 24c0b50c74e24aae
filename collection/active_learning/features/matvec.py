"""The product of a sparse matrix with a vector: the one pass over all documents in a training round."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from collection.threads import map_ahead

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

SMALL = 5_000_000
"""Up to this number of stored values, scipy on one core is quick enough, and numba is not even imported."""

SLAB = 1 << 22
"""Stored values in a slab, about: few enough that threads share the work evenly."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def compiled() -> Callable[..., None] | None:
    """The product compiled by numba, if it is installed and can keep what it compiles."""
    try:
        from collection.active_learning.features.compiled import add_product
    except (ImportError, RuntimeError):
        return None
    product: Callable[..., None] = add_product
    return product


class Rows:
    """The rows of a CSR matrix, cut into slabs that threads multiply side by side; the arrays are never copied."""

    def __init__(self, indptr: Ints, indices: NDArray[np.int32], values: Floats, columns: int) -> None:
        self.indptr, self.indices, self.values, self.columns = indptr, indices, values, columns

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """First row and end of each slab."""
        cuts = np.searchsorted(self.indptr, np.arange(SLAB, len(self.values) - SLAB // 2, SLAB))
        return list(pairwise(np.unique([0, *cuts.tolist(), len(self.indptr) - 1]).tolist()))

    @cached_property
    def _slabs(self) -> list[csr_matrix]:
        return [self.csr(first, last) for first, last in self.ranges]

    def csr(self, first: int, last: int) -> csr_matrix:
        """Some rows as a scipy CSR matrix on the same arrays."""
        from scipy.sparse import csr_matrix

        begin, end = int(self.indptr[first]), int(self.indptr[last])
        indptr = self.indptr[first : last + 1] - begin
        if end - begin <= np.iinfo(np.int32).max:
            # scipy wants both index arrays of one type, and would widen the long one.
            indptr = indptr.astype(np.int32)
        matrix = csr_matrix((last - first, self.columns), dtype=np.float32)
        # Not through the constructor: it copies arrays that are small parts of others.
        matrix.data, matrix.indices, matrix.indptr = self.values[begin:end], self.indices[begin:end], indptr
        return matrix

    def add_product(self, weights: Floats, out: Floats, threads: int | None = None) -> None:
        """Add `matrix @ weights` (columns,) to `out` (rows,), in float32 throughout.

        `threads`: None for as many as there are cores, or one for a small matrix.
        """
        large = len(self.values) > SMALL
        fast = compiled() if large else None
        slabs = self._slabs if fast is None else []
        weights = np.ascontiguousarray(weights)

        # Both products release the interpreter: threads run them side by side, and pages go on being served.
        def add(number: int) -> None:
            first, last = self.ranges[number]
            if fast is None:
                out[first:last] += slabs[number] @ weights
            else:
                indptr, indices = self.indptr.view(np.uint64), self.indices.view(np.uint32)
                fast(indptr, indices, self.values, weights, out, np.uint64(first), np.uint64(last))

        for _ in map_ahead(add, range(len(self.ranges)), threads or (cores() if large else 1)):
            pass
