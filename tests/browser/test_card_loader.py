"""The script that loads a card's modules, run as Streamlit does: from a ``blob:`` address, with a shadow root."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotate.card.server.card_modules import CardModules

pytestmark = [pytest.mark.browser, pytest.mark.long]

URL = "http://judging.test/judge"
ENTRY = """
import { draw } from "./view/draw.js";
export default function mount({ data, parentElement }) {
  parentElement.querySelector("p:not([role])").textContent = draw(data);
  return () => { window.left = data; };
}
"""
DRAW = 'import { shout } from "./shout.js";\nexport const draw = (data) => shout(data);\n'
SHOUT = "export const shout = (data) => data.toUpperCase();\n"
HOST = """(script) => {
  window.root = document.body.appendChild(document.createElement("div")).attachShadow({ mode: "open" });
  window.root.innerHTML = "<p></p>";
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  window.start = async (data) => (await import(address)).default({ data, parentElement: window.root });
}"""


@pytest.fixture
def modules(tmp_path: Path) -> CardModules:
    (tmp_path / "view").mkdir()
    for name, content in {"grade.js": ENTRY, "view/draw.js": DRAW, "view/shout.js": SHOUT}.items():
        (tmp_path / name).write_text(content)
    return CardModules(tmp_path)


@pytest.fixture
def requested(context: BrowserContext, modules: CardModules, tmp_path: Path) -> list[str]:
    """The modules that the browser has asked for, in order; the server answers them all."""
    names: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url == URL:
            route.fulfill(content_type="text/html", body="<!doctype html><title>Judge</title>")
            return
        name = route.request.url.removeprefix(f"http://judging.test{modules.address('')}")
        names.append(name)
        route.fulfill(content_type="text/javascript", path=tmp_path / name)

    context.route("**/*", answer)
    return names


@pytest.fixture
def page(context: BrowserContext, modules: CardModules, requested: list[str]) -> Page:
    page = context.new_page()
    page.goto(URL)
    page.evaluate(HOST, modules.loader("grade.js"))
    return page


def test_a_card_and_all_that_it_imports_is_asked_for_once(page: Page, requested: list[str]) -> None:
    page.evaluate("start('first').then((leave) => { window.leave = leave; })")
    expect(page.locator("p")).to_have_text("FIRST")
    page.evaluate("start('again')")  # as in a rerun of the page
    expect(page.locator("p")).to_have_text("AGAIN")
    page.evaluate("leave()")
    assert page.evaluate("left") == "first"
    assert sorted(requested) == ["grade.js", "view/draw.js", "view/shout.js"]


def test_all_modules_are_asked_for_before_the_first_is_there(page: Page, context: BrowserContext) -> None:
    waiting: list[Route] = []

    def answer_with_the_last(route: Route) -> None:
        waiting.append(route)
        if len(waiting) == 3:
            for each in waiting:
                each.fallback()

    context.route("**/*.js", answer_with_the_last)
    page.evaluate("void start('first')")
    expect(page.locator("p")).to_have_text("FIRST")


def test_a_card_that_cannot_be_loaded_says_so_once(page: Page, context: BrowserContext) -> None:
    context.route("**/shout.js", lambda route: route.fulfill(status=404))
    assert page.evaluate("start('first')") is None
    expect(page.get_by_role("alert")).to_have_text(
        "The judging card could not be loaded. Check your connection, then reload this page."
    )
    page.evaluate("start('again')")
    expect(page.get_by_role("alert")).to_have_count(1)


def test_a_card_that_has_gone_before_it_was_there_is_not_mounted(page: Page) -> None:
    page.evaluate("(() => { const started = start('first'); root.host.remove(); return started; })()")
    assert page.evaluate("root.querySelector('p').textContent") == ""
