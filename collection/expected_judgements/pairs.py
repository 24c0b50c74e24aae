"""Preparation of pairs, runs and texts for the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import count
from collection.core.records import Run, require_columns
from collection.measures import Aligned, align
from collection.measures.imputation import number_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


FUSION = 60
"""The constant of reciprocal rank fusion, as in :mod:`collection.pooling`."""

TOP = 10
"""Deepest rank of the first documents of a run, to whose relevance most measures look."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """N pairs to judge, in T topics, with features from R runs and from texts; made by :func:`describe`."""

    frame: pd.DataFrame
    """``query_id``, ``doc_id``; row n is pair n."""
    topic: Ints
    """(N,) number of the topic, in order of first appearance."""
    members: list[Ints]
    """For each topic, the numbers of its pairs."""
    features: Floats
    """(N, F): summaries of the ranks, and given scores, standardised within the topic; for each run, 1 if the pair is
    in its first ten; and for each run, the discounted rank."""
    texts: list[Floats] | None
    """For each topic (n, q): coordinates of the texts, whose products are cosine similarities; None without texts."""
    runs: list[str]
    """Names of the runs."""
    numbered: list[Aligned]
    """For each run, its alignment with the numbers of the pairs (:mod:`collection.measures.imputation`)."""
    places: Ints
    """(R, N) rank of each pair in each run, in the order that measures use; 0 if the run does not have it."""

    def discounts(self, cutoff: int) -> Floats:
        """(R, N) weight of each gain in a run's DCG: 1 / log2(rank + 1) up to the cut-off, else 0."""
        shown = (self.places > 0) & (self.places <= cutoff)
        return np.where(shown, 1 / np.log2(self.places + 1.0, where=shown, out=np.ones(self.places.shape)), 0.0)


def describe(
    pairs: pd.DataFrame, runs: Sequence[Run], *, texts: csr_matrix | None = None, scores: Floats | None = None
) -> Pairs:
    """Prepare a pool for :func:`draw_values` and :func:`decisive_pairs`.

    Memory grows with the square of the pairs per topic: pass a pool, not a whole collection.

    Parameters
    ----------
    pairs
        ``query_id``, ``doc_id``, each pair once, such as a pool. Other documents of the runs count as not relevant.
    runs
        One or more (:class:`collection.core.records.Run`).
    texts
        (N, columns) features of the documents (:meth:`.FeatureMatrix.rows`), one row per pair.
    scores
        (N, k) k scores of each document for its topic, such as BM25.

    Raises
    ------
    InputError
        No pairs, no runs, a repeated pair, or texts or scores with another number of rows.

    Examples
    --------
    >>> run = Run("a", pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]}))
    >>> describe(run.frame, [run]).places
    array([[1, 2]])
    """
    require_columns(pairs, ("query_id", "doc_id"), "pairs")
    frame = pairs[["query_id", "doc_id"]].astype("str").reset_index(drop=True)
    if frame.empty or not runs:
        numbers = f"{count(len(frame), 'pair')} and {count(len(runs), 'run')}"
        raise InputError(f"expected at least one pair and one run, found {numbers}")
    twice = frame.duplicated()
    if twice.any():
        pair = frame[twice].iloc[0]
        raise InputError(f"pairs: expected each once, found {pair['doc_id']!r} of topic {pair['query_id']!r} twice")
    for what, array in (("texts", texts), ("scores", scores)):
        if array is not None and array.shape[0] != len(frame):
            raise InputError(f"{what}: expected one row for each of the {len(frame)} pairs, found {array.shape[0]}")
    topic = pd.factorize(frame["query_id"])[0].astype(np.int64)
    members = np.split(np.argsort(topic, kind="stable"), np.cumsum(np.bincount(topic))[:-1])
    index = number_rows(frame)
    numbered = [align(run.frame, index) for run in runs]
    places = np.zeros((len(runs), len(frame)), dtype=np.int64)
    for row, aligned in zip(places, numbered, strict=True):
        at, column = np.nonzero(aligned.grades >= 0)
        row[aligned.grades[at, column].astype(np.int64)] = column + 1
    return Pairs(
        frame, topic, members, _features(places, members, scores), _coordinates(texts, members),
        [run.name for run in runs], numbered, places,
    )  # fmt: skip


def _features(places: Ints, members: list[Ints], scores: Floats | None) -> Floats:
    retrieved = places > 0
    discounted = np.where(retrieved, 1 / np.log2(np.maximum(places, 1) + 1.0), 0.0)
    # A pair in no run counts as if all runs had it at the deepest rank.
    deepest = float(places.max(initial=1))
    fusion = np.where(retrieved, 1 / (FUSION + places), 0.0).sum(axis=0)
    best = np.where(retrieved, places, deepest + 1).min(axis=0)
    common = [np.log(fusion + 1 / (FUSION + deepest)), np.log(best), np.where(places <= TOP, discounted, 0).sum(axis=0)]
    columns = np.column_stack([*common, *(scores.T if scores is not None else ())])
    for rows in members:
        part = columns[rows]
        spread = part.std(axis=0)
        columns[rows] = (part - part.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([columns, (retrieved & (places <= TOP)).T, discounted.T])


def _coordinates(texts: csr_matrix | None, members: list[Ints]) -> list[Floats] | None:
    if texts is None:
        return None
    coordinates = []
    for rows in members:
        part = texts[rows].astype(np.float64)
        square = (part @ part.T).toarray()
        length = np.sqrt(np.diag(square))
        length[length == 0] = 1.0
        values, vectors = np.linalg.eigh(square / np.outer(length, length))
        positive = values > 1e-9
        coordinates.append(vectors[:, positive] * np.sqrt(values[positive]))
    return coordinates
