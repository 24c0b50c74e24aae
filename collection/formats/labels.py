"""Labels: one grade per annotator and pair, or a log of judgements, of which the last judgement counts."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from collection.core.errors import FormatError, InputError, numbered
from collection.core.frames import LABELS
from collection.core.phrases import count, join_first, literal, plural
from collection.core.records import COUNTS_AS, KINDS
from collection.formats import delimited, fields, kinds, label_exports, source, spreadsheet
from collection.formats.fields import LABEL_ALIASES
from collection.formats.judgements import DETAILS, read_details, read_question_answers, read_time, to_utc
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import parse_grade, parse_score, to_array
from collection.formats.write import ANSWERS, format_number, replacing, require_ids

WANTED = "labels"
_NO_GRADE = (
    "", "-", "?", "n/a", "#n/a", "n.a.", "na", "<na>", "nan", "none", "null", "skip", "skipped",
    "ignore", "ignored", "unjudged", "unrated", "unlabeled", "unlabelled", "not judged", "not labeled", "not labelled",
    "no label", "no grade", "missing", "maybe", "undecided",
)  # fmt: skip
"""What stands for a missing grade in files, unless it is a name of a grade."""
_ALIASES = {
    **LABEL_ALIASES,
    "query_id": (*LABEL_ALIASES["query_id"], "query text"),
}
"""Names of the columns, with those of Quepid."""
_TIMES = ("judged_at", "created_at", "_timestamp")
_TOOLS_TIMES = ("timestamp", "_created_at", "submittime", "completed_at", "time", "date")
"""Columns of times that tools and forms write in the manner of a country, which are left out unless in ISO 8601."""
_MAY_BE_PEOPLE = re.compile("annot|assess|rater|judge|worker|user|coder|label+er|reviewer|person|mail|turker|expert")
"""Words in the names of columns that may name annotators."""
_SEVERAL_IN_CELL = re.compile(r"\d+(?:\s*[#,;|]\s*\d+)+")
"""Several grades in a cell, as doccano and forms write them."""


class _Row(NamedTuple):
    line: int
    annotator: str
    query_id: str
    doc_id: str
    relevance: int | float | None
    cannot: bool = False
    first_judged_at: str | None = None
    judged_at: str | None = None
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


@opens_once
def read_labels(
    path: FilePath,
    *,
    query_id: str | None = None,
    names: Mapping[str, int] = MappingProxyType({}),
    annotator: str | None = None,
) -> pd.DataFrame:
    r"""Read annotators' grades: labels, or a log of judgements.

    Parameters
    ----------
    path
        CSV, TSV or XLSX with a header, JSONL or Parquet, with the columns annotator (or assessor, rater, judge, user),
        query_id (qid, topic), doc_id (docno, docid), relevance (grade, label, rel, score, judgment). A file with a
        column ``kind`` is read as a log written by ``cleverdon export --judgements``: each annotator's last row for a
        pair counts if it is a grade, and adjudications and surplus judgements are left out. Also exports of ASReview
        (CSV, XLSX, RIS), Label Studio (JSON, CSV), HiCAL, doccano, Prodigy, Argilla, Potato, Quepid, Rayyan, Label
        Sleuth, Mechanical Turk and Appen.
    query_id
        The topic of labels in a file without topics.
    names
        Names of grades in lower case -> grades, for files that have names.
    annotator
        Who judged what has no annotator in the file.

    Returns
    -------
    DataFrame
        :data:`collection.core.frames.LABELS` in the order of the file: ids as str, ``relevance`` as int64 (float64 if a
        grade has a fraction). If the file has times, also ``first_judged_at`` (str), the time of the annotator's first
        grade for the pair.

    Raises
    ------
    FormatError
        A missing column, a grade that is not a number, an invalid time, or (outside a log) two grades of an annotator
        for a pair without times; with path and line, or the number of the entry in JSON of one line.

    Warns
    -----
    FormatWarning
        The number of entries without a grade, which are skipped; of repetitions, which count once; and of earlier
        grades of the same annotator and pair: the latest counts.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("labels.csv").write_text("assessor,qid,docno,grade\nann,301,d1,2\nbob,301,d1,0\n")
    >>> print(read_labels("labels.csv"))
      annotator query_id doc_id  relevance
    0       ann      301     d1          2
    1       bob      301     d1          0
    """
    return _read(path, _Defaults(annotator, query_id), names, details=False).labels


@opens_once
def read_label_log(
    path: FilePath,
    *,
    query_id: str | None = None,
    names: Mapping[str, int] = MappingProxyType({}),
    annotator: str | None = None,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> LabelLog:
    """Read labels as :func:`read_labels` does, with the details of a log and the number of rows left out.

    `titles` are the titles of topics in lower case and their ids, for files that name topics by their titles (Quepid).
    """
    return _read(path, _Defaults(annotator, query_id, titles), names, details=True)


class _Defaults(NamedTuple):
    """Facts about a file's labels that the campaign or the user knows."""

    annotator: str | None
    query_id: str | None
    titles: Mapping[str, str] = MappingProxyType({})


def _records(
    path: FilePath, given: _Defaults, names: Mapping[str, int] = MappingProxyType({})
) -> Iterator[tuple[int, dict[str, object]]]:
    defaults = {"annotator": given.annotator or ""}
    if given.query_id is not None:
        defaults["query_id"] = given.query_id
    exported = label_exports.records(path, WANTED)
    if exported is None:
        for number, row in delimited.aliased_records(path, WANTED, _ALIASES, defaults):
            yield number, {**row, "relevance": label_exports.choice_in(row["relevance"])}
        return
    for number, exported_record in exported:
        record = {name: value for name, value in exported_record.items() if name != label_exports.DECISION}
        decision = exported_record.get(label_exports.DECISION)
        if decision in names:  # 1 of a tool that has only two decisions is not the second of a review's three
            record["relevance"] = decision
        if given.query_id is None and not any(name in record for name in _ALIASES["query_id"]):
            if record.get("relevance", "") is None:  # an entry without a grade need not name a topic
                yield number, {"relevance": None}
                continue
            raise NoTopicsError(path, number, "labels with topics", "none", "add a column query_id")
        yield number, delimited.rename(path, number, WANTED, record, _ALIASES, defaults)


def _read(path: FilePath, given: _Defaults, names: Mapping[str, int], *, details: bool) -> LabelLog:
    kinds.refuse_other(path, WANTED)
    latest: dict[tuple[str, str, str], _Row] = {}
    left_out: Counter[str] = Counter()
    said: Counter[str] = Counter()
    several: list[str] = []
    people = _Nameless(given.annotator)
    for number, record in _records(path, given, names):
        log = "kind" in record
        if log and not _counts(path, number, record):
            left_out[str(record["counts_as"])] += record["kind"] != "undone"
            continue
        if not log and is_no_grade(record["relevance"], names):
            said["empty"] += 1
            continue
        if not log and _has_several(record["relevance"], names):
            several.append(_name_task(path, number, record))
            continue
        people.add(record)
        row = _row(path, number, record, log, details, names, given)
        said["times"] += row.judged_at is None and any(record.get(name) for name in _TOOLS_TIMES)
        before = latest.pop(row[1:4], None)
        if before is not None and not log:
            said["same" if before.relevance == row.relevance else "earlier"] += 1
            row = _latest(path, before, row)
        elif before is not None and (before.relevance is not None or before.cannot):
            row = row._replace(first_judged_at=before.first_judged_at)
        latest[row[1:4]] = row
    if not (latest or left_out or said or several):
        raise FormatError(path, None, WANTED, "no entries")
    _report(path, said)
    if several:
        tasks = f"{count(len(several), 'entry', 'entries')} with several choices as grade"
        source.warn(path, f"skipped {tasks} ({join_first(several)}); choose one in each")
    people.report(path)
    graded = [row for row in latest.values() if row.relevance is not None]
    frame = pd.DataFrame([row[1:4] for row in graded], columns=list(LABELS.names[:3]), dtype="str")
    labels = frame.assign(relevance=to_array([row.relevance for row in graded if row.relevance is not None]))
    if any(row.first_judged_at for row in graded):
        labels["first_judged_at"] = pd.Series([row.first_judged_at for row in graded], dtype="str")
    for name in DETAILS:
        present = [row.details[name] for row in graded if name in row.details]
        if any(present) if name == ANSWERS else present:
            labels[name] = pd.Series([row.details.get(name) for row in graded], dtype=object)
    left_out["cannot judge"] = sum(row.cannot for row in latest.values())
    return LabelLog(LABELS.check(labels), {what: count for what, count in left_out.items() if count})


def is_no_grade(value: object, names: Mapping[str, int]) -> bool:
    """Tell whether an entry says that there is no grade: nothing, or a word for it."""
    text = " ".join(str("" if value is None or value == [] else value).replace("_", " ").split()).casefold()
    return text not in names and text in _NO_GRADE


def _has_several(value: object, names: Mapping[str, int]) -> bool:
    """Tell whether an entry has several choices."""
    if isinstance(value, list | tuple):
        return True
    text = str(value).strip()
    return text.casefold() not in names and _SEVERAL_IN_CELL.fullmatch(text) is not None and parse_grade(text) is None


def _name_task(path: FilePath, number: int, record: Mapping[str, object]) -> str:
    """Name an entry in messages."""
    pair = [f"{name} {record[key]}" for name, key in (("topic", "query_id"), ("document", "doc_id")) if record.get(key)]
    return f"{numbered(path, number)}: {', '.join(pair)}" if pair else numbered(path, number)


class _Nameless:
    """Labels without an annotator, and the columns that may name who gave them."""

    def __init__(self, annotator: str | None) -> None:
        self._annotator, self._labels = annotator, 0
        self._values: dict[str, set[str]] = {}

    def add(self, record: Mapping[str, object]) -> None:
        """Look at a record."""
        if record.get("annotator") and record["annotator"] != self._annotator:
            return
        self._labels += 1
        for name in may_be_people(record):
            self._values.setdefault(name, set()).add(str(record[name]))

    def report(self, path: FilePath) -> None:
        """Warn of columns with several values that may name annotators."""
        if named := [name for name, values in self._values.items() if len(values) > 1]:
            who = f"{count(self._labels, 'label')} {plural(self._labels, 'counts', 'count')} as by {self._annotator!r}"
            columns = f"the {plural(len(named), 'column', 'columns')} {join_first(named)} may name annotators"
            source.warn(path, f"{who}, but {columns}; to count each person, rename it to annotator")


def may_be_people(record: Mapping[str, object]) -> list[str]:
    """The fields of a record that may name who gave a label."""
    known = {*_ALIASES, *_TIMES, *_TOOLS_TIMES, *DETAILS}
    return [
        name for name, value in record.items()
        if value and name not in known and _MAY_BE_PEOPLE.search(name.lower()) and isinstance(value, str | int)
    ]  # fmt: skip


def _latest(path: FilePath, before: _Row, row: _Row) -> _Row:
    """The later of two grades of an annotator for a pair, or either of two equal ones."""
    if before.relevance != row.relevance and not (before.judged_at and row.judged_at):
        what = f"{quote(row.annotator)} on topic {quote(row.query_id)}, document {quote(row.doc_id)}"
        found = f"{what} again with another grade ({before.relevance} in {numbered(path, before.line)})"
        hint = "keep only the last of them, or add their times as judged_at"
        raise FormatError(path, row.line, "one grade per annotator and pair", found, hint)
    is_later = bool(row.judged_at and before.judged_at and row.judged_at >= before.judged_at)
    first, last = (before, row) if is_later else (row, before)
    if before.relevance == row.relevance:
        return before if is_later or not row.judged_at else row
    return last._replace(first_judged_at=first.first_judged_at)


def _report(path: FilePath, said: Mapping[str, int]) -> None:
    if empty := said.get("empty"):
        entries = count(empty, "entry", "entries")
        source.warn(path, f"skipped {entries} without a grade (empty, skipped or cancelled)")
    if same := said.get("same"):
        repeat = plural(same, "entry repeats another and counts", "entries repeat others and count")
        source.warn(path, f"{same:,} {repeat} once")
    if times := said.get("times"):
        source.warn(path, f"left out {count(times, 'time')} not in ISO 8601 (such as 2026-03-02T09:00:00Z)")
    if earlier := said.get("earlier"):
        grades = f"{count(earlier, 'grade')} {plural(earlier, 'was', 'were')} revised"
        source.warn(path, f"{grades}: of an annotator's grades for a pair, the latest counts")


def find_label_line(path: FilePath, annotator: str, query_id: str, doc_id: str) -> int | None:
    """The last line of an annotator's label for a pair, for messages; None if there is none."""
    lines = (
        number
        for number, record in _records(path, _Defaults(annotator, query_id))
        if (record.get("annotator") or annotator, *(str(record.get(name)).strip() for name in ("query_id", "doc_id")))
        == (annotator, query_id, doc_id)
    )
    return max(lines, default=None)


def write_labels(frame: pd.DataFrame, path: FilePath) -> None:
    """Write labels as ``.csv`` or ``.tsv`` with the header ``annotator,query_id,doc_id,relevance``.

    `frame` is :data:`.LABELS` with one row per annotator and pair, in the order of the file. Names
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
    """Tell whether a row of a log is an annotator's own judgement."""
    kind, counts_as = record["kind"], record.get("counts_as") or "judgement"
    if kind not in KINDS:
        raise FormatError(path, number, f"a kind of judgement ({', '.join(KINDS)})", quote(str(kind)))
    if counts_as not in COUNTS_AS:
        raise FormatError(path, number, f"counts_as as one of {', '.join(COUNTS_AS)}", quote(str(counts_as)))
    return counts_as == "judgement"


def _row(
    path: FilePath,
    number: int,
    record: Mapping[str, object],
    log: bool,
    details: bool,
    names: Mapping[str, int],
    given: _Defaults,
) -> _Row:
    annotator = record["annotator"] or given.annotator
    if not isinstance(annotator, str) or not _is_name(annotator):
        wanted, hint = "an annotator's name without surrounding blanks", "name who judged with --annotator"
        if may_be := may_be_people(record):
            hint = f"rename the column that names annotators ({', '.join(may_be)}?) to annotator, or {hint}"
        raise FormatError(
            path, number, wanted, quote(str(annotator)) if annotator else "none", "remove them" if annotator else hint
        )
    topic = str(record["query_id"])
    record = {**record, "query_id": given.titles.get(" ".join(topic.split()).casefold(), record["query_id"])}
    query_id, doc_id = (fields.check_id(path, number, record[column]) for column in ("query_id", "doc_id"))
    at = next((str(record[name]) for name in _TIMES if record.get(name)), None)
    judged_at = read_time(path, number, at, "judged_at") if at else None
    if not at:
        times = (to_utc(str(record[name])) for name in _TOOLS_TIMES if record.get(name))
        at = judged_at = next(filter(None, times), None)
    if at and parse_score(at) is not None:
        at = judged_at
    if log and record["kind"] != "graded":
        return _Row(number, annotator, query_id, doc_id, None, record["kind"] == "cannot judge", at)
    grade = read_grade(path, number, record["relevance"], names)
    more: dict[str, object] = {}
    if details and log:
        more = read_details(path, number, record)
    elif details:
        note = record.get("note")
        given_details = {
            "judged_at": judged_at,
            "note": note if isinstance(note, str) else None,
            # Other tools may have a field of this name; columns of answers name a question.
            "answers": read_question_answers(path, number, {name: record[name] for name in record if "." in name}),
        }
        more = {name: value for name, value in given_details.items() if value}
    return _Row(number, annotator, query_id, doc_id, grade, first_judged_at=at, judged_at=judged_at, details=more)


def _is_name(name: str) -> bool:
    return bool(name) and name == name.strip() and not any(c in name for c in "\t\r\n\0")


def find_named(text: str, names: Mapping[str, int]) -> int | None:
    """The grade with this name, in which underscores may stand for blanks; None if there is none."""
    name = text.strip().casefold()
    return names.get(name) if name in names or "_" not in name else names.get(" ".join(name.replace("_", " ").split()))


def read_grade(path: FilePath, number: int | None, value: object, names: Mapping[str, int]) -> int | float:
    """A grade, a number or one of the `names`."""
    text = "" if value is None else str(value).strip()
    named = find_named(text, names)
    grade = fields.as_grade(value) if named is None else named
    if grade is None:
        shortest: dict[int, str] = {}
        for name in sorted(names, key=len, reverse=True):
            shortest[names[name]] = name
        listed = ", ".join(f"{each} = {quote(shortest[each])}" for each in sorted(shortest))
        wanted = f"a number as grade or its name ({listed})" if names else "a number as grade"
        hint = "write a grade of the scale, or leave it empty to skip the entry"
        raise FormatError(path, number, wanted, quote(text) if text else "none", hint)
    return grade
