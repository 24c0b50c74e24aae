"""Qrels in the TREC form or with BEIR's header, also with subtopics, strata or probabilities; as JSONL or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pandas as pd

from collection.core.errors import FormatError, numbered, require_known
from collection.core.frames import QRELS
from collection.formats import delimited, fields, kinds, objects, run_records
from collection.formats.columns import LABEL_ALIASES
from collection.formats.qrels_lines import FORMS, WANTED, QrelsForm, find_layout, is_typed
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import data_lines, first_line, report_copies, to_array
from collection.formats.tables.strict import read_table

_ALIASES = {name: LABEL_ALIASES[name] for name in QRELS.names}


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
    require_known("form of qrels", get_args(QrelsForm), form)
    if is_typed(path):
        kinds.refuse_other(path, WANTED)
        if form != "judged":
            line = None if objects.is_binary(path) else first_line(path, WANTED)[0]
            raise FormatError(path, line, f"qrels as lines ({FORMS[form].names})", "JSONL, Parquet or a dataset")
        return _from_records(path)
    layout = find_layout(path, form)
    rows = read_table(path, layout)
    query_ids = pd.Index(rows.topic_names, dtype="str").take(rows.topics).array
    doc_ids = pd.array(rows.documents, dtype="str")
    qrels = pd.DataFrame({"query_id": query_ids, "doc_id": doc_ids, "relevance": rows.values})
    return QRELS.check(qrels if layout.extra is None else qrels.assign(**{layout.extra.name: rows.extra}))


def _from_records(path: FilePath) -> pd.DataFrame:
    seen: dict[tuple[str, str], tuple[int, int | None, float]] = {}
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
    pairs = pd.DataFrame(list(seen), columns=list(QRELS.names[:2]), dtype="str")
    return QRELS.check(pairs.assign(relevance=to_array(grades)))


def _records(path: FilePath) -> Iterator[tuple[int | None, str, str, object]]:
    if not objects.is_binary(path) and run_records.is_one_value(path):
        yield from (row[:4] for row in run_records.of_object(path, WANTED, _ALIASES))
        return
    for number, record in delimited.aliased_records(path, WANTED, _ALIASES):
        query_id, doc_id = (fields.check_id(path, number, record[column]) for column in QRELS.names[:2])
        yield number, query_id, doc_id, record["relevance"]


def find_pair_line(path: FilePath, query_id: str, doc_id: str) -> int | None:
    """The first line of qrels with both ids, for errors that only the campaign can find."""
    if is_typed(path):
        return next((number for number, *pair, _ in _records(path) if pair == [query_id, doc_id]), None)
    for number, _, columns in data_lines(path, WANTED):
        document = columns[1] if len(columns) == 3 else columns[2]
        if columns[0] == query_id and document == doc_id:
            return number
    return None
