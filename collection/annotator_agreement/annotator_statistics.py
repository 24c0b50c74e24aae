"""How annotators work: their pace, and habits that a manager may want to know of.

Everything here is a fact with its numbers, never a verdict: somebody may answer quickly because they are an expert,
and give the same grade forty times because forty documents are alike. What is far out of the ordinary is put into a
sentence (:attr:`Conduct.remarks`); what "far" means stands in the constants of this module, and below :data:`FEW`
judgements nothing is said at all. Judgements that were imported have no seconds, no hours and no order of their own:
they came with a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection.annotator_agreement.judging_time import sessions
from collection.records import require_columns

QUICK = 1.0
"""Seconds on screen below which nobody has read a document."""

FEW = 20
"""Judgements (timed ones, shared pairs) below which nothing is remarked."""

QUICK_SHARE = 0.1
"""From this share of judgements in under QUICK seconds on it is remarked."""

MUCH_FASTER = 0.25
"""A median below this share of the others' median is remarked."""

ONE_GRADE = 0.95
"""From this share of one and the same grade on it is remarked, unless the others gave it as often to the same pairs."""

RARE_ROW = 0.001
"""A row of one grade that chance brings less often than this is remarked."""

FAR_AGREEMENT = 0.2
"""So much less agreement with the others than these have among themselves is remarked."""

FAR_GRADE = 0.25
"""A mean grade so far from that of the others on the same pairs is remarked, if it is also two standard errors away."""

CANNOT_SHARE = 0.2
"""From this share of "cannot judge" on it is remarked."""


class Conduct(NamedTuple):
    """What can be said of the annotators.

    Attributes
    ----------
    facts
        One row an annotator, by name:

        - ``annotator``, ``judgements`` (pairs on which their word stands), ``imported`` (all of them were),
          ``first_at``, ``last_at`` (ISO 8601).
        - ``seconds_low``, ``seconds``, ``seconds_high``: quartiles and median of the seconds that a document was on
          screen, of all judgements that have them, revised ones too; ``timed``: how many; ``quick``: those below QUICK.
        - ``sessions``, ``hours`` (in sessions, from the first document to the last judgement), ``per_hour``, ``days``
          (UTC days with a judgement), ``per_day``; ``active`` and ``away``: hours on screen, and those in which the
          page was not in front or nobody moved, of judgements that have them.
        - ``graded`` (pairs on which they have a grade), ``grades`` (how many of each, as "0: 70, 1: 30"),
          ``top_grade``, ``top_share``; of all they said in order, ``said`` grades, revised ones too and none imported:
          ``row`` (the most with one grade in a row), ``row_grade``, ``row_share`` (the share of this grade).
        - ``cannot_judge``, ``flagged`` (pairs that they want to be looked at again), ``revised`` (entries that replace
          an earlier word), ``undone``.
        - ``shared`` (pairs that they and others graded), ``agreement`` (the share of comparisons with another annotator
          on these pairs in which both gave the same grade), ``higher`` (mean of their grade minus the mean of the
          others' on the pair: above 0 more lenient, below 0 stricter).
    remarks
        Annotator -> sentences; no entry where there is nothing to remark.
    times
        ``annotator``, ``judged_at`` (datetime64, UTC), ``seconds``: every judgement that has seconds, oldest first.
    days
        ``annotator``, ``day`` (datetime64), ``judgements``: how many entries each made on each day; no imported ones.
    """

    facts: pd.DataFrame
    remarks: dict[str, list[str]]
    times: pd.DataFrame
    days: pd.DataFrame


NEEDED = (
    "annotator",
    "query_id",
    "doc_id",
    "kind",
    "relevance",
    "judged_at",
    "seconds",
    "source",
    "revises",
    "counts_as",
    "away",
    "flagged",
)


def look(log: pd.DataFrame, current: pd.DataFrame) -> Conduct:
    """Look at how annotators work.

    Parameters
    ----------
    log
        The whole log, oldest first: the fields of :class:`collection.records.Judgement`. Adjudications are left out,
        which are another kind of work; surplus judgements are in, which are the same.
    current
        Of these the annotators' last words that stand, which grades and agreement are taken from.
    """
    for frame in (log, current):
        require_columns(frame, NEEDED, "conduct")
    log = log[(log["counts_as"] != "adjudication").to_numpy(dtype=np.bool_)].assign(
        at=lambda f: pd.to_datetime(f["judged_at"], utc=True, format="ISO8601"),
        seconds=lambda f: pd.to_numeric(f["seconds"]).astype("float64"),
        away=lambda f: pd.to_numeric(f["away"]).astype("float64"),
    )
    current = current[(current["counts_as"] == "judgement").to_numpy(dtype=np.bool_)]
    decided = log[(log["kind"] != "undone").to_numpy(dtype=np.bool_)]
    own = decided[(decided["source"] != "imported").to_numpy(dtype=np.bool_)]
    shared = _shared(current)
    rows = [
        {
            "annotator": name,
            **_amounts(current[current["annotator"] == name], log[log["annotator"] == name]),
            **_pace(own[own["annotator"] == name]),
            **_grades(own[own["annotator"] == name], current[current["annotator"] == name]),
            **_beside_others(shared[shared["annotator"] == name]),
        }
        for name in sorted(log["annotator"].unique())
    ]
    facts = pd.DataFrame(rows, columns=None if rows else ["annotator", "judgements"])
    remarks = {str(f["annotator"]): said for f in rows if (said := _remarks(f, facts, shared))}
    times = own.loc[own["seconds"].notna(), ["annotator", "at", "seconds"]].rename(columns={"at": "judged_at"})
    days = own.assign(day=own["at"].dt.floor("D").dt.tz_localize(None)).groupby(["annotator", "day"], as_index=False)
    return Conduct(facts, remarks, times.reset_index(drop=True), days.size().rename(columns={"size": "judgements"}))


def _amounts(current: pd.DataFrame, log: pd.DataFrame) -> dict[str, Any]:
    undone = log["kind"] == "undone"
    return {
        "judgements": len(current),
        "imported": bool((log["source"] == "imported").all()),
        "first_at": log["judged_at"].min(),
        "last_at": log["judged_at"].max(),
        "cannot_judge": int((current["kind"] == "cannot judge").sum()),
        "flagged": int(current["flagged"].sum()),
        "revised": int((log["revises"].notna() & ~undone).sum()),
        "undone": int(undone.sum()),
    }


def _pace(own: pd.DataFrame) -> dict[str, Any]:
    """What the times say of one annotator's own decisions, oldest first."""
    seconds = own["seconds"].dropna()
    low, middle, high = seconds.quantile([0.25, 0.5, 0.75]) if len(seconds) else (np.nan,) * 3
    spans = sessions(own)
    hours, days = float(spans["hours"].sum()), int(own["at"].dt.floor("D").nunique())
    return {
        "timed": len(seconds),
        "quick": int((seconds < QUICK).sum()),
        "seconds_low": low,
        "seconds": middle,
        "seconds_high": high,
        "sessions": len(spans),
        "hours": hours,
        "per_hour": len(own) / hours if hours > 0 else np.nan,
        "days": days,
        "per_day": len(own) / days if days else np.nan,
        "active": float(seconds.sum()) / 3600,
        "away": float(own["away"].sum()) / 3600,
    }


def _grades(own: pd.DataFrame, current: pd.DataFrame) -> dict[str, Any]:
    """The distribution of one annotator's grades, and their longest row of one and the same.

    In what order imported grades were made is not known, so the row is one of their own decisions, oldest first.
    """
    said = current.loc[current["kind"] == "graded", "relevance"].astype("int64")
    counts = said.value_counts().sort_index()
    in_order = own["relevance"].where(own["kind"] == "graded").astype("Int64").fillna(-1).to_numpy(np.int64)
    row, grade = longest_row(in_order)
    return {
        "graded": len(said),
        "grades": ", ".join(f"{g}: {n}" for g, n in counts.items()),
        "top_grade": int(counts.index.to_numpy()[counts.to_numpy().argmax()]) if len(said) else None,
        "top_share": counts.max() / len(said) if len(said) else np.nan,
        "row": row,
        "row_grade": grade,
        # A row lies in what was said in order, and is as likely as the grade is in this.
        "said": int((in_order >= 0).sum()),
        "row_share": float((in_order[in_order >= 0] == grade).mean()) if row else np.nan,
    }


def longest_row(grades: np.ndarray) -> tuple[int, int | None]:
    """The most equal grades in a row, and which; a negative value (no grade) breaks a row and makes none.

    Examples
    --------
    >>> longest_row(np.array([0, 0, 1, 1, 1, -1, 1]))
    (3, 1)
    """
    if not (grades >= 0).any():
        return 0, None
    starts = np.flatnonzero(np.r_[True, grades[1:] != grades[:-1]])
    lengths = np.where(grades[starts] >= 0, np.diff(np.r_[starts, len(grades)]), 0)
    longest = int(lengths.argmax())
    return int(lengths[longest]), int(grades[starts[longest]])


def chance_of_row(row: int, among: int, share: float) -> float:
    """The probability of `row` or more successes in a row somewhere among independent trials.

    With f(n) the probability that n trials hold no such row: f(n) = 1 for n < row, f(row) = 1 - share^row, and
    f(n) = f(n - 1) - (1 - share) share^row f(n - row - 1), since a first row that ends at n has a failure before it and
    none earlier. Source: Feller, An Introduction to Probability Theory and Its Applications I, XIII.7.

    Parameters
    ----------
    row
        How long, 1 or more.
    among
        How many trials.
    share
        The probability of a success.

    Examples
    --------
    Heads twice or more in a row in three throws of a coin: HHH, HHT, THH, of eight.

    >>> chance_of_row(2, 3, 0.5)
    0.375
    """
    if among < row:
        return 0.0
    ends = share**row
    none = np.ones(among + 1)
    none[row] = 1 - ends
    for n in range(row + 1, among + 1):
        none[n] = none[n - 1] - (1 - share) * ends * none[n - row - 1]
    return float(min(max(1 - none[among], 0.0), 1.0))


def _shared(current: pd.DataFrame) -> pd.DataFrame:
    """Grades on pairs that several annotators graded, each beside those of the others on the pair.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``annotator``, ``grade``, ``others`` (how many), ``same`` (how many of these gave the
        same grade), ``others_mean``.
    """
    pair = ["query_id", "doc_id"]
    graded = current[(current["kind"] == "graded").to_numpy(dtype=np.bool_)]
    said = graded[[*pair, "annotator"]].assign(grade=graded["relevance"].astype("int64"))
    on_pair = said.groupby(pair)["grade"]
    said["others"] = on_pair.transform("size") - 1
    said = said[said["others"] > 0]
    total = said.groupby(pair)["grade"].transform("sum")
    same = said.groupby([*pair, "grade"])["grade"].transform("size") - 1
    return said.assign(same=same, others_mean=(total - said["grade"]) / said["others"])


def _beside_others(shared: pd.DataFrame) -> dict[str, Any]:
    if shared.empty:
        return {"shared": 0, "agreement": np.nan, "higher": np.nan}
    return {
        "shared": len(shared),
        "agreement": shared["same"].sum() / shared["others"].sum(),
        "higher": float((shared["grade"] - shared["others_mean"]).mean()),
    }


def _remarks(f: dict[str, Any], facts: pd.DataFrame, shared: pd.DataFrame) -> list[str]:
    """What is out of the ordinary in one annotator's facts, in sentences with the numbers."""
    if f["judgements"] < FEW:
        return []
    mine = shared[shared["annotator"] == f["annotator"]]
    found = [
        _quick(f),
        _faster(f, facts),
        _one_grade(f, mine, shared),
        _row(f),
        _apart(f, shared),
        _stricter(f, mine),
        _often_cannot(f),
    ]
    return [sentence for sentence in found if sentence]


def _quick(f: dict[str, Any]) -> str:
    if f["timed"] < FEW or f["quick"] < QUICK_SHARE * f["timed"]:
        return ""
    return f"{f['quick']:,} of {f['timed']:,} judgements in under {QUICK:g} second."


def _faster(f: dict[str, Any], facts: pd.DataFrame) -> str:
    others = facts[(facts["annotator"] != f["annotator"]) & (facts["timed"] >= FEW)]["seconds"]
    if f["timed"] < FEW or others.empty or not f["seconds"] < MUCH_FASTER * others.median():
        return ""
    span = f"{others.min():.1f} to {others.max():.1f} s" if len(others) > 1 else f"{others.iloc[0]:.1f} s"
    return f"A median of {f['seconds']:.1f} s a judgement; the others' medians: {span}."


def _one_grade(f: dict[str, Any], mine: pd.DataFrame, shared: pd.DataFrame) -> str:
    if f["graded"] < FEW or f["top_share"] < ONE_GRADE:
        return ""
    count = round(f["top_share"] * f["graded"])
    said = f"Grade {f['top_grade']} in {count:,} of {f['graded']:,} judgements."
    if len(mine) < FEW:
        return said
    others = shared[shared["annotator"] != f["annotator"]].merge(mine[["query_id", "doc_id"]])
    theirs, own = float((others["grade"] == f["top_grade"]).mean()), float((mine["grade"] == f["top_grade"]).mean())
    if theirs >= ONE_GRADE * own:
        return ""
    return f"{said} On the {len(mine):,} pairs that others graded too: {own:.0%}, and the others {theirs:.0%}."


def _row(f: dict[str, Any]) -> str:
    if f["said"] < FEW:
        return ""
    chance = chance_of_row(f["row"], f["said"], f["row_share"])
    if chance >= RARE_ROW:
        return ""
    often = "less than one in a million" if chance < 1e-6 else f"one in {round(1 / chance):,}"
    return (
        f"Grade {f['row_grade']}, {f['row']:,} times in a row. If {f['said']:,} grades with their share of it "
        f"({f['row_share']:.0%}) came in a random order, {often} annotators would have a row so long; documents that "
        "come one after the other are often alike."
    )


def _apart(f: dict[str, Any], shared: pd.DataFrame) -> str:
    if f["shared"] < FEW:
        return ""
    others = shared[shared["annotator"] != f["annotator"]]
    among = _beside_others(_among(others))
    if among["shared"] < FEW or not f["agreement"] <= among["agreement"] - FAR_AGREEMENT:
        return ""
    return (
        f"The same grade as another annotator in {f['agreement']:.0%} of comparisons, on {f['shared']:,} shared pairs; "
        f"the others among themselves: {among['agreement']:.0%}."
    )


def _among(others: pd.DataFrame) -> pd.DataFrame:
    """The same table as if only these annotators were there."""
    return _shared(others.assign(kind="graded", relevance=others["grade"]))


def _stricter(f: dict[str, Any], mine: pd.DataFrame) -> str:
    if len(mine) < FEW:
        return ""
    apart = mine["grade"] - mine["others_mean"]
    error = float(apart.std(ddof=1)) / np.sqrt(len(apart))
    if abs(f["higher"]) < FAR_GRADE or abs(f["higher"]) <= 2 * error:
        return ""
    which = "higher" if f["higher"] > 0 else "lower"
    return f"Grades {abs(f['higher']):.2f} {which} than the others' on average, on {len(mine):,} shared pairs."


def _often_cannot(f: dict[str, Any]) -> str:
    if f["cannot_judge"] < CANNOT_SHARE * f["judgements"]:
        return ""
    return f"No grade (cannot judge) for {f['cannot_judge']:,} of {f['judgements']:,} pairs."
