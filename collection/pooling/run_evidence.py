"""The rows of all runs by pair, with the fusion score, best rank and number of runs of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core.arrays import Floats, Integers, Ints
from collection.core.errors import InputError
from collection.core.frames import RUN
from collection.core.records import Run

K = 60
"""The constant of the paper, which keeps the first place of a single run from deciding."""


class RunRows(NamedTuple):
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
        (rows,) its position in the concatenated runs.
    """

    topics: pd.Index
    documents: pd.Index
    topic: Integers
    document: Integers
    pair: Integers
    run: Integers
    rank: npt.NDArray[np.int32]
    row: Integers

    @property
    def best(self) -> npt.NDArray[np.int32]:
        """(pairs,) best rank of each pair."""
        best = np.empty(len(self.topic), np.int32)
        # Best ranks stand first, so written from the end they are written last.
        best[self.pair[::-1]] = self.rank[::-1]
        return best

    @property
    def run_counts(self) -> Integers:
        """(pairs,) number of runs with each pair."""
        return np.bincount(self.pair, minlength=len(self.topic))

    @property
    def lists(self) -> Integers:
        """(rows,) number of the list that each row is from: run x topics + topic."""
        return self.run.astype(np.int64) * len(self.topics) + self.topic[self.pair]

    def ordered(self, weight: Floats) -> pd.DataFrame:
        """Return the frame of :func:`evidence`, with these weights (pairs,) as ``fusion``."""
        best = self.best
        places = np.empty(len(self.documents), np.int64)
        places[self.documents.argsort()] = np.arange(len(self.documents))
        order = np.lexsort((places[self.document], best, -weight, self.topic))
        return pd.DataFrame(
            {
                "query_id": self.topics[self.topic[order]],
                "doc_id": self.documents[self.document[order]],
                "fusion": weight[order],
                "best": best[order],
                "runs": self.run_counts[order].astype(np.int32),
            }
        )

    def sum_by_pair(self, weight: Floats) -> Floats:
        """(rows,) weights -> (pairs,) their sums, added up in the order of the rows."""
        return np.bincount(self.pair, weights=weight, minlength=len(self.topic)).astype(np.float64, copy=False)


def join_runs(runs: Sequence[Run], depth: int | None = None) -> RunRows:
    """The rows of all runs (:data:`collection.core.frames.RUN`), down to `depth` as listed."""
    frames = [RUN.check(run.frame, f"run {run.name}") for run in runs]
    if depth is not None:
        frames = [frame[frame["listed"] <= depth] for frame in frames]
    topic, topics = _factorize([frame["query_id"] for frame in frames])
    document, documents = _factorize([frame["doc_id"] for frame in frames])
    rank = np.concatenate([np.empty(0, np.int32), *(f["listed"].to_numpy(dtype=np.int32) for f in frames)])
    number = np.repeat(np.arange(len(frames), dtype=np.int32), [len(frame) for frame in frames])
    # Ranks that fit 16 bits sort by counting.
    narrow = rank.astype(np.uint16) if rank.max(initial=0) <= np.iinfo(np.uint16).max else rank
    order = np.argsort(narrow, kind="stable")
    keys = topic.astype(np.int64) * max(len(documents), 1) + document
    pair, unique = pd.factorize(keys[order])
    topic_of, document_of = np.divmod(unique, max(len(documents), 1))
    return RunRows(topics, documents, topic_of, document_of, pair, number[order], rank[order], order)


def evidence(runs: Sequence[Run], *, k: int = K) -> pd.DataFrame:
    """Reciprocal rank fusion, best rank and number of runs of each document that any run retrieved.

    Ranks are places in the run's own list (``listed``). A sum is added up from the best rank down, so that the
    order of the runs changes no bit of it, and documents with the same ranks in other runs have equal sums.

    Source: Cormack, Clarke & Buettcher, SIGIR 2009 (the column ``fusion``).

    Returns
    -------
    DataFrame
        One row per pair: ``query_id``, ``doc_id`` (str), ``fusion`` (float64: the sum over the runs of
        1 / (k + rank)), ``best`` (int32: the best rank), ``runs`` (int32: how many runs have it). Topics in order
        of first appearance, then by fusion, best rank and document id.

    Examples
    --------
    >>> from collection.core.ranking import rank_run
    >>> a = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> b = pd.DataFrame({"query_id": "1", "doc_id": ["y", "z"], "score": [2.0, 1.0]})
    >>> print(evidence([Run("a", rank_run(a)), Run("b", rank_run(b))]).round(4))
      query_id doc_id  fusion  best  runs
    0        1      y  0.0325     1     2
    1        1      x  0.0164     1     1
    2        1      z  0.0161     2     1
    """
    if k < 0:
        raise InputError(f"constant k of reciprocal rank fusion: expected 0 or more, found {k}")
    rows = join_runs(runs)
    return rows.ordered(rows.sum_by_pair(1.0 / (float(k) + rows.rank.astype(np.float64))))


def _factorize(columns: Sequence[pd.Series]) -> tuple[Ints, pd.Index]:
    """`pd.factorize` over all columns together, quick for categories."""
    if not columns or not all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        texts = [column.astype("str") for column in columns] or [pd.Series(dtype="str")]
        return pd.factorize(pd.Index(pd.concat(texts, ignore_index=True)))
    categories = [pd.Series(column.cat.categories.astype("str")) for column in columns]
    shared, names = pd.factorize(pd.Index(pd.concat(categories, ignore_index=True)))
    ends = np.cumsum([len(names_of_run) for names_of_run in categories])
    rows = [codes[column.cat.codes] for codes, column in zip(np.split(shared, ends), columns, strict=False)]
    code, seen = pd.factorize(np.concatenate(rows))
    return code, names[seen]
