"""Ledger of a topic's judgements, for stopping rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication, pooling
from collection.campaign.settings.loop_settings import LoopSettings
from collection.core.arrays import Bools
from collection.stopping import Ledger, StopDecision, betting
from collection.store import Ungraded

LOOP_STRATEGIES = ("loop", "start", "decisive", "random")
"""Strategies of the loop, beside adaptive pooling strategies."""


NOT_ORDERED, WHILE_UNDONE = -1, -2
"""Numbers in place of the conditions of documents that the loop did not order, or not with all judgements."""


class RuleJudgements(NamedTuple):
    """Judgements of a topic as a rule calibrated across topics sees them."""

    ledger: Ledger
    """The documents that the loop handed out under the present conditions, in order."""
    skipped: int
    undone: int
    passed: int
    """Unjudged documents that the loop handed out before others, which are judged."""
    aside: Mapping[str, int]
    """How other judged documents were selected -> their number."""

    @property
    def unknown(self) -> int:
        """Number of documents that the loop handed out and that nobody has judged."""
        return self.skipped + self.undone + self.passed


class TopicLedger(NamedTuple):
    """The ledger of a topic, and how each of its n documents was selected."""

    ledger: Ledger
    from_loop: Bools
    """(n,) whether the loop selected it, or drew it at random."""
    conditions: NDArray[np.int64]
    """(n,) number of the conditions under which the loop handed it out; :data:`NOT_ORDERED` if it did not, and
    :data:`WHILE_UNDONE` if another judgement of the topic was undone then."""
    imported: Bools
    """(n,) whether its first judgement was imported."""
    searched: Bools
    """(n,) whether an annotator found it by searching."""

    def with_withheld(self, number: int) -> Ledger:
        """Return the ledger with the number of unjudged documents that were drawn at random, and skipped or undone."""
        return replace(self.ledger, withheld=min(number, self.ledger.unjudged - self.ledger.unreachable))

    def for_rule(self, conditions: Collection[int], seen: Ungraded, passed: int) -> RuleJudgements:
        """Return what a rule may read: of documents that the loop handed out under these conditions, and no others."""
        unknown = seen.skipped + seen.undone + passed
        ledger = self.ledger.keep(np.isin(self.conditions, list(conditions)), unknown)
        return RuleJudgements(ledger, seen.skipped, seen.undone, passed, self._set_aside(conditions))

    def _set_aside(self, conditions: Collection[int]) -> dict[str, int]:
        """Count the documents that the loop did not hand out under these conditions, by what selected them."""
        loop, while_undone = self.conditions >= 0, self.conditions == WHILE_UNDONE
        not_loop = self.conditions == NOT_ORDERED
        counts = {
            "selected while another judgement was undone": while_undone,
            "selected under other settings": loop & ~np.isin(self.conditions, list(conditions)),
            "imported": not_loop & self.imported,
            "found by searching": not_loop & ~self.imported & self.searched,
            "judged without being handed out by the loop": not_loop & ~self.imported & ~self.searched,
        }
        return {what: int(mask.sum()) for what, mask in counts.items() if mask.any()}


class TargetProgress(NamedTuple):
    """Progress of a topic, and whether its own judgements guarantee the target recall."""

    judged: int
    size: int
    """Documents in scope that can be judged."""
    decision: StopDecision
    aims_at_recall: bool
    """Whether the loop aims at recall, and not at the order of the systems."""

    @property
    def reached(self) -> bool:
        """Return whether the target recall is guaranteed."""
        return self.decision.stop and self.judged > 0

    @property
    def may_stop(self) -> bool:
        """Return whether judging can stop although documents are left."""
        return self.aims_at_recall and self.reached and self.judged < self.size


def assess_target(ledger: Ledger, settings: LoopSettings) -> TargetProgress:
    """Assess how far a topic is judged: the one place that decides whether it may stop by itself."""
    decision = betting(ledger, target=settings.target, confidence=settings.confidence)
    return TargetProgress(ledger.judged, ledger.rankable, decision, not settings.by_system_order)


def select_in_scope(judgements: pd.DataFrame, scope: Bools) -> pd.DataFrame:
    """Return the judgements on documents of the scope, a (documents,) mask."""
    rows = judgements["row"].to_numpy(dtype=np.int64)
    known = rows < len(scope)
    known[known] = scope[rows[known]]
    return judgements if known.all() else judgements[known]


def reduce_to_documents(judgements: pd.DataFrame) -> pd.DataFrame:
    """Reduce the judgements of a topic to the first of each document, with the adjudicated grade (null: none)."""
    again = judgements["row"].duplicated()
    if not again.any():
        return judgements
    once = judgements[~again]
    grades = adjudication.adjudicate(judgements.rename(columns={"row": "doc_id"})).grades
    return once.assign(relevance=once["row"].map(grades.set_index("doc_id")["relevance"]))


def build_topic_ledger(
    judgements: pd.DataFrame, scope: Bools, level: int, judgeable: Bools | None = None
) -> TopicLedger:
    """Return the ledger of a topic.

    Parameters
    ----------
    judgements
        Those of :meth:`.JudgementTables.current_judgements` for the topic.
    scope
        (documents,) bool: the scope. Documents that a random draw excluded, by its probability, are marked.
    level
        Minimum relevant grade.
    judgeable
        (documents,) bool: those that can be judged now, all if left out. The others are unjudged, and no draw can
        reach them.
    """
    once = reduce_to_documents(select_in_scope(judgements, scope))
    grades, chance, rounds, conditions = (
        once[name].to_numpy(dtype=np.float64, na_value=np.nan)
        for name in ("relevance", "probability", "model_round", "conditions")
    )
    relevant = grades >= level
    imported, strategies = once["imported"].to_numpy(dtype=np.bool_), once["strategy"].to_numpy(dtype=object)
    drawn = (strategies == "random") & (chance > 0) & ~np.isnan(rounds)
    drawn &= ~imported | ~np.isnan(conditions)  # the draws of an imported log may be incomplete
    # A document drawn among U had probability 1/U in this draw, after the earlier draws missed it.
    by_now = 1 - np.cumprod(np.where(drawn, 1 - chance, 1.0))
    unreachable = 0
    if judgeable is not None:
        without = scope & ~judgeable
        without[once["row"].to_numpy(dtype=np.int64)] = False
        unreachable = int(without.sum())
    with np.errstate(divide="ignore"):
        urn = np.where(drawn, 1 / chance, np.nan)
    ledger = Ledger.of(
        relevant,
        int(scope.sum()),
        drawn=drawn,
        probability=np.where(drawn & (by_now > 0), by_now, np.nan),
        batch=np.maximum.accumulate(np.nan_to_num(rounds, nan=0)).astype(np.int64),
        urn=urn,
        unreachable=unreachable,
    )
    return TopicLedger(
        ledger,
        once["strategy"].isin([*LOOP_STRATEGIES, *pooling.strategies(adaptive=True)]).to_numpy(dtype=np.bool_),
        np.where(
            once["while_undone"].to_numpy(dtype=np.bool_) & ~np.isnan(conditions),
            WHILE_UNDONE,
            np.nan_to_num(conditions, nan=NOT_ORDERED),
        ).astype(np.int64),
        imported,
        strategies == "search",
    )
