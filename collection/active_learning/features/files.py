"""Features on disk: the layout of their files, and opening them.

    DIRECTORY/meta.json         format, settings, fingerprint, the current folder, and the size of each file in it
    DIRECTORY/made-RANDOM/      hashes.npy; dense.npy; for each text block BLOCK.{indptr,indices,counts,values,
                                frequency,lengths}.npy and BLOCK.terms.txt with one term per column

Each update writes a new folder, and one rename of meta.json makes it current. A process that has mapped files of the
old folder can go on using them.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import DTypeLike

from collection.active_learning.features.blocks import DenseBlock, FeatureBlock, TextBlock
from collection.active_learning.features.matrix import FeatureMatrix
from collection.core.arrays import Floats32, Hashes
from collection.core.errors import FormatError

FORMAT = 1
META = "meta.json"
FOLDER = "made-"
COUNTED = "made-counted_"
"""Folder of the counts of an interrupted update."""
ARRAYS = {
    "indptr": np.int64,
    "indices": np.int32,
    "counts": np.uint16,
    "values": np.float32,
    "frequency": np.int64,
    "lengths": np.int64,
}
AGAIN = "rebuild the features with `update`"


class Meta(TypedDict):
    """Content of meta.json."""

    format: int
    unicode: str
    """Version of the Unicode tables that the tokens depend on."""
    bigrams: bool
    learning: Sequence[str]
    """Blocks that the learner reads, in their order."""
    blocks: dict[str, int]
    """Block -> number of columns."""
    with_text: int
    """Documents that have a text."""
    fingerprint: str
    folder: str
    files: dict[str, int]
    """File in the folder -> its size in bytes."""


class Stored(NamedTuple):
    """Content of a directory."""

    meta: Meta
    hashes: Hashes
    """(documents,) a hash of each text; 0 for a document without text."""
    blocks: dict[str, FeatureBlock]


def open_features(directory: str | os.PathLike[str]) -> FeatureMatrix:
    """Open the features in a directory, memory-mapped and shared between processes; FormatError if there are none."""
    stored = read(Path(directory))
    # The block "words" may be stored for BM25 alone.
    order = dict.fromkeys([*stored.meta["learning"], *stored.blocks])
    return FeatureMatrix(tuple(stored.blocks[name] for name in order), stored.meta["fingerprint"])


def stored_files(directory: Path) -> list[Path]:
    """Return the files of the current features in a directory; FormatError if there are none."""
    meta = _read_meta(directory)
    return [directory / META, *(directory / meta["folder"] / name for name in meta["files"])]


def read(directory: Path) -> Stored:
    """Map all files of a directory."""
    meta = _read_meta(directory)
    while True:
        try:
            return _map_files(directory, meta)
        except FileNotFoundError as missing:
            # An update may have replaced the folder in the meantime.
            now = _read_meta(directory)
            if now["folder"] == meta["folder"]:
                raise FormatError(missing.filename, None, "a file of features", "none", AGAIN) from None
            meta = now


def _read_meta(directory: Path) -> Meta:
    path = directory / META
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise FormatError(path, None, "features of documents", "no such file", AGAIN) from None
    except ValueError:
        raise FormatError(path, None, "JSON", "another format", AGAIN) from None
    form = meta.get("format") if isinstance(meta, dict) else None
    if form != FORMAT:
        raise FormatError(
            path, None, f"features of format {FORMAT}", "none" if form is None else f"format {form}", AGAIN
        )
    kinds = {"folder": str, "fingerprint": str, "learning": list, "blocks": dict, "files": dict, "with_text": int}
    wrong = [name for name, kind in kinds.items() if not isinstance(meta.get(name), kind)]
    if wrong:
        problem = f"{', '.join(wrong)} missing or of another type"
        raise FormatError(path, None, f"the entries {', '.join(kinds)}", problem, AGAIN)
    return cast(Meta, meta)


def _map_files(directory: Path, meta: Meta) -> Stored:
    folder = directory / meta["folder"]
    for name, size in meta["files"].items():
        actual_size = (folder / name).stat().st_size
        if actual_size != size:
            raise FormatError(folder / name, None, f"{size} bytes", f"{actual_size}", AGAIN)
    hashes = _array(folder / "hashes.npy", np.uint64)
    blocks: dict[str, FeatureBlock] = {}
    for name, columns in meta["blocks"].items():
        if name == "dense":
            blocks[name] = DenseBlock(name, _array(folder / "dense.npy", np.float32))
            continue
        arrays = {part: _array(folder / f"{name}.{part}.npy", dtype) for part, dtype in ARRAYS.items()}
        blocks[name] = TextBlock(
            name,
            documents=meta["with_text"],
            read_terms=_terms(folder / f"{name}.terms.txt", columns),
            bigrams=bool(meta["bigrams"]) and name == "words",
            learning=name in meta["learning"],
            words=None,
            stored=None,
            **arrays,
        )
    for block in blocks.values():
        if block.shape[0] != len(hashes):
            wanted, found_rows = f"{len(hashes)} rows in the block {block.name}", f"{block.shape[0]}"
            raise FormatError(directory / META, None, wanted, found_rows, AGAIN)
    return Stored(meta, hashes, blocks)


def _array(path: Path, dtype: DTypeLike) -> np.ndarray:
    try:
        mapped = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise
    except (ValueError, OSError, EOFError):
        raise FormatError(path, None, "a .npy file", "another format", AGAIN) from None
    if mapped.dtype != dtype:
        raise FormatError(path, None, f"{np.dtype(dtype)}", f"{mapped.dtype}", AGAIN)
    # A plain view: slices of a np.memmap are slower.
    return mapped.view(np.ndarray)


def _terms(path: Path, columns: int) -> Callable[[], list[str]]:
    # Mapped now, since an update may remove the file before its first use.
    lines = np.memmap(path, np.uint8, "r") if path.stat().st_size else np.zeros(0, np.uint8)

    def read_terms() -> list[str]:
        try:
            terms = decode_terms(lines.tobytes())
        except UnicodeDecodeError:
            raise FormatError(path, None, "terms in UTF-8", "another encoding", AGAIN) from None
        if len(terms) != columns:
            raise FormatError(path, None, f"{columns} terms", f"{len(terms)}", AGAIN)
        return terms

    return read_terms


def create_array(path: Path, shape: tuple[int, ...]) -> Floats32:
    """Create a .npy file of float32 numbers, mapped for writing; OSError if the disk has no room for it.

    The room is reserved first: a write through the map to a full disk ends the process (SIGBUS).
    """
    mapped = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    if hasattr(os, "posix_fallocate"):
        try:
            with path.open("rb+") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # a file system that reserves nothing
                raise
    return mapped


def encode_terms(terms: list[str]) -> bytes:
    """Encode terms as lines; unpaired surrogates, which broken files contain, are kept."""
    return "".join(f"{term}\n" for term in terms).encode("utf-8", "surrogatepass")


def decode_terms(lines: bytes) -> list[str]:
    """Decode the terms of :func:`encode_terms`."""
    return lines.decode("utf-8", "surrogatepass").split("\n")[:-1]
