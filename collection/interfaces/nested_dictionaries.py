"""Alignment of nested dictionaries, the runs of pytrec_eval, without a frame in between.

Only judged documents are looked up, and ids are compared only where scores are equal: a run of seven million documents
never becomes a column of seven million strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain, pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core.arrays import Ints
from collection.core.errors import InputError
from collection.measures import Aligned, Version, index_qrels
from collection.measures.alignment import place_pairs

Nested = Mapping[str, Mapping[str, float]]
"""``{query_id: {doc_id: number}}``."""

ScoreArray = npt.NDArray[np.floating]

TieOrder = Literal["descending", "ascending", "listed"]
"""The order of documents with equal scores: by id, or as listed."""


class NestedQrels:
    """Qrels prepared for runs that are nested dictionaries.

    Parameters
    ----------
    qrels
        :data:`collection.core.frames.QRELS`.

    Attributes
    ----------
    index
        The same for :func:`collection.measures.align`.
    """

    def __init__(self, qrels: pd.DataFrame) -> None:
        self.index = index_qrels(qrels)
        self._row = {topic: row for row, topic in enumerate(self.index.topics)}

    @cached_property
    def _pairs(self) -> list[dict[str, int]]:
        """Map, for each topic, a document to the place of the pair in the index, whose pairs are sorted by topic."""
        width = max(1, len(self.index.documents))
        starts = np.searchsorted(self.index.pairs, np.arange(len(self._row) + 1) * width).tolist()
        doc_ids = self.index.documents.take(self.index.pairs % width).to_pylist()
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
        ends = np.cumsum([0, *(len(run[topic]) for topic in topics)])
        of_index = [self._row[topic] for topic in topics]
        row: list[int] = []
        rank: list[Ints] = [np.empty(0, dtype=np.int64)]
        pair: list[int] = []
        for place, topic in enumerate(topics):
            pairs, documents = self._pairs[of_index[place]], run[topic]
            ids = list(pairs.keys() & documents.keys())
            if ids:
                rank.append(_rank(documents, scores[ends[place] : ends[place + 1]], ids, ties))
                row += [place] * len(ids)
                pair += [pairs[doc_id] for doc_id in ids]
        return place_pairs(
            self.index,
            of_index,
            np.array(row, dtype=np.int64),
            np.concatenate(rank),
            np.array(pair, dtype=np.int64),
            topics=topics,
            retrieved=np.diff(ends),
            ignored_topics=[topic for topic in run if topic not in self._row],
            version=version,
        )


def _scores(run: Nested, topics: list[str], kind: npt.DTypeLike) -> ScoreArray:
    """The scores of these topics, one after the other."""
    for topic in topics:
        if not isinstance(run[topic], Mapping):
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


def _rank(documents: Mapping[str, float], scores: ScoreArray, ids: list[str], ties: TieOrder) -> Ints:
    """The rank from 1 of each document in `ids`; `scores` are those of all `documents`, in their order."""
    ascending = np.sort(scores)
    wanted = _numbers((documents[doc_id] for doc_id in ids), scores.dtype)
    last = np.searchsorted(ascending, wanted, side="right")
    rank: Ints = len(scores) - last + 1
    tied = np.flatnonzero(last - np.searchsorted(ascending, wanted) > 1).tolist()
    if tied:
        equal: dict[float, list[str]] = {score: [] for score in wanted[tied].tolist()}
        for doc_id, score in zip(documents, scores.tolist(), strict=True):
            if score in equal:
                equal[score].append(doc_id)
        if ties != "listed":
            for group in equal.values():
                group.sort(reverse=ties == "descending")
        above = {doc_id: number for group in equal.values() for number, doc_id in enumerate(group)}
        rank[tied] += [above[ids[place]] for place in tied]
    return rank
