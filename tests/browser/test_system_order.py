"""A campaign of decisive pairs in a browser: judged from topic to topic, and assessed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from tests.annotate.views.results.test_compare_page import SYSTEMS, TOPICS, write
from tests.browser.serving import STATE, Serving, choose_page, press, saved, sign_in
from tests.browser.waiting import wait

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Four systems on eight topics, pooled and not judged, in a loop that asks for decisive pairs."""
    folder = tmp_path_factory.mktemp("decisive")
    files = write(folder / "files", SYSTEMS, {q: f"topic {q}" for q in TOPICS})
    del files["qrels"]
    with Campaign.create(folder / "campaign", title="Decisive") as campaign:
        campaign.imports.import_files(**files)
        campaign.people.pools.add("depth", depth=3)  # six pairs of each topic
        campaign.settings.set_loop(mode="loop-in-pool", by="decisive", budget=12)
    return (folder / "campaign",)


def judge(page: Page, keys: str) -> list[str]:
    """Judge what is on screen, and what comes after it in this topic and the next ones; return their topics."""
    here = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    begin = page.get_by_role("button", name="Begin this topic")
    topics: list[str] = []
    for key in keys:
        expect(here.or_(begin).first).to_be_visible()
        if begin.is_visible():
            page.keyboard.press("Enter")
        expect(here).not_to_be_empty()
        before = page.evaluate(f"{STATE}.scope.topic"), here.inner_text()
        topics.append(before[0])
        count = page.locator("[data-part=all-count]")
        made = int(count.inner_text().split()[0])
        press(page, key, count.filter(has_text=re.compile(rf"^{made + 1} of")))
        wait(
            page,
            f"([topic, doc]) => {{ const s = {STATE}; return s.scope.topic !== topic || s.units[0]?.id !== doc; }}",
            f"another pair than {before}",
            list(before),
        )
    saved(page)
    return topics


def test_decisive_pairs_lead_through_topics_to_the_advice(serving: Serving, context: BrowserContext) -> None:
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/judge")
    expect(page.locator("[data-part=all-count]")).to_have_text("0 of 12")
    expect(page.locator("[data-part=all-words]")).to_have_text("within the budget")
    assert len(set(judge(page, "20312031"))) > 1
    expect(page.locator("[data-part=all-count]")).to_have_text("8 of 12")

    choose_page(page, "System order")
    expect(page.get_by_role("heading", name=re.compile("^Keep judging"))).to_be_visible()
    expect(page.get_by_text("8 of 48", exact=True)).to_be_visible()
    expect(page.locator(".st-key-chart-system-order svg.marks")).to_be_visible()
