"""The judgement budgets of the loop."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from collection import clock
from collection.campaign.calibration_record import pending_topics
from collection.campaign.loop_scope import LoopScope
from collection.campaign.loop_settings import LOOPING
from collection.campaign.results import BudgetLeft, BudgetState
from collection.campaign.settings import Settings
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


@dataclass(eq=False)
class JudgingBudget:
    """The judgement budgets of the loop: how much is used, and how many documents each topic may still get."""

    store: Store
    settings: Settings
    loop_scope: LoopScope
    _outside: tuple[dict[str, NDArray[np.int64]], int, dict[str, int]] | None = field(default=None, init=False)

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
            rooms.append(settings.topic_budget - self.store.queue.count_taken(query_id, at, annotator))
        if settings.budget:
            taken = self.store.queue.count_taken_by_topic(at, annotator, None if alone else query_id)
            rooms.append(self._shares(taken)[query_id] - taken.get(query_id, 0))
        return max(min(rooms), 0) if rooms else None

    def _shares(self, taken: dict[str, int]) -> dict[str, int]:
        most, budget = self.most_in_loop(), self.settings.loop().budget
        if self.settings.loop().by_system_order:  # it spends the budget across topics as it sees fit
            rest = max(budget - sum(taken.values()), 0)
            return {query_id: taken.get(query_id, 0) + rest for query_id in most}
        given = shares(budget, [taken.get(q, 0) for q in most], list(most.values()))
        return dict(zip(most, given.tolist(), strict=True))

    def most_in_loop(self) -> dict[str, int]:
        """Return the maximum number of judged documents of each topic within its own budget; 0 without a loop.

        They are those that the loop can offer, and judged ones beyond these: imported labels and documents found by
        searching use up the budget as well.
        """
        settings, outside = self.settings.loop(), self._judged_outside_loop()
        sizes = {query_id: len(rows) + outside[query_id] for query_id, rows in self.loop_scope.loop_rows().items()}
        limited = {query_id: min(size, settings.topic_budget or size) for query_id, size in sizes.items()}
        return {query_id: limited.get(query_id, 0) for query_id in self.settings.modes()}

    def _judged_outside_loop(self) -> dict[str, int]:
        """Count the judged documents of each topic outside :meth:`.LoopScope.rows`; cached until the log changes."""
        rows, logged = self.loop_scope.loop_rows(), self.store.judgements.versions()[1]
        if self._outside is None or self._outside[0] is not rows:
            self._outside = (rows, 0, dict.fromkeys(rows, 0))
        _, before, counts = self._outside
        if before != logged:
            for query_id in rows.keys() & set(self.store.judgements.topics_since(before)):
                judged = self.store.judgements.judged_rows(query_id)
                counts[query_id] = len(judged) - int(np.isin(judged, rows[query_id]).sum())
            self._outside = (rows, logged, counts)
        return counts

    def limited_topics(self) -> list[str] | None:
        """Return the topics in a loop, without calibration topics, which no budget limits; None without a budget."""
        settings, pending = self.settings.loop(), pending_topics(self.store)
        if not (settings.budget or settings.topic_budget):
            return None
        return [q for q, mode in self.settings.modes().items() if mode in LOOPING and q not in pending]

    def left(self, known: Mapping[str, int] | None = None) -> BudgetLeft | None:
        """Return how many documents may still be judged, whoever holds them; None without a budget.

        `known` are numbers of judged documents by topic, which take the place of counted ones.
        """
        settings, limited = self.settings.loop(), self.limited_topics()
        if limited is None:
            return None
        judged = self.store.queue.count_taken_by_topic(math.inf) | dict(known or {})
        most = self.most_in_loop()
        if settings.budget:
            given = self._shares(judged)
            most = {query_id: min(number, given[query_id]) for query_id, number in most.items()}
        topics = {query_id: max(most[query_id] - judged.get(query_id, 0), 0) for query_id in limited}
        rest = max(settings.budget - sum(judged.values()), 0) if settings.budget else math.inf
        return BudgetLeft(topics, int(min(sum(topics.values()), rest)))

    def state(self) -> BudgetState:
        """Return how much of the budgets is used."""
        settings, modes = self.store.settings.get("loop", {}), self.settings.modes()
        return BudgetState(
            settings.get("budget", 0),
            settings.get("topic_budget", 0),
            self.store.queue.count_taken_by_topic(math.inf),  # without leases
            [query_id for query_id, mode in modes.items() if mode in LOOPING],
            [query_id for query_id in pending_topics(self.store) if self._has_documents(query_id)],
        )

    def _has_documents(self, query_id: str) -> bool:
        """Whether a topic's loop has unjudged documents."""
        rows = self.loop_scope.loop_rows().get(query_id)
        return rows is not None and not np.isin(rows, self.store.judgements.judged_rows(query_id)).all()

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
        if settings.budget and state.judged.get(query_id, 0) >= (share := self._shares(state.judged)[query_id]):
            return f"The topic's share ({share:,}) of the judgement budget ({state.budget:,}) is used up"
        return ""
