"""Recall guaranteed across topics in a real browser: the last calibration topic is judged, and the promise is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from collection import Campaign
from tests.browser.serving import Serving, choose_page, saved, shown, sign_in
from tests.collection.campaign.recall.across_topics.test_calibration_topics import RELEVANT, TOPICS, build, judge_rest

pytestmark = [pytest.mark.browser, pytest.mark.long]

PROMISE = re.compile("^The expected recall of a topic that stops after .* is at least 80%, as a mean over topics")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Fourteen topics in a loop over sixty documents; its id, and so the draw, is always the same."""
    with build(tmp_path_factory.mktemp("calibration")) as campaign:
        campaign.store.settings.put("id", "review")
        return (campaign.directory,)


def test_the_last_calibration_judgement_brings_the_promise(serving: Serving, context: BrowserContext) -> None:
    with Campaign(serving.directory) as campaign:
        drawn = campaign.recall.across_topics.start(0.2, topics=5).topics
        last = max(drawn, key=TOPICS.index)
        judge_rest(campaign, *[topic for topic in drawn if topic != last])
        judge_rest(campaign, last, but=1)
        judge_rest(campaign, *[topic for topic in TOPICS if topic not in drawn], but=10)
    page = sign_in(context, serving, "mia")
    page.goto(f"{serving.url}/judge")  # calibration topics come first
    expect(page.locator("[data-part=topic-count]")).to_have_text("59 judged")
    expect(page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()
    page.keyboard.press(str(int(shown(page) in RELEVANT[last])))
    expect(page.locator("[data-part=topic-count]")).to_have_text("60 judged")
    expect(page.locator("[data-part=rest]")).to_contain_text("judged", ignore_case=True)
    saved(page)

    choose_page(page, "Recall")
    expect(page.get_by_text(PROMISE)).to_be_visible()
    expect(page.get_by_role("heading", name="Recall across topics: at least 80% expected")).to_be_visible()
    expect(page.get_by_text("Topics closed by the stopping rule (9)")).to_be_visible()
    choose_page(page, "Overview")
    expect(page.get_by_text("Every topic is judged to the end or closed: export the qrels.")).to_be_visible()
    expect(page.get_by_text(PROMISE)).to_be_visible()
