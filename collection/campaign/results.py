"""What a campaign's verbs answer with: small tuples that the command line and the pages both print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from collection.records import Document

ProgressCallback = Callable[[str, int, int | None], None]
"""Called with what is going on, how much is done, and how much there is (None where nobody knows)."""


CANNOT_JUDGE_REASONS = (
    "text is missing or broken",
    "language I do not read",
    "topic is unclear",
    "needs knowledge that I lack",
)


class ImportReport(NamedTuple):
    """What an import did, in sentences: what was done, and what the user should notice."""

    done: list[str]
    notices: list[str]


class PoolReport(NamedTuple):
    """A pool before or after it was added: its cost, per topic and in all."""

    strategy: str
    parameters: dict[str, Any]
    runs: int
    per_topic: pd.DataFrame
    """``query_id``, ``pairs`` (of this strategy), ``new`` (not in the pool yet); every topic, in order."""
    without_text: int
    """Documents of these pairs whose text is not in the campaign."""
    near_duplicates: int = 0
    """Pairs that were left out because their document is nearly the same as another one of the topic's pool."""
    sampled_from: int | None = None
    """Pairs from which these were drawn by lot; None where they are no sample."""

    @property
    def pairs(self) -> int:
        """Pairs that the strategy chose."""
        return int(self.per_topic["pairs"].sum())

    @property
    def new(self) -> int:
        """Those of them that were not in the pool."""
        return int(self.per_topic["new"].sum())


class NextPairs(NamedTuple):
    """What an annotator judges next.

    Attributes
    ----------
    documents
        Those that they do not hold yet, in the order in which to judge them.
    closed
        What they hold and need not judge any more: somebody judged it meanwhile, or the loop has better.
    order
        In the loop: the ids of all that they hold from now on, in order. None in a pool: what they hold stays.
    model_round
        In the loop: the round that the order is from.
    calibration
        Those of `documents` that everybody judges.
    first
        A topic whose calibration set the annotator judges before anything else; nothing is handed out here before.
    """

    documents: list[Document]
    closed: list[str]
    order: list[str] | None = None
    model_round: int | None = None
    calibration: Sequence[str] = ()
    first: str | None = None


class Refused(NamedTuple):
    """A judgement that was not written, and why."""

    uuid: str
    reason: str


class Feedback(NamedTuple):
    """After a pair of the calibration set: the annotator's grade (None: cannot judge), and the settled one."""

    uuid: str
    query_id: str
    doc_id: str
    relevance: int | None
    settled: int
    note: str | None
    """What the adjudicator said with it."""


class JudgeResult(NamedTuple):
    """What became of some judgements.

    Attributes
    ----------
    saved
        Uuids of those that are on disk.
    refused
        Those that are not, and why.
    surplus
        Uuids of those in `saved` that came when the pair had all that it wanted: kept in the log, and not counted.
    feedback
        For pairs of the calibration set, where the manager wants it and there is a settled grade.
    """

    saved: list[str]
    refused: list[Refused]
    surplus: Sequence[str] = ()
    feedback: Sequence[Feedback] = ()


class Workload(NamedTuple):
    """What judging asks for in all.

    Attributes
    ----------
    pairs
        Of the pool.
    judgements
        That these are to have, without topics in a loop over the whole collection.
    made
        Those of them that there are.
    """

    pairs: int
    judgements: int
    made: int


class BudgetState(NamedTuple):
    """How much of the loop's judgement budgets is used.

    Attributes
    ----------
    budget, topic_budget
        Of all topics together, and of each; 0 where there is none.
    judged
        Documents judged, by topic; only topics that have any.
    looping
        Topics that are in a loop now.
    """

    budget: int
    topic_budget: int
    judged: dict[str, int]
    looping: list[str]

    @property
    def used_up(self) -> bool:
        """Whether no loop hands out anything more: for a budget, and not because there is no loop."""
        return bool(self.looping) and (self.total_used_up or all(map(self.topic_used_up, self.looping)))

    @property
    def total_used_up(self) -> bool:
        """Whether the budget of all topics is used up."""
        return 0 < self.budget <= sum(self.judged.values())

    def topic_used_up(self, query_id: str) -> bool:
        """Whether the budget that each topic has is used up in this one."""
        return 0 < self.topic_budget <= self.judged.get(query_id, 0)

    @property
    def words(self) -> str:
        """What is used up, where it went, and how to raise it; empty while there is something left."""
        if not self.used_up:
            return ""
        total = self.total_used_up
        whole = f"The judgement budget of this campaign ({self.budget:,}) is used up"
        each = f"The judgement budget of each topic ({self.topic_budget:,}) is used up in every loop"
        option = "--budget" if total else "--topic-budget"
        most = sorted(self.judged.items(), key=lambda item: -item[1])
        named = len(most) if len(most) == NAMED + 1 else NAMED
        parts = [f"{count:,} in topic {query_id}" for query_id, count in most[:named]]
        if rest := most[named:]:
            parts.append(f"{sum(count for _, count in rest):,} in {len(rest):,} other topics")
        return (
            f"{whole if total else each}: {', '.join(parts)}. "
            f"Raise the budget (Loop page, or cleverdon loop DIR {option} N), or export the qrels."
        )


NAMED = 5
"""Topics that are named where a budget went; the others are summed up."""


class NextStep(NamedTuple):
    """What to do next: the page on which it is done, and a sentence."""

    page: str
    sentence: str
