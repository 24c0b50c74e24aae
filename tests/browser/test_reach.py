"""Every page of app and documentation for everybody: axe-core's rules, the keyboard, phones and magnifiers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotate.auth.page_access import PAGES, PageEntry
from collection import Campaign, demo, documentation
from tests.browser.reach import (
    EXCEPTIONS,
    MAGNIFIED,
    MAIN,
    NARROW,
    THEMES,
    WIDE,
    require_no_faults,
    resize,
    settled,
    sideways,
    states,
    unused_exceptions,
    walk,
)
from tests.browser.serving import Serving, sign_in
from tests.browser.waiting import until_on
from tests.browser.windows import open_window
from tests.helpers import ROOT, ok

pytestmark = [pytest.mark.browser, pytest.mark.long]

PEOPLE = {"ann": "manager", "simulated-1": "annotator", "rea": "reader"}
PUBLIC = {
    "sign in": "signin",
    "a link that is not valid": "signin?token=none",
    "an invitation that is not valid": "invitation?token=none",
    "the documentation": "documentation/index",
    "a page of the documentation with tables": "documentation/reference/command-line",
    "no page of the documentation": "documentation/none",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """The demo, with machine labels."""
    folder = tmp_path_factory.mktemp("reach")
    demo.build(folder / "demo")
    with Campaign(folder / "demo") as campaign:
        pool = campaign.store.pool.pairs()
    pairs = zip(pool["query_id"], pool["doc_id"], strict=True)
    lines = [f"{query_id} 0 {doc_id} {n % 4}\n" for n, (query_id, doc_id) in enumerate(pairs)]
    (folder / "model.txt").write_text("".join(lines))
    ok("labels", "import", folder / "demo", folder / "model.txt")
    return (folder / "demo",)


@pytest.fixture(scope="module")
def pages(serving: Serving, browser: Browser) -> Iterator[dict[str, Page]]:
    """The page of somebody with each role."""
    windows = {role: open_window(browser) for role in PEOPLE.values()}
    yield {role: sign_in(windows[role], serving, name, role) for name, role in PEOPLE.items()}  # type: ignore[arg-type]
    for window in windows.values():
        window.close()


def open_page(page: Page, serving: Serving, entry: PageEntry) -> None:
    page.emulate_media(color_scheme="light")
    resize(page, WIDE)
    page.goto(f"{serving.url}/{'' if entry.default else entry.url_path}")
    expect(page.get_by_test_id("stMain").locator("h1, [data-part=card]").first).to_be_attached()
    settled(page)


@pytest.mark.parametrize(
    ("role", "entry"),
    [
        pytest.param(role, entry, id=f"{role}-{entry.url_path}")
        for role in PEOPLE.values()
        for entry in PAGES
        if role in entry.roles and (role != "reader" or entry.default)  # who sees what managers see
    ],
)
def test_page_of_the_app(pages: dict[str, Page], serving: Serving, role: str, entry: PageEntry) -> None:
    page = pages[role]
    open_page(page, serving, entry)
    for state in states(page):
        where = f"{entry.title} {state}"
        part = MAIN if state else None  # the menu and what is around it are as before
        require_no_faults(page, f"{where}, wide", THEMES[:1], part)
        assert walk(page, part) == [], where
        for size in (MAGNIFIED, NARROW):
            resize(page, size)
            until_on(page, lambda: not sideways(page), f"{where} within {size[0]} pixels", lambda: sideways(page))
        require_no_faults(page, f"{where}, narrow", THEMES[1:], part, once=True)
        if not state:
            assert walk(page) == [], f"{where}, narrow"
        page.emulate_media(color_scheme="light")
        resize(page, WIDE)


def test_each_exception_still_occurs(pages: dict[str, Page], serving: Serving) -> None:
    open_page(pages["manager"], serving, PAGES[0])
    assert EXCEPTIONS
    assert not unused_exceptions(pages["manager"])


def test_a_popover_takes_the_focus_and_gives_it_back(pages: dict[str, Page], serving: Serving) -> None:
    page = pages["manager"]
    open_page(page, serving, next(entry for entry in PAGES if entry.url_path == "compare"))
    button = page.get_by_role("button", name="Download results")
    button.focus()
    page.keyboard.press("Enter")
    first = page.get_by_test_id("stPopoverBody").get_by_role("button").first
    expect(first).to_be_visible()
    require_no_faults(page, "the popover")
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Escape")
    expect(first).to_be_hidden()
    expect(button).to_be_focused()


@pytest.mark.parametrize("path", PUBLIC.values(), ids=PUBLIC)
def test_page_without_a_session(context: BrowserContext, serving: Serving, path: str) -> None:
    page = context.pages[0]
    for size, theme in ((WIDE, "light"), (NARROW, "dark")):
        resize(page, size)
        page.goto(f"{serving.url}/{path}")
        require_no_faults(page, path, [theme], once=True)
        assert sideways(page) == []
        assert walk(page) == []


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as HTML, which is built without warnings."""
    folder = tmp_path_factory.mktemp("html")
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(ROOT / "docs"), str(folder)]
    done = subprocess.run(sphinx, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder


def test_documentation_in_both_themes_on_a_phone_and_by_keyboard(html: Path, browser: Browser) -> None:
    files = [file for file in sorted(html.rglob("*.html")) if "_static" not in file.parts]
    assert {file.relative_to(html).with_suffix("").as_posix() for file in files} >= set(documentation.list_pages())
    window = open_window(browser)
    page = window.pages[0]
    for file in files:
        resize(page, NARROW)
        page.goto(file.as_uri())
        for size, theme in ((NARROW, "dark"), (WIDE, "light")):
            resize(page, size)
            require_no_faults(page, file.stem, [theme], once=True)
            assert sideways(page) == [], file.stem
    resize(page, WIDE)
    for file in (file for file in files if file.parent.name == "start"):
        page.goto(file.as_uri())
        assert walk(page) == [], file.stem
    window.close()
