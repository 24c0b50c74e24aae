"""The registry of stopping rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Annotated, Literal, NamedTuple

from collection.core.arrays import Bools
from collection.core.errors import InputError
from collection.core.phrases import count, plural
from collection.core.registry import Entry, Parameter, Registry
from collection.stopping.ledger import Ledger


class StopKind(Enum):
    """Kinds of reasons for which a rule stops, or does not stop."""

    JUDGED = "judged"
    """Every document is judged."""
    CERTAIN = "certain"
    """The target is reached whatever the unjudged documents are."""
    GUARANTEED = "guaranteed"
    """Random draws guarantee the target with the chosen confidence."""
    DRAW = "draw"
    """Further random draws may guarantee it: `needed` of them without a relevant document do."""
    UNREACHABLE = "unreachable"
    """No number of random draws guarantees it, because documents cannot be judged."""
    WITHHELD = "withheld"
    """Randomly drawn documents were skipped or undone: `needed` of them must be judged first."""
    CRITERION = "criterion"
    """The rule's own criterion decides, or lacks what it needs."""


class StopDecision(NamedTuple):
    """A rule's answer for a ledger."""

    stop: bool
    """Whether judging can stop."""
    reason: str
    """One sentence with the numbers, without a capital letter or a full stop. It is for people: code reads `kind`."""
    needed: int | None = None
    """Number of random draws without a relevant document after which judging can stop, or of the documents to judge
    before it may; None: unknown, or none is enough."""
    kind: StopKind = StopKind.CRITERION


StoppingRule = Callable[..., StopDecision]

Target = Annotated[float, Parameter("Target recall", "Recall to reach; in a campaign, that of the loop's settings.")]
Confidence = Annotated[float, Parameter("Confidence", "Confidence; in a campaign, that of the loop's settings.")]

StoppingNeeds = Literal["", "random draws", "control sample", "scores", "probabilities"]
"""What a rule needs besides the judgements in order."""

NEEDS: dict[StoppingNeeds, str] = {
    "random draws": "randomly drawn documents among those chosen by the ranking",
    "control sample": "a random sample drawn at the start, and the point at which the ranking reached its documents",
    "scores": "a probability of relevance for every document",
    "probabilities": "the probability with which each document would have been chosen so far",
}


@dataclass(frozen=True, repr=False)
class StoppingEntry(Entry[StoppingRule]):
    """A stopping rule.

    The parameters ``target`` and ``confidence`` are set from the campaign, ``judgements`` from the budget of a topic.
    """

    _: KW_ONLY
    promises: str = ""
    """Its guarantee; empty for a heuristic."""
    needs: StoppingNeeds = ""
    """A key of :data:`NEEDS`, or empty."""
    at_each: Callable[..., Bools] | None = None
    """(ledger, counts, *, parameters) -> (counts,) bool: whether the rule would have stopped after each of these
    numbers of judgements, if it can find this in one pass."""

    @property
    def traits(self) -> dict[str, str]:
        """Describe what the rule guarantees, and what it needs."""
        return {"promises": self.promises or "none (heuristic)", "needs": self.needs}

    def lacks(self, ledger: Ledger) -> str:
        """Describe what the rule needs and the ledger does not have; empty if nothing is missing."""
        available = {
            "control sample": ledger.reached is not None,
            "scores": ledger.scores is not None,
            "probabilities": bool((ledger.probability < 1).any()),
        }
        if not available.get(self.needs, True):
            return NEEDS[self.needs]
        if ledger.withheld and self.needs in ("random draws", "control sample"):
            documents = count(ledger.withheld, "randomly drawn document")
            return f"the grades of {documents} that {plural(ledger.withheld, 'was', 'were')} skipped or undone"
        return ""


def _prepare(function: StoppingRule) -> StoppingRule:
    """Check the parameters first, and answer for any rule once every document is judged."""

    @functools.wraps(function)
    def prepared(ledger: Ledger, **parameters: object) -> StopDecision:
        check_parameters(**parameters)
        if ledger.unjudged == 0:
            judged = f"{ledger.size:,} of {count(ledger.size, 'document')} judged, {ledger.found:,} relevant"
            return StopDecision(True, judged if ledger.size else "there is nothing to judge", 0, StopKind.JUDGED)
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
            good, wanted = isinstance(value, (int, float)) and 0 < value < 1, "a share between 0 and 1, such as 0.9"
            if name == "target":
                good, wanted = good or value == 1, "a share above 0 and up to 1, such as 0.9"
            if name == "switch" and value is None:
                continue
        elif isinstance(value, (int, float)):
            good, wanted = 0 <= value < float("inf"), "0 or more"
        else:
            continue
        if not good:
            raise InputError(f"parameter {name}: expected {wanted}, found {value!r}")


def too_many(ledger: Ledger, target: float) -> int:
    """R0, the smallest number of relevant documents with which the target is missed."""
    return int(ledger.found / target + ROUNDING) + 1


def missing_texts(per_topic: Iterable[int]) -> str:
    """Report pooled pairs without a text, given their number in each topic; empty if there are none.

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


def worst_case(unjudged: int) -> str:
    """Word the condition of a recall that is certain.

    >>> worst_case(10)
    'even if all 10 unjudged documents are relevant'
    """
    if unjudged == 1:
        return "even if the only unjudged document is relevant"
    return f"even if all {unjudged:,} unjudged documents are relevant"
