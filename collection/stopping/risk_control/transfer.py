"""Check of a rule that was calibrated on another collection, on a few topics of the present one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, e, exp, log
from typing import Literal

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import count, percent, percent_down, percent_up

TRANSFER_WARNING = (
    "This rule was calibrated on another collection. Its promise holds only as far as the topics, the documents, the "
    "model and the annotators of this one are like those of that one, which no computation can guarantee. Judge a few "
    "topics drawn at random completely and check it on them."
)

Verdict = Literal["confirmed", "contradicted", "undecided"]


@dataclass(frozen=True)
class TransferCheck:
    """Test of whether the mean loss of a rule is at most alpha, by the losses of a few random topics."""

    topics: int
    alpha: float
    confidence: float
    mean_loss: float
    """nan without topics."""
    low: float
    """Lower confidence bound of the expected loss, at the confidence by itself."""
    high: float
    """Upper confidence bound of the expected loss, at the confidence by itself."""
    verdict: Verdict
    """"confirmed": `high` is at most alpha; "contradicted": `low` is above alpha; otherwise "undecided"."""

    @property
    def report(self) -> str:
        """One sentence with the numbers and the verdict."""
        if not self.topics:
            return "No topic is judged completely yet, so the rule from another collection is not checked."
        goal = f"expected recall of {percent_down(1 - self.alpha)}"
        outcome = f"mean recall {percent(1 - self.mean_loss, 1)} on {count(self.topics, 'topic')}"
        if self.verdict == "confirmed":
            bound = f"the expected recall is at least {percent_down(1 - self.high)}"
            return f"The {goal} is confirmed: {outcome}; with {percent_down(self.confidence)} confidence, {bound}."
        if self.verdict == "contradicted":
            bound = f"the expected recall is at most {percent_up(1 - self.low)}"
            return (
                f"The {goal} does not hold here: {outcome}; with {percent_down(self.confidence)} confidence, {bound}. "
                "Calibrate on topics of this collection."
            )
        span = f"from {percent_down(1 - self.high)} to {percent_up(1 - self.low)}"
        return (
            f"The {goal} is neither confirmed nor contradicted: {outcome}; the expected recall may be {span}. "
            f"Without any loss, {count(topics_to_confirm(self.alpha, self.confidence), 'topic')} would confirm it."
        )


def check_transfer(losses: Floats, alpha: float = 0.1, confidence: float = 0.95) -> TransferCheck:
    """Check the losses (n,) of topics of the present collection, drawn at random, under a rule fixed beforehand.

    Parameters
    ----------
    losses
        1 - recall at the rule's stop, from 0 to 1.
    alpha
        Largest expected loss that the rule promises.
    confidence
        Confidence of each of the two bounds.
    """
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim != 1 or ((losses < 0) | (losses > 1) | np.isnan(losses)).any():
        raise InputError("losses: expected one number from 0 to 1 for each topic")
    for name, value in (("alpha", alpha), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name}: expected a number between 0 and 1, found {value:g}")
    high = bound_mean(losses, confidence)
    low = 1 - bound_mean(1 - losses, confidence)
    mean = float(losses.mean()) if len(losses) else float("nan")
    verdict: Verdict = "confirmed" if high <= alpha else "contradicted" if low > alpha else "undecided"
    return TransferCheck(len(losses), alpha, confidence, mean, low, high, verdict)


def bound_mean(losses: Floats, confidence: float = 0.95) -> float:
    """Compute an upper confidence bound of the expectation of independent losses from 0 to 1.

    The smallest mean that the p-value of Hoeffding and Bentkus rejects: min(exp(-n KL(x, a)), e P(Bin(n, a) <= ceil(n
    x))) for an observed mean x below a. Source: Bates, Angelopoulos, Lei, Malik & Jordan, "Distribution-free,
    risk-controlling prediction sets", Journal of the ACM 68(6), 2021.

    >>> round(bound_mean(np.zeros(29)), 3), round(bound_mean(np.zeros(5)), 3)
    (0.098, 0.451)
    """
    from scipy.stats import binom

    n = len(losses)
    if not n:
        return 1.0
    mean = float(losses.mean())

    def p_value(a: float) -> float:
        return min(exp(-n * _divergence(mean, a)), e * float(binom.cdf(ceil(n * mean - 1e-9), n, a)))

    return _smallest_rejected(p_value, 1 - confidence, mean)


def topics_to_confirm(alpha: float, confidence: float = 0.95) -> int:
    """Compute the number of topics without any loss whose upper bound is at most alpha.

    >>> [topics_to_confirm(alpha) for alpha in (0.05, 0.1, 0.2)]
    [59, 29, 14]
    """
    return ceil(log(1 - confidence) / log(1 - alpha) - 1e-9)


def _divergence(x: float, a: float) -> float:
    """The Kullback-Leibler divergence between Bernoulli distributions with means x <= a."""
    first = x * log(x / a) if x else 0.0
    if a >= 1:
        return 0.0 if x >= 1 else float("inf")
    return first + ((1 - x) * log((1 - x) / (1 - a)) if x < 1 else 0.0)


def _smallest_rejected(p_value: Callable[[float], float], level: float, start: float) -> float:
    """The smallest a >= start with p_value(a) <= level, which decreases; 1 if none does."""
    low, high = start, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if middle > start and p_value(middle) <= level:
            high = middle
        else:
            low = middle
    return high
