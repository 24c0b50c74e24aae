"""Updates of the features in a directory."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import DTypeLike

from collection.active_learning.features.assembly import (
    Assembly,
    FeatureProgress,
    InFile,
    made_blocks,
    split_chunks,
    weigh,
)
from collection.active_learning.features.blocks import DenseBlock, FeatureBlock, TextBlock
from collection.active_learning.features.files import (
    ARRAYS,
    COUNTED,
    FOLDER,
    FORMAT,
    META,
    Stored,
    create_array,
    decode_terms,
    encode_terms,
    read,
)
from collection.active_learning.features.term_counts import TermCounts, places
from collection.active_learning.features.tfidf import STEP, row_ranges
from collection.active_learning.features.workers import count_chunks
from collection.core import layout
from collection.core.arrays import Floats32, Hashes, Ints
from collection.core.errors import FormatError, InputError

NEW, EMPTY = -1, -2
"""In place of a document's old row: its text is new and must be tokenised; it has no text."""

MANY = 100_000
"""Number of documents from which on characters, which take five times the space of words, are off by default."""


LARGE = 5_000
"""New texts in a chunk from which on its counts are kept; fewer are counted again in a tenth of a second."""

_COUNT_ARRAYS = ("indptr", "indices", "counts", "lengths")


class Report(NamedTuple):
    """Result of an update."""

    documents: int
    """Number of rows."""
    tokenised: int
    """Number of new texts."""
    changed: int
    """Number of rows whose text changed, including new and removed rows."""
    seconds: float
    fingerprint: str
    """Fingerprint of the :class:`.FeatureMatrix`; the same as before if nothing changed."""


def usual_blocks(documents: int) -> list[str]:
    """Return the usual blocks of so many documents."""
    return ["words", "chars"] if documents < MANY else ["words"]


def update(
    directory: str | os.PathLike[str],
    texts: Iterable[tuple[str, str | None]],
    *,
    blocks: Sequence[str] = ("words", "chars"),
    bigrams: bool = False,
    dense: str | os.PathLike[str] | None = None,
    progress: FeatureProgress | None = None,
    processes: int | None = None,
) -> Report:
    """Create or update the features in a directory; only new texts are tokenised, and an interrupted update goes on.

    The result equals features made from scratch, except for the order of columns. The old ones stay until everything
    is written, and a process that has them open can go on using them.

    Parameters
    ----------
    directory
        Created if it does not exist.
    texts
        Id and text of each document, in the order of their keys; None for a document without a text. Read once, in
        chunks of a few thousand, so it can be a generator.
    blocks
        Blocks for the learner: "words", "chars", "dense". "words" is always made, for BM25.
    bigrams
        Whether pairs of neighbouring words are terms too.
    dense
        A .npy file with a row of numbers for each document, which adds the block "dense". Without the file, an
        existing block "dense" is kept, provided that the number of documents has not changed.
    processes
        Number of processes; by default one per core for a large collection.

    Raises
    ------
    BusyError
        Another process is updating the directory.
    StorageError
        The disk is full, or the directory cannot be written.
    InputError, UnknownNameError, FormatError
        No block or an unknown one, or embeddings that are missing, unreadable or of another number of rows.
    """
    begin, directory = time.perf_counter(), Path(directory)
    learning = tuple(dict.fromkeys([*blocks, *(["dense"] if dense is not None else [])]))
    if not learning:
        raise InputError("blocks: expected at least one of words, chars and dense, found none")
    names = made_blocks([name for name in learning if name != "dense"])
    directory.parent.mkdir(parents=True, exist_ok=True)
    directory.mkdir(mode=layout.PRIVATE_FOLDER, exist_ok=True)
    with layout.storage_errors(directory), layout.locked(directory):
        old = _intact(directory)
        # Killed updates left folders whose space may be needed; the counts of an interrupted one are used again.
        _remove_others(directory, old and old.meta["folder"], COUNTED)
        embeddings = Embeddings(dense, old.blocks.get("dense") if old else None) if "dense" in learning else None
        dense_digest = embeddings and embeddings.digest()
        folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=directory))
        writer = _Writer(folder, old, names, bigrams)
        try:
            keys = blake2b(digest_size=8)
            total = len(texts) if isinstance(texts, Sequence) else None
            counts = _CountedChunks(directory, (FORMAT, unicodedata.unidata_version, bigrams, names), names)
            chunks = _chunks(texts, keys.update, writer, counts)
            for chunk, counted in count_chunks(chunks, names, bigrams, processes):
                counts.keep(chunk.key, counted)
                writer.add(chunk.hashes, chunk.rows, chunk.counts or counted)
                if progress:
                    progress("tokenising", writer.documents, total)
            settings = {
                "format": FORMAT,
                "unicode": unicodedata.unidata_version,
                "bigrams": bigrams,
                "blocks": names,
            }
            about = [settings, learning, keys.hexdigest(), writer.digest(), dense_digest]
            fingerprint = blake2b(json.dumps(about).encode(), digest_size=16).hexdigest()
            if old is not None and fingerprint == old.meta["fingerprint"]:
                shutil.rmtree(folder)
            else:
                if progress:
                    progress("weighing", 0, None)
                columns = writer.finish()
                if embeddings is not None:
                    columns["dense"] = embeddings.write(folder / "dense.npy", writer.documents)
                sources = {"learning": learning, "blocks": columns, "with_text": writer.with_text}
                _publish(directory, folder, settings | sources | {"fingerprint": fingerprint})
        except BaseException:
            writer.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        changed = writer.changed + (max(0, len(old.hashes) - writer.documents) if old else 0)
    return Report(writer.documents, writer.tokenised, changed, time.perf_counter() - begin, fingerprint)


def _intact(directory: Path) -> Stored | None:
    """The old features, or None if they are missing or damaged."""
    with suppress(FormatError):
        old = read(directory)
        for block in old.blocks.values():
            if isinstance(block, TextBlock):
                _ = block.terms  # read now, while an error can still be ignored
        return old
    return None


class _Chunk(NamedTuple):
    hashes: Hashes
    rows: Ints
    """Old row of each document, or NEW or EMPTY."""
    key: str | None
    """Name of the counts of its new texts."""
    counts: dict[str, TermCounts] | None
    """These counts, if an interrupted update has made them."""


def _chunks(
    texts: Iterable[tuple[str, str | None]], hash_key: Callable[[bytes], None], writer: _Writer, counted: _CountedChunks
) -> Iterator[tuple[_Chunk, list[str]]]:
    """Chunks, and the new texts to count in each."""

    def only_texts() -> Iterator[str | None]:
        for key, text in texts:
            hash_key(f"{key}\n".encode("utf-8", "surrogatepass"))
            yield text

    first = 0
    for chunk in split_chunks(only_texts()):
        hashes = np.fromiter((_hash(text) for text in chunk), np.uint64, len(chunk))
        rows = writer.known(first, hashes)
        first += len(chunk)
        key = counted.key(hashes[rows == NEW])
        counts = counted.read(key)
        new = [text for text, row in zip(chunk, rows.tolist(), strict=True) if text is not None and row == NEW]
        yield _Chunk(hashes, rows, None if counts else key, counts), [] if counts else new


def _hash(text: str | None) -> int:
    """64-bit hash of a text; 0 for no text."""
    if text is None:
        return 0
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") or 1


class _CountedChunks:
    """Counts of finished chunks, kept in a folder until the update that made them is complete, so that it can go on.

    They are found by the hashes of their new texts; `settings` are those that the counts depend on.
    """

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
                    decode_terms(file[f"{name}.terms"].tobytes()), *(file[f"{name}.{part}"] for part in _COUNT_ARRAYS)
                )
                for name in self.blocks
            }
        return None

    def keep(self, key: str | None, counts: dict[str, TermCounts]) -> None:
        """Keep the counts of a chunk, as far as the disk has room."""
        if key is None or self._path(key).exists():
            return
        arrays = {f"{name}.{part}": getattr(count, part) for name, count in counts.items() for part in _COUNT_ARRAYS}
        arrays |= {f"{name}.terms": np.frombuffer(encode_terms(c.terms), np.uint8) for name, c in counts.items()}
        with suppress(OSError):
            self.folder.mkdir(mode=layout.PRIVATE_FOLDER, exist_ok=True)
            unfinished = self.folder / "unfinished.npz"
            np.savez(unfinished, **arrays)  # with checksums, which a read after a power cut tests
            unfinished.replace(self._path(key))

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


class Embeddings:
    """The user's embeddings, in rows of unit length.

    They come from a .npy file of real numbers or, without a file, from the existing block `before`. FormatError for any
    other file; InputError if both are missing.
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
        height, columns = self.rows.shape
        if height != documents:
            of = self.path or "the stored block 'dense'"
            raise FormatError(of, None, f"{documents} rows, one for each document", f"{height}", SAVE)
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


class _Writer:
    """Writer of new features: rows of the old ones, and counts of new texts."""

    def __init__(self, folder: Path, old: Stored | None, names: Sequence[str], bigrams: bool) -> None:
        self.folder, self.made = folder, names
        self.before: Hashes = np.zeros(0, np.uint64) if old is None else old.hashes
        self.documents = self.with_text = self.tokenised = self.changed = 0
        self._hashes: list[Hashes] = []
        self._files: list[InFile] = []
        self._assemblies: dict[str, Assembly] = {}
        self._old: dict[str, TextBlock] = {}
        settings = (bigrams, unicodedata.unidata_version)
        if old is not None and (old.meta.get("bigrams"), old.meta.get("unicode")) == settings:
            blocks = (old.blocks.get(name) for name in names)
            self._old = {block.name: block for block in blocks if isinstance(block, TextBlock)}
        if len(self._old) < len(names):
            self._old = {}
        self._usable = self.before if self._old else np.zeros(0, np.uint64)
        self._order = np.argsort(self._usable, kind="stable")
        self._sorted = self._usable[self._order]

    def known(self, first: int, hashes: Hashes) -> Ints:
        """The old row of each document's text, or NEW or EMPTY; the hashes are those of the rows from `first` on."""
        rows = np.full(len(hashes), NEW, np.int64)
        if len(self._sorted):
            place = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
            known_hashes = self._sorted[place] == hashes
            rows[known_hashes] = self._order[place[known_hashes]]
            # Of several rows with the same text, a document keeps its own.
            own = self._usable[first : first + len(hashes)]
            unmoved = np.flatnonzero(own == hashes[: len(own)])
            rows[unmoved] = first + unmoved
        rows[hashes == 0] = EMPTY
        return rows

    def add(self, hashes: Hashes, rows: Ints, counts: dict[str, TermCounts]) -> None:
        """Add the next chunk of documents."""
        first, last = self.documents, self.documents + len(hashes)
        was = self.before[first:last]
        self.documents = last
        self.with_text += int((hashes != 0).sum())
        self.tokenised += int((rows == NEW).sum())
        self.changed += len(hashes) - int((was == hashes[: len(was)]).sum())
        self._hashes.append(hashes)
        # Unchanged documents at the beginning, often all of them, are copied later, if anything changed at all.
        if not self._assemblies and np.array_equal(self._usable[first:last], hashes):
            return
        self._start(first)
        for name, assembly in self._assemblies.items():
            _append_mixed(assembly, self._old.get(name), rows, counts[name])

    def digest(self) -> str:
        """Hash of all texts."""
        return blake2b(b"".join(hashes.tobytes() for hashes in self._hashes), digest_size=8).hexdigest()

    def _start(self, rows: int) -> None:
        """Create the files and copy the first `rows` rows of the old features."""
        if self._assemblies:
            return
        for name in self.made:
            old = self._old.get(name)
            assembly = self._assemblies[name] = Assembly(name, self._file, old.terms if old else ())
            if old is not None:
                for a, b in row_ranges(old.indptr[: rows + 1]):
                    values = slice(old.indptr[a], old.indptr[b])
                    sizes = np.diff(old.indptr[a : b + 1])
                    assembly.append(sizes, old.indices[values], old.counts[values], old.lengths[a:b])

    def _file(self, name: str, dtype: DTypeLike) -> InFile:
        self._files.append(InFile(self.folder / f"{name}.npy", dtype))
        return self._files[-1]

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            with suppress(OSError):  # on a full disk; the folder is removed
                file.close()

    def _values(self, name: str, length: int) -> Floats32:
        path = self.folder / f"{name}.values.npy"
        if not length:
            np.save(path, np.zeros(0, np.float32))
            return np.zeros(0, np.float32)
        return create_array(path, (length,))

    def finish(self) -> dict[str, int]:
        """Write the remaining files; return the number of columns of each block."""
        self._start(self.documents)
        np.save(self.folder / "hashes.npy", np.concatenate([np.zeros(0, np.uint64), *self._hashes]))
        columns = {}
        for name, assembly in self._assemblies.items():
            block = weigh(name, *assembly.finish(self.with_text), partial(self._values, name))
            for part in ARRAYS:
                if part not in ("indices", "counts", "values"):
                    np.save(self.folder / f"{name}.{part}.npy", getattr(block, part))
            (self.folder / f"{name}.terms.txt").write_bytes(encode_terms(block.terms))
            columns[name] = block.shape[1]
        return columns


def _append_mixed(assembly: Assembly, old: TextBlock | None, rows: Ints, new_counts: TermCounts) -> None:
    """Append documents, some from rows of the old block and some from new counts."""
    placed = assembly.place(new_counts)
    indices, counts = [placed.indices], [placed.counts]
    sizes, lengths = [np.zeros(1, np.int64), np.diff(placed.indptr)], [np.zeros(1, np.int64), placed.lengths]
    # The stack has one empty row, then the new rows, then the old ones.
    source = np.zeros(len(rows), np.int64)
    source[rows == NEW] = 1 + np.arange(len(new_counts.lengths))
    known = rows[rows >= 0]
    if old is not None and len(known):
        indptr, place = places(old.indptr, known)
        indices.append(old.indices[place])
        counts.append(old.counts[place])
        sizes.append(np.diff(indptr))
        lengths.append(old.lengths[known])
        source[rows >= 0] = 1 + len(new_counts.lengths) + np.arange(len(known))
    stacked = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    own, place = places(stacked, source)
    assembly.append(
        np.diff(own), np.concatenate(indices)[place], np.concatenate(counts)[place], np.concatenate(lengths)[source]
    )


def _publish(directory: Path, folder: Path, meta: dict[str, object]) -> None:
    """Make the folder current, and remove all others."""
    files = sorted(folder.iterdir())
    for file in files:
        layout.sync_file(file)
    meta |= {"folder": folder.name, "files": {file.name: file.stat().st_size for file in files}}
    written = folder / META
    written.write_text(json.dumps(meta, indent=1), encoding="utf-8")
    layout.sync_file(written)
    layout.make_private(folder)
    written.replace(directory / META)
    _remove_others(directory, folder.name)


def _remove_others(directory: Path, *names: str | None) -> None:
    """Remove all folders but some, including those of interrupted updates."""
    for left in directory.iterdir():
        if left.name not in names and layout.is_feature_folder(left.name):
            layout.remove_features(left)
