"""Qrels in the TREC form or with BEIR's header, also with subtopics, strata or probabilities; as JSONL or Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from collection.core import arrow, phrases
from collection.core.errors import FormatError, numbered, require_known
from collection.core.frames import QRELS
from collection.formats import fields, kinds, objects, run_records
from collection.formats.source import FilePath, Source, is_dataset, opens_once, quote, stem
from collection.formats.tables.lines import (
    Extra,
    Layout,
    TableRows,
    data_lines,
    first_line,
    parse_grade,
    parse_score,
    report_copies,
    to_array,
)
from collection.formats.tables.strict import read_table

if TYPE_CHECKING:
    import pandas as pd

    from collection.measures import QrelsIndex

WANTED = "qrels"
NAMES = "query_id 0 doc_id relevance"
_HEADER = (("query-id", "query_id"), ("corpus-id", "corpus_id", "doc_id"), ("score", "relevance"))

_ALIASES = {name: fields.LABEL_ALIASES[name] for name in QRELS.names}

_JSON = re.compile(r"\s*(?:\{\s*(?:[\"'}]|$)|\[\s*(?:\{|$))")
"""Begin of a JSON object, or of an array of them; an id may begin with a brace, too."""

QrelsForm = Literal["judged", "subtopics", "strata", "probabilities"]
"""Forms of qrels; see :func:`collection.formats.read_qrels`."""


_TAGS = {
    *fields.PERSON_NAMES, "by", "labeler", "labeller", "model", "model_name", "run", "source", "system", "tag",
}  # fmt: skip
"""Columns that may name who gave a grade."""


@opens_once
def read_qrels(path: FilePath, *, form: QrelsForm = "judged") -> pd.DataFrame:
    r"""Read qrels: ``query_id 0 doc_id relevance``, or BEIR's three columns under a header.

    Columns are separated by blanks or tabs. Further columns, the second column, blank lines and lines that begin with #
    are ignored; a :class:`.FormatWarning` counts the latter, and identical copies of lines, which are
    left out. JSONL and Parquet have ``query_id`` (qid, query-id), ``doc_id`` (docno, corpus-id) and ``relevance``
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
        :data:`.QRELS` in the order of the file: ids as str, ``relevance`` as int64 (float64 if any
        grade has a fraction). Negative grades are kept. The other forms add ``subtopic`` (str), ``stratum`` (str) or
        ``probability`` (float64).

    Raises
    ------
    FormatError
        With path and line: a short line, a wrong grade or probability, a document with two grades in a topic (or a
        subtopic of it), a run instead of qrels, or no row.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("qrels.txt").write_text("301 0 d1 2\n301 0 d7 0\n")
    >>> print(read_qrels("qrels.txt"))
      query_id doc_id  relevance
    0      301     d1          2
    1      301     d7          0
    """
    rows, extra = _read(path, form)
    return _as_frame(rows, extra)


@opens_once
def read_index(path: FilePath, *, form: QrelsForm = "judged") -> QrelsIndex:
    """Prepare the qrels of a file for :func:`collection.measures.align`, without a frame if they have only grades.

    Parameters and errors are those of :func:`read_qrels`.
    """
    from collection.measures import index_qrels
    from collection.measures.qrels_index import index_pairs

    rows, extra = _read(path, form)
    if extra:
        return index_qrels(_as_frame(rows, extra))
    return index_pairs(rows.topic_names, rows.topics, rows.documents, rows.values)


def _as_frame(rows: TableRows, extra: str) -> pd.DataFrame:
    import pandas as pd

    query_ids = pd.Index(rows.topic_names, dtype="str").take(rows.topics).array
    doc_ids = pd.array(rows.documents, dtype="str")
    qrels = pd.DataFrame({"query_id": query_ids, "doc_id": doc_ids, "relevance": rows.values})
    return QRELS.check(qrels.assign(**{extra: rows.extra}) if extra else qrels)


def _read(path: FilePath, form: QrelsForm) -> tuple[TableRows, str]:
    """The rows of a file, and the name of their further column or ''."""
    require_known("form of qrels", get_args(QrelsForm), form)
    if is_typed(path):
        kinds.refuse_other(path, WANTED)
        if form != "judged":
            line = None if objects.is_binary(path) else first_line(path, WANTED)[0]
            raise FormatError(path, line, f"qrels as lines ({FORMS[form].names})", "JSONL, Parquet or a dataset")
        return _read_records(path), ""
    layout = find_layout(path, form)
    return read_table(path, layout), "" if layout.extra is None else layout.extra.name


def _read_records(path: FilePath) -> TableRows:
    seen: dict[tuple[str, str], tuple[int, int | None, float]] = {}
    topics: dict[str, int] = {}
    grades, copies = [], 0
    for place, (number, query_id, doc_id, value) in enumerate(_records(path)):
        grade = fields.as_grade(value)
        if grade is None:
            hint = "write grades as whole numbers, and leave out pairs without one"
            raise FormatError(
                path, number, "a number as relevance", "none" if value is None else quote(str(value)), hint
            )
        first, line, before = seen.setdefault((query_id, doc_id), (place, number, grade))
        if before != grade:
            where = f" (first in {numbered(path, line)})" if line is not None else ""
            found = f"topic {quote(query_id)}, document {quote(doc_id)} again with another grade{where}"
            raise FormatError(path, number, "each document of a topic once", found, "remove one of them")
        if first == place:
            grades.append(grade)
        else:
            copies += 1
    report_copies(path, copies)
    codes = np.array([topics.setdefault(query_id, len(topics)) for query_id, _ in seen], dtype=np.int32)
    return TableRows(codes, list(topics), arrow.from_texts([doc_id for _, doc_id in seen]), to_array(grades))


def _records(path: FilePath) -> Iterator[tuple[int | None, str, str, object]]:
    from collection.formats import delimited  # which imports pandas

    if not objects.is_binary(path) and run_records.is_one_value(path):
        yield from (row[:4] for row in run_records.read_object(path, WANTED, _ALIASES))
        return
    for number, record in delimited.aliased_records(path, WANTED, _ALIASES):
        query_id, doc_id = (fields.check_id(path, number, record[column]) for column in QRELS.names[:2])
        yield number, query_id, doc_id, record["relevance"]


def names_of_qrels(given: object) -> list[str]:
    """The names that may say who gave the grades of qrels: of a file and in its first row, or in columns of a frame."""
    if isinstance(given, str | PathLike):
        # A pipe can be read only once.
        readable = isinstance(given, Source) or Path(given).is_file()
        return [stem(given), *(_tags(given) if readable and not is_dataset(given) else ())]
    import pandas as pd

    if not isinstance(given, pd.DataFrame):
        return []
    named = [given[column].drop_duplicates() for column in given if str(column).casefold() in _TAGS]
    return [value for values in named for value in values if isinstance(value, str)]


def _tags(path: FilePath) -> list[str]:
    """The texts in the first row of qrels beside topic, document and grade."""
    if not is_typed(path):
        _, _, parts = next(data_lines(path, WANTED), (0, "", []))
        return [*parts[1:2], *parts[4:]] if len(parts) > 3 else []
    if not objects.is_binary(path) and run_records.is_one_value(path):
        return []
    from collection.formats import delimited  # which imports pandas

    _, row = next(delimited.aliased_records(path, WANTED, _ALIASES), (0, {}))
    return [value for name, value in row.items() if isinstance(value, str) and name.casefold() in _TAGS]


def find_pair_line(path: FilePath, query_id: str, doc_id: str) -> int | None:
    """The first line of qrels with both ids, for errors that only the campaign can find."""
    if is_typed(path):
        return next((number for number, *pair, _ in _records(path) if pair == [query_id, doc_id]), None)
    for number, _, columns in data_lines(path, WANTED):
        document = columns[1] if len(columns) == 3 else columns[2]
        if columns[0] == query_id and document == doc_id:
            return number
    return None


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
