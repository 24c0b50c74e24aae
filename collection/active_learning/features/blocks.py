"""Blocks of features, each with one representation of all documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.active_learning.features import matvec
from collection.active_learning.features.term_counts import TermCounts, count, places
from collection.active_learning.features.tfidf import STEP, idf, write_weights
from collection.core.arrays import Bools, Floats32, Ints
from collection.core.threads import map_ahead

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class FeatureBlock(ABC):
    """A matrix (documents, columns); `learning` blocks are read by the learner."""

    name: str
    learning: bool

    def __init__(self, name: str, documents: int, columns: int, learning: bool = True) -> None:
        self.name, self.learning = name, learning
        self.shape: tuple[int, int] = (documents, columns)

    @abstractmethod
    def rows(self, index: Ints) -> csr_matrix:
        """(n, columns): a copy of these rows as CSR."""

    @abstractmethod
    def scores(self, weights: Floats32, out: Floats32, threads: int | None = None) -> None:
        """Add the documents' scores by the weights (columns,) to `out` (documents,)."""

    @abstractmethod
    def blank(self) -> Bools:
        """(documents,) bool: rows without a value."""

    def vectorize(self, text: str) -> csr_matrix:
        """Turn a text into a row (1, columns); zeros if the block was not made from texts."""
        from scipy.sparse import csr_matrix

        return csr_matrix((1, self.shape[1]), dtype=np.float32)

    def term(self, column: int) -> str:
        """Readable name of a column."""
        return f"{self.name}:{column}"


class SparseBlock(FeatureBlock):
    """A sparse block: the arrays of a CSR matrix (int64, int32, float32) or memory maps of them, never copied."""

    indptr: Ints
    indices: NDArray[np.int32]
    values: Floats32
    stored: int

    def __init__(
        self,
        name: str,
        indptr: Ints,
        indices: NDArray[np.int32],
        values: Floats32,
        columns: int,
        learning: bool = True,
    ) -> None:
        super().__init__(name, len(indptr) - 1, columns, learning)
        self.indptr, self.indices, self.values = indptr, indices, values
        # Decides between two products, which round differently: the same for all partitions of a block.
        self.stored = len(values)

    def __repr__(self) -> str:
        return f"<block {self.name!r}: {self.shape[0]:,} x {self.shape[1]:,}, {len(self.values):,} values>"

    @cached_property
    def matrix(self) -> csr_matrix:
        """(documents, columns) as a scipy CSR matrix of float32 on the same arrays."""
        return self._slab(0, self.shape[0])

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        """First row and end of each slab; threads multiply slabs in parallel."""
        cuts = np.searchsorted(self.indptr, np.arange(matvec.SLAB, len(self.values) - matvec.SLAB // 2, matvec.SLAB))
        return list(pairwise(np.unique([0, *cuts.tolist(), self.shape[0]]).tolist()))

    @cached_property
    def _slabs(self) -> list[csr_matrix]:
        return [self._slab(first, last) for first, last in self._ranges]

    def _slab(self, first: int, last: int) -> csr_matrix:
        """Some rows as a scipy CSR matrix on the same arrays."""
        from scipy.sparse import csr_matrix

        begin, end = int(self.indptr[first]), int(self.indptr[last])
        indptr = self.indptr[first : last + 1] - begin
        if end - begin <= np.iinfo(np.int32).max:
            # scipy requires one type for both index arrays, and would widen the long one.
            indptr = indptr.astype(np.int32)
        matrix = csr_matrix((last - first, self.shape[1]), dtype=np.float32)
        # The constructor would copy arrays that are small parts of others.
        matrix.data, matrix.indices, matrix.indptr = self.values[begin:end], self.indices[begin:end], indptr
        return matrix

    def rows(self, index: Ints) -> csr_matrix:
        """(n, columns): a copy of these rows as CSR, without zeros."""
        from scipy.sparse import csr_matrix

        indptr, place = places(self.indptr, index)
        chosen = csr_matrix((self.values[place], self.indices[place], indptr), shape=(len(index), self.shape[1]))
        chosen.eliminate_zeros()
        return chosen

    def scores(self, weights: Floats32, out: Floats32, threads: int | None = None) -> None:
        """Add `matrix @ weights` to `out`, in float32 throughout.

        `threads`: by default one per core for a large matrix, else one.
        """
        large = self.stored > matvec.SMALL
        fast = matvec.compiled() if large else None
        slabs = self._slabs if fast is None else []
        weights = np.ascontiguousarray(weights)

        # Both products release the interpreter's lock, so threads run in parallel and pages are still served.
        def add(number: int) -> None:
            first, last = self._ranges[number]
            if fast is None:
                out[first:last] += slabs[number] @ weights
            else:
                indptr, indices = self.indptr.view(np.uint64), self.indices.view(np.uint32)
                fast(indptr, indices, self.values, weights, out, np.uint64(first), np.uint64(last))

        for _ in map_ahead(add, range(len(self._ranges)), threads or (matvec.cores() if large else 1)):
            pass

    def blank(self) -> Bools:
        """(documents,) bool: rows without a value."""
        if len(self.values) and self.values.min() < 0:  # values could cancel out
            return np.diff(self.indptr) == 0
        sums = np.zeros(self.shape[0], np.float32)
        self.scores(np.ones(self.shape[1], np.float32), sums)
        return sums == 0


class Vocabulary(NamedTuple):
    """The terms of a text block, with the totals over all its documents that weights and BM25 depend on."""

    terms: list[str]
    frequency: Ints
    """(terms,) number of documents with each term."""
    documents: int
    """Number of documents with a text."""
    words: int
    """Number of words of all documents."""
    stored: int
    """Number of stored values."""


class TextBlock(SparseBlock):
    """A text block, "words" or "chars".

    Parameters
    ----------
    counts
        Number of occurrences of each value's term.
    frequency
        (columns,) number of documents with each term.
    lengths
        (documents,) number of words.
    documents
        Number of documents with a text.
    read_terms
        Returns the terms in the order of the columns; called on first use.
    bigrams
        Whether some terms are pairs of words.
    learning
        False for a block "words" that is used for BM25 only.
    words, stored
        Number of words and of stored values of all documents, for a block that is one partition of them.
    """

    words: int
    counts: NDArray[np.uint16]
    frequency: Ints
    lengths: Ints
    documents: int
    bigrams: bool

    def __init__(
        self,
        name: str,
        indptr: Ints,
        indices: NDArray[np.int32],
        values: Floats32,
        *,
        counts: NDArray[np.uint16],
        frequency: Ints,
        lengths: Ints,
        documents: int,
        read_terms: Callable[[], list[str]],
        bigrams: bool = False,
        learning: bool = True,
        words: int | None = None,
        stored: int | None = None,
    ) -> None:
        super().__init__(name, indptr, indices, values, len(frequency), learning)
        self.words = int(lengths.sum()) if words is None else words
        self.stored: int = self.stored if stored is None else stored
        self.counts, self.frequency, self.lengths, self.documents = counts, frequency, lengths, documents
        self.bigrams, self._read_terms = bigrams, read_terms

    @cached_property
    def terms(self) -> list[str]:
        """Column -> term."""
        return self._read_terms()

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}

    def vectorize(self, text: str) -> csr_matrix:
        """Turn a text into a row (1, columns), without unknown terms."""
        from scipy.sparse import csr_matrix

        columns, counts = self._known(count([text], [self.name], self.bigrams)[self.name])
        values = np.empty(len(columns), np.float32)
        indptr = np.array([0, len(columns)])
        write_weights(indptr, columns, counts, idf(self.name, self.frequency, self.documents), values)
        row = csr_matrix((values, columns, indptr), shape=(1, self.shape[1]))
        row.eliminate_zeros()
        return row

    def _known(self, counted: TermCounts) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """Columns, ascending, and counts of the known terms."""
        columns = np.array([self._columns.get(term, -1) for term in counted.terms], np.int32)
        columns = columns[counted.indices]
        order = np.argsort(columns)
        order = order[columns[order] >= 0]
        return columns[order], counted.counts[order]

    def bm25(self, text: str, k1: float, b: float, index: Ints | None = None) -> Floats32:
        """(documents,) BM25 of each document for the text, or (n,) of those of `index`."""
        wanted, often = self._known(count([text], [self.name])[self.name])
        known = self.frequency[wanted].astype(np.float64)
        weight = np.zeros(self.shape[1])
        weight[wanted] = np.log1p((self.documents - known + 0.5) / (known + 0.5)) * often
        mean = self.words / max(1, self.documents)
        lengths, indptr, indices, counts = self.lengths, self.indptr, self.indices, self.counts
        if index is not None:
            indptr, chosen = places(self.indptr, index)
            lengths, indices, counts = lengths[index], indices[chosen], counts[chosen]
        norm = k1 * (1 - b + b * lengths / max(mean, 1.0))
        scores = np.zeros(len(lengths))
        is_wanted = np.zeros(self.shape[1], bool)
        is_wanted[wanted] = True
        for start in range(0, len(indices), STEP):
            place = start + np.flatnonzero(is_wanted[indices[start : start + STEP]])
            row = np.searchsorted(indptr, place, side="right") - 1
            tf = counts[place].astype(np.float64)
            np.add.at(scores, row, weight[indices[place]] * tf / (tf + norm[row]))
        return scores.astype(np.float32)

    def term(self, column: int) -> str:
        """Readable name of a column: a word, or the block and a gram with blanks shown as points."""
        term = self.terms[column]
        return term if self.name == "words" else f"{self.name}:{term.replace(' ', '·')}"


class DenseBlock(FeatureBlock):
    """A block of embeddings: `matrix` (documents, columns) is a float32 array or memory map."""

    def __init__(self, name: str, matrix: Floats32) -> None:
        super().__init__(name, *matrix.shape)
        self.matrix = matrix

    def __repr__(self) -> str:
        return f"<block {self.name!r}: {self.shape[0]:,} x {self.shape[1]:,}, dense>"

    def rows(self, index: Ints) -> csr_matrix:
        """(n, columns): a copy of these rows as CSR."""
        from scipy.sparse import csr_matrix

        return csr_matrix(self.matrix[index])

    def scores(self, weights: Floats32, out: Floats32, threads: int | None = None) -> None:
        """Add `matrix @ weights` to `out`."""
        out += self.matrix @ weights

    def blank(self) -> Bools:
        """(documents,) bool: rows without a value."""
        empty = np.empty(self.shape[0], np.bool_)
        for start in range(0, self.shape[0], 20_000):
            stretch = slice(start, start + 20_000)
            empty[stretch] = ~np.any(self.matrix[stretch], axis=1)
        return empty
