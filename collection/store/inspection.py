"""A database as it is, of any version: read, never migrated or written."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from sqlite_utils import Database

from collection.core.errors import CampaignError
from collection.store import schema_version

MOST = 20
"""Number of problems of a database that are listed."""


class Inspection:
    """A database opened for reading alone, beside whatever else uses it.

    Parameters
    ----------
    path
        The SQLite file.
    known
        Whether its tables must be those of a campaign, and nothing beside them, as for a file from elsewhere.

    Raises
    ------
    CampaignError
        The file is missing, damaged, no database of a campaign, or of a newer version.
    """

    def __init__(self, path: Path | str, *, known: bool = False) -> None:
        if not Path(path).is_file():
            raise CampaignError(f"{path}: expected the database of a campaign, found no file")
        self.path = path
        connection = schema_version.open_to_read(path)
        self._db = Database(connection)
        try:
            require = schema_version.require_known_schema if known else schema_version.require_openable
            require(self._db, path)
            self.version: int = schema_version.version(self._db)
            """Version of the tables."""
            self.settings: dict[str, Any] = {
                key: schema_version.parsed(value)
                for key, value in self._rows("SELECT key, value FROM settings ORDER BY key")
            }
            """Setting -> its value, or a ValueError where it is no JSON."""
            if "grades" not in self.settings:
                raise CampaignError(f"{path}: expected the database of a campaign, found another one")
        except (sqlite3.DatabaseError, ValueError) as error:
            connection.close()
            raise self._unreadable(error) from error
        except BaseException:
            connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def _rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        try:
            yield from self._db.execute(sql)
        except sqlite3.DatabaseError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> CampaignError:
        return CampaignError(
            f"{self.path}: expected the database of a campaign, found a file that cannot be read ({error}); restore a "
            "backup with `cleverdon restore FILE NEW`"
        )

    @property
    def pending(self) -> bool:
        """Return whether the tables are of an earlier version."""
        return self.version < schema_version.latest()

    def damage(self) -> list[str]:
        """Return what SQLite finds wrong with the file; empty if it is intact."""
        try:
            return [str(row[0]) for row in self._db.execute(f"PRAGMA integrity_check({MOST})") if row[0] != "ok"]
        except sqlite3.DatabaseError as error:
            return [str(error)]

    def dangling_rows(self) -> list[str]:
        """Return a phrase for each table with rows that name a missing row of another one."""
        parents = Counter((table, parent) for table, _, parent, _ in self._rows("PRAGMA foreign_key_check"))
        return [
            f"{rows:,} of the rows in the table {table} name a missing row of {parent}"
            for (table, parent), rows in sorted(parents.items())
        ]

    def runs(self) -> list[dict[Hashable, Any]]:
        """Return ``run``, ``file``, ``topics``, ``rows`` and ``deepest`` of each run, by name."""
        names = ("run", "file", "topics", "rows", "deepest")
        return [
            dict(zip(names, row, strict=True))
            for row in self._rows("SELECT run, file, topics, rows, deepest FROM runs ORDER BY run")
        ]

    def metadata_with_files(self) -> Iterator[dict[str, Any]]:
        """Yield the metadata of each document that may have images or a PDF file, in the order of import."""
        sql = """
            SELECT metadata FROM documents WHERE metadata LIKE '%"images"%' OR metadata LIKE '%"pdf"%' ORDER BY doc
        """
        for (metadata,) in self._rows(sql):
            yield json.loads(metadata)

    def counts(self) -> dict[str, int]:
        """Return the numbers of topics, documents, runs, pairs in the pool, current judgements, and so on."""
        counted = {
            "topics": "topics",
            "documents": "documents",
            "runs": "runs",
            "pool": "pool",
            "judgements": "current_judgements",
            "choices": "current_choices",
            "preferences": "current_preferences",
            "label_sets": "label_sets",
            "accounts": "accounts",
        }
        numbers = {name: next(self._rows(f"SELECT count(*) FROM {table}"))[0] for name, table in counted.items()}
        (annotators,) = next(self._rows("SELECT count(DISTINCT annotator) FROM latest_judgements"))
        return numbers | {"annotators": annotators}

    def last_decision(self) -> str | None:
        """Return when somebody last judged (UTC, ISO 8601), or None; imported judgements do not count."""
        tables = ("latest_judgements", "choices", "preferences")
        latest = [next(self._rows(f"SELECT max(judged_at) FROM {table}"))[0] for table in tables]
        return max(filter(None, latest), default=None)

    def is_being_written(self) -> bool:
        """Return whether another process is writing to the database at this moment."""
        writer = f"{Path(self.path).resolve().as_uri()}?mode=rw"
        with closing(sqlite3.connect(writer, uri=True, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError as error:
                return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        return False

    def document_rows(self) -> int:
        """Return the number of documents."""
        (row,) = self._rows("SELECT count(*) FROM documents")
        return int(row[0])
