"""Results of the services that the command line and the pages both print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

import pandas as pd

from collection.core.phrases import count, join, number_range, percent, percent_range
from collection.core.records import Document, DuplicateRecord

ProgressCallback = Callable[[str, int, int | None], None]
"""Called with the current step, the number done, and the total (None if unknown)."""

CANNOT_JUDGE_REASONS = (
    "text is missing or broken",
    "language I do not read",
    "topic is unclear",
    "needs knowledge that I lack",
)


class ImportReport(NamedTuple):
    """Sentences on what an import did, notices for the user, and duplicates that were found."""

    done: list[str]
    notices: list[str]
    duplicates: Sequence[DuplicateRecord] = ()


class PoolReport(NamedTuple):
    """The pairs that a strategy chose, before or after they were added to the pool."""

    strategy: str
    parameters: Mapping[str, object]
    runs: int
    per_topic: pd.DataFrame
    """``query_id``, ``pairs`` (of this strategy), ``new`` (not in the pool yet); every topic, in order."""
    without_text: int
    """Documents of these pairs whose text is not in the campaign."""
    near_duplicates: int = 0
    """Pairs left out as near-duplicates of another pair in the topic's pool."""
    sampled_from: int | None = None
    """Size of the population; None unless sampled."""
    notes: Sequence[str] = ()
    """Notes on the order and the ids of the runs."""

    @property
    def pairs(self) -> int:
        """Pairs that the strategy chose."""
        return int(self.per_topic["pairs"].sum())

    @property
    def new(self) -> int:
        """Pairs that were not in the pool."""
        return int(self.per_topic["new"].sum())


class NextPairs(NamedTuple):
    """Work that an annotator gets next."""

    documents: list[Document]
    """Documents that they do not hold yet, in the order in which to judge them."""
    closed: list[str]
    """Ids of held documents that they need not judge any more."""
    order: list[str] | None = None
    """In the loop: ids of all that they hold from now on, in order. None in a pool."""
    model_round: int | None = None
    """In the loop: the round that the order is from."""
    qualification: Sequence[str] = ()
    """Ids of `documents` that everybody judges."""
    first: str | None = None
    """A topic whose qualification set the annotator has to judge before anything else."""
    again: Sequence[str] = ()
    """Ids of documents, held or in `documents`, that the annotator has judged and whose judgement lacks an answer."""


class RefusedDecision(NamedTuple):
    """A judgement that was not written, and why."""

    uuid: str
    reason: str


class Feedback(NamedTuple):
    """The annotator's grade of a pair of the qualification set (None: cannot judge), and the adjudicated one."""

    uuid: str
    query_id: str
    doc_id: str
    relevance: int | None
    settled: int
    note: str | None
    """The adjudicator's."""


class JudgeResult(NamedTuple):
    """The outcome of writing judgements: uuids of those that are durable, and those refused."""

    saved: list[str]
    refused: list[RefusedDecision]
    surplus: Sequence[str] = ()
    """Uuids in `saved` of pairs that had enough judgements: logged, and not counted."""
    feedback: Sequence[Feedback] = ()
    """For pairs of the qualification set with an adjudicated grade, if the manager turned feedback on."""


class Workload(NamedTuple):
    """Pairs of the pool with required and recorded judgements, without topics in a loop over the collection."""

    pairs: int
    judgements: int
    made: int


class BudgetLeft(NamedTuple):
    """Documents that the loop's budgets still allow.

    `topics` has the topics in a loop, without calibration topics, which no budget limits; their numbers may share the
    budget of all topics.
    """

    topics: dict[str, int]
    total: int
    """Documents of all these topics that can still be judged, which may be fewer than the budget has left."""


class BudgetState(NamedTuple):
    """Use of the loop's judgement budgets, of all topics together and of each; 0 is unlimited.

    `judged` are the documents judged, by topic, and `looping` the topics that are in a loop now.
    """

    budget: int
    topic_budget: int
    judged: dict[str, int]
    looping: list[str]
    exempt: Sequence[str] = ()
    """Calibration topics with documents left, which no budget limits."""
    pairs: int = 0
    """Number of pairs that are judged or can be, where decisive pairs are judged within a budget."""

    @property
    def used_up(self) -> bool:
        """Return whether a budget stops every loop."""
        return (
            bool(self.looping)
            and not self.exempt
            and (self.total_used_up or all(map(self.topic_used_up, self.looping)))
        )

    @property
    def total_used_up(self) -> bool:
        """Return whether the budget of all topics is used up."""
        return 0 < self.budget <= sum(self.judged.values())

    def topic_used_up(self, query_id: str) -> bool:
        """Return whether the budget of this topic is used up."""
        return 0 < self.topic_budget <= self.judged.get(query_id, 0)

    @property
    def words(self) -> str:
        """Name the budget that is used up, and how to raise it; empty while budget is left."""
        if not self.used_up:
            return ""
        whole = f"The campaign's judgement budget ({self.budget:,}) is used up."
        each = f"The judgement budget per topic ({self.topic_budget:,}) is used up in every loop."
        budget, option = (whole, "--budget") if self.total_used_up else (each, "--topic-budget")
        first, last = (ceil(share * self.pairs) for share in REPLAYED_STOPS)
        if sum(self.judged.values()) < last:
            budget += (
                f" In replays, judging could stop after {percent_range(*REPLAYED_STOPS)} of the pool, which would be "
                f"{number_range(first, last)} of {count(self.pairs, 'pair')} here."
            )
        return f"{budget} Raise it on the Loop page or with `cleverdon loop DIR {option} N`, or export the qrels."

    @property
    def outlook(self) -> str:
        """Sentence on what replays suggest for a budget of decisive pairs; empty if there is none or it is used up."""
        if not (self.pairs and self.looping) or self.used_up:
            return ""
        pairs = f"{count(self.pairs, 'pair')} that can be judged"
        if self.budget >= self.pairs:
            return f"The budget covers all {pairs}."
        taus = [f"{tau:.3f} at {percent(share)}" for share, tau in REPLAYED_TAUS.items()]
        return (
            f"The budget is {percent(self.budget / self.pairs)} of the {pairs}. In replays, Kendall's tau with the "
            f"order by all pairs of the pool was {join(taus)} on average; judging could stop after "
            f"{percent_range(*REPLAYED_STOPS)}, depending on the collection."
        )


REPLAYED_TAUS = {0.1: 0.876, 0.25: 0.927, 0.5: 0.975}
"""Judged share of a pool -> mean Kendall's tau of decisive pairs; measured in docs/explanation/fewer-judgements.md."""

REPLAYED_STOPS = (0.41, 0.85)
"""Lowest and highest mean share of a collection's pool judged when :class:`.SystemOrder` advised stopping; measured
there."""


class NextStep(NamedTuple):
    """The next step: its page and a sentence."""

    page: str
    sentence: str
