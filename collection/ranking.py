"""The one order of a ranking: score descending, then document id descending by bytes.

This is the order that trec_eval gives a run, and everything here that needs "the first k documents"
asks this module for it: the rank column of a file is never believed. A run that is already in order is
only looked at, not sorted; and document ids are compared only where scores are equal, since comparing
strings is the dear part of sorting a run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.records import RUN_COLUMNS, require_columns

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int32]


def rank_run(frame: pd.DataFrame) -> pd.DataFrame:
    """Order a run and number its rows.

    Parameters
    ----------
    frame
        ``query_id``, ``doc_id`` (both categorical, which is quick, or strings) and ``score``. Other
        columns are ignored, a ``rank`` among them. The same pair twice is not looked for here.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``score`` (float64), ``rank``, ``listed`` (int32, from 1 in every topic).
        Topics stand in the order in which they first appear, each in one piece, best document first:
        scores descending as doubles (-0.0 equals 0.0), equal scores by document id descending,
        compared by code points, which is the order of their UTF-8 bytes; ``rank`` numbers them. ``listed``
        is the place that a document has if equal scores stay in the order of `frame`: what the system
        itself put forward, and what TREC's pools were made from. The index is 0, 1, 2 ...

    Raises
    ------
    ColumnsError
        If a column is missing.
    InputError
        If a score is NaN or no number: it has no place in an order.

    Examples
    --------
    >>> run = pd.DataFrame({"query_id": ["1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 1.0, 2.0]})
    >>> rank_run(run)["doc_id"].tolist()
    ['c', 'b', 'a']
    """
    require_columns(frame, RUN_COLUMNS[:3], "a ranking")
    try:
        score = frame["score"].astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"a ranking needs scores that are numbers: {error}") from None
    # Columns that need no change stay Series, not arrays: pandas then knows that two frames share them
    # and copies before either is written to.
    query_id, doc_id, score = (c.reset_index(drop=True) for c in (frame["query_id"], frame["doc_id"], score))
    scores: Floats = np.asarray(score, dtype=np.float64)
    wrong = np.isnan(scores)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            "a ranking needs a score for every document, found NaN for topic "
            f"{str(query_id.iloc[row])!r}, document {str(doc_id.iloc[row])!r}"
        )
    topics = _topic_codes(query_id)
    order = None if _by_score_already(topics, scores) else _by_topic_and_score(topics, scores)
    if order is not None:
        query_id, doc_id, score = (c.iloc[order].reset_index(drop=True) for c in (query_id, doc_id, score))
        topics, scores = topics[order], np.asarray(score, dtype=np.float64)
    starts = np.flatnonzero(_edges(topics))
    rank = np.arange(1, len(scores) + 1, dtype=np.int32)
    rank -= np.repeat(starts.astype(np.int32), np.diff(starts, append=len(scores)))
    doc_id, listed = _ties_settled(topics, scores, doc_id, rank)
    columns = {"query_id": query_id, "doc_id": doc_id, "score": score, "rank": rank, "listed": listed}
    return pd.DataFrame(columns, columns=list(RUN_COLUMNS), copy=False)


def _topic_codes(query_id: pd.Series[Any]) -> Ints:
    """One integer a topic; which one does not matter."""
    if isinstance(query_id.dtype, pd.CategoricalDtype):
        return query_id.cat.codes.to_numpy()
    return pd.factorize(query_id)[0]


def _edges(topics: Ints) -> npt.NDArray[np.bool_]:
    """True where a row's topic is not that of the row above."""
    edges = np.ones(len(topics), dtype=np.bool_)
    np.not_equal(topics[1:], topics[:-1], out=edges[1:])
    return edges


def _by_score_already(topics: Ints, scores: Floats) -> bool:
    """Whether every topic is in one piece and its scores never rise."""
    edges = _edges(topics)
    pieces = topics[edges]
    if len(np.unique(pieces)) < len(pieces):
        return False
    return not (~edges[1:] & (scores[1:] > scores[:-1])).any()


def _by_topic_and_score(topics: Ints, scores: Floats) -> Ints:
    """Row positions by topic (in order of appearance), then by score; ties as they came."""
    return np.lexsort((-scores, pd.factorize(topics)[0]))


def _ties_settled(topics: Ints, scores: Floats, doc_id: pd.Series[Any], rank: Ranks) -> tuple[pd.Series[Any], Ranks]:
    """The documents of rows that are in order of score, with equal scores in order of document id.

    Beside them the place that each had before: `rank` itself where nothing had to move.

    Nothing but documents has to move: topic and score are equal inside a tie. (So the sign of a zero
    may pass to the neighbour, which is the same number.) Only the rows inside ties are looked at.
    """
    like_above = np.zeros(len(scores) + 1, dtype=np.bool_)
    like_above[1:-1] = (scores[1:] == scores[:-1]) & (topics[1:] == topics[:-1])
    tied = np.flatnonzero(like_above[1:] | like_above[:-1])
    if not len(tied):
        return doc_id, rank
    groups = np.cumsum(~like_above[tied])
    settled = np.lexsort((-_text_order(doc_id.iloc[tied]), groups))
    if (settled[1:] > settled[:-1]).all():
        return doc_id, rank
    documents, listed = doc_id.array.copy(), rank.copy()
    documents[tied], listed[tied] = documents[tied[settled]], rank[tied[settled]]
    return pd.Series(documents, copy=False), listed


def _text_order(some: pd.Series[Any]) -> npt.NDArray[np.int64]:
    """For each document id its place among these ids by code points; equal ids share one."""
    if isinstance(some.dtype, pd.CategoricalDtype):
        codes, texts = pd.factorize(some.cat.codes.to_numpy())
        names = some.cat.categories.take(texts)
    else:
        codes, names = pd.factorize(some)
    # The `str` type compares bytes; objects would compare one Python string at a time.
    by_text = pd.Series(names).astype("str").array.argsort()
    places = np.empty(len(by_text), dtype=np.int64)
    places[by_text] = np.arange(len(by_text))
    return places[codes]
