"""The Adjudicate page in the browser, against `cleverdon serve`: what is pressed is in the log, once, on its pair."""

from __future__ import annotations

import signal
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign, Judgement
from collection.core.records import Document, Topic
from tests.browser.adjudicate_desk import PAYLOAD, ZALGO
from tests.browser.serving import Serving, press_in_turn, saved, sent, sign_in
from tests.browser.waiting import until_on, wait
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

TOPICS, SIZE = ("1", "2", "3"), 30
PAIRS = len(TOPICS) * SIZE
SIZES = [(1280, 800), (390, 844)]
SHOWN = "[data-part=document]:not([hidden]) [data-name=id]"
NOTES = [PAYLOAD, ZALGO, "\u202egnp.exe", ":material/home: **x**", "\n".join(["line"] * 5000)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Ninety pairs on which bob and cat differ, each document in one topic; d0 has twelve long opinions."""
    directory = tmp_path_factory.mktemp("adjudicating") / "campaign"
    ids = {topic: [f"d{SIZE * t + n}" for n in range(SIZE)] for t, topic in enumerate(TOPICS)}
    with Campaign.create(directory, title="Wings") as campaign:
        titles = {d: f"Wing {d} " * (200 if d == "d0" else 1) for each in ids.values() for d in each}
        put(
            campaign,
            [Topic(topic, f"wing flow {topic}") for topic in TOPICS],
            [Document(d, title, "Flow.") for d, title in titles.items()],
        )
        said = [
            Judgement(str(uuid4()), who, topic, doc_id, "graded", grade, seconds=5.0)
            for topic, each in ids.items()
            for doc_id in each
            for who, grade in (("bob", 0), ("cat", 3 if doc_id == "d0" else 2))
        ]
        said += [
            Judgement(str(uuid4()), f"annotator {n}", "1", "d0", "graded", n % 4, note=NOTES[n % 5]) for n in range(10)
        ]
        assert not campaign.judging.judge_many(said).refused
    return (directory,)


def opened(context: BrowserContext, serving: Serving) -> Page:
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/adjudicate")
    expect(page.locator(SHOWN)).not_to_be_empty()
    return page


def adjudicated(serving: Serving) -> list[tuple[str, str]]:
    """The keys that the log has, each with its document."""
    with Campaign(serving.directory) as campaign:
        rows = campaign.store.judgements.table(current=False).query("counts_as == 'adjudication'")
        assert rows["uuid"].is_unique
        return [(str(grade), doc_id) for grade, doc_id in zip(rows["relevance"], rows["doc_id"], strict=True)]


def test_every_button_is_in_the_window_whatever_annotators_wrote(serving: Serving, context: BrowserContext) -> None:
    page = opened(context, serving)
    expect(page.locator(SHOWN)).to_have_text("d0")
    bar = page.locator(".cd-bar button:visible")
    expect(page.locator(".cd-opinion")).to_have_count(12)
    page.keyboard.press("w")
    expect(page.locator("[data-part=names]")).to_have_attribute("aria-pressed", "true")
    outside = """(nodes) => nodes.map((node) => node.getBoundingClientRect())
      .filter((box) => box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight).length"""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        wait(page, "height => innerHeight === height", f"a window of {height} pixels", height)
        expect(bar.first).to_be_in_viewport(ratio=1)
        # A resized card draws later.
        until_on(page, lambda: bar.evaluate_all(outside) == 0, "the last button in the window")
    assert page.evaluate("window.broken") is None
    page.keyboard.press("2")
    expect(page.locator(SHOWN)).to_have_text("d1")
    saved(page)
    assert adjudicated(serving) == [("2", "d0")]


def test_the_filter_chooses_the_pair(serving: Serving, context: BrowserContext) -> None:
    page = opened(context, serving)
    before, first = adjudicated(serving), f"d{2 * SIZE}"
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("combobox", name="Topic").click()
    page.get_by_role("option", name="3: wing flow 3").click()
    expect(page.locator(SHOWN)).to_have_text(first)
    expect(page.locator("[data-part=all-count]")).to_have_text(f"0 of {SIZE}")
    page.keyboard.press("Escape")
    page.locator("[data-part=card]").click(position={"x": 5, "y": 5})
    page.keyboard.press("1")
    expect(page.locator(SHOWN)).to_have_text(f"d{2 * SIZE + 1}")
    saved(page)
    assert adjudicated(serving) == [*before, ("1", first)]


def test_each_of_twenty_presses_counts(serving: Serving, context: BrowserContext) -> None:
    page, before = opened(context, serving), adjudicated(serving)
    press_in_turn(page, "01233210120313021203")
    saved(page)
    pressed = [(each["key"], each["shown"]) for each in page.evaluate("window.pressed")]
    assert len(pressed) == len({doc_id for _, doc_id in pressed}) == 20
    assert adjudicated(serving) == before + pressed
    expect(page.locator("[data-part=all-count]")).to_have_text(f"{len(before) + 20} of {PAIRS}")


def test_nothing_is_lost_or_doubled_when_the_server_is_killed(serving: Serving, context: BrowserContext) -> None:
    page, before = opened(context, serving), adjudicated(serving)
    for key in "0123":
        page.keyboard.press(key)
    saved(page)
    for key in "32":
        page.keyboard.press(key)
    serving.stop(signal.SIGKILL)
    for key in "10":  # the topic has another pair after these
        page.keyboard.press(key)
    expect(page.locator("[data-part=status]")).not_to_have_text("Saved")
    pressed = [(each["key"], each["shown"]) for each in page.evaluate("window.pressed")]
    assert len(pressed) == 8
    following = page.locator(SHOWN).inner_text()
    assert set(pressed[:4]) <= set(adjudicated(serving)) - set(before)
    serving.start()
    page.goto(f"{serving.url}/adjudicate")
    expect(page.locator("[data-part=all-count]")).to_have_text(f"{len(before) + 8} of {PAIRS}")
    sent(page)
    assert adjudicated(serving) == before + pressed
    expect(page.locator(SHOWN)).to_have_text(following)
