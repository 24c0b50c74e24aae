"""Replay of judging: the order in which the documents of a case would have been judged."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Literal, NamedTuple

import numpy as np

from collection import pooling
from collection.active_learning.training_round import Ranking, Recipe, build_queue, train_and_rank
from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.pooling import Indices
from collection.simulation.cases import Case
from collection.stopping import Ledger

OrderSource = Literal["ranking", "draws", "control"]
"""Source of the loop's documents. "ranking": the ranking alone. "draws": the ranking, with random draws after several
irrelevant documents in a row. "control": first a control sample of random documents, which the loop does not learn from
until the ranking reaches them."""

End = Literal["found", "ranked", "filled"]
"""End of an order. "found": every relevant document is found. "ranked": every document is judged, all ranked by the
model. "filled": every document is judged, those after the last relevant one in any order. Stopping rules cannot tell
the last two apart, but "filled" trains far fewer models."""


class JudgingOrder(NamedTuple):
    """The order in which a case was judged."""

    order: Indices
    """(n,) rows of the documents, without the priors."""
    priors: Indices
    """Rows of the documents whose grades were known from the start, at no cost."""
    rounds: Ints
    """(n,) number of judgements in `order` when each document was chosen."""
    drawn: Bools
    """(n,) whether each document was drawn at random."""
    reached: Floats
    """(n,) for documents of a control sample, the judgement at which the ranking reached them; nan otherwise."""
    seconds: float
    """Wall time of the replay."""

    def size(self, case: Case) -> int:
        """Number of documents that may be judged, without the priors."""
        return int(case.space.allowed.sum()) - int(case.space.allowed[self.priors].sum())

    def ledger(self, case: Case, level: float) -> Ledger:
        """The ledger for stopping rules."""
        relevant = case.grades[self.order] >= level
        return Ledger.of(relevant, self.size(case), drawn=self.drawn, batch=self.rounds, reached=self.reached)

    def until_found(self, case: Case, level: float) -> JudgingOrder:
        """The order up to the end of the round that found the last relevant document."""
        relevant_places = np.flatnonzero(case.grades[self.order] >= level)
        end = (
            int(np.searchsorted(self.rounds, self.rounds[relevant_places[-1]], side="right"))
            if len(relevant_places)
            else 0
        )
        return self._replace(
            order=self.order[:end], rounds=self.rounds[:end], drawn=self.drawn[:end], reached=self.reached[:end]
        )


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


SCHEDULES: dict[str, Callable[[int], Iterator[int]]] = {
    "twentieth": _twentieth,
    "1": lambda judged: repeat(1),
    "10": lambda judged: repeat(10),
    "bmi": _bmi,
}
"""Name -> function from the number of documents judged at the start to the sizes of the batches between two trainings.

"twentieth": a twentieth of the documents judged so far, at least 1 and at most 50. "bmi": 1 at first, then growing by a
tenth each time, as in the baseline of TREC's total recall track (Cormack & Grossman, 2015)."""


def replay_loop(
    case: Case,
    recipe: Recipe,
    seed: int,
    *,
    priors: Indices | None = None,
    schedule: str = "twentieth",
    source: OrderSource = "ranking",
    end: End = "found",
    recall: float = 1.0,
    positives: int = 10,
) -> JudgingOrder:
    """Judge a case in the order of the loop.

    Parameters
    ----------
    priors
        Rows of the documents whose grades are known from the start.
    schedule
        A name in :data:`SCHEDULES`.
    source, end
        See :data:`OrderSource` and :data:`End`. To measure stopping rules, use an order that runs to the last document.
    recall
        With "found", the share of the relevant documents whose finding ends the order.
    positives
        Number of relevant documents in the control sample.
    """
    if schedule not in SCHEDULES:
        raise InputError(f"batch: expected one of {', '.join(SCHEDULES)}, found {schedule!r}")
    # Computed once for a topic, before the clock of one replay starts.
    _ = case.space.start, case.space.prior, case.space.blank
    started = time.perf_counter()
    given, open_ = _split_priors(case, priors)
    relevant = case.grades >= recipe.level
    missing = int(np.ceil(recall * (relevant & open_).sum() - 1e-9))
    order: list[int] = []
    rounds: list[int] = []
    drawn: list[bool] = []
    control: dict[int, float] = {}  # document -> the judgement at which the ranking reached it
    if source == "control":
        shuffled = np.random.default_rng(seed).permutation(np.flatnonzero(open_))
        enough = int(np.searchsorted(np.cumsum(relevant[shuffled]), positives)) + 1
        order = shuffled[:enough].tolist()
        control = dict.fromkeys(order, np.nan)
        rounds, drawn = [0] * len(order), [True] * len(order)
        missing -= int(relevant[order].sum())
    unreached = int(relevant[order].sum())  # relevant documents of the control sample
    left = open_.copy()
    sizes = SCHEDULES[schedule](len(given))
    while left.any() and (missing > 0 or end != "found") and len(order) < int(open_.sum()):
        size, before = next(sizes), len(order)
        round_seed = seed + 7919 * int(len(given) + len(order) - np.isnan([*control.values()]).sum())
        if missing > 0 or unreached or end == "ranked":
            learned = np.array([*given, *(row for row in order if control.get(row, 0) >= 0)], dtype=np.int64)
            ranking = train_and_rank(case.space, learned, case.grades[learned], recipe, round_seed, size)
        else:
            rest = np.flatnonzero(left)[:size]
            ranking = Ranking(rest, np.zeros(len(rest), dtype=np.float32), None, "no order")
        if source == "draws":
            ledger = Ledger.of(relevant[order], int(open_.sum()), drawn=drawn)
            chosen = [(c.row, c.rank is None) for c in build_queue(ranking, ledger, left, round_seed)]
        else:
            chosen = [(row, False) for row in ranking.rows.tolist()]
        if not chosen:
            break
        for row, random in chosen:
            left[row] = False
            if row in control:  # judged already
                control[row] = len(order)
                unreached -= int(relevant[row])
                continue
            order.append(row)
            rounds.append(before)
            drawn.append(random)
            missing -= int(relevant[row])
    reached = np.array([control.get(row, np.nan) for row in order], dtype=np.float64)
    return JudgingOrder(
        np.array(order, dtype=np.int64),
        given,
        np.array(rounds, dtype=np.int64),
        np.array(drawn, dtype=np.bool_),
        reached,
        time.perf_counter() - started,
    )


def replay_pooling(
    case: Case, strategy: str, seed: int, *, level: float = 1, priors: Indices | None = None
) -> JudgingOrder:
    """Judge a case in the order of a pooling strategy, and then the other documents in random order."""
    started = time.perf_counter()
    entry = pooling.STRATEGIES[strategy]
    if entry.adaptive:
        # Each topic has a seed of its own, so that random effects average out over topics.
        selector = entry.begin(case.rankings, zlib.crc32(f"{seed} {case.query_id}".encode()))
        pooled = pooling.replay(selector, case.grades >= level)
    elif strategy in case.pools:
        pooled = case.pools[strategy]
    else:
        raise InputError(f"strategy {strategy!r} is not prepared; pass runs= and pools=[{strategy!r}] to cases()")
    given, open_ = _split_priors(case, priors)
    first = pooled[open_[pooled]]
    open_[first] = False
    rest = np.random.default_rng(seed).permutation(np.flatnonzero(open_))
    order = np.concatenate((first, rest)).astype(np.int64)
    unreached = np.full(len(order), np.nan)
    drawn = np.zeros(len(order), dtype=np.bool_)
    return JudgingOrder(order, given, np.arange(len(order)), drawn, unreached, time.perf_counter() - started)


def _split_priors(case: Case, priors: Indices | None) -> tuple[Indices, Bools]:
    """Return the rows of the priors, and a mask of the other documents that may be judged."""
    given = np.zeros(0, dtype=np.int64) if priors is None else priors
    open_ = case.space.allowed.copy()
    open_[given] = False
    return given, open_
