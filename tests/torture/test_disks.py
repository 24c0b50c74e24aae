"""A full disk, a limit on files, a read-only directory, and a database that another program holds."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from collection.layout import DATABASE
from tests.helpers import until
from tests.torture.annotators import judging, sentence_problems
from tests.torture.conftest import TASKS, Campaigning, judged_on, many
from tests.torture.invariants import require_intact
from tests.torture.pages import draw, require_no_traceback

PAGES = many(("", "judge", "loop", "people", "export"), ())
"""Pages that are drawn while something is broken; () is all of them."""


@contextmanager
def full(disk: Path, server_pid: int) -> Iterator[None]:
    """Fill a file system to its last byte."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        try:
            while True:
                os.write(file.fileno(), b"\0" * 4096)
        except OSError as error:
            assert error.errno == 28
    try:
        yield
    finally:
        filler.unlink()


def require_recovery(begun: Campaigning, says: str) -> None:
    """Fail unless the annotators were told what is wrong, and their decisions are saved now that nothing is."""
    server, annotators, manager = begun
    troubles = [trouble for annotator in annotators for trouble in annotator.troubles]
    assert sentence_problems(troubles) == []
    told = {text for status, text in troubles if status == 503}
    assert told
    assert all(says in text for text in told), told
    with judging(annotators):
        judged_on(begun)
    for annotator in annotators:
        until(annotator.deliver, "an answer")
        assert not annotator.outbox
    require_no_traceback(draw(server.port, manager, *PAGES))
    assert "Traceback" not in server.printed(), server.printed()[-3000:]
    server.stop(signal.SIGKILL)
    require_intact(server.directory, annotators)


def told(begun: Campaigning) -> bool:
    """Whether annotators were told of a failure."""
    return sum(status == 503 for annotator in begun.annotators for status, _ in annotator.troubles) > 5


@pytest.mark.parametrize("task", many(("loop",), TASKS))
def test_a_full_disk_stops_saves_and_nothing_else(
    task: str, small_disk: Path, campaigning: Callable[..., Campaigning]
) -> None:
    begun = campaigning(task, directory=small_disk / "campaign")
    with judging(begun.annotators):
        judged_on(begun)
        with full(small_disk, begun.server.pid):
            until(lambda: told(begun), "an error")
            require_no_traceback(draw(begun.server.port, begun.manager, *PAGES))
        judged_on(begun)
    require_recovery(begun, "disk")


@pytest.mark.parametrize("task", many(("pool",), TASKS))
def test_a_limit_on_files_stops_saves_and_nothing_else(task: str, campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning(task)
    with judging(begun.annotators):
        judged_on(begun)
        with begun.server.limited_files(4096):
            until(lambda: told(begun), "an error")
            require_no_traceback(draw(begun.server.port, begun.manager, *PAGES))
        judged_on(begun)
    require_recovery(begun, "disk")


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Take from everybody the permission to write a campaign's directory and files."""
    before = {place: place.stat().st_mode for place in (directory, *directory.rglob("*"))}
    for place, mode in before.items():
        place.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for place, mode in before.items():
            if place.exists():
                place.chmod(mode)


def test_a_read_only_directory_is_named_and_served_again_when_it_is_writable(
    campaigning: Callable[..., Campaigning],
) -> None:
    begun = campaigning("pool")
    server, annotators, manager = begun
    with judging(annotators):
        judged_on(begun)
        with read_only(server.directory):
            judged_on(begun)  # the files are open
            require_no_traceback(draw(server.port, manager, *PAGES))
            server.stop(signal.SIGKILL)
            before = len(server.printed())
            with pytest.raises(AssertionError):
                server.start()
            printed = server.printed()[before:]
            assert "Traceback" not in printed
            assert "writ" in printed
        server.start()
        judged_on(begun)
    for annotator in annotators:
        until(annotator.deliver, "an answer")
    require_intact(server.directory, annotators)


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
@pytest.mark.parametrize("task", many(("pool",), TASKS))
def test_a_locked_database_delays_saves(how: str, task: str, campaigning: Callable[..., Campaigning]) -> None:
    begun = campaigning(task)
    with judging(begun.annotators):
        judged_on(begun)
        with closing(sqlite3.connect(begun.server.directory / DATABASE, isolation_level=None)) as other:
            other.execute(f"BEGIN {how}")
            other.execute("CREATE TABLE another (program)")
            until(lambda: told(begun), "an error")
            require_no_traceback(draw(begun.server.port, begun.manager, *PAGES))
            other.execute("ROLLBACK")
        judged_on(begun)
    require_recovery(begun, "busy")
