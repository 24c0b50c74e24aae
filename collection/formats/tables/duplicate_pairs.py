"""Check whether a file names a document twice for a topic, without comparing or numbering its documents.

Every pair is hashed to 64 bits from the bytes of its ids. Only rows with a repeated hash are compared in full.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collection.core import arrow
from collection.core.arrays import Hashes, Ints

_ODD = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio
_HALF = np.uint64(32)

FEW_KEYS, MANY_KEYS = 1 << 12, (1 << 18) - 1
"""Numbers of keys between which a table of cells is faster than sorting; it takes at most 8 MB."""


def hash_pairs(topics: Any, documents: Any) -> Hashes:
    """A 64-bit key of each pair; equal pairs have equal keys, and different ones hardly ever.

    `topics` is an arrow array of dictionary type, whose codes may differ from block to block; `documents` is an arrow
    array of large strings.
    """
    # Hashes of topics are scattered again, so that they are independent of those of documents.
    of_topic = _mix(_mix(hash_texts(topics.dictionary.cast("large_string")), 8), 16)
    keys = hash_texts(documents)
    keys ^= of_topic[arrow.to_numpy(topics.indices)]
    return keys


def hash_texts(texts: Any) -> Hashes:
    """A hash of each text of an arrow array of large strings, eight bytes of all texts at a time."""
    _, offsets, data = texts.buffers()
    offsets = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data or b"", np.uint8)
    begin, lengths = offsets[:-1], np.diff(offsets)
    data = np.concatenate([data, np.zeros(8, np.uint8)])
    # The eight bytes from each place on, as a view with overlaps.
    words = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))
    hashes = _mix(_mask_bytes(words[begin], lengths), 0)
    hashes += lengths.view(np.uint64)
    rows, done = np.flatnonzero(lengths > 8), 8
    while len(rows):
        hashes[rows] += _mix(_mask_bytes(words[begin[rows] + done], lengths[rows] - done), done)
        done += 8
        rows = rows[lengths[rows] > done]
    return hashes


def _mask_bytes(words: Hashes, counts: Ints) -> Hashes:
    """The words without the bytes after the first `counts` (little-endian)."""
    surplus = np.minimum(counts, 8)
    surplus *= -8
    surplus += 64
    words <<= surplus.view(np.uint64)  # by 64: 0
    return words


def _mix(words: Hashes, place: int) -> Hashes:
    """A one-to-one mapping of the numbers, another one at each `place`; changes the array in place."""
    words *= np.uint64(pow(_ODD, place + 1, 1 << 64))
    words ^= words >> _HALF
    return words


def has_duplicate_keys(keys: Hashes) -> bool:
    """Return whether any key is repeated.

    Each key of a block is written to the cell of its first bits. Only keys that a later one replaced are sorted.
    """
    if FEW_KEYS < len(keys) <= MANY_KEYS:
        bits = len(keys).bit_length() + 3
        cells = (keys >> np.uint64(64 - bits)).astype(np.intp)
        rows = np.arange(len(keys), dtype=np.int32)
        last = np.empty(1 << bits, dtype=np.int32)
        last[cells] = rows
        taken_by = last[cells]
        displaced = np.flatnonzero(taken_by != rows)
        if (keys[displaced] == keys[taken_by[displaced]]).any():
            return True
        keys = keys[displaced]
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def has_duplicate_pairs(keys: Hashes, topics: Any, documents: Any) -> bool:
    """Return whether any pair is repeated, given the keys of the pairs."""
    import pandas as pd

    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    suspects = np.flatnonzero(np.isin(keys, again))
    some = {"topic": topics[suspects], "doc": documents.take(suspects).to_pylist()}
    return bool(pd.DataFrame(some).duplicated().any())
