"""Statistics of annotators, and remarks on unusual numbers.

A remark is not a verdict: a quick annotator may be an expert, and forty equal grades may be forty similar documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection.annotator_agreement.judging_time import find_sessions
from collection.core.arrays import Ints
from collection.core.phrases import count, duration, percent
from collection.core.records import require_columns

QUICK = 1.0
"""Seconds on screen that are too short to read a document."""

FEW = 20
"""Minimum number of judgements (timed ones, shared pairs) for a remark."""

# Thresholds of the remarks:
QUICK_SHARE = 0.1  # share of judgements in under QUICK seconds
MUCH_FASTER = 0.25  # a median below this share of the others' median
ONE_GRADE = 0.95  # share of one grade, unless the others gave it as often to the same pairs
RARE_STREAK = 0.001  # a streak of equal grades with a lower probability
LOW_AGREEMENT = 0.2  # difference between the agreement with the others and among them
FAR_GRADE = 0.25  # difference of the mean grade from the others' on the same pairs, and two standard errors
CANNOT_SHARE = 0.2  # share of "cannot judge"

PAIR = ["query_id", "doc_id"]
NEEDED = (
    "annotator", "kind", "relevance", "judged_at", "seconds", "source", "revises", "counts_as", "away", "flagged",
)  # fmt: skip
SAID = ("annotator", "kind", "relevance", "counts_as", *PAIR)
"""Columns of what annotators said of the same pairs."""

AnnotatorFacts = dict[str, Any]


class AnnotatorStatistics(NamedTuple):
    """Statistics of all annotators.

    Attributes
    ----------
    facts
        One row per annotator, by name:

        - ``annotator``, ``judgements`` (current ones), ``last_at`` (ISO 8601; nan if all are imported).
        - ``seconds_low``, ``seconds``, ``seconds_high``: quartiles and median of the seconds on screen of all
          judgements, revised ones too; ``timed``: how many have seconds; ``quick``: those below QUICK.
        - ``sessions``, ``hours`` (in sessions), ``per_hour``, ``days`` (UTC days with a judgement), ``per_day``;
          ``active`` and ``away``: hours on screen, and hours with another window in front or no activity.
        - ``graded`` (current grades), ``grades`` (counts as "0: 70, 1: 30"), ``top_grade``, ``top_share``; of the
          ``said`` grades in order of the log: ``row`` (longest streak of one grade), ``row_grade``, ``row_share`` (the
          share of this grade).
        - ``cannot_judge``, ``flagged``, ``revised`` (entries that replace an earlier one), ``undone``.
        - ``shared`` (pairs that others graded too), ``agreement`` (share of equal grades in comparisons with another
          annotator), ``higher`` (mean grade minus that of the others on shared pairs).
    remarks
        Annotator -> sentences, where there are any.
    differences
        Sentences on two annotators whose mean grades are far apart, with no third one to compare.
    times
        ``annotator``, ``judged_at`` (datetime64, UTC), ``seconds``: every judgement that has seconds, oldest first.
    days
        ``annotator``, ``day`` (datetime64), ``judgements``: entries per day, without imported ones.
    """

    facts: pd.DataFrame
    remarks: dict[str, list[str]]
    differences: list[str]
    times: pd.DataFrame
    days: pd.DataFrame


def compute_statistics(
    log: pd.DataFrame, current: pd.DataFrame, several: pd.DataFrame | None = None
) -> AnnotatorStatistics:
    """Compute statistics of each annotator's work.

    Parameters
    ----------
    log
        The whole log, oldest first: the columns NEEDED of :class:`.Judgement`; names may be categories, and
        ``judged_at`` times. Adjudications are left out, surplus judgements included; imported judgements have neither
        times nor an order.
    current
        The current judgements, for grades: the same columns.
    several
        The current judgements of all pairs that have several, for agreement: the columns SAID; topics and documents
        may be named by keys. Other pairs do not count. `current` if left out.
    """
    several = current if several is None else several
    for frame in (log, current):
        require_columns(frame, NEEDED, "conduct")
    require_columns(several, SAID, "conduct")
    log = log[(log["counts_as"] != "adjudication").to_numpy(dtype=np.bool_)]
    log = log[["annotator", "kind", "relevance", "judged_at", "seconds", "source", "revises", "away"]].assign(
        at=lambda frame: pd.to_datetime(frame["judged_at"], utc=True, format="ISO8601"),
        seconds=lambda frame: pd.to_numeric(frame["seconds"]).astype("float64"),
        away=lambda frame: pd.to_numeric(frame["away"]).astype("float64"),
    )
    current = current[(current["counts_as"] == "judgement").to_numpy(dtype=np.bool_)]
    own = log[((log["kind"] != "undone") & (log["source"] != "imported")).to_numpy(dtype=np.bool_)]
    own = own[["annotator", "kind", "relevance", "judged_at", "at", "seconds", "away"]]
    graded = several[((several["kind"] == "graded") & (several["counts_as"] == "judgement")).to_numpy(dtype=np.bool_)]
    shared = _compare_shared(graded[[*PAIR, "annotator"]].assign(grade=graded["relevance"].astype("int64")))
    entries, flags = log[["annotator", "kind", "revises"]], current[["annotator", "kind", "relevance", "flagged"]]
    # Split at once: to look for each annotator's rows among half a million takes long.
    parts = [{str(name): part for name, part in frame.groupby("annotator")} for frame in (entries, own, flags, shared)]
    nothing = [frame.iloc[:0] for frame in (entries, own, flags, shared)]
    rows = [
        {"annotator": name, **_facts(*(part.get(name, none) for part, none in zip(parts, nothing, strict=True)))}
        for name in sorted(parts[0])
    ]
    facts = pd.DataFrame(rows, columns=None if rows else ["annotator", "judgements"])
    remarks = {row["annotator"]: sentences for row in rows if (sentences := list(_remarks(row, facts, shared)))}
    times = own.loc[own["seconds"].notna(), ["annotator", "at", "seconds"]].rename(columns={"at": "judged_at"})
    days = own.assign(day=own["at"].dt.floor("D").dt.tz_localize(None)).groupby(["annotator", "day"], as_index=False)
    counts = days.size().rename(columns={"size": "judgements"}).astype({"annotator": "str"})
    return AnnotatorStatistics(
        facts,
        remarks,
        _find_differences(shared),
        times.reset_index(drop=True),
        counts.sort_values(["annotator", "day"], ignore_index=True),
    )


def _facts(log: pd.DataFrame, own: pd.DataFrame, current: pd.DataFrame, shared: pd.DataFrame) -> AnnotatorFacts:
    """The facts of one annotator; `own`: their decisions that were not imported, oldest first."""
    undone = log["kind"] == "undone"
    seconds = own["seconds"].dropna()
    low, middle, high = seconds.quantile([0.25, 0.5, 0.75])
    sessions = find_sessions(own[["at", "seconds", "away"]])
    hours = sum((session.until - session.since).total_seconds() for session in sessions) / 3600
    days = own["at"].dt.floor("D").nunique()
    grades = current.loc[current["kind"] == "graded", "relevance"].astype("int64").value_counts().sort_index()
    in_order = own["relevance"].where(own["kind"] == "graded").to_numpy(dtype=np.float64, na_value=-1).astype(np.int64)
    streak, grade = longest_streak(in_order)
    graded = int((in_order >= 0).sum())
    return {
        "judgements": len(current),
        "last_at": _text(own["judged_at"].max()),
        "cannot_judge": int((current["kind"] == "cannot judge").sum()),
        "flagged": int(current["flagged"].sum()),
        "revised": int((log["revises"].notna() & ~undone).sum()),
        "undone": int(undone.sum()),
        "timed": len(seconds),
        "quick": int((seconds < QUICK).sum()),
        "seconds_low": low,
        "seconds": middle,
        "seconds_high": high,
        "sessions": len(sessions),
        "hours": hours,
        "per_hour": len(own) / hours if hours else np.nan,
        "days": days,
        "per_day": len(own) / days if days else np.nan,
        "active": float(seconds.sum()) / 3600,
        "away": float(own["away"].sum()) / 3600,
        "graded": int(grades.sum()),
        "grades": ", ".join(f"{given}: {count}" for given, count in grades.items()),
        "top_grade": grades.idxmax() if len(grades) else None,
        "top_share": grades.max() / grades.sum() if len(grades) else np.nan,
        "row": streak,
        "row_grade": grade,
        "said": graded,
        "row_share": int((in_order == grade).sum()) / graded if grade is not None else np.nan,
        "shared": len(shared),
        "agreement": _agreement(shared),
        "higher": (shared["grade"] - shared["others_mean"]).mean(),
    }


def _text(time: object) -> object:
    """A time as :func:`collection.core.clock.now` writes it, nan for NaT; anything else as it is."""
    if time is pd.NaT:
        return np.nan
    return time.isoformat(timespec="milliseconds") if isinstance(time, pd.Timestamp) else time


def longest_streak(grades: Sequence[int] | Ints) -> tuple[int, int | None]:
    """The length and grade of the longest streak of one grade; negative values (no grade) end a streak."""
    given = np.asarray(grades, dtype=np.int64)
    starts = np.flatnonzero(np.diff(given, prepend=given[:1] - 1))
    lengths = np.where(given[starts] >= 0, np.diff(starts, append=len(given)), 0)
    if not lengths.any():
        return 0, None
    longest = int(lengths.argmax())
    return int(lengths[longest]), int(given[starts[longest]])


def streak_probability(streak: int, among: int, share: float) -> float:
    """An upper bound of the probability of `streak` successes in a row among independent trials, close if it is small.

    It is the expected number of such streaks, each counted at its first trial, which follows a failure or is the first
    of all: share^streak (1 + (among - streak) (1 - share)).

    >>> streak_probability(3, 3, 0.5)
    0.125
    """
    return min(share**streak * (1 + (among - streak) * (1 - share)), 1.0)


def _compare_shared(grades: pd.DataFrame) -> pd.DataFrame:
    """Grades on pairs of several annotators, each with those of the others on the pair.

    Takes ``query_id``, ``doc_id``, ``annotator``, ``grade``; returns these without the ids, ``pair`` (its number),
    ``others`` (how many), ``same`` (how many of these gave the same grade) and ``others_mean``.
    """
    several = grades[grades.duplicated(PAIR, keep=False)]
    several = several.assign(pair=several.groupby(PAIR, sort=False).ngroup()).drop(columns=PAIR)
    on_pair = several.groupby("pair")["grade"]
    others = on_pair.transform("size") - 1
    same = several.groupby(["pair", "grade"])["grade"].transform("size") - 1
    return several.assign(others=others, same=same, others_mean=(on_pair.transform("sum") - several["grade"]) / others)


def _agreement(shared: pd.DataFrame) -> float:
    """The share of comparisons with another annotator in which both gave the same grade."""
    return float(shared["same"].sum() / shared["others"].sum()) if len(shared) else np.nan


def _remarks(of: AnnotatorFacts, facts: pd.DataFrame, shared: pd.DataFrame) -> Iterator[str]:
    """Sentences on unusual facts of one annotator, with the numbers."""
    if of["judgements"] < FEW:
        return
    is_own = shared["annotator"] == of["annotator"]
    own, by_others = shared[is_own], shared[~is_own]
    on_own = by_others["pair"].isin(own["pair"])
    if of["timed"] >= FEW and of["quick"] >= QUICK_SHARE * of["timed"]:
        yield f"{of['quick']:,} of {of['timed']:,} judgements took less than {duration(QUICK)}."
    others = facts.loc[(facts["annotator"] != of["annotator"]) & (facts["timed"] >= FEW), "seconds"]
    if of["timed"] >= FEW and of["seconds"] < MUCH_FASTER * others.median():
        span = f"{others.min():.1f} to {others.max():.1f} s" if len(others) > 1 else f"{others.iloc[0]:.1f} s"
        yield f"Median of {of['seconds']:.1f} s per judgement; other annotators: {span}."
    if of["graded"] >= FEW and of["top_share"] >= ONE_GRADE:
        yield from _remark_one_grade(of, own, by_others[on_own])
    chance = streak_probability(of["row"], of["said"], of["row_share"])
    if of["said"] >= FEW and chance < RARE_STREAK:
        often = "less than one in a million" if chance < 1e-6 else f"one in {round(1 / chance):,}"
        yield (
            f"Grade {of['row_grade']} was given {of['row']:,} times in a row: by chance, {often} annotators with "
            f"{of['said']:,} grades ({percent(of['row_share'])} of them {of['row_grade']}) would have such a streak."
        )
    left = by_others["others"] - on_own  # comparisons among the others; those with `own` are in `same` of both sides
    among = float((by_others["same"].sum() - own["same"].sum()) / left.sum()) if left.any() else np.nan
    if min(len(own), (left > 0).sum()) >= FEW and of["agreement"] <= among - LOW_AGREEMENT:
        yield (
            f"Observed agreement with the other annotators: {percent(of['agreement'])} on "
            f"{count(len(own), 'common pair')}; among the others: {percent(among)}."
        )
    # Of two annotators alone, neither is the unusual one: `differences` names both.
    if _is_far(own) and by_others.loc[on_own, "annotator"].nunique() > 1:
        which = "higher" if of["higher"] > 0 else "lower"
        pairs = count(len(own), "common pair")
        yield f"Grades are {abs(of['higher']):.2f} {which} than the others' on average, on {pairs}."
    if of["cannot_judge"] >= CANNOT_SHARE * of["judgements"]:
        yield f'"Cannot judge" for {of["cannot_judge"]:,} of {count(of["judgements"], "pair")}.'


def _is_far(own: pd.DataFrame) -> bool:
    """Return whether the mean difference from others' grades is large and significant, in rows of `_compare_shared`."""
    apart = (own["grade"] - own["others_mean"]).to_numpy(dtype=np.float64)
    if len(apart) < FEW:
        return False
    error = float(apart.std(ddof=1)) / np.sqrt(len(apart))
    return bool(abs(apart.mean()) >= FAR_GRADE and abs(apart.mean()) > 2 * error)


def _find_differences(shared: pd.DataFrame) -> list[str]:
    """Sentences on two annotators with mean grades far apart, where no third one graded the pairs of one of them."""
    differences: dict[frozenset[str], str] = {}
    for name, own in shared.groupby("annotator"):
        others = set(shared.loc[shared["pair"].isin(own["pair"]), "annotator"].unique()) - {name}
        if len(others) == 1 and _is_far(own):
            apart = float((own["grade"] - own["others_mean"]).to_numpy(dtype=np.float64).mean())
            both = (str(name), *others) if apart > 0 else (*others, str(name))
            pairs = count(len(own), "common pair")
            higher = f"{both[0]}'s grades are {abs(apart):.2f} higher than {both[1]}'s on average, on {pairs}."
            differences.setdefault(frozenset(both), higher)
    return list(differences.values())


def _remark_one_grade(of: AnnotatorFacts, own_rows: pd.DataFrame, by_others: pd.DataFrame) -> Iterator[str]:
    """Remark on a single grade for nearly all pairs, unless the others gave it about as often to the same pairs."""
    sentence = f"Grade {of['top_grade']} in {round(of['top_share'] * of['graded']):,} of {of['graded']:,} judgements."
    if len(own_rows) < FEW:
        yield sentence
        return
    own, other = ((frame["grade"] == of["top_grade"]).mean() for frame in (own_rows, by_others))
    if other < ONE_GRADE * own:
        pairs = count(len(own_rows), "common pair")
        yield f"{sentence} On {pairs}: {percent(own)}; the others: {percent(other)}."
