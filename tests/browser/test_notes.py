"""The card's guidelines, notes with a judgement, calibration, and what it says to those who are shut out."""

import statistics

import pytest
from playwright.sync_api import expect

from collection.documents.rendering.markup import to_html
from tests.browser.card_harness import Desk, document
from tests.browser.card_page import words

pytestmark = pytest.mark.browser
SIZES = [(1280, 800), (948, 700), (672, 800), (390, 844)]


def keep(card, text):
    """Write a note to what is on screen."""
    card.press("m")
    expect(card.part("note-text")).to_be_focused()
    card.part("note-text").fill(text)
    card.press("Enter")
    expect(card.part("note-panel")).to_be_hidden()


def notes(desk):
    return [(row["doc_id"], row["relevance"], row["note"]) for row in desk.log]


# ------------------------------------------------------------------------------------- guidelines


def test_guidelines_stand_beside_the_document_and_judging_goes_on(desk, make_card):
    desk.guidelines = to_html("# How\nRead **all**, [see](https://example.org/a).")
    desk.notes = {"t1": "Both <b>count</b>.\nNot a third.", "t2": "Of the second."}
    card = make_card().open()
    expect(card.part("topic-note")).to_have_text("Both <b>count</b>.\nNot a third.")
    card.press("g")
    expect(card.part("guidelines-panel")).to_be_focused()
    expect(card.part("guidelines-text").locator("h3")).to_have_text("How")
    expect(card.part("guidelines-note")).to_have_text("Both <b>count</b>.\nNot a third.")
    expect(card.part("guidelines-says")).to_be_hidden()
    link = card.part("guidelines-text").locator("a")
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener noreferrer")
    panel, text = card.part("guidelines-panel").bounding_box(), card.part("text").bounding_box()
    assert panel["x"] + panel["width"] <= text["x"], "it covers the document"
    card.press("2", "1")
    card.shows("d102")
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
    assert words(desk) == [("d100", 2), ("d101", 1)]
    assert [name for name, _ in desk.requests].count("guidelines") == 1


def test_long_guidelines_scroll_by_key(desk, make_card):
    desk.guidelines = to_html("\n\n".join(f"Rule {i}." for i in range(80)))
    card = make_card().open()
    card.press("g")
    expect(card.part("guidelines-text")).to_contain_text("Rule 79.")
    card.press("PageDown", "PageDown")
    card.page.wait_for_function("window.part('guidelines-panel').scrollTop > 200")
    assert card.page.evaluate("window.part('scroller').scrollTop") == 0


def test_no_guidelines_and_a_route_that_fails(card, desk):
    card.press("g")
    expect(card.part("guidelines-says")).to_have_text("This campaign has no guidelines yet.")
    expect(card.part("topic-note-block")).to_be_hidden()
    desk.guidelines = None
    card.open()
    card.press("g")
    card.says("guidelines-says", "The guidelines could not be loaded")
    desk.guidelines = "<p>There.</p>"
    card.press("1", "g", "g")
    expect(card.part("guidelines-text")).to_have_text("There.")
    card.saved()
    assert words(desk) == [("d100", 1)]


def test_a_new_mount_brings_what_was_rewritten_and_a_rerun_asks_nothing(card, desk):
    desk.guidelines = "<p>Second edition.</p>"
    card.page.evaluate("window.run(); window.run();")
    card.press("1")
    card.saved()
    assert [name for name, _ in desk.requests].count("guidelines") == 1
    card.open(first="d101").press("g")
    expect(card.part("guidelines-text")).to_have_text("Second edition.")


# ------------------------------------------------------------------------------------------- notes


def test_escape_drops_and_keys_in_the_field_write(card, desk):
    card.press("m")
    card.page.keyboard.type("12 u g/ m")
    expect(card.part("note-text")).to_have_value("12 u g/ m")
    card.press("Escape")
    expect(card.part("note-line")).to_be_hidden()
    card.press("m")
    expect(card.part("note-text")).to_have_value("")
    card.page.keyboard.type("one")
    card.press("Shift+Enter")
    card.page.keyboard.type("two")
    card.press("Enter", "1")
    card.saved()
    assert notes(desk) == [("d100", 1, "one\ntwo")]
    assert card.part("note-text").get_attribute("maxlength") == "2000"


def test_a_clicked_grade_takes_along_what_is_written(card, desk):
    card.button("note").click()
    card.page.keyboard.type("on the way")
    card.button("skip").click()
    card.says("notice", "Save or discard the note first")
    card.grade(3).click()
    card.shows("d101")
    expect(card.part("note-panel")).to_be_hidden()
    card.press("m")
    card.page.keyboard.type("odd")
    card.button("cannot-judge").click()
    card.press("2")
    card.saved()
    assert notes(desk) == [("d100", 3, "on the way"), ("d101", None, "odd")]


def test_a_note_stays_with_its_document_when_the_topic_is_changed(card, desk):
    card.press("m")
    card.page.keyboard.type("begun")
    card.part("topics").select_option("t2")
    card.shows("d200")
    expect(card.part("note-panel")).to_be_hidden()
    expect(card.part("note-line")).to_be_hidden()
    card.part("topics").select_option("t1")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: begun")


def test_a_clicked_flag_takes_along_what_is_written(card, desk):
    card.press("2", "ArrowLeft", "m")
    card.page.keyboard.type("of weight")
    card.button("flag").click()
    expect(card.part("note-panel")).to_be_hidden()
    expect(card.part("note-line")).to_have_text("Note: of weight")
    card.saved()
    assert [(row["note"], row["flagged"]) for row in desk.log] == [(None, False), ("of weight", True)]
    assert card.stored("draft") == 0
    card.press("m")
    card.page.keyboard.type(", dropped")
    card.press("Escape", "f")
    card.saved()
    assert [(row["note"], row["flagged"]) for row in desk.log[2:]] == [("of weight", False)]


# ------------------------------------------------------------------------- calibration and surplus


def test_feedback_says_what_is_settled_and_keys_go_on(desk, make_card):
    desk.settled = {"d100": (1, "It only <i>names</i> it."), "d101": (2, "")}
    card = make_card().open()
    expect(card.part("calibration")).to_be_visible()
    card.press("2")
    expect(card.part("feedback")).to_contain_text("frame.method_100")
    expect(card.part("feedback")).to_contain_text("Your grade: 2 Relevant. Reference grade: 1 Related.")
    expect(card.part("feedback")).to_contain_text("It only <i>names</i> it.")
    card.press("2")
    expect(card.part("feedback")).to_contain_text("Your grade: 2 Relevant. It matches the reference grade.")
    expect(card.part("feedback-list").locator("li")).to_have_count(1)
    expect(card.part("calibration")).to_be_hidden()
    card.press("3", "g", "Escape")
    expect(card.part("guidelines-panel")).to_be_hidden()
    expect(card.part("feedback")).to_be_visible()
    card.press("Escape")
    expect(card.part("feedback")).to_be_hidden()
    card.saved()
    assert words(desk) == [("d100", 2), ("d101", 2), ("d102", 3)]


def test_calibration_and_surplus_judgements_are_said(harness, make_card):
    desk = harness.desk = Desk({"t1": [document(100), document(101)], "t2": [document(200)]})
    desk.surplus = {"d100"}
    card = make_card().open()
    card.press("2")
    card.says("notice", "frame.method_100: not counted; others judged it first")
    desk.first = "t2"
    card.press("1")
    card.shows("d200")
    card.says("notice", "Calibration first")
    card.saved()


# -------------------------------------------------------------------------------------- shut out


@pytest.mark.parametrize(
    ("status", "said", "shown"),
    [
        (401, "your account is locked.", "You are signed out: your account is locked. 2 judgements are kept"),
        (403, "readers cannot judge", "Readers cannot judge: 2 judgements are kept in this browser"),
    ],
)
def test_whoever_is_shut_out_is_told_why_and_loses_nothing(card, desk, status, said, shown):
    desk.said = said
    if status == 401:
        desk.token, desk.signed_in = "second", False
    else:
        desk.fail = 403
    keep(card, "kept")
    card.press("1", "2")
    card.says("status", shown)
    assert card.stored() == 2
    assert desk.log == []
    card.open(first=None)
    card.says("status", shown)
    desk.token, desk.signed_in, desk.fail = "second", True, None
    card.page.evaluate("token => window.run({ token })", desk.token)
    card.saved()
    assert notes(desk) == [("d100", 1, "kept"), ("d101", 2, None)]


# ------------------------------------------------------------------------------------------ looks


@pytest.mark.parametrize("size", SIZES)
def test_panels_notes_and_feedback_leave_the_buttons_where_they_are(desk, make_card, size):
    desk.guidelines = to_html("# Rules\n" + "\n\n".join(f"Rule {i} is long enough to be broken." for i in range(60)))
    desk.notes = {"t1": "A note for it."}
    desk.settled = {f"d10{i}": (i % 4, "Somebody said why, in a sentence.") for i in range(4)}
    card = make_card(viewport={"width": size[0], "height": size[1]}).open(padding="80px 16px 12px")
    buttons = card.page.locator("[data-part=grades] button, .cd-actions button")
    before = [button.bounding_box() for button in buttons.all()]

    def undisturbed(panel=None):
        assert before == [button.bounding_box() for button in buttons.all()]
        assert card.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        if panel:
            box, bar = card.part(panel).bounding_box(), card.part("notice").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size[0]
            assert box["y"] + box["height"] <= bar["y"] + 1 or box["x"] + box["width"] <= bar["x"]

    assert len(before) == 14
    card.press("g")
    expect(card.part("guidelines-text")).to_contain_text("Rule 59")
    undisturbed("guidelines-panel")
    card.press("g", "m")
    undisturbed("note-panel")
    card.page.keyboard.type("long words " * 40)
    card.press("Enter")
    expect(card.part("note-line")).to_be_visible()
    undisturbed()
    card.press("1", "2")
    expect(card.part("feedback")).to_contain_text("Somebody said why")
    undisturbed()
    box, document = card.part("feedback").bounding_box(), card.part("scroller").bounding_box()
    assert box["y"] >= document["y"] + document["height"] - 1, "it covers the document"
    assert document["height"] > 100


def test_notes_and_guidelines_add_nothing_to_a_key(desk, make_card):
    desk.guidelines, desk.notes = to_html("Rule.\n\n" * 200), {"t1": "A note."}
    card = make_card().open()
    keep(card, "One.")
    card.press("g")
    expect(card.part("guidelines-text")).to_contain_text("Rule.")
    card.press(*"0123012301230123", every=25)
    card.saved()
    latencies = card.page.evaluate("window.latencies")[-16:]
    print(f"\nkey to the next text beside guidelines: median {statistics.median(latencies):.2f} ms")
    assert statistics.median(latencies) < 50
