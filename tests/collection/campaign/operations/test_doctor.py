"""The part of `cleverdon doctor` about a campaign: each problem really occurs, is found, and says what to do."""

import os
import re
import shutil
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from collection import Campaign
from collection.campaign.operations import backups, doctor, server_lock, server_state
from collection.campaign.operations.doctor import examine_campaign
from collection.core.records import Finding
from collection.store import schema_version
from tests.collection.campaign.operations.test_integrity import change, corrupt, of_runs, root_page
from tests.collection.campaign.operations.test_server_lock import other_server
from tests.helpers import GOLDEN, Clock, small_file_system


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A campaign in order, with a backup."""
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "golden"))
    with Campaign(directory) as campaign:
        campaign.operations.server_state.secret()
        campaign.operations.backups.make()
    return directory


def sentences(findings: list[Finding], *, serious: bool = True) -> list[str]:
    return [finding.sentence for finding in findings if finding.serious == serious]


def problem(directory: Path) -> str:
    """The one problem of a campaign."""
    (one,) = sentences(examine_campaign(directory).findings)
    return one


def test_a_campaign_in_order(golden: Path) -> None:
    facts, findings = examine_campaign(golden)
    assert findings == []
    assert facts["folder"] | {"free": 0, "file_system": ""} == {
        "writable": True, "free": 0, "own": True, "permissions": "700", "file_system": "",
    }  # fmt: skip
    with Campaign(golden) as campaign:
        state = campaign.results.overview.status()
    database = facts["database"]
    counts = database["counts"]
    assert {name: counts[name] for name in ("topics", "runs", "pool")} == {
        n: state[n] for n in ("topics", "runs", "pool")
    }
    assert (counts["documents"], counts["accounts"], counts["choices"], counts["preferences"]) == (13, 5, 4, 7)
    version = (database["version"], database["current"], database["being_written"])
    assert version == (schema_version.latest(), True, False)
    assert database["last_decision"].startswith("2026-03-")
    assert database["backups"]["number"] == 1
    assert facts["server"] == {"running": False}
    assert facts["check"] == {"problems": {}, "notes": {}}


def test_a_campaign_without_a_backup_is_a_note(golden: Path) -> None:
    shutil.rmtree(golden / "backups")
    _, findings = examine_campaign(golden)
    (note,) = sentences(findings, serious=False)
    assert note.startswith("the campaign's folder has no backup; `cleverdon docs operations/backup` says how")
    assert sentences(findings) == []


@pytest.mark.parametrize("name", ["none", "golden/campaign.db", "golden/runs"])
def test_there_is_no_campaign(golden: Path, name: str) -> None:
    assert problem(golden.parent / name).startswith("there is no campaign in the directory; check its name, or create")


def no_longer_in_a_log(directory: Path) -> None:
    change(directory, "PRAGMA journal_mode = DELETE")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "header": (lambda d: corrupt(d / "campaign.db"), "1 problem: database"),
    "page": (lambda d: corrupt(d / "campaign.db", (root_page(d, "pool_pair") - 1) * 4096), "database"),
    "settings": (lambda d: corrupt(d / "campaign.db", (root_page(d, "settings") - 1) * 4096), "database"),
    "run": (lambda d: of_runs(d).unlink(), "1 problem: runs"),
    "key": (lambda d: (d / ".secret").write_text("short"), "1 problem: key"),
    "permissions": (lambda d: of_runs(d).chmod(0o644), "1 problem: permissions"),
    "setting": (lambda d: change(d, "UPDATE settings SET value = '{' WHERE key = 'card'"), "1 problem: database"),
    "newer": (lambda d: change(d, "INSERT INTO _sqlite_migrations VALUES (99, 'cleverdon', 'm9', '')"), "database"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_left_to_the_command_that_describes_it(golden: Path, name: str) -> None:
    damage, parts = DAMAGE[name]
    no_longer_in_a_log(golden)
    damage(golden)
    facts, findings = examine_campaign(golden)
    (said,) = sentences(findings)
    assert said.startswith("`cleverdon check DIR` finds ")
    assert f"{parts}" in said
    assert "; run it to see what to do about " in said
    assert facts["database"]["bytes"] > 0
    assert "counts" in facts["database"] or "database" in parts


def test_an_earlier_version_is_not_migrated(golden: Path, later_version: None) -> None:
    facts, findings = examine_campaign(golden)
    assert facts["database"]["current"] is False
    assert facts["check"]["notes"] == {"database": 1}
    assert sentences(findings) == []
    assert examine_campaign(golden).facts["database"]["version"] == schema_version.latest() - 1


@contextmanager
def transaction(directory: Path, how: str) -> Iterator[None]:
    with closing(sqlite3.connect(directory / "campaign.db", isolation_level=None)) as other:
        other.execute(f"BEGIN {how}")
        yield
        other.execute("ROLLBACK")


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_locked_database(golden: Path, how: str) -> None:
    with transaction(golden, how):
        facts, findings = examine_campaign(golden)
    assert findings == []
    assert facts["database"]["being_written"] is True
    assert facts["database"]["counts"]["topics"] == 4


def test_a_database_that_is_locked_for_readers_as_well(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_version, "LOCKED_SECONDS", 0.1)
    no_longer_in_a_log(golden)
    with transaction(golden, "EXCLUSIVE"):
        facts, findings = examine_campaign(golden)
    assert facts["database"]["readable"] is False
    assert sentences(findings)[0].startswith("`cleverdon check DIR` finds 1 problem: database")


def test_a_directory_of_another_user(golden: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for place in (golden, *golden.rglob("*")):
        os.chown(place, 12345, 12345)
    said = "the campaign's directory belongs to another user than the one that runs this command; run commands as the"
    assert problem(golden).startswith(said)


def test_a_directory_that_cannot_be_entered(golden: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can enter everywhere")
    golden.chmod(0)
    said = problem(golden)
    golden.chmod(0o700)
    assert said.startswith("the campaign's directory cannot be read (Permission denied); run this as the user that ")


def test_a_directory_without_permission(golden: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can write everywhere")
    (golden / "campaign.db").chmod(0o400)
    assert problem(golden) == "campaign.db cannot be written; run `chmod u+w` on it"
    golden.chmod(0o500)
    said = problem(golden)
    golden.chmod(0o700)
    assert said.startswith("the campaign's directory cannot be written (Permission denied); make its directory and ")


def test_a_full_disk(golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_file_system(tmp_path / "disk", "2m") as disk:
        directory = Path(shutil.copytree(golden, disk / "campaign"))
        _, findings = examine_campaign(directory)
        assert re.fullmatch(
            r"the campaign's directory has only [\d.]+ MB of free space; free some", sentences(findings)[0]
        )
        assert not any(each.startswith("the disk has") for each in sentences(findings, serious=False))
        with pytest.raises(OSError, match="No space left"), (disk / "filler").open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        monkeypatch.setattr(doctor, "LEAST_FREE_BYTES", 0)
        facts, findings = examine_campaign(directory)
        assert facts["database"]["counts"]["topics"] == 4
    assert any(
        "cannot be written (No space left on device); make its directory" in each for each in sentences(findings)
    )
    assert sentences(findings, serious=False)[0].startswith(
        "the disk has 0 bytes of free space, and a copy of the database needs 3"
    )


def test_a_disk_that_can_only_be_read(golden: Path, tmp_path: Path) -> None:
    with small_file_system(tmp_path / "disk", "2m") as disk:
        directory = Path(shutil.copytree(golden, disk / "campaign"))
        assert os.system(f"mount -o remount,ro {disk}") == 0
        facts, findings = examine_campaign(directory)
        assert facts["database"]["counts"]["topics"] == 4
        assert facts["folder"]["writable"] is False
    assert sentences(findings)[0].startswith("the campaign's directory cannot be written (Read-only file system); make")


def test_a_network_file_system(golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mounts"
    monkeypatch.setattr(doctor, "MOUNTS", table)
    assert examine_campaign(golden).facts["folder"]["file_system"] is None
    place = str(golden.resolve()).replace("golden", r"\147olden")
    table.write_text(f"/dev/sda1 / ext4 rw 0 0\nserver:/x {place} nfs4 rw 0 0\nnone /proc proc rw 0 0\n")
    assert doctor.file_system(golden.parent, table) == "ext4"
    assert problem(golden).startswith("the campaign is on a network file system (nfs4), where SQLite may damage its ")


# --- backups and the server -----------------------------------------------------------------------------


def test_a_late_backup(golden: Path, clock: Clock) -> None:
    shutil.rmtree(golden / "backups")
    with Campaign(golden) as campaign:
        campaign.operations.backups.set_settings(every_hours=6)
        campaign.operations.backups.make()
    clock.passes(11 * 3600)
    assert examine_campaign(golden).findings == []
    clock.passes(2 * 3600)
    said = "the server should make a backup of the directory every 6 hours, but the newest was made 13 hours ago; start"
    assert problem(golden).startswith(said)


def test_a_backup_is_not_late_if_nobody_has_judged_since(golden: Path, clock: Clock) -> None:
    shutil.rmtree(golden / "backups")
    clock.at = 2e9
    with Campaign(golden) as campaign:
        campaign.operations.backups.set_settings(every_hours=6)
        campaign.operations.backups.make()
    clock.passes(72 * 3600)
    assert examine_campaign(golden).findings == []


def test_no_scheduled_backup(golden: Path) -> None:
    """Backups whose names may be of another directory do not count."""
    with Campaign(golden) as campaign:
        campaign.operations.backups.set_settings(every_hours=6)
        (backup,) = campaign.operations.backups.available()
        old = backup.path.rename(backup.path.with_name(re.sub(r"-[0-9a-f]{12}-(?=\d{8}-)", "-", backup.path.name)))
        assert [each.path for each in campaign.operations.backups.available()] == [old]
    said = "the server should make a backup of the directory every 6 hours, but it has none; start the server, or"
    assert problem(golden).startswith(said)


def test_a_failed_backup(golden: Path) -> None:
    with Campaign(golden) as campaign:
        campaign.store.settings.put("backup_problem", "secret")
    said = "the last scheduled backup failed or had problems; `cleverdon backup DIR --schedule` says why"
    assert problem(golden) == said


def test_backups_are_those_that_the_campaign_lists(golden: Path) -> None:
    with Campaign(golden) as campaign:
        listed = campaign.operations.backups.available()
        assert backups.list_backups(golden, campaign.id) == listed
    assert len(listed) == 1


@contextmanager
def answering(status: int, text: str) -> Iterator[str]:
    """The address of a server that gives this answer to everybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == server_state.HEALTH
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (200, "OK\n", []),
        (
            503,
            "The database cannot be read.\n",
            ["the server has a problem: The database cannot be read; restart it if that remains"],
        ),
        (0, "", ["the server has a problem: it cannot be reached (Connection refused); restart it if that remains"]),
    ],
)
def test_a_running_server(
    golden: Path, status: int, answer: str, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_lock.layout, "is_served_elsewhere", lambda directory: True)
    with answering(status or 200, answer) as running:
        address = running if status else "http://127.0.0.1:1"
        (golden / ".server.json").write_text(f'{{"address": "{address}", "since": "2026-03-01T10:00:00+00:00"}}')
        (golden / ".server.json").chmod(0o600)
        facts, findings = examine_campaign(golden)
    assert sentences(findings) == said
    assert facts["server"]["running"]
    assert facts["server"]["since"] == "2026-03-01T10:00:00+00:00"


def test_a_server_that_does_not_answer(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ANSWER_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert doctor._ask(f"http://127.0.0.1:{silent.getsockname()[1]}") == "it does not answer within 0 seconds"


@pytest.mark.parametrize("written", ["", "[]", '{"address": "https://judging.example.org", "since": "x"}'])
def test_a_server_that_is_not_asked(golden: Path, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is starting, or has an address that may be on another machine."""
    monkeypatch.setattr(server_lock.layout, "is_served_elsewhere", lambda directory: True)
    (golden / ".server.json").write_text(written)
    (golden / ".server.json").chmod(0o600)
    facts, findings = examine_campaign(golden)
    assert findings == []
    assert facts["server"]["answer"] is None


@pytest.mark.slow
@pytest.mark.long
def test_the_lock_of_a_server(golden: Path) -> None:
    with other_server(golden) as process:
        server = server_lock.read_server(golden)
        assert server is not None
        assert server["address"] == "http://127.0.0.1:8501"
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
    assert server_lock.read_server(golden) is None
