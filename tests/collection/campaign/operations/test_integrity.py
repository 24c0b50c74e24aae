"""`cleverdon check`: each kind of damage is found, says what to do, and nothing is written."""

import errno
import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from collection import Campaign
from collection.campaign.corpus import stored_runs
from collection.campaign.operations import backup_archive, integrity
from collection.core.records import Finding
from tests.helpers import GOLDEN, fails, make_unreadable, ok, run, unreadable_files


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A campaign with runs, an image and features, as this version keeps it."""
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "golden"))
    with Campaign(directory) as campaign:
        campaign.operations.server_state.secret()
    return directory


def change(directory: Path, sql: str) -> None:
    with closing(sqlite3.connect(directory / "campaign.db")) as database:
        database.execute(sql)
        database.commit()


def only(found: list[Finding]) -> Finding:
    (one,) = found
    return one


def test_an_intact_campaign_has_no_findings(golden: Path) -> None:
    assert ok("check", golden) == "No problems.\n"
    assert json.loads(ok("check", golden, "--format", "json")) == {"problems": 0, "findings": []}


def test_findings_are_the_same_beside_a_writer_and_nothing_is_written(golden: Path) -> None:
    with Campaign(golden) as campaign, campaign.transaction():
        campaign.store.settings.put("tour", True)
        before = {file: file.stat().st_mtime_ns for file in golden.rglob("*") if not file.name.endswith("-shm")}
        assert integrity.check(golden) == []
        assert {file: file.stat().st_mtime_ns for file in before} == before


def test_an_earlier_version_is_a_note_and_is_not_migrated(tmp_path: Path, later_version: None) -> None:
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "old"))
    for place in (directory, *directory.rglob("*")):
        place.chmod(0o700 if place.is_dir() else 0o600)
    before = (directory / "campaign.db").read_bytes()
    said = ok("check", directory)
    assert said.startswith("Note: The tables have version 1, of an earlier Cleverdon; the next command that opens ")
    assert (directory / "campaign.db").read_bytes() == before
    assert not (directory / "backups").exists()


def test_a_newer_version_is_a_problem(golden: Path) -> None:
    change(golden, "INSERT INTO _sqlite_migrations VALUES (99, 'cleverdon', 'm099_later', '')")
    found = only(integrity.check(golden))
    assert found.serious
    assert "update Cleverdon to open this campaign" in found.sentence


def corrupt(path: Path, at: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[at : at + 100] = bytes(100)
    path.write_bytes(content)


def root_page(directory: Path, name: str) -> int:
    with closing(sqlite3.connect(directory / "campaign.db")) as database:
        return int(database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]).fetchone()[0])


def of_runs(directory: Path) -> Path:
    return sorted((directory / "runs").iterdir())[0]


def of_images(directory: Path) -> Path:
    return next((directory / "files").iterdir())


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a missing run": (
        lambda d: of_runs(d).unlink(),
        r"run 'bm25': runs/bm25\S+ is missing; import the run again: `cleverdon import \S+ --run FILE --replace`",
    ),
    "a damaged run": (lambda d: corrupt(of_runs(d), 50), "is not the file that was imported: its checksum differs"),
    "a damaged image": (lambda d: corrupt(of_images(d)), r"1 image \(\S+\) has another content than when imported"),
    "a missing image": (lambda d: of_images(d).unlink(), r"1 image \(\S+\) of documents is missing; import the "),
    "a database without a header": (lambda d: corrupt(d / "campaign.db"), "that cannot be read .* restore a backup"),
    "a damaged page": (
        lambda d: corrupt(d / "campaign.db", (root_page(d, "pool_pair") - 1) * 4096),
        "campaign.db is damaged: .*; restore a backup with `cleverdon restore FILE NEW`",
    ),
    "a page of the runs": (
        lambda d: corrupt(d / "campaign.db", (root_page(d, "runs") - 1) * 4096),
        "that cannot be read .* restore a backup",
    ),
    "a row that names a missing row": (
        lambda d: change(d, "DELETE FROM documents WHERE doc = (SELECT doc FROM pool LIMIT 1)"),
        r"campaign.db is damaged: \d+ of the rows in the table \w+ name a missing row of documents",
    ),
    "a short key": (lambda d: (d / ".secret").write_text("short"), r"\.secret is damaged; delete it to get a new key"),
    "an open file": (
        lambda d: of_runs(d).chmod(0o644),
        "other users of this machine can read bm25.* run `chmod -R go=",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_a_problem_that_says_what_to_do(golden: Path, name: str) -> None:
    damage, message = DAMAGE[name]
    if name in ("a damaged page", "a page of the runs", "a database without a header"):
        change(golden, "PRAGMA journal_mode = DELETE")  # nothing of the database in another file
    damage(golden)
    result = run("check", golden)
    assert result.exit_code == 1, result.output
    findings = json.loads(run("check", golden, "--format", "json").stdout)["findings"]

    assert [found for found in findings if found["serious"] and re.search(message, found["sentence"])], findings
    assert "Problem: " in result.stdout


@unreadable_files
def test_an_unreadable_image_does_not_hide_other_problems(golden: Path) -> None:
    (image,) = (golden / "files").iterdir()
    make_unreadable(image)
    of_runs(golden).unlink()
    found = [finding.sentence for finding in integrity.check(golden)]
    assert len(found) == 2
    assert "is missing; import the run again" in found[0]
    assert found[1].startswith(f"1 image ({image.name}) cannot be read; look at the disk, or delete it and import the")


def test_a_folder_that_cannot_be_listed_does_not_hide_other_problems(
    golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_folder = Path.iterdir

    def fail(folder: Path) -> Any:
        if folder.name == "files":
            raise OSError(errno.EIO, "Input/output error", str(folder))
        return list_folder(folder)

    corrupt(of_runs(golden), 50)
    monkeypatch.setattr(Path, "iterdir", fail)
    found = {finding.sentence for finding in integrity.check(golden)}
    unlisted = f"{golden / 'files'} cannot be read (Input/output error); look at the disk and at its permissions"
    assert found == {unlisted, next(each for each in found if "its checksum differs" in each)}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_a_problem(golden: Path) -> None:
    os.chown(golden / ".secret", 1234, 1234)
    assert "1 file (.secret) belongs to another user than" in only(integrity.check(golden)).sentence


def test_orphans_and_unknown_files_are_notes(golden: Path, tmp_path: Path) -> None:
    """Cleverdon removes its own, as the run that an import replaced, and leaves files of the user alone."""
    (tmp_path / "bm25.run").write_text("1 Q0 d1 1 1 bm25\n")
    ok("import", golden, "--run", tmp_path / "bm25.run", "--replace")
    orphan = golden / "files" / f"{hashlib.sha256().hexdigest()}.png"
    orphan.touch(0o600)
    (golden / "runs" / "mine.parquet").write_text("mine")
    (golden / "files" / "mine.png").write_text("mine")
    for name in ("notes.txt", "features/old.npy.bak", "backups/mine.zip", "scripts/a.py", "exports/a.txt"):
        (golden / name).parent.mkdir(exist_ok=True)
        (golden / name).write_text("mine")
    for name in (".server.json", "backups/.cleverdon-backup-x"):  # of a server, and of a backup
        (golden / name).write_text("")
        (golden / name).chmod(0o600)
    result = run("check", golden)
    assert result.exit_code == 0, result.output
    notes = [line for line in result.stdout.splitlines() if line.startswith("Note: ")]
    assert len(notes) == 3
    assert "1 file in runs belongs to no run (bm25" in notes[0]
    assert "belongs to no document; you may delete it" in notes[1]
    unknown = "(notes.txt, scripts/, runs/mine.parquet and 3 more); backups leave them out."
    assert notes[2] == f"Note: 6 files or folders in {golden} do not belong to the campaign {unknown}"
    for name in ("scripts/a.py", "runs/mine.parquet", "files/mine.png", "features/old.npy.bak", "backups/mine.zip"):
        (golden / name).unlink()
    (golden / "scripts").rmdir()
    elsewhere = (golden / "backups").rename(tmp_path / "elsewhere")
    (elsewhere / "of-another-program.txt").write_text("")
    (golden / "backups").symlink_to(elsewhere)
    said = ok("check", golden)
    assert said.endswith("does not belong to the campaign (notes.txt); backups leave it out.\nNo problems.\n")


def test_a_run_that_is_replaced_during_the_check_is_no_problem(golden: Path, tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("1 Q0 d1 1 1 bm25\n")
    imported: list[int] = []

    def replace_twice(what: str, done: int, total: int | None) -> None:
        if not imported:
            imported.append(done)
            for name in ("dense", "dense"):
                (tmp_path / "dense.run").write_text(f"1 Q0 d1 1 {len(imported)} {name}\n")
                imported.append(done)
                ok("import", golden, "--run", tmp_path / "dense.run", "--replace")

    found = integrity.check(golden, replace_twice)
    assert len(imported) == 3
    assert [finding for finding in found if finding.serious] == []


def test_features_of_other_documents_are_a_note_unless_they_have_embeddings(campaign: Campaign, tmp_path: Path) -> None:
    campaign.corpus.features.update()
    shutil.copytree(campaign.directory / "features", tmp_path / "before")
    assert integrity.check(campaign.directory) == []
    np.save(tmp_path / "own.npy", np.eye(8, dtype=np.float32))
    campaign.corpus.features.update(dense=tmp_path / "own.npy")
    assert integrity.check(campaign.directory) == []
    shutil.rmtree(campaign.directory / "features")
    shutil.copytree(tmp_path / "before", campaign.directory / "features")
    found = only(integrity.check(campaign.directory))
    assert found.serious
    assert found.sentence.startswith("the features were built from other documents (8 rows); provide your embeddings")
    shutil.rmtree(campaign.directory / "features")
    assert "missing or damaged; provide your embeddings again" in only(integrity.check(campaign.directory)).sentence
    campaign.store.settings.put("features", campaign.store.settings.get("features") | {"blocks": ["words"]})
    found = only(integrity.check(campaign.directory))
    assert not found.serious
    assert "they are built again when the loop needs them" in found.sentence


def test_names_stay_as_they_are(golden: Path) -> None:
    (golden / ".secret").write_text("short")
    change(golden, "DELETE FROM documents WHERE doc = (SELECT doc FROM pool LIMIT 1)")
    said = run("check", golden).stdout
    assert "Problem: .secret is damaged; delete it" in said
    assert "Problem: campaign.db is damaged: " in said


# --- backups --------------------------------------------------------------------------------------------


@pytest.fixture
def backup(golden: Path, tmp_path: Path) -> Path:
    return backup_archive.write(golden, tmp_path / "b.zip").path


def test_an_intact_backup_has_no_findings_and_leaves_nothing(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    before = backup.read_bytes()
    reports: list[tuple[str, int, int | None]] = []
    assert integrity.check(backup, lambda *report: reports.append(report)) == []
    assert reports[-1] == ("reading the backup", 6, 6)
    assert backup.read_bytes() == before
    assert list((tmp_path / "scratch").iterdir()) == []


IN_A_BACKUP = [
    *("a missing run", "a damaged run", "a damaged image", "a missing image", "a short key"),
    "a row that names a missing row",
]


@pytest.mark.parametrize("name", IN_A_BACKUP)
def test_a_backup_of_a_damaged_campaign_has_its_problem(golden: Path, tmp_path: Path, name: str) -> None:
    damage, message = DAMAGE[name]
    damage(golden)
    backup_archive.write(golden, tmp_path / "b.zip")
    result = run("check", tmp_path / "b.zip")
    assert result.exit_code == 1, result.output
    message = re.sub("; (import|delete)", r"; after restoring, \1", message).replace(r"\S+ --run", "DIR --run")
    assert re.search(f"^Problem: .*{message}", result.stdout, re.M | re.I), result.stdout


def test_only_one_run_of_a_backup_is_unpacked_at_a_time(
    golden: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_problem, unpacked = stored_runs.find_problem, []

    def looked_at(folder: Path, recorded: Mapping[Hashable, Any]) -> str | None:
        unpacked.append(sorted(file.name for file in (folder / "runs").iterdir()))
        return find_problem(folder, recorded)

    monkeypatch.setattr(stored_runs, "find_problem", looked_at)
    integrity.check(backup)
    assert unpacked == [[file.name] for file in sorted((golden / "runs").iterdir())]


def test_every_damaged_file_of_a_backup_is_a_problem(golden: Path, backup: Path) -> None:
    content = bytearray(backup.read_bytes())
    for file in (of_runs(golden), of_images(golden)):
        content[content.index(file.read_bytes()) + 20] ^= 1
    backup.write_bytes(content)
    result = run("check", backup)
    assert result.exit_code == 1
    assert result.stderr == ""
    damaged = r"^Problem: The backup \S+b\.zip: expected an intact (\w+)/\S+, found a damaged .*; use another one\.$"
    assert re.findall(damaged, result.stdout, re.M) == ["runs", "files"]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_backup_is_a_problem(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "my backup").write_bytes(content)
    result = run("check", tmp_path / "my backup")
    assert result.exit_code == 1
    assert result.stdout.startswith(f"Problem: The backup {tmp_path}/my backup: expected a backup")
    assert json.loads(run("check", tmp_path / "my backup", "--format", "json").stdout)["problems"] == 1


def test_a_backup_of_a_newer_version_is_a_problem(golden: Path, backup: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(backup) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(golden, "PRAGMA journal_mode = DELETE")
    change(golden, "INSERT INTO _sqlite_migrations VALUES (99, 'cleverdon', 'm099_later', '')")
    members["campaign.db"] = (golden / "campaign.db").read_bytes()
    manifest = json.loads(members["manifest.json"])
    manifest["files"]["campaign.db"] = [len(members["campaign.db"]), hashlib.sha256(members["campaign.db"]).hexdigest()]
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(backup, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    sentence = only(integrity.check(backup)).sentence
    assert sentence.startswith("campaign.db: expected tables of version ")
    assert "update Cleverdon" in sentence


def test_a_backup_that_others_can_read_is_a_problem(backup: Path) -> None:
    backup.chmod(0o640)
    found = integrity.check(backup)[0]
    assert found == Finding(
        True, f"other users of this machine can read b.zip; run `chmod go= {backup}`", "permissions"
    )


def test_a_backup_that_has_no_room_to_be_unpacked(backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(backup.parent)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    said = fails("check", backup)
    assert f"bytes of free disk space to unpack {backup}, found 1,000; name a folder on another disk" in said


def test_embeddings_in_a_backup_are_checked(campaign: Campaign, tmp_path: Path) -> None:
    np.save(tmp_path / "own.npy", np.eye(8, 2000, dtype=np.float32))
    campaign.corpus.features.update(dense=tmp_path / "own.npy")
    backup_archive.write(campaign.directory, tmp_path / "own.zip")
    assert integrity.check(tmp_path / "own.zip") == []
    with campaign.transaction():
        campaign.store.settings.put("features", campaign.store.settings.get("features") | {"fingerprint": "other"})
    backup_archive.write(campaign.directory, tmp_path / "other.zip")
    said = only(integrity.check(tmp_path / "other.zip")).sentence
    assert said.startswith(
        "the features were built from other documents (8 rows); after restoring, provide your embedd"
    )
    shutil.rmtree(campaign.directory / "features")
    report = backup_archive.write(campaign.directory, tmp_path / "none.zip")
    assert "features/meta.json is missing in the campaign, and so in the backup" in report.problems[0]
    assert "the features are missing or damaged; after" in only(integrity.check(tmp_path / "none.zip")).sentence


def test_no_campaign(tmp_path: Path) -> None:
    assert "there is no campaign in" in fails("check", tmp_path)
    assert "none.zip: expected the directory of a campaign or a backup" in fails("check", tmp_path / "none.zip")
