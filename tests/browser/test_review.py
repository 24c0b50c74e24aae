"""A literature review in the browser: screening by keys, with words, terms and reasons of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from collection import Campaign
from collection.core.records import Document
from collection.core.review import REASON, Review
from tests.browser.card_page import HIGHLIGHTED
from tests.browser.serving import Serving, open_card, saved
from tests.browser.waiting import wait

pytestmark = [pytest.mark.browser, pytest.mark.long]

TEXT = "Falls are common. We randomly assigned older adults to balance training; rats were not studied."


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path]:
    """A review of six records that one person screens."""
    review = Review(
        "Exercise and falls",
        "Does exercise prevent falls?",
        include=("Randomised trials",),
        include_terms=("random*", "older adults"),
        exclude_terms=("rats",),
    )
    directory = tmp_path_factory.mktemp("review") / "campaign"
    with Campaign.create(directory, review=review) as campaign:
        documents = [Document(f"r{n}", f"Balance training, part {n}", TEXT, {"doi": f"10.1000/{n}"}) for n in range(6)]
        campaign.store.corpus.add_documents(documents)
    return (directory,)


def press(page: Page, *keys: str) -> str:
    """Decide on the record on screen by keys; its id."""
    place = page.locator("[data-part=document]:not([hidden]) [data-part=doc-id]")
    record = place.inner_text()
    for key in keys:
        page.keyboard.press(key)
    expect(place.filter(has_text=record)).to_have_count(0)
    return record


def test_screening_in_two_stages_with_reasons_by_key(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    page = open_card(make_window(), serving, "ann", "review")
    card = page.locator("[data-part=card]")
    expect(card).to_contain_text("Does this record meet the criteria?")
    expect(page.locator("[data-part=topic]")).to_contain_text("Title and abstract: Exercise and falls")
    expect(page.locator("[data-part=narrative-block]")).to_contain_text("Criteria")
    expect(page.locator("[data-part=narrative-block]")).to_contain_text("Randomised trials")
    expect(page.locator("[data-part=cannot-judge]")).to_contain_text("Cannot decide")
    wait(page, "CSS.highlights.get('cd-include-term')?.size === 2", "the highlights of the terms")
    assert page.evaluate(HIGHLIGHTED, "cd-include-term") == ["randomly", "older adults"]
    assert page.evaluate(HIGHLIGHTED, "cd-exclude-term") == ["rats"]
    assert page.evaluate(HIGHLIGHTED, "cd-topic-term") == []  # the words of the question
    without = press(page, "0")
    page.keyboard.press("q")
    expect(page.locator(".cd-asked .cd-current")).to_contain_text("Why is it excluded?")
    design = press(page, "5")
    included, maybe = press(page, "2"), press(page, "1")
    saved(page)
    with Campaign(serving.directory) as campaign:
        table = campaign.review.decisions.table().set_index("doc_id")
        assert table["decision"][[without, design, included, maybe]].tolist() == [
            "exclude", "exclude", "include", "maybe",
        ]  # fmt: skip
        assert table["reason"][[without, design]].tolist() == ["", "Wrong study design"]

    page = open_card(make_window(), serving, "ann", "full-text")
    page.keyboard.press("0")
    expect(page.locator(".cd-asked .cd-current")).to_contain_text("Why is it excluded?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-part=card]")).to_contain_text("This question needs an answer.")
    excluded = press(page, "3")
    saved(page)
    with Campaign(serving.directory) as campaign:
        log = campaign.store.judgements.table(query_id="full-text")
        assert log["answers"].tolist() == [{REASON: "Wrong comparison"}]
        assert {excluded} < {included, maybe}


def test_the_list_of_keys_and_the_settings_are_those_of_a_review(
    serving: Serving, make_window: Callable[..., BrowserContext]
) -> None:
    page = open_card(make_window(), serving, "bob", "review")
    page.keyboard.press("?")
    keys = page.locator("[data-part=help-panel]")
    expect(keys).to_contain_text("Exclude the record, and give the reason")
    expect(keys).not_to_contain_text("document")
    page.keyboard.press("Escape")
    page.keyboard.press(",")
    expect(page.locator(".cd-legend")).to_contain_text("random*, older adults")
    page.locator("[data-part=switch-mark-review]").click()
    wait(page, "CSS.highlights.get('cd-include-term').size === 0", "the end of the highlights")
    expect(page.locator("[data-part=switch-mark-topic]")).to_have_attribute("aria-checked", "false")
    page.locator("[data-part=switch-mark-topic]").click()
    wait(page, "CSS.highlights.get('cd-topic-term').size > 0", "the words of the question")
