"""The connection to a campaign's database: opening it, transactions, queries."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
import pandas as pd
from sqlite_utils import Database

from collection.core import layout
from collection.core.errors import BusyError, CampaignError, CleverdonError, StorageError
from collection.core.records import LONGEST_LEASE
from collection.schema import migrations
from collection.store import schema_version

SQLiteError: tuple[type[Exception], ...] = (sqlite3.Error, StorageError)
"""Errors of the database itself, after which a transaction may be rolled back already."""

BUSY_SECONDS = 15.0
"""Timeout of a writer that waits for another one. It is shorter than the timeout of the judging card, so that the card
learns that the campaign is busy, keeps its judgements, and tries again."""

# Without an adapter, SQLite would store NumPy numbers as bytes.
for _codes, _plain in ((np.typecodes["AllInteger"] + "?", int), (np.typecodes["Float"], float)):
    for _code in _codes:
        sqlite3.register_adapter(np.dtype(_code).type, _plain)

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""Values for the placeholders of a statement, by position or by name."""

# For each judged pair: number of annotators, whether :annotator is one of them, whether the pair is adjudicated.
JUDGED_PAIRS = """
    SELECT topic, doc, sum(counts_as = 'judgement') AS judgements, max(counts_as = 'adjudication') AS adjudicated,
           max(counts_as = 'judgement' AND annotator = :annotator) AS own
    FROM current_judgements {where} GROUP BY topic, doc
"""

ACCOUNT_TABLES = ("accounts", "sessions", "signin_links", "memberships")
"""Tables that the campaign of a task shares with the campaign around it."""

POOL_IF_TEXTS_MISSING = """
    (SELECT 1 FROM documents INDEXED BY documents_without_text WHERE text IS NULL LIMIT 1) CROSS JOIN pool
"""
"""SQL for the pool, or for no rows at all, without a look at each pair, if every document has a text."""


_UNWRITABLE = "the campaign cannot be written ({}); make its directory and files writable for this program"
_DAMAGED = "the database of the campaign is damaged ({}); restore a backup"
_TROUBLES = {
    sqlite3.SQLITE_FULL: "the disk of the campaign is full; free some space on it",
    sqlite3.SQLITE_IOERR: "the disk of the campaign cannot be read or written ({}); check its free space and quotas",
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}
"""What each primary result code of SQLite says of the campaign, with SQLite's own words."""


def explain(error: BaseException) -> CleverdonError | None:
    """Return the error in words for people if its cause is outside the program: a lock, the disk, permissions."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if "because it is a view" in str(error):
        return CampaignError(
            "accounts, groups and sessions belong to the campaign around this task; change them in that campaign"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyError(
            f"the campaign is busy: another process, perhaps an import, is writing to it ({error}); try again"
        )
    return StorageError(_TROUBLES[code].format(error)) if code in _TROUBLES else None


def json_text(values: Iterable[object]) -> str:
    """Write a JSON array, which SQL reads with `json_each`: one variable for any number of values."""
    return json.dumps(list(values))


def topic_condition(query_ids: str | Collection[str] | None) -> tuple[str, list[object]]:
    """Write SQL for whether the column `topic` is the key of one of these topics, with its parameters; None: all."""
    if query_ids is None:
        return "TRUE", []
    if isinstance(query_ids, str):
        return "topic = (SELECT topic FROM topics WHERE query_id = ?)", [query_ids]
    return (
        "topic IN (SELECT topic FROM topics WHERE query_id IN (SELECT value FROM json_each(?)))",
        [json_text(query_ids)],
    )


def is_held(until: str) -> str:
    """Write SQL for whether a lease that ends at `until`, a column, is valid at the time :at.

    A lease that ends later than any lease can was given while the system clock was ahead, and holds nothing.
    """
    return f"({until} > :at AND {until} <= :at + {LONGEST_LEASE})"


def count_held_by_others(topic: str, doc: str, which: str = "TRUE") -> str:
    """Write SQL that counts the other annotators who hold a pair at the time :at and have not judged it.

    `topic` and `doc` are the columns with the pair's keys; `which` is a condition on the leases `l`.
    """
    return (
        f"(SELECT count(*) FROM leases AS l WHERE l.topic = {topic} AND l.doc = {doc} AND {which} "
        f"AND l.annotator <> :annotator AND {is_held('l.until')} "
        "AND NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = l.topic AND cj.doc = l.doc "
        "AND cj.annotator = l.annotator AND cj.counts_as = 'judgement'))"
    )


def is_held_back(doc: str) -> str:
    """Write SQL for whether a document cannot be judged yet because it has no text while others have one.

    If no document has a text, annotators read the documents elsewhere by their ids, and none is held back. `doc` is the
    column with the document's key.
    """
    # The index avoids reading long texts. The full-text index has a row for each document with a text.
    return (
        "(EXISTS (SELECT 1 FROM documents AS h INDEXED BY documents_without_text "
        f"WHERE h.doc = {doc} AND h.text IS NULL) "
        "AND EXISTS (SELECT 1 FROM documents_fts_docsize))"
    )


def is_assigned(annotator: str) -> str:
    """Write SQL for whether topic `t` is open to an annotator (an expression), personally, by a group, or to all."""
    return f"""
        (NOT EXISTS (SELECT 1 FROM assignments AS a WHERE a.topic = t.topic)
         OR EXISTS (SELECT 1 FROM assignments AS a
                    WHERE a.topic = t.topic AND a.kind = 'account' AND a.name = {annotator})
         OR EXISTS (SELECT 1 FROM assignments AS a JOIN memberships AS m ON m.group_name = a.name
                    WHERE a.topic = t.topic AND a.kind = 'group' AND m.account = {annotator}))
    """


@dataclass(eq=False)
class Repository:
    """A group of tables."""

    connection: Connection


S = TypeVar("S", bound=Repository)
P = ParamSpec("P")
R = TypeVar("R")


def writes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Run a repository's method inside the open transaction, or in one of its own."""

    @wraps(method)
    def in_transaction(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.connection.transaction():
            return method(self, *args, **kwargs)

    return in_transaction


class Connection:
    """A connection to the database of a campaign; the parameters are those of :class:`collection.store.Store`."""

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        if not create and not Path(path).is_file():
            raise CampaignError(f"{path}: expected the database of a campaign, found no file")
        if create and str(path) != ":memory:":
            with suppress(FileExistsError):  # SQLite gives its log the permissions of the database
                layout.create_private(Path(path)).close()
        self.rollbacks: int = 0
        """Number of changes that were undone: part of the key of what is cached."""
        self.writing: bool = False
        """Whether a transaction is open, so that data read now may be rolled back."""
        self.file: object = object()
        """Identifies the file, also if another one takes its path; each database in memory is one of its own."""
        outer = None if str(path) == ":memory:" else layout.outer_campaign(Path(path).parent)
        place = path if outer is None else Path(path).resolve()
        try:
            connection = sqlite3.connect(str(place), timeout=BUSY_SECONDS, isolation_level=None, uri=outer is not None)
            self.db: Database = Database(connection)
            if str(path) != ":memory:":
                found = Path(path).stat()
                self.file = (str(Path(path).resolve()), found.st_dev, found.st_ino)
            schema_version.require_openable(self.db, path)  # before anything is written, be it the journal mode
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = FULL")
            self.db.execute("PRAGMA fullfsync = ON")  # on macOS, where the disk may keep writes in its cache otherwise
            self.db.execute("PRAGMA foreign_keys = ON")
            if migrations.pending(self.db):
                schema_version.migrate(self.db, path)
            if outer is not None:
                self._share_accounts(outer / layout.DATABASE)
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY):
                raise cast(CleverdonError, explain(error)) from error
            raise CampaignError(
                f"{path}: expected the database of a campaign, found a file that cannot be opened ({error})"
            ) from error

    def _share_accounts(self, path: Path) -> None:
        """Read the accounts of the campaign around a task in place of this database's own, which stay empty.

        Temporary views hide the tables of their names, so that every query of the store reads the others, and none
        writes them.
        """
        self.db.execute("ATTACH DATABASE ? AS outer_campaign", (f"{path.as_uri()}?mode=ro",))
        if self.count("SELECT count(*) FROM outer_campaign._sqlite_migrations") != schema_version.latest():
            Connection(path).db.close()  # which updates its tables, or refuses those of a newer version
        for table in ACCOUNT_TABLES:
            self.db.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM outer_campaign.{table}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing, durably on return; a transaction inside another one joins it."""
        if self.db.conn.in_transaction:
            yield
            return
        # IMMEDIATE, since a deferred transaction that reads first fails if another writer came in between.
        self.execute("BEGIN IMMEDIATE")
        self.writing = True
        try:
            yield
            if not self.db.conn.in_transaction:  # somebody has caught the error with which SQLite ended it
                raise StorageError("the database has undone the change after an error; try again")
            self.db.conn.commit()
        except BaseException as error:
            # Also after a failed commit, so that the next transaction does not join this one.
            self.rollbacks += 1
            self.db.conn.rollback()
            if (explained := explain(error)) is not None:
                raise explained from error
            raise
        finally:
            self.writing = False

    @contextmanager
    def without_waiting(self) -> Iterator[None]:
        """Inside, a write raises :class:`BusyError` at once if another process is writing."""
        self.db.conn.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            self.db.conn.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what was written inside if it raises, while the open transaction stays; nothing to undo without one.

        An error of SQLite itself undoes nothing here: it may have ended the transaction, which has to fail.
        """
        if not self.db.conn.in_transaction:
            yield
            return
        self.db.conn.execute("SAVEPOINT inner")
        try:
            yield
        except SQLiteError:
            raise
        except BaseException:
            self.rollbacks += 1
            self.db.conn.execute("ROLLBACK TO inner")
            self.db.conn.execute("RELEASE inner")
            raise
        self.db.conn.execute("RELEASE inner")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read a consistent state of the database without blocking writers; nothing is written."""
        if self.db.conn.in_transaction:
            yield
            return
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.db.conn.rollback()

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run a statement; raises :class:`BusyError` or :class:`StorageError` if :func:`explain` knows why it fails."""
        try:
            return self.db.conn.execute(sql, parameters)
        except sqlite3.Error as error:
            if (explained := explain(error)) is not None:
                raise explained from error
            raise

    def executemany(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement for each row of parameters."""
        self.db.conn.executemany(sql, rows)

    def insert(self, table: str, row: Mapping[str, object]) -> int | None:
        """Insert a row, given as column -> value; return its key."""
        columns, places = ", ".join(row), ", ".join(f":{name}" for name in row)
        return self.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", row).lastrowid

    def frame(self, sql: str, parameters: Parameters = ()) -> pd.DataFrame:
        """Return the rows of a query under its column names."""
        cursor = self.execute(sql, parameters)
        return pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])

    def column(self, sql: str, parameters: Parameters = ()) -> list[Any]:
        """Return the first column of a query."""
        return [row[0] for row in self.execute(sql, parameters)]

    def mapping(self, sql: str, parameters: Parameters = ()) -> dict[Any, Any]:
        """Return the second column of a query by the first."""
        return dict(self.execute(sql, parameters))

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Return the first column of a query's first row, or None if there is no row."""
        row = self.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def count(self, sql: str, parameters: Parameters = ()) -> int:
        """Return the number that a query counts."""
        return int(self.value(sql, parameters))

    def exists(self, sql: str, parameters: Parameters = ()) -> bool:
        """Tell whether a query returns a true value."""
        return bool(self.value(sql, parameters))

    def topic_key(self, query_id: str) -> int | None:
        """Return the key of a topic, or None if there is no such topic."""
        key: int | None = self.value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        return key
