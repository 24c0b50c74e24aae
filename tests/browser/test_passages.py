"""Marking passages on the judging card: with the mouse, and sentence by sentence without one."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import document

pytestmark = pytest.mark.browser
PASSAGE = "cd-passage"


@pytest.mark.parametrize("root", ["shadow", "div"])
def test_what_is_selected_is_marked_and_goes_with_the_grade(show, harness, root):
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
    card.open(first="d001", root=root)  # it waits in the browser for its grade
    card.highlights(PASSAGE, "two three four", "five")
    card.press("3")
    card.shows("d002")
    card.highlights(PASSAGE)
    expect(card.part("marked-line")).to_be_hidden()
    card.saved()
    assert harness.desk.log[0]["passages"] == [[6, 20], [21, 25]]  # in code points
    text = harness.desk.pool["t1"]["d001"]["text"]
    assert [text[start:end] for start, end in harness.desk.log[0]["passages"]] == ["two three four", "five"]


def test_a_mark_is_taken_away_where_it_is(show, harness):
    card = show(document(1, text="One two three four five."), document(2))
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
    card.saved()
    assert harness.desk.log[0]["passages"] == []


def test_marks_of_a_judged_document_are_changed_with_its_grade(show, harness):
    card = show(document(1, text="One two three."), document(2))
    card.press("2", "ArrowLeft")
    card.shows("d001")
    card.select(4, 7)
    card.press("p")
    card.highlights(PASSAGE, "two")
    assert card.on_screen() == "d001"
    card.press("ArrowRight")
    card.shows("d002")
    card.highlights(PASSAGE)
    card.saved()
    assert [(row["relevance"], row["passages"]) for row in harness.desk.log] == [(2, []), (2, [[4, 7]])]


def test_whole_signs_are_marked(show, harness):
    text = "a 👩‍👩‍👧 e\u0301 🇩🇪 z"
    card = show(document(1, text=text), document(2))
    card.select(4, 7)  # in the middle of the family
    card.press("p")
    card.highlights(PASSAGE, "👩‍👩‍👧")
    at = text.encode("utf-16-le").index("e\u0301".encode("utf-16-le")) // 2
    card.select(at, at + 1)  # the letter without its accent
    card.press("p")
    card.highlights(PASSAGE, "👩‍👩‍👧", "e\u0301")
    card.press("1")
    card.saved()
    assert [text[start:end] for start, end in harness.desk.log[0]["passages"]] == ["👩‍👩‍👧", "e\u0301"]


def test_in_passages_only_what_is_in_sight_is_marked(show, harness):
    text = "Zero 😀 one. " * 10 + "Left out. " * 30 + "Second passage here." + " The end." * 20
    second = text.index("Second")
    card = show(
        document(1, text=text, excerpts=[[5, 11, text[5:11]], [second, second + 20, text[second : second + 20]]])
    )
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
    passages = harness.desk.log[0]["passages"]
    assert [text[start:end] for start, end in passages] == ["one.", "Second"]
    assert passages[0] == [7, 11]


def test_marking_in_markup_goes_by_the_text(show, harness):
    html = "<p>the <em>bound</em>ary <b>layer</b></p>\n<p>😀 x</p>\n"
    text = "the boundary layer\n😀 x\n"
    card = show(document(1, text=text, html=html, form="markup"))
    card.select(6, 14)
    card.press("p")
    card.highlights(PASSAGE, "undary l")
    card.select(22, 23)
    card.press("p")
    card.highlights(PASSAGE, "undary l", "x")
    card.press("1")
    card.saved()
    assert [text[start:end] for start, end in harness.desk.log[0]["passages"]] == ["undary l", "x"]


def test_sentences_are_marked_without_a_mouse(show, harness):
    text = "First one 😀. Is this\nthe second? 第三の文。 Dr. Who.\n\nA last one"
    card = show(document(1, text=text), document(2))
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
    card.saved()
    row = harness.desk.log[0]
    assert (row["relevance"], [text[start:end] for start, end in row["passages"]]) == (
        3,
        ["First one 😀.", "A last one"],
    )


def test_a_text_without_capitals_is_marked_in_parts(show):
    part = "the flow past a wing in a slipstream was measured at some angles of attack and at two speeds of the tunnel"
    text = f"{part} .  {part} ; {part}? {part} .\n{part} ; {part}"
    lines = "\n".join(f"{n} {part}" for n in range(6))
    short = "it is small . and stays as it is"
    card = show(document(1, text=text), document(2, text=lines), document(3, text=short))
    for doc_id, count in (("d001", 6), ("d002", 6), ("d003", 1)):
        card.shows(doc_id)
        card.press("p")
        card.says("sentence-count", f"1 of {count}")
        card.press("Escape", "0")


def test_sentences_of_a_judged_document_are_marked_where_one_is(show, harness):
    text = "\n\n".join(f"Sentence number {number} stands here." for number in range(60))
    card = show(document(1, text=text), document(2))
    card.press("2", "ArrowLeft")
    card.shows("d001")
    card.press("PageDown")
    card.page.wait_for_function("window.part('scroller').scrollTop > 100")
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


def test_lines_that_were_broken_do_not_end_a_sentence(show):
    text = "The flow of air over the upper side of a wing is\nfaster than that below. A second one."
    card = show(document(1, text=text), document(2, text="def f():\n    return 1\n", form="preformatted"))
    card.press("p")
    card.says("sentence-count", "1 of 2")
    card.press("Escape", "1", "p")
    card.says("sentence-count", "1 of 2")
    card.says("sentence-says", "def f():")


def test_a_campaign_without_marking_says_so(show, harness):
    card = show(document(1, text="One two."), document(2, text=None), card={"marking": False})
    card.select(0, 3)
    card.press("p")
    card.says("notice", "Marking passages is turned off in this campaign.")
    expect(card.part("marker")).to_be_hidden()
    expect(card.part("sentences-panel")).to_be_hidden()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_panels_over_the_document_leave_the_buttons_where_they_are(show, size):
    card = show(document(1, text="One two. " * 50), viewport={"width": size[0], "height": size[1]})
    buttons = card.page.locator("[data-part=grades] button, .cd-actions button")
    before = [button.bounding_box() for button in buttons.all()]
    for key, panel in (("g", "guidelines-panel"), ("p", "sentences-panel")):
        card.press(key)
        expect(card.part(panel)).to_be_visible()
        box = card.part(panel).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]
        assert [button.bounding_box() for button in buttons.all()] == before
        if size[0] < 640:
            for button in card.part(panel).locator("button:visible, input:visible").all():
                assert button.bounding_box()["height"] >= 44
        assert not card.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        card.press("Escape")
    card.select(0, 3)
    card.press("p")
    line, notice = card.part("marked-line"), card.part("notice").bounding_box()
    expect(line).to_be_visible()
    box = line.bounding_box()
    assert box["y"] + box["height"] <= notice["y"] + 1
    assert [button.bounding_box() for button in buttons.all()] == before
