"""Pairs, runs and texts -> the arrays of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.errors import InputError
from collection.measures import Aligned, align
from collection.measures.imputation import number_rows
from collection.records import Run, require_columns

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FUSION = 60
"""The constant of reciprocal rank fusion, as in :mod:`collection.pooling`."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """N pairs that may be judged, in T topics, with features from R runs and texts."""

    frame: pd.DataFrame
    """``query_id``, ``doc_id``; row n is pair n."""
    topic: Ints
    """(N,) the topic's number, in order of first appearance."""
    members: list[Ints]
    """For each topic its pairs."""
    features: Floats
    """(N, F): a constant, standard scores within the topic of summaries of the ranks and of given scores, and one
    column for each run."""
    alike: list[Floats] | None
    """For each topic (n, n): cosine similarity of the texts, with 1 on the diagonal; None without texts."""
    runs: list[str]
    """Names."""
    numbered: list[Aligned]
    """For each run its alignment with the numbers of the pairs (:mod:`collection.measures.imputation`)."""
    places: Ints
    """(R, N) a run's rank of a pair, in the order of a measure; 0 where it does not have it."""

    def discounts(self, cutoff: int) -> Floats:
        """(R, N): a gain's weight in a run's DCG, 1 / log2(rank + 1) to the cut-off, else 0."""
        shown = (self.places > 0) & (self.places <= cutoff)
        return np.where(shown, 1 / np.log2(self.places + 1.0, where=shown, out=np.ones(self.places.shape)), 0.0)


def describe(
    pairs: pd.DataFrame, runs: Sequence[Run], *, texts: csr_matrix | None = None, scores: Floats | None = None
) -> Pairs:
    """Prepare pairs for the model, with a square matrix in memory for each topic: for pools, not for collections.

    Parameters
    ----------
    pairs
        ``query_id``, ``doc_id``, each pair once. Other documents of the runs count as not relevant.
    runs
        One or more.
    texts
        (N, features) the documents' vectors (:meth:`collection.active_learning.features.Vectors.rows`), a row a pair.
    scores
        (N, k) k scores of the text for its topic, such as BM25.

    Raises
    ------
    InputError
        No pair, no run, a repeated pair, or texts or scores of another number of rows.

    Examples
    --------
    >>> run = Run("a", pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]}))
    >>> describe(run.frame, [run]).places
    array([[1, 2]])
    """
    require_columns(pairs, ("query_id", "doc_id"), "expected gains")
    frame = pairs[["query_id", "doc_id"]].astype("str").reset_index(drop=True)
    if frame.empty or not runs:
        raise InputError(f"expected gains need pairs and runs, found {len(frame)} pairs and {len(runs)} runs")
    twice = frame.duplicated()
    if twice.any():
        pair = frame[twice].iloc[0]
        raise InputError(f"pairs stand once each, found {pair['doc_id']!r} of topic {pair['query_id']!r} twice")
    for what, array in (("texts", texts), ("scores", scores)):
        if array is not None and array.shape[0] != len(frame):
            raise InputError(f"{what} have a row for each of the {len(frame)} pairs, found {array.shape[0]}")
    topic = pd.factorize(frame["query_id"])[0].astype(np.int64)
    members = np.split(np.argsort(topic, kind="stable"), np.cumsum(np.bincount(topic))[:-1])
    index = number_rows(frame)
    numbered = [align(run.frame, index) for run in runs]
    places = np.zeros((len(runs), len(frame)), dtype=np.int64)
    for row, aligned in zip(places, numbered, strict=True):
        at, column = np.nonzero(aligned.grades >= 0)
        row[aligned.grades[at, column].astype(np.int64)] = column + 1
    return Pairs(
        frame, topic, members, _features(places, members, scores), _similarities(texts, members),
        [run.name for run in runs], numbered, places,
    )  # fmt: skip


def _features(places: Ints, members: list[Ints], scores: Floats | None) -> Floats:
    here = places > 0
    discounted = np.where(here, 1 / np.log2(np.maximum(places, 1) + 1.0), 0.0)
    # A pair without a run counts as if all had it at the deepest rank.
    deepest = float(places.max(initial=1))
    fusion = np.where(here, 1 / (FUSION + places), 0.0).sum(axis=0)
    best = np.where(here, places, deepest + 1).min(axis=0)
    common = [np.log(fusion + 1 / (FUSION + deepest)), np.log(best), np.where(places <= 10, discounted, 0).sum(axis=0)]
    columns = np.column_stack([*common, *(scores.T if scores is not None else ())])
    for rows in members:
        part = columns[rows]
        spread = part.std(axis=0)
        columns[rows] = (part - part.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([np.ones(places.shape[1]), columns, discounted.T])


def _similarities(texts: csr_matrix | None, members: list[Ints]) -> list[Floats] | None:
    if texts is None:
        return None
    similarities = []
    for rows in members:
        part = texts[rows].astype(np.float64)
        square = (part @ part.T).toarray()
        length = np.sqrt(np.diag(square))
        length[length == 0] = 1.0
        square /= np.outer(length, length)
        np.fill_diagonal(square, 1.0)
        similarities.append(square)
    return similarities
