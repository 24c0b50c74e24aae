"""Labels: who graded what, one row per annotator and pair; or a log of judgements, of which the last words count."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import pandas as pd

from collection.errors import FormatError, InputError
from collection.formats import delimited, fields, source, spreadsheet
from collection.formats.judgements import DETAILS, details_of
from collection.formats.source import quote
from collection.formats.tables.lines import as_numbers, parse_grade
from collection.formats.write import replacing
from collection.frames import LABELS
from collection.records import COUNTS_AS, KINDS

WANTED = "labels"
ALIASES = {
    "annotator": ("annotator", "assessor", "rater", "judge", "user"),
    "query_id": ("query_id", "qid", "topic", "query-id"),
    "doc_id": ("doc_id", "docno", "docid", "corpus-id", "document"),
    "relevance": ("relevance", "grade", "label", "rel", "score"),
}
"""Column -> what files call it."""


class _Row(NamedTuple):
    line: int
    annotator: str
    query_id: str
    doc_id: str
    relevance: int | float | None
    cannot: bool = False
    first_judged_at: str | None = None
    details: Mapping[str, Any] = {}


@dataclass(frozen=True)
class LabelLog:
    """Labels, and what was left out of the log that they come from.

    Attributes
    ----------
    labels
        :data:`collection.frames.LABELS`, and a column for each of :data:`collection.formats.judgements.DETAILS` where
        the file is a log.
    left_out
        "adjudication", "surplus", "cannot judge" -> how many rows; those of which there are any.
    """

    labels: pd.DataFrame
    left_out: dict[str, int]


def read_labels(path: str | PathLike[str]) -> pd.DataFrame:
    r"""Read annotators' grades: labels, or a log of judgements.

    Parameters
    ----------
    path
        CSV or TSV with a header, or JSONL; gzip is read as it is. The columns annotator (or assessor, rater, judge,
        user), query_id (qid, topic), doc_id (docno, docid), relevance (grade, label, rel, score); others are passed
        over. With a column ``kind`` it is a log as ``cleverdon export --judgements`` writes it: of each annotator's
        rows for a pair the last counts, and only if it is a grade; adjudications and surplus judgements are left out.

    Returns
    -------
    DataFrame
        :data:`collection.frames.LABELS` in the order of the file: ids as str, ``relevance`` as int64 (float64 if a
        grade has a fraction); where the file says it ``first_judged_at`` (str; of a revised grade when the first was
        given).

    Raises
    ------
    FormatError
        With path and line: no such column, a grade that is no number, no name or one with blanks around it, the same
        annotator and pair twice (in a log they may), a record of another width than the header, text that is not UTF-8,
        nothing at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("labels.csv").write_text("assessor,qid,docno,grade\nann,301,d1,2\nbob,301,d1,0\n")
    >>> print(read_labels("labels.csv"))
      annotator query_id doc_id  relevance
    0       ann      301     d1          2
    1       bob      301     d1          0
    """
    return _read(path, details=False).labels


def read_label_log(path: str | PathLike[str]) -> LabelLog:
    """Read labels as :func:`read_labels` does, with the details of a log and what was left out of it."""
    return _read(path, details=True)


def _read(path: str | PathLike[str], *, details: bool) -> LabelLog:
    kept: dict[tuple[str, str, str], _Row] = {}
    left_out: Counter[str] = Counter()
    for number, record in delimited.aliased_records(path, WANTED, ALIASES):
        log = "kind" in record
        if log and not _counts(path, number, record):
            left_out[str(record["counts_as"])] += record["kind"] != "undone"
            continue
        row = _row(path, number, record, log, details)
        before = kept.pop(row[1:4], None)
        if before is not None and (before.relevance is not None or before.cannot):
            row = row._replace(first_judged_at=before.first_judged_at)
        if before is not None and not log:
            what = f"{quote(row.annotator)} on topic {quote(row.query_id)}, document {quote(row.doc_id)}"
            found = f"{what} a second time (first in line {before.line})"
            raise FormatError(path, number, "each annotator and pair once", found)
        kept[row[1:4]] = row
    graded = [row for row in kept.values() if row.relevance is not None]
    frame = pd.DataFrame([row[1:4] for row in graded], columns=list(LABELS.names[:3]), dtype="str")
    labels = frame.assign(relevance=as_numbers([row.relevance for row in graded if row.relevance is not None]))
    if any(row.first_judged_at for row in graded):
        labels["first_judged_at"] = pd.Series([row.first_judged_at for row in graded], dtype="str")
    for name in DETAILS if any(row.details for row in graded) else ():
        labels[name] = pd.Series([row.details[name] for row in graded], dtype=object)
    left_out["cannot judge"] = sum(row.cannot for row in kept.values())
    return LabelLog(LABELS.check(labels), {what: count for what, count in left_out.items() if count})


def line_of_label(path: str | PathLike[str], annotator: str, query_id: str, doc_id: str) -> int | None:
    """The last line of a labels file that is an annotator's on a pair, for messages; None if there is none."""
    wanted = (annotator, query_id, doc_id)
    lines = (
        number
        for number, record in delimited.aliased_records(path, WANTED, ALIASES)
        if (record["annotator"], str(record["query_id"]).strip(), str(record["doc_id"]).strip()) == wanted
    )
    return max(lines, default=None)


def write_labels(frame: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write labels under the header ``annotator,query_id,doc_id,relevance``, in the order of the frame.

    Parameters
    ----------
    frame
        :data:`collection.frames.LABELS`; one row per annotator and pair.
    path
        ``.csv`` or ``.tsv``, perhaps ``.gz`` after it; names that a spreadsheet would compute stand behind an
        apostrophe (:mod:`collection.formats.spreadsheet`), which :func:`read_labels` takes off. An existing file is
        replaced when all is written.

    Raises
    ------
    ColumnsError
        A column is missing.
    InputError
        What :func:`read_labels` would not read back the same: a name or id that is empty or has blanks around or a line
        end or tab in it, a missing grade, an annotator and pair twice; or the file has another ending or cannot be
        written.
    """
    separator = {".csv": ",", ".tsv": "\t"}.get(source.suffix(path))
    if separator is None:
        raise InputError(f"{path}: labels are written as .csv or .tsv (perhaps .gz after it)")
    given = LABELS.check(frame, "writing labels")[list(LABELS.names)]
    if given["relevance"].isna().any():
        raise InputError("labels need a grade in every row; leave pairs without one out")
    if given.duplicated(list(LABELS.names[:3])).any():
        row = given[given.duplicated(list(LABELS.names[:3]))].iloc[0]
        raise InputError(f"labels have each annotator and pair once, found {tuple(row.iloc[:3])} twice")
    rows = list(given.itertuples(index=False, name=None))
    for name, *ids, _ in rows:
        if not _is_name(str(name)):
            wrong_name = quote(str(name))
            raise InputError(f"an annotator's name cannot be written with blanks around it or a line end: {wrong_name}")
        wrong = next((i for i in ids if not source.fits_a_column(str(i))), None)
        if wrong is not None:
            raise InputError(f"an id cannot be written if it is empty or has white space in it: {quote(str(wrong))}")
    rows = [(spreadsheet.escaped(name), *more) for name, *more in rows]
    rows.insert(0, LABELS.names)
    with replacing(path) as file:
        if separator == "\t":
            file.writelines("\t".join(map(_cell, row)) + "\n" for row in rows)
        else:
            csv.writer(file, lineterminator="\n").writerows([_cell(cell) for cell in row] for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _counts(path: str | PathLike[str], number: int, record: Mapping[str, Any]) -> bool:
    """Whether a row of a log is an annotator's own word."""
    kind, counts_as = record["kind"], record.get("counts_as") or "judgement"
    if kind not in KINDS:
        raise FormatError(path, number, f"a kind of judgement ({', '.join(KINDS)})", quote(str(kind)))
    if counts_as not in COUNTS_AS:
        raise FormatError(path, number, f"what it counts as ({', '.join(COUNTS_AS)})", quote(str(counts_as)))
    return counts_as == "judgement"


def _row(path: str | PathLike[str], number: int, record: Mapping[str, Any], log: bool, details: bool) -> _Row:
    annotator = record["annotator"]
    if not isinstance(annotator, str) or not _is_name(annotator):
        wanted = "the name of an annotator, without blanks around it"
        raise FormatError(path, number, wanted, quote(str(annotator)) if annotator else "none")
    query_id, doc_id = (fields.check_id(path, number, record[column]) for column in ("query_id", "doc_id"))
    at = str(record.get("judged_at") or "") or None
    if log and record["kind"] != "graded":
        return _Row(number, annotator, query_id, doc_id, None, record["kind"] == "cannot judge", at)
    grade = _grade(path, number, record["relevance"])
    more = details_of(path, number, record) if log and details else {}
    return _Row(number, annotator, query_id, doc_id, grade, first_judged_at=at, details=more)


def _is_name(name: str) -> bool:
    return bool(name) and name == name.strip() and not any(c in name for c in "\t\r\n\0")


def _grade(path: str | PathLike[str], number: int, value: Any) -> int | float:
    text = "" if value is None else str(value).strip()
    grade = None if isinstance(value, bool) else parse_grade(text)
    if grade is None:
        raise FormatError(path, number, "a grade (a number)", quote(text) if text else "none")
    return grade
