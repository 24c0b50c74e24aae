"""Counts of chunks of documents -> one matrix a block, in memory or in files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from collection.active_learning.features.blocks import TextBlock, Vocabulary
from collection.active_learning.features.matrix import Vectors
from collection.active_learning.features.term_counts import Counts, text_blocks
from collection.active_learning.features.tfidf import STEP, frequencies, idf, weigh
from collection.active_learning.features.workers import FEW, counted

Ints = NDArray[np.int64]
Progress = Callable[[str, int, int | None], None]
"""Told now and then: what is being done, how much of it is done, how much there is (None: not known)."""

CHUNK_DOCUMENTS, CHUNK_CHARACTERS = 16_000, 8_000_000
"""So much text is counted at a time. What more there is, the more often a piece of it was seen before."""


class Growing(Protocol):
    """An array that is written from front to back."""

    def append(self, part: np.ndarray) -> None:
        """Put more at its end."""

    def finish(self) -> np.ndarray:
        """The whole, to be read and changed in place."""


class InMemory:
    """A growing array in memory."""

    def __init__(self, dtype: Any) -> None:
        self._parts: list[np.ndarray] = [np.zeros(0, dtype)]

    def append(self, part: np.ndarray) -> None:
        """Put more at its end."""
        self._parts.append(part)

    def finish(self) -> np.ndarray:
        """The whole."""
        whole, self._parts = np.concatenate(self._parts), []
        return whole


class InFile:
    """A growing array in a .npy file."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.path, self.dtype, self._length = path, np.dtype(dtype), 0
        self._file = path.open("wb")
        self._header()

    def _header(self) -> None:
        # numpy leaves room in the header for a longer first axis, so that it can be written over.
        description = {"descr": self.dtype.str, "fortran_order": False, "shape": (self._length,)}
        np.lib.format.write_array_header_1_0(self._file, description)

    def append(self, part: np.ndarray) -> None:
        """Put more at its end."""
        self._file.write(np.ascontiguousarray(part, self.dtype).data)
        self._length += len(part)

    def finish(self) -> np.ndarray:
        """The whole, as a memory map."""
        self._file.seek(0)
        self._header()
        self._file.close()
        return np.load(self.path, mmap_mode="r+") if self._length else np.zeros(0, self.dtype)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class Assembly:
    """One block as it grows, row after row.

    Parameters
    ----------
    name
        The block's.
    make
        Gives a growing array for a name and a type.
    terms
        A vocabulary to begin with.
    """

    def __init__(self, name: str, make: Callable[[str, Any], Growing], terms: Iterable[str] = ()) -> None:
        self.name = name
        self.vocabulary = {term: column for column, term in enumerate(terms)}
        self.indices, self.counts = make(f"{name}.indices", np.int32), make(f"{name}.counts", np.uint16)
        self._sizes: list[Ints] = []
        self._lengths: list[Ints] = []

    def columns(self, counts: Counts) -> NDArray[np.int32]:
        """The counts' indices in terms of this vocabulary, which takes the new terms up."""
        number = self.vocabulary
        columns = np.fromiter((number.setdefault(t, len(number)) for t in counts.terms), np.int32, len(counts.terms))
        return columns[counts.indices]

    def append(self, sizes: Ints, indices: NDArray[np.int32], counts: NDArray[np.uint16], lengths: Ints) -> None:
        """More rows, whose indices are in terms of this vocabulary."""
        self._sizes.append(sizes)
        self._lengths.append(lengths)
        self.indices.append(indices)
        self.counts.append(counts)

    def finish(self, documents: int, values: Callable[[int], NDArray[np.float32]], **more: Any) -> TextBlock:
        """The block, its values made.

        Parameters
        ----------
        documents
            How many have a text.
        values
            Gives an array of that length to write the values to.
        more
            What else the block is told.
        """
        sizes = np.concatenate([np.zeros(1, np.int64), *self._sizes])
        lengths = np.concatenate([np.zeros(0, np.int64), *self._lengths])
        indptr = np.cumsum(sizes)
        indices, counts = self.indices.finish(), self.counts.finish()
        terms = list(self.vocabulary)
        frequency = frequencies(indices, len(terms))
        alive = frequency > 0
        if not alive.all():
            # Terms of texts that are gone.
            moved = (np.cumsum(alive) - 1).astype(np.int32)
            for start in range(0, len(indices), STEP):
                indices[start : start + STEP] = moved[indices[start : start + STEP]]
            terms = [term for term, lives in zip(terms, alive.tolist(), strict=True) if lives]
            frequency = frequency[alive]
        weights = values(len(indices))
        weigh(indptr, indices, counts, idf(self.name, frequency, documents), weights)
        return TextBlock(
            self.name, indptr, indices, weights, len(terms), counts=counts, frequency=frequency, lengths=lengths,
            documents=documents, vocabulary=Vocabulary(lambda: terms), **more,
        )  # fmt: skip


def chunked(texts: Iterable[str | None]) -> Iterator[list[str | None]]:
    """The texts some thousands at a time, fewer where they are long."""
    chunk: list[str | None] = []
    # The first chunk is counted before any process is started: the others should not wait for it long.
    characters, most = 0, min(FEW, CHUNK_DOCUMENTS)
    for text in texts:
        chunk.append(text)
        characters += len(text or "")
        if len(chunk) == most or characters > CHUNK_CHARACTERS:
            yield chunk
            chunk, characters, most = [], 0, CHUNK_DOCUMENTS
    if chunk:
        yield chunk


def build(
    texts: Iterable[str | None],
    *,
    blocks: Sequence[str] = ("words", "chars"),
    bigrams: bool = False,
    progress: Progress | None = None,
    processes: int | None = None,
) -> Vectors:
    """Vectors of texts, in memory.

    Parameters
    ----------
    texts
        One for each document, in the order of their keys; None where there is none.
    blocks
        What the learner reads: "words", "chars" or both.
    bigrams
        Whether pairs of neighbouring words are terms too.
    progress
        Told how far it is.
    processes
        How many count at a time; None: one a core, where there are many documents.

    Raises
    ------
    InputError
        If a block is not known.

    Examples
    --------
    >>> vectors = build(["one red apple", "two red pears"], blocks=["words"])
    >>> (vectors.scores(vectors.of_text("apples and pears").toarray()[0]) > 0).tolist()
    [False, True]
    """
    learning = text_blocks(blocks)
    made = tuple(dict.fromkeys((*learning, "words")))
    total = len(texts) if isinstance(texts, Sequence) else None
    assemblies = {name: Assembly(name, lambda _, dtype: InMemory(dtype)) for name in made}
    rows = documents = 0
    chunks = ((chunk, chunk) for chunk in chunked(texts))
    for chunk, found in counted(chunks, made, bigrams, processes):
        rows += len(chunk)
        documents += sum(text is not None for text in chunk)
        for name, assembly in assemblies.items():
            part = found[name]
            assembly.append(np.diff(part.indptr), assembly.columns(part), part.counts, part.lengths)
        if progress:
            progress("tokenising", rows, total)
    return Vectors(
        tuple(
            assembly.finish(documents, lambda n: np.empty(n, np.float32), bigrams=bigrams, learning=name in learning)
            for name, assembly in assemblies.items()
        )
    )
