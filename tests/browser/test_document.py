"""The document on the judging card: its forms, all kinds of letters, what is known of it, pictures, long ones."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import TEXT_CAP, Harness, document
from tests.browser.card_page import Card, MakeCard, box, words

pytestmark = [pytest.mark.browser, pytest.mark.long]
INSIDE = """(names) => names.every((name) => {
  const [box, page] = [window.part(name).getBoundingClientRect(), window.part('scroller').getBoundingClientRect()];
  return box.left >= page.left - 1 && box.right <= page.right + 1;
})"""


def style(card: Card, name: str, selector: str = "[data-part=text]") -> str:
    """A computed property of a node of the card."""
    return str(card.page.locator(selector).first.evaluate(f"node => getComputedStyle(node)['{name}']"))


def scrolls_sideways(card: Card) -> bool:
    """True if the page is wider than its window."""
    return bool(card.page.evaluate("document.documentElement.scrollWidth > innerWidth"))


# ------------------------------------------------------------------------------------------- the next text


@pytest.mark.parametrize("root", ["div", "shadow"])
def test_the_next_text_is_ready_out_of_sight_and_takes_the_place_of_the_former(show: MakeCard, root: str) -> None:
    right, line = "\u05d0\u05d1 \u05d2\u05d3", {"lang": "he"}
    card = show(
        document(1, text="first"),
        document(2, text=right, metadata=line),
        document(3, text="third"),
        document(4, text="x = 1", form="preformatted"),
        document(5, text="fifth " * 4_000),
        query={"root": root},
    )
    text, ahead = card.part("text"), card.part("text-ahead")
    expect(ahead).to_have_text(right)
    expect(ahead).to_be_hidden()
    below = "['document', 'text'].map(name => window.part(name).getBoundingClientRect().bottom).reduce((a, b) => a - b)"
    assert card.page.evaluate(below) == 24, "it takes no place"
    text.select_text()
    card.press("1")
    card.shows("d002")
    expect(text).to_be_visible()
    expect(text).to_have_text(right)
    assert (style(card, "direction"), text.get_attribute("lang")) == ("rtl", "he")
    expect(ahead).to_have_text("third")
    assert card.page.evaluate("getSelection().toString()") == "", "what was selected is not on screen"
    card.press("u")
    card.shows("d001")
    expect(text).to_have_text("first")
    assert (style(card, "direction"), text.get_attribute("lang")) == ("ltr", "")
    for key, shown in (("1", right), ("1", "third"), ("u", right), ("1", "third")):
        card.press(key)
        expect(text).to_have_text(shown)
    expect(ahead).to_have_text("")  # no plain text comes next
    card.press("1")
    expect(text).to_have_text("x = 1")
    expect(ahead).to_have_text("")  # a long text comes next: laying it out could hold up a key
    card.press("1")
    card.shows("d005")
    expect(text).to_contain_text("fifth fifth")
    assert card.part("text").count() == 1


# ---------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("root", ["div", "shadow"])
def test_preformatted_text_and_wide_tables_scroll_in_their_own_box(show: MakeCard, root: str) -> None:
    code = "def mean(x):\n\treturn sum(x)" + " + 0" * 100 + "\n"
    row = "".join(f"<td>{n}.123456789 aerodynamical</td>" for n in range(12))
    html = f"<table><tbody><tr>{row}</tr></tbody></table>\n"
    card = show(
        document(1, text=code, form="preformatted"),
        document(2),
        document(3, text="1.123456789 aerodynamical\n", html=html, form="markup"),
        query={"root": root},
    )
    assert style(card, "whiteSpace") == "pre"
    assert "mono" in style(card, "fontFamily")
    wide = "window.part('text').scrollWidth > window.part('text').clientWidth"
    assert card.page.evaluate(wide)
    assert not card.page.evaluate("window.part('scroller').scrollWidth > window.part('scroller').clientWidth")
    assert card.part("text").get_attribute("tabindex") == "0"
    card.press("Shift+ArrowRight")
    card.wait("window.part('text').scrollLeft > 50", "a text scrolled to the right")
    card.press("Shift+ArrowLeft")
    card.wait("window.part('text').scrollLeft === 0", "a text scrolled back")
    assert card.on_screen() == "d001"
    card.part("scroller").focus()
    card.press("o", "Escape", "Shift+ArrowRight")  # the field that was left is no selection
    card.wait("window.part('text').scrollLeft > 50", "a text scrolled to the right")
    card.press("1")
    card.shows("d002")
    assert style(card, "whiteSpace") == "pre-wrap"
    assert card.part("text").get_attribute("tabindex") is None
    card.press("1")
    card.shows("d003")
    table = card.page.locator("[data-part=text] table")
    assert table.evaluate("node => node.scrollWidth > node.clientWidth")
    assert not scrolls_sideways(card)
    lines = """nodes => nodes.map((node) => [...node.firstChild.data.matchAll(/\\S+/g)].map(({0: word, index}) => {
      const range = document.createRange();
      range.setStart(node.firstChild, index);
      range.setEnd(node.firstChild, index + word.length);
      return range.getClientRects().length;
    }))"""
    assert table.locator("td").evaluate_all(lines) == [[1, 1]] * 12, "a word is broken"


def test_markup_is_drawn_whole_and_is_text_where_it_was_cut(show: MakeCard) -> None:
    html = "<h3>Rolling</h3>\n<ul>\n<li>one <strong>wi</strong>ndow</li>\n</ul>\n<p>a <code>mean</code></p>\n"
    text = "Rolling\n\none window\n\na mean\n"
    long = "<b>" + "word " * TEXT_CAP
    card = show(
        document(1, text=text, html=html, form="markup"),
        document(2, text=text, html=None, form="markup"),
        document(3, text=long, html=f"<p>{long}</p>", form="markup"),
        document(4, text="turned \u202e round", html="<p>turned \u202e round</p>", form="markup"),
        document(5, text=text, html=html),  # its form is text: the markup is not drawn
    )
    expect(card.part("text").locator("h3, li, strong, code")).to_have_count(4)
    assert card.part("text").evaluate("node => node.textContent") == "Rolling\n\none window\n\na mean\n"
    assert style(card, "whiteSpace") == "normal"
    card.press("1")
    card.shows("d002")
    expect(card.part("text").locator("*")).to_have_count(0)
    expect(card.part("text")).to_have_text(text)
    card.press("1")
    card.shows("d003")
    expect(card.part("text").locator("*")).to_have_count(0)
    expect(card.part("show-all")).to_have_text("Show all (10,003 characters)")
    card.press("e")
    expect(card.part("text").locator("p")).to_have_count(1)
    card.press("1")
    card.shows("d004")
    assert card.part("text").evaluate("node => node.textContent") == "turned \u2060 round"
    card.press("1")
    card.shows("d005")
    expect(card.part("text").locator("*")).to_have_count(0)


def test_all_kinds_of_letters_stay_in_their_place(show: MakeCard) -> None:
    arabic = "المتوسط المتحرك rolling mean.\n\nAn English paragraph.\n\nפסקה בעברית."
    zalgo = "Z" + "".join(chr(0x300 + i % 0x60) for i in range(90)) + "algo " + "W" * 400
    japanese = "移動平均とは、時系列データの平均値を求めたものである。" * 20
    card = show(
        document(1, text=arabic, title="المتوسط", metadata={"language": "ar"}),
        document(2, text=zalgo, title="T" + "\u0301" * 60 + " " + "W" * 200),
        document(3, text=japanese, title="移動平均", metadata={"lang": "ja"}),
        document(4, text="👩‍👩‍👧‍👦 🇩🇪 e\u0301 ﷽ " + "﷽" * 90, metadata={"lang": "not a language", "x": "﷽" * 90}),
    )
    lines = """() => {
      const node = window.part('text').firstChild;
      const box = window.part('text').getBoundingClientRect();
      return ['المتوسط', 'An English', 'פסקה'].map((words) => {
        const range = document.createRange();
        const at = node.data.indexOf(words);
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const letter = range.getBoundingClientRect();
        return letter.left - box.left < box.right - letter.right ? 'left' : 'right';
      });
    }"""
    sizes = ((1280, 800), (390, 844))
    for width, height in sizes:
        card.page.set_viewport_size({"width": width, "height": height})
        sides = card.page.evaluate(lines)
        assert sides == ["right", "left", "right"], "each paragraph begins on the side of its own direction"
    assert style(card, "direction", "[data-part=title]") == "rtl"
    for doc_id, language in {"d001": "ar", "d002": "", "d003": "ja", "d004": ""}.items():
        card.shows(doc_id)
        assert [card.part(part).get_attribute("lang") or "" for part in ("title", "text")] == [language] * 2
        for width, height in sizes:
            card.page.set_viewport_size({"width": width, "height": height})
            assert card.page.evaluate(INSIDE, ["text", "title", "chips"])
            assert not scrolls_sideways(card)
        if doc_id == "d002":
            assert style(card, "overflowY") == "clip"  # marks that pile up end at the edge of the text
        card.press("1")


# -------------------------------------------------------------------------------------- what is known


def test_addresses_are_links_and_nothing_else_is_and_many_chips_are_folded(show: MakeCard) -> None:
    evil = {
        "script": "javascript:alert(1)",
        "data": "data:text/html,x",
        "ftp": "ftp://example.org/x",
        "mixed": "see https://example.org",
    }
    long = "https://example.org/" + "path/" * 30
    known = {"page": "https://example.org/a?b=1#c", "long": long, "authors": ["Ada L.", "Grace H."]}
    many = {f"field {n}": n for n in range(20)}
    card = show(
        document(1, metadata=evil | known),
        document(2, metadata=many),
        document(3, metadata={"script": "plain"}),
        document(4, metadata={}),
        document(5, metadata=many),
    )
    links = card.part("chips").locator("a")
    assert [link.get_attribute("href") for link in links.all()] == ["https://example.org/a?b=1#c", long]
    assert links.first.text_content() == "example.org/a?b=1#c"
    assert len(links.nth(1).text_content() or "") < 70
    for link in links.all():
        assert link.get_attribute("target") == "_blank"
        assert set((link.get_attribute("rel") or "").split()) == {"noopener", "noreferrer", "nofollow"}
    card.says("chips", "script: javascript:alert(1)")
    card.says("chips", "authors: Ada L., Grace H.")
    chips = card.part("chips").locator(".cd-chip:visible")
    more = card.button("more-chips")
    card.press("1")
    card.shows("d002")
    expect(links).to_have_count(0)
    expect(chips).to_have_count(12)
    expect(more).to_have_text("8 more")
    more.click()
    expect(chips).to_have_count(20)
    expect(more).to_be_hidden()
    card.press("1")
    card.shows("d003")
    expect(card.part("chips").locator(":visible")).to_have_text(["script: plain"])
    card.press("1")
    card.shows("d004")
    expect(card.part("chips").locator(":visible")).to_have_count(0)
    card.press("1")
    card.shows("d005")
    expect(chips).to_have_count(12)
    assert chips.last.text_content() == "field 11: 11"
    expect(more).to_have_text("8 more")


# -------------------------------------------------------------------------------------------- pictures


def test_pictures_stand_above_the_text_and_open_large(show: MakeCard, harness: Harness) -> None:
    card = show(
        document(1, images=[{"src": "/files/a.png", "alt": "Rows and columns"}, {"src": "/files/b.png", "alt": ""}]),
        document(2),
        document(3, text="", images=[{"src": "/files/c.png", "alt": "Alone"}]),
    )
    pictures = card.part("pictures").locator("img")
    expect(pictures).to_have_count(2)
    assert pictures.first.get_attribute("alt") == "Rows and columns"
    assert pictures.first.get_attribute("referrerpolicy") == "no-referrer"
    card.wait("window.part('pictures').querySelector('img').naturalWidth === 480", "the picture")
    place = box(card.part("pictures"))
    assert place["height"] <= 310
    assert place["y"] + place["height"] <= box(card.part("text"))["y"]
    grades = box(card.grade(0))
    card.press("i")
    expect(card.part("picture-panel")).to_be_visible()
    card.says("picture-alt", "Rows and columns")
    card.says("picture-count", "1 of 2")
    card.press("i")
    card.says("picture-count", "2 of 2")
    card.press("Escape")
    expect(card.part("picture-panel")).to_be_hidden()
    pictures.nth(1).click()
    card.says("picture-count", "2 of 2")
    assert box(card.grade(0)) == grades
    card.press("2")  # it is the document itself: judging goes on
    card.shows("d002")
    expect(card.part("picture-panel")).to_be_hidden()
    expect(card.part("pictures")).to_be_hidden()
    card.press("i")
    card.says("notice", "This document has no pictures")
    card.press(".")
    expect(card.part("more-panel").get_by_role("button", name="Show pictures")).to_have_count(0)
    card.press("Escape")
    card.press("1")
    card.shows("d003")
    alone = box(card.part("pictures"))
    assert alone["height"] > 0.7 * box(card.part("scroller"))["height"], "alone it has the place of a text"
    card.press("1")
    card.saved()
    assert words(harness.desk) == [("d001", 2), ("d002", 1), ("d003", 1)]


def test_a_lost_picture_says_so_and_of_those_that_come_next_only_files_are_fetched(
    show: MakeCard, harness: Harness
) -> None:
    harness.files.clear()
    foreign = {"src": f"http://localhost:{harness.url.rsplit(':', 1)[1]}/files/foreign.png", "alt": ""}
    images = [
        {"src": "/files/gone.gif", "alt": "The <b>wing</b>"},
        {"src": "https://img.example.org/x.png?a=1", "alt": "In the tunnel \u202e", "link": True},
        {"src": "javascript:alert(1)", "alt": "evil"},
    ]
    card = show(
        document(1, images=images),
        document(2, images=[{"src": "/files/next.png", "alt": ""}, foreign]),
        document(3, images=[{"src": "/files/linked.png", "alt": "", "link": True}]),
    )
    card.says("pictures", "The picture could not be loaded.The <b>wing</b>")
    link = card.part("pictures").locator("a")
    assert (link.text_content(), link.get_attribute("href")) == ("img.example.org", "https://img.example.org/x.png?a=1")
    assert set((link.get_attribute("rel") or "").split()) == {"noopener", "noreferrer", "nofollow"}
    card.says("pictures", ": In the tunnel \u2060")
    expect(card.part("pictures").locator("img")).to_have_count(0)
    assert "evil" not in (card.part("pictures").text_content() or "")
    card.until(lambda: "next.png" in harness.files, "the request of next.png", lambda: harness.files)
    assert set(harness.files) == {"gone.gif", "next.png"}


# -------------------------------------------------------------------------------------- long documents

PARTS = [f"Part {n} 😀. " + f"It has words of part {n}. " * 12 for n in range(12)]
LONG = "\n\n".join(PARTS)


def excerpt(first: int, last: int | None = None) -> list[Any]:
    """The place of some of the parts, in code points, and their words."""
    start = sum(len(each) + 2 for each in PARTS[:first])
    text = "\n\n".join(PARTS[first : (last or first) + 1])
    return [start, start + len(text), text]


def test_a_long_document_is_folded_to_its_passages_unless_the_annotator_wants_it_whole(
    show: MakeCard, harness: Harness
) -> None:
    text = "Nothing of this kind. " * 300
    begins = "The rolling mean is explained. " + text
    card = show(
        document(1, text=LONG, excerpts=[excerpt(1), excerpt(3), excerpt(9)]),
        document(2),
        document(3, text=text, excerpts=[[0, 700, text[:700]]]),
        document(4, text=begins, excerpts=[[0, 700, begins[:700]]]),
        document(5, text="word " * 100, excerpts=[[0, 4, "word"]]),
    )
    assert len(LONG) > TEXT_CAP  # the third passage lies behind what is here
    pieces = card.part("text").locator(".cd-piece")
    expect(pieces).to_have_text([PARTS[1], PARTS[3], PARTS[9]])
    gaps = card.part("text").locator(".cd-gap")
    assert gaps.all_text_contents() == [
        f"Show {excerpt(1)[0]} hidden characters",
        f"Show {excerpt(3)[0] - excerpt(1)[1]} hidden characters",
        f"Show {excerpt(9)[0] - excerpt(3)[1]:,} hidden characters",
        f"Show {len(LONG) - excerpt(9)[1]} hidden characters",
    ]
    expect(card.part("more")).to_be_hidden()
    gaps.nth(1).click()  # only this one, and without the server
    expect(pieces).to_have_text([PARTS[1] + "\n\n" + PARTS[2] + "\n\n" + PARTS[3], PARTS[9]])
    harness.desk.fail = 500
    gaps.nth(1).click()  # the rest of it has to be fetched
    card.says("notice", "could not be loaded")
    expect(pieces).to_have_count(2)
    harness.desk.fail = None
    gaps.nth(1).click()
    expect(gaps).to_have_count(2)
    assert pieces.last.evaluate("node => node.textContent") == "\n\n".join(PARTS[1:10])
    card.press("1")
    card.shows("d002")
    expect(card.part("folding")).to_be_hidden()
    card.press("ArrowLeft")
    expect(gaps).to_have_count(2)  # what was opened of it stays so
    card.press("ArrowRight", "0")

    card.shows("d003")
    card.says("folding-says", "Showing only the beginning: no passage matches the topic.")
    card.press("0")
    card.shows("d004")
    card.says("folding-says", "Showing only passages that match the topic.")
    card.press("0")
    card.shows("d005")
    expect(pieces).to_have_text(["word"])
    card.press(",")
    card.page.get_by_role("switch", name="Always show full documents").click()
    card.press("Escape")
    expect(pieces).to_have_count(0)
    card.press("e")
    expect(pieces).to_have_text(["word"])


def test_e_shows_all_and_the_place_stays_and_space_leaves_two_lines_of_the_screen_before(
    show: MakeCard,
) -> None:
    documents = [
        document(1, text=LONG, excerpts=[excerpt(1), excerpt(8, 11)]),
        document(2, text=LONG, excerpts=[excerpt(2)]),
        document(3, text="word " * 3000 + "\n"),
    ]
    card = show(*documents, viewport={"width": 1280, "height": 420})
    whole = "window.part('text').textContent.length"
    card.says("folding", "Showing only passages that match the topic.")
    # At the top is a line of the passage behind the cap, and stays there.
    top = """() => {
      const [page, text] = [window.part('scroller'), window.part('text')];
      const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const at = walker.currentNode.data.indexOf('Part 9');
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + 4);
        return range.getBoundingClientRect().top - page.getBoundingClientRect().top;
      }
      return null;
    }"""
    card.page.evaluate(f"window.part('scroller').scrollTop += ({top})() + 30")
    before = card.page.evaluate(top)
    assert -60 < before < -20
    card.press("e")
    card.wait(f"{whole} === {len(LONG.encode('utf-16-le')) // 2}", "the whole text", instead=whole)
    card.wait(f"Math.abs(({top})() - {before}) < 3", f"the text at {before}", instead=top)
    card.says("folding", "Showing the full text.")
    card.press("e")
    expect(card.part("text").locator(".cd-piece")).to_have_count(2)
    card.wait(f"Math.abs(({top})() - {before}) < 3", f"the text at {before}", instead=top)
    card.press("e")
    expect(card.part("text").locator(".cd-piece")).to_have_count(0)
    card.press("1")
    card.shows("d002")
    expect(card.part("text").locator(".cd-piece")).to_have_count(1)  # the choice was for that one only

    card.press("1")
    card.shows("d003")
    card.press("e")
    page = "window.part('scroller')"
    card.wait(f"{page}.scrollHeight > 4 * {page}.clientHeight", "a document of four pages")
    height = card.page.evaluate(f"{page}.clientHeight")
    card.press(" ")
    card.wait(f"{page}.scrollTop === {height} - 52", "the next page of the document", instead=f"{page}.scrollTop")
    card.press("PageDown")
    card.wait(f"{page}.scrollTop === 2 * ({height} - 52)", "the next page of the document", instead=f"{page}.scrollTop")
    card.press("Shift+ ")
    card.wait(f"{page}.scrollTop === {height} - 52", "the next page of the document", instead=f"{page}.scrollTop")
