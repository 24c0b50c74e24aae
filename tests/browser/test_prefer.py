"""The card for preferences in a real Chromium, against a stand-in of its routes (task_harness.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import Harness
from tests.browser.card_page import faults
from tests.browser.task_harness import Desk, TaskCard, document, topics

pytestmark = [pytest.mark.browser, pytest.mark.long]

KINDS = {"ArrowLeft": "left", "ArrowRight": "right", "=": "equal", "1": "left", "2": "right", "0": "equal"}


@pytest.fixture
def desk(harness: Harness) -> Desk:
    harness.desk = Desk("preference", topics(12, 4))
    return harness.desk


@pytest.fixture
def card(desk: Desk, make_task_card: Callable[..., TaskCard]) -> TaskCard:
    return make_task_card().open()


def said(desk: Desk) -> list[tuple[str, str]]:
    """The log in short: what was on screen, and what was said of it."""
    return [(f"Topic {row['query_id']} {row['left']} {row['right']}", row["kind"]) for row in desk.log]


def answers(card: TaskCard) -> list[tuple[str, str]]:
    """The decisions that the keys so far must have made."""
    return [(key["shown"], KINDS[key["key"]]) for key in card.pressed() if key["shown"] and key["key"] in KINDS]


# ---------------------------------------------------------------------------------------------- comparing


def test_each_key_is_about_the_two_documents_on_screen_and_shows_the_next_at_once(harness, make_task_card):
    desk = harness.desk = Desk("preference", topics(12, 4))
    desk.pool = {q: [d | {"text": d["text"] * 9} for d in documents] for q, documents in desk.pool.items()}
    card = make_task_card().open()
    desk.delay = 0.1  # the network plays no part in it
    for keys in [("ArrowLeft", "ArrowRight", "="), ("1", "2", "0")] * 4:
        card.press_in_turn(*keys)
        card.saved()  # the way through the next answers comes from the server, three at a time
    assert said(desk) == answers(card)
    assert len({row["uuid"] for row in desk.log}) == len(desk.log) == 24
    assert len(set(desk.current())) == 24  # no two were compared twice
    card.require_drawn_at_once(24)


def test_held_keys_count_once_and_arrows_up_and_down_scroll(harness, make_task_card):
    documents = [document(d, text="It rises in the hills. " * n) for d, n in ((0, 200), (1, 400), (2, 9))]
    desk = harness.desk = Desk("preference", {"t0": documents, "t1": [document(3), document(4)]})
    card = make_task_card().open()
    share = """(() => [...part("documents").querySelectorAll("[data-side]")]
        .map((node) => node.scrollTop / Math.max(1, node.scrollHeight - node.clientHeight)))()"""
    card.press("ArrowDown", "ArrowDown", "PageDown")
    left, right = card.page.evaluate(share)
    assert 0.05 < left == pytest.approx(right, abs=0.02)
    card.page.mouse.move(200, 400)
    card.page.mouse.wheel(0, 200)
    card.wait(f"Math.abs({share}[0] - {share}[1]) > 0.03", "one document scrolled further", instead=share)
    for _ in range(4):
        card.page.keyboard.down("ArrowRight")
    card.page.keyboard.up("ArrowRight")
    card.saved()
    assert len(desk.log) == 1
    assert card.page.evaluate(share) == [0, 0]


def test_the_mouse_answers(card, desk):
    card.part("left").click()
    card.says("topic-count", "1 of up to 5")
    card.part("equal").click()
    card.part("right").click()
    card.press(" ")  # scrolls; it must not press the clicked button again
    card.saved()
    assert [row["kind"] for row in desk.log] == ["left", "equal", "right"]
    assert {row["source"] for row in desk.log} == {"click"}


# ------------------------------------------------------------------------------------------ going back


def test_looking_back_and_revising(card, desk):
    card.press("ArrowLeft", "ArrowRight")
    here = card.on_screen()
    card.press("b", "b")
    expect(card.part("left")).to_have_attribute("aria-pressed", "true")
    card.says("notice", "Topic t0: left is better – answer again to change it")
    card.press("=")
    card.says("notice", "equally good, revised")
    assert card.on_screen() == here
    card.press("b", "Escape")
    card.saved()
    here = card.on_screen()  # another one, where the server has said so while that was looked at
    assert [row["kind"] for row in desk.log] == ["left", "right", "equal"]
    assert desk.log[0]["left"] == desk.log[2]["left"]
    card.press("ArrowLeft")  # what comes next says the server, for the way is another
    card.wait("before => window.onScreen() && window.onScreen() !== before", f"others than {here}", arg=here)
    card.saved()
    assert said(desk)[-1] == (here, "left")


# ------------------------------------------------------------------------------------ network, tabs, pages


def test_texts_are_texts(harness, make_task_card):
    bad = "<img src=x onerror=window.broken=1>\u202eabc"
    harness.desk = Desk("preference", {"t0": [document(0, title=bad, text=bad), document(1, text=None, title="")]})
    card = make_task_card().open()
    expect(card.part("documents")).to_contain_text("<img src=x")
    expect(card.part("documents")).to_contain_text("The text of this document has not been imported.")
    assert card.page.evaluate("window.broken") is None
    assert "\u202e" not in card.part("documents").inner_text()


def test_both_have_equal_room_and_nothing_is_cut(harness, make_task_card):
    harness.desk = Desk("preference", topics(9, 5))
    card = make_task_card().open(padding="8px")
    for width, height in ((390, 844), (640, 400), (1280, 800)):
        card.resize(width, height)
        boxes: Any = card.page.evaluate(
            "[...part('documents').querySelectorAll('[data-side]')]"
            ".map((node) => node.getBoundingClientRect().toJSON())"
        )
        assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=1)
        assert boxes[0]["height"] == pytest.approx(boxes[1]["height"], abs=1)
        assert (boxes[0]["top"] == boxes[1]["top"]) == (width > 600)
        places = "['left', 'equal', 'right'].map((name) => part(name).getBoundingClientRect().top).join()"
        before = card.page.evaluate(places)
        card.press("ArrowLeft", "=", "ArrowRight")
        card.shows("Topic t")  # how it goes on may have to be asked for
        assert card.page.evaluate(places) == before
        assert card.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if width < 600:  # one above the other: one may have most of the room, until the next two come
            tall = "part('documents').querySelector('[data-side=left]').offsetHeight"
            half = card.page.evaluate(tall)
            card.page.locator("[data-side=left]").click()
            assert card.page.evaluate(tall) > 1.4 * half
            card.press("v")
            assert card.page.evaluate(tall) < 0.6 * half
            card.press("0")
            card.shows("Topic t")
            assert card.page.evaluate(tall) == half
        if width < 900:
            sizes = card.page.evaluate(
                "[...part('card').querySelectorAll('.cd-bar button')].map((n) => n.offsetHeight).filter(Boolean)"
            )
            assert min(sizes) >= 44


def test_a_notice_names_the_side_as_the_button_does(harness, make_task_card):
    harness.desk = Desk("preference", topics(5, 2))
    card = make_task_card().open(padding="8px")
    for topic, width, side in (("Topic t0", 1280, "left"), ("Topic t1", 390, "upper")):
        card.resize(width, 844)
        card.shows(topic)
        expect(card.part("left")).to_contain_text(f"{side.capitalize()} is better", use_inner_text=True)
        card.press("ArrowLeft")
        card.says("notice", f"{topic}: {side} is better")
        assert card.part("notice").text_content() == f"Topic done: {topic}: {side} is better \u2013 u to undo"
        assert card.button("help").inner_text().split() == ["?", "Keys"]


@pytest.mark.parametrize(("theme", "width"), [("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_and_screen_readers_hear_what_happens(harness, make_task_card, theme, width):
    harness.desk = Desk("preference", topics(5, 2))
    card = make_task_card(viewport={"width": width, "height": 800}).open(theme=theme, padding="8px")
    card.press("=")
    card.shows("Topic t1")
    expect(card.part("spoken")).to_contain_text("Topic t0: equally good – u to undo. Topic t1: River")
    card.saved()
    assert faults(card.page) == []
    card.press("?")
    assert faults(card.page, card.page.locator("[role=dialog]:visible")) == []


def test_documents_come_in_their_forms(harness, make_task_card):
    marked = document(0, form="markup", text="Rises here.", html="<p><b>Rises</b> here.</p>", metadata={"year": 1958})
    images = [
        {"src": "https://example.org/map.png", "alt": "a map", "link": True},
        {"src": "/no-picture.png", "alt": "gone"},
    ]
    lines = document(1, form="preformatted", text="source   122 m\nmouth      0 m", images=images)
    harness.desk = Desk("preference", {"t0": [marked, lines], "t1": [document(2), document(3)]})
    card = make_task_card().open()
    texts = card.part("documents").locator(".cd-text")
    expect(texts.locator("b")).to_have_text("Rises")
    expect(card.part("documents").locator("[data-form=preformatted]")).to_have_text("source   122 m\nmouth      0 m")
    expect(card.part("documents").get_by_role("link", name="example.org")).to_have_count(1)
    expect(card.part("documents")).to_contain_text("The picture could not be loaded.")
    expect(card.part("documents")).to_contain_text("year: 1958")
    card.press("=")
    card.shows("Topic t1")
    expect(texts.locator("b")).to_have_count(0)
    expect(card.part("documents").locator(".cd-pictures:visible")).to_have_count(0)
    card.wait("CSS.highlights.get('cd-topic-term')?.size > 0", "highlights")
    card.press("h")
    card.wait("CSS.highlights.get('cd-topic-term')?.size === 0", "no highlights")
