"""Marking passages on the judging card: with the mouse, and sentence by sentence without one."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import Harness, document
from tests.browser.card_page import MakeCard, box

pytestmark = [pytest.mark.browser, pytest.mark.long]
PASSAGE = "cd-passage"


def marked(harness: Harness) -> list[tuple[str, list[str]]]:
    """The log of judgements: each document, and the words that are marked in it."""
    pool = harness.desk.pool["t1"]
    return [
        (row["doc_id"], [pool[row["doc_id"]]["text"][start:end] for start, end in row["passages"]])
        for row in harness.desk.log
    ]


@pytest.mark.parametrize("root", ["shadow", "div"])
def test_what_is_selected_is_marked_and_goes_with_the_grade(show: MakeCard, harness: Harness, root: str) -> None:
    card = show(document(1, text="One 😀 two three four five."), document(2), query={"root": root})
    card.select(6, 11)  # blanks at its ends are not marked
    expect(card.part("marker")).to_be_visible()
    card.says("marker", "Mark")
    card.press("p")
    card.highlights(PASSAGE, "two")
    expect(card.part("marker")).to_be_hidden()
    expect(card.part("marked-words")).to_have_text("1 passage marked")
    card.select(9, 21)
    card.part("marker").click()  # they touch: one passage
    card.highlights(PASSAGE, "two three four")
    card.select(22, 26)
    card.press("p")
    card.says("marked-words", "2 passages marked")
    card.highlights(PASSAGE, "two three four", "five")
    card.press("3")
    card.shows("d002")
    card.highlights(PASSAGE)
    expect(card.part("marked-line")).to_be_hidden()
    card.saved()
    assert harness.desk.log[0]["passages"] == [[6, 20], [21, 25]]  # in code points
    assert marked(harness) == [("d001", ["two three four", "five"])]


def test_marks_are_taken_away_where_they_are_and_changed_with_the_grade_of_a_judged_document(
    show: MakeCard, harness: Harness
) -> None:
    card = show(document(1, text="One two three four five."), document(2, text="One two three."), document(3))
    for place in ((0, 3), (8, 13)):
        card.select(*place)
        card.press("p")
    card.highlights(PASSAGE, "One", "three")
    card.select(9, 9)  # a click in it
    card.says("marker", "Unmark")
    card.press("p")
    card.highlights(PASSAGE, "One")
    card.select(1, 2)
    card.part("marker").click()
    card.highlights(PASSAGE)
    card.select(4, 18)
    card.press("p")
    card.highlights(PASSAGE, "two three four")
    card.part("marked-line").get_by_role("button").click()
    card.highlights(PASSAGE)
    card.press("0")
    card.shows("d002")
    card.press("2", "ArrowLeft")
    card.shows("d002")
    card.select(4, 7)
    card.press("p")
    card.highlights(PASSAGE, "two")
    assert card.on_screen() == "d002"
    card.press("ArrowRight")
    card.shows("d003")
    card.highlights(PASSAGE)
    card.saved()
    assert marked(harness) == [("d001", []), ("d002", []), ("d002", ["two"])]
    assert [row["relevance"] for row in harness.desk.log] == [0, 2, 2]


def test_whole_signs_are_marked_in_markup_too_and_in_passages_only_what_is_in_sight(
    show: MakeCard, harness: Harness
) -> None:
    signs = "a 👩‍👩‍👧 e\u0301 🇩🇪 z"
    markup = {"text": "the boundary layer\n😀 x\n", "form": "markup"}
    markup["html"] = "<p>the <em>bound</em>ary <b>layer</b></p>\n<p>😀 x</p>\n"
    long = "Zero 😀 one. " * 10 + "Left out. " * 30 + "Second passage here." + " The end." * 20
    second = long.index("Second")
    excerpts: list[Any] = [[5, 11, long[5:11]], [second, second + 20, long[second : second + 20]]]
    card = show(document(1, text=signs), document(2, **markup), document(3, text=long, excerpts=excerpts))
    card.select(4, 7)  # in the middle of the family
    card.press("p")
    card.highlights(PASSAGE, "👩‍👩‍👧")
    at = signs.encode("utf-16-le").index("e\u0301".encode("utf-16-le")) // 2
    card.select(at, at + 1)  # the letter without its accent
    card.press("p")
    card.highlights(PASSAGE, "👩‍👩‍👧", "e\u0301")
    card.press("1")

    card.shows("d002")
    card.select(6, 14)
    card.press("p")
    card.highlights(PASSAGE, "undary l")
    card.select(22, 23)
    card.press("p")
    card.highlights(PASSAGE, "undary l", "x")
    card.press("1")

    card.shows("d003")
    card.part("text").evaluate(
        """node => {
          const [first, second] = node.querySelectorAll('.cd-piece');
          document.getSelection().setBaseAndExtent(first.firstChild, 3, second.firstChild, 6);
        }"""
    )
    card.press("p")
    card.highlights(PASSAGE, "one.", "Second")
    card.press("e")
    card.highlights(PASSAGE, "one.", "Second")
    card.press("1")
    card.saved()
    assert marked(harness) == [
        ("d001", ["👩‍👩‍👧", "e\u0301"]),
        ("d002", ["undary l", "x"]),
        ("d003", ["one.", "Second"]),
    ]
    assert harness.desk.log[2]["passages"][0] == [7, 11]


def test_sentences_are_marked_without_a_mouse_unless_the_campaign_has_no_marking(
    show: MakeCard, harness: Harness
) -> None:
    text = "First one 😀. Is this\nthe second? 第三の文。 Dr. Who.\n\nA last one"
    card = show(document(1, text=text), document(2, text="def f():\n    return 1\n", form="preformatted"), document(3))
    card.press("p")
    expect(card.part("sentences-panel")).to_be_focused()
    card.says("sentence-says", "First one 😀.")
    card.highlights("cd-sentence", "First one 😀.")
    card.press("ArrowUp", "Enter")
    card.says("sentence-says", "Marked. First one")
    card.press("ArrowDown")
    card.press(*["ArrowDown"] * 6)  # there are fewer: it stays at the last
    expect(card.part("sentence-says")).to_have_text("A last one")
    card.press("p")
    card.highlights(PASSAGE, "First one 😀.", "A last one")
    card.press("Enter")  # and away again
    card.highlights(PASSAGE, "First one 😀.")
    card.press("Enter", "Escape")
    card.highlights("cd-sentence")
    expect(card.part("sentences-panel")).to_be_hidden()
    card.press("ArrowDown")  # it scrolls again
    card.press("p", "3")  # digits judge all the time
    card.shows("d002")
    expect(card.part("sentences-panel")).to_be_hidden()
    card.press("p")
    card.says("sentence-count", "1 of 2")  # lines are kept
    card.says("sentence-says", "def f():")
    card.press("Escape", "1")
    card.shows("d003")
    card.saved()
    assert marked(harness) == [("d001", ["First one 😀.", "A last one"]), ("d002", [])]
    assert [row["relevance"] for row in harness.desk.log] == [3, 1]

    card.page.evaluate("window.run({ card: { marking: false } })")
    card.select(0, 3)
    card.press("p")
    card.says("notice", "Marking passages is turned off in this campaign.")
    expect(card.part("marker")).to_be_hidden()
    expect(card.part("sentences-panel")).to_be_hidden()


def test_sentences_of_a_judged_document_are_marked_where_one_is(show: MakeCard, harness: Harness) -> None:
    text = "\n\n".join(f"Sentence number {number} stands here." for number in range(60))
    card = show(document(1, text=text), document(2))
    card.press("2", "ArrowLeft")
    card.shows("d001")
    card.press("PageDown")
    card.wait("window.part('scroller').scrollTop > 100", "a scrolled document")
    card.press("p")
    expect(card.part("sentences-panel")).to_be_visible()
    place = card.page.evaluate("window.part('scroller').scrollTop")
    words = card.part("sentence-says").inner_text()
    card.press("Enter")
    card.highlights(PASSAGE, words)
    expect(card.part("sentences-panel")).to_be_visible()
    expect(card.part("sentence-says")).to_have_text(f"Marked. {words}")
    assert card.page.evaluate("window.part('scroller').scrollTop") == place
    card.press("ArrowDown", "Enter")
    card.says("marked-words", "2 passages marked")
    card.saved()
    assert [len(row["passages"]) for row in harness.desk.log] == [0, 1, 2]
    assert {row["relevance"] for row in harness.desk.log} == {2}


def test_panels_over_the_document_leave_the_buttons_where_they_are(show: MakeCard) -> None:
    card = show(document(1, text="One two. " * 50))
    for width, height in ((1280, 800), (390, 844)):
        card.resize(width, height)
        before = card.buttons()
        for key, name in (("g", "guidelines-panel"), ("p", "sentences-panel")):
            card.press(key)
            panel = card.part(name)
            expect(panel).to_be_visible()
            assert box(panel)["x"] >= 0
            assert box(panel)["x"] + box(panel)["width"] <= width
            assert card.buttons() == before
            if width < 640:
                for button in panel.locator("button:visible, input:visible").all():
                    assert box(button)["height"] >= 44
            assert not card.page.evaluate("document.documentElement.scrollWidth > innerWidth")
            card.press("Escape")
        card.select(0, 3)
        card.press("p")
        line = card.part("marked-line")
        expect(line).to_be_visible()
        assert box(line)["y"] + box(line)["height"] <= box(card.part("notice"))["y"] + 1
        assert card.buttons() == before
        line.get_by_role("button").click()
        expect(line).to_be_hidden()
