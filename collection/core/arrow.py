"""Arrays between numpy and arrow, without a copy and without pandas, which pyarrow's own functions would import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def to_numpy(array: Any) -> np.ndarray:
    """An arrow array of numbers or booleans without nulls."""
    import pyarrow as pa

    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.int8())).view(np.bool_)
    return np.from_dlpack(array)


def from_numpy(array: np.ndarray) -> Any:
    """An array of numbers."""
    import pyarrow as pa

    array = np.ascontiguousarray(array)
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, pa.py_buffer(array)])


def from_texts(texts: Sequence[str]) -> Any:
    """An arrow array of large strings."""
    import pyarrow as pa

    joined = "".join(texts)
    # Ids of ASCII letters, as most are, need no encoding one by one.
    encoded: Sequence[str] | Sequence[bytes] = texts if joined.isascii() else [text.encode() for text in texts]
    ends = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=ends[1:])
    return pa.LargeStringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(joined.encode()))


def from_column(column: pd.Series) -> Any:
    """A column of texts as one array."""
    import pyarrow as pa

    array = pa.array(column)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def is_one_piece(column: pd.Series) -> bool:
    """Return whether a column of texts is one array of arrow, which concatenated columns are not."""
    import pyarrow as pa

    array = pa.array(column.array)
    return not isinstance(array, pa.ChunkedArray) or array.num_chunks <= 1


def is_plain(kind: Any) -> bool:
    """Return whether a type of arrow is one of texts, whole numbers or floating-point numbers."""
    from pyarrow import types

    return any(
        is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_integer, types.is_floating)
    )
