"""Two estimates of how many relevant documents nobody has judged, each with its assumption and an interval.

Capture-recapture: if only one or two participants found many of the relevant documents, others were found by nobody.
Extrapolation: each further rank brings fewer new relevant documents, and this trend is continued (Zobel, "How reliable
are the results of large-scale information retrieval experiments?", SIGIR 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.measures import Floats
from collection.reusability.run_matrix import UNLISTED, RunMatrix

Z = 1.959963984540054
"""Of a 95% interval."""

DECAYS = {"power": np.log, "exponential": np.sqrt}
"""How what each rank brings may fall: as a power of the rank, or as the exponential of its root."""

STEEPEST = 20.0
"""The largest slope that is fitted: the second rank brings a millionth of the first, or less than a hundredth."""

SHALLOWEST = 5
"""Ranks that a curve needs before it is continued."""

EXTRAPOLATED_TO = 100
"""The rank to which the curves are continued, at most as deep as the runs are."""


class MissingEstimate(NamedTuple):
    """An estimate of relevant documents that the pool does not have.

    Attributes
    ----------
    method
        "capture" or "extrapolation".
    expected, low, high
        The number over all topics, with a 95% interval.
    known
        How many of these are judged all the same, since they were found in another way.
    tells
        Whether the interval is informative: no wider than the number of known relevant documents, in the pool or where
        the estimate looks.
    sentence, assumption
        The estimate in words, and what it rests on.
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
    """Estimate what no sampling unit found (Chao2, bias-corrected), and the variance of the estimate.

    It is a lower bound where some items are harder to find than others. `once` and `twice`, of any shape, count what
    exactly one and exactly two of the units found.

    Source: Chao, "Estimating the population size for capture-recapture data with unequal catchability", Biometrics 43,
    1987; Chao & Chiu, "Species richness: estimation and comparison", 2016.

    Examples
    --------
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

    Examples
    --------
    >>> chao_interval(10.0, 0.0)
    (10.0, 10.0)
    """
    if unseen <= 0:
        return 0.0, 0.0
    width = float(np.exp(Z * np.sqrt(np.log1p(variance / unseen**2))))
    return unseen / width, unseen * width


def count_captures(matrix: RunMatrix, groups: Sequence[str], depth: int) -> pd.DataFrame:
    """Count relevant documents that groups found, and estimate those that none found, for each topic.

    The sampling units are the groups, since the runs of one group are not independent.

    Returns
    -------
    DataFrame
        One row per topic: ``query_id``, ``found`` (relevant documents that some group lists in its first `depth`),
        ``once``, ``twice`` (found by exactly one group, by two), ``unseen``, ``variance``, ``beyond`` (relevant ones
        that are known though no group lists them there).
    """
    named, found = np.array(groups), matrix.places <= depth
    units = set(groups)
    by = np.sum([found[:, named == unit].any(axis=1) for unit in units], axis=0)

    def count(which: np.ndarray) -> np.ndarray:
        return np.bincount(matrix.topic[matrix.relevant & which], minlength=len(matrix.topics))

    once, twice = count(by == 1), count(by == 2)
    unseen, variance = estimate_unseen(once.astype(np.float64), twice.astype(np.float64), len(units))
    return pd.DataFrame(
        {
            "query_id": matrix.topics,
            "found": count(by > 0),
            "once": once,
            "twice": twice,
            "unseen": unseen,
            "variance": variance,
            "beyond": count(by == 0),
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

    Examples
    --------
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

    On Cranfield and Vaswani, reduced to pools of depth 5 to 30, the first found between a twentieth and a fifth of
    what was missing, a lower bound indeed. For the second the truth to depth 100 always lay between the two curves: so
    both go into its interval, and the estimate is their geometric mean.
    """
    found = []
    if len(set(groups)) > 1:
        found.append(_by_capture(matrix, groups, depth))
    to = min(EXTRAPOLATED_TO, matrix.listed.shape[2])
    if depth >= SHALLOWEST and to > depth and len(matrix.topics) > 1:
        found.append(_by_depth(matrix, depth, to, resamples, seed))
    return found


def _by_capture(matrix: RunMatrix, groups: Sequence[str], depth: int) -> MissingEstimate:
    topics = count_captures(matrix, groups, depth)
    expected, known = float(topics["unseen"].sum()), int(topics["beyond"].sum())
    low, high = chao_interval(expected, float(topics["variance"].sum()))
    pool = int(topics["found"].sum())
    tells = high - low <= max(pool, known)
    if tells:
        sentence = (
            f"Systems like these could bring {expected:,.0f} more relevant documents ({low:,.0f} to {high:,.0f}) in "
            f"their first {depth:,}, at least"
        )
    else:
        sentence = (
            f"How many more relevant documents systems like these could bring in their first {depth:,} cannot be told "
            f"from these judgements: the interval, {low:,.0f} to {high:,.0f}, is wider than {_yardstick(pool, known)}"
        )
    if known:
        sentence += f"; {known:,} are known from beyond the pool"
    if 0 < known >= high:
        sentence += ", so this bound says nothing of what is still missing"
    assumption = (
        f"By how many of the {len(set(groups)):,} groups found each relevant document (Chao 1987). It takes the groups "
        "for independent looks; what is hard to find for all of them makes it too small."
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
    where = f"at the ranks {depth + 1:,} to {to:,} of these runs"
    known_there = f"{known:,} relevant documents are judged there" if known else "nothing relevant is judged there"
    least, most = max(0.0, low - known), max(0.0, high - known)
    pool = int(new.sum())
    tells = most - least <= max(pool, known)
    if not tells:
        sentence = (
            f"How many relevant documents are missing {where} cannot be told from these judgements: the interval, "
            f"{least:,.0f} to {most:,.0f}, is wider than {_yardstick(pool, known)}."
        )
    elif high <= known:
        sentence = f"By the estimate nothing is missing {where}: {known_there}."
    elif expected <= known:
        sentence = f"Up to {most:,.0f} relevant documents are missing {where}; {known_there}."
    else:
        sentence = (
            f"An estimated {expected - known:,.0f} relevant documents ({least:,.0f} to {most:,.0f}) are "
            f"missing {where}; {known_there}."
        )
    assumption = (
        "By how quickly each further rank brings fewer new ones (after Zobel 1998), continued by two curves, a power "
        "of the rank and an exponential of its root. The interval covers both curves and the choice of topics."
    )
    return MissingEstimate("extrapolation", expected, low, high, known, tells, sentence, assumption)


def _yardstick(pool: int, known: int) -> str:
    """What an interval is held against: the larger of what the pool has and what is known from beyond it."""
    many, where = (pool, "in the pool") if pool >= known else (known, "beyond the pool")
    return f"the number of relevant documents that are known {where}, {many:,}"
