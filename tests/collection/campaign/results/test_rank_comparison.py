"""Two leaderboards side by side: places, swaps and tau read the same rounded means."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau

from collection.campaign.results.rank_comparison import compare_ranks


def means(*values: float) -> pd.Series:
    return pd.Series(values, index=[f"run{n}" for n in range(len(values))])


def places(found: pd.DataFrame) -> list[list[int]]:
    return found.sort_values("run")[["first_place", "second_place"]].to_numpy().tolist()


def test_by_hand() -> None:
    a, b = [0.1, 0.2, 0.3, 0.3, 0.5], [0.2, 0.1, 0.3, 0.4, 0.5]
    found = compare_ranks(means(*a), means(*b))
    assert found.tau == pytest.approx(kendalltau(a, b).statistic)
    # Nine pairs of runs are ordered by both; one of them the other way round; one is tied by the first.
    assert found.tau == pytest.approx((8 - 1) / np.sqrt(9 * 10))
    assert (found.swaps, found.equal) == (1, "")
    assert places(found.table) == [[5, 4], [4, 5], [2, 3], [2, 2], [1, 1]]
    assert found.table["run"].tolist() == ["run4", "run2", "run3", "run1", "run0"]


def test_what_sums_in_another_order_differ_by_is_no_difference() -> None:
    """The mean of .1, .2, .3 and that of .2, .2, .2 may differ in the seventeenth decimal."""
    first = means(0.19999999999999998, 0.20000000000000004)
    found = compare_ranks(first, means(0.2, 0.1))
    assert places(found.table) == [[1, 1], [1, 2]]
    assert np.isnan(found.tau)
    assert (found.swaps, found.equal) == (0, "first")
    other = compare_ranks(means(0.2, 0.1), first)
    assert (other.swaps, other.equal) == (0, "second")


def test_the_best_has_place_1_where_less_is_better() -> None:
    found = compare_ranks(means(5, 9, 1), means(5, 1, 9), less_is_better=True)
    assert places(found.table) == [[2, 2], [3, 1], [1, 3]]
    assert found.table["run"].tolist() == ["run2", "run0", "run1"]
    assert (found.tau, found.swaps) == (-1, 3)


def test_runs_are_met_by_name() -> None:
    second = pd.Series({"run1": 2.0, "run0": 1.0})
    assert compare_ranks(means(1, 2), second).tau == 1


def test_fewer_than_two_runs_have_no_order() -> None:
    for runs in ((), (0.5,)):
        found = compare_ranks(means(*runs), means(*runs))
        assert np.isnan(found.tau)
        assert found.swaps == 0
        assert len(found.table) == len(runs)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8),
    st.lists(st.floats(-1e-14, 1e-14), min_size=16, max_size=16),
    st.booleans(),
)
@pytest.mark.slow
def test_places_and_tau_never_contradict_each_other(
    pairs: list[tuple[int, int]], noise: list[float], less: bool
) -> None:
    first = means(*((a + noise[n]) / 10 for n, (a, _) in enumerate(pairs)))
    second = means(*((b + noise[-n]) / 10 for n, (_, b) in enumerate(pairs)))
    found = compare_ranks(first, second, less_is_better=less)
    ordered = np.array(places(found.table))
    one, other = (np.sign(side[:, None] - side) for side in ordered.T)
    assert found.swaps == (one * other < 0).sum() // 2
    assert bool(found.equal) == bool((ordered == 1).all(axis=0).any())
    wanted = kendalltau(ordered[:, 0], ordered[:, 1]).statistic
    np.testing.assert_allclose(found.tau, wanted)  # nan where that is nan
    for side, of in enumerate(zip(*pairs, strict=True)):
        better = [sum(b < a if less else b > a for b in of) for a in of]
        assert ordered[:, side].tolist() == [1 + n for n in better]
