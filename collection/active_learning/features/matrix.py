"""The feature matrix of documents: blocks side by side, with the operations of a linear model."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from collection.active_learning.features.blocks import DenseBlock, FeatureBlock, SparseBlock, TextBlock
from collection.active_learning.features.moments import Moments, norm
from collection.active_learning.features.selection import top
from collection.core.arrays import Bools, Floats32, Ints
from collection.core.errors import InputError
from collection.core.phrases import count, join

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


STRETCH = 20_000
"""Rows copied at a time when only some documents are scored."""


class Ranked(NamedTuple):
    """Scores of a linear model that a ranking needs, for one partition of the documents or for all."""

    rows: Ints
    """(k,) the best rows, best first; ties in row order."""
    scores: Floats32
    """(k,)."""
    apart: Floats32
    """Scores of the rows named apart."""
    moments: Moments


class FeatureMatrix:
    """Matrix of documents x features, in blocks; row n is document n.

    Create it with ``build`` or ``open_features`` of :mod:`collection.active_learning.features`, or from matrices with
    :meth:`of`. It is immutable, so threads can share it.

    Attributes
    ----------
    blocks
        All blocks. A learner reads only those in ``learning``, side by side in this order.
    size
        Number of documents.
    width
        Number of columns of the learning blocks.
    fingerprint
        Changes with documents, texts and settings; "" if unknown.

    Examples
    --------
    >>> from collection.active_learning.features import build
    >>> matrix = build(["one red apple", "two red pears", None])
    >>> matrix.size, matrix.rows([0]).shape == (1, matrix.width)
    (3, True)
    """

    blocks: tuple[FeatureBlock, ...]
    fingerprint: str
    learning: tuple[FeatureBlock, ...]
    size: int

    def __init__(self, blocks: tuple[FeatureBlock, ...], fingerprint: str = "") -> None:
        self.blocks, self.fingerprint = blocks, fingerprint
        self.learning = tuple(block for block in blocks if block.learning)
        sizes = sorted({block.shape[0] for block in blocks})
        if len(sizes) != 1 or not self.learning:
            raise InputError(
                f"features: expected at least one block to learn from, and blocks with the same number of rows; found "
                f"{count(len(self.learning), 'block')} to learn from, with {join(sizes) or 'no'} rows"
            )
        self.size = sizes[0]
        self._edges = np.cumsum([0, *(block.shape[1] for block in self.learning)]).tolist()
        self.width: int = self._edges[-1]

    def __repr__(self) -> str:
        return f"<features of {self.size:,} documents: {', '.join(map(repr, self.blocks))}>"

    @classmethod
    def of(cls, *matrices: csr_matrix | np.ndarray) -> FeatureMatrix:
        """Create it from matrices (documents, columns), scipy sparse or dense; each becomes a block.

        CSR matrices of float32 with int32 indices are not copied, nor are arrays of float32.
        """
        from scipy.sparse import csr_matrix, issparse

        blocks: list[FeatureBlock] = []
        for number, matrix in enumerate(matrices):
            name = f"block {number + 1}"
            if not issparse(matrix):
                array = np.asarray(matrix, np.float32)
                if array.ndim != 2:
                    raise InputError(f"{name} of features: expected rows and columns, found shape {array.shape}")
                blocks.append(DenseBlock(name, array))
                continue
            csr = csr_matrix(matrix)
            values, indices = csr.data.astype(np.float32, copy=False), csr.indices.astype(np.int32, copy=False)
            blocks.append(SparseBlock(name, csr.indptr.astype(np.int64), indices, values, csr.shape[1]))
        return cls(tuple(blocks))

    def rows(self, index: ArrayLike) -> csr_matrix:
        """Copy rows as a float32 CSR matrix (n, features); InputError for a row that does not exist."""
        wanted = self._check_rows(index)
        return _side_by_side([block.rows(wanted) for block in self.learning])

    def vectorize(self, text: str) -> csr_matrix:
        """Turn a topic's text into a row (1, features); zeros in blocks without terms."""
        return _side_by_side([block.vectorize(text) for block in self.learning])

    def scores(self, weights: ArrayLike, index: ArrayLike | None = None, *, threads: int | None = None) -> Floats32:
        """Score all documents (size,), or those of `index` (n,), by a linear model with weights (features,).

        `threads`: by default one per core for a large matrix, else one.
        """
        parts = self._split(weights)
        wanted = None if index is None else self._check_rows(index)
        if wanted is None or len(wanted) > self.size // 4:
            out = np.zeros(self.size, np.float32)
            for block, part in zip(self.learning, parts, strict=True):
                block.scores(part, out, threads)
            return out if wanted is None else out[wanted]
        out = np.zeros(len(wanted), np.float32)
        for start in range(0, len(wanted), STRETCH):
            stretch = slice(start, start + STRETCH)
            for block, part in zip(self.learning, parts, strict=True):
                out[stretch] += block.rows(wanted[stretch]) @ part
        return out

    def rank(self, weights: ArrayLike, count: int, among: Bools, apart: Ints) -> Ranked:
        """Score all documents by a linear model; return the `count` best of those `among` (size,) and not `apart`.

        The moments are those of the scores of all documents `among`; `apart` has ascending rows.
        """
        vector = np.asarray(weights, np.float32)
        scores = self.scores(vector)
        chosen = among.copy()
        chosen[apart] = False
        rows = top(scores, count, chosen)
        return Ranked(rows, scores[rows], scores[apart], Moments.of(scores, among, norm(vector)))

    def blank(self) -> Bools:
        """(size,) bool: documents without a value in any learning block, which no linear model can tell apart."""
        empty = np.ones(self.size, np.bool_)
        for block in self.learning:
            empty &= block.blank()
        return empty

    def bm25(self, text: str, k1: float = 0.9, b: float = 0.4, *, index: ArrayLike | None = None) -> Floats32:
        """BM25 of all documents (size,), or those of `index` (n,), as in Lucene; 0 without a block "words"."""
        wanted = None if index is None else self._check_rows(index)
        for block in self.blocks:
            if isinstance(block, TextBlock) and block.name == "words":
                return block.bm25(text, k1, b, wanted)
        return np.zeros(self.size if wanted is None else len(wanted), np.float32)

    def term(self, column: int) -> str:
        """Readable name of a feature: a word, or ``chars:·rel`` for a character gram (· is a blank)."""
        if not 0 <= column < self.width:
            raise InputError(f"feature: expected a column from 0 to {self.width - 1}, found {column}")
        place = int(np.searchsorted(self._edges, column, side="right")) - 1
        return self.learning[place].term(column - self._edges[place])

    def explain(self, row: int, weights: ArrayLike, most: int = 10) -> list[tuple[str, float]]:
        """List the features that contribute most to one document's score: name, and weight x value.

        Words come first, since people can read them. The contributions of all features sum up to the score.
        """
        parts = self._split(weights)
        wanted = self._check_rows([row])
        influences: list[tuple[bool, float, str, float]] = []
        for block, part in zip(self.learning, parts, strict=True):
            values = block.rows(wanted)
            for column, weighed in zip(values.indices.tolist(), (values.data * part[values.indices]), strict=True):
                if weighed:
                    influences.append((block.name != "words", -abs(float(weighed)), block.term(column), float(weighed)))
        return [(term, weighed) for _, _, term, weighed in sorted(influences)[:most]]

    def _split(self, weights: ArrayLike) -> list[Floats32]:
        """The weights block by block; float32, since float64 would make scipy copy the matrix."""
        array = np.asarray(weights, np.float32)
        if array.shape != (self.width,):
            raise InputError(
                f"weights: expected one for each of the {self.width} features, found shape {array.shape}; "
                "use a model that was fitted on these features"
            )
        return [array[a:b] for a, b in pairwise(self._edges)]

    def _check_rows(self, index: ArrayLike) -> Ints:
        rows = np.asarray(index)
        if rows.dtype == np.bool_ or rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
            raise InputError(f"rows: expected a list of row numbers, found {rows.dtype} of shape {rows.shape}")
        if rows.size and not (rows.min() >= 0 and rows.max() < self.size):
            outside = rows[(rows < 0) | (rows >= self.size)][0]
            raise InputError(f"rows: expected numbers from 0 to {self.size - 1}, found {outside}")
        return rows.astype(np.int64)


def _side_by_side(parts: list[csr_matrix]) -> csr_matrix:
    from scipy.sparse import hstack

    return parts[0] if len(parts) == 1 else hstack(parts, format="csr", dtype=np.float32)
