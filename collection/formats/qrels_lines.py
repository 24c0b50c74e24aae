"""Qrels as lines, and their layouts."""

from __future__ import annotations

import re
from os import PathLike
from typing import TYPE_CHECKING, Literal

from collection.core import phrases
from collection.core.errors import FormatError
from collection.formats import kinds, objects, run_records
from collection.formats.fields import PERSON_NAMES
from collection.formats.source import FilePath, is_dataset, quote, stem
from collection.formats.tables.lines import Extra, Layout, data_lines, first_line, parse_grade, parse_score

if TYPE_CHECKING:
    import pandas as pd

WANTED = "qrels"
NAMES = "query_id 0 doc_id relevance"
_HEADER = (("query-id", "query_id"), ("corpus-id", "corpus_id", "doc_id"), ("score", "relevance"))

_JSON = re.compile(r"\s*(?:\{\s*(?:[\"'}]|$)|\[\s*(?:\{|$))")
"""Begin of a JSON object, or of an array of them; an id may begin with a brace, too."""

QrelsForm = Literal["judged", "subtopics", "strata", "probabilities"]
"""Forms of qrels; see :func:`collection.formats.read_qrels`."""


_TAGS = {
    *PERSON_NAMES, "by", "labeler", "labeller", "model", "model_name", "run", "source", "system", "tag",
}  # fmt: skip
"""Columns that may name who gave a grade."""


def names_of_qrels(given: FilePath | pd.DataFrame) -> list[str]:
    """The names that may say who gave the grades of qrels: of a file and in its first row, or in columns of a frame."""
    if isinstance(given, str | PathLike):
        return [stem(given), *(() if is_dataset(given) else _tags(given))]
    named = [given[column].drop_duplicates() for column in given if str(column).casefold() in _TAGS]
    return [value for values in named for value in values if isinstance(value, str)]


def _tags(path: FilePath) -> list[str]:
    """The texts in the first row of qrels beside topic, document and grade."""
    if not is_typed(path):
        _, _, parts = next(data_lines(path, WANTED), (0, "", []))
        return [*parts[1:2], *parts[4:]] if len(parts) > 3 else []
    if not objects.is_binary(path) and run_records.is_one_value(path):
        return []
    from collection.formats import columns, delimited  # which import pandas

    aliases = {name: columns.LABEL_ALIASES[name] for name in ("query_id", "doc_id", "relevance")}
    _, row = next(delimited.aliased_records(path, WANTED, aliases), (0, {}))
    return [value for name, value in row.items() if isinstance(value, str) and name.casefold() in _TAGS]


def is_typed(path: FilePath) -> bool:
    """Tell whether qrels are JSON, Parquet, a dataset, or a table with a header other than BEIR's."""
    if objects.is_binary(path):
        return True
    _, line, columns = first_line(path, WANTED)
    return _JSON.match(line) is not None or (not _is_beir(columns) and run_records.is_header(line))


def _is_beir(columns: list[str]) -> bool:
    return len(columns) == 3 and all(c.lower() in names for c, names in zip(columns, _HEADER, strict=True))


def _probability(text: str) -> float | None:
    """The number if it is above 0 and at most 1; else None."""
    value = parse_score(text)
    return value if value is not None and 0 < value <= 1 else None


def find_layout(path: FilePath, form: QrelsForm = "judged") -> Layout:
    """The layout of a form; for one grade per document, that which the first line implies."""
    number, line, columns = first_line(path, WANTED)
    if form != "subtopics":  # whose documents may have numbers as ids, below names of subtopics
        kinds.refuse_other(path, WANTED)
    if form != "judged":
        if other := _run_line(columns):
            wanted, hint = f"{WANTED} ({FORMS[form].names})", "pass it as a run"
            raise FormatError(path, number, wanted, f"{other}: {quote(line.strip())}", hint)
        return FORMS[form]
    count = len(columns)
    if _is_beir(columns):
        names = "query-id corpus-id score"
        return Layout(WANTED, names, columns=3, seen=3, doc=1, value=2, exact=True, graded=True, header=number)
    if count > 3 and parse_grade(columns[3]) is None and {c.lower() for c in columns} & {"query_id", "qid"}:
        found, hint = f"a header: {quote(line.strip())}", "remove it, or separate all columns by tabs"
        raise FormatError(path, number, f"{WANTED} ({NAMES}) without a header", found, hint)
    if count < 4:
        hint = "three columns need the header query-id, corpus-id, score" if count == 3 else "add the missing columns"
        hint = "CSV needs a header: query_id,doc_id,relevance" if count == 1 and re.search("[,;|]", line) else hint
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
