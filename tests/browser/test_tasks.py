"""Lists and preferences in the browser, against `cleverdon serve`: what is decided is in the log, once."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from collection.core.records import Document, Topic
from tests.browser.card_page import was_undone
from tests.browser.serving import CRANFIELD, Serving, saved, sent, sign_in
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

SIZE = 5


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with a pool of five documents for each of several topics: of Cranfield, or made up without it."""
    directory = tmp_path_factory.mktemp("tasks") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        if CRANFIELD.is_dir():
            campaign.imports.import_files(
                documents=[CRANFIELD / "documents.jsonl.gz"], topics=CRANFIELD / "topics.jsonl"
            )
            ids = [row[0] for row in campaign.store.connection.db.conn.execute("SELECT doc_id FROM documents LIMIT 60")]
        else:
            ids = [f"d{number}" for number in range(60)]
            topics = [Topic(str(t), f"wing flow {t}") for t in range(1, 21)]
            put(campaign, topics, [Document(d, d, f"Flow past the wing {d}.") for d in ids])
        first = campaign.store.corpus.topics()["query_id"].tolist()[:12]
        put(campaign, runs={"up": {q: ids[4 * t : 4 * t + SIZE] for t, q in enumerate(first)}})
        campaign.people.pools.add("depth", depth=SIZE)
    return (directory,)


def opened(context: BrowserContext, serving: Serving, **settings: Any) -> Page:
    """The judging page of a campaign that asks for what the test names."""
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_judging_page(**settings)
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/judge")
    count(page, "0 of 12")
    return page


def count(page: Page, words: str) -> None:
    expect(page.locator("[data-part=all-count]")).to_have_text(words)


def test_lists_are_decided_and_survive_a_killed_server(serving: Serving, context: BrowserContext) -> None:
    page = opened(context, serving, task="list", most_chosen=2, list_size=SIZE)
    ticks = page.locator("[data-do=choose]")
    expect(ticks).to_have_count(SIZE)
    page.keyboard.press("2")
    expect(ticks.nth(1)).to_have_attribute("aria-checked", "true")
    # After each topic, Enter begins the next one.
    for key in ("4", "Enter", "Enter", "n", "Enter", "1", "Enter", "u", "3", "Enter"):
        page.keyboard.press(key)
    count(page, "3 of 12")
    saved(page)
    serving.stop(signal.SIGKILL)
    page.keyboard.press("Enter")
    page.keyboard.press("n")
    count(page, "4 of 12")
    expect(page.locator("[data-part=status]")).not_to_have_text("Saved")
    serving.start()
    page.goto(f"{serving.url}/judge")
    count(page, "4 of 12")
    sent(page)
    with Campaign(serving.directory) as campaign:
        rows = campaign.store.topic_tasks.choices(current=False).to_dict("records")
        said = [(r["kind"], [r["shown"].index(d) + 1 for d in r["chosen"]]) for r in rows]
        assert said == [
            ("chosen", [2, 4]),
            ("chosen", []),
            ("chosen", [1]),
            ("undone", []),
            ("chosen", [1, 3]),
            ("chosen", []),
        ]
        topics = campaign.store.corpus.topics()["query_id"].tolist()
        assert campaign.store.topic_tasks.choices()["query_id"].tolist() == topics[:4]
        assert campaign.judging.topic_tasks.progress("ann").done == 4


def test_preferences_lead_through_the_topics(serving: Serving, context: BrowserContext) -> None:
    page = opened(context, serving, task="preference", preference_size=3)
    for key in ["ArrowLeft", "ArrowRight", "="] * 4:
        begin, pair = page.locator("[data-part=new-topic] button"), page.locator("[data-side=right]")
        expect(begin.or_(pair).locator("visible=true")).to_have_count(1)
        if begin.is_visible():
            page.keyboard.press("Enter")
        expect(pair).to_be_visible()  # else the key says nothing
        page.keyboard.press(key)
    saved(page)
    page.keyboard.press("u")
    saved(page)
    was_undone(page.locator("[data-part=equal]"))
    with Campaign(serving.directory) as campaign:
        log, now = campaign.store.topic_tasks.preferences(current=False), campaign.store.topic_tasks.preferences()
        assert log["kind"].tolist()[-1] == "undone"
        assert len(log) == 13
        assert len(now) == 11
        done = campaign.judging.topic_tasks.progress("ann").done
        pairs = [(q, *sorted(pair)) for q, *pair in now[["query_id", "left", "right"]].itertuples(index=False)]
        assert len(set(pairs)) == 11
    assert re.fullmatch(rf"{done} of 12", page.locator("[data-part=all-count]").inner_text())
