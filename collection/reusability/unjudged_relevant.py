"""Two estimates of the number of unjudged relevant documents, each with its assumption and an interval.

Capture-recapture: if many relevant documents were found by only one or two participants, others were found by none.
Extrapolation: each further rank brings fewer new relevant documents, and this trend is continued (Zobel, "How reliable
are the results of large-scale information retrieval experiments?", SIGIR 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.phrases import count, plural
from collection.reusability.run_matrix import UNLISTED, RunMatrix

Z = 1.959963984540054
"""Normal quantile of a 95% interval."""

DECAYS = {"power": np.log, "exponential": np.sqrt}
"""Decay of the number of new documents per rank: a power of the rank, or an exponential of its square root."""

STEEPEST = 20.0
"""Largest slope that is fitted: the second rank brings a millionth of the first, or less than a hundredth."""

SHALLOWEST = 5
"""Minimum number of ranks of a curve that is extrapolated."""

EXTRAPOLATED_TO = 100
"""Rank to which the curves are extrapolated, or the depth of the runs if smaller."""

ENOUGH_FOUND = 10
"""Number of relevant documents in the pool below which an estimate of none missing is not reported."""


class MissingEstimate(NamedTuple):
    """An estimate of the number of relevant documents missing from the pool.

    Attributes
    ----------
    method
        "capture" or "extrapolation".
    expected, low, high
        The number over all topics, with a 95% interval.
    known
        Number of these that are judged, because they were found in another way.
    tells
        Whether the estimate is informative: its interval is no wider than the number of known relevant documents, in
        the pool or at the estimated ranks, and it is not 0 only because hardly any are known.
    sentence, assumption
        The estimate in words, and its assumption.
    """

    method: str
    expected: float
    low: float
    high: float
    known: int
    tells: bool
    sentence: str
    assumption: str


def estimate_unseen(once: Floats, twice: Floats, units: int) -> tuple[Floats, Floats]:
    """Estimate the number of items that no sampling unit found (Chao2, bias-corrected), and its variance.

    It is a lower bound if some items are harder to find than others. `once` and `twice`, of any shape, count the items
    found by exactly one and exactly two of the units.

    Source: Chao, "Estimating the population size for capture-recapture data with unequal catchability", Biometrics 43,
    1987; Chao & Chiu, "Species richness: estimation and comparison", 2016.

    >>> float(estimate_unseen(np.array(10.0), np.array(4.0), 5)[0])
    7.2
    """
    a = (units - 1) / units
    unseen = a * once * (once - 1) / (2 * (twice + 1))
    variance = (
        unseen
        + a**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + a**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    return np.asarray(unseen), np.asarray(np.where(unseen > 0, variance, 0.0))


def chao_interval(unseen: float, variance: float) -> tuple[float, float]:
    """Compute Chao's (1987) log-normal 95% interval of a number that cannot be negative.

    >>> chao_interval(10.0, 0.0)
    (10.0, 10.0)
    """
    if unseen <= 0:
        return 0.0, 0.0
    width = float(np.exp(Z * np.sqrt(np.log1p(variance / unseen**2))))
    return unseen / width, unseen * width


def count_captures(matrix: RunMatrix, groups: Sequence[str], depth: int) -> pd.DataFrame:
    """Count the relevant documents found by groups, and estimate those found by none, for each topic.

    The sampling units are the groups, since the runs of one group are not independent.

    Returns
    -------
    DataFrame
        One row per topic: ``query_id``, ``found`` (relevant documents that some group lists in its first `depth`),
        ``once``, ``twice`` (found by exactly one group, by two), ``unseen``, ``variance``, ``beyond`` (known relevant
        documents that no group lists there).
    """
    named, pooled = np.array(groups), matrix.places <= depth
    units = set(groups)
    by = np.sum([pooled[:, named == unit].any(axis=1) for unit in units], axis=0)

    def per_topic(which: np.ndarray) -> np.ndarray:
        return np.bincount(matrix.topic[matrix.relevant & which], minlength=len(matrix.topics))

    once, twice = per_topic(by == 1), per_topic(by == 2)
    unseen, variance = estimate_unseen(once.astype(np.float64), twice.astype(np.float64), len(units))
    return pd.DataFrame(
        {
            "query_id": matrix.topics,
            "found": per_topic(by > 0),
            "once": once,
            "twice": twice,
            "unseen": unseen,
            "variance": variance,
            "beyond": per_topic(by == 0),
        }
    )


def count_new_by_rank(matrix: RunMatrix, depth: int) -> np.ndarray:
    """(T, depth): relevant documents that enter the pool of these runs at each rank."""
    first = matrix.places.min(axis=1)
    which = matrix.relevant & (first <= depth)
    cell = matrix.topic[which] * depth + first[which] - 1
    return np.bincount(cell, minlength=len(matrix.topics) * depth).reshape(-1, depth)


def extrapolate(new: Floats, depth: int, curve: str = "power") -> Floats:
    """Fit a * exp(-b * f(rank)) to the counts of the first ranks, and sum it over the further ranks to `depth`.

    f is one of :data:`DECAYS`; "power" makes the law a * rank ** -b. The fit is the maximum likelihood for Poisson
    counts: b is such that the mean of f is that of the counts. `new`, (..., d), counts the new documents at each of the
    first d ranks; the result, (...), is the expected number at the ranks d + 1 to `depth`.

    >>> ranks = np.arange(1, 101)
    >>> float(extrapolate(1000 / ranks[:10], 100).round()), float((1000 / ranks[10:]).sum().round())
    (2258.0, 2258.0)
    """
    new = np.asarray(new, dtype=np.float64)
    at = DECAYS[curve](np.arange(1, max(depth, new.shape[-1]) + 1)) - 1
    inside, beyond = at[: new.shape[-1]], at[new.shape[-1] :]
    total = new.sum(axis=-1)
    wanted = (new * inside).sum(axis=-1) / np.maximum(total, 1)
    low, high = np.zeros(new.shape[:-1]), np.full(new.shape[:-1], STEEPEST)
    for _ in range(50):
        middle = (low + high) / 2
        weights = np.exp(-middle[..., None] * inside)
        flatter = (weights * inside).sum(axis=-1) / weights.sum(axis=-1) > wanted
        low, high = np.where(flatter, middle, low), np.where(flatter, high, middle)
    slope = ((low + high) / 2)[..., None]
    scale = total / np.exp(-slope * inside).sum(axis=-1)
    return np.asarray(scale * np.exp(-slope * beyond).sum(axis=-1))


def estimate_missing(
    matrix: RunMatrix, groups: Sequence[str], depth: int, *, resamples: int = 1000, seed: int = 0
) -> list[MissingEstimate]:
    """Estimate the missing relevant documents over all topics, by each method for which there is evidence.

    Capture-recapture needs two groups or more; extrapolation :data:`SHALLOWEST` ranks or more, and two topics or more
    for its bootstrap over topics (`resamples`, `seed`). The runs are fully judged to `depth`.

    On Cranfield and Vaswani, reduced to pools of depth 5 to 30, the first method found between a twentieth and a fifth
    of the missing documents, as a lower bound may. For the second, the truth to depth 100 always lay between the two
    curves, so its interval covers both, and the estimate is their geometric mean.
    """
    estimates = []
    if len(set(groups)) > 1:
        estimates.append(_by_capture(matrix, groups, depth))
    to = min(EXTRAPOLATED_TO, matrix.listed.shape[2])
    if depth >= SHALLOWEST and to > depth and len(matrix.topics) > 1:
        estimates.append(_by_depth(matrix, depth, to, resamples, seed))
    return estimates


def _by_capture(matrix: RunMatrix, groups: Sequence[str], depth: int) -> MissingEstimate:
    topics = count_captures(matrix, groups, depth)
    expected, known = float(topics["unseen"].sum()), int(topics["beyond"].sum())
    low, high = chao_interval(expected, float(topics["variance"].sum()))
    pool = int(topics["found"].sum())
    too_few = not expected and pool < ENOUGH_FOUND
    tells = not too_few and high - low <= max(pool, known)
    where = f"in the first {count(depth, 'rank')} of similar systems"
    if too_few:
        sentence = f"The number of unjudged relevant documents {where} cannot be estimated: {_only(pool)}"
    elif tells and round(expected) < 1:
        once = int(topics["once"].sum())
        bound = f"lower bound {round(expected):,}" + (f", {_interval(low, high)}" if expected else "")
        sentence = (
            f"There is {'little' if expected else 'no'} sign of unjudged relevant documents {where} ({bound}): "
            f"{once:,} of {pool:,} known ones {plural(once, 'was', 'were')} found by a single group of runs"
        )
    elif tells:
        estimated, are = count(round(expected), "relevant document"), plural(round(expected), "is", "are")
        sentence = f"An estimated {estimated} {where} {are} unjudged (a lower bound; {_interval(low, high)})"
    else:
        reason = _too_wide(low, high, pool, known)
        sentence = f"The number of unjudged relevant documents {where} cannot be estimated: {reason}"
    if known:
        sentence += f"; {known:,} {plural(known, 'was', 'were')} found outside the pool"
    if 0 < known >= high:
        sentence += ", so the estimate does not tell how many are still missing"
    assumption = (
        f"The estimate for the first ranks uses how many of the {count(len(set(groups)), 'group')} found each relevant "
        "document (Chao 1987). It assumes independent groups, and is too small if some documents are hard to find for "
        "all of them."
    )
    return MissingEstimate("capture", expected, low, high, known, tells, f"{sentence}.", assumption)


def _by_depth(matrix: RunMatrix, depth: int, to: int, resamples: int, seed: int) -> MissingEstimate:
    new = count_new_by_rank(matrix, depth)
    drawn = np.random.default_rng(seed).integers(len(new), size=(max(resamples, 1), len(new)))
    again = new[drawn].sum(axis=1)
    ends = [float(extrapolate(new.sum(axis=0), to, curve)) for curve in DECAYS]
    low = min(float(np.quantile(extrapolate(again, to, curve), 0.025)) for curve in DECAYS)
    high = max(float(np.quantile(extrapolate(again, to, curve), 0.975)) for curve in DECAYS)
    first = matrix.places.min(axis=1)
    known = int((matrix.relevant & (first > depth) & (first <= to) & (first < UNLISTED)).sum())
    expected = float(np.sqrt(np.prod(ends)))
    where = f"at ranks {depth + 1:,} to {to:,} of these runs"
    known_there = f"{count(known, 'relevant document')} {plural(known, 'is', 'are')} known there"
    least, most = max(0.0, low - known), max(0.0, high - known)
    pool = int(new.sum())
    too_few = round(high) <= known and pool < ENOUGH_FOUND
    tells = not too_few and most - least <= max(pool, known)
    missing = round(expected - known)
    if too_few:
        sentence = f"The number of unjudged relevant documents {where} cannot be estimated: {_only(pool)}."
    elif not tells:
        reason = _too_wide(least, most, pool, known)
        sentence = f"The number of unjudged relevant documents {where} cannot be estimated: {reason}."
    elif round(most) < 1:
        sentence = f"No unjudged relevant documents are expected {where}; {known_there}."
    elif missing < 1:
        sentence = f"Up to {count(round(most), 'relevant document')} {where} may be unjudged; {known_there}."
    else:
        sentence = (
            f"An estimated {count(missing, 'relevant document')} {where} {plural(missing, 'is', 'are')} unjudged "
            f"({_interval(least, most)}); {known_there}."
        )
    assumption = (
        "The estimate for deeper ranks extrapolates how many new relevant documents each rank brings (after Zobel "
        "1998), by a power law and by a stretched exponential. The interval covers both and the choice of topics."
    )
    return MissingEstimate("extrapolation", expected, low, high, known, tells, sentence, assumption)


def _interval(low: float, high: float) -> str:
    return f"95% CI {low:,.0f} to {high:,.0f}"


def _only(pool: int) -> str:
    return f"only {count(pool, 'relevant document')} {plural(pool, 'is', 'are')} in the pool"


def _too_wide(low: float, high: float, pool: int, known: int) -> str:
    """Compare an interval with the larger of the numbers of relevant documents known in the pool and outside it."""
    many, where = (pool, "in the pool") if pool >= known else (known, "outside the pool")
    width = f"the 95% CI, {low:,.0f} to {high:,.0f}, is wider than"
    return f"{width} the number of relevant documents known {where} ({many:,})"
