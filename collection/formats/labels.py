"""Labels: one grade per annotator and pair, or a log of judgements, of which the last judgement counts."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from collection.errors import FormatError, InputError
from collection.formats import delimited, fields, label_exports, source, spreadsheet
from collection.formats.columns import LABEL_ALIASES
from collection.formats.judgements import DETAILS, read_details, to_utc
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import parse_grade, to_array
from collection.formats.write import format_number, replacing, require_ids
from collection.frames import LABELS
from collection.phrases import literal
from collection.records import COUNTS_AS, KINDS

WANTED = "labels"


class _Row(NamedTuple):
    line: int
    annotator: str
    query_id: str
    doc_id: str
    relevance: int | float | None
    cannot: bool = False
    first_judged_at: str | None = None
    details: Mapping[str, object] = {}


class NoTopicsError(FormatError):
    """An export of labels names no topics, and the topic is not given."""


@dataclass(frozen=True)
class LabelLog:
    """Labels, with :data:`~collection.formats.judgements.DETAILS` as columns where the file has them.

    `left_out` counts the rows of the log left out as "adjudication", "surplus" or "cannot judge", if any.
    """

    labels: pd.DataFrame
    left_out: dict[str, int]


def read_labels(
    path: FilePath, *, query_id: str | None = None, names: Mapping[str, int] = MappingProxyType({})
) -> pd.DataFrame:
    r"""Read annotators' grades: labels, or a log of judgements.

    Parameters
    ----------
    path
        CSV, TSV or XLSX with a header, JSONL or Parquet, with the columns annotator (or assessor, rater, judge, user),
        query_id (qid, topic), doc_id (docno, docid), relevance (grade, label, rel, score, judgment). A file with a
        column ``kind`` is read as a log written by ``cleverdon export --judgements``: each annotator's last row for a
        pair counts if it is a grade, and adjudications and surplus judgements are left out. Also exports of ASReview
        (CSV, XLSX, RIS), Label Studio (JSON, CSV) and HiCAL.
    query_id
        The topic of labels in a file without topics.
    names
        Names of grades in lower case -> grades, for files that have names.

    Returns
    -------
    DataFrame
        :data:`collection.frames.LABELS` in the order of the file: ids as str, ``relevance`` as int64 (float64 if a
        grade has a fraction). If the file has times, also ``first_judged_at`` (str), the time of the annotator's first
        grade for the pair.

    Raises
    ------
    FormatError
        A missing column, a grade that is not a number, or (outside a log) a repeated annotator and pair; with path and
        line.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("labels.csv").write_text("assessor,qid,docno,grade\nann,301,d1,2\nbob,301,d1,0\n")
    >>> print(read_labels("labels.csv"))
      annotator query_id doc_id  relevance
    0       ann      301     d1          2
    1       bob      301     d1          0
    """
    return _read(path, query_id, names, details=False).labels


def read_label_log(
    path: FilePath, *, query_id: str | None = None, names: Mapping[str, int] = MappingProxyType({})
) -> LabelLog:
    """Read labels as :func:`read_labels` does, with the details of a log and the number of rows left out."""
    return _read(path, query_id, names, details=True)


def _records(path: FilePath, query_id: str | None) -> Iterator[tuple[int, dict[str, object]]]:
    defaults = {} if query_id is None else {"query_id": query_id}
    exported = label_exports.records(path, WANTED)
    if exported is None:
        yield from delimited.aliased_records(path, WANTED, LABEL_ALIASES, defaults)
        return
    for number, record in exported:
        if query_id is None and not any(name in record for name in LABEL_ALIASES["query_id"]):
            raise NoTopicsError(path, number, "labels with topics", "none", "add a column query_id")
        named = delimited.rename(path, number, WANTED, record, LABEL_ALIASES, defaults)
        if isinstance(choices := named["relevance"], list) and choices:
            raise FormatError(path, number, "one choice as grade", ", ".join(quote(str(each)) for each in choices))
        if named["relevance"] not in (None, "", []):
            yield number, named


def _read(path: FilePath, query_id: str | None, names: Mapping[str, int], *, details: bool) -> LabelLog:
    kept: dict[tuple[str, str, str], _Row] = {}
    left_out: Counter[str] = Counter()
    for number, record in _records(path, query_id):
        log = "kind" in record
        if log and not _counts(path, number, record):
            left_out[str(record["counts_as"])] += record["kind"] != "undone"
            continue
        row = _row(path, number, record, log, details, names)
        before = kept.pop(row[1:4], None)
        if before is not None and (before.relevance is not None or before.cannot):
            row = row._replace(first_judged_at=before.first_judged_at)
        if before is not None and not log:
            what = f"{quote(row.annotator)} on topic {quote(row.query_id)}, document {quote(row.doc_id)}"
            found = f"{what} again (first in line {before.line})"
            raise FormatError(path, number, "each annotator and pair once", found, "keep only the last of them")
        kept[row[1:4]] = row
    graded = [row for row in kept.values() if row.relevance is not None]
    frame = pd.DataFrame([row[1:4] for row in graded], columns=list(LABELS.names[:3]), dtype="str")
    labels = frame.assign(relevance=to_array([row.relevance for row in graded if row.relevance is not None]))
    if any(row.first_judged_at for row in graded):
        labels["first_judged_at"] = pd.Series([row.first_judged_at for row in graded], dtype="str")
    for name in DETAILS:
        if any(name in row.details for row in graded):
            labels[name] = pd.Series([row.details.get(name) for row in graded], dtype=object)
    left_out["cannot judge"] = sum(row.cannot for row in kept.values())
    return LabelLog(LABELS.check(labels), {what: count for what, count in left_out.items() if count})


def find_label_line(path: FilePath, annotator: str, query_id: str, doc_id: str) -> int | None:
    """The last line of an annotator's label for a pair, for messages; None if there is none."""
    wanted = (annotator, query_id, doc_id)
    lines = (
        number
        for number, record in _records(path, query_id)
        if (record["annotator"], str(record["query_id"]).strip(), str(record["doc_id"]).strip()) == wanted
    )
    return max(lines, default=None)


def write_labels(frame: pd.DataFrame, path: FilePath) -> None:
    """Write labels as ``.csv`` or ``.tsv`` with the header ``annotator,query_id,doc_id,relevance``.

    `frame` is :data:`collection.frames.LABELS` with one row per annotator and pair, in the order of the file. Names
    and ids that a spreadsheet would compute get an apostrophe (:mod:`collection.formats.spreadsheet`). Names, ids and
    grades that :func:`read_labels` could not read back are refused.
    """
    separator = {".csv": ",", ".tsv": "\t"}.get(source.suffix(path))
    if separator is None:
        raise source.ending_error(path, "labels", (".csv", ".tsv"))
    given = LABELS.check(frame, "writing labels")[list(LABELS.names)]
    if given["relevance"].isna().any():
        raise InputError("labels: expected a grade in every row, found none in some; leave out pairs without a grade")
    repeated = given[given.duplicated(list(LABELS.names[:3]))]
    if len(repeated):
        found = literal(tuple(repeated.iloc[0, :3]))
        raise InputError(f"labels: expected each annotator and pair once, found {found} twice")
    rows = [LABELS.names]
    for name, query_id, doc_id, grade in given.itertuples(index=False, name=None):
        if not _is_name(str(name)):
            found = quote(str(name))
            raise InputError(
                f"labels: expected annotator names without surrounding blanks and line ends, found {found}"
            )
        texts = [str(name), str(query_id), str(doc_id)]
        require_ids(texts[1:])
        rows.append((*map(spreadsheet.escape, texts, LABELS.names), format_number(grade)))
    with replacing(path) as file:
        if separator == "\t":
            file.writelines("\t".join(row) + "\n" for row in rows)
        else:
            csv.writer(file, lineterminator="\n").writerows(rows)


def _counts(path: FilePath, number: int, record: Mapping[str, object]) -> bool:
    """Whether a row of a log is an annotator's own judgement."""
    kind, counts_as = record["kind"], record.get("counts_as") or "judgement"
    if kind not in KINDS:
        raise FormatError(path, number, f"a kind of judgement ({', '.join(KINDS)})", quote(str(kind)))
    if counts_as not in COUNTS_AS:
        raise FormatError(path, number, f"counts_as as one of {', '.join(COUNTS_AS)}", quote(str(counts_as)))
    return counts_as == "judgement"


def _row(
    path: FilePath, number: int, record: Mapping[str, object], log: bool, details: bool, names: Mapping[str, int]
) -> _Row:
    annotator = record["annotator"]
    if not isinstance(annotator, str) or not _is_name(annotator):
        wanted = "an annotator's name without surrounding blanks"
        raise FormatError(path, number, wanted, quote(str(annotator)) if annotator else "none")
    query_id, doc_id = (fields.check_id(path, number, record[column]) for column in ("query_id", "doc_id"))
    at = str(record.get("judged_at") or "") or None
    if log and record["kind"] != "graded":
        return _Row(number, annotator, query_id, doc_id, None, record["kind"] == "cannot judge", at)
    grade = read_grade(path, number, record["relevance"], names)
    more: dict[str, object] = {}
    if details and log:
        more = read_details(path, number, record)
    elif details:
        note = record.get("note")
        found = {"judged_at": at and to_utc(at), "note": note if isinstance(note, str) else None}
        more = {name: value for name, value in found.items() if value}
    return _Row(number, annotator, query_id, doc_id, grade, first_judged_at=at, details=more)


def _is_name(name: str) -> bool:
    return bool(name) and name == name.strip() and not any(c in name for c in "\t\r\n\0")


def read_grade(path: FilePath, number: int, value: object, names: Mapping[str, int]) -> int | float:
    """A grade, a number or one of the `names`."""
    text = "" if value is None else str(value).strip()
    grade = None if isinstance(value, bool) else names.get(text.casefold(), parse_grade(text))
    if grade is None:
        shortest: dict[int, str] = {}
        for name in sorted(names, key=len, reverse=True):
            shortest[names[name]] = name
        named = ", ".join(f"{each} = {quote(shortest[each])}" for each in sorted(shortest))
        wanted = f"a number as grade or its name ({named})" if names else "a number as grade"
        raise FormatError(path, number, wanted, quote(text) if text else "none")
    return grade
