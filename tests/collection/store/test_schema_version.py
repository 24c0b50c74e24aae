"""Migrations: in one transaction after a copy, and never of a newer version."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from collection import schema
from collection.core.errors import BusyError, CampaignError
from collection.store import Inspection, Store, connection, schema_version
from tests.helpers import GOLDEN, ROOT, plant_migrations

OLD = 1
"""Version of the tables of the golden campaign."""


@pytest.fixture
def path(tmp_path: Path, later_version: None) -> Path:
    """A database of an earlier version than the program's."""
    shutil.copy(GOLDEN / "campaign-0.1.0" / "campaign.db", tmp_path)
    return tmp_path / "campaign.db"


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return list(database.iterdump())


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("SELECT count(*) FROM _sqlite_migrations").fetchone()[0])


def test_a_copy_of_the_old_database_is_kept(path: Path) -> None:
    before = dump(path)
    Store(path).close()
    copy = path.parent / "backups" / f"before-version-{schema_version.latest()}.db"
    assert [file.name for file in copy.parent.iterdir()] == [copy.name]
    assert dump(copy) == before
    assert copy.stat().st_mode & 0o077 == 0
    assert version(path) == schema_version.latest() > OLD


def test_a_new_database_and_a_current_one_have_no_copy(tmp_path: Path) -> None:
    for _ in range(2):
        Store(tmp_path / "campaign.db", create=True).close()
    assert not (tmp_path / "backups").exists()


def test_only_the_newest_copies_are_kept_and_files_of_others_stay(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_migrations(monkeypatch, 9)
    folder = path.parent / "backups"
    folder.mkdir()
    for name in ("before-version-3.db", "before-version-7.db", "before-version-9.db", "before-version-2.db.gz"):
        (folder / name).write_text(name)
    Store(path).close()
    newest = f"before-version-{schema_version.latest()}.db"
    assert {file.name for file in folder.iterdir()} == {
        "before-version-7.db", "before-version-9.db", newest, "before-version-2.db.gz"
    }  # fmt: skip


def test_a_copy_that_cannot_be_written_prevents_the_migration(path: Path) -> None:
    before = dump(path)
    (path.parent / "backups").write_text("a file of somebody")
    with pytest.raises(CampaignError, match=r"the copy of the database .* cannot be written"):
        Store(path)
    assert dump(path) == before
    assert (path.parent / "backups").read_text() == "a file of somebody"


def test_a_failing_migration_leaves_the_old_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those migrations that ran before it."""
    before = dump(path)

    def fail(db: Database) -> None:
        db.execute("DROP TABLE skips")
        raise sqlite3.OperationalError("planted")

    planted = schema.migrations._Migration("m999_failing", fail)
    with monkeypatch.context() as patch:
        patch.setattr(schema.migrations, "_migrations", [*schema.migrations._migrations, planted])
        with pytest.raises(CampaignError, match="planted"):
            Store(path)
        assert version(path) == OLD
        assert dump(path) == before
    Store(path).close()
    assert version(path) == schema_version.latest()


KILLED = """
import os, signal, sys
from collection import schema
from collection.store import Store

schema.SCRIPTS["m900_planted"] = ""

@schema.migrations(name="m900_planted")
def planted(db):
    db.execute("PRAGMA cache_size = 1")  # so that pages reach the disk before the commit
    db.execute("UPDATE documents SET text = text || hex(randomblob(100000))")
    db.execute("DROP TABLE skips")
    os.kill(os.getpid(), signal.SIGKILL)

Store(sys.argv[1])
"""


@pytest.mark.slow
def test_a_migration_that_is_killed_leaves_the_old_version(path: Path) -> None:
    before = dump(path)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED, path], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert version(path) == OLD
    assert dump(path) == before
    assert dump(path.parent / "backups" / f"before-version-{schema_version.latest()}.db") == before
    Store(path).close()
    assert version(path) == schema_version.latest()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            "INSERT INTO _sqlite_migrations VALUES (99, 'cleverdon', 'm099_later', '')",
            r"found version 2, made by a newer Cleverdon; update Cleverdon",
        ),
        # Databases of development versions have a migration of this name, and others.
        ("UPDATE _sqlite_migrations SET name = 'm001_campaign'", "made by a development version from before the first"),
        (
            "INSERT INTO _sqlite_migrations VALUES (2, 'cleverdon', 'm002_list', ''); "
            "UPDATE _sqlite_migrations SET name = 'm001_campaign' WHERE id = 1",
            "made by a development version from before the first",
        ),
    ],
)
def test_another_version_is_refused_and_nothing_is_written(path: Path, change: str, error: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.executescript(change)
        database.commit()
    before = path.read_bytes()
    with pytest.raises(CampaignError, match=error):
        Store(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_database_of_something_else_is_refused_and_keeps_its_journal_mode(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE birds (name TEXT)")
        database.commit()
    before = path.read_bytes()
    with pytest.raises(CampaignError, match="expected the database of a campaign, found another one"):
        Store(path)
    assert path.read_bytes() == before


def test_a_migration_waits_for_nobody_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="another process is using the campaign"):
            Store(path)
    Store(path).close()


def test_two_processes_that_open_an_old_campaign_migrate_it_once(path: Path) -> None:
    """The second finds nothing to do once it has the lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        db = Database(raw)
        Store(path).close()
        at = (path.parent / "backups" / f"before-version-{schema_version.latest()}.db").stat().st_mtime_ns
        schema_version.migrate(db, path)  # as after `pending` was asked too early
        assert (path.parent / "backups" / f"before-version-{schema_version.latest()}.db").stat().st_mtime_ns == at
    assert version(path) == schema_version.latest()


def test_a_database_is_read_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "campaign.db", create=True) as store, store.transaction():
        store.settings.put("grades", {"0": "no", "1": "yes"})
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Inspection(tmp_path / "campaign.db") as inspection:
        assert inspection.damage() == []
        assert [file.name for file in tmp_path.iterdir()] == ["campaign.db"]
