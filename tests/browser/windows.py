"""Windows of one browser, which tests use one after another.

A page keeps what it has fetched and compiled for the next one of the same address. In a new tab, or another window, all
of that is done anew, and takes longer than most tests do.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error as PlaywrightError, Page

from tests.browser.waiting import MILLISECONDS

SIZE = {"width": 1280, "height": 800}
"""Of a window, in pixels."""

WATCH_KEYS = """
  if (/judge|adjudicate/.test(location.pathname)) {
    window.pressed = [];
    const id = "[data-part=doc-id], [data-part=document]:not([hidden]) [data-name=id]";
    const deep = (root) => root.querySelector(id) ?? [...root.querySelectorAll("*")].reduce(
      (found, { shadowRoot }) => found ?? (shadowRoot && deep(shadowRoot)), null);
    window.showing = () => deep(document)?.textContent;
    window.addEventListener("keydown", (event) => {
      window.pressed.push({ key: event.key, shown: window.showing() });
    }, true);
  }
"""
"""Notes each key with the document that was on screen when it went down: from before the card is there, since a later
listener would see what the card has shown since."""


def open_window(browser: Browser, viewport: dict[str, int] | None = None, **options: Any) -> BrowserContext:
    """A window with a blank page.

    Playwright waits for conditions by `eval` in the page, which the app's policy forbids: only windows with
    ``bypass_csp=False`` follow it.
    """
    window = browser.new_context(viewport=viewport or SIZE, **{"accept_downloads": True, "bypass_csp": True} | options)
    window.set_default_timeout(MILLISECONDS)
    window.new_page()
    return window


class Windows:
    """Windows by their options; one that is lent has nobody signed in, nothing stored, and one page."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.idle: dict[tuple[Any, ...], list[BrowserContext]] = defaultdict(list)
        self.lent: list[tuple[tuple[Any, ...], BrowserContext]] = []

    def lend(self, viewport: dict[str, int] | None = None, **options: Any) -> BrowserContext:
        kind = tuple(sorted(options.items()))
        if self.idle[kind]:
            window = self.idle[kind].pop()
        else:
            window = open_window(self.browser, **options)
            window.add_init_script(WATCH_KEYS)
        window.pages[0].set_viewport_size(viewport or SIZE)
        self.lent.append((kind, window))
        return window

    def take_back(self) -> None:
        """Take back all that were lent."""
        for kind, window in self.lent:
            empty(window)
            self.idle[kind].append(window)
        self.lent.clear()


def empty(window: BrowserContext) -> None:
    """Leave a window as it was; only what it has fetched stays."""
    page, *others = window.pages
    for other in others:
        other.close()
    window.unroute_all()
    window.set_offline(False)
    window.clear_cookies()
    if page.url == "about:blank":
        return
    origin = "/".join(page.url.split("/")[:3])
    try:
        page.evaluate("sessionStorage.clear()")
        page.emulate_media(color_scheme="null")
        page.mouse.move(0, 0)
        page.goto(f"{origin}/_stcore/health")  # any short answer of the same server: elsewhere it is another process
        forget(page, origin)
    except PlaywrightError:  # of a server that is down, or a page that has crashed
        page.close()
        window.new_page()


def forget(page: Page, origin: str) -> None:
    """Forget what pages of this origin have stored."""
    session = page.context.new_cdp_session(page)
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    session.detach()
