"""The product of :mod:`.matvec`, compiled; importing this needs numba (the extra `[fast]`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

numba: Any = import_module("numba")


def _read(kind: Any) -> Any:
    """Memory maps are read-only, and whatever is not passes as if it were: so one version does for all."""
    return numba.types.Array(kind, 1, "C", readonly=True)


def _add_product(indptr: Any, indices: Any, values: Any, weights: Any, out: Any, first: Any, last: Any) -> None:
    for row in range(first, last):
        total = numba.float32(0)
        for place in range(indptr[row], indptr[row + numba.uint64(1)]):
            total += values[place] * weights[indices[place]]
        out[row] += total


# Unsigned, for an index that may be negative costs a comparison each and keeps the loop from using vectors; sums in
# any order, for the same reason; without Python's lock; kept on disk, since compiling takes a second.
_signature = numba.void(
    _read(numba.uint64), _read(numba.uint32), _read(numba.float32), _read(numba.float32),
    numba.float32[::1], numba.uint64, numba.uint64,
)  # fmt: skip
add_product: Any = numba.njit(_signature, nogil=True, cache=True, fastmath={"reassoc", "contract"})(_add_product)
"""(indptr, indices, values, weights, out, first, last): add `matrix[first:last] @ weights` to `out[first:last]`."""
