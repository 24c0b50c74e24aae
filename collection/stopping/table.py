"""The table of stopping rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

from collection.errors import InputError
from collection.registry import Entry, Registry
from collection.stopping.ledger import Bools, Ledger


class StopDecision(NamedTuple):
    """A rule's answer for a ledger."""

    stop: bool
    """Whether judging may stop."""
    reason: str
    """One sentence, with the numbers."""
    needed: int | None = None
    """Random judgements without a relevant document after which it may stop; None: unknown, or no number suffices."""


Rule = Callable[..., StopDecision]

Needs = Literal["", "random draws", "control sample", "scores", "probabilities"]
"""What a rule needs besides the judgements in their order."""

NEEDS: dict[Needs, str] = {
    "random draws": "documents drawn at random among those that the ranking chooses",
    "control sample": "a random sample drawn at the start, and when the ranking came to each of its documents",
    "scores": "a probability of relevance for every document",
    "probabilities": "the probability with which each document would have been chosen by then",
}


@dataclass(frozen=True)
class StoppingEntry(Entry[Rule]):
    """A stopping rule.

    A parameter called ``target`` or ``confidence`` is set to the campaign's, ``judgements`` to the budget of a topic.
    """

    _: KW_ONLY
    promises: str = ""
    """Its guarantee; empty for a heuristic."""
    needs: Needs = ""
    """A key of :data:`NEEDS`, or empty."""
    at_each: Callable[..., Bools] | None = None
    """(ledger, counts, *, parameters) -> (counts,) bool: whether it would have stopped after each of some numbers of
    judgements, for a rule that finds this in one pass."""

    @property
    def traits(self) -> dict[str, str]:
        """Its promises and needs."""
        return {"promises": self.promises or "nothing: a heuristic", "needs": self.needs}

    def lacks(self, ledger: Ledger) -> str:
        """The description of what the ledger lacks for this rule; empty if nothing."""
        there = {
            "control sample": ledger.reached is not None,
            "scores": ledger.scores is not None,
            "probabilities": bool((ledger.probability < 1).any()),
        }
        return "" if there.get(self.needs, True) else NEEDS[self.needs]


def _prepare(function: Rule) -> Rule:
    """The rule with its parameters checked, and the answer that all rules share when every document is judged."""

    @functools.wraps(function)
    def prepared(ledger: Ledger, **parameters: object) -> StopDecision:
        check_parameters(**parameters)
        if ledger.unjudged == 0:
            found = f"{ledger.found:,} relevant" if ledger.size else "there are none"
            return StopDecision(True, f"all {ledger.size:,} documents are judged: {found}", 0)
        return function(ledger, **parameters)

    return prepared


STOPPING_RULES = Registry("stopping rule", StoppingEntry, group="cleverdon.stopping", prepare=_prepare)
"""Every rule: (ledger, *, parameters) -> StopDecision."""

ROUNDING = 1e-9
"""Tolerance with which 18 / .9 is 20."""


def check_parameters(**parameters: object) -> None:
    """Refuse a parameter outside its range; None and texts are left to the rule."""
    for name, value in parameters.items():
        if name in ("target", "confidence", "switch"):
            good, wanted = isinstance(value, (int, float)) and 0 < value < 1, "a share above 0 and below 1"
            if name == "target":
                good, wanted = good or value == 1, "a share above 0 and up to 1"
            if name == "switch" and value is None:
                continue
        elif isinstance(value, (int, float)):
            good, wanted = 0 <= value < float("inf"), "0 or more"
        else:
            continue
        if not good:
            raise InputError(f"the parameter {name}: wanted {wanted}, found {value!r}; 0.9 is 90%")


def too_many(ledger: Ledger, target: float) -> int:
    """R0, the fewest relevant documents of which the found ones are less than the target."""
    return int(ledger.found / target + ROUNDING) + 1


def missing_texts(per_topic: Iterable[int]) -> str:
    """A sentence on the pooled pairs without a text, given their number in each topic; empty where there is none.

    Examples
    --------
    >>> missing_texts([53, 0])
    '53 pooled documents have no text and cannot be judged; they count as unjudged.'
    """
    numbers = [int(number) for number in per_topic if number]
    if not numbers:
        return ""
    if sum(numbers) == 1:
        return "1 pooled document has no text and cannot be judged; it counts as unjudged."
    # The same document may be in the pools of several topics.
    what = "documents" if len(numbers) == 1 else "pairs"
    return f"{sum(numbers):,} pooled {what} have no text and cannot be judged; they count as unjudged."
