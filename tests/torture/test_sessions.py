"""Sessions of pages that come and go."""

import http.client
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import PATIENCE, THOROUGH, until
from tests.torture.conftest import Campaigning, many
from tests.torture.pages import open_page

pytestmark = pytest.mark.long

SPARE = 6.0
"""Megabytes by which memory may grow in the long form; 400 sessions that stay have 24."""


def test_sessions_that_are_closed_leave_nothing_behind(campaigning: Callable[..., Campaigning]) -> None:
    """Streamlit keeps up to 128 closed sessions for two minutes: only what comes after them shows a leak of memory."""
    server, _, manager = campaigning("pool", annotators=1)

    def come_and_go(times: int) -> float:
        for _ in range(times):
            for page in ("judge", "compare"):
                with open_page(server.port, manager, page):
                    pass
        until(lambda: active(server.port, manager) == 0, "the end of the sessions")
        return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    before = come_and_go(many(5, 100))
    if THOROUGH:
        assert come_and_go(200) - before < SPARE


def active(port: int, cookie: str) -> int:
    """Open sessions, as Streamlit counts them."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_stcore/metrics", headers={"Cookie": cookie})
        lines = connection.getresponse().read().decode().splitlines()
    finally:
        connection.close()
    return next(int(line.split()[1]) for line in lines if line.startswith("active_sessions "))
