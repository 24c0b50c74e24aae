"""Highlights in documents on the judging card."""

from __future__ import annotations

import re
import statistics

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import TEXT_CAP, Desk, document
from tests.browser.card_page import words

pytestmark = pytest.mark.browser
TERM, OWN, PASSAGE = "cd-topic-term", "cd-own-word", "cd-passage"


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
    card.page.keyboard.type('"heat flux" aero* flow* § 103')
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_letters_stand_out_from_their_ground(show, theme):
    card = show(document(1, text="a mean wing"), query={"theme": theme})
    for name in (TERM, OWN):
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


def test_a_rerun_of_the_page_keeps_all_highlights(show):
    card = show(document(1, text="A mean wing."), own={"words": {"t1": "wing"}})
    card.select(2, 6)
    card.press("p")
    for _ in range(2):
        card.highlights(TERM, "mean")
        card.highlights(OWN, "wing")
        card.highlights(PASSAGE, "mean")
        card.page.evaluate("window.run()")
    card.press("p")
    for _ in range(2):
        card.highlights("cd-sentence", "A mean wing.")
        card.page.evaluate("window.run()")
    card.page.evaluate("window.leave()")
    card.highlights("cd-sentence")
    card.highlights(TERM)
    card.highlights(PASSAGE)
