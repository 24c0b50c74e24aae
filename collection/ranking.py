"""The order of a ranking as in trec_eval: score descending, then document id descending by bytes.

The rank column of a file is ignored. A run in order is not sorted, and document ids are compared only where scores are
equal, since that is the slow part.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.extensions import ExtensionArray

from collection.frames import RUN, SCORES

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]


def rank_run(frame: pd.DataFrame) -> pd.DataFrame:
    """Order a run and number its rows.

    Parameters
    ----------
    frame
        :data:`collection.frames.SCORES`; quickest with categorical ``query_id``. Duplicate pairs are not looked for.

    Returns
    -------
    DataFrame
        :data:`collection.frames.RUN`: ``doc_id`` str, ``score`` float64, ``rank`` and ``listed`` int32. Topics in order
        of first occurrence, each in one piece, best document first: scores descending (-0.0 equals 0.0), then document
        ids descending by code points, which is the order of their UTF-8 bytes; ``rank`` numbers them.
        ``listed`` is the rank with equal scores in the order of `frame`, as in TREC's pools.

    Raises
    ------
    ColumnsError, InputError
        A column, a score or an id is missing, or a score is no number.

    Examples
    --------
    >>> run = pd.DataFrame({"query_id": ["1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 1.0, 2.0]})
    >>> rank_run(run)["doc_id"].tolist()
    ['c', 'b', 'a']
    """
    SCORES.check(frame)
    score = frame["score"].astype(np.float64)
    # Unchanged columns stay Series, not arrays, so that pandas copies them before either frame is written to.
    query_id, doc_id = frame["query_id"].reset_index(drop=True), frame["doc_id"].astype("str").reset_index(drop=True)
    score = score.reset_index(drop=True)
    scores: Floats = np.asarray(score, dtype=np.float64)
    topics = _topic_codes(query_id)
    starts, level = _compared(topics, scores)
    if len(np.unique(topics[starts])) < len(starts) or (scores[level] > scores[level - 1]).any():
        order = _sorted(pd.factorize(topics)[0], scores)
        query_id, doc_id, score = _taken(query_id, order), _taken(doc_id, order), _taken(score, order)
        topics, scores = topics[order], np.asarray(score, dtype=np.float64)
        starts, level = _compared(topics, scores)
    places, rows = _unsettled(doc_id, level)
    if len(places):
        order = np.arange(len(scores), dtype=np.int32)
        order[places] = rows
        doc_id = _taken(doc_id, order)
        tied = scores[places]
        if np.signbit(tied[tied == 0]).any():  # -0.0 ties with 0.0, and the sign goes with its document
            score = _taken(score, order)
        del order  # as large as what comes now
    rank = _numbered(starts, len(scores))
    listed = rank
    if len(places):
        listed = rank.copy()
        listed[places] = rank[rows]
    ranked = {"query_id": query_id, "doc_id": doc_id, "score": score, "rank": rank, "listed": listed}
    return pd.DataFrame(ranked, columns=list(RUN.names), copy=False)


def _topic_codes(query_id: pd.Series) -> Ints:
    """An arbitrary integer for each topic."""
    if isinstance(query_id.dtype, pd.CategoricalDtype):
        return query_id.cat.codes.to_numpy()
    return pd.factorize(query_id)[0]


def _compared(topics: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """The starts of runs of one topic, and the other rows whose score is not below that of the row above."""
    begins = np.ones(len(topics), dtype=np.bool_)
    np.not_equal(topics[1:], topics[:-1], out=begins[1:])
    below = scores[1:] < scores[:-1]
    below |= begins[1:]
    return np.flatnonzero(begins), np.flatnonzero(~below) + 1


def _unsettled(doc_id: pd.Series, lower: Ints) -> tuple[Ints, Ints]:
    """The positions of tied rows, and the rows that belong there in order of document ids; empty if in order.

    The rows are in order of score; `lower` are those that tie with the row above.
    """
    documents = doc_id.array
    if (documents[lower - 1] > documents[lower]).all():
        return lower[:0], lower[:0]
    like_above = np.zeros(len(documents) + 1, dtype=np.bool_)
    like_above[lower] = True
    tied = np.flatnonzero(like_above[1:] | like_above[:-1])
    return tied, tied[_sorted(np.cumsum(~like_above[tied]), documents[tied])]


def _numbered(starts: Ints, count: int) -> npt.NDArray[np.int32]:
    """Number rows 1, 2, 3, ... from each start."""
    lengths = np.diff(starts, append=count)
    numbers = np.arange(1, lengths.max(initial=0) + 1, dtype=np.int32)
    made = np.empty(count, dtype=np.int32)
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        made[start : start + length] = numbers[:length]
    return made


def _sorted(groups: Ints, values: Floats | ExtensionArray) -> Ints:
    """Row positions by group, ascending, then by value, descending, stable.

    Arrow, which compares texts by bytes, splits the rows by group first: faster than sorting all by value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.table({"group": pa.array(groups), "value": pa.array(values)})
    return pc.sort_indices(rows, sort_keys=[("group", "ascending"), ("value", "descending")]).to_numpy().view(np.int64)


def _taken(column: pd.Series, order: Ints) -> pd.Series:
    """The rows in this order; `Series.take` would take the index, too."""
    return pd.Series(column.array.take(order), copy=False)
