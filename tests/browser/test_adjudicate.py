"""The card for adjudication in a real Chromium, against a stand-in of its routes (adjudicate_desk.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.adjudicate_desk import PAYLOAD, AdjudicationDesk, hostile, opinion, said
from tests.browser.card_harness import HEALTH, Harness
from tests.browser.card_page import faults
from tests.browser.task_harness import TaskCard, document

pytestmark = [pytest.mark.browser, pytest.mark.long]

SIZES = [(390, 844), (640, 400), (1280, 800)]


@pytest.fixture
def desk(harness: Harness) -> AdjudicationDesk:
    harness.desk = AdjudicationDesk()
    return harness.desk


@pytest.fixture
def card(desk: AdjudicationDesk, make_task_card: Callable[..., TaskCard]) -> TaskCard:
    return make_task_card().open()


def answers(card: TaskCard) -> list[tuple[str, str]]:
    """The grades that the digits so far must have given."""
    return [(key["shown"], key["key"]) for key in card.pressed() if key["shown"] and key["key"].isdigit()]


# ---------------------------------------------------------------------------------------- adjudicating


def test_every_key_is_recorded_on_the_pair_that_was_on_screen_and_a_slow_server_delays_none(card, desk):
    desk.delay = 0.4
    card.press_in_turn(*"01233210" * 3, ahead=1)
    assert len(answers(card)) == 24
    card.saved()
    card.require_drawn_at_once(24)
    assert said(desk) == answers(card)
    assert len(desk.log) == 24
    assert len({row["uuid"] for row in desk.log}) == len(set(desk.current())) == 24
    card.says("all-count", "24 of 60")


def test_the_buttons_do_the_same(card, desk):
    card.grade(2).click()
    card.grade(0).click()
    card.press(" ")  # scrolls; it must not press the clicked button again
    card.saved()
    assert [(row["doc_id"], row["relevance"], row["source"]) for row in desk.log] == [
        ("d000", 2, "click"), ("d001", 0, "click"),
    ]  # fmt: skip


def test_no_judgements_are_shown_where_no_pair_is(harness, make_task_card):
    harness.desk = AdjudicationDesk({"t0": [document(0)]})
    card = make_task_card(viewport={"width": 390, "height": 844}).open()
    expect(card.part("opinions")).to_be_visible()
    card.press("1")
    card.says("rest-title", "Nothing left to adjudicate")
    expect(card.part("opinions")).to_be_hidden()


def test_further_questions_follow_the_grade_with_what_annotators_agree_on(desk, make_task_card):
    desk.questions = HEALTH
    bob = opinion(1, 1, answers={"credibility": 3, "tags": ["review"]})
    cat = opinion(2, 2, answers={"credibility": 3, "tags": ["protocol"]})
    desk.opinions["d000"] = [bob, cat]
    card = make_task_card().open()
    card.says("opinion-list", "credibility: 3 Very credible")
    card.says("opinion-list", "tags: protocol")
    card.press("2")
    chosen = card.page.locator("[data-part=choices] .cd-current .cd-former")
    expect(chosen).to_have_text("3Very credible")
    assert chosen.evaluate("node => getComputedStyle(node, '::after').content") == '"agreed"'
    card.press("Enter")
    expect(chosen).to_have_count(0)
    card.press("1", "Escape", "Escape", "ArrowRight")  # out of the questions, and nowhere from the open pair
    card.press("2", "Enter", "Enter", "ArrowLeft")
    card.says("notice", "2 Relevant; credibility: 3 Very credible; tags: review")
    card.press("0", "Escape", "Escape")
    card.says("notice", "Back to the first undecided one.")
    card.saved()
    assert [(row["doc_id"], row["relevance"], row["answers"]) for row in desk.log] == [
        ("d000", 2, {"credibility": 3, "tags": ["review"]})
    ]


# ------------------------------------------------------------------------------------ filter and names


def test_a_picked_pair_comes_next_once(card, desk):
    card.page.evaluate("window.run({ pair: ['t1', 'd107'], picked: 'a' })")
    card.shows("Topic t1 d107")
    card.page.evaluate("window.run({ pair: ['t1', 'd107'], picked: 'a' })")
    card.press("2")
    card.shows("Topic t0 d000")
    card.page.evaluate("window.run({ pair: ['t0', 'd003'], picked: 'b' })")
    card.shows("Topic t0 d003")
    card.press("1")
    card.saved()
    assert said(desk) == [("Topic t1 d107", "2"), ("Topic t0 d003", "1")]


def test_names_are_hidden_until_one_asks(card):
    text = card.part("opinions")
    expect(text).to_contain_text("Annotator A")
    expect(text).to_contain_text("7.5 s")
    expect(text).to_contain_text("It names it only.")
    expect(text).not_to_contain_text("bob")
    expect(text).not_to_contain_text("2026")
    card.press("w")
    expect(text).to_contain_text("bob")
    expect(text).to_contain_text("2026-03-12 14:05")
    card.button("names").click()
    expect(text).not_to_contain_text("bob")


def test_marked_passages_flags_and_reasons_are_shown(harness, make_task_card):
    desk = harness.desk = AdjudicationDesk()
    desk.opinions["d000"] = [
        opinion(0, reason=None, passages=[[0, 7]], quotes=["Passage"], flagged=True),
        opinion(None, 1),
    ]
    desk.opinions["d001"] = []
    card = make_task_card().open()
    card.highlights("cd-passage", "Passage")
    expect(card.part("opinion-list").locator("q")).to_have_text("Passage")
    expect(card.part("opinions")).to_contain_text("Flagged")
    expect(card.part("opinions")).to_contain_text("Cannot judge")
    expect(card.part("opinions")).to_contain_text("Not in a language I read")
    card.press("1")
    expect(card.part("nobody")).to_be_visible()
    card.highlights("cd-passage")


# ---------------------------------------------------------------------------------------------- layout


def outside(card: TaskCard, width: int, height: int) -> list[str]:
    """The buttons of the bar that are not wholly in the window."""
    return card.page.evaluate(
        """([width, height]) => [...part('card').querySelectorAll('.cd-bar button')].filter((node) => node.offsetParent)
          .map((node) => [node.outerHTML.slice(0, 80), node.getBoundingClientRect()])
          .filter(([, box]) => box.left < 0 || box.top < 0 || box.right > width || box.bottom > height)
          .map(([html]) => html)""",
        [width, height],
    )


def test_hostile_opinions_move_no_button_and_run_nothing(harness, make_task_card):
    long = document(0, title="long title " * 300)
    desk = harness.desk = AdjudicationDesk({"t0": [long, *map(document, range(1, 9))]})
    desk.opinions["d001"] = hostile()
    desk.opinions["d002"] = [opinion(0, n, annotator=PAYLOAD) for n in range(12)]
    desk.notes["t0"] = PAYLOAD * 20
    card = make_task_card().open(padding="60px 16px 12px")
    tops = "[...part('card').querySelectorAll('.cd-bar button')].map((node) => node.getBoundingClientRect().top)"
    # What is painted beyond an opinion's place would lie over the next one.
    spill = """[...part('opinion-list').children].filter((row) => !/paint|content/.test(getComputedStyle(row).contain)
      || row.getBoundingClientRect().right > part('opinions-place').getBoundingClientRect().right).length"""
    for width, height in SIZES:
        card.resize(width, height)
        card.shows("Topic t0 d000")
        before = card.page.evaluate(tops)
        for key in "123":
            card.press(key)
            card.press("w")
            assert card.page.evaluate(tops) == before, "no button moves"
            assert outside(card, width, height) == []
        card.press("ArrowLeft", "ArrowLeft")
        card.shows("Topic t0 d001")
        card.page.locator("[data-do=open-opinion]").first.click()
        assert card.page.evaluate(tops) == before, "no button moves"
        assert outside(card, width, height) == []
        assert card.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert card.page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        text = card.part("opinions-place").text_content()
        assert PAYLOAD in text
        assert "\u202e" not in text
        assert card.page.evaluate(spill) == 0
        assert card.part("scroller").bounding_box()["height"] >= (140 if height > 500 else 60), "there is room to read"
        card.press("Escape", "u", "u", "u", "w")
    assert card.page.evaluate("window.broken") is None


def test_two_opinions_are_in_sight_on_a_phone(harness, make_task_card):
    desk = harness.desk = AdjudicationDesk()
    desk.opinions["d000"] = [opinion(1), opinion(3, 1)]
    card = make_task_card(viewport={"width": 390, "height": 844}).open(padding="108px 16px 12px")
    expect(card.page.locator(".cd-opinion")).to_have_count(2)
    last, place = card.page.locator(".cd-opinion").last.bounding_box(), card.part("opinions-place").bounding_box()
    assert last["y"] + last["height"] <= place["y"] + place["height"]
    expect(card.page.locator(".cd-grade:visible")).to_have_count(2)  # each grade once
    assert card.part("scroller").bounding_box()["height"] > 250


@pytest.mark.parametrize("height", [667, 844])
def test_the_document_keeps_its_place_on_a_phone_with_further_questions(harness, make_task_card, height):
    desk = harness.desk = AdjudicationDesk()
    desk.questions = [question | {"from": None, "to": 0} for question in HEALTH[1:]]
    card = make_task_card(viewport={"width": 390, "height": height}).open(padding="64px 16px 12px")
    bar = card.page.locator(".cd-bar button:visible")

    def lowest() -> float:
        return max(box["y"] + box["height"] for box in (each.bounding_box() for each in bar.all()))

    assert card.part("scroller").bounding_box()["height"] >= 0.4 * 667
    assert lowest() <= height
    undo = card.page.locator("[data-do=undo]").bounding_box()
    card.press("0")
    expect(card.page.locator(".cd-choices .cd-current button")).to_have_count(7)
    assert card.page.locator("[data-do=undo]").bounding_box() == undo
    assert card.part("scroller").bounding_box()["height"] > 80
    assert lowest() <= height


def test_the_narrative_uses_the_room_below_the_judgements(harness, make_task_card):
    harness.desk = AdjudicationDesk()
    card = make_task_card(viewport={"width": 1280, "height": 900}).open()
    card.page.evaluate("window.part('narrative').textContent = 'A long narrative. '.repeat(36)")
    need, place = card.part("need"), card.part("opinions-place")
    assert need.evaluate("node => node.scrollHeight <= node.clientHeight"), "it is cut"
    assert place.evaluate("node => node.scrollHeight <= node.clientHeight"), "the judgements are cut"
    card.page.evaluate("window.part('narrative').textContent = 'A long narrative. '.repeat(200)")
    assert need.evaluate("node => node.scrollHeight > node.clientHeight")
    assert "local" in need.evaluate("node => getComputedStyle(node).backgroundAttachment"), (
        "a shadow shows that it goes on"
    )


def test_folded_notes_open_and_close(harness, make_task_card):
    desk = harness.desk = AdjudicationDesk()
    desk.opinions["d000"] = hostile()
    card = make_task_card().open()
    row = card.page.locator(".cd-opinion").nth(3)
    before = row.bounding_box()["height"]
    assert before < 250
    row.get_by_role("button", name="Show all").click()
    assert row.bounding_box()["height"] > 5000
    row.get_by_role("button", name="Show less").click()
    assert row.bounding_box()["height"] == before


def test_grades_whose_sentence_begins_oddly_have_words(harness, make_task_card):
    desk = harness.desk = AdjudicationDesk()
    desk.scale = [
        {"grade": 0, "label": "**no**", "sentence": "**no**: not"},
        {"grade": 1, "label": "material/home", "sentence": ":material/home: yes"},
    ]
    card = make_task_card().open()
    expect(card.grade(0)).to_contain_text("**no**")
    expect(card.grade(1)).to_contain_text("material/home")
    card.press("?")
    expect(card.part("grade-keys")).to_contain_text(":material/home: yes")


@pytest.mark.parametrize(("theme", "width"), [("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_and_screen_readers_hear_what_happens(harness, make_task_card, theme, width):
    desk = harness.desk = AdjudicationDesk()
    desk.opinions["d001"] = hostile()[5:]
    card = make_task_card(viewport={"width": width, "height": 800}).open(theme=theme, padding="8px")
    card.press("2")
    expect(card.part("spoken")).to_contain_text("River 0: 2 Relevant – u to undo. River 1, for Topic t0: 7 judgements")
    card.saved()
    assert faults(card.page) == []
    for key in ("?", "g", "m", "x", ","):
        card.press(key)
        assert faults(card.page, card.page.locator("[role=dialog]:visible")) == [], key
        card.press("Escape")
