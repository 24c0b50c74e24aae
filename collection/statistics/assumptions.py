"""The default test for given differences, and notes on assumptions of a test that the topics do not meet."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Bools, Floats
from collection.core.errors import InputError
from collection.core.phrases import count, percent, plural
from collection.statistics.arrays import as_topic_table, standard_deviation
from collection.statistics.multiple_testing import CORRECTIONS
from collection.statistics.paired_tests import TESTS, paired_t, permutation

DEFAULT_TEST = "auto"
"""Not a test: :func:`choose_test` chooses one."""

ENOUGH_TOPICS = 30
"""Topics from which on the paired t-test is the default; with fewer, nothing shows whether the mean is close to normal.
All sign flips of fewer topics can be counted, so the permutation test is exact."""

FEW_TOPICS = 50
"""With fewer, another set of topics often reverses the order of two systems: Voorhees, Buckley (2002), The effect of
topic set size on retrieval experiment error, SIGIR."""

LEAN = 25
"""A mean of n is close to normal if n is above 25 times the squared skewness: Cochran (1977), Sampling techniques."""

FEW_TO_DRAW = 20
"""With fewer, resamples vary less than topics do, and a bootstrap finds too many differences."""

MANY_ALIKE = 0.25
"""Share of ties or zeros from which a test by ranks gets a note."""

RANKING = ("permutation", "wilcoxon")
"""Tests with only 2^n outcomes, so that p cannot be arbitrarily small."""


def choose_test(differences: npt.ArrayLike) -> str:
    """Choose the test of these differences, (topics,) or (topics, systems): "paired-t" or "permutation".

    On IR data these two have error rates close to alpha: Urbano, Lima, Hanjalic (2019), Statistical significance
    testing in information retrieval: an empirical analysis of type I, type II and type III errors, SIGIR. The t-test is
    more powerful and assumes a mean close to normal; the permutation test does not. It is chosen for fewer than
    :data:`ENOUGH_TOPICS` topics, and if the differences of some system are skewed or the same in every topic.

    >>> choose_test([0.1, 0.2, 0.3, 0.2]), choose_test([0.1, 0.3] * 20), choose_test([0.0] * 39 + [0.9])
    ('permutation', 'paired-t', 'permutation')
    """
    d = as_topic_table(differences)
    unfit = len(d) < ENOUGH_TOPICS or _lopsided(d).any() or _fixed(d).any()
    return "permutation" if unfit else "paired-t"


def smallest_p(differences: npt.ArrayLike, test: str, correction: str = "holm") -> float:
    """The smallest p, after correction, that a test can have with so many topics; 0 if it has no such limit.

    >>> smallest_p([0.1, 0.2, 0.3, 0.0], "permutation"), smallest_p([0.1, 0.2, 0.3, 0.0], "paired-t")
    (0.25, 0.0)
    """
    if test not in RANKING:
        return 0.0
    d = as_topic_table(differences)
    # No correction decreases when a p increases, so its smallest result is for the smallest p.
    return float(CORRECTIONS[correction].function([_smallest(d)] * d.shape[1]).min())


def check_suitability(
    differences: npt.ArrayLike, test: str, *, alpha: float = 0.05, correction: str = "holm"
) -> list[str]:
    """Write notes on a test of these differences, (topics,) or (topics, systems); names as in the registries.

    >>> check_suitability([0.1, 0.2, 0.3, 0.2], "permutation")[-1]
    'with 4 topics the smallest possible p of this test is 0.125, so nothing can be significant at 0.05'
    """
    if test not in TESTS or correction not in CORRECTIONS:
        raise InputError(f"unknown test {test!r} or correction {correction!r}; see TESTS and CORRECTIONS")
    d = as_topic_table(differences)
    n, systems = d.shape
    opinion = _second_opinion(d, alpha, correction) if test == "paired-t" and choose_test(d) != test else ""
    doubts = []
    if n < FEW_TOPICS:
        doubts.append(
            f"with only {count(n, 'topic')} (fewer than {FEW_TOPICS}), only large differences are detectable, and "
            "significant ones tend to be overestimated"
        )
    lopsided = int(_lopsided(d).sum())
    of = "the differences are" if systems == 1 else f"in {lopsided:,} of {systems:,} comparisons, the differences are"
    if test == "paired-t" and lopsided:
        doubts.append(f"{of} too skewed for the paired t-test with {count(n, 'topic')}; {opinion}")
    elif test == "paired-t" and n < ENOUGH_TOPICS:
        doubts.append(f"the paired t-test needs about {ENOUGH_TOPICS} topics to rely on, and there are {n}; {opinion}")
    fixed = int(_fixed(d).sum())
    if fixed and test in ("paired-t", "bootstrap"):
        doubts.append(
            f"{fixed:,} of {count(systems, 'comparison')} {plural(fixed, 'has', 'have')} the same difference in every "
            f"topic, which this test treats as certain; {opinion or 'check whether the permutation test agrees'}"
        )
    if lopsided and test == "wilcoxon":
        doubts.append(f"{of} skewed, so the Wilcoxon test, which assumes symmetry, may contradict the means")
    if test == "wilcoxon" and (alike := max(map(_alike, d.T))) >= MANY_ALIKE:
        doubts.append(
            f"up to {percent(alike)} of the topics have no difference or the same one as another topic, which the "
            "Wilcoxon test cannot rank"
        )
    if test == "bootstrap" and n < FEW_TO_DRAW:
        doubts.append(f"{n} topics are too few for the bootstrap, which finds too many significant differences")
    if test in RANKING:
        differ, least, corrected = _differing(d), _smallest(d), smallest_p(d, test, correction)
        if corrected > alpha:
            level = f"{alpha:g} with {systems:,} comparisons" if corrected > least else f"{alpha:g}"
            topics = f"{count(differ, 'topic')}{' with a difference' if differ < n else ''}"
            doubts.append(
                f"with {topics} the smallest possible p of this test is {least:.3g}, so nothing can be significant at "
                f"{level}"
            )
    return doubts


def _lopsided(d: Floats) -> Bools:
    """(systems,): whether the differences are too skewed for a mean close to normal."""
    return np.asarray(len(d) < LEAN * np.square(_skewness(d)))


def _fixed(d: Floats) -> Bools:
    """(systems,): whether the difference is the same in every topic, and not 0."""
    return np.asarray((standard_deviation(d) == 0) & (d.mean(axis=0) != 0))


def _differing(d: Floats) -> int:
    """The most topics with a difference, over all systems."""
    return int(np.count_nonzero(d, axis=0).max())


def _smallest(d: Floats) -> float:
    """The p of a test with 2^n outcomes if every difference has the same sign."""
    return 2.0 ** (1 - _differing(d)) if _differing(d) else 1.0


def _skewness(d: Floats) -> Floats:
    """(systems,): the third moment in standard deviations; 0 if nothing varies."""
    sd = standard_deviation(d)
    centred = d - d.mean(axis=0)
    return np.mean(centred**3, axis=0) / np.where(sd > 0, sd, 1) ** 3 * (sd > 0)


def _alike(column: Floats) -> float:
    """The share of topics whose difference is 0 or as large as another's."""
    _, times = np.unique(np.abs(column[column != 0]).round(12), return_counts=True)
    return float(((column == 0).sum() + times[times > 1].sum()) / len(column))


def _second_opinion(d: Floats, alpha: float, correction: str) -> str:
    """Say on how many of these comparisons the permutation test decides differently from the paired t-test."""
    correct = CORRECTIONS[correction].function
    significant, other = (correct(result.p) <= alpha for result in (paired_t(d), permutation(d)))
    if changed := int((significant != other).sum()):
        some = "" if d.shape[1] == 1 else f"{changed:,} of {d.shape[1]:,} comparisons "
        return f"the permutation test decides {some}differently"
    return "the permutation test makes the same decisions"
