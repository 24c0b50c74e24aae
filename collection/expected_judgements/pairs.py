"""Pairs, runs and texts -> the arrays that the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    """N pairs that may be judged, in T topics, as R runs and their texts show them.

    Attributes
    ----------
    frame
        ``query_id``, ``doc_id``; row n is pair n.
    topic
        (N,) the topic's number, in order of first appearance.
    members
        For each topic the pairs that it has.
    features
        (N, F): a constant, summaries of the ranks, the scores given from outside, then one column for each run. Those
        between are standard scores within the topic.
    alike
        For each topic (n, n): how alike the texts are, from 0 to 1 with 1 on the diagonal; None where there are no
        texts.
    runs
        The names.
    numbered
        For each run its alignment with the numbers of the pairs (:mod:`collection.measures.imputation`).
    places
        (R, N) the rank at which a run has a pair, in the order of a measure; 0 where it does not.
    """

    frame: pd.DataFrame
    topic: Ints
    members: list[Ints]
    features: Floats
    alike: list[Floats] | None
    runs: list[str]
    numbered: list[Aligned]
    places: Ints

    def discounts(self, cutoff: int) -> Floats:
        """(R, N): 1 / log2(rank + 1) to the cut-off, else 0: what a pair's gain weighs in a run's DCG."""
        shown = (self.places > 0) & (self.places <= cutoff)
        return np.where(shown, 1 / np.log2(self.places + 1.0, where=shown, out=np.ones(self.places.shape)), 0.0)


def describe(
    pairs: pd.DataFrame, runs: Sequence[Run], *, texts: csr_matrix | None = None, scores: Floats | None = None
) -> Pairs:
    """Make pairs ready for the model.

    For every topic a square of its pairs is held in memory: meant for pools, not for whole collections.

    Parameters
    ----------
    pairs
        ``query_id``, ``doc_id``: what may be judged, each once. What runs retrieved beside it is never relevant here.
    runs
        One or more.
    texts
        (N, features) the documents' vectors (:meth:`collection.active_learning.features.Vectors.rows`), one row a pair.
    scores
        (N, k) how well each text fits its topic, in k ways; BM25 for example.

    Raises
    ------
    InputError
        There is no pair or no run, a pair stands there twice, or the arrays have other lengths.

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
        frame, topic, members, _features(places, members, scores), _alike(texts, members),
        [run.name for run in runs], numbered, places,
    )  # fmt: skip


def _features(places: Ints, members: list[Ints], scores: Floats | None) -> Floats:
    here = places > 0
    discounted = np.where(here, 1 / np.log2(np.maximum(places, 1) + 1.0), 0.0)
    # What no run has stands as if all had it at the deepest rank that there is.
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


def _alike(texts: Any, members: list[Ints]) -> list[Floats] | None:
    if texts is None:
        return None
    made = []
    for rows in members:
        part = texts[rows].astype(np.float64)
        square = (part @ part.T).toarray()
        length = np.sqrt(np.diag(square))
        square /= np.where(length > 0, length, 1.0)[:, None] * np.where(length > 0, length, 1.0)
        np.fill_diagonal(square, 1.0)
        made.append(square)
    return made
