"""Correlation of rankings: the published values of ircor and of Corsi and Urbano, and what ties mean by definition."""

import itertools
import math
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from collection.core.errors import InputError
from collection.statistics.rank_correlation import kendall, rbo, spearman, tau_ap
from tests.helpers import tries

SCORES = st.lists(st.integers(0, 4), min_size=2, max_size=6)
PAIRS = st.integers(2, 6).flatmap(lambda n: st.tuples(*(st.lists(st.integers(0, 4), min_size=n, max_size=n),) * 2))


X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
X_TIED, Y_TIED = ([round(score * 5) / 5 for score in scores] for scores in (X, Y))


@pytest.mark.parametrize(
    ("function", "x", "y", "published"),
    [
        (partial(kendall, variant="a"), X, Y, 0.7777778),
        (partial(tau_ap, ties="none"), X, Y, 0.7491182),
        (partial(kendall, variant="a"), X, Y_TIED, 0.7111111),
        (partial(tau_ap, ties="a"), X, Y_TIED, 0.6074515),
        (kendall, X_TIED, Y_TIED, 0.75),
        (partial(tau_ap, ties="b"), X_TIED, Y_TIED, 0.6269841),
    ],
)
def test_values_that_ircor_publishes(
    function: Callable[[pd.Series, pd.Series], float], x: list[float], y: list[float], published: float
) -> None:
    """The example of github.com/julian-urbano/ircor (Urbano and Marrero 2017)."""
    assert function(pd.Series(x), pd.Series(y)) == pytest.approx(published, abs=5e-8)


def ranking(text: str) -> dict[str, float]:
    """Things by score, ties in brackets: ``a (b c) d``."""
    groups = re.findall(r"\(([^)]*)\)|(\S+)", text)
    return {thing: -place for place, group in enumerate(groups) for thing in "".join(group).split()}


@pytest.mark.parametrize(
    ("x", "y", "p", "w", "a", "b"),
    [
        (
            "red (blue green) yellow pink",
            "(blue red) white (yellow black purple) green",
            0.95, 0.7068257, 0.6922853, 0.7207131,
        ),
        ("(1 2) 3 4", "(1 2) 3 4", 0.9, 1, 0.95, 1),
        ("4 2 (7 18)", "(3 9 17) 8 16 20 (4 14)", 0.9, None, None, None),
    ],
)  # fmt: skip
def test_rbo_with_ties_and_uneven_lengths(
    x: str, y: str, p: float, w: float | None, a: float | None, b: float | None
) -> None:
    """The first is the example of Corsi and Urbano's own implementation."""
    for ties, expected in (("w", w), ("a", a), ("b", b)):
        value = rbo(ranking(x), ranking(y), p=p, ties=ties)
        assert value == pytest.approx(rbo(ranking(y), ranking(x), p=p, ties=ties))
        assert 0 <= value <= 1
        if expected is not None:
            assert value == pytest.approx(expected, abs=5e-8)


def webber(x: list[int], y: list[int], p: float) -> float:
    """RBO_EXT of two permutations of the same things, from its definition (Webber et al. 2010, equation 23)."""
    agreement = [len(set(x[:d]) & set(y[:d])) / d for d in range(1, len(x) + 1)]
    return (1 - p) / p * sum(a * p ** (d + 1) for d, a in enumerate(agreement)) + agreement[-1] * p ** len(x)


def orders(scores: list[int]) -> list[list[int]]:
    """Every way to break the ties."""
    things = range(len(scores))
    return [
        list(order)
        for order in itertools.permutations(things)
        if all(scores[i] >= scores[j] for i, j in itertools.pairwise(order))
    ]


@given(PAIRS, st.floats(0.1, 0.95))
@tries(30)
def test_rbo_a_is_the_mean_over_all_ways_to_break_ties(pair: tuple[list[int], list[int]], p: float) -> None:
    x, y = pair
    broken = [webber(one, other, p) for one in orders(x)[:60] for other in orders(y)[:60]]
    if len(orders(x)) <= 60 and len(orders(y)) <= 60:
        assert rbo(x, y, p=p, ties="a") == pytest.approx(np.mean(broken))


@given(SCORES, st.floats(0.1, 0.95))
def test_a_ranking_agrees_with_itself(x: list[int], p: float) -> None:
    assert rbo(x, x, p=p, ties="b") == pytest.approx(1)
    assert rbo(x, x, p=p, ties="w") == pytest.approx(1)
    assert rbo(x, x, p=p, ties="a") <= 1 + 1e-12
    if len(set(x)) > 1:
        assert kendall(x, x) == pytest.approx(1)
        assert spearman(x, x) == pytest.approx(1)
        assert tau_ap(x, x, ties="b") == pytest.approx(1)


@given(PAIRS)
@tries(40)
def test_tau_ap_a_is_the_mean_over_all_ways_to_break_ties(pair: tuple[list[int], list[int]]) -> None:
    y = pair[1]
    x = list(range(len(y)))
    ways = orders(y)

    def plain(order: list[int]) -> float:
        shares = [np.mean([x[j] > x[i] for j in order[:place]]) for place, i in enumerate(order) if place]
        return float(2 * np.mean(shares) - 1)

    assert tau_ap(x, y, ties="a") == pytest.approx(np.mean([plain(order) for order in ways]))


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_without_ties_the_variants_are_one(x: list[int], y: list[int]) -> None:
    assert kendall(x, y, variant="a") == pytest.approx(kendall(x, y))
    assert tau_ap(x, y, ties="a") == pytest.approx(tau_ap(x, y, ties="none"))
    symmetric = (tau_ap(x, y, ties="none") + tau_ap(y, x, ties="none")) / 2
    assert tau_ap(x, y, ties="b") == pytest.approx(symmetric)
    assert rbo(x, y, ties="w") == pytest.approx(rbo(x, y, ties="b")) == pytest.approx(rbo(x, y, ties="a"))
    assert tau_ap(x, [-score for score in x], ties="none") == pytest.approx(-1)


@given(PAIRS)
def test_kendall_and_spearman_are_scipys(pair: tuple[list[int], list[int]]) -> None:
    x, y = pair
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
        concordant = sum(
            np.sign(a - c) * np.sign(b - d) for (a, b), (c, d) in itertools.combinations(zip(x, y, strict=True), 2)
        )
        assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
        assert kendall(x, y, variant="a") == pytest.approx(concordant / math.comb(len(x), 2))


def test_a_swap_at_the_top_costs_more() -> None:
    truth, top, bottom = [5, 4, 3, 2, 1], [4, 5, 3, 2, 1], [5, 4, 3, 1, 2]
    assert kendall(truth, top) == kendall(truth, bottom)
    assert tau_ap(truth, top) < tau_ap(truth, bottom)
    assert rbo(truth, top) < rbo(truth, bottom)


def test_what_has_no_value_is_nan() -> None:
    assert math.isnan(kendall([1], [1]))
    assert math.isnan(spearman([1], [1]))
    assert math.isnan(tau_ap([1], [1]))
    assert math.isnan(kendall([1, 1], [1, 2]))
    assert math.isnan(spearman([1, 2], [3, 3]))
    assert math.isnan(tau_ap([1, 1], [1, 2], ties="b"))
    assert kendall([1, 1], [1, 2], variant="a") == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kendall([1, 2], [1, 2, 3]), "two lists of equal length, found shapes (2,) and (3,)"),
        (lambda: spearman([1, math.nan], [1, 2]), "found nan or infinity"),
        (lambda: kendall([1, 2], [1, 2], variant="c"), "unknown variant of tau 'c'; choose from a, b"),
        (lambda: tau_ap([1, 1], [1, 2]), 'needs scores without ties, but x has some; use ties="b"'),
        (lambda: tau_ap([1, 2], [1, 1], ties="none"), 'y has some; use ties="a" or ties="b"'),
        (lambda: tau_ap([1, 2], [1, 1], ties="w"), "unknown treatment of ties 'w'"),
        (lambda: rbo([1], [1], p=1), "between 0 and 1, found 1"),
        (lambda: rbo({}, {"a": 1}), "found an empty one"),
        (lambda: rbo({"a": 1}, [1]), "two mappings or two lists of scores"),
        (lambda: rbo({"a": math.nan}, {"a": 1}), "finite numbers"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        call()
