"""Tests, corrections, power: published values, other tools' values, properties, error rates under nulls."""

import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from collection import statistics
from collection.core.errors import InputError, UnknownNameError
from collection.statistics import (
    CORRECTIONS,
    TESTS,
    bootstrap,
    check_suitability,
    compute_detectable,
    compute_power,
    compute_topics_needed,
    effect_size,
    mean_interval,
    paired_t,
    permutation,
    randomised_tukey,
    wilcoxon,
)
from tests.helpers import GOLDEN, SHARED, tries

ACCEPTANCE = SHARED / "vectors" / "11_significance"
EXACT = 1e-10
DRAWN = 40_000


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    """Ties, zeros and few topics are usual: nothing may warn of them but the notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# The acceptance values ------------------------------------------------------------------------------


def as_scipy(zeros: str) -> Callable[[Any], statistics.PairedTestResult]:
    return lambda d: wilcoxon(d, zeros=zeros, method="approx", decimals=None)


OF_DIFFERENCES: dict[str, Callable[[Any], Any]] = {
    "mean_diff": np.mean,
    "paired_t_statistic": lambda d: paired_t(d).statistic,
    "paired_t_p": lambda d: paired_t(d).p,
    "paired_t_ci95_low": lambda d: paired_t(d).low,
    "paired_t_ci95_high": lambda d: paired_t(d).high,
    "cohen_dz": effect_size,
    "permutation_exact_p": lambda d: permutation(d).p,
    "permutation_mc_p": lambda d: permutation(d, resamples=DRAWN).p,
    **{f"wilcoxon_p_{z}_approx": lambda d, z=z: as_scipy(z)(d).p for z in ("wilcox", "pratt", "zsplit")},
    **{f"wilcoxon_stat_{z}": lambda d, z=z: as_scipy(z)(d).statistic for z in ("wilcox", "pratt", "zsplit")},
}
ADJUSTED = {
    "bonferroni": "bonferroni",
    "holm": "holm",
    "fdr_bh": "benjamini-hochberg",
}
NOT_OFFERED = (
    "unpaired_tukey_hsd_p_DO_NOT_USE", "anova2_tukey_hsd_p", "friedman_chi2", "friedman_p", "sign_test_p",
    "paired_t_p_hommel", "paired_t_p_holm-sidak",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "values", "dataset", "count"),
    [
        (GOLDEN / "official", "significance.tsv", "scores", 51),
        *(
            pytest.param(ACCEPTANCE, "expected.tsv", dataset, count, marks=pytest.mark.shared)
            for dataset, count in (("small12.scores", 51), ("ties20.scores", 16), ("topics50.scores", 170))
        ),
    ],
)
def test_every_acceptance_value(folder: Path, values: str, dataset: str, count: int) -> None:
    """To the digits given; what both sides drew at random within the error of the two draws."""
    expected = pd.read_csv(folder / values, sep="\t")
    expected = expected[expected["dataset"] == dataset.removesuffix(".scores")]
    scores = pd.read_csv(folder / f"{dataset}.tsv", sep="\t", index_col="topic")
    differences = {f"{b}-{a}": scores[b] - scores[a] for a, b in itertools.combinations(scores, 2)}
    ours: dict[tuple[str, str], float] = {}
    for pair, d in differences.items():
        ours |= {(test, pair): float(function(d.to_numpy())) for test, function in OF_DIFFERENCES.items()}
    p = [ours["paired_t_p", pair] for pair in differences]
    for theirs, name in ADJUSTED.items():
        for pair, value in zip(differences, CORRECTIONS[name].function(p), strict=True):
            ours[f"paired_t_p_{theirs}", pair] = value
    if len(scores.columns) > 2:
        p_of_pairs = randomised_tukey(scores, resamples=DRAWN).p
        ours |= {("randomised_tukey_hsd_p", pair): p for pair, p in zip(differences, p_of_pairs, strict=True)}
    compared = 0
    for test, pair, value in expected[["test", "pair", "value"]].itertuples(index=False):
        if test in NOT_OFFERED:
            continue
        error = 0.0
        if test in ("permutation_mc_p", "randomised_tukey_hsd_p"):
            theirs_drawn = 200_000 if "permutation" in test else 100_000
            error = 4 * math.sqrt(value * (1 - value) * (1 / DRAWN + 1 / theirs_drawn)) + 2 / DRAWN
        known = ours.get((test, pair), ours.get((test, "all"), math.nan))
        assert known == pytest.approx(value, rel=1e-9, abs=max(error, EXACT)), (test, pair)
        compared += 1
    assert compared == count


# The tests ------------------------------------------------------------------------------------------

DIFFERENCES = st.lists(st.integers(-8, 8).map(lambda n: n / 8), min_size=2, max_size=9).map(np.array)


def all_flips(d: np.ndarray) -> np.ndarray:
    return np.array([np.dot(signs, d) for signs in itertools.product((1, -1), repeat=len(d))])


@given(DIFFERENCES)
@tries(60)
def test_permutation_counts_every_flip(d: np.ndarray) -> None:
    flips = all_flips(d)
    assert float(permutation(d).p) == np.mean(np.abs(flips) >= abs(d.sum()) - 1e-9)


@given(st.lists(st.integers(-20, 20), min_size=17, max_size=21).map(np.array))
@tries(15)
def test_permutation_by_halves_is_exact_too(d: np.ndarray) -> None:
    """Beyond what is listed flip by flip: the same number from the distribution of the sum, integer by integer."""
    ways = {0: 1}
    for step in d.tolist():
        ways = {
            total: ways.get(total - step, 0) + ways.get(total + step, 0)
            for total in {*(t + step for t in ways), *(t - step for t in ways)}
        }
    expected = sum(n for total, n in ways.items() if abs(total) >= abs(d.sum())) / 2 ** len(d)
    assert float(permutation(d / 7, resamples=10).p) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_permutation_by_chance_agrees_with_scipy() -> None:
    d = np.random.default_rng(5).normal(0.3, 1, 40)
    exact = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=20_000, rng=np.random.default_rng(1)
    ).pvalue
    ours = permutation(d)
    assert float(ours.p) == pytest.approx(exact, abs=5 * math.sqrt(exact / 20_000))
    # The interval is the test turned round: at its ends the shifted differences are just not rejected.
    low, high = float(ours.low), float(ours.high)
    for end, inside in ((low, 0.002), (high, -0.002)):
        assert float(permutation(d - end - inside).p) >= 0.05 > float(permutation(d - end + 10 * inside).p)


@pytest.mark.parametrize("name", ["paired-t", "permutation", "wilcoxon"])
@given(d=st.lists(st.integers(-(10**6), 10**6), min_size=6, max_size=14, unique_by=abs).map(np.array))
@tries(40)
def test_an_interval_says_what_its_p_says(name: str, d: np.ndarray) -> None:
    d = d[d != 0] / 1e6
    alpha = 0.0837  # no p of so few topics is exactly this
    tested = TESTS[name].function(d, alpha)
    assert (float(tested.p) <= alpha) == (not tested.low <= 0 <= tested.high)
    assert tested.low <= tested.high


@pytest.mark.slow
@pytest.mark.parametrize("n", [17, 24, 29])
def test_the_permutation_interval_says_what_its_exact_p_says(n: int) -> None:
    d = np.random.default_rng(1).normal(0.2 * 17 / n, 0.4, (n, 60))
    tested = permutation(d)
    assert ((tested.p <= 0.05) == ((tested.low > 0) | (tested.high < 0))).all()
    assert (np.abs(tested.p - 0.05) < 0.02).any()


def test_an_exact_interval_is_the_test_turned_round() -> None:
    for d in np.random.default_rng(2).normal(0.1, 1, (20, 9)):
        tested = permutation(d)
        for end, inside in (
            (tested.low, 1e-9),
            (tested.high, -1e-9),
        ):  # every flip of the shifted differences is listed
            flips = np.array(list(itertools.product((1, -1), repeat=9)))
            p = [
                np.mean(np.abs(flips @ (d - shift)) >= abs((d - shift).sum()) - 1e-12)
                for shift in (end - inside, end + inside)
            ]
            assert p[0] <= 0.05 < p[1]


@pytest.mark.parametrize("name", [entry.name for entry in TESTS])
@given(d=DIFFERENCES)
@tries(25)
def test_what_holds_for_every_test(name: str, d: np.ndarray) -> None:
    test = TESTS[name].function
    drawn = {"resamples": 500} if "resamples" in TESTS[name].parameters else {}
    one, turned, larger = test(d, **drawn), test(-d, **drawn), test(d * 3, **drawn)
    assert 0 <= float(one.p) <= 1
    assert float(turned.p) == pytest.approx(float(one.p), abs=1e-9)  # whichever system is called the first
    assert float(larger.p) == pytest.approx(float(one.p), abs=1e-9)  # in whichever unit
    assert one.low <= one.high
    both = test(np.column_stack([d, -d]), **drawn)  # several systems at once are the same as one after the other
    assert both.p.shape == both.low.shape == (2,)
    assert both.p[0] == pytest.approx(float(one.p), abs=1e-9)
    assert both.low[0] == pytest.approx(float(one.low), abs=1e-9)


@pytest.mark.parametrize("name", [entry.name for entry in TESTS])
def test_no_difference_at_all(name: str) -> None:
    tested = TESTS[name].function(np.zeros((8, 2)))
    assert tested.p.tolist() == [1, 1]
    assert tested.low.tolist() == tested.high.tolist() == [0, 0]
    assert effect_size(np.zeros(8)) == 0


def test_the_same_difference_everywhere() -> None:
    d = np.array([0.3 - 0.2, 0.2 - 0.1, 0.1, 0.4 - 0.3, 0.9 - 0.8, 0.6 - 0.5])  # .1, as computers have it
    assert float(paired_t(d).p) == 0
    assert float(effect_size(d)) == math.inf
    assert float(permutation(d).p) == 2 / 2**6
    assert float(bootstrap(d).p) == 0


def test_too_few_topics_have_no_bounds() -> None:
    for name in ("permutation", "wilcoxon"):
        tested = TESTS[name].function([0.1, 0.2, 0.3, 0.25])
        assert (float(tested.low), float(tested.high), float(tested.p)) == (-math.inf, math.inf, 0.125)


@given(st.lists(st.integers(-6, 6), min_size=3, max_size=25).filter(any).map(np.array))
@tries(50)
@pytest.mark.slow
def test_wilcoxon_ranks_fractions_as_it_ranks_the_whole_numbers(d: np.ndarray) -> None:
    """Ties in truth are ties: tenths that were subtracted from each other have the p of the integers."""
    base = np.arange(len(d)) % 10 / 10
    fractions = (base + d / 10) - base
    for zeros in ("wilcox", "pratt", "zsplit"):
        expected = stats.wilcoxon(d, zero_method=zeros, method="asymptotic", correction=False)
        ours = wilcoxon(fractions, zeros=zeros, method="approx")
        assert (float(ours.statistic), float(ours.p)) == pytest.approx(tuple(expected), abs=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=8).map(np.array), st.sampled_from(["wilcox", "pratt"]))
@tries(50)
def test_exact_wilcoxon_counts_every_sign_of_the_ranks_there_are(d: np.ndarray, zeros: str) -> None:
    kept = d[d != 0] if zeros == "wilcox" else d
    ranks = stats.rankdata(np.abs(kept))[kept != 0] if len(kept) else np.zeros(0)
    flips = all_flips(ranks)
    seen = np.dot(ranks, np.sign(kept[kept != 0]))
    assert float(wilcoxon(d, zeros=zeros).p) == np.mean(np.abs(flips) >= abs(seen) - 1e-9)


def test_wilcoxon_without_ties_is_scipys() -> None:
    d = np.random.default_rng(2).normal(0.2, 1, (50, 20))
    assert np.allclose(wilcoxon(d).p, stats.wilcoxon(d, method="exact").pvalue, atol=1e-12)


def test_wilcoxon_is_exact_where_it_can_be() -> None:
    """Wilcoxon's table: with 8 pairs and a rank sum of 3, two-sided p is 10 / 256."""
    d = np.array([-1, -2, 3, 4, 5, 6, 7, 8.0])
    assert float(wilcoxon(d).p) == 10 / 256
    assert float(wilcoxon(d).statistic) == 3
    # Hodges and Lehmann's interval: the Walsh averages, the fourth from each end (3 or less has 5/256 on a side).
    walsh = sorted((a + b) / 2 for a, b in itertools.combinations_with_replacement(d, 2))
    assert (float(wilcoxon(d).low), float(wilcoxon(d).high)) == (walsh[3], walsh[-4])


def test_the_interval_of_wilcoxon_is_the_same_without_listing_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    d = np.random.default_rng(4).normal(0.1, 1, (60, 4)).round(2)
    listed = wilcoxon(d)
    monkeypatch.setattr("collection.statistics.paired_tests._PAIRED", 10)
    halved = wilcoxon(d)
    assert np.allclose(halved.low, listed.low, atol=1e-12)
    assert np.allclose(halved.high, listed.high, atol=1e-12)


@pytest.mark.slow
def test_the_bootstrap_agrees_with_scipys() -> None:
    d = np.random.default_rng(3).exponential(1, 60) - 0.7
    expected = stats.bootstrap((d,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0))
    ours = bootstrap(d, resamples=20_000)
    assert (float(ours.low), float(ours.high)) == pytest.approx(tuple(expected.confidence_interval), abs=0.02)
    assert float(bootstrap(d).p) == pytest.approx(float(permutation(d).p), abs=0.02)


def test_the_same_seed_has_the_same_p() -> None:
    d = np.random.default_rng(0).normal(0.2, 1, (45, 3))
    for test in (permutation, bootstrap):
        again = [test(d, seed=seed, resamples=2000) for seed in (7, 7, 8)]
        assert np.array_equal(again[0].p, again[1].p)
        assert np.array_equal(again[0].low, again[1].low)
        assert not np.array_equal(again[0].p, again[2].p)
    first, same, other = (randomised_tukey(d, seed=seed, resamples=500).p for seed in (7, 7, 8))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


# Error rates ----------------------------------------------------------------------------------------


def lopsided_topics(trials: int, topics: int, systems: int, seed: int) -> np.ndarray:
    """(trials, topics, systems) of values as measures have them: hard and easy topics, lopsided, systems alike."""
    random = np.random.default_rng(seed)
    hardness = random.beta(1, 2, (trials, topics, 1))
    return np.clip(hardness + random.gamma(0.5, 0.2, (trials, topics, systems)), 0, 1)


def within(rejected: int, trials: int, rate: float = 0.05) -> bool:
    """Whether so many of the trials is what the rate allows: a chance of one in ten thousand to be wrong on a side."""
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], trials, rate)
    return bool(low <= rejected <= high)


@pytest.mark.parametrize(("topics", "resamples"), [(14, 1), (25, 1), (43, 999)])
@pytest.mark.slow
@pytest.mark.long
def test_permutation_errs_as_often_as_it_says(topics: int, resamples: int) -> None:
    """Listed, by halves, and drawn at random: 5% of 1,000 nulls."""
    values = lopsided_topics(1000, topics, 2, seed=topics)
    tested = permutation((values[:, :, 0] - values[:, :, 1]).T, resamples=resamples)
    assert within(int((tested.p <= 0.05).sum()), 1000)


@pytest.mark.parametrize("name", ["paired-t", "wilcoxon", "bootstrap"])
@pytest.mark.slow
def test_the_other_tests_err_about_as_often(name: str) -> None:
    values = lopsided_topics(1000, 40, 2, seed=2)
    drawn = {"resamples": 999} if name == "bootstrap" else {}
    tested = TESTS[name].function((values[:, :, 0] - values[:, :, 1]).T, **drawn)
    assert within(int((tested.p <= 0.05).sum()), 1000)


@pytest.mark.slow
def test_randomised_tukey_holds_its_rate_for_all_pairs_together() -> None:
    """One false difference or more among the ten pairs of five equal systems: in 5% of 400 nulls."""
    found = [randomised_tukey(values, resamples=399, seed=n) for n, values in enumerate(lopsided_topics(400, 20, 5, 4))]
    assert within(sum(bool((pairs.p <= 0.05).any()) for pairs in found), 400)
    assert within(sum(bool(((pairs.low > 0) | (pairs.high < 0)).any()) for pairs in found), 400)
    uncorrected = [paired_t(v[:, [a]] - v[:, [b]]).p[0] for v in lopsided_topics(400, 20, 5, 4) for a, b in [(0, 1)]]
    assert within(sum(p <= 0.05 for p in uncorrected), 400)


def test_randomised_tukey_of_two_systems_is_the_permutation_test() -> None:
    values = np.random.default_rng(6).normal((0.6, 0), 1, (12, 2))
    exact = float(permutation(values[:, 0] - values[:, 1]).p)
    assert randomised_tukey(values, resamples=40_000).p[0] == pytest.approx(exact, abs=5 * math.sqrt(exact / 40_000))


@given(st.integers(2, 5), st.integers(2, 7), st.integers(0, 1000))
@tries(25)
def test_tukey_bounds_and_p_agree(systems: int, topics: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (topics, systems)) / 4
    pairs = randomised_tukey(values, resamples=199)
    assert ((pairs.p <= 0.05) <= ((pairs.low > 0) | (pairs.high < 0))).all()
    assert (((pairs.low > 1e-9) | (pairs.high < -1e-9)) <= (pairs.p <= 0.05)).all()
    assert pairs.difference.tolist() == pytest.approx([values[:, a].mean() - values[:, b].mean() for a, b in zip(
        pairs.a, pairs.b, strict=True)])  # fmt: skip


# Corrections ----------------------------------------------------------------------------------------

MANY_P = st.lists(st.floats(0, 1), min_size=1, max_size=7)


@given(MANY_P)
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    expected = stats.false_discovery_control(p)
    assert CORRECTIONS["benjamini-hochberg"].function(p) == pytest.approx(expected, abs=1e-12)


def closed(p: list[float], of_set: Callable[[np.ndarray], float]) -> list[float]:
    """A closed test: the largest p over all sets of comparisons that hold this one."""
    sets = [s for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size)]
    by_set = {s: min(1.0, of_set(np.sort([p[i] for i in s]))) for s in sets}
    return [max(value for s, value in by_set.items() if n in s) for n in range(len(p))]


@given(MANY_P)
@pytest.mark.slow
def test_holm_is_a_closed_test(p: list[float]) -> None:
    """Holm closes Bonferroni's test: every set of comparisons is gone through."""
    bonferroni = closed(p, lambda q: float(q[0]) * len(q))
    assert CORRECTIONS["holm"].function(p).tolist() == pytest.approx(bonferroni, abs=1e-12)


@pytest.mark.parametrize("name", [entry.name for entry in CORRECTIONS])
@given(p=MANY_P)
@pytest.mark.slow
def test_what_holds_for_every_correction(name: str, p: list[float]) -> None:
    correct = CORRECTIONS[name].function
    adjusted = correct(p)
    assert (adjusted >= np.array(p) - 1e-12).all()
    assert (adjusted <= 1).all()
    assert correct(p[::-1]).tolist() == pytest.approx(adjusted[::-1].tolist())  # order does not matter
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= -1e-12).all()  # nor is it changed
    assert correct(p[:1])[0] == pytest.approx(p[0])  # one comparison needs none
    strongest = [correct(p).tolist() for correct in (c.function for c in CORRECTIONS) if correct is not None]
    assert all((np.array(s) <= CORRECTIONS["bonferroni"].function(p) + 1e-12).all() for s in strongest)


# Power, intervals, notes ----------------------------------------------------------------------------


@pytest.mark.parametrize(("effect", "topics"), [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15)])
def test_topics_needed_are_the_published_ones(effect: float, topics: int) -> None:
    """Faul et al. (2007), G*Power 3: matched pairs, two-sided .05, power .8."""
    assert compute_topics_needed(effect, 1) == topics
    assert compute_topics_needed(-effect * 0.1, 0.1) == topics
    assert compute_power(effect, 1, topics) >= 0.8 > compute_power(effect, 1, topics - 1)


def test_power_is_how_often_the_test_finds_it() -> None:
    d = np.random.default_rng(9).normal(0.4, 1, (30, 4000))
    found = float((paired_t(d).p <= 0.05).mean())
    assert compute_power(0.4, 1, 30) == pytest.approx(found, abs=4 * math.sqrt(0.25 / 4000))
    assert compute_power(0, 1, 30) == pytest.approx(0.05, abs=1e-6)
    assert compute_power(50, 0.001, 30) == pytest.approx(1)


@given(st.floats(0, 3), st.integers(2, 2000), st.floats(0.001, 0.2))
@pytest.mark.slow
def test_power_is_the_noncentral_ts(effect: float, topics: int, alpha: float) -> None:
    critical = stats.t.ppf(1 - alpha / 2, topics - 1)
    far = stats.nct(topics - 1, effect * math.sqrt(topics))
    expected = far.sf(critical) + far.cdf(-critical)
    assume(math.isfinite(expected))  # scipy has none where the power is nearly 1
    assert compute_power(effect, 1, topics, alpha=alpha) == pytest.approx(expected, abs=1e-5)


@given(st.floats(0.01, 10), st.integers(2, 500), st.floats(0.2, 0.99), st.floats(0.001, 0.1))
@pytest.mark.slow
def test_what_is_detectable_has_that_power(spread: float, topics: int, power: float, alpha: float) -> None:
    assert compute_power(
        compute_detectable(spread, topics, power=power, alpha=alpha), spread, topics, alpha=alpha
    ) == pytest.approx(power, abs=1e-5)


def test_the_interval_of_a_mean_is_scipys() -> None:
    values = np.random.default_rng(0).beta(2, 3, (30, 4))
    expected = stats.t.interval(0.9, 29, values.mean(axis=0), stats.sem(values))
    assert np.allclose(mean_interval(values, 0.1), expected)


def test_skewed_differences_get_the_opinion_of_the_permutation_test() -> None:
    random = np.random.default_rng(0)
    d = random.exponential(1, (11, 7)) - 0.4
    p = [stats.permutation_test((c,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue for c in d.T]
    for alpha in (0.05, 0.1):
        of_t = CORRECTIONS["holm"].function(stats.ttest_1samp(d, 0).pvalue) <= alpha
        changed = int((of_t != (CORRECTIONS["holm"].function(p) <= alpha)).sum())
        opinion = f"decides {changed} of 7 comparisons differently" if changed else "makes the same decisions"
        assert check_suitability(d, "paired-t", alpha=alpha)[-1].endswith(f"; the permutation test {opinion}")
    skewed = np.r_[[0.5] * 9, 4.0, 6.0]
    assert (check_suitability(skewed, "paired-t", alpha=0.01)[-1]).endswith("the permutation test decides differently")


@pytest.mark.slow
def test_doubts_name_what_does_not_suit() -> None:
    random = np.random.default_rng(0)
    enough = random.normal(0.1, 1, (60, 3))
    assert [check_suitability(enough, entry.name) for entry in TESTS] == [[]] * 4
    few = check_suitability(enough[:49], "paired-t")
    assert len(few) == 1
    assert few[0].startswith("with only 49 topics (fewer than 50), only large differences are detectable")
    outlier = enough.copy()
    outlier[0, 1] = 60
    (skewed,) = check_suitability(outlier, "paired-t")
    assert skewed.startswith(
        "in 1 of 3 comparisons, the differences are too skewed for the paired t-test with 60 topics"
    )
    assert check_suitability(outlier, "permutation") == []
    assert "assumes symmetry" in check_suitability(outlier, "wilcoxon")[0]
    tied = enough.copy()
    tied[:20] = 0
    assert (
        "up to 33% of the topics have no difference or the same one as another"
        in check_suitability(tied, "wilcoxon")[0]
    )
    assert "too few for the bootstrap" in check_suitability(enough[:19], "bootstrap")[1]
    assert (
        "the smallest possible p of this test is 0.00781, so nothing can be significant at 0.05 with 20 comparisons"
        in (check_suitability(random.normal(0, 1, (8, 20)), "permutation")[-1])
    )
    assert len(check_suitability(random.normal(0, 1, (8, 20)), "permutation", correction="none")) == 1
    assert "with 3 comparisons" in check_suitability(np.ones((6, 3)) * np.arange(1, 7)[:, None], "permutation")[-1]
    same = np.column_stack([np.full(60, 0.5), enough[:, 0], np.zeros(60)])
    for test in ("paired-t", "bootstrap"):
        assert check_suitability(same, test)[0].startswith("1 of 3 comparisons has the same difference in every topic")
    seven = np.r_[np.arange(1.0, 8), 0]
    assert "with 7 topics with a difference" in check_suitability(seven, "wilcoxon", alpha=0.001)[-1]


# Bad input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paired_t([0.1]), "at least 2 topics, found 1"),
        (lambda: wilcoxon([0.1, math.nan]), "finite numbers, found nan or infinity"),
        (lambda: permutation(np.zeros((2, 2, 2))), "found shape (2, 2, 2)"),
        (lambda: permutation([1, 2], resamples=0), "resamples: expected 1 or more, found 0"),
        (lambda: randomised_tukey([[1], [2]]), "with 2 or more systems, found shape (2, 1)"),
        (lambda: randomised_tukey([[1, 2], [2, 1]], resamples=0), "resamples: expected 1 or more"),
        (lambda: wilcoxon([1, 2], zeros="drop"), "zeros as wilcox, pratt or zsplit"),
        (lambda: statistics.holm([0.5, 1.5]), "numbers from 0 to 1"),
        (lambda: compute_power(1, 0, 10), "a standard deviation above 0, found 0"),
        (lambda: compute_power(1, 1, 1), "at least 2 topics, found 1"),
        (lambda: compute_power(1, 1, 10, alpha=1), "alpha: expected a probability between 0 and 1, found 1"),
        (lambda: compute_topics_needed(0, 1), "difference: expected a number other than 0"),
        (lambda: compute_topics_needed(1e-9, 1), "takes more than 10,000,000 topics"),
        (lambda: check_suitability([1, 2], "anova"), "unknown test 'anova'"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        call()


def test_tables_describe_themselves() -> None:
    for table in (TESTS, CORRECTIONS):
        for entry in table:
            assert entry.description.endswith(".")
            assert entry.function.__doc__, entry.name
        with pytest.raises(UnknownNameError):
            table["t"]
    assert (statistics.DEFAULT_TEST, statistics.DEFAULT_CORRECTION) == ("auto", "holm")


def test_nothing_is_needed_to_detect_a_difference_where_nothing_varies() -> None:
    assert compute_detectable(0, 50) == 0
    assert compute_detectable(0.2, 50, power=0.05, alpha=0.05) == 0  # as often as without any difference
    assert compute_detectable(0.2, 50, power=0.06, alpha=0.05) > 0
