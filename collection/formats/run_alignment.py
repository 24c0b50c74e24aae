"""Runs looked up in qrels while their files are read: only what the qrels name is kept.

A file is read in blocks of whole topics. Anything unusual is left to :func:`collection.formats.run.read_run` and
:func:`collection.measures.look_up`, which also raise all errors. Both ways give the same values.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from collection.core import arrow
from collection.core.arrays import Bytes, Floats, Ints
from collection.core.errors import FormatError
from collection.core.ranking import Doubts, Order, find_doubts, order_rows, rank_rows, without_query_documents
from collection.core.threads import map_ahead
from collection.formats import source
from collection.formats.run import WANTED, find_layout, open_runs, read_run
from collection.formats.source import FilePath, Source
from collection.formats.tables.duplicate_pairs import has_duplicate_keys, hash_pairs
from collection.formats.tables.fast import LAST_ASCII, MOST_WORKERS, RowBlock, UnsupportedBlock, read_block
from collection.formats.tables.lines import Comments, Layout
from collection.measures import LookedUp, QrelsIndex, Version, look_up
from collection.measures.alignment import RunPart, join_parts, sample_unnamed

LARGEST_TOPIC = 64 << 20
"""Bytes of one topic; files with a larger one are not read in blocks of whole topics."""

LARGEST_TABLE = 24
"""Bits of the number of cells in the table of :class:`_Lookup`."""


class RunFiles:
    """Run files for :func:`collection.comparison.evaluate`.

    Parameters
    ----------
    paths
        As for :func:`collection.formats.read_runs`.
    names
        Names of the runs; by default those of :func:`collection.formats.name_runs`.
    exclude_query_document
        Leave out documents whose id is that of their topic.
    """

    def __init__(
        self, paths: Sequence[FilePath], names: Sequence[str] | None = None, *, exclude_query_document: bool = False
    ) -> None:
        self._paths, self._names, self._exclude = list(paths), names, exclude_query_document

    def look_up(self, index: QrelsIndex, version: Version = 10) -> Iterator[tuple[str, LookedUp]]:
        """Look up one run after the other: its name, and what :func:`collection.measures.look_up` gives for it.

        Memory does not grow with the number of lines if the lines of each topic stand together, in topics of at most
        :data:`LARGEST_TOPIC` bytes. Otherwise the whole run is read into memory.

        Raises
        ------
        FormatError
            As :func:`collection.formats.read_run`.
        """
        with open_runs(self._paths, self._names) as runs:
            yield from self._look_up(runs, index, version)

    def _look_up(
        self, runs: Sequence[tuple[str, Source]], index: QrelsIndex, version: Version
    ) -> Iterator[tuple[str, LookedUp]]:
        lookup = _Lookup(index)
        unusual: set[int] = set()
        parts: list[RunPart] = []
        seen: set[str] = set()
        comments = [Comments() for _ in runs]
        threads = min(os.cpu_count() or 1, MOST_WORKERS)
        for task, part in map_ahead(
            lambda task: (task, task.look_up(lookup, version)), self._tasks(runs, unusual, comments), threads
        ):
            if task.block is not None:
                if part is None or not seen.isdisjoint(part.topics):
                    unusual.add(task.run)
                else:
                    parts.append(part)
                    seen.update(part.topics)
                continue
            name, path = runs[task.run]
            if task.run in unusual or not seen:
                run = read_run(path)
                run = without_query_documents(run) if self._exclude else run
                found = look_up(run.frame, index, version)
            else:
                comments[task.run].report(path)
                found = join_parts(index, parts, version)
            parts, seen = [], set()
            path.release()
            yield name, found

    def _tasks(
        self, runs: Sequence[tuple[str, Source]], unusual: set[int], comments: Sequence[Comments]
    ) -> Iterator[_Task]:
        """The blocks of each run, then one task without a block. Adds runs that cannot be read to `unusual`."""
        for run, (_, path) in enumerate(runs):
            try:
                layout = find_layout(path)
                if self._exclude:
                    unusual.add(run)
                for number, block in enumerate(source.chunks(path, WANTED, last_topic_end, LARGEST_TOPIC)):
                    if run in unusual:
                        break
                    yield _Task(run, block, layout, comments[run], number == 0)
            except (FormatError, *source.BROKEN):
                unusual.add(run)
            yield _Task(run)


class _Task(NamedTuple):
    """A block of a run, or the end of the run."""

    run: int
    block: Bytes | None = None
    layout: Layout | None = None
    comments: Comments | None = None
    first: bool = False

    def look_up(self, lookup: _Lookup, version: Version) -> RunPart | None:
        """Look up the block; None at anything unusual."""
        import pyarrow as pa

        if self.block is None or self.layout is None or self.comments is None:
            return None
        try:
            block = read_block(self.block, self.layout, self.comments)
        except (pa.ArrowException, MemoryError, UnsupportedBlock):
            return None
        if block is None:  # only comments
            return RunPart([], *(np.empty(0, dtype=np.int64),) * 3)
        if block.suspect or not lookup.exact:
            return None
        topics, scores = arrow.to_numpy(block.topics.indices), block.values
        names = block.topics.dictionary.to_pylist()
        order = order_rows(topics, scores, block.documents)
        doubts = self._doubt(block, self.layout, order, scores, names)
        if version == 9:
            with np.errstate(over="ignore"):  # beyond their range lies infinity, as in C
                scores = scores.astype(np.float32)
            order = order_rows(topics, scores, block.documents)
            doubts = doubts._replace(tied=self._doubt(block, None, order, scores, names).tied)
        rank = rank_rows(order, len(topics))
        rows, pair = lookup.find(block)
        unnamed = _sample_unnamed(block, rows) if self.first else ()
        return RunPart(names, np.bincount(topics), rank[rows], pair, doubts, unnamed)

    def _doubt(self, block: RowBlock, layout: Layout | None, order: Order, scores: Floats, names: list[str]) -> Doubts:
        """Find the doubts about the order; without a layout, none about the stated ranks.

        A block in the order of its scores rarely has ranks in another order: only the first lines of a file are read.
        """
        rows = order.by_score
        stated = None
        if layout is not None and (rows is not None or self.first):
            stated = block.read_ranks(layout, whole=rows is not None)
        topics = arrow.to_numpy(block.topics.indices)
        if rows is not None:
            topics, scores, stated = topics[rows], scores[rows], None if stated is None else stated[rows]

        def name_document(place: int) -> str:
            return str(block.documents[place if rows is None else int(rows[place])].as_py())

        of_starts = [names[topic] for topic in topics[order.starts].tolist()]
        return find_doubts(order.starts, of_starts, scores, stated, name_document)


def _sample_unnamed(block: RowBlock, named: Ints) -> tuple[str, ...]:
    """Documents of a block that the qrels do not name, among them such with other letters than ASCII."""
    import pyarrow.compute as pc

    further = None
    if not np.frombuffer(block.content, np.uint8).max(initial=0) <= LAST_ASCII:
        further = np.flatnonzero(~arrow.to_numpy(pc.string_is_ascii(block.documents)))
    return sample_unnamed(
        len(block.values), named, lambda rows: block.documents.take(arrow.from_numpy(rows)).to_pylist(), further
    )


class _Lookup:
    """The pairs of qrels by the keys that blocks have, of which few are compared in full."""

    def __init__(self, index: QrelsIndex) -> None:
        import pyarrow as pa

        self._index = index
        self._topic, document = np.divmod(index.pairs, max(1, len(index.documents)))
        topics = pa.DictionaryArray.from_arrays(arrow.from_numpy(self._topic), arrow.from_texts(index.topics))
        self._documents = index.documents.take(arrow.from_numpy(document)).cast(pa.large_string())
        keys = hash_pairs(topics, self._documents)
        self.exact = not has_duplicate_keys(keys)
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        # Most keys of a run are not in the qrels, and the first bits of a key tell so of nearly all of them.
        bits = min(LARGEST_TABLE, 6 + len(keys).bit_length())
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, dtype=np.bool_)
        self._table[keys >> self._shift] = True
        # A key is one of the few with the same leading bits, which are found faster than by bisection of all.
        leading = len(keys).bit_length()
        self._leading_shift = np.uint64(64 - leading)
        groups = np.arange(1 << leading, dtype=np.uint64) << self._leading_shift
        starts = np.searchsorted(self._keys, groups)
        self._starts = np.minimum(starts, len(keys) - 1)
        self._most = int(np.diff(starts, append=len(keys)).max())

    def find(self, block: RowBlock) -> tuple[Ints, Ints]:
        """The rows of a block that the qrels name, and their places in ``QrelsIndex.pairs``."""
        import pyarrow.compute as pc

        rows = np.flatnonzero(self._table[block.keys >> self._shift])
        keys = block.keys[rows]
        place = self._starts[keys >> self._leading_shift]
        for _ in range(self._most - 1):
            place = np.minimum(place + (self._keys[place] < keys), len(self._keys) - 1)
        alike = self._keys[place] == keys
        rows, pair = rows[alike], self._order[place[alike]]
        topic = self._index.places(block.topics.dictionary.to_pylist())[arrow.to_numpy(block.topics.indices)[rows]]
        given, wanted = (
            texts.take(arrow.from_numpy(places)) for texts, places in [(block.documents, rows), (self._documents, pair)]
        )
        same = arrow.to_numpy(pc.equal(given, wanted)) & (topic == self._topic[pair])
        return rows[same], pair[same]


def last_topic_end(block: Bytes) -> int:
    """The index after the last topic that is whole, 0 if there is none.

    A topic is a run of lines with the same first word. If a topic is in several pieces, any end of a piece will do.
    """
    end = source.last_line_end(block)
    high = source.last_line_end(block[: end - 1]) if end else 0
    word = re.match(rb"[^ \t\n]+[ \t]", block[high:end].tobytes())
    if word is None:
        return high
    begins, low = np.frombuffer(word[0], np.uint8), 0
    while low < high:  # bisect: all lines from `high` begin with the word
        line = low + source.last_line_end(block[low : (low + high) // 2])
        if np.array_equal(block[line : line + len(begins)], begins):
            high = line
        else:
            low = _next_line(block, line)
    return high


def _next_line(block: Bytes, begin: int) -> int:
    """The index after the next line feed."""
    step = 256
    while not len(ends := np.flatnonzero(block[begin : begin + step] == ord("\n"))):
        step *= 4
    return begin + int(ends[0]) + 1
