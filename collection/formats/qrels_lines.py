"""Qrels as lines, and their layouts."""

from __future__ import annotations

import re
from typing import Literal

from collection import phrases
from collection.errors import FormatError
from collection.formats import objects
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import Extra, Layout, first_line, parse_grade, parse_score

WANTED = "qrels"
NAMES = "query_id 0 doc_id relevance"
_HEADER = (("query-id", "query_id"), ("corpus-id", "corpus_id", "doc_id"), ("score", "relevance"))

_OBJECT = re.compile(r"\s*\{\s*(?:[\"'}]|$)")
"""Begin of a JSON object; an id may begin with a brace, too."""

QrelsForm = Literal["judged", "subtopics", "strata", "probabilities"]
"""Forms of qrels; see :func:`collection.formats.read_qrels`."""


def is_typed(path: FilePath) -> bool:
    """Whether qrels are JSONL, Parquet or a dataset."""
    return objects.is_binary(path) or _OBJECT.match(first_line(path, WANTED)[1]) is not None


def _probability(text: str) -> float | None:
    """The number if it is above 0 and at most 1; else None."""
    value = parse_score(text)
    return value if value is not None and 0 < value <= 1 else None


def _first_line(path: FilePath, names: str) -> tuple[int, str, list[str]]:
    """The first line of data; an error if it is a run's."""
    number, line, columns = first_line(path, WANTED)
    if other := _run_line(columns):
        raise FormatError(path, number, f"{WANTED} ({names})", f"{other}: {quote(line.strip())}", "pass it as a run")
    return number, line, columns


def find_layout(path: FilePath, form: QrelsForm = "judged") -> Layout:
    """The layout of a form; for one grade per document, that which the first line implies."""
    if form != "judged":
        _first_line(path, FORMS[form].names)
        return FORMS[form]
    number, line, columns = _first_line(path, NAMES)
    count = len(columns)
    if count == 3 and all(c.lower() in names for c, names in zip(columns, _HEADER, strict=True)):
        names = "query-id corpus-id score"
        return Layout(WANTED, names, columns=3, seen=3, doc=1, value=2, exact=True, graded=True, header=number)
    if count > 3 and parse_grade(columns[3]) is None and {c.lower() for c in columns} & {"query_id", "qid"}:
        raise FormatError(path, number, f"{WANTED} ({NAMES}) without a header", f"a header: {quote(line.strip())}")
    if count < 4:
        hint = "three columns need the header query-id, corpus-id, score" if count == 3 else ""
        found = f"{phrases.count(count, 'column')}: {quote(line.strip())}"
        raise FormatError(path, number, f"4 columns ({NAMES})", found, hint)
    refuse = _run_line if count >= 6 else None
    return Layout(WANTED, NAMES, columns=4, seen=count, doc=2, value=3, graded=True, refuse=refuse)


def _run_line(columns: list[str]) -> str:
    """'a run' if a line with six columns or more reads as one, else an empty text; shorter lines are never runs."""
    if len(columns) < 6:
        return ""
    numbers = [parse_score(c) is not None for c in columns[3:6]]
    return "a run" if columns[1].upper() == "Q0" or numbers == [True, True, False] else ""


FORMS: dict[str, Layout] = {
    "subtopics": Layout(
        WANTED, "query_id subtopic doc_id relevance", columns=4, seen=4, doc=2, value=3, graded=True, refuse=_run_line,
        extra=Extra("subtopic", 1, parts=True),
    ),
    "strata": Layout(
        WANTED, "query_id 0 doc_id stratum relevance", columns=5, seen=5, doc=2, value=4, graded=True, refuse=_run_line,
        extra=Extra("stratum", 3),
    ),
    "probabilities": Layout(
        WANTED, "query_id 0 doc_id relevance probability", columns=5, seen=5, doc=2, value=3, graded=True,
        refuse=_run_line, extra=Extra("probability", 4, "a probability (above 0, at most 1)", _probability),
    ),
}  # fmt: skip
