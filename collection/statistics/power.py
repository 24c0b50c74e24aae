"""How many topics it takes to see a difference, and what the topics that are there can show: a paired t test's power.

>>> compute_topics_needed(0.05, 0.1)  # 80 % power at .05, for a difference of half a standard deviation
34
>>> round(compute_detectable(0.1, 50), 3)
0.04
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from collection.errors import InputError
from collection.statistics.arrays import Floats

MOST_TOPICS = 10_000_000
"""Nobody judges more topics."""


def compute_power(difference: float, spread: float, topics: int, *, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t test finds a true difference.

    Parameters
    ----------
    difference
        The true difference of the means.
    spread
        Standard deviation of the differences over topics, above 0.
    topics
        Two or more.
    alpha
        The level of the test.

    Notes
    -----
    The chance that a noncentral t is beyond the critical value, as the mean over its chi-squared part of the chance of
    its normal part. Sakai (2016), Topic set size design. Information Retrieval Journal 19.
    """
    from scipy.special import gammaincinv, ndtr, stdtrit

    _check(spread, alpha)
    if topics < 2:
        raise InputError(f"a test needs two topics or more, found {topics}")
    shift, freedom = abs(difference) / spread * math.sqrt(topics), topics - 1
    shares, weights = _nodes()
    bound = stdtrit(freedom, 1 - alpha / 2) * np.sqrt(2 / freedom * gammaincinv(freedom / 2, shares))
    return float(weights @ (ndtr(shift - bound) + ndtr(-shift - bound)))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Where in (0, 1) to look, and with which weight, for an integral that is right to some six digits."""
    places, weights = np.polynomial.legendre.leggauss(200)
    return (places + 1) / 2, weights / 2


def compute_topics_needed(difference: float, spread: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """The fewest topics with which the test finds `difference` with a chance of `power`; arguments as :func:`compute_power`.

    Raises
    ------
    InputError
        The difference is 0, or so small that ten million topics would not do.
    """
    _check(spread, alpha, power)
    if not difference:
        raise InputError("no number of topics shows a difference of 0; say how large the difference is")
    low, high = 1, 2
    while compute_power(difference, spread, high, alpha=alpha) < power:
        low, high = high, high * 2
        if high > MOST_TOPICS:
            raise InputError(f"to see a difference of {difference:g} takes more than {MOST_TOPICS:,} topics")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if compute_power(difference, spread, middle, alpha=alpha) >= power else (middle, high)
    return high


def compute_detectable(spread: float, topics: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference that the test finds with a chance of `power`; 0 where nothing varies."""
    if spread == 0:
        return 0.0
    _check(spread, alpha, power)
    if power <= alpha:
        return 0.0  # a test that finds nothing true still says so alpha of the time
    from scipy.optimize import brentq

    def lacking(effect: float) -> float:
        return compute_power(effect, 1.0, topics, alpha=alpha) - power

    high = 1.0
    while lacking(high) < 0:
        high *= 2
    return float(brentq(lacking, 0.0, high, xtol=1e-10)) * spread


def _check(spread: float, alpha: float, power: float = 0.5) -> None:
    if not (spread > 0 and math.isfinite(spread)):
        raise InputError(f"the spread of the differences is a number above 0, found {spread:g}")
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name} is a chance between 0 and 1, found {value:g}")
