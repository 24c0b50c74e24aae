"""Judging without a connection, and in two tabs, against `cleverdon serve`: nothing is lost, nothing is doubled."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from collection.core.records import Document, Topic
from tests.browser.serving import STATE, Serving, open_card, ready, saved, sent, shown
from tests.browser.waiting import wait
from tests.helpers import put

pytestmark = [pytest.mark.browser, pytest.mark.long]

PAIRS = 60
TOPICS, LONG = "123456", "9"
ALL_PAIRS = len(TOPICS) * PAIRS + 1


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with topics of sixty pairs that nobody has judged, for each test its own; one has a long document."""
    directory = tmp_path_factory.mktemp("offline") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        texts = [" ".join(f"wing{n}flow{word}" for word in range(80)) for n in range(PAIRS)]
        texts[3] = texts[0] + " or near it"  # nearly the same as another
        documents = [Document(f"d{n:02d}", f"Wing {n}", text) for n, text in enumerate(texts)]
        put(
            campaign,
            [Topic(topic, f"topic {topic}") for topic in [*TOPICS, LONG]],
            [*documents, Document("long", "Wings", "a long one\n" * 400)],
            {"up": {**{topic: [d.doc_id for d in documents] for topic in TOPICS}, LONG: ["long"]}},
        )
        assert campaign.people.pools.add("depth", depth=PAIRS).pairs == ALL_PAIRS
    return (directory,)


def judge(page: Page, grades: str) -> list[tuple[str, int]]:
    """Judge what is on screen, one key a document; what was judged."""
    done = []
    for grade in grades:
        document = shown(page)
        page.keyboard.press(grade)
        expect(page.locator("[data-part=doc-id]")).not_to_have_text(document)
        done.append((document, int(grade)))
    return done


def pairs(log: pd.DataFrame) -> list[tuple[str, int]]:
    return list(zip(log["doc_id"], log["relevance"].astype(int), strict=True))


def test_fifteen_documents_without_a_connection(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "annotator 1", "1")
    done = judge(page, "01")
    saved(page)
    context.set_offline(True)
    done += judge(page, "012301230123012")
    status = page.locator("[data-part=status]")
    expect(status).to_contain_text("No connection: 15 judgements are kept in this browser and will be sent")
    assert pairs(serving.log("1")) == done[:2]
    done += judge(page, "3")
    context.set_offline(False)
    saved(page)
    done += judge(page, "2")
    saved(page)
    assert pairs(serving.log("1")) == done
    expect(page.locator("[data-part=topic-count]")).to_have_text(f"{len(done)} of {PAIRS}")


def test_a_server_that_is_killed_in_mid_judging_and_a_reload(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "annotator 2", "2")
    done = judge(page, "0123")
    serving.stop(signal.SIGKILL)
    done += judge(page, "012301230")
    expect(page.locator("[data-part=status]")).to_contain_text("kept in this browser")
    serving.start()
    page.goto(f"{serving.url}/judge?topic=2")  # what waits is in the browser's storage
    ready(page)
    sent(page)
    done += judge(page, "32")
    saved(page)
    log = serving.log("2")
    assert pairs(log) == done
    assert log["uuid"].is_unique
    assert set(log["counts_as"]) == {"judgement"}


def test_streamlits_dialog_about_the_connection_takes_no_key(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "annotator 3", "3")
    page.evaluate(
        """() => { window.dialogs = 0; new MutationObserver((changes) => changes.forEach(({addedNodes}) =>
             addedNodes.forEach((node) => { dialogs += node.matches?.(".stDialog") ? 1 : 0; })))
             .observe(document.body, {childList: true}); }"""
    )
    page.keyboard.press("m")
    page.keyboard.type("before, ")
    serving.stop(signal.SIGKILL)
    wait(page, "window.dialogs > 0", "the dialog that the server is lost")
    expect(page.locator(".stDialog")).to_have_count(0)
    page.keyboard.type("after")  # what was being written goes on where it was
    expect(page.locator("[data-part=note-text]")).to_have_value("before, after")
    page.keyboard.press("Enter")
    done = judge(page, "0123")
    expect(page.locator("[data-part=status]")).to_contain_text("No connection: 4 judgements are kept")
    done += judge(page, "21")
    serving.start()
    expect(page.locator("[data-part=status]")).to_have_text("Saved")
    log = serving.log("3")
    assert pairs(log) == done
    assert log["note"].tolist()[0] == "before, after"


def test_keys_scroll_the_document_while_a_link_of_the_page_has_the_focus(
    serving: Serving, context: BrowserContext
) -> None:
    page = open_card(context, serving, f"annotator {LONG}", LONG)
    page.get_by_role("link", name="Judge", exact=True).first.click()
    ready(page)
    assert shown(page) == "long"
    assert page.evaluate("document.activeElement.tagName") == "A"
    scroller = page.locator("[data-part=scroller]")
    tops = [0.0]
    for key in ("PageDown", "Space", "ArrowDown"):
        page.keyboard.press(key)
        tops.append(scroller.evaluate("node => node.scrollTop"))
        assert tops[-1] > tops[-2], key
    page.keyboard.press("Home")
    assert scroller.evaluate("node => node.scrollTop") == 0
    assert page.get_by_test_id("stSidebar").evaluate(
        "node => [node, ...node.querySelectorAll('*')].every((each) => each.scrollTop === 0)"
    )


def test_settings_history_time_and_near_duplicates_of_the_real_page(serving: Serving, context: BrowserContext) -> None:
    page = open_card(context, serving, "annotator 4", "4")
    part = {name: page.locator(f"[data-part={name}]") for name in ("near", "past", "time-left", "past-says", "flagged")}
    page.keyboard.press("f")
    done = judge(page, "210")
    expect(part["near"]).to_contain_text("Near-duplicate of Wing 0, which you judged 2 Relevant.")
    page.keyboard.press("l")
    expect(part["past"].get_by_role("option")).to_have_count(3)
    expect(part["past"].get_by_role("option").last).to_contain_text("Flagged")
    for key in ("End", "Enter", "3"):
        page.keyboard.press(key)
    saved(page)
    page.keyboard.press("t")
    with Campaign(serving.directory) as campaign:
        left = ALL_PAIRS - len(campaign.store.judgements.table())
    expect(part["time-left"]).to_contain_text(f"{left} documents left")
    page.keyboard.press(",")
    page.locator("[data-do=rekey][data-name=undo]").click()
    page.keyboard.press("z")
    page.get_by_role("button", name="Larger text").click()
    page.keyboard.press("Escape")
    with page.expect_response("**/api/judging/settings"):
        pass
    page.evaluate("localStorage.clear()")  # as on another device
    page.goto(f"{serving.url}/judge?topic=4")
    ready(page)
    expect(page.locator(".cd-bar kbd[data-key=undo]")).to_have_text("z")
    page.keyboard.press("l")
    expect(part["past"].get_by_role("option").first).to_contain_text("was 2 Relevant")
    page.keyboard.press("Escape")
    log = serving.log("4")
    assert pairs(log) == [*done, (done[0][0], 3)]
    assert log["flagged"].tolist() == [True, False, False, True]


def test_two_tabs_take_turns(serving: Serving, context: BrowserContext) -> None:
    topic, another = "5", "6"
    tabs = [open_card(context, serving, f"annotator {topic}", topic) for _ in range(2)]
    for page in tabs:
        wait(page, f"Object.keys({STATE}.tabs).length === 1", "a tab that knows of the other")
    done: list[tuple[str, int]] = []
    for turn in range(6):
        page, other = tabs if turn % 3 else tabs[::-1]
        done += judge(page, str(turn % 4))
        # Nobody is in the other tab before it has heard of it.
        wait(
            other,
            f"(id) => {STATE}.history.some(({{ decision }}) => decision.doc_id === id)",
            "the other tab's judgement",
            done[-1][0],
        )
        assert shown(other) != done[-1][0]
    for page in tabs:
        saved(page)
        expect(page.locator("[data-part=topic-count]")).to_have_text(f"6 of {PAIRS}")
    log = serving.log(topic)
    assert set(Counter(log["doc_id"]).values()) == {1}
    assert sorted(pairs(log)) == sorted(done)
    # Another topic in the second one; the first keeps what it has.
    tabs[1].locator("[data-part=topics]").select_option(another)
    expect(tabs[1].locator("[data-part=topic-title]")).to_have_text(f"topic {another}")
    ready(tabs[1])
    before = shown(tabs[0])
    judge(tabs[1], "01")
    assert shown(tabs[0]) == before
    judge(tabs[0], "2")
    for page in tabs:
        saved(page)
    assert [len(serving.log(each)) for each in (topic, another)] == [7, 2]
