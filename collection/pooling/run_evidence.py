"""The rows of all runs together, pair by pair, and what they say of each: fusion, best rank, number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.frames import RUN
from collection.records import Run

K = 60
"""The constant of the paper: it keeps one run's first place from deciding alone."""

Ints = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]


class Joined(NamedTuple):
    """All rows of all runs, the best ranks first, with numbers in place of ids.

    Attributes
    ----------
    topics, documents
        Ids behind the codes; topics in order of first appearance.
    topic, document
        (pairs,) codes of each pair that any run has.
    pair, run, rank
        (rows,) which pair a row is of, which run it is from, and its place in the run's own list (``listed``).
    row
        (rows,) where each stood in the runs laid end to end.
    """

    topics: pd.Index
    documents: pd.Index
    topic: Ints
    document: Ints
    pair: Ints
    run: Ints
    rank: npt.NDArray[np.int32]
    row: Ints

    @property
    def best(self) -> npt.NDArray[np.int32]:
        """(pairs,) the best rank of each."""
        best = np.empty(len(self.topic), np.int32)
        # Best ranks stand first, so written from the end they are written last.
        best[self.pair[::-1]] = self.rank[::-1]
        return best

    @property
    def candidates(self) -> Ints:
        """(topics,) how many documents the runs have together."""
        return np.bincount(self.topic, minlength=len(self.topics))

    @property
    def lists(self) -> Ints:
        """(rows,) which list of a run each row is of: run x topics + topic."""
        return self.run.astype(np.int64) * len(self.topics) + self.topic[self.pair]

    def ordered(self, weight: Floats) -> pd.DataFrame:
        """One row a pair, the highest weight first in each topic: what :func:`evidence` returns.

        Parameters
        ----------
        weight
            (pairs,) becomes the column ``fusion``.
        """
        best, count = self.best, np.bincount(self.pair, minlength=len(self.topic)).astype(np.int32)
        order = np.lexsort((_places(self.documents)[self.document], best, -weight, self.topic))
        return pd.DataFrame(
            {
                "query_id": self.topics[self.topic[order]],
                "doc_id": self.documents[self.document[order]],
                "fusion": weight[order],
                "best": best[order],
                "runs": count[order],
            }
        )

    def summed(self, weight: Floats) -> Floats:
        """(rows,) weights -> (pairs,) their sums, added up in the order of the rows."""
        return np.bincount(self.pair, weights=weight, minlength=len(self.topic)).astype(np.float64, copy=False)


def joined(runs: Sequence[Run], depth: int | None = None) -> Joined:
    """The rows of all runs.

    Parameters
    ----------
    runs
        Any number of runs (:data:`collection.frames.RUN`).
    depth
        How many of each run and topic, as listed; all if left out.
    """
    for run in runs:
        RUN.check(run.frame, f"run {run.name}")
    frames = [run.frame if depth is None else run.frame[run.frame["listed"] <= depth] for run in runs]
    topic, topics = _coded([frame["query_id"] for frame in frames])
    document, documents = _coded([frame["doc_id"] for frame in frames])
    rank = np.concatenate([np.empty(0, np.int32), *(f["listed"].to_numpy(dtype=np.int32) for f in frames)])
    number = np.repeat(np.arange(len(frames), dtype=np.int32), [len(frame) for frame in frames])
    order = _by_rank(rank)
    keys = topic.astype(np.int64) * max(len(documents), 1) + document
    pair, unique = pd.factorize(keys[order])
    topic_of, document_of = np.divmod(unique, max(len(documents), 1))
    return Joined(topics, documents, topic_of, document_of, pair, number[order], rank[order], order)


def evidence(runs: Sequence[Run], *, k: int = K) -> pd.DataFrame:
    """What the runs say of each document that any of them retrieved.

    Ranks are places in the run's own list (``listed``). A sum is added up from the best rank down, so that the
    order of the runs changes no bit of it, and documents with the same ranks in other runs have equal sums.

    Source: Cormack, Clarke & Buettcher, SIGIR 2009 (the column ``fusion``).

    Parameters
    ----------
    runs
        Any number of runs (:data:`collection.frames.RUN`).
    k
        The constant of the fusion, 0 or more.

    Returns
    -------
    DataFrame
        One row per pair: ``query_id``, ``doc_id`` (str), ``fusion`` (float64: the sum over the runs of
        1 / (k + rank)), ``best`` (int32: the best rank), ``runs`` (int32: how many runs have it). Topics in order
        of first appearance; within a topic the highest fusion first, equal ones by the best rank, then by
        document id. The index is 0, 1, 2 ...

    Examples
    --------
    >>> from collection.ranking import rank_run
    >>> a = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> b = pd.DataFrame({"query_id": "1", "doc_id": ["y", "z"], "score": [2.0, 1.0]})
    >>> print(evidence([Run("a", rank_run(a)), Run("b", rank_run(b))]).round(4))
      query_id doc_id  fusion  best  runs
    0        1      y  0.0325     1     2
    1        1      x  0.0164     1     1
    2        1      z  0.0161     2     1
    """
    if k < 0:
        raise InputError(f"reciprocal rank fusion needs a constant k of 0 or more, found {k}")
    rows = joined(runs)
    return rows.ordered(rows.summed(1.0 / (float(k) + rows.rank.astype(np.float64))))


def _coded(columns: Sequence[pd.Series]) -> tuple[npt.NDArray[np.int64], pd.Index]:
    """One code a row over all columns together, numbered by first appearance, and the texts behind the codes."""
    if not columns or not all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        texts = [column.astype("str") for column in columns] or [pd.Series(dtype="str")]
        return pd.factorize(pd.Index(pd.concat(texts, ignore_index=True)))
    categories = [pd.Series(column.cat.categories.astype("str")) for column in columns]
    shared, names = pd.factorize(pd.Index(pd.concat(categories, ignore_index=True)))
    ends = np.cumsum([len(names_of_run) for names_of_run in categories])
    rows = [codes[column.cat.codes] for codes, column in zip(np.split(shared, ends), columns, strict=False)]
    code, seen = pd.factorize(np.concatenate(rows))
    return code, names[seen]


def _places(texts: pd.Index) -> npt.NDArray[np.int64]:
    """Which place each text has when they are sorted by code points."""
    places = np.empty(len(texts), np.int64)
    places[texts.argsort()] = np.arange(len(texts))
    return places


def _by_rank(rank: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Row positions, best rank first; equal ranks as they came. Ranks that fit 16 bits sort by counting."""
    narrow = rank.astype(np.uint16) if rank.max(initial=0) <= np.iinfo(np.uint16).max else rank
    return np.argsort(narrow, kind="stable")
