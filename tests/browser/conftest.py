"""One browser for all browser tests of a run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.browser.card_harness import Desk, Harness
from tests.browser.card_page import Card, empty_storage, make_cards
from tests.browser.chromium import HELP, PATIENCE, find
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
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def module_context(browser: Browser) -> Iterator[BrowserContext]:
    """A window for the tests of a module: in another one a page fetches and compiles all of its scripts anew."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def shared_context(module_context: BrowserContext) -> Iterator[BrowserContext]:
    """The module's window without a page and without a cookie; its storage is what the test before has left."""
    yield module_context
    for page in module_context.pages:
        page.close()
    module_context.unroute_all()
    module_context.set_offline(False)
    module_context.clear_cookies()


@pytest.fixture
def context(shared_context: BrowserContext) -> Iterator[BrowserContext]:
    """A window with nobody signed in and nothing stored."""
    yield shared_context
    origins = {"/".join(page.url.split("/")[:3]) for page in shared_context.pages if page.url.startswith("http")}
    for page in shared_context.pages:
        page.close()
    blank = shared_context.new_page()
    for origin in origins:
        empty_storage(blank, origin)


@pytest.fixture(scope="module")
def serving(built: tuple[Any, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server on a copy of the campaign that the module's own `built` names first.

    The tests of a module share it: each takes topics or annotators of its own, and starts again what it kills.
    """
    directory = tmp_path_factory.mktemp("served") / "campaign"
    shutil.copytree(built[0], directory)
    running = Serving(directory)
    yield running
    if running.process.poll() is None:
        running.stop()


# --- the judging card by itself, with a stand-in of its routes ----------------------------------------


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    """The page with the card, served."""
    with Harness() as running:
        yield running


@pytest.fixture
def desk(harness: Harness) -> Desk:
    """A fresh stand-in."""
    harness.desk = Desk()
    return harness.desk


@pytest.fixture
def make_card(shared_context: BrowserContext, harness: Harness) -> Iterator[Callable[..., Card]]:
    """Makes cards; see :func:`~tests.browser.card_page.make_cards`."""
    yield from make_cards(shared_context, harness.url, Card, (1280, 720))


@pytest.fixture
def card(desk: Desk, make_card: Callable[..., Card]) -> Card:
    """A card with its first document on screen."""
    return make_card().open()


@pytest.fixture
def show(harness: Harness, make_card: Callable[..., Card]) -> Callable[..., Card]:
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
