"""Notes on where a test does not suit the topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collection.errors import InputError
from collection.statistics.arrays import Floats, as_topic_table, standard_deviation
from collection.statistics.multiple_testing import CORRECTIONS
from collection.statistics.paired_tests import TESTS

FEW_TOPICS = 50
"""With fewer, another set of topics often reverses two systems: Voorhees, Buckley (2002), The effect of topic set size
on retrieval experiment error, SIGIR."""

LEAN = 25
"""A mean of n is near to normal where n is above 25 times the squared skewness: Cochran (1977), Sampling techniques."""

FEW_TO_DRAW = 20
"""With fewer, resamples vary less than topics do, and a bootstrap finds too much."""

MANY_ALIKE = 0.25
"""The share of ties or zeros from which on a test by ranks or signs gets a note."""

RANKING = ("permutation", "wilcoxon", "sign")
"""Tests with 2^n outcomes only, so that p cannot be arbitrarily small."""


def check_suitability(
    differences: npt.ArrayLike, test: str, *, alpha: float = 0.05, correction: str = "holm"
) -> list[str]:
    """Write notes on a test of these differences, (topics,) or (topics, systems), with names of the tables.

    Examples
    --------
    >>> check_suitability([0.1, 0.2, 0.3, 0.2], "permutation")[-1]
    'with 4 topics no p of this test is below 0.125, so nothing can be significant at 0.05'
    """
    if test not in TESTS or correction not in CORRECTIONS:
        raise InputError(f"there is no test {test!r} with the correction {correction!r}")
    d = as_topic_table(differences)
    n, systems = d.shape
    found = []
    if n < FEW_TOPICS:
        found.append(
            f"{n} topics are fewer than {FEW_TOPICS}: only large differences can be seen, and those that are seen are "
            "likely to be smaller in truth"
        )
    lopsided = int((n < LEAN * np.square(_skewness(d))).sum())
    of = "the differences are" if systems == 1 else f"the differences of {lopsided:,} of {systems:,} comparisons are"
    if lopsided and test == "paired-t":
        found.append(
            f"{of} lopsided for a mean of {n} topics, which the paired t test takes as normal; see whether the "
            "permutation test says the same"
        )
    fixed = int(((standard_deviation(d) == 0) & (d.mean(axis=0) != 0)).sum())
    if fixed and test in ("paired-t", "bootstrap"):
        found.append(
            f"{fixed:,} of {systems:,} comparisons have the same difference in every topic, which this test takes for "
            "certain; see whether the permutation test says the same"
        )
    if lopsided and test == "wilcoxon":
        found.append(f"{of} lopsided, so the Wilcoxon test, which supposes symmetry, may contradict the means")
    if test in ("wilcoxon", "sign"):
        alike = max(map(_alike, d.T))
        if alike >= MANY_ALIKE and test == "wilcoxon":
            found.append(
                f"up to {alike:.0%} of the topics have no difference or one that is equal to another's, which the "
                "Wilcoxon test cannot rank"
            )
        none = float((d == 0).mean(axis=0).max())
        if none >= MANY_ALIKE and test == "sign":
            found.append(f"up to {none:.0%} of the topics have no difference, and the sign test leaves them out")
    if test == "bootstrap" and n < FEW_TO_DRAW:
        found.append(f"{n} topics are too few to draw from: the bootstrap calls too much significant")
    if test in RANKING:
        differ = int(np.count_nonzero(d, axis=0).max())
        least = 2.0 ** (1 - differ) if differ else 1.0
        # A correction never falls when a p rises, so its least result is for all p at their least.
        corrected = float(CORRECTIONS[correction].function([least] * systems).min())
        if corrected > alpha:
            level = f"{alpha:g} with {systems:,} comparisons" if corrected > least else f"{alpha:g}"
            found.append(
                f"with {differ} topics{' that differ' if differ < n else ''} no p of this test is below {least:.3g}, "
                f"so nothing can be significant at {level}"
            )
    return found


def _skewness(d: Floats) -> Floats:
    """(systems,): the third moment in standard deviations; 0 where nothing varies."""
    sd = standard_deviation(d)
    centred = d - d.mean(axis=0)
    return np.mean(centred**3, axis=0) / np.where(sd > 0, sd, 1) ** 3 * (sd > 0)


def _alike(column: Floats) -> float:
    """The share of topics whose difference is 0 or as large as another's."""
    _, times = np.unique(np.abs(column[column != 0]).round(12), return_counts=True)
    return float(((column == 0).sum() + times[times > 1].sum()) / len(column))
