"""A literature review: its question, criteria, stages and decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from collection.core.characters import one_line
from collection.core.errors import InputError
from collection.core.questions import Question
from collection.core.records import Answer, GradeScale, Topic

TITLE_ABSTRACT = "review"
"""Topic of the first stage, screening of titles and abstracts."""

FULL_TEXT = "full-text"
"""Topic of the second stage, screening of full texts."""

STAGES = {TITLE_ABSTRACT: "title and abstract", FULL_TEXT: "full text"}
"""Topic of each stage -> what is screened in it."""

EXCLUDE, MAYBE, INCLUDE = 0, 1, 2
DECISIONS = {EXCLUDE: "exclude", MAYBE: "maybe", INCLUDE: "include"}
"""Grade -> decision in a review. Records with "maybe" go on to the next stage like those with "include"."""

GOES_ON = (DECISIONS[INCLUDE], DECISIONS[MAYBE])
"""Decisions on title and abstract after which the full text is screened."""

CONFLICT, UNSCREENED, NOT_RETRIEVED = "conflict", "unscreened", "not retrieved"
"""Shown instead of a decision: screeners differ, not all have decided, or the report was not retrieved."""

KNOWN = "known"
"""Source of decisions on records whose relevance was known before screening."""

MARKS = (KNOWN, NOT_RETRIEVED)
"""Sources of adjudications that resolve no conflict."""

REVIEW_GRADES = GradeScale(
    {
        EXCLUDE: "Exclude: does not meet the criteria",
        MAYBE: "Maybe: cannot be excluded yet",
        INCLUDE: "Include: meets the criteria",
    }
)
"""The grades of every review; "maybe" and "include" count as relevant."""

REASON = "reason"
"""Name of the question about the reason for exclusion."""

DEFAULT_REASONS = (
    "Wrong population",
    "Wrong intervention",
    "Wrong comparison",
    "Wrong outcome",
    "Wrong study design",
    "Wrong publication type",
    "Other",
)
"""Reasons for exclusion in a new review, in their order."""

PICO = ("population", "intervention", "comparison", "outcome")
"""Optional fields of the question of a review."""

TARGET = 0.95
"""Target recall of a new review."""

_LIST = (list, tuple)
_TYPES: dict[type, tuple[Any, str]] = {
    str: (str, "a text"),
    tuple: (_LIST, "a list of texts"),
    int: (int, "1 or 2 people for each record"),
    bool: (bool, "true or false"),
}
"""Type of a field's default -> the types that it may have, and what errors say that was expected."""


@dataclass(frozen=True)
class Review:
    """A literature review.

    Attributes
    ----------
    title
        Title of the review, one line.
    question
        The research question.
    population, intervention, comparison, outcome
        Parts of the question (PICO), each optional.
    include, exclude
        Criteria of inclusion and exclusion, one line each.
    include_terms, exclude_terms
        Words and phrases that are highlighted because they suggest inclusion or exclusion.
    screeners
        How many people screen each record: 1, or 2 who do not see each other's decisions.
    full_text
        Whether records that were not excluded are screened again, by their full text.

    Raises
    ------
    InputError
        The title is empty, `screeners` is neither 1 nor 2, or a value has another type.

    Examples
    --------
    >>> review = Review("Exercise and falls", "Does exercise prevent falls?", population="Adults over 65")
    >>> print(review.describe_question())
    Does exercise prevent falls?
    Population: Adults over 65
    """

    title: str
    question: str = ""
    population: str = ""
    intervention: str = ""
    comparison: str = ""
    outcome: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    include_terms: tuple[str, ...] = ()
    exclude_terms: tuple[str, ...] = ()
    screeners: int = 1
    full_text: bool = True

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kinds, wanted = _TYPES.get(type(field.default), _TYPES[str])
            if not isinstance(value, kinds) or (kinds is _LIST and not all(isinstance(each, str) for each in value)):
                raise InputError(f"{field.name}: expected {wanted}, found {value!r}")
            if isinstance(value, list | tuple):
                object.__setattr__(self, field.name, _clean_lines(value))
            elif isinstance(value, str):
                object.__setattr__(self, field.name, value.strip() if field.name == "question" else one_line(value))
        if not self.title:
            raise InputError("title: expected the title of the review, found none")
        if isinstance(self.screeners, bool) or self.screeners not in (1, 2):
            raise InputError(f"screeners: expected 1 or 2 people for each record, found {self.screeners}")

    @property
    def stages(self) -> tuple[str, ...]:
        """The topics in which records are screened, in order."""
        return (TITLE_ABSTRACT, FULL_TEXT) if self.full_text else (TITLE_ABSTRACT,)

    def is_conflict(
        self, query_id: str, grades: Collection[int | None], answers: Iterable[Mapping[str, Answer]] = ()
    ) -> bool:
        """Return whether decisions on a record in a stage contradict each other.

        Before the last stage, the record goes on after "maybe", "include" and "cannot judge" (a grade of None), so only
        an exclusion contradicts them. In the last stage, decisions and the reasons for exclusion among their
        `answers` have to be equal.

        >>> Review("a").is_conflict("review", [1, 2]), Review("a").is_conflict("full-text", [1, 2])
        (False, True)
        """
        if query_id != self.stages[-1]:
            return EXCLUDE in grades and len(set(grades)) > 1
        return len(set(grades)) > 1 or len(list_reasons(answers)) > 1

    def describe_question(self) -> str:
        """The question with its PICO fields, a line each."""
        parts = [f"{name.capitalize()}: {getattr(self, name)}" for name in PICO if getattr(self, name)]
        return "\n".join(filter(None, (self.question, *parts)))

    def describe_criteria(self) -> str:
        """The criteria, a line each; "" without any."""
        parts = (("Include", self.include), ("Exclude", self.exclude))
        return "\n".join("\n".join((f"{name}:", *(f"- {line}" for line in lines))) for name, lines in parts if lines)

    def topics(self) -> list[Topic]:
        """The topics of the stages, whose texts are the title, the question and the criteria."""
        texts = (self.title, self.describe_question(), self.describe_criteria())
        return [Topic(query_id, *texts) for query_id in self.stages]


def reason_question(reasons: Iterable[str] = DEFAULT_REASONS) -> Question:
    """The question about the reason for exclusion: optional for titles and abstracts, required for full texts.

    Raises :class:`InputError` for fewer than 2 or more than 20 reasons, and for one that is too long.

    >>> reason_question().is_required("review"), reason_question().is_required("full-text")
    (False, True)
    """
    answers = {reason: reason for reason in _clean_lines(reasons)}
    return Question(REASON, "Why is it excluded?", "choice", answers, asked_to=EXCLUDE, required_topics=(FULL_TEXT,))


def list_reasons(answers: Iterable[Mapping[str, Answer]]) -> tuple[str, ...]:
    """The different reasons for exclusion among the answers of several decisions, in order.

    >>> list_reasons([{"reason": "Other"}, {}, {"reason": "Other"}])
    ('Other',)
    """
    return tuple(dict.fromkeys(str(each[REASON]) for each in answers if REASON in each))


def with_reasons(questions: Sequence[Question], reasons: Iterable[str]) -> list[Question]:
    """The questions with these reasons for exclusion, in the same place or at the end."""
    asked = reason_question(reasons)
    if all(each.name != REASON for each in questions):
        return [*questions, asked]
    return [asked if each.name == REASON else each for each in questions]


def _clean_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """The lines that are not empty, each once and without surrounding blanks."""
    return tuple(dict.fromkeys(filter(None, (one_line(str(line)) for line in lines))))
