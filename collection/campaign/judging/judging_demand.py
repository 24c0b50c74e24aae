"""Number of judgements that pairs still need."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection import assignment
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.records import Candidate
from collection.store import Demand, Selection, Store


class Prefetched(NamedTuple):
    """A pair that other annotators have loaded: how it was selected, its state, and the number of these annotators."""

    selection: Selection
    candidate: Candidate
    number: int


@dataclass(eq=False)
class JudgingDemand:
    """Number of judgements that pairs still need."""

    store: Store
    settings: Settings

    def candidates(
        self, query_id: str, annotator: str, at: float, among: Sequence[str] | None = None
    ) -> list[Candidate]:
        """Return the candidates of the store, with the number of annotators also of pairs outside the pool."""
        candidates = self.store.queue.candidates(query_id, annotator, at, among)
        outside = [] if among is None else [c.doc_id for c in candidates if not c.wanted]
        if outside:
            numbers = iter(self.wanted_outside_pool(query_id, outside).tolist())
            candidates = [c if c.wanted else c._replace(wanted=next(numbers)) for c in candidates]
        return candidates

    def open_in_pool(
        self, query_id: str, annotator: str, at: float, count: int, held: Collection[str] = ()
    ) -> list[Candidate]:
        """Return open pairs of the pool, enough for :func:`.assignment.next_pairs` to choose `count`.

        Without the documents `held`, and qualification pairs, of which the annotator has none left.
        """
        unfinished = self.store.queue.unfinished(query_id, annotator, at)
        return assignment.read_open((c for c in unfinished if c.doc_id not in held), count)

    def prefetched(self, query_id: str, annotator: str, at: float) -> list[Prefetched]:
        """Return the pairs of a topic that the annotator can take over from others' browsers, the first one first."""
        prefetched_pairs = self.store.queue.prefetched_pairs(query_id, annotator, at)
        candidates = self.candidates(query_id, annotator, at, [chosen.doc_id for chosen, _ in prefetched_pairs])
        pairs = [
            Prefetched(chosen, candidate, number)
            for (chosen, number), candidate in zip(prefetched_pairs, candidates, strict=True)
            if assignment.next_pairs([candidate._replace(leased=candidate.leased - number)])
        ]
        return sorted(pairs, key=lambda pair: pair.candidate.skipped is not None)

    def take_over(self, query_id: str, annotator: str, at: float, until: float, count: int) -> list[str]:
        """Reserve half of what others have loaded, at most `count` pairs; return them in the order in which they come.

        The caller has opened a transaction.
        """
        pairs = self.prefetched(query_id, annotator, at)
        taken = pairs[: max(min(count, (len(pairs) + 1) // 2), 0)][::-1]
        for pair in taken:
            self.end_prefetched(query_id, annotator, at, pair)
        self.store.queue.lease(query_id, [pair.selection for pair in taken], annotator, at, until)
        return [pair.selection.doc_id for pair in taken]

    def end_prefetched(self, query_id: str, annotator: str, at: float, pair: Prefetched) -> None:
        """End as many reservations of others who have loaded a pair as the annotator needs to have it."""
        state = pair.candidate
        excess = max(state.others + state.leased + 1 - state.wanted, 0)
        self.store.queue.end_prefetched(query_id, state.doc_id, annotator, at, excess)

    def wanted_outside_pool(self, query_id: str, doc_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return how many annotators are to judge each pair outside the pool."""
        return assignment.count_wanted(
            self.settings.assignment(), query_id, doc_ids, self.settings.campaign_id, pooled=False
        )

    def has_room(self, annotator: str, query_id: str, doc_id: str) -> bool:
        """Tell whether a pair still needs a judgement by an annotator, or is on their screen or in their work list.

        It needs one while it is not adjudicated and fewer others than wanted have judged it or have it on screen or in
        a work list; in the qualification set it needs one by everybody. What others have only loaded does not count: a
        judgement that is made goes before one that may be made.
        """
        demand = self._demand(annotator, query_id, doc_id)
        return demand.held or _is_wanted(demand, demand.others + demand.leased)

    def hold_again(self, annotator: str, query_id: str, doc_id: str, until: float) -> None:
        """Reserve a pair whose judgement the annotator has undone, if it still needs one.

        As many reservations of others end as have it loaded and are not needed any more.
        """
        if not self.has_room(annotator, query_id, doc_id):
            return
        at, demand = clock.seconds(), self._demand(annotator, query_id, doc_id)
        excess = demand.others + demand.leased + demand.loaded + 1 - (demand.wanted or 0)
        self.store.queue.end_prefetched(query_id, doc_id, annotator, at, max(excess, 0))
        self.store.queue.prolong(query_id, [doc_id], annotator, at, until)

    def has_room_for_label(self, annotator: str, query_id: str, doc_id: str, coming: int) -> bool:
        """Tell whether a pair still needs an imported label; `coming` labels of others are about to be written.

        Leases do not count, as they may end without a judgement. Nor do imported qrels, so that the order of imports
        makes no difference.
        """
        demand = self._demand(annotator, query_id, doc_id)
        return _is_wanted(demand, demand.others - demand.qrels + coming)

    def _demand(self, annotator: str, query_id: str, doc_id: str) -> Demand:
        demand = self.store.queue.demand(query_id, doc_id, annotator, clock.seconds())
        if demand.wanted is not None:
            return demand
        return demand._replace(wanted=int(self.wanted_outside_pool(query_id, [doc_id])[0]))


def _is_wanted(demand: Demand, taken: int) -> bool:
    """Tell whether a pair that has `taken` judgements needs one more."""
    return demand.qualification or (taken < (demand.wanted or 0) and not demand.adjudicated)
