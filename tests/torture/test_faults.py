"""Disks, files, locks and clocks that fail under a running server, one after another."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from collection import Campaign
from collection.core import clock
from collection.core.errors import StorageError
from collection.core.layout import DATABASE, FEATURES
from tests.helpers import until
from tests.torture.annotators import Annotator, Grader, judging, rounds_of, sentence_problems, use_link
from tests.torture.conftest import TASKS, Campaigning, built, judged_on, many
from tests.torture.faults import FAULTS, Fault, fill_but, full, has_features, read_only, tear_features
from tests.torture.invariants import require_intact
from tests.torture.pages import draw, require_no_failure

pytestmark = pytest.mark.long

PAGES = many(("", "judge"), ())
"""Pages that are drawn while something is broken; () is all of them."""


MORE = ("a database locked for readers too", "a clock that is a year behind")
"""Faults of the long form only."""


def troubles_of(annotators: list[Annotator]) -> set[tuple[int, str]]:
    """What failed requests were answered."""
    return {trouble for annotator in annotators for trouble in annotator.troubles}


def require_judging_goes_on(begun: Campaigning, fault: Fault) -> None:
    """Break and mend something while people judge: fail unless they are told, and all that they decided is saved."""
    server, annotators, manager = begun
    for annotator in annotators:
        annotator.troubles.clear()
    status = 0
    with Campaign(server.directory) as campaign:
        link = campaign.people.accounts.make_signin_link("boss")
    with judging(annotators):
        judged_on(begun)
        with fault.broken(server):
            if fault.says is None:
                judged_on(begun)
            else:
                until(lambda: sum(len(annotator.troubles) for annotator in annotators) > 5, "an error")
                status, page = use_link(server.port, link)
                # A full disk may have room for this; writers that fail may hold the lock longer than a request waits.
                said = page.rpartition('role="alert">')[2].partition("<")[0]
                assert status == 303 or (status == 503 and (fault.says in said or "busy" in said)), (status, said)
            drawn = draw(server.port, manager, *PAGES, *(["compare"] if fault.alert and PAGES else []))
            require_no_failure(drawn)
            if fault.alert and isinstance(annotators[0], Grader):
                assert any(fault.alert in text for text in drawn["compare"].alerts), drawn["compare"]
            assert bool(troubles_of(annotators)) == (fault.says is not None), troubles_of(annotators)
        judged_on(begun)
    troubles = troubles_of(annotators)
    assert sentence_problems(list(troubles)) == []
    said = fault.says or "busy"  # mending may hold the lock for longer than the server waits here
    assert all(status == 503 and said in text for status, text in troubles), troubles
    assert status == 303 or use_link(server.port, link)[0] == 303  # the link was not used up
    for annotator in annotators:
        until(annotator.deliver, "an answer")
        assert not annotator.outbox


@pytest.mark.parametrize("task", many(("loop",), TASKS))
def test_faults_one_after_another(task: str, campaigning: Callable[..., Campaigning]) -> None:
    begun, first = campaigning(task), clock.now()
    for name, fault in FAULTS.items():
        if (name == "torn features" and task != "loop") or name in many(MORE, ()):
            continue
        require_judging_goes_on(begun, fault)
        assert "Traceback" not in begun.server.printed(), f"{name}: {begun.server.printed()[-3000:]}"
    require_no_failure(draw(begun.server.port, begun.manager, *PAGES))
    if task == "loop":
        until(lambda: has_features(begun.server.directory), "whole features")
    begun.server.stop(signal.SIGKILL)
    require_intact(begun.server.directory, begun.annotators)
    with Campaign(begun.server.directory) as campaign:
        tasks, log = campaign.store.topic_tasks, campaign.store.judgements.table(current=False)
        times = pd.concat([log, tasks.choices(current=False), tasks.preferences(current=False)])["judged_at"]
    assert times.between(first, clock.now()).all()


@pytest.mark.parametrize("task", many(("loop",), TASKS))
def test_a_full_disk_stops_saves_and_nothing_else(
    task: str, small_disk: Path, campaigning: Callable[..., Campaigning]
) -> None:
    begun = campaigning(task, directory=small_disk / "campaign")
    for _ in range(many(1, 5)):
        require_judging_goes_on(begun, Fault(lambda _: full(small_disk), "disk"))
    assert "Traceback" not in begun.server.printed(), begun.server.printed()[-3000:]
    begun.server.stop(signal.SIGKILL)
    require_intact(begun.server.directory, begun.annotators)


def test_a_page_that_fails_is_noticed(campaigning: Callable[..., Campaigning]) -> None:
    server, _, manager = campaigning("pool", annotators=1)
    with closing(sqlite3.connect(server.directory / DATABASE, isolation_level=None)) as database:
        database.execute("ALTER TABLE memberships RENAME TO hidden")
    with pytest.raises(AssertionError, match="people"):
        require_no_failure(draw(server.port, manager, "people"))


def test_a_server_that_cannot_write_says_so(campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning("pool")
    server, annotators, _ = begun
    with judging(annotators):
        judged_on(begun)
        with read_only(server):
            server.stop(signal.SIGKILL)
            before = len(server.printed())
            with pytest.raises(AssertionError):
                server.start()
            printed = server.printed()[before:]
            assert "Traceback" not in printed
            assert "cannot be written" in printed
        server.start()
        judged_on(begun)
    for annotator in annotators:
        until(annotator.deliver, "an answer")
    require_intact(server.directory, annotators)


def test_torn_files_of_a_killed_server_are_made_again(campaigning: Callable[..., Campaigning]) -> None:
    """Features cut in their middle, and a log that ends in random bytes, as a power cut leaves them."""
    begun = campaigning("loop")
    server, annotators, _ = begun
    with judging(annotators):
        judged_on(begun)
        server.stop(signal.SIGKILL)
    before = rounds_of(annotators)
    tear_features(server.directory)
    with (server.directory / "campaign.db-wal").open("ab") as file:
        file.write(bytes(range(256)) * 11)
    server.start()
    with judging(annotators):
        until(lambda: rounds_of(annotators) > before + 5, "rounds of new features")
    for annotator in annotators:
        until(annotator.deliver, "an answer")
    assert has_features(server.directory)
    require_intact(server.directory, annotators)


UPDATE = """
import sys
from collection import Campaign
from collection.core import clock
from collection.core.errors import CleverdonError
with Campaign(sys.argv[1]) as campaign:
    try:
        campaign.corpus.features.update()
    except CleverdonError as error:
        sys.exit(str(error))
"""


def test_features_that_find_no_room_leave_nothing_behind(small_disk: Path) -> None:
    """However much room there is, the process ends with a sentence, and its unfinished files are gone."""
    directory = small_disk / "campaign"
    built("pool", directory)
    codes = set()
    for room in many((700_000, 1_600_000), range(300_000, 1_600_000, 40_000)):
        fill_but(small_disk, room)
        done = subprocess.run([sys.executable, "-c", UPDATE, directory], capture_output=True, text=True, check=False)
        (small_disk / "filler").unlink()
        codes.add(done.returncode)
        assert done.returncode in (0, 1), done.stderr
        if done.returncode:
            assert "cannot be written" in done.stderr
            assert "Traceback" not in done.stderr
            assert not any((directory / FEATURES).iterdir())
        else:
            break
    assert codes == {0, 1}


@pytest.mark.parametrize("room", [4096, 8192])
def test_an_import_that_finds_no_room_changes_nothing(small_disk: Path, tmp_path: Path, room: int) -> None:
    """There is no room for the run file, or for the database when the import is committed."""
    built("pool", small_disk / "campaign")
    lines = [f"t1 Q0 d{document % 600} {document} {-document} c\n" for document in range(1, 500)]
    (tmp_path / "c.run").write_text("".join(lines))
    with Campaign(small_disk / "campaign") as campaign:
        fill_but(small_disk, room)
        with pytest.raises(StorageError, match="free some space"):
            campaign.imports.import_files(runs=[tmp_path / "c.run"])
        (small_disk / "filler").unlink()
        assert campaign.store.corpus.runs()["run"].tolist() == ["a", "b"]
        assert not list((small_disk / "campaign" / "runs").glob("c.*"))
        campaign.imports.import_files(runs=[tmp_path / "c.run"])
        assert campaign.store.corpus.runs()["run"].tolist() == ["a", "b", "c"]
