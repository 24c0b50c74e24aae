"""The version of a database's tables: refusing newer ones, and migrating older ones after a copy."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from collection.core import layout
from collection.core.errors import BusyError, CampaignError
from collection.schema import SCRIPTS, migrations

KEPT = 3
"""Number of copies from before a migration that are kept, those of the newest versions."""

LOCKED_SECONDS = 5.0
"""Seconds that a reader waits for a database that another process has locked."""

_COPY = re.compile(r"before-version-([0-9]+)\.db")


def latest() -> int:
    """Return the version of the tables that this program makes: the number of its migrations."""
    return len(SCRIPTS)


def version(db: Database) -> int:
    """Return the number of migrations that a database has had, of whatever version of Cleverdon; 0 for none."""
    return len(migrations.applied(db))


def parsed(value: Any) -> Any:
    """Return a stored JSON value, or a ValueError where it is none."""
    try:
        return json.loads(value)
    except (ValueError, TypeError, RecursionError) as error:
        return ValueError(str(error))


def require_known_schema(db: Database, path: Path | str) -> None:
    """Raise :class:`CampaignError` unless a database has the tables of its version, and no other or different object.

    A database from elsewhere may have views that never end, triggers, or functions in columns, indexes and checks,
    which SQLite would run while the tables are read or checked.
    """
    existing = _objects(db.conn)
    # Those of sqlite-utils depend on its version.
    own = {key: sql for key, (about, sql) in existing.items() if about == "_sqlite_migrations"}
    if any(kind not in ("table", "index") or _COMPUTES.search(sql) for (kind, _), sql in own.items()):
        raise CampaignError(f"{path}: expected the tables of a campaign, found a different '_sqlite_migrations'")
    require_openable(db, path)
    applied = {migration.name for migration in migrations.applied(db)}
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, script in SCRIPTS.items():
            if name in applied:
                for statement in script.split(";;"):
                    connection.execute(statement)
        known = _objects(connection)
    wrong = sorted(key for key in known.keys() | existing.keys() - own.keys() if known.get(key) != existing.get(key))
    if wrong:
        kind, name = wrong[0]
        what = "another" if wrong[0] not in known else "a different" if wrong[0] in existing else "no"
        raise CampaignError(
            f"{path}: expected the tables of a campaign, found {what} {kind} {name!a}; use a backup that Cleverdon made"
        )


_COMPUTES = re.compile(r"check\(|as\(|where|\([^()]*\(")
"""In a statement as :func:`_objects` returns it: what SQLite would compute."""


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """Return kind and name of each object of a database -> its table and statement, without quotes and blanks."""
    rows = connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
    return {
        (str(kind), str(name)): (
            str(about),
            re.sub(r"--[^\n]*|[\s\"'`\[\]]", "", str(sql)).lower(),
        )
        for kind, name, about, sql in rows
        if not str(name).startswith(("sqlite_stat", "sqlite_sequence", "sqlite_autoindex"))
    }


def require_openable(db: Database, path: Path | str) -> None:
    """Raise :class:`CampaignError` for a database of something else, or of a newer version; nothing is written."""
    applied = [migration.name for migration in migrations.applied(db)]
    if not applied and db.table_names():
        raise CampaignError(f"{path}: expected the database of a campaign, found another one")
    if applied and applied[0] != next(iter(SCRIPTS)):
        raise CampaignError(
            f"{path}: made by a development version from before the first release; export the campaign with that "
            "version, and import the files into a new one"
        )
    if not SCRIPTS.keys() >= set(applied):
        raise CampaignError(
            f"{path}: expected tables of version {latest()} or earlier, found version {len(applied)}, made by a newer "
            "Cleverdon; update Cleverdon to open this campaign"
        )


def migrate(db: Database, path: Path | str) -> None:
    """Run all pending migrations in one transaction, after a copy of the database to ``backups/``.

    If anything fails, or the process is killed, the database stays as it was.

    Raises
    ------
    BusyError
        Another process keeps writing to the database, or serves the campaign.
    CampaignError
        The copy cannot be written.
    """
    try:
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        raise BusyError(
            f"{path}: the tables must be updated, but another process is using the campaign ({error}); stop it, or "
            "try again"
        ) from error
    try:
        # Another process may have migrated while this one waited. The transaction keeps others from writing, so
        # nothing comes between the copy and the migrations.
        if migrations.pending(db):
            if db.table_names() and str(path) != ":memory:":
                if layout.is_served_elsewhere(Path(path).parent):
                    raise BusyError(
                        f"{path}: the tables must be updated, but a server is running on the campaign, perhaps of the "
                        "earlier version; stop it, and start one of this version"
                    )
                _keep_copy(Path(path))
            migrations.apply(db)
        db.conn.commit()
    except BaseException:
        db.conn.rollback()
        raise


def open_to_read(path: Path | str) -> sqlite3.Connection:
    """Open a database for reading alone, also on a disk where nothing can be written.

    SQLite needs a file beside the database to share it with writers. Where that cannot be made, nobody writes either,
    so the database is read as it is; unless a writer has left a log with what is not in the database yet.
    """
    place = Path(path).resolve()
    log = place.with_name(f"{place.name}-wal")
    unshared = not os.access(place.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    address = f"{place.as_uri()}?mode=ro{'&immutable=1' if unshared else ''}"
    return sqlite3.connect(address, uri=True, timeout=LOCKED_SECONDS)


def copy_database(source: Path | str, target: Path | str) -> None:
    """Copy a database that may be in use to a new file, which its owner alone reads; the source is only read.

    Raises
    ------
    CampaignError
        There is no database, or it cannot be read.
    OSError
        The copy cannot be written.
    """
    if not Path(source).is_file():
        raise CampaignError(f"{source}: expected the database of a campaign, found no file")
    layout.create_private(Path(target)).close()
    try:
        with (
            closing(open_to_read(source)) as read,
            closing(sqlite3.connect(str(target))) as written,
        ):
            read.backup(written)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise CampaignError(
            f"{source}: expected the database of a campaign, found a file that cannot be read ({error})"
        ) from error


def _keep_copy(path: Path) -> None:
    """Copy the database to ``backups/before-version-N.db``, and remove the oldest of such copies."""
    folder = path.parent / layout.BACKUPS
    place = folder / f"before-version-{latest()}.db"
    part = place.with_name(f"{place.name}.part")
    try:
        layout.make_folder(folder)
        part.unlink(missing_ok=True)  # of a process that was killed; no other one can be here at the same time
        copy_database(path, part)
        layout.sync_file(part)
        part.replace(place)
        layout.sync_folder(folder)
        copies = [(int(match[1]), file) for file in folder.iterdir() if (match := _COPY.fullmatch(file.name))]
        for _, file in sorted(copies)[:-KEPT]:
            file.unlink()
    except (OSError, CampaignError) as error:
        with suppress(OSError):
            part.unlink()
        raise CampaignError(
            f"{place}: the copy of the database before its tables are updated cannot be written ({error}); free some "
            "space or restore the permissions of the folder"
        ) from error
