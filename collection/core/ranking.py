"""The order of a ranking as in trec_eval: score descending, then document id descending by bytes.

The rank column of a file is ignored. A run in order is not sorted, and document ids are compared only where scores are
equal, since that is the slow part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core import arrow
from collection.core.arrays import Bools, Floats, Integers, distinct
from collection.core.frames import RUN, SCORES
from collection.core.phrases import count, join_first
from collection.core.records import Run

if TYPE_CHECKING:
    import pandas as pd


def rank_run(frame: pd.DataFrame) -> pd.DataFrame:
    """Order a run and number its rows.

    Parameters
    ----------
    frame
        :data:`.SCORES`; quickest with categorical ``query_id``. Duplicate pairs are not looked for.

    Returns
    -------
    DataFrame
        :data:`.RUN`: ``doc_id`` str, ``score`` float64, ``rank`` and ``listed`` int32. Topics in order
        of first occurrence, each in one piece, best document first: scores descending (-0.0 equals 0.0), then document
        ids descending by code points, which is the order of their UTF-8 bytes; ``rank`` numbers them.
        ``listed`` is the rank with equal scores in the order of `frame`, as in TREC's pools. Where a ``rank`` of
        `frame` contradicts its scores, :func:`doubt_run` says so.

    Raises
    ------
    ColumnsError, InputError
        A column, a score or an id is missing, or a score is no number.

    Examples
    --------
    >>> import pandas as pd
    >>> run = pd.DataFrame({"query_id": ["1"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 1.0, 2.0]})
    >>> rank_run(run)["doc_id"].tolist()
    ['c', 'b', 'a']
    """
    import pandas as pd

    frame = SCORES.check(frame)
    # Unchanged columns stay Series, not arrays, so that pandas copies them before either frame is written to.
    query_id, doc_id, score = frame["query_id"], frame["doc_id"].astype("str"), frame["score"].astype(np.float64)
    scores: Floats = np.asarray(score, dtype=np.float64)
    starts, by_score, places, rows = order_rows(_topic_codes(query_id), scores, arrow.from_column(doc_id))
    if by_score is not None:
        query_id, doc_id, score = _taken(query_id, by_score), _taken(doc_id, by_score), _taken(score, by_score)
    if len(places):
        order = np.arange(len(scores), dtype=np.int32)
        order[places] = rows
        doc_id = _taken(doc_id, order)
        tied = np.asarray(score, dtype=np.float64)[places]
        if np.signbit(tied[tied == 0]).any():  # -0.0 ties with 0.0, and the sign goes with its document
            score = _taken(score, order)
        del order  # as large as what comes now
    rank = _numbered(starts, len(scores))
    listed = rank
    if len(places):
        listed = rank.copy()
        listed[places] = rank[rows]
    ranked = {"query_id": query_id, "doc_id": doc_id, "score": score, "rank": rank, "listed": listed}
    ranked_frame = pd.DataFrame(ranked, columns=list(RUN.names), copy=False)
    doubts = frame.attrs.get(DOUBTS)
    if "listed" not in frame:  # otherwise its rank was computed here
        doubts = None
        if "rank" in frame and (stated := frame["rank"].to_numpy()).dtype.kind == "i":
            stated = stated if by_score is None else stated[by_score]
            if len(places):
                stated = stated.copy()
                stated[places] = stated[rows]
            doubts = _doubt(ranked_frame, stated)
    if doubts is not None and Doubts(*doubts).contradicted:
        ranked_frame.attrs[DOUBTS] = doubts
    return ranked_frame


def without_query_documents(run: Run) -> Run:
    """Leave out documents whose id is that of their topic, as BEIR's ``ignore_identical_ids`` does.

    >>> import pandas as pd
    >>> run = Run("r", pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["q1", "d7"], "score": [2.0, 1.0]}))
    >>> without_query_documents(run).frame["doc_id"].tolist()
    ['d7']
    """
    frame = SCORES.check(run.frame)
    own = frame["query_id"].astype("str") == frame["doc_id"].astype("str")
    return run._replace(frame=rank_run(frame[~own])) if own.any() else run


DOUBTS = "doubts"
"""Attribute of a frame (``DataFrame.attrs``) with the :class:`Doubts` about a run whose ranks contradict its scores."""


class Doubts(NamedTuple):
    """Doubts about the order of a run.

    Attributes
    ----------
    topics
        Number of topics with two documents or more.
    tied
        Those in which all documents have the same score.
    contradicted
        Those whose stated ranks contradict the scores: the document with the lower score has the better rank.
    turned
        Whether the stated ranks are the order of the scores from low to high in all of `contradicted`.
    example
        A pair of documents of the first of `contradicted`.
    """

    topics: int = 0
    tied: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    turned: bool = False
    example: str = ""

    @classmethod
    def merge(cls, parts: Sequence[Doubts]) -> Doubts:
        """Merge the doubts about parts of a run."""
        doubted = [part for part in parts if part.contradicted]
        return cls(
            sum(part.topics for part in parts),
            tuple(topic for part in parts for topic in part.tied),
            tuple(topic for part in doubted for topic in part.contradicted),
            bool(doubted) and all(part.turned for part in doubted),
            doubted[0].example if doubted else "",
        )


def doubt_run(ranked: pd.DataFrame) -> Doubts:
    """Find the doubts about a run from :func:`rank_run`."""
    doubt = _doubt(ranked, None)
    if DOUBTS not in ranked.attrs:
        return doubt
    return Doubts(*ranked.attrs[DOUBTS])._replace(tied=doubt.tied)  # trec_eval 9 ties more scores


def _doubt(ranked: pd.DataFrame, stated: Integers | None) -> Doubts:
    starts = np.flatnonzero(ranked["rank"].to_numpy() == 1)
    names = ranked["query_id"].iloc[starts].astype("str").tolist()
    scores = ranked["score"].to_numpy(dtype=np.float64)
    return find_doubts(starts, names, scores, stated, lambda row: str(ranked["doc_id"].iloc[row]))


def find_doubts(
    starts: Integers, names: Sequence[str], scores: Floats, stated: Integers | None, name_document: Callable[[int], str]
) -> Doubts:
    """Find the doubts about rows in the order of their scores.

    Parameters
    ----------
    starts, names
        The row at which each topic begins, and its id.
    scores, stated
        (N,): scores, and the ranks that came with them, or the first of these.
    name_document
        The id of the document in a row.
    """
    lengths = np.diff(starts, append=len(scores))
    equal = scores[1:] == scores[:-1]
    tied: tuple[str, ...] = ()
    if equal.any():
        equal[starts[1:] - 1] = False
        ties = np.add.reduceat(np.append(equal, False), starts, dtype=np.int64)
        tied = tuple(names[place] for place in np.flatnonzero((ties == lengths - 1) & (lengths > 1)).tolist())
    several = int((lengths > 1).sum())
    stated = np.empty(0, np.int32) if stated is None else stated
    scores, starts, lengths = scores[: len(stated)], starts[starts < len(stated)], lengths[: len(starts)]
    descends = _descends(stated, scores, starts)
    if not descends.any():
        return Doubts(several, tied)
    topics = distinct(np.searchsorted(starts, np.flatnonzero(descends), side="right") - 1)
    first = int(starts[topics[0]])
    end = first + int(lengths[topics[0]])
    better, worse = (first + row for row in _contradiction(stated[first:end], scores[first:end]))
    pair = (
        f"document {name_document(better)!r} has rank {stated[better]} and score {scores[better]:g}, "
        f"{name_document(worse)!r} rank {stated[worse]} and score {scores[worse]:g}"
    )
    rises = _descends(-stated, scores, starts)
    of_rise = np.searchsorted(starts, np.flatnonzero(rises), side="right") - 1
    return Doubts(several, tied, tuple(names[t] for t in topics.tolist()), not np.isin(of_rise, topics).any(), pair)


def _contradiction(stated: Integers, scores: Floats) -> tuple[int, int]:
    """The row with the best stated rank that contradicts the scores, and the row with the worst rank above it.

    Both are rows of one topic in the order of their scores, of which at least two contradict each other.
    """
    above = np.searchsorted(-scores, -scores)  # rows with a higher score
    worst = np.maximum.accumulate(np.concatenate([stated[:1], stated]))[above]
    wrong = np.flatnonzero((above > 0) & (stated < worst))
    better = int(wrong[stated[wrong].argmin()])
    return better, int(stated[: above[better]].argmax())


def describe_doubts(doubts: Mapping[str, Doubts]) -> list[str]:
    """Write notes on the order of runs, by their names."""
    notes = []
    if contradicted := {name: each for name, each in doubts.items() if each.contradicted}:
        name, each = next(iter(contradicted.items()))
        advice = (
            "if lower scores are better (distances), negate them; if the ranks are right, write 1/rank as the score"
        )
        notes.append(
            f"{name}: the ranks contradict the scores{' in reverse' * each.turned} in {len(each.contradicted):,} of "
            f"{count(each.topics, 'topic')} (topic {each.contradicted[0]}: {each.example}). The score decides: "
            f"{advice}{_others(contradicted)}"
        )
    if tied := {name: each for name, each in doubts.items() if each.tied}:
        name, each = next(iter(tied.items()))
        notes.append(
            f"{name}: all documents have the same score in {len(each.tied):,} of "
            f"{count(each.topics, 'topic')} with two documents or more (such as {each.tied[0]}). Measures order them "
            "by document id, descending; if the run has an order, write it as the score, such as 1/rank"
            f"{_others(tied)}"
        )
    return notes


def _others(doubts: Mapping[str, Doubts]) -> str:
    names = list(doubts)[1:]
    return f". The same holds for {join_first(names)}" if names else ""


def _descends(stated: Integers, scores: Floats, starts: Integers) -> Bools:
    """(N,): whether a row has a better stated rank than the row above, which has a higher score.

    Rows with the same score are put into the order of their stated ranks first.
    """
    if len(stated) < 2:
        return np.zeros(len(stated), dtype=np.bool_)

    def below(ranks: Integers) -> Bools:
        lower = np.zeros(len(ranks), dtype=np.bool_)
        np.less(ranks[1:], ranks[:-1], out=lower[1:])
        lower[starts] = False
        return lower

    lower = below(stated)
    if lower.any() and (scores[1:] == scores[:-1]).any():
        changes = np.ones(len(scores), dtype=np.bool_)
        np.not_equal(scores[1:], scores[:-1], out=changes[1:])
        changes[starts] = True
        lower = below(stated[np.lexsort((stated, np.cumsum(changes)))])
    return lower


class Order(NamedTuple):
    """The order of the rows of a run.

    Attributes
    ----------
    starts
        The place at which each topic begins.
    by_score
        The row at each place, with equal scores in the order of the rows; None if the rows are in this order.
    places, rows
        The places that document ids reorder, and the place in `by_score` of the row that belongs there.
    """

    starts: Integers
    by_score: Integers | None
    places: Integers
    rows: Integers


def order_rows(topics: Integers, scores: Floats, doc_ids: Any) -> Order:
    """Order the rows of a run as :func:`rank_run` does.

    Parameters
    ----------
    topics
        (N,): an integer for each topic.
    scores
        (N,): without nan.
    doc_ids
        An arrow array of N texts.
    """
    starts, level = _compared(topics, scores)
    by_score = None
    if len(distinct(topics[starts])) < len(starts) or (scores[level] > scores[level - 1]).any():
        by_score = _sorted(_in_first_order(topics), arrow.from_numpy(scores))
        starts, level = _compared(topics[by_score], scores[by_score])
    return Order(starts, by_score, *_unsettled(doc_ids, by_score, level))


def rank_rows(order: Order, count: int) -> Integers:
    """The rank, from 1, of each of the `count` rows."""
    rank = _numbered(order.starts, count)
    if len(order.places):
        of_place = rank.copy()
        of_place[order.rows] = rank[order.places]
        rank = of_place
    if order.by_score is not None:
        of_row = np.empty_like(rank)
        of_row[order.by_score] = rank
        rank = of_row
    return rank


def _topic_codes(query_id: pd.Series) -> Integers:
    """An arbitrary integer for each topic."""
    import pandas as pd

    if isinstance(query_id.dtype, pd.CategoricalDtype):
        return query_id.cat.codes.to_numpy()
    return pd.factorize(query_id)[0]


def _in_first_order(topics: Integers) -> Integers:
    """The topics numbered by first occurrence."""
    return arrow.to_numpy(arrow.from_numpy(topics).dictionary_encode().indices)


def _compared(topics: Integers, scores: Floats) -> tuple[Integers, Integers]:
    """The starts of runs of one topic, and the other rows whose score is not below that of the row above."""
    begins = np.ones(len(topics), dtype=np.bool_)
    np.not_equal(topics[1:], topics[:-1], out=begins[1:])
    below = scores[1:] < scores[:-1]
    below |= begins[1:]
    return np.flatnonzero(begins), np.flatnonzero(~below) + 1


def _unsettled(doc_ids: Any, by_score: Integers | None, lower: Integers) -> tuple[Integers, Integers]:
    """`places` and `rows` of :class:`Order`; `lower` are the places that tie with the place above."""
    import pyarrow.compute as pc

    def texts(places: Integers) -> Any:
        return doc_ids.take(arrow.from_numpy(places if by_score is None else by_score[places]))

    if not len(lower) or pc.all(pc.greater(texts(lower - 1), texts(lower))).as_py():
        return lower[:0], lower[:0]
    like_above = np.zeros(len(doc_ids) + 1, dtype=np.bool_)
    like_above[lower] = True
    tied = np.flatnonzero(like_above[1:] | like_above[:-1])
    return tied, tied[_sorted(np.cumsum(~like_above[tied]), texts(tied))]


def _numbered(starts: Integers, count: int) -> npt.NDArray[np.int32]:
    """Number rows 1, 2, 3, ... from each start."""
    lengths = np.diff(starts, append=count)
    numbers = np.arange(1, lengths.max(initial=0) + 1, dtype=np.int32)
    codes = np.empty(count, dtype=np.int32)
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        codes[start : start + length] = numbers[:length]
    return codes


def _sorted(groups: Integers, values: Any) -> Integers:
    """Row positions by group, ascending, then by value, an arrow array, descending, stable.

    Arrow, which compares texts by bytes, splits the rows by group first: faster than sorting all by value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.Table.from_arrays([arrow.from_numpy(groups), values], ["group", "value"])
    order = pc.sort_indices(rows, sort_keys=[("group", "ascending"), ("value", "descending")])
    return arrow.to_numpy(order).view(np.int64)


def _taken(column: pd.Series, order: Integers) -> pd.Series:
    """The rows in this order; `Series.take` would take the index, too."""
    import pandas as pd

    return pd.Series(column.array.take(order), copy=False)
