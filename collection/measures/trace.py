"""How a measure shows its work: the numbers of the calculation itself, never a second calculation.

A measure's function names what it computes on the way with :func:`show`. That costs nothing until
:func:`collection.measures.explain` listens, and then it hears exactly what went into the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from collection.measures.aligned import Floats


class Shown(NamedTuple):
    """One thing that a measure showed: its name, its numbers, and the ranks that they belong to (None: all)."""

    name: str
    values: np.ndarray
    ranks: npt.NDArray[np.int64] | None


_LISTENER: ContextVar[list[Shown] | None] = ContextVar("listener", default=None)


@contextmanager
def listening() -> Iterator[list[Shown]]:
    """Collect what measures show meanwhile; they should be given one topic only."""
    heard: list[Shown] = []
    token = _LISTENER.set(heard)
    try:
        yield heard
    finally:
        _LISTENER.reset(token)


def show(name: str, values: npt.ArrayLike, ranks: npt.NDArray[np.int64] | None = None) -> None:
    """Say what a measure is computing.

    Parameters
    ----------
    name
        As a lecture would write it on the board: "P at i", "R", "ideal DCG".
    values
        (T, k): a number at every rank; (F,) together with `ranks`; or (T,): one number a topic.
    ranks
        (F,): the ranks of `values`, where only some have one.
    """
    heard = _LISTENER.get()
    if heard is not None:
        heard.append(Shown(name, np.asarray(values), ranks))


def divide(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Quotient, 0 where the divisor is 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    quotient: Floats = np.zeros(np.broadcast(above, below).shape)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient
