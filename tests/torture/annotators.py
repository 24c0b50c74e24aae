"""Annotators as HTTP clients: they judge as the cards do, and keep what the server has not acknowledged."""

import http.client
import json
import random
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import uuid4

from annotate.auth.tokens import TOKEN_HEADER, Tokens, cookie_name
from annotate.card.server.document_payload import PREFIX
from annotate.card.server.wire import SENT
from collection import Campaign, Question
from collection.core.records import Role
from tests.helpers import PATIENCE, join

Decision = dict[str, Any]
AGAIN, LATE, REVISED = 0.1, 0.1, 0.1
"""Shares of decisions that are sent twice, that are sent after later ones, and that replace earlier ones."""
ANSWERED = 0.8
"""Share of the questions asked that an annotator answers, as on a page of before the others were added."""

MARKED = 0.3
"""Share of the judgements on generated answers with a marked passage."""


def cookie_of(campaign: Campaign, name: str, role: Role = "annotator") -> str:
    """The Cookie header of a person who is signed in; makes the account where there is none."""
    if name not in campaign.store.accounts.table()["name"].tolist():
        campaign.people.accounts.add(name, role)
    signer = Tokens(campaign.operations.server_state.secret(), campaign.id)
    return f"{cookie_name(campaign.id)}={signer.cookie(campaign.people.accounts.open_session(name))}"


class Annotator:
    """Judges one document after another; what the server has not answered stays in `outbox`, as in a browser.

    `sent` and `acknowledged` are decisions by uuid, `refused` the reasons by uuid, `troubles` what failed requests
    were answered: the status, 0 without an answer, and the sentence.
    """

    def __init__(self, port: int, name: str, cookie: str, seed: int, prefix: str = PREFIX) -> None:
        self.port, self.name, self.cookie, self.prefix = port, name, cookie, prefix
        self.random = random.Random(seed)
        self.token = ""
        self.outbox: list[Decision] = []
        self.late: list[Decision] = []
        self.sent: dict[str, Decision] = {}
        self.acknowledged: dict[str, Decision] = {}
        self.refused: dict[str, str] = {}
        self.troubles: list[tuple[int, str]] = []

    def step(self) -> bool:
        """Decide something and send it; whether the server answered."""
        raise NotImplementedError

    def deliver(self) -> bool:
        """Send everything that waits; whether the server answered."""
        self.outbox += self.late
        self.late = []
        return self.exchange(0) is not None

    def exchange(self, want: int) -> dict[str, Any] | None:
        """Send what waits, and ask for `want` more; the answer."""
        raise NotImplementedError

    def take(self, decision: Decision) -> None:
        """Put a decision into the outbox, perhaps behind later ones, perhaps with one that was sent before."""
        decision = {"uuid": str(uuid4()), "seconds": 1.0, **decision}
        self.sent[decision["uuid"]] = decision
        if self.random.random() < LATE:
            self.late.append(decision)
            return
        self.outbox.append(decision)
        if self.acknowledged and self.random.random() < AGAIN:
            self.outbox.append(self.random.choice(list(self.acknowledged.values())))
        if len(self.late) > 2:
            self.outbox.append(self.late.pop(0))

    def post(self, route: str, **payload: Any) -> dict[str, Any] | None:
        """Post as a card does, with a new token where the old one has expired; None if that fails."""
        try:
            status, answer = self._request(route, payload)
            if status == 401:
                status, answer = self._request("token", {"annotator": self.name})
                if status == 200:
                    self.token = answer["token"]
                    status, answer = self._request(route, payload)
        except (OSError, http.client.HTTPException):
            self.troubles.append((0, ""))
            return None
        if status == 200:
            return answer
        self.troubles.append((status, answer.get("error", "")))
        return None

    def _request(self, route: str, payload: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        headers = {TOKEN_HEADER: self.token, "Cookie": self.cookie, "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", f"{self.prefix}/{route}", json.dumps(payload), headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        finally:
            connection.close()
        try:
            return answer.status, json.loads(body)
        except ValueError:  # no route answered
            return answer.status, {"error": body}

    def settle(self, answer: dict[str, Any]) -> None:
        """Take out of the outbox what the server has answered."""
        for uuid in answer["saved"]:
            self.acknowledged[uuid] = self.sent[uuid]
        self.refused |= {each["uuid"]: each["reason"] for each in answer["refused"]}
        answered = {*answer["saved"], *self.refused}
        self.outbox = [decision for decision in self.outbox if decision["uuid"] not in answered]


class Grader(Annotator):
    """Grades documents, in the pool or in the loop, and answers further questions, if only most of them.

    In a task of generated answers, it marks passages too, and goes on to what was loaded ahead.
    """

    def __init__(self, *arguments: Any, questions: Sequence[Question] = (), prefix: str = PREFIX) -> None:
        super().__init__(*arguments, prefix=prefix)
        self.questions = questions
        self.topic: str | None = None
        self.queue: list[str] = []
        self.tried: list[str] = []
        self.ahead: list[tuple[str, list[str]]] = []
        self.rounds: set[tuple[str | None, int]] = set()
        """Topics and rounds of the model from which documents came."""

    def step(self) -> bool:
        if self.topic is None:
            answer = self.post("topics")
            if answer is None:
                return False
            ids = [topic["query_id"] for topic in answer["topics"]]
            self.topic = self.random.choice(ids)
        if self.queue and len(self.outbox) < 20:
            self.take(self._judgement(self.topic, self.queue.pop(0)))
        if not self.queue and self.ahead:
            self.topic, self.queue = self.ahead.pop(0)
        if self.acknowledged and (not self.queue or self.random.random() < REVISED):
            earlier = self.random.choice(list(self.acknowledged.values()))
            self.take(self._judgement(earlier["query_id"], earlier["doc_id"]))
        return self.exchange(12 - len(self.queue)) is not None

    def exchange(self, want: int) -> dict[str, Any] | None:
        asked = {"questions": [question.name for question in self.questions]} if self.questions else {}
        ahead = {"ahead": [query_id for query_id, _ in self.ahead]} if self.ahead else {}
        decisions, want = self.outbox[: SENT.items], max(want, 0)
        answer = self.post(
            "sync", decisions=decisions, query_id=self.topic, holding=self.queue, want=want, **asked, **ahead
        )
        if answer is None:
            return None
        self.settle(answer)
        fresh = [document["doc_id"] for document in answer["documents"]]
        closed = set(answer["closed"])
        kept = [doc_id for doc_id in self.queue if doc_id not in closed]
        self.queue = answer["order"] if answer.get("order") else kept + fresh
        for each in answer.get("ahead", ()):
            self.ahead.append((each["query_id"], [document["doc_id"] for document in each["documents"]]))
        if answer.get("model_round"):
            self.rounds.add((self.topic, answer["model_round"]))
        if not self.queue and want > 0 and not answer.get("behind"):
            self.topic = answer.get("next") or self.topic
        return answer

    def _judgement(self, query_id: str, doc_id: str) -> Decision:
        grade = self.random.randrange(4 if self.prefix == PREFIX else 3)
        answers = {
            question.name: self._answer(question)
            for question in self.questions
            if question.is_asked(grade) and self.random.random() < ANSWERED
        }
        said: Decision = {"query_id": query_id, "doc_id": doc_id, "kind": "graded", "relevance": grade}
        if self.prefix != PREFIX and self.random.random() < MARKED:
            said["passages"] = [[0, self.random.randrange(1, 5)]]
        return said | ({"answers": answers} if answers else {})

    def _answer(self, question: Question) -> int | str | list[str]:
        answers = list(question.answers)
        if question.kind != "tags":
            return self.random.choice(answers)
        return [tag for tag in answers if self.random.random() < 0.5]  # the log has the order of the question


class Chooser(Annotator):
    """Decides on topics: chooses from lists, or between two documents."""

    def __init__(self, task: Literal["list", "preference"], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.task = task
        self.units: dict[str, dict[str, Any]] = {}

    def step(self) -> bool:
        if self.units and len(self.outbox) < 20:
            query_id = next(iter(self.units))
            unit = self.units[query_id]
            if self.task == "list":
                del self.units[query_id]
                self.take(self._choice(query_id, [document["doc_id"] for document in unit["documents"]]))
            elif pair := unit["plan"].pop("next", {}).get("pair"):
                self.take(self._preference(query_id, *pair))
        if self.acknowledged and (not self.units or self.random.random() < REVISED):
            earlier = self.random.choice(list(self.acknowledged.values()))
            if self.task == "list":
                self.take(self._choice(earlier["query_id"], earlier["shown"]))
            else:
                self.take(self._preference(earlier["query_id"], earlier["left"], earlier["right"]))
        return self.exchange(3 - len(self.units)) is not None

    def exchange(self, want: int) -> dict[str, Any] | None:
        answer = self.post(
            f"{self.task}/sync",
            decisions=self.outbox[: SENT.items],
            holding=list(self.units),
            want=max(want, 0),
        )
        if answer is None:
            return None
        self.settle(answer)
        for query_id in answer["closed"]:
            self.units.pop(query_id, None)
        self.units |= {unit["topic"]["query_id"]: unit for unit in answer["units"]}
        for query_id, plan in answer["plans"].items():
            if query_id in self.units:
                self.units[query_id]["plan"] = plan
        self.units = {
            query_id: unit for query_id, unit in self.units.items() if "plan" not in unit or not unit["plan"]["done"]
        }
        return answer

    def _choice(self, query_id: str, shown: Sequence[str]) -> Decision:
        liked = self.random.sample(list(shown), self.random.randrange(min(3, len(shown)) + 1))
        chosen = [doc_id for doc_id in shown if doc_id in liked]  # the log keeps the order of the list
        return {"query_id": query_id, "kind": "chosen", "shown": list(shown), "chosen": chosen}

    def _preference(self, query_id: str, left: str, right: str) -> Decision:
        kind = self.random.choice(["left", "right", "equal"])
        return {"query_id": query_id, "kind": kind, "left": left, "right": right}


@contextmanager
def judging(annotators: Sequence[Annotator], pause: float = 0.2) -> Iterator[None]:
    """Have the annotators judge at the same time, each after a `pause` in seconds, until the block ends."""
    over, failures = threading.Event(), []

    def judge(annotator: Annotator) -> None:
        try:
            while not over.wait(annotator.random.uniform(0, 2 * pause)):
                annotator.step()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=judge, args=(annotator,), name=annotator.name) for annotator in annotators]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            join(thread, f"the end of {thread.name}")
    assert not failures, failures


def rounds_of(annotators: Sequence[Annotator]) -> int:
    """Number of rounds of the model from which these annotators had documents."""
    return len(set().union(*(annotator.rounds for annotator in annotators if isinstance(annotator, Grader))))


def use_link(port: int, token: str) -> tuple[int, str]:
    """Sign in by a one-time link; the status and the page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/signin", urlencode({"token": token}), form)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def sentence_problems(troubles: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of the answers to failed requests, those that do not say in one sentence what is wrong."""
    return [
        (status, text)
        for status, text in dict.fromkeys(troubles)
        if status and not (re.fullmatch(r"[^\n]{20,300}", text) and "Traceback" not in text)
    ]
