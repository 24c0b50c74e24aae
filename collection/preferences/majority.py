"""Preferences of several annotators: votes, majorities, agreement, and circular triads."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.records import require_columns

NEEDED = ("annotator", "query_id", "left", "right", "kind")


class PreferenceAgreement(NamedTuple):
    """Agreement and consistency of preferences.

    Attributes
    ----------
    pairs, comparisons
        Number of pairs of documents that two or more annotators compared, and number of pairs of annotators over these.
    same
        Share of the comparisons with the same answer (left, right, or equal); nan without a comparison.
    triads
        Number of sets of three documents of a topic that have a majority preference for each two.
    circular
        Share of the triads in which a is better than b, b than c, and c than a (Kendall & Babington Smith 1940); 1/4 by
        chance, nan without a triad. :func:`~collection.preferences.plan` does not ask what follows from other answers,
        so one annotator leaves few triads, and circular ones only by changing an answer.
    """

    pairs: int
    comparisons: int
    same: float
    triads: int
    circular: float


def latest_preferences(preferences: pd.DataFrame) -> pd.DataFrame:
    """Reduce a log, oldest first, to each annotator's latest preference for each pair, without undone ones."""
    require_columns(preferences, NEEDED, "preferences")
    one, other = preferences["left"].astype(str), preferences["right"].astype(str)
    keys = pd.DataFrame(
        {
            "annotator": preferences["annotator"],
            "query_id": preferences["query_id"],
            "first": one.where(one < other, other),
            "second": other.where(one < other, one),
        }
    )
    last = ~keys.duplicated(keep="last")
    return preferences[last & (preferences["kind"] != "undone")].reset_index(drop=True)


def count_votes(preferences: pd.DataFrame) -> pd.DataFrame:
    """Count the votes for each document of a pair; "cannot judge" does not count.

    Returns
    -------
    DataFrame
        ``query_id``, ``first``, ``second`` (ids, the smaller first), ``for_first``, ``for_second``, ``equal`` (numbers
        of annotators), in order of first occurrence.
    """
    require_columns(preferences, NEEDED, "preferences")
    counted: dict[tuple[str, str, str], list[int]] = {}
    for query_id, left, right, kind in preferences[list(NEEDED[1:])].itertuples(index=False, name=None):
        if kind not in ("left", "right", "equal"):
            continue
        first, second = (left, right) if left < right else (right, left)
        votes = counted.setdefault((query_id, first, second), [0, 0, 0])
        votes[2 if kind == "equal" else int((kind == "left") != (left == first))] += 1
    columns = ["query_id", "first", "second", "for_first", "for_second", "equal"]
    frame = pd.DataFrame([(*key, *votes) for key, votes in counted.items()], columns=columns)
    return frame.astype(dict.fromkeys(columns[:3], "str") | dict.fromkeys(columns[3:], "int64"))


def majority(preferences: pd.DataFrame) -> pd.DataFrame:
    """Find the better document of each pair by plurality: ``query_id``, ``better``, ``worse``; ties are left out.

    >>> rows = [("ann", "1", "a", "b", "left"), ("ben", "1", "b", "a", "right"), ("cai", "1", "a", "b", "equal")]
    >>> majority(pd.DataFrame(rows, columns=list(NEEDED))).values.tolist()
    [['1', 'a', 'b']]
    """
    pairs = count_votes(preferences)
    first = (pairs["for_first"] > pairs["for_second"]) & (pairs["for_first"] > pairs["equal"])
    second = (pairs["for_second"] > pairs["for_first"]) & (pairs["for_second"] > pairs["equal"])
    better = pairs["first"].where(first, pairs["second"])
    worse = pairs["second"].where(first, pairs["first"])
    decided = pd.DataFrame({"query_id": pairs["query_id"], "better": better, "worse": worse})
    return decided[first | second].reset_index(drop=True)


def agreement(preferences: pd.DataFrame) -> PreferenceAgreement:
    """Compute the agreement of preferences with one answer per annotator and pair (:func:`latest_preferences`)."""
    require_columns(preferences, NEEDED, "preferences")
    answers: dict[tuple[str, str, str], list[str]] = {}
    for query_id, left, right, kind in preferences[list(NEEDED[1:])].itertuples(index=False, name=None):
        better = {"left": left, "right": right, "equal": ""}.get(kind)
        if better is not None:
            answers.setdefault((query_id, *sorted((left, right))), []).append(better)
    same = [one == other for words in answers.values() for one, other in combinations(words, 2)]
    triads, circles = _triads(majority(preferences))
    return PreferenceAgreement(
        sum(len(words) > 1 for words in answers.values()),
        len(same),
        float(np.mean(same)) if same else float("nan"),
        triads,
        circles / triads if triads else float("nan"),
    )


def _triads(decided: pd.DataFrame) -> tuple[int, int]:
    """Number of triads in which all three pairs are decided, and number of circular ones."""
    triads = circles = 0
    topics: dict[str, list[tuple[str, str]]] = {}
    for query_id, better, worse in decided.itertuples(index=False, name=None):
        topics.setdefault(query_id, []).append((better, worse))
    for pairs in topics.values():
        if len(pairs) < 3:
            continue
        # Documents in fewer than two pairs are in no triad.
        often = Counter(doc_id for pair in pairs for doc_id in pair)
        place = {doc_id: n for n, doc_id in enumerate(d for d, count in often.items() if count > 1)}
        beats = np.zeros((len(place), len(place)))
        for better, worse in pairs:
            if better in place and worse in place:
                beats[place[better], place[worse]] = 1
        met = beats + beats.T
        # Counts closed walks of three steps: each triad has six, a circular one three along its direction.
        triads += round(float(((met @ met) * met).sum()) / 6)
        circles += round(float(((beats @ beats) * beats.T).sum()) / 3)
    return triads, circles
