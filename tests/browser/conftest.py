"""One browser for all browser tests of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import HELP, find

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium. Without one the tests fail: a skipped browser test has shown nothing."""
    path = find()
    if path is None:
        pytest.fail(HELP)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()
