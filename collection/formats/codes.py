"""Ids as integers: what a run of millions of lines is made of.

A document id is looked up once, when a file is read; everything after that compares integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Codes = npt.NDArray[np.int32]

PARTS = 16
"""Document ids are coded in this many separate parts, told apart by their last byte."""


class TopicCodes:
    """Gives topics numbers as blocks come in. There are few topics a block, so a dict serves."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._codes: list[Codes] = []

    def add(self, column: Any) -> None:
        """Take one block: an arrow array of dictionary type."""
        known = self._numbers
        names = column.dictionary.to_pylist()
        here = np.fromiter((known.setdefault(n, len(known)) for n in names), np.int32, len(names))
        self._codes.append(here[column.indices.to_numpy()])

    def finish(self) -> tuple[Codes, pd.Index[str]]:
        """The code of every row, and the topic of every code."""
        codes = np.concatenate(self._codes) if self._codes else np.empty(0, np.int32)
        self._codes.clear()
        return codes, pd.Index(list(self._numbers), dtype="str")


class DocumentCodes:
    """Gives documents numbers as blocks come in, for millions of different ids.

    One hash table for all ids would be the largest thing in memory by far, and every look-up in it a
    cache miss. Ids are therefore parted by their last byte and each part gets a small table, one after
    the other: half the time and a fraction of the memory. If all ids end alike nothing is gained, and
    nothing lost.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._ids: list[list[Any]] = [[] for _ in range(PARTS)]
        self._positions: list[list[Codes]] = [[] for _ in range(PARTS)]

    def add(self, column: Any) -> None:
        """Take one block: an arrow string array without nulls and without empty strings."""
        import pyarrow as pa

        if not len(column):
            return
        _, offset_buffer, value_buffer = column.buffers()
        ends = np.frombuffer(offset_buffer, np.int32)[column.offset + 1 : column.offset + len(column) + 1]
        part = np.frombuffer(value_buffer, np.uint8)[ends - 1] & (PARTS - 1)
        order = np.argsort(part, kind="stable").astype(np.int32)
        bounds = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=PARTS))])
        for p in range(PARTS):
            rows = order[bounds[p] : bounds[p + 1]]
            if len(rows):
                # Copies, not views of one block: a part's memory is free as soon as it is coded.
                self._ids[p].append(column.take(pa.array(rows)))
                self._positions[p].append(rows + np.int32(self._rows))
        self._rows += len(column)

    def finish(self) -> tuple[Codes, pd.Index[str]]:
        """The code of every row, and the id of every code; the object is empty afterwards."""
        import pyarrow as pa

        pool = pa.default_memory_pool()
        codes = np.empty(self._rows, np.int32)
        tables: list[Any] = []
        count = 0
        for p in range(PARTS):
            ids, self._ids[p] = self._ids[p], []
            positions, self._positions[p] = self._positions[p], []
            if not ids:
                continue
            coded = pa.concat_arrays(ids).dictionary_encode()
            codes[np.concatenate(positions)] = coded.indices.to_numpy() + np.int32(count)
            count += len(coded.dictionary)
            tables.append(coded.dictionary)
            del ids, positions, coded
            pool.release_unused()
        names = pa.concat_arrays(tables) if tables else pa.array([], pa.string())
        return codes, pd.Index(pd.array(names, dtype="str"))


def categorical(codes: Codes, names: pd.Index[str]) -> pd.Categorical:
    """A categorical from codes and names that are known to be distinct.

    The public constructor makes sure that the names are distinct by hashing them all once more, which
    for millions of ids takes longer than reading the file did. Should pandas drop the way round it,
    only the time is lost.
    """
    quick = getattr(pd.CategoricalDtype, "_from_fastpath", None)
    dtype = quick(names, False) if quick else pd.CategoricalDtype(names)
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


def find_duplicate(topics: Codes, documents: Codes, document_count: int) -> tuple[int, int] | None:
    """Two rows that name the same document for the same topic (the earliest second one), or None."""
    ordered = _pair_keys(topics, documents, document_count)
    ordered.sort()
    if not (ordered[1:] == ordered[:-1]).any():
        return None
    keys = _pair_keys(topics, documents, document_count)
    rows = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[rows][1:] == keys[rows][:-1]) + 1
    second = int(again[rows[again].argmin()])
    return int(rows[second - 1]), int(rows[second])


def _pair_keys(topics: Codes, documents: Codes, document_count: int) -> npt.NDArray[np.int64]:
    """One integer for each pair, made in place: it is as large as anything here."""
    keys = topics.astype(np.int64)
    keys *= max(1, document_count)
    keys += documents
    return keys
