"""The page with the judging card in a browser, and what the card's tests ask of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, FloatRect, Locator, Page, expect

from tests.browser.card_harness import Desk
from tests.browser.waiting import ON_SCREEN, until_on, wait
from tests.browser.windows import Windows, open_window

HIGHLIGHTED = """(name) => [...CSS.highlights.get(name) ?? []].map((each) => {
  const range = document.createRange();
  range.setStart(each.startContainer, each.startOffset);
  range.setEnd(each.endContainer, each.endOffset);
  return range.toString();
})"""
SELECT = """([part, ...places]) => {
  const walker = document.createTreeWalker(window.part(part), NodeFilter.SHOW_TEXT);
  const points = [];
  let before = 0;
  while (walker.nextNode()) {
    const { length } = walker.currentNode.data;
    while (points.length < 2 && places[points.length] <= before + length) {
      points.push([walker.currentNode, places[points.length] - before]);
    }
    before += length;
  }
  document.getSelection().setBaseAndExtent(...points[0], ...points[1]);
}"""


def was_undone(button: Locator) -> None:
    """The button has what was undone: marked by an outline and a word, not as what is decided now."""
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(button).to_have_class(re.compile(r"\bcd-former\b"))
    assert button.evaluate("node => getComputedStyle(node, '::after').content") == '"undone"'
    assert button.locator("kbd").first.evaluate("node => getComputedStyle(node, '::after').content") == "none"


class Card:
    """The page with the card."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.errors: list[object] = []
        page.on("pageerror", self.failed)

    def failed(self, error: object) -> None:
        self.errors.append(error)

    def open(self, first: str | None = "d100", **query: object) -> Card:
        self.page.goto(self.url + "?" + "&".join(f"{name}={value}" for name, value in query.items()))
        self.wait("window.ready", "the card")
        if first:
            self.shows(first)
        return self

    def part(self, name: str) -> Locator:
        return self.page.locator(f"[data-part={name}]")

    def button(self, name: str) -> Locator:
        return self.page.locator(f"[data-do={name}]").first

    def found(self) -> Locator:
        """The results of the search."""
        return self.part("found").get_by_role("option")

    def grade(self, grade: int) -> Locator:
        return self.page.locator(f"[data-grade='{grade}']")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def press_in_turn(self, *keys: str, ahead: int = 0) -> None:
        """Press each key once something is on screen, and `ahead` more in the queue: else it would say nothing."""
        ready = "ahead => window.onScreen() && window.part('card').cleverdon.state.units.length > ahead"
        for key in keys:
            self.wait(ready, f"a screen, and {ahead} more, to press {key} for", ahead)
            self.press(key)

    def require_drawn_at_once(self, times: int) -> None:
        """Fail unless the last texts were there before the browser did anything else than take the key for them."""
        at_once = self.page.evaluate("window.atOnce")
        assert at_once[-times:] == [True] * times, f"of {len(at_once)} texts that came: {at_once}"

    def resize(self, width: int, height: int) -> None:
        """Give the window another size, and wait until the card has fitted itself to it."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.evaluate("new Promise((fitted) => requestAnimationFrame(() => requestAnimationFrame(fitted)))")

    def shows(self, doc_id: str) -> None:
        self.wait("id => window.onScreen() === id", f"{doc_id} on screen", arg=doc_id)

    def says(self, name: str, words: str) -> None:
        expect(self.part(name)).to_contain_text(words)

    def saved(self) -> None:
        """Waits until nothing is left to save; before the first save the card says nothing of it."""
        nothing_left = "() => !(window.part('card').cleverdon?.state?.outbox ?? []).length"
        self.wait(nothing_left, "nothing to save")
        expect(self.part("status")).to_have_text(re.compile("^(Saved)?$"))

    def holds(self, doc_id: str) -> None:
        """Waits until a document is in the queue."""
        held = "id => window.part('card').cleverdon.state.units.some(({ documents: [doc] }) => doc.doc_id === id)"
        self.wait(held, f"{doc_id} in the queue", arg=doc_id)

    def wait(self, condition: str, what: str, arg: Any = None, *, instead: str = ON_SCREEN) -> None:
        """Wait until a condition, in JavaScript, is true on the page; see :func:`~tests.browser.waiting.wait`."""
        wait(self.page, condition, what, arg, instead=instead)

    def until(self, there: Callable[[], object], what: str, instead: Callable[[], object] | None = None) -> None:
        """Wait for something that is not of the page, such as a request."""
        until_on(self.page, there, what, instead)

    def buttons(self) -> list[list[float]]:
        """The places of the buttons below the document."""
        return places(self.page.locator("[data-part=grades] button, .cd-actions button"))

    def keeps_buttons(self, before: list[list[float]], panel: str = "") -> None:
        """Fail unless the buttons are where they were, and a panel is in the window and not over the notice."""
        width = self.page.evaluate("innerWidth")
        if panel:
            expect(self.part(panel)).to_be_visible()
            place, bar = box(self.part(panel)), box(self.part("notice"))
            assert place["x"] >= 0
            assert place["x"] + place["width"] <= width
            assert place["y"] + place["height"] <= bar["y"] + 1 or place["x"] + place["width"] <= bar["x"]
        assert before == self.buttons()
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width

    def on_screen(self) -> Any:
        return self.page.evaluate("window.onScreen()")

    def press_before_next_is_drawn(self, key: str) -> Any:
        """Press a key when the queue has gone on and the screen has not; returns what is on screen then.

        In one piece: whatever arrives in between brings the screen up to date.
        """
        return self.page.evaluate(
            """(key) => {
              const { card } = window.part("card").cleverdon;
              card.state = { ...card.state, units: card.state.units.slice(1) };
              const shown = window.onScreen();
              document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
              return shown;
            }""",
            key,
        )

    def pressed(self) -> Any:
        """The keys so far, each with the document that was on screen."""
        return self.page.evaluate("window.keys")

    def highlighted(self, name: str) -> list[str]:
        """The texts under one of the card's highlights, in order."""
        return self.page.evaluate(HIGHLIGHTED, name)

    def highlights(self, name: str, *texts: str) -> None:
        """Waits until a highlight is on these texts and no others."""
        self.wait(
            f"([name, texts]) => JSON.stringify(({HIGHLIGHTED})(name)) === texts",
            f"{name} on {list(texts)}",
            arg=[name, json.dumps(texts, ensure_ascii=False, separators=(",", ":"))],
            instead=f"({HIGHLIGHTED})('{name}')",
        )

    def select(self, start: int, end: int, node: str = "text") -> None:
        """Selects by places in the text of a node, in UTF-16 units, as the mouse would do."""
        self.page.evaluate(SELECT, [node, start, end])

    def stored(self, kind: str = "pending") -> Any:
        """Numbers of judgements, or of notes, that wait in this browser's storage."""
        count = f"Object.keys(localStorage).filter((key) => key.includes(':{kind}:')).length"
        return self.page.evaluate(count)


def words(desk: Desk) -> list[tuple[str, Any]]:
    """The log of judgements in short."""
    return [(row["doc_id"], row["relevance"] if row["kind"] == "graded" else row["kind"]) for row in desk.log]


def box(node: Locator) -> FloatRect:
    """The box of a node."""
    found = node.bounding_box()
    assert found, "it is not drawn"
    return found


def places(buttons: Locator) -> list[list[float]]:
    """The places of these nodes: left, top, width, height."""
    box_of = "(node) => (({ x, y, width, height }) => [x, y, width, height])(node.getBoundingClientRect())"
    return list(buttons.evaluate_all(f"(nodes) => nodes.map({box_of})"))


def faults(page: Page, within: Locator | dict[str, Any] | None = None) -> list[tuple[str, list[Any]]]:
    """Serious and critical faults that axe-core finds on the page, or within a part of it: the rule, and its nodes."""
    # Its half megabyte is sent to a page once.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    run = 'async (part) => (await axe.run(part ?? document, { resultTypes: ["violations"] })).violations'
    violations = within.evaluate(run) if isinstance(within, Locator) else page.evaluate(run, within)
    return [(fault["id"], fault["nodes"]) for fault in violations if fault["impact"] in ("serious", "critical")]


MakeCard = Callable[..., Card]
C = TypeVar("C", bound=Card)


def make_cards(windows: Windows, origin: str, kind: type[C], size: tuple[int, int]) -> Iterator[Callable[..., C]]:
    """Makes cards, each in a window with an empty storage; at the end nothing may have gone wrong in the pages.

    A card that is `alone`, or has a `script` that runs before the page's own, is in a window that no test has after it.
    """
    contexts: list[BrowserContext] = []
    cards: list[C] = []

    def make(script: str = "", *, alone: bool = False, viewport: dict[str, int] | None = None, **options: Any) -> C:
        viewport = viewport or {"width": size[0], "height": size[1]}
        if alone or script:
            window = open_window(windows.browser, viewport, **options)
            contexts.append(window)
            if script:
                window.add_init_script(script)
        else:
            window = windows.lend(viewport, **options)
        cards.append(kind(window.pages[0], origin + "/"))
        return cards[-1]

    yield make
    for card in cards:
        assert card.errors == []
        assert card.page.evaluate("window.calls") == {"setStateValue": 0, "setTriggerValue": 0}
        card.page.remove_listener("pageerror", card.failed)
    for context in contexts:
        context.close()
