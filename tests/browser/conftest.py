"""One browser for all browser tests of a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.chromium import HELP, find
from tests.browser.serving import Serving

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


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A window of its own, with nobody signed in."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def serving(built: tuple[Any, ...], tmp_path: Path) -> Iterator[Serving]:
    """A server on a fresh copy of the campaign that the module's own `built` names first."""
    shutil.copytree(built[0], tmp_path / "campaign")
    running = Serving(tmp_path / "campaign")
    yield running
    if running.process.poll() is None:
        running.stop()
