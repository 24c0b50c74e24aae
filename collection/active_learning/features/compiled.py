"""The product of :mod:`.matvec`, compiled by numba (extra ``fast``)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collection.core.arrays import Floats32, Hashes

numba: Any = import_module("numba")


def _add_product(
    indptr: Hashes,
    indices: NDArray[np.uint32],
    values: Floats32,
    weights: Floats32,
    out: Floats32,
    first: int,
    last: int,
) -> None:
    for row in range(first, last):
        total = numba.float32(0)
        for place in range(indptr[row], indptr[row + numba.uint64(1)]):
            total += values[place] * weights[indices[place]]
        out[row] += total


# Read-only arrays, so that memory maps pass too. Unsigned indices and reordered sums let the compiler vectorise the
# loop. Without Python's lock, so that threads run side by side; cached on disk, since compiling takes a second.
_matrix = [numba.types.Array(kind, 1, "C", readonly=True) for kind in (numba.uint64, numba.uint32, numba.float32)]
_signature = numba.void(*_matrix, _matrix[2], numba.float32[::1], numba.uint64, numba.uint64)
add_product: Any = numba.njit(_signature, nogil=True, cache=True, fastmath={"reassoc", "contract"})(_add_product)
"""(indptr, indices, values, weights, out, first, last): add `matrix[first:last] @ weights` to `out[first:last]`."""
