"""The judging card in a real Chromium, against a stand-in of its routes (card_harness.py)."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import REASONS, TEXT_CAP, Desk, document
from tests.browser.card_page import places, was_undone, words

pytestmark = [pytest.mark.browser, pytest.mark.long]
NO_STORAGE = "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError'); };"
NO_UUID = "delete Crypto.prototype.randomUUID;"


IN_THE_FIRST_FRAME = """(() => {
  const find = (root) => {
    for (const node of root.querySelectorAll("*")) {
      const found = node.matches(".cd-document") ? node : node.shadowRoot && find(node.shadowRoot);
      if (found) return found;
    }
    return null;
  };
  const look = () => {
    if (!find(document)?.offsetHeight) return requestAnimationFrame(look);
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "2", code: "Digit2", bubbles: true }));
  };
  requestAnimationFrame(look);
})();"""
"""Presses 2 in the first frame in which a document is visible."""


def asked(desk, name="sync"):
    return [ask for each, ask in desk.requests if each == name]


# ---------------------------------------------------------------------------------------------- grading


def test_each_key_grades_the_document_that_was_on_screen_and_shows_the_next_at_once(desk, make_card):
    card = make_card("window.ms = 0; performance.now = () => window.ms;").open()
    desk.delay = 0.2  # the network plays no part in it
    for n, key in enumerate("01233210012332100123"):
        card.page.evaluate("ms => { window.ms += ms; }", 30 + n)
        card.press_in_turn(key, ahead=1)
    card.saved()
    assert words(desk) == [(key["shown"], int(key["key"])) for key in card.pressed()]
    assert len(set(words(desk))) == len(desk.uuids) == 20
    assert all(row["source"] == "key" and row["shown_at"].endswith("Z") for row in desk.log)
    assert [row["seconds"] for row in desk.log] == [(30 + n) / 1000 for n in range(20)]
    card.require_drawn_at_once(20)


def test_a_key_counts_from_the_first_frame_that_shows_a_document(desk, make_card):
    card = make_card(IN_THE_FIRST_FRAME).open(first="d101")
    card.saved()
    assert words(desk) == [("d100", 2)]


def test_a_grade_is_never_for_what_is_not_drawn_yet(card, desk):
    assert card.press_before_next_is_drawn("2") == "d100"
    card.shows("d101")
    card.says("notice", "Not recorded")
    assert card.stored() == 0
    card.press("3")
    card.saved()
    assert words(desk) == [("d101", 3)]


def test_numpad_clicks_and_keys_of_others(card, desk):
    numpad = "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '2', code: 'Numpad2', bubbles: true }))"
    card.page.evaluate(numpad)
    card.shows("d101")
    card.grade(3).click()
    card.shows("d102")
    card.press(" ")  # scrolls; it must not press the clicked button again
    card.press("Control+1", "Alt+1", "Meta+1", "7", "r", "c")
    card.page.evaluate("document.getElementById('outside').hidden = false")
    card.page.locator("#outside").focus()
    card.press("1", "u")
    card.saved()
    assert card.on_screen() == "d102"
    assert words(desk) == [("d100", 2), ("d101", 3)]
    assert [row["source"] for row in desk.log] == ["key", "click"]


def test_held_keys_count_once(card, desk):
    for key in ("1", "u", "2"):
        for _ in range(6):
            card.page.keyboard.down(key)  # after the first these are repeats
        card.page.keyboard.up(key)
    card.grade(3).focus()
    for _ in range(6):
        card.page.keyboard.down("Enter")
    card.page.keyboard.up("Enter")
    card.saved()
    assert words(desk) == [("d100", 1), ("d100", "undone"), ("d100", 2), ("d101", 3)]


def test_handled_keys_go_no_further_and_others_do(card):
    listen = "document.addEventListener('keydown', (event) => window.heard.push(event.key))"
    card.page.evaluate(f"window.heard = []; {listen}")
    card.press("1", "u", "ArrowDown", "r", "F2")
    assert card.page.evaluate("window.heard") == ["r", "F2"]


# ------------------------------------------------------------------------------- undo, look back, skip


def test_undo_look_back_and_judge_again(card, desk):
    expect(card.part("status")).to_have_text("")  # nothing was saved yet
    card.press("3", "2")
    card.shows("d102")
    card.press("u")
    card.shows("d101")
    was_undone(card.grade(2))
    card.press("u")
    card.shows("d100")
    was_undone(card.grade(3))
    expect(card.grade(2)).to_have_attribute("aria-pressed", "false")
    card.says("topic-count", "0 of 41")
    card.press("u")
    card.says("notice", "Nothing to undo")
    card.press("0", "1")
    card.shows("d102")
    card.says("notice", "frame.method_101: 1 Related – u to undo")
    card.saved()
    assert words(desk)[2:] == [("d101", "undone"), ("d100", "undone"), ("d100", 0), ("d101", 1)]
    expect(card.part("status")).to_have_text("Saved")
    card.says("topic-count", "2 of 41")
    card.press("ArrowLeft", "ArrowLeft")
    card.shows("d100")
    expect(card.grade(0)).to_have_attribute("aria-pressed", "true")
    card.press("3")
    card.shows("d102")
    card.press("ArrowLeft")  # the last one judged, now
    expect(card.grade(3)).to_have_attribute("aria-pressed", "true")
    card.press("ArrowRight")
    card.shows("d102")
    expect(card.grade(3)).to_have_attribute("aria-pressed", "false")
    card.saved()
    assert words(desk)[6:] == [("d100", 3)]


# -------------------------------------------------------------------------------------- cannot judge


def test_cannot_judge_by_number(card, desk):
    card.press("x", "9", "u", "s", "ArrowLeft", "2")
    card.shows("d101")
    card.press("x", "Escape", "1")
    card.saved()
    assert words(desk) == [("d100", "cannot judge"), ("d101", 1)]
    assert desk.log[0]["reason"] == REASONS[1]
    assert desk.log[0]["relevance"] is None
    card.says("topic-count", "2 of 41")


def test_cannot_judge_in_own_words(card, desk):
    card.press("x", "4")
    expect(card.part("reason-text")).to_be_focused()
    card.press("Enter")  # nothing written yet
    card.page.keyboard.type("page 2 of 13 is missing, ux")
    assert card.on_screen() == "d100"
    card.page.evaluate("window.run()")  # a rerun must not take the words away
    expect(card.part("reason-text")).to_have_value("page 2 of 13 is missing, ux")
    card.press("Enter")
    card.shows("d101")
    card.press("2")
    card.saved()
    assert words(desk) == [("d100", "cannot judge"), ("d101", 2)]
    assert desk.log[0]["reason"] == "page 2 of 13 is missing, ux"
    card.press("ArrowLeft", "ArrowLeft")
    expect(card.part("cannot-judge")).to_have_attribute("aria-pressed", "true")


def test_the_list_of_keys_keeps_grades_out(card, desk):
    card.press("?")
    expect(card.part("help-panel")).to_be_visible()
    card.press("1", "u", "Escape")
    expect(card.part("help-panel")).to_be_hidden()
    card.press("2")
    card.saved()
    assert words(desk) == [("d100", 2)]


# ------------------------------------------------------------------------------------- reruns, network


def test_reruns_keep_the_queue_and_do_not_double_keys(card, desk):
    for grade in "0123":
        card.press(grade)
        # The clean-up of the run before may come late, as it does in Streamlit.
        card.page.evaluate("const old = window.leave; window.run(); old();")
    asked = len(desk.requests)
    card.saved()
    assert words(desk) == [("d100", 0), ("d101", 1), ("d102", 2), ("d103", 3)]
    assert sum(name == "topics" for name, _ in desk.requests[:asked]) == 1
    card.page.evaluate("window.leave()")
    card.press("1")
    assert card.on_screen() == "d104"
    card.page.evaluate("window.run()")
    card.press("1")
    card.shows("d105")
    card.saved()
    assert len(desk.log) == 5


def test_a_rerun_brings_the_new_token(card, desk):
    desk.token = None  # any: a request under way with the first one would bring the second one too
    card.page.evaluate("window.run({ token: 'second' })")
    card.press("1")
    card.saved()
    assert desk.tokens["sync"] == "second"


def test_a_reload_sends_what_waits_and_does_not_show_it_again(card, desk):
    desk.fail = 503
    card.press(*"012")
    expect(card.part("status")).to_have_text("3 not saved yet")
    desk.requests.clear()
    card.open(first=None)
    card.says("status", "3 not saved yet")
    card.press("3")
    card.says("notice", "The next document is loading")
    desk.fail = None
    card.shows("d103")
    card.saved()
    # The page that went away may have sent them a last time; these are the new page's.
    asked = [ask for name, ask in desk.requests if name == "sync" and ask["recent"]]
    assert [row["relevance"] for row in asked[0]["decisions"]] == [0, 1, 2]
    assert next(ask["want"] for ask in asked if ask["query_id"]) == 24
    assert words(desk) == [("d100", 0), ("d101", 1), ("d102", 2)]
    card.press("u")
    card.shows("d102")


def test_what_waits_belongs_to_one_annotator(card, desk):
    desk.fail = 500
    card.press("1")
    expect(card.part("status")).to_have_text("1 not saved yet")
    card.open(first=None, annotator="grace")
    desk.fail = None
    card.shows("d100")
    card.saved()
    assert desk.log == []
    assert card.stored() == 1


def test_an_outdated_token_is_renewed_once(card, desk):
    desk.token = "second"
    card.press(*"012")
    card.saved()
    assert len(desk.log) == 3
    assert [name for name, _ in desk.requests].count("token") == 1


def test_a_refused_judgement_is_shown_until_dismissed(card, desk):
    desk.refuse = {"d101": "the topic is closed"}
    card.press(*"123")
    card.says("refused", "Not saved: frame.method_101, 2 Relevant: the topic is closed")
    card.saved()
    assert words(desk) == [("d100", 1), ("d102", 3)]
    card.open(first=None)
    card.says("refused", "the topic is closed")
    card.button("dismiss").click()
    expect(card.part("refused")).to_be_empty()


def test_leaving_is_questioned_only_after_a_failure(desk, make_card):
    card, asked = make_card(alone=True).open(), []
    card.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    card.press("1")
    card.saved()
    card.open(first="d101")
    assert asked == []
    desk.fail = 500
    card.press("1")
    card.wait("window.part('card').cleverdon.state.sync.failures > 0", "a request that has failed")
    card.page.reload()
    assert asked == ["beforeunload"]
    desk.fail = None
    card.saved()


@pytest.mark.parametrize("script", [NO_STORAGE, NO_UUID])
def test_browsers_without_storage_or_secure_context(desk, make_card, script):
    card = make_card(script).open(root="div")
    card.press("1", "2")
    card.shows("d102")
    card.says("status", "Saved")
    if script == NO_STORAGE:
        card.says("status", "This browser cannot store unsent answers")
    card.wait("!window.part('status').textContent.includes('not saved')", "the last save")
    assert words(desk) == [("d100", 1), ("d101", 2)]
    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", uuid) for uuid in desk.uuids)


def test_unsent_judgements_of_another_version_are_kept_and_reported(desk, make_card):
    card = make_card().open()
    key = "cleverdon:frames%3A%202026:ada:pending:0:u"
    card.page.evaluate('key => localStorage.setItem(key, \'{"judgement": {"uuid": "u"}}\')', key)
    card.page.reload()
    card.says("status", "1 unsent judgement in this browser cannot be read and will not be sent")
    card.shows("d100")
    card.press("1")
    card.says("status", "Saved. 1 unsent judgement")
    assert card.page.evaluate("key => localStorage.getItem(key)", key) is not None
    assert words(desk) == [("d100", 1)]


# ---------------------------------------------------------------------------------------------- topics


def test_the_end_of_a_topic_and_the_way_to_others(desk, make_card):
    card = make_card().open(query_id="t2", first="d200")
    card.press("n")  # nothing: no letter navigates away from an open document
    card.press(*"012")
    card.says("rest-title", "Topic done: 3 of 3")
    card.press("1")  # nothing to grade
    card.press("n")
    card.shows("d300")
    card.says("topic-title", "rolling mean t3")
    card.says("all-count", "3 of 47")
    card.part("topics").select_option("t2")
    card.says("rest-title", "Topic done")
    options = card.part("topics").locator("option").all_text_contents()
    assert options == ["rolling mean t1 · 0/41", "rolling mean t2 · ✓", "rolling mean t3 · 0/3"]
    card.button("previous-topic").click()
    card.shows("d100")
    card.saved()
    assert words(desk) == [("d200", 0), ("d201", 1), ("d202", 2)]


def test_a_text_that_comes_late_leaves_what_was_said_meanwhile(desk, harness, make_card):
    harness.desk = Desk({"t1": [document(100, text="x " * TEXT_CAP), document(101), document(102)]})
    card = make_card().open()
    harness.desk.kept_waiting = {"d100"}
    with card.page.expect_response("**/document"):
        card.press("e", "1")
        card.shows("d101")
        harness.desk.kept_waiting.clear()
    card.says("notice", "frame.method_100: 1 Related")
    card.press("ArrowLeft")
    expect(card.part("more")).to_be_hidden()
    card.press("ArrowRight")
    card.saved()


def test_the_card_moves_on_to_a_topic_that_has_work(desk, make_card):
    desk.held, desk.moves_on = {*desk.pool["t1"], *desk.pool["t2"]} - {"d100"}, True
    card = make_card().open(first="d100")
    card.press("1")  # t1: others hold the rest; t2: others hold all of it
    card.says("new-topic-title", "rolling mean t3")
    card.says("new-topic-why", "No free document in the last topic. This one has documents for you.")
    card.says("topic-title", "rolling mean t3")
    card.press("1", "2")
    card.says("notice", "Not recorded: this is a new topic. Press Enter to begin.")
    card.saved()
    assert words(desk) == [("d100", 1)]
    card.press("Enter")
    card.shows("d300")
    card.part("topics").select_option("t2")  # who chooses a topic stays there
    card.says("rest-title", "No free document in this topic")
    card.press("n")
    card.shows("d300")


# --------------------------------------------------------------------------------------------- drawing


def test_markup_and_direction_signs_are_text(desk, harness, make_card):
    evil = "<img src=x onerror='window.hacked = 1'><script>window.hacked = 1</script>"
    turned = "\u202e\u2066 turned"
    documents = [
        document(1, title=evil, text=evil, metadata={evil: evil, "list": [1, 2]}),
        document(2, title=turned, text=turned, metadata={turned: turned}),
        document(3),
    ]
    harness.desk = Desk({"t\u202e<b>": documents})
    card = make_card().open(first="d001")
    expect(card.part("text")).to_have_text(evil)
    card.says("chips", "list: [1,2]")
    boxes = [card.grade(grade).bounding_box() for grade in range(4)]
    card.press("1")
    card.shows("d002")
    card.says("notice", evil)
    assert card.page.evaluate("window.part('text').textContent") == "\u2060\u2066 turned"
    card.press("2")
    card.shows("d003")
    notice = card.part("notice").bounding_box()
    title, rest = card.part("notice-title").bounding_box(), card.part("notice-words").bounding_box()
    assert notice["x"] <= title["x"] < rest["x"], "the line was turned round"
    assert boxes == [card.grade(grade).bounding_box() for grade in range(4)]
    assert card.page.evaluate("window.hacked") is None
    assert card.page.locator("#host img, #host script").count() == 0


def test_long_and_missing_texts(desk, harness, make_card):
    whole = "word " * TEXT_CAP
    harness.desk = Desk({"t1": [document(1, text=whole), document(2, text=None), document(3)]})
    card = make_card().open(first="d001")
    expect(card.part("show-all")).to_have_text("Show all (10,000 characters)")
    card.part("show-all").click()
    expect(card.part("show-all")).to_be_hidden()
    assert card.page.evaluate("window.part('text').textContent.length") == len(whole)
    card.press("PageDown", "ArrowDown")
    assert card.page.evaluate("window.part('scroller').scrollTop") > 100
    card.wait("window.part('scroller').scrollTop > 100", "a scrolled document")
    card.press("1")
    expect(card.part("missing")).to_be_visible()
    card.press("2")
    card.shows("d003")
    assert card.page.evaluate("window.part('scroller').scrollTop") == 0
    expect(card.part("missing")).to_be_hidden()
    card.press("ArrowLeft", "ArrowLeft")
    assert card.page.evaluate("window.part('text').textContent.length") == len(whole)


def test_the_buttons_are_in_sight_and_stay_where_they_are(desk, make_card):
    card = make_card().open(padding="80px 16px 12px")
    buttons = card.page.locator("[data-part=grades] button, .cd-actions button")
    for width, height in ((1280, 800), (390, 844)):
        card.resize(width, height)
        before = places(buttons)
        assert all(y + button_height <= height for _, y, _, button_height in before)
        if width == 390:
            assert all(min(size) >= 44 for _, _, *size in before)
        desk.refuse = {card.on_screen(): "no"}
        card.press("1", "2", "ArrowLeft")
        card.says("refused", "Not saved")
        assert before == places(buttons)
        assert card.page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
        card.button("dismiss").click()
        card.press("ArrowRight")
    titles = buttons.evaluate_all("nodes => nodes.map((node) => node.ariaLabel)")
    assert all(titles)
    assert titles[2] == "2 Relevant: answers the topic in part, or among other things"


# ------------------------------------------------------------------------------------------- why


def terms(card, side):
    """The rows of the panel on one side: term, and filled share of the bar."""
    rows = card.part(f"why-{side}").locator("li")
    return [
        (
            row.locator(".cd-term").text_content(),
            row.locator(".cd-weight > i").evaluate("bar => bar.style.width"),
        )
        for row in rows.all()
    ]


def test_why_shows_terms_for_and_against(card, desk):
    desk.why["d100"] = {"sentence": "These weigh <b>most</b>.", "terms": [["wing", 0.25], ["heat", -0.5], ["<i>", 1]]}
    card.press("w")
    expect(card.part("why-panel")).to_be_focused()
    expect(card.part("why-sentence")).to_have_text("These weigh <b>most</b>.")
    assert terms(card, "for") == [("<i>", "100%"), ("wing", "25%")]
    assert terms(card, "against") == [("heat", "50%")]
    card.says("why-scale", "The longer the bar, the more the term contributed.")
    expect(card.page.get_by_role("list", name="Terms against").get_by_role("listitem")).to_have_count(1)
    panel, text = card.part("why-panel").bounding_box(), card.part("text").bounding_box()
    assert panel["x"] + panel["width"] <= text["x"], "it covers the document"
    card.press("w")
    expect(card.part("why-panel")).to_be_hidden()
    card.press(".")
    card.page.get_by_role("button", name="Why this document?").click()
    expect(card.part("why-panel")).to_be_visible()
    card.press("Escape")
    expect(card.part("why-panel")).to_be_hidden()


def test_why_hides_no_word_of_the_topic(card, desk):
    names = ["numeric_only", "engine_kwargs", "calculations", "wing"]
    desk.why["d100"] = {"sentence": "These weigh most.", "terms": [[name, 0.5] for name in names]}
    card.press("w")
    card.says("why-for", "wing")
    assert [term for term, _ in terms(card, "for")] == names
    heights = [row.bounding_box()["height"] for row in card.part("why-for").locator(".cd-term").all()]
    assert max(heights) == min(heights), "a word is broken"
    panel, topic = card.part("why-panel").bounding_box(), card.part("topic").bounding_box()
    assert topic["y"] + topic["height"] <= panel["y"], "it covers the topic"
    need = card.part("need").bounding_box()
    assert need["y"] + need["height"] <= panel["y"]
    assert need["height"] >= 60
    desk.why["d101"] = {"sentence": "Drawn at random.", "terms": []}
    card.press("1")
    card.says("why-sentence", "Drawn at random.")
    expect(card.part("why-scale")).to_be_hidden()


def test_grading_goes_on_beside_why_and_it_follows(card, desk):
    card.press("w")
    card.says("why-sentence", "d100")
    card.press("2")
    card.says("why-sentence", "d101")
    card.press("u")
    card.says("why-sentence", "d100")
    card.press("3", "ArrowLeft")
    card.says("why-sentence", "d100")
    card.press("ArrowRight", "x", "1")
    card.shows("d102")
    expect(card.part("why-panel")).to_be_hidden()
    card.saved()
    assert words(desk) == [("d100", 2), ("d100", "undone"), ("d100", 3), ("d101", "cannot judge")]


def test_a_late_answer_for_another_document_is_dropped(card, desk):
    desk.kept_waiting = {"d100"}
    with card.page.expect_response(lambda answer: "d100" in (answer.request.post_data or "")):
        card.press("w")
        card.says("why-sentence", "Loading")
        card.until(lambda: asked(desk, "why"), "the question why", lambda: desk.requests)
        card.press("2")
        card.says("why-sentence", "d101")
        desk.kept_waiting.clear()
    card.page.evaluate("new Promise(requestAnimationFrame)")
    card.says("why-sentence", "d101")
    assert [ask["doc_id"] for ask in asked(desk, "why")] == ["d100", "d101"]
    # Those that only pass by are not asked about. All four keys at once: on a loaded machine some would stay a while.
    card.page.evaluate(
        "for (const key of '0123') document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))"
    )
    card.says("why-sentence", "d105")
    assert [ask["doc_id"] for ask in asked(desk, "why")] == ["d100", "d101", "d105"]


def test_why_says_what_went_wrong_and_asks_again_while_the_model_is_made(card, desk):
    desk.why = {"d100": {}, "d101": {"sentence": "The model is being trained.", "terms": [], "behind": True}}
    card.press("w")
    card.says("why-sentence", "The reason could not be loaded: the loop knows no such document.")
    card.press("1")
    card.says("why-sentence", "is being trained")
    desk.why.clear()
    card.says("why-sentence", "These terms of d101")
    card.press("w")
    card.page.context.set_offline(True)
    card.press("w")
    card.says("why-sentence", "there is no connection")
    card.page.context.set_offline(False)


# ---------------------------------------------------------------------------------------- search


def search(card, text):
    card.press("/")
    expect(card.part("search-words")).to_be_focused()
    card.page.keyboard.type(text)
    card.press("Enter")


def test_search_and_take(card, desk):
    card.press("1")
    search(card, "method_13")
    options = card.found()
    expect(options).to_have_count(10)
    expect(card.part("search-says")).to_have_text("10 documents. Select one with ↓, judge it next with Enter.")
    expect(card.part("search-panel").get_by_role("listbox")).to_be_visible()
    card.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    expect(card.part("search-words")).to_have_attribute("aria-activedescendant", "cd-found-1")
    card.press("Enter")
    card.shows("d131")
    expect(card.part("search-panel")).to_be_hidden()
    card.press("3")
    card.shows("d101")  # the one that was on screen
    card.saved()
    assert words(desk) == [("d100", 1), ("d131", 3)]
    assert [ask["doc_id"] for ask in asked(desk, "take")] == ["d131"]
    card.press("u")
    card.shows("d131")
    card.press("2")
    card.shows("d101")


def test_writing_in_the_field_never_judges(card, desk):
    card.page.evaluate("document.addEventListener('keydown', (event) => { window.heard = event.key; })")
    card.press("/")
    card.page.keyboard.type("0123 rcuxsnw/?")
    expect(card.part("search-words")).to_have_value("0123 rcuxsnw/?")
    card.says("search-says", "No document matches.")
    assert card.page.evaluate("window.heard") is None  # the page's own keys never hear of it
    card.grade(2).click()
    card.says("notice", "Close the search first")
    card.press("1", "Enter", "Escape")
    expect(card.part("search-panel")).to_be_hidden()
    assert card.on_screen() == "d100"
    assert desk.log == []
    card.press("2")
    card.shows("d101")
    card.saved()
    assert words(desk) == [("d100", 2)]


def test_enter_never_takes_what_was_not_chosen_in_sight(card, desk):
    search(card, "method_105")
    expect(card.found()).to_have_count(1)
    card.press("Enter")  # it only chooses the first
    expect(card.found()).to_have_attribute("aria-selected", "true")
    card.page.keyboard.type("0")
    card.press("Enter")  # the words are others by now
    card.says("search-says", "No document matches.")
    assert card.on_screen() == "d100"
    assert "take" not in [name for name, _ in desk.requests]


def test_snippets_are_text_with_marks(desk, harness, make_card):
    evil = "<img src=x onerror='window.hacked = 1'> window \u202e turned"
    harness.desk = Desk({"t1": [document(1), document(2, title=evil, text=evil), document(3)]})
    card = make_card().open(first="d001")
    search(card, "window")
    option = card.found().nth(1)
    expect(card.found()).to_have_count(3)
    assert option.locator("mark").all_text_contents() == ["window", "window"]
    assert option.locator(".cd-snippet").text_content() == evil.replace("\u202e", "\u2060")
    assert card.page.evaluate("window.hacked") is None
    assert card.page.locator("#host img").count() == 0
    option.click()
    card.shows("d002")


def test_a_refused_take_says_why(card, desk):
    desk.held = {"d130"}
    search(card, "method_13")
    expect(card.found()).to_have_count(10)
    card.press("Enter", "Enter")
    card.says("search-trouble", "The document could not be taken: another annotator has it on screen.")
    expect(card.part("search-panel")).to_be_visible()
    card.press("ArrowDown", "Enter")
    card.shows("d131")


def test_what_was_judged_opens_to_be_looked_back_at(card, desk):
    card.press("3")
    card.saved()
    search(card, "method_100")
    card.says("found", "Judged: 3 Perfect")
    card.press("Enter", "Enter")
    card.shows("d100")
    expect(card.grade(3)).to_have_attribute("aria-pressed", "true")
    card.press("0")
    card.shows("d101")
    card.saved()
    desk.log.append(desk.log[0] | {"uuid": "elsewhere", "doc_id": "d140", "relevance": 2})
    search(card, "method_140")  # which this browser knows nothing of
    card.says("found", "Judged: 2 Relevant")
    card.press("Enter", "Enter")
    card.shows("d140")
    expect(card.grade(2)).to_have_attribute("aria-pressed", "true")
    card.press("1")
    card.shows("d101")
    card.saved()
    assert words(desk) == [("d100", 3), ("d100", 0), ("d140", 2), ("d140", 1)]
    assert "take" not in [name for name, _ in desk.requests]


def test_late_results_are_dropped_and_a_take_never_comes_under_the_keys(card, desk):
    desk.kept_waiting = {"mean", "d130"}
    with card.page.expect_response(lambda answer: '"mean"' in (answer.request.post_data or "")):
        search(card, "mean")
        card.until(lambda: asked(desk, "search"), "the search", lambda: desk.requests)
        card.part("search-words").fill("method_130")
        card.says("search-says", "1 document.")
        desk.kept_waiting.remove("mean")
    card.page.evaluate("new Promise(requestAnimationFrame)")
    expect(card.found()).to_have_count(1)
    card.press("Enter", "Enter")
    card.says("search-says", "Loading")
    card.press("Escape")
    desk.kept_waiting.clear()
    card.says("notice", "it comes next")
    assert card.on_screen() == "d100"
    card.press("1")
    card.shows("d130")


def test_the_panels_leave_the_buttons_where_they_are(desk, make_card):
    card = make_card().open(padding="80px 16px 12px")
    for width, height in ((1280, 800), (1000, 700), (948, 700), (672, 800), (390, 844)):
        card.resize(width, height)
        before = card.buttons()
        assert all(x + button_width <= width for x, _, button_width, _ in before)
        assert len({y for _, y, _, _ in before}) == (2 if width > 640 else 3), (
            "rows: the grades, and what else there is"
        )
        for key, name in (("w", "why-panel"), ("/", "search-panel")):
            card.press(key)
            if key == "/":
                card.part("search-words").fill("method")
                expect(card.found()).to_have_count(30)
            else:
                card.says("why-sentence", "These terms of d100")
            card.keeps_buttons(before, name)
            card.press("Escape")


# ------------------------------------------------------------------------------------------ loop


@pytest.fixture
def loop(desk, make_card):
    """The card in a loop whose order begins with d100, d110, d120."""
    desk.order = ["d100", "d110", "d120", "d130", "d101"]
    card = make_card().open()
    card.holds("d110")
    return card


def test_a_loop_says_what_chooses_and_its_topics_have_no_end(loop, desk):
    state = "The model has learned from {} judged documents."
    loop.says("chooser", "A model chooses the next document. " + state.format(0))
    expect(loop.part("topic-count")).to_have_text("0 judged")
    expect(loop.part("topic-bar")).to_be_hidden()
    expect(loop.part("all-bar")).to_be_hidden()
    loop.press_in_turn(*"12301")
    loop.saved()
    expect(loop.part("topic-count")).to_have_text("5 judged")
    loop.says("chooser", state.format(5))
    loop.says("rest-title", "No free document right now")
    assert "✓" not in "".join(loop.part("topics").locator("option").all_text_contents())
    desk.order = None  # a pool
    loop.page.reload()
    loop.wait("window.onScreen?.()", "a document")
    expect(loop.part("chooser")).to_be_hidden()


# ------------------------------------------------------------------------------------- used up, and coming back


def test_who_comes_back_after_a_while_is_not_left_with_what_was_judged_elsewhere(card, desk):
    card.saved()
    card.page.evaluate(
        """() => { const now = Date.now; window.seenAs = (kind, later) => {
             Date.now = () => now() + later;
             Object.defineProperty(document, "visibilityState", {value: kind, configurable: true});
             document.dispatchEvent(new Event("visibilitychange"));
           }; }"""
    )
    for doc_id in ("d100", "d101"):
        elsewhere = {"uuid": doc_id, "query_id": "t1", "doc_id": doc_id, "kind": "graded", "relevance": 1}
        desk.log.append(elsewhere | {"reason": None, "note": None, "flagged": False, "passages": []})
    due = "window.part('card').cleverdon.state.due"
    assert not card.page.evaluate(f"seenAs('hidden', 0); seenAs('visible', 5000); {due}")  # a glance elsewhere
    card.page.evaluate("seenAs('hidden', 5000); seenAs('visible', 95000)")
    card.shows("d102")
    card.says("notice", "frame.method_100: no longer needs a judgement")
