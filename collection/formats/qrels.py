"""Qrels: settled grades, in the TREC form or with BEIR's header."""

from __future__ import annotations

from os import PathLike

import pandas as pd

from collection.errors import FormatError
from collection.formats import source
from collection.formats.source import quote
from collection.formats.table import Layout, data_lines, parse_score, read_table

WANTED = "qrels"
NAMES = "query_id 0 doc_id relevance"
_HEADER = (("query-id", "query_id"), ("corpus-id", "corpus_id", "doc_id"), ("score", "relevance"))


def read_qrels(path: str | PathLike[str]) -> pd.DataFrame:
    """Read qrels: ``query_id 0 doc_id relevance``, or BEIR's three columns under a header.

    Columns are parted by blanks or tabs; further columns, the second column, blank lines and lines that
    begin with # are passed over; gzip is read as it is.

    Parameters
    ----------
    path
        A file.

    Returns
    -------
    DataFrame
        ``query_id`` and ``doc_id`` (str), ``relevance`` (int64; float64 if any grade has a fraction), in
        the order of the file. Negative grades are kept: what they mean is for the reader to say.

    Raises
    ------
    FormatError
        With path and line: a short line, a grade that is no number, a document twice in a topic, text
        that is not UTF-8, a run instead of qrels, nothing at all.
    """
    rows = read_table(path, _layout(path))
    return pd.DataFrame(
        {
            "query_id": rows.topic_names.take(rows.topics).array,
            "doc_id": rows.document_names.take(rows.documents).array,
            "relevance": rows.values,
        }
    )


def _layout(path: str | PathLike[str]) -> Layout:
    """What the first line says about the others."""
    first = next(data_lines(path, WANTED), None)
    if first is None:
        raise source.nothing_in(path, WANTED)
    number, line, columns = first
    count = len(columns)
    if count == 3 and all(c.lower() in names for c, names in zip(columns, _HEADER, strict=True)):
        names = "query-id corpus-id score"
        return Layout(WANTED, names, columns=3, seen=3, doc=1, value=2, exact=True, graded=True, header=True)
    if count < 4:
        hint = "three columns need the header query-id, corpus-id, score" if count == 3 else ""
        found = f"{count} column{'s' if count > 1 else ''}: {quote(line.strip())}"
        raise FormatError(path, number, f"4 columns ({NAMES})", found, hint)
    if other := _run_line(columns):
        raise FormatError(path, number, f"{WANTED}: {NAMES}", f"{other}: {quote(line.strip())}", "read it as a run")
    refuse = _run_line if count >= 6 else None
    return Layout(WANTED, NAMES, columns=4, seen=count, doc=2, value=3, graded=True, refuse=refuse)


def _run_line(columns: list[str]) -> str:
    """'a run' if a line with six columns or more reads as one, else ''.

    With four or five columns even ``Q0`` says nothing: people write it into qrels too.
    """
    if len(columns) < 6:
        return ""
    numbers = [parse_score(c) is not None for c in columns[3:6]]
    return "a run" if columns[1].upper() == "Q0" or numbers == [True, True, False] else ""
