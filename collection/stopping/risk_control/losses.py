"""Losses and costs of a topic at every setting of a family of stopping rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import count
from collection.stopping.ledger import Ledger
from collection.stopping.martingale import estimate
from collection.stopping.risk_control.families import RULE_FAMILIES


@dataclass(frozen=True, eq=False)
class TopicLosses:
    """Cost and losses of every setting of a family, for each topic."""

    family: str
    losses: Floats
    """(topics, S + 1) 1 - recall at the stop, or an estimate of it; non-increasing in the setting."""
    costs: Floats
    """(topics, S + 1) judgements until the stop; the number of documents where a topic was not judged that far."""
    delta: float = 0.0
    """Probability with which the confidence bound of an incomplete topic fails; 0 if none is used."""
    complete: bool = True
    """Whether all topics are complete."""

    @property
    def topics(self) -> int:
        """Number of topics (n)."""
        return len(self.losses)

    def select(self, rows: Sequence[int] | slice) -> TopicLosses:
        """Keep some topics."""
        chosen = rows if isinstance(rows, slice) else np.asarray(rows, dtype=np.int64)
        return replace(self, losses=self.losses[chosen], costs=self.costs[chosen])


def measure_losses(
    ledgers: Sequence[Ledger], family: str, *, delta: float = 0.0, depths: Sequence[int | None] | None = None
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
        How random draws count. 0: by an estimate of the loss that is never too small in expectation, if a depth is
        given. Above 0: by an upper confidence bound at 1 - delta, for any random draws, which takes delta from alpha.
    depths
        For each topic, the number of judgements at the start that were made as in the other topics: the rules read
        these alone. In an incomplete topic, the judgements after a given depth must be a random sample of all the rest
        whose size was fixed before its first draw. That is not so if the loop draws until it finds something: such
        topics have the depth None, which stands for all judgements of a complete topic and, of an incomplete one, for
        those before its last unbroken sequence of random draws.

    Returns
    -------
    TopicLosses
        The loss of a setting is 1 - F(s) / R, where F(s) relevant documents are found when it stops and R exist.

        - Topic without a relevant document: 0 if it is complete.
        - Documents without text (`unreachable`) cannot be judged and may be relevant: they count as relevant and missed
          at every setting, so the promise covers those of the other topics too. To leave them out of it, leave them
          out of the ledger's `size`.
        - Incomplete topic: F(s) counts documents within the depth alone, and R is estimated (see below), or every
          unjudged document counts as relevant if there is no random sample. A setting that has not stopped within
          the depth has the loss at the depth, and costs as much as all documents. The strictest setting judges these.
        - Documents that the ranking did not select (`set_aside`): relevant ones count as missed at every setting but
          the strictest, since nobody knows when the ranking would have found them.
        - Topic smaller than a setting: the rule never stops, so all documents are judged.

    Notes
    -----
    Why an estimate is enough: with F documents certain and H relevant ones in a random sample of the share p of the
    rest, the loss counts as 1 - F(s) q(H), where q(H) is :func:`invert_sampled`, whose expectation is at most 1 / R. So
    the expected loss of another topic is at most that of its own estimate, if it were sampled too, and the estimates of
    all n + 1 topics are exchangeable: risk control limits this expectation to alpha.

    Why delta is subtracted once, not once per topic: with bounds in place of estimates, risk control at alpha - delta
    limits the expectation of the next topic's bound in the same way. Its loss exceeds its bound, at any setting, with
    probability at most delta and by at most 1.

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
    for row, (ledger, given) in enumerate(zip(ledgers, at, strict=True)):
        depth = _find_depth(ledger) if given is None else given
        read = ledger.prefix(depth)
        stops = entry.find_stops(read)
        beyond = stops > depth
        relevant = np.concatenate(([0], np.cumsum(read.relevant)))[np.minimum(stops, depth)]
        known = ledger.found + ledger.set_aside_relevant
        if is_complete(ledger) and not known and not ledger.unreachable:
            losses[row] = 0.0
        else:
            losses[row] = 1 - relevant * _invert_relevant(ledger, given, delta)
        costs[row] = np.where(beyond, ledger.rankable, stops)
        # All are judged but those that nobody can judge. The fewer others are relevant, the larger is their share.
        losses[row, -1] = ledger.unreachable / max(known + ledger.unreachable, 1)
    complete = all(map(is_complete, ledgers))
    return TopicLosses(family, losses, costs, 0.0 if complete else delta, complete)


def is_complete(ledger: Ledger) -> bool:
    """Return whether every document that can be judged is judged."""
    return ledger.unjudged == ledger.unreachable


def _find_depth(ledger: Ledger) -> int:
    """Number of judgements before the random sample of an incomplete topic."""
    if is_complete(ledger):
        return ledger.judged
    return int(np.flatnonzero(~ledger.drawn).max(initial=-1)) + 1


def _invert_relevant(ledger: Ledger, depth: int | None, delta: float) -> float:
    """1 / R, or a value that is not larger: always, in expectation, or except with probability delta."""
    certain = ledger.found + ledger.set_aside_relevant + ledger.unreachable
    if is_complete(ledger):
        return 1 / max(certain, 1)
    # Draws never reach the unreachable, which are added as relevant.
    reachable = replace(ledger, size=ledger.size - ledger.unreachable, unreachable=0, scores=None)
    if delta and len(ledger.draws):
        return 1 / max(estimate(reachable, 1 - delta).high + ledger.set_aside_relevant + ledger.unreachable, 1)
    sample = slice(ledger.judged if depth is None else depth, ledger.judged)
    from_all = ledger.drawn[sample] & (reachable.out_of_reach[sample] == 0)
    if depth is None or not len(from_all) or not from_all.all():
        return 1 / max(certain + reachable.unjudged, 1)
    hits = int(ledger.relevant[sample].sum())
    return invert_sampled(certain - hits, hits, (ledger.judged - depth) / (ledger.rankable - depth))


def invert_sampled(certain: int, hits: int, rate: float) -> float:
    """Estimate 1 / R from a random sample; the expectation is at most 1 / R.

    Parameters
    ----------
    certain
        Relevant documents that are known without the sample (F).
    hits
        Relevant documents in the sample (H).
    rate
        Share of the other documents in the sample (p), above 0.

    Returns
    -------
    float
        (1 - 1 / (p (F + 1)))^H / F, so 1 / F without a hit. If p is less than 1 / (F + 1), the sample is too small for
        this: 0 with a hit, and otherwise the smallest value of 1 / ((F + k) (1 - p)^k) over k = 0, 1, ...

    Notes
    -----
    If each of the R - F other relevant documents is sampled with probability p, then E[(1 - c / p)^H] = (1 - c)^(R -
    F). With c = 1 / (F + 1) this is at most F / R, by Bernoulli's inequality, and with c = p it is the probability of
    no hit. A sample of fixed size has no larger expectation, because the powers are convex in H (Hoeffding, 1963,
    theorem 4).

    >>> invert_sampled(19, 0, 0.5), round(invert_sampled(19, 1, 0.5) * 19, 6), round(invert_sampled(1, 0, 0.2), 6)
    (0.05263157894736842, 0.9, 0.488281)
    """
    if not certain:
        return 0.0  # nothing is found, so every loss is 1
    if rate * (certain + 1) >= 1:
        return float((1 - 1 / (rate * (certain + 1))) ** hits) / certain
    if hits:
        return 0.0
    # (F + k) (1 - p)^k grows with k while F + k is at most (1 - p) / p.
    k = max(0, floor((1 - rate) / rate - certain) + 1)
    return 1 / ((certain + k) * (1 - rate) ** k)
