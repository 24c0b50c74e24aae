"""The Pool page: every strategy's fields, its cost, what is refused, and what is added; without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign
from collection.pooling import strategies

STRATEGIES = strategies(adaptive=False)


@pytest.fixture
def unpooled(make_campaign: Callable[..., Campaign]) -> Campaign:
    return make_campaign("unpooled", pooled=False)


@pytest.fixture
def page(opened: Callable[..., AppTest], unpooled: Campaign) -> AppTest:
    return opened(unpooled, "pool.py")


def choose(page: AppTest, strategy: str) -> AppTest:
    box = next(box for box in page.selectbox if box.label == "Strategy")
    return box.set_value(strategy).run()


def figures(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


@pytest.mark.slow
def test_every_strategy_has_its_fields_and_its_cost(page: AppTest, unpooled: Campaign) -> None:
    for entry in STRATEGIES.values():
        choose(page, entry.name)
        assert not page.exception
        assert not page.error
        assert any(caption.value == entry.description for caption in page.caption)
        fields = [*page.number_input, *page.selectbox, *page.text_input]
        shown = {
            f.key.removeprefix(f"{entry.name}-"): f.value for f in fields if f.key and f.key.startswith(entry.name)
        }
        assert shown == entry.parameters
        cost = unpooled.pools.add(entry.name, dry_run=True)
        assert figures(page)["Pairs selected"] == str(cost.pairs)
        assert ("Sampled from" in figures(page)) == (cost.sampled_from is not None)
        assert next(t for t in page.toggle if t.key == "near").disabled == (cost.sampled_from is not None)
    assert unpooled.progress.counts()["pool"] == 0


@pytest.mark.slow
def test_what_cannot_be_is_said_and_nothing_is_added(page: AppTest, unpooled: Campaign) -> None:
    choose(page, "stratified")
    page.text_input(key="stratified-strata").set_value("50:1,10:.3").run()
    assert "ascending depths" in page.error[0].value
    assert not page.exception
    assert not [button for button in page.button if button.key == "add"]
    page.text_input(key="stratified-strata").set_value("1:1,3:.5").run()
    assert not page.error
    page.button(key="add").click().run()
    assert unpooled.pools.add("stratified", strata="1:1,3:.5", dry_run=True).new == 0
    assert unpooled.progress.counts()["pool"] > 0


@pytest.mark.slow
def test_the_runs_that_contribute_are_kept(page: AppTest, unpooled: Campaign) -> None:
    page.multiselect(key="runs").set_value(["beta"]).run()
    assert figures(page)["Pairs selected"] == "4"
    page.button(key="add").click().run()
    assert json.loads(unpooled.pools.rounds()["runs"].iloc[0]) == ["beta"]
    # What is in the pool is no longer new, and the table below says whence it came.
    assert page.button(key="add").disabled
    assert page.dataframe[-1].value["runs"].tolist() == ["beta"]


@pytest.mark.slow
def test_near_duplicates_are_left_out(page: AppTest, unpooled: Campaign) -> None:
    page.toggle(key="near").set_value(True).run()
    cost = unpooled.pools.add("depth", near_duplicates="skip", dry_run=True)
    # The texts of the small campaign are short, and differ.
    assert cost.near_duplicates == 0
    page.button(key="add").click().run()
    assert json.loads(unpooled.pools.rounds()["parameters"].iloc[0])["near_duplicates"] == "skip"


@pytest.mark.slow
def test_costs_of_all_strategies_stand_side_by_side(page: AppTest, unpooled: Campaign) -> None:
    choose(page, "rrf")
    page.number_input(key="rrf-budget").set_value(2).run()
    page.toggle(key="every").set_value(True).run()
    assert not page.exception
    table = page.dataframe[0].value
    assert table["strategy"].tolist() == [entry.label for entry in STRATEGIES.values()]
    assert table["pairs"].tolist() == unpooled.pools.costs(2)["pairs"].tolist()
