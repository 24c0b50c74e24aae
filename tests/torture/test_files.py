"""Run files and vectors that are deleted or torn while people judge."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from collection import Campaign
from collection.errors import StorageError
from collection.layout import RUNS, VECTORS
from tests.helpers import until
from tests.torture.annotators import judging, sentence_problems
from tests.torture.conftest import Campaigning, build, judged_on, many
from tests.torture.invariants import require_intact
from tests.torture.pages import draw, require_no_traceback


def require_goes_on(begun: Campaigning, *pages: str) -> None:
    """Fail unless everybody judges on and no page shows a traceback."""
    for annotator in begun.annotators:
        assert annotator.deliver()
        assert not annotator.troubles
    require_no_traceback(draw(begun.server.port, begun.manager, *pages))
    assert "Traceback" not in begun.server.printed(), begun.server.printed()[-3000:]
    require_intact(begun.server.directory, begun.annotators)


@pytest.mark.parametrize("task", many(("loop",), ("pool", "loop", "list")))
def test_a_deleted_run_is_named_until_it_is_imported_again(
    task: str, tmp_path: Path, campaigning: Callable[..., Campaigning]
) -> None:
    begun = campaigning(task)
    server, annotators, manager = begun
    with judging(annotators):
        judged_on(begun)
        next((server.directory / RUNS).glob("a.*.parquet")).unlink()
        judged_on(begun)
        drawn = draw(server.port, manager, "compare", "judge", *many((), ("pool", "loop", "recall", "reusability")))
        require_no_traceback(drawn)
        assert any("run 'a'" in text.replace("\\", "") and "is missing" in text for text in drawn["compare"].alerts)
        with Campaign(server.directory) as campaign:
            campaign.importer.import_files(runs=[tmp_path / "campaign-files" / "a.run"], replace=True)
        judged_on(begun)
    require_goes_on(begun, "compare")
    assert not draw(server.port, manager, "compare")["compare"].alerts


def torn(directory: Path) -> None:
    """Cut the largest file of the vectors in the middle."""
    largest = max((directory / VECTORS).glob("made-*/*.npy"), key=lambda file: file.stat().st_size)
    os.truncate(largest, largest.stat().st_size // 2)


def is_whole(directory: Path) -> bool:
    """Whether the vectors can be opened."""
    with Campaign(directory) as campaign:
        return campaign.features.state().current


@pytest.mark.parametrize("running", [True, False])
def test_torn_vectors_are_made_again(running: bool, campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning("loop")
    server, annotators, _ = begun
    rounds: dict[str, int] = {}

    def later_round() -> bool:
        return any(max(each.rounds, default=0) > rounds[each.name] + 1 for each in annotators)

    with judging(annotators):
        judged_on(begun)
        until(lambda: all(each.rounds for each in annotators), "rounds")
    if not running:
        server.stop(signal.SIGKILL)
    torn(server.directory)
    if not running:
        server.start()
    rounds |= {each.name: max(each.rounds) for each in annotators}
    with judging(annotators):
        until(later_round, "a round of new vectors")
        judged_on(begun)
        until(lambda: is_whole(server.directory), "whole vectors")
    for each in annotators:
        assert sentence_problems(each.troubles) == []
    require_goes_on(begun, "loop", "judge")


@pytest.mark.parametrize("part", many(("campaign.db-wal",), ("campaign.db-wal", "campaign.db-shm")))
def test_leftovers_of_a_killed_server_may_be_torn(part: str, campaigning: Callable[..., Campaigning]) -> None:
    """A log that ends in the middle of a frame, as a power cut leaves it: what was synced before is there."""
    begun = campaigning("pool")
    server, annotators, _ = begun
    with judging(annotators):
        judged_on(begun)
        server.stop(signal.SIGKILL)
    with (server.directory / part).open("ab") as file:
        file.write(os.urandom(3000))
    server.start()
    with judging(annotators):
        judged_on(begun)
    for annotator in annotators:
        until(annotator.deliver, "an answer")
    require_intact(server.directory, annotators)


UPDATE = """
import sys
from collection import Campaign
from collection.errors import CleverdonError
with Campaign(sys.argv[1]) as campaign:
    try:
        campaign.features.update()
    except CleverdonError as error:
        sys.exit(str(error))
"""


def test_vectors_that_find_no_room_leave_nothing_behind(small_disk: Path) -> None:
    """However much room there is, the process ends with a sentence, and its unfinished files are gone."""
    directory = small_disk / "campaign"
    build(directory, "pool").close()
    filler = small_disk / "filler"
    said = set()
    for room in range(300_000, 1_300_000, many(150_000, 40_000)):
        free = os.statvfs(small_disk)
        filler.write_bytes(b"\0" * (free.f_bavail * free.f_frsize - room))
        done = subprocess.run([sys.executable, "-c", UPDATE, directory], capture_output=True, text=True, check=False)
        filler.unlink()
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        said.add(done.returncode)
        if done.returncode:
            assert "cannot be written" in done.stderr
            assert not any((directory / VECTORS).iterdir())
        else:
            break
    assert said == {0, 1}


def test_an_import_that_finds_no_room_changes_nothing(small_disk: Path, tmp_path: Path) -> None:
    with build(small_disk / "campaign", "pool") as campaign:
        before = campaign.corpus.run_names()
        lines = [f"t1 Q0 d{document % 600} {document} {-document} c\n" for document in range(1, 500)]
        (tmp_path / "c.run").write_text("".join(lines))
        free = os.statvfs(small_disk)
        (small_disk / "filler").write_bytes(b"\0" * (free.f_bavail * free.f_frsize - 4096))
        with pytest.raises(StorageError, match="free some space"):
            campaign.importer.import_files(runs=[tmp_path / "c.run"])
        (small_disk / "filler").unlink()
        assert campaign.corpus.run_names() == before
        assert campaign.importer.import_files(runs=[tmp_path / "c.run"])
