"""The card for lists in a real Chromium, against a stand-in of its routes (task_harness.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import Harness
from tests.browser.card_page import faults, was_undone
from tests.browser.task_harness import Desk, TaskCard, document, topics

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def desk(harness: Harness) -> Desk:
    harness.desk = Desk("list")
    return harness.desk


@pytest.fixture
def card(desk: Desk, make_task_card: Callable[..., TaskCard]) -> TaskCard:
    return make_task_card().open()


def chosen(desk: Desk) -> list[Any]:
    """The log in short: the topic, and the places of what was chosen, or the kind."""
    return [
        (
            row["query_id"],
            [row["shown"].index(d) + 1 for d in row["chosen"]] if row["kind"] == "chosen" else row["kind"],
        )
        for row in desk.log
    ]


# ---------------------------------------------------------------------------------------------- choosing


def test_digits_choose_and_enter_goes_on(card, desk):
    card.press("2", "4")
    expect(card.tick(2)).to_have_attribute("aria-checked", "true")
    card.says("done", "Submit 2 of up to 3")
    card.press("4", "5", "Enter")
    card.shows("Topic t1")
    card.says("notice", "Topic t0: selected 2 and 5 – u to undo")
    expect(card.tick(2)).to_have_attribute("aria-checked", "false")
    card.press("n")
    card.shows("Topic t2")
    card.says("notice", "Topic t1: none of these")
    card.saved()
    assert chosen(desk) == [("t0", [2, 5]), ("t1", [])]
    assert desk.log[0]["shown"] == [f"d{d:03d}" for d in range(5)]
    assert desk.log[0]["source"] == "key"
    assert desk.log[0]["shown_at"].endswith("Z")
    card.says("all-count", "2 of 30")


def test_nothing_is_said_by_mistake(card, desk):
    card.press("Enter")
    card.says("notice", "Select a document first, or “None of these” (n).")
    card.press("7")
    card.says("notice", "There is no document 7")
    card.press("1", "n")
    card.says("notice", "1 document is selected: deselect it or submit.")
    card.press("2", "3", "4")
    card.says("notice", "At most 3 documents: deselect one first.")
    assert card.on_screen() == "Topic t0"
    assert desk.log == []
    card.press("Enter")
    card.saved()
    assert chosen(desk) == [("t0", [1, 2, 3])]


def test_one_choice_goes_on_at_once(harness, make_task_card):
    desk = harness.desk = Desk("list", topics(8, 12), most_chosen=1)
    card = make_task_card().open()
    expect(card.part("done")).to_be_hidden()
    card.press("3")
    card.shows("Topic t1")
    card.press("0")
    card.shows("Topic t2")
    card.press(*["ArrowDown"] * 11, "Enter")  # the eleventh has no digit
    card.shows("Topic t3")
    card.press("ArrowUp", " ")  # from the end: the twelfth
    card.shows("Topic t4")
    card.saved()
    assert chosen(desk) == [("t0", [3]), ("t1", [10]), ("t2", [11]), ("t3", [12])]


def test_each_key_acts_on_the_list_that_was_on_screen_and_shows_the_next_at_once(harness, make_task_card):
    desk = harness.desk = Desk("list", topics(30, 10))
    desk.pool = {q: [d | {"text": d["text"] * 8} for d in documents] for q, documents in desk.pool.items()}
    card = make_task_card().open()
    desk.delay = 0.2  # the network plays no part in it
    card.press_in_turn("1", "n", "Enter", *(["2", "5", "Enter", "n"] * 8), ahead=1)
    card.saved()
    assert chosen(desk) == meant(card)
    assert len({row["uuid"] for row in desk.log}) == len(desk.log)
    assert chosen(desk) == [("t0", [1])] + [(f"t{t}", [2, 5] if t % 2 else []) for t in range(1, 17)]
    card.require_drawn_at_once(17)


def meant(card: TaskCard) -> list[Any]:
    """The choices that the keys so far must have made on the lists on screen."""
    found, ticked = list[Any](), set[int]()
    for key in card.pressed():
        if key["shown"] is None:
            continue
        query_id = key["shown"].removeprefix("Topic ")
        if key["key"].isdigit():
            ticked ^= {int(key["key"])}
        elif bool(ticked) == (key["key"] == "Enter"):
            found.append((query_id, sorted(ticked)))
            ticked = set()
    return found


def test_held_keys_count_once_and_move_the_cursor(card, desk):
    for key in ("n", "ArrowDown"):
        for _ in range(4):
            card.page.keyboard.down(key)
        card.page.keyboard.up(key)
    card.press(" ", "Enter")
    card.saved()
    assert chosen(desk) == [("t0", []), ("t1", [4])]


def test_the_mouse_chooses_opens_and_finishes(card, desk):
    card.tick(2).click()
    card.page.get_by_text("River 3").first.click()
    expect(card.page.locator(".cd-whole:visible")).to_have_count(1)
    card.press(" ")  # the cursor is where the text was opened: it chooses
    card.part("done").click()
    card.shows("Topic t1")
    card.part("none").click()
    card.saved()
    assert chosen(desk) == [("t0", [2, 4]), ("t1", [])]
    assert [row["source"] for row in desk.log] == ["click", "click"]


# ------------------------------------------------------------------------------------ texts, and going back


def test_one_text_opens_in_its_place_and_can_be_had_whole(harness, make_task_card):
    long = document(1, text="A river. " * 900, metadata={"year": 1958, "link": "https://example.org/1"})
    odd = document(2, title="", text=None)
    harness.desk = Desk("list", {"t0": [document(0), long, odd], "t1": [document(3)]})
    card = make_task_card().open()
    card.press("ArrowDown", "ArrowDown", "e")
    whole = card.page.locator(".cd-whole:visible")
    expect(whole.locator(".cd-text")).to_contain_text("A river.")
    expect(whole.get_by_role("link", name="example.org/1")).to_have_attribute("rel", "noopener noreferrer nofollow")
    whole.get_by_text("Show all (8,100 characters)").click()
    card.wait(
        "part('list').querySelector('.cd-whole:not([hidden]) .cd-text').textContent.length === 8100",
        "all 8,100 characters",
    )
    for _ in range(40):
        card.press("ArrowDown")  # through the text first, then to the next document
    expect(card.tick(3)).to_be_focused()
    expect(card.page.locator(".cd-lines").nth(2)).to_have_text("The text of this document has not been imported.")
    card.press("e")
    expect(card.page.locator(".cd-whole:visible")).to_have_count(1)
    card.press("e")
    expect(card.page.locator(".cd-whole:visible")).to_have_count(0)


def test_undo_brings_a_list_back_with_its_choice(card, desk):
    card.press("2", "4", "Enter", "n", "u")
    card.shows("Topic t1")
    was_undone(card.part("none"))
    card.press("u")
    card.shows("Topic t0")
    expect(card.tick(2)).to_have_attribute("aria-checked", "true")
    card.says("all-count", "0 of 30")
    card.press("4", "Enter")
    card.shows("Topic t1")
    card.saved()
    assert chosen(desk) == [("t0", [2, 4]), ("t1", []), ("t1", "undone"), ("t0", "undone"), ("t0", [2])]


def test_looking_back_and_revising(card, desk):
    card.press("2", "Enter", "n", "ArrowLeft", "ArrowLeft")
    card.shows("Topic t0")
    expect(card.tick(2)).to_have_attribute("aria-checked", "true")
    card.press("3", "Escape")  # not finished: nothing is changed
    card.shows("Topic t2")
    card.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    card.says("notice", "No earlier decisions")
    expect(card.tick(3)).to_have_attribute("aria-checked", "false")
    card.press("5", "Enter")
    card.shows("Topic t2")
    card.says("notice", "selected 2 and 5, revised")
    card.press("ArrowLeft", "n")
    card.saved()
    assert chosen(desk) == [("t0", [2]), ("t1", []), ("t0", [2, 5]), ("t0", [])]
    card.says("all-count", "2 of 30")


def test_skipping_cannot_judge_and_notes(card, desk):
    card.press("s")
    card.shows("Topic t1")
    card.press("x", "2")
    card.shows("Topic t2")
    card.press("m")
    card.page.keyboard.type("the second is cut off")
    card.press("Enter", "1", "Enter")
    card.shows("Topic t3")
    card.saved()
    assert [(q, what) for q, what in chosen(desk)] == [("t1", "cannot judge"), ("t2", [1])]
    assert desk.log[0]["reason"] == "The text is broken or empty"
    assert desk.log[0]["chosen"] == []
    assert desk.log[1]["note"] == "the second is cut off"
    card.press("ArrowLeft", "m")
    expect(card.part("note-text")).to_have_value("the second is cut off")
    card.page.keyboard.press("Control+a")
    card.page.keyboard.type("all fine")
    card.press("Enter")
    card.shows("Topic t2")  # it stays in sight
    card.saved()
    assert desk.log[-1]["note"] == "all fine"
    assert chosen(desk)[-1] == ("t2", [1])
    card.open("Topic t3")  # the skipped one waits behind the others after a reload as well


# ------------------------------------------------------------------------------------ network, tabs, pages


def test_what_is_refused_is_said_and_a_new_token_is_fetched(card, desk):
    desk.refuse = {"t0": "topic 't0' is not assigned to ada"}
    desk.token = "second"
    card.press("1", "Enter", "n")
    card.says("refused", "Not saved: Topic t0, selected 1: topic 't0' is not assigned to ada")
    card.saved()
    assert chosen(desk) == [("t1", [])]
    card.button("dismiss").click()
    expect(card.part("refused")).to_be_empty()


def test_texts_are_texts_and_titles_stay_apart(harness, make_task_card):
    bad = "<img src=x onerror=window.broken=1>\u202eabc"
    desk = harness.desk = Desk("list", {"t0": [document(0, title=bad, text=bad), document(1, doc_id=bad)]})
    desk.notes = {"t0": bad}
    card = make_task_card().open()
    card.press("ArrowDown", "e")
    expect(card.page.locator(".cd-whole:visible .cd-text")).to_contain_text("<img src=x")
    card.says("topic-note", "<img src=x")
    assert card.page.evaluate("window.broken") is None
    assert "\u202e" not in card.part("documents").inner_text()


def test_guidelines_and_keys(card, desk):
    card.press("g")
    card.says("guidelines-text", "Choose what answers it.")
    card.press("1", "Enter")  # deciding goes on beside them
    card.shows("Topic t1")
    card.press("Escape", "?")
    card.says("action-keys", "None of these documents answers the topic")
    card.press("1", "n")  # not behind the list of keys
    assert card.on_screen() == "Topic t1"
    card.press("Escape", "n")
    card.shows("Topic t2")


def test_a_mounted_card_that_is_mounted_again_keeps_what_it_has(card, desk):
    card.press("1")
    card.page.evaluate("window.run(); window.run({ token: 'first' })")
    expect(card.tick(1)).to_have_attribute("aria-checked", "true")
    card.press("Enter")
    card.shows("Topic t1")
    card.saved()
    assert chosen(desk) == [("t0", [1])]


def test_nothing_is_cut_and_buttons_stay_where_they_are(harness, make_task_card):
    harness.desk = Desk("list", topics(8, 10))
    card = make_task_card().open(padding="8px")
    places = "part('done').getBoundingClientRect().top + ' ' + part('none').getBoundingClientRect().top"
    for width, height in ((390, 844), (640, 400), (1280, 800)):
        card.resize(width, height)
        before = card.page.evaluate(places)
        card.press("1", "2", "Enter", "n", "1")
        assert card.page.evaluate(places) == before
        assert card.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if width < 900:
            sizes = card.page.evaluate(
                "[...part('card').querySelectorAll('.cd-tick, .cd-unfold, .cd-bar button')]"
                ".filter((node) => node.offsetHeight).map((node) => node.offsetHeight)"
            )
            assert min(sizes) >= 44
        card.press("1")


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_and_screen_readers_hear_what_happens(harness, make_task_card, theme, width):
    harness.desk = Desk("list", topics(5, 10))
    card = make_task_card(viewport={"width": width, "height": 800}).open(theme=theme, padding="8px")
    expect(card.part("spoken")).to_have_text("Topic t0: 10 documents")
    card.press("2", "Enter")
    expect(card.part("spoken")).to_have_text("Topic t0: selected 2 – u to undo. Topic t1: 10 documents")
    card.press("1", "ArrowDown", "e")
    card.saved()
    assert faults(card.page) == []
    for key in ("g", "x", "m", "?", ","):  # what stands beside the list, and what covers it
        card.press(key)
        assert faults(card.page, card.page.locator("[role=dialog]:visible")) == [], f"in what {key} opens"
        card.press("Escape")


def test_keys_and_texts_are_each_annotators_own(card, desk):
    card.press(",")
    rows = card.part("key-rows").locator("[data-do=rekey]")
    rows.filter(has_text="None of these").click()
    card.press("o")
    rows.filter(has_text="Submit").click()
    card.press("f")
    card.part("size-more").click()
    card.press("Escape")
    expect(card.part("settings-panel")).to_be_hidden()
    card.press("o")
    card.shows("Topic t1")
    expect(card.part("none").locator("kbd")).to_have_text("o")
    card.press("n", "1", "f")  # n means nothing now
    card.shows("Topic t2")
    card.saved()
    card.wait("window.answered.settings > 0", "the answer to the settings", instead="window.answered")
    assert desk.own is not None
    assert desk.own["keys"] == {"none": "o", "done": "f"}
    card.open("Topic t2")
    assert card.page.evaluate("getComputedStyle(part('frame')).getPropertyValue('--cd-text-size')") == "18px"
    card.press(",")
    card.part("key-rows").get_by_title("Reset to the default key").first.click()
    card.press("Escape", "1", "Enter")
    card.shows("Topic t3")
    card.saved()
    assert chosen(desk) == [("t0", []), ("t1", [1]), ("t2", [1])]


# -------------------------------------------------------------------------- what is late, and what is not drawn


def test_a_topic_that_cannot_be_shown_says_so_beside_the_next(harness, make_task_card):
    desk = harness.desk = Desk("list")
    card = make_task_card()
    answer = {"status": 400, "json": {"error": "there is no topic 't99'"}}
    card.page.route("**/*/unit", lambda route: route.fulfill(**answer))
    card.open(query_id="t99")
    card.says("notice", "The requested topic cannot be shown: there is no topic 't99'.")
    card.press("n")
    card.shows("Topic t1")
    card.saved()
    assert chosen(desk) == [("t0", [])]


def test_highlights_outlive_a_rerun_and_go_with_the_card(card, desk):
    count = "(CSS.highlights.get('cd-topic-term')?.size ?? 0)"
    card.wait(f"{count} > 0", "highlights of the topic's words")
    card.page.evaluate("window.run()")
    card.wait(f"{count} > 0", "highlights of the topic's words")
    card.page.evaluate("window.leave()")
    assert card.page.evaluate(count) == 0
