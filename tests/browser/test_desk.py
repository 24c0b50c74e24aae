"""What stands around judging on the card: settings and keys, flags, the last judgements, near-duplicates, time."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import TIME, document
from tests.browser.card_page import words

pytestmark = pytest.mark.browser


def rekey(card, name, key):
    """Give an action or a grade another key, in the panel."""
    card.page.locator(f"[data-do=rekey][data-name='{name}']").click()
    card.press(key)


def cap(card, name):
    """What is printed on an action's button."""
    return card.page.locator(f".cd-bar kbd[data-key='{name}']").first


def rows(card):
    """The list of the last judgements: grade, and first line."""
    found = card.part("past").get_by_role("option")
    return [
        (row.locator(".cd-grade").inner_text(), row.locator(".cd-found-head b").inner_text()) for row in found.all()
    ]


# ------------------------------------------------------------------------------------------- settings


def test_texts_are_set_as_one_likes_and_stay_so(card, desk):
    size = "part => getComputedStyle(window.part(part)).fontSize"
    width = card.page.evaluate("getComputedStyle(window.part('document')).maxWidth")
    card.press(",")
    expect(card.part("settings-panel")).to_be_focused()
    expect(card.part("size-is")).to_have_text("16 px")
    card.page.get_by_role("button", name="Larger text").click(click_count=2)
    card.page.get_by_role("button", name="Shorter lines").click()
    card.page.get_by_role("button", name="Lines further apart").click()
    assert card.page.evaluate(size, "text") == "20px"
    assert card.page.evaluate("getComputedStyle(window.part('text')).lineHeight") == "37.5px"
    assert (width, card.page.evaluate("getComputedStyle(window.part('document')).maxWidth")) == ("800px", "680px")
    smallest = card.page.get_by_role("button", name="Smaller text")
    smallest.focus()
    card.press(*["Enter"] * 5)
    expect(smallest).to_have_attribute("aria-disabled", "true")
    assert card.page.evaluate(size, "text") == "14px"
    switch = card.page.get_by_role("switch", name="Always show full documents")
    expect(switch).to_have_attribute("aria-checked", "false")
    switch.click()
    card.page.get_by_role("switch", name="Highlight topic words").click()
    card.press("2", "Escape")
    assert card.on_screen() == "d100", "a digit in the settings is no grade"
    card.page.wait_for_function(
        "JSON.parse(localStorage.getItem('cleverdon:frames%3A%202026:ada:own')).unsent === false"
    )
    assert desk.own["size"] == 14
    assert (desk.own["long"], desk.own["marks"]["topic"]) == ("whole", False)
    card.open()
    assert card.page.evaluate(size, "text") == "14px"
    card.press(",")
    expect(card.page.get_by_role("switch", name="Highlight topic words")).to_have_attribute("aria-checked", "false")


def test_sizes_that_are_none_count_as_the_usual_ones(desk, make_card):
    desk.own = {"size": "1px;color:red", "measure": 10**9, "leading": None}
    card = make_card().open()
    assert card.page.evaluate("getComputedStyle(window.part('text')).fontSize") == "16px"
    assert card.page.evaluate("getComputedStyle(window.part('document')).maxWidth") == "800px"


def test_keys_of_ones_own_here_after_a_reload_and_on_another_device(card, desk, make_card):
    card.press(",")
    rekey(card, "undo", "z")
    expect(cap(card, "undo")).to_have_text("z")
    rekey(card, "digit:2", "k")
    expect(card.grade(2).locator("kbd")).to_have_text(["2", "k"])
    card.press("Escape", "k", "2", "u", "z", "1")
    card.shows("d102")
    card.saved()
    card.page.wait_for_function("localStorage.getItem('cleverdon:frames%3A%202026:ada:own').includes('false')")
    assert desk.own["keys"] == {"undo": "z", "digit:2": "k"}
    card.open(first="d102").press("k", "z", "?")
    expect(card.part("action-keys").locator("dt").first).to_have_text("z")
    expect(card.part("grade-keys").locator("dt").nth(2)).to_have_text("2 k")
    card.press("Escape")
    card.saved()
    there = make_card().open(first="d102")
    expect(cap(there, "undo")).to_have_text("z")
    there.press("k", "z", "3")
    there.saved()
    assert words(desk) == [
        ("d100", 2), ("d101", 2), ("d101", "undone"), ("d101", 1),
        ("d102", 2), ("d102", "undone"), ("d102", 2), ("d102", "undone"), ("d102", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("r", "r cannot be used: the app already uses it."),
        ("7", "7 cannot be used: digits are reserved for answers."),
        ("ArrowDown", "↓ cannot be used: it scrolls the document."),
        ("F5", "F5 cannot be used: the browser uses it."),
        ("u", "“Undo” already has the key u."),
    ],
)
def test_keys_that_are_not_to_be_had(card, desk, key, said):
    card.press(",")
    rekey(card, "undo", key)
    expect(card.part("keys-say")).to_have_text(said)
    expect(cap(card, "undo")).to_have_text("u")
    assert desk.own is None


def test_a_key_that_another_has_is_swapped_and_all_can_be_as_before(card):
    card.press(",")
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
    rekey(card, "digit:3", "j")
    rekey(card, "search", "b")
    card.page.get_by_role("button", name="Reset all keys").click()
    expect(cap(card, "search")).to_have_text("/")
    expect(card.page.get_by_role("button", name="Reset all keys")).to_be_hidden()
    card.press("Escape", "j")
    assert card.on_screen() == "d100"


def test_the_settings_by_keyboard_alone(card):
    card.press(",")
    larger = card.page.get_by_role("button", name="Larger text")
    larger.focus()
    card.press("Enter", " ")
    expect(card.part("size-is")).to_have_text("20 px")
    expect(larger).to_be_focused()
    key = card.page.locator("[data-do=rekey][data-name=skip]")
    key.focus()
    card.press("Enter", "k")
    expect(cap(card, "skip")).to_have_text("k")
    expect(key).to_be_focused()
    card.press("Enter", "Tab", "Escape")  # leaves the row, and then the panel
    expect(card.part("settings-panel")).to_be_hidden()
    card.press("k")
    card.shows("d101")


def test_settings_that_were_not_sent_are_sent_at_the_next_start(card, desk):
    desk.fail = 503
    with card.page.expect_response("**/settings"):
        card.press("h")
    desk.fail = None
    with card.page.expect_response("**/settings"):
        card.open()
    assert desk.own["marks"] == {"topic": False, "own": False}
    kept = "JSON.parse(localStorage.getItem('cleverdon:frames%3A%202026:ada:own'))"
    card.page.wait_for_function(f"{kept}.unsent === false")


def test_sentences_name_the_keys_that_are_ones_own(desk, make_card):
    desk.own = {"keys": {"undo": "k", "forward": "j"}}
    card = make_card().open()
    card.press("2")
    card.says("notice", "2 Relevant – k to undo")
    card.press("ArrowLeft")
    card.says("notice", "grade again to change it, j to go forward")
    card.press("s")
    card.says("notice", "This document is already judged: press j to go forward.")
    card.press("j")
    card.shows("d101")


# ----------------------------------------------------------------------------------------------- flag


def test_a_flag_goes_with_the_grade_and_comes_off_again(card, desk):
    card.press("f")
    expect(card.part("flag")).to_have_attribute("aria-pressed", "true")
    expect(card.part("flagged")).to_be_visible()
    card.says("notice", "frame.method_100: flagged; saved with your grade")
    card.open()  # it waits in this browser
    expect(card.part("flagged")).to_be_visible()
    card.press("2")
    card.shows("d101")
    expect(card.part("flagged")).to_be_hidden()
    card.press("1", "ArrowLeft", "f")  # at a judged one it is saved at once
    card.shows("d101")
    card.says("notice", "frame.method_101: flagged")
    card.press("f")
    card.says("notice", "flag removed")
    card.saved()
    assert [(row["doc_id"], row["relevance"], row["flagged"]) for row in desk.log] == [
        ("d100", 2, True), ("d101", 1, False), ("d101", 1, True), ("d101", 1, False),
    ]  # fmt: skip
    assert card.stored("draft") == 0
    card.press("ArrowRight", "f", "f", "3")
    card.saved()
    assert desk.log[-1]["flagged"] is False


def test_a_flag_on_a_judged_document_leaves_it_where_it_is(show, harness):
    long = "\n\n".join(f"Paragraph {number} stands here." for number in range(60))
    card = show(document(1, text=long), document(2))
    card.press("2", "ArrowLeft")
    card.shows("d001")
    card.press("PageDown")
    card.page.wait_for_function("window.part('scroller').scrollTop > 100")
    place = card.page.evaluate("window.part('scroller').scrollTop")
    card.page.evaluate(
        "window.drawn = 0; new MutationObserver(() => { window.drawn += 1; })"
        ".observe(part('text'), { childList: true, characterData: true, subtree: true })"
    )
    card.press("f")
    card.says("notice", "frame.method_1: flagged")
    card.press("g")
    card.button("flag").click()
    card.says("notice", "frame.method_1: flag removed")
    expect(card.part("guidelines-panel")).to_be_visible()
    assert card.page.evaluate("window.part('scroller').scrollTop") == place
    assert card.page.evaluate("window.drawn") == 0, "another document was drawn in between"
    card.saved()
    assert [row["flagged"] for row in harness.desk.log] == [False, True, False]


def test_the_time_of_a_flag_on_a_judged_document_counts_once(desk, make_card):
    card = make_card(alone=True)
    card.page.clock.install()
    card.open()
    card.press("2", "ArrowLeft")
    card.shows("d100")
    card.page.clock.fast_forward(20_000)
    card.press("f")
    card.page.clock.fast_forward(7_000)
    card.press("f")
    card.saved()
    seconds = [row["seconds"] + row["away"] for row in desk.log[1:]]
    assert seconds == [pytest.approx(20, abs=2), pytest.approx(7, abs=2)]


# -------------------------------------------------------------------------------------------- history


def test_the_last_judgements_newest_first_and_one_of_them_again(card, desk):
    card.press("3", "2", "f", "0", "x", "1")
    card.shows("d104")
    card.saved()
    card.press("l")
    expect(card.part("past-says")).to_have_text("4 judgements. Select one with ↑ ↓, open it with Enter.")
    expect(card.part("past")).to_be_focused()
    methods = [
        ("×", "frame.method_103"),
        ("0", "frame.method_102"),
        ("2", "frame.method_101"),
        ("3", "frame.method_100"),
    ]
    assert rows(card) == methods
    expect(card.part("past").get_by_role("option").nth(1)).to_contain_text("Flagged")
    card.press("1", "u", "s")  # nothing is judged behind the list
    card.grade(1).click()
    card.says("notice", "Close the history first")
    card.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "End", "Enter")
    card.shows("d100")
    expect(card.part("history-panel")).to_be_hidden()
    expect(card.grade(3)).to_have_attribute("aria-pressed", "true")
    card.press("1")
    card.shows("d104")
    card.press("l")
    first = card.part("past").get_by_role("option").first
    expect(first).to_contain_text("1 Related")
    expect(first).to_contain_text("was 3 Perfect")
    card.press("l")
    expect(card.part("history-panel")).to_be_hidden()
    card.saved()
    assert words(desk) == [("d100", 3), ("d101", 2), ("d102", 0), ("d103", "cannot judge"), ("d100", 1)]


def test_a_held_arrow_goes_on_through_the_history(card):
    card.press("3", "2", "0")
    card.shows("d103")
    card.press("l")
    for _ in range(3):
        card.page.keyboard.down("ArrowDown")
    card.page.keyboard.up("ArrowDown")
    card.press("Enter")
    card.shows("d100")


def test_an_empty_history_says_that_nothing_is_judged(card):
    card.press("l")
    expect(card.part("past-says")).to_have_text("You have not judged any documents yet.")
    card.part("past-words").fill("window")
    expect(card.part("past-says")).to_have_text("No judgement matches.")


def test_another_topics_judgement_opens_with_its_topic_and_is_revised(desk, make_card):
    card = make_card().open(query_id="t2", first="d200")
    card.press("2")
    card.saved()
    card = make_card().open(query_id="t1")
    card.press("1", "l")
    expect(card.part("past").get_by_role("option")).to_have_count(2)
    card.press("ArrowDown", "ArrowDown")
    assert rows(card) == [("1", "frame.method_100"), ("2", "frame.method_200")]
    second = card.part("past").get_by_role("option").nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    expect(second).to_contain_text(re.compile("(12 Mar( 2026)? )?[0-9]{2}:00rolling mean t2"))
    card.press("Enter")
    card.shows("d200")
    card.says("topic-title", "rolling mean t2")
    expect(card.grade(2)).to_have_attribute("aria-pressed", "true")
    card.press("0")
    card.shows("d101")
    card.says("topic-title", "rolling mean t1")
    card.saved()
    assert words(desk) == [("d200", 2), ("d100", 1), ("d200", 0)]
    assert desk.log[-1]["query_id"] == "t2"


def test_the_list_is_filtered_here_and_there(card, desk):
    card.press("3", "2", "f", "1", "1", "x", "2")
    card.saved()
    card.part("topics").select_option("t2")
    card.shows("d200")
    card.press("1")
    card.saved()
    card.open(first="d201")
    card.press("l")
    expect(card.part("past").get_by_role("option")).to_have_count(6)
    card.part("past-grade").select_option("1")
    expect(card.part("past").get_by_role("option")).to_have_count(3)
    card.part("past-topic").select_option("t1")
    expect(card.part("past").get_by_role("option")).to_have_count(2)
    card.part("past-grade").select_option("flagged")
    expect(card.part("past").get_by_role("option")).to_have_count(1)
    assert rows(card) == [("1", "frame.method_102")]
    card.part("past-grade").select_option("cannot judge")
    expect(card.part("past-says")).to_contain_text("1 judgement.")
    assert rows(card) == [("×", "frame.method_104")]
    card.part("past-grade").select_option("")
    card.part("past").focus()
    card.press("/")
    expect(card.part("past-words")).to_be_focused()
    card.page.keyboard.type("METHOD_101")
    expect(card.part("past").get_by_role("option")).to_have_count(1)
    card.page.keyboard.type("23 l")
    expect(card.part("past-says")).to_have_text("No judgement matches.")
    card.part("past-words").fill("method_101")
    expect(card.part("past").get_by_role("option")).to_have_count(1)
    card.press("ArrowDown", "Enter")
    card.shows("d101")


def test_more_are_fetched_when_the_end_is_near(harness, make_card):
    harness.desk = type(harness.desk)({"t1": [document(number) for number in range(140)]})
    usual = {"note": None, "flagged": False, "passages": [], "reason": None, "query_id": "t1", "kind": "graded"}
    for number in range(120):
        row = usual | {"doc_id": f"d{number:03d}", "relevance": number % 4, "uuid": f"old-{number}"}
        harness.desk.log.append(row)
    card = make_card().open(first="d120")
    card.press("l")
    options = card.part("past").get_by_role("option")
    expect(options).to_have_count(50)
    card.says("past-says", "50+ judgements")
    card.press("End")
    expect(options).to_have_count(100)
    card.press("End")
    expect(options).to_have_count(120)
    card.press("End")
    expect(options.last).to_contain_text("frame.method_0")
    expect(options.last).to_have_attribute("aria-selected", "true")
    asked = [ask for name, ask in harness.desk.requests if name == "history"]
    assert [ask.get("before") for ask in asked] == [None, 71, 21]


def test_without_a_connection_the_list_is_what_the_browser_knows(card, desk):
    card.press("1")
    card.saved()
    card.open(first="d101")
    card.press("2")
    card.saved()
    card.page.context.set_offline(True)
    card.press("3", "l")
    card.says("past-says", "Showing only what this browser knows: there is no connection to the server.")
    assert rows(card) == [("3", "frame.method_102"), ("2", "frame.method_101"), ("1", "frame.method_100")]
    card.press("End", "Enter")
    card.shows("d100")
    card.page.context.set_offline(False)
    card.saved()


def test_markup_in_the_list_is_text(harness, make_card):
    evil = "<img src=x onerror='window.hacked = 1'>"
    harness.desk = type(harness.desk)({"t1": [document(1, title=evil), document(2)]})
    card = make_card().open(first="d001")
    card.press("m")
    card.part("note-text").fill(evil)
    card.press("Enter", "2")
    card.shows("d002")
    card.saved()
    card.press("l")
    expect(card.part("past").locator("b")).to_have_text(evil)
    expect(card.part("past").locator(".cd-past-note")).to_have_text(evil)
    assert card.page.evaluate("window.hacked") is None


# -------------------------------------------------------------------------------------- near-duplicates


def test_a_near_duplicate_says_so_and_is_one_key_away(desk, make_card):
    desk.alike = {"d101": [("d100", 0.93)], "d100": [("d101", 0.93)], "d102": [("d130", 1.0)]}
    card = make_card().open()
    card.page.wait_for_function("performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/near'))")
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


def test_a_near_duplicate_that_this_browser_does_not_hold(desk, make_card):
    desk.alike = {"d101": [("d100", 1.0)]}
    before = make_card().open()
    before.press("1")
    before.saved()
    desk.long_ago = {"d100"}
    card = make_card().open(first="d101")
    card.says("near", "Same text as frame.method_100, which you judged 1 Related.")
    card.press("v")
    card.shows("d100")
    assert ("document", {"query_id": "t1", "doc_id": "d100", "said": True}) in desk.requests
    card.press("Escape")
    card.shows("d101")


@pytest.mark.slow
def test_near_duplicates_are_asked_for_again_while_the_server_has_not_compared_all(desk, make_card, monkeypatch):
    near, left = desk.near, [True, True, False]
    monkeypatch.setattr(desk, "near", lambda ask: {"near": {}, "more": True} if left and left.pop(0) else near(ask))
    desk.alike = {"d101": [("d100", 0.93)]}
    card = make_card().open()
    card.press("2")
    expect(card.part("near")).to_contain_text("which you judged 2 Relevant")
    card.saved()
    assert left == []
    asked = [ask["doc_ids"] for name, ask in desk.requests if name == "near"]
    assert all("d101" in doc_ids for doc_ids in asked)


def test_the_manager_may_want_no_word_of_near_duplicates(desk, make_card):
    desk.card = desk.card | {"near": False}
    card = make_card().open()
    card.press("1")
    card.saved()
    assert "near" not in [name for name, _ in desk.requests]


# ------------------------------------------------------------------------------------------------ time


def test_time_at_work_and_what_is_left(card, desk):
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
    card.press("t")
    desk.time = TIME | {
        "left": None,
        "estimate": None,
        "why": "the end is not known in advance; managers see on Recall when to stop",
    }
    card.press("t", "t")
    card.says("time-left", "The end is not known in advance; managers see on Recall when to stop.")
    desk.time = TIME | {"estimate": None, "left": 1, "session": None, "why": "an estimate needs 15 judgements"}
    card.press("t", "t")
    expect(card.part("time-left")).to_have_text("1 document left. An estimate needs 15 judgements.")
    expect(card.part("session-count")).to_have_text("0")


def test_a_word_after_a_long_stretch_and_none_after_a_break(desk, make_card):
    desk.time = TIME | {"since_break": 30 * 60.0}  # on another device, before
    card = make_card(alone=True)
    card.page.clock.install()
    card.open()
    card.press("1")
    card.saved()

    def work(minutes):
        for _ in range(minutes):
            card.page.clock.fast_forward(60_000)
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
    work(3)
    card.says("resting", "You have been judging for 7")
    card.page.clock.fast_forward(5 * 60_000)  # a break
    card.press("ArrowDown")
    expect(card.part("resting")).to_be_hidden()
    work(49)
    expect(card.part("resting")).to_be_hidden()
    work(2)
    card.says("resting", "You have been judging for 50 minutes")


# ------------------------------------------------------------------------------------------- the menu


def test_the_menu_has_what_has_no_button(card, desk):
    card.press(".")
    menu = card.part("more-panel")
    first = menu.get_by_role("button").first
    expect(first).to_be_focused()
    shown = menu.get_by_role("button").all_inner_texts()
    assert not {"Undo", "Skip"} & {text.split("\n")[-1] for text in shown}
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
    card.press("Escape", ".", "Escape")
    expect(menu).to_be_hidden()
    card.press("1")
    card.saved()
    assert words(desk) == [("d100", 1)]


def test_every_action_is_a_button_or_in_the_menu(card):
    card.press(".")
    buttons = "[...window.part('card').querySelectorAll('button')].filter((b) => b.offsetParent)"
    there = set(card.page.evaluate(f"{buttons}.flatMap((b) => [b.dataset.do, b.dataset.name])"))
    card.press("Escape", ",")
    rows_ = "[...window.part('key-rows').querySelectorAll('[data-do=rekey]')].map((row) => row.dataset.name)"
    names = {name for name in card.page.evaluate(rows_) if not name.startswith("digit:")}
    # These are there when there is something to do for them.
    assert names - there <= {"next-unfinished", "near", "mark", "picture", "whole", "large"}
    assert len(names) > 15


@pytest.mark.parametrize("size", [(1280, 800), (1000, 700), (948, 700), (672, 800), (390, 844)])
def test_nothing_around_judging_moves_a_button(desk, make_card, size):
    card = make_card(viewport={"width": size[0], "height": size[1]}).open(padding="80px 16px 12px")
    buttons = card.page.locator("[data-part=grades] button, .cd-actions button")
    before = [button.bounding_box() for button in buttons.all()]
    assert all(box["x"] + box["width"] <= size[0] for box in before)
    assert before[-1]["y"] + before[-1]["height"] <= size[1]
    card.press("f", "x", "1", "1", "f", "ArrowLeft")
    for key, name in ((",", "settings"), ("l", "history"), ("t", "time"), (".", "more")):
        card.press(key)
        panel = card.part(f"{name}-panel")
        expect(panel).to_be_visible()
        box, bar = panel.bounding_box(), card.part("notice").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]
        assert box["y"] + box["height"] <= bar["y"] + 1 or box["x"] + box["width"] <= bar["x"]
        assert before == [button.bounding_box() for button in buttons.all()]
        assert card.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        card.press("Escape")
    card.press(",")
    rekey(card, "digit:1", ";")
    assert [b["y"] for b in before] == [button.bounding_box()["y"] for button in buttons.all()]


def test_kept_settings_that_are_broken_do_no_harm(desk, make_card):
    desk.own = {"keys": {"undo": "r", "none": "n", "skip": 7, "digit:2": "2", "digit:9": "j"}, "marks": 1, "long": {}}
    card = make_card().open()
    card.press("r", "j", "n", "2", "1")
    card.saved()
    assert json.dumps(words(desk)) == '[["d100", 2], ["d101", 1]]'


def test_time_lists_topics_that_are_begun_first_and_no_endless_list(desk, make_card):
    rows = [{"query_id": f"t{n}", "title": f"topic {n}", "judged": 0, "left": 5, "seconds": None} for n in range(30)]
    rows[0] |= {"judged": 5, "left": 0, "seconds": 3.0}
    rows[7] |= {"judged": 2, "left": 3, "seconds": 0.2}
    desk.time = desk.time | {"per_topic": rows}
    card = make_card().open()
    card.press("t")
    lines = card.part("per-topic").locator("li")
    expect(lines).to_have_count(21)
    expect(lines.first.locator("span").first).to_have_text("topic 7")
    expect(lines.first.locator("span").last).to_have_text("2 judged, 3 left")  # not "0 s each"
    expect(lines.last).to_have_text("and 10 more")


def test_what_the_history_opens_says_the_way_back(card, desk):
    card.press("1", "2", "l")
    expect(card.part("past").get_by_role("option")).to_have_count(2)
    card.press("End", "Enter")
    card.shows("d100")
    card.says("notice", "grade again to change it, → to go forward, Esc to return")
    card.press("Escape")
    card.shows("d102")
