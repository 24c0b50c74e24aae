"""Plan of a campaign with a promise across topics: what it costs with each number of calibration topics."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from collection.core.errors import InputError
from collection.core.phrases import count, number_range, percent, percent_down, percent_range
from collection.stopping.ledger import Ledger
from collection.stopping.risk_control.calibration import ROUNDING, required_topics
from collection.stopping.risk_control.losses import TopicLosses, measure_losses

DRAWS = 500
"""Number of random sets of calibration topics over which a cost is averaged."""


@dataclass(frozen=True)
class CostRange:
    """Judgements in one topic that is not a calibration topic."""

    low: float
    expected: float
    high: float


CostsOf = Callable[[int], CostRange]
"""(number of calibration topics) -> judgements in each other topic."""


@dataclass(frozen=True)
class PlanRow:
    """The plan with one number of calibration topics."""

    calibration_topics: int
    promises: bool
    """Whether so many topics can satisfy alpha at all."""
    calibration_judgements: int
    """Judgements in the calibration topics."""
    per_topic: CostRange
    """Judgements in each other topic."""
    total: CostRange
    """Judgements in all topics, calibration included."""


COLUMNS = (
    "Calibration topics", "Expected recall", "Judgements, all topics", "Calibration judgements",
    "Judgements, other topic", "Share of judging everything",
)  # fmt: skip
"""Columns of :meth:`CalibrationPlan.table`."""


@dataclass(frozen=True)
class CalibrationPlan:
    """Expected cost of a promise across topics, before anybody judges."""

    topics: int
    documents: int
    """Documents per topic in scope."""
    alpha: float
    basis: str
    """Where the costs of the other topics come from."""
    rows: tuple[PlanRow, ...]

    @property
    def everything(self) -> int:
        """Judgements if every document of every topic is judged."""
        return self.topics * self.documents

    def table(self) -> pd.DataFrame:
        """Return the rows with the columns and texts that pages and commands show."""
        rows = [
            (
                row.calibration_topics,
                percent_down(1 - self.alpha) if row.promises else "none",
                number_range(row.total.low, row.total.high),
                row.calibration_judgements,
                number_range(row.per_topic.low, row.per_topic.high),
                percent_range(row.total.low / self.everything, row.total.high / self.everything),
            )
            for row in self.rows
        ]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    @property
    def note(self) -> str:
        """State why rows save nothing, one sentence per reason; empty if every row saves something."""
        reasons = {
            False: "no rule can be chosen: every document of every topic has to be judged.",
            True: "the rule must find almost every relevant document of each: "
            "the plan assumes that all documents of the other topics are judged.",
        }
        sentences = []
        for promises, reason in reasons.items():
            rows = [r for r in self.rows if r.promises == promises and r.per_topic.low >= self.documents]
            if rows:
                sentences.append(f"With {count(rows[-1].calibration_topics, 'calibration topic')}, {reason}")
        return " ".join(sentences)

    @cached_property
    def best(self) -> PlanRow | None:
        """The row with the least expected total; None if no row promises anything."""
        able = [row for row in self.rows if row.promises]
        return min(able, key=lambda row: row.total.expected) if able else None

    @property
    def advice(self) -> str:
        """State what to do, in two sentences with the numbers."""
        if self.best is None:
            return (
                f"An expected recall of {percent_down(1 - self.alpha)} needs at least {required_topics(self.alpha):,} "
                f"calibration topics besides other topics; {count(self.topics, 'topic')} can be drawn. "
                "Choose a lower recall, or judge every document."
            )
        best, total = self.best, self.best.total
        saved = 1 - total.expected / self.everything
        effect = f"{percent(saved)} less than" if total.expected < self.everything else "no less than"
        each = best.per_topic
        return (
            f"Draw {count(best.calibration_topics, 'calibration topic')} at random and judge them completely "
            f"({best.calibration_judgements:,} judgements); the other {self.topics - best.calibration_topics:,} then "
            f"take about {each.expected:,.0f} each ({each.low:,.0f} to {each.high:,.0f}). The total is "
            f"{total.low:,.0f} to {total.high:,.0f} judgements, {effect} the {self.everything:,} for judging "
            f"everything; the costs of the other topics are estimates from {self.basis}."
        )


def plan(
    topics: int,
    documents: int,
    alpha: float,
    costs: CostsOf,
    *,
    candidates: Sequence[int] = (),
    selection: int = 0,
    basis: str = "topics that are judged",
    calibration_documents: int | None = None,
) -> CalibrationPlan:
    """Plan a campaign.

    Parameters
    ----------
    topics
        Number of topics of the campaign.
    documents
        Mean number of documents per topic in scope (the pool, or the collection).
    alpha
        Largest expected 1 - recall.
    costs
        Judgements in each other topic: :func:`costs_from_topics`, or :func:`costs_from_replays`.
    candidates
        Numbers of calibration topics, including the selection; by default from the smallest possible to half of the
        topics.
    selection
        Number of calibration topics that choose the family of rules and do not count towards the promise.
    basis
        Where the costs come from, for the advice.
    calibration_documents
        Mean judgements in a calibration topic; by default all documents.

    Raises
    ------
    InputError
        Fewer than 2 topics, no documents, or a candidate that leaves no other topic.
    """
    needed = required_topics(alpha)
    if topics < 2 or documents < 1:
        raise InputError(f"a plan needs 2 or more topics with documents, found {topics:,} with {documents:,}")
    if any(not selection <= n < topics for n in candidates):
        raise InputError(f"candidates: expected numbers from {selection:,} to {topics - 1:,}, found {list(candidates)}")
    each = documents if calibration_documents is None else calibration_documents
    rows = []
    for n in candidates or [n + selection for n in _usual(needed, topics) if n + selection < topics]:
        promises = n - selection >= needed
        one = costs(n - selection) if promises else CostRange(documents, documents, documents)
        one = CostRange(*(min(value, float(documents)) for value in (one.low, one.expected, one.high)))
        total = CostRange(*(n * each + (topics - n) * value for value in (one.low, one.expected, one.high)))
        rows.append(PlanRow(n, promises, n * each, one, total))
    return CalibrationPlan(topics, documents, alpha, basis, tuple(rows))


def _usual(needed: int, topics: int) -> list[int]:
    """The smallest possible number, round ones (those of :data:`POOL_SHARES` among them), and half of the topics."""
    numbers = {needed, 5, 10, 20, 30, 50, 100, topics // 2}
    return sorted(n for n in numbers if needed <= n <= max(topics // 2, needed) and n < topics)


def costs_from_topics(measured: TopicLosses, alpha: float, *, seed: int = 0) -> CostsOf:
    """Estimate costs from topics that are judged: of a replay on a known collection, or of this campaign so far.

    For each number n, n topics are drawn with replacement as calibration topics, :data:`DRAWS` times; the cost is the
    mean over all topics at the setting that these choose. The range has 90% of the draws: it shows how the cost depends
    on the calibration topics, not how the two collections differ.

    Parameters
    ----------
    measured
        Losses and costs of the topics.
    alpha
        Largest expected loss.
    """
    if not measured.topics:
        raise InputError("costs: expected at least one topic that is judged, found none")
    means = measured.costs.mean(axis=0)

    def costs(n: int) -> CostRange:
        drawn = np.random.default_rng([seed, n]).integers(measured.topics, size=(DRAWS, n))
        means_chosen = np.array([means[_first(measured, rows, alpha)] for rows in drawn])
        low, high = np.quantile(means_chosen, (0.05, 0.95))
        return CostRange(float(low), float(means_chosen.mean()), float(high))

    return costs


POOL_SIZES = (70, 145)
"""Documents per topic up to which the first and the second range of :data:`POOL_SHARES` hold."""

POOL_SHARES = {
    (0.05, 20): ((0.77, 0.85), (0.62, 0.80), (0.70, 0.77)),
    (0.1, 10): ((0.70, 0.79), (0.52, 0.70), (0.58, 0.65)),
    (0.1, 20): ((0.60, 0.67), (0.47, 0.59), (0.37, 0.51)),
    (0.2, 5): ((0.59, 0.68), (0.45, 0.57), (0.37, 0.48)),
    (0.2, 10): ((0.47, 0.57), (0.32, 0.47), (0.21, 0.41)),
    (0.2, 20): ((0.41, 0.52), (0.27, 0.41), (0.15, 0.38)),
}
"""(alpha, n) -> lowest and highest mean share of the pool judged in each other topic, replayed on the pools (the first
10, 25 and 100 documents of every run) of Cranfield, Vaswani and TREC DL 2019 by
``tests/benchmarks/bench_risk_control.py``. The smaller the pool, the larger the share."""

COLLECTION_SHARES = (0.01, 0.53)
"""Lowest and highest share of the collection judged in each other topic over the same (alpha, n), replayed on the three
collections and on systematic reviews (for 80% with 5)."""

ENOUGH = 5
"""Minimum number of completely judged topics from which the costs of the others are estimated."""


def estimate_costs(
    complete: Sequence[Ledger], documents: int, alpha: float, family: str, *, in_pool: bool
) -> tuple[CostsOf, str]:
    """Return the costs of the other topics, and a description of their source.

    The source is the completely judged topics if there are :data:`ENOUGH`, otherwise replays of other collections.

    Parameters
    ----------
    complete
        Topics that are judged completely.
    documents
        Mean number of documents of a topic, in the pool or in the collection.
    alpha
        Expected loss, 1 - recall.
    family
        Name of a family of :data:`collection.stopping.risk_control.RULE_FAMILIES`.
    in_pool
        Whether the documents are those of a pool.
    """
    if len(complete) >= ENOUGH:
        costs = costs_from_topics(measure_losses(complete, family), alpha)
        return costs, f"{count(len(complete), 'topic')} judged completely"
    costs = costs_from_replays(documents, alpha, in_pool=in_pool)
    if in_pool:
        return costs, "replays of the pools of Cranfield, Vaswani and TREC DL 2019"
    return costs, f"replays of other collections ({percent_range(*COLLECTION_SHARES)} of the documents)"


def costs_from_replays(documents: int, alpha: float, *, in_pool: bool = True) -> CostsOf:
    """Take the range of costs in replays of other collections, for a campaign before its first judgements.

    An alpha and a number of calibration topics that :data:`POOL_SHARES` lacks take the next stricter row, or all
    documents if there is none. Without a pool, the range is :data:`COLLECTION_SHARES`.
    """

    def costs(n: int) -> CostRange:
        rows = [(known, topics) for known, topics in POOL_SHARES if known <= alpha + ROUNDING and topics <= n]
        if not rows:
            shares = (1.0, 1.0)
        elif in_pool:
            shares = POOL_SHARES[max(rows)][bisect_left(POOL_SIZES, documents)]
        else:
            shares = COLLECTION_SHARES
        low, high = (share * documents for share in shares)
        return CostRange(low, (low * high) ** 0.5, high)

    return costs


def _first(measured: TopicLosses, rows: np.ndarray, alpha: float) -> int:
    """The setting that some topics choose, -1 for the strictest."""
    bounds = (measured.losses[rows].sum(axis=0) + 1) / (len(rows) + 1)
    enough = np.flatnonzero(bounds <= alpha - measured.delta + ROUNDING)
    return int(enough[0]) if len(enough) else -1
