"""The routes of tasks of generated answers: their own campaigns, with the tokens of the campaign around them."""

from __future__ import annotations

import json

import pytest

from annotate.card.server.routes import JudgingService
from collection import Campaign
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.core.records import Document
from tests.conftest import card_client
from tests.helpers import add_answers, judged, post

pytestmark = pytest.mark.slow


def test_a_token_of_the_campaign_judges_in_a_task_prepared_while_the_server_runs(answered: Campaign) -> None:
    prefix = f"tasks/{NUGGET_ASSIGNMENT}"
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        for name in (prefix, "tasks/other"):
            assert post(client, f"{name}/topics", 404)["error"] == "this task is not prepared"
        answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
        topics = post(client, f"{prefix}/topics")["topics"]
        assert [topic["pool"] for topic in topics] == [2, 2, 2, 2]
        topic = topics[0]["query_id"]
        answer = post(client, f"{prefix}/sync", query_id=topic, want=9, holding=[])
        doc_id = answer["documents"][0]["doc_id"]
        assert answer["documents"][0]["title"] == "Air is fast."
        made = judged(doc_id, 2, query_id=topic)
        assert post(client, f"{prefix}/sync", decisions=[made])["saved"] == [made["uuid"]]
        assert post(client, "topics")["topics"][0]["pool"] == 0  # that of the documents
        answered.people.accounts.lock("ann")
        assert "your account is locked" in post(client, f"{prefix}/topics", 401)["error"]
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        assert task.store.judgements.table()["annotator"].tolist() == ["ann"]
    assert answered.store.judgements.table().empty


def test_a_nugget_comes_with_its_answer_and_only_passages_inside_it_are_kept(answered: Campaign) -> None:
    prefix = f"tasks/{NUGGET_ASSIGNMENT}"
    answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        sent = post(client, f"{prefix}/topics")
        topic = sent["topics"][0]
        assert sent["questions"][topic["asks"]] == ""
        answer = post(client, f"{prefix}/sync", query_id=topic["query_id"], want=9, holding=[])
        first, second = answer["documents"]
        text = first["text"]
        assert text == second["text"]
        assert [text[start:end] for start, end in first["sentences"]] == text.split("\n")
        assert (topic["title"], topic["description"], topic["narrative"]) == ("wing lift", "", "")
        places = [first["sentences"][1], [len(text) + 9, len(text) + 12]]
        made = judged(first["doc_id"], 2, query_id=topic["query_id"], passages=places)
        assert post(client, f"{prefix}/sync", decisions=[made])["saved"] == [made["uuid"]]
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        log = task.store.judgements.table()
        assert log["passages"].tolist() == [(tuple(places[0]),)]
        (quotes,) = task.corpus.view.quoted(log)["passages"]
        assert [quote["text"] for quote in quotes] == [text.split("\n")[1]]


def test_the_nuggets_of_an_answer_are_listed_as_of_the_last_update(answered: Campaign) -> None:
    prefix, nuggets = f"tasks/{NUGGET_ASSIGNMENT}", answered.answers.nuggets
    answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        topic = post(client, f"{prefix}/topics")["topics"][0]["query_id"]
        answer = post(client, f"{prefix}/sync", query_id=topic, want=9, holding=[])
        first = answer["documents"][0]
        assert [(each["doc_id"], each["title"]) for each in first["nuggets"]] == [
            ("1.n1.v1", "Air is fast."),
            ("1.n2.v1", "Pressure falls."),
        ]
        made = judged("1.n2.v1", 2, query_id=topic)
        nuggets.arrange("1", ["2", "1"], annotator="eva")
        nuggets.change("1", "2", annotator="eva", text="Pressure drops.")
        answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
        holding = [first["doc_id"]]
        sent = post(
            client, f"{prefix}/sync", query_id=topic, decisions=[made], holding=holding, version=answer["version"]
        )
        assert [each["title"] for each in sent["changed"][0]["nuggets"]] == ["Pressure drops.", "Air is fast."]


def test_adjudicators_read_what_annotators_marked_in_the_answer(answered: Campaign) -> None:
    prefix = f"tasks/{NUGGET_ASSIGNMENT}"
    answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        topic = task.store.corpus.topic_records()[0]
        for annotator, grade in (("ann", 2), ("bob", 0)):
            task.judging.judge(annotator, topic.query_id, "1.n1.v1", grade, passages=[(0, 9)] if grade else ())
    with card_client(JudgingService(answered.directory), answered, "eva", "manager") as client:
        (unit,) = post(client, f"{prefix}/adjudication/sync", want=9, holding=[])["units"]
    assert sorted(opinion["quotes"] for opinion in unit["opinions"]) == [[], [topic.description[:9]]]
    assert unit["documents"][0]["text"] == topic.description
    assert unit["documents"][0]["title"] == "Air is fast."


def test_a_cited_document_comes_with_the_answer_around_the_sentence(answered: Campaign) -> None:
    prefix = f"tasks/{SUPPORT}"
    answered.answers.tasks.prepare(SUPPORT)
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        sent = post(client, f"{prefix}/topics")
        topic = sent["topics"][1]
        assert topic["query_id"].endswith(".s2")
        assert (topic["description"], topic["narrative"]) == ("", "")
        assert sent["questions"] == ["wing lift", "heat flow"]
        assert [each["asks"] for each in sent["topics"]] == [0, 0, 0, 0, 1, 1, 1, 1]
        (document,) = post(client, f"{prefix}/sync", query_id=topic["query_id"], want=9, holding=[])["documents"]
        assert document["doc_id"] == "d1"
        assert document["answer"]["at"] == 1
        assert document["answer"]["sentences"][1] == topic["title"]
        assert "sentences" not in document
        assert document["best"] == []  # a text of one passage


@pytest.mark.parametrize("long_from", [3000, 10**6])
def test_passages_of_a_long_cited_document_are_in_what_is_shown_of_it(answered: Campaign, long_from: int) -> None:
    rain, best, other = "It rains on the plain. ", "The rag of bm25 says it.", "A dense rag."
    text = f"{rain * 100}{other} {rain * 100}{best} {rain * 600}"
    answered.store.corpus.add_documents([Document("d1", "Lift", text)], replace=True)
    answered.answers.tasks.prepare(SUPPORT)
    with answered.answers.tasks.open(SUPPORT) as task:
        task.settings.set_judging_page(long="passages", long_from=long_from)
        topic = next(topic for topic in task.store.corpus.topic_records() if "bm25" in topic.title)
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        answer = post(client, f"tasks/{SUPPORT}/sync", query_id=topic.query_id, want=1, holding=[])
    (document,) = answer["documents"]
    first, second = [text[start:end] for start, end in document["best"]]
    assert best in first
    assert other in second
    folded = document["excerpts"] or [(0, len(document["text"]), "")]
    assert all(any(a <= start and end <= b for a, b, _ in folded) for start, end in document["best"])


@pytest.mark.parametrize("name", [NUGGET_ASSIGNMENT, SUPPORT])
def test_no_route_of_a_task_names_a_system(answered: Campaign, name: str) -> None:
    sentences = answered.store.answers.sentences().assign(text="Air lifts wings.")
    answers = answered.store.answers.answers()[["run", "query_id", "team", "words", "stated_words"]]
    answered.store.answers.add(answers, sentences, replace=True)
    answered.answers.tasks.prepare(name)
    with card_client(JudgingService(answered.directory), answered, "eva", "manager") as client:
        sent = [post(client, f"tasks/{name}/topics")]
        topic = sent[0]["topics"][0]["query_id"]
        sent.append(post(client, f"tasks/{name}/sync", query_id=topic, want=9, holding=[], recent=True))
        pairs = [document["doc_id"] for document in sent[1]["documents"]]
        assert pairs
        for route in ("document", "why"):
            sent.append(post(client, f"tasks/{name}/{route}", query_id=topic, doc_id=pairs[0]))
        sent.append(post(client, f"tasks/{name}/guidelines"))
    said = json.dumps(sent)
    assert not [run for run in ("bm25-rag", "dense-rag", "silent") if run in said]
    assert "vital" not in said


@pytest.mark.parametrize("name", [NUGGET_ASSIGNMENT, SUPPORT])
def test_topics_that_come_next_are_sent_ahead_with_their_documents(answered: Campaign, name: str) -> None:
    route = f"tasks/{name}/sync"
    answered.answers.tasks.prepare(name)
    with answered.answers.tasks.open(name) as task:
        order = [topic.query_id for topic in task.store.corpus.topic_records()]
    with card_client(JudgingService(answered.directory), answered, "ann", "annotator") as client:
        answer = post(client, route, query_id=order[0], want=5, holding=[])
        sent = {each["query_id"]: [document["doc_id"] for document in each["documents"]] for each in answer["ahead"]}
        sizes = [len(answer["documents"]), *map(len, sent.values())]
        assert [order[0], *sent] == order[: len(sizes)]
        assert set(sizes) == {2 if name == NUGGET_ASSIGNMENT else 1}, "no answer is divided among annotators"
        assert all(each["all"] for each in answer["ahead"])
        assert ("answer" if name == SUPPORT else "sentences") in answer["ahead"][0]["documents"][0]
        held = list(sent)
        more = {"holding": [document["doc_id"] for document in answer["documents"]], "want": 9, "ahead": held}
        assert not {each["query_id"] for each in post(client, route, query_id=order[0], **more)["ahead"]} & {*held}
        following, (doc_id, *_) = next(iter(sent.items()))
        made = judged(doc_id, 2, query_id=following)
        again = post(client, route, query_id=following, decisions=[made], want=1, holding=sent[following])
        assert (again["saved"], again["closed"]) == ([made["uuid"]], [doc_id])
        assert again["progress"]["all"]["judged"] == 1
        made = judged(sent[following][-1] if name == NUGGET_ASSIGNMENT else doc_id, 1, query_id=following)
        moved = post(client, route, query_id=order[0], decisions=[made], want=0, holding=[])
        assert moved["saved"] == [made["uuid"]]
        assert moved["progress"]["all"]["judged"] == (2 if name == NUGGET_ASSIGNMENT else 1)


def test_answers_to_one_question_come_in_random_order(answered: Campaign) -> None:
    runs = tuple(f"rag-{number:02}" for number in range(20))
    add_answers(answered, runs)
    answers = answered.store.answers.answers().query("run in @runs and query_id == '1'")
    answered.answers.tasks.prepare(NUGGET_ASSIGNMENT)
    with answered.answers.tasks.open(NUGGET_ASSIGNMENT) as task:
        ids = [topic.query_id for topic in task.store.corpus.topic_records()]
    order = [f"1.a{number}" for number in answers["number"]]
    assert [query_id for query_id in ids if query_id in order] == order
    assert answers["run"].tolist() not in (list(runs), list(runs[::-1]))


def test_answers_to_one_question_follow_each_other_also_when_a_system_joins_later(answered: Campaign) -> None:
    tasks = answered.answers.tasks
    tasks.prepare(NUGGET_ASSIGNMENT)
    add_answers(answered, ("late-rag",))
    tasks.prepare(NUGGET_ASSIGNMENT)
    questions, topic = [], None
    with tasks.open(NUGGET_ASSIGNMENT) as task:
        while topic := task.judging.topic_with_work("ann", topic, wait=False):
            questions.append(topic.partition(".")[0])
            for pair in task.judging.next_pairs("ann", topic, 9).documents:
                task.judging.judge("ann", topic, pair.doc_id, 1)
    assert questions == ["1", "1", "1", "2", "2", "2"]
