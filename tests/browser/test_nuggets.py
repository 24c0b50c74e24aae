"""Nuggets in the browser: a marked passage becomes a nugget, which a manager merges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from collection import Campaign
from collection.core.records import Document, Topic
from tests.browser.reach import settled
from tests.browser.serving import Serving, choose_page, open_card, ready, saved, sign_in
from tests.helpers import add_answers, put

pytestmark = [pytest.mark.browser, pytest.mark.long]

ROW, HEAD, EDGE = 35, 53, 12
"""Pixels of a table: height of a row, middle of the first one, and a place beside its check box."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A topic with answers, a nugget and a document to judge."""
    directory = tmp_path_factory.mktemp("nuggets") / "campaign"
    with Campaign.create(directory, title="Wings") as campaign:
        topics, documents = (
            [Topic("1", "wing lift"), Topic("2", "heat flow")],
            [Document("d1", "Lift", "Air lifts wings.")],
        )
        put(campaign, topics, documents, {"bm25": {"1": ["d1"]}})
        add_answers(campaign)
        campaign.people.pools.add("depth", depth=1)
        campaign.people.assignments.update(annotators=2, which="topics", topics=["1"])  # each test has an annotator
        campaign.answers.nuggets.add("1", "Air lifts.", annotator="ann")
    return (directory,)


def select(page: Page, *rows: int) -> None:
    """Select rows (from 0) of the first table by the keyboard."""
    grid = page.get_by_test_id("stDataFrame").first
    for row in rows:
        expect(grid.get_by_test_id("data-grid-canvas")).to_be_visible()
        grid.click(position={"x": EDGE, "y": HEAD + ROW * row})
        page.keyboard.press("Space")


def test_a_marked_passage_becomes_a_nugget_which_is_merged(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    page = open_card(make_window(), serving, "bob", "1")
    page.locator("[data-part=document] [data-part=text]").select_text()
    page.keyboard.press("p")
    expect(page.get_by_text("1 passage marked")).to_be_visible()
    page.keyboard.press("1")
    saved(page)
    choose_page(page, "Nuggets")
    expect(page.get_by_role("heading", name="0 nuggets by you")).to_be_visible()
    select(page, 0)
    page.get_by_role("button", name="Make 1 nugget").click()
    expect(page.get_by_role("heading", name="1 nugget by you")).to_be_visible()

    page = sign_in(make_window(), serving, "ann")
    page.goto(f"{serving.url}/nuggets")
    expect(page.get_by_role("heading", name="2 nuggets")).to_be_visible()
    select(page, 0, 1)
    page.get_by_role("button", name="Merge 2 nuggets").click()
    expect(page.get_by_role("heading", name="1 nugget,")).to_be_visible()
    with Campaign(serving.directory) as campaign:
        (merged,) = campaign.answers.nuggets.current("1")
        assert (merged.text, merged.sources, merged.origins) == ("Air lifts.", (("d1", 0, 16),), ("1", "2"))
    settled(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Merging was undone.")).to_be_visible()
    settled(page)
    select(page, 0)
    page.get_by_role("textbox", name="Parts, one in each line").fill("Air lifts.\nWings are lifted.")
    page.get_by_role("button", name="Split").click()  # at once, while the field still has the focus
    expect(page.get_by_role("heading", name="3 nuggets")).to_be_visible()


def test_annotators_make_nuggets_beside_the_document_by_keys_also_without_a_connection(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    context = make_window()
    page = open_card(context, serving, "eve", "1")
    field = page.get_by_role("textbox", name="Text of the nugget")
    rows = page.get_by_role("list", name="Nuggets of this topic").get_by_role("listitem")
    page.locator("[data-part=document] [data-part=text]").select_text()
    expect(page.locator("[data-part=nugget-marker]")).to_be_visible()
    page.keyboard.press("a")
    expect(field).to_have_value("Air lifts wings.")
    expect(field).to_be_focused()
    expect(page.get_by_role("button", name="Make a nugget")).to_be_hidden()
    page.keyboard.type("Air lifts.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Vital", exact=True)).to_have_attribute("aria-pressed", "true")
    expect(field).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Your nuggets")).to_be_hidden()

    page.keyboard.press("p")  # the first sentence
    page.keyboard.press("a")
    expect(field).to_have_value("Air lifts wings.")
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(field).to_have_value("")  # the annotator's own words
    page.keyboard.type("Half a nugget")
    page.locator(".cd-to-guidelines").click()
    expect(field).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(field).to_have_value("Half a nugget")
    expect(field).to_be_focused()
    page.get_by_role("button", name="Okay", exact=True).click()
    page.reload()
    expect(field).to_have_value("Half a nugget")
    expect(page.get_by_role("button", name="Okay", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("a")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Your nuggets")).to_be_hidden()
    page.reload()
    ready(page)
    page.keyboard.press("a")
    expect(field).to_have_value("")
    page.keyboard.press("Escape")

    page.reload()
    ready(page)
    held: list[Route] = []
    page.route("**/nuggets", lambda route: held.append(route))  # noqa: PLW0108 - it is given attributes
    page.keyboard.press("y")  # opens the list before it has arrived
    expect(page.get_by_role("dialog", name="Your nuggets")).to_be_focused()
    expect(rows).to_have_count(0)
    held[0].continue_()
    page.unroute("**/nuggets")
    expect(rows.get_by_role("button", name="Edit: Air lifts.", exact=True)).to_be_focused()
    context.set_offline(True)
    page.keyboard.press("o")
    expect(rows.get_by_text("Not saved yet")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    page.keyboard.type(" Wings.")
    page.keyboard.press("Enter")
    page.keyboard.press("a")
    page.keyboard.type("Lift.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nugget added. It has no importance yet")).to_be_visible()
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="No importance")).to_contain_text(["Lift."])
    expect(page.get_by_text("2 nuggets in this topic, 1 without importance: mark it vital or okay")).to_be_visible()
    expect(page.get_by_text("3 edits of nuggets not saved yet")).to_be_visible()
    context.set_offline(False)
    expect(rows.get_by_text("Not saved yet")).to_have_count(0)
    with Campaign(serving.directory) as campaign:
        made = [each.nugget for each in campaign.answers.sources.listed("1", "eve")]
    assert [(each.text, each.importance, each.sources) for each in made] == [
        ("Air lifts. Wings.", "okay", (("d1", 0, 16),)),
        ("Lift.", "", (("d1", None, None),)),
    ]
    page.get_by_role("button", name="Delete: Lift.").focus()
    page.keyboard.press("Delete")
    expect(rows).to_have_count(1)
    add = page.get_by_role("button", name="Make a nugget")
    expect(add).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    saved(page)
    for _ in range(2):
        page.keyboard.press("y")  # no document is left that a nugget could be made from
        expect(rows).to_have_count(1)
        expect(add).to_be_hidden()
        page.reload()
        expect(page.get_by_text("All documents are judged")).to_be_visible()
