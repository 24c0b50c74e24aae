"""The Parquet files of runs: written completely, and checked before they are read."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from urllib import parse

import pandas as pd

from collection.core import layout
from collection.core.errors import CampaignError, InputError
from collection.core.ranking import DOUBTS, Doubts

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

BYTES_OF_A_ROW, BYTES_BESIDE = 1024, 64 << 20
"""A file may expand to this many bytes per recorded row, plus a constant; ids have some dozens each."""

_DIGEST = re.compile(r"-([0-9a-f]{16})\.parquet\Z")
"""The beginning of the content's SHA-256 at the end of a file's name; earlier versions wrote none."""


def free_place(folder: Path, name: str, digest: str, rows: int) -> Path:
    """Choose an unused path for :func:`write`.

    `digest` is the SHA-256 of the file that the run was imported from, `rows` its number of rows that are stored.
    """
    stem = f"{parse.quote(name, safe=' ')[:150]}.{digest[:8]}-{rows}"
    names = {file.name for file in folder.iterdir()}
    free = stem
    while any(name.startswith((f"{free}.", f"{free}-")) for name in names):
        free = f"{stem}-{secrets.token_hex(4)}"
    return folder / f"{free}.part"


def digest_topics(frame: pd.DataFrame) -> dict[str, str]:
    """Return a digest of each topic's documents and their order in a run."""
    rows = pd.util.hash_pandas_object(frame[["doc_id", "rank", "listed"]].astype({"doc_id": "str"}), index=False)
    sums = rows.groupby(frame["query_id"].astype("str")).sum()  # modulo 2^64
    return {str(query_id): f"{int(digest):016x}" for query_id, digest in sums.items()}


def write(frame: pd.DataFrame, place: Path) -> Path:
    """Write a run completely and durably before the database names it.

    `place` is the path while writing, which does not exist yet and ends in ``.part``; the result is `place` with the
    beginning of its digest and the ending ``.parquet``.

    Raises
    ------
    InputError
        The ids are too long to be read again.
    """
    import pyarrow.parquet as pq

    with layout.create_private(place) as file:
        # Ids that are not encoded by a dictionary expand to no more than the metadata say.
        frame.to_parquet(file, index=False, compression="zstd", use_dictionary=["query_id"], write_page_checksum=True)
        file.flush()
        os.fsync(file.fileno())
    if _expanded(pq.read_metadata(place)) > _limit(len(frame)):
        raise InputError(
            f"expected document ids of at most {BYTES_OF_A_ROW:,} characters on average, found more; shorten them"
        )
    return place.rename(place.with_name(f"{place.stem}-{_digest(place)}.parquet"))


def read(
    directory: Path,
    recorded: Mapping[Hashable, Any],
    *,
    columns: Sequence[str] | None = None,
    filters: Sequence[tuple[str, str, str]] | None = None,
) -> pd.DataFrame:
    """Read a run, after checking that its file is the recorded one.

    Parameters
    ----------
    recorded
        A row of :meth:`.CorpusTables.runs`.
    columns, filters
        Only these columns of a run frame; only rows for which all of ``column, operator, value`` hold.

    Raises
    ------
    CampaignError
        The file is missing, damaged, too large, or another one. The message says how to import the run again.
    """
    try:
        return _read(directory, recorded, columns, filters)
    except _Unusable as error:
        raise CampaignError(
            f"{error}; import the run again: `cleverdon import {quote(str(directory))} --run FILE --replace`"
        ) from error


def stamp(directory: Path, recorded: Mapping[Hashable, Any]) -> tuple[int, int] | None:
    """Return what changes if the file of a run does: its time and size; None if it is missing."""
    try:
        found = (directory / layout.RUNS / recorded["file"]).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def find_problem(directory: Path, recorded: Mapping[Hashable, Any]) -> str | None:
    """Return why :func:`read` cannot read a run, without what to do; None if it can."""
    try:
        _read(directory, recorded, None, None)
    except _Unusable as error:
        return str(error)
    return None


def named_digest(name: str) -> str:
    """Return the beginning of the SHA-256 that the name of a file says it has; empty for one of an earlier version."""
    named = _DIGEST.search(name)
    return named[1] if named else ""


def _read(
    directory: Path,
    recorded: Mapping[Hashable, Any],
    columns: Sequence[str] | None,
    filters: Sequence[tuple[str, str, str]] | None,
) -> pd.DataFrame:
    import pyarrow as pa

    place = directory / layout.RUNS / recorded["file"]
    try:
        table = _table(place, recorded, columns, filters)
        _refuse_nulls(table)
        frame: pd.DataFrame = table.to_pandas()
        frame.attrs = _attributes(place)
        if filters is None and columns is None:
            _check_size(frame, recorded)
        return frame
    except FileNotFoundError:
        problem = "is missing"
    except _Foreign as error:
        problem = f"is not the file that was imported: {error}"
    # ValueError: text that is not UTF-8, or invalid metadata; the others are Arrow's own.
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        problem = f"is damaged ({str(error).splitlines()[0][:100] if str(error) else type(error).__name__})"
    raise _Unusable(f"run {recorded['run']!r}: {layout.RUNS}/{recorded['file']} {problem}")


class _Unusable(Exception):
    """A run cannot be read, with the reason as message."""


class _Foreign(Exception):
    """A file is not the recorded one, with the difference as message."""


def _table(
    place: Path,
    recorded: Mapping[Hashable, Any],
    columns: Sequence[str] | None,
    filters: Sequence[tuple[str, str, str]] | None,
) -> pa.Table:
    """The columns of the file; nothing is expanded before its metadata are checked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    named = named_digest(place.name)
    if named and _digest(place) != named:  # before Arrow looks at it, which a damaged file can abort
        raise _Foreign("its checksum differs")
    rows, size = int(recorded["rows"]), place.stat().st_size
    if size > _limit(rows):
        raise _Foreign(f"it has {size:,} bytes for {rows:,} rows")
    file = pq.read_metadata(place)
    if file.num_rows != rows:
        raise _Foreign(f"it has {file.num_rows:,} rows instead of {rows:,}")
    if _expanded(file) > _limit(rows):
        raise _Foreign(f"it expands to {_expanded(file):,} bytes for {rows:,} rows")
    _check_schema(file.schema.to_arrow_schema())
    # A dictionary of one long id and a million numbers is small, and huge once every row has its text.
    table = pq.read_table(
        place,
        columns=None if columns is None else list(columns),
        filters=None if filters is None else list(filters),
        read_dictionary=["query_id"] if named else ["query_id", "doc_id"],
        partitioning=None,
        page_checksum_verification=True,
    ).replace_schema_metadata(None)
    table.validate(full=True)
    if not named and "doc_id" in table.column_names:
        at = table.schema.get_field_index("doc_id")
        _check_lengths(table.column(at), rows)
        table = table.set_column(at, "doc_id", table.column(at).cast(pa.large_string()))
    return table


def _check_schema(schema: pa.Schema) -> None:
    from pyarrow import types

    def is_text(kind: pa.DataType) -> bool:
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(kind) or types.is_large_string(kind))

    wanted = {"query_id": is_text, "doc_id": is_text, "score": types.is_float64}
    wanted |= {"rank": types.is_int32, "listed": types.is_int32}
    if sorted(schema.names) != sorted(wanted):
        raise _Foreign(f"it has the columns {', '.join(schema.names)[:100]}")
    if wrong := [name for name, fits in wanted.items() if not fits(schema.field(name).type)]:
        raise _Foreign(f"its column {wrong[0]} has the type {schema.field(wrong[0]).type}")


def _attributes(place: Path) -> dict[Hashable | None, Any]:
    """The doubts about the order of the run, as pandas writes attributes."""
    import pyarrow.parquet as pq

    attributes = json.loads((pq.read_metadata(place).metadata or {}).get(b"PANDAS_ATTRS", b"{}"))
    return {DOUBTS: Doubts(*attributes[DOUBTS])} if DOUBTS in attributes else {}


def _check_lengths(column: pa.ChunkedArray, rows: int) -> None:
    import pyarrow.compute as pc

    lengths = ((pc.binary_length(chunk.dictionary).cast("int64"), chunk.indices) for chunk in column.chunks)
    size = sum(pc.sum(of_ids.take(indices)).as_py() or 0 for of_ids, indices in lengths)
    if size > _limit(rows):
        raise _Foreign(f"its ids expand to {size:,} bytes for {rows:,} rows")


def _refuse_nulls(table: pa.Table) -> None:
    import pyarrow.compute as pc

    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count or (name == "score" and pc.any(pc.is_nan(column)).as_py()):
            raise _Foreign(f"its column {name} is empty in some rows")


def _check_size(frame: pd.DataFrame, recorded: Mapping[Hashable, Any]) -> None:
    size = (len(frame), frame["query_id"].nunique(), int(frame["rank"].max()))
    wanted = (recorded["rows"], recorded["topics"], recorded["deepest"])
    if size != wanted:
        raise _Foreign("it has {:,} rows of {:,} topics to rank {:,}".format(*size))


def _expanded(file: pq.FileMetaData) -> int:
    """Bytes of the expanded row groups."""
    return sum(file.row_group(number).total_byte_size for number in range(file.num_row_groups))


def _digest(place: Path) -> str:
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _limit(rows: int) -> int:
    return rows * BYTES_OF_A_ROW + BYTES_BESIDE
