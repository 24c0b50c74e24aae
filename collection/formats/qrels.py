"""Qrels in the TREC form or with BEIR's header, also with subtopics, strata or probabilities; as JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import pandas as pd

from collection import phrases
from collection.errors import FormatError, require_known
from collection.formats import delimited, fields, objects
from collection.formats.columns import LABEL_ALIASES
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import Extra, Layout, data_lines, first_line, parse_grade, parse_score, to_array
from collection.formats.tables.strict import read_table
from collection.frames import QRELS

WANTED = "qrels"
NAMES = "query_id 0 doc_id relevance"
_ALIASES = {name: LABEL_ALIASES[name] for name in QRELS.names}
_HEADER = (("query-id", "query_id"), ("corpus-id", "corpus_id", "doc_id"), ("score", "relevance"))

QrelsForm = Literal["judged", "subtopics", "strata", "probabilities"]
"""Forms of qrels; see :func:`read_qrels`."""


def read_qrels(path: FilePath, *, form: QrelsForm = "judged") -> pd.DataFrame:
    r"""Read qrels: ``query_id 0 doc_id relevance``, or BEIR's three columns under a header.

    Columns are separated by blanks or tabs. Further columns, the second column, blank lines and lines that begin with #
    are ignored. JSONL and Parquet have ``query_id`` (qid, query-id), ``doc_id`` (docno, corpus-id) and ``relevance``
    (score, label); ``ir_datasets:ID`` reads the qrels of a dataset.

    Parameters
    ----------
    form
        - "judged": one grade per document, as above.
        - "subtopics": ``query_id subtopic doc_id relevance``; a document may have a grade in each subtopic.
        - "strata": ``query_id 0 doc_id stratum relevance``, NIST's form of a sampled pool: each document of the pool
          with its stratum, and a grade below 0 if it was not drawn.
        - "probabilities": ``query_id 0 doc_id relevance probability``, the probability with which the document was
          drawn, above 0 and at most 1.

    Returns
    -------
    DataFrame
        :data:`collection.frames.QRELS` in the order of the file: ids as str, ``relevance`` as int64 (float64 if any
        grade has a fraction). Negative grades are kept. The other forms add ``subtopic`` (str), ``stratum`` (str) or
        ``probability`` (float64).

    Raises
    ------
    FormatError
        With path and line: a short line, a wrong grade or probability, a repeated document in a topic (or a subtopic of
        it), a run instead of qrels, or no row.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("qrels.txt").write_text("301 0 d1 2\n301 0 d7 0\n")
    >>> print(read_qrels("qrels.txt"))
      query_id doc_id  relevance
    0      301     d1          2
    1      301     d7          0
    """
    require_known("form of qrels", get_args(QrelsForm), form)
    if _is_typed(path):
        if form != "judged":
            line = None if objects.is_binary(path) else first_line(path, WANTED)[0]
            raise FormatError(path, line, f"qrels as lines ({_FORMS[form].names})", "JSONL, Parquet or a dataset")
        return _from_records(path)
    if form == "judged":
        layout = _layout(path)
    else:
        layout = _FORMS[form]
        _first_line(path, layout.names)
    rows = read_table(path, layout)
    query_ids = rows.topic_names.take(rows.topics).array
    qrels = pd.DataFrame({"query_id": query_ids, "doc_id": rows.documents, "relevance": rows.values})
    return QRELS.check(qrels if layout.extra is None else qrels.assign(**{layout.extra.name: rows.extra}))


def _is_typed(path: FilePath) -> bool:
    """Whether qrels are JSONL, Parquet or a dataset."""
    return objects.is_binary(path) or first_line(path, WANTED)[1].lstrip().startswith("{")


def _from_records(path: FilePath) -> pd.DataFrame:
    seen: dict[tuple[str, str], int] = {}
    grades = []
    for number, query_id, doc_id, value in _records(path):
        grade = None if isinstance(value, bool) else parse_grade(str(value).strip())
        if grade is None:
            raise FormatError(path, number, "a number as relevance", "none" if value is None else quote(str(value)))
        if (first := seen.setdefault((query_id, doc_id), number)) != number:
            found = f"topic {quote(query_id)}, document {quote(doc_id)} again (first in {first:,})"
            raise FormatError(path, number, "each document of a topic once", found)
        grades.append(grade)
    pairs = pd.DataFrame(list(seen), columns=list(QRELS.names[:2]), dtype="str")
    return QRELS.check(pairs.assign(relevance=to_array(grades)))


def _records(path: FilePath) -> Iterator[tuple[int, str, str, object]]:
    for number, record in delimited.aliased_records(path, WANTED, _ALIASES):
        query_id, doc_id = (fields.check_id(path, number, record[column]) for column in QRELS.names[:2])
        yield number, query_id, doc_id, record["relevance"]


def find_pair_line(path: FilePath, query_id: str, doc_id: str) -> int | None:
    """The first line of qrels with both ids, for errors that only the campaign can find."""
    if _is_typed(path):
        return next((number for number, *pair, _ in _records(path) if pair == [query_id, doc_id]), None)
    for number, _, columns in data_lines(path, WANTED):
        document = columns[1] if len(columns) == 3 else columns[2]
        if columns[0] == query_id and document == doc_id:
            return number
    return None


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


def _layout(path: FilePath) -> Layout:
    """The layout that the first line implies."""
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


_FORMS: dict[str, Layout] = {
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
