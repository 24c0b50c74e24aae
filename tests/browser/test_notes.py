"""The card's guidelines, notes with a judgement, qualification, and what it says to those who are shut out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from collection.documents.rendering.markup import to_html
from tests.browser.card_harness import Desk, Harness, document
from tests.browser.card_page import Card, MakeCard, box, words

pytestmark = [pytest.mark.browser, pytest.mark.long]


def keep(card: Card, text: str) -> None:
    """Write a note to what is on screen."""
    card.press("m")
    expect(card.part("note-text")).to_be_focused()
    card.part("note-text").fill(text)
    card.press("Enter")
    expect(card.part("note-panel")).to_be_hidden()


def notes(desk: Desk) -> list[tuple[str, int | None, str | None]]:
    """The log of judgements with their notes."""
    return [(row["doc_id"], row["relevance"], row["note"]) for row in desk.log]


# ------------------------------------------------------------------------------------- guidelines


def test_guidelines_stand_beside_the_document_and_judging_goes_on_as_fast(desk: Desk, make_card: MakeCard) -> None:
    rules = "\n\n".join(f"Rule {i}." for i in range(200))
    desk.guidelines = to_html(f"# How\nRead **all**, [see](https://example.org/a).\n\n{rules}")
    desk.notes = {"t1": "Both <b>count</b>.\nNot a third.", "t2": "Of the second."}
    card = make_card().open()
    expect(card.part("topic-note")).to_have_text("Both <b>count</b>.\nNot a third.")
    keep(card, "One.")
    card.press("g")
    expect(card.part("guidelines-panel")).to_be_focused()
    expect(card.part("guidelines-text").locator("h3")).to_have_text("How")
    expect(card.part("guidelines-note")).to_have_text("Both <b>count</b>.\nNot a third.")
    expect(card.part("guidelines-says")).to_be_hidden()
    link = card.part("guidelines-text").locator("a")
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener noreferrer")
    panel, text = box(card.part("guidelines-panel")), box(card.part("text"))
    assert panel["x"] + panel["width"] <= text["x"], "it covers the document"
    card.press("PageDown", "PageDown")
    card.wait("window.part('guidelines-panel').scrollTop > 200", "scrolled guidelines")
    assert card.page.evaluate("window.part('scroller').scrollTop") == 0
    card.page.evaluate("window.run(); window.run();")
    card.press_in_turn(*"0123012301230123", ahead=1)
    card.shows("d116")
    card.require_drawn_at_once(16)
    expect(card.part("guidelines-panel")).to_be_visible()
    card.part("topics").select_option("t2")
    card.shows("d200")
    expect(card.part("topic-note")).to_have_text("Of the second.")
    card.part("topics").select_option("t3")
    card.shows("d300")
    expect(card.part("topic-note")).to_be_hidden()
    card.button("guidelines").click()
    expect(card.part("guidelines-panel")).to_be_visible()
    card.press("g")
    expect(card.part("guidelines-panel")).to_be_hidden()
    card.saved()
    assert words(desk) == [(f"d{100 + number}", number % 4) for number in range(16)]
    assert [name for name, _ in desk.requests].count("guidelines") == 1, "a rerun of the page asks nothing"


def test_guidelines_that_cannot_be_loaded_are_asked_for_again(desk: Desk, make_card: MakeCard) -> None:
    desk.guidelines = None
    card = make_card().open()
    card.press("g")
    card.says("guidelines-says", "The guidelines could not be loaded")
    desk.guidelines = ""
    card.press("1", "g", "g")
    expect(card.part("guidelines-says")).to_have_text("This campaign has no guidelines yet.")
    expect(card.part("topic-note-block")).to_be_hidden()
    card.saved()
    assert words(desk) == [("d100", 1)]


# ------------------------------------------------------------------------------------------- notes


def test_notes_are_written_by_key_stay_with_their_document_and_go_with_what_is_clicked(card: Card, desk: Desk) -> None:
    card.press("m")
    card.page.keyboard.type("12 u g/ m")
    expect(card.part("note-text")).to_have_value("12 u g/ m")
    card.press("Escape")
    expect(card.part("note-line")).to_be_hidden()
    card.press("m")
    expect(card.part("note-text")).to_have_value("")
    assert card.part("note-text").get_attribute("maxlength") == "2000"
    card.page.keyboard.type("one")
    card.press("Shift+Enter")
    card.page.keyboard.type("two")
    card.press("Enter", "1")

    card.shows("d101")
    card.button("note").click()
    card.page.keyboard.type("on the way")
    card.button("skip").click()
    card.says("notice", "Save or discard the note first")
    card.grade(3).click()
    card.shows("d102")
    expect(card.part("note-panel")).to_be_hidden()
    card.press("m")
    card.page.keyboard.type("odd")
    card.button("cannot-judge").click()
    card.press("2")

    card.shows("d103")
    card.press("m")
    card.page.keyboard.type("begun")
    card.part("topics").select_option("t2")
    card.shows("d200")
    expect(card.part("note-panel")).to_be_hidden()
    expect(card.part("note-line")).to_be_hidden()
    card.part("topics").select_option("t1")
    card.shows("d103")
    expect(card.part("note-line")).to_have_text("Note: begun")

    card.press("2", "ArrowLeft", "m")
    card.part("note-text").fill("of weight")
    card.button("flag").click()
    expect(card.part("note-panel")).to_be_hidden()
    expect(card.part("note-line")).to_have_text("Note: of weight")
    card.saved()
    assert card.stored("draft") == 0
    card.press("m")
    card.page.keyboard.type(", dropped")
    card.press("Escape", "f")
    card.saved()
    assert notes(desk) == [
        ("d100", 1, "one\ntwo"),
        ("d101", 3, "on the way"),
        ("d102", None, "odd"),
        ("d103", 2, "begun"),
        ("d103", 2, "of weight"),
        ("d103", 2, "of weight"),
    ]
    assert [row["flagged"] for row in desk.log[3:]] == [False, True, False]


# ------------------------------------------------------------------------- machine labels


def test_a_machine_label_is_said_to_be_one(harness: Harness, make_card: MakeCard) -> None:
    labels: list[dict[str, object]] = [
        {"label": {"label_set": "<b>rule</b>", "relevance": 2}},
        {},
        {"label": {"label_set": "clicks", "relevance": 0.25}},
    ]
    harness.desk = Desk({"t1": [document(100 + number, **label) for number, label in enumerate(labels)]})
    card = make_card().open()
    expect(card.part("machine-label")).to_have_text("Machine label by <b>rule</b>: 2 Relevant")
    card.press("1")
    card.shows("d101")
    expect(card.part("machine-label")).to_be_hidden()
    card.press("1")
    expect(card.part("machine-label")).to_have_text("Machine label by clicks: 0.25")


# ------------------------------------------------------------------------- qualification and surplus


def test_qualification_feedback_and_surplus_judgements_are_said_and_keys_go_on(
    harness: Harness, make_card: MakeCard
) -> None:
    desk = harness.desk = Desk({"t1": [document(100 + number) for number in range(4)], "t2": [document(200)]})
    desk.settled = {"d100": (1, "It only <i>names</i> it."), "d101": (2, "")}
    desk.surplus = {"d102"}
    card = make_card().open()
    expect(card.part("qualification")).to_be_visible()
    card.press("2")
    expect(card.part("feedback")).to_contain_text("frame.method_100")
    expect(card.part("feedback")).to_contain_text("Your grade: 2 Relevant. Reference grade: 1 Related.")
    expect(card.part("feedback")).to_contain_text("It only <i>names</i> it.")
    card.press("2")
    expect(card.part("feedback")).to_contain_text("Your grade: 2 Relevant. It matches the reference grade.")
    expect(card.part("feedback-list").locator("li")).to_have_count(1)
    expect(card.part("qualification")).to_be_hidden()
    card.press("3")
    card.says("notice", "frame.method_102: not counted; others judged it first")
    card.press("g", "Escape")
    expect(card.part("guidelines-panel")).to_be_hidden()
    expect(card.part("feedback")).to_be_visible()
    card.press("Escape")
    expect(card.part("feedback")).to_be_hidden()
    desk.first = "t2"
    card.press("1")
    expect(card.page.get_by_role("button", name="Begin this topic")).to_be_visible()
    card.press("Enter")
    card.shows("d200")
    card.says("notice", "Qualification first")
    card.saved()
    assert words(desk) == [("d100", 2), ("d101", 2), ("d102", 3), ("d103", 1)]


# -------------------------------------------------------------------------------------- shut out


def test_whoever_is_shut_out_is_told_why_and_loses_nothing(card: Card, desk: Desk) -> None:
    desk.token, desk.signed_in, desk.said = "second", False, "your account is locked."
    keep(card, "kept")
    card.press("1", "2")
    shown = "You are signed out: your account is locked. 2 judgements are kept"
    card.says("status", shown)
    assert (card.stored(), desk.log) == (2, [])
    card.open(first=None)
    card.says("status", shown)
    desk.signed_in = True
    card.page.evaluate("window.run({ token: 'second' })")
    card.shows("d102")
    card.saved()
    assert notes(desk) == [("d100", 1, "kept"), ("d101", 2, None)]

    desk.fail, desk.said = 403, "readers cannot judge"
    card.press("3", "0")
    card.says("status", "Readers cannot judge: 2 judgements are kept in this browser")
    assert (card.stored(), len(desk.log)) == (2, 2)
    desk.token, desk.fail = "third", None
    card.page.evaluate("window.run({ token: 'third' })")
    card.saved()
    assert words(desk)[2:] == [("d102", 3), ("d103", 0)]


# ------------------------------------------------------------------------------------------ looks


def test_panels_notes_and_feedback_leave_the_buttons_where_they_are(desk: Desk, make_card: MakeCard) -> None:
    desk.guidelines = to_html("# Rules\n" + "\n\n".join(f"Rule {i} is long enough to be broken." for i in range(60)))
    desk.notes = {"t1": "A note for it."}
    desk.settled = {f"d10{i}": (i % 4, "Somebody said why, in a sentence.") for i in range(10)}
    card = make_card().open(padding="80px 16px 12px")
    for width, height in ((1280, 800), (948, 700), (672, 800), (390, 844)):
        card.resize(width, height)
        before = card.buttons()
        assert len(before) == 14
        card.press("g")
        expect(card.part("guidelines-text")).to_contain_text("Rule 59")
        card.keeps_buttons(before, "guidelines-panel")
        card.press("g", "m")
        card.keeps_buttons(before, "note-panel")
        card.page.keyboard.insert_text("long words " * 40)
        card.press("Enter")
        expect(card.part("note-line")).to_be_visible()
        card.keeps_buttons(before)
        card.press("1", "2")
        expect(card.part("feedback")).to_contain_text("Somebody said why")
        card.keeps_buttons(before)
        feedback, page = box(card.part("feedback")), box(card.part("scroller"))
        assert feedback["y"] >= page["y"] + page["height"] - 1, "it covers the document"
        assert page["height"] > 100
        card.saved()
        card.press("Escape")
        expect(card.part("feedback")).to_be_hidden()
