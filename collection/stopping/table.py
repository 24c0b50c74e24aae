"""The table of stopping rules, and what a rule answers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from collection.errors import InputError
from collection.registry import Entry, Registry
from collection.stopping.ledger import Bools, Ledger


class Decision(NamedTuple):
    """What a rule says of a ledger.

    Attributes
    ----------
    stop
        Whether judging may stop.
    reason
        One sentence, with the numbers.
    needed
        Random judgements without a relevant document after which it may stop; None where nobody can say, or where no
        number of them would do.
    """

    stop: bool
    reason: str
    needed: int | None = None


Rule = Callable[..., Decision]

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

    A parameter called ``target`` or ``confidence`` is set to what the campaign aims at, ``judgements`` to the budget
    of a topic.

    Attributes
    ----------
    promises
        What it guarantees; empty for a heuristic.
    needs
        What it cannot do without, a key of :data:`NEEDS`.
    at_each
        (ledger, looks, *, parameters) -> (looks,) bool: whether it would have stopped after each of some numbers of
        judgements, for a rule that finds this in one pass.
    """

    _: KW_ONLY
    promises: str = ""
    needs: Needs = ""
    at_each: Callable[..., Bools] | None = None

    @property
    def traits(self) -> dict[str, str]:
        """What it promises and needs."""
        return {"promises": self.promises or "nothing: a heuristic", "needs": self.needs}

    def lacks(self, ledger: Ledger) -> str:
        """What the rule needs and the ledger does not have; empty where it can decide."""
        there = {
            "control sample": ledger.reached is not None,
            "scores": ledger.scores is not None,
            "probabilities": bool((ledger.probability < 1).any()),
        }
        return "" if there.get(self.needs, True) else NEEDS[self.needs]


def _checked(function: Rule) -> Rule:
    """The rule with its parameters checked and the one answer that all rules share.

    Where every document is judged there is nothing left to decide, so no rule needs to think of it.
    """

    @functools.wraps(function)
    def checked(ledger: Ledger, **parameters: Any) -> Decision:
        check(**parameters)
        if ledger.unjudged == 0:
            found = f"{ledger.found:,} relevant" if ledger.size else "there are none"
            return Decision(True, f"all {ledger.size:,} documents are judged: {found}", 0)
        return function(ledger, **parameters)

    return checked


RULES = Registry("stopping rule", StoppingEntry, group="cleverdon.stopping", prepare=_checked)
"""Every rule: (ledger, *, parameters) -> Decision."""

ROUNDING = 1e-9
"""18 / .9 is 20, whatever the last binary digit says."""


def check(**parameters: Any) -> None:
    """Refuse a parameter outside its range; None and words are left to the rule."""
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
            raise InputError(f"the parameter {name}: wanted {wanted}, found {value!r}; 0.9 is 90 %")


def too_many(ledger: Ledger, target: float) -> int:
    """R0, the fewest relevant documents with which the found ones are less than the target."""
    return int(ledger.found / target + ROUNDING) + 1


def percent(share: float, upper: bool = False) -> str:
    """0.9 as people write it, never more than it is (`upper`: never less): .9996 is 99.9 %, a promise rests on it."""
    if upper:
        return f"{np.ceil(1000 * share - ROUNDING) / 10:.3g} %"
    rounded = f"{100 * share:.3g}"
    if float(rounded) / 100 > share + ROUNDING:
        digits = 3 - len(str(int(100 * share)))
        rounded = f"{np.floor(100 * share * 10**digits) / 10**digits:.3g}"
    return f"{rounded} %"


def missing_texts(per_topic: Iterable[int]) -> str:
    """How many pooled pairs cannot be judged, as their text is missing; empty where there is none.

    Parameters
    ----------
    per_topic
        How many in each topic.

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
    # A document without a text may be in the pools of several topics.
    what = "documents" if len(numbers) == 1 else "pairs"
    return f"{sum(numbers):,} pooled {what} have no text and cannot be judged; they count as unjudged."


def count(number: int, one: str, many: str | None = None) -> str:
    """'1 document', '2 documents'."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
