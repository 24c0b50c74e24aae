"""One server per campaign: a lock that ends with its process, and who holds it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from collection.core import clock, layout
from collection.core.characters import one_line
from collection.core.errors import CampaignError


@contextmanager
def hold(directory: Path) -> Iterator[Callable[[str], None]]:
    """Lock a campaign's directory for this server; the operating system releases the lock when the process ends.

    Yields a function that records the address of the server, for the message to a second one. Windows, and file systems
    without locks, allow a second server.

    Raises
    ------
    CampaignError
        There is no campaign, its directory cannot be written, or another server holds it; the message names the
        process, address and start of that server.
    """
    if not (directory / layout.DATABASE).is_file():
        raise CampaignError(f"there is no campaign in {directory}; create one with `cleverdon new {directory}`")
    if (outer := layout.outer_campaign(directory)) is not None:
        raise CampaignError(
            f"{directory} is a task of the campaign in {outer}, whose server shows its pages, too; run "
            f"`cleverdon serve {quote(str(outer))}`"
        )
    try:
        # Child processes do not inherit the handle, so none can outlive the server with the lock.
        handle = os.open(directory / layout.SERVER, os.O_RDWR | os.O_CREAT, layout.PRIVATE_FILE)
    except OSError as error:
        raise CampaignError(f"{directory / layout.SERVER}: cannot be written ({error.strerror or error})") from error
    try:
        if not layout.lock_file(handle):
            raise CampaignError(_holder(directory, os.read(handle, 10_000)))
        since = clock.now()

        def record(address: str) -> None:
            about = {"process": os.getpid(), "machine": platform.node(), "address": address, "since": since}
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, json.dumps(about).encode())

        record("")
        served = directory.resolve()
        layout.SERVED.add(served)
        try:
            yield record
        finally:
            layout.SERVED.discard(served)
    finally:
        os.close(handle)


def read_server(directory: Path) -> dict[str, str] | None:
    """Return ``address`` and ``since`` (ISO 8601) of the server that holds the lock, empty before it has said them.

    None if there is no server, or the file system has no locks.
    """
    if not layout.is_served_elsewhere(directory):
        return None
    try:
        about = _parsed((directory / layout.SERVER).read_bytes())
        return {name: one_line(about[name]) for name in ("address", "since")}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # between the lock and the record
        return {"address": "", "since": ""}


def _parsed(text: bytes) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(text)
    return about


def _holder(directory: Path, text: bytes) -> str:
    try:
        about = _parsed(text)
        at = f" at {one_line(about['address'])}" if about["address"] else ""
        since = f"{one_line(about['since'])[:16].replace('T', ' ')} UTC"
        holder = f"process {int(about['process'])} on {one_line(about['machine'])}{at} since {since}"
    except (ValueError, TypeError, KeyError):  # between the lock and the record
        holder = "another process, which is starting"
    return f"{directory} is already served by {holder}; use that server, or stop it first"
