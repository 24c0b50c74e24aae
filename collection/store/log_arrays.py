"""The log of judgements as arrays, which stay in memory and grow with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.core.arrays import Bools, Ints
from collection.store import columns
from collection.store.connection import Connection, Parameters

if TYPE_CHECKING:
    import pyarrow as pa

LogColumns: TypeAlias = "dict[str, pa.Array]"
"""Columns of entries of the log, oldest first, by name; those of :data:`NAMES` have dictionaries."""

NAMES = ("annotator", "kind", "counts_as", "source", "strategy")
"""Columns with few different texts, which are read as one column."""

_TEXTS = ("uuid", "reason", "judged_at", "shown_at")
"""Other columns of texts."""

_LONG = ("seconds", "probability", "away", "note", "passages", "answers")
"""Columns with fractions or texts of any length; see :func:`.columns.read_table`."""

AT = "at"
"""A column that is computed from ``judged_at``: the time; null where that is none."""

KEPT = {
    *NAMES, AT, "id", "topic", "doc", "relevance", "judged_at", "seconds", "away", "note", "flagged", "answers",
    "revises", "pool_rank", "model_round", "conditions", "probability",
}  # fmt: skip
"""Columns that stay in memory; only exports read the others."""

BLOCK = 100_000
"""Number of entries that are read at once."""

SUMMED = (*NAMES, AT, "topic", "doc", "relevance", "seconds", "away", "flagged", "revises")
"""Columns that pages on the whole log read."""

_CURRENT = ("topic", "doc", "annotator", "kind", "counts_as")
"""Columns that tell which entries are current."""

_JOINED = (
    "printf('%s\x7f%s\x7f%d\x7f%d\x7f%d\x7f%s%s%s', "
    "kind, counts_as, strategy IS NULL, length(annotator), length(source), annotator, source, strategy)"
)
"""One text of the columns :data:`NAMES`, which may have any characters; JSON does not escape the character 127."""


def read(connection: Connection, names: Collection[str], rows: str, parameters: Parameters = ()) -> LogColumns:
    """Return columns of the log; `rows` is the query from FROM on, with ORDER BY."""
    import pyarrow as pa

    known = [name for name in names if name not in NAMES]
    short = {name: "judged_at" if name == AT else name for name in known if name not in _LONG}
    if len(known) < len(names):
        short["names"] = _JOINED
    table = columns.read_table(connection, short, {name: name for name in known if name in _LONG}, rows, parameters)
    log = {name: _typed(name, table.column(name).combine_chunks()) for name in known}
    if len(known) < len(names):
        joined = table.column("names").cast(pa.large_string()).combine_chunks().dictionary_encode()
        log |= {name: values for name, values in zip(NAMES, _split(joined), strict=True) if name in names}
    return log


def _typed(name: str, values: pa.Array) -> pa.Array:
    """Return a column in its type, which a few values do not tell."""
    import pyarrow as pa

    if name == AT:
        times = pd.to_datetime(values.to_pandas(), utc=True, format="ISO8601", errors="coerce")
        return pa.array(times.astype("datetime64[us, UTC]"))
    reals, texts = _LONG[:3], (*_LONG[3:], *_TEXTS)
    return values.cast(pa.float64() if name in reals else pa.large_string() if name in texts else pa.int64())


def _split(joined: pa.DictionaryArray) -> list[pa.DictionaryArray]:
    """Return the columns of :data:`NAMES` from their joined texts."""
    import pyarrow as pa

    values: list[tuple[str | None, ...]] = []
    for text in joined.dictionary.to_pylist():
        kind, counts_as, missing, *lengths, rest = text.split("\x7f", 5)
        after, end = (sum(map(int, lengths[:number])) for number in (1, 2))
        strategy = None if missing == "1" else rest[end:]
        values.append((rest[:after], kind, counts_as, rest[after:end], strategy))
    split = []
    for place in range(len(NAMES)):
        codes, names = pd.factorize(np.array([each[place] for each in values], dtype=object))
        indices = pa.array(codes.astype(np.int32), mask=codes < 0).take(joined.indices)
        split.append(pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string())))
    return split


class LogArrays:
    """Columns of the whole log, which is append-only, so that no entry is read twice.

    One object serves all connections of a process to a database, each of which may see other last entries.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: tuple[int, str] = (0, "")  # number and uuid of the last entry that was read
        self._columns: LogColumns = {}

    def read(self, connection: Connection, names: Collection[str]) -> LogColumns:
        """Return columns of all entries that a connection sees, with ``current`` and ``shared``.

        ``current`` tells whether they are current, ``shared`` whether their pair has several current judgements, or an
        adjudication.
        """
        with connection.snapshot():
            last = connection.execute("SELECT id, uuid FROM judgements ORDER BY id DESC LIMIT 1").fetchone() or (0, "")
            with self._lock:
                if last[0] >= self._last[0]:
                    self._forget_others(connection)
                    self._last = last
                    return self._read(connection, names)
            return LogArrays().read(connection, names)  # others have read on since this snapshot

    def _forget_others(self, connection: Connection) -> None:
        """Forget the entries of another log, in whose place this one was restored."""
        test = "SELECT EXISTS (SELECT 1 FROM judgements WHERE id = ? AND uuid = ?)"
        if self._last[0] and not connection.exists(test, self._last):
            self._columns = {}

    def _read(self, connection: Connection, names: Collection[str]) -> LogColumns:
        import pyarrow as pa

        wanted = {"id", *names, *_CURRENT, *NAMES}
        lengths: dict[int, list[str]] = {}
        for name in sorted(wanted):
            lengths.setdefault(len(self._columns.get(name, ())), []).append(name)
        ids = self._columns.get("id")
        for length, some in lengths.items():
            since = ids[length - 1].as_py() if ids is not None and length else 0
            if since < self._last[0] or not length:
                self._append([*_read_blocks(connection, some, since, self._last[0])])
        for name, find in (("current", find_current), ("shared", find_shared)):
            if name not in self._columns or len(self._columns[name]) < len(self._columns["id"]):
                self._columns[name] = pa.array(find(self._columns))
        return {name: self._columns[name] for name in (*wanted, "current", "shared")}

    def _append(self, blocks: Sequence[LogColumns]) -> None:
        import pyarrow as pa

        for name in blocks[0]:
            known = [self._columns[name]] if name in self._columns else []
            self._columns[name] = pa.concat_arrays([*known, *(block[name] for block in blocks)])


def _read_blocks(connection: Connection, names: Collection[str], since: int, last: int) -> Iterator[LogColumns]:
    """Yield columns of the entries after `since` up to the `last` one, in blocks: all texts take much memory."""
    for start in range(since, max(last, since + 1), BLOCK):
        rows = "FROM judgements WHERE id > ? AND id <= ? ORDER BY id"
        yield read(connection, names, rows, (start, start + BLOCK))


@lru_cache(maxsize=8)
def _shared(file: object) -> LogArrays:
    return LogArrays()


def shared(connection: Connection) -> LogArrays:
    """Return the arrays of all connections of this process to a database; inside a transaction, others."""
    return LogArrays() if connection.writing else _shared(connection.file)


def to_numpy(values: pa.Array) -> NDArray[Any]:
    """Return numbers, or the codes of a column of :data:`NAMES`; nan and -1 stand for what is missing."""
    import pyarrow as pa

    if isinstance(values, pa.DictionaryArray):
        return values.indices.fill_null(-1).to_numpy()
    return values.to_numpy(zero_copy_only=False)


def is_value(values: pa.DictionaryArray, value: str) -> Bools:
    """Return which entries have a value in a column of :data:`NAMES`."""
    code = values.dictionary.index(value).as_py()
    return (to_numpy(values) == code) & (code >= 0)


def number(*keys: NDArray[np.integer]) -> NDArray[np.int64]:
    """Number the combinations of keys, which are 0 or more, from 0 in order of first occurrence."""
    numbers = np.zeros(len(keys[0]), dtype=np.int64)
    for values in keys:
        numbers, _ = pd.factorize(numbers * (int(values.max(initial=0)) + 1) + values)
    return numbers


def select(log: Mapping[str, pa.Array], names: Iterable[str], rows: Bools) -> LogColumns:
    """Return columns of some entries."""
    places = None if rows.all() else np.flatnonzero(rows)
    return {name: log[name] if places is None else log[name].take(places) for name in names}


def find_current(log: Mapping[str, pa.Array]) -> Bools:
    """Return which entries are the current ones of their annotators and pairs."""
    decider = number(*(to_numpy(log[name]) for name in ("topic", "doc", "annotator", "counts_as")))
    is_last = ~pd.Series(decider).duplicated(keep="last").to_numpy()
    return is_last & ~is_value(log["kind"], "undone") & ~is_value(log["counts_as"], "surplus")


def find_shared(log: Mapping[str, pa.Array]) -> Bools:
    """Return which entries are of a pair with several current judgements or an adjudication, from ``current`` ones."""
    pairs, current = number(to_numpy(log["topic"]), to_numpy(log["doc"])), to_numpy(log["current"])
    weights = 1 + is_value(log["counts_as"], "adjudication")
    return (np.bincount(pairs[current], weights[current], minlength=pairs.max(initial=-1) + 1) > 1)[pairs]


def find_while_undone(log: LogColumns) -> Bools:
    """Find the entries whose document was selected or judged while another one had lost its only judgement by an undo.

    A round has read as many entries of its topic as its number says. `log` is as in :func:`find_entries`.
    """
    undone = is_value(log["kind"], "undone")
    affected = np.zeros(len(undone), dtype=np.bool_)
    if not undone.any():
        return affected
    deciders = number(to_numpy(log["annotator"]), to_numpy(log["counts_as"]))
    rounds = to_numpy(log["model_round"]).astype(np.float64)
    topics, docs = to_numpy(log["topic"]), to_numpy(log["doc"])
    for topic in np.unique(topics[undone]):
        places = np.flatnonzero(topics == topic)
        at, read = np.arange(len(places)), rounds[places]
        for doc in np.unique(docs[places][undone[places]]):
            same = docs[places] == doc
            for start, end in _find_gaps(at[same], deciders[places], undone[places]):
                affected[places[~same & (((start < at) & (at < end)) | ((start < read) & (read <= end)))]] = True
    return affected


def _find_gaps(places: Ints, deciders: Ints, undone: Bools) -> Iterator[tuple[int, int]]:
    """Yield from which entry to which one a document had no judgement; `places` are its entries in its topic's log.

    `deciders` tells whose judgement each entry of the topic is, `undone` whether it takes that back.
    """
    standing: set[int] = set()
    start: int | None = None
    for place in places.tolist():
        (standing.discard if undone[place] else standing.add)(int(deciders[place]))
        if standing and start is not None:
            yield start, place
        start = None if standing else place if start is None else start
    if start is not None:
        yield start, len(deciders)


def find_entries(log: LogColumns) -> tuple[Ints, Ints]:
    """Find the current judgement of each annotator and pair, and the first entry of its document.

    Parameters
    ----------
    log
        ``topic``, ``doc``, ``annotator``, ``counts_as``, ``kind``, ``strategy`` of entries, oldest first.

    Returns
    -------
    last, first
        Positions in the log, in the order of `last`. The first entry of a document is a judgement that is no second
        opinion, if there is one, or else its first second opinion or, of an adjudication, its last change.
    """
    documents = number(to_numpy(log["topic"]), to_numpy(log["doc"]))
    places = np.arange(len(documents))
    keys = number(documents, to_numpy(log["annotator"]), to_numpy(log["counts_as"]))
    undone = is_value(log["kind"], "undone")
    end = np.full(keys.max(initial=-1) + 1, -1)
    end[keys[undone]] = places[undone]  # of equal keys, the last one stands
    since = places[places > end[keys]]
    last = np.full(len(end), -1)
    last[keys[since]] = since
    last = np.sort(last[last >= 0])
    first = np.full(documents.max(initial=-1) + 1, -1)
    adjudicated, second = is_value(log["counts_as"], "adjudication"), is_value(log["strategy"], "overlap")
    for some in (last, places[second & ~adjudicated][::-1], places[~second & ~adjudicated][::-1]):
        first[documents[some]] = some  # of equal keys, the last one stands: the earliest judgement
    return last, first[documents[last]]
