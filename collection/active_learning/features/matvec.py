"""Product of a sparse matrix and a vector, the only pass over all documents in a training round."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

SMALL = 5_000_000
"""Up to this number of stored values, scipy on one core is fast enough, and numba is not imported."""

SLAB = 1 << 22
"""Approximate number of stored values in a slab, small enough for threads to share the work evenly."""


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def compiled() -> Callable[..., None] | None:
    """The product compiled by numba; None if numba is not installed or cannot cache what it compiles."""
    try:
        from collection.active_learning.features.compiled import add_product
    except (ImportError, RuntimeError):
        return None
    product: Callable[..., None] = add_product
    return product
