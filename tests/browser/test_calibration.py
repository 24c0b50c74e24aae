"""Recall guaranteed across topics in a real browser: a manager plans, draws, judges, and reads the promise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from tests.browser.serving import Serving, choose_page, press, saved, sent, sign_in
from tests.collection.campaign.test_calibration_topics import RELEVANT, TOPICS, build, judge_rest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROMISE = re.compile("^The expected recall of a topic that stops after .* is at least 80%, as a mean over topics")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Fourteen topics in a loop over sixty documents; its id, and so the draw, is always the same."""
    with build(tmp_path_factory.mktemp("calibration")) as campaign:
        campaign.store.settings.put("id", "review")
        return (campaign.directory,)


def judge_by_key(page: Page, topic: str, number: int) -> None:
    """Judge the document on screen, and wait until so many documents of the topic are judged."""
    here = page.get_by_role("region", name="Document").get_by_role("heading")  # these documents have no other title
    count = page.locator("[data-part=topic-count]")
    expect(count).to_have_text(f"{number - 1} judged")
    grade = str(int(here.inner_text() in RELEVANT[topic]))
    press(page, grade, count.filter(has_text=f"{number} judged"))


def test_a_whole_calibration(serving: Serving, context: BrowserContext) -> None:
    page = sign_in(context, serving, "mia")
    page.goto(f"{serving.url}/loop")
    page.get_by_label("Target expected recall (%)").fill("80")
    page.keyboard.press("Enter")
    # While the page runs again, it has the field of the former target as well.
    expect(page.get_by_label("Number of calibration topics", exact=True).last).to_have_value("5")
    expect(page.get_by_text("14 open topics in a loop with 60 documents on average")).to_be_visible()
    page.get_by_role("button", name="Draw calibration topics").click()
    expect(page.get_by_text("0 of 5 calibration topics are judged to the end; 300 documents left.")).to_be_visible()

    choose_page(page, "Overview")
    expect(page.get_by_text("Judge the calibration topics first: 300 documents of 5 topics are left.")).to_be_visible()
    choose_page(page, "Judge")
    with Campaign(serving.directory) as campaign:
        drawn = [topic.query_id for topic in campaign.calibration_topics.state().topics]
        first = min(drawn, key=TOPICS.index)
    judge_by_key(page, first, 1)
    judge_by_key(page, first, 2)
    sent(page)

    with Campaign(serving.directory) as campaign:
        assert set(campaign.judgement_log.judgements()["query_id"]) == {first}
        last = next(topic for topic in drawn if topic != first)  # of which the page holds no documents
        judge_rest(campaign, *[topic for topic in drawn if topic != last])
        judge_rest(campaign, last, but=1)
        judge_rest(campaign, *[topic for topic in TOPICS if topic not in drawn], but=10)
    choose_page(page, "Recall")
    expect(page.get_by_text("4 of 5 calibration topics are judged to the end; 1 document left")).to_be_visible()
    page.goto(f"{serving.url}/judge?topic={last}")
    judge_by_key(page, last, 60)
    expect(page.locator("[data-part=rest]")).to_contain_text("judged", ignore_case=True)
    saved(page)

    choose_page(page, "Recall")
    expect(page.get_by_text(PROMISE)).to_be_visible()
    expect(page.get_by_role("heading", name="Recall across topics: at least 80% expected")).to_be_visible()
    expect(page.get_by_text("Topics closed by the stopping rule (9)")).to_be_visible()
    choose_page(page, "Overview")
    expect(page.get_by_text("Every topic is judged to the end or closed: export the qrels.")).to_be_visible()
    expect(page.get_by_text(PROMISE)).to_be_visible()
