"""The annotator's history, near-duplicates, working time, second device, and settings of the card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server.document_payload import PREFIX
from annotate.card.server.history_routes import time_answer
from annotate.card.server.routes import JudgingService
from annotate.views.widgets import display
from collection import Campaign, Judgement
from collection.annotator_agreement.judging_time import DurationEstimate
from collection.campaign.corpus import near_duplicates
from collection.campaign.judging.history import Sum, Times, TopicTime
from collection.campaign.settings.settings import CARD_BYTES
from collection.core.errors import InputError, UnknownNameError
from collection.core.records import Choice
from tests.conftest import card_client, judging_token
from tests.helpers import AS_JSON, Opened, judged, ok, post, until

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def client(service: JudgingService, campaign: Campaign) -> Iterator[TestClient]:
    """The card of ann, who may judge."""
    with card_client(service, campaign, role="annotator") as client:
        yield client


def said(
    campaign: Campaign, doc_id: str, grade: int | None = 1, annotator: str = "ann", query_id: str = "1", **more: Any
) -> str:
    """A judgement in the log; its uuid."""
    kind = more.pop("kind", "cannot judge" if grade is None else "graded")
    reason = "No text" if kind == "cannot judge" else None
    grade = None if kind == "undone" else grade
    source = more.pop("source", "key")
    uuid = str(uuid4())
    result = campaign.judging.judge_many(
        [Judgement(uuid, annotator, query_id, doc_id, kind, grade, reason, source=source, **more)]
    )
    assert result.saved, result.refused
    return uuid


def at(seconds: float) -> str:
    return (NOON + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def ids(answer: dict[str, Any]) -> list[str]:
    return [entry["doc_id"] for entry in answer["entries"]]


# --- what is asked for --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("route", "payload", "word"),
    [
        ("history", {"query_id": "9"}, "unknown topic '9'"),
        ("history", {"query_id": 7}, "query_id"),
        ("history", {"grade": 7}, "unknown grade '7'"),
        ("history", {"grade": "undone"}, "unknown grade 'undone'"),
        ("history", {"grade": True}, "grade"),
        ("history", {"grade": [1]}, "grade"),
        ("history", {"words": 5}, "words"),
        ("history", {"words": "\ud800"}, "surrogate"),
        ("history", {"before": 0}, "before"),
        ("history", {"before": "3"}, "before"),
        ("history", {"before": 2**70}, "before"),
        ("history", {"limit": 101}, "found 101"),
        ("history", {"limit": 0}, "limit"),
        ("history", {"limit": 1.5}, "limit"),
        ("near", {"query_id": "9", "doc_ids": []}, "topic '9' is not yours"),
        ("near", {"doc_ids": []}, "query_id"),
        ("near", {"query_id": "1", "doc_ids": "d1"}, "doc_ids as a list"),
        ("near", {"query_id": "1", "doc_ids": [1]}, "doc_ids as a string"),
        ("near", {"query_id": "1", "doc_ids": ["d1"] * 51}, "found 51"),
        ("time", {"day": "today"}, "ISO 8601"),
        ("time", {"day": 5}, "ISO 8601"),
        ("time", {"day": "2026-03-02T00:00:00"}, "offset"),
        ("time", {"day": "0001-01-01T00:00:00+00:00"}, "offset"),
        ("settings", {}, "settings as a JSON object"),
        ("settings", {"settings": [1]}, "settings as a JSON object"),
        ("settings", {"settings": {"keys": "x" * 20_000}}, "at most 20,000 bytes"),
        ("settings", {"settings": {"keys": "\ud800"}}, "plain JSON"),
        ("settings", {"settings": {"size": float("nan")}}, "found NaN"),
    ],
)
@pytest.mark.slow
def test_bad_input_is_refused_by_name(client: TestClient, route: str, payload: dict[str, Any], word: str) -> None:
    assert word in post(client, route, 400, **payload)["error"]


# --- history --------------------------------------------------------------------------------------------


def test_an_entry_has_everything_and_its_former_words(client: TestClient, campaign: Campaign) -> None:
    said(campaign, "d1", 0, judged_at=at(0))
    said(campaign, "d1", None, judged_at=at(5))
    said(campaign, "d1", kind="undone", judged_at=at(8))
    said(campaign, "d1", 2, judged_at=at(9), note="see §3", flagged=True, passages=((4, 8), (12, 20)))
    said(campaign, "d2", None, judged_at=at(12))
    found = post(client, "history")
    assert found["more"] is False
    newest, older = found["entries"]
    assert (newest["doc_id"], newest["kind"], newest["relevance"], newest["reason"]) == (
        "d2", "cannot judge", None, "No text",
    )  # fmt: skip
    assert newest["former"] == []
    assert newest["id"] > older.pop("id")
    assert older == {
        "query_id": "1",
        "topic": "running average",
        "doc_id": "d1",
        "title": "Title 1",
        "kind": "graded",
        "relevance": 2,
        "reason": None,
        "note": "see §3",
        "flagged": True,
        "passages": [[4, 8], [12, 20]],
        "judged_at": at(9),
        "former": [
            {"kind": "undone", "relevance": None, "judged_at": at(8)},
            {"kind": "cannot judge", "relevance": None, "judged_at": at(5)},
            {"kind": "graded", "relevance": 0, "judged_at": at(0)},
        ],
    }


def test_nothing_of_others_nor_what_was_taken_back_nor_adjudications(client: TestClient, campaign: Campaign) -> None:
    said(campaign, "d1", 3, annotator="bob", note="bob's own words")
    said(campaign, "d2", 1)
    said(campaign, "d2", kind="undone")
    said(campaign, "d6", 2, counts_as="adjudication")
    assert post(client, "history")["entries"] == []
    assert post(client, "history", words="bob")["entries"] == []
    said(campaign, "d1", 0)
    assert post(client, "history")["entries"][0]["former"] == []


def test_filters(client: TestClient, campaign: Campaign) -> None:
    said(campaign, "d1", 2)
    said(campaign, "d2", None, flagged=True)
    said(campaign, "d4", 2, query_id="2", flagged=True)
    said(campaign, "d5", 0, query_id="2")
    assert ids(post(client, "history", query_id="2")) == ["d5", "d4"]
    assert ids(post(client, "history", grade=2)) == ["d4", "d1"]
    assert ids(post(client, "history", grade=2, query_id="1")) == ["d1"]
    assert ids(post(client, "history", grade=0)) == ["d5"]
    assert ids(post(client, "history", grade="cannot judge")) == ["d2"]
    assert ids(post(client, "history", grade="flagged")) == ["d4", "d2"]
    assert ids(post(client, "history", grade=3)) == []
    assert ids(post(client, "history", query_id=None, grade=None, words=None, before=None)) == ["d5", "d4", "d2", "d1"]


@pytest.mark.slow
def test_words_in_text_title_id_and_note(client: TestClient, campaign: Campaign, tmp_path: Path) -> None:
    rows = [
        {"doc_id": "d1", "title": "Rolling means", "text": "Moving averages over a window of time."},
        {"doc_id": "d2", "title": "Réunion", "text": "Nothing about averages, 100% sure_ly."},
        {"doc_id": "d6", "title": "", "text": "东京都是日本的首都"},
    ]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    campaign.imports.import_files(documents=[tmp_path / "d.jsonl"], replace=True)
    said(campaign, "d1", 2)
    said(campaign, "d2", 1, note="Window seat! A% B_")
    said(campaign, "d6", 0)

    def found(words: str) -> set[str]:
        return set(ids(post(client, "history", words=words)))

    assert found("averages") == {"d1", "d2"}
    assert found("AVERAGES moving") == {"d1"}
    assert found("aver") == {"d1", "d2"}  # the beginning of a word
    assert found("av") == set()  # of two letters only the whole word
    assert found("window") == {"d1", "d2"}  # in the text of one, in the note of the other
    assert found('"over a window"') == {"d1"}
    assert found('"a over window"') == set()
    assert found("reunion") == {"d2"}
    assert found("D6") == {"d6"}
    assert found("日本") == {"d6"}
    assert found("都日") == set()
    assert found("%") == {"d2"}  # in the note, as it is
    assert found("_") == {"d2"}
    assert found("!") == {"d2"}
    assert found('" "') == found("") == {"d1", "d2", "d6"}
    for odd in (
        '"',
        '"""',
        "a AND",
        "NEAR(",
        "^",
        "title:x",
        "*",
        "\x01",
        "-",
        "'; --",
        "a" * 600,
        " ".join("abcdefghijklmn"),
    ):
        assert found(odd) <= {"d1", "d2", "d6"}, odd  # whatever it finds, it is no error


def test_a_page_after_the_other_has_everything_once(client: TestClient, campaign: Campaign) -> None:
    for doc_id in ("d1", "d2", "d3", "d4", "d5"):
        said(campaign, doc_id)
    seen: list[str] = []
    before = None
    for number in range(3):
        page = post(client, "history", limit=2, before=before)
        seen += ids(page)
        assert page["more"] is (number < 2)
        before = page["entries"][-1]["id"]
        said(campaign, "d6" if number else "d7", query_id="2")  # what comes meanwhile shifts nothing
    assert seen == ["d5", "d4", "d3", "d2", "d1"]


def test_limits_are_those_of_the_library_too(campaign: Campaign) -> None:
    with pytest.raises(InputError, match="1 to 100"):
        campaign.judging.history.judgements("ann", limit=101)
    with pytest.raises(UnknownNameError, match="unknown grade"):
        campaign.judging.history.judgements("ann", grade="relevant")


# --- near-duplicates ------------------------------------------------------------------------------------

BASE = [f"w{n}" for n in range(60)]
NEARLY = " ".join([*BASE[:57], "p", "q", "r"])  # 54 of 60 shingles


@pytest.fixture
def copies(campaign: Campaign, tmp_path: Path) -> Campaign:
    """d1 and d2 have one text, d3 nearly the same, d4 no word of it, d5 has none, d6 and d7 a short one; one title."""
    texts = {"d1": " ".join(BASE), "d2": " ".join(BASE).upper(), "d3": NEARLY, "d4": "nothing like it", "d5": ""}
    texts |= {"d6": "Flow past a wing.", "d7": "flow past a wing"}
    rows = [{"doc_id": d, "title": "A title", "text": text} for d, text in texts.items()]
    (tmp_path / "copies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    campaign.imports.import_files(documents=[tmp_path / "copies.jsonl"], replace=True)
    return campaign


def test_near_ones_that_were_judged_and_those_that_are_asked_about(client: TestClient, copies: Campaign) -> None:
    said(copies, "d2", 2)
    said(copies, "d3", None)
    said(copies, "d6", 1, query_id="2")  # of another topic
    said(copies, "d7", 3, annotator="bob")  # somebody else's
    near = post(client, "near", query_id="1", doc_ids=["d1", "d3", "d4", "d5", "d6", "stranger"])["near"]
    assert near["d1"] == [
        {
            "doc_id": "d2",
            "title": "A title",
            "similarity": 1.0,
            "said": {"kind": "graded", "relevance": 2, "reason": None},
        },
        {
            "doc_id": "d3",
            "title": "A title",
            "similarity": 0.903,  # 56 of 62 shingles, two of them with words of the title
            "said": {"kind": "cannot judge", "relevance": None, "reason": "No text"},
        },
    ]
    # d1 is asked about as well, and nothing was said of it yet.
    assert [(n["doc_id"], n["said"]) for n in near["d3"] if n["doc_id"] == "d1"] == [("d1", None)]
    assert {n["doc_id"] for n in near["d3"]} == {"d1", "d2"}
    assert near["d4"] == near["d5"] == near["d6"] == []
    assert "stranger" not in near
    assert post(client, "near", query_id="1", doc_ids=["d6", "d7"])["near"]["d6"][0]["said"] is None


def test_what_was_taken_back_is_no_longer_near_by_itself(client: TestClient, copies: Campaign) -> None:
    said(copies, "d2", 2)
    said(copies, "d2", kind="undone")
    assert post(client, "near", query_id="1", doc_ids=["d1"])["near"] == {"d1": []}


def test_the_manager_can_switch_it_off(client: TestClient, copies: Campaign) -> None:
    said(copies, "d2", 2)
    copies.settings.set_judging_page(near=False)
    assert post(client, "near", query_id="1", doc_ids=["d1"]) == {"near": {}, "more": False}


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collects the texts that are sketched."""
    texts: list[str] = []
    sketch = near_duplicates.duplicates.sketch
    monkeypatch.setattr(near_duplicates.duplicates, "sketch", lambda text: (texts.append(text), sketch(text))[1])
    return texts


def test_sketches_are_kept_and_made_anew_when_documents_change(
    copies: Campaign, tmp_path: Path, sketched: list[str]
) -> None:
    said(copies, "d2", 2)
    for _ in range(2):
        assert [n.doc_id for n in copies.corpus.near_duplicates.for_documents("1", "ann", ["d1"]).near["d1"]] == ["d2"]
        assert len(sketched) == 2
    (tmp_path / "other.jsonl").write_text(json.dumps({"doc_id": "d2", "text": "quite another text by now"}) + "\n")
    copies.imports.import_files(documents=[tmp_path / "other.jsonl"], replace=True)
    assert copies.corpus.near_duplicates.for_documents("1", "ann", ["d1"]).near["d1"] == []


def test_no_more_sketches_are_kept_than_may_be(
    copies: Campaign, monkeypatch: pytest.MonkeyPatch, sketched: list[str]
) -> None:
    monkeypatch.setattr(near_duplicates, "SKETCHES", 2)
    assert set(copies.corpus.near_duplicates.for_documents("1", "ann", ["d1", "d2", "d3"]).near) == {"d1", "d2", "d3"}
    for asked, number in (["d2", "d3"], 3), (["d1"], 4):
        copies.corpus.near_duplicates.for_documents("1", "ann", asked)
        assert len(sketched) == number


def test_sketches_are_made_some_at_a_time(
    client: TestClient, copies: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_duplicates, "MOST_NEW", 2)
    for doc_id in ("d2", "d3", "d4", "d6", "d7"):  # the newest come first
        said(copies, doc_id)
    answers = [post(client, "near", query_id="1", doc_ids=["d1"]) for _ in range(4)]
    near = [[n["doc_id"] for n in answer["near"]["d1"]] for answer in answers]
    assert near == [[], ["d3"], ["d2", "d3"], ["d2", "d3"]]
    assert [answer["more"] for answer in answers] == [True, True, False, False]


# --- time -----------------------------------------------------------------------------------------------


def test_time_by_hand(campaign: Campaign) -> None:
    """Yesterday two; today one, a pause of an hour, three with a stop of ten minutes before the last two."""
    said(campaign, "d1", judged_at=at(-24 * 3600), seconds=30, away=5)
    said(campaign, "d2", judged_at=at(-24 * 3600 + 60), seconds=20, away=40)
    said(campaign, "d4", query_id="2", judged_at=at(0), seconds=12, away=0)
    said(campaign, "d5", query_id="2", judged_at=at(3600), seconds=8, away=2.5)
    said(campaign, "d5", query_id="2", grade=3, judged_at=at(4230), seconds=6, away=600)
    said(campaign, "d1", grade=3, judged_at=at(4240), seconds=4, away=0)
    said(campaign, "d1", kind="undone", judged_at=at(4241))
    said(campaign, "d6", annotator="bob", judged_at=at(4242), seconds=999)
    said(campaign, "d3", source="script", judged_at=at(4243))
    found = campaign.judging.history.time("ann", now=NOON + timedelta(seconds=4250))
    # d5 was judged twice and d1 was taken back: they took time, but only the last word on d5 is a judgement.
    assert found.today == (2, 30.0, 602.5)
    assert [(s.judgements, s.seconds, s.away) for s in found.sessions] == [(1, 18, 602.5), (1, 12, 0), (1, 50, 45)]
    assert found.session == found.sessions[0]
    assert found.session.since == NOON + timedelta(seconds=3592)
    assert found.session.until == NOON + timedelta(seconds=4240)
    assert found.since_break == 10
    # d1 was taken back; d6 of topic 1 is judged by somebody else, and one judgement is all that a pair wants.
    assert [tuple(topic) for topic in found.per_topic] == [
        ("1", "running average", 2, 1, 20.0),
        ("2", "read a table", 2, 1, 8.0),
    ]
    assert found.left == 2
    assert found.estimate is None
    assert found.why == "a time estimate needs 15 timed decisions; you have 6"
    later = campaign.judging.history.time("ann", now=NOON + timedelta(seconds=4240 + 1801))
    assert later.session is None
    assert later.since_break == 0
    paris = datetime.fromisoformat("2026-03-02T14:00:00+01:00")
    assert campaign.judging.history.time("ann", day=paris, now=NOON + timedelta(seconds=4250)).today.judgements == 1


@pytest.mark.slow
def test_an_undone_judgement_does_not_count_as_judged(client: TestClient, campaign: Campaign) -> None:
    said(campaign, "d1", seconds=5)
    said(campaign, "d2", seconds=7)
    assert post(client, "time")["session"]["judgements"] == 2
    said(campaign, "d2", kind="undone")
    found = post(client, "time")
    assert (found["session"]["judgements"], found["today"]["judgements"]) == (1, 1)
    assert [topic["words"][:8] for topic in found["topics"]] == ["1 judged", "0 judged"]
    assert found["session"]["active"] == "12 s"


def test_time_of_somebody_who_has_not_begun(client: TestClient, campaign: Campaign) -> None:
    said(campaign, "d1", annotator="bob", seconds=7)
    found = post(client, "time")
    assert found["today"] == found["session"] == {"judgements": 0, "active": "0 s", "away": "0 s"}
    assert (found["since"], found["pace"], found["since_break"]) == (None, "–", 0.0)
    assert found["left"] == "5 documents left. A time estimate needs 15 timed decisions; you have 0."
    assert [(topic["query_id"], topic["words"]) for topic in found["topics"]] == [
        ("1", "0 judged, 2 left"),
        ("2", "0 judged, 3 left"),
    ]


def test_what_the_card_says_of_the_time() -> None:
    rows = [("done", 5, 0, 0.2), ("open", 0, 5, None), ("begun", 2, 3, 31.0), ("loop", 2, None, None)]
    topics = [TopicTime(query_id, "", judged, left, seconds) for query_id, judged, left, seconds in rows]
    times = Times(Sum(0, 0.0, 0.0), None, [], 0.0, topics, 14, DurationEstimate(400, 1500, 5800), "if your pace stays")
    answer = time_answer(times)
    assert answer["left"] == "14 documents left, about 7 minutes to 1.6 hours at your recent pace, if your pace stays."
    assert [(topic["query_id"], topic["words"]) for topic in answer["topics"]] == [
        ("begun", "2 judged, 3 left, 31 seconds each"),
        ("loop", "2 judged"),
        ("open", "0 judged, 5 left"),
        ("done", "5 judged, 0 left"),
    ]
    assert (
        time_answer(times._replace(left=None, estimate=None, why=""))["left"]
        == "The number of documents left is unknown."
    )
    assert time_answer(times._replace(left=0))["left"] == "Nothing is left for you right now."
    assert time_answer(times._replace(per_topic=topics * 6))["others"] == 4


@pytest.mark.slow
def test_an_estimate_and_on_what_it_depends(client: TestClient, campaign: Campaign) -> None:
    for grade in [0, 1, 2] * 6:  # the same pair again and again: each took its time
        said(campaign, "d1", grade, seconds=10 + grade)
    found = campaign.judging.history.time("ann")
    assert found.estimate is not None
    low, mid, high = found.estimate
    assert mid == 55.0
    assert 40 < low < mid < high < 80
    words = "5 documents left, about 60 seconds at your recent pace"
    assert post(client, "time")["left"] == f"{words}."
    judging_token(campaign, "bob", "annotator")
    assert post(client, "time")["left"] == f"{words}, if nobody else judges them."
    campaign.settings.set_loop(mode="loop")
    left = "The number of documents left is not known in advance; managers see on the page Recall when to stop."
    assert post(client, "time")["left"] == left


@pytest.mark.slow
def test_what_is_read_once_is_added_to(client: TestClient, campaign: Campaign) -> None:
    said(campaign, "d1", seconds=5)
    assert post(client, "time")["today"]["judgements"] == 1
    said(campaign, "d2", seconds=6, away=1.5)
    assert post(client, "time")["today"] == {"judgements": 2, "active": "11 s", "away": "2 s"}
    assert post(client, "time")["since_break"] == 11.0


def test_what_is_saved_while_the_time_is_read_counts_once(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the two looks at the log another connection saves."""
    said(campaign, "d1", seconds=5)
    ask = campaign.store.connection.value
    waiting = ["d2"]
    with Campaign(campaign.directory) as other:

        def slow(sql: str, *parameters: Any) -> Any:
            value = ask(sql, *parameters)
            if "FROM preferences" in sql and waiting:
                said(other, waiting.pop(), seconds=7)
            return value

        monkeypatch.setattr(campaign.store.connection, "value", slow)
        first = campaign.judging.history.time("ann").today
        assert not waiting
        assert first.judgements == 1
        assert campaign.judging.history.time("ann").today[:2] == (2, 12.0)
        assert campaign.judging.history.time("ann").today[:2] == (2, 12.0)


def test_lists_take_time_as_well(campaign: Campaign) -> None:
    campaign.settings.set_judging_page(task="list")
    for n in range(20):
        query_id = "12"[n % 2]
        shown = ("d1", "d2") if query_id == "1" else ("d4", "d5")
        choice = Choice(str(uuid4()), "ann", query_id, "chosen", shown, shown[:1], seconds=20.0, source="key")
        assert campaign.judging.topic_tasks.choose([choice]).saved
    undo = Choice(str(uuid4()), "ann", "2", "undone", source="key")
    assert campaign.judging.topic_tasks.choose([undo]).saved
    said(campaign, "d1", seconds=1000)
    found = campaign.judging.history.time("ann")
    assert (found.today.judgements, found.today.seconds) == (21, 1400)
    assert found.left == 1
    assert found.estimate == pytest.approx((20, 20, 20))  # a grade before that says nothing of a list
    campaign.settings.set_judging_page(task="preference")
    assert campaign.judging.history.time("ann").estimate is None


# --- a second device ------------------------------------------------------------------------------------


def test_topics_say_where_the_annotator_was_last(client: TestClient, campaign: Campaign) -> None:
    assert post(client, "topics")["last"] is None
    said(campaign, "d4", query_id="2")
    said(campaign, "d1", annotator="bob")
    assert post(client, "topics")["last"] == "2"
    said(campaign, "d1")
    said(campaign, "d1", kind="undone")
    assert post(client, "topics")["last"] == "1"
    said(campaign, "d5", query_id="2", counts_as="adjudication")
    assert post(client, "topics")["last"] == "1"


@pytest.mark.parametrize("mode", ["pool", "random", "loop", "loop-in-pool"])
@pytest.mark.slow
def test_a_second_card_gets_what_the_first_one_holds_first(
    client: TestClient, service: JudgingService, campaign: Campaign, mode: str
) -> None:
    """On another machine, in another session: the same documents in the same order, and what was skipped is last."""
    campaign.settings.set_loop(mode=mode)
    if mode.startswith("loop"):
        service.trainer.request("1")
        until(lambda: service.trainer.latest("1"), "the round")
    first = post(client, "sync", query_id="1", want=3)
    held = [d["doc_id"] for d in first["documents"]]
    assert len(held) >= 3
    second = {TOKEN_HEADER: judging_token(campaign, role="annotator")}
    assert second[TOKEN_HEADER] != client.headers[TOKEN_HEADER]

    def sync(**payload: Any) -> dict[str, Any]:
        answer = client.post(f"{PREFIX}/sync", content=json.dumps(payload), headers=AS_JSON | second)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    assert [d["doc_id"] for d in sync(query_id="1", want=3)["documents"]] == held
    post(client, "sync", skips=[{"query_id": "1", "doc_id": held[0]}])
    item = judged(held[1])
    post(client, "sync", decisions=[item], query_id="1", holding=[held[2], held[0]], want=0)
    fresh = [d["doc_id"] for d in sync(query_id="1", want=3)["documents"]]
    assert held[1] not in fresh
    assert fresh[0] != held[0]
    # What the second one judges is saved, although the first one holds it.
    item = judged(held[2], 2)
    assert sync(decisions=[item])["saved"] == [item["uuid"]]


# --- the card -------------------------------------------------------------------------------------------


def test_the_card_stays_as_it_was_arranged(client: TestClient, campaign: Campaign) -> None:
    assert campaign.store.settings.card_arrangement("ann") is None
    settings = {"keys": {"grade-0": "a"}, "size": 1.25, "colours": ["yellow"], "名": "東京 😀"}
    assert post(client, "settings", settings=settings) == {}
    assert campaign.store.settings.card_arrangement("ann") == settings
    post(client, "settings", settings={})
    assert campaign.store.settings.card_arrangement("ann") == {}
    assert campaign.store.settings.card_arrangement("bob") is None
    client.headers[TOKEN_HEADER] = judging_token(campaign, "bob", "annotator")
    post(client, "settings", settings={"size": 2})
    assert campaign.store.settings.card_arrangement("ann") == {}
    longest = {"x": "y" * (CARD_BYTES - len('{"x": ""}'))}
    post(client, "settings", settings=longest)
    assert campaign.store.settings.card_arrangement("bob") == longest


# --- flags ----------------------------------------------------------------------------------------------


def test_flagged_pairs_for_managers(campaign: Campaign) -> None:
    assert campaign.log.flagged().empty
    said(campaign, "d1", 2, flagged=True, note="odd")
    said(campaign, "d1", 0, annotator="bob")
    said(campaign, "d2", None, annotator="bob", flagged=True)
    said(campaign, "d4", 1, query_id="2", flagged=True)
    said(campaign, "d4", 1, query_id="2")  # the flag is gone with a later word
    rows = campaign.log.flagged()[["query_id", "doc_id", "annotator", "kind", "note"]]
    assert [tuple(row) for row in rows.astype(object).where(rows.notna(), None).to_numpy()] == [
        ("1", "d2", "bob", "cannot judge", None),
        ("1", "d1", "ann", "graded", "odd"),
    ]


def test_a_script_can_flag(campaign: Campaign) -> None:
    pair = ("--topic", "1", "--doc", "d1", "--annotator", "ann")
    ok("judge", campaign.directory, *pair, "--grade", "2", "--flag")
    assert campaign.log.flagged()["doc_id"].tolist() == ["d1"]
    ok("judge", campaign.directory, *pair, "--grade", "2")
    assert campaign.log.flagged().empty


# --- pages ----------------------------------------------------------------------------------------------


def test_my_judgements_shows_flags_passages_and_time_away(opened: Opened, campaign: Campaign) -> None:
    said(campaign, "d1", 2, seconds=5, away=3.5, flagged=True, passages=((0, 8), (12, 16), (9000, 9001)))
    said(campaign, "d2", 1, seconds=6)
    app = opened(campaign, "my-judgements")
    table = app.dataframe[0].value
    assert table["flagged"].tolist() == [False, True]
    [only_flagged] = [box for box in app.checkbox if box.label == "Flagged"]
    only_flagged.check().run()
    assert app.dataframe[0].value["doc_id"].tolist() == ["d1"]
    app.session_state["picked"] = campaign.store.judgements.table()["uuid"].iloc[0]
    app.run()
    assert "5 seconds on screen · 4 seconds away" in [caption.value for caption in app.caption]
    shown = [text.value for text in app.text]
    assert "“The text”" in shown  # "The text of document 1."
    assert "“docu”" in shown
    assert "“”" not in shown


def test_a_change_keeps_the_flag_and_what_was_marked(opened: Opened, campaign: Campaign) -> None:
    uuid = said(campaign, "d1", 2, flagged=True, passages=((0, 8),), note="odd")
    app = opened(campaign, "my-judgements")

    def pick(uuid: str) -> None:
        app.session_state["picked"] = uuid
        app.run()

    def save() -> None:
        next(button for button in app.button if button.label == "Save").click().run()

    pick(uuid)
    save()
    assert "grade, note and flag are unchanged" in app.info[0].value
    next(radio for radio in app.radio if radio.label == "Grade").set_value(3)
    save()
    [row] = campaign.store.judgements.table().to_dict("records")
    assert (row["relevance"], row["flagged"], row["passages"], row["note"]) == (3, True, ((0, 8),), "odd")
    pick(row["uuid"])
    next(box for box in app.checkbox if box.label.startswith("Flag for")).uncheck()
    save()
    [row] = campaign.store.judgements.table().to_dict("records")
    assert (row["relevance"], row["flagged"], row["passages"]) == (3, False, ((0, 8),))
    pick(row["uuid"])
    next(button for button in app.button if button.label.startswith("Undo")).click().run()
    last = campaign.store.judgements.table(current=False).iloc[-1]
    assert (last["kind"], last["flagged"], last["passages"]) == ("undone", False, ())


def test_managers_see_what_is_flagged(opened: Opened, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    said(campaign, "d1", 2, annotator="bob", flagged=True, note="*odd*", seconds=4, away=7200)
    said(campaign, "d1", 0, annotator="cat", note="not at all")
    monkeypatch.setattr(display, "selected_row", lambda event, rows: 0 if rows else None)
    app = opened(campaign, "annotators")
    assert {m.label: m.value for m in app.metric}["Pairs flagged for review"] == "1"
    assert "away" not in app.dataframe[0].value  # seven columns at first
    work = app.toggle(key="all-columns").set_value(True).run().dataframe[0].value.set_index("annotator")
    assert work.loc["bob", "away"] == 2
    assert work.loc["cat", ["seconds", "away"]].isna().all()  # no time is known
    assert "per_hour" not in work  # one timed judgement is no speed
    app.session_state["look"] = "Grades"
    assert "flagged" not in app.run().dataframe[0].value
    all_columns = app.toggle(key="all-columns-of-grades").set_value(True).run()
    assert all_columns.dataframe[0].value.set_index("annotator").loc["bob", "flagged"] == 1
    app.session_state["look"] = "Flagged pairs"
    flagged = app.run().dataframe[0].value
    assert flagged[["query_id", "doc_id", "annotator", "note"]].to_numpy().tolist() == [["1", "d1", "bob", "*odd*"]]
    assert {"Title 1", "*odd*", "not at all"} <= {text.value for text in app.text}


def test_nothing_is_flagged(opened: Opened, campaign: Campaign) -> None:
    said(campaign, "d1", 2)
    app = opened(campaign, "annotators")
    assert "Pairs flagged for review" not in {m.label for m in app.metric}
    app.session_state["look"] = "Grades"
    shown = app.run().dataframe[0].value
    assert not {"flagged", "shared", "undone"} & set(shown.columns)  # nothing to show
    assert shown["streak"].tolist() == ["1 of grade 2"]


# --- how quick it is ------------------------------------------------------------------------------------


@pytest.mark.long
def test_thousands_of_judgements_are_looked_through_quickly(campaign: Campaign, tmp_path: Path) -> None:
    """Counted in instructions of SQLite's machine, of which it executes some millions in a tenth of a second."""
    rows = [{"doc_id": f"n{n}", "title": f"number {n}", "text": f"words common{n % 7} rare{n}"} for n in range(6000)]
    (tmp_path / "many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    campaign.imports.import_files(documents=[tmp_path / "many.jsonl"])
    with campaign.transaction():
        for n in range(6000):
            said(campaign, f"n{n}", n % 4, judged_at=at(n * 20), seconds=10 + n % 5)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1000

    campaign.store.connection.db.conn.set_progress_handler(count, 1000)
    for which in ({}, {"words": "rare5999"}, {"words": "common3"}, {"grade": 2, "words": "zzz"}, {"grade": "flagged"}):
        steps = 0
        campaign.judging.history.judgements("ann", **which)
        assert steps < 300_000, which
    campaign.judging.history.time("ann")
    steps = 0
    campaign.judging.history.time("ann")
    assert steps < 300_000
