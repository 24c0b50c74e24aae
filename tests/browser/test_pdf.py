"""PDF files on the judging card: pages beside the bar, page by page, the text behind a key, and keys that keep judging.

The browser of the tests has no viewer of PDF files: a page takes its place, and the card is told that there is one.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import Harness, document
from tests.browser.card_page import Card, MakeCard, box, words

pytestmark = [pytest.mark.browser, pytest.mark.long]

VIEWER = "Object.defineProperty(navigator, 'pdfViewerEnabled', { get: () => true })"


def pdf(name: str, pages: int = 12) -> dict[str, Any]:
    return {"file": f"/files/{name}.pdf", "shown": f"/files/{name}.pdf", "pages": pages, "width": 600, "height": 800}


@pytest.fixture
def pages(show: MakeCard) -> Card:
    """Two PDF files and a text, in a browser with a viewer."""
    card = show(
        document(1, title="The wing", pdf=pdf("a"), text="Words of the wing. More words."),
        document(2, title="The tail", pdf=pdf("b", 1), text=""),
        document(3),
        script=VIEWER,
    )
    expect(card.part("pdf")).to_be_visible()
    return card


def address(card: Card) -> str:
    return str(card.part("pdf-frame").locator("iframe").get_attribute("src"))


def loaded(card: Card) -> None:
    card.wait("window.part('pdf-frame').querySelector('iframe').dataset.loading === undefined", "the viewer")


def test_the_pages_are_beside_the_bar_and_a_grade_is_one_key(pages: Card, harness: Harness) -> None:
    card = pages
    assert address(card) == "/files/a.pdf#page=1&view=FitH,0&toolbar=0&navpanes=0"
    frame, grade = box(card.part("pdf-frame")), box(card.grade(0))
    assert frame["height"] > 200
    assert frame["y"] + frame["height"] <= grade["y"]
    expect(card.part("text")).to_be_hidden()
    card.press("2")
    card.shows("d002")
    assert address(card).startswith("/files/b.pdf#page=1")
    card.press("1")
    card.shows("d003")
    expect(card.part("pdf")).to_be_hidden()
    expect(card.part("text")).to_be_visible()
    assert box(card.grade(0)) == grade
    card.press("j")
    card.says("notice", "There are no pages of a PDF file on screen.")
    card.press("d")
    card.says("notice", "This document has no PDF file, or this browser cannot show it.")
    card.press(".")
    expect(card.part("more-panel").get_by_role("button", name="Next page")).to_have_count(0)
    card.press("Escape")
    card.press("ArrowLeft")
    card.shows("d002")
    expect(card.part("pdf")).to_be_visible()
    card.saved()
    assert words(harness.desk) == [("d001", 2), ("d002", 1)]


def test_keys_turn_pages_and_scroll_them(pages: Card) -> None:
    card = pages
    card.press("j")
    assert "#page=2&view=FitH,0&" in address(card)
    card.press("k")
    card.press("k")
    card.says("notice", "This is the first page.")
    card.press("b")
    card.page.keyboard.type("11")
    card.press("Enter")  # the digits were no grades
    assert "#page=11&" in address(card)
    card.shows("d001")
    card.press("b")
    card.page.keyboard.type("99")
    card.press("Enter")
    assert card.part("pdf-page").input_value() == "11"
    loaded(card)
    seen = {address(card)}
    for _ in range(20):
        loaded(card)
        card.press("Space")
        seen.add(address(card))
        if "#page=12&" in address(card):
            break
    assert "#page=12&view=FitH,0&" in address(card), "past the end of a page comes the next one"
    assert len(seen) > 2, "what is below the visible part of a page is not passed over"
    loaded(card)
    card.press("Home")
    assert "#page=1&view=FitH,0&" in address(card)


def test_the_text_is_one_key_away_and_stays_for_the_next_documents(pages: Card, harness: Harness) -> None:
    card = pages
    card.press("j", "d")
    expect(card.part("pdf")).to_be_hidden()
    card.press("d")
    assert "#page=2&" in address(card), "the page that was left for the text"
    card.press("d")
    expect(card.part("pdf")).to_be_hidden()
    card.says("text", "Words of the wing. More words.")
    link = card.part("pictures").get_by_role("link", name="Open the PDF (12 pages)")
    assert link.get_attribute("href") == "/files/a.pdf"
    expect(card.part("to-pages")).to_be_visible()
    card.press("1")
    card.shows("d002")
    expect(card.part("pdf")).to_be_hidden()
    expect(card.part("pictures").get_by_role("link", name="Open the PDF (1 page)")).to_be_visible()
    card.press("d")
    expect(card.part("pdf")).to_be_visible()
    assert "#page=1&" in address(card)
    card.press("ArrowLeft")
    card.shows("d001")
    expect(card.part("pdf")).to_be_visible()
    card.press("p")  # passages are marked in the text
    expect(card.part("pdf")).to_be_hidden()
    expect(card.part("sentences-panel")).to_be_visible()
    card.press("Enter")
    card.press("Escape")
    card.press("3")
    card.saved()
    assert harness.desk.current()[("t1", "d001")]["passages"] == [[0, 18]]


def test_a_click_into_the_viewer_does_not_take_the_keys(pages: Card, harness: Harness) -> None:
    card = pages
    loaded(card)
    place = box(card.part("pdf-frame"))
    card.page.mouse.click(place["x"] + 60, place["y"] + 20)  # into the field of the stand-in
    card.wait("!window.part('pdf-frame').contains(window.part('card').getRootNode().activeElement)", "the focus back")
    card.press("2")
    card.shows("d002")
    loaded(card)
    # By Tab, one means it: the keys go to the viewer, which is said, until Shift and Tab.
    card.part("pdf-link").get_by_role("link").focus()
    card.press("Tab")
    expect(card.part("pdf-hint")).to_be_visible()
    card.press("Shift+Tab")
    expect(card.part("pdf-hint")).to_be_hidden()
    card.press("1")
    card.shows("d003")
    card.saved()
    assert words(harness.desk) == [("d001", 2), ("d002", 1)]


def test_a_viewer_with_other_addresses_gets_them(show: MakeCard) -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0"
    card = show(document(1, pdf=pdf("a")), script=VIEWER, user_agent=firefox)
    assert address(card) == "/files/a.pdf#page=1&pagemode=none&zoom=FitH,800"


def test_without_a_viewer_the_text_has_a_link(show: MakeCard) -> None:
    unchecked = {**pdf("c"), "shown": None, "file": "/files/c.original"}
    card = show(document(1, pdf=pdf("a")), document(2, pdf=unchecked))
    expect(card.part("pdf")).to_be_hidden()
    expect(card.part("to-pages")).to_be_hidden()
    expect(card.part("text")).to_be_visible()
    link = card.part("pictures").get_by_role("link", name="Open the PDF (12 pages)")
    assert link.get_attribute("target") == "_blank"
    card.press("1")
    card.shows("d002")
    assert card.part("pictures").get_by_role("link").get_attribute("href") == "/files/c.original"
