"""Several tabs of one annotator, and a second device: nothing is judged twice or lost, and counts are right."""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import document
from tests.browser.card_page import Card, was_undone, words

pytestmark = pytest.mark.browser


@pytest.fixture
def tabs(desk, make_card, harness):
    """Two tabs of one browser profile, both on the first topic, which know of each other."""
    first = make_card().open()
    second = Card(first.page.context.new_page(), harness.url + "/").open()
    for card in (first, second):
        knows(card, 1)
    yield first, second
    assert second.errors == []


def knows(card, count):
    """The tab knows of so many others."""
    card.page.wait_for_function("n => Object.keys(window.part('card').cleverdon.state.tabs).length === n", arg=count)


def calm(card):
    """Nothing of this tab or another is outstanding."""
    idle = "(({ outbox, told, sync, due }) => !outbox.length && !Object.keys(told).length && !sync.running && !due)"
    card.page.wait_for_function(f"{idle}(window.part('card').cleverdon.state)")


def test_two_tabs_that_take_turns_on_one_topic_judge_each_document_once(tabs, desk):
    for turn in range(40):
        one, other = tabs if turn % 3 else tabs[::-1]
        shown = one.on_screen()
        one.press(str(turn % 4))
        other.page.wait_for_function("id => window.onScreen() !== id", arg=shown)
    for card in tabs:
        card.saved()
        calm(card)
        card.says("topic-count", "40 of 41")
        card.says("all-count", "40 of 47")
        assert card.on_screen() == "d140"
    assert set(Counter(doc_id for doc_id, _ in words(desk)).values()) == {1}
    assert len(desk.log) == len(desk.uuids) == 40
    assert tabs[0].stored() == 0


def test_what_one_tab_judges_leaves_the_screen_of_the_other_and_can_be_taken_back_there(tabs, desk):
    first, second = tabs
    first.press("3")
    second.shows("d101")
    second.says("notice", "frame.method_100: judged 3 Perfect in another tab")
    second.says("topic-count", "1 of 41")
    second.press("u")
    second.shows("d100")
    was_undone(second.grade(3))
    second.press("1")
    second.shows("d101")
    first.page.wait_for_function("window.part('card').cleverdon.state.history.at(-1)?.decision.relevance === 1")
    first.press("ArrowLeft")
    first.shows("d100")
    expect(first.grade(1)).to_have_attribute("aria-pressed", "true")
    for card in tabs:
        calm(card)
        card.says("topic-count", "1 of 41")
    assert words(desk) == [("d100", 3), ("d100", "undone"), ("d100", 1)]


def test_what_is_looked_back_at_stays_in_sight(tabs, desk):
    first, second = tabs
    first.press("3")
    second.shows("d101")
    second.press("ArrowLeft")
    second.shows("d100")
    first.press("ArrowLeft", "0")
    expect(second.grade(0)).to_have_attribute("aria-pressed", "true")
    assert second.on_screen() == "d100"
    first.press("ArrowLeft", "u")  # taken back: there is nothing more to look back at
    second.says("notice", "undone in another tab")
    second.shows("d101")
    calm(first)
    assert words(desk) == [("d100", 3), ("d100", 0), ("d100", "undone")]


def test_different_topics_side_by_side(tabs, desk):
    first, second = tabs
    second.part("topics").select_option("t2")
    second.shows("d200")
    for grade in "012":
        first.press(grade)
        second.press(grade)
    second.says("rest-title", "Topic done: 3 of 3")
    for card in tabs:
        calm(card)
        card.says("all-count", "6 of 47")
        options = card.part("topics").locator("option").all_text_contents()
        assert options == ["rolling mean t1 · 3/41", "rolling mean t2 · ✓", "rolling mean t3 · 0/3"]
    asked = [ask["alone"] for name, ask in desk.requests if name == "sync" and ask["query_id"] == "t2"]
    assert not any(asked), "the server was not told of the other tab"


def test_a_tab_that_is_closed_leaves_what_it_has_not_sent_to_the_other(tabs, desk):
    second, first = tabs
    desk.fail = 500
    first.press("0", "1", "2")
    second.shows("d103")
    second.says("topic-count", "3 of 41")
    assert second.page.evaluate("window.part('status').textContent") == "", "these are not its own"
    first.page.close()
    knows(second, 0)
    second.page.wait_for_function("window.part('card').cleverdon.state.outbox.length === 3")
    second.says("topic-count", "3 of 41")
    second.press("3")
    desk.fail = None
    second.saved()
    calm(second)
    second.says("topic-count", "4 of 41")
    assert words(desk) == [("d100", 0), ("d101", 1), ("d102", 2), ("d103", 3)]
    assert second.stored() == 0


def test_a_tab_that_dies_without_a_word_is_missed(desk, make_card, harness):
    first = make_card().open()
    page = first.page.context.new_page()
    page.clock.install()
    second = Card(page, harness.url + "/").open()
    for card in (first, second):
        knows(card, 1)
    desk.fail = 500
    first.press("0", "1")
    second.shows("d102")
    # It hears and says nothing any more, as if it had been killed.
    first.page.evaluate(
        "(() => { const { card } = window.part('card').cleverdon; card.channel.close(); card.channel = undefined; })()"
    )
    for _ in range(3):
        page.clock.fast_forward(4_000)
    knows(second, 0)
    page.wait_for_function("window.part('card').cleverdon.state.outbox.length === 2")
    desk.fail = None
    page.clock.fast_forward(11_000)
    second.saved()
    assert words(desk)[:2] == [("d100", 0), ("d101", 1)]
    first.saved()  # it was alive after all: the same again, which the server knows
    assert len(desk.log) == len(desk.uuids) == 2


def test_a_revision_never_overtakes_what_another_tab_has_not_sent(tabs, desk):
    first, second = tabs
    desk.fail = 503
    first.press("3")
    second.shows("d101")
    second.press("ArrowLeft", "0")
    second.says("status", "2 not saved yet")
    first.page.evaluate("window.part('card').cleverdon.card.time('retry', null)")  # the first tab does not get to it
    desk.fail = None
    second.saved()
    assert words(desk) == [("d100", 3), ("d100", 0)]
    first.page.evaluate("window.part('card').cleverdon.card.dispatch({ type: 'wake' })")
    first.press("1")
    for card in tabs:
        calm(card)
        card.says("topic-count", "2 of 41")
    assert len(desk.log) == len(desk.uuids) == 3


def test_a_new_tab_leaves_to_the_first_what_that_one_is_sending(desk, make_card, harness):
    first = make_card().open()
    desk.fail = 503
    first.press("1", "2")
    first.says("status", "2 not saved yet")
    second = Card(first.page.context.new_page(), harness.url + "/").open(first=None)
    knows(first, 1)
    desk.fail = None
    second.shows("d102")
    for card in (first, second):
        card.saved()
        calm(card)
        card.says("topic-count", "2 of 41")
    assert words(desk) == [("d100", 1), ("d101", 2)]


def test_notes_flags_settings_and_skips_are_known_in_both(tabs, desk):
    first, second = tabs
    first.press("f", "m")
    first.part("note-text").fill("half of it")
    first.press("Enter")
    expect(second.part("note-line")).to_have_text("Note: half of it")
    expect(second.part("flagged")).to_be_visible()
    first.press(",")
    first.page.locator("[data-do=rekey][data-name=skip]").click()
    first.press("k", "Escape")
    expect(second.page.locator(".cd-bar kbd[data-key=skip]")).to_have_text("k")
    second.press("2")
    first.shows("d101")
    second.press("k")
    first.shows("d102")
    first.says("notice", "skipped in another tab")
    second.shows("d102")
    second.saved()
    assert [(row["doc_id"], row["note"], row["flagged"]) for row in desk.log] == [("d100", "half of it", True)]
    second.until(lambda: desk.skipped == [("t1", "d101")])
    assert first.stored("draft") == 0


def test_what_an_undo_brings_back_is_known_in_both(tabs, desk):
    second, first = tabs
    first.press("f", "m")
    first.part("note-text").fill("mine")
    first.press("Enter", "2")
    second.shows("d101")
    calm(second)
    first.press("u")
    first.shows("d100")
    first.saved()
    second.page.wait_for_function("window.part('card').cleverdon.state.history.length === 0")
    first.page.close()
    knows(second, 0)
    second.part("topics").select_option("t2")
    second.shows("d200")
    second.part("topics").select_option("t1")
    second.shows("d100")
    expect(second.part("note-line")).to_have_text("Note: mine")
    expect(second.part("flagged")).to_be_visible()
    second.press("3")
    second.saved()
    assert [(row["relevance"], row["note"], row["flagged"]) for row in desk.log] == [
        (2, "mine", True), (None, None, False), (3, "mine", True),
    ]  # fmt: skip


def test_what_is_refused_in_one_tab_leaves_the_other_as_well(tabs, desk):
    first, second = tabs
    desk.refuse = {"d100": "the topic is closed"}
    first.press("1", "2")
    for card in tabs:
        card.says("refused", "the topic is closed")
        card.says("topic-count", "1 of 41")
    second.press("ArrowLeft")
    second.shows("d101")
    second.button("dismiss").click()
    expect(first.part("refused")).to_be_empty()


def test_a_tab_of_another_annotator_is_none_of_these(desk, make_card, harness):
    first = make_card().open()
    other = Card(first.page.context.new_page(), harness.url + "/").open(annotator="grace")
    first.press("1")
    first.saved()
    assert other.on_screen() == "d100"
    assert all(ask["alone"] for name, ask in desk.requests if name == "sync")


# ----------------------------------------------------------------------------------- a second device


def test_a_second_device_begins_where_the_first_one_stopped(desk, make_card):
    first = make_card().open(query_id="t3", first="d300")
    first.press("1")
    first.saved()
    second = make_card().open(first="d301")
    second.says("topic-title", "rolling mean t3")


def test_the_newer_of_both_devices_wins(desk, make_card):
    card = make_card().open()
    card.press("1")
    card.part("topics").select_option("t2")
    card.shows("d200")
    card.saved()
    card.open(first="d200")  # this browser's own visit is newer than its last judgement
    other = make_card().open(query_id="t3", first="d300")
    other.press("1")
    other.saved()
    card.open(first="d301")
    card.part("topics").select_option("t2")
    card.shows("d200")
    card.open(first="d200")  # and again: nothing new elsewhere
    card.open(first="d101", query_id="t1")  # what is asked for wins in any case


def test_a_topic_that_is_done_or_gone_is_no_beginning(harness, make_card):
    harness.desk = type(harness.desk)({"t1": [document(1)], "t2": [document(2)]})
    harness.desk.elsewhere = "gone"
    card = make_card().open(first="d001")
    card.press("1")
    card.saved()
    harness.desk.elsewhere = "t1"
    card.open(first="d002")
