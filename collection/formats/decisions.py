"""Decisions that screening tools and Cleverdon wrote into bibliographic records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from collection.core.characters import one_line
from collection.core.review import (
    CONFLICT,
    DECISIONS,
    EXCLUDE,
    FULL_TEXT,
    INCLUDE,
    MAYBE,
    NOT_RETRIEVED,
    STAGES,
    TITLE_ABSTRACT,
    UNSCREENED,
)
from collection.formats import columns

_COLUMNS = (
    "asreview label", "abstract included", "label included", "included", "label", "inclusion", "decision",
    "screening decision", "final included", "final decision",
)  # fmt: skip
"""Names of columns with a decision, in ASReview, Cleverdon and tables made by hand.

If a record has several, the first is used, so that a decision on the abstract precedes a final one.
"""
_VALUES = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "y", "include", "included", "relevant", "accept", "accepted"), INCLUDE),
    **dict.fromkeys(("0", "0.0", "false", "no", "n", "exclude", "excluded", "irrelevant", "not relevant"), EXCLUDE),
    **dict.fromkeys(("reject", "rejected"), EXCLUDE),
    **dict.fromkeys(("maybe", "undecided", "unsure", "unclear"), MAYBE),
}
_NO_DECISIONS = frozenset(("", "-1", "-1.0", "nan", "none", "n/a", "na", UNSCREENED, CONFLICT, NOT_RETRIEVED))
"""Values of records without a decision, in tables of ASReview, pandas and Cleverdon."""
_MARKS = ("RAYYAN-INCLUSION", "ASReview_", "decision: ", "stage: ", "reason: ", "Exclusion reason:")
"""Strings that mark decisions in notes and keywords of Rayyan, ASReview, Cleverdon and Covidence."""
_RAYYAN = re.compile(r"RAYYAN-INCLUSION:\s*\{([^{}]*)\}")
_RAYYAN_REASONS = re.compile(r"RAYYAN-EXCLUSION-REASONS:([^|]*)")
_RAYYAN_DECISION = re.compile(r'"([^"]+)"\s*=>\s*"([^"]*)"')
_COVIDENCE = re.compile(r"(?:^|; )Exclusion reason: *([^\s;][^;]*)")
_ASREVIEW = ((re.compile(r"ASReview_relevant\b"), INCLUDE), (re.compile(r"ASReview_irrelevant\b"), EXCLUDE))
_OWN = ("decision", "stage", "reason")
"""Names of columns, and of parts of notes and keywords, in records that Cleverdon exported."""
_GRADES = {decision: grade for grade, decision in DECISIONS.items()}


class RecordDecision(NamedTuple):
    """A decision on a record: the screener ("" if unknown), the stage as a topic, the grade in a review, the reason.

    `further` are other reasons, which the question about the reason, a choice of one, has no place for.
    """

    screener: str
    query_id: str
    grade: int
    reason: str = ""
    further: tuple[str, ...] = ()


def find_decisions(fields: Mapping[str, list[str]]) -> list[RecordDecision]:
    """Find the decisions in the fields of a record, those by title and abstract first.

    `fields` are :attr:`.Reference.fields`. Covidence writes reasons for exclusion at the full-text stage only, so a
    record with one was included by title and abstract; as was one with a decision of Cleverdon on its full text.
    Rayyan writes the reasons of all who excluded a record in one list, so that each of them has all.

    Examples
    --------
    >>> find_decisions({"N1": ['RAYYAN-INCLUSION: {"Ann"=>"Maybe"} | RAYYAN-LABELS: x']})
    [RecordDecision(screener='Ann', query_id='review', grade=1, reason='', further=())]
    >>> [each[1:4] for each in find_decisions({"Notes": ["Exclusion reason: Wrong outcome; "]})]
    [('review', 2, ''), ('full-text', 0, 'Wrong outcome')]
    >>> [each[1:4] for each in find_decisions({"decision": ["exclude"], "stage": ["full text"], "reason": ["Other"]})]
    [('review', 2, ''), ('full-text', 0, 'Other')]
    >>> find_decisions({"TI": ["Heat pumps"]})
    []
    """
    found: dict[tuple[str, str], RecordDecision] = {}

    def add(grade: int | None, *reasons: str, query_id: str = TITLE_ABSTRACT, screener: str = "") -> None:
        if grade is not None:
            reason, *further = reasons or ("",)
            found.setdefault((screener, query_id), RecordDecision(screener, query_id, grade, reason, tuple(further)))

    texts = list(_marked(fields.values()))
    own = _read_own(fields, texts)
    grade = _GRADES.get(own.get("decision", ""))
    reason = own.get("reason", "") if grade == EXCLUDE else ""
    if own.get("stage") == STAGES[FULL_TEXT]:
        add(INCLUDE)
        add(grade, reason, query_id=FULL_TEXT)
    else:
        add(grade, reason)
    for text in texts:
        if (excluded := _COVIDENCE.search(text)) is not None:
            add(INCLUDE)
            add(EXCLUDE, one_line(excluded[1]), query_id=FULL_TEXT)
        for name, said in find_rayyan_decisions(text):
            grade = _VALUES.get(said.casefold())
            add(grade, *(_rayyan_reasons(text) if grade == EXCLUDE else ()), screener=one_line(name))
        for pattern, grade in _ASREVIEW:
            if pattern.search(text):
                add(grade)
    for name in _decision_columns(tuple(fields)):
        add(_VALUES.get(one_line(" ".join(fields[name])).casefold()))
    return sorted(found.values(), key=lambda each: each.query_id != TITLE_ABSTRACT)


def find_unread_decisions(fields: Mapping[str, list[str]]) -> list[str]:
    """Find the values in columns of decisions that :func:`find_decisions` does not understand.

    >>> find_unread_decisions({"Decision": ["top"], "label": ["unsorted"]})
    ['top']
    """
    values = (
        one_line(" ".join(fields[name])) for name in _decision_columns(tuple(fields)) if name.casefold() != "label"
    )
    return [value for value in values if value.casefold() not in _NO_DECISIONS | _VALUES.keys()]


def _read_own(fields: Mapping[str, list[str]], texts: Iterable[str]) -> dict[str, str]:
    """Return the decision, stage and reason that Cleverdon wrote, as columns or as parts of a note or keywords."""
    if "decision" in fields and "stage" in fields:
        return {name: one_line(" ".join(fields[name])) for name in _OWN if name in fields}
    parts = (part.partition(": ") for text in texts for part in text.split(" | "))
    own: dict[str, str] = {}
    for name, _, said in parts:
        if name in _OWN:
            own.setdefault(name, said)
    return own


def find_rayyan_decisions(text: str) -> list[tuple[str, str]]:
    """Find the screeners and decisions, as written, that Rayyan adds to the notes of a record."""
    inclusion = _RAYYAN.search(text)
    return [] if inclusion is None else _RAYYAN_DECISION.findall(inclusion[1])


def _rayyan_reasons(text: str) -> list[str]:
    """Return the reasons for exclusion that Rayyan adds to the notes of a record, separated by commas."""
    listed = _RAYYAN_REASONS.search(text)
    return [reason for part in listed[1].split(",") if (reason := one_line(part))] if listed else []


def _marked(texts: Iterable[list[str]]) -> Iterator[str]:
    """Yield the texts that contain the mark of a tool."""
    return (text for several in texts for text in several if any(mark in text for mark in _MARKS))


@lru_cache(maxsize=64)
def _decision_columns(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns with a decision, in order of precedence."""
    own = {columns.plain_name(name): name for name in names}
    return tuple(own[name] for name in _COLUMNS if name in own)
