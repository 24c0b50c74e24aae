"""The card's guidelines, notes with a judgement, calibration, and what it says to those who are shut out."""

import statistics

import pytest
from playwright.sync_api import expect

from collection.documents.rendering.markup import to_html
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


def test_a_note_goes_with_the_next_grade_of_its_document(card, desk):
    keep(card, "  half of it  ")
    expect(card.part("note-line")).to_have_text("Note: half of it")
    card.press("s")
    card.shows("d101")
    expect(card.part("note-line")).to_be_hidden()
    card.press("2")
    keep(card, "no text")
    card.press("x", "1")
    card.saved()
    assert notes(desk) == [("d101", 2, None), ("d102", None, "no text")]
    assert card.stored("draft") == 1
    card.open(first="d103")  # the note waits for d100, which comes last
    for _ in range(200):
        if card.on_screen() == "d100":
            break
        card.press("0", every=20)
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: half of it")
    card.press("3")
    card.saved()
    assert notes(desk)[-1] == ("d100", 3, "half of it")
    assert card.stored("draft") == 0


def test_a_note_survives_a_reload_before_and_after_its_grade(card, desk):
    keep(card, "first")
    card.open()
    expect(card.part("note-line")).to_have_text("Note: first")
    desk.fail = 500
    card.press("1")
    card.page.wait_for_timeout(100)
    keep(card, "second")
    card.press("2")
    card.open(first=None)
    desk.fail = None
    card.saved()
    assert notes(desk) == [("d100", 1, "first"), ("d101", 2, "second")]


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


def test_the_note_of_a_judged_document_is_shown_and_changed_with_the_same_grade(card, desk):
    keep(card, "was so")
    card.press("2", "1", "ArrowLeft", "ArrowLeft")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: was so")
    keep(card, "is so")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: is so")
    keep(card, "is so")  # nothing to say
    card.saved()
    assert notes(desk) == [("d100", 2, "was so"), ("d101", 1, None), ("d100", 2, "is so")]
    card.press("3")  # another grade keeps the note
    card.press("ArrowLeft")
    keep(card, "")
    expect(card.part("note-line")).to_be_hidden()
    card.saved()
    assert notes(desk)[3:] == [("d100", 3, "is so"), ("d100", 3, None)]
    card.press("ArrowRight")
    card.shows("d102")


def test_undo_keeps_the_note_for_the_next_grade(card, desk):
    keep(card, "why")
    card.press("1", "u")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: why")
    card.press("2")
    card.saved()
    assert notes(desk) == [("d100", 1, "why"), ("d100", None, None), ("d100", 2, "why")]


def test_notes_of_before_come_with_what_was_judged(card, desk):
    keep(card, "of yesterday")
    card.press("x", "2")
    card.saved()
    card.open(first="d101")
    card.press("ArrowLeft")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: of yesterday")
    card.press("ArrowRight", "/")
    card.page.keyboard.type("method")
    card.press("Enter")
    expect(card.found().first).to_contain_text("cannot judge")
    card.press("Escape")
    # Found by searching where the card does not know it: the note comes along, and so does the reason.
    card.page.evaluate("localStorage.clear()")
    desk.log[0]["doc_id"] = "d130"
    card.open(first="d100")
    card.page.wait_for_timeout(200)
    card.press("/")
    card.page.keyboard.type("Document 130")
    card.press("Enter")
    expect(card.found()).to_have_count(1)
    card.press("Enter", "Enter")
    card.shows("d130")
    keep(card, "of today")
    card.saved()
    assert (desk.log[-1]["kind"], desk.log[-1]["note"]) == ("cannot judge", "of today")
    assert desk.log[-1]["reason"] == desk.log[0]["reason"]


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


def test_the_note_of_a_refused_judgement_is_not_lost(card, desk):
    desk.refuse = {"d100": "it was not handed out"}
    keep(card, "kept")
    card.press("1")
    card.says("refused", "it was not handed out")
    assert card.stored("draft") == 1
    desk.refuse = {}
    card.open()
    expect(card.part("note-line")).to_have_text("Note: kept")
    card.press("2")
    card.saved()
    assert notes(desk) == [("d100", 2, "kept")]


def test_a_refusal_never_overwrites_newer_words(card, desk):
    desk.refuse, desk.delay = {"d100": "it was not handed out"}, 0.4
    keep(card, "old")
    card.press("f", "1", "u")
    card.shows("d100")
    keep(card, "new")
    card.says("refused", "it was not handed out")
    expect(card.part("note-line")).to_have_text("Note: new")
    expect(card.part("flagged")).to_be_visible()
    card.saved()
    card.open()
    expect(card.part("note-line")).to_have_text("Note: new")


def test_a_late_refusal_leaves_what_was_judged_since_alone(card, desk):
    class Once(dict[str, str]):
        def __getitem__(self, doc_id: str) -> str:
            return self.pop(doc_id)

    desk.refuse, desk.delay = Once(d100="it was not handed out"), 0.6
    keep(card, "old")
    card.press("1", "u")
    keep(card, "new")
    card.press("2")
    card.says("refused", "frame.method_100, 1 Related")
    card.saved()
    card.press("ArrowLeft")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: new")
    assert notes(desk)[-1] == ("d100", 2, "new")
    assert card.stored("draft") == 0


def test_undo_keeps_flags_beside_a_note_that_was_begun(card, desk):
    card.press("f", "2")
    card.saved()
    card.press("ArrowLeft", "m")
    card.page.keyboard.type("half a note")
    card.part("topics").select_option("t2")
    card.shows("d200")
    card.press("ArrowLeft", "u")
    card.shows("d100")
    expect(card.part("note-line")).to_have_text("Note: half a note")
    expect(card.part("flagged")).to_be_visible()


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


def test_feedback_of_fast_keys_comes_together(desk, make_card):
    desk.settled = {"d100": (1, ""), "d101": (0, "")}
    card = make_card().open()
    desk.delay = 0.5
    with card.page.expect_request("**/sync"):  # the first goes alone, the two others together
        card.press("1")
    card.press("x", "1", "2")
    card.saved()
    said = card.part("feedback-list").locator("li")
    expect(said).to_have_count(1)
    said_and_reference = "Your grade: cannot judge (Not in a language I read). Reference grade: 0 Not relevant."
    expect(said).to_contain_text(said_and_reference)


def test_calibration_comes_first_and_never_under_the_keys(card, desk):
    desk.first = "t2"
    card.press("1")
    card.saved()
    on_screen = card.on_screen()
    assert on_screen.startswith("d1")  # what is there stays until it is judged
    for _ in range(40):
        if not card.on_screen() or card.on_screen().startswith("d2"):
            break
        card.press("0", every=30)
    card.shows("d200")
    card.says("notice", "Calibration first")
    card.part("topics").select_option("t3")
    card.shows("d200")
    desk.first = None
    card.part("topics").select_option("t3")
    card.shows("d300")
    card.saved()
    assert all(row["doc_id"].startswith("d1") for row in desk.log)


def test_a_surplus_judgement_is_said_and_not_counted(card, desk):
    desk.surplus = {"d100"}
    card.press("2")
    card.says("notice", "frame.method_100: not counted; others judged it first")
    card.press("1")
    card.saved()
    expect(card.part("notice")).not_to_contain_text("meanwhile")
    assert words(desk) == [("d100", 2), ("d101", 1)]


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
