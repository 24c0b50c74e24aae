"""The loop's judgement budgets: how much is used, and how many documents each topic may still get."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from collection import clock
from collection.campaign.loop_scope import LoopScope
from collection.campaign.loop_settings import LOOPING
from collection.campaign.results import BudgetState
from collection.campaign.settings import Settings
from collection.store import Store


def shares(budget: int, taken: Sequence[int], most: Sequence[int]) -> NDArray[np.int64]:
    """Share a budget equally among topics; what a topic cannot use goes to the others.

    Every topic may come to the same number of documents, the highest with which the budget suffices. A topic that has
    more already keeps them, one that has fewer to judge takes those, and single documents that are left over go to the
    first topics.

    Parameters
    ----------
    budget
        Documents in all.
    taken
        (topics,) documents that are judged or handed out.
    most
        (topics,) documents that there are; less than `taken` means that the topic gets no more.

    Returns
    -------
    ndarray
        (topics,) how many each may come to.

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
    """The loop's judgement budgets: how much is used, and how many documents each topic may still get."""

    store: Store
    settings: Settings
    loop_scope: LoopScope
    _outside: tuple[dict[str, NDArray[np.int64]], int, dict[str, int]] | None = field(default=None, init=False)

    def room(self, query_id: str, annotator: str | None = None, *, alone: bool = True) -> int | None:
        """How many more documents of a topic may be handed out by the loop's budgets; None where there is no budget.

        What is on lease will soon be judged and counts, in whatever topic; but not what this annotator holds. The
        budget of all topics is shared by :func:`shares`.

        Parameters
        ----------
        query_id, annotator
            The topic, and for whom; for everybody if left out.
        alone
            Whether the annotator gives back what they hold in other topics; if not, that counts as well.
        """
        settings, at = self.settings.loop(), clock.seconds()
        rooms = []
        if settings.topic_budget:
            rooms.append(settings.topic_budget - self.store.queue.count_taken(query_id, at, annotator))
        if settings.budget:
            taken = self.store.queue.count_taken_by_topic(at, annotator, None if alone else query_id)
            rooms.append(self._shares(taken)[query_id] - taken.get(query_id, 0))
        return max(min(rooms), 0) if rooms else None

    def _shares(self, taken: dict[str, int]) -> dict[str, int]:
        """How many documents of each topic may be judged by the budget of all topics, given those that are taken."""
        most = self.most_in_loop()
        given = shares(self.settings.loop().budget, [taken.get(q, 0) for q in most], list(most.values()))
        return dict(zip(most, given.tolist(), strict=True))

    def most_in_loop(self) -> dict[str, int]:
        """Documents that can be judged in each topic in all, within its own budget; 0 where there is no loop.

        They are those that the loop can hand out, and those that are judged although it cannot: imported labels and
        what was found by searching, which use up the budget as well.
        """
        settings, outside = self.settings.loop(), self._judged_outside_loop()
        sizes = {query_id: len(rows) + outside[query_id] for query_id, rows in self.loop_scope.rows().items()}
        limited = {query_id: min(size, settings.topic_budget or size) for query_id, size in sizes.items()}
        return {query_id: limited.get(query_id, 0) for query_id in self.settings.modes()}

    def _judged_outside_loop(self) -> dict[str, int]:
        """Judged documents that are not in :meth:`.LoopScope.rows`, by topic; counted anew when the log has changed."""
        rows, logged = self.loop_scope.rows(), self.store.judgements.versions()[1]
        if self._outside is None or self._outside[0] is not rows:
            self._outside = (rows, 0, dict.fromkeys(rows, 0))
        _, before, counts = self._outside
        if before != logged:
            for query_id in rows.keys() & set(self.store.judgements.topics_since(before)):
                judged = self.store.judgements.judged_rows(query_id)
                counts[query_id] = len(judged) - int(np.isin(judged, rows[query_id]).sum())
            self._outside = (rows, logged, counts)
        return counts

    def state(self) -> BudgetState:
        """How much of the loop's judgement budgets is used, and where."""
        settings, modes = self.store.settings.get("loop", {}), self.settings.modes()
        return BudgetState(
            settings.get("budget", 0),
            settings.get("topic_budget", 0),
            self.store.queue.count_taken_by_topic(math.inf),  # no lease lasts so long: only what is judged
            [query_id for query_id, mode in modes.items() if mode in LOOPING],
        )

    def used_up(self, query_id: str) -> str:
        """The budget that is used up where a topic's loop has no more, as a short sentence; empty where none is."""
        settings = self.settings.loop()
        if self.settings.mode(query_id) not in LOOPING or not (settings.budget or settings.topic_budget):
            return ""
        state = self.state()
        if state.total_used_up:
            return f"The judgement budget of this campaign ({state.budget:,}) is used up"
        if state.topic_used_up(query_id):
            return f"The judgement budget of this topic ({state.topic_budget:,}) is used up"
        if settings.budget and state.judged.get(query_id, 0) >= (share := self._shares(state.judged)[query_id]):
            return f"This topic's share ({share:,}) of the judgement budget ({state.budget:,}) is used up"
        return ""
