"""Several tabs of one annotator, and a second device: nothing is judged twice or lost, and counts are right."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.card_page import Card, was_undone, words
from tests.browser.waiting import wait

pytestmark = [pytest.mark.browser, pytest.mark.long]


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
    tabs = "window.part('card').cleverdon.state.tabs"
    card.wait(f"n => Object.keys({tabs}).length === n", f"{count} other tabs", arg=count, instead=tabs)


def calm(card):
    """Nothing of this tab or another is outstanding."""
    unsent = "!outbox.length && !Object.keys(otherDecisions).length"
    idle = f"(({{ outbox, otherDecisions, sync, due }}) => {unsent} && !sync.running && !due)"
    card.wait(f"{idle}(window.part('card').cleverdon.state)", "a tab with nothing outstanding")


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
    first.wait(
        "window.part('card').cleverdon.state.history.at(-1)?.decision.relevance === 1", "the other tab's judgement"
    )
    first.press("ArrowLeft")
    first.shows("d100")
    expect(first.grade(1)).to_have_attribute("aria-pressed", "true")
    for card in tabs:
        calm(card)
        card.says("topic-count", "1 of 41")
    assert words(desk) == [("d100", 3), ("d100", "undone"), ("d100", 1)]


def test_a_tab_that_is_closed_leaves_what_it_has_not_sent_to_the_other(tabs, desk):
    second, first = tabs
    desk.fail = 500
    first.press("0", "1", "2")
    second.shows("d103")
    second.says("topic-count", "3 of 41")
    assert second.page.evaluate("window.part('card').cleverdon.state.outbox") == [], "these are not its own"
    first.page.close()
    knows(second, 0)
    second.wait("window.part('card').cleverdon.state.outbox.length === 3", "three judgements to send")
    second.says("topic-count", "3 of 41")
    second.press("3")
    desk.fail = None
    second.saved()
    calm(second)
    second.says("topic-count", "4 of 41")
    assert words(desk) == [("d100", 0), ("d101", 1), ("d102", 2), ("d103", 3)]
    assert second.stored() == 0


def test_a_tab_that_dies_without_a_word_is_missed(desk, make_card, harness):
    first = make_card(alone=True).open()
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
    wait(page, "window.part('card').cleverdon.state.outbox.length === 2", "two judgements to send")
    desk.fail = None
    page.clock.fast_forward(11_000)
    second.saved()
    assert words(desk)[:2] == [("d100", 0), ("d101", 1)]
    first.saved()  # it was alive after all: the same again, which the server knows
    assert len(desk.log) == len(desk.uuids) == 2


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
    second.until(lambda: desk.skipped == [("t1", "d101")], "one skipped document", lambda: desk.skipped)
    assert first.stored("draft") == 0


def test_a_tab_of_another_annotator_is_none_of_these(desk, make_card, harness):
    first = make_card().open()
    other = Card(first.page.context.new_page(), harness.url + "/").open(annotator="grace")
    first.press("1")
    first.saved()
    assert other.on_screen() == "d100"
    assert all(ask["alone"] for name, ask in desk.requests if name == "sync")
