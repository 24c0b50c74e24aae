"""The table of pooling strategies, and what its members are."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.records import Run
from collection.registry import Entry, Parameter, Registry

Ties = Literal["listed", "both"]

Indices = npt.NDArray[np.integer]
"""Documents by their places in some list of ids."""

Asking = Generator[int, bool, None]
"""Yields the document to judge next and is sent whether it was relevant."""

Strategy = Callable[..., Any]
"""A pool frame from runs, or Asking where it is adaptive."""

Depth = Annotated[int, Parameter("Depth", "Ranks of each run.", least=1)]
Budget = Annotated[int, Parameter("Pairs per topic", least=1)]
Total = Annotated[
    int, Parameter("Pairs, all topics", "Replaces the pairs per topic; 0 = pairs per topic apply.", least=0)
]
Seed = Annotated[int, Parameter("Seed", "The same seed draws the same sample.", least=0)]

UNLIMITED = 10**9
"""More documents than any topic has."""


@dataclass(frozen=True)
class FullPool:
    """A depth pool of which a strategy is to draw a share.

    Attributes
    ----------
    ranks
        (pairs,) the best rank of each pair.
    depth
        Its depth.
    topics
        Number of topics.
    share
        The share of its pairs that can be judged, above 0, at most 1.
    """

    ranks: npt.NDArray[np.integer[Any]]
    depth: int
    topics: int
    share: float


@dataclass(frozen=True)
class StrategyEntry(Entry[Strategy]):
    """A pooling strategy.

    A parameter called ``budget`` is the number of pairs of each topic, ``depth`` a rank, ``seed`` a random seed:
    campaigns, replays and pages set them by these names.

    Attributes
    ----------
    adaptive
        Whether it looks at each judgement before it chooses the next document. Its function is then (rankings of one
        topic, *, parameters) -> Asking, where `rankings` has one array a run with document indices in rank order
        (:func:`collection.pooling.rankings_of`). No document is asked for twice, whatever the answers; the generator
        ends when all documents of all runs were judged. The order follows from the rankings and the answers alone, so
        a caller who stops goes on by sending the old answers again. Otherwise it is (runs, *, parameters) -> pool.
    draw
        For a strategy that draws a random sample: the parameters with which it draws the share of a full pool. Its
        frames hold the whole population, with ``probability``, ``stratum`` and ``drawn``.
    limits
        The parameters that bound how many documents a topic gets.
    orders_as
        The strategy whose order it takes, if it only differs in where it ends: comparisons leave it out.
    """

    _: KW_ONLY
    adaptive: bool = False
    draw: Callable[[FullPool], dict[str, Any]] | None = None
    limits: tuple[str, ...] = ()
    orders_as: str = ""

    @property
    def samples(self) -> bool:
        """Whether it draws a random sample."""
        return self.draw is not None

    @property
    def traits(self) -> dict[str, str]:
        """When it chooses."""
        return {"kind": "adaptive" if self.adaptive else "sample" if self.samples else "pool"}

    def pool(self, runs: Sequence[Run], **parameters: Any) -> pd.DataFrame:
        """The pool that it makes of runs.

        Raises
        ------
        InputError, UnknownNameError
            It is adaptive, or has no such parameter.
        """
        self.require_parameters(parameters)
        if self.adaptive:
            raise InputError(
                f"{self.name} chooses each document after the judgement of the one before, so it makes no pool in "
                f"advance: choose it on the Loop page or with `cleverdon loop DIR --mode loop --by {self.name}`; "
                "`cleverdon simulate` tries it out"
            )
        return cast(pd.DataFrame, self.function(runs, **parameters))

    def whole_pool(self, runs: Sequence[Run]) -> pd.DataFrame:
        """All that it would ever choose, best first."""
        return self.pool(runs, **dict.fromkeys(self.limits, UNLIMITED))

    def begin(self, rankings: Sequence[Indices], seed: int) -> Asking:
        """An adaptive strategy at its start; `seed` is for those that draw random numbers."""
        return cast(Asking, self.function(rankings, **({"seed": seed} if "seed" in self.parameters else {})))


STRATEGIES = Registry("pooling strategy", StrategyEntry, group="cleverdon.pooling")
"""Every strategy."""


def strategies(*, adaptive: bool) -> dict[str, StrategyEntry]:
    """Name -> entry of the strategies that are adaptive, or of those that make a pool in advance."""
    return {entry.name: entry for entry in STRATEGIES if entry.adaptive == adaptive}
