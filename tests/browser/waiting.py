"""Waiting in browser tests; a failure names the condition, the time, and the page's content."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, TimeoutError as PlaywrightTimeout, expect

from tests.helpers import PATIENCE, too_late, until

MILLISECONDS = 1000 * PATIENCE
"""Time that Playwright waits by itself when a test clicks, fills or expects."""

ON_SCREEN = r"""() => {
  const shown = (root) => [...root.querySelectorAll('*')].flatMap((node) => [
    ...(node.shadowRoot ? shown(node.shadowRoot) : []),
    ...(node.matches('script, style') || !node.getClientRects().length ? [] :
      [...node.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).filter(Boolean)),
  ]);
  return `${location.pathname}${location.search}: ${shown(document.body).join(' | ')}`;
}"""
"""The address and the visible texts of a page, those of its components included."""


def wait(page: Page, condition: str, what: str, arg: Any = None, *, instead: str = ON_SCREEN) -> None:
    """Wait until a condition, in JavaScript, is true on a page; `instead` is what a failure tells of the page."""
    try:
        page.wait_for_function(condition, arg=arg)
    except PlaywrightTimeout as error:
        raise AssertionError(too_late(what, page.evaluate(instead))) from error


def until_on(page: Page, there: Callable[[], object], what: str, instead: Callable[[], object] | None = None) -> None:
    """Wait for something that is not of the page, such as a request, while the page goes on."""
    until(there, what, instead=instead, pause=lambda _: page.wait_for_timeout(20))


def repeat(page: Page, act: Callable[[], object], there: Callable[[], object], what: str) -> None:
    """Do something every few seconds until its effect is there: what is drawn may not listen yet."""
    next_time = 0.0

    def has_come() -> object:
        nonlocal next_time
        if not (found := there()) and time.monotonic() > next_time:
            act()
            next_time = time.monotonic() + 5
        return found

    until_on(page, has_come, what, lambda: page.evaluate(ON_SCREEN))


def select_first_row(page: Page, shown: Locator) -> None:
    """Select the first row of the first table; wait until what that shows is there."""
    table = page.get_by_test_id("stDataFrame").first
    selected = table.locator("tr[aria-selected=true]")
    repeat(
        page,
        lambda: table.click(position={"x": 15, "y": 52}),
        lambda: selected.count() or shown.is_visible(),
        "a selected row",
    )
    expect(shown).to_be_visible()
