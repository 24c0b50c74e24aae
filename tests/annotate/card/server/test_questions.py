"""Answers to further questions on their way from the cards to the log and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotate.card.server.card import question_data
from annotate.card.server.routes import JudgingService
from collection import Campaign
from tests.collection.campaign.judging.test_questions import ASKED
from tests.conftest import card_client
from tests.helpers import decision, judged, post


@pytest.fixture(autouse=True)
def _asking(campaign: Campaign) -> None:
    campaign.settings.set_questions(ASKED)


def test_answers_are_saved_and_shown_again(client: TestClient, campaign: Campaign) -> None:
    post(client, "sync", query_id="1", want=3)
    first = judged("d2", 2, answers={"credibility": 3, "tags": ["protocol", "review"]})
    plain = judged("d1", 2)
    assert post(client, "sync", decisions=[first, plain])["saved"] == [first["uuid"], plain["uuid"]]
    again = judged("d2", 0, answers={"exclusion": "design", "tags": []})
    answer = post(client, "sync", decisions=[again], query_id="1", want=0, recent=True)
    assert [each.get("answers") for each in answer["recent"]] == [{"exclusion": "design", "tags": []}, None]
    assert "answers" not in answer["recent"][1]
    whole = post(client, "document", doc_id="d2", query_id="1", said=True)
    assert whole["said"]["answers"] == {"exclusion": "design", "tags": []}
    one, other = post(client, "history")["entries"]
    assert one["answers"] == {"exclusion": "design", "tags": []}
    assert one["former"][0]["answers"] == {"credibility": 3, "tags": ["review", "protocol"]}
    assert "answers" not in other
    logged = campaign.store.judgements.table(current=False)["answers"].tolist()
    assert logged == [
        {"credibility": 3, "tags": ("review", "protocol")},
        {},
        {"exclusion": "design", "tags": ()},
    ]


@pytest.mark.parametrize(
    "answers",
    [
        "tags",
        ["tags"],
        {"tags": None},
        {"tags": {"review": True}},
        {"credibility": 1.5},
        {"credibility": True},
        {"": 1},
        {"credibility": "\ud800"},
        {"credibility": "3"},
        {"tags": [1]},
        {f"q{n}": 1 for n in range(21)},
        {"unknown": "x" * 41},
    ],
)
def test_malformed_answers_refuse_their_decision_alone(client: TestClient, campaign: Campaign, answers: Any) -> None:
    post(client, "sync", query_id="1", want=3)
    bad, good = judged("d2", 2, answers=answers), judged("d1", 2)
    answer = post(client, "sync", odd=True, decisions=[bad, good])
    assert answer["saved"] == [good["uuid"]]
    ((uuid, reason),) = [(each["uuid"], each["reason"]) for each in answer["refused"]]
    assert uuid == bad["uuid"]
    assert reason.startswith("expected")
    assert campaign.store.judgements.counts()["logged"] == 1


def test_one_adjudication_carries_all_answers(campaign: Campaign) -> None:
    campaign.judging.judge("bob", "1", "d1", 3, answers={"credibility": 1})
    campaign.judging.judge("cat", "1", "d1", 0, answers={"exclusion": "design"})
    with card_client(JudgingService(campaign.directory), campaign) as client:
        (unit,) = post(client, "adjudication/sync", want=1)["units"]
        assert [each.get("answers") for each in unit["opinions"]] == [{"exclusion": "design"}, {"credibility": 1}]
        said = decision(doc_id="d1", kind="graded", relevance=2, answers={"credibility": 2, "tags": ["review"]})
        assert post(client, "adjudication/sync", decisions=[said])["saved"] == [said["uuid"]]
        (past,) = post(client, "adjudication/recent")["decisions"]
        assert past["answers"] == {"credibility": 2, "tags": ["review"]}
        again = post(client, "adjudication/unit", unit='["1", "d1"]')
        assert again["former"]["answers"] == {"credibility": 2, "tags": ["review"]}
    assert campaign.log.adjudications()["answers"].tolist() == [{"credibility": 2, "tags": ("review",)}]


def test_a_judgement_that_lacks_an_answer_is_handed_out_with_what_was_said(
    client: TestClient, campaign: Campaign
) -> None:
    """Only to a card that asks the question, and until it is answered; then it counts as done again."""
    for doc_id in ("d2", "d1", "d6"):
        post(client, "sync", query_id="1", want=3)
        post(client, "sync", decisions=[judged(doc_id, 2, answers={"tags": ["review"]}, note="so")])
    campaign.settings.set_questions([replace(question, again=True) for question in ASKED])
    assert post(client, "sync", query_id="1", want=3, questions=["tags"])["documents"] == []
    assert post(client, "sync", query_id="1", want=3)["documents"] == []
    answer = post(client, "sync", query_id="1", want=2, questions=["credibility", "exclusion", "tags"])
    assert [document["doc_id"] for document in answer["documents"]] == ["d2", "d1"]
    said = answer["documents"][0]["said"]
    assert (said["kind"], said["relevance"], said["note"], said["answers"]) == ("graded", 2, "so", {"tags": ["review"]})
    assert answer["progress"]["topic"] == {"judged": 0, "pool": 3}
    item = judged("d2", 2, answers={"tags": ["review"], "credibility": 3})
    answer = post(client, "sync", decisions=[item], query_id="1", holding=["d1"], want=2, questions=["credibility"])
    assert (answer["saved"], answer["closed"]) == ([item["uuid"]], [])
    assert [document["doc_id"] for document in answer["documents"]] == ["d6"]
    assert answer["progress"]["topic"] == {"judged": 1, "pool": 3}
    topics = post(client, "topics", questions=["credibility"])
    assert topics["topics"][0]["judged"] == 1
    other = post(client, "sync", query_id="2", want=3)
    held = [document["doc_id"] for document in other["documents"]]
    done = [judged(doc_id, 0, query_id="2") for doc_id in held]
    again = post(client, "sync", decisions=done, query_id="2", want=3, questions=["credibility"])
    assert (again["documents"], again["next"]) == ([], "1")


def test_the_data_of_the_card() -> None:
    credibility, exclusion, _ = question_data(ASKED)
    assert {name: value for name, value in credibility.items() if name != "answers"} == {
        "name": "credibility",
        "sentence": "How credible is this page?",
        "kind": "grades",
        "required": True,
        "from": 1,
        "to": None,
    }
    assert credibility["answers"][0] == {"value": 0, "label": "Lowest", "sentence": "Lowest: grade 0 of 0 to 3"}
    assert [each["value"] for each in exclusion["answers"]] == ["population", "design"]
