"""Vectors on disk: what lies where, and opening it.

    DIRECTORY/meta.json         format, settings, fingerprint, the folder that counts, and the size of each file in it
    DIRECTORY/made-RANDOM/      hashes.npy; of each block of text BLOCK.{indptr,indices,counts,values,frequency,
                                lengths}.npy and BLOCK.terms.txt, a line a column; dense.npy

A new state is written into a folder of its own, and counts from the moment that meta.json is replaced by one that
names it: one rename, which happens or does not. Who has the old folder's files mapped keeps them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from collection.active_learning.features.blocks import Block, DenseBlock, TextBlock, Vocabulary
from collection.active_learning.features.matrix import Vectors
from collection.errors import FormatError

FORMAT = 1
META = "meta.json"
FOLDER = "made-"
ARRAYS = {
    "indptr": np.int64,
    "indices": np.int32,
    "counts": np.uint16,
    "values": np.float32,
    "frequency": np.int64,
    "lengths": np.int64,
}
AGAIN = "make the vectors again with `update`"


class Stored(NamedTuple):
    """What lies in a directory: its meta.json, the hash of each document's text (0: no text), the blocks."""

    meta: dict[str, Any]
    hashes: NDArray[np.uint64]
    blocks: dict[str, Block]


def open_vectors(directory: str | os.PathLike[str]) -> Vectors:
    """The vectors in a directory, memory-mapped: quick whatever their size, and shared between processes.

    Raises
    ------
    FormatError
        If there are none, or if a file is damaged.
    """
    stored = read(Path(directory))
    # The learner reads its blocks in the order in which they were asked for; "words" may be there for BM25 alone.
    order = [*stored.meta["learning"], *(name for name in stored.blocks if name not in stored.meta["learning"])]
    return Vectors(tuple(stored.blocks[name] for name in order), stored.meta["fingerprint"])


def read(directory: Path) -> Stored:
    """All that lies in a directory, mapped."""
    meta = _meta(directory)
    while True:
        try:
            return _mapped(directory, meta)
        except FileNotFoundError as missing:
            # An update in between has put another folder into its place.
            now = _meta(directory)
            if now["folder"] == meta["folder"]:
                raise FormatError(missing.filename, None, "a file of vectors", "none", AGAIN) from None
            meta = now


def _meta(directory: Path) -> dict[str, Any]:
    path = directory / META
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(path, None, "vectors of documents", "no such file", AGAIN) from None
    except ValueError:
        raise FormatError(path, None, "JSON", "something else", AGAIN) from None
    form = meta.get("format") if isinstance(meta, dict) else None
    if form != FORMAT:
        raise FormatError(path, None, f"the format {FORMAT}", f"the format {form}", AGAIN)
    kinds = {"folder": str, "fingerprint": str, "learning": list, "blocks": dict, "files": dict, "with_text": int}
    wrong = [name for name, kind in kinds.items() if not isinstance(meta.get(name), kind)]
    if wrong:
        raise FormatError(path, None, f"the entries {', '.join(kinds)}", f"no good {', '.join(wrong)}", AGAIN)
    return dict(meta)


def _mapped(directory: Path, meta: dict[str, Any]) -> Stored:
    folder = directory / meta["folder"]
    for name, size in meta["files"].items():
        found = (folder / name).stat().st_size
        if found != size:
            raise FormatError(folder / name, None, f"{size} bytes", f"{found}", AGAIN)
    hashes = _array(folder / "hashes.npy", np.uint64)
    blocks: dict[str, Block] = {}
    for name, columns in meta["blocks"].items():
        if name == "dense":
            blocks[name] = DenseBlock(name, _array(folder / "dense.npy", np.float32))
            continue
        arrays = {part: _array(folder / f"{name}.{part}.npy", dtype) for part, dtype in ARRAYS.items()}
        blocks[name] = TextBlock(
            name,
            columns=columns,
            documents=meta["with_text"],
            vocabulary=_vocabulary(folder / f"{name}.terms.txt", columns),
            bigrams=bool(meta["bigrams"]) and name == "words",
            learning=name in meta["learning"],
            **arrays,
        )
    for block in blocks.values():
        if block.shape[0] != len(hashes):
            wanted, found_rows = f"{len(hashes)} rows in the block {block.name}", f"{block.shape[0]}"
            raise FormatError(directory / META, None, wanted, found_rows, AGAIN)
    return Stored(meta, hashes, blocks)


def _array(path: Path, dtype: Any) -> np.ndarray:
    try:
        mapped = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise
    except (ValueError, OSError, EOFError):
        raise FormatError(path, None, "a .npy file", "something else", AGAIN) from None
    if mapped.dtype != dtype:
        raise FormatError(path, None, f"{np.dtype(dtype)}", f"{mapped.dtype}", AGAIN)
    # A plain view: slices of a np.memmap carry its ballast about.
    return mapped.view(np.ndarray)


def _vocabulary(path: Path, columns: int) -> Vocabulary:
    # Mapped now, read when somebody asks: by then an update may have taken the file away.
    lines = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.zeros(0, np.uint8)

    def terms() -> list[str]:
        try:
            found = decoded(lines.tobytes())
        except UnicodeDecodeError:
            raise FormatError(path, None, "terms in UTF-8", "something else", AGAIN) from None
        if len(found) != columns:
            raise FormatError(path, None, f"{columns} terms", f"{len(found)}", AGAIN)
        return found

    return Vocabulary(terms)


def encoded(terms: list[str]) -> bytes:
    """Terms as lines; half of a surrogate pair, which broken files contain, goes through."""
    return "".join(f"{term}\n" for term in terms).encode("utf-8", "surrogatepass")


def decoded(lines: bytes) -> list[str]:
    """What :func:`encoded` was given."""
    return lines.decode("utf-8", "surrogatepass").split("\n")[:-1]


def sync(path: Path) -> None:
    """See to it that a file outlives a power cut, what was written to it through a memory map included."""
    with path.open("rb+") as file:  # Windows syncs only what may be written to
        os.fsync(file.fileno())
