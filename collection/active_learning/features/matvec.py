"""The product of a sparse matrix with a vector: the one pass over all documents in a training round."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

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
