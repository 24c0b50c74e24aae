"""The Pool page: every strategy's fields, its cost, what is refused, and what is added; without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from streamlit.testing.v1 import AppTest

from collection import Campaign, Judgement
from collection.pooling import strategies
from tests.helpers import Opened

STRATEGIES = strategies(adaptive=False)


@pytest.fixture
def unpooled(make_campaign: Callable[..., Campaign]) -> Campaign:
    return make_campaign("unpooled", pooled=False)


@pytest.fixture
def page(opened: Opened, unpooled: Campaign) -> AppTest:
    return opened(unpooled, "pool")


def choose(page: AppTest, strategy: str) -> AppTest:
    box = next(box for box in page.selectbox if box.label == "Strategy")
    return box.set_value(strategy).run()


def figures(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


@pytest.mark.long
def test_every_strategy_has_its_fields_and_its_cost(page: AppTest, unpooled: Campaign) -> None:
    for entry in STRATEGIES.values():
        choose(page, entry.name)
        assert not page.error
        assert any(caption.value == entry.description for caption in page.caption)
        fields = [*page.number_input, *page.selectbox, *page.text_input]
        shown = {
            f.key.removeprefix(f"{entry.name}-"): f.value for f in fields if f.key and f.key.startswith(entry.name)
        }
        assert shown == entry.parameters
        cost = unpooled.people.pools.add(entry.name, dry_run=True)
        assert figures(page)["Pairs selected"] == str(cost.pairs)
        assert ("Sampled from" in figures(page)) == (cost.sampled_from is not None)
        assert next(t for t in page.toggle if t.key == "near").disabled == (cost.sampled_from is not None)
    assert unpooled.store.judgements.counts()["pool"] == 0


@pytest.mark.long
def test_what_cannot_be_is_said_and_nothing_is_added(page: AppTest, unpooled: Campaign) -> None:
    choose(page, "stratified")
    page.text_input(key="stratified-strata").set_value("50:1,10:.3").run()
    assert "ascending depths" in page.error[0].value
    assert not [button for button in page.button if button.key == "add"]
    page.text_input(key="stratified-strata").set_value("1:1,3:.5").run()
    assert not page.error
    page.button(key="add").click().run()
    assert unpooled.people.pools.add("stratified", strata="1:1,3:.5", dry_run=True).new == 0
    assert unpooled.store.judgements.counts()["pool"] > 0


def test_the_runs_that_contribute_are_kept(page: AppTest, unpooled: Campaign) -> None:
    page.multiselect(key="runs").set_value(["beta"]).run()
    assert figures(page)["Pairs selected"] == "4"
    page.button(key="add").click().run()
    assert json.loads(unpooled.store.pool.rounds()["runs"].iloc[0]) == ["beta"]
    # What is in the pool is no longer new, and the table below says whence it came.
    assert page.button(key="add").disabled
    assert page.dataframe[-1].value["runs"].tolist() == ["beta"]


def test_near_duplicates_are_left_out(page: AppTest, unpooled: Campaign) -> None:
    page.toggle(key="near").set_value(True).run()
    cost = unpooled.people.pools.add("depth", near_duplicates="skip", dry_run=True)
    # The texts of the small campaign are short, and differ.
    assert cost.near_duplicates == 0
    page.button(key="add").click().run()
    assert json.loads(unpooled.store.pool.rounds()["parameters"].iloc[0])["near_duplicates"] == "skip"


@pytest.mark.long
def test_costs_of_all_strategies_stand_side_by_side(page: AppTest, unpooled: Campaign) -> None:
    choose(page, "rrf")
    page.number_input(key="rrf-budget").set_value(2).run()
    page.toggle(key="every").set_value(True).run()
    table = page.dataframe[0].value
    assert table["strategy"].tolist() == [entry.label for entry in STRATEGIES.values()]
    assert table["pairs"].tolist() == unpooled.people.pools.costs(2)["pairs"].tolist()


def written(page: AppTest) -> str:
    return "\n".join(m.value for kind in (page.markdown, page.caption) for m in kind)


def test_judging_time_is_that_of_the_recent_pace(page: AppTest, unpooled: Campaign, tmp_path: Path) -> None:
    assert "Judging time is estimated once enough pairs are judged in the app." in written(page)
    (tmp_path / "more.tsv").write_text("".join(f"n{n}\ttext {n}\n" for n in range(60)))
    unpooled.imports.import_files(documents=[tmp_path / "more.tsv"])
    judgements = [Judgement(str(uuid4()), "ann", "1", f"n{n}", "graded", 1, seconds=20.0) for n in range(60)]
    assert len(unpooled.judging.judge_many(judgements).saved) == 60
    page.run()
    new = figures(page)["New pairs"]
    assert re.search(rf"This adds {new} pairs: about .* (minutes|min) of judging at the current pace", written(page))
    assert "90% prediction interval" in written(page)


def test_topics_and_documents_that_lack_something_are_named(opened: Opened, unpooled: Campaign, tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("3\ta topic that no run knows\n")
    (tmp_path / "c.run").write_text("1 Q0 elsewhere 1 2.0 c\n")
    unpooled.imports.import_files(topics=tmp_path / "t.tsv", runs=[tmp_path / "c.run"])
    page = opened(unpooled, "pool")
    assert [i.value for i in page.info] == ["1 of 3 topics gets no pairs: no run retrieves documents for them."]
    assert [w.value for w in page.warning] == [
        "c: no document of the run has a text in the campaign. Do the ids match? c: 'elsewhere'; campaign: 'd1', "
        "'d2', 'd3'",
        "1 selected document has no text in this campaign and cannot be judged yet.",
    ]


def test_identical_documents_are_counted_as_left_out(opened: Opened, unpooled: Campaign, tmp_path: Path) -> None:
    text = " ".join(f"word{n}" for n in range(80))
    (tmp_path / "d.tsv").write_text(f"c1\t{text}\nc2\t{text}\n")
    (tmp_path / "c.run").write_text("1 Q0 c1 1 2.0 c\n1 Q0 c2 2 1.0 c\n")
    unpooled.imports.import_files(documents=[tmp_path / "d.tsv"], runs=[tmp_path / "c.run"])
    page = opened(unpooled, "pool")
    assert "Near-duplicates left out" not in figures(page)
    page.toggle(key="near").set_value(True).run()
    assert figures(page)["Near-duplicates left out"] == "1"


def test_pairs_of_a_round_are_removed_after_a_preview(opened: Opened, make_campaign: Callable[..., Campaign]) -> None:
    campaign = make_campaign("removal")
    pairs = campaign.store.judgements.counts()["pool"]
    app = opened(campaign, "pool")
    app.multiselect[-1].select(app.multiselect[-1].options[0]).run()
    assert f"This removes {pairs} pooled pairs." in [text.value for text in app.markdown]
    app.button(key="remove").click().run()
    assert campaign.store.judgements.counts()["pool"] == 0
