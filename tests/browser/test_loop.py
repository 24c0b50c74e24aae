"""The loop in a real browser, against `cleverdon serve`: a model that learns while a person judges."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign, Judgement
from collection.core.records import Document, Topic
from tests.browser.serving import STATE, Serving, open_card, press, press_in_turn, saved, shown, sign_in
from tests.browser.waiting import wait
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

TOPICS = ["1", "2"]
JUDGED = 94
"""Judgements of the first topic that were made before."""
WORDS = ("wing", "flow", "heat", "shock", "layer", "plate", "jet", "slab", "cone", "wake")


def grade(doc_id: str) -> int:
    """Every fifth document is relevant."""
    return int(int(doc_id[1:]) % 5 == 0)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """Two topics in the loop over 130 documents, of which 94 are judged for the first topic."""
    directory = tmp_path_factory.mktemp("loop") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        put(
            campaign,
            [Topic(topic, f"ducks on ponds {topic}") for topic in TOPICS],
            [
                Document(f"d{n}", f"Title {n}", f"{WORDS[n % 10]} {WORDS[n // 13]} {'air' if n % 5 else 'ducks'}")
                for n in range(130)
            ],
        )
        campaign.settings.set_loop(mode="loop", run=0)
        campaign.corpus.features.update()
        said = [Judgement(str(uuid4()), "ann", "1", f"d{n}", "graded", grade(f"d{n}")) for n in range(JUDGED)]
        assert not campaign.judging.judge_many(said).refused
    return (directory,)


CAUGHT_UP = "(({ outbox, sync, due, scope }) => !outbox.length && !sync.running && !due && !scope.looks)"
"""Condition that the model has learned from every judgement."""


def judge(page: Page, count: int) -> list[str]:
    """Judge as many documents, each in the newest order of the model; the ids in their order."""
    done: list[str] = []
    here = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    for _ in range(count):
        document = here.inner_text()
        wait(page, f"{CAUGHT_UP}({STATE})", "a model that has learned from every judgement")
        assert shown(page) == document  # a new order of the model never moves what is on screen
        others = here.filter(has_not_text=re.compile(f"^{re.escape(document)}$"))
        press(page, str(grade(document)), others)
        done.append(document)
    return done


def test_the_hundredth_pair_comes_from_a_model_that_has_read_the_ones_before(
    serving: Serving, context: BrowserContext
) -> None:
    page = open_card(context, serving, "ann", "1", "manager")
    expect(page.locator("[data-part=topic-count]")).to_have_text(f"{JUDGED} judged")
    done = judge(page, 2)
    # Killed in mid-judging: the loop goes on from the log.
    saved(page)
    serving.stop(signal.SIGKILL)
    serving.start()
    done += judge(page, 4)
    saved(page)
    log = serving.log("1")
    assert log["doc_id"].tolist()[JUDGED:] == done
    assert log["doc_id"].nunique() == 100
    assert set(log["strategy"][JUDGED:]) == {"loop"}
    assert int(log["model_round"].iloc[99]) >= 95
    expect(page.locator("[data-part=topic-count]")).to_have_text("100 judged")


def test_fast_keys_in_the_loop_grade_what_was_shown(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "ann", "2", "manager")
    press_in_turn(page, "012332100123")
    saved(page)
    serving.require_log_of_keys("2", page)


def test_a_topic_that_is_closed_hands_out_nothing_more(serving: Serving, context: BrowserContext) -> None:
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_loop(topics=["2"], mode="closed")
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/judge?topic=2")
    expect(page.locator("[data-part=rest]")).to_contain_text("done", ignore_case=True)
