"""Prediction of the number of relevant documents among the next ones of a ranking."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collection.stopping.ledger import Ledger

WINDOW = 50
"""Number of latest ranked judgements on which the prediction is based."""

_DECLINE = 0.5


class Outlook(NamedTuple):
    """Number of relevant documents among the next ones of the ranking, as an interval."""

    upcoming: int
    """Number of next documents."""
    low: int
    high: int
    hits: int
    """Relevant documents among the latest :data:`WINDOW` ranked judgements."""


def predict_next(ledger: Ledger, count: int = 100, confidence: float = 0.9) -> Outlook | None:
    """Predict how many of the next `count` documents of the ranking are relevant; None before 50 ranked judgements.

    The prediction is that of a beta-binomial distribution after the last 50 ranked judgements, with Jeffreys' prior.
    Its lower end is halved, because a ranking becomes less precise towards its end. Window and decline were chosen
    from nine variants by simulations on nine systematic reviews (Cohen et al., JAMIA 2006; 2 seeds, at every 25th
    record): the 90% intervals contained 95% of the numbers, and at least 85% in each review. If the variant is chosen
    on the other eight reviews (the narrowest that contains 90% there), they contained 91%, and 56% in the worst review.

    >>> predict_next(Ledger.of([True] * 10 + [False] * 40, size=1000))
    Outlook(upcoming=100, low=5, high=33, hits=10)
    """
    from scipy.stats import betabinom

    ranked = np.flatnonzero(~ledger.drawn)[-WINDOW:]
    count = min(count, ledger.unjudged - ledger.unreachable)
    if len(ranked) < WINDOW or count <= 0:
        return None
    hits = int(ledger.relevant[ranked].sum())
    tail = (1 - confidence) / 2
    low, high = betabinom.ppf([tail, 1 - tail], count, hits + 0.5, WINDOW - hits + 0.5)
    return Outlook(count, int(_DECLINE * low), int(high), hits)
