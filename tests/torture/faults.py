"""What breaks under a running server, as context managers: broken inside, mended after."""

import errno
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from collection import Campaign
from collection.core.layout import DATABASE, FEATURES, RUNS
from tests.torture.server import Server

DAY = 24 * 3600


class Fault(NamedTuple):
    """Something that breaks a server.

    `says` is in the sentence that annotators are told; None: they notice nothing. `alert` is in one on page Compare.
    """

    broken: Callable[[Server], AbstractContextManager[None]]
    says: str | None = None
    alert: str = ""


@contextmanager
def limited_files(server: Server) -> Iterator[None]:
    """Let the server write no file beyond 4 kB, as a quota may."""
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def locked(server: Server, how: str = "IMMEDIATE") -> Iterator[None]:
    """Another program writes to the database and does not end."""
    with closing(sqlite3.connect(server.directory / DATABASE, isolation_level=None)) as other:
        other.execute(f"BEGIN {how}")
        other.execute("CREATE TABLE another (program)")
        yield
        other.execute("ROLLBACK")


@contextmanager
def read_only(server: Server) -> Iterator[None]:
    """Nobody may write the campaign's directory and files."""
    places = (server.directory, *server.directory.rglob("*"))
    before = {place: place.stat().st_mode for place in places}
    for place, mode in before.items():
        place.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for place, mode in before.items():
            if place.exists():
                place.chmod(mode)


@contextmanager
def without_run(server: Server) -> Iterator[None]:
    """A file of a run is deleted, and imported again from where it came."""
    next((server.directory / RUNS).glob("a.*.parquet")).unlink()
    yield
    with Campaign(server.directory) as campaign:
        file = server.directory.with_name(f"{server.directory.name}-files") / "a.run"
        campaign.imports.import_files(runs=[file], replace=True)


@contextmanager
def torn_features(server: Server) -> Iterator[None]:
    """The largest file of the features ends in its middle; nobody mends it."""
    tear_features(server.directory)
    yield


def tear_features(directory: Path) -> None:
    """Cut the largest file of the features in its middle."""
    found = (directory / FEATURES).glob("made-*/*.npy")
    largest = max(found, key=lambda file: file.stat().st_size)
    os.truncate(largest, largest.stat().st_size // 2)


def has_features(directory: Path) -> bool:
    """Whether the features are whole and of all documents."""
    with Campaign(directory) as campaign:
        return campaign.corpus.features.state().current


@contextmanager
def wrong_clock(server: Server, days: float) -> Iterator[None]:
    """The system clock is set by so many days, for less than ten minutes."""
    server.offset.write_text(str(days * DAY))
    yield
    server.offset.write_text("0")


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """A file system is full to its last byte."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    try:
        yield
    finally:
        filler.unlink()


def fill_but(disk: Path, room: int) -> None:
    """Leave so many bytes of a file system, in a file `filler`."""
    found = os.statvfs(disk)
    (disk / "filler").write_bytes(b"\0" * (found.f_bavail * found.f_frsize - room))


FAULTS = {
    "limited files": Fault(limited_files, "disk"),
    "a locked database": Fault(locked, "busy"),
    "a database locked for readers too": Fault(lambda server: locked(server, "EXCLUSIVE"), "busy"),
    "no permissions": Fault(read_only),  # the database is open
    "a deleted run": Fault(without_run, alert="is missing"),
    "torn features": Fault(torn_features),
    "a clock that is a year ahead": Fault(lambda server: wrong_clock(server, 400)),
    "a clock that is a year behind": Fault(lambda server: wrong_clock(server, -400)),
}
