"""The user's embeddings: a .npy file -> rows of unit length."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np

from collection.active_learning.features.blocks import DenseBlock, FeatureBlock
from collection.active_learning.features.files import create_array
from collection.active_learning.features.tfidf import STEP
from collection.core.errors import FormatError, InputError


class Embeddings:
    """Embeddings from a .npy file of real numbers or, without a file, from the existing block `before`.

    Raises FormatError for any other file, and InputError if both are missing.
    """

    def __init__(self, path: str | os.PathLike[str] | None, before: FeatureBlock | None) -> None:
        self.path = None if path is None else Path(path)
        if self.path is None:
            if not isinstance(before, DenseBlock):
                raise InputError("block 'dense': expected a .npy file of embeddings, found none; name the file")
            self.rows: np.ndarray = before.matrix
            return
        try:
            self.rows = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise FormatError(self.path, None, "a .npy file of embeddings", "no such file") from None
        except Exception:  # numpy raises exceptions of many types for a wrong header
            raise FormatError(self.path, None, "a .npy file of embeddings", "another format", SAVE) from None
        if not isinstance(self.rows, np.ndarray) or self.rows.ndim != 2 or self.rows.dtype.kind not in "fiu":
            shape, kind = getattr(self.rows, "shape", "several arrays"), getattr(self.rows, "dtype", "")
            raise FormatError(self.path, None, "a matrix of numbers", f"{shape} {kind}".strip(), SAVE)

    def digest(self) -> str:
        """Hash of the block's content."""
        total = blake2b(repr(self.rows.shape).encode(), digest_size=8)
        for part in self._parts():
            total.update(part.tobytes())
        return total.hexdigest()

    def _parts(self) -> Iterator[np.ndarray]:
        """The rows as they are stored, in chunks."""
        step = max(1, STEP // max(1, self.rows.shape[1]))
        for start in range(0, self.rows.shape[0], step):
            part = np.array(self.rows[start : start + step], np.float32)
            if self.path is not None:
                whole = np.isfinite(part).all(axis=1)
                if not whole.all():
                    row = start + int(np.argmin(whole))
                    raise FormatError(self.path, None, "finite numbers", f"nan or an infinity in row {row}")
                length = np.linalg.norm(part, axis=1, keepdims=True)
                part /= np.where(length == 0, 1, length)
            yield part

    def write(self, path: Path, documents: int) -> int:
        """Write the block as float32 and return its number of columns; FormatError for a wrong number of rows."""
        found, columns = self.rows.shape
        if found != documents:
            of = self.path or "the stored block 'dense'"
            raise FormatError(of, None, f"{documents} rows, one for each document", f"{found}", SAVE)
        if not self.rows.size:
            np.save(path, np.zeros(self.rows.shape, np.float32))
            return int(columns)
        target = create_array(path, self.rows.shape)
        start = 0
        for part in self._parts():
            target[start : start + len(part)] = part
            start += len(part)
        return int(columns)


SAVE = "write one row per document, in the order of the documents, with numpy.save"
