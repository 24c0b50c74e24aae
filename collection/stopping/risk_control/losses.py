"""Losses and costs of a topic at every setting of a family of stopping rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from collection.errors import InputError
from collection.phrases import count
from collection.stopping.ledger import Floats, Ledger
from collection.stopping.martingale import estimate
from collection.stopping.risk_control.families import RULE_FAMILIES


@dataclass(frozen=True, eq=False)
class TopicLosses:
    """What every setting of a family would have cost and missed, for each topic."""

    family: str
    losses: Floats
    """(topics, S + 1) 1 - recall at the stop, or an upper bound; non-increasing in the setting."""
    costs: Floats
    """(topics, S + 1) judgements until the stop; the number of documents where a topic was not judged that far."""
    delta: float = 0.0
    """Probability with which the bounds of a topic that is not judged completely fail; 0 if all are complete."""

    @property
    def topics(self) -> int:
        """Number of topics (n)."""
        return len(self.losses)

    def select(self, rows: Sequence[int] | slice) -> TopicLosses:
        """Keep some topics."""
        chosen = rows if isinstance(rows, slice) else np.asarray(rows, dtype=np.int64)
        return replace(self, losses=self.losses[chosen], costs=self.costs[chosen])


def measure_losses(
    ledgers: Sequence[Ledger], family: str, *, delta: float = 0.05, depths: Sequence[int | None] | None = None
) -> TopicLosses:
    """Measure the losses of topics that were judged completely, or deeply with a random sample of the rest.

    Parameters
    ----------
    ledgers
        One for each topic. `relevant` is what the adjudicated grade and the minimum relevant grade make of a document,
        so several annotators and graded scales need nothing else.
    family
        Name in :data:`RULE_FAMILIES`.
    delta
        Probability with which the upper bound of the relevant documents of one incomplete topic may fail. It is not
        used up if all topics are complete.
    depths
        For each topic, the number of judgements at the start that were made as in the other topics: the rules read
        these alone. None: all judgements of a complete topic; of an incomplete one, those before its last unbroken
        sequence of random draws, which is its random sample.

    Returns
    -------
    TopicLosses
        The loss of a setting is 1 - F(s) / (F + U): F(s) relevant documents are found when it stops, F in all, and at
        most U more exist.

        - Complete topic: U is 0. Without a relevant document the loss is 0.
        - Documents without text (`unreachable`) cannot be judged and may be relevant: they count in U, relevant and
          missed, at every setting. The other topics' documents without text are then covered too. To leave them out
          of the promise, leave them out of the ledger's `size`.
        - Incomplete topic: U is the upper end of the confidence sequence of :func:`~collection.stopping.estimate`,
          one interval for all settings at once. A setting that has not stopped within the depth has the loss at the
          depth, and costs as much as all documents. The strictest setting judges these and misses only the unreachable.
        - Topic smaller than a setting: the rule never stops, so all documents are judged.

    Notes
    -----
    Why delta is subtracted from alpha once, not once per topic: imagine that the next topic were judged as the
    calibration topics are, with a random sample of its own; then the bounds of all n + 1 topics are exchangeable, and
    risk control at alpha - delta limits the expectation of its bound. Its loss exceeds its bound, at any setting, with
    probability at most delta and by at most 1, so its expected loss is at most alpha - delta + delta.

    An incomplete topic without random draws, or with a delta of 0, counts all its unjudged documents as relevant.

    Raises
    ------
    InputError
        A depth outside its ledger, or a delta that is not a probability below 1.
    UnknownNameError
        An unknown family.
    """
    if not 0 <= delta < 1:
        raise InputError(f"delta: expected a probability of 0 or more and below 1, found {delta:g}")
    entry = RULE_FAMILIES[family]
    at = [None] * len(ledgers) if depths is None else list(depths)
    if len(at) != len(ledgers):
        raise InputError(f"depths: expected one for each of {count(len(ledgers), 'topic')}, found {len(at)}")
    losses = np.zeros((len(ledgers), len(entry.settings)))
    costs = np.zeros_like(losses)
    for row, (ledger, depth) in enumerate(zip(ledgers, at, strict=True)):
        read = ledger.prefix(_find_depth(ledger) if depth is None else depth)
        stops = entry.find_stops(read)
        beyond = stops > read.judged
        found = np.concatenate(([0], np.cumsum(read.relevant)))[np.minimum(stops, read.judged)]
        relevant = ledger.found + _count_left(ledger, delta)
        reachable = ledger.size - ledger.unreachable
        losses[row] = 1 - found / relevant if relevant else 0.0
        costs[row] = np.where(beyond, reachable, stops)
        # All are judged but those that nobody can judge. The fewer others are relevant, the larger is their share.
        losses[row, -1] = ledger.unreachable / max(ledger.found + ledger.unreachable, 1)
    used = delta if any(not is_complete(ledger) for ledger in ledgers) else 0.0
    return TopicLosses(family, losses, costs, used)


def is_complete(ledger: Ledger) -> bool:
    """Whether every document that can be judged is judged."""
    return ledger.unjudged == ledger.unreachable


def _find_depth(ledger: Ledger) -> int:
    """Number of judgements before the random sample of an incomplete topic."""
    if is_complete(ledger):
        return ledger.judged
    return int(np.flatnonzero(~ledger.drawn).max(initial=-1)) + 1


def _count_left(ledger: Ledger, delta: float) -> int:
    """Upper bound of the relevant documents among the unjudged ones (U)."""
    if is_complete(ledger):
        return ledger.unreachable
    if not delta or not len(ledger.draws):
        return ledger.unjudged
    # Draws never reach the unreachable, which are added as relevant.
    reachable = replace(ledger, size=ledger.size - ledger.unreachable, unreachable=0, scores=None)
    return estimate(reachable, 1 - delta).high - ledger.found + ledger.unreachable
