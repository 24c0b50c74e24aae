"""Four paired tests of whether two systems differ by more than chance over topics.

Each test takes differences of shape (topics,) or (topics, systems), one column for each system compared, and has its
own interval, which contains 0 if the test is not significant. There are two exceptions: random samples may differ at
the edge (in the bootstrap, and in the permutation test beyond 30 topics), and the Wilcoxon test ignores topics without
a difference, which the interval counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.registry import Entry, Registry
from collection.statistics.arrays import NOISE, as_topic_table, check_resamples, ratio, standard_deviation

Of = Literal["mean", "pseudo-median"]


class PairedTestResult(NamedTuple):
    """Two-sided result.

    Attributes
    ----------
    statistic, p, low, high
        Shape ``differences.shape[1:]``: one number, or one for each system. An end of the interval is infinite if the
        topics are too few to bound it.
    of
        The statistic between `low` and `high`: the mean difference, or the pseudo-median (the median of the means of
        all pairs of topics).
    """

    statistic: Floats
    p: Floats
    low: Floats
    high: Floats
    of: Of


Test = Callable[..., PairedTestResult]
"""(differences, alpha, parameters) -> PairedTestResult."""

TESTS = Registry("significance test", Entry[Test])

RESAMPLES = 100_000
_CELLS = 4_000_000
"""Maximum number of random numbers in memory."""
_COLUMNS = 50
"""Systems tested at a time, because every resample has a number for each."""
_EXACT = 30
"""Maximum number of topics with a difference for which all sign flips are counted: 2^15 sums of each half."""
_RANKED = 50
"""Maximum number of topics for the exact distribution of the rank sum; beyond, the normal one is as good."""
_PAIRED = 1000
"""Maximum number of topics for which the means of all pairs are listed."""
_LISTED = 16
"""Maximum number of topics for which the means of all subsets are listed for the interval."""


@TESTS.add(
    "paired-t",
    label="Paired t-test",
    description="Compares the mean difference with its standard error; suits about 30 topics or more.",
)
def paired_t(differences: npt.ArrayLike, alpha: float = 0.05) -> PairedTestResult:
    """Student's paired t-test; the interval is of the mean."""
    from scipy.special import stdtr, stdtrit  # scipy.stats gives the same and takes a second to import

    d = as_topic_table(differences)
    n, mean, error = len(d), d.mean(axis=0), standard_deviation(d) / math.sqrt(len(d))
    statistic = ratio(mean, error)
    wide = stdtrit(n - 1, 1 - alpha / 2) * error
    p = np.where(mean == 0, 1.0, 2 * stdtr(n - 1, -np.abs(statistic)))
    return _result(differences, "mean", statistic, p, mean - wide, mean + wide)


@TESTS.add(
    "permutation",
    label="Permutation test",
    description="Flips the signs of the differences, in all ways or at random; does not assume normality.",
)
def permutation(
    differences: npt.ArrayLike, alpha: float = 0.05, *, resamples: int = RESAMPLES, seed: int = 0
) -> PairedTestResult:
    """Fisher's randomisation test: how often the mean differs as much if signs are flipped at random.

    Exact for up to 30 topics whose difference is not 0 (scipy's permutation_test: up to 16). Beyond that p is
    (b + 1) / (m + 1) for b of m random flips, the same flips for every system.

    Notes
    -----
    Smucker, Allan, Carterette (2007), A comparison of statistical significance tests for information retrieval
    evaluation. CIKM. The interval contains every shift of the differences that the test would not reject, a range of
    means of subsets of the topics: Hartigan (1969), Using subsample values as typical values. JASA 64.
    """
    d = as_topic_table(differences)
    check_resamples(resamples)
    n, systems = d.shape
    listed = n <= _LISTED
    p, low, high = np.empty((3, systems))
    for columns in _slices(d.shape[1], _COLUMNS):
        block = d[:, columns]
        if listed:
            signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)
            sums, flipped = signs @ block, (signs < 0).sum(axis=1)
        else:
            sums, flipped = _random_flips(block, resamples, seed)
        bound = np.abs(block.sum(axis=0)) - NOISE * np.abs(block).sum(axis=0)
        beyond = (np.abs(sums) >= bound).sum(axis=0)
        p[columns] = beyond / len(sums) if listed else (beyond + 1) / (len(sums) + 1)
        if not listed:
            for place in np.flatnonzero(np.count_nonzero(block, axis=0) <= _EXACT):
                p[columns.start + place] = _exact_flips(block[:, place][block[:, place] != 0])
        # Flipping a subset of the shifted differences counts if the subset's mean is beyond the shift; flipping none
        # always counts.
        cut = math.floor(alpha / 2 * (len(sums) + (not listed))) - int((flipped == 0).sum()) * (not listed)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = ((block.sum(axis=0) - sums) / 2 / flipped[:, None])[flipped > 0]
        low[columns], high[columns] = _cut_off(means, cut)
        if not listed and n <= _EXACT:
            for place in np.flatnonzero(((low > 0) | (high < 0))[columns] != (p[columns] <= alpha)) + columns.start:
                low[place], high[place] = _exact_interval(d[:, place], alpha)
    return _result(differences, "mean", d.mean(axis=0), p, low, high)


def _random_flips(block: Floats, resamples: int, seed: int) -> tuple[Floats, Ints]:
    """(resamples x systems) sums after flips, and the number of flipped topics for each."""
    n, random = len(block), np.random.default_rng(seed)
    sums, flipped = np.empty((resamples, block.shape[1])), np.empty(resamples, dtype=np.intp)
    for part in _slices(resamples, _CELLS // n):
        flips = random.integers(0, 2, size=(part.stop - part.start, n), dtype=np.int8)
        flipped[part] = flips.sum(axis=1, dtype=np.intp)
        sums[part] = (1 - 2 * flips.astype(np.float64)) @ block
    return sums, flipped


def _exact_flips(differences: Floats) -> float:
    """The share of all 2^n sign flips whose sum is as far from 0 as without flips."""
    if not len(differences):
        return 1.0
    bound = abs(differences.sum()) - NOISE * np.abs(differences).sum()
    halves = []
    for half in (differences[::2], differences[1::2]):
        sums = np.zeros(1)
        for difference in half:
            sums = np.concatenate([sums + difference, sums - difference])
        halves.append(np.sort(sums))
    if bound <= 0:
        return 1.0
    # Flipping all signs of a flip gives the other tail, so one is enough.
    reached = len(halves[1]) - np.searchsorted(halves[1], bound - halves[0], side="left")
    return float(min(1.0, 2 * reached.sum() / 2.0 ** len(differences)))


def _exact_interval(differences: Floats, alpha: float) -> tuple[float, float]:
    """The ends of the shifts that the exact test does not reject, by bisection: p never falls towards the mean."""

    def end(rejected: float) -> float:
        not_rejected = float(differences.mean())
        while rejected != (middle := (rejected + not_rejected) / 2) != not_rejected:
            rejected, not_rejected = (
                (middle, not_rejected) if _exact_flips(differences - middle) <= alpha else (rejected, middle)
            )
        return rejected

    return end(float(differences.min()) - 1.0), end(float(differences.max()) + 1.0)


@TESTS.add(
    "bootstrap",
    label="Bootstrap test",
    description="Resamples topics with replacement, with differences shifted to mean 0; needs 20 topics or more.",
)
def bootstrap(
    differences: npt.ArrayLike, alpha: float = 0.05, *, resamples: int = 10_000, seed: int = 0
) -> PairedTestResult:
    """The paired bootstrap test on the studentised mean, with the BCa interval of the mean.

    p is (b + 1) / (m + 1) for b of m resamples of the shifted differences whose t is as far from 0.

    Notes
    -----
    Sakai (2006), Evaluating evaluation metrics based on the bootstrap. SIGIR. Efron (1987), Better bootstrap
    confidence intervals. JASA 82.
    """
    from scipy.special import ndtr, ndtri

    d = as_topic_table(differences)
    check_resamples(resamples)
    n, mean, sd = len(d), d.mean(axis=0), standard_deviation(d)
    observed = ratio(mean, sd / math.sqrt(n))
    p, low, high = np.empty((3, d.shape[1]))
    for columns in _slices(d.shape[1], _COLUMNS):
        shifted = d[:, columns] - mean[columns]
        random = np.random.default_rng(seed)
        means, squares = np.empty((2, resamples, shifted.shape[1]))
        for part in _slices(resamples, _CELLS // n):
            weights = random.multinomial(n, np.full(n, 1 / n), size=part.stop - part.start) / n
            means[part], squares[part] = weights @ shifted, weights @ np.square(shifted)
        errors = np.sqrt(np.maximum(squares - np.square(means), 0) / (n - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            # One topic sampled n times has no spread; it counts as far from 0, which is the conservative choice.
            drawn = np.where(errors <= NOISE * sd[columns], np.inf, np.abs(means) / errors)
        p[columns] = (1 + (drawn >= np.abs(observed[columns]) * (1 - NOISE)).sum(axis=0)) / (resamples + 1)
        p[columns] = np.where(mean[columns] == 0, 1.0, np.where(sd[columns] == 0, 0.0, p[columns]))
        for place in range(shifted.shape[1]):
            ends = np.array([alpha / 2, 1 - alpha / 2])
            noise = NOISE * np.abs(shifted[:, place]).max()
            below = ((means[:, place] < -noise).mean() + (means[:, place] <= noise).mean()) / 2
            bias = ndtri(np.clip(below, 1 / resamples, 1 - 1 / resamples))
            cubes, total = np.sum(shifted[:, place] ** 3), np.sum(shifted[:, place] ** 2)
            lean = cubes / (6 * total**1.5) if total > 0 else 0.0
            moved = bias + ndtri(ends)
            ends = ndtr(bias + moved / (1 - lean * moved))
            column = columns.start + place
            low[column], high[column] = mean[column] + np.quantile(means[:, place], ends)
    return _result(differences, "mean", observed, p, low, high)


@TESTS.add(
    "wilcoxon",
    label="Wilcoxon signed-rank test",
    description="Ranks the differences; tests the pseudo-median, not the mean, and loses power with many ties.",
)
def wilcoxon(
    differences: npt.ArrayLike,
    alpha: float = 0.05,
    *,
    zeros: Literal["wilcox", "pratt", "zsplit"] = "wilcox",
    method: Literal["auto", "exact", "approx"] = "auto",
    decimals: int | None = 12,
) -> PairedTestResult:
    """Wilcoxon's signed-rank test; the interval is of the pseudo-median (Hodges and Lehmann 1963).

    Parameters
    ----------
    zeros
        Topics without a difference: left out ("wilcox"), ranked and then left out ("pratt"), ranked and shared
        between both sides ("zsplit").
    method
        "exact" counts all signs of the ranks, ties included. "approx" is the normal approximation, without a
        correction for continuity. "auto" is exact up to 50 topics.
    decimals
        Decimals to which differences are rounded before they are ranked; None: no rounding. Values per topic are often
        fractions of small numbers, and without rounding .8 - .6 and .6 - .4 are not tied, which may make p ten times as
        large.
    """
    d = as_topic_table(differences)
    if zeros not in ("wilcox", "pratt", "zsplit") or method not in ("auto", "exact", "approx"):
        raise InputError(
            "wilcoxon: expected zeros as wilcox, pratt or zsplit and method as auto, exact or approx, "
            f"found {zeros!r} and {method!r}"
        )
    d = d if decimals is None else d.round(decimals) + 0.0
    n = len(d)
    exact = method == "exact" or (method == "auto" and n <= _RANKED)
    results = [_signed_ranks(column, zeros, exact) for column in d.T]
    statistic, p = (np.array(numbers) for numbers in zip(*results, strict=True))
    cut = _wilcoxon_cut(n, alpha)
    ends = np.array([_pair_means(column, cut) for column in d.T])
    return _result(differences, "pseudo-median", statistic, p, ends[:, 0], ends[:, 1])


def _signed_ranks(d: Floats, zeros: str, exact: bool) -> tuple[float, float]:
    """The smaller sum of ranks, and p; also exact with ties and zeros, for which scipy has only approximations."""
    from scipy.stats import rankdata, wilcoxon as approximate

    if zeros == "wilcox":
        d = d[d != 0]
    if not d.any():
        return 0.0, 1.0
    if not exact:
        result = approximate(d, zero_method=zeros, method="approx")
        return float(result.statistic), float(result.pvalue)
    ranks = rankdata(np.abs(d))
    shared = ranks[d == 0].sum() / 2 if zeros == "zsplit" else 0.0
    smaller = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    # Doubled ranks are whole numbers even with ties.
    ways = _sums_of_signs((2 * ranks[d != 0]).round().astype(int).tolist())
    return float(smaller + shared), min(1.0, 2 * float(np.cumsum(ways)[round(2 * smaller)]))


def _sums_of_signs(ranks: list[int]) -> Floats:
    """The probability of each sum of positive ranks, from 0 on, under random signs."""
    chance = np.ones(1)
    for rank in ranks:
        chance = (np.concatenate([chance, np.zeros(rank)]) + np.concatenate([np.zeros(rank), chance])) / 2
    return chance


def _pair_means(d: Floats, cut: int) -> tuple[float, float]:
    """The `cut`th lowest and highest mean of two topics (a topic with itself included); infinite if `cut` is 0."""
    n = len(d)
    if n <= _PAIRED or cut < 1:
        low, high = _cut_off(((d[:, None] + d)[np.triu_indices(n)] / 2)[:, None], cut)
        return float(low[0]), float(high[0])
    ordered = np.sort(d)

    def at(place: int) -> float:
        """The smallest bound of `place` means, by bisection because listing all means would fill the memory."""
        low, high = float(ordered[0]), float(ordered[-1])
        while low < (middle := (low + high) / 2) < high:
            partners = np.searchsorted(ordered, 2 * middle - ordered, side="right").sum()
            within = (partners + np.searchsorted(ordered, middle, side="right")) // 2
            low, high = (low, middle) if within >= place else (middle, high)
        return high

    return at(cut), at(n * (n + 1) // 2 + 1 - cut)


def _wilcoxon_cut(n: int, alpha: float) -> int:
    """The number of the lowest means of pairs below the interval."""
    if n > _RANKED:
        from scipy.special import ndtri

        reach = -ndtri(alpha / 2) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return math.floor(n * (n + 1) / 4 - reach) + 1
    return int(np.searchsorted(np.cumsum(_sums_of_signs(list(range(1, n + 1)))), alpha / 2, side="right"))


def effect_size(differences: npt.ArrayLike) -> Floats:
    """Cohen's d_z, the mean difference in standard deviations; shape ``differences.shape[1:]``.

    >>> round(float(effect_size([0.1, 0.2, 0.3])), 3)
    2.0
    """
    d = as_topic_table(differences)
    return ratio(d.mean(axis=0), standard_deviation(d)).reshape(np.shape(differences)[1:])


def mean_interval(values: npt.ArrayLike, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """The t interval of the mean over topics (axis 0).

    It is wider than the interval of a difference of two systems, because topics are hard or easy for both.
    """
    result = paired_t(values, alpha)
    return result.low, result.high


def _result(differences: npt.ArrayLike, of: Of, *numbers: Floats) -> PairedTestResult:
    statistic, p, low, high = (number.reshape(np.shape(differences)[1:]) for number in numbers)
    return PairedTestResult(statistic, p, low, high, of)


def _cut_off(values: Floats, cut: int) -> tuple[Floats, Floats]:
    """The `cut`th lowest and highest number of each column; infinite if `cut` is 0."""
    if cut < 1:
        return np.full(values.shape[1], -np.inf), np.full(values.shape[1], np.inf)
    places = sorted({cut - 1, len(values) - cut})
    parted = np.partition(values, places, axis=0)
    return parted[cut - 1], parted[len(values) - cut]


def _slices(count: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, count)) for start in range(0, count, max(1, step)))
