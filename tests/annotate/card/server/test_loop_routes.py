"""The judging routes where a model chooses: orders, search and why, against a small campaign in the loop."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate.auth.tokens import TOKEN_HEADER
from annotate.card.server import trainer
from annotate.card.server.routes import IN_LOOP, JudgingService, _sync
from annotate.card.server.trainer import Trainer
from annotate.card.server.trainer_process import TrainerProcess
from collection import Campaign, Judgement
from collection.campaign.judging.judging import Judging
from collection.campaign.loop.active_learning import ActiveLearning
from collection.core.errors import CampaignError
from collection.store import Selection
from tests.conftest import judging_token
from tests.helpers import PATIENCE, judged, post, until

pytestmark = pytest.mark.slow

SIZE = 60
WORDS = ("wing", "flow", "heat", "shock", "layer", "plate", "jet", "slab", "cone", "wake")


def relevant(doc_id: str) -> bool:
    """Every fifth document is about what topic 1 asks for."""
    return int(doc_id[1:]) % 5 == 0


def build_looping(folder: Path) -> Campaign:
    """Sixty documents and two topics in the loop; topic 1 asks for ducks, and twelve documents have some."""
    documents = [
        {
            "doc_id": f"d{i}",
            "title": f"Title {i}",
            "text": f"{WORDS[i % 10]} {WORDS[i // 10]} text {'about ducks and ponds' if i % 5 == 0 else 'about air'}.",
        }
        for i in range(SIZE)
    ]
    (folder / "documents.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    (folder / "topics.tsv").write_text("1\tducks on ponds\n2\theat in a slab\n")
    (folder / "a.run").write_text("".join(f"1 Q0 d{i} {i + 1} {SIZE - i} a\n" for i in range(20)))
    campaign = Campaign.create(folder / "looping", grades="0-1")
    files = {"documents": [folder / "documents.jsonl"], "topics": folder / "topics.tsv"}
    campaign.imports.import_files(**files, runs=[folder / "a.run"])
    campaign.settings.set_loop(mode="loop")
    return campaign


@pytest.fixture
def looping(copy_of: Callable[..., Campaign]) -> Campaign:
    return copy_of(build_looping)


def judged_by_hand(campaign: Campaign, doc_ids: list[str], query_id: str = "1") -> None:
    """Judgements as of a script, in the order of the loop, by what the documents are about."""
    conditions = campaign.store.queue.number_conditions(campaign.loop.describe_order(query_id))
    chosen = [Selection(doc_id, "loop", conditions=conditions) for doc_id in doc_ids]
    campaign.store.queue.lease(query_id, chosen, "ann", time.time(), time.time() + 60)
    campaign.judging.judge_many(
        [Judgement(str(uuid4()), "ann", query_id, d, "graded", int(relevant(d))) for d in doc_ids]
    )


class Card:
    """A simple card: it keeps the first document, follows the order behind it, and judges the first."""

    def __init__(self, client: TestClient, annotator: str, query_id: str = "1") -> None:
        self.client, self.annotator, self.query_id = client, annotator, query_id
        with Campaign(client.app.state.service.directory) as campaign:
            self.token = judging_token(campaign, annotator)
        self.holding: list[str] = []
        self.last: dict[str, Any] = {}

    def post(self, route: str, status: int = 200, **payload: Any) -> dict[str, Any]:
        self.client.headers[TOKEN_HEADER] = self.token
        return post(self.client, route, status, query_id=self.query_id, **payload)

    def sync(self, *judgements: dict[str, Any], **more: Any) -> dict[str, Any]:
        self.last = self.post("sync", decisions=list(judgements), holding=self.holding, want=12, **more)
        on_screen = [doc_id for doc_id in self.holding[:1] if doc_id not in self.last["closed"]]
        self.holding = list(dict.fromkeys([*on_screen, *self.last["order"]]))
        return self.last

    def settle(self, *judgements: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Ask again until the model has read everything."""
        self.sync(*judgements, **more)
        until(lambda: not self.last["behind"] or not self.sync()["behind"], "the model")
        return self.last

    def judge(self, *, wait: bool = True) -> str:
        """Judge what is on screen by what it is about."""
        doc_id = self.holding.pop(0)
        item = judged(doc_id, int(relevant(doc_id)), query_id=self.query_id)
        answer = self.settle(item) if wait else self.sync(item)
        assert answer["refused"] == []
        return doc_id


class Beside:
    """The process that learns as a thread of the test: it costs no start, and what a test patches is patched there."""

    def __init__(self, directory: Path) -> None:
        wishes, to_it = os.pipe()
        from_it, answers = os.pipe()
        self.stdin, self.stdout = os.fdopen(to_it, "wb"), os.fdopen(from_it, "rb")
        self.ends = os.fdopen(wishes, "rb"), os.fdopen(answers, "wb")
        self.learning = TrainerProcess(directory, *self.ends)
        self.threads = [
            threading.Thread(target=self.learning.listen, daemon=True),
            threading.Thread(target=self.work, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def work(self) -> None:
        self.learning.work()
        for end in self.ends:
            end.close()

    def wait(self, timeout: float | None = None) -> int:
        for thread in self.threads:
            thread.join(timeout or PATIENCE)
        return 0

    def kill(self) -> None:
        """It ends by itself."""


@pytest.fixture(autouse=True)
def _beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer, "start_process", Beside)


@pytest.fixture
def service(looping: Campaign) -> JudgingService:
    return JudgingService(looping.directory)


@contextmanager
def serving(service: JudgingService) -> Iterator[TestClient]:
    """A client of the judging routes, which knows the service that trains."""
    app = Starlette(routes=service.routes(), lifespan=service.lifespan)
    app.state.service = service
    with TestClient(app) as client:
        yield client


@pytest.fixture
def client(service: JudgingService) -> Iterator[TestClient]:
    with serving(service) as client:
        yield client


@pytest.fixture
def ann(client: TestClient) -> Card:
    return Card(client, "ann")


# --- handing out ----------------------------------------------------------------------------------


def test_nobody_waits_for_the_first_model(ann: Card) -> None:
    first = ann.sync()
    assert (first["documents"], first["order"], first["behind"]) == ([], [], True)
    answer = ann.settle()
    assert answer["model_round"] == 0
    assert len(ann.holding) == IN_LOOP
    assert answer["progress"] == {"topic": {"judged": 0, "pool": None}, "all": {"judged": 0, "pool": None}}
    assert [t["pool"] for t in post(ann.client, "topics")["topics"]] == [None, None]


def test_the_loop_finds_what_is_relevant_and_says_how_each_pair_came_up(ann: Card, looping: Campaign) -> None:
    looping.settings.set_loop(
        presumed=0, evidence="none"
    )  # the one run has four of the twelve, and would be read first
    ann.settle()
    seen = [ann.judge() for _ in range(20)]
    assert len(set(seen)) == 20
    assert sum(map(relevant, seen)) == 12, "twenty judgements are enough for twelve that are so plain"
    log = looping.store.judgements.table()
    assert set(log["strategy"]) == {"start", "loop"}
    assert log["strategy"][0] == "start"
    assert log["strategy"].iloc[-1] == "loop"
    # The document on screen keeps the round that brought it up: at most the one before the last judgement.
    rounds = log["model_round"].tolist()
    assert all(max(0, at - 1) <= number <= at for at, number in enumerate(rounds)), rounds


def test_random_draws_are_logged_with_their_probability(ann: Card, looping: Campaign) -> None:
    looping.settings.set_loop(control=0.5)
    ann.settle()
    for _ in range(10):
        ann.judge()
    log = looping.store.judgements.table()
    drawn = log["strategy"] == "random"
    assert 3 <= drawn.sum() <= 7
    assert log.loc[drawn, "probability"].between(1 / SIZE, 1 / 40).all()
    assert log.loc[~drawn, "probability"].isna().all()


def test_a_card_hears_what_chooses_and_what_it_has_learned_from(ann: Card, looping: Campaign) -> None:
    rule = "A model chooses the next document; some may be drawn at random."
    assert ann.sync()["chooser"] == [rule, "The model is being trained …"]
    assert ann.settle()["chooser"] == [
        rule,
        "The model starts when a relevant document is known.",
    ]
    judged_by_hand(looping, ["d55", "d56"])
    assert ann.settle()["chooser"] == [
        rule,
        "The model has learned from 2 judged documents.",
    ]
    doc_id = ann.holding.pop(0)
    item = judged(doc_id, int(relevant(doc_id)))
    assert ann.sync(item)["chooser"] == [rule, "The model is being trained …"]
    assert ann.settle()["chooser"] == [
        rule,
        "The model has learned from 3 judged documents.",
    ]
    ann.settle(judged(doc_id, None, kind="undone"))
    assert ann.last["chooser"] == [
        rule,
        "The model has learned from 2 judged documents.",
    ]
    looping.settings.set_loop(control=0.25)
    assert ann.settle()["chooser"][0] == "A model chooses the next document; some are drawn at random."
    looping.settings.set_loop(control=0, run=0)
    assert ann.settle()["chooser"][0] == "A model chooses the next document."
    looping.settings.set_loop(by="mtf")
    assert ann.settle()["chooser"] == ["Move to front chooses the next document.", ""]
    looping.settings.set_loop(explain="nothing")
    assert ann.settle()["chooser"] == ["", ""]


def test_what_is_on_screen_stays_first_in_every_order(ann: Card) -> None:
    ann.settle()
    shown = ann.holding[0]
    assert ann.settle()["order"][0] == shown
    skipped = ann.holding[1]
    ann.settle(skips=[{"query_id": "1", "doc_id": skipped}])
    assert ann.holding[0] == shown
    assert skipped not in ann.holding[:-1]


@pytest.mark.long
def test_two_annotators_never_judge_the_same_pair(client: TestClient, looping: Campaign) -> None:
    cards = [Card(client, "ann"), Card(client, "bob")]
    seen: dict[str, str] = {}
    for step in range(40):
        for card in cards:
            if not card.holding:
                card.settle()
            if not card.holding:
                continue
            on_screens = [each.holding[0] for each in cards if each.holding]
            assert len({*on_screens}) == len(on_screens), "the same is on both screens"
            doc_id = card.judge(wait=step % 3 == 0)  # now and then the cards are ahead of the model
            assert doc_id not in seen, f"{doc_id} was judged by {seen.get(doc_id)}"
            seen[doc_id] = card.annotator
    assert len(seen) == SIZE
    assert looping.store.judgements.counts()["logged"] == SIZE
    assert set(seen.values()) == {"ann", "bob"}


def test_an_undone_pair_goes_on_where_it_is(ann: Card) -> None:
    ann.settle()
    doc_id = ann.judge()
    ann.holding.insert(0, doc_id)
    answer = ann.settle(judged(doc_id, None, kind="undone"))
    assert answer["refused"] == []
    assert answer["order"][0] == doc_id


def test_a_closed_topic_asks_for_no_model(ann: Card, looping: Campaign, service: JudgingService) -> None:
    looping.settings.set_loop(topics=["1"], mode="closed")
    answer = ann.sync()
    assert (answer["order"], answer["behind"]) == ([], False)
    assert service.trainer.latest("1") is None
    assert answer["progress"]["topic"] == {"judged": 0, "pool": 0}


def test_a_card_that_knows_of_another_leaves_it_what_it_has(client: TestClient) -> None:
    Card(client, "bob", "2").settle()  # there is a model of the other topic
    first = Card(client, "ann")
    first.settle()
    assert Card(client, "ann", "2").sync(alone=False)["order"]
    assert set(Card(client, "cid").settle()["order"]).isdisjoint(first.holding)
    assert Card(client, "ann", "2").sync()["order"]
    assert set(Card(client, "dee").settle()["order"]) <= set(first.holding)


class Idle:
    """A trainer that makes nothing; `asked` are the topics, each with how much of the log everybody could read then."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.asked: list[tuple[str, int]] = []
        self.round: Any = None

    def latest(self, _query_id: str) -> Any:
        return self.round

    def problem(self, _query_id: str) -> None:
        return None

    def request(self, query_id: str) -> None:
        with Campaign(self.directory) as another:
            self.asked.append((query_id, another.store.judgements.counts()["logged"]))


def test_a_save_waits_for_the_disk_once_and_learning_begins_after_it(looping: Campaign) -> None:
    idle: Any = Idle(looping.directory)
    idle.round = looping.loop.next_round("1")
    held = _sync(idle, looping, "ann", {"query_id": "1", "want": 12})["order"]
    done: list[str] = []
    looping.store.connection.db.conn.set_trace_callback(done.append)
    saving = {"decisions": [judged(held[0])], "holding": held[1:], "query_id": "1", "want": 12}
    answer = _sync(idle, looping, "ann", saving)
    looping.store.connection.db.conn.set_trace_callback(None)
    assert answer["order"][0] == held[1]
    assert len([statement for statement in done if statement.startswith("COMMIT")]) == 1
    assert idle.asked == [("1", 1)]


def test_what_cannot_be_handed_out_undoes_no_judgement(
    ann: Card, looping: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.settle()
    item = judged(ann.holding[0], 1)

    def fails(*_: Any, **__: Any) -> None:
        raise CampaignError("the features are gone")

    monkeypatch.setattr(Judging, "next_pairs", fails)
    answer = ann.post("sync", 503, decisions=[item], holding=ann.holding[1:], want=12)
    assert "the features are gone" in answer["error"]
    assert looping.store.judgements.table()["uuid"].tolist() == [item["uuid"]]
    monkeypatch.undo()
    assert ann.post("sync", decisions=[item], holding=ann.holding[1:], want=12)["saved"] == [item["uuid"]]
    assert looping.store.judgements.counts()["logged"] == 1


# --- when the model fails --------------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every round fails from now on; the list gets the topics that were tried."""
    tried: list[str] = []

    def learn(_: Campaign, query_id: str) -> None:
        tried.append(query_id)
        raise RuntimeError("no memory left")

    monkeypatch.setattr(ActiveLearning, "next_explainable_round", learn)
    return tried


def test_a_model_that_fails_does_not_stop_judging(ann: Card, looping: Campaign, monkeypatch: Any) -> None:
    ann.settle()
    tried = failing(monkeypatch)
    held = list(ann.holding)
    seen = [ann.judge() for _ in range(5)]
    assert seen == held[:5], "the last order that there was holds"
    assert looping.store.judgements.counts()["logged"] == 5
    assert ann.last["problem"] == "no memory left"
    sentence = "The model is not available, and documents come from its last ranking: no memory left."
    assert ann.last["chooser"][1] == sentence
    training = ann.client.app.state.service.trainer
    until(lambda: training._current is None and not training._requested, "the end of the last attempt")
    ann.settle()
    attempts = len(tried)
    for _ in range(5):
        assert not ann.sync()["behind"]
    assert len(tried) == attempts, "without a new judgement there is no new attempt"
    monkeypatch.undo()
    ann.judge()
    until(lambda: ann.settle()["problem"] is None, "the model")
    assert ann.last["model_round"] == 6


def test_a_first_model_that_fails_is_tried_again(ann: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch)
    answer = ann.settle()
    assert (answer["order"], answer["problem"]) == ([], "no memory left")
    assert "no memory left" in ann.post("why", doc_id="d1")["sentence"]
    monkeypatch.undo()
    until(lambda: ann.sync()["order"], "the model")


def test_a_new_process_goes_on_from_the_log(ann: Card, looping: Campaign) -> None:
    ann.settle()
    for _ in range(6):
        ann.judge()
    with serving(JudgingService(looping.directory)) as client:
        card = Card(client, "ann")
        assert card.settle()["model_round"] == 6 == looping.store.judgements.counts()["logged"]
        chosen = looping.loop.next_round("1").selections
        assert card.holding == [way.doc_id for way in chosen][: len(card.holding)]


def test_a_round_that_is_made_already_is_not_made_twice(looping: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    real, made, go = ActiveLearning.next_explainable_round, [], threading.Event()

    def learn(campaign: Campaign, query_id: str) -> Any:
        made.append(query_id)
        go.wait(PATIENCE)
        return real(campaign, query_id)

    monkeypatch.setattr(ActiveLearning, "next_explainable_round", learn)
    learning = Trainer(looping.directory)
    learning.request("1")
    until(lambda: made, "the first round")
    learning.request("1")  # as a card does that asks again meanwhile
    go.set()
    learning.request("2")
    until(lambda: learning.latest("1") and learning.latest("2"), "the rounds")
    until(lambda: learning._current is None and not learning._requested, "the end of all requests")
    learning.stop()
    assert sorted(made) == ["1", "2"]


# --- search -----------------------------------------------------------------------------------------


def test_search_take_and_judge(ann: Card, looping: Campaign) -> None:
    ann.settle()
    found = ann.post("search", words="ducks shock")["documents"]
    assert set(found[0]) == {"doc_id", "title", "snippet", "judged", "relevance"}
    assert "\x02ducks\x03" in found[0]["snippet"]
    wanted = next(f["doc_id"] for f in found if f["doc_id"] not in ann.holding[:1])
    taken = ann.post("take", doc_id=wanted)
    assert taken["doc_id"] == wanted
    assert taken["text"]
    before = ann.holding[0]
    ann.holding = [wanted, *(d for d in ann.holding if d != wanted)]
    ann.settle()  # a newer order comes while it is on screen
    assert ann.holding[0] == wanted
    assert ann.judge() == wanted
    row = looping.store.judgements.table().iloc[-1]
    assert (row["doc_id"], row["strategy"]) == (wanted, "search")
    assert ann.holding[0] != wanted
    assert before not in set(looping.store.judgements.table()["doc_id"])
    again = {f["doc_id"]: (f["judged"], f["relevance"]) for f in ann.post("search", words="ducks")["documents"]}
    assert again[wanted] == (True, 1)
    assert sum(judged for judged, _ in again.values()) == 1


def test_search_outside_the_pool_of_a_topic_that_has_one(ann: Card, looping: Campaign) -> None:
    looping.settings.set_loop(mode="pool")
    looping.people.pools.add("depth", depth=3)
    taken = ann.post("take", doc_id="d55")["doc_id"]
    answer = ann.post("sync", decisions=[judged(taken)], holding=[], want=5)
    assert answer["refused"] == []
    assert looping.store.judgements.table()["strategy"].tolist() == ["search"]
    assert answer["progress"]["topic"] == {"judged": 0, "pool": 3}


def test_a_take_is_refused_in_words(client: TestClient, ann: Card) -> None:
    bob = Card(client, "bob")
    bob.settle()
    refused = ann.post("take", 400, doc_id=bob.holding[0])["error"]
    assert "has been judged or is open on another annotator's screen" in refused
    assert ann.post("take", 400, doc_id="none")["error"] == "document 'none' is not in the campaign"
    assert "expected at least one word to find, found 'NOT'" in ann.post("search", 400, words="NOT")["error"]
    for words in ('"', "*", "a AND (", "title:", "-", 'NEAR("x"', "^", "a OR", "NOT a", "\x02", "ducks -ponds"):
        ann.client.headers[TOKEN_HEADER] = ann.token
        answer = ann.client.post("/api/judging/search", json={"query_id": "1", "words": words})
        assert answer.status_code in (200, 400), words


def test_search_says_when_there_is_more(ann: Card) -> None:
    answer = ann.post("search", words="text")
    assert (len(answer["documents"]), answer["more"]) == (30, True)
    answer = ann.post("search", words="ducks")
    assert (len(answer["documents"]), answer["more"]) == (12, False)
    assert ann.post("search", words="dragon") == {"documents": [], "more": False, "ranked": None}


# --- why --------------------------------------------------------------------------------------------


def test_why_names_terms_for_and_against(ann: Card) -> None:
    ann.settle()
    assert "No relevant document is known yet" in ann.post("why", doc_id=ann.holding[0])["sentence"]
    for _ in range(12):
        ann.judge()
    duck = dict(ann.post("why", doc_id="d55")["terms"])
    air = dict(ann.post("why", doc_id="d56")["terms"])
    assert max(duck, key=duck.__getitem__) in ("ducks", "ponds", "and")
    assert duck["ducks"] > 0 > air["air"]
    assert all(-1 <= share <= 1 for share in [*duck.values(), *air.values()])
    ann.post("why", 400, doc_id="none")


def test_why_lists_no_terms_of_a_document_that_was_drawn_at_random(ann: Card, looping: Campaign) -> None:
    looping.settings.set_loop(control=1.0)
    judged_by_hand(looping, ["d0", "d1"])
    ann.settle()
    answer = ann.post("why", doc_id=ann.holding[0])
    assert answer["terms"] == []
    assert answer["sentence"] == (
        "Drawn at random, not chosen by the model. Random draws estimate how many relevant documents are still missing."
    )


def test_why_makes_nobody_wait_for_a_model(ann: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ActiveLearning.next_explainable_round

    def learn(campaign: Campaign, query_id: str) -> Any:
        assert threading.current_thread().name == "learner"
        return real(campaign, query_id)

    monkeypatch.setattr(ActiveLearning, "next_explainable_round", learn)
    assert ann.post("why", doc_id="d1") == {"sentence": "The model is being trained.", "terms": [], "behind": True}
    until(lambda: not ann.post("why", doc_id="d1").get("behind"), "the model")
    assert "No relevant document is known yet" in ann.post("why", doc_id="d1")["sentence"]


def test_why_as_far_as_the_manager_lets_annotators_know(ann: Card, looping: Campaign) -> None:
    looping.settings.set_loop(mode="pool")
    assert "pool" in ann.post("why", doc_id="d1")["sentence"]
    looping.settings.set_loop(mode="loop", explain="nothing")
    answer = ann.post("why", doc_id="d1")
    assert answer["terms"] == []
    assert "has hidden why documents are chosen" in answer["sentence"]
    ann.post("why", 400, query_id_="1", doc_id="")


def test_uuid_again_in_the_loop_changes_nothing(ann: Card, looping: Campaign) -> None:
    ann.settle()
    doc_id = ann.holding.pop(0)
    item = judged(doc_id, 1) | {"uuid": str(uuid4())}
    for _ in range(3):
        assert ann.sync(item)["saved"] == [item["uuid"]]
        ann.settle()
    assert looping.store.judgements.counts()["logged"] == 1


def test_decisive_pairs_lead_from_topic_to_topic(ann: Card, looping: Campaign, tmp_path: Path) -> None:
    (tmp_path / "b.run").write_text("".join(f"{q} Q0 d{i * 7 % SIZE} {i} {-i} b\n" for q in "12" for i in range(1, 6)))
    looping.imports.import_files(runs=[tmp_path / "b.run"])
    looping.settings.set_loop(by="decisive", measure="nDCG@5")
    ann.settle()
    assert len(ann.holding) == 10, "the first five of each run"
    assert ann.last["chooser"][0] == "The next documents are those that best tell the systems apart."
    ann.holding, waiting = [], ann.holding
    answer = ann.settle(*(judged(d, int(relevant(d))) for d in waiting))
    assert (answer["order"], answer["next"], answer["across_topics"]) == ([], "2", True)
    second = Card(ann.client, "ann", "2")
    second.settle()
    assert sorted(second.holding) == sorted(f"d{i * 7}" for i in range(1, 6))
    assert post(ann.client, "why", query_id="2", doc_id="d7")["sentence"].startswith(
        "Its grade is among the most informative"
    )


def test_a_card_leaves_a_topic_that_the_stopping_rule_closes(client: TestClient, looping: Campaign) -> None:
    (drawn,) = looping.recall.across_topics.start(0.6, topics=1, family="fixed").topics
    other = {"1": "2", "2": "1"}[drawn]
    card = Card(client, "ann", other)
    assert looping.judging.topic_with_work("ann") == drawn
    judged_by_hand(looping, sorted([f"d{i}" for i in range(SIZE)], key=relevant, reverse=True), drawn)
    looping.recall.across_topics.calibrate()
    stop = 10  # 10 of 12 relevant documents: (2 / 12 + 1) / 2 is at most 0.6, and (3 / 12 + 1) / 2 is not
    assert "a topic that stops after 10 judgements is at least 40%" in looping.recall.across_topics.state().report
    card.settle()
    for _ in range(stop - 1):
        card.judge()
    assert len(card.holding) > 1
    held = card.holding[1:]
    card.judge()
    assert looping.settings.mode(other) == "closed"
    assert set(card.last["closed"]) >= set(held[:1])
    assert card.last["order"] == []
    assert len(looping.store.judgements.table(query_id=other)) == stop
    assert card.last["next"] is None  # the other topic is judged to the end
