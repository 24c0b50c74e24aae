"""What annotators say together of each two documents, how far they agree, and whether it fits together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.records import require_columns

NEEDED = ("annotator", "query_id", "left", "right", "kind")


class PreferenceAgreement(NamedTuple):
    """How far annotators agree who compared the same documents, and whether what they say fits together.

    Attributes
    ----------
    pairs
        Pairs of documents that two or more annotators judged.
    comparisons
        Pairs of annotators on these.
    same
        Share of the comparisons in which both said the same: this one, that one, or equal; nan where there is none.
    triads
        Three documents of a topic of which each two have a better one by majority.
    circular
        Share of the triads in which each is better than one of the others (Kendall & Babington Smith 1940), so that no
        order fits; one in four where all is chance, nan without a triad. The plan asks nothing that follows from other
        answers, so one annotator alone leaves few triads, and circular ones only where answers were changed.
    """

    pairs: int
    comparisons: int
    same: float
    triads: int
    circular: float


def latest_preferences(preferences: pd.DataFrame) -> pd.DataFrame:
    """Of a whole log each annotator's last word on each two documents of a topic, without what was taken back.

    Parameters
    ----------
    preferences
        ``annotator``, ``query_id``, ``left``, ``right``, ``kind``; oldest first.

    Examples
    --------
    >>> rows = [("ann", "1", "a", "b", "left"), ("ann", "1", "b", "a", "left"), ("ann", "1", "a", "c", "left")]
    >>> latest_preferences(pd.DataFrame(rows, columns=list(NEEDED)))["left"].tolist()
    ['b', 'a']
    """
    require_columns(preferences, NEEDED, "what is preferred")
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
    """Each two documents that anybody compared, and how often each was preferred.

    Parameters
    ----------
    preferences
        ``annotator``, ``query_id``, ``left``, ``right``, ``kind``; pairs that could not be judged are left out.

    Returns
    -------
    DataFrame
        ``query_id``, ``first``, ``second`` (ids, the smaller first), ``for_first``, ``for_second``, ``equal`` (how
        many annotators); topics and pairs in the order in which they come.
    """
    require_columns(preferences, NEEDED, "what is preferred")
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
    """The better and the worse of each two documents, by what most annotators say.

    Parameters
    ----------
    preferences
        As for :func:`count_votes`.

    Returns
    -------
    DataFrame
        ``query_id``, ``better``, ``worse``. A pair is left out where more or as many say "equal", or the other way.

    Examples
    --------
    >>> rows = [("ann", "1", "a", "b", "left"), ("ben", "1", "b", "a", "right"), ("cai", "1", "a", "b", "equal")]
    >>> majority(pd.DataFrame(rows, columns=list(NEEDED))).values.tolist()
    [['1', 'a', 'b']]
    """
    pairs = count_votes(preferences)
    first = (pairs["for_first"] > pairs["for_second"]) & (pairs["for_first"] > pairs["equal"])
    second = (pairs["for_second"] > pairs["for_first"]) & (pairs["for_second"] > pairs["equal"])
    decided = pairs[first | second]
    better = decided["first"].where(first[first | second], decided["second"])
    worse = decided["second"].where(first[first | second], decided["first"])
    return pd.DataFrame({"query_id": decided["query_id"], "better": better, "worse": worse}).reset_index(drop=True)


def agreement(preferences: pd.DataFrame) -> PreferenceAgreement:
    """How often two annotators say the same of two documents, and how many circles the majority has.

    Parameters
    ----------
    preferences
        ``annotator``, ``query_id``, ``left``, ``right``, ``kind``: each annotator's word on each pair once.
    """
    require_columns(preferences, NEEDED, "the agreement of preferences")
    said: dict[tuple[str, str, str], list[str]] = {}
    for query_id, left, right, kind in preferences[list(NEEDED[1:])].itertuples(index=False, name=None):
        better = {"left": left, "right": right, "equal": ""}.get(kind)
        if better is not None:
            said.setdefault((query_id, *sorted((left, right))), []).append(better)
    same = [one == other for words in said.values() for one, other in combinations(words, 2)]
    triads, circles = _triads(majority(preferences))
    return PreferenceAgreement(
        sum(len(words) > 1 for words in said.values()),
        len(same),
        float(np.mean(same)) if same else float("nan"),
        triads,
        circles / triads if triads else float("nan"),
    )


def _triads(decided: pd.DataFrame) -> tuple[int, int]:
    """Threes of documents with all three pairs decided, and how many of them go round in a circle."""
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
        # Closed walks of three steps: each triad has six of them, each circle three.
        triads += round(float(((met @ met) * met).sum()) / 6)
        circles += round(float(((beats @ beats) * beats.T).sum()) / 3)
    return triads, circles
