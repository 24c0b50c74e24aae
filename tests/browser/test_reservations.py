"""Two annotators at once, against `cleverdon serve`: what is loaded yields, leaving gives back, a new topic waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from collection.core import clock
from tests.browser.serving import Serving, choose_page, open_card, saved
from tests.helpers import fill, until

pytestmark = [pytest.mark.browser, pytest.mark.long]

DOCUMENTS = [f"d{number}" for number in range(8)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A campaign with eight pairs in each of four topics."""
    directory = tmp_path_factory.mktemp("reserved") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        fill(campaign, ["1", "2", "3", "4"], DOCUMENTS)
    return (directory,)


def on_screen(page: Page) -> str:
    title = page.locator("[data-part=document]:not([hidden]) [data-part=title]")
    expect(title).to_be_visible()
    return title.inner_text()


def reserved(serving: Serving, name: str) -> list[tuple[str, str]]:
    with Campaign(serving.directory) as campaign:
        table = campaign.people.assignments.reservations()
    mine = table[table["annotator"] == name]
    return list(zip(mine["query_id"], mine["place"], strict=True))


def assign(serving: Serving, query_ids: list[str], *names: str) -> None:
    with Campaign(serving.directory) as campaign:
        for name in names:
            if name not in set(campaign.store.accounts.table()["name"]):
                campaign.people.accounts.add(name, "annotator")
        campaign.people.assignments.assign(query_ids, names)


def test_a_colleague_has_a_document_and_whoever_leaves_holds_nothing(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    assign(serving, ["1"], "ben", "cai")
    assign(serving, ["2", "3", "4"], "ann")
    ben, cai = make_window(), make_window()
    first = open_card(ben, serving, "ben")
    assert on_screen(first) == "d0"
    second = open_card(cai, serving, "cai")
    assert on_screen(second) == "d4"
    assert [place for _, place in reserved(serving, "ben")] == ["screen", "ahead", "ahead", "ahead"]
    # To another page of the app and back: a rerun of the script in between is no leave.
    choose_page(first, "My judgements")
    until(lambda: reserved(serving, "ben") == [], "ben's reservations have ended")
    choose_page(first, "Judge")
    assert on_screen(first) == "d0"
    until(lambda: ("1", "screen") in reserved(serving, "ben"), "ben has a document on screen again")
    first.goto("about:blank")  # as when the window is closed
    until(lambda: reserved(serving, "ben") == [], "ben's reservations have ended")
    second.keyboard.press("1")
    saved(second)
    assert reserved(serving, "cai")


def test_a_topic_that_comes_by_itself_waits_for_enter(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    assign(serving, ["3", "4"], "dora", "eve")
    with Campaign(serving.directory) as campaign:
        held = [document.doc_id for document in campaign.judging.next_pairs("eve", "3", 8).documents][2:]
        at = clock.seconds()
        campaign.store.queue.keep_for_list("3", held, "eve", at, at + 3600)
        campaign.judging.leave("eve")
    page = open_card(make_window(), serving, "dora")
    assert on_screen(page) == "d0"
    for _ in range(8):  # a fast typist
        page.keyboard.press("2")
    gate = page.locator("[data-part=new-topic]")
    expect(gate).to_be_visible()
    expect(gate.locator("[data-part=new-topic-title]")).to_contain_text("4")
    expect(page.locator("[data-part=new-topic-why]")).to_contain_text("No free document in the last topic")
    page.keyboard.press("2")
    expect(page.locator("[data-part=notice]")).to_contain_text("Press Enter")
    with Campaign(serving.directory) as campaign:
        assert set(campaign.store.judgements.table(annotator="dora")["query_id"]) == {"3"}
    page.keyboard.press("Enter")
    assert on_screen(page) == "d0"
    expect(gate).to_be_hidden()
    page.keyboard.press("2")
    saved(page)
    with Campaign(serving.directory) as campaign:
        log = campaign.store.judgements.table(annotator="dora")
    assert log["query_id"].tolist() == ["3", "3", "4"]
