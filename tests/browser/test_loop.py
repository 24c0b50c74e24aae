"""The loop in a real browser, against `cleverdon serve`: a model that learns while a person judges.

On Cranfield with its known qrels; where that collection is absent, on the demo with the judgements that come with it.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign, formats
from tests.browser.serving import CRANFIELD, STATE, Serving, press, saved, shown, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], dict[str, int]]:
    """A campaign in the loop, topics that nobody has judged yet, and the known grades of the documents of the first."""
    directory = tmp_path_factory.mktemp("loop") / "campaign"
    if CRANFIELD.is_dir():
        topics, qrels = ["1", "2", "3", "4"], formats.read_qrels(CRANFIELD / "qrels.txt")
        with Campaign.create(directory, title="Cranfield") as campaign:
            campaign.importer.import_files(
                documents=[CRANFIELD / "documents.jsonl.gz"],
                topics=CRANFIELD / "topics.jsonl",
                runs=sorted((CRANFIELD / "runs").glob("*.run.gz"))[:2],
            )
            campaign.settings.set_loop(mode="loop")
    else:
        from collection.demo import build

        build(directory)
        with Campaign(directory) as campaign:
            qrels = campaign.qrels.build()
            judged = set(qrels["query_id"])
            topics = [q for q in campaign.corpus.topics()["query_id"] if q not in judged]
            qrels = qrels[:0]
            campaign.settings.set_loop(mode="loop")
    known = qrels[qrels["query_id"] == topics[0]]
    return directory, topics, dict(zip(known["doc_id"], known["relevance"], strict=True))


CAUGHT_UP = "(({ outbox, sync, due, scope }) => !outbox.length && !sync.running && !due && !scope.looks)"
"""Whether a state says that the model has learned from everything."""


def open_topic(context: BrowserContext, serving: Serving, topic: str, name: str = "ann") -> Page:
    page = sign_in(context, serving, name)
    page.goto(f"{serving.url}/judge?topic={topic}")
    expect(page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()
    return page


def judge(page: Page, known: dict[str, int], count: int, look: int = 0) -> list[str]:
    """Judge as many documents, before every `look`-th waiting for the model's newest order; the ids in their order."""
    done: list[str] = []
    here = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    for number in range(count):
        document = here.inner_text()
        if look and number % look == 0:
            page.wait_for_function(f"{CAUGHT_UP}({STATE})")
        assert shown(page) == document  # a new order of the model never moves what is on screen
        others = here.filter(has_not_text=re.compile(f"^{re.escape(document)}$"))
        press(page, str(known.get(document, 0)), others)
        done.append(document)
    return done


def log_of(serving: Serving, topic: str) -> pd.DataFrame:
    with Campaign(serving.directory) as campaign:
        return campaign.judgement_log.judgements(current=False, query_id=topic)


def test_the_hundredth_pair_comes_from_a_model_that_has_read_the_ones_before(
    serving: Serving, built: tuple[Path, list[str], dict[str, int]], context: BrowserContext
) -> None:
    _, (topic, *_), known = built
    page = open_topic(context, serving, topic)
    expect(page.locator("[data-part=topic-count]")).to_have_text("0 judged")
    done = judge(page, known, 50, look=10)
    # Killed in mid-judging: the loop goes on from the log.
    saved(page)
    serving.stop(signal.SIGKILL)
    serving.start()
    done += judge(page, known, 44, look=10)
    done += judge(page, known, 6, look=1)
    saved(page)
    log = log_of(serving, topic)
    assert log["doc_id"].tolist() == done
    assert len(set(done)) == 100
    assert set(log["strategy"]) <= {"start", "loop", "random"}
    assert int(log["model_round"].iloc[99]) >= 95
    # The pairs in between, too: chosen by a model that had read all but the last ones.
    lag = pd.Series(range(100)) - log["model_round"].astype(int)
    assert lag.median() <= 10
    if known:
        found = (log["relevance"] > 0).sum()
        assert found >= 0.6 * sum(grade > 0 for grade in known.values())
        assert log.loc[log["strategy"] == "loop"].shape[0] > 50
    expect(page.locator("[data-part=topic-count]")).to_have_text("100 judged")


def test_two_annotators_on_one_topic_never_get_the_same_pair(
    serving: Serving, built: tuple[Path, list[str], dict[str, int]], make_window: Callable[..., BrowserContext]
) -> None:
    topic = built[1][1 % len(built[1])]
    ann, bob = (open_topic(make_window(), serving, topic, name) for name in ("amy", "bob"))
    for _ in range(8):
        judge(ann, {}, 2)
        judge(bob, {}, 2)
    saved(ann)
    saved(bob)
    log = log_of(serving, topic)
    log = log[log["annotator"].isin(["amy", "bob"])]
    assert log["annotator"].value_counts().to_dict() == {"amy": 16, "bob": 16}
    assert log["doc_id"].is_unique


def test_fast_keys_in_the_loop_grade_what_was_shown(
    serving: Serving, built: tuple[Path, list[str], dict[str, int]], context: BrowserContext
) -> None:
    topic = built[1][2 % len(built[1])]
    page, before = open_topic(context, serving, topic), len(log_of(serving, topic))
    for key in "012332100123":
        page.keyboard.press(key)
        page.wait_for_timeout(40)
    saved(page)
    pressed = page.evaluate("window.pressed")
    log = log_of(serving, topic)[before:]
    assert log["doc_id"].tolist() == [p["shown"] for p in pressed]
    assert log["relevance"].tolist() == [int(p["key"]) for p in pressed]


def test_a_topic_that_is_closed_hands_out_nothing_more(
    serving: Serving, built: tuple[Path, list[str], dict[str, int]], context: BrowserContext
) -> None:
    topic = built[1][-1]
    page = open_topic(context, serving, topic)
    judge(page, {}, 2)
    saved(page)
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_loop(topics=[topic], mode="closed")
    page.goto(f"{serving.url}/judge?topic={topic}")
    expect(page.locator("[data-part=rest]")).to_contain_text("done", ignore_case=True)
