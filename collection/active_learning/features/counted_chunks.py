"""Counts of finished chunks, kept in a folder until the update that made them is complete, so that it can go on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from collection.active_learning.features.files import COUNTED, decode_terms, encode_terms
from collection.active_learning.features.term_counts import TermCounts
from collection.core import layout
from collection.core.arrays import Hashes

ARRAYS = ("indptr", "indices", "counts", "lengths")

LARGE = 5_000
"""New texts in a chunk from which on its counts are kept; fewer are counted again in a tenth of a second."""


class CountedChunks:
    """Counts of chunks by the hashes of their new texts; `settings` are those that the counts depend on."""

    def __init__(self, directory: Path, settings: object, blocks: Sequence[str]) -> None:
        self.folder, self.settings, self.blocks = directory / COUNTED, repr(settings).encode(), blocks

    def key(self, new: Hashes) -> str | None:
        """Name of the counts of new texts; None for a small chunk."""
        if len(new) < LARGE:
            return None
        return blake2b(self.settings + new.tobytes(), digest_size=16).hexdigest()

    def read(self, key: str | None) -> dict[str, TermCounts] | None:
        """Return the counts; None if no interrupted update has made them, or if their file is damaged."""
        if key is None or not self._path(key).exists():
            return None
        with suppress(OSError, ValueError, KeyError, BadZipFile), np.load(self._path(key), allow_pickle=False) as file:
            return {
                name: TermCounts(
                    decode_terms(file[f"{name}.terms"].tobytes()), *(file[f"{name}.{part}"] for part in ARRAYS)
                )
                for name in self.blocks
            }
        return None

    def keep(self, key: str | None, counts: dict[str, TermCounts]) -> None:
        """Keep the counts of a chunk, as far as the disk has room."""
        if key is None or self._path(key).exists():
            return
        arrays = {f"{name}.{part}": getattr(found, part) for name, found in counts.items() for part in ARRAYS}
        arrays |= {f"{name}.terms": np.frombuffer(encode_terms(c.terms), np.uint8) for name, c in counts.items()}
        with suppress(OSError):
            self.folder.mkdir(mode=layout.PRIVATE_FOLDER, exist_ok=True)
            unfinished = self.folder / "unfinished.npz"
            np.savez(unfinished, **arrays)  # with checksums, which a read after a power cut tests
            unfinished.replace(self._path(key))

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"
