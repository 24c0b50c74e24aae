"""The judging routes: what they hand out, what they take, and whom they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.auth import tokens
from annotate.auth.tokens import TOKEN_HEADER, Tokens, cookie_name
from annotate.card.server import routes
from annotate.card.server.document_payload import PREFIX, TEXT_CAP
from annotate.card.server.route_types import ROUTES
from annotate.card.server.routes import JudgingService
from collection import Campaign, Document
from collection.campaign.operations import backup_archive
from collection.core.answer_tasks import SUPPORT
from collection.core.errors import BusyError
from collection.core.records import Choice, Preference, Topic
from tests.annotate.card import wire_files
from tests.conftest import judging_token, signed_in
from tests.helpers import AS_JSON, fill, judged, post, put, sql_steps


def test_hand_out_judge_and_go_on(client: TestClient, campaign: Campaign) -> None:
    first = post(client, "sync", query_id="1", want=2)
    assert [d["doc_id"] for d in first["documents"]] == ["d2", "d1"]
    assert first["progress"] == {"topic": {"judged": 0, "pool": 3}, "all": {"judged": 0, "pool": 6}}
    item = judged("d2", 3)
    second = post(client, "sync", decisions=[item], query_id="1", holding=["d1"], want=5)
    assert second["saved"] == [item["uuid"]]
    assert [d["doc_id"] for d in second["documents"]] == ["d6"]
    assert second["progress"]["topic"] == {"judged": 1, "pool": 3}
    row = campaign.store.judgements.table().iloc[0]
    assert row[["annotator", "doc_id", "relevance", "seconds", "source"]].tolist() == ["ann", "d2", 3, 1.235, "key"]


def test_the_same_request_again_changes_nothing(client: TestClient, campaign: Campaign) -> None:
    post(client, "sync", query_id="1", want=3)
    item = judged("d2")
    for _ in range(3):
        assert post(client, "sync", decisions=[item])["saved"] == [item["uuid"]]
    assert campaign.store.judgements.counts()["logged"] == 1


def test_undo_and_regrade_in_one_request_keep_their_order(client: TestClient, campaign: Campaign) -> None:
    post(client, "sync", query_id="1", want=3)
    items = [judged("d2", 1), judged("d2", None, kind="undone"), judged("d2", 2)]
    assert post(client, "sync", decisions=items)["refused"] == []
    assert campaign.store.judgements.table()["relevance"].tolist() == [2]
    assert campaign.store.judgements.table(current=False)["kind"].tolist() == ["graded", "undone", "graded"]


def test_what_was_not_handed_out_is_refused_and_the_rest_is_kept(client: TestClient) -> None:
    post(client, "sync", query_id="1", want=1)
    good, foreign, high = judged("d2"), judged("d6"), judged("d2", 9)
    answer = post(client, "sync", decisions=[foreign, high, good])
    assert answer["saved"] == [good["uuid"]]
    assert [r["uuid"] for r in answer["refused"]] == [foreign["uuid"], high["uuid"]]
    assert answer["refused"][0]["reason"] == "document 'd6' of topic '1' is not assigned to ann"


def test_recent_is_what_a_reloaded_card_can_undo(client: TestClient) -> None:
    post(client, "sync", query_id="1", want=3)
    cannot = judged("d1", None, kind="cannot judge", reason="unreadable")
    post(client, "sync", decisions=[judged("d2", 3), cannot])
    recent = post(client, "sync", query_id="1", want=3, recent=True)["recent"]
    assert [(r["doc_id"], r["kind"], r["relevance"], r["reason"]) for r in recent] == [
        ("d1", "cannot judge", None, "unreadable"),
        ("d2", "graded", 3, None),
    ]
    assert recent[0]["text"] == "The text of document 1."


def test_skipped_come_last(client: TestClient) -> None:
    post(client, "sync", query_id="1", want=3)
    answer = post(client, "sync", skips=[{"query_id": "1", "doc_id": "d2"}], query_id="1", want=3)
    assert [d["doc_id"] for d in answer["documents"]] == ["d1", "d6", "d2"]


def test_nothing_says_how_a_pair_came_up(client: TestClient) -> None:
    document = post(client, "sync", query_id="1", want=1)["documents"][0]
    assert set(document) == {
        *(
            "doc_id",
            "title",
            "form",
            "text",
            "html",
            "length",
            "truncated",
            "metadata",
            "images",
            "excerpts",
            "terms",
            "title_terms",
        )
    }


def test_long_texts_come_in_two_steps(client: TestClient, campaign: Campaign) -> None:
    put(campaign, documents=[Document("d2", "long", "x" * (TEXT_CAP + 5))])
    document = post(client, "sync", query_id="1", want=1)["documents"][0]
    assert (len(document["text"]), document["length"], document["truncated"]) == (TEXT_CAP, TEXT_CAP + 5, True)
    whole = post(client, "document", query_id="1", doc_id="d2")
    assert (len(whole["text"]), whole["truncated"]) == (TEXT_CAP + 5, False)
    post(client, "document", 400, query_id="1", doc_id="none")


def test_topics(client: TestClient) -> None:
    topics = post(client, "topics")["topics"]
    assert topics[0] == {
        "query_id": "1",
        "title": "running average",
        "description": "Smooth a series.",
        "narrative": "A window.",
        "pool": 3,
        "judged": 0,
        "without_text": 0,
    }


def test_topics_with_the_turns_before_the_question_and_other_fields(client: TestClient, campaign: Campaign) -> None:
    said = [{"speaker": "user", "text": f"Question {n}?"} for n in range(60)]
    fields = {"history": [*said, {"role": "system", "content": "x" * 5000}], "ptkb": {"1": "I teach."}, "stance": ""}
    put(campaign, topics=[Topic("1", "running average", fields=fields)])
    topic = post(client, "topics")["topics"][0]
    assert (len(topic["turns"]), topic["turns"][0]) == (50, said[11])
    assert topic["turns"][-1] == {"speaker": "system", "text": f"{'x' * 4000} …"}
    assert topic["fields"] == [{"name": "ptkb", "text": "1: I teach."}]


@pytest.mark.parametrize(
    "payload",
    [
        {"decisions": "all"},
        {"decisions": [{"kind": "graded"}]},
        {"skips": [1]},
        {"query_id": 7},
        {"query_id": "1", "want": "many"},
    ],
)
def test_what_no_card_sends_is_answered_400_and_changes_nothing(
    client: TestClient, campaign: Campaign, payload: dict[str, Any]
) -> None:
    assert "expected" in post(client, "sync", 400, **payload)["error"]
    assert campaign.store.judgements.counts()["logged"] == 0


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "maybe"},
        {"relevance": "3"},
        {"relevance": 1.5},
        {"doc_id": ""},
        {"reason": "\ud800"},
        {"query_id": None},
    ],
)
def test_one_odd_judgement_does_not_keep_the_others_from_being_saved(client: TestClient, odd: dict[str, Any]) -> None:
    post(client, "sync", query_id="1", want=3)
    good, bad = judged("d1"), judged("d2") | odd
    answer = post(client, "sync", odd=True, decisions=[bad, good])
    assert answer["saved"] == [good["uuid"]]
    assert [r["uuid"] for r in answer["refused"]] == [bad["uuid"]]


@pytest.mark.parametrize("seconds", [float("1e300"), -1, 10**400, "long", None])
def test_no_judgement_is_lost_for_a_clock_that_is_wrong(client: TestClient, campaign: Campaign, seconds: Any) -> None:
    post(client, "sync", query_id="1", want=3)
    assert post(client, "sync", odd=True, decisions=[judged("d2", seconds=seconds)])["refused"] == []
    assert campaign.store.judgements.table()["seconds"].isna().tolist() == [True]


def test_what_was_judged_elsewhere_is_closed(client: TestClient, campaign: Campaign) -> None:
    post(client, "sync", query_id="1", want=3)
    campaign.judging.judge("ann", "1", "d1", 2)
    assert post(client, "sync", query_id="1", holding=["d2", "d1", "d6"])["closed"] == ["d1"]


def test_a_judgement_from_elsewhere_can_be_undone_and_given_anew(client: TestClient, campaign: Campaign) -> None:
    """Without a lease: the pair was judged by a script, and the card shows it among the recent ones."""
    campaign.judging.judge("ann", "1", "d1", 2)
    answer = post(client, "sync", decisions=[judged("d1", None, kind="undone"), judged("d1", 3)])
    assert answer["refused"] == []


def test_a_busy_campaign_is_answered_503_and_nothing_is_lost(
    client: TestClient, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise BusyError("busy")

    post(client, "sync", query_id="1", want=3)
    monkeypatch.setattr("annotate.card.server.routes._progress", busy)
    item = judged("d2")
    assert "busy" in post(client, "sync", 503, decisions=[item])["error"]
    assert campaign.store.judgements.table()["uuid"].tolist() == [item["uuid"]]


def test_a_body_that_is_no_json(client: TestClient) -> None:
    assert client.post(f"{PREFIX}/sync", content=b"{", headers=AS_JSON).status_code == 400
    assert client.post(f"{PREFIX}/sync", content=b"[]", headers=AS_JSON).status_code == 400


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_route_wants_a_token(client: TestClient, service: JudgingService, campaign: Campaign) -> None:
    campaign.answers.tasks.open(SUPPORT).close()
    paths = [route.path for route in service.routes() if route.methods == {"POST"}]
    routes = [path.removeprefix(f"{PREFIX}/").replace("{task}", SUPPORT) for path in paths]
    assert {"topics", "sync", "document", "why", "search", "take", "token"} <= set(routes)
    secret = signed_in(campaign)
    person = campaign.people.accounts.session(secret)
    assert person is not None
    tokens = Tokens(campaign.operations.server_state.secret(), campaign.id)
    other_campaign = Tokens(b"secret", "other").token("ann", person.session)
    somebody_else = tokens.token("bob", person.session)
    for value in (
        *("", "nonsense", other_campaign, somebody_else, tokens.cookie(secret)),
        *(tokens.token("ann", secret), tokens.token("ann", ""), tokens.token("ann", person.session)[:-2]),
    ):
        client.headers[TOKEN_HEADER] = value
        for route in routes:
            post(client, route, 401)
    del client.headers[TOKEN_HEADER]
    for route in routes:
        post(client, route, 401)


def test_a_token_expires_and_the_cookie_renews_it(
    client: TestClient, service: JudgingService, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "TOKEN_SECONDS", -1)
    post(client, "topics", 401)
    monkeypatch.undo()
    post(client, "token", 401, annotator="ann")
    client.cookies.set(cookie_name(campaign.id), service.tokens.cookie(signed_in(campaign)))
    client.headers[TOKEN_HEADER] = post(client, "token", annotator="ann")["token"]
    post(client, "topics")
    post(client, "token", 401, annotator="bob")  # whose card this was before ann signed in here
    del client.headers[TOKEN_HEADER]
    post(client, "token", 401, annotator="ann")  # what a form of another site could make a browser send


ABOUT_TOPIC_1: dict[str, dict[str, Any]] = {
    "document": {"query_id": "1", "doc_id": "d2", "said": True},
    "why": {"query_id": "1", "doc_id": "d2"},
    "search": {"query_id": "1", "words": "document"},
    "near": {"query_id": "1", "doc_ids": ["d2"]},
}


def test_annotators_are_told_of_their_own_topics_only(client: TestClient, campaign: Campaign) -> None:
    bob = {TOKEN_HEADER: judging_token(campaign, "bob", "annotator")}
    campaign.people.accounts.add("eve", "annotator")
    campaign.people.assignments.assign(["1"], ["eve"])
    campaign.people.assignments.assign(["2"], ["bob"])
    for route, asked in ABOUT_TOPIC_1.items():
        answer = client.post(f"{PREFIX}/{route}", json=asked, headers=bob)
        assert (answer.status_code, answer.json()) == (400, {"error": "topic '1' is not yours"}), route
        assert client.post(f"{PREFIX}/{route}", json={**asked, "query_id": "2"}, headers=bob).status_code == 200
        post(client, route, **asked)  # of ann, who manages
    assert client.post(f"{PREFIX}/document", json={"doc_id": "d2"}, headers=bob).status_code == 200


@pytest.mark.parametrize("how", ["judged", "leased", "qualification", "claimed", "chosen from", "compared"])
def test_annotators_are_told_of_topics_that_were_theirs(client: TestClient, campaign: Campaign, how: str) -> None:
    bob = {TOKEN_HEADER: judging_token(campaign, "bob", "annotator")}
    match how:
        case "judged":
            campaign.judging.judge("bob", "1", "d2", 1)
        case "leased":
            campaign.judging.next_pairs("bob", "1", 1)
        case "qualification":
            campaign.people.qualification_set.set_pairs([("1", "d2")])
        case "claimed":
            campaign.settings.set_judging_page(task="list")
            campaign.judging.topic_tasks.next_topics("bob", 2)
        case "chosen from":
            campaign.judging.topic_tasks.choose([Choice("u", "bob", "1", "chosen", ("d1", "d2"), ("d1",))])
        case "compared":
            campaign.judging.topic_tasks.prefer([Preference("u", "bob", "1", "d1", "d2", "left")])
    campaign.people.accounts.add("eve", "annotator")
    campaign.people.assignments.assign(["1"], ["eve"])
    for route, asked in ABOUT_TOPIC_1.items():
        assert client.post(f"{PREFIX}/{route}", json=asked, headers=bob).status_code == 200, route


def test_a_save_is_durable_before_it_is_acknowledged(client: TestClient, campaign: Campaign) -> None:
    """Another connection sees the row at once, and the database syncs every commit."""
    post(client, "sync", query_id="1", want=1)
    item = judged("d2")
    post(client, "sync", decisions=[item])
    with Campaign(campaign.directory) as other:
        assert other.store.judgements.table()["uuid"].tolist() == [item["uuid"]]
        assert other.store.connection.db.execute("PRAGMA synchronous").fetchone()[0] == 2


def test_the_work_of_a_save_does_not_grow_with_the_campaign(tmp_path: Path) -> None:
    steps: list[int] = []
    for size in (30, 600):
        folder = tmp_path / str(size)
        folder.mkdir()
        with Campaign.create(folder / "campaign") as campaign:
            fill(campaign, ["1", "2"], [f"d{n}" for n in range(size)])
            trainer = mock.Mock()
            routes._sync(trainer, campaign, "ann", {"query_id": "1", "want": 3, "decisions": [], "holding": []})
            asked = {"query_id": "1", "decisions": [judged("d0")], "holding": ["d1"], "want": 0}
            with sql_steps(campaign) as counted:
                assert len(routes._sync(trainer, campaign, "ann", asked)["saved"]) == 1
            steps.append(len(counted))
    assert 0 < steps[1] < 1.5 * steps[0]


@pytest.mark.parametrize("odd", [{"query_id": "\ud800"}, {"query_id": "1", "holding": ["\udfff"]}, {"query_id": 7}])
def test_half_of_a_character_is_refused_and_breaks_nothing(client: TestClient, odd: dict[str, Any]) -> None:
    error = post(client, "sync", 400, **odd)["error"]
    assert "wanted" in error or "expected" in error


def test_a_backup_restored_elsewhere_serves_the_same_and_sessions_go_on(
    client: TestClient, campaign: Campaign, tmp_path: Path
) -> None:
    """With the tokens of the first server, which the key and the sessions in the backup make valid."""
    post(client, "sync", decisions=[], query_id="1", want=2)
    assert campaign.operations.backups.make().secrets
    (made,) = campaign.operations.backups.available()
    backup_archive.restore(made.path, tmp_path / "elsewhere")
    service = JudgingService(tmp_path / "elsewhere")
    app = Starlette(routes=service.routes(), lifespan=service.lifespan)
    with TestClient(app, headers={TOKEN_HEADER: client.headers[TOKEN_HEADER]}) as restored:
        for route, asked in (("topics", {}), ("document", {"doc_id": "d2"}), ("sync", {"query_id": "1", "want": 5})):
            first, second = post(client, route, **asked), post(restored, route, **asked)
            assert second == first


def rows(campaign: Campaign, table: str) -> int:
    return campaign.store.connection.count(f"SELECT count(*) FROM {table}")


BOUNDED = [
    (route, name, most)
    for route, types in ROUTES.items()
    for name, most in wire_files.list_bounds(types.request).items()
]


@pytest.mark.parametrize(("route", "name", "most"), BOUNDED)
def test_lists_that_are_too_long_are_refused(
    client: TestClient, campaign: Campaign, route: str, name: str, most: int
) -> None:
    needed: dict[str, Any] = {"query_id": "1"} if route in ("near", "nuggets") else {}
    answer = post(client, route, 400, **needed, **{name: ["d1"] * (most + 1)})
    assert answer["error"] == f"expected at most {most:,} {name}, found {most + 1:,}"
    assert rows(campaign, "skips") == rows(campaign, "judgements") == 0


def unbounded(part: dict[str, Any], records: dict[str, Any], path: str, *, bounded: bool = False) -> Iterator[str]:
    """The lists in a JSON Schema, by their paths, that may have any number of items."""
    if "$ref" in part:
        part = records[part["$ref"].rpartition("/")[2]]
    bounded = bounded or "maxItems" in part
    if part.get("type") == "array" and not bounded:
        yield path
    for alternative in part.get("anyOf", []):
        yield from unbounded(alternative, records, path, bounded=bounded)
    for name, inner in part.get("properties", {}).items():
        yield from unbounded(inner, records, f"{path} {name}")
    if "items" in part:
        yield from unbounded(part["items"], records, path)


def test_every_list_of_a_request_is_bounded() -> None:
    schema = wire_files.schema()
    requests = {route: types["properties"]["request"] for route, types in schema["properties"].items()}
    assert [each for route, part in requests.items() for each in unbounded(part, schema["$defs"], route)] == []
    assert len(BOUNDED) >= 9


def test_only_what_was_handed_out_is_skipped(client: TestClient, campaign: Campaign) -> None:
    post(client, "sync", query_id="1", want=1)
    pairs = [{"query_id": "1", "doc_id": doc_id} for doc_id in ("d2", "d2", "d6", "unknown")]
    post(client, "sync", skips=pairs)
    assert rows(campaign, "skips") == 1


def test_repeated_ids_count_once(client: TestClient) -> None:
    post(client, "sync", query_id="1", want=1)
    answer = post(client, "sync", query_id="1", want=5, holding=["d2"] * 1000)
    assert [document["doc_id"] for document in answer["documents"]] == ["d1", "d6"]
    assert answer["closed"] == []


def test_a_card_that_leaves_gives_back_what_it_holds_and_saves(client: TestClient, campaign: Campaign) -> None:
    post(client, "sync", query_id="1", want=3)
    assert len(campaign.people.assignments.reservations()) == 3
    item = judged("d2")
    answer = post(client, "sync", decisions=[item], query_id="1", holding=["d1", "d6"], leave=True)
    assert (answer["saved"], answer["documents"]) == ([item["uuid"]], [])
    assert campaign.people.assignments.reservations().empty
    assert [d.doc_id for d in campaign.judging.next_pairs("bob", "1", 5).documents] == ["d1", "d6"]


def test_each_save_tells_what_is_on_screen_and_hears_what_was_taken_over(
    client: TestClient, campaign: Campaign
) -> None:
    assert [d["doc_id"] for d in post(client, "sync", query_id="1", want=3)["documents"]] == ["d2", "d1", "d6"]
    assert [d.doc_id for d in campaign.judging.next_pairs("bob", "1", 5).documents] == ["d6"]
    answer = post(client, "sync", decisions=[judged("d2")], query_id="1", holding=["d1", "d6"], want=0)
    assert answer["closed"] == ["d6"]
    table = campaign.people.assignments.reservations().set_index("doc_id")
    assert table.loc["d1", ["annotator", "place"]].tolist() == ["ann", "screen"]
