"""The turns of a conversation before the question, and a topic's other fields, on all four cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.adjudicate_desk import PAYLOAD, AdjudicationDesk
from tests.browser.card_harness import Desk as GradeDesk, Harness
from tests.browser.card_page import Card, MakeCard, faults
from tests.browser.task_harness import Desk, topics

pytestmark = [pytest.mark.browser, pytest.mark.long]

DESKS: dict[str, Callable[[], Any]] = {
    "grade": GradeDesk,
    "choose": lambda: Desk("list"),
    "prefer": lambda: Desk("preference", topics(3, 4)),
    "adjudicate": AdjudicationDesk,
}
TURNS = [
    {"speaker": "user", "text": "What is a tram?"},
    {"speaker": "system", "text": "It runs on rails. " * 60},
    {"speaker": "user", "text": "هل الترام سريع؟"},
    {"speaker": "", "text": PAYLOAD + "\u202eeno"},
    {"speaker": "user", "text": "Who pays for it?"},
    {"speaker": "system", "text": "The city."},
]
FIELDS = [
    {"name": "ptkb", "text": "1: I live in Ulm.\n2: I have no car."},
    {"name": "stance", "text": PAYLOAD},
    {"name": "keywords", "text": "ترام"},
]
SHOWN = "nodes => nodes.map((node) => [...node.children].map((each) => each.textContent))"


@pytest.fixture
def make(harness: Harness, make_card: MakeCard, make_task_card: MakeCard) -> Callable[..., Card]:
    def opened(folder: str, context: dict[str, Any]) -> Card:
        harness.desk = DESKS[folder]()
        harness.desk.context = context
        return (make_card if folder == "grade" else make_task_card)().open()

    return opened


FOCUSED = """() => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node?.dataset?.part;
}"""


def press_tab_to(page: Page, part: str) -> None:
    """Go to a part with the Tab key alone, from the begin of the topic."""
    page.locator("[data-part=need]").focus()
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == part:
            return
    pytest.fail(f"the Tab key does not reach {part}")


@pytest.mark.parametrize("folder", DESKS)
def test_turns_are_above_the_question_and_fields_on_request(make: Callable[..., Card], folder: str) -> None:
    card = make(folder, {"turns": TURNS, "fields": FIELDS})
    expect(card.part("turns").locator("li")).to_have_count(4)
    assert card.part("turns").locator("li").evaluate_all(SHOWN) == [
        ["User", "هل الترام سريع؟"],
        [PAYLOAD + "\u2060eno"],
        ["User", "Who pays for it?"],
        ["System", "The city."],
    ]
    last = card.part("turns").locator("li").last.bounding_box()
    title = card.part("topic-title").bounding_box()
    assert last is not None
    assert title is not None
    assert last["y"] + last["height"] <= title["y"], "the last turn is above the question"
    expect(card.part("turns").locator("li").last).to_be_in_viewport()
    expect(card.part("topic-title")).to_be_in_viewport()
    expect(card.part("earlier-turns")).to_be_hidden()
    expect(card.part("fields")).to_be_hidden()
    assert card.part("fields-words").text_content() == "3 other fields"

    press_tab_to(card.page, "earlier-words")
    card.page.keyboard.press("Enter")
    assert card.part("earlier-turns").locator("li").evaluate_all(SHOWN)[0] == ["User", "What is a tram?"]
    expect(card.part("earlier-turns")).to_be_visible()
    press_tab_to(card.page, "fields-words")
    card.page.keyboard.press(" ")
    expect(card.part("fields")).to_be_visible()
    assert card.part("fields").locator("dd").all_text_contents() == [field["text"] for field in FIELDS]
    direction = "nodes => nodes.map((node) => getComputedStyle(node).direction)"
    assert card.part("fields").locator("dd").evaluate_all(direction) == ["ltr", "ltr", "rtl"]
    assert not card.page.evaluate("window.broken")
    assert faults(card.page) == []


@pytest.mark.parametrize("folder", DESKS)
def test_without_turns_and_fields_nothing_is_added(make: Callable[..., Card], folder: str) -> None:
    card = make(folder, {})
    expect(card.part("topic-title")).to_be_visible()
    for part in ("turns-block", "fields-block"):
        expect(card.part(part)).to_be_hidden()
    first = "node => [...node.children].find((each) => each.offsetHeight)"
    first += ".matches('[data-part=topic-id], h2:has([data-part=topic-title])')"
    assert card.part("need").evaluate(first)


def test_a_new_topic_is_shown_with_its_conversation(desk: GradeDesk, make_card: MakeCard) -> None:
    desk.context = {"turns": TURNS, "fields": FIELDS}
    desk.held, desk.moves_on = {*desk.pool["t1"], *desk.pool["t2"]} - {"d100"}, True
    card = make_card().open(first="d100")
    card.press("1")  # others hold the rest of t1 and t2
    card.says("new-topic-title", "rolling mean t3")
    assert card.part("new-topic-turns").locator("li").evaluate_all(SHOWN)[-1] == ["System", "The city."]
    assert card.part("new-topic-fields-words").text_content() == "3 other fields"
    for part in ("narrative", "new-topic-narrative"):  # the lines of criteria stay lines
        expect(card.part(part)).to_have_css("white-space", "pre-wrap")


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)])
def test_the_question_is_in_sight_below_long_turns(make: Callable[..., Card], size: tuple[int, int]) -> None:
    card = make("grade", {"turns": TURNS[:2] * 3})
    card.resize(*size)
    if size[0] < 900:
        card.part("fold").click()
    expect(card.part("turns").locator("li").last).to_be_in_viewport()
    assert card.part("turns-block").evaluate("node => node.scrollTop") == 0
