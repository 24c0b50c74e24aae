"""The loop in a real browser, against `cleverdon serve`: a model that learns while a person judges.

On Cranfield with its known qrels; where that collection is absent, on the demo with the judgements that come with it.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from collection import Campaign, formats
from tests.browser.serving import CRANFIELD, WATCH_KEYS, Serving, press, saved, shown, use_link

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, dict[str, int]]:
    """A campaign in the loop that nobody has judged yet, a topic, and the known grades of its documents."""
    directory = tmp_path_factory.mktemp("loop") / "campaign"
    if CRANFIELD.is_dir():
        topic, qrels = "1", formats.read_qrels(CRANFIELD / "qrels.txt")
        with Campaign.create(directory, title="Cranfield") as campaign:
            campaign.importer.import_files(
                documents=[CRANFIELD / "documents.jsonl.gz"],
                topics=CRANFIELD / "topics.jsonl",
                runs=sorted((CRANFIELD / "runs").glob("*.run.gz")),
            )
            campaign.settings.set_loop(mode="loop")
    else:
        from collection.demo import build

        build(directory)
        with Campaign(directory) as campaign:
            qrels = campaign.qrels.build()
            judged = set(qrels["query_id"])
            topic = next(q for q in campaign.corpus.topics()["query_id"] if q not in judged)
            qrels = qrels[:0]
            campaign.settings.set_loop(mode="loop")
    known = qrels[qrels["query_id"] == topic]
    return directory, topic, dict(zip(known["doc_id"], known["relevance"], strict=True))


def open_topic(page: Page, serving: Serving, topic: str) -> None:
    use_link(page, serving.link)
    expect(page.get_by_text("in the loop")).to_be_visible()
    page.goto(f"{serving.url}/judge?topic={topic}")
    expect(page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()


def judge(page: Page, known: dict[str, int], count: int, pause: int) -> list[str]:
    """Judge as many documents, each after a look of `pause` milliseconds; the ids in the order of judging."""
    done: list[str] = []
    here = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    for _ in range(count):
        document = here.inner_text()
        page.wait_for_timeout(pause)
        assert shown(page) == document  # a new order of the model never moves what is on screen
        others = here.filter(has_not_text=re.compile(f"^{re.escape(document)}$"))
        press(page, str(known.get(document, 0)), others)
        done.append(document)
    return done


def log_of(serving: Serving, topic: str) -> pd.DataFrame:
    with Campaign(serving.directory) as campaign:
        return campaign.judgement_log.judgements(current=False, query_id=topic)


def test_the_hundredth_pair_comes_from_a_model_that_has_read_the_ones_before(
    serving: Serving, built: tuple[Path, str, dict[str, int]], context: BrowserContext
) -> None:
    _, topic, known = built
    page = context.new_page()
    open_topic(page, serving, topic)
    expect(page.locator("[data-part=topic-count]")).to_have_text("0 judged")
    done = judge(page, known, 50, 200)  # still faster than people are
    # Killed in mid-judging: the loop goes on from the log.
    saved(page)
    serving.stop(signal.SIGKILL)
    serving.start()
    done += judge(page, known, 44, 200)
    done += judge(page, known, 6, 1500)  # at the pace of people a model on a busy machine catches up, too
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
    serving: Serving, built: tuple[Path, str, dict[str, int]], context: BrowserContext, browser: Browser
) -> None:
    _, topic, known = built
    with Campaign(serving.directory) as campaign:
        campaign.accounts.add("bob", "annotator")
        link = campaign.accounts.make_signin_link("bob")
    other = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        ann, bob = context.new_page(), other.new_page()
        open_topic(ann, serving, topic)
        use_link(bob, f"{serving.url}/signin?token={link}")
        bob.goto(f"{serving.url}/judge?topic={topic}")
        expect(bob.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")).not_to_be_empty()
        for _ in range(8):
            judge(ann, known, 2, 0)
            judge(bob, known, 2, 0)
        saved(ann)
        saved(bob)
    finally:
        other.close()
    log = log_of(serving, topic)
    assert log["annotator"].value_counts().to_dict() == {"ann": 16, "bob": 16}
    assert log["doc_id"].is_unique


def test_fast_keys_in_the_loop_grade_what_was_shown(
    serving: Serving, built: tuple[Path, str, dict[str, int]], context: BrowserContext
) -> None:
    page = context.new_page()
    page.add_init_script(WATCH_KEYS)
    open_topic(page, serving, built[1])
    for key in "012332100123":
        page.keyboard.press(key)
        page.wait_for_timeout(40)
    saved(page)
    pressed = page.evaluate("window.pressed")
    log = log_of(serving, built[1])
    assert log["doc_id"].tolist() == [p["shown"] for p in pressed]
    assert log["relevance"].tolist() == [int(p["key"]) for p in pressed]


def test_a_topic_that_is_closed_hands_out_nothing_more(
    serving: Serving, built: tuple[Path, str, dict[str, int]], context: BrowserContext
) -> None:
    _, topic, known = built
    page = context.new_page()
    open_topic(page, serving, topic)
    judge(page, known, 2, 0)
    saved(page)
    with Campaign(serving.directory) as campaign:
        campaign.settings.set_loop(topics=[topic], mode="closed")
    page.goto(f"{serving.url}/judge?topic={topic}")
    expect(page.locator("[data-part=rest]")).to_contain_text("done", ignore_case=True)
