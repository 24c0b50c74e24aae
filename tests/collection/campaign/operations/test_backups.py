"""Backups: complete, consistent while people judge, restored only as they were written."""

import errno
import hashlib
import io
import json
import re
import shutil
import stat
import threading
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

import collection.core.clock
from collection import Campaign
from collection.campaign.corpus import stored_runs
from collection.campaign.operations import backup_archive, backups, integrity
from collection.campaign.operations.backup_archive import OpenBackup
from collection.core import layout
from collection.core.errors import CampaignError, FormatError, InputError
from tests.helpers import GOLDEN, Clock, fails, join, make_unreadable, ok, run, unreadable_files

EXPORTS = {
    "qrels.txt": "--qrels",
    "judgements.jsonl": "--judgements",
    "choices.jsonl": "--choices",
    "collection": "--collection",
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def exported(directory: Path, folder: Path) -> dict[str, bytes]:
    """What `cleverdon export` writes; the card names the day and the directory's own path is nowhere."""
    folder.mkdir()
    for name, option in EXPORTS.items():
        more = ["--with-runs", "--name", "same"] if name == "collection" else []
        ok("export", directory, option, folder / name, *more)
    return contents(folder)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A campaign with rows in nearly every table, an image, runs, a key and settings of a provider."""
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "golden"))
    (directory / "sso.toml").write_text("client_secret = 'hush'\n")
    (directory / "exports").mkdir()
    (directory / "exports" / "old.txt").write_text("an export")
    (directory / "notes.txt").write_text("the user's own")
    with Campaign(directory) as campaign:
        campaign.operations.server_state.secret()
    return directory


@pytest.mark.slow
@pytest.mark.long
def test_a_restored_backup_exports_the_same_bytes_and_has_the_same_files(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection.core.clock, "now", lambda: "2026-11-25T12:00:00.000+00:00")  # exports say when
    said = ok("backup", golden, tmp_path / "b.zip")
    assert "Keep it as private as the campaign: it contains password hashes" in said
    assert "the key that signs cookies" in said
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    elsewhere = tmp_path / "other" / "place"
    assert "Restored the campaign Coffee and tea as of " in ok("restore", tmp_path / "b.zip", elsewhere)
    assert exported(golden, tmp_path / "first") == exported(elsewhere, tmp_path / "second")
    for name in (".secret", "sso.toml"):
        assert (elsewhere / name).read_bytes() == (golden / name).read_bytes()
    assert contents(elsewhere / "runs") == contents(golden / "runs")
    assert contents(elsewhere / "files") == contents(golden / "files")
    assert not (elsewhere / "notes.txt").exists()
    assert not any((elsewhere / "exports").iterdir())
    assert "No problems." in ok("check", elsewhere)
    for place in (elsewhere, *elsewhere.rglob("*")):
        assert place.stat().st_mode & 0o077 == 0, place


def test_secrets_can_be_left_out(golden: Path, tmp_path: Path) -> None:
    said = ok("backup", golden, tmp_path / "b.zip", "--without-secrets")
    assert said.endswith("it contains password hashes.\n")
    names = set(zipfile.ZipFile(tmp_path / "b.zip").namelist())
    assert "campaign.db" in names
    assert not {".secret", "sso.toml"} & names


def test_a_backup_does_not_migrate_or_change_the_campaign(tmp_path: Path, later_version: None) -> None:
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "old"))
    before = contents(directory)
    ok("backup", directory, tmp_path / "b.zip")
    after = contents(directory)
    assert {name: after[name] for name in before} == before
    assert after.keys() - before.keys() <= {"campaign.db-shm", "campaign.db-wal"}  # SQLite's own, to read


def test_embeddings_of_the_user_are_in_the_backup_and_computed_features_are_not(
    campaign: Campaign, tmp_path: Path
) -> None:
    campaign.corpus.features.update()
    backup_archive.write(campaign.directory, tmp_path / "computed.zip")
    names = zipfile.ZipFile(tmp_path / "computed.zip").namelist()
    assert not any(name.startswith("features/") for name in names)
    np.save(tmp_path / "own.npy", np.eye(8, dtype=np.float32))
    campaign.corpus.features.update(dense=tmp_path / "own.npy")
    backup_archive.write(campaign.directory, tmp_path / "own.zip")
    backup_archive.restore(tmp_path / "own.zip", tmp_path / "restored")
    with Campaign(tmp_path / "restored") as restored:
        assert restored.corpus.features.open().fingerprint == campaign.corpus.features.open().fingerprint
        assert restored.corpus.features.state().blocks == campaign.corpus.features.state().blocks


@pytest.mark.slow
def test_a_backup_while_people_judge_is_consistent(campaign: Campaign, tmp_path: Path) -> None:
    """Each backup has a prefix of the log, with its counts, whatever is written at the same time."""
    stop, failed = threading.Event(), []

    def judge() -> None:
        with Campaign(campaign.directory) as own:
            while not stop.is_set():
                for doc_id in ("d1", "d2", "d6"):
                    own.judging.judge("bob", "1", doc_id, 1)

    thread = threading.Thread(target=judge)
    thread.start()
    try:
        sizes = []
        for number in range(5):
            backup_archive.write(campaign.directory, tmp_path / f"{number}.zip")
            backup_archive.restore(tmp_path / f"{number}.zip", tmp_path / f"restored-{number}")
            with Campaign(tmp_path / f"restored-{number}") as restored:
                ids = [row[0] for row in restored.store.connection.execute("SELECT id FROM judgements ORDER BY id")]
                failed += [number] if ids != list(range(1, len(ids) + 1)) else []
                sizes.append(len(ids))
    finally:
        stop.set()
        join(thread, "the end of the judging")
    assert failed == []
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_a_damaged_database_is_not_backed_up(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    """Nor does it push intact backups out of the folder."""
    page = campaign.store.connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'pool_pair'")
    first, _ = backups.add(campaign.directory, tmp_path / "to", keep=1)
    campaign.store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    clock.passes(60)
    with (campaign.directory / layout.DATABASE).open("rb+") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(100))
    said = fails("backup", campaign.directory, "--to", tmp_path / "to", "--keep", 1)
    assert "is damaged, so no backup was made" in said
    assert list((tmp_path / "to").iterdir()) == [first.path]


def test_a_restore_that_fails_leaves_files_of_others(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else writes into the directory at the same time."""
    read = OpenBackup.read

    def write_and_fail(backup: OpenBackup, name: str, target: IO[bytes]) -> None:
        read(backup, name, target)
        (tmp_path / "restored" / "runs" / "mine.txt").write_text("mine")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(OpenBackup, "read", write_and_fail)
    assert "restored: cannot be written (No space left on device)" in fails("restore", archive, tmp_path / "restored")
    assert contents(tmp_path / "restored") == {"runs/mine.txt": b"mine"}


def test_a_missing_run_is_reported_and_the_rest_is_backed_up(campaign: Campaign, tmp_path: Path) -> None:
    (lost, *_) = sorted((campaign.directory / "runs").iterdir())
    lost.unlink()
    report = backup_archive.write(campaign.directory, tmp_path / "b.zip")
    problem = f"runs/{lost.name} is missing in the campaign, and so in the backup"
    assert report.problems == [f"{problem}; `cleverdon check {campaign.directory}` says what to do"]
    backup_archive.restore(tmp_path / "b.zip", tmp_path / "restored")
    with Campaign(tmp_path / "restored") as restored:
        assert len(restored.store.corpus.runs()) == 2


def test_a_run_that_is_replaced_meanwhile_is_in_the_backup_as_replaced(
    campaign: Campaign, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two imports come between the copy of the database and the reading of the runs; the second removes the file."""
    copy, times = backup_archive.copy_database, []

    def copy_and_import(source: Path, target: Path) -> None:
        copy(source, target)
        if not times:
            times.append(1)
            for score in (1, 2):
                (files / "a.run").write_text(f"1 Q0 d1 1 {score} alpha\n")
                ok("import", campaign.directory, "--run", files / "a.run", "--replace")

    monkeypatch.setattr(backup_archive, "copy_database", copy_and_import)
    report = backup_archive.write(campaign.directory, tmp_path / "b.zip")
    assert report.problems == []
    backup_archive.restore(tmp_path / "b.zip", tmp_path / "restored")
    with Campaign(tmp_path / "restored") as restored:
        (alpha,) = restored.corpus.runs(["alpha"])
        assert alpha.frame["score"].tolist() == [2.0]


# --- where a backup is written --------------------------------------------------------------------------


def test_an_existing_file_is_never_overwritten(campaign: Campaign, tmp_path: Path) -> None:
    for name in ("mine.zip", "link.zip"):
        (tmp_path / "mine.zip").write_text("mine")
        if name == "link.zip":
            (tmp_path / name).symlink_to(tmp_path / "nowhere")
        assert "expected a new file, found an existing one" in fails("backup", campaign.directory, tmp_path / name)
    assert (tmp_path / "mine.zip").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_appears_meanwhile_is_not_overwritten(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = layout.publish

    def write_before(part: Path, target: Path) -> None:
        target.write_text("mine")
        publish(part, target)

    monkeypatch.setattr(layout, "publish", write_before)
    with pytest.raises(InputError, match="found an existing one"):
        backup_archive.write(campaign.directory, tmp_path / "b.zip")
    assert (tmp_path / "b.zip").read_text() == "mine"


def test_a_full_disk_leaves_no_part(campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(layout, "publish", full)
    (tmp_path / "to").mkdir()
    said = fails("backup", campaign.directory, tmp_path / "to" / "b.zip")
    assert "b.zip: cannot be written (No space left on device)" in said
    assert list((tmp_path / "to").iterdir()) == []


def test_no_place_for_a_backup(campaign: Campaign, tmp_path: Path) -> None:
    assert "there is no folder" in fails("backup", campaign.directory, tmp_path / "none" / "b.zip")
    assert "belongs to the campaign" in fails("backup", campaign.directory, campaign.directory / "runs" / "b.zip")
    assert "found no file" in fails("backup", tmp_path / "nothing", tmp_path / "b.zip")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected either FILE or --to FOLDER"),
        (("b.zip", "--keep", 3), "need --to FOLDER"),
        (("--every-hours", 3), "--every-hours needs --schedule"),
        (("b.zip", "--schedule"), "--schedule makes no backup"),
    ],
)
def test_options_that_do_not_fit_are_refused(campaign: Campaign, arguments: tuple[object, ...], message: str) -> None:
    result = run("backup", campaign.directory, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


# --- which backups are kept -----------------------------------------------------------------------------


def test_the_newest_are_kept_and_files_of_others_stay(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    others = ["notes.txt", "campaign-0123456789ab-20200101-000000.zip", f"x-{campaign.id}-20200101-000000.tar"]
    for name in others:
        (folder / name).write_text("mine")
    (folder / f"campaign-{campaign.id}-20209999-000000.zip").write_text("no date")
    made = []
    for _ in range(4):
        report, removed = backups.add(campaign.directory, folder, keep=2)
        made.append(report.path)
        clock.passes(3600)
    assert removed == [made[1]]
    assert sorted(folder.glob(f"campaign-{campaign.id}-*-2001*.zip")) == made[2:]
    assert {name for name in others if (folder / name).read_text() == "mine"} == set(others)


@pytest.mark.parametrize(
    ("name", "other", "secrets", "others_secrets"),
    [
        ("a/wings", "b/wings", True, True),
        ("a/wings", "b/wings", False, False),
        ("wings", "wings-without-secrets", False, True),
        ("wings-without-secrets", "wings", True, False),
        ("a b", "a_b", True, True),
        ("a.b", "a.b-", True, True),
        ("Größe", "Gr-e", True, True),
        ("検索", "流体", True, True),
        ("w" * 250, "w" * 249 + "v", True, True),
        ("wings", "wings", True, False),
    ],
)
@pytest.mark.long
def test_no_backup_of_another_series_is_removed(
    campaign: Campaign, tmp_path: Path, clock: Clock, name: str, other: str, secrets: bool, others_secrets: bool
) -> None:
    """Copies have the id of the original, and names that look the same once they are names of files."""
    directories = [tmp_path / "d" / each for each in (name, other)]
    for directory in directories:
        shutil.copytree(campaign.directory, directory, dirs_exist_ok=True)
    made = [
        backups.add(directory, tmp_path / "to", secrets=with_secrets)[0].path
        for directory, with_secrets in zip(directories, (secrets, others_secrets), strict=True)
    ]
    clock.passes(3600)
    assert backups.add(directories[0], tmp_path / "to", keep=1, secrets=secrets)[1] == made[:1]
    assert made[1].exists()
    with backup_archive.open_backup(made[1]) as backup:
        about = backup.manifest
    assert (about.directory, about.with_secrets) == (str(directories[1]), others_secrets)


def test_a_backup_that_does_not_say_so_inside_is_not_removed(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    """Renamed by somebody, damaged, or made before backups said what they are of."""
    shutil.copytree(campaign.directory, tmp_path / "other")
    own, _ = backups.add(campaign.directory, tmp_path / "to")
    others, _ = backups.add(tmp_path / "other", tmp_path / "to")
    start = own.path.name.rpartition("-")[0].rpartition("-")[0]
    renamed = others.path.rename(tmp_path / "to" / f"{start}-20010101-000000.zip")
    damaged = own.path.with_name(f"{start}-20010102-000000.zip")
    damaged.write_bytes(own.path.read_bytes()[:500])
    former = own.path.with_name(f"{campaign.directory.name}-{campaign.id}-20010103-000000.zip")
    shutil.copy(own.path, former)
    clock.passes(3600)
    assert backups.add(campaign.directory, tmp_path / "to", keep=1)[1] == [own.path]
    assert all(each.exists() for each in (renamed, damaged, former))


def test_backups_from_before_names_had_a_digest_are_listed_and_restored(
    campaign: Campaign, tmp_path: Path, clock: Clock
) -> None:
    made, _ = backups.add(campaign.directory, campaign.directory / "backups")
    former = made.path.rename(made.path.with_name(f"{campaign.directory.name}-{campaign.id}-20010103-000000.zip"))
    assert [backup.path for backup in campaign.operations.backups.available()] == [former]

    def without_series(_: dict[str, bytes], about: dict[str, object]) -> None:
        del about["directory"], about["with_secrets"]

    assert backup_archive.restore(rewritten(former, without_series), tmp_path / "restored").directory is None


def test_backups_of_a_copy_or_without_secrets_push_out_no_others(
    campaign: Campaign, tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "backups"
    original, _ = backups.add(campaign.directory, folder, keep=1)
    clock.passes(3600)
    assert backups.add(campaign.directory, folder, keep=1, secrets=False)[1] == []
    backup_archive.restore(original.path, tmp_path / "copy")
    clock.passes(3600)
    assert backups.add(tmp_path / "copy", folder, keep=1)[1] == []
    assert original.path.exists()


def test_the_schedule_counts_neither_backups_of_a_copy_nor_those_without_secrets(
    campaign: Campaign, tmp_path: Path, clock: Clock
) -> None:
    campaign.operations.backups.set_settings(every_hours=24)
    backup_archive.write(campaign.directory, tmp_path / "b.zip")
    backup_archive.restore(tmp_path / "b.zip", tmp_path / "copy")
    folder = campaign.directory / "backups"
    (tmp_path / "copy" / "backups").symlink_to(folder)
    backups.add(campaign.directory, folder, secrets=False)
    with Campaign(tmp_path / "copy") as copy:
        made = copy.operations.backups.make_if_due()
        assert made is not None
        assert [backup.path.name for backup in copy.operations.backups.available()] == [made.path.name]
    assert campaign.operations.backups.available() == []
    assert campaign.operations.backups.make_if_due() is not None


def test_backups_of_a_damaged_campaign_push_out_no_good_ones(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    good, _ = backups.add(campaign.directory, tmp_path / "backups", keep=1)
    damage_a_run(campaign)
    clock.passes(3600)
    report, removed = backups.add(campaign.directory, tmp_path / "backups", keep=1)
    assert removed == []
    assert good.path.exists()
    assert "is not the file that was imported: its checksum differs; import the run again" in report.problems[0]


def damage_a_run(campaign: Campaign) -> Path:
    run = min((campaign.directory / "runs").iterdir())
    run.write_bytes(run.read_bytes() + b"junk")
    return run


@pytest.mark.parametrize("options", [("b.zip",), ("--to", "to"), ("--to", "to", "--keep", 1), ("b.zip", "--quiet")])
def test_a_damaged_run_is_a_problem_on_standard_error_and_the_backup_is_made(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[object, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    damaged = damage_a_run(campaign)
    result = run("backup", campaign.directory, *options)
    assert result.exit_code == 1, result.output
    assert re.search(rf"^problem: .*runs/{damaged.name} .*checksum differs; ", result.stderr, re.M)
    assert re.search(r"^note: the backup \S+\.zip was made", result.stderr, re.M)
    assert ("older ones are kept" in result.stderr) == ("--keep" in options)
    assert ("files, " in result.stdout) == ("--quiet" not in options)
    (made,) = [*tmp_path.glob("b.zip"), *(tmp_path / "to").glob("*.zip")]
    backup_archive.restore(made, tmp_path / "restored")


def test_a_damaged_or_missing_image_is_a_problem_of_the_backup(golden: Path, tmp_path: Path) -> None:
    (image,) = (golden / "files").iterdir()
    image.write_bytes(b"other")
    (problem,) = backup_archive.write(golden, tmp_path / "b.zip").problems
    assert problem.startswith(f"files/{image.name} is damaged in the campaign, and so in the backup: its checksum diff")
    image.unlink()
    (problem,) = backup_archive.write(golden, tmp_path / "c.zip").problems
    assert problem.startswith(f"files/{image.name} is missing in the campaign, and so in the backup; ")


@unreadable_files
def test_unreadable_files_are_named_and_the_rest_is_backed_up(golden: Path, tmp_path: Path) -> None:
    (image,) = (golden / "files").iterdir()
    (run_file, *_) = sorted((golden / "runs").iterdir())
    for file in (image, run_file, golden / ".secret"):
        make_unreadable(file)
    result = run("backup", golden, tmp_path / "b.zip")
    assert result.exit_code == 1, result.output
    for name in (f"files/{image.name}", f"runs/{run_file.name}", ".secret"):
        assert (
            f"problem: {name} cannot be read (Input/output error), so the backup lacks it; `cleverdon" in result.stderr
        )
    backup_archive.restore(tmp_path / "b.zip", tmp_path / "restored")
    assert not (tmp_path / "restored" / ".secret").exists()
    with Campaign(tmp_path / "restored") as restored:
        assert restored.title == "Coffee and tea"


def test_a_file_that_cannot_be_read_to_its_end_is_cut_in_the_backup(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Torn(io.FileIO):
        def readinto(self, buffer: Any, /) -> int | None:
            if self.tell():
                raise OSError(errno.EIO, "Input/output error")
            return super().readinto(memoryview(buffer)[:10])

    torn = min((campaign.directory / "runs").iterdir())
    opened = Path.open
    monkeypatch.setattr(backup_archive, "CHUNK", 10)
    monkeypatch.setattr(
        Path, "open", lambda path, *mode, **more: Torn(path) if path == torn else opened(path, *mode, **more)
    )
    (problem,) = backup_archive.write(campaign.directory, tmp_path / "b.zip").problems
    assert problem.startswith(f"runs/{torn.name} cannot be read (Input/output error), so the backup has a part of it; ")
    monkeypatch.undo()
    backup_archive.restore(tmp_path / "b.zip", tmp_path / "restored")
    assert (tmp_path / "restored" / "runs" / torn.name).read_bytes() == torn.read_bytes()[:10]


@pytest.mark.parametrize("content", ["", "no JSON"])
def test_damaged_embeddings_are_a_problem_of_the_backup(campaign: Campaign, tmp_path: Path, content: str) -> None:
    np.save(tmp_path / "own.npy", np.eye(8, dtype=np.float32))
    campaign.corpus.features.update(dense=tmp_path / "own.npy")
    meta = campaign.directory / "features" / "meta.json"
    meta.write_text(content)
    (problem,) = backup_archive.write(campaign.directory, tmp_path / "b.zip").problems
    assert problem.startswith("features/meta.json is damaged in the campaign, so the backup has no embeddings; ")
    meta.unlink()
    (problem,) = backup_archive.write(campaign.directory, tmp_path / "c.zip").problems
    assert problem.startswith("features/meta.json is missing in the campaign, and so in the backup; ")


def test_a_quiet_backup_of_an_intact_campaign_prints_nothing(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    for _ in range(2):
        result = run("backup", campaign.directory, "--to", tmp_path / "to", "--keep", 1, "--quiet")
        assert (result.exit_code, result.output) == (0, "")
        clock.passes(60)
    assert len(list((tmp_path / "to").iterdir())) == 1
    assert "found no file" in fails("backup", tmp_path / "none", "--to", tmp_path / "to", "--quiet")


def test_permissions_keep_no_old_backups(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    """On some file systems, such as exFAT, everybody can read every file."""
    (tmp_path / "disk").mkdir()
    (campaign.directory / "backups").symlink_to(tmp_path / "disk")
    campaign.operations.backups.set_settings(every_hours=1, keep=2)
    for _ in range(4):
        made = campaign.operations.backups.make_if_due()
        assert made is not None
        assert made.problems == []
        made.path.chmod(0o755)
        clock.passes(3600)
    assert "other users of this machine can read" in campaign.operations.backups.check()[0].sentence
    assert len(campaign.operations.backups.available()) == 2
    assert campaign.operations.backups.problem() is None


def test_old_ones_are_removed_by_age_but_never_the_newest(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    first, _ = backups.add(campaign.directory, tmp_path, keep_days=2)
    clock.passes(86_400)
    second, removed = backups.add(campaign.directory, tmp_path, keep_days=2)
    assert removed == []
    clock.passes(86_401)
    _, removed = backups.add(campaign.directory, tmp_path, keep_days=2)
    assert removed == [first.path]
    assert second.path.exists()


@pytest.mark.parametrize("keep", [1, 2])
def test_a_backup_made_with_a_wrong_clock_pushes_out_no_newer_one(
    campaign: Campaign, tmp_path: Path, clock: Clock, keep: int
) -> None:
    folder, start = tmp_path / "backups", clock.at
    ahead = []
    for days in (400, 401):
        clock.at = start + days * 86_400
        ahead.append(backups.add(campaign.directory, folder)[0].path)
    clock.at = start
    made = []
    for _ in range(3):
        made.append(backups.add(campaign.directory, folder, keep=keep)[0].path)
        clock.passes(86_400)
    assert set(folder.iterdir()) == set(made[-keep:])


def test_a_backup_made_with_a_wrong_clock_does_not_stop_the_schedule(campaign: Campaign, clock: Clock) -> None:
    start = clock.at
    campaign.operations.backups.set_settings(every_hours=24, keep=3)
    clock.at = start + 400 * 86_400
    assert campaign.operations.backups.make_if_due() is not None
    clock.at = start
    for _ in range(2):
        assert campaign.operations.backups.make_if_due() is not None
        assert campaign.operations.backups.make_if_due() is None
        clock.passes(86_400)


def test_what_a_killed_backup_left_is_removed_after_a_day(campaign: Campaign, tmp_path: Path, clock: Clock) -> None:
    left = tmp_path / f"{layout.SCRATCH}abc"
    left.mkdir()
    (left / "campaign.db").write_text("half")
    backups.add(campaign.directory, tmp_path)  # at a time of the past by the fixture's clock
    assert left.exists()
    clock.at = left.stat().st_mtime + 86_401
    backups.add(campaign.directory, tmp_path)
    assert not left.exists()


def test_the_schedule_makes_backups_by_age(campaign: Campaign, clock: Clock) -> None:
    own = campaign.operations.backups
    assert own.make_if_due() is None
    own.set_settings(every_hours=24, keep=2)
    first = own.make_if_due()
    assert first is not None
    assert first.path.parent == campaign.directory / "backups"
    assert own.make_if_due() is None
    for _ in range(3):
        clock.passes(24 * 3600)
        assert own.make_if_due() is not None
    assert len(own.available()) == 2
    assert not first.path.exists()


def test_the_command_shows_and_changes_the_schedule(campaign: Campaign) -> None:
    command = ("backup", campaign.directory, "--schedule")
    assert re.search(r"^--every-hours +0 .*\n--keep +7 .*\n--keep-days +unlimited ", ok(*command), re.M)
    ok(*command, "--every-hours", 24, "--keep-days", 30)
    ok(*command, "--keep", 3)
    assert campaign.operations.backups.settings() == backups.BackupSettings(24, 3, 30)
    assert campaign.operations.backups.available() == []
    campaign.store.settings.put("backup_problem", "2026-11-25 12:00 UTC: no backup was made: full")
    said = run(*command, "--keep-days", 0)
    assert said.stderr == "problem: 2026-11-25 12:00 UTC: no backup was made: full\n"
    assert campaign.operations.backups.settings().keep_days == 0


def test_a_problem_of_the_campaign_is_remembered_until_a_backup_has_none(campaign: Campaign, clock: Clock) -> None:
    campaign.operations.backups.set_settings(every_hours=1)
    damaged = damage_a_run(campaign)
    campaign.operations.backups.make_if_due()
    kept = "UTC: a backup was made, but the campaign has 1 problem, and older ones are kept: run 'alpha': runs/alpha."
    assert kept in str(campaign.operations.backups.problem())
    damaged.write_bytes(damaged.read_bytes().removesuffix(b"junk"))
    clock.passes(3600)
    campaign.operations.backups.make_if_due()
    assert campaign.operations.backups.problem() is None


def test_a_backup_that_fails_is_remembered_until_one_succeeds(campaign: Campaign, clock: Clock) -> None:
    campaign.operations.backups.set_settings(every_hours=1)
    (campaign.directory / "backups").write_text("a file")
    with pytest.raises(InputError):
        campaign.operations.backups.make_if_due()
    assert "cannot be created" in str(campaign.operations.backups.problem())
    (campaign.directory / "backups").unlink()
    campaign.operations.backups.make_if_due()
    assert campaign.operations.backups.problem() is None


@pytest.mark.parametrize("wrong", [{"keep": 0}, {"every_hours": -1}, {"keep_days": -1}])
def test_settings_out_of_range_are_refused(campaign: Campaign, wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(wrong))}: expected"):
        campaign.operations.backups.set_settings(**wrong)


# --- what is restored -----------------------------------------------------------------------------------


@pytest.fixture
def archive(campaign: Campaign, tmp_path: Path) -> Path:
    backup_archive.write(campaign.directory, tmp_path / "b.zip")
    return tmp_path / "b.zip"


def rewritten(archive: Path, change: Callable[[dict[str, bytes], dict[str, object]], None]) -> Path:
    """A copy with other members and another manifest."""
    with zipfile.ZipFile(archive) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    target = archive.with_name("changed.zip")
    with zipfile.ZipFile(target, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
        new.writestr("manifest.json", json.dumps(manifest))
    return target


def named(content: bytes) -> tuple[int, str]:
    return len(content), hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/evil", "runs/../../evil", "runs/evil.txt", "evil", "C:\\evil", ".ssh/keys", "files/a/b.png",
     "features/made-abcdefgh/../evil.npy", "exports/evil.txt", "backups/before-version-1.db", "campaign.db-wal"],
)  # fmt: skip
def test_names_that_a_campaign_does_not_have_are_refused(archive: Path, tmp_path: Path, name: str) -> None:
    def add(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        members[name] = b"evil"
        manifest["files"][name] = named(b"evil")  # type: ignore[index]

    refused(rewritten(archive, add), tmp_path, "expected only files of a campaign, found")


def refused(archive: Path, tmp_path: Path, message: str) -> None:
    before = set(tmp_path.rglob("*"))
    with pytest.raises(FormatError, match=message):
        backup_archive.restore(archive, tmp_path / "restored")
    assert set(tmp_path.rglob("*")) == before
    assert [finding for finding in integrity.check(archive) if finding.serious and re.search(message, finding.sentence)]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_folders_and_devices_are_refused(archive: Path, tmp_path: Path, kind: int) -> None:
    with zipfile.ZipFile(archive, "a") as changed:
        member = zipfile.ZipInfo("sso.toml")
        member.external_attr = (kind | 0o777) << 16
        changed.writestr(member, "/etc/passwd")
    refused(archive, tmp_path, "expected only files, found 'sso.toml', a link, folder or device")


def test_a_member_of_another_size_or_content_is_refused(archive: Path, tmp_path: Path) -> None:
    def longer(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        members["campaign.db"] += b"\0"

    def other(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        members["campaign.db"] = members["campaign.db"][:-1] + b"?"

    refused(rewritten(archive, longer), tmp_path, "in campaign.db, found")
    refused(rewritten(archive, other), tmp_path, "expected campaign.db with the checksum in manifest.json")


def test_a_bomb_is_read_no_further_than_its_size_in_the_manifest(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The zip's own directory understates the size, too: 20 MB of zeros are said to be 10 bytes."""

    def bomb(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        manifest["files"][".secret"] = (10, "0" * 64)  # type: ignore[index]

    changed = rewritten(archive, bomb)
    with zipfile.ZipFile(changed, "a", zipfile.ZIP_DEFLATED) as target:
        target.writestr(".secret", bytes(20_000_000))
        target.filelist[-1].file_size = 10
    read = zipfile.ZipExtFile.read
    sizes: dict[str, int] = {}

    def counted(self: zipfile.ZipExtFile, size: int | None = -1) -> bytes:
        content = read(self, size)
        sizes[self.name] = sizes.get(self.name, 0) + len(content)
        return content

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    refused(changed, tmp_path, "damaged or different")
    assert sizes.get(".secret", 0) <= 2 * 11  # by restoring and by checking


def test_a_backup_larger_than_the_disk_is_refused(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert "bytes of free disk space, found 1,000" in fails("restore", archive, tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda members, manifest: manifest.update(format=2), "expected a backup of format 1, found format 2"),
        (lambda members, manifest: manifest.pop("files"), "expected a valid manifest.json"),
        (lambda members, manifest: manifest.update(files={"campaign.db": 7}), "expected a valid manifest.json"),
        (
            lambda members, manifest: manifest["files"].update({"campaign.db": (-1, "")}),
            "expected a valid manifest.json",
        ),
        (lambda members, manifest: manifest["files"].pop("campaign.db"), "difference in 'campaign.db'"),
        (lambda members, manifest: members.pop("campaign.db"), "difference in 'campaign.db'"),
        (
            lambda members, manifest: (members.pop("campaign.db"), manifest["files"].pop("campaign.db")),
            "expected a backup with campaign.db, found none",
        ),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    archive: Path, tmp_path: Path, change: Callable[[Mapping[str, bytes], dict[str, object]], None], message: str
) -> None:
    refused(rewritten(archive, change), tmp_path, message)


def test_other_files_are_refused(archive: Path, tmp_path: Path) -> None:
    text, other, half = tmp_path / "text.zip", tmp_path / "other.zip", tmp_path / "half.zip"
    text.write_text("no archive")
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("manifest.json", "{}" + " " * 10_000_000)  # compressed: could be larger than memory
    half.write_bytes(archive.read_bytes()[:-100])
    for path, message in (
        (text, "damaged or different"),
        (other, "found another archive"),
        (half, "damaged or different"),
    ):
        refused(path, tmp_path, message)
    assert "found no such file" in fails("restore", tmp_path / "none.zip", tmp_path / "restored")


def test_two_members_of_one_name_are_refused(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "a") as changed, pytest.warns(UserWarning, match="Duplicate name"):
        changed.writestr("campaign.db", b"another")
    refused(archive, tmp_path, "two of the same name")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_a_flipped_byte_is_found_or_without_consequence(
    archive: Path, campaign: Campaign, tmp_path: Path, seed: int
) -> None:
    """Damage anywhere in the file: refused, or in a field that nothing reads, such as the time of a member."""
    random = np.random.default_rng(seed)
    content = bytearray(archive.read_bytes())
    content[random.integers(len(content))] ^= 1 << random.integers(8)
    archive.write_bytes(content)
    try:
        backup_archive.restore(archive, tmp_path / "restored")
    except FormatError:
        assert not (tmp_path / "restored").exists()
        return
    for folder in ("runs", "files"):
        assert contents(tmp_path / "restored" / folder) == contents(campaign.directory / folder)
    with Campaign(tmp_path / "restored") as restored:
        assert restored.title == campaign.title


def test_only_a_new_or_empty_directory_is_restored_into(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    assert "expected a new or empty directory" in fails("restore", archive, tmp_path / "full")
    assert contents(tmp_path / "full") == {"mine.txt": b"mine"}
    assert "expected a new or empty directory" in fails("restore", archive, tmp_path / "full" / "mine.txt")
    (tmp_path / "empty").mkdir()
    ok("restore", archive, tmp_path / "empty")
    assert (tmp_path / "empty" / layout.DATABASE).is_file()


def test_a_backup_of_a_newer_version_is_refused(campaign: Campaign, tmp_path: Path) -> None:
    campaign.store.connection.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('cleverdon', 'm099_later', '')"
    )
    assert "made by a newer Cleverdon" in fails("backup", campaign.directory, tmp_path / "b.zip")


def test_a_run_of_a_restored_campaign_is_read(archive: Path, tmp_path: Path) -> None:
    backup_archive.restore(archive, tmp_path / "restored")
    with Campaign(tmp_path / "restored") as restored:
        for recorded in restored.store.corpus.runs().to_dict("records"):
            assert len(stored_runs.read(restored.directory, recorded)) == recorded["rows"]


def test_a_campaign_without_a_database_raises(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="found no file"):
        backups.add(tmp_path, tmp_path / "to")
