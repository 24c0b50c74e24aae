"""Power of the paired t-test: the topics needed to detect a difference, and the difference detectable with them.

>>> compute_topics_needed(0.05, 0.1)  # 80% power at .05, for a difference of half a standard deviation
34
>>> round(compute_detectable(0.1, 50), 3)
0.04
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError

MOST_TOPICS = 10_000_000
"""Largest number of topics that is tried."""

_STEPS = 10**10
"""Steps of 1 standard deviation in which a detectable difference is sought."""


def compute_power(difference: float, spread: float, topics: int, *, alpha: float = 0.05) -> float:
    """Compute the probability that a two-sided paired t-test at level `alpha` detects a true difference of means.

    `spread` is the standard deviation of the differences over topics, above 0; `topics` are two or more.

    Notes
    -----
    The probability that a noncentral t is beyond the critical value, as the mean over its chi-squared part of the
    probability of its normal part; scipy's nctdtr gives nan for high power. Sakai (2016), Topic set size design.
    Information Retrieval Journal 19.
    """
    from scipy.special import gammaincinv, ndtr, stdtrit

    _check(spread, alpha)
    if topics < 2:
        raise InputError(f"a test needs at least 2 topics, found {topics}")
    shift, freedom = abs(difference) / spread * math.sqrt(topics), topics - 1
    shares, weights = _nodes()
    bound = stdtrit(freedom, 1 - alpha / 2) * np.sqrt(2 / freedom * gammaincinv(freedom / 2, shares))
    return float(weights @ (ndtr(shift - bound) + ndtr(-shift - bound)))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes in (0, 1) and weights of an integral with about six correct digits."""
    places, weights = np.polynomial.legendre.leggauss(200)
    return (places + 1) / 2, weights / 2


def compute_topics_needed(difference: float, spread: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Find the smallest number of topics with which the test detects `difference` with probability `power`.

    Raises
    ------
    InputError
        The difference is 0, or so small that ten million topics are not enough.
    """
    _check(spread, alpha, power)
    if not difference:
        raise InputError("difference: expected a number other than 0, since no number of topics can detect 0")
    topics = range(2, MOST_TOPICS + 1)
    place = bisect_left(topics, power, key=lambda count: compute_power(difference, spread, count, alpha=alpha))
    if place == len(topics):
        raise InputError(
            f"difference: {difference:g} is so small that detecting it takes more than {MOST_TOPICS:,} topics"
        )
    return topics[place]


def compute_detectable(spread: float, topics: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Find the smallest difference that the test detects with probability `power`; 0 if nothing varies."""
    if spread == 0:
        return 0.0
    _check(spread, alpha, power)
    if power <= alpha:
        return 0.0  # without any difference a test is significant with probability alpha

    def reaches(effect: float) -> bool:
        return compute_power(effect, 1.0, topics, alpha=alpha) >= power

    high = 1.0
    while not reaches(high):
        high *= 2
    # Bisection: to import scipy.optimize takes longer than all of it.
    steps = range(int(high * _STEPS))
    return bisect_left(steps, True, key=lambda step: reaches(step / _STEPS)) / _STEPS * spread


def _check(spread: float, alpha: float, power: float = 0.5) -> None:
    if not (spread > 0 and math.isfinite(spread)):
        raise InputError(f"spread: expected a standard deviation above 0, found {spread:g}")
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name}: expected a probability between 0 and 1, found {value:g}")
