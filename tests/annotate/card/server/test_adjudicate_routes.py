"""The routes of the Adjudicate page: what they hand out, what they take, and whom they refuse."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server import handlers, unit_routes
from annotate.card.server.routes import JudgingService
from collection import Campaign, Judgement
from collection.campaign.judging.adjudication import Adjudication
from collection.campaign.judging.search import DocumentSearch
from collection.campaign.progress.progress import Progress
from collection.core.questions import read_questions
from tests.collection.core.test_questions import CREDIBILITY
from tests.conftest import card_client, judging_token
from tests.helpers import decision, post

Payload = dict[str, Any]
pytestmark = pytest.mark.slow


@pytest.fixture
def differing(campaign: Campaign) -> Campaign:
    """bob and cat differ on d1 (by 3), d2 (by 2) and d4 (by 1), and agree on d6."""
    grades = {("1", "d1"): (0, 3), ("1", "d2"): (3, 1), ("2", "d4"): (1, 0), ("1", "d6"): (2, 2)}
    for (query_id, doc_id), pair in grades.items():
        for who, grade in zip(("bob", "cat"), pair, strict=True):
            j = Judgement(str(uuid4()), who, query_id, doc_id, "graded", grade, seconds=7.46, note=f"{who} says so")
            assert campaign.judging.judge_many([j._replace(passages=((4, 8),), flagged=who == "cat")]).saved
    return campaign


@pytest.fixture
def client(differing: Campaign) -> Iterator[TestClient]:
    with card_client(JudgingService(differing.directory), differing) as client:
        yield client


def sync(client: TestClient, status: int = 200, **payload: Any) -> Payload:
    return post(client, "adjudication/sync", status, **payload)


def grade(doc_id: str, relevance: int | None, query_id: str = "1", **more: Any) -> Payload:
    kind = "graded" if relevance is not None else "undone"
    said = {"query_id": query_id, "doc_id": doc_id, "kind": kind, "relevance": relevance}
    return decision(**said, seconds=2.34567, away=1) | more


def name(query_id: str, doc_id: str) -> str:
    return json.dumps([query_id, doc_id])


def ids(answer: Payload) -> list[str]:
    return [unit["documents"][0]["doc_id"] for unit in answer["units"]]


def test_pairs_that_differ_in_an_answer_are_handed_out_and_filtered(client: TestClient, differing: Campaign) -> None:
    differing.settings.set_questions(read_questions([CREDIBILITY]))
    for who, answer in (("bob", 3), ("cat", 1)):
        differing.judging.judge(who, "1", "d6", 2, answers={"credibility": answer})
    assert ids(sync(client, want=9)) == ["d1", "d2", "d4", "d6"]
    assert ids(sync(client, want=9, filter={"question": "credibility"})) == ["d6"]
    assert ids(sync(client, want=9, filter={"question": None, "query_id": "2"})) == ["d4"]
    made = grade("d6", 2, answers={"credibility": 2})
    assert sync(client, decisions=[made], want=9)["saved"] == [made["uuid"]]
    assert ids(sync(client, want=9)) == ["d1", "d2", "d4"]
    assert differing.results.qrels.for_question("credibility").build()["relevance"].tolist() == [2]


def test_pairs_come_largest_distance_first_with_what_everybody_said(client: TestClient, differing: Campaign) -> None:
    differing.settings.set_topic_note("1", "Windows only.")
    first = sync(client, want=2)
    assert set(first) == {"task", "saved", "refused", "units", "closed", "exhausted", "progress", "version"}
    assert (ids(first), first["exhausted"]) == (["d1", "d2"], False)
    assert first["progress"] == {"done": 0, "goal": 3}
    unit = first["units"][0]
    assert unit["topic"] == {
        "query_id": "1", "title": "running average", "description": "Smooth a series.", "narrative": "A window.",
        "note": "Windows only.",
    }  # fmt: skip
    assert unit["documents"][0]["text"] == "The text of document 1."
    assert unit["former"] is None
    bob, cat = unit["opinions"]
    assert cat.pop("judged_at") >= bob.pop("judged_at") > "2026"
    common = {"kind": "graded", "reason": None, "passages": [[4, 8]], "quotes": ["text"], "seconds": 7.5}
    assert bob == common | {"annotator": "bob", "relevance": 0, "note": "bob says so", "flagged": False}
    assert cat == common | {"annotator": "cat", "relevance": 3, "note": "cat says so", "flagged": True}
    second = sync(client, holding=[name("1", "d1"), name("1", "d2")], want=5)
    assert (ids(second), second["exhausted"], second["closed"]) == (["d4"], True, [])


def test_a_decision_is_on_disk_when_it_is_acknowledged_and_counts_once(client: TestClient, differing: Campaign) -> None:
    item = grade("d1", 2, note="the second sentence")
    for _ in range(3):
        answer = sync(client, decisions=[item], holding=[name("1", "d2")])
        assert (answer["saved"], answer["units"], answer["closed"]) == ([item["uuid"]], [], [])
        assert "progress" not in answer
        assert not answer["exhausted"], "nothing was looked at"
    assert not sync(client, leave=True)["exhausted"]
    with Campaign(differing.directory) as other:
        log = other.store.judgements.table(current=False).query("counts_as == 'adjudication'")
    assert log[["uuid", "annotator", "doc_id", "relevance", "note", "seconds", "away"]].values.tolist() == [
        [item["uuid"], "ann", "d1", 2, "the second sentence", 2.346, 1.0]
    ]
    assert sync(client, want=5)["progress"] == {"done": 1, "goal": 3}
    assert (
        dict(zip(differing.results.qrels.build()["doc_id"], differing.results.qrels.build()["relevance"], strict=True))[
            "d1"
        ]
        == 2
    )


def test_the_second_of_two_managers_is_told_and_replaces_nothing(client: TestClient, differing: Campaign) -> None:
    mine, theirs = grade("d1", 2), grade("d1", 0)
    assert sync(client, decisions=[mine])["saved"]
    eve = {TOKEN_HEADER: judging_token(differing, "eve")}
    body = {"decisions": [theirs], "holding": [name("1", "d1"), name("1", "d2")], "want": 1}
    answer = client.post("/api/judging/adjudication/sync", headers=eve, json=body).json()
    assert answer["refused"] == [
        {"uuid": theirs["uuid"], "reason": "ann has already adjudicated this pair, with grade 2"}
    ]
    assert answer["closed"] == [name("1", "d1")]
    assert differing.log.adjudications()[["annotator", "relevance"]].values.tolist() == [["ann", 2]]


def test_two_managers_are_handed_different_pairs_while_there_are_enough(
    client: TestClient, differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = {TOKEN_HEADER: judging_token(differing, "eve")}

    def handed_to_eve() -> list[str]:
        return ids(client.post("/api/judging/adjudication/sync", headers=eve, json={"want": 3}).json())

    assert ids(sync(client, want=1)) == ["d1"]
    assert handed_to_eve() == ["d2", "d4", "d1"]
    real = time.monotonic
    monkeypatch.setattr(unit_routes.time, "monotonic", lambda: real() + unit_routes.HELD_FOR + 1)
    assert handed_to_eve() == ["d1", "d2", "d4"]


def test_a_pair_on_which_nobody_differs_any_more_is_refused_and_closed(client: TestClient, differing: Campaign) -> None:
    differing.judging.judge("bob", "1", "d1", 3)  # as cat has it
    item = grade("d1", 3)
    agreed = grade("d6", 1)
    answer = sync(client, decisions=[item, agreed], holding=[name("1", "d1")], due=True)
    assert answer["refused"] == [
        {"uuid": each["uuid"], "reason": "annotators do not disagree on this pair"} for each in (item, agreed)
    ]
    assert answer["closed"] == [name("1", "d1")]
    assert differing.log.adjudications().empty


def test_undo_opens_the_pair_again(client: TestClient, differing: Campaign) -> None:
    sync(client, decisions=[grade("d1", 2)])
    assert ids(sync(client, want=1)) == ["d2"]
    answer = sync(client, decisions=[grade("d1", None)], want=1)
    assert (ids(answer), answer["progress"]["done"]) == (["d1"], 0)
    assert "no adjudication of 'd1' to undo" in sync(client, decisions=[grade("d1", None)])["refused"][0]["reason"]


def test_the_last_adjudications_and_one_pair(client: TestClient, differing: Campaign) -> None:
    sync(client, decisions=[grade("d1", 2), grade("d4", 0, "2")])
    recent = post(client, "adjudication/recent", limit=20)["decisions"]
    assert [(row["doc_id"], row["relevance"], row["title"]) for row in recent] == [
        ("d4", 0, "Title 4"), ("d1", 2, "Title 1"),
    ]  # fmt: skip
    assert len(post(client, "adjudication/recent", limit=1)["decisions"]) == 1
    unit = post(client, "adjudication/unit", unit=name("1", "d1"))
    assert unit["former"]["relevance"] == 2
    assert [opinion["relevance"] for opinion in unit["opinions"]] == [0, 3]
    assert post(client, "adjudication/unit", unit=name("2", "d8"))["opinions"] == []


def test_qualification_pairs_come_last_and_are_filtered(client: TestClient, differing: Campaign) -> None:
    differing.people.qualification_set.set_pairs([("1", "d6"), ("2", "d5")])
    assert ids(sync(client, want=9)) == ["d1", "d2", "d4", "d6", "d5"]
    only = sync(client, want=9, filter={"why": "qualification"})
    assert (ids(only), only["progress"]) == (["d6", "d5"], {"done": 0, "goal": 2})
    assert only["units"][1]["opinions"] == []
    assert ids(sync(client, want=9, filter={"distance": 2, "names": ["bob"]})) == ["d2"]
    assert ids(sync(client, want=9, filter={"query_id": "2", "why": "disagreement", "distance": None})) == ["d4"]
    after = sync(client, decisions=[grade("d6", 3)], want=9, filter={"why": "qualification"})
    assert (ids(after), after["progress"]) == (["d5"], {"done": 1, "goal": 2})


def test_one_odd_decision_does_not_keep_the_others(client: TestClient, differing: Campaign) -> None:
    good, odd = grade("d1", 1), [grade("d2", 9), grade("d9", 1), grade("d2", 1, kind="chosen"), grade("d4", True, "2")]
    answer = sync(client, odd=True, decisions=[*odd, good])
    assert answer["saved"] == [good["uuid"]]
    assert {refused["uuid"] for refused in answer["refused"]} == {item["uuid"] for item in odd}
    assert differing.log.adjudications()["doc_id"].tolist() == ["d1"]


def test_the_log_is_read_again_only_where_something_has_changed(
    client: TestClient, differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    whole = Adjudication.queue
    monkeypatch.setattr(Adjudication, "queue", lambda *a, **k: (read.append(1), whole(*a, **k))[1])

    def fetched() -> tuple[int, int]:
        goal = sync(client, due=True)["progress"]["goal"]
        return goal, len(read)

    assert [fetched(), fetched()] == [(3, 1), (3, 1)]
    differing.judging.judge("dan", "1", "d6", 0)
    assert [fetched(), fetched()] == [(4, 2), (4, 2)]
    differing.people.qualification_set.set_pairs([("2", "d5")])
    assert [fetched(), fetched()] == [(5, 3), (5, 3)]


def test_a_search_does_not_wait_for_what_is_adjudicated(
    client: TestClient, differing: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, str] = {}

    def note(service: type, method: str) -> None:
        whole = getattr(service, method)

        def noted(*args: Any, **more: Any) -> Any:
            threads[method] = threading.current_thread().name.rpartition("_")[0]
            return whole(*args, **more)

        monkeypatch.setattr(service, method, noted)

    note(Adjudication, "queue")
    note(DocumentSearch, "find")
    note(Progress, "topics_for")
    sync(client, want=1)
    post(client, "search", query_id="1", words="average")
    post(client, "topics")
    assert threads == {"queue": "adjudicating", "find": "aside", "topics_for": "judging"}


def without_text(campaign: Campaign, doc_ids: str) -> None:
    campaign.store.connection.db.conn.execute(f"UPDATE documents SET text = NULL WHERE {doc_ids}")


def test_a_pair_waits_for_the_text_of_its_document(client: TestClient, differing: Campaign) -> None:
    sync(client, decisions=[grade("d2", 2)])
    without_text(differing, "doc_id IN ('d1', 'd2')")
    item, revised = grade("d1", 2), grade("d2", 1)
    answer = sync(client, decisions=[item, revised], holding=[name("1", "d1")], want=9)
    missing = "document 'd1' has no text yet and cannot be judged"
    assert answer["refused"] == [{"uuid": item["uuid"], "reason": missing}]
    assert answer["saved"] == [revised["uuid"]], "what was adjudicated before can be revised"
    assert (ids(answer), answer["closed"]) == (["d4"], [name("1", "d1")])
    assert answer["progress"] == {"done": 1, "goal": 2}


def test_without_any_text_pairs_are_adjudicated_by_their_ids(client: TestClient, differing: Campaign) -> None:
    without_text(differing, "TRUE")
    assert ids(sync(client, want=9)) == ["d1", "d2", "d4"]
    assert sync(client, decisions=[grade("d1", 2)])["saved"]


def test_a_decision_is_saved_whatever_else_the_request_says(client: TestClient, differing: Campaign) -> None:
    sync(client, 400, decisions=[grade("d2", 2)], holding=["d1"], want="2")
    assert differing.log.adjudications()["doc_id"].tolist() == ["d2"]


def test_a_card_that_has_skipped_hundreds_of_pairs_goes_on(client: TestClient, differing: Campaign) -> None:
    differing.people.qualification_set.set_pairs([(query_id, f"d{n}") for query_id in "12" for n in range(1, 9)])
    held = [name("1", "d1"), *[name("9", str(n)) for n in range(300)], name("1", "d2")]
    item = grade("d4", 1, "2")
    answer = sync(client, decisions=[item], holding=held, want=1, due=True)
    assert (answer["saved"], ids(answer)) == ([item["uuid"]], ["d3"]), "nothing that the card holds comes again"
    assert answer["closed"] == held[1:-1]


@pytest.mark.parametrize(
    "odd",
    [
        {"want": "2"}, {"want": True}, {"holding": "d1"}, {"holding": ["d1"]}, {"holding": ['["1"]']},
        {"holding": ['"1d"']}, {"holding": ['["1", 2]']}, {"holding": ["[" * 9999]},
        {"holding": [1]}, {"holding": ["\ud800"]}, {"decisions": [{"query_id": "1"}]},
        {"decisions": {}}, {"decisions": [1]}, {"filter": [1]}, {"filter": {"distance": -1}},
        {"filter": {"distance": 10**30}}, {"filter": {"distance": []}}, {"filter": {"names": [1]}},
        {"filter": {"why": 3}}, {"filter": {"query_id": {"a": 1}}},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_a_bad_request(client: TestClient, odd: Payload) -> None:
    assert re.match("expected|.* surrogate", sync(client, 400, **odd)["error"])


@pytest.mark.parametrize("pair", [None, 3, "", "d1", '"1d"', '["1", "d99"]', '["9", "d1"]', '{"1": 2, "3": 4}', "null"])
def test_an_unknown_pair_is_a_bad_request(client: TestClient, pair: object) -> None:
    post(client, "adjudication/unit", 400, unit=pair)


def test_the_routes_are_for_managers(client: TestClient, differing: Campaign) -> None:
    for who, role, does in (("bob", "annotator", 403), ("rea", "reader", 403), ("max", "manager", 200)):
        client.headers[TOKEN_HEADER] = judging_token(differing, who, role)  # type: ignore[arg-type]
        answer = sync(client, does, decisions=[grade("d1", 2)] if does == 403 else [])
        post(client, "adjudication/recent", does)
        post(client, "adjudication/unit", does, unit=name("1", "d1"))
        if does == 403:
            assert answer["error"] == f"{role}s cannot adjudicate; a manager of the campaign can change your role"
    assert differing.log.adjudications().empty


def test_long_texts_are_cut(client: TestClient, differing: Campaign) -> None:
    long = Judgement(str(uuid4()), "dan", "1", "d1", "graded", 1, note="x" * 50_000)
    assert differing.judging.judge_many([long]).saved
    assert len(sync(client, want=1)["units"][0]["opinions"][1]["note"]) == handlers.LONGEST_LOGGED
