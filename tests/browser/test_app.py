"""The main job in a real browser, against `cleverdon serve`: sign in, judge, undo, reload, export."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign, Judgement, formats
from collection.core.records import Document, Topic
from tests.browser.serving import (
    Serving,
    acknowledging,
    choose_page,
    kill_while_judging,
    open_card,
    press,
    press_in_turn,
    saved,
    sign_in,
)
from tests.browser.waiting import select_first_row
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TOPIC = "1"
POOLED = {TOPIC: 9, "2": 24, "5": 24, "6": 3, "7": 3}
"""Topics, each for a test, with the number of their pairs."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A pooled campaign that nobody has judged yet."""
    directory = tmp_path_factory.mktemp("served") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        put(
            campaign,
            [Topic(topic, f"wing flow {topic}") for topic in POOLED],
            [Document(f"d{n}", f"Wing {n}", f"Flow past wing {n}.") for n in range(max(POOLED.values()))],
            {"up": {topic: [f"d{n}" for n in range(size)] for topic, size in POOLED.items()}},
        )
        campaign.people.pools.add("depth", depth=max(POOLED.values()))
    return (directory,)


def judge_rest(page: Page, grade_of: Callable[[str], int], limit: int = 10_000) -> list[str]:
    """Judge what is on screen, one key each, until the topic is done or `limit` is reached; the ids."""
    done: list[str] = []
    finished = page.get_by_text("Topic done")
    next_one = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    while len(done) < limit and not finished.is_visible():
        document = next_one.inner_text()
        others = next_one.filter(has_not_text=re.compile(f"^{re.escape(document)}$"))
        press(page, str(grade_of(document)), finished.or_(others))
        done.append(document)
    return done


def test_judge_a_topic_by_keys_and_export(serving: Serving, context: BrowserContext, tmp_path: Path) -> None:
    known = {f"d{n}": (n * 7 + n // 4) % 4 for n in range(POOLED[TOPIC])}
    page = open_card(context, serving, "ann", TOPIC, "manager")

    first = judge_rest(page, lambda d: known[d], limit=3)
    saved(page)
    # Undo the last one, on purpose graded otherwise first, and give the right grade.
    page.keyboard.press("u")
    expect(page.locator("[data-part=doc-id]")).to_have_text(first[-1])
    page.keyboard.press(str((known[first[-1]] + 1) % 4))
    saved(page)
    page.keyboard.press("u")
    expect(page.locator("[data-part=doc-id]")).to_have_text(first[-1])
    saved(page)

    page.reload()
    expect(page.locator("[data-part=doc-id]")).not_to_be_empty()
    rest = judge_rest(page, lambda d: known[d])
    saved(page)
    assert sorted(first[:-1] + rest) == sorted(known)
    expect(page.locator("[data-part=topic-count]")).to_have_text(f"{len(known)} of {len(known)}")

    choose_page(page, "Export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download qrels.txt", exact=True).click()
    download.value.save_as(tmp_path / "qrels.txt")
    exported = formats.read_qrels(tmp_path / "qrels.txt")
    assert set(exported["query_id"]) == {TOPIC}
    assert dict(zip(exported["doc_id"], exported["relevance"], strict=True)) == known

    log = serving.log(TOPIC)
    assert log["uuid"].is_unique
    assert (log["kind"] == "undone").sum() == 2
    assert len(log) == len(known) + 4  # the two undone grades and the two undos are in the log as well
    assert log["seconds"].notna().all()


@pytest.mark.long
def test_twenty_keys_grade_the_twenty_documents_that_were_shown(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "annotator 2", "2", "manager")
    press_in_turn(page, "01233210012332100123")
    saved(page)
    serving.require_log_of_keys("2", page)
    assert serving.log("2")["doc_id"].nunique() == 20


@pytest.mark.long
def test_nothing_acknowledged_is_lost_when_the_server_is_killed(serving: Serving, context: BrowserContext) -> None:
    """SIGKILL in the middle of judging, twice; what waits in the browser arrives when the server is back."""
    page = open_card(context, serving, "annotator 5", "5", "manager")
    graded = 0
    with acknowledging(page) as acknowledged:
        for _ in range(2):
            assert not _children(serving.process.pid), "a killed server would leave a process"
            # A key counts where a document is on screen: on a loaded machine the next ones may be on their way.
            graded += len(judge_rest(page, lambda _: 2, limit=3)) + 2
            saved(page)
            kill_while_judging(page, serving, "31", page.locator("[data-part=doc-id]"))
    log = serving.log("5")
    assert acknowledged <= set(log["uuid"])
    assert len(log) == log["doc_id"].nunique() == graded


def _children(pid: int) -> list[str]:
    """The processes that a process has started; on Linux only."""
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if sys.platform == "linux" else []


@pytest.mark.long
def test_my_judgements_changes_a_grade(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "annotator 6", "6", "manager")
    (document,) = judge_rest(page, lambda _: 1, limit=1)
    saved(page)
    page.goto(f"{serving.url}/my-judgements")
    perfect = page.get_by_text("Perfect: is dedicated")
    select_first_row(page, perfect)
    with Campaign(serving.directory) as campaign:  # another judgement comes in: the rows of the table move
        other = campaign.judging.next_pairs("annotator 6", "7", 1).documents[0].doc_id
        campaign.judging.judge_many([Judgement("other", "annotator 6", "7", other, "graded", 0)])
    perfect.click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("History of this pair (2 entries)")).to_be_visible()
    with Campaign(serving.directory) as campaign:
        log = campaign.store.judgements.table()
        mine = log[log["annotator"] == "annotator 6"]
        assert mine[["doc_id", "relevance"]].values.tolist() == [[other, 0], [document, 3]]


def test_import_page_says_the_line(serving: Serving, context: BrowserContext, tmp_path: Path) -> None:
    (tmp_path / "bad.run").write_text("1 Q0 a 1 2.0 x\n1 Q0 b two\n")
    page = sign_in(context, serving)
    page.goto(f"{serving.url}/import")
    runs = page.get_by_test_id("stFileUploader").filter(has=page.get_by_text("Runs", exact=True))
    runs.locator("input[type=file]").set_input_files(tmp_path / "bad.run")
    expect(page.get_by_text("bad.run")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Nothing was imported")).to_be_visible()
    expect(page.get_by_text(re.compile(r"bad\.run, line 2: expected 6 columns"))).to_be_visible()


def test_without_the_link_nothing_is_shown(serving: Serving, context: BrowserContext) -> None:
    page = context.pages[0]
    for place in ("", "judge"):
        page.goto(f"{serving.url}/{place}")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
