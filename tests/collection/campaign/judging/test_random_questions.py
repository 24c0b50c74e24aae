"""Random sequences of decisions while questions are changed and removed: nothing is lost, doubled or misplaced."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from collection import Campaign, Judgement, Question
from collection.core.errors import InputError, JudgementError
from collection.core.records import Answer
from tests.helpers import cases, fill, first_of

TOPICS, DOCUMENTS, PEOPLE = ("1", "2"), tuple(f"d{n}" for n in range(6)), ("ann", "bob", "cat")
STEPS = 50
QUESTIONS = (
    Question("trust", "How credible is it?", "grades", {grade: f"Grade {grade}" for grade in range(12)}, asked_from=1),
    Question("why", "Why not?", "choice", {"old": "Too old", "short": "Too short", "other": "Other"}, asked_to=0),
    Question("tags", "Which apply?", "tags", {"a": "A", "b": "B", "c": "C"}),
    Question("style", "How is it written?", "choice", {"plain": "Plain", "odd": "Odd"}, required=False, asked_from=2),
)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign whose pairs are judged by two annotators."""
    directory = tmp_path_factory.mktemp("random") / "campaign"
    with Campaign.create(directory) as campaign:
        fill(campaign, TOPICS, DOCUMENTS)
        campaign.people.assignments.update(annotators=2)
    return directory


@dataclass
class Annotator:
    """A person with an open page, which asks the questions that there were when it was opened."""

    name: str
    asks: tuple[Question, ...] = ()
    topic: str = "1"
    holding: list[str] = field(default_factory=list)


class Sequence:
    """A random sequence on a campaign, and what its log has to be."""

    def __init__(self, campaign: Campaign, seed: int) -> None:
        self.campaign, self.random, self.seed = campaign, random.Random(seed), seed
        self.people = [Annotator(name) for name in PEOPLE]
        self.said: list[tuple[str, str, str, str, str, int | None, dict[str, Answer]]] = []
        self.numbers = 0

    def uuid(self) -> str:
        self.numbers += 1
        return str(UUID(int=self.numbers))

    def answers(self, asked: tuple[Question, ...], grade: int, share: float) -> dict[str, Any]:
        """Answers to a share of the questions that are asked at a grade."""
        answers: dict[str, Any] = {}
        for question in asked:
            if question.is_asked(grade) and self.random.random() < share:
                names = list(question.answers)
                tags = tuple(tag for tag in names if self.random.random() < 0.4)
                answers[question.name] = tags if question.kind == "tags" else self.random.choice(names)
        return answers

    def expect(self, judgement: Judgement) -> None:
        """The answers are logged as they were given, but tags in the order of their question."""
        answers = dict(judgement.answers)
        for question in self.campaign.settings.questions():
            tags = answers.get(question.name)
            if isinstance(tags, tuple) and _has(question, tags):
                answers[question.name] = tuple(tag for tag in question.answers if tag in tags)
        self.said.append((*judgement[:6], answers))

    def open_page(self) -> None:
        person = self.random.choice(self.people)
        person.asks, person.holding = self.campaign.settings.questions(), []
        person.topic = self.random.choice(TOPICS)

    def ask_for_work(self, person: Annotator) -> None:
        client = self.client(person)
        pairs = self.campaign.judging.next_pairs(person.name, person.topic, 3, person.holding, client=client)
        person.holding = [doc_id for doc_id in person.holding if doc_id not in pairs.closed]
        person.holding += [document.doc_id for document in pairs.documents]
        expected = self.incomplete(person.name, person.topic, {question.name for question in person.asks})
        assert set(pairs.again) <= expected
        if len(person.holding) < 3:  # so nothing else is left
            assert set(pairs.again) == expected

    def client(self, person: Annotator) -> Any:
        from collection.campaign.judging.judging import Client

        return Client(questions=[question.name for question in person.asks])

    def judge_on_a_page(self) -> None:
        person = self.random.choice(self.people)
        self.ask_for_work(person)
        if person.holding:
            doc_id, grade = person.holding.pop(0), self.random.randrange(4)
            answers = self.answers(person.asks, grade, 0.8)
            judgement = Judgement(self.uuid(), person.name, person.topic, doc_id, "graded", grade, answers=answers)
            self.save(judgement)
            if self.random.random() < 0.2:  # sent again
                assert self.campaign.judging.judge_many([judgement], leased_only=True).saved == [judgement.uuid]

    def save(self, judgement: Judgement) -> None:
        result = self.campaign.judging.judge_many([judgement], leased_only=True)
        assert (result.saved, result.refused) == ([judgement.uuid], [])
        self.expect(judgement)

    def undo(self) -> None:
        person = self.random.choice(self.people)
        log = self.campaign.store.judgements.table(annotator=person.name)
        log = log[log["counts_as"] == "judgement"]
        if len(log):
            row = log.iloc[self.random.randrange(len(log))]
            self.save(Judgement(self.uuid(), person.name, row["query_id"], row["doc_id"], "undone"))

    def cannot_judge(self) -> None:
        person = self.random.choice(self.people)
        self.ask_for_work(person)
        if person.holding:
            doc_id = person.holding.pop(0)
            self.save(Judgement(self.uuid(), person.name, person.topic, doc_id, "cannot judge", reason="broken"))

    def skip(self) -> None:
        person = self.random.choice(self.people)
        if person.holding:
            self.campaign.judging.skip_handed_out(person.name, [(person.topic, person.holding.pop())])

    def judge_by_script(self) -> None:
        """With all answers, or refused."""
        person, grade, uuid = self.random.choice(self.people), self.random.randrange(4), self.uuid()
        query_id, doc_id = self.random.choice(TOPICS), self.random.choice(DOCUMENTS)
        asked = self.campaign.settings.questions()
        answers = self.answers(asked, grade, self.random.choice([1, 0.7]))
        lacks = any(each.required and each.is_asked(grade) and each.name not in answers for each in asked)
        judgement = Judgement(uuid, person.name, query_id, doc_id, "graded", grade, answers=answers)
        if lacks:
            with pytest.raises(JudgementError, match="expected an answer to the question"):
                self.campaign.judging.judge(person.name, query_id, doc_id, grade, answers=answers, uuid=uuid)
        else:
            self.campaign.judging.judge(person.name, query_id, doc_id, grade, answers=answers, uuid=uuid)
            self.expect(judgement)

    def adjudicate(self) -> None:
        grade, uuid = self.random.randrange(4), self.uuid()
        query_id, doc_id = self.random.choice(TOPICS), self.random.choice(DOCUMENTS)
        answers = self.answers(self.campaign.settings.questions(), grade, 0.5)
        self.campaign.judging.judge("boss", query_id, doc_id, grade, adjudicate=True, answers=answers, uuid=uuid)
        self.expect(Judgement(uuid, "boss", query_id, doc_id, "graded", grade, answers=answers))

    def change_questions(self) -> None:
        """Some of the questions and answers in any order, perhaps with fewer: refused if one of those was given."""
        some = self.random.sample(QUESTIONS, self.random.randrange(len(QUESTIONS) + 1))
        changed, before = [], {question.name: question for question in self.campaign.settings.questions()}
        for question in some:
            names = list(question.answers)
            if question.kind != "grades":
                self.random.shuffle(names)
            answers = {name: question.answers[name] for name in names}
            if len(answers) > 2 and self.random.random() < 0.3:
                del answers[self.random.choice(list(answers))]
            again = self.random.random() < 0.5
            changed.append(replace(question, answers=answers, again=again))
        given = [answers for *_, answers in self.said]
        is_refused = any(
            before.get(question.name) != question
            and any(not _has(question, answers[question.name]) for answers in given if question.name in answers)
            for question in changed
        )
        if is_refused:
            with pytest.raises(InputError, match="which has to stay"):
                self.campaign.settings.set_questions(changed)
            assert {question.name: question for question in self.campaign.settings.questions()} == before
        else:
            self.campaign.settings.set_questions(changed)
            assert written(self.campaign.settings.questions()) == written(changed)
            with Campaign(self.campaign.directory) as other:  # which has nothing in a cache
                assert written(other.settings.questions()) == written(changed)

    def incomplete(self, annotator: str, query_id: str, among: set[str] | None = None) -> set[str]:
        """The documents whose judgement lacks an answer that is asked again, by what was said."""
        again = [each for each in self.campaign.settings.questions() if each.again and each.required]
        return {
            doc_id
            for (name, topic, doc_id), (grade, answers) in self.current().items()
            if (name, topic) == (annotator, query_id)
            and any(
                question.is_asked(grade) and question.name not in answers
                for question in again
                if among is None or question.name in among
            )
        }

    def current(self) -> dict[tuple[str, str, str], tuple[int | None, dict[str, Answer]]]:
        """The current judgement of each annotator and pair, by the last of what was said that counts."""
        log = self.campaign.store.judgements.table(current=False, columns=("uuid", "counts_as"))
        counts_as = dict(zip(log["uuid"], log["counts_as"], strict=True))
        last = {
            (name, *pair): (kind, grade, answers)
            for uuid, name, *pair, kind, grade, answers in self.said
            if counts_as[uuid] == "judgement"
        }
        return {key: (grade, answers) for key, (kind, grade, answers) in last.items() if kind != "undone"}

    def require_sound(self) -> None:
        """The log is what was said, in its order; what is missing and done follows from it."""
        log = self.campaign.store.judgements.table(current=False)
        fields = ("uuid", "annotator", "query_id", "doc_id", "kind", "relevance", "answers")
        rows = [
            tuple(row) for row in log[list(fields)].astype(object).where(log[list(fields)].notna(), None).to_numpy()
        ]
        assert rows == self.said
        asked, answered, missing = (Counter[tuple[str, str]]() for _ in range(3))
        for (name, *_), (grade, answers) in self.current().items():
            for question in self.campaign.settings.questions():
                if question.is_asked(grade):
                    asked[question.name, name] += 1
                    answered[question.name, name] += question.name in answers
                    missing[question.name, name] += question.required and question.name not in answers
        rows = self.campaign.progress.missing_answers.table().to_numpy().tolist()
        for place, expected in enumerate((asked, answered, missing), start=2):
            assert {(row[0], row[1]): row[place] for row in rows} == expected
        for person in self.people:
            for query_id in TOPICS:
                found = self.campaign.progress.missing_answers.find(query_id, person.name)
                assert set(found) == self.incomplete(person.name, query_id)
        with Campaign(self.campaign.directory) as other:  # which has nothing in a cache
            for person in self.people:
                for query_id in TOPICS:
                    standing = self.campaign.progress.annotator_standing(query_id, person.name).topic
                    assert standing == other.progress.standing(query_id, person.name)


def written(questions: Iterable[Question]) -> str:
    """Questions as text, since equal ones may have their answers in another order."""
    return json.dumps([question.to_json() for question in questions])


def _has(question: Question, answer: Answer) -> bool:
    return all(each in question.answers for each in (answer if isinstance(answer, tuple) else (answer,)))


@pytest.mark.parametrize("seed", first_of(range(cases(12, 300)), 3))
def test_random_sequences(original: Path, tmp_path: Path, seed: int) -> None:
    directory = tmp_path / "campaign"
    shutil.copytree(original, directory)
    with Campaign(directory) as campaign:
        sequence = Sequence(campaign, seed)
        steps = [
            *[sequence.judge_on_a_page] * 8, *[sequence.change_questions] * 2, *[sequence.open_page] * 2,
            sequence.undo, sequence.skip, sequence.judge_by_script, sequence.adjudicate, sequence.cannot_judge,
        ]  # fmt: skip
        for number in range(STEPS):
            sequence.random.choice(steps)()
            if number % 5 == 4:
                sequence.require_sound()
