"""Further questions about a document besides its grade: their definition, their form as JSON, and checks of answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from collection.core.characters import require_writable
from collection.core.errors import InputError, JudgementError
from collection.core.phrases import count, join, literal, plural
from collection.core.records import HIGHEST_GRADE, Answer, GradeScale, label_of, names_of, read_scale

QuestionKind = Literal["grades", "choice", "tags"]

QUESTION_KINDS: dict[QuestionKind, str] = {
    "grades": "one grade of",
    "choice": "one of",
    "tags": "any number of",
}
"""What is answered to a question of each kind: how many of its answers."""

RELEVANCE = "relevance"
"""Name of the grade in lists of questions, which no further question may have."""

MOST_QUESTIONS = 20
"""Maximum number of further questions of a campaign."""

MOST_ANSWERS = 20
"""Maximum number of answers of a question; a grade scale has one more, from 0 to 20."""

LONGEST_NAME = 40
"""Maximum number of characters of the name of a question or answer."""

LONGEST_SENTENCE = 300
"""Maximum number of characters of a question or of the sentence of an answer."""

TAG_SEPARATOR = "|"
"""Between tags where answers are written as text, and behind a single tag; alone, it confirms that no tag applies."""

EXAMPLE = '{"name": "credibility", "question": "How credible is it?", "grades": "0-3"}'

_SEPARATORS = {"name": "|,:\t", "answer": "|:\t"}
_NUMBER = re.compile(r"([0-9]{1,40})(?:\.0+)?")  # also as spreadsheets write whole numbers
_FIELDS = ("name", "question", "grades", "one_of", "tags", "required", "from", "to", "again")
_ANSWER_FIELDS: dict[str, QuestionKind] = {"grades": "grades", "one_of": "choice", "tags": "tags"}


@dataclass(frozen=True)
class Question:
    """A question about a document besides its grade.

    Attributes
    ----------
    name
        How the log and files name it: one line of up to 40 characters without ``|``, ``,``, ``:`` and tab.
    sentence
        What the annotator is asked.
    kind
        "grades" (one grade of its own scale), "choice" (exactly one answer), or "tags" (any number of them).
    answers
        Of "grades", grade -> sentence as in :class:`.GradeScale`; otherwise 2 to 20 names of answers -> their
        sentences, in order. A sentence may begin with a short label and a colon.
    required
        Whether it has to be answered; tags are answered with none of them too.
    required_topics
        If not empty, it has to be answered in these topics only, by their ``query_id``.
    asked_from, asked_to
        Lowest and highest grade of a document at which it is asked; None: no bound. It is never asked of a
        document that cannot be judged.
    again
        Whether judgements without an answer are handed out again to their annotators.

    Raises
    ------
    InputError
        A name, sentence, answer or bound is invalid.

    Examples
    --------
    >>> why = Question("exclusion", "Why is it excluded?", "choice", {"design": "Wrong design", "other": "Other"})
    >>> why.label("design"), why.is_asked(0), why.is_asked(None)
    ('Wrong design', True, False)
    """

    name: str
    sentence: str
    kind: QuestionKind
    answers: Mapping[Any, str] = field(hash=False)
    required: bool = True
    asked_from: int | None = None
    asked_to: int | None = None
    again: bool = False
    required_topics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_question_name(self.name)
        place = f"question {self.name!r}"
        _check_sentence(self.sentence, f"{place}: expected a sentence that asks it")
        if self.kind not in QUESTION_KINDS:
            raise InputError(f"{place}: expected a kind ({', '.join(QUESTION_KINDS)}), found {self.kind!r}")
        if not isinstance(self.answers, Mapping):
            raise InputError(f"{place}: expected answers with their sentences, found {literal(self.answers)}")
        if self.kind == "grades":
            GradeScale(self.answers, place)
        else:
            _check_answer_names(self.answers, place)
        for answer, text in self.answers.items():
            what = f"grade {answer}" if self.kind == "grades" else f"the answer {answer!r}"
            _check_sentence(text, f"{place}: expected a sentence of {what}")
        names = sorted(self.answers) if self.kind == "grades" else self.answers
        object.__setattr__(self, "answers", {name: self.answers[name].strip() for name in names})
        object.__setattr__(self, "sentence", self.sentence.strip())
        self._check_bounds(place)

    def _check_bounds(self, place: str) -> None:
        for name, grade in (("from", self.asked_from), ("to", self.asked_to)):
            if grade is not None and (type(grade) is not int or not 0 <= grade <= HIGHEST_GRADE):
                wanted = f'"{name}" as a grade from 0 to {HIGHEST_GRADE}'
                raise InputError(f"{place}: expected {wanted}, found {literal(grade)}")
        if self.asked_from is not None and self.asked_to is not None and self.asked_from > self.asked_to:
            raise InputError(f'{place}: expected "from" up to "to", found {self.asked_from} to {self.asked_to}')
        for name, flag in (("required", self.required), ("again", self.again)):
            if not isinstance(flag, bool):
                raise InputError(f'{place}: expected "{name}" as true or false, found {literal(flag)}')
        if not all(isinstance(topic, str) and topic for topic in self.required_topics):
            found = literal(list(self.required_topics))
            raise InputError(f'{place}: expected "required" as true, false or a list of topics, found {found}')

    def is_asked(self, relevance: int | None) -> bool:
        """Return whether the question is asked with this grade of a document; None: cannot judge."""
        return (
            relevance is not None
            and (self.asked_from is None or self.asked_from <= relevance)
            and (self.asked_to is None or relevance <= self.asked_to)
        )

    def is_required(self, query_id: str) -> bool:
        """Return whether the question has to be answered in a topic, where it is asked."""
        return self.required and (not self.required_topics or query_id in self.required_topics)

    def label(self, answer: int | str) -> str:
        """The label of a grade, answer or tag: its sentence up to the first colon; never empty."""
        return label_of(answer, self.answers[answer])

    def choice_label(self, answer: int | str) -> str:
        """The label of an answer that can be chosen; of grades with the grade."""
        label = self.label(answer)
        return f"{answer} \u00b7 {label}" if self.kind == "grades" else label

    def check(self, answer: object) -> Answer:
        """Return an answer in its form, tags in the order of the question; JudgementError for any other value."""
        if self.kind == "tags":
            if isinstance(answer, str) or not isinstance(answer, Sequence):
                raise JudgementError(f"expected a list of tags of {self.name!r}, found {literal(answer)}")
            for tag in answer:
                if not isinstance(tag, str) or tag not in self.answers:
                    raise JudgementError(f"expected tags of {self.name!r} ({join(self.answers)}), found {literal(tag)}")
            return tuple(tag for tag in self.answers if tag in answer)
        is_answer = type(answer) is int if self.kind == "grades" else isinstance(answer, str)
        if not is_answer or answer not in self.answers:
            what = "a grade" if self.kind == "grades" else "an answer"
            raise JudgementError(
                f"expected {what} of {self.name!r} ({', '.join(map(str, self.answers))}), found {literal(answer)}"
            )
        return answer  # type: ignore[return-value]

    def read(self, written: Answer) -> Answer:
        """Return the answer that a file states by names, labels or sentences, in any case.

        Raises JudgementError for an unknown answer, and for a label that several answers share.

        >>> why = Question("why", "Why?", "tags", {"design": "Wrong design", "lang": "Language"}, False)
        >>> why.read("Language|design"), why.read(())
        (('design', 'lang'), ())
        """
        by_text = names_of(self.answers) | {str(name).casefold(): name for name in self.answers}
        several = written.split(TAG_SEPARATOR) if isinstance(written, str) and self.kind == "tags" else written
        if isinstance(several, tuple | list):
            texts = [text.strip() for text in several if text.strip()]
            return self.check([by_text.get(text.casefold(), text) for text in texts])
        return self.check(by_text.get(str(several).strip().casefold(), several))

    def to_json(self) -> dict[str, Any]:
        """The question as an object of a file with questions; fields with their default values are left out.

        >>> Question("tags", "Which apply?", "tags", {"a": "a", "b": "b"}, required=False).to_json()
        {'name': 'tags', 'question': 'Which apply?', 'tags': ['a', 'b'], 'required': False}
        """
        written: dict[str, Any] = {"name": self.name, "question": self.sentence}
        key = next(name for name, kind in _ANSWER_FIELDS.items() if kind == self.kind)
        if self.kind == "grades":
            ends = f"{min(self.answers)}-{max(self.answers)}"
            is_generic = read_scale(ends) == GradeScale(self.answers)
            written[key] = ends if is_generic else {str(grade): text for grade, text in self.answers.items()}
        else:
            is_list = all(name == text for name, text in self.answers.items())
            written[key] = list(self.answers) if is_list else dict(self.answers)
        required = list(self.required_topics) if self.required and self.required_topics else self.required
        others = (("required", required, True), ("from", self.asked_from, None), ("to", self.asked_to, None))
        written |= {name: value for name, value, usual in (*others, ("again", self.again, False)) if value != usual}
        return written


def check_question_name(name: object) -> None:
    """Raise InputError unless a further question may have this name.

    >>> check_question_name("credibility")
    """
    _check_name(name, "name", "the name of a question")
    if str(name).casefold() in (RELEVANCE, "grade"):
        raise InputError(f"expected another name than that of the grade, found {name!r}")


def _check_name(name: object, role: str, what: str) -> None:
    separators = _SEPARATORS[role]
    is_name = isinstance(name, str) and name.strip() == name and name.isprintable() and 0 < len(name) <= LONGEST_NAME
    if not is_name or any(c in separators for c in str(name)):
        without = " and ".join(repr(c) for c in separators if c.isprintable())
        hint = "; a longer label, or one with these, needs a name" if role == "answer" else ""
        raise InputError(
            f"expected {what} as one line of 1 to {LONGEST_NAME} characters without {without}{hint}, "
            f"found {literal(name)}"
        )
    require_writable(name, what)


def _check_sentence(text: object, wanted: str) -> None:
    if not isinstance(text, str) or not text.strip() or not text.strip().isprintable() or len(text) > LONGEST_SENTENCE:
        found = (
            count(len(text), "character") if isinstance(text, str) and len(text) > LONGEST_SENTENCE else literal(text)
        )
        raise InputError(f"{wanted}, as one line of at most {LONGEST_SENTENCE} characters, found {found}")
    require_writable(text, wanted)


def _check_answer_names(answers: Mapping[Any, str], place: str) -> None:
    if not 2 <= len(answers) <= MOST_ANSWERS:
        raise InputError(f"{place}: expected 2 to {MOST_ANSWERS} answers, found {len(answers)}")
    folded = set()
    for name in answers:
        _check_name(name, "answer", f"the name of an answer of {place}")
        if name.isdecimal() or _NUMBER.fullmatch(name):
            raise InputError(
                f"{place}: expected a name of the answer besides a number, found {name!r}; begin it with a letter"
            )
        if name.casefold() in folded:
            raise InputError(f"{place}: found the answer {name!r} twice")
        folded.add(name.casefold())


def read_question(value: object) -> Question:
    """Read a question from an object of a file with questions, such as :meth:`Question.to_json` makes.

    Raises :class:`InputError`.

    >>> read_question({"name": "credibility", "question": "How credible is it?", "grades": "0-3", "from": 1}).kind
    'grades'
    """
    if not isinstance(value, Mapping):
        raise InputError(f"questions: expected an object such as {EXAMPLE}, found {literal(value)}")
    place = f"question {value.get('name')!r}"
    if unknown := [name for name in value if name not in _FIELDS]:
        raise InputError(f"{place}: expected the fields {join(_FIELDS)}, found {unknown[0]!r}")
    kinds = [name for name in _ANSWER_FIELDS if name in value]
    if len(kinds) != 1:
        raise InputError(
            f'{place}: expected exactly one of "grades", "one_of" and "tags", found {join(kinds) if kinds else "none"}'
        )
    given = value[kinds[0]]
    if kinds[0] == "grades":
        given = _read_grades(given, place)
    elif isinstance(given, list):
        if len(set(map(str, given))) < len(given):
            raise InputError(f"{place}: expected each answer once, found {literal(given)}")
        given = (
            {name: name for name in given if isinstance(name, str)} if all(isinstance(n, str) for n in given) else given
        )
    required = value.get("required", True)
    is_listed = isinstance(required, list) and len(required) > 0
    return Question(
        value.get("name", ""),
        value.get("question", ""),
        _ANSWER_FIELDS[kinds[0]],
        given,
        True if is_listed else required,
        value.get("from"),
        value.get("to"),
        value.get("again", False),
        tuple(required) if is_listed else (),
    )


def _read_grades(given: object, place: str) -> Mapping[int, str]:
    scale = read_scale(given) if isinstance(given, str) else None
    if scale is not None:
        return scale.sentences
    if isinstance(given, Mapping) and all(isinstance(g, str) and g.isdecimal() and g.isascii() for g in given):
        return {int(grade): sentence for grade, sentence in given.items()}
    raise InputError(f'{place}: expected "grades" as "0-3" or as {{"0": "Sentence", ...}}, found {literal(given)}')


def parse_answer_lines(text: str, kind: QuestionKind) -> dict[Any, str]:
    r"""Parse the answers of a question that somebody typed, one a line: ``NAME: SENTENCE``, or a label alone.

    For grades, ``0-3`` also gives a whole scale. Raises :class:`InputError` for a line that is no answer, or the second
    of one name.

    >>> parse_answer_lines("population: Wrong population\nOther", "choice")
    {'population': 'Wrong population', 'Other': 'Other'}
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if kind == "grades" and len(lines) == 1 and (scale := read_scale(lines[0])) is not None:
        return scale.sentences
    answers: dict[Any, str] = {}
    for line in lines:
        name, separator, sentence = (part.strip() for part in line.partition(":"))
        if kind == "grades" and not (name.isdecimal() and name.isascii()):
            raise InputError(f"answers: expected 0-3, or lines such as 0: Not credible, found {line!r}")
        if separator and not sentence:
            raise InputError(f"answers: expected a sentence behind the colon, found {line!r}")
        key = int(name) if kind == "grades" else name
        if key in answers:
            raise InputError(f"answers: expected each answer once, found {name!r} twice")
        answers[key] = sentence or (f"Grade {name}" if kind == "grades" else name)
    return answers


def write_answer_lines(question: Question) -> str:
    """The answers of a question as :func:`parse_answer_lines` reads them."""
    written = question.to_json()
    if isinstance(written.get("grades"), str):
        return str(written["grades"])
    return "\n".join(name if name == text else f"{name}: {text}" for name, text in question.answers.items())


def read_questions(value: object) -> tuple[Question, ...]:
    """Read the questions of a campaign from a list of objects, as :func:`read_question` reads each.

    Raises :class:`InputError`, also for too many questions and for two of one name.
    """
    if not isinstance(value, list):
        raise InputError(f"questions: expected a list of objects such as [{EXAMPLE}], found {literal(value)}")
    questions = tuple(map(read_question, value))
    check_questions(questions)
    return questions


def check_questions(questions: Sequence[Question]) -> None:
    """Raise InputError if there are too many questions, or two whose names differ in case only."""
    if len(questions) > MOST_QUESTIONS:
        raise InputError(f"questions: expected at most {MOST_QUESTIONS}, found {len(questions)}")
    names = [question.name.casefold() for question in questions]
    for question in questions:
        if names.count(question.name.casefold()) > 1:
            raise InputError(f"questions: expected different names, found {question.name!r} twice")


def describe_bounds(question: Question) -> str:
    """The grades at which a question is asked, in words.

    >>> describe_bounds(Question("why", "Why?", "choice", {"a": "A", "b": "B"}, asked_from=1))
    'grades from 1'
    """
    low, high = question.asked_from, question.asked_to
    if low is None and high is None:
        return "every grade"
    if low == high:
        return f"grade {low}"
    return f"grades up to {high}" if low is None else f"grades from {low}{'' if high is None else f' to {high}'}"


def describe_question(question: Question) -> str:
    """A question in one line: its name, what it asks, how and when it is answered.

    >>> describe_question(Question("tags", "Which apply?", "tags", {"a": "A", "b": "B"}, required=False, asked_from=1))
    'tags: "Which apply?" Any number of a, b; grades from 1; optional'
    """
    how = QUESTION_KINDS[question.kind].capitalize()
    answers = ", ".join(map(str, question.answers))
    only = question.required_topics
    more = f"; required in {plural(len(only), 'topic')} {join(only)}" if only else ""
    more = more if question.required else "; optional"
    again = "; missing answers are handed out again" if question.again else ""
    return f'{question.name}: "{question.sentence}" {how} {answers}; {describe_bounds(question)}{more}{again}'


def describe_answer(answer: Answer, question: Question | None = None) -> str:
    """An answer in words: its label, or the labels of all tags; those that the question does not have as they are.

    >>> tags = Question("tags", "Which apply?", "tags", {"a": "Review", "b": "Protocol"})
    >>> describe_answer(("a", "c"), tags), describe_answer((), tags), describe_answer(2)
    ('Review, c', 'none', '2')
    """
    several = answer if isinstance(answer, tuple) else (answer,)
    labels = [question.label(each) if question and each in question.answers else str(each) for each in several]
    return ", ".join(labels) or "none"


def find_missing(
    questions: Iterable[Question], relevance: int | None, answers: Mapping[str, Answer], query_id: str
) -> list[Question]:
    """The questions required in a topic that are asked with this grade and have no answer; None: cannot judge."""
    required = (each for each in questions if each.is_required(query_id))
    return [each for each in required if each.is_asked(relevance) and each.name not in answers]


def kind_of(answer: object) -> QuestionKind | None:
    """The kind of question that a value may answer, also of a question that is not known; None if it answers none.

    >>> kind_of(3), kind_of("population"), kind_of(("review",)), kind_of(-1), kind_of(0.5)
    ('grades', 'choice', 'tags', None, None)
    """
    if isinstance(answer, tuple | list):
        return "tags" if len(answer) <= MOST_ANSWERS and all(map(_is_answer_name, answer)) else None
    if type(answer) is int:
        return "grades" if 0 <= answer <= HIGHEST_GRADE else None
    return "choice" if _is_answer_name(answer) else None


def read_answer(answer: object) -> Answer:
    """An answer to a question that is not known, with a tuple of tags; JudgementError if it answers none."""
    if kind_of(answer) is None:
        raise JudgementError(f"expected a grade, the name of an answer or a list of tags, found {literal(answer)}")
    return tuple(answer) if isinstance(answer, list) else answer  # type: ignore[return-value]


def _is_answer_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name) <= LONGEST_NAME
        and name.isprintable()
        and name.strip() == name
        and not any(c in _SEPARATORS["answer"] for c in name)
    )


def unordered(answer: Answer) -> Answer | frozenset[str]:
    """An answer for comparison: tags without their order, which a change of the question may have changed.

    >>> unordered(("a", "b")) == unordered(("b", "a")), unordered(2)
    (True, 2)
    """
    return frozenset(answer) if isinstance(answer, tuple) else answer


def write_answer(answer: Answer) -> str:
    """An answer as text, as tables have it; :func:`parse_answer` reads it.

    >>> write_answer(2), write_answer("population"), write_answer(("review", "protocol")), write_answer(("review",))
    ('2', 'population', 'review|protocol', 'review|')
    >>> write_answer(())
    '|'
    """
    if not isinstance(answer, tuple):
        return str(answer)
    return TAG_SEPARATOR.join(answer) + ("" if len(answer) > 1 else TAG_SEPARATOR)


def parse_answer(text: str, question: Question | None = None) -> Answer:
    """Read an answer from text; without its question, a single tag needs a ``|``, or it is the answer to a choice.

    >>> parse_answer("2"), parse_answer("2.0"), parse_answer("review"), parse_answer("review|"), parse_answer("|")
    (2, 2, 'review', ('review',), ())
    """
    if (question is not None and question.kind == "tags") or TAG_SEPARATOR in text:
        return tuple(tag for part in text.split(TAG_SEPARATOR) if (tag := part.strip()))
    number = None if question is not None and question.kind == "choice" else _NUMBER.fullmatch(text)
    return int(number[1]) if number else text


def parse_answers(written: object) -> dict[str, Answer]:
    """Read the answers of a decision, by question, from the JSON of the log; {} for null.

    >>> parse_answers('{"credibility": 3, "tags": ["review"]}')
    {'credibility': 3, 'tags': ('review',)}
    """
    if not isinstance(written, str):  # the null of a text column with some values is a float
        return {}
    answers = json.loads(written)
    return {name: tuple(given) if isinstance(given, list) else given for name, given in answers.items()}
