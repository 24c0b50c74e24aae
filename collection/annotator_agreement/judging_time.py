"""Time: sessions, breaks, and how long what is left will take.

All of it is of one annotator, from the entries of their log: when each was made (`at`), the seconds that the document
was on screen with the page in front and somebody there (`seconds`), and the others until then (`away`). What is left
is said as an interval that holds, or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from collection.errors import InputError

PAUSE = 30 * 60.0
"""Seconds without a judgement that end a session."""

BREAK = 5 * 60.0
"""Seconds without work that are a break for the eyes."""

ENOUGH = 15
"""Judgements with seconds below which nothing is estimated."""

RECENT = 100
"""Judgements that an estimate rests on: the newest, since people grow quicker."""

SURE = 0.9
"""How often an interval is to hold."""

SHORTEST = 1.0
"""Seconds below which a judgement counts as so many where logarithms are taken: a slip must not look like a spread."""


class Estimate(NamedTuple):
    """Seconds of work that something will take: from `low` to `high` in nine cases of ten, `mid` on the mean."""

    low: float
    mid: float
    high: float


class Session(NamedTuple):
    """Work without a long pause: from when the first document came on screen until the last judgement.

    `since` and `until` are times in UTC; `seconds` and `away` are sums over those judgements that have them.
    """

    since: pd.Timestamp
    until: pd.Timestamp
    judgements: int
    seconds: float
    away: float


def estimate(seconds: ArrayLike, left: int) -> Estimate | None:
    """How long the next `left` judgements will take, by how long the last ones took.

    The mean of the recent ones times what is left, with a prediction interval for their sum. It is symmetric on the
    logarithm of the sum, as times are positive and their distribution has a long tail:

        mid · exp(± t(n - 1) · √(v + c² / left))

    c is the coefficient of variation of the n recent seconds and c² / left the share of chance in what is to come; v is
    the variance of the logarithm of their mean: the larger one of c² / n (the delta method) and
    s² / n + s⁴ / 2(n - 1), with s² the variance of the logarithms, which is that of log-normal times (Cox's method;
    Zhou and Gao, Confidence intervals for the log-normal mean, Statistics in Medicine 1997). In a small sample of
    times with a long tail the first one alone is too small: its intervals hold in three cases of four. Upwards it is
    longer by half the skewness over √n. Times that follow upon each other are taken as independent; people who tire or
    hurry take longer or less long than it says.

    Parameters
    ----------
    seconds
        (n,): those of judgements in their order, the newest last; nan where nobody knows. Only the newest
        :data:`RECENT` that have them count.
    left
        How many are to come.

    Returns
    -------
    Estimate or None
        None where fewer than :data:`ENOUGH` have seconds.

    Raises
    ------
    InputError
        A time is below 0, or there is less than nothing left.

    Examples
    --------
    >>> times = [8.0, 12.0, 9.0, 30.0, 7.0] * 4
    >>> [round(value / 60) for value in estimate(times, left=100)]
    [17, 22, 30]
    >>> estimate(times[:14], left=100) is None
    True
    """
    from scipy.special import stdtrit

    every: NDArray[np.float64] = np.asarray(seconds, dtype=np.float64).ravel()
    known = every[np.isfinite(every)]
    if left < 0 or (known < 0).any():
        wrong = f"{left} judgements" if left < 0 else f"a judgement that took {known.min():g} seconds"
        raise InputError(f"an estimate needs times of 0 and more, and what is left as 0 or more, found {wrong}")
    recent = known[-RECENT:]
    count = len(recent)
    if count < ENOUGH:
        return None
    mean = float(recent.mean())
    if not left or mean == 0:
        return Estimate(0.0, 0.0, 0.0)
    deviation = float(recent.std(ddof=1))
    squared = (deviation / mean) ** 2
    logs = float(np.log(np.maximum(recent, SHORTEST)).var(ddof=1))
    of_mean = max(squared / count, logs / count + logs**2 / (2 * (count - 1)))
    skewness = float(((recent - mean) ** 3).mean()) / deviation**3 if deviation else 0.0
    reach = float(stdtrit(count - 1, (1 + SURE) / 2)) * np.sqrt(of_mean + squared / left)
    upwards = reach * (1 + max(skewness, 0.0) / (2 * np.sqrt(count)))
    mid = mean * left
    return Estimate(mid * float(np.exp(-reach)), mid, mid * float(np.exp(upwards)))


def sessions(own: pd.DataFrame) -> pd.DataFrame:
    """One annotator's sessions: judgements with no pause of more than PAUSE seconds between them.

    Parameters
    ----------
    own
        ``at`` (datetime) and ``seconds`` of each decision.

    Returns
    -------
    DataFrame
        ``start``, ``end``, ``judgements``, ``hours`` of each. A session begins when its first document came on screen,
        as far as its seconds tell.
    """
    own = own.sort_values("at", kind="stable")
    pause = own["at"].diff().dt.total_seconds() > PAUSE
    start = own["at"] - pd.to_timedelta(own["seconds"].fillna(0), unit="s")
    spans = (
        pd.DataFrame({"session": pause.cumsum(), "start": start, "end": own["at"]})
        .groupby("session")
        .agg(start=("start", "first"), end=("end", "last"), judgements=("end", "size"))
        .reset_index(drop=True)
    )
    return spans.assign(hours=(spans["end"] - spans["start"]).dt.total_seconds() / 3600)


def worked(entries: pd.DataFrame) -> list[Session]:
    """The sessions of one annotator, oldest first; a pause of :data:`PAUSE` ends one.

    Parameters
    ----------
    entries
        ``at`` (datetime), ``seconds`` and ``away`` (float64, nan where nobody knows) of each, oldest first.
    """
    if entries.empty:
        return []
    spans = sessions(entries)
    ends = spans["judgements"].cumsum().to_numpy(dtype=np.int64)
    sums = [
        np.add.reduceat(entries[column].fillna(0).to_numpy(dtype=np.float64), np.r_[0, ends[:-1]])
        for column in ("seconds", "away")
    ]
    return [
        Session(start, end, int(count), float(active), float(away))
        for start, end, count, active, away in zip(
            spans["start"], spans["end"], spans["judgements"], *sums, strict=True
        )
    ]


def since_break(entries: pd.DataFrame, now: pd.Timestamp) -> float:
    """Seconds of work since the annotator last stopped for :data:`BREAK` seconds or more; 0 where they do so now.

    A stop is the time from one entry to the next of which nobody knows that it was work: what is left of it after the
    seconds of the later entry.

    Parameters
    ----------
    entries
        As :func:`worked` takes them.
    now
        The time, in UTC.

    Examples
    --------
    Twenty seconds, then ten minutes later ten and, at once, five.

    >>> at = pd.to_datetime(["2026-03-02 09:00:20", "2026-03-02 09:10:30", "2026-03-02 09:10:35"], utc=True)
    >>> since_break(pd.DataFrame({"at": at, "seconds": [20.0, 10.0, 5.0]}), at[-1])
    15.0
    """
    if entries.empty or (now - entries["at"].iloc[-1]).total_seconds() >= BREAK:
        return 0.0
    seconds = entries["seconds"].fillna(0).to_numpy(dtype=np.float64)
    idle = entries["at"].diff().dt.total_seconds().to_numpy(dtype=np.float64) - seconds
    stops = np.flatnonzero(idle >= BREAK)
    return float(seconds[stops[-1] if len(stops) else 0 :].sum())


def medians(entries: pd.DataFrame, topics: Sequence[str]) -> dict[str, float]:
    """The median seconds of each of these topics that has any; ``query_id`` and ``seconds`` of each entry."""
    timed = entries[entries["seconds"].notna() & entries["query_id"].isin(list(topics))]
    return {str(q): float(s) for q, s in timed.groupby("query_id")["seconds"].median().items()}
