"""Settings and keys of the card, flags, history, near-duplicates and working time."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.card_harness import TIME, Desk, Harness, document
from tests.browser.card_page import Card, MakeCard, words

pytestmark = pytest.mark.browser

PDF = {"pages", "page", "previous-page", "next-page"}
"""Actions that are there for a document with the pages of a PDF file."""

KEPT = "JSON.parse(localStorage.getItem('cleverdon:frames%3A%202026:ada:own'))"
"""The settings that this browser stores."""

SIZE = "getComputedStyle(window.part('text')).fontSize"
MEASURE = "getComputedStyle(window.part('document')).maxWidth"
JUDGED: dict[str, Any] = {
    "note": None,
    "flagged": False,
    "passages": [],
    "reason": None,
    "query_id": "t1",
    "kind": "graded",
}


def rekey(card: Card, name: str, key: str) -> None:
    """Give an action or a grade another key, in the panel."""
    card.page.locator(f"[data-do=rekey][data-name='{name}']").click()
    card.press(key)


def cap(card: Card, name: str) -> Locator:
    """The key cap on an action's button."""
    return card.page.locator(f".cd-bar kbd[data-key='{name}']").first


def past(card: Card) -> Locator:
    """The rows of the history."""
    return card.part("past").get_by_role("option")


def rows(card: Card) -> list[tuple[str, str]]:
    """The list of the last judgements: grade, and first line."""
    return [
        (row.locator(".cd-grade").inner_text(), row.locator(".cd-found-head b").inner_text())
        for row in past(card).all()
    ]


# ------------------------------------------------------------------------------------------- settings


@pytest.mark.long
def test_settings_stay_after_a_reload_and_on_another_device(card: Card, desk: Desk, make_card: MakeCard) -> None:
    assert card.page.evaluate(MEASURE) == "800px"
    card.press(",")
    expect(card.part("settings-panel")).to_be_focused()
    expect(card.part("size-is")).to_have_text("16 px")
    card.page.get_by_role("button", name="Larger text").click(click_count=2)
    card.page.get_by_role("button", name="Shorter lines").click()
    card.page.get_by_role("button", name="Lines further apart").click()
    assert card.page.evaluate(SIZE) == "20px"
    assert card.page.evaluate("getComputedStyle(window.part('text')).lineHeight") == "37.5px"
    assert card.page.evaluate(MEASURE) == "680px"
    smallest = card.page.get_by_role("button", name="Smaller text")
    smallest.focus()
    card.press(*["Enter"] * 5)
    expect(smallest).to_have_attribute("aria-disabled", "true")
    assert card.page.evaluate(SIZE) == "14px"
    switch = card.page.get_by_role("switch", name="Always show full documents")
    expect(switch).to_have_attribute("aria-checked", "false")
    switch.click()
    rekey(card, "undo", "z")
    expect(cap(card, "undo")).to_have_text("z")
    rekey(card, "digit:2", "q")
    expect(card.grade(2).locator("kbd")).to_have_text(["2", "q"])
    rekey(card, "forward", "y")
    card.press("2")
    assert card.on_screen() == "d100", "a digit in the settings is no grade"
    card.press("Escape", "q", "2", "u", "z", "1")
    card.shows("d102")
    card.saved()
    card.wait(f"{KEPT}.unsent === false", "settings that the server has", instead=KEPT)
    keys = {"undo": "z", "digit:2": "q", "forward": "y"}
    assert desk.own is not None
    assert (desk.own["size"], desk.own["long"], desk.own["keys"]) == (14, "whole", keys)

    desk.fail = 503
    card.press(",")
    with card.page.expect_response("**/settings"):
        card.page.get_by_role("switch", name="Highlight topic words").click()
    desk.fail = None
    with card.page.expect_response("**/settings"):
        card.open(first="d102")
    card.wait(f"{KEPT}.unsent === false", "settings that the server has", instead=KEPT)
    assert desk.own["marks"] == {"topic": False}, "what was not sent is sent at the next start"
    assert card.page.evaluate(SIZE) == "14px"
    card.press(",")
    expect(card.page.get_by_role("switch", name="Highlight topic words")).to_have_attribute("aria-checked", "false")
    card.press("Escape", "q", "z", "?")
    expect(card.part("action-keys").locator("dt").first).to_have_text("z")
    expect(card.part("grade-keys").locator("dt").nth(2)).to_have_text("2 q")
    card.press("Escape")
    card.saved()

    there = make_card().open(first="d102")
    assert there.page.evaluate(SIZE) == "14px"
    expect(cap(there, "undo")).to_have_text("z")
    there.press("q")
    there.says("notice", "2 Relevant – z to undo")
    there.press("ArrowLeft")
    there.says("notice", "grade again to change it, y to go forward")
    there.press("s")
    there.says("notice", "This document is already judged: press y to go forward.")
    there.press("y")
    there.shows("d103")
    there.saved()
    assert words(desk) == [
        ("d100", 2), ("d101", 2), ("d101", "undone"), ("d101", 1),
        ("d102", 2), ("d102", "undone"), ("d102", 2),
    ]  # fmt: skip


@pytest.mark.long
def test_kept_settings_that_are_broken_do_no_harm(desk: Desk, make_card: MakeCard) -> None:
    keys = {"undo": "r", "none": "n", "skip": 7, "digit:2": "2", "digit:9": "y"}
    desk.own = {"size": "1px;color:red", "measure": 10**9, "leading": None, "keys": keys, "marks": 1, "long": {}}
    card = make_card().open()
    assert card.page.evaluate(SIZE) == "16px"
    assert card.page.evaluate(MEASURE) == "800px"
    card.press("r", "y", "n", "2", "1")
    card.saved()
    assert words(desk) == [("d100", 2), ("d101", 1)]


@pytest.mark.long
def test_keys_that_are_taken_are_refused_or_swapped_and_all_can_be_reset(card: Card) -> None:
    card.press(",")
    for key, said in {
        "r": "r cannot be used: the app already uses it.",
        "7": "7 cannot be used: digits are reserved for answers.",
        "ArrowDown": "↓ cannot be used: it scrolls the document.",
        "F5": "F5 cannot be used: the browser uses it.",
        "u": "“Undo” already has the key u.",
    }.items():
        rekey(card, "undo", key)
        expect(card.part("keys-say")).to_have_text(said)
        expect(cap(card, "undo")).to_have_text("u")
    assert card.page.evaluate(KEPT) is None
    rekey(card, "undo", "s")
    expect(card.part("keys-say")).to_have_text("“Undo” now has the key s. “Skip” now has u.")
    expect(cap(card, "undo")).to_have_text("s")
    expect(cap(card, "skip")).to_have_text("u")
    rekey(card, "digit:3", "m")  # a grade has no letter that it could give in return
    card.says("keys-say", "m belongs to “Note”. Give that another key first.")
    rekey(card, "help", "Escape")
    expect(card.part("keys-say")).to_have_text("")
    expect(card.part("settings-panel")).to_be_visible()
    card.page.locator("[data-do=usual-key][data-name=undo]").click()
    expect(cap(card, "undo")).to_have_text("u")
    expect(cap(card, "skip")).to_have_text("s")
    rekey(card, "digit:3", "y")
    rekey(card, "search", "b")
    card.page.get_by_role("button", name="Reset all keys").click()
    expect(cap(card, "search")).to_have_text("/")
    expect(card.page.get_by_role("button", name="Reset all keys")).to_be_hidden()
    card.press("Escape", "y")
    assert card.on_screen() == "d100"


def test_settings_and_menu_by_keyboard_and_every_action_is_a_button(card: Card, desk: Desk) -> None:
    card.press(",")
    larger = card.page.get_by_role("button", name="Larger text")
    larger.focus()
    card.press("Enter", " ")
    expect(card.part("size-is")).to_have_text("20 px")
    expect(larger).to_be_focused()
    key = card.page.locator("[data-do=rekey][data-name=skip]")
    key.focus()
    card.press("Enter", "q")
    expect(cap(card, "skip")).to_have_text("q")
    expect(key).to_be_focused()
    card.press("Enter", "Tab", "Escape")  # leaves the row, and then the panel
    expect(card.part("settings-panel")).to_be_hidden()
    card.press("q")
    card.shows("d101")

    card.press(".")
    menu = card.part("more-panel")
    expect(menu.get_by_role("button").first).to_be_focused()
    shown = menu.get_by_role("button").all_inner_texts()
    assert not {"Undo", "Skip"} & {text.split("\n")[-1] for text in shown}
    buttons = "[...window.part('card').querySelectorAll('button')].filter((b) => b.offsetParent)"
    there = set(card.page.evaluate(f"{buttons}.flatMap((b) => [b.dataset.do, b.dataset.name])"))
    card.press("ArrowDown", "ArrowUp", "ArrowUp")
    expect(menu.get_by_role("button").last).to_be_focused()
    card.press("2", "u")
    expect(menu).to_be_visible()
    card.press("w")
    expect(card.part("why-panel")).to_be_visible()
    expect(menu).to_be_hidden()
    card.press("Escape", ".")
    menu.get_by_role("button", name="Settings").click()
    expect(card.part("settings-panel")).to_be_visible()
    listed = "[...window.part('key-rows').querySelectorAll('[data-do=rekey]')].map((row) => row.dataset.name)"
    names = {name for name in card.page.evaluate(listed) if not name.startswith("digit:")}
    # These are there when there is something to do for them.
    assert names - there <= {"next-unfinished", "near", "mark", "picture", "whole", "large", *PDF}
    assert len(names) > 15
    card.press("Escape", ".", "Escape")
    expect(menu).to_be_hidden()
    card.press("1")
    card.saved()
    assert words(desk) == [("d101", 1)]


# ----------------------------------------------------------------------------------------------- flag


def test_a_flag_goes_with_the_grade_and_on_a_judged_document_leaves_it_where_it_is(
    show: MakeCard, harness: Harness
) -> None:
    long = "\n\n".join(f"Paragraph {number} stands here." for number in range(60))
    card = show(document(1, text=long), document(2), document(3))
    card.press("f")
    expect(card.part("flag")).to_have_attribute("aria-pressed", "true")
    expect(card.part("flagged")).to_be_visible()
    card.says("notice", "frame.method_1: flagged; saved with your grade")
    card.press("2")
    card.shows("d002")
    expect(card.part("flagged")).to_be_hidden()
    card.press("ArrowLeft")
    card.shows("d001")
    expect(card.part("flagged")).to_be_visible()
    card.press("PageDown")
    card.wait("window.part('scroller').scrollTop > 100", "a scrolled document")
    place = card.page.evaluate("window.part('scroller').scrollTop")
    card.page.evaluate(
        "window.drawn = 0; new MutationObserver(() => { window.drawn += 1; })"
        ".observe(part('text'), { childList: true, characterData: true, subtree: true })"
    )
    card.press("f")
    card.says("notice", "frame.method_1: flag removed")
    card.press("g")
    card.button("flag").click()
    card.says("notice", "frame.method_1: flagged")
    expect(card.part("guidelines-panel")).to_be_visible()
    assert card.page.evaluate("window.part('scroller').scrollTop") == place
    assert card.page.evaluate("window.drawn") == 0, "another document was drawn in between"
    card.saved()
    assert card.stored("draft") == 0
    card.press("ArrowRight", "f", "f", "3")
    card.saved()
    assert [(row["doc_id"], row["relevance"], row["flagged"]) for row in harness.desk.log] == [
        ("d001", 2, True), ("d001", 2, False), ("d001", 2, True), ("d002", 3, False),
    ]  # fmt: skip


# -------------------------------------------------------------------------------------------- history


@pytest.mark.long
def test_the_last_judgements_newest_first_and_one_of_them_again(card: Card, desk: Desk) -> None:
    card.press("l")
    expect(card.part("past-says")).to_have_text("You have not judged any documents yet.")
    card.part("past-words").fill("window")
    expect(card.part("past-says")).to_have_text("No judgement matches.")
    card.part("past-words").fill("")
    card.press("Escape")
    expect(card.part("history-panel")).to_be_hidden()
    card.press("3", "2", "f", "0", "x", "1")
    card.shows("d104")
    card.saved()
    card.press("l")
    expect(card.part("past-says")).to_have_text("4 judgements. Select one with ↑ ↓, open it with Enter.")
    expect(card.part("past")).to_be_focused()
    assert rows(card) == [
        ("×", "frame.method_103"),
        ("0", "frame.method_102"),
        ("2", "frame.method_101"),
        ("3", "frame.method_100"),
    ]
    expect(past(card).nth(1)).to_contain_text("Flagged")
    card.press("1", "u", "s")  # nothing is judged behind the list
    card.grade(1).click()
    card.says("notice", "Close the history first")
    card.press("ArrowDown", "ArrowDown", "ArrowUp")
    for _ in range(3):
        card.page.keyboard.down("ArrowDown")  # held
    card.page.keyboard.up("ArrowDown")
    card.press("Enter")
    card.shows("d100")
    expect(card.part("history-panel")).to_be_hidden()
    expect(card.grade(3)).to_have_attribute("aria-pressed", "true")
    card.says("notice", "grade again to change it, → to go forward, Esc to return")
    card.press("Escape")
    card.shows("d104")
    card.press("l")
    expect(past(card)).to_have_count(4)
    card.press("End", "Enter")
    card.shows("d100")
    card.press("1")
    card.shows("d104")
    card.press("l")
    expect(past(card).first).to_contain_text("1 Related")
    expect(past(card).first).to_contain_text("was 3 Perfect")
    card.press("l")
    expect(card.part("history-panel")).to_be_hidden()
    card.saved()
    assert words(desk) == [("d100", 3), ("d101", 2), ("d102", 0), ("d103", "cannot judge"), ("d100", 1)]


@pytest.mark.long
def test_the_history_of_all_topics_is_filtered_revised_and_there_without_a_connection(card: Card, desk: Desk) -> None:
    card.press("3", "2", "f", "1", "1", "x", "2")
    card.saved()
    card.part("topics").select_option("t2")
    card.shows("d200")
    card.press("1")
    card.saved()
    card.open(first="d201")
    card.press("l")
    expect(past(card)).to_have_count(6)
    card.part("past-grade").select_option("1")
    expect(past(card)).to_have_count(3)
    card.part("past-topic").select_option("t1")
    expect(past(card)).to_have_count(2)
    card.part("past-grade").select_option("flagged")
    expect(past(card)).to_have_count(1)
    assert rows(card) == [("1", "frame.method_102")]
    card.part("past-grade").select_option("cannot judge")
    expect(card.part("past-says")).to_contain_text("1 judgement.")
    assert rows(card) == [("×", "frame.method_104")]
    card.part("past-grade").select_option("")
    card.part("past").focus()
    card.press("/")
    expect(card.part("past-words")).to_be_focused()
    card.page.keyboard.type("METHOD_101")
    expect(past(card)).to_have_count(1)
    card.page.keyboard.type("23 l")
    expect(card.part("past-says")).to_have_text("No judgement matches.")
    card.part("past-words").fill("method_101")
    expect(past(card)).to_have_count(1)
    expect(past(card)).to_contain_text(re.compile("[0-9]{2}:01rolling mean t1"))
    card.press("ArrowDown")
    expect(past(card)).to_have_attribute("aria-selected", "true")
    card.press("Enter")
    card.shows("d101")
    card.says("topic-title", "rolling mean t1")
    expect(card.grade(2)).to_have_attribute("aria-pressed", "true")
    card.press("0")
    card.shows("d201")
    card.says("topic-title", "rolling mean t2")
    card.saved()
    assert (desk.log[-1]["query_id"], words(desk)[-1]) == ("t1", ("d101", 0))

    card.page.context.set_offline(True)
    card.press("3", "l")
    card.part("past-topic").select_option("")
    card.part("past-words").fill("")
    card.says("past-says", "Showing only what this browser knows: there is no connection to the server.")
    assert rows(card) == [
        ("3", "frame.method_201"),
        ("0", "frame.method_101"),
        ("1", "frame.method_200"),
        ("×", "frame.method_104"),
        ("1", "frame.method_103"),
        ("1", "frame.method_102"),
        ("3", "frame.method_100"),
    ]
    card.part("past").focus()
    card.press("End", "Enter")
    card.shows("d100")
    card.page.context.set_offline(False)
    card.saved()


@pytest.mark.long
def test_older_judgements_are_fetched_when_the_end_is_near_and_markup_in_them_is_text(
    harness: Harness, make_card: MakeCard
) -> None:
    evil = "<img src=x onerror='window.hacked = 1'>"
    titles: dict[int, dict[str, Any]] = {119: {"title": evil}}
    desk = harness.desk = Desk({"t1": [document(number, **titles.get(number, {})) for number in range(140)]})
    for number in range(120):
        row = JUDGED | {"doc_id": f"d{number:03d}", "relevance": number % 4, "uuid": f"old-{number}"}
        desk.log.append(row | {"note": evil if number == 119 else None})
    card = make_card().open(first="d120")
    card.press("l")
    expect(past(card)).to_have_count(50)
    card.says("past-says", "50+ judgements")
    expect(past(card).first.locator("b")).to_have_text(evil)
    expect(past(card).first.locator(".cd-past-note")).to_have_text(evil)
    assert card.page.evaluate("window.hacked") is None
    card.press("End")
    expect(past(card)).to_have_count(100)
    card.press("End")
    expect(past(card)).to_have_count(120)
    card.press("End")
    expect(past(card).last).to_contain_text("frame.method_0")
    expect(past(card).last).to_have_attribute("aria-selected", "true")
    asked = [ask for name, ask in desk.requests if name == "history"]
    assert [ask.get("before") for ask in asked] == [None, 71, 21]


# -------------------------------------------------------------------------------------- near-duplicates


@pytest.mark.long
def test_a_near_duplicate_says_so_and_is_one_key_away_also_where_it_has_to_be_fetched(
    desk: Desk, make_card: MakeCard
) -> None:
    desk.log.append(JUDGED | {"doc_id": "d140", "relevance": 1, "uuid": "old"})
    desk.long_ago = {"d140"}
    desk.alike = {
        "d101": [("d100", 0.93)],
        "d100": [("d101", 0.93)],
        "d102": [("d130", 1.0)],
        "d103": [("d140", 1.0)],
    }
    card = make_card().open()
    card.wait(
        "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/near'))",
        "the answer about near-duplicates",
    )
    expect(card.part("near")).to_be_hidden()  # the other one is not judged
    card.press("2")
    expect(card.part("near")).to_contain_text("Near-duplicate of frame.method_100, which you judged 2 Relevant.")
    card.press("v")
    card.shows("d100")
    card.says("near", "This is the near-duplicate.")
    card.press("v")
    card.shows("d101")
    card.button("near").click()
    card.shows("d100")
    card.press("3")  # revised: the line says what is newer
    card.shows("d101")
    card.says("near", "which you judged 3 Perfect")
    card.press("0")
    card.shows("d102")
    expect(card.part("near")).to_be_hidden()
    card.press("v")
    card.says("notice", "No judged near-duplicate of this document is known.")
    assert card.on_screen() == "d102"
    card.saved()
    asked = [ask for name, ask in desk.requests if name == "near"]
    assert len(asked) <= 2, "once for each delivery of documents"
    assert {f"d{100 + number}" for number in range(24)} <= set(asked[0]["doc_ids"])
    card.press("1")
    card.says("near", "Same text as frame.method_140, which you judged 1 Related.")
    card.press("v")
    card.shows("d140")
    assert ("document", {"query_id": "t1", "doc_id": "d140", "said": True}) in desk.requests
    card.press("Escape")
    card.shows("d103")


# ------------------------------------------------------------------------------------------------ time


def test_time_at_work_and_what_is_left(card: Card, desk: Desk) -> None:
    card.press("t")
    expect(card.part("session-count")).to_have_text("42")
    expect(card.part("session-active")).to_have_text("27 min")
    expect(card.part("today-away")).to_have_text("12 min")
    expect(card.part("time-pace")).to_have_text("38 seconds per document")
    card.says("time-left", "14 documents left, about 7 minutes to 1.6 hours at your recent pace, if")
    card.press("1", "2")  # judging goes on beside it
    card.shows("d102")
    card.part("per-topic").get_by_role("button").nth(1).click()
    card.shows("d200")
    expect(card.part("time-panel")).to_be_hidden()
    topics = [{"query_id": f"t{n}", "title": f"topic {n}", "words": "2 judged, 3 left"} for n in range(20)]
    desk.time = TIME | {"session": TIME["session"] | {"judgements": 0}, "topics": topics, "others": 10}
    card.press("t")
    expect(card.part("session-count")).to_have_text("0")
    lines = card.part("per-topic").locator("li")
    expect(lines).to_have_count(21)
    expect(lines.first.locator("span").first).to_have_text("topic 0")
    expect(lines.first.locator("span").last).to_have_text("2 judged, 3 left")
    expect(lines.last).to_have_text("and 10 more")


@pytest.mark.long
def test_a_word_after_a_long_stretch_and_none_after_a_break(desk: Desk, make_card: MakeCard) -> None:
    desk.time = TIME | {"since_break": 30 * 60.0}  # on another device, before
    card = make_card(alone=True)
    card.page.clock.install()
    card.open()
    card.press("1")
    card.saved()

    def work(minutes: int) -> None:
        for begin in range(0, minutes, 4):  # five minutes without a key are a break
            card.page.clock.fast_forward(min(4, minutes - begin) * 60_000)
            card.press("ArrowDown")

    work(19)
    expect(card.part("resting")).to_be_hidden()
    work(2)
    card.says("resting", "You have been judging for 5")
    card.press("2")  # it is no obstacle
    expect(card.part("resting")).to_be_visible()
    card.press("Escape")
    expect(card.part("resting")).to_be_hidden()
    work(22)
    expect(card.part("resting")).to_be_hidden()
    work(4)
    card.says("resting", "You have been judging for 7")
    card.page.clock.fast_forward(5 * 60_000)  # a break
    card.press("ArrowDown")
    expect(card.part("resting")).to_be_hidden()
    work(49)
    expect(card.part("resting")).to_be_hidden()
    work(2)
    card.says("resting", "You have been judging for 51 minutes")


# --------------------------------------------------------------------------------------------- layout


@pytest.mark.long
def test_nothing_around_judging_moves_a_button(desk: Desk, make_card: MakeCard) -> None:
    card = make_card().open(padding="80px 16px 12px")
    for width, height in ((1280, 800), (1000, 700), (948, 700), (672, 800), (390, 844)):
        card.resize(width, height)
        before = card.buttons()
        assert all(x + button_width <= width for x, _, button_width, _ in before)
        assert before[-1][1] + before[-1][3] <= height
        card.press("f", "x", "1", "1", "f", "ArrowLeft")
        for key, name in ((",", "settings"), ("l", "history"), ("t", "time"), (".", "more")):
            card.press(key)
            card.keeps_buttons(before, f"{name}-panel")
            card.press("Escape")
        card.press(",")
        rekey(card, "digit:1", ";")
        assert [y for _, y, _, _ in before] == [y for _, y, _, _ in card.buttons()]
        card.page.get_by_role("button", name="Reset all keys").click()
        card.press("Escape", "ArrowRight")
