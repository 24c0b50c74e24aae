"""Highlights in documents on the judging card."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.card_harness import DARK, LIGHT, Desk, Harness, document
from tests.browser.card_page import Card, MakeCard, words

pytestmark = [pytest.mark.browser, pytest.mark.long]
TERM, OWN, PASSAGE = "cd-topic-term", "cd-own-word", "cd-passage"
KEPT = "JSON.parse(localStorage[Object.keys(localStorage).find((key) => key.endsWith('own'))])"
"""The settings that this browser stores."""


def contrast(card: Card, name: str) -> float:
    """The contrast of a highlight's letters with its background (WCAG 2.2, relative luminance)."""

    def luminance(colour: str) -> float:
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


def test_highlights_are_on_one_by_one_and_go_off_and_on(show: MakeCard) -> None:
    own = {"words": {"t1": "wing"}, "marks": {"topic": False}}
    card = show(document(1, text="a mean wing"), document(2, text="mean wing"), own=own)
    card.highlights(OWN, "wing")
    card.highlights(TERM)
    card.press("h")
    card.says("notice", "Highlights are off.")
    card.highlights(TERM)
    card.highlights(OWN)
    expect(card.part("highlight")).to_have_attribute("aria-pressed", "false")
    card.press("1")
    card.shows("d002")
    card.highlights(TERM)
    card.highlights(OWN)
    card.part("highlight").click()
    card.highlights(TERM, "mean")
    card.highlights(OWN, "wing")
    expect(card.part("highlight")).to_have_attribute("aria-pressed", "true")
    assert card.page.evaluate(f"{KEPT}.own.marks") == {"topic": True, "own": True}


def test_terms_and_own_words_are_highlighted_in_the_documents_of_their_topic(
    harness: Harness, make_card: MakeCard
) -> None:
    terms = (
        "The WINDOWS of a rolling mean; it rolls, rolled, and computes. Méans gapless (gap) meanwhile, a series' time."
    )
    heat = 'Heat flux; the heat\nflux, heated flows. Aeroelastic § 103 wing "rows".'
    desk = harness.desk = Desk(
        {
            "t1": [
                document(1, title="Rolling windows", text=terms),
                document(2, text="Nothing of it."),
                document(3),
                document(4, text=heat),
                document(5, text="The wing and the heat."),
            ],
            "t2": [document(6, text="wing and heat")],
        }
    )
    desk.own = {"words": {"t2": "heat"}}
    card = make_card().open(first="d001")
    # Title and description: "rolling mean t1", "How can a rolling mean be computed over a time series with gaps?"
    card.highlights(TERM, "Rolling", "rolling", "mean", "rolls", "rolled", "computes", "Méans", "gap", "series", "time")
    card.press("1")
    card.highlights(TERM)
    card.press("1")
    card.highlights(TERM, *["mean"] * 5)
    card.press("ArrowLeft", "ArrowLeft")
    card.shows("d001")
    card.wait(f"CSS.highlights.get('{TERM}')?.size === 10", "ten highlighted words")
    card.press("ArrowRight", "ArrowRight", "1")

    card.shows("d004")
    card.press("o")
    expect(card.part("own-words")).to_be_focused()
    card.page.keyboard.type('"heat flux" aero* flow* § 103')
    card.highlights(OWN, "Heat flux", "heat\nflux", "flows", "Aeroelastic", "§", "103")
    card.press("Enter")
    expect(card.part("own-words")).not_to_be_focused()
    assert card.on_screen() == "d004"
    card.press("1")
    card.shows("d005")
    card.highlights(OWN)
    card.press("o")
    card.page.keyboard.type("wing")
    card.highlights(OWN, "wing")
    card.press("Escape")
    card.part("topics").select_option("t2")
    card.shows("d006")
    card.highlights(OWN, "heat")
    expect(card.part("own-words")).to_have_value("heat")
    card.press("2")
    card.saved()
    assert words(desk) == [("d001", 1), ("d002", 1), ("d003", 1), ("d004", 1), ("d006", 2)]
    card.wait(f"{KEPT}.unsent === false", "settings that the server has", instead=KEPT)
    assert desk.own["words"] == {"t1": "wing", "t2": "heat"}


def test_a_rerun_of_the_page_keeps_all_highlights_and_letters_stand_out_from_them(show: MakeCard) -> None:
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
    lines = "(node, name) => getComputedStyle(node, `::highlight(${name})`).textDecorationLine"
    fores = set()
    for theme in (LIGHT, DARK):
        for name, value in theme.items():
            card.page.evaluate(
                "([name, value]) => document.body.style.setProperty(name, value)", [f"--st-{name}", value]
            )
        for name in (TERM, OWN):
            assert contrast(card, name) >= 4.5, name
        fore = card.part("text").evaluate("node => getComputedStyle(node).color")
        fores.add(fore)
        for name in (PASSAGE, "cd-sentence"):  # these leave the letters as they are
            assert fore == card.part("text").evaluate(f"node => getComputedStyle(node, '::highlight({name})').color")
            assert contrast(card, name) >= 4.5, name
        underlined = [card.part("text").evaluate(lines, name) for name in (TERM, OWN, PASSAGE)]
        assert underlined == ["none", "underline", "underline"]
    assert len(fores) == 2, "the letters follow the theme"
    card.page.evaluate("window.leave()")
    card.highlights("cd-sentence")
    card.highlights(TERM)
    card.highlights(PASSAGE)


def test_a_long_document_is_shown_before_it_is_looked_through(show: MakeCard) -> None:
    documents = [document(n, text=f"{n} " + "word mean " * 2000) for n in range(1, 30)]
    card = show(*documents)
    for n in range(16):
        card.press("1")
        card.shows(f"d{n + 2:03d}")
        card.wait(f"CSS.highlights.get('{TERM}')?.size > 190", "highlights in all of the text")
    card.require_drawn_at_once(16)
