"""Frames of many rows, read column by column.

SQLite hands over a column as one JSON array in a third of the time that Python takes to make an object of each row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.store.connection import Connection, Parameters, json_text

if TYPE_CHECKING:
    import pyarrow as pa

Keys = npt.NDArray[np.integer]

_NULL = np.iinfo(np.int64).min
"""A number in place of null while an array is parsed."""

FEW = 8
"""To look up one document's id takes as long as to read the ids of so many from the index."""


def read(
    connection: Connection,
    short: Mapping[str, str],
    long: Mapping[str, str],
    rows: str,
    parameters: Parameters = (),
) -> pd.DataFrame:
    """Return :func:`read_table` as a frame."""
    return read_table(connection, short, long, rows, parameters).to_pandas()


def read_table(
    connection: Connection,
    short: Mapping[str, str],
    long: Mapping[str, str],
    rows: str,
    parameters: Parameters = (),
) -> pa.Table:
    """Return columns of a query.

    Parameters
    ----------
    short
        Names of columns of whole numbers and short texts -> their SQL; a column may have a gigabyte at most.
    long
        The same for numbers with fractions, which JSON would round, and texts of any length.
    rows
        The query from FROM on, with ORDER BY.
    """
    import pyarrow as pa

    columns: dict[str, Any] = {}
    with connection.snapshot():
        if short:
            arrays = ", ".join(f"json_group_array({name})" for name in short)
            row = connection.execute(f"SELECT {arrays} FROM ({_select(short)} {rows})", parameters).fetchone()
            columns |= zip(short, map(_parse, row), strict=True)
        if long:
            counts = ", ".join(f"count({name})" for name in long)
            counted = f"SELECT count(*), {counts} FROM ({_select(long)} {rows})"
            number, *filled = connection.execute(counted, parameters).fetchone()
            some = {name: sql for (name, sql), values in zip(long.items(), filled, strict=True) if values}
            columns |= dict.fromkeys(long, pa.nulls(number))
            # One list of all values: a list for each column, or a frame, would be made of half a million tuples.
            values = (
                list(chain.from_iterable(connection.execute(f"{_select(some)} {rows}", parameters))) if some else []
            )
            columns |= {name: pa.array(values[place :: len(some)]) for place, name in enumerate(some)}
    return pa.table(columns)


def _parse(written: str) -> pa.Array:
    """Parse a JSON array of whole numbers or of texts, with a short cut where texts have neither nulls nor escapes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if '"' not in written and written.strip("[]nul,"):
        values = np.fromstring(written[1:-1].replace("null", str(_NULL)), dtype=np.int64, sep=",")
        return pa.array(values, mask=values == _NULL if "null" in written else None)
    if written == "[]" or "null" in written or "\\" in written:
        return pa.array(json.loads(written))
    return pc.split_pattern(pa.scalar(written[2:-2], pa.large_string()), '","').values


def _select(columns: Mapping[str, str]) -> str:
    return f"SELECT {', '.join(f'{sql} AS {name}' for name, sql in columns.items())}"


def query_ids(connection: Connection, topics: pd.Series[int]) -> pd.Series[str]:
    """Return the id of each topic, given the keys."""
    return _topics(connection).take(np.asarray(topics, dtype=np.int64))


def doc_ids(connection: Connection, docs: pd.Series[int]) -> pd.Series[str]:
    """Return the id of each document, given the keys."""
    keys = np.asarray(docs, dtype=np.int64)
    return _documents(connection, keys).take(keys)


def with_ids(connection: Connection, frame: pd.DataFrame) -> pd.DataFrame:
    """Put ids in place of the keys in ``query_id`` and ``doc_id``."""
    with connection.snapshot():
        ids = {"query_id": query_ids(connection, frame["query_id"]), "doc_id": doc_ids(connection, frame["doc_id"])}
    return frame.assign(**{name: texts.set_axis(frame.index) for name, texts in ids.items()})


def sort_pairs(connection: Connection, frame: pd.DataFrame) -> pd.DataFrame:
    """Sort by topic, as imported, and document id, given the keys of both in ``query_id`` and ``doc_id``."""
    docs = frame["doc_id"].to_numpy(dtype=np.int64)
    topic = _topics(connection).place[frame["query_id"].to_numpy(dtype=np.int64)]
    order = np.lexsort((_documents(connection, docs).place[docs], topic))
    return frame.iloc[order].reset_index(drop=True).astype({"query_id": "int32", "doc_id": "int32"})


def doc_places(connection: Connection, docs: Keys) -> Keys:
    """Return a number for each document that sorts them by id, given the keys."""
    return _documents(connection, docs).place[docs]


def doc_keys(connection: Connection, ids: Sequence[pa.Array]) -> list[npt.NDArray[np.int32]]:
    """Return the keys of documents in several arrays of ids, 0 where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from collection.core import arrow

    number, size = sum(map(len, ids)), connection.count("SELECT coalesce(max(doc), 0) FROM documents")
    if number * FEW < size:
        some = json_text({text for each in ids for text in each.to_pylist()})
        found = connection.mapping(
            "SELECT doc_id, doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)) ORDER BY doc", (some,)
        )
        return [np.array([found.get(text, 0) for text in each.to_pylist()], dtype=np.int32) for each in ids]
    known = _documents(connection, None)
    keys = np.zeros(len(known.names) + 1, dtype=np.int32)  # the last one is found at -1
    existing = np.flatnonzero(known.place >= 0)
    keys[known.place[existing]] = existing
    parts = pa.chunked_array([each.cast(pa.large_string()) for each in ids], pa.large_string())
    names = arrow.from_column(known.names).cast(pa.large_string())
    places = pc.index_in(parts, value_set=names)  # at once, since each call makes a dictionary of all names
    return np.split(keys[places.fill_null(-1).to_numpy()], np.cumsum([len(each) for each in ids])[:-1])


def pack_keys(topics: npt.ArrayLike, docs: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """(pairs,) one number for the keys of the topic and of the document of each pair: topic << 32 | doc."""
    return np.asarray(topics, dtype=np.int64) << 32 | np.asarray(docs, dtype=np.int64)


def pair_keys(connection: Connection, pairs: pd.DataFrame) -> npt.NDArray[np.int64]:
    """(pairs,) :func:`pack_keys` of each ``query_id`` and ``doc_id``; a missing id has the key 0."""
    from collection.core import arrow

    doc, doc_ids = pd.factorize(pairs["doc_id"])
    with connection.snapshot():
        topics = connection.mapping("SELECT query_id, topic FROM topics ORDER BY topic")
        (keys,) = doc_keys(connection, [arrow.from_column(pd.Series(doc_ids, dtype="str"))])
    topic = pairs["query_id"].astype("str").map(topics).fillna(0).to_numpy(dtype=np.int64)
    return pack_keys(topic, keys[doc])


class _Names(NamedTuple):
    """Ids in their order, and the place of each key among them."""

    names: pd.Series[str]
    place: Keys

    def take(self, keys: Keys) -> pd.Series[str]:
        return self.names.take(self.place[keys]).reset_index(drop=True)


_NO_NAMES = _Names(pd.Series(dtype="str"), np.full(1, -1, dtype=np.int32))


class _SharedNames:
    """The ids of all documents, and the last one, for all connections of this process to a database."""

    def __init__(self) -> None:
        self.known: tuple[object, _Names] = (None, _NO_NAMES)
        self.lock = Lock()


@lru_cache(maxsize=8)
def _shared_names(file: object) -> _SharedNames:
    return _SharedNames()


def _topics(connection: Connection) -> _Names:
    return _names(connection, {"key": "topic", "name": "query_id"}, "FROM topics ORDER BY topic")


def _documents(connection: Connection, keys: Keys | None) -> _Names:
    """Return at least the documents with these keys, by id; None: all."""
    columns = {"key": "doc", "name": "doc_id"}
    with connection.snapshot():
        # No document is ever removed or renamed, so all are known while the last one is the same.
        last = connection.execute("SELECT doc, doc_id FROM documents ORDER BY doc DESC LIMIT 1").fetchone()
        shared = _SharedNames() if connection.writing else _shared_names(connection.file)
        known, names = shared.known
        if last is None or last == known:
            return names if last else _NO_NAMES
        if keys is not None and len(keys) * FEW < last[0]:
            some = "FROM documents WHERE doc IN (SELECT value FROM json_each(?)) ORDER BY doc_id"
            return _names(connection, columns, some, (json_text(keys.tolist()),))
        with shared.lock:
            if shared.known[0] != last:  # by the index, without reading texts
                shared.known = last, _names(connection, columns, "FROM documents ORDER BY doc_id")
            return shared.known[1]


def _names(connection: Connection, columns: Mapping[str, str], rows: str, parameters: Parameters = ()) -> _Names:
    known = read(connection, columns, {}, rows, parameters)
    place = np.full(int(known["key"].max()) + 1 if len(known) else 1, -1, dtype=np.int32)
    place[known["key"].to_numpy(dtype=np.int64)] = np.arange(len(known))
    return _Names(known["name"].astype("str"), place)
