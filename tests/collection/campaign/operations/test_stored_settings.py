"""Damaged settings and foreign databases: named by `check`, refused in one sentence by everything else."""

import json
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from collection.campaign import Campaign
from collection.campaign.operations import backup_archive, stored_settings
from collection.campaign.operations.backups import BackupSettings
from tests.collection.campaign.operations.test_backups import named
from tests.helpers import Opened, fails, first_of, ok, run, words

WRONG: tuple[Any, ...] = (None, True, -7, 1e99, "text", [], [1], {"x": []}, {"mode": 5}, [[["deep"]]])


def damage(campaign: Campaign, name: str, value: str) -> None:
    with closing(sqlite3.connect(campaign.directory / "campaign.db")) as db, db:
        db.execute("INSERT INTO settings VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2", (name, value))


@pytest.mark.slow
@pytest.mark.parametrize("value", first_of(["{", "", "nothing", "[" * 5000, *map(json.dumps, WRONG)], 3))
@pytest.mark.parametrize("name", stored_settings.FORMS)
def test_a_damaged_setting_is_named_and_stops_everything_in_one_sentence(
    campaign: Campaign, name: str, value: str
) -> None:
    damage(campaign, name, value)
    stored = stored_settings.find_damage(campaign.store.settings.all())
    if not stored:
        ok("status", campaign.directory)  # what it is may be meant
        return
    assert list(stored) == [name]
    assert f"the setting '{name}': {stored[name]}" in " ".join(run("check", campaign.directory).stdout.split())
    assert f"the setting '{name}' is damaged: {stored[name]}" in fails("status", campaign.directory)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "status",
        "recall",
        "agreement",
        "duplicates",
        "assign",
        "judging-page",
        "loop",
        "features",
        "people",
        "system-order",
    ],
)
def test_every_command_says_it_in_one_sentence(campaign: Campaign, command: str) -> None:
    damage(campaign, "loop", '{"control": "often"}')
    assert "the setting 'loop' is damaged: control: expected a number, found 'often'" in fails(
        command, campaign.directory
    )


@pytest.mark.parametrize("page", ["overview", "recall", "judge"])
def test_a_page_says_it_in_one_sentence(opened: Opened, campaign: Campaign, page: str) -> None:
    campaign.people.accounts.add("ann", "manager")
    damage(campaign, "loop", '{"control": "often"}')
    app = opened(campaign, page)
    assert "the setting 'loop' is damaged: control: expected a number, found 'often'" in words(app)


def test_settings_with_values_out_of_range_are_damaged() -> None:
    found = stored_settings.find_damage(
        {
            "id": "a",
            "title": "b",
            "grades": {"0": "No", "1": "Yes"},
            "loop": {"target": 7},
            "card": {"list_size": 10**9},
        }
    )
    assert list(found) == ["loop", "card"]
    assert found["loop"].startswith("target: expected a share")


def test_a_campaign_with_a_damaged_setting_is_backed_up_as_it_is(campaign: Campaign, tmp_path: Path) -> None:
    damage(campaign, "features", '{"blocks": 3}')
    backup_archive.write(campaign.directory, tmp_path / "b.zip")
    assert "the setting 'features'" in " ".join(run("check", tmp_path / "b.zip").stdout.split())


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
FOREIGN = {
    "an endless view": f"DROP TABLE settings; CREATE VIEW settings AS {ENDLESS} CAST(i AS TEXT) key, '1' value FROM n",
    "another view": f"CREATE VIEW more AS {ENDLESS} i FROM n",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON topics BEGIN DELETE FROM documents; END",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(text)",
    "a generated column": "ALTER TABLE topics ADD COLUMN big AS (length(zeroblob(9)))",
    "an expression in an index": "CREATE INDEX heavy ON topics (hex(zeroblob(9)))",
    "a check": "CREATE TABLE c (x CHECK (length(hex(zeroblob(9))) > x))",
    "a different index": "DROP INDEX pool_pair; CREATE INDEX pool_pair ON pool (doc)",
    "an endless view of versions": f"ALTER TABLE _sqlite_migrations RENAME TO m; CREATE VIEW _sqlite_migrations AS "
    f"{ENDLESS} i id, 'cleverdon' migration_set, 'x' name, '' applied_at FROM n",
    "a missing table": "PRAGMA foreign_keys = OFF; DROP TABLE texts",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_backup_with_other_tables_is_refused_before_they_are_read(
    campaign: Campaign, tmp_path: Path, kind: str
) -> None:
    """Nothing of it is run: SQLite would look at an endless view for ever."""
    archive = rewritten(campaign, tmp_path, lambda db: db.executescript(FOREIGN[kind]))
    said = fails("restore", archive, tmp_path / "restored")
    assert "expected the tables of a campaign, found" in said
    assert not (tmp_path / "restored" / "campaign.db").exists()
    assert "expected the tables of a campaign, found" in " ".join(run("check", archive).stdout.split())


def test_statistics_of_sqlite_are_no_other_tables(campaign: Campaign, tmp_path: Path) -> None:
    archive = rewritten(campaign, tmp_path, lambda db: db.executescript("ANALYZE"))
    backup_archive.restore(archive, tmp_path / "restored")


def rewritten(campaign: Campaign, folder: Path, change: Callable[[sqlite3.Connection], object]) -> Path:
    """A backup whose database was changed, with a manifest that fits."""
    backup_archive.write(campaign.directory, folder / "b.zip")
    with zipfile.ZipFile(folder / "b.zip") as old:
        members = {name: old.read(name) for name in old.namelist()}
    (folder / "changed.db").write_bytes(members["campaign.db"])
    with closing(sqlite3.connect(folder / "changed.db")) as db:
        change(db)
    members["campaign.db"] = (folder / "changed.db").read_bytes()
    about = json.loads(members.pop("manifest.json"))
    about["files"]["campaign.db"] = named(members["campaign.db"])
    with zipfile.ZipFile(folder / "changed.zip", "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
        new.writestr("manifest.json", json.dumps(about))
    return folder / "changed.zip"


def test_grades_that_only_look_like_numbers_are_damage() -> None:
    found = stored_settings.find_damage({"id": "a", "title": "b", "grades": {"0": "no", "--1": "yes"}})
    assert found == {"grades": "expected whole numbers as grades, found ['--1', '0']"}


def test_fields_of_the_schedule_from_another_version_are_left_alone(campaign: Campaign) -> None:
    damage(campaign, "backups", '{"every_hours": 5, "keep_weeks": 2}')
    assert stored_settings.find_damage(campaign.store.settings.all()) == {}
    assert (campaign.operations.backups.settings().every_hours, campaign.operations.backups.settings().keep) == (
        5,
        BackupSettings.keep,
    )
