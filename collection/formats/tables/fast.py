"""The fast reader of runs and qrels: blocks of bytes, parsed by arrow on all cores.

It gives up at anything unusual, which :func:`collection.formats.tables.strict.read_strictly` then reads. Both read the
files that they accept alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core import arrow
from collection.core.arrays import Bytes, Floats, Hashes
from collection.core.threads import map_ahead
from collection.formats import source
from collection.formats.source import FilePath
from collection.formats.tables.duplicate_pairs import has_duplicate_keys, has_duplicate_pairs, hash_pairs
from collection.formats.tables.lines import Comments, Layout, TableRows, parse_grade, to_array

MOST_WORKERS = 8
"""Threads at work on blocks; more would wait for the one thread that reads the file."""

SMALL, BEGINNING = 64 << 10, 8 << 10
"""Bytes of a block of which all ranks are read, and of the beginning of a larger one."""

TAB, LINE_FEED, BLANK, LAST_ASCII = 9, 10, 32, 127

MARKERS = (b"Q0", b"q0")
"""Texts of the second column of a run without a tag."""


class UnsupportedBlock(Exception):
    """Something that only the strict reader handles."""


class RowBlock(NamedTuple):
    """The rows of a block of lines."""

    topics: Any
    """An arrow array of dictionary type."""
    documents: Any
    """An arrow array of large strings."""
    values: np.ndarray
    keys: Hashes
    """Keys of the pairs (:func:`~collection.formats.tables.duplicate_pairs.hash_pairs`)."""
    suspect: bool
    """Whether a key is repeated."""
    content: Bytes | bytes
    separator: str

    def read_ranks(self, layout: Layout, *, whole: bool = True) -> npt.NDArray[np.int32] | None:
        """The ranks in the block; None if one is no whole number. Of a large block, unless `whole`, only the first."""
        import pyarrow as pa

        if layout.rank is None:
            return None
        try:
            if whole or len(self.content) <= SMALL:
                return arrow.to_numpy(_read_columns(self.content, self.separator, layout, {layout.rank: pa.int32()})[0])
            lines = bytes(self.content[:BEGINNING]).split(b"\n")[:-1]
            separator = self.separator.encode()
            return np.array([int(line.split(separator)[layout.rank]) for line in lines], dtype=np.int32)
        except (pa.ArrowException, ValueError, OverflowError):
            return None


def read_quickly(path: FilePath, layout: Layout) -> TableRows | None:
    """Read with arrow, block by block; None if anything is unusual."""
    import pyarrow as pa

    chunks = source.chunks(path, layout.what)
    if layout.header:
        chunks = _skip_lines(chunks, layout.header)
    columns, comments = _Columns(), Comments()
    try:
        # Arrow and numpy release Python's lock.
        def read(chunk: Bytes) -> tuple[RowBlock, npt.NDArray[np.int32] | None] | None:
            block = read_block(chunk, layout, comments)
            return block and (block._replace(content=b""), block.read_ranks(layout))

        for read_one in map_ahead(read, chunks, min(pa.cpu_count(), MOST_WORKERS)):
            if read_one is not None:
                columns.add(*read_one)
        if not columns.values or columns.has_duplicates():
            return None
    except (*source.BROKEN, pa.ArrowException, MemoryError, UnsupportedBlock):
        return None
    comments.report(path)
    return columns.rows()


class _Columns:
    """The rows of all blocks so far."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._topics: list[npt.NDArray[np.int32]] = []
        self._documents: list[Any] = []
        self.values: list[npt.NDArray[Any]] = []
        self._ranks: list[npt.NDArray[np.int32] | None] = []
        self._keys: list[Hashes] = []
        self._blocks: Counter[int] = Counter()
        """Number of blocks with each topic."""
        self._suspect = False

    def add(self, block: RowBlock, ranks: npt.NDArray[np.int32] | None) -> None:
        """Append a block; it has few topics, so a dict can give each its number."""
        names = block.topics.dictionary.to_pylist()
        numbers = [self._numbers.setdefault(n, len(self._numbers)) for n in names]
        self._topics.append(np.array(numbers, np.int32)[arrow.to_numpy(block.topics.indices)])
        self._documents.append(block.documents)
        self.values.append(block.values)
        self._ranks.append(ranks)
        self._keys.append(block.keys)
        self._blocks.update(numbers)
        self._suspect = self._suspect or block.suspect

    def has_duplicates(self) -> bool:
        """Return whether a pair is repeated; called once, since the keys are not kept.

        Each block was checked by itself, so only topics in several blocks remain.
        """
        keys, topics = _concatenate(self._keys), _concatenate(self._topics)
        self._topics = [topics]
        if not self._suspect:
            parted = np.array([self._blocks[number] > 1 for number in range(len(self._numbers))])
            self._suspect = has_duplicate_keys(keys[parted[topics]])
        return self._suspect and has_duplicate_pairs(keys, topics, self._texts())

    def rows(self) -> TableRows:
        """All rows."""
        whole = [ranks for ranks in self._ranks if ranks is not None]
        ranks = np.concatenate(whole) if len(whole) == len(self._ranks) else None
        return TableRows(
            _concatenate(self._topics), list(self._numbers), self._texts(), _concatenate(self.values), ranks=ranks
        )

    def _texts(self) -> Any:
        import pyarrow as pa

        self._documents = [pa.concat_arrays(self._documents)]
        return self._documents[0]


def _concatenate(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The parts as one array; empties the list, so that a large file is not in memory twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _skip_lines(chunks: Iterator[Bytes], lines: int) -> Iterator[Bytes]:
    """All but the first `lines` lines, which must be in the first block."""
    first = next(chunks)
    ends = np.flatnonzero(first == LINE_FEED)
    if len(ends) < lines:
        raise UnsupportedBlock
    yield first[ends[lines - 1] + 1 :]
    yield from chunks


def read_block(data: Bytes, layout: Layout, comments: Comments) -> RowBlock | None:
    """The rows of a block of whole lines, parsed as it is or else tidied; None if it has none.

    Its comments are added to `comments`.
    """
    import pyarrow as pa

    if data.max(initial=0) > LAST_ASCII and not _is_utf8(data):
        raise UnsupportedBlock
    separator = _find_separator(data)
    if separator is not None:
        try:
            return _parse(data, separator, layout)
        except (pa.ArrowException, UnsupportedBlock):
            pass  # a comment, perhaps
    tidied = _normalise(data.tobytes(), comments)
    return _parse(tidied, " ", layout) if tidied else None


def _is_utf8(data: Bytes) -> bool:
    """Return whether the block is UTF-8, without making a Python string of it."""
    import pyarrow as pa

    ends = pa.py_buffer(np.array([0, len(data)]))
    try:
        pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _find_separator(data: Bytes) -> str | None:
    """The separator of the columns, if it is one byte that never occurs twice in a row; else None.

    Otherwise a column that the parser skips might be empty. Nor may there be other control characters, which the parser
    may interpret.
    """
    separator = TAB if (data[:1000] == TAB).any() else BLANK
    step = 1 << 17  # a piece that stays in the processor's cache from one pass over it to the next
    for begin in range(0, len(data), step):
        piece = data[begin : begin + step + 1]  # one over, to see pairs across the cut
        gap = piece == separator
        if (gap[1:] & gap[:-1]).any():
            return None
        line_feeds = np.count_nonzero(piece == LINE_FEED)
        if np.count_nonzero(piece <= BLANK) != np.count_nonzero(gap) + line_feeds:
            return None
    return chr(separator)


def _normalise(chunk: bytes, comments: Comments) -> bytes:
    """The block without comments and with one blank between columns."""
    chunk = chunk.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    if b"\r" in chunk or b"\0" in chunk:
        raise UnsupportedBlock
    while b"  " in chunk:
        chunk = chunk.replace(b"  ", b" ")
    chunk = chunk.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" \n")
    if first := re.search(rb"(?m)^#[^\n]*", chunk):
        comments.add(chunk.count(b"\n#") + chunk.startswith(b"#"), first[0].decode("utf-8", "replace"))
        chunk = re.sub(rb"(?m)^#[^\n]*\n?", b"", chunk)
    return chunk


def _parse(data: Bytes | bytes, separator: str, layout: Layout) -> RowBlock:
    """The block's columns, and a key for each of its pairs."""
    import pyarrow as pa

    coded = pa.dictionary(pa.int32(), pa.string())
    places = {0: "topic", layout.doc: "doc", layout.value: "value"}
    types = {"topic": coded, "doc": pa.large_string(), "value": coded if layout.graded else pa.float64()}
    if layout.tag is not None:
        # Of fixed width, the fastest; a tag of another length is an error then.
        places[layout.tag.place], types["tag"] = "tag", pa.binary(len(layout.tag.word.encode()))
    if layout.marker is not None:
        places[layout.marker], types["marker"] = "marker", pa.binary(2)
    column = dict(
        zip(types, _read_columns(data, separator, layout, {p: types[n] for p, n in places.items()}), strict=True)
    )
    if any(word[:1] in ("", "#") for word in column["topic"].dictionary.to_pylist()):
        raise UnsupportedBlock
    if layout.marker is not None:
        markers = np.frombuffer(column["marker"].buffers()[1], "S2", len(column["marker"]))
        if not np.isin(markers, MARKERS).all():
            raise UnsupportedBlock
    if layout.tag is not None and not _all_equal(layout.tag.word.encode(), column["tag"]):
        raise UnsupportedBlock
    keys = hash_pairs(column["topic"], column["doc"])
    values = _parse_values(column["value"], layout)
    return RowBlock(column["topic"], column["doc"], values, keys, has_duplicate_keys(keys), data, separator)


def _read_columns(data: Bytes | bytes, separator: str, layout: Layout, types: Mapping[int, Any]) -> list[Any]:
    """The columns at the given places with their types."""
    import pyarrow as pa
    from pyarrow import csv

    table = csv.read_csv(
        pa.BufferReader(data),
        csv.ReadOptions(
            column_names=list(map(str, range(layout.seen))),
            block_size=min(len(data) + 1, np.iinfo(np.int32).max),
            use_threads=False,  # blocks are worked on side by side; a block is not
        ),
        csv.ParseOptions(delimiter=separator, quote_char=False, double_quote=False, escape_char=False),
        csv.ConvertOptions(
            column_types={str(place): kind for place, kind in types.items()},
            include_columns=list(map(str, types)),
            check_utf8=False,  # done for the whole block, the columns that are left out included
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    return [table[str(place)].combine_chunks() for place in types]  # of one chunk, unless a block is enormous


def _all_equal(word: bytes, column: Any) -> bool:
    """Return whether every value of a column of fixed width is this word."""
    wanted = np.frombuffer(word * len(column), np.uint8)
    return np.array_equal(np.frombuffer(column.buffers()[1], np.uint8, len(wanted)), wanted)


def _parse_values(column: Any, layout: Layout) -> np.ndarray:
    """The block's grades or scores."""
    if not layout.graded:
        scores: Floats = arrow.to_numpy(column)
        if np.isnan(scores).any():
            raise UnsupportedBlock
        return scores
    grades = [parse_grade(word) for word in column.dictionary.to_pylist()]
    sound = [g for g in grades if g is not None]
    if len(sound) < len(grades):
        raise UnsupportedBlock
    return to_array(sound)[arrow.to_numpy(column.indices)]
