"""One connection to a campaign's database: opening it, transactions, settings."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

import pandas as pd
from sqlite_utils import Database

from collection import layout
from collection.errors import BusyError, CampaignError
from collection.schema import migrations

BUSY_SECONDS = 15.0
"""How long a writer waits for another one; a large import holds the lock for seconds. Shorter than the
judging card waits for an answer: it is told that the campaign is busy, keeps its judgements, and tries again."""


# Of each pair with a judgement that stands: annotators, whether one of them is :annotator, whether it is adjudicated.
SAID = """
    SELECT topic, doc, sum(counts_as = 'judgement') AS said,
           max(counts_as = 'judgement' AND annotator = :annotator) AS mine, max(counts_as = 'adjudication') AS ended
    FROM words {where} GROUP BY topic, doc
"""


def json_text(values: Sequence[str]) -> str:
    """A JSON array, which SQL reads with `json_each`: one variable, however many values."""
    return json.dumps(list(values))


def held_by_others(topic: str, doc: str) -> str:
    """SQL for how many but :annotator hold a pair at the time :at and have not judged it.

    Parameters
    ----------
    topic, doc
        The columns of the pair's keys.
    """
    return (
        f"(SELECT count(*) FROM leases AS l WHERE l.topic = {topic} AND l.doc = {doc} "
        "AND l.annotator <> :annotator AND l.until > :at AND NOT EXISTS (SELECT 1 FROM words AS w "
        "WHERE w.topic = l.topic AND w.doc = l.doc AND w.annotator = l.annotator AND w.counts_as = 'judgement'))"
    )


def held_back(doc: str) -> str:
    """SQL for whether a document cannot be judged yet: it has no text here, and others have one.

    Where no document has a text, annotators read them elsewhere and know them by their ids: none is held back.

    Parameters
    ----------
    doc
        The column of the document's key.
    """
    # Without the index SQLite would look the document up by its key, and read long texts for nothing. Full-text search
    # has a row for each document with a text: whether there is one is known without a walk through all documents.
    return (
        "(EXISTS (SELECT 1 FROM documents AS h INDEXED BY documents_without_text "
        f"WHERE h.doc = {doc} AND h.text IS NULL) "
        "AND EXISTS (SELECT 1 FROM documents_fts_docsize))"
    )


class Repository(Protocol):
    """What has a connection to write through."""

    connection: Connection


S = TypeVar("S", bound=Repository)
P = ParamSpec("P")
R = TypeVar("R")


def writes(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Run a repository's method in a transaction: a part of the open one, or one of its own."""

    @wraps(method)
    def in_transaction(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.connection.transaction():
            return method(self, *args, **kwargs)

    return in_transaction


class Connection:
    """What every part of the store stands on; its parameters are described at :class:`collection.store.Store`."""

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        if not create and not Path(path).is_file():
            raise CampaignError(f"there is no campaign database at {path}")
        if create and str(path) != ":memory:":
            with suppress(FileExistsError):  # SQLite gives its log the permissions of the database
                layout.create_private(Path(path)).close()
        try:
            connection = sqlite3.connect(str(path), timeout=BUSY_SECONDS, isolation_level=None)
            self.db = Database(connection)
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = FULL")
            self.db.execute("PRAGMA foreign_keys = ON")
            if migrations.pending(self.db):
                if self.db.table_names() and not migrations.applied(self.db):
                    raise CampaignError(f"{path} is a database, but not of a campaign")
                self._migrate()
        except sqlite3.DatabaseError as error:
            raise CampaignError(f"{path} cannot be opened as a campaign database: {error}") from error

    def _migrate(self) -> None:
        """Bring the tables up to date; another process may be doing the same just now."""
        try:
            migrations.apply(self.db)
        except sqlite3.OperationalError:
            if self.db.conn.in_transaction:
                self.db.conn.rollback()
            for _ in range(50):
                if not migrations.pending(self.db):
                    return
                time.sleep(0.1)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the store is of no use afterwards."""
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on return it is on disk. One inside another is a part of it.

        IMMEDIATE, because a transaction that reads first and writes later can be refused by SQLite at
        once, without waiting, when another writer came in between.
        """
        if self.db.conn.in_transaction:
            yield
            return
        try:
            self.db.conn.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise BusyError(
                f"the campaign is busy with another writer, perhaps an import ({error}); try again"
            ) from error
        try:
            yield
            self.db.conn.commit()
        except BaseException:
            # Also after a commit that failed: the next one must not find this one open, and take itself for a part.
            self.db.conn.rollback()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read inside is of one moment, however long it takes; nobody waits for it, and nothing is written."""
        if self.db.conn.in_transaction:
            yield
            return
        self.db.conn.execute("BEGIN")
        try:
            yield
        finally:
            self.db.conn.rollback()

    @property
    def in_transaction(self) -> bool:
        """Whether what is read here may never come to be: a transaction of this connection is open."""
        return self.db.conn.in_transaction

    def frame(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """Rows of a query, with its column names."""
        cursor = self.db.conn.execute(sql, parameters)
        return pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """First column of a query's first row; None if there is no row."""
        row = self.db.conn.execute(sql, parameters).fetchone()
        return None if row is None else row[0]
