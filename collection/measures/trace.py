"""Recording of the intermediate results of a measure, for :func:`collection.measures.explain`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Floats, Ints


class Step(NamedTuple):
    """An intermediate result: its name, its numbers, and the ranks that they belong to (None: all)."""

    name: str
    values: np.ndarray
    ranks: Ints | None


_STEPS: ContextVar[list[Step] | None] = ContextVar("steps", default=None)

Array = TypeVar("Array", bound=npt.ArrayLike)


@contextmanager
def record_steps() -> Iterator[list[Step]]:
    """Collect what measures show meanwhile; they should be given one topic only."""
    steps: list[Step] = []
    token = _STEPS.set(steps)
    try:
        yield steps
    finally:
        _STEPS.reset(token)


def show(name: str, values: Array, ranks: Ints | None = None) -> Array:
    """Name an intermediate result ("P at i", "R", "ideal DCG") for explanations, and return it.

    `values` are (T, k), a number at every rank; (F,) at the `ranks`, (F,); or (T,), one number per topic.
    """
    steps = _STEPS.get()
    if steps is not None:
        steps.append(Step(name, np.asarray(values), ranks))
    return values


def divide(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Quotient, 0 where the divisor is 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    quotient: Floats = np.zeros(np.broadcast(above, below).shape)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient
