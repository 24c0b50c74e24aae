"""`cleverdon serve` as a process, and a judging card in a browser: what several browser tests drive."""

from __future__ import annotations

import functools
import multiprocessing
import os
import re
import secrets
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from unittest import mock

import pandas as pd
from playwright.sync_api import BrowserContext, Locator, Page, Response, expect

from annotate.__main__ import main
from annotate.application import SCRIPT
from annotate.auth.page_access import PAGES
from collection import Campaign
from collection.core.records import Role
from tests.browser.waiting import repeat, wait
from tests.helpers import PATIENCE, ROOT, SHARED, too_late

CRANFIELD = SHARED / "data" / "cranfield"

STATE = """((find) => find(find, document))((find, root) => {
  for (const node of root.querySelectorAll("*")) {
    const found = node.cleverdon?.state ?? (node.shadowRoot && find(find, node.shadowRoot));
    if (found) return found;
  }
  return null;
})"""
"""The state of the card on a page."""


def free_port() -> int:
    """A port that stays free while a server is killed and started again.

    Neither one of those that servers look for, from 8501, nor one that systems hand out, to a browser's next connection
    for instance: from 32768 on Linux. Not `random`, whose numbers may be the same in another process of tests.
    """
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as sock, suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


usual_port = functools.cache(free_port)
"""The same for one server after another: what a browser has fetched and compiled is of an address with a port."""


SCRIPTS = {SCRIPT, *(SCRIPT.parent / "views" / page.file for page in PAGES)}
"""Scripts that Streamlit runs, which cannot be imported."""

SERVERS = multiprocessing.get_context("forkserver")
SERVERS.set_forkserver_preload(
    ["altair", "uvicorn"]
    + [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for package in ("annotate", "collection")
        for file in (ROOT / package).rglob("*.py")
        if not file.name.startswith("__") and file not in SCRIPTS
    ]
)


def serve(output: Connection, arguments: list[str]) -> None:
    """Serve in this process, which prints into `output`."""
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    main(arguments)


class Serving:
    """`cleverdon serve` on a campaign, as a process that can be killed and started again.

    It is a fork of a process that has imported all of the app, which takes longer than most tests do.
    """

    def __init__(self, directory: Path, port: int | None = None, options: Sequence[str] = ()) -> None:
        self.directory, self.port, self.options = directory, port or usual_port(), options
        self.start()

    def start(self) -> None:
        arguments = [str(self.directory), "--no-browser", "--as", "ann", "--port", str(self.port), *self.options]
        reader, writer = SERVERS.Pipe(duplex=False)
        self.process = SERVERS.Process(target=serve, args=(writer, arguments), daemon=True)
        # Otherwise the fork runs the main module first, for which an AppTest puts its script.
        with mock.patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
            self.process.start()
        writer.close()
        self.output = os.fdopen(os.dup(reader.fileno()), errors="replace")
        seen = ""
        for line in self.output:
            seen += line
            if link := re.search(r"http://127\.0\.0\.1:\d+/signin\?token=\S+", line):
                self.link = link[0]
                self.url = f"http://127.0.0.1:{self.port}"
                return
        raise AssertionError(f"the server ended before it printed a link:\n{seen}")

    def log(self, topic: str) -> pd.DataFrame:
        """The log of a topic."""
        with Campaign(self.directory) as campaign:
            return campaign.store.judgements.table(current=False, query_id=topic)

    def require_log_of_keys(self, topic: str, page: Page) -> None:
        """Fail unless each key graded the document that was shown."""
        pressed, log = page.evaluate("window.pressed"), self.log(topic)
        assert log["doc_id"].tolist() == [p["shown"] for p in pressed]
        assert log["relevance"].tolist() == [int(p["key"]) for p in pressed]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it by a signal; fail if a page or route had an unexpected error, of which pages show the id only."""
        assert self.process.pid is not None
        os.kill(self.process.pid, how)
        self.process.join(PATIENCE)
        assert self.process.exitcode is not None, too_late("the end of the server", self.process)
        printed = self.output.read() if how == signal.SIGTERM else ""  # what a killed one has started may still print
        self.output.close()
        assert "unexpected error" not in printed, printed


def use_link(page: Page, link: str) -> None:
    """Open a one-time sign-in link and press its button."""
    page.goto(link)
    page.get_by_role("button", name=re.compile("^Sign in as ")).click()


def sign_in(context: BrowserContext, serving: Serving, name: str = "ann", role: Role = "manager") -> Page:
    """The window's page, for somebody with this role, who is signed in without a page being drawn for it."""
    with Campaign(serving.directory) as campaign:
        if name not in campaign.store.accounts.table()["name"].tolist():
            campaign.people.accounts.add(name, role)
        token = campaign.people.accounts.make_signin_link(name)
    answer = context.request.post(f"{serving.url}/signin", form={"token": token}, max_redirects=0)
    assert answer.status == 303, answer.text()
    return context.pages[0]


def open_card(
    context: BrowserContext, serving: Serving, name: str, topic: str | None = None, role: Role = "annotator"
) -> Page:
    """The judging page of somebody; that of a topic with its first document on screen."""
    page = sign_in(context, serving, name, role)
    if page.url.startswith(f"{serving.url}/judge"):  # another tab
        page = context.new_page()
    page.goto(f"{serving.url}/judge{f'?topic={topic}' if topic else ''}")
    if topic:
        ready(page)
    return page


def ready(page: Page) -> None:
    """Wait until a document is on screen; a card that is being replaced has its own until it is gone."""
    expect(page.locator("[data-part=card]")).to_have_count(1)
    expect(page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()


def choose_page(page: Page, title: str) -> None:
    """Go to a page by the menu; its address would load the whole app again."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()


def shown(page: Page) -> str:
    return page.locator("[data-part=doc-id]").inner_text()


def saved(page: Page) -> None:
    expect(page.locator("[data-part=status]")).to_have_text("Saved")


@contextmanager
def acknowledging(page: Page) -> Iterator[set[str]]:
    """The uuids of the judgements that the server acknowledges to a page."""
    acknowledged: set[str] = set()

    def heard(answer: Response) -> None:
        if answer.url.endswith("/sync") and answer.ok:
            acknowledged.update(answer.json()["saved"])

    page.on("response", heard)
    yield acknowledged
    page.remove_listener("response", heard)


def kill_while_judging(page: Page, serving: Serving, keys: str, current: Locator) -> None:
    """Press a key, kill the server, press another one without it, and start it again, which saves both."""
    before = current.inner_text()
    page.keyboard.press(keys[0])
    serving.stop(signal.SIGKILL)
    expect(current).not_to_have_text(before)
    page.keyboard.press(keys[1])
    expect(page.locator("[data-part=status]")).not_to_have_text("Saved")
    serving.start()  # on the same port: it is free at once
    saved(page)


def sent(page: Page) -> None:
    """Nothing waits in the browser: this page has sent it, or the one before, which says nothing here."""
    pending = "Object.keys(localStorage).filter((key) => key.includes(':pending:'))"
    wait(page, f"!{pending}.length", "nothing to send", instead=pending)


def press_in_turn(page: Page, keys: str) -> None:
    """Press each key once another document is on screen than at the key before, as fast as anybody could."""
    another = "window.showing() && window.showing() !== window.pressed.at(-1)?.shown"
    for key in keys:
        wait(page, another, f"another document to press {key} for", instead="JSON.stringify(window.pressed)")
        page.keyboard.press(key)


def press(page: Page, key: str, gone: Locator) -> None:
    """Press a key until the card has taken it: `gone` is there once the document on screen is another.

    While Streamlit draws the page anew, as after a restart of the server, there is for a moment no card that could
    take a key. One that was taken counts at once, so where the count is as before, it was not.
    """
    count = page.locator("[data-part=topic-count]")
    before = count.inner_text()
    repeat(
        page,
        lambda: page.keyboard.press(key),
        lambda: gone.is_visible() or count.inner_text() != before,
        f"a judgement by the key {key}",
    )
    expect(gone).to_be_visible()
