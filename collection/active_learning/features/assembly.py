"""Counts of chunks of documents -> one matrix per block, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from collection.active_learning.features.blocks import TextBlock, Vocabulary
from collection.active_learning.features.matrix import FeatureMatrix
from collection.active_learning.features.term_counts import TermCounts, text_blocks
from collection.active_learning.features.tfidf import STEP, frequencies, idf, write_weights
from collection.active_learning.features.workers import count_chunks
from collection.core.arrays import Floats32, Ints

FeatureProgress = Callable[[str, int, int | None], None]
"""Called with the name of the step, the number of documents done, and their total (None if unknown)."""

CHUNK_DOCUMENTS, CHUNK_CHARACTERS = 16_000, 8_000_000
"""Maximum size of a chunk that is counted at a time; large chunks have more repetitions to save work on."""


class InMemory:
    """A growing array in memory."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._parts: list[np.ndarray] = [np.zeros(0, dtype)]

    def append(self, part: np.ndarray) -> None:
        """Add `part` at the end."""
        self._parts.append(part)

    def finish(self) -> np.ndarray:
        """Return the whole array, which may be changed in place."""
        whole, self._parts = np.concatenate(self._parts), []
        return whole


class InFile:
    """A growing array in a .npy file."""

    def __init__(self, path: Path, dtype: DTypeLike) -> None:
        self.path, self.dtype, self._length = path, np.dtype(dtype), 0
        self._file = path.open("wb")
        self._header()

    def _header(self) -> None:
        # numpy reserves space in the header for a longer first axis, so the header can be overwritten.
        description = {"descr": self.dtype.str, "fortran_order": False, "shape": (self._length,)}
        np.lib.format.write_array_header_1_0(self._file, description)

    def append(self, part: np.ndarray) -> None:
        """Add `part` at the end."""
        self._file.write(np.ascontiguousarray(part, self.dtype).data)
        self._length += len(part)

    def finish(self) -> np.ndarray:
        """Return the whole array as a memory map."""
        self._file.seek(0)
        self._header()
        self._file.close()
        return np.load(self.path, mmap_mode="r+") if self._length else np.zeros(0, self.dtype)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


GrowingArray = InMemory | InFile


class CountRows(NamedTuple):
    """Counts of documents in a text block, as a CSR matrix with ascending columns in each row.

    The order within a row decides how sums round, so it must not depend on chunks and partitions.
    """

    indptr: Ints
    indices: NDArray[np.int32]
    counts: NDArray[np.uint16]
    lengths: Ints
    """(documents,) number of words."""

    def renumber(self, columns: NDArray[np.int32], width: int) -> CountRows:
        """The same rows with `columns` (old width,) in place of the columns, of `width` ones."""
        from scipy.sparse import csr_matrix

        shape = (len(self.lengths), width)
        matrix = csr_matrix((self.counts, columns[self.indices], self.indptr), shape=shape)
        matrix.sort_indices()
        return CountRows(self.indptr, matrix.indices.astype(np.int32, copy=False), matrix.data, self.lengths)


class Assembly:
    """A text block under construction, row by row.

    `make` creates a growing array from a name and a type; `terms` is the initial vocabulary.
    """

    def __init__(self, name: str, make: Callable[[str, DTypeLike], GrowingArray], terms: Iterable[str] = ()) -> None:
        self.name = name
        self.vocabulary = {term: column for column, term in enumerate(terms)}
        self.indices, self.counts = make(f"{name}.indices", np.int32), make(f"{name}.counts", np.uint16)
        self._sizes: list[Ints] = []
        self._lengths: list[Ints] = []

    def place(self, counts: TermCounts) -> CountRows:
        """Give counts the columns of this vocabulary, adding new terms to it."""
        number = self.vocabulary
        columns = np.fromiter((number.setdefault(t, len(number)) for t in counts.terms), np.int32, len(counts.terms))
        return CountRows(counts.indptr, counts.indices, counts.counts, counts.lengths).renumber(columns, len(number))

    def append(self, sizes: Ints, indices: NDArray[np.int32], counts: NDArray[np.uint16], lengths: Ints) -> None:
        """Add rows whose indices are columns of this vocabulary."""
        self._sizes.append(sizes)
        self._lengths.append(lengths)
        self.indices.append(indices)
        self.counts.append(counts)

    def finish(self, documents: int) -> tuple[CountRows, Vocabulary]:
        """Return the rows of `documents` texts and their vocabulary."""
        sizes = np.concatenate([np.zeros(1, np.int64), *self._sizes])
        lengths = np.concatenate([np.zeros(0, np.int64), *self._lengths])
        indices, counts = self.indices.finish(), self.counts.finish()
        terms = list(self.vocabulary)
        frequency = frequencies(indices, len(terms))
        alive = frequency > 0
        if not alive.all():
            # Drop the terms of deleted texts.
            moved = (np.cumsum(alive) - 1).astype(np.int32)
            for start in range(0, len(indices), STEP):
                indices[start : start + STEP] = moved[indices[start : start + STEP]]
            terms = [term for term, lives in zip(terms, alive.tolist(), strict=True) if lives]
            frequency = frequency[alive]
        rows = CountRows(np.cumsum(sizes), indices, counts, lengths)
        return rows, Vocabulary(terms, frequency, documents, int(lengths.sum()), len(indices))


def weigh(
    name: str,
    rows: CountRows,
    vocabulary: Vocabulary,
    values: Callable[[int], Floats32] = lambda length: np.empty(length, np.float32),
    *,
    bigrams: bool = False,
    learning: bool = True,
) -> TextBlock:
    """Make the block of some rows by the vocabulary of all; `values` creates an array of a given length."""
    weights = values(len(rows.indices))
    idfs = idf(name, vocabulary.frequency, vocabulary.documents)
    write_weights(rows.indptr, rows.indices, rows.counts, idfs, weights)
    return TextBlock(
        name, rows.indptr, rows.indices, weights, counts=rows.counts, frequency=vocabulary.frequency,
        lengths=rows.lengths, documents=vocabulary.documents, read_terms=lambda: vocabulary.terms,
        bigrams=bigrams, learning=learning, words=vocabulary.words, stored=vocabulary.stored,
    )  # fmt: skip


def split_chunks(texts: Iterable[str | None]) -> Iterator[list[str | None]]:
    """Split texts into chunks of some thousands, fewer if they are long."""
    chunk: list[str | None] = []
    characters = 0
    for text in texts:
        chunk.append(text)
        characters += len(text or "")
        if len(chunk) == CHUNK_DOCUMENTS or characters > CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def build(
    texts: Iterable[str | None],
    *,
    blocks: Sequence[str] = ("words", "chars"),
    bigrams: bool = False,
    progress: FeatureProgress | None = None,
    processes: int | None = None,
) -> FeatureMatrix:
    """Make the features of texts in memory; the arguments are those of :func:`.storage.update`.

    >>> matrix = build(["one red apple", "two red pears"], blocks=["words"])
    >>> (matrix.scores(matrix.vectorize("apples and pears").toarray()[0]) > 0).tolist()
    [False, True]
    """
    counted = count_texts(texts, made_blocks(blocks), bigrams=bigrams, progress=progress, processes=processes)
    return weigh_blocks(counted, {name: vocabulary for name, (_, vocabulary) in counted.items()}, blocks, bigrams)


def made_blocks(blocks: Sequence[str]) -> tuple[str, ...]:
    """Check the names of text blocks, and add "words", which BM25 needs."""
    return tuple(dict.fromkeys((*text_blocks(blocks), "words")))


def count_texts(
    texts: Iterable[str | None],
    blocks: Sequence[str],
    *,
    bigrams: bool = False,
    progress: FeatureProgress | None = None,
    processes: int | None = None,
) -> dict[str, tuple[CountRows, Vocabulary]]:
    """Count the terms of texts: rows and vocabulary of each of the `blocks`."""
    total = len(texts) if isinstance(texts, Sequence) else None
    assemblies = {name: Assembly(name, lambda _, dtype: InMemory(dtype)) for name in blocks}
    rows = documents = 0
    chunks = ((chunk, chunk) for chunk in split_chunks(texts))
    for chunk, counts in count_chunks(chunks, blocks, bigrams, processes):
        rows += len(chunk)
        documents += sum(text is not None for text in chunk)
        for name, assembly in assemblies.items():
            part = assembly.place(counts[name])
            assembly.append(np.diff(part.indptr), part.indices, part.counts, part.lengths)
        if progress:
            progress("tokenising", rows, total)
    return {name: assembly.finish(documents) for name, assembly in assemblies.items()}


def weigh_blocks(
    counted: Mapping[str, tuple[CountRows, Vocabulary]],
    vocabularies: Mapping[str, Vocabulary],
    blocks: Sequence[str],
    bigrams: bool,
) -> FeatureMatrix:
    """Make the features of counted texts with the `vocabularies` of all texts; the learner reads `blocks`."""
    return FeatureMatrix(
        tuple(
            weigh(name, rows, vocabularies[name], bigrams=bigrams and name == "words", learning=name in blocks)
            for name, (rows, _) in counted.items()
        )
    )
