"""Annotators whose topic has no documents for them are led to one that has some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from annotate.card.server.routes import JudgingService
from collection import Campaign, Judgement
from collection.core import clock
from tests.conftest import card_client
from tests.helpers import fill, judged, post

DOCUMENTS = [f"d{n}" for n in range(6)]


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """Three topics with six pairs each; the first pair of each is everybody's."""
    with Campaign.create(tmp_path / "campaign", grades="0-3") as campaign:
        fill(campaign, ["1", "2", "3"], DOCUMENTS)
        campaign.people.qualification_set.set_pairs([(topic, "d0") for topic in ("1", "2", "3")])
        yield campaign


@pytest.fixture
def client(service: JudgingService, campaign: Campaign) -> Iterator[TestClient]:
    with card_client(service, campaign, "ben") as client:
        yield client


def judge(client: TestClient, query_id: str, doc_id: str) -> dict[str, Any]:
    return post(client, "sync", decisions=[judged(doc_id, query_id=query_id)], query_id=query_id, want=24)


def judge_qualification_set(campaign: Campaign, name: str) -> None:
    judgements = [Judgement(str(uuid4()), name, topic, "d0", "graded", 1) for topic in ("1", "2", "3")]
    assert not campaign.judging.judge_many(judgements).refused


def list_all(campaign: Campaign, name: str, query_id: str) -> int:
    """Reserve all that a topic has left for a work list, which nobody takes over."""
    ids = [document.doc_id for document in campaign.judging.next_pairs(name, query_id, 24).documents]
    at = clock.seconds()
    campaign.store.queue.keep_for_list(query_id, ids, name, at, at + 600)
    return len(ids)


@pytest.mark.slow
def test_after_the_qualification_set_a_topic_with_work_is_named(client: TestClient, campaign: Campaign) -> None:
    judge_qualification_set(campaign, "ann")
    assert list_all(campaign, "ann", "3") == 5  # all that the last topic has left
    assert post(client, "topics")["work"] == "1"
    for topic, then in (("1", "2"), ("2", "3")):
        assert [d["doc_id"] for d in post(client, "sync", query_id=topic, want=24)["documents"]] == ["d0"]
        assert judge(client, topic, "d0")["first"] == then
    post(client, "sync", query_id="3", want=24)
    answer = judge(client, "3", "d0")
    assert (answer["documents"], answer["next"]) == ([], "1")
    assert post(client, "sync", query_id="3", want=24, tried=["1"])["next"] == "2"
    assert post(client, "topics")["work"] == "1"
    assert len(post(client, "sync", query_id="1", want=24)["documents"]) == 5
    list_all(campaign, "cai", "2")
    judge_qualification_set(campaign, "cai")
    list_all(campaign, "cai", "2")
    assert post(client, "sync", query_id="3", want=24, tried=["1"])["next"] is None


def test_only_own_topics_that_are_open_are_named(campaign: Campaign) -> None:
    judge_qualification_set(campaign, "ben")
    campaign.people.accounts.add("ann", "annotator")
    campaign.people.assignments.assign(["1"], ["ann"])
    assert campaign.judging.topic_with_work("ben") == "2"
    campaign.settings.set_loop(topics=["2"], mode="closed")
    assert campaign.judging.topic_with_work("ben") == "3"
    assert campaign.judging.topic_with_work("ben", "3") is None


@pytest.mark.slow
def test_a_loop_is_named_while_its_budget_lasts(campaign: Campaign) -> None:
    judge_qualification_set(campaign, "ben")
    campaign.settings.set_loop(mode="loop", by="mtf", topic_budget=2)
    assert campaign.judging.topic_with_work("ben", "3") == "1"
    (document,) = campaign.judging.next_pairs("ben", "1", 9).documents
    campaign.judging.judge_many([Judgement(str(uuid4()), "ben", "1", document.doc_id, "graded", 1)], leased_only=True)
    assert campaign.judging.topic_with_work("ben", "3") == "2"
    assert campaign.progress.budget.used_up("1") == "The topic's judgement budget (2) is used up"
    assert campaign.progress.budget.used_up("2") == ""
    campaign.settings.set_loop(topic_budget=0, budget=6)
    assert campaign.progress.budget.used_up("1") == "The topic's share (2) of the judgement budget (6) is used up"
    campaign.settings.set_loop(budget=4)
    assert campaign.progress.budget.used_up("1") == "The campaign's judgement budget (4) is used up"
    assert campaign.judging.topic_with_work("ben", "3") is None


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0, 30])
def test_labels_outside_the_pool_leave_the_work_of_a_loop_within_it(
    campaign: Campaign, tmp_path: Path, budget: int
) -> None:
    judge_qualification_set(campaign, "ben")
    rows = "".join(f"zoe,{topic},elsewhere{n},1\n" for topic in ("1", "2", "3") for n in range(8))
    (tmp_path / "labels.csv").write_text("annotator,query_id,doc_id,relevance\n" + rows)
    campaign.imports.import_files(labels=tmp_path / "labels.csv")
    campaign.settings.set_loop(mode="loop-in-pool", by="mtf", budget=budget)
    assert campaign.judging.topic_with_work("ben", "3") == "1"
    # Of a budget of 30, labels and the qualification set use 27: one more document for each topic.
    for number in range(1 if budget else 5):
        assert campaign.progress.budget.used_up("1") == ""
        (document,) = campaign.judging.next_pairs("ben", "1", 1).documents
        campaign.judging.judge_many(
            [Judgement(str(uuid4()), "ben", "1", document.doc_id, "graded", number % 2)], leased_only=True
        )
    assert campaign.judging.topic_with_work("ben", "3") == "2"
    assert campaign.judging.next_pairs("ben", "1", 1).documents == []


def test_calibration_topics_are_marked_until_the_calibration_ends(client: TestClient, campaign: Campaign) -> None:
    def marked() -> list[str]:
        return [topic["query_id"] for topic in post(client, "topics")["topics"] if topic.get("first")]

    campaign.settings.set_loop(mode="loop-in-pool", by="mtf")
    drawn = list(campaign.recall.across_topics.start(0.5, topics=1).topics)
    assert marked() == drawn
    campaign.recall.across_topics.stop()
    assert marked() == []
