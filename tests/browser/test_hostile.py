"""One campaign with every payload of :mod:`tests.hostile` at every door, and all of its pages in a real browser.

Nothing of a payload runs, becomes an element, leaves its box, changes the direction of what is around it, or reaches
the network. What needs no browser is in `tests/collection/test_hostile_text.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect

from annotate.auth.page_access import PAGES
from annotate.server.error_log import UNEXPECTED
from collection import Campaign
from tests import hostile
from tests.browser.serving import Serving, choose_page, sign_in
from tests.browser.waiting import MILLISECONDS, ON_SCREEN, select_first_row
from tests.helpers import too_late
from tests.hostile import STORED

pytestmark = [pytest.mark.browser, pytest.mark.long]

LOOK = r"""() => {
  const found = new Set(), override = /[\u202d\u202e]/, direction = /[\u202a-\u202e\u2066-\u2069]/;
  const name = (e) => `<${e.localName} ${[...e.attributes].map((a) => `${a.name}=${a.value}`.slice(0, 60)).join(' ')}>`;
  const parent = (node) => node.parentNode ?? node.host;
  const isClipped = (e) => {
    for (let up = parent(e); up && up !== document.body; up = parent(up)) {
      if (up instanceof Element && getComputedStyle(up).overflowX !== 'visible') return true;
    }
    return false;
  };
  const lookAt = (e) => {
    if (e.classList.contains('hostile') || e.id.startsWith('hostile')) found.add(`an element: ${name(e)}`);
    const isOwn = e.matches('script, style, textarea, input, option');  // text that is no page, or is edited as it is
    for (const { name: key, value } of e.attributes) {
      if (key.startsWith('on')) found.add(`a handler: ${name(e)}`);
      const isText = ['title', 'alt', 'aria-label', 'placeholder'].includes(key);
      if (isText && override.test(value)) found.add(`direction in ${key}: ${name(e)}`);
      if (!['href', 'src', 'srcset', 'action', 'data', 'poster', 'style', 'xlink:href'].includes(key)) continue;
      const isLink = e.localName === 'a' && (/^#/.test(value) || (/^https?:/.test(value) && /noopener/.test(e.rel)));
      if (isLink) continue;
      if (/^\s*(javascript|vbscript|data:text)|evil.invalid/i.test(value)) found.add(`an address: ${name(e)}`);
    }
    const words = isOwn ? '' : [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join('');
    if (!words.trim()) return;
    if (direction.test(words)) {
      const isApart = /isolate|plaintext/.test(getComputedStyle(e).unicodeBidi) || e.dir === 'auto';
      if (!isApart || override.test(words)) found.add(`direction: ${name(e)}`);
    }
    const box = e.getBoundingClientRect();
    if (box.width && (box.right > innerWidth + 1 || box.left < -1) && !isClipped(e)) found.add(`outside: ${name(e)}`);
  };
  const look = (root) => {
    for (const e of root.querySelectorAll('*')) {
      lookAt(e);
      if (e.shadowRoot) look(e.shadowRoot);
    }
  };
  look(document);
  if ('hostile' in window) found.add('it ran');
  if (/\p{Emoji_Presentation}/u.test(document.body.innerText)) found.add('an emoji');
  const icons = '[data-testid=stMarkdownContainer] span[role=img], img[alt="Streamlit logo"]';
  for (const e of document.querySelectorAll(icons)) found.add(`an icon in ${e.parentElement.textContent.slice(0, 60)}`);
  for (const e of [document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')]) {
    if (e.scrollWidth > e.clientWidth + 1) found.add(`it scrolls sideways by ${e.scrollWidth - e.clientWidth}`);
  }
  return [...found];
}"""

SVG_ELEMENTS = {"svg", "title", "g", "path", "text", "line", "rect", "defs", "clipPath"}

WALK = """async ([look, key, most, patience]) => {
  const all = (root, css) => [...root.querySelectorAll('*')].flatMap((e) => [
    ...(e.matches(css) && e.getClientRects().length ? [e] : []), ...(e.shadowRoot ? all(e.shadowRoot, css) : []),
  ]);
  const ids = () => all(document, '.cd-id').map((e) => e.textContent);
  const seen = [], found = {}, check = eval(look);
  for (let last = null; seen.length < most; ) {
    const begun = performance.now();
    let now = ids();
    while (!now.length || String(now) === last) {
      if (performance.now() - begun > patience) return [seen, found];
      for (const begin of all(document, '[data-part=new-topic] button')) {
        for (const problem of check()) found[problem] ??= 'a new topic';
        begin.click();
      }
      await new Promise((again) => setTimeout(again, 2));
      now = ids();
    }
    seen.push(now);
    last = String(now);
    for (const problem of check()) found[problem] ??= last;
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }));
  }
  return [seen, found];
}"""
"""Press a key until `most` screens are seen, or no other comes: their ids, and what is wrong with the first ones."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    return (hostile.build(tmp_path_factory.mktemp("hostile")),)


@pytest.fixture
def page(context: BrowserContext, serving: Serving) -> Iterator[Page]:
    """Signed in as ann, who manages; at the end nothing was asked of another server."""
    page, asked = sign_in(context, serving), []

    def heard(request: Request) -> None:
        asked.append(request.url.removeprefix("blob:"))

    def opened(other: object) -> None:
        asked.append(f"a window or dialog: {other}")

    listeners: dict[Any, Any] = {"request": heard, "popup": opened, "dialog": opened, "websocket": lambda _: None}
    for event, listener in listeners.items():
        page.on(event, listener)
    yield page
    assert page.evaluate("window.hostile") is None
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert not [url for url in asked if not url.startswith((serving.url, "data:"))]


def look(page: Page) -> list[str]:
    """The problems of a page after it is drawn."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlert").filter(has_text=UNEXPECTED)).to_have_count(0)
    return list(page.evaluate(LOOK))


def test_no_page_runs_loads_or_moves_anything(page: Page, serving: Serving, tmp_path: Path) -> None:
    page.goto(serving.url)
    problems = {}
    for entry in (each for each in PAGES if each.is_listed(is_review=False)):
        choose_page(page, entry.title)
        if entry.url_path not in ("overview", "judge"):  # their headings are others
            expect(page.get_by_role("heading", name=entry.title, exact=True).first).to_be_visible()
        if entry.title == "Overview":
            expect(page.get_by_role("heading", level=1)).to_contain_text(":\u2060material/home:")
        problems[entry.title] = look(page)
        if entry.title == "Import":
            name = f"{hostile.word(hostile.IMAGE).replace('/', '|')}.run"
            (tmp_path / name).write_text(f"{hostile.SCRIPT}\n")
            page.locator("input[type=file]").nth(2).set_input_files(tmp_path / name)
            expect(page.get_by_role("button", name="Remove")).to_be_visible()  # the file has arrived
            page.get_by_role("button", name="Import", exact=True).click()
            expect(page.get_by_test_id("stAlert").first).to_contain_text("Nothing was imported.")
            problems["Import of a file"] = look(page)
        if entry.title == "My judgements":
            select_first_row(page, page.get_by_role("button", name="Undo judgement"))
            problems["My judgements, a document"] = look(page)
        if entry.title == "Compare":
            for at in ("Costs", "Leaderboard"):
                page.get_by_role("radio", name=at, exact=True).click()
                expect(page.get_by_role("radio", name=at, exact=True)).to_be_checked()
                problems[f"Compare, {at}"] = look(page)
            chart = page.locator(".st-key-chart-means")
            expect(chart.locator("svg.marks")).to_be_visible()
            with page.expect_download() as waited:
                chart.get_by_role("button", name="SVG").click()
            waited.value.save_as(tmp_path / "means.svg")
            problems["an SVG file"] = [
                node.tag
                for node in ElementTree.parse(tmp_path / "means.svg").iter()
                if node.tag.rpartition("}")[2] not in SVG_ELEMENTS
                or any(key.startswith("on") or "href" in key for key in node.attrib)
            ]
        if entry.title == "Export":
            page.get_by_role("tab", name="Collection").click()
            page.get_by_text("Show the card").click()
            expect(page.locator(".html.card")).to_be_visible()
            problems["Export, the card"] = look(page)
    page.goto(f"{serving.url}/documentation/%3Cscript%20class=hostile%3Ehostile=1%3C%2Fscript%3E")
    problems["the documentation"] = page.evaluate(LOOK)
    assert not {where: found for where, found in problems.items() if found}


@pytest.mark.parametrize(
    ("path", "key", "task"),
    [
        ("judge?topic=all-in-one", "1", {"task": "grades"}),
        ("judge", "n", {"task": "list", "list_size": 4}),
        ("judge", "=", {"task": "preference", "preference_size": 2}),
        ("adjudicate", "s", {"task": "grades"}),
    ],
    ids=["grades", "list", "preference", "adjudicate"],
)
def test_every_document_stays_in_its_box_on_every_card(
    page: Page, serving: Serving, path: str, key: str, task: dict[str, Any]
) -> None:
    documents = {re.sub("[\u202d\u202e]", "\u2060", str(document["doc_id"])) for document in hostile.documents()}
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_judging_page(**task)
        shown = len(documents) if task["task"] == "grades" else len(STORED) + 1
    page.goto(f"{serving.url}/{path}")
    screens, problems = page.evaluate(WALK, [LOOK, key, shown, MILLISECONDS])
    assert len(screens) == shown, too_late(f"screen {len(screens) + 1} of {shown}", page.evaluate(ON_SCREEN))
    assert problems == {}
    heights = page.locator("[data-grade]").evaluate_all("nodes => nodes.map((node) => node.offsetHeight)")
    assert max(heights, default=0) < 100, "the sentence of a grade takes the place of the document"
    assert {doc_id for screen in screens for doc_id in screen} >= documents
