"""One browser for all browser tests of a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.card_harness import Desk, Harness
from tests.browser.card_page import Card, MakeCard, make_cards
from tests.browser.chromium import HELP, find
from tests.browser.serving import Serving
from tests.browser.task_harness import TaskCard
from tests.browser.waiting import MILLISECONDS
from tests.browser.windows import Windows

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
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Windows:
    """Windows for all browser tests of a run."""
    return Windows(browser)


@pytest.fixture
def make_window(windows: Windows) -> Iterator[Callable[..., BrowserContext]]:
    """Gives windows with nobody signed in and nothing stored; see :meth:`~tests.browser.windows.Windows.lend`."""
    yield windows.lend
    windows.take_back()


@pytest.fixture
def context(make_window: Callable[..., BrowserContext]) -> BrowserContext:
    """A window with nobody signed in and nothing stored."""
    return make_window()


@pytest.fixture(scope="module")
def serving(built: tuple[Any, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server on a copy of the campaign that the module's own `built` names first.

    The tests of a module share it: each takes topics or annotators of its own, and starts again what it kills.
    """
    directory = tmp_path_factory.mktemp("served") / "campaign"
    shutil.copytree(built[0], directory)
    running = Serving(directory)
    yield running
    if running.process.is_alive():
        running.stop()


# --- the judging card by itself, with a stand-in of its routes ----------------------------------------


@pytest.fixture(scope="session")
def harness() -> Iterator[Harness]:
    """The page with a card, served."""
    with Harness() as running:
        yield running


@pytest.fixture
def desk(harness: Harness) -> Desk:
    """A fresh stand-in."""
    harness.desk = Desk()
    return harness.desk


@pytest.fixture
def make_card(windows: Windows, make_window: object, harness: Harness, desk: Desk) -> Iterator[MakeCard]:
    """Makes cards; see :func:`~tests.browser.card_page.make_cards`."""
    yield from make_cards(windows, harness.url, Card, (1280, 720))


@pytest.fixture
def make_task_card(windows: Windows, make_window: object, harness: Harness) -> Iterator[Callable[..., TaskCard]]:
    """Makes cards of the other tasks; see :func:`~tests.browser.card_page.make_cards`."""
    yield from make_cards(windows, harness.url, TaskCard, (1280, 800))


@pytest.fixture
def card(desk: Desk, make_card: MakeCard) -> Card:
    """A card with its first document on screen."""
    return make_card().open()


@pytest.fixture
def show(harness: Harness, make_card: MakeCard) -> MakeCard:
    """Opens a card on these documents, the first of which is on screen; the topic asks for a rolling mean."""

    def opened(
        *documents: dict[str, Any],
        card: dict[str, Any] | None = None,
        own: dict[str, Any] | None = None,
        script: str = "",
        query: dict[str, str] | None = None,
        **options: Any,
    ) -> Card:
        harness.desk = Desk({"t1": list(documents)})
        harness.desk.card |= card or {}
        harness.desk.own = own
        return make_card(script, **options).open(first=documents[0]["doc_id"], **(query or {}))

    return opened
