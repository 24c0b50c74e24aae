"""Documents as vectors: blocks side by side, with the operations of a linear model."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from collection.active_learning.features.blocks import Block, DenseBlock, SparseBlock, TextBlock
from collection.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

STRETCH = 20_000
"""Rows copied at a time where only some are scored."""


class Vectors:
    """Documents x features, in blocks; a document's key is its row.

    Made by ``build`` or ``open_vectors`` of :mod:`collection.active_learning.features`, or from matrices by :meth:`of`.
    Immutable, so threads may share one.

    Attributes
    ----------
    blocks
        All blocks. A learner reads those of :attr:`learning`, side by side in this order.
    size
        Number of documents.
    features
        Number of columns of the learning blocks.
    fingerprint
        Differs where documents, texts or settings differ; "" where unknown.

    Examples
    --------
    >>> from collection.active_learning.features import build
    >>> vectors = build(["one red apple", "two red pears", None])
    >>> vectors.size, vectors.rows([0]).shape == (1, vectors.features)
    (3, True)
    """

    def __init__(self, blocks: tuple[Block, ...], fingerprint: str = "") -> None:
        self.blocks, self.fingerprint = blocks, fingerprint
        self.learning = tuple(block for block in blocks if block.learning)
        sizes = sorted({block.shape[0] for block in blocks})
        if len(sizes) != 1 or not self.learning:
            raise InputError(
                f"expected one block or more to learn from, all with as many rows as there are documents, found "
                f"{len(self.learning)} with {' and '.join(map(str, sizes)) or 'no'} rows; give matrices of one height"
            )
        self.size = sizes[0]
        self._edges = np.cumsum([0, *(block.shape[1] for block in self.learning)]).tolist()
        self.features: int = self._edges[-1]

    def __repr__(self) -> str:
        return f"<vectors of {self.size:,} documents: {', '.join(map(repr, self.blocks))}>"

    @classmethod
    def of(cls, *matrices: csr_matrix | np.ndarray) -> Vectors:
        """Vectors from matrices, each a block: scipy sparse, or dense (documents, columns).

        CSR matrices of float32 with int32 indices are not copied, nor are arrays of float32.
        """
        from scipy.sparse import csr_matrix, issparse

        blocks: list[Block] = []
        for number, matrix in enumerate(matrices):
            name = f"block {number + 1}"
            if not issparse(matrix):
                array = np.asarray(matrix, np.float32)
                if array.ndim != 2:
                    raise InputError(f"{name} of vectors: expected rows and columns, found shape {array.shape}")
                blocks.append(DenseBlock(name, array))
                continue
            csr = csr_matrix(matrix)
            values, indices = csr.data.astype(np.float32, copy=False), csr.indices.astype(np.int32, copy=False)
            blocks.append(SparseBlock(name, csr.indptr.astype(np.int64), indices, values, csr.shape[1]))
        return cls(tuple(blocks))

    def rows(self, index: ArrayLike) -> csr_matrix:
        """(n, features): a copy of these rows as a CSR matrix of float32; InputError if there is no such row."""
        wanted = self._check_rows(index)
        return _side_by_side([block.rows(wanted) for block in self.learning])

    def vectorize(self, text: str) -> csr_matrix:
        """(1, features): a topic's text in the same space; zeros in a block without terms."""
        return _side_by_side([block.vectorize(text) for block in self.learning])

    def scores(self, weights: ArrayLike, index: ArrayLike | None = None, *, threads: int | None = None) -> Floats:
        """Scores of a linear model with weights (features,), for all documents or for some rows: (size,) or (n,).

        `threads`: None for as many as there are cores where the matrix is large.
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

    def blank(self) -> NDArray[np.bool_]:
        """(size,) documents without a value in any learning block: no linear model can tell them apart."""
        found = np.ones(self.size, np.bool_)
        for block in self.learning:
            found &= block.blank()
        return found

    def bm25(self, text: str, k1: float = 0.9, b: float = 0.4) -> Floats:
        """(size,): BM25 of every document for a text, as Lucene computes it, over the block "words".

        0 for a document without a word of the text, and for all without such a block.
        """
        for block in self.blocks:
            if isinstance(block, TextBlock) and block.name == "words":
                return block.bm25(text, k1, b)
        return np.zeros(self.size, np.float32)

    def term(self, column: int) -> str:
        """The name of a feature for people: a word, or `chars:·rel` for a gram (· is a blank)."""
        if not 0 <= column < self.features:
            raise InputError(f"expected a column from 0 to {self.features - 1}, found {column}; count over all blocks")
        place = int(np.searchsorted(self._edges, column, side="right")) - 1
        return self.learning[place].term(column - self._edges[place])

    def explain(self, row: int, weights: ArrayLike, most: int = 10) -> list[tuple[str, float]]:
        """The features of one document with the largest contributions to its score: name and weight x value.

        Words come before all others, since they are read by people. All contributions sum up to the score.
        """
        parts = self._split(weights)
        wanted = self._check_rows([row])
        found: list[tuple[bool, float, str, float]] = []
        for block, part in zip(self.learning, parts, strict=True):
            values = block.rows(wanted)
            for column, weighed in zip(values.indices.tolist(), (values.data * part[values.indices]), strict=True):
                if weighed:
                    found.append((block.name != "words", -abs(float(weighed)), block.term(column), float(weighed)))
        return [(term, weighed) for _, _, term, weighed in sorted(found)[:most]]

    def _split(self, weights: ArrayLike) -> list[Floats]:
        """The weights block by block; float32, since float64 would make scipy copy the matrix."""
        array = np.asarray(weights, np.float32)
        if array.shape != (self.features,):
            raise InputError(
                f"expected one weight for each of the {self.features} features, found shape {array.shape}; "
                "give the weights of a model that was fitted on these vectors"
            )
        return [array[a:b] for a, b in pairwise(self._edges)]

    def _check_rows(self, index: ArrayLike) -> Ints:
        rows = np.asarray(index)
        if rows.dtype == np.bool_ or rows.ndim != 1 or (rows.size and not np.issubdtype(rows.dtype, np.integer)):
            raise InputError(f"expected the numbers of rows, found {rows.dtype} of shape {rows.shape}")
        if rows.size and not (rows.min() >= 0 and rows.max() < self.size):
            outside = rows[(rows < 0) | (rows >= self.size)][0]
            raise InputError(f"expected rows from 0 to {self.size - 1}, found {outside}; a document's key is its row")
        return rows.astype(np.int64)


def _side_by_side(parts: list[csr_matrix]) -> csr_matrix:
    from scipy.sparse import hstack

    return parts[0] if len(parts) == 1 else hstack(parts, format="csr", dtype=np.float32)
