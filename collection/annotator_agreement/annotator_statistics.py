"""How annotators work: facts with their numbers, and remarks on what is far out of the ordinary.

A remark is no verdict: a quick annotator may be an expert, and forty equal grades may be forty similar documents.
The constants of this module say what "far" means. Imported judgements have no times and no order of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection.annotator_agreement.judging_time import find_sessions
from collection.records import require_columns

QUICK = 1.0
"""Seconds on screen below which nobody has read a document."""

FEW = 20
"""Judgements (timed ones, shared pairs) below which nothing is remarked."""

QUICK_SHARE = 0.1
"""Share of judgements in under QUICK seconds that is remarked."""

MUCH_FASTER = 0.25
"""A median below this share of the others' median is remarked."""

ONE_GRADE = 0.95
"""Share of one grade that is remarked, unless the others gave it as often to the same pairs."""

RARE_ROW = 0.001
"""A row of equal grades with a lower probability than this is remarked."""

FAR_AGREEMENT = 0.2
"""So much less agreement with the others than among them is remarked."""

FAR_GRADE = 0.25
"""A mean grade so far from that of the others on the same pairs is remarked, if it is also two standard errors away."""

CANNOT_SHARE = 0.2
"""Share of "cannot judge" that is remarked."""

PAIR = ["query_id", "doc_id"]
NEEDED = ("annotator", *PAIR, "kind", "relevance", "judged_at", "seconds", "source", "revises", "counts_as", "away",
          "flagged")  # fmt: skip


class AnnotatorStatistics(NamedTuple):
    """What can be said of the annotators.

    Attributes
    ----------
    facts
        One row an annotator, by name:

        - ``annotator``, ``judgements`` (pairs on which their word stands), ``last_at`` (ISO 8601).
        - ``seconds_low``, ``seconds``, ``seconds_high``: quartiles and median of the seconds on screen of all
          judgements that have them, revised ones too; ``timed``: how many; ``quick``: those below QUICK.
        - ``sessions``, ``hours`` (in sessions, from the first document to the last judgement), ``per_hour``, ``days``
          (UTC days with a judgement), ``per_day``; ``active`` and ``away``: hours on screen, and those in which the
          page was not in front or nobody moved.
        - ``graded`` (pairs on which they have a grade), ``grades`` (how many of each, as "0: 70, 1: 30"),
          ``top_grade``, ``top_share``; of their own decisions in order, ``said`` grades: ``row`` (the most equal ones
          in a row), ``row_grade``, ``row_share`` (the share of this grade).
        - ``cannot_judge``, ``flagged`` (pairs that they want to be looked at again), ``revised`` (entries that replace
          an earlier word), ``undone``.
        - ``shared`` (pairs that they and others graded), ``agreement`` (share of equal grades in comparisons with
          another annotator on these pairs), ``higher`` (their mean grade minus that of the others on the same pairs:
          above 0 more lenient, below 0 stricter).
    remarks
        Annotator -> sentences; no entry where there is nothing to remark.
    times
        ``annotator``, ``judged_at`` (datetime64, UTC), ``seconds``: every judgement that has seconds, oldest first.
    days
        ``annotator``, ``day`` (datetime64), ``judgements``: entries of each on each day, without imported ones.
    """

    facts: pd.DataFrame
    remarks: dict[str, list[str]]
    times: pd.DataFrame
    days: pd.DataFrame


def compute_statistics(log: pd.DataFrame, current: pd.DataFrame) -> AnnotatorStatistics:
    """Describe how annotators work.

    Parameters
    ----------
    log
        The whole log, oldest first: the fields of :class:`collection.records.Judgement`. Adjudications, another kind of
        work, are left out; surplus judgements are included.
    current
        The annotators' last words that stand, from which grades and agreement are taken.
    """
    for frame in (log, current):
        require_columns(frame, NEEDED, "conduct")
    log = log[(log["counts_as"] != "adjudication").to_numpy(dtype=np.bool_)].assign(
        at=lambda f: pd.to_datetime(f["judged_at"], utc=True, format="ISO8601"),
        seconds=lambda f: pd.to_numeric(f["seconds"]).astype("float64"),
        away=lambda f: pd.to_numeric(f["away"]).astype("float64"),
    )
    current = current[(current["counts_as"] == "judgement").to_numpy(dtype=np.bool_)]
    own = log[((log["kind"] != "undone") & (log["source"] != "imported")).to_numpy(dtype=np.bool_)]
    graded = current[(current["kind"] == "graded").to_numpy(dtype=np.bool_)]
    shared = _shared(graded[[*PAIR, "annotator"]].assign(grade=graded["relevance"].astype("int64")))
    rows = [
        {"annotator": name, **_facts(*(frame[frame["annotator"] == name] for frame in (log, own, current, shared)))}
        for name in sorted(log["annotator"].unique())
    ]
    facts = pd.DataFrame(rows, columns=None if rows else ["annotator", "judgements"])
    remarks = {f["annotator"]: said for f in rows if (said := list(_remarks(f, facts, shared)))}
    times = own.loc[own["seconds"].notna(), ["annotator", "at", "seconds"]].rename(columns={"at": "judged_at"})
    days = own.assign(day=own["at"].dt.floor("D").dt.tz_localize(None)).groupby(["annotator", "day"], as_index=False)
    return AnnotatorStatistics(
        facts, remarks, times.reset_index(drop=True), days.size().rename(columns={"size": "judgements"})
    )


def _facts(log: pd.DataFrame, own: pd.DataFrame, current: pd.DataFrame, shared: pd.DataFrame) -> dict[str, Any]:
    """The facts of one annotator; `own`: their decisions that were not imported, oldest first."""
    undone = log["kind"] == "undone"
    seconds = own["seconds"].dropna()
    low, middle, high = seconds.quantile([0.25, 0.5, 0.75])
    spans = find_sessions(own)
    hours, days = sum((s.until - s.since).total_seconds() for s in spans) / 3600, own["at"].dt.floor("D").nunique()
    grades = current.loc[current["kind"] == "graded", "relevance"].astype("int64").value_counts().sort_index()
    said = own["relevance"].where(own["kind"] == "graded").astype("Int64").fillna(-1).tolist()
    row, grade = longest_streak(said)
    return {
        "judgements": len(current),
        "last_at": log["judged_at"].max(),
        "cannot_judge": int((current["kind"] == "cannot judge").sum()),
        "flagged": int(current["flagged"].sum()),
        "revised": int((log["revises"].notna() & ~undone).sum()),
        "undone": int(undone.sum()),
        "timed": len(seconds),
        "quick": int((seconds < QUICK).sum()),
        "seconds_low": low,
        "seconds": middle,
        "seconds_high": high,
        "sessions": len(spans),
        "hours": hours,
        "per_hour": len(own) / hours if hours else np.nan,
        "days": days,
        "per_day": len(own) / days if days else np.nan,
        "active": float(seconds.sum()) / 3600,
        "away": float(own["away"].sum()) / 3600,
        "graded": int(grades.sum()),
        "grades": ", ".join(f"{g}: {n}" for g, n in grades.items()),
        "top_grade": grades.idxmax() if len(grades) else None,
        "top_share": grades.max() / grades.sum() if len(grades) else np.nan,
        "row": row,
        "row_grade": grade,
        # A row lies in what was said in order, and is as likely as the grade is in this.
        "said": (graded := sum(g >= 0 for g in said)),
        "row_share": said.count(grade) / graded if grade is not None else np.nan,
        "shared": len(shared),
        "agreement": _agreement(shared),
        "higher": (shared["grade"] - shared["others_mean"]).mean(),
    }


def longest_streak(grades: Iterable[int]) -> tuple[int, int | None]:
    """The most equal grades in a row, and which; a negative value (no grade) ends a row and makes none.

    Examples
    --------
    >>> longest_streak([0, 0, 1, 1, 1, -1, 1])
    (3, 1)
    """
    rows = ((len(list(row)), grade) for grade, row in groupby(grades) if grade >= 0)
    return max(rows, key=lambda row: row[0], default=(0, None))


def streak_probability(row: int, among: int, share: float) -> float:
    """An upper bound of the probability of `row` or more successes in a row somewhere among independent trials.

    It is the expected number of such rows, each counted at its first trial, which follows a failure or begins the
    trials: share^row (1 + (among - row) (1 - share)). For rare rows the bound is close.

    Examples
    --------
    >>> streak_probability(3, 3, 0.5)
    0.125
    """
    return min(share**row * (1 + (among - row) * (1 - share)), 1.0)


def _shared(grades: pd.DataFrame) -> pd.DataFrame:
    """Grades on pairs that several annotators graded, each beside those of the others on the pair.

    Parameters
    ----------
    grades
        ``query_id``, ``doc_id``, ``annotator``, ``grade`` of any pairs.

    Returns
    -------
    DataFrame
        The same of shared pairs, with ``others`` (how many), ``same`` (how many of these gave the same grade) and
        ``others_mean``.
    """
    several = grades[grades.duplicated(PAIR, keep=False)]
    on_pair = several.groupby(PAIR)["grade"]
    others = on_pair.transform("size") - 1
    same = several.groupby([*PAIR, "grade"])["grade"].transform("size") - 1
    return several.assign(others=others, same=same, others_mean=(on_pair.transform("sum") - several["grade"]) / others)


def _agreement(shared: pd.DataFrame) -> float:
    """The share of comparisons with another annotator in which both gave the same grade."""
    return float(shared["same"].sum() / shared["others"].sum()) if len(shared) else np.nan


def _remarks(f: dict[str, Any], facts: pd.DataFrame, shared: pd.DataFrame) -> Iterator[str]:
    """What is out of the ordinary in one annotator's facts, in sentences with the numbers."""
    if f["judgements"] < FEW:
        return
    is_own = shared["annotator"] == f["annotator"]
    mine, theirs = shared[is_own], shared[~is_own]
    if f["timed"] >= FEW and f["quick"] >= QUICK_SHARE * f["timed"]:
        yield f"{f['quick']:,} of {f['timed']:,} judgements in under {QUICK:g} second."
    others = facts.loc[(facts["annotator"] != f["annotator"]) & (facts["timed"] >= FEW), "seconds"]
    if f["timed"] >= FEW and f["seconds"] < MUCH_FASTER * others.median():
        span = f"{others.min():.1f} to {others.max():.1f} s" if len(others) > 1 else f"{others.iloc[0]:.1f} s"
        yield f"A median of {f['seconds']:.1f} s a judgement; the others' medians: {span}."
    if f["graded"] >= FEW and f["top_share"] >= ONE_GRADE:
        yield from _one_grade(f, mine, theirs)
    chance = streak_probability(f["row"], f["said"], f["row_share"])
    if f["said"] >= FEW and chance < RARE_ROW:
        often = "less than one in a million" if chance < 1e-6 else f"one in {round(1 / chance):,}"
        yield (
            f"Grade {f['row_grade']}, {f['row']:,} times in a row. If {f['said']:,} grades with their share of it "
            f"({f['row_share']:.0%}) came in a random order, {often} annotators would have a row so long; documents "
            "that come one after the other are often alike."
        )
    among = _shared(theirs[[*PAIR, "annotator", "grade"]])
    if min(len(mine), len(among)) >= FEW and f["agreement"] <= _agreement(among) - FAR_AGREEMENT:
        yield (
            f"The same grade as another annotator in {f['agreement']:.0%} of comparisons, on {len(mine):,} shared "
            f"pairs; the others among themselves: {_agreement(among):.0%}."
        )
    error = float((mine["grade"] - mine["others_mean"]).sem())
    if len(mine) >= FEW and abs(f["higher"]) >= FAR_GRADE and abs(f["higher"]) > 2 * error:
        which = "higher" if f["higher"] > 0 else "lower"
        yield f"Grades {abs(f['higher']):.2f} {which} than the others' on average, on {len(mine):,} shared pairs."
    if f["cannot_judge"] >= CANNOT_SHARE * f["judgements"]:
        yield f"No grade (cannot judge) for {f['cannot_judge']:,} of {f['judgements']:,} pairs."


def _one_grade(f: dict[str, Any], mine: pd.DataFrame, theirs: pd.DataFrame) -> Iterator[str]:
    """A remark on one grade nearly throughout, unless the others gave it about as often to the same pairs."""
    said = f"Grade {f['top_grade']} in {round(f['top_share'] * f['graded']):,} of {f['graded']:,} judgements."
    if len(mine) < FEW:
        yield said
        return
    own, other = ((frame["grade"] == f["top_grade"]).mean() for frame in (mine, theirs.merge(mine[PAIR])))
    if other < ONE_GRADE * own:
        yield f"{said} On the {len(mine):,} pairs that others graded too: {own:.0%}, and the others {other:.0%}."
