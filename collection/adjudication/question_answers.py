"""Answers to a further question in place of grades, so that whatever takes judgements takes those of any question."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from collection.core.errors import InputError, require_known
from collection.core.phrases import join
from collection.core.questions import Question, kind_of
from collection.core.records import Answer

NOT_GIVEN = "not given"
"""Label of grade 0 of one answer to a choice, or of one tag; grade 1 is that it was given."""


@dataclass(frozen=True)
class QuestionAnswers:
    """The answers to a question, or one of them, as grades.

    Attributes
    ----------
    question
        The question.
    answers
        Its answers in their order, then others that were given to it before it was changed.
    answer
        The answer whose presence is the grade: 1 if it was given, 0 if not. None: all answers; those of a choice are
        then nominal, their places in `answers`.

    Examples
    --------
    >>> why = Question("why", "Why?", "choice", {"design": "Wrong design", "other": "Other"})
    >>> QuestionAnswers.of(why, ["lost"]).scale
    {0: 'Wrong design', 1: 'Other', 2: 'lost'}
    >>> QuestionAnswers.of(why, answer="other").scale
    {0: 'not given', 1: 'Other'}
    """

    question: Question
    answers: tuple[int | str, ...]
    answer: str | None = None

    @classmethod
    def of(cls, question: Question, given: Iterable[Answer] = (), answer: str | None = None) -> QuestionAnswers:
        """The answers of a question and the answers `given` to it, of which those of another kind are no answers.

        Raises
        ------
        InputError, UnknownNameError
            One answer is asked for of a question with grades, or the question has no such answer.
        """
        known = [each for each in given if kind_of(each) == question.kind]
        found = [each for one in known for each in (one if isinstance(one, tuple) else (one,))]
        answers = tuple(dict.fromkeys([*question.answers, *sorted(found)]))
        if question.kind == "grades":
            if answer is not None:
                raise InputError(f"question {question.name!r} has grades: expected no answer, found {answer!r}")
            return cls(question, tuple(sorted(answers)))
        if answer is not None:
            require_known(f"answer to {question.name!r}", list(map(str, answers)), answer)
        return cls(question, answers, answer)

    @property
    def is_nominal(self) -> bool:
        """Return whether the grades are names without an order."""
        return self.question.kind == "choice" and self.answer is None

    @property
    def name(self) -> str:
        """The question, with the answer if one was chosen.

        >>> QuestionAnswers.of(Question("tags", "Which?", "tags", {"a": "A", "b": "B"}), answer="a").name
        'tags: a'
        """
        return self.question.name if self.answer is None else f"{self.question.name}: {self.answer}"

    @property
    def scale(self) -> dict[int, str]:
        """The grades and their sentences or, of answers, their labels."""
        if self.answer is not None:
            return {0: NOT_GIVEN, 1: self.label(self.answer)}
        if self.question.kind == "grades":
            return {int(grade): self.question.answers.get(grade, str(grade)) for grade in self.answers}
        return {place: self.label(answer) for place, answer in enumerate(self.answers)}

    @property
    def labels(self) -> dict[int, str]:
        """The grades and their labels."""
        if self.question.kind == "grades" and self.answer is None:
            return {int(grade): self.label(grade) for grade in self.answers}
        return self.scale

    @property
    def level(self) -> int:
        """The lowest grade that counts as relevant: the second lowest one."""
        return sorted(self.scale)[1]

    def facts(self) -> dict[str, object]:
        """The question, and the answer if one was chosen, as plain data for a report."""
        return {"question": self.question.to_json(), **({} if self.answer is None else {"answer": self.answer})}

    def label(self, answer: int | str) -> str:
        """The label of an answer; one that the question no longer has is its own label."""
        return self.question.label(answer) if answer in self.question.answers else str(answer)

    def require_grades(self) -> None:
        """Raise InputError unless the answers are grades or one answer was chosen."""
        if self.question.kind != "grades" and self.answer is None:
            raise InputError(
                f"question {self.question.name!r} has no grades: choose one of its answers, "
                f"{join(map(str, self.answers), 'or')}"
            )

    def grade(self, answer: Answer | None) -> int | None:
        """The grade of an answer; None for a missing one, and for one to a question of another kind."""
        if answer is None or kind_of(answer) != self.question.kind:
            return None
        if isinstance(answer, tuple):
            return int(self.answer in answer)
        if isinstance(answer, int):
            return answer
        return self.answers.index(answer) if self.answer is None else int(answer == self.answer)

    def select(self, judgements: pd.DataFrame) -> pd.DataFrame:
        """The judgements with their answers as ``relevance``, without those that have a grade but no answer.

        A judgement without an answer is none of the question: it was not asked it, or has not answered it. "Cannot
        judge" stays.

        Parameters
        ----------
        judgements
            :data:`collection.core.frames.JUDGEMENTS` with ``answers``: dicts, question -> answer.
        """
        grades = pd.Series(
            [self.grade(answers.get(self.question.name)) for answers in judgements["answers"]],
            index=judgements.index,
            dtype="Int64",
        )
        stays = (judgements["kind"] != "graded") | grades.notna()
        return judgements.assign(relevance=grades.where(judgements["kind"] == "graded"))[stays].reset_index(drop=True)
