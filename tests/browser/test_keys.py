"""Keys on the cards: told where there is a keyboard, and nowhere on phones and tablets without one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.adjudicate_desk import AdjudicationDesk
from tests.browser.card_harness import Harness
from tests.browser.card_page import MakeCard
from tests.browser.task_harness import Desk, topics

pytestmark = [pytest.mark.browser, pytest.mark.long]

TOUCH = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 844}}
SIZES = [(390, 844), (844, 390), (820, 1180)]
HINTS = ("Press ", "press ", "Enter", "Esc", "↑", "←", "→")  # sentences that tell a key
DESKS: dict[str, Callable[[], Any]] = {
    "choose": lambda: Desk("list"),
    "prefer": lambda: Desk("preference", topics(3, 4)),
    "adjudicate": AdjudicationDesk,
}


@pytest.fixture
def make(harness: Harness, make_card: MakeCard, make_task_card: MakeCard) -> MakeCard:
    """Opens the card of this folder."""

    def opened(folder: str, **options: Any) -> Any:
        if folder == "grade":
            return make_card(**options).open()
        harness.desk = DESKS[folder]()
        return make_task_card(**options).open()

    return opened


def told(page: Page) -> list[str]:
    """Key caps in sight that name a key; one that carries a tick alone has letters of no size."""
    return page.locator("[data-part=card]").evaluate(
        "card => [...card.querySelectorAll('kbd')].filter((n) => n.offsetParent)"
        ".filter((n) => getComputedStyle(n).fontSize !== '0px').map((n) => n.textContent)"
    )


def bare_buttons(page: Page) -> list[str]:
    """Buttons of the bar and of panels in sight that have no words, not even a sign."""
    buttons = page.locator(".cd-bar button:visible, [role=dialog] button:visible")
    return [button.evaluate("b => b.outerHTML") for button in buttons.all() if not button.inner_text().strip()]


@pytest.mark.parametrize("folder", ["grade", *DESKS])
def test_with_a_keyboard_every_button_of_the_bar_tells_its_key(make, folder):
    page = make(folder).page
    for button in page.locator(".cd-actions button:visible").all():
        expect(button.locator("kbd")).to_be_visible()
    assert set(told(page)) >= {"u", "s", "x", "m"}


@pytest.mark.parametrize(("folder", "size"), list(zip(["grade", *DESKS], itertools.cycle(SIZES), strict=False)))
def test_without_a_keyboard_no_key_is_told(make, folder, size):
    page = make(folder, **TOUCH | {"viewport": {"width": size[0], "height": size[1]}}).page
    assert told(page) == []
    assert bare_buttons(page) == []
    names = page.locator(".cd-actions button:visible").evaluate_all("all => all.map((b) => b.dataset.do)")
    for name in names:
        if name in ("undo", "skip", "flag", "forward"):
            continue
        page.locator(f".cd-actions [data-do={name}]").tap()
        assert told(page) == [], f"with what {name} opens"
        assert bare_buttons(page) == []
        panel = page.locator("[role=dialog]:visible")
        words = panel.inner_text() if panel.count() else ""
        assert not [hint for hint in HINTS if hint in words], f"{name} opens {words!r}"
        close = page.locator("[role=dialog]:visible [data-do=close]:visible")
        if close.count():
            close.first.tap()
        elif panel.count():
            page.locator(f".cd-actions [data-do={name}]").tap()


def test_without_a_keyboard_notices_tell_no_key(make):
    card = make("grade", **TOUCH)
    card.grade(2).tap()
    expect(card.part("notice")).to_have_text("frame.method_100: 2 Relevant")
    card.button("back").tap()
    expect(card.part("notice")).to_have_text("frame.method_100: 2 Relevant – grade again to change it")
    assert card.grade(2).locator("kbd").first.evaluate("n => getComputedStyle(n, '::after').content") == '"✓"'
    card.button("skip").tap()
    expect(card.part("notice")).to_have_text("This document is already judged.")


def test_a_held_letter_repeats_with_caps_lock_and_on_other_layouts(harness, make_task_card):
    harness.desk = Desk("list")
    harness.desk.own = {"keys": {"down": "j", "up": "k"}}
    page = make_task_card().open().page
    at = page.locator("[data-at].cd-at")
    # The last one is where "j" is on a Russian keyboard.
    for place, key, code in ((2, "j", "KeyJ"), (0, "K", "KeyK"), (3, "\u043e", "KeyJ")):
        page.evaluate(
            """(pressed) => {
              for (const repeat of [false, true, true])
                document.body.dispatchEvent(
                  new KeyboardEvent("keydown", { ...pressed, repeat, bubbles: true, composed: true }));
            }""",
            {"key": key, "code": code},
        )
        expect(at).to_have_attribute("data-at", str(place))
