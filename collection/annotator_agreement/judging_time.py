"""Judging time of one annotator: sessions, breaks, and how long the remaining judgements will take.

Entries of the log have the time of the judgement (``at``), the seconds on screen with the page in front (``seconds``),
and the seconds away in between (``away``); seconds are nan where unknown. Where they have ``current``, sessions count
only judgements that are neither undone nor replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from collection.core.arrays import Floats
from collection.core.errors import InputError

PAUSE = 30 * 60.0
"""Seconds without a judgement that end a session."""

BREAK = 5 * 60.0
"""Seconds without work that are a break for the eyes."""

ENOUGH = 15
"""Timed judgements needed for an estimate."""

RECENT = 100
"""Newest timed judgements that an estimate uses, since annotators become faster."""

CONFIDENCE = 0.9
"""Confidence level of the prediction interval."""

SHORTEST = 1.0
"""Lower bound of seconds before logarithms are taken, so that a slip does not count as spread."""


class DurationEstimate(NamedTuple):
    """Expected seconds of work (`mid`) with a 90% prediction interval from `low` to `high`."""

    low: float
    mid: float
    high: float


class JudgingSession(NamedTuple):
    """Work without a long pause, from the first document on screen to the last judgement; times in UTC.

    The seconds are those of all judgements, also of undone ones.
    """

    since: pd.Timestamp
    until: pd.Timestamp
    judgements: int
    seconds: float
    away: float


def estimate_duration(seconds: ArrayLike, left: int) -> DurationEstimate | None:
    """Estimate how long the next `left` judgements will take; None with fewer than :data:`ENOUGH` timed judgements.

    The estimate is the mean times `left`. The prediction interval of the sum is symmetric on the logarithmic scale:
    mid · exp(± t(n - 1) · √(v + c² / left)), with c the coefficient of variation and v the variance of the logarithm of
    the mean: the larger one of the delta method's c² / n, whose coverage is 75% for long-tailed times and small n, and
    Cox's s² / n + s⁴ / 2(n - 1), s² being the variance of the logarithms (Zhou and Gao, Confidence intervals for the
    log-normal mean, Statistics in Medicine 1997). Upwards the interval is longer by half the skewness over √n.

    `seconds`: (n,) times of the judgements, newest last. Raises :class:`InputError` for times or `left` below 0.

    >>> times = [8.0, 12.0, 9.0, 30.0, 7.0] * 4
    >>> [round(value / 60) for value in estimate_duration(times, left=100)]
    [17, 22, 30]
    """
    from scipy.special import stdtrit

    known: Floats = np.asarray(seconds, dtype=np.float64).ravel()
    known = known[np.isfinite(known)]
    if left < 0 or (known < 0).any():
        wrong = f"{left} judgements" if left < 0 else f"a judgement that took {known.min():g} seconds"
        raise InputError(f"an estimate of judging time needs numbers of 0 or more, found {wrong}")
    recent = known[-RECENT:]
    count = len(recent)
    if count < ENOUGH:
        return None
    mean, deviation = float(recent.mean()), float(recent.std(ddof=1))
    if not left or mean == 0:
        return DurationEstimate(0.0, 0.0, 0.0)
    squared = (deviation / mean) ** 2
    logs = float(np.log(np.maximum(recent, SHORTEST)).var(ddof=1))
    of_mean = max(squared / count, logs / count + logs**2 / (2 * (count - 1)))
    skewness = float(((recent - mean) ** 3).mean()) / deviation**3 if deviation else 0.0
    reach = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * np.sqrt(of_mean + squared / left)
    upwards = reach * (1 + max(skewness, 0.0) / (2 * np.sqrt(count)))
    mid = mean * left
    return DurationEstimate(mid * float(np.exp(-reach)), mid, mid * float(np.exp(upwards)))


def find_sessions(entries: pd.DataFrame) -> list[JudgingSession]:
    """Split the entries of one annotator into sessions, oldest first; a pause of more than :data:`PAUSE` ends one."""
    entries = entries.sort_values("at", kind="stable")
    if entries.empty:
        return []
    at, seconds = entries["at"], entries["seconds"].fillna(0)
    starts = np.flatnonzero(np.append(True, (at.diff().dt.total_seconds() > PAUSE).to_numpy()[1:]))
    since = at.iloc[starts] - pd.to_timedelta(seconds.iloc[starts], unit="s")
    until = at.iloc[np.append(starts[1:], len(at)) - 1]
    columns = (entries.get("current", pd.Series(True, at.index)).astype("int64"), seconds, entries["away"].fillna(0))
    sums = (np.add.reduceat(column.to_numpy(), starts).tolist() for column in columns)
    return [JudgingSession(*row) for row in zip(since, until, *sums, strict=True)]


def seconds_since_break(entries: pd.DataFrame, now: pd.Timestamp) -> float:
    """Seconds of work since the last break of :data:`BREAK` seconds or more; 0 during a break.

    A pause is the time between two entries, oldest first, less the seconds of the later one.

    Examples
    --------
    Twenty seconds, then ten minutes later ten and, at once, five.

    >>> at = pd.to_datetime(["2026-03-02 09:00:20", "2026-03-02 09:10:30", "2026-03-02 09:10:35"], utc=True)
    >>> seconds_since_break(pd.DataFrame({"at": at, "seconds": [20.0, 10.0, 5.0]}), at[-1])
    15.0
    """
    if entries.empty or (now - entries["at"].iloc[-1]).total_seconds() >= BREAK:
        return 0.0
    seconds = entries["seconds"].fillna(0)
    breaks = (entries["at"].diff().dt.total_seconds() - seconds >= BREAK).cumsum()
    return float(seconds[breaks == breaks.iloc[-1]].sum())


def median_seconds(entries: pd.DataFrame, topics: Sequence[str]) -> dict[str, float]:
    """Median seconds of each of these topics that has timed entries."""
    timed = entries[entries["seconds"].notna() & entries["query_id"].isin(list(topics))]
    return {str(q): float(s) for q, s in timed.groupby("query_id")["seconds"].median().items()}
