"""Documents in partitions: counted, weighed and scored where they lie, with the results of one partition of all.

    count_texts(texts) of a partition -> rows, vocabulary          rows stay where they are
    merge_vocabularies(vocabularies) -> vocabulary                 terms in the order of their first appearance
    weigh_blocks(counted, vocabulary) -> features of the partition  which stay where they are
    PartitionedMatrix: asks all partitions and merges their answers

The functions are pure, so a lost partition can be made again from its texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collection.active_learning.features.assembly import CountRows, weigh_blocks
from collection.active_learning.features.blocks import Vocabulary
from collection.active_learning.features.matrix import FeatureMatrix, Ranked
from collection.active_learning.features.moments import Moments
from collection.active_learning.features.selection import top
from collection.core.arrays import Bools, Bytes, Floats32, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

CountedPartition = Mapping[str, tuple[CountRows, Vocabulary]]
PartitionRunner = Callable[[Callable[..., Any], Mapping[int, tuple[Any, ...]]], dict[int, Any]]
"""Calls a function with some partitions and the arguments of each: number of the partition -> result."""


def vocabularies_of(counted: CountedPartition) -> dict[str, Vocabulary]:
    """The vocabulary of each block."""
    return {name: vocabulary for name, (_, vocabulary) in counted.items()}


def merge_vocabularies(parts: Sequence[Mapping[str, Vocabulary]]) -> dict[str, Vocabulary]:
    """Merge the vocabularies of partitions, in their order."""
    return {name: _merge([part[name] for part in parts]) for name in parts[0]}


def _merge(parts: Sequence[Vocabulary]) -> Vocabulary:
    number: dict[str, int] = {}
    columns = [np.array([number.setdefault(t, len(number)) for t in part.terms], np.int64) for part in parts]
    frequency = np.zeros(len(number), np.int64)
    for part, at in zip(parts, columns, strict=True):
        frequency[at] += part.frequency
    documents, words, stored = (sum(totals) for totals in zip(*(part[2:] for part in parts), strict=True))
    return Vocabulary(list(number), frequency, documents, words, stored)


def weigh_partition(
    counted: CountedPartition, vocabularies: Mapping[str, Vocabulary], blocks: Sequence[str], bigrams: bool
) -> FeatureMatrix:
    """Make the features of a partition with the merged vocabularies; the learner reads `blocks`."""
    placed = {}
    for name, (rows, own) in counted.items():
        number = {term: column for column, term in enumerate(vocabularies[name].terms)}
        columns = np.array([number[term] for term in own.terms], np.int32)
        placed[name] = rows.renumber(columns, len(number)), own
    return weigh_blocks(placed, vocabularies, blocks, bigrams)


def without_documents(vocabularies: Mapping[str, Vocabulary], blocks: Sequence[str], bigrams: bool) -> FeatureMatrix:
    """Make a feature matrix without documents, which knows the terms of all."""
    nothing = np.zeros(0, np.int64)
    empty = CountRows(np.zeros(1, np.int64), nothing.astype(np.int32), nothing.astype(np.uint16), nothing)
    return weigh_blocks({name: (empty, own) for name, own in vocabularies.items()}, vocabularies, blocks, bigrams)


class PartitionedMatrix(FeatureMatrix):
    """A feature matrix in partitions, with the results of one in one piece.

    Parameters
    ----------
    known
        Result of :func:`without_documents`.
    sizes
        Number of documents of each partition, in the order of the rows.
    run
        Runs a function where each partition lies.
    """

    def __init__(self, known: FeatureMatrix, sizes: Sequence[int], run: PartitionRunner, fingerprint: str = "") -> None:
        super().__init__(known.blocks, fingerprint)
        self._starts = np.cumsum([0, *sizes])
        self._run = run
        self.size: int = int(self._starts[-1])

    def __repr__(self) -> str:
        return f"<features of {self.size:,} documents in {len(self._starts) - 1} partitions>"

    def _everywhere(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        answers = self._run(function, dict.fromkeys(range(len(self._starts) - 1), arguments))
        return [answers[number] for number in sorted(answers)]

    def rows(self, index: ArrayLike) -> csr_matrix:
        """Copy rows as a float32 CSR matrix (n, features); InputError for a row that does not exist."""
        from scipy.sparse import vstack

        wanted = self._check_rows(index)
        if not len(wanted):
            return super().rows(wanted)
        inside, back = self._locate(wanted)
        parts = self._run(FeatureMatrix.rows, {number: (rows,) for number, rows in inside.items()})
        return vstack([parts[number] for number in sorted(parts)], format="csr")[back]

    def _locate(self, wanted: Ints) -> tuple[dict[int, Ints], Ints]:
        """Return the wanted rows of each partition, and the place of each wanted row among those of all partitions."""
        of = np.searchsorted(self._starts, wanted, side="right") - 1
        order = np.argsort(of, kind="stable")
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return {int(n): wanted[of == n] - self._starts[n] for n in np.unique(of)}, back

    def scores(self, weights: ArrayLike, index: ArrayLike | None = None, *, threads: int | None = None) -> Floats32:
        """Score all documents (size,), or those of `index` (n,), which brings all scores here: see :meth:`rank`."""
        self._split(weights)
        values = np.concatenate(self._everywhere(FeatureMatrix.scores, np.asarray(weights, np.float32)))
        return values if index is None else values[self._check_rows(index)]

    def rank(self, weights: ArrayLike, count: int, among: Bools, apart: Ints) -> Ranked:
        """Rank like :meth:`.FeatureMatrix.rank`; sends a bit per document, receives the best of each partition."""
        self._split(weights)
        vector = np.asarray(weights, np.float32)
        columns = np.flatnonzero(vector).astype(np.int32)  # a model knows the terms of its few hundred examples
        sparse = (columns, vector[columns])
        requests = {}
        for number, (start, end) in enumerate(zip(self._starts[:-1], self._starts[1:], strict=True)):
            own = apart[np.searchsorted(apart, start) : np.searchsorted(apart, end)] - start
            requests[number] = (sparse, count, np.packbits(among[start:end]), own)
        ranked = self._run(_rank, requests)
        parts = [ranked[number] for number in sorted(ranked)]
        rows = np.concatenate([part.rows + start for part, start in zip(parts, self._starts[:-1], strict=True)])
        scores = np.concatenate([part.scores for part in parts])
        by_row = np.argsort(rows)
        best = by_row[top(scores[by_row], count)]
        moments = Moments.merge([part.moments for part in parts])
        return Ranked(rows[best], scores[best], np.concatenate([part.apart for part in parts]), moments)

    def blank(self) -> Bools:
        """(size,) bool: documents without a value in any learning block, which no linear model can tell apart."""
        return np.concatenate(self._everywhere(FeatureMatrix.blank))

    def bm25(self, text: str, k1: float = 0.9, b: float = 0.4, *, index: ArrayLike | None = None) -> Floats32:
        """BM25 of all documents (size,), or those of `index` (n,), for a text, as in Lucene."""
        if index is None:
            return np.concatenate(self._everywhere(FeatureMatrix.bm25, text, k1, b))
        wanted = self._check_rows(index)
        if not len(wanted):
            return np.zeros(0, np.float32)
        inside, back = self._locate(wanted)
        parts = self._run(_bm25, {number: (text, k1, b, rows) for number, rows in inside.items()})
        return np.concatenate([parts[number] for number in sorted(parts)])[back]

    def explain(self, row: int, weights: ArrayLike, most: int = 10) -> list[tuple[str, float]]:
        """List the features that contribute most to one document's score: name, and weight x value."""
        self._split(weights)
        at = int(self._check_rows([row])[0])
        number = int(np.searchsorted(self._starts, at, side="right")) - 1
        requests = {number: (at - int(self._starts[number]), np.asarray(weights, np.float32), most)}
        influences: list[tuple[str, float]] = self._run(FeatureMatrix.explain, requests)[number]
        return influences


def _bm25(matrix: FeatureMatrix, text: str, k1: float, b: float, index: Ints) -> Floats32:
    return matrix.bm25(text, k1, b, index=index)


def _rank(
    matrix: FeatureMatrix, sparse: tuple[NDArray[np.int32], Floats32], count: int, packed: Bytes, apart: Ints
) -> Ranked:
    weights = np.zeros(matrix.width, np.float32)
    weights[sparse[0]] = sparse[1]
    return matrix.rank(weights, count, np.unpackbits(packed, count=matrix.size).astype(np.bool_), apart)
