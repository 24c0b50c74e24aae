"""Frames of many rows, read column by column.

SQLite hands over a column as one JSON array in a third of the time that Python takes to make an object of each row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.store.connection import Connection, Parameters, json_text

if TYPE_CHECKING:
    import pyarrow as pa

Keys = npt.NDArray[np.int64]

FEW = 8
"""To look up one document's id takes as long as to read the ids of so many from the index."""


def read(
    connection: Connection,
    short: Mapping[str, str],
    long: Mapping[str, str],
    rows: str,
    parameters: Parameters = (),
) -> pd.DataFrame:
    """Return columns of a query as a frame.

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
            values = connection.execute(f"{_select(some)} {rows}", parameters).fetchall() if some else []
            columns |= dict.fromkeys(long, [None] * number) | dict(zip(some, zip(*values, strict=True), strict=True))
    return pa.table({name: pa.array(values) for name, values in columns.items()}).to_pandas()


def _parse(written: str) -> pa.Array:
    """Parse a JSON array of numbers or of texts, with a short cut where it has neither nulls nor escapes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if written == "[]" or "null" in written or "\\" in written:
        return pa.array(json.loads(written))
    if written[1] == '"':
        return pc.split_pattern(pa.scalar(written[2:-2], pa.large_string()), '","').values
    return pa.array(np.fromstring(written[1:-1], dtype=np.int64, sep=","))


def _select(columns: Mapping[str, str]) -> str:
    return f"SELECT {', '.join(f'{sql} AS {name}' for name, sql in columns.items())}"


def query_ids(connection: Connection, topics: Iterable[int]) -> pd.Series[str]:
    """Return the id of each topic, given the keys."""
    return _topics(connection).take(np.fromiter(topics, dtype=np.int64))


def doc_ids(connection: Connection, docs: Iterable[int]) -> pd.Series[str]:
    """Return the id of each document, given the keys."""
    keys = np.fromiter(docs, dtype=np.int64)
    return _documents(connection, keys).take(keys)


def name_pairs(connection: Connection, frame: pd.DataFrame) -> pd.DataFrame:
    """Put ids in place of the keys in ``query_id`` and ``doc_id``, and sort by topic, as imported, and document id."""
    docs = frame["doc_id"].to_numpy(dtype=np.int64)
    topics, documents = _topics(connection), _documents(connection, docs)
    topic, doc = topics.place[frame["query_id"].to_numpy(dtype=np.int64)], documents.place[docs]
    order = np.lexsort((doc, topic))
    ids = {"query_id": topics.names.take(topic[order]), "doc_id": documents.names.take(doc[order])}
    return frame.iloc[order].reset_index(drop=True).assign(**{n: s.reset_index(drop=True) for n, s in ids.items()})


class _Names(NamedTuple):
    """Ids in their order, and the place of each key among them."""

    names: pd.Series[str]
    place: Keys

    def take(self, keys: Keys) -> pd.Series[str]:
        return self.names.take(self.place[keys]).reset_index(drop=True)


def _topics(connection: Connection) -> _Names:
    return _names(connection, {"key": "topic", "name": "query_id"}, "FROM topics ORDER BY topic")


def _documents(connection: Connection, keys: Keys) -> _Names:
    """Return at least the documents with these keys, by id."""
    columns = {"key": "doc", "name": "doc_id"}
    if len(keys) * FEW < connection.count("SELECT coalesce(max(doc), 0) FROM documents"):
        some = "FROM documents WHERE doc IN (SELECT value FROM json_each(?)) ORDER BY doc_id"
        return _names(connection, columns, some, (json_text(keys.tolist()),))
    return _names(connection, columns, "FROM documents ORDER BY doc_id")  # the index, without reading texts


def _names(connection: Connection, columns: Mapping[str, str], rows: str, parameters: Parameters = ()) -> _Names:
    known = read(connection, columns, {}, rows, parameters)
    place = np.zeros(int(known["key"].max()) + 1 if len(known) else 1, dtype=np.int64)
    place[known["key"].to_numpy(dtype=np.int64)] = np.arange(len(known))
    return _Names(known["name"].astype("str"), place)
