"""The registry of pooling strategies."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core.errors import InputError
from collection.core.records import Run
from collection.core.registry import Entry, Parameter, Registry

TiedRanks = Literal["listed", "both"]

Indices = npt.NDArray[np.integer]
"""Positions of documents in a list of ids."""

Selector = Generator[int, bool, None]
"""Yields the document to judge next and is sent whether it was relevant."""

Strategy = Callable[..., Any]
"""(runs, *, parameters) -> pool, or (rankings, *, parameters) -> Selector where it is adaptive."""

Depth = Annotated[int, Parameter("Depth", "Number of ranks taken from each run.", least=1)]
Budget = Annotated[int, Parameter("Pairs per topic", least=1)]
Total = Annotated[int, Parameter("Pairs, all topics", "Replaces the number of pairs per topic; 0 = not used.", least=0)]
Seed = Annotated[int, Parameter("Random seed", "Random seed for a reproducible sample.", least=0)]

UNLIMITED = 10**9
"""More documents than any topic has."""


@dataclass(frozen=True)
class FullPool:
    """A depth pool from which a strategy draws a sample."""

    ranks: Indices
    """(pairs,) the best rank of each pair."""
    depth: int
    topics: int
    """Number of topics."""
    share: float
    """The share of its pairs to judge, above 0, at most 1."""


@dataclass(frozen=True, repr=False)
class StrategyEntry(Entry[Strategy]):
    """A pooling strategy.

    A parameter called ``budget`` is the number of pairs of each topic, ``depth`` a rank, ``seed`` a random seed:
    campaigns, replays and pages set them by these names.
    """

    _: KW_ONLY
    adaptive: bool = False
    """Whether it reads each judgement before it chooses the next document. Its function then takes the runs' rankings
    of one topic (:func:`collection.pooling.list_rankings`) and asks for every document once. The order follows from the
    rankings and the answers alone, so sending the same answers again resumes it."""
    draw: Callable[[FullPool], dict[str, object]] | None = None
    """For a strategy that draws a random sample: the parameters with which it draws the share of a full pool. Its
    frames hold the whole population, with ``probability``, ``stratum`` and ``drawn``."""
    limits: tuple[str, ...] = ()
    """The parameters that bound how many documents a topic gets."""
    orders_as: str = ""
    """The strategy with the same order, if it differs only in where it ends: comparisons leave it out."""

    @property
    def samples(self) -> bool:
        """Return whether it draws a random sample."""
        return self.draw is not None

    @property
    def traits(self) -> dict[str, str]:
        """Kind of the strategy: adaptive, random sample, or fixed pool."""
        return {"kind": "adaptive" if self.adaptive else "sample" if self.samples else "pool"}

    def pool(self, runs: Sequence[Run], **parameters: object) -> pd.DataFrame:
        """Make a pool of runs; InputError if the strategy is adaptive or a parameter is unknown."""
        self.require_parameters(parameters)
        if self.adaptive:
            raise InputError(
                f"{self.name} chooses each document after the previous judgement, so it makes no pool in advance; "
                f"choose it on the Loop page or with `cleverdon loop DIR --mode loop --by {self.name}`, or try it with "
                "`cleverdon simulate`"
            )
        return cast(pd.DataFrame, self.function(runs, **parameters))

    def whole_pool(self, runs: Sequence[Run]) -> pd.DataFrame:
        """Make the pool without limits, best documents first."""
        return self.pool(runs, **dict.fromkeys(self.limits, UNLIMITED))

    def begin(self, rankings: Sequence[Indices], seed: int) -> Selector:
        """Start an adaptive strategy; `seed` is for those that draw random numbers."""
        return cast(Selector, self.function(rankings, **({"seed": seed} if "seed" in self.parameters else {})))


STRATEGIES = Registry("pooling strategy", StrategyEntry, group="cleverdon.pooling")


def check_depth(depth: int) -> None:
    """Refuse a depth below 1."""
    if depth < 1:
        raise InputError(f"pool depth: expected a rank of 1 or more, found {depth}")


def check_budget(budget: int) -> None:
    """Refuse a budget below 1."""
    if budget < 1:
        raise InputError(f"pool budget: expected 1 or more pairs per topic, found {budget}")


def strategies(*, adaptive: bool) -> dict[str, StrategyEntry]:
    """Name -> entry of the strategies that are adaptive, or of those that make a pool in advance."""
    return {entry.name: entry for entry in STRATEGIES if entry.adaptive == adaptive}


def read_parameters(entry: Entry[Any], settings: Iterable[str]) -> dict[str, float | str]:
    """Settings such as ``budget=50`` -> the parameters of an entry, with the types that its function names.

    >>> from collection.pooling import STRATEGIES
    >>> read_parameters(STRATEGIES["rbp"], ["budget=50", "p=.95"])
    {'budget': 50, 'p': 0.95}
    >>> read_parameters(STRATEGIES["rbp"], ["depth=50"])
    Traceback (most recent call last):
    collection.core.errors.UnknownNameError: unknown rbp parameter 'depth'; choose from budget, p, total
    """
    read: dict[str, float | str] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            example = "".join(f", such as {key}={value}" for key, value in list(entry.parameters.items())[:1])
            raise InputError(f"expected a parameter as NAME=VALUE{example}, found {setting!r}")
        if name in read:
            raise InputError(f"parameter {name} of {entry.name} is given more than once")
        read[name] = entry.read(name, text)
    return read


def format_parameters(parameters: Mapping[str, object]) -> str:
    """Format parameters without those that have no effect: a total of 0, or a budget next to a total.

    >>> format_parameters({"budget": 100, "k": 60, "total": 0, "near_duplicates": "keep"})
    'budget 100, k 60'
    >>> format_parameters({"budget": 100, "k": 60, "total": 2000, "near_duplicates": "skip"})
    'k 60, total 2000, near-duplicates skip'
    """
    idle: list[tuple[str, object]] = [("near_duplicates", "keep"), ("total", 0)]
    if parameters.get("total"):
        idle.append(("budget", parameters.get("budget")))
    shown = (item for item in parameters.items() if item not in idle)
    return ", ".join(f"{name.replace('_', '-')} {value}" for name, value in shown)
