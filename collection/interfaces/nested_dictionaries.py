"""Alignment of nested dictionaries, the runs of pytrec_eval, without a frame in between.

Only judged documents are looked up, and ids are compared only where scores are equal: a run of seven million documents
never becomes a column of seven million strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core import arrow
from collection.core.arrays import Ints, distinct
from collection.core.errors import InputError
from collection.formats.in_memory import as_qrels
from collection.measures import Aligned, QrelsIndex, Version, index_qrels
from collection.measures.alignment import place_pairs
from collection.measures.qrels_index import index_pairs

Nested = Mapping[str, Mapping[str, float]]
"""``{query_id: {doc_id: number}}``."""

ScoreArray = npt.NDArray[np.floating]

TieOrder = Literal["descending", "ascending", "listed"]
"""The order of documents with equal scores: by id, or as listed."""

SHORT = 100
"""Mean number of documents of a topic up to which topics are ranked together: numpy is slow on many short arrays."""

_NUMBERS = frozenset({int, float, np.int32, np.int64, np.float32, np.float64})


class NestedQrels:
    """Qrels prepared for runs that are nested dictionaries.

    Parameters
    ----------
    qrels
        :data:`collection.core.frames.QRELS`, or ``{query_id: {doc_id: grade}}``.
    any_grade
        Whether documents with a grade below 0 are judged, as if it were 0.

    Attributes
    ----------
    index
        The same for :func:`collection.measures.align`.
    """

    def __init__(self, qrels: pd.DataFrame | Nested, *, any_grade: bool = False) -> None:
        lowest = 0.0 if any_grade else -np.inf
        index = None if isinstance(qrels, pd.DataFrame) else _index_plain(qrels, lowest)
        if index is None:
            frame = qrels if isinstance(qrels, pd.DataFrame) else as_qrels(qrels)
            index = index_qrels(frame.assign(relevance=frame["relevance"].clip(lower=0)) if any_grade else frame)
        self.index = index
        self._row = {topic: row for row, topic in enumerate(self.index.topics)}

    @cached_property
    def _pairs(self) -> list[dict[str, int]]:
        """Map, for each topic, a document to the place of the pair in the index, whose pairs are sorted by topic."""
        width = max(1, len(self.index.documents))
        starts = np.searchsorted(self.index.pairs, np.arange(len(self._row) + 1) * width).tolist()
        doc_ids = self.index.documents.take(arrow.from_numpy(self.index.pairs % width)).to_pylist()
        return [dict(zip(doc_ids[a:b], range(a, b), strict=True)) for a, b in pairwise(starts)]

    def align(self, run: Nested, *, ties: TieOrder = "descending", version: Version = 10) -> Aligned:
        """Align a run.

        Parameters
        ----------
        run
            ``{query_id: {doc_id: score}}``.
        ties
            The order of equal scores.
        version
            As for :func:`collection.measures.align`.

        Returns
        -------
        Aligned
            Its topics are those that both the run and the qrels have, in the order of the run.

        Raises
        ------
        InputError
            `run` in another form, or a score that is no number.
        """
        if not isinstance(run, Mapping):
            raise InputError(f"run: expected {{query_id: {{doc_id: score}}}}, found {type(run).__name__}")
        topics = [topic for topic in run if topic in self._row]
        scores = _scores(run, topics, np.float32 if version == 9 else np.float64)
        rankings = [run[topic] for topic in topics]
        of_index = [self._row[topic] for topic in topics]
        ids: list[str] = []
        pair: list[int] = []
        wanted: list[float] = []
        named = []
        pairs_of = self._pairs
        for place, documents in zip(of_index, rankings, strict=True):
            pairs = pairs_of[place]
            both = pairs.keys() & documents.keys()
            named.append(len(both))
            ids += both
            pair += map(pairs.__getitem__, both)
            wanted += map(documents.__getitem__, both)
        retrieved = np.array([len(documents) for documents in rankings], dtype=np.int64)
        row = np.repeat(np.arange(len(topics)), named)
        return place_pairs(
            self.index,
            of_index,
            row,
            _rank(rankings, scores, retrieved, row, ids, _numbers(wanted, scores.dtype), ties),
            np.array(pair, dtype=np.int64),
            topics=topics,
            retrieved=retrieved,
            ignored_topics=[topic for topic in run if topic not in self._row],
            version=version,
        )


def _index_plain(qrels: Nested, lowest: float) -> QrelsIndex | None:
    """Index dictionaries of texts and numbers; None for others, which :func:`.as_qrels` converts or refuses.

    Grades below `lowest` are raised to it.
    """
    if type(qrels) is not dict or not all(type(documents) is dict for documents in qrels.values()):
        return None
    judged = {topic: documents for topic, documents in qrels.items() if documents}
    doc_ids = list(chain.from_iterable(judged.values()))
    grades = list(chain.from_iterable(documents.values() for documents in judged.values()))
    if not {*map(type, judged), *map(type, doc_ids)} <= {str} or not set(map(type, grades)) <= _NUMBERS:
        return None
    values = np.array(grades, dtype=np.float64)
    if np.isnan(values).any():
        return None
    topic = np.repeat(np.arange(len(judged)), [len(documents) for documents in judged.values()])
    return index_pairs(list(judged), topic, arrow.from_texts(doc_ids), np.maximum(values, lowest))


def _scores(run: Nested, topics: list[str], kind: npt.DTypeLike) -> ScoreArray:
    """The scores of these topics, one after the other."""
    for topic in topics:
        if type(run[topic]) is not dict and not isinstance(run[topic], Mapping):
            found = f"{type(run[topic]).__name__} for {topic!r}"
            raise InputError(f"run: expected {{query_id: {{doc_id: score}}}}, found {found}")
    try:
        scores = _numbers(chain.from_iterable(run[topic].values() for topic in topics), kind)
    except (TypeError, ValueError) as error:
        raise InputError(f"run: expected numbers as scores ({error})") from None
    if np.isnan(scores).any():
        raise InputError("run: expected numbers as scores, found nan")
    return scores


def _numbers(values: Iterable[float], kind: npt.DTypeLike) -> ScoreArray:
    with np.errstate(over="ignore"):  # numbers beyond 32-bit floats become infinity, as in C
        return np.fromiter(values, np.float64).astype(kind, copy=False)


def _rank(
    rankings: Sequence[Mapping[str, float]],
    scores: ScoreArray,
    retrieved: Ints,
    row: Ints,
    ids: list[str],
    wanted: ScoreArray,
    ties: TieOrder,
) -> Ints:
    """The rank from 1 of some documents.

    Parameters
    ----------
    rankings, scores, retrieved
        The documents of each topic; the scores of all of them, topic by topic; and their number.
    row, ids, wanted
        The place of the topic, the id and the score of each of the documents to rank, topic by topic.
    ties
        The order of equal scores.
    """
    ends = np.cumsum(retrieved)
    if len(rankings) > 1 and len(scores) <= SHORT * len(rankings):
        levels = distinct(scores)
        keys = np.repeat(np.arange(len(rankings)), retrieved) * len(levels) + np.searchsorted(levels, scores)
        keys.sort()
        wanted_keys = row * len(levels) + np.searchsorted(levels, wanted)
        last = np.searchsorted(keys, wanted_keys, side="right")
        equal = last - np.searchsorted(keys, wanted_keys)
        rank: Ints = ends[row] - last + 1
    else:
        rank, equal = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64)
        begins = np.searchsorted(row, np.arange(len(rankings) + 1)).tolist()
        starts = [0, *ends.tolist()]
        for place, (begin, end) in enumerate(pairwise(begins)):
            if begin < end:
                ascending = np.sort(scores[starts[place] : starts[place + 1]])
                last = np.searchsorted(ascending, wanted[begin:end], side="right")
                equal[begin:end] = last - np.searchsorted(ascending, wanted[begin:end])
                rank[begin:end] = len(ascending) - last + 1
    tied = np.flatnonzero(equal > 1)
    for some in np.split(tied, np.flatnonzero(np.diff(row[tied])) + 1) if len(tied) else ():
        place = int(row[some[0]])
        own = scores[ends[place] - retrieved[place] : ends[place]]
        rank[some] += _places_among_equal(rankings[place], own, wanted[some], [ids[i] for i in some.tolist()], ties)
    return rank


def _places_among_equal(
    documents: Mapping[str, float], scores: ScoreArray, wanted: ScoreArray, ids: list[str], ties: TieOrder
) -> list[int]:
    """The place from 0 of each document in `ids` among those with its score; `scores` are those of all."""
    equal: dict[float, list[str]] = {score: [] for score in wanted.tolist()}
    for doc_id, score in zip(documents, scores.tolist(), strict=True):
        if score in equal:
            equal[score].append(doc_id)
    if ties != "listed":
        for group in equal.values():
            group.sort(reverse=ties == "descending")
    above = {doc_id: number for group in equal.values() for number, doc_id in enumerate(group)}
    return [above[doc_id] for doc_id in ids]
