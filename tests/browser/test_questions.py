"""Further questions on the judging card in a real Chromium: keys, clicks, places, what is heard and what is kept."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import HEALTH, question
from tests.browser.card_page import Card, box, faults, places, words

pytestmark = [pytest.mark.browser, pytest.mark.long]

GRADES = [{"grade": n, "label": f"Grade {n}", "sentence": f"Grade {n}: of 0 to 20"} for n in range(21)]
EFFORT = question("effort", "grades", {n: f"Grade {n}" for n in range(21)}, sentence="How much effort does it ask for?")


@pytest.fixture
def asking(desk, make_card):
    """A card whose campaign has three questions, with its first document on screen."""
    desk.questions = HEALTH
    return make_card().open()


def asks(card, words):
    """The further question on screen; "" for the grade."""
    line = card.page.locator(".cd-asked > .cd-current")
    expect(line).to_contain_text(words or "How relevant is this document?")
    expect(line).to_be_visible()


def answer(card, label):
    return card.page.locator("[data-part=choices] .cd-current").get_by_role("button", name=label)


def answers(desk):
    return [(row["doc_id"], row["relevance"], row.get("answers")) for row in desk.log]


def test_one_key_for_each_answer_and_the_last_one_shows_the_next_document_at_once(asking, desk):
    asks(asking, "")
    desk.delay = 0.2
    asking.press("2")
    asks(asking, "1 of 2 How credible is this page")
    asking.press("3")
    asks(asking, "2 of 2 Which of these apply?")
    asking.press("1", "3", "2", "2")
    assert asking.on_screen() == "d100"
    asking.press("Enter")
    asking.require_drawn_at_once(1)
    asking.shows("d101")
    asks(asking, "")
    asking.press("0", "5", "Enter")
    asking.shows("d102")
    asking.says("notice", "frame.method_101: 0 Not relevant; exclusion: Wrong study design")
    asking.saved()
    assert answers(desk) == [
        ("d100", 2, {"credibility": 3, "tags": ["review", "animal study"]}),
        ("d101", 0, {"exclusion": "design"}),
    ]
    assert all(row["source"] == "key" for row in desk.log)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_nothing_moves_from_question_to_question(desk, make_card, width, height):
    desk.questions = [*HEALTH, EFFORT]
    card = make_card(viewport={"width": width, "height": height}).open()
    fixed = card.page.locator(".cd-actions button, [data-part=scroller], [data-part=question], [data-part=grades]")
    before = places(fixed)
    for key in ("2", "3", "1", "Enter", "7", "0", "1"):
        card.press(key)
        assert places(fixed) == before, key
        inside = card.page.locator(".cd-choices .cd-current button, .cd-question button:visible")
        assert all(x >= 0 and x + w <= width for x, _, w, _ in places(inside))
    assert card.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), [(948, 32), (390, 48)])
def test_a_short_question_is_beside_its_buttons(desk, make_card, width, height):
    credibility = HEALTH[0] | {"sentence": "How credible is this page?"}
    desk.questions = [credibility, HEALTH[2] | {"required": True}]
    card = make_card(viewport={"width": width, "height": 800}).open()
    row = box(card.part("question"))
    assert row["height"] <= height
    for key in ("2", "1", "Escape", "Escape", "0"):
        card.press(key)
        assert box(card.part("question")) == row, key
        line = box(card.page.locator(".cd-asked > .cd-current"))
        buttons = places(card.page.locator(".cd-question button:visible"))
        assert all(x >= line["x"] + line["width"] and y >= row["y"] for x, y, _, _ in buttons), key


def test_without_questions_no_row_of_them_takes_room(card):
    expect(card.part("question")).to_be_hidden()
    assert card.page.locator("[data-part=choices] > *").count() == 0
    notice, grades = box(card.part("notice")), box(card.part("grades"))
    assert notice["y"] + notice["height"] == grades["y"]


def test_clicks_answer_keep_leave_out_and_go_back(asking, desk):
    asking.grade(2).click()
    answer(asking, "3 Very credible").click()
    answer(asking, "2 protocol").click()
    expect(answer(asking, "2 protocol")).to_have_attribute("aria-pressed", "true")
    asking.button("step-back").click()
    asks(asking, "How credible")
    expect(answer(asking, "3 Very credible")).to_have_attribute("aria-pressed", "true")
    expect(asking.button("pass-question")).to_have_text("EnterKeep")
    asking.button("pass-question").click()
    asking.button("clear-answer").click()
    asking.shows("d101")
    asking.saved()
    assert answers(desk) == [("d100", 2, {"credibility": 3})]
    assert desk.log[0]["source"] == "click"


def test_escape_and_undo_go_back_to_the_main_grade_and_a_required_answer_is_asked_for(asking, desk):
    asking.press("2", "Enter")
    asking.says("notice", "This question needs an answer.")
    asking.press("1", "Escape", "Escape")
    asks(asking, "")
    expect(asking.grade(2)).to_have_class("cd-former")
    assert asking.grade(2).evaluate("node => getComputedStyle(node, '::after').content") == '"chosen"'
    asking.press("0", "7", "u", "u")
    asks(asking, "")
    asking.press("3", "Enter", "Backspace")
    asking.shows("d101")
    asking.press("u")
    asking.shows("d100")
    asking.press("1")
    assert answer(asking, "1 Doubtful").evaluate("node => getComputedStyle(node, '::after').content") == '"former"'
    asking.saved()
    assert [row[1] for row in answers(desk)] == [3, None]


def test_looking_back_shows_all_answers_and_a_change_that_is_left_is_discarded(asking, desk):
    asking.press("2", "3", "4", "Enter", "ArrowLeft")
    asking.says("notice", "2 Relevant; credibility: 3 Very credible; tags: retracted")
    asking.press("1", "0")
    asks(asking, "Which of these apply?")
    asking.press("ArrowRight")
    asking.says("notice", "Not changed: answers were missing.")
    asking.press("l")
    expect(asking.part("past")).to_contain_text("credibility: 3 Very credible; tags: retracted")
    asking.press("Escape")
    asking.saved()
    assert answers(desk) == [("d100", 2, {"credibility": 3, "tags": ["retracted"]})]


def test_what_is_half_answered_is_there_after_a_reload_and_in_another_tab(asking, desk, harness):
    asking.press("2", "3", "1")
    asking.page.reload()
    asking.shows("d100")
    asks(asking, "Which of these apply?")
    expect(answer(asking, "1 review")).to_have_attribute("aria-pressed", "true")
    other = Card(asking.page.context.new_page(), harness.url + "/").open()
    asks(other, "Which of these apply?")
    other.press("2")
    expect(answer(asking, "2 protocol")).to_have_attribute("aria-pressed", "true")
    other.press("Enter")
    other.shows("d101")
    asking.shows("d101")
    asks(asking, "")
    other.saved()
    assert answers(desk) == [("d100", 2, {"credibility": 3, "tags": ["review", "protocol"]})]
    assert other.errors == []


def test_a_judgement_that_lacks_an_answer_opens_at_it(desk, make_card):
    card = make_card().open()
    card.press("2", "f")
    card.saved()
    desk.questions = HEALTH
    row = desk.log.pop()
    desk.pool["t1"]["d100"]["said"] = {name: row[name] for name in ("kind", "relevance", "reason", "note", "passages")}
    desk.pool["t1"]["d100"]["said"]["flagged"] = True
    card.page.reload()
    card.shows("d100")
    asks(card, "1 of 2 How credible")
    missing = card.part("said-line")
    expect(missing).to_have_text("An answer to a new question is missing. Your judgement so far: 2 Relevant")
    card.says("spoken", "An answer to your judgement is missing: 2 Relevant. Question 1 of 2: How credible")
    expect(card.part("flag")).to_have_attribute("aria-pressed", "true")
    card.press("Escape")
    expect(missing).to_be_visible()
    card.press("2", "1", "Enter")
    card.shows("d101")
    expect(missing).to_be_hidden()
    card.saved()
    assert [(row["flagged"], row["answers"]) for row in desk.log] == [(True, {"credibility": 1})]


def test_twenty_grades_take_two_digits_or_arrows(desk, make_card):
    desk.scale, desk.questions = GRADES, [EFFORT]
    card = make_card().open()
    card.press("1")
    card.says("notice", "1_ Type another digit, or press Enter for 1.")
    expect(card.page.locator("[data-part=grades] .cd-typed")).to_have_count(11)
    card.press("5", "2", "5")
    card.says("notice", "There is no answer 25.")
    card.press("2", "Escape")
    asks(card, "How much effort")
    card.press("2", "Enter")
    card.shows("d101")
    card.press("7")
    asks(card, "How much effort")
    answer(card, "0 Grade 0").focus()
    card.press("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "Enter")
    card.shows("d102")
    card.saved()
    assert answers(desk) == [("d100", 15, {"effort": 2}), ("d101", 7, {"effort": 20})]


def test_the_line_of_the_last_decision_keeps_its_title_and_messages_take_all_of_it(desk, make_card):
    desk.scale, desk.questions = GRADES, [EFFORT, HEALTH[2]]
    card = make_card(viewport={"width": 390, "height": 844}).open()
    card.press("1")
    card.says("notice", "1_ Type another digit, or press Enter for 1.")
    line = card.part("notice-words")
    assert line.evaluate("node => node.scrollWidth <= node.clientWidth")
    card.press("0", "1", "5", "1", "2", "3", "Enter")
    card.shows("d101")
    card.says("notice", "frame.method_100: 10 Grade 10; effort: 15 Grade 15; tags: review, protocol and animal study")
    assert line.evaluate("node => node.scrollWidth > node.clientWidth")
    assert box(card.part("notice-title"))["width"] >= 60


def test_a_key_of_ones_own_for_a_grade_answers_with_its_number(desk, make_card):
    desk.questions, desk.own = HEALTH, {"keys": {"digit:2": "q"}, "words": {}}
    card = make_card().open()
    card.press("q", "q", "q", "Enter")
    card.shows("d101")
    card.saved()
    assert answers(desk) == [("d100", 2, {"credibility": 2, "tags": ["protocol"]})]


def test_the_question_is_heard_and_the_focus_goes_on_with_it(asking):
    asking.grade(2).focus()
    asking.press("Enter")
    asks(asking, "How credible")
    asking.says("spoken", "Question 1 of 2: How credible is this page, judged by its sources, its author and its date?")
    expect(answer(asking, "0 Not credible")).to_be_focused()
    asking.press("Enter")
    asking.says("spoken", "Question 2 of 2: Which of these apply? 1 review, 2 protocol, 3 animal study or 4 retracted")
    expect(answer(asking, "1 review")).to_be_focused()
    asking.press(" ")
    expect(answer(asking, "1 review")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_serious_in_a_question(desk, make_card, width, theme):
    desk.questions = HEALTH
    card = make_card(viewport={"width": width, "height": 800}).open(theme=theme)
    card.press("2", "3", "1")
    assert faults(card.page, card.part("card")) == []
    card.press("?")
    expect(card.part("question-keys")).to_contain_text("Which of these apply? (any number of them)")
    assert faults(card.page, card.part("card")) == []


def test_a_reason_why_it_cannot_be_judged_answers_no_question(asking, desk):
    asking.press("2", "x", "1")
    asking.shows("d101")
    asking.saved()
    assert words(desk) == [("d100", "cannot judge")]
    assert "answers" not in desk.log[0]


def test_no_translation_changes_what_is_judged(asking):
    for part in ("grades", "choices", "asked", "title", "text", "chips", "topic-title", "description", "narrative"):
        kept = asking.part(part).evaluate("node => (node.querySelector('.cd-apart') ?? node).closest('[translate=no]')")
        assert kept, part
    asking.press("2")
    assert asking.page.locator(".cd-asked .cd-current [translate=no]").count() == 1
    assert asking.button("undo").evaluate("node => node.closest('[translate=no]')") is None


def test_enter_goes_on_while_the_menu_s_link_to_this_page_has_the_focus_and_not_on_other_links(asking, desk):
    page = asking.page
    for number, current in enumerate(("page", "false")):
        link = f"<a id='link{number}' href='#link{number}' aria-current='{current}'>Judge</a>"
        page.evaluate("html => document.body.insertAdjacentHTML('afterbegin', html)", link)
    page.locator("#link1").focus()
    asking.press("1", "0")
    asks(asking, "2 of 2 Which of these apply?")
    page.keyboard.press("Enter")
    page.wait_for_url("**#link1")
    asks(asking, "2 of 2 Which of these apply?")
    page.locator("#link0").focus()  # as after the click that opened the page
    page.keyboard.press("Enter")
    asking.shows("d101")
    assert page.url.endswith("#link1")
    asking.saved()
    assert answers(desk) == [("d100", 1, {"credibility": 0})]
