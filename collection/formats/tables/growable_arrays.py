"""Columns that grow block by block, so that a large file is never in memory twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Growing:
    """An array that is added to at its end.

    Parameters
    ----------
    expected
        How long it will be, as far as one can say. Memory that is asked for and never written to costs
        nothing; an array that turns out longer is moved.
    dtype
        What it holds at first: integers become floats when floats are added.
    """

    def __init__(self, expected: int, dtype: npt.DTypeLike) -> None:
        self._data: np.ndarray = np.empty(expected, dtype)
        self.size = 0

    def add(self, piece: np.ndarray) -> None:
        """Take one more piece."""
        end = self.size + len(piece)
        dtype = np.result_type(self._data, piece)
        if end > len(self._data) or dtype != self._data.dtype:
            old = self._data[: self.size]
            self._data = np.empty(max(end, len(self._data), 2 * self.size), dtype)
            self._data[: self.size] = old
        self._data[self.size : end] = piece
        self.size = end

    def array(self) -> np.ndarray:
        """What was added, as one array."""
        return self._data[: self.size]


class GrowingTexts:
    """The same for texts: takes arrow arrays of large strings, makes one of them."""

    def __init__(self, expected: int, expected_bytes: int) -> None:
        self._bytes = Growing(expected_bytes, np.uint8)
        self._ends = Growing(expected + 1, np.int64)
        self._ends.add(np.zeros(1, np.int64))

    def add(self, texts: Any) -> None:
        """Take one more piece."""
        offsets, data = offsets_and_bytes(texts)
        self._ends.add(offsets[1:] + (self._bytes.size - offsets[0]))
        self._bytes.add(data[offsets[0] : offsets[-1]])

    def array(self) -> Any:
        """What was added, as one arrow array."""
        import pyarrow as pa

        ends, data = pa.py_buffer(self._ends.array()), pa.py_buffer(self._bytes.array())
        return pa.LargeStringArray.from_buffers(self._ends.size - 1, ends, data)


def offsets_and_bytes(texts: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Of an arrow array of large strings: where each begins and the last ends, and the bytes of them all."""
    _, offsets, data = texts.buffers()
    own = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return own, np.frombuffer(data or b"", np.uint8)
