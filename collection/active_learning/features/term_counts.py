"""Texts -> the number of times that each document contains each term.

A document's counts are the sum of the counts of its pieces between blanks. So Arrow splits the texts and numbers their
pieces, each distinct piece is tokenised once, and the counts are the product of two sparse matrices, documents x pieces
and pieces x terms. This is several times faster than tokenising every document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.core.arrays import Ints
from collection.core.errors import require_known
from collection.core.tokens import grams, normalise, words

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


MOST = np.iinfo(np.uint16).max
"""Maximum count; the logarithm makes larger ones nearly equal."""

TEXT_BLOCKS: dict[str, Callable[[str], list[str]]] = {"words": words, "chars": grams}
"""Text block -> function from a piece of text to its terms."""


class TermCounts(NamedTuple):
    """Counts of documents x terms, as a CSR matrix without duplicate entries, in any order within a row."""

    terms: list[str]
    """Names of the columns, in order of appearance, so that the columns of all documents do not depend on chunks."""
    indptr: Ints
    indices: NDArray[np.int32]
    counts: NDArray[np.uint16]
    lengths: Ints
    """(documents,) number of words, with repetitions but without pairs; 0 in blocks other than "words"."""


def places(indptr: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Positions of the values of some rows: an indptr for these rows (n + 1,), and the position of each value."""
    size = indptr[rows + 1] - indptr[rows]
    own = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(size, out=own[1:])
    return own, np.repeat(indptr[rows] - own[:-1], size) + np.arange(own[-1])


def text_blocks(blocks: Iterable[str]) -> tuple[str, ...]:
    """Check the names of text blocks and drop repetitions."""
    require_known("block of features", TEXT_BLOCKS, *blocks)
    return tuple(dict.fromkeys(blocks))


def count(texts: Sequence[str | None], blocks: Sequence[str], bigrams: bool = False) -> dict[str, TermCounts]:
    """Count the terms of each block, "words" or "chars"; with `bigrams`, "words" includes pairs of neighbouring words.

    >>> sorted(count(["to be or not to be"], ["words"])["words"].counts.tolist())
    [1, 1, 2, 2]
    """
    documents, pieces, are_words = _split(texts)
    return {
        name: _block(documents, pieces, are_words, TEXT_BLOCKS[name], bigrams and name == "words") for name in blocks
    }


def _split(texts: Sequence[str | None]) -> tuple[csr_matrix, list[str], list[bool]]:
    """Documents x pieces in the order of the texts, with repeated columns, and the pieces in order of appearance.

    The last value tells which pieces are one word each, without other characters, and pure ASCII.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from scipy.sparse import csr_matrix

    # As bytes, since Arrow's strings cannot hold unpaired surrogates.
    encoded = pa.array([normalise(text or "").encode("utf-8", "surrogatepass") for text in texts], pa.binary())
    split = pc.split_pattern(encoded, " ")
    numbered = split.values.dictionary_encode()
    indices = numbered.indices.to_numpy()
    pieces = [piece.decode("utf-8", "surrogatepass") for piece in numbered.dictionary.to_pylist()]
    are_words = pc.match_substring_regex(numbered.dictionary, "^[0-9a-z_]+$").to_pylist()
    documents = csr_matrix(
        (np.ones(len(indices), np.int32), indices, split.offsets.to_numpy()), shape=(len(texts), len(pieces))
    )
    return documents, pieces, are_words


def _numbering() -> defaultdict[str, int]:
    """Text -> number, in order of first appearance."""
    numbered: defaultdict[str, int] = defaultdict()
    numbered.default_factory = numbered.__len__
    return numbered


def _block(
    documents: csr_matrix,
    pieces: list[str],
    are_words: list[bool],
    terms_of: Callable[[str], list[str]],
    bigrams: bool,
) -> TermCounts:
    numbered = _numbering()
    if terms_of is not words:
        are_words = [False] * len(pieces)
    # Texts were split at spaces only; other blanks are left in the pieces, and some pieces are empty.
    rows = [
        [numbered[piece]] if is_word else [numbered[term] for part in piece.split() for term in terms_of(part)]
        for piece, is_word in zip(pieces, are_words, strict=True)
    ]
    terms = _matrix(rows, len(numbered))
    counted = documents @ terms
    lengths = np.zeros(documents.shape[0], np.int64)
    if terms_of is words:
        lengths += np.asarray(counted.sum(axis=1), np.int64).ravel()
    names = list(numbered)
    if bigrams:
        from scipy.sparse import hstack

        pairs, counted_pairs, order = _pairs(documents, terms, names)
        counted, names = hstack([counted, counted_pairs], format="csr"), names + pairs
        names = [names[column] for column in order.tolist()]
        counted.indices = np.argsort(order)[counted.indices]
    counts = np.minimum(counted.data, MOST).astype(np.uint16)
    return TermCounts(names, counted.indptr.astype(np.int64), counted.indices.astype(np.int32), counts, lengths)


def _pairs(documents: csr_matrix, terms: csr_matrix, names: list[str]) -> tuple[list[str], csr_matrix, Ints]:
    """The pairs of neighbouring words: their names, documents x pairs, and words and pairs in order of appearance."""
    from scipy.sparse import csr_matrix

    size = np.diff(terms.indptr)[documents.indices]
    ends = np.cumsum(size)
    sequence = terms.indices[np.arange(size.sum()) + np.repeat(terms.indptr[documents.indices] - ends + size, size)]
    pieces_to = np.concatenate([[0], ends])[documents.indptr]
    document = np.repeat(np.arange(documents.shape[0]), np.diff(pieces_to))
    together = np.flatnonzero(document[:-1] == document[1:])
    keys = sequence[together].astype(np.int64) * len(names) + sequence[together + 1]
    different, seen, column = np.unique(keys, return_index=True, return_inverse=True)
    # A pair appears after its second word.
    appearance = np.concatenate([np.unique(sequence, return_index=True)[1], together[seen] + 1.5])
    first, second = np.divmod(different, max(1, len(names)))
    pairs = [f"{names[a]} {names[b]}" for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    ones = np.ones(len(column), np.int32)
    matrix = csr_matrix((ones, (document[together], column)), shape=(documents.shape[0], len(pairs)))
    return pairs, matrix, np.argsort(appearance)


def _matrix(rows: list[list[int]], columns: int) -> csr_matrix:
    """A CSR matrix of ones in the order of the rows, with repeated columns."""
    from scipy.sparse import csr_matrix

    indptr = np.zeros(len(rows) + 1, np.int32)
    np.cumsum([len(row) for row in rows], out=indptr[1:])
    indices = np.fromiter(chain.from_iterable(rows), np.int32, int(indptr[-1]))
    return csr_matrix((np.ones(len(indices), np.int32), indices, indptr), shape=(len(rows), columns))
