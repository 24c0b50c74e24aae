"""The card for everybody: axe-core's rules, the keyboard, what is heard, magnified and narrow pages, forced colours."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotate.card.server import card as cards
from collection import Campaign
from collection.core.records import Document, Topic
from tests.browser.card_harness import document
from tests.browser.card_page import faults, words
from tests.browser.serving import sign_in
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

PANELS = {
    "w": "why", "g": "guidelines", "?": "help", "m": "note", "x": "reasons", "/": "search",
    ",": "settings", "l": "history", "t": "time", ".": "more",
}  # fmt: skip
SIZES = {"wide": (1280, 800), "narrow": (390, 844), "magnified": (640, 400)}
NOT_BY_KEY = {"picture", "sentences"}
"""Panels that open only on a document with a picture, or on the way to mark a passage."""
FOCUSED = "window.part('card').getRootNode().activeElement?.dataset"


def test_every_panel_is_among_those_that_are_tried():
    assert set(PANELS.values()) == set(cards.GRADE.panels) - NOT_BY_KEY


@pytest.fixture
def full(desk):
    """A stand-in with something in every panel."""
    desk.guidelines = (
        "<h3>How</h3><p>Read <a href='https://example.org'>all</a>.</p><pre>x\n</pre><table><tr><td>1</table>"
    )
    desk.notes = {"t1": "Both count."}
    desk.alike = {"d102": [("d101", 0.9)]}
    desk.settled = {"d100": (2, "It says how.")}
    return desk


def begin(card):
    """Some judgements, a flag, a note, feedback, a near-duplicate: all that can stand on the card."""
    card.press("3", "f", "2", "f", "m")
    card.part("note-text").fill("Half of it.")
    card.press("Enter")
    card.shows("d102")
    expect(card.part("near")).to_be_visible()
    expect(card.part("feedback")).to_be_visible()
    card.saved()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "theme"), [("wide", "light"), ("narrow", "dark")])
def test_axe_finds_nothing_serious_in_any_panel(full, make_card, theme, size):
    width, height = SIZES[size]
    card = make_card(viewport={"width": width, "height": height}).open(theme=theme)
    begin(card)
    assert faults(card.page) == []
    for key, name in PANELS.items():
        card.press(key)
        expect(card.part(f"{name}-panel")).to_be_visible()
        if name == "search":
            card.page.keyboard.type("method_10")
            expect(card.found()).not_to_have_count(0)
            expect(card.part("found")).not_to_have_class(re.compile("cd-stale"))  # what is typed has been searched for
            card.press("ArrowDown")
        if name == "history":
            expect(card.part("past").get_by_role("option")).to_have_count(2)
            card.press("ArrowDown")
        if name == "time":
            expect(card.part("time-body")).to_be_visible()
        if name == "settings":
            card.page.locator("[data-do=rekey]").first.click()
        assert faults(card.page, card.part(f"{name}-panel")) == [], name
        card.press("Escape", "Escape")
        expect(card.part(f"{name}-panel")).to_be_hidden()
    full.fail = 500
    full.refuse = {"d102": "the topic is closed"}
    card.press("1", "2")
    card.says("status", "will be sent")
    assert faults(card.page) == []


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A small campaign for the real page."""
    directory = tmp_path_factory.mktemp("accessible") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        documents = [Document(f"d{n}", f"Wing {n}", "Flow past it.") for n in range(9)]
        put(campaign, [Topic("1", "wing flow")], documents, {"up": {"1": [d.doc_id for d in documents]}})
        campaign.people.pools.add("depth", depth=9)
    return (directory,)


@pytest.mark.slow
@pytest.mark.long
def test_axe_finds_nothing_serious_on_the_real_page(serving, context):
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/judge")
    expect(page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()
    page.keyboard.press("2")
    card = page.locator("[data-part=card]")  # the frame around it is Streamlit's
    page.keyboard.press(",")
    expect(page.locator("[data-part=settings-panel]")).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", scheme)
        assert faults(page, card) == [], scheme


def test_every_panel_has_a_name_takes_the_focus_and_gives_it_back(full, make_card):
    card = make_card().open()
    card.press("2")
    card.shows("d101")
    within = "name => window.part(name).contains(window.part('card').getRootNode().activeElement)"
    for key, name in PANELS.items():
        node = card.part(f"{name}-panel")
        for before, back in (("skip", {"do": "skip"}), (None, {"part": "card"})):
            if before:
                card.button(before).focus()
            else:
                card.page.evaluate("window.part('card').getRootNode().activeElement.blur()")
            card.press(key)
            expect(node).to_be_visible()
            assert node.get_attribute("role") == "dialog"
            assert node.get_attribute("aria-label")
            card.wait(within, f"the focus in the panel {name}", arg=f"{name}-panel")
            card.press("Escape")
            expect(node).to_be_hidden()
            found = card.page.evaluate(FOCUSED)
            assert {each: found.get(each) for each in back} == back, name
    card.press("1")
    card.shows("d102")
    card.saved()


def test_a_mouse_click_leaves_no_focus_on_the_button_and_enter_presses_nothing_twice(card, desk):
    card.button("more").click()
    card.part("more-panel").get_by_role("button", name="Time").click()
    expect(card.part("time-panel")).to_be_visible()
    card.part("time-panel").get_by_role("button", name="Close").click()
    card.press("Enter", " ")
    expect(card.part("more-panel")).to_be_hidden()
    expect(card.part("time-panel")).to_be_hidden()
    card.press("1")
    card.saved()
    assert words(desk) == [("d100", 1)]


def test_all_buttons_are_reached_by_tab_and_show_it(full, make_card):
    card = make_card().open()
    seen, outlines = [], []
    for _ in range(60):
        card.press("Tab")
        node = card.page.evaluate(
            "(() => { const n = window.part('card').getRootNode().activeElement; if (!n) return null;"
            " const s = getComputedStyle(n); return [n.dataset.do ?? n.dataset.part ?? '', n.dataset.grade ?? '',"
            " s.outlineStyle, parseFloat(s.outlineWidth)]; })()"
        )
        if node is None:
            break
        seen.append(node[0] + node[1])
        outlines.append(node[2:])
    buttons = "[...window.part('card').querySelectorAll('button')].filter((b) => b.offsetParent && !b.disabled)"
    there = card.page.evaluate(f"{buttons}.map((b) => (b.dataset.do ?? '') + (b.dataset.grade ?? ''))")
    assert len(there) > 15
    assert set(there) <= set(seen)
    assert {"topics", "scroller", "need"} <= set(seen)
    assert all(style != "none" and width >= 1 for style, width in outlines)


def test_judging_is_heard_once_with_the_next_title(card, desk):
    card.press("2")
    expect(card.part("spoken")).to_have_text("frame.method_100: 2 Relevant – u to undo. Now: frame.method_101")
    card.press("u")
    expect(card.part("spoken")).to_have_text("frame.method_100: 2 Relevant, undone. Now: frame.method_100")
    # Fast keys are one announcement, not four.
    card.page.evaluate(
        "window.heard = []; new MutationObserver(() => window.heard.push(window.part('spoken').textContent))"
        ".observe(window.part('spoken'), { childList: true, characterData: true, subtree: true });"
        "for (const key of '0123') document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))"
    )
    card.wait("window.heard.length > 0", "something said aloud")
    card.saved()
    assert card.page.evaluate("window.heard") == ["frame.method_103: 3 Perfect – u to undo. Now: frame.method_104"]
    live = "[...window.part('card').querySelectorAll('[aria-live=polite],[role=status]')].filter((n) => n.offsetParent)"
    assert card.page.evaluate(f"{live}.map((n) => n.dataset.part)") == ["spoken"]


def test_trouble_and_messages_are_heard(card, desk):
    expect(card.part("spoken")).to_have_text("Now: frame.method_100")
    card.press("ArrowLeft")
    expect(card.part("spoken")).to_have_text("No earlier judgements")
    card.page.context.set_offline(True)
    card.press("1")
    card.says("status", "No connection")
    expect(card.part("status")).to_have_attribute("aria-live", "polite")
    card.page.context.set_offline(False)
    card.saved()


def test_an_annotator_judges_by_tab_and_enter_alone(card, desk):
    card.grade(2).focus()
    card.press("Enter")
    card.shows("d101")
    expect(card.grade(2)).to_be_focused()
    card.press("Tab", "Enter")
    card.shows("d102")
    card.button("more").focus()
    card.press("Enter", "ArrowDown")
    card.part("more-panel").get_by_role("button", name="Settings").focus()
    card.press("Enter")
    expect(card.part("settings-panel")).to_be_visible()
    card.press("Escape")
    expect(card.button("more")).to_be_focused()
    card.saved()
    assert words(desk) == [("d100", 2), ("d101", 3)]


def test_nothing_is_cut_and_nothing_scrolls_sideways(full, make_card):
    card = make_card(device_scale_factor=2).open(padding="60px 16px 12px")
    begin(card)
    cut = (
        "[...window.part('card').querySelectorAll('button, h2, label')].filter((b) => b.offsetParent"
        " && (b.scrollWidth > b.clientWidth + 1 || b.scrollHeight > b.clientHeight + 1)).map((b) => b.outerHTML)"
    )
    sideways = "document.documentElement.scrollWidth"
    for size, (width, height) in SIZES.items():
        card.resize(width, height)
        assert card.page.evaluate(cut) == [], size
        for key, name in PANELS.items():
            card.press(key)
            expect(card.part(f"{name}-panel")).to_be_visible()
            assert card.page.evaluate(cut) == [], (size, name)
            assert card.page.evaluate(sideways) <= width
            if size == "narrow":
                small = (
                    f"[...window.part('{name}-panel').querySelectorAll('button, select, input, textarea')].filter("
                    "(b) => b.offsetParent && Math.min(b.offsetWidth, b.offsetHeight) < 44).map((b) => b.outerHTML)"
                )
                assert card.page.evaluate(small) == [], name
            card.press("Escape")
        box = card.button("more").bounding_box()
        assert box["y"] + box["height"] <= height
    card.press("Escape")  # what is settled was read
    for width, height in SIZES.values():
        card.resize(width, height)
        assert card.part("scroller").bounding_box()["height"] >= 90, "there is room to read"


def test_long_titles_and_words_stay_within_the_page(harness, make_card):
    long = "aerothermoelasticity " * 12
    harness.desk = type(harness.desk)({long: [document(1, title=long), document(2, title="W" * 300), document(3)]})
    harness.desk.alike = {"d002": [("d001", 0.9)]}
    card = make_card().open(first="d001", padding="60px 16px 12px")
    card.press("f", "2")
    card.shows("d002")
    expect(card.part("near")).to_be_visible()
    card.press("f")
    outside = (
        "[...window.part('card').querySelectorAll('*')].filter((n) => n.offsetParent && !n.closest('.cd-spoken')"
        " && n.getBoundingClientRect().right > innerWidth).map((n) => n.outerHTML.slice(0, 200))"
    )
    for width, height in SIZES.values():
        card.resize(width, height)
        card.press("l")
        expect(card.part("past").get_by_role("option")).to_have_count(1)
        assert card.page.evaluate(outside) == []
        card.press("Escape", "t")
        expect(card.part("time-body")).to_be_visible()
        assert card.page.evaluate(outside) == []
        assert card.part("next-topic").bounding_box()["x"] + 30 < width
        card.press("Escape")


def test_forced_colours_leave_everything_to_be_told_apart(full, make_card):
    card = make_card(forced_colors="active", reduced_motion="reduce").open()
    begin(card)
    style = "([name, what]) => getComputedStyle(window.part(name))[what]"
    bar, track = (card.page.evaluate(style, [name, "backgroundColor"]) for name in ("topic-bar", "card"))
    assert bar != track, "the bar of progress is not seen"
    card.press("ArrowLeft")
    pressed, other = (
        card.page.evaluate("g => getComputedStyle(window.part('grades').children[g]).outlineStyle", grade)
        for grade in (2, 1)
    )
    assert (pressed, other) == ("solid", "none")
    assert card.page.evaluate(style, ["topic-bar", "transitionDuration"]) == "0s"


def test_right_to_left_titles_do_not_turn_the_lines_of_the_desk(harness, make_card):
    harness.desk = type(harness.desk)({"t1": [document(1, title="جناح الطائرة \u202e"), document(2), document(3)]})
    harness.desk.alike = {"d002": [("d001", 0.9)]}
    card = make_card().open(first="d001")
    card.press("2")
    expect(card.part("near")).to_contain_text("which you judged 2 Relevant")
    title, said = card.part("near-title").bounding_box(), card.part("near-said").bounding_box()
    assert title["x"] < said["x"]
    assert "\u202e" not in card.part("near").inner_text()


@pytest.mark.slow
def test_a_toolbar_of_a_table_covers_no_heading_on_a_touch_screen(serving, make_window):
    page = sign_in(make_window(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), serving)
    page.goto(serving.url)
    expect(page.get_by_test_id("stElementToolbar").first).to_have_css("opacity", "1")
    text = page.get_by_role("heading", name="Topics").evaluate(
        "(node) => { const range = document.createRange(); range.selectNodeContents(node);"
        " return Math.max(...[...range.getClientRects()].map((box) => box.bottom)); }"
    )
    assert page.get_by_test_id("stElementToolbarButtonContainer").first.bounding_box()["y"] >= text
