"""Highlights in documents, and finding in them, on the judging card."""

from __future__ import annotations

import re
import statistics

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import TEXT_CAP, Desk, document
from tests.browser.card_page import words

pytestmark = pytest.mark.browser
TERM, OWN, PASSAGE, HIT, NOW = "cd-topic-term", "cd-own-word", "cd-passage", "cd-hit", "cd-hit-now"


def contrast(card, name):
    """How far the letters of a highlight stand out from its ground (WCAG 2.2, relative luminance)."""

    def luminance(colour):
        parts = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
        scale = 1.0 if "srgb" in colour else 255.0
        shares = [part / scale for part in parts]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    colours = card.part("text").evaluate(
        """(node, name) => {
          const style = getComputedStyle(node, `::highlight(${name})`);
          return [style.backgroundColor, style.color];
        }""",
        name,
    )
    high, low = sorted(map(luminance, colours), reverse=True)
    return (high + 0.05) / (low + 0.05)


# ----------------------------------------------------------------------------------------- highlights


def test_terms_of_the_topic_are_highlighted_in_each_document(show):
    text = (
        "The WINDOWS of a rolling mean; it rolls, rolled, and computes. Méans gapless (gap) meanwhile, a series' time."
    )
    card = show(document(1, title="Rolling windows", text=text), document(2, text="Nothing of it."), document(3))
    # Title and description: "rolling mean t1", "How can a rolling mean be computed over a time series with gaps?"
    card.highlights(TERM, "Rolling", "rolling", "mean", "rolls", "rolled", "computes", "Méans", "gap", "series", "time")
    card.press("1")
    card.highlights(TERM)
    card.press("1")
    card.highlights(TERM, *["mean"] * 5)
    card.press("ArrowLeft", "ArrowLeft")
    card.shows("d001")
    card.page.wait_for_function(f"CSS.highlights.get('{TERM}')?.size === 10")


@pytest.mark.parametrize("root", ["shadow", "div"])
def test_highlights_go_off_and_on_and_stay_so(show, harness, root):
    card = show(
        document(1, text="a mean wing"), document(2, text="mean"), own={"words": {"t1": "wing"}}, query={"root": root}
    )
    card.highlights(TERM, "mean")
    card.highlights(OWN, "wing")
    card.press("h")
    card.says("notice", "Highlights are off.")
    card.highlights(TERM)
    card.highlights(OWN)
    expect(card.part("highlight")).to_have_attribute("aria-pressed", "false")
    card.press("1")
    card.shows("d002")
    card.highlights(TERM)
    card.page.wait_for_function("Object.keys(localStorage).some((key) => key.endsWith('own'))")
    card.open(first="d002")
    expect(card.part("highlight")).to_have_attribute("aria-pressed", "false")
    card.part("highlight").click()
    card.highlights(TERM, "mean")
    expect(card.part("highlight")).to_have_attribute("aria-pressed", "true")
    card.page.wait_for_function(
        "!JSON.parse(localStorage[Object.keys(localStorage).find((k) => k.endsWith('own'))]).unsent"
    )
    assert harness.desk.own["marks"] == {"topic": True, "own": True}
    assert harness.desk.own["words"] == {"t1": "wing"}


def test_one_of_the_two_can_be_off_alone(show):
    card = show(document(1, text="a mean wing"), own={"words": {"t1": "wing"}, "marks": {"topic": False}})
    card.highlights(OWN, "wing")
    card.highlights(TERM)


def test_own_words_are_written_once_for_a_topic(show, harness):
    text = 'Heat flux; the heat\nflux, heated flows. Aeroelastic § 103 wing "rows".'
    card = show(document(1, text=text), document(2, text="The wing and the heat."))
    card.press("o")
    expect(card.part("own-words")).to_be_focused()
    card.page.keyboard.type('"heat flux" aero* flow § 103')
    card.highlights(OWN, "Heat flux", "heat\nflux", "flows", "Aeroelastic", "§", "103")
    card.press("Enter")
    expect(card.part("own-words")).not_to_be_focused()
    assert card.on_screen() == "d001"
    card.press("1")
    card.shows("d002")
    card.highlights(OWN)
    card.press("o")
    card.page.keyboard.type("wing")
    card.highlights(OWN, "wing")
    card.press("Escape", "2")
    card.saved()
    assert words(harness.desk) == [("d001", 1), ("d002", 2)]
    card.page.wait_for_function(
        "!JSON.parse(localStorage[Object.keys(localStorage).find((k) => k.endsWith('own'))]).unsent"
    )
    assert harness.desk.own["words"] == {"t1": "wing"}


def test_own_words_are_those_of_their_topic(harness, make_card):
    text = {"text": "wing and heat"}
    harness.desk = Desk({"t1": [document(1, **text)], "t2": [document(2, **text)]})
    harness.desk.own = {"words": {"t1": "wing", "t2": "heat"}}
    card = make_card().open(first="d001")
    card.highlights(OWN, "wing")
    card.part("topics").select_option("t2")
    card.shows("d002")
    card.highlights(OWN, "heat")
    expect(card.part("own-words")).to_have_value("heat")


@pytest.mark.parametrize(
    ("topic", "text", "found"),
    [
        ("境界層の計算", "飛行機の境界の計算とNumPy", ["境界", "計算"]),
        ("배열 정렬", "배열을 정렬하는 방법", ["배열을", "정렬하는"]),
        ("طائرة", "الطائرة تطير", ["الطائرة"]),
        ("Flügel Übung", "Der Flugel und die Fluegel, ÜBUNG", ["Flugel", "ÜBUNG"]),
        (
            "C++ étude studies",
            "In c++ an Etude studied: co\u00adm e\u0301tudes C",
            ["c++", "Etude", "studied", "e\u0301tudes"],
        ),
        (
            "transfer",
            "transferring transfers transferable transferability trans",
            ["transferring", "transfers", "transferable"],
        ),
        ("", "How can a rolling", []),
    ],
)
def test_words_of_many_languages(harness, make_card, topic, text, found):
    harness.desk = Desk({"t1": [document(1, title="", text=text)]})
    rows = harness.desk.topics({})
    rows["topics"][0] |= {"title": topic, "description": "", "narrative": ""}
    harness.desk.topics = lambda ask: rows
    card = make_card().open(first=None)
    card.page.wait_for_function("window.part('title').textContent === 'd001'")
    card.highlights(TERM, *found)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_stand_out_from_their_ground(show, theme):
    card = show(document(1, text="a mean wing"), query={"theme": theme})
    for name in (TERM, OWN, HIT, NOW):
        assert contrast(card, name) >= 4.5, name
    for name in (PASSAGE, "cd-sentence"):  # these leave the letters as they are
        fore = card.part("text").evaluate("node => getComputedStyle(node).color")
        assert fore == card.part("text").evaluate(f"node => getComputedStyle(node, '::highlight({name})').color")
        assert contrast(card, name) >= 4.5, name
    lines = "(node, name) => getComputedStyle(node, `::highlight(${name})`).textDecorationLine"
    assert [card.part("text").evaluate(lines, name) for name in (TERM, OWN, PASSAGE)] == [
        "none",
        "underline",
        "underline",
    ]


def test_a_long_document_is_shown_before_it_is_looked_through(show):
    documents = [document(n, text=f"{n} " + "word mean " * 2000) for n in range(1, 30)]
    card = show(*documents)
    card.page.evaluate("window.latencies.length = 0")
    for n in range(16):
        card.press("1")
        card.page.wait_for_function(f"CSS.highlights.get('{TERM}')?.size > 190 && window.onScreen() === 'd{n + 2:03d}'")
    latencies = card.page.evaluate("window.latencies")
    print(f"\nkey to the next text, of {TEXT_CAP:,} characters: median {statistics.median(latencies):.2f} ms")
    assert statistics.median(latencies) < 50


# -------------------------------------------------------------------------------------------- finding


def test_find_marks_all_as_it_is_written_and_goes_from_one_to_the_next(show, harness):
    text = "A rolling mean. " + "Some other words. " * 90 + "Rolling é. " + "Some more words. " * 10 + "rolling"
    card = show(document(1, text=text), document(2))
    card.press("d")
    expect(card.part("finder-words")).to_be_focused()
    card.page.keyboard.type("ROLL")
    card.says("finder-says", "1 of 3")
    card.highlights(HIT, "roll", "Roll", "roll")
    card.highlights(NOW, "roll")
    card.press("Enter")
    card.says("finder-says", "2 of 3")
    card.highlights(NOW, "Roll")
    card.page.wait_for_function("window.part('scroller').scrollTop > 100")
    place = card.page.evaluate("window.part('scroller').scrollTop")
    card.press("Shift+Enter", "Shift+Enter", "ArrowDown", "ArrowDown", "ArrowUp")
    card.says("finder-says", "1 of 3")
    card.press("Enter", "Escape")
    expect(card.part("finder-panel")).to_be_hidden()
    assert card.page.evaluate("window.part('scroller').scrollTop") == place
    card.highlights(HIT)
    card.highlights(NOW)
    card.press("d")
    card.page.keyboard.type("G E.")  # without case, accents, and whatever blanks
    card.says("finder-says", "1 of 1")
    card.page.keyboard.type("nothing")
    card.says("finder-says", "no matches")
    card.highlights(HIT)
    card.press("Enter", "Escape", "2")
    card.shows("d002")
    card.saved()
    assert words(harness.desk) == [("d001", 2)]


def test_find_opens_what_is_left_out(show):
    text = "First part. " * 20 + "\n\n" + "Middle needle. " * 20 + "\n\n" + "Last part. " * 20
    card = show(document(1, text=text, excerpts=[[0, 239, text[:239]], [541, 760, text[541:760]]]))
    expect(card.part("text").locator(".cd-gap")).to_have_count(2)
    card.press("d")
    card.page.keyboard.type("needle")
    card.says("finder-says", "1 of 20")
    card.highlights(NOW, "needle")
    expect(card.part("text").locator(".cd-gap")).to_have_count(1)  # the end is still left out
    box = card.page.evaluate(
        f"(() => {{ const r = [...CSS.highlights.get('{NOW}')][0]; const l = document.createRange();"
        "l.setStart(r.startContainer, r.startOffset); l.setEnd(r.endContainer, r.endOffset);"
        "const [b, p] = [l.getBoundingClientRect(), window.part('scroller').getBoundingClientRect()];"
        "return b.top >= p.top && b.bottom <= p.bottom; })()"
    )
    assert box


def test_find_says_how_far_it_sees_and_goes_on_when_all_is_there(show):
    text = "needle " + "word " * TEXT_CAP + "needle"
    card = show(document(1, text=text), document(2))
    card.press("d")
    card.page.keyboard.type("needle")
    card.says("finder-says", "1 of 1")
    card.says("finder-more", "Searching the first 2,000 characters only.")
    card.part("finder-more").get_by_role("button").click()
    card.says("finder-says", "1 of 2")
    expect(card.part("finder-more")).to_be_hidden()
    card.grade(1).click()  # the panel stands beside the document: judging goes on, and it goes away
    card.shows("d002")
    expect(card.part("finder-panel")).to_be_hidden()
    card.highlights(HIT)


def test_find_in_markup_goes_across_its_tags(show):
    html = "<p>the <em>bound</em>ary <b>layer</b></p>\n<p>x</p>\n"
    card = show(document(1, text="the boundary layer\nx\n", html=html, form="markup"))
    card.press("d")
    card.page.keyboard.type("boundary l")
    card.highlights(HIT, "boundary l")


def test_a_rerun_of_the_page_keeps_all_highlights(show):
    card = show(document(1, text="A mean wing."), own={"words": {"t1": "wing"}})
    card.select(2, 6)
    card.press("p", "d")
    card.page.keyboard.type("wing")
    for _ in range(2):
        card.highlights(TERM, "mean")
        card.highlights(OWN, "wing")
        card.highlights(PASSAGE, "mean")
        card.highlights(HIT, "wing")
        card.highlights("cd-hit-now", "wing")
        card.page.evaluate("window.run()")
    card.press("Escape", "p")
    for _ in range(2):
        card.highlights("cd-sentence", "A mean wing.")
        card.page.evaluate("window.run()")
    card.page.evaluate("window.leave()")
    card.highlights("cd-sentence")
    card.highlights(TERM)
    card.highlights(PASSAGE)
