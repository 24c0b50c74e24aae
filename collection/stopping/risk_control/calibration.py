"""Calibration: the least strict setting whose expected loss over topics is at most alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import count, percent_down, percent_up, plural, sentence
from collection.stopping.ledger import Ledger
from collection.stopping.risk_control.families import EVERYTHING, RULE_FAMILIES
from collection.stopping.risk_control.losses import TopicLosses, measure_losses
from collection.stopping.table import StopDecision

ROUNDING = 1e-9
"""Tolerance with which 1 / (9 + 1) is .1."""

DEFAULT_FAMILY = "scaled"
"""The family with the lowest costs in replays on Cranfield and Vaswani."""


@dataclass(frozen=True)
class Calibration:
    """The setting that calibration topics chose, and what it promises for the other topics."""

    family: str
    """Name in :data:`~collection.stopping.risk_control.RULE_FAMILIES`."""
    setting: float
    """The chosen setting; infinity: judge every document, either because no rule is safe enough or because there are
    too few calibration topics (`promises` tells these apart)."""
    alpha: float
    """Largest expected loss (1 - recall) of another topic."""
    topics: int
    """Calibration topics behind the bound (n), without those that chose the family."""
    selection: int
    """Further calibration topics, which chose the family."""
    mean_loss: float
    """Mean loss of the n topics at the setting (estimates, if they are not complete); nan without topics."""
    bound: float
    """(sum of losses + 1) / (n + 1) + delta at the setting: an upper bound of the expected loss of another topic."""
    cost: float
    """Mean judgements of the n topics until the setting stops; nan without topics."""
    delta: float = 0.0
    """Part of alpha for confidence bounds that fail; 0 if none are used."""
    complete: bool = True
    """Whether all calibration topics are judged completely."""
    source: str = ""
    """Name of another collection on whose topics it was calibrated; empty: topics of this campaign."""

    @property
    def promises(self) -> bool:
        """Return whether the bound is at most alpha."""
        return self.bound <= self.alpha + ROUNDING

    @property
    def rule(self) -> str:
        """The rule as an imperative, such as "stop after 40 irrelevant documents in a row"."""
        return RULE_FAMILIES[self.family].describe(self.setting)

    @property
    def report(self) -> str:
        """One sentence with the promise and its assumptions, or with what is missing."""
        if not self.promises:
            return self._report_missing()
        judged = "judged completely" if self.complete else "judged deeply, with a random sample of the rest"
        of = count(self.topics, "calibration topic")
        are = plural(self.topics, "was", "were")
        promise = (
            f"The expected recall of a topic that {_third_person(self.rule)} is at least {percent_down(1 - self.alpha)}"
        )
        over = "as a mean over topics, not for each topic"
        if self.source:
            return (
                f"{promise}, {over}, if the topics are like those of {self.source}, on which {of} {are} {judged}: "
                "nothing but this similarity supports it."
            )
        return (
            f"{promise}, {over}, provided that {of} {are} drawn at random from all topics before judging, "
            f"{are} {judged}, and {plural(self.topics, 'was', 'were')} ordered for judging as the others are."
        )

    def _report_missing(self) -> str:
        if self.topics < required_topics(self.alpha, self.delta):
            return sentence(describe_shortage(self.alpha, self.topics, self.delta))
        return (
            f"No rule satisfies an expected recall of {percent_down(1 - self.alpha)}: even if every document is "
            f"judged, the bound of the expected loss is {percent_up(min(self.bound, 1.0))}, because documents without "
            "text may be relevant."
        )

    def decide(self, ledger: Ledger) -> StopDecision:
        """Decide whether judging another topic may stop after the judgements of its ledger."""
        entry = RULE_FAMILIES[self.family]
        if ledger.unjudged == ledger.unreachable:
            return StopDecision(True, "every document that can be judged is judged", 0)
        if not self.promises:
            return StopDecision(False, f"{self._report_missing()[:-1]}; judge every document")
        if self.setting == EVERYTHING:
            return StopDecision(False, self.rule)
        reached = float(entry.function(ledger).max())
        stop = self.find_stop(ledger)
        if stop <= ledger.judged:
            return StopDecision(True, f"{self.rule}: reached after {count(stop, 'judgement')}", 0)
        return StopDecision(False, f"{self.rule}: {reached:,.4g} so far")

    def find_stop(self, ledger: Ledger) -> int:
        """Find the number of judgements after which the rule stops; more than are judged if it has not stopped."""
        entry = RULE_FAMILIES[self.family]
        place = int(np.flatnonzero(entry.settings == self.setting)[0])
        return int(entry.find_stops(ledger)[place])


def _third_person(rule: str) -> str:
    """The rule after "a topic that"."""
    return "stops" + rule.removeprefix("stop") if rule.startswith("stop") else "is judged completely"


def required_topics(alpha: float, delta: float = 0.0) -> int:
    """Compute the smallest n with (0 + 1) / (n + 1) <= alpha - delta.

    >>> [required_topics(alpha) for alpha in (0.05, 0.1, 0.2)]
    [19, 9, 4]
    """
    _check_alpha(alpha)
    if delta >= alpha:
        raise InputError(f"delta: expected less than alpha, which is {alpha:g}, found {delta:g}")
    return max(ceil(1 / (alpha - delta) - 1 - ROUNDING), 0)


def describe_shortage(alpha: float, drawn: int, delta: float = 0.0) -> str:
    """Write that there are too few calibration topics for alpha.

    >>> describe_shortage(0.1, 5)
    'an expected recall of 90% needs at least 9 calibration topics, found 5'
    """
    needed = count(required_topics(alpha, delta), "calibration topic")
    return f"an expected recall of {percent_down(1 - alpha)} needs at least {needed}, found {drawn:,}"


def choose_setting(losses: Floats, alpha: float) -> int | None:
    """Choose the first setting with (sum of its losses + 1) / (n + 1) <= alpha; None if there is none.

    Parameters
    ----------
    losses
        (n, S) losses from 0 to 1 of n exchangeable topics, non-increasing along the settings.
    alpha
        Largest expected loss.

    Notes
    -----
    If another topic is exchangeable with these n, the expectation of its loss at the chosen setting is at most alpha
    (its loss counts as 0 if none is chosen). With the losses of all n + 1 topics known, the first setting whose mean
    over the n + 1 is at most alpha is never stricter than the chosen one, since the unknown loss is at most 1; and its
    expected loss on a random one of the n + 1 is that mean. Theorem 1 of Angelopoulos, Bates, Fisch, Lei & Schuster,
    "Conformal risk control", ICLR 2024.
    """
    _check_alpha(alpha)
    if (np.diff(losses, axis=1) > ROUNDING).any():
        raise InputError("losses: expected losses that never increase with the setting, found an increase")
    bounds = (losses.sum(axis=0) + 1) / (len(losses) + 1)
    enough = np.flatnonzero(bounds <= alpha + ROUNDING)
    return int(enough[0]) if len(enough) else None


def calibrate_losses(measured: TopicLosses, alpha: float = 0.1, *, selection: int = 0, source: str = "") -> Calibration:
    """Choose the setting for losses that are measured already; see :func:`calibrate`."""
    n = measured.topics
    required_topics(alpha, measured.delta)  # checks both
    place = choose_setting(measured.losses, alpha - measured.delta)
    at = -1 if place is None else place
    settings = RULE_FAMILIES[measured.family].settings
    return Calibration(
        family=measured.family,
        setting=EVERYTHING if place is None else float(settings[place]),
        alpha=alpha,
        topics=n,
        selection=selection,
        mean_loss=float(measured.losses[:, at].mean()) if n else float("nan"),
        bound=float((measured.losses[:, at].sum() + 1) / (n + 1)) + measured.delta,
        cost=float(measured.costs[:, at].mean()) if n else float("nan"),
        delta=measured.delta,
        complete=measured.complete,
        source=source,
    )


def calibrate(
    ledgers: Sequence[Ledger],
    alpha: float = 0.1,
    *,
    families: Sequence[str] = (DEFAULT_FAMILY,),
    selection: int = 0,
    delta: float = 0.0,
    depths: Sequence[int | None] | None = None,
    source: str = "",
) -> Calibration:
    """Choose a stopping rule such that the expected loss of another topic is at most alpha.

    Parameters
    ----------
    ledgers
        The calibration topics in random order: drawn at random from all topics before anything was judged, and judged
        completely, or deeply with a random sample of the rest.
    alpha
        Largest expected 1 - recall.
    families
        Names in :data:`~collection.stopping.risk_control.RULE_FAMILIES`. With several, the first `selection` topics
        choose one.
    selection
        Number of topics (m) that choose the family and do not count towards the bound, so that the guarantee is not
        spent twice. Use 0 with one family.
    delta, depths
        For incomplete topics: see :func:`~collection.stopping.risk_control.measure_losses`. Without either, all their
        unjudged documents count as relevant.
    source
        Name of another collection to which the ledgers belong; empty if they are topics of this campaign.

    Raises
    ------
    InputError
        Several families without a selection, or fewer topics than the selection, or delta >= alpha.
    UnknownNameError
        An unknown family.
    """
    if not families or (len(families) > 1 and not selection):
        raise InputError(
            f"families: expected one, or a selection of 1 or more topics that choose one; found {len(families)} "
            f"families and a selection of {selection:,}"
        )
    if not 0 <= selection <= len(ledgers):
        raise InputError(f"selection: expected 0 to {len(ledgers):,} topics, found {selection:,}")
    measured = [measure_losses(ledgers, family, delta=delta, depths=depths) for family in families]
    best = choose_family([one.select(slice(selection)) for one in measured], alpha)
    return calibrate_losses(measured[best].select(slice(selection, None)), alpha, selection=selection, source=source)


def choose_family(measured: Sequence[TopicLosses], alpha: float) -> int:
    """Choose the family (its position) with the least mean cost at its first setting of mean loss <= alpha.

    Ties are broken by the order of the families; without topics the first is chosen.
    """
    if not measured[0].topics:
        return 0
    costs = []
    for one in measured:
        enough = np.flatnonzero(one.losses.mean(axis=0) <= alpha + ROUNDING)
        costs.append(float(one.costs[:, enough[0]].mean()) if len(enough) else float("inf"))
    return int(np.argmin(costs))


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha: expected an expected loss between 0 and 1, such as 0.1, found {alpha:g}")
