"""Time: estimates that hold as often as they say, sessions and breaks from logs that were made by hand."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

from collection.annotator_agreement import judging_time
from collection.annotator_agreement.judging_time import estimate_duration, find_sessions, seconds_since_break
from collection.core.errors import InputError

MORNING = datetime(2026, 3, 2, 9, tzinfo=UTC)
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def log_of(*entries: tuple[float, float | None, float | None]) -> pd.DataFrame:
    """Entries: seconds after nine, seconds at work, seconds away."""
    frame = pd.DataFrame(entries, columns=["at", "seconds", "away"]).astype({"seconds": float, "away": float})
    frame["at"] = pd.to_datetime([MORNING + timedelta(seconds=s) for s in frame["at"]], utc=True)
    return frame.assign(query_id="1")


def at(seconds: float) -> pd.Timestamp:
    return pd.Timestamp(MORNING + timedelta(seconds=seconds))


# --- estimates ------------------------------------------------------------------------------------------


def mixture(chance: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Most documents take five seconds, and every seventh a minute and more."""
    return np.where(chance.random(n) < 0.15, chance.lognormal(4.3, 0.5, n), chance.lognormal(1.5, 0.5, n))


DRAWS: dict[str, Draw] = {
    "log-normal .6": lambda chance, n: chance.lognormal(2.3, 0.6, n),
    "log-normal 1": lambda chance, n: chance.lognormal(2.3, 1.0, n),
    "log-normal 1.3": lambda chance, n: chance.lognormal(2.3, 1.3, n),
    "gamma": lambda chance, n: chance.gamma(2, 5, n),
    "exponential": lambda chance, n: chance.exponential(10, n),
    "mixture": mixture,
}


def coverage(draw: Draw, known: int, left: int, rounds: int, seed: int = 7) -> tuple[float, float]:
    """How often the time that the rest really takes lies in the interval, and how often it lies below."""
    chance = np.random.default_rng(seed)
    inside = below = 0
    for _ in range(rounds):
        low, mid, high = estimate_duration(draw(chance, known), left) or (np.nan,) * 3
        assert low <= mid <= high
        total = float(draw(chance, left).sum())
        inside += low <= total <= high
        below += total < low
    return inside / rounds, below / rounds


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.slow
@pytest.mark.long
def test_the_interval_holds_in_nine_cases_of_ten(name: str) -> None:
    """With so few judgements as are asked for, with many, and for what is left of a topic or of a campaign."""
    found = {
        (known, left): coverage(DRAWS[name], known, left, 1000)[0]
        for known in (judging_time.ENOUGH, 40, judging_time.RECENT)
        for left in (20, 1000)
    }
    # With 15 of a mixture in which the long ones are rare, some samples have none of them.
    assert min(found.values()) >= (0.82 if name == "mixture" else 0.87), found
    assert np.mean(list(found.values())) >= 0.87, found
    assert max(found.values()) <= 0.985, found


def test_the_interval_holds_for_log_normal_times_as_often_as_it_says() -> None:
    """The quick one of the same; the textbook's interval for the mean of so few holds too rarely."""
    inside, below = coverage(DRAWS["log-normal 1"], 20, 500, 400)
    assert 0.87 <= inside <= 0.96
    assert below <= 0.06

    chance = np.random.default_rng(7)
    plain = 0
    for _ in range(400):
        times = DRAWS["log-normal 1"](chance, 20)
        reach = stats.t.ppf(0.95, 19) * times.std(ddof=1) * np.sqrt(500 + 500**2 / 20)
        plain += abs(float(DRAWS["log-normal 1"](chance, 500).sum()) - times.mean() * 500) <= reach
    assert plain / 400 < 0.86


def test_by_hand() -> None:
    """Ten times 10 and ten times 20, no skewness: by the formula of the docstring, the quantile from scipy's table."""
    times = np.array([10.0, 20.0] * 10)
    n, left = 20, 50
    c2 = times.var(ddof=1) / 15**2
    s2 = np.log(times).var(ddof=1)
    v = max(c2 / n, s2 / n + s2**2 / (2 * (n - 1)))
    reach = stats.t.ppf(0.95, n - 1) * np.sqrt(v + c2 / left)
    found = estimate_duration(times, left)
    assert found == pytest.approx((750 * np.exp(-reach), 750, 750 * np.exp(reach)))


def test_equal_times_leave_no_doubt_and_more_left_takes_longer() -> None:
    assert estimate_duration([6.0] * 30, 10) == pytest.approx((60, 60, 60))
    assert estimate_duration([0.0] * 30, 10) == (0, 0, 0)
    assert estimate_duration([6.0, 7.0] * 30, 0) == (0, 0, 0)
    some, more = estimate_duration([5.0, 9.0] * 20, 10), estimate_duration([5.0, 9.0] * 20, 1000)
    assert some is not None
    assert more is not None
    assert more.low > some.high
    # What is left evens out: in share of the mean the interval gets narrower.
    assert more.high / more.mid < some.high / some.mid


def test_only_what_is_recent_and_timed_counts() -> None:
    slow, quick = [60.0, 70.0] * 100, [5.0, 6.0] * 50
    assert estimate_duration([*slow, *quick], 100) == estimate_duration(quick, 100)
    assert estimate_duration([*quick, *[np.nan] * 200], 100) == estimate_duration(quick, 100)
    assert estimate_duration([5.0] * 14 + [np.nan] * 50, 100) is None
    assert estimate_duration([], 5) is None


@given(st.lists(st.floats(0, 1e6), min_size=judging_time.ENOUGH, max_size=60), st.integers(0, 10**6))
def test_any_times_give_an_interval_around_their_mean(times: list[float], left: int) -> None:
    found = estimate_duration(times, left)
    assert found is not None
    assert 0 <= found.low <= found.mid <= found.high < np.inf
    assert found.mid == pytest.approx(np.mean(times) * left)


@pytest.mark.parametrize(("seconds", "left"), [([-1.0] * 20, 5), ([3.0] * 20, -1)])
def test_bad_input_by_name(seconds: list[float], left: int) -> None:
    with pytest.raises(InputError, match=f"found .*{-1}"):
        estimate_duration(seconds, left)


# --- sessions and breaks --------------------------------------------------------------------------------


def test_sessions_by_hand() -> None:
    """Three, a pause of just half an hour, one; a pause of more; two, one of them without times."""
    log = log_of(
        (10, 10, 0), (40, 20, 10), (50, 9, 1), (50 + 1800, 30, None), (8000, None, None), (8100, 40, 60)
    )  # fmt: skip
    found = find_sessions(log)
    assert [(s.judgements, s.seconds, s.away) for s in found] == [(4, 69, 11), (2, 40, 60)]
    assert [(s.since, s.until) for s in found] == [(at(0), at(1850)), (at(8000), at(8100))]
    assert find_sessions(log.iloc[:0]) == []


def test_since_the_last_stop() -> None:
    """A stop is idle time between two entries, whoever counted it: 300 seconds and more of it."""
    log = log_of((10, 10, 0), (40, 20, 0), (700, 60, 600), (760, 50, 10), (800, 15, 0))
    assert seconds_since_break(log, at(800)) == 60 + 50 + 15
    assert seconds_since_break(log, at(800 + 299)) == 125
    assert seconds_since_break(log, at(800 + 300)) == 0
    assert seconds_since_break(log.iloc[:2], at(41)) == 30
    assert seconds_since_break(log.iloc[:0], at(0)) == 0


def test_a_long_document_is_no_stop() -> None:
    """Seven minutes at one document, at work; and judgements that were kept offline come all at once."""
    assert seconds_since_break(log_of((10, 10, 0), (430, 420, 0)), at(431)) == 430
    assert seconds_since_break(log_of((10, 10, 0), (30, 20, 0), (30.1, 20, 0), (30.2, 20, 0)), at(31)) == 70


def test_medians_of_topics() -> None:
    log = log_of((1, 5, 0), (2, 7, 0), (3, 60, 0), (4, None, None), (5, 8, 0))
    log["query_id"] = ["a", "a", "a", "b", "c"]
    assert judging_time.median_seconds(log, ["a", "b"]) == {"a": 7.0}
