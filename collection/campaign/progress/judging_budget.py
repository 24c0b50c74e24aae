"""The judgement budgets of the loop."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from collection.campaign.log.results import BudgetLeft, BudgetState
from collection.campaign.progress.calibration_record import pending_topics
from collection.campaign.progress.loop_scope import LoopScope
from collection.campaign.settings.loop_settings import LOOPING
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.store import Store


def shares(budget: int, taken: Sequence[int], most: Sequence[int]) -> NDArray[np.int64]:
    """Share a budget of documents equally among topics; the unused rest of a topic goes to the others.

    A topic that has more than its share keeps them. Single documents that are left over go to the first topics.

    Parameters
    ----------
    taken
        (topics,) documents that are judged or on somebody's screen.
    most
        (topics,) documents that there are; a topic with fewer than `taken` gets no more.

    Returns
    -------
    ndarray
        (topics,) number of documents, including those taken.

    Examples
    --------
    >>> shares(10, [0, 0, 0], [50, 50, 50]).tolist()
    [4, 3, 3]
    >>> shares(10, [6, 0, 0], [50, 1, 50]).tolist()
    [6, 1, 3]
    """
    low = np.asarray(taken, dtype=np.int64)
    high = np.maximum(low, most)
    level = bisect_right(range(budget + 1), budget, key=lambda n: int(np.clip(n, low, high).sum())) - 1
    given = np.clip(max(level, 0), low, high)
    over = max(budget - int(given.sum()), 0)
    given[np.flatnonzero((given == level) & (given < high))[:over]] += 1
    return given


@dataclass
class _JudgedCounts:
    """Numbers of judged documents by topic up to the entry `logged` of the log.

    Of every topic: `everywhere`. Of topics in a loop: in the `pool`, and `sizes`, the numbers of documents that are
    judged or among the `rows` of the loop.
    """

    rows: dict[str, NDArray[np.int64]]
    logged: int = 0
    everywhere: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    pool: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class JudgingBudget:
    """The judgement budgets of the loop: how much is used, and how many documents each topic may still get."""

    store: Store
    settings: Settings
    loop_scope: LoopScope

    def room(self, query_id: str, annotator: str | None = None, *, alone: bool = True) -> int | None:
        """Return how many more documents of a topic the budgets allow; None without a budget.

        Leases count as judged, except those of `annotator` in this topic, or with `alone` in all topics. The budget of
        all topics is shared by :func:`shares`. Calibration topics are judged to the end without one.
        """
        settings, at = self.settings.loop(), clock.seconds()
        if (settings.budget or settings.topic_budget) and query_id in pending_topics(self.store):
            return None
        rooms = []
        if settings.topic_budget:
            rooms.append(settings.topic_budget - self.store.queue.count_taken(at, annotator, query_id).get(query_id, 0))
        if settings.budget:
            taken = self.store.queue.count_taken(at, annotator, None if alone else query_id)
            rooms.append(self._shares(taken, self.most_in_loop())[query_id] - taken.get(query_id, 0))
        return max(min(rooms), 0) if rooms else None

    def _shares(self, taken: Mapping[str, int], most: Mapping[str, int]) -> dict[str, int]:
        settings = self.settings.loop()
        if settings.by_system_order:  # it spends the budget across topics as it sees fit
            rest = max(settings.budget - sum(taken.values()), 0)
            return {query_id: taken.get(query_id, 0) + rest for query_id in most}
        given = shares(settings.budget, [taken.get(q, 0) for q in most], list(most.values()))
        return dict(zip(most, given.tolist(), strict=True))

    def most_in_loop(self) -> dict[str, int]:
        """Return the maximum number of judged documents of each topic within its own budget; 0 without a loop.

        They are those that the loop can offer, and judged ones beyond these: imported labels and documents found by
        searching use up the budget as well.
        """
        modes = self.settings.modes()
        return self._most(self._judged_counts(modes), modes)

    def _most(self, counts: _JudgedCounts, modes: Mapping[str, str]) -> dict[str, int]:
        sizes, own = counts.sizes, self.settings.loop().topic_budget
        if own:
            sizes = {query_id: min(size, own) for query_id, size in sizes.items()}
        return {query_id: sizes.get(query_id, 0) for query_id in modes}

    def judged_in_pool(self, modes: Mapping[str, str]) -> Mapping[str, int]:
        """Count the judged documents of the pool in topics with a loop; `modes` are those of :meth:`.Settings.modes`.

        Topics without a judged document may be missing.
        """
        return self._judged_counts(modes).pool

    def _judged_counts(self, modes: Mapping[str, str]) -> _JudgedCounts:
        """Count judged documents; cached, and counted anew of the topics with new entries in the log."""
        rows, logged = self.loop_scope.loop_rows(modes), self.store.judgements.versions()[1]

        def start() -> _JudgedCounts:
            return _JudgedCounts(rows, sizes={query_id: len(documents) for query_id, documents in rows.items()})

        known = self.store.cached("judged counts", id(rows), start)  # it holds the rows, so no others get their id
        if known.logged != logged:
            for query_id in self.store.judgements.topics_since(known.logged):
                judged = self.store.judgements.judged_rows(query_id)
                known.everywhere[query_id] = len(judged)
                if query_id in rows:
                    among = int(np.isin(judged, rows[query_id]).sum())
                    known.sizes[query_id] = len(rows[query_id]) + len(judged) - among
                    known.pool[query_id] = int(np.isin(judged, self.store.pool.rows(query_id)).sum())
            known.logged = logged
        return known

    def limited_topics(self, modes: Mapping[str, str] | None = None) -> list[str] | None:
        """Return the topics in a loop, without calibration topics, which no budget limits; None without a budget.

        `modes` are those of :meth:`.Settings.modes`, if they are known.
        """
        settings = self.settings.loop()
        if not (settings.budget or settings.topic_budget):
            return None
        pending, modes = pending_topics(self.store), self.settings.modes() if modes is None else modes
        return [query_id for query_id, mode in modes.items() if mode in LOOPING and query_id not in pending]

    def left(self) -> BudgetLeft | None:
        """Return how many documents may still be judged, whoever holds them; None without a budget."""
        modes = self.settings.modes()
        limited = self.limited_topics(modes)
        return None if limited is None else self.left_of(limited, modes)

    def left_of(
        self, limited: Sequence[str], modes: Mapping[str, str], known: Mapping[str, int] | None = None
    ) -> BudgetLeft:
        """Return :meth:`left` with a budget.

        `limited` are the topics of :meth:`limited_topics`, `modes` those of :meth:`.Settings.modes`; `known` are
        numbers of judged documents by topic, which take the place of counted ones.
        """
        settings, counts = self.settings.loop(), self._judged_counts(modes)
        most, judged = self._most(counts, modes), counts.everywhere | dict(known or {})
        if settings.budget:
            given = self._shares(judged, most)
            most = {query_id: min(number, given[query_id]) for query_id, number in most.items()}
        topics = {query_id: max(most[query_id] - judged.get(query_id, 0), 0) for query_id in limited}
        rest = max(settings.budget - sum(judged.values()), 0) if settings.budget else math.inf
        return BudgetLeft(topics, int(min(sum(topics.values()), rest)))

    def state(self) -> BudgetState:
        """Return how much of the budgets is used."""
        settings, modes = self.settings.loop(), self.settings.modes()
        judged = self.store.queue.count_taken(math.inf)  # without leases
        pending = {query_id: judged.get(query_id, 0) for query_id in pending_topics(self.store)}
        unjudged = self.loop_scope.topics_with_unjudged(pending, modes)
        pairs = 0
        if settings.by_system_order and settings.budget:
            pairs = sum(max(most, judged.get(query_id, 0)) for query_id, most in self.most_in_loop().items())
        return BudgetState(
            settings.budget,
            settings.topic_budget,
            judged,
            [query_id for query_id, mode in modes.items() if mode in LOOPING],
            [query_id for query_id in pending if query_id in unjudged],
            pairs,
        )

    def used_up(self, query_id: str) -> str:
        """Describe the budget that is used up in a topic's loop; empty if none is."""
        settings = self.settings.loop()
        if self.settings.mode(query_id) not in LOOPING or not (settings.budget or settings.topic_budget):
            return ""
        state = self.state()
        if query_id in state.exempt:
            return ""
        if state.total_used_up:
            return f"The campaign's judgement budget ({state.budget:,}) is used up"
        if state.topic_used_up(query_id):
            return f"The topic's judgement budget ({state.topic_budget:,}) is used up"
        if settings.budget:
            share = self._shares(state.judged, self.most_in_loop())[query_id]
            if state.judged.get(query_id, 0) >= share:
                return f"The topic's share ({share:,}) of the judgement budget ({state.budget:,}) is used up"
        return ""
