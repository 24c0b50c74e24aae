"""Case -> the order in which its documents would have been judged."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection import pooling
from collection.active_learning.training_round import Ranking, Recipe, build_queue, train_and_rank
from collection.errors import InputError
from collection.pooling import Indices
from collection.simulation.cases import Case
from collection.stopping import Ledger

Way = Literal["ranking", "draws", "control"]
"""Where the loop takes its documents from: the ranking alone; with random draws where it runs dry; or after a
random sample that it does not learn from, so that one can see when the ranking finds it by itself."""


End = Literal["found", "ranked", "filled"]
"""Where an order ends: when every relevant document is found; when everything is judged, ranked by the model to the
end; or when everything is judged, the documents after the last relevant one in any order. Stopping rules cannot tell
the last two apart, since none of those documents is relevant, and only one of the two trains hundreds of models."""


class Played(NamedTuple):
    """An order of judging.

    Attributes
    ----------
    order
        (n,) document indices, the priors not among them.
    priors
        Documents whose grades were given beforehand, at no cost.
    rounds
        (n,) the number of judgements in `order` that there were when each document was chosen.
    drawn
        (n,) whether it was drawn at random.
    reached
        (n,) for a document of a control sample: the judgement at which the ranking came to it; nan otherwise.
    seconds
        Wall time of the replay.
    """

    order: Indices
    priors: Indices
    rounds: NDArray[np.int64]
    drawn: NDArray[np.bool_]
    reached: NDArray[np.float64]
    seconds: float

    def ledger(self, case: Case, level: float) -> Ledger:
        """The same as a ledger for stopping rules; priors are not in its scope."""
        size = int(case.space.allowed.sum()) - int(case.space.allowed[self.priors].sum())
        relevant = case.grades[self.order] >= level
        return Ledger.of(relevant, size, drawn=self.drawn, batch=self.rounds, reached=self.reached)

    def until_found(self, case: Case, level: float) -> Played:
        """The same to the end of the round that found the last relevant document."""
        found = np.flatnonzero(case.grades[self.order] >= level)
        end = int(np.searchsorted(self.rounds, self.rounds[found[-1]], side="right")) if len(found) else 0
        return self._replace(
            order=self.order[:end], rounds=self.rounds[:end], drawn=self.drawn[:end], reached=self.reached[:end]
        )


def _one(judged: int) -> Iterator[int]:
    while True:
        yield 1


def _ten(judged: int) -> Iterator[int]:
    while True:
        yield 10


def _bmi(judged: int) -> Iterator[int]:
    size = 1
    while True:
        yield size
        size += int(np.ceil(size / 10))


def _twentieth(judged: int) -> Iterator[int]:
    while True:
        size = max(1, min(50, judged // 20))
        yield size
        judged += size


SCHEDULES: dict[str, Callable[[int], Iterator[int]]] = {"twentieth": _twentieth, "1": _one, "10": _ten, "bmi": _bmi}
"""How many documents are judged between two rounds of the model: name -> (judged at the start) -> sizes.

"twentieth": a twentieth of what is judged, at least 1 and at most 50. "bmi": begins with 1 and grows by a tenth each
time, as the baseline of TREC's total recall track did (Cormack & Grossman, 2015)."""


def play_loop(
    case: Case,
    recipe: Recipe,
    seed: int,
    *,
    priors: Indices | None = None,
    schedule: str = "twentieth",
    way: Way = "ranking",
    end: End = "found",
    positives: int = 10,
) -> Played:
    """Let the loop choose until every relevant document is found.

    Parameters
    ----------
    case, recipe, seed
        What, how, and the randomness of the presumed examples and of draws.
    priors
        Documents whose grades are known from the start.
    schedule
        A name of :data:`SCHEDULES`.
    way
        Where documents come from.
    end
        How the order ends; stopping rules need one that goes on to the last document.
    positives
        For "control": how many relevant documents the sample holds.
    """
    if schedule not in SCHEDULES:
        raise InputError(f"a batch is one of {', '.join(SCHEDULES)}, found {schedule!r}")
    # Made once for a topic, whoever comes first: not part of the time of one replay.
    _ = case.space.start, case.space.prior, case.space.blank
    begun = time.perf_counter()
    given = np.zeros(0, dtype=np.int64) if priors is None else priors
    relevant = case.grades >= recipe.level
    open_ = case.space.allowed.copy()
    open_[given] = False
    missing = int((relevant & open_).sum())
    order: list[int] = []
    rounds: list[int] = []
    drawn: list[bool] = []
    control: dict[int, float] = {}
    if way == "control":
        drawn_rows = np.random.default_rng(seed).permutation(np.flatnonzero(open_))
        enough = int(np.searchsorted(np.cumsum(relevant[drawn_rows]), positives)) + 1
        order = drawn_rows[:enough].tolist()
        control = dict.fromkeys(order, np.nan)
        rounds, drawn = [0] * len(order), [True] * len(order)
        missing -= int(relevant[order].sum())
    again = int(relevant[order].sum())  # relevant documents of the control sample that the ranking has not come to
    left = open_.copy()
    sizes = SCHEDULES[schedule](len(given))
    while left.any() and (missing or end != "found") and len(order) < int(open_.sum()):
        size, before = next(sizes), len(order)
        lots = seed + 7919 * int(len(given) + len(order) - np.isnan([*control.values()]).sum())
        if missing or again or end == "ranked":
            read = np.array([*given, *(row for row in order if control.get(row, 0) >= 0)], dtype=np.int64)
            ranking = train_and_rank(case.space, read, case.grades[read], recipe, lots, size)
        else:
            rest = np.flatnonzero(left)[:size]
            ranking = Ranking(rest, np.zeros(len(rest), dtype=np.float32), None, "no order")
        if way == "draws":
            ledger = Ledger.of(relevant[order], int(open_.sum()), drawn=drawn)
            chosen = [(c.row, c.rank is None) for c in build_queue(ranking, ledger, left, lots)]
        else:
            chosen = [(row, False) for row in ranking.rows.tolist()]
        if not chosen:
            break
        for row, random in chosen:
            left[row] = False
            if row in control:  # found again: it is judged already, and nobody is asked twice
                control[row] = len(order)
                again -= int(relevant[row])
                continue
            order.append(row)
            rounds.append(before)
            drawn.append(random)
            missing -= int(relevant[row])
    reached = np.array([control.get(row, np.nan) for row in order], dtype=np.float64)
    return Played(
        np.array(order, dtype=np.int64),
        given,
        np.array(rounds, dtype=np.int64),
        np.array(drawn, dtype=np.bool_),
        reached,
        time.perf_counter() - begun,
    )


def play_pooling(case: Case, strategy: str, seed: int, *, level: float = 1, priors: Indices | None = None) -> Played:
    """Let a pooling strategy choose; what no run retrieved comes behind, in an order drawn by lot.

    `strategy` is a name of :data:`collection.pooling.STRATEGIES`.
    """
    begun = time.perf_counter()
    given = np.zeros(0, dtype=np.int64) if priors is None else priors
    entry = pooling.STRATEGIES[strategy]
    if entry.adaptive:
        # A seed of its own for each topic: chance then evens out in the mean of a few of them.
        asking = entry.begin(case.rankings, zlib.crc32(f"{seed} {case.query_id}".encode()))
        pooled = pooling.replay(asking, case.grades >= level)
    elif strategy in case.pools:
        pooled = case.pools[strategy]
    else:
        raise InputError(
            f"the strategy {strategy!r} was not made ready; give runs= and pools=[{strategy!r}] to cases()"
        )
    open_ = case.space.allowed.copy()
    open_[given] = False
    first = pooled[open_[pooled]]
    open_[first] = False
    rest = np.random.default_rng(seed).permutation(np.flatnonzero(open_))
    order = np.concatenate((first, rest)).astype(np.int64)
    none = np.full(len(order), np.nan)
    drawn = np.zeros(len(order), dtype=np.bool_)
    return Played(order, given, np.arange(len(order)), drawn, none, time.perf_counter() - begun)
