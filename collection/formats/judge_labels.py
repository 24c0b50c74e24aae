"""Labels of judges, such as language models: one file of one judge or of several, with repeated labels of a pair."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from collection.core.errors import FormatError, InputError
from collection.core.phrases import count, join_first
from collection.core.records import HIGHEST_GRADE
from collection.formats import delimited, fields, kinds, labels, objects, qrels, run_records, source
from collection.formats.source import FilePath, opens_once
from collection.formats.tables.lines import data_lines, parse_grade

WANTED = "labels of judges"

JUDGE_NAMES = (*fields.PERSON_NAMES, "label_set", "llm", "model", "model_name")
"""Names of the column of the judge in files."""

_GRADES = (
    *fields.LABEL_ALIASES["relevance"], "relevance_score", "judgment_score", "judgement_score", "prediction",
    "predicted", "pred", "predicted_relevance", "predicted_label", "predicted_grade", "llm_label", "llm_score",
    "llm_relevance", "llm_judgment", "llm_judgement", "llm_grade", "llm_rating",
)  # fmt: skip
_SAMPLES = ("labels", "grades", "scores", "ratings", "judgments", "judgements")
"""Names of the column of the grades of several samples of a judge."""
_PARSED = "result_status"
"""Column by which UMBRELA says whether it found a grade in the reply: if it is 0, the grade is only a default."""
_DECIMAL_COMMA = re.compile(r"(-?\d+),0+")
"""A whole grade as spreadsheets write it in many countries."""
_MODEL = re.compile("gpt|llama|claude|gemini|gemma|mistral|mixtral|qwen|deepseek|llm|umbrela", re.IGNORECASE)
"""Names of models in the names of columns."""
_NO_JUDGES = {
    *map(fields.column_key, ("iter", "iteration", "rank", "run", "run_id", "system", "tag", "probability", "sample")),
    *map(fields.column_key, ("seconds", "cost", "prompt_tokens", "reply_tokens", "confidence", "status")),
}
"""Columns of numbers that are no grades of a judge."""


class _Label(NamedTuple):
    """A label as a file has it; its grade is nan for none."""

    judge: str
    query_id: str
    doc_id: str
    relevance: float


@opens_once
def read_judge_labels(
    path: FilePath,
    *,
    names: Mapping[str, int] = MappingProxyType({}),
    read_reply: Callable[[str], int | None] = lambda _: None,
) -> pd.DataFrame:
    r"""Read labels of one judge or of several; a pair may be repeated, as for several samples of a model.

    Parameters
    ----------
    path
        Qrels (TREC, BEIR, CSV, TSV, XLSX, JSON, JSONL, Parquet); with a column ``annotator``, ``judge``, ``model`` or
        ``label_set`` of several judges. A grade may be a list, one for each sample. A table without a column of grades
        has a column for each judge.
    names
        Names of grades in lower case -> grades, for files that have names.
    read_reply
        Reads the grade of a text that is neither a number nor a name, such as the reply of a model, or JSON; None for
        no certain grade.

    Returns
    -------
    DataFrame
        ``judge`` ("" if the file names none), ``query_id``, ``doc_id``, ``relevance`` (float64) in the order of the
        file; ``relevance`` is nan for an empty or negative grade, NaN, or a word such as "unjudged".

    Raises
    ------
    FormatError
        With path and line: a column is missing, a grade is not a number, or columns of judges have probabilities.

    Warns
    -----
    FormatWarning
        Columns of a table of several judges that are left out since they have no grades, other columns that may have
        grades, and the number of labels for which UMBRELA found no grade.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("judges.tsv").write_text("qid\tdocno\tgpt\tllama\n1\td1\t2\t3\n1\td2\t0\t-1\n")
    >>> print(read_judge_labels("judges.tsv"))
       judge query_id doc_id  relevance
    0    gpt        1     d1        2.0
    1  llama        1     d1        3.0
    2    gpt        1     d2        0.0
    3  llama        1     d2        NaN
    """
    columns: list[list[object]] = [[], [], [], []]
    for row in _rows(path, _Grades(path, names, read_reply)):
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    if not columns[0]:
        raise FormatError(path, None, WANTED, "no labels")
    frame = pd.DataFrame(dict(zip(_Label._fields, columns, strict=True)))
    return frame.astype({"judge": "str", "query_id": "str", "doc_id": "str", "relevance": "float64"})


def expected_kind(path: FilePath) -> str:
    """The kind, of :data:`.kinds.OPTIONS`, that such a file has: that of qrels, or that of labels of several judges."""
    return kinds.LABELS if qrels.is_typed(path) and not _is_one_value(path) else kinds.QRELS


def _is_one_value(path: FilePath) -> bool:
    """Tell whether a file is one object of JSON; an array has records, which may name judges."""
    if objects.is_binary(path) or not run_records.is_one_value(path):
        return False
    return not fields.first_line(path, WANTED)[1].lstrip().startswith("[")


@dataclass(frozen=True)
class _Grades:
    """Reader of the grades of a file."""

    path: FilePath
    names: Mapping[str, int]
    read_reply: Callable[[str], int | None]

    def read(self, number: int | None, value: object) -> float:
        """The grade; nan for none."""
        if labels.is_no_grade(value, self.names):
            return float("nan")
        if isinstance(value, str) and (whole := _DECIMAL_COMMA.fullmatch(value.strip())):
            value = whole[1]
        grade = self.read_plain(value)
        if grade is None and isinstance(value, str | Mapping):
            grade = self.read_reply(value if isinstance(value, str) else json.dumps(value))
        grade = float(labels.read_grade(self.path, number, value, self.names) if grade is None else grade)
        return grade if grade >= 0 else float("nan")

    def read_plain(self, value: object) -> int | float | None:
        """The grade of a number or a name; None for another value."""
        named = labels.find_named(str(value), self.names) if self.names else None
        return fields.as_grade(value) if named is None else named


def _rows(path: FilePath, grades: _Grades) -> Iterator[_Label]:
    if not qrels.is_typed(path):
        yield from _lines(path, grades)
        return
    kinds.refuse_other(path, expected_kind(path))
    aliases = {"judge": JUDGE_NAMES, **fields.PAIR_ALIASES, "relevance": (*_GRADES, *_SAMPLES)}
    if _is_one_value(path):
        rows = run_records.read_columns(path, WANTED, {**fields.PAIR_ALIASES, "relevance": _GRADES})
        if rows is not None:
            renamed = (delimited.rename(path, 0, WANTED, row, aliases, {"judge": ""}) for row in rows)
            yield from _records(path, ((None, row) for row in renamed), grades)
            return
        pair_grades = run_records.read_object(path, WANTED, {**fields.PAIR_ALIASES, "relevance": _GRADES})
        for number, query_id, doc_id, value, *_ in pair_grades:
            yield _Label("", query_id, doc_id, grades.read(number, value))
        return
    first = next(delimited.aliased_records(path, WANTED, fields.PAIR_ALIASES, with_nan=True), None)
    keys = {fields.column_key(name): name for name in first[1]} if first else {}
    if found := [keys[key] for name in (*_GRADES, *_SAMPLES) if (key := fields.column_key(name)) in keys]:
        _warn_of_others(path, found[0], first[1] if first else {})
        records = delimited.aliased_records(path, WANTED, aliases, {"judge": ""}, with_nan=True)
        yield from _records(path, records, grades)
    else:
        yield from _tables(path, grades)


def _warn_of_others(path: FilePath, grades: str, record: Mapping[str, object]) -> None:
    """Warn of columns that seem to have the grades of further judges."""
    judges, known = (set(map(fields.column_key, names)) for names in (JUDGE_NAMES, _GRADES))
    others = [
        name for name in record
        if name != grades and (key := fields.column_key(name)) not in judges and (key in known or _MODEL.search(name))
        and (grade := fields.as_grade(record[name])) is not None and grade in range(HIGHEST_GRADE + 1)
    ]  # fmt: skip
    if others:
        source.warn(
            path,
            f"the grades are those of the column {grades}; {join_first(others)} may have those of other judges: to "
            "import them as well, rename each of these columns to the name of its judge",
        )


def _lines(path: FilePath, grades: _Grades) -> Iterator[_Label]:
    """The lines of qrels in the TREC form, or with BEIR's header."""
    layout = qrels.find_layout(path)
    for number, line, cells in data_lines(path, WANTED):
        if number == layout.header:
            continue
        if len(cells) < layout.columns:
            found = f"{count(len(cells), 'column')}: {source.quote(line.strip())}"
            raise FormatError(path, number, f"{layout.columns} columns ({layout.names})", found)
        yield _Label("", cells[0], cells[layout.doc], grades.read(number, cells[layout.value]))


def _records(
    path: FilePath, records: Iterable[tuple[int | None, Mapping[str, object]]], grades: _Grades
) -> Iterator[_Label]:
    """Labels of records with a grade, or several, and perhaps a judge."""
    unread = 0
    for number, record in records:
        judge = "" if record["judge"] is None else str(record["judge"]).strip()
        pair, given = _pair(path, number, record), record["relevance"]
        is_default = fields.as_grade(record.get(_PARSED)) == 0
        unread += is_default
        for value in given if isinstance(given, list) and given else [given]:
            yield _Label(judge, *pair, float("nan") if is_default else grades.read(number, value))
    if unread:
        source.warn(path, f"{count(unread, 'label')} with {_PARSED} 0: no grade, since UMBRELA found none in the reply")


def _tables(path: FilePath, grades: _Grades) -> Iterator[_Label]:
    """Records with a grade of each judge in a column of its own."""
    rows = list(delimited.aliased_records(path, WANTED, fields.PAIR_ALIASES, with_nan=True))
    others = [name for name in rows[0][1] if name not in fields.PAIR_ALIASES] if rows else []
    judges = [
        name for name in others
        if fields.column_key(name) not in _NO_JUDGES and _has_grades([record.get(name) for _, record in rows], grades)
    ]  # fmt: skip
    if not judges:
        wanted = "a column of grades (relevance, grade, label, score), or a column of grades for each judge"
        hint = "rename the column that has the grades to relevance"
        raise FormatError(path, rows[0][0] if rows else None, wanted, ", ".join(others) or "none", hint)
    given = {grade for _, record in rows for name in judges if (grade := fields.as_grade(record.get(name))) is not None}
    if any(grade % 1 for grade in given) and max(given) <= 1:
        found = f"fractions up to 1 in {join_first(judges)}, like probabilities"
        hint = (
            "write the most probable grade in a column relevance, or name the column of a judge's fractions relevance"
        )
        raise FormatError(path, rows[0][0], "a column of grades for each judge", found, hint)
    if left_out := [name for name in others if name not in judges]:
        source.warn(path, f"left out {count(len(left_out), 'column')} without grades ({join_first(left_out)})")
    for number, record in rows:
        query_id, doc_id = _pair(path, number, record)
        for judge in judges:
            yield _Label(judge.strip(), query_id, doc_id, grades.read(number, record.get(judge)))


def _pair(path: FilePath, number: int | None, record: Mapping[str, object]) -> tuple[str, str]:
    query_id, doc_id = (fields.check_id(path, number, record[column]) for column in ("query_id", "doc_id"))
    return query_id, doc_id


def _has_grades(cells: list[object], grades: _Grades) -> bool:
    """Tell whether the cells are grades or missing ones, and not all missing."""
    given = [cell for cell in cells if not labels.is_no_grade(cell, grades.names)]
    return bool(given) and all(grades.read_plain(cell) is not None for cell in given)


def parse_grades(text: str) -> dict[float, float]:
    """Grades in a file and the grades that replace them, from ``GRADE=GRADE`` separated by commas.

    Raises
    ------
    InputError
        A part has another form, a grade is replaced twice, or a new grade is below 0.

    >>> parse_grades("4=3, 5=3"), parse_grades("")
    ({4.0: 3.0, 5.0: 3.0}, {})
    """
    grades: dict[float, float] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        numbers = [parse_grade(part.strip()) for part in pair.split("=")]
        if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or numbers[1] < 0 or numbers[0] in grades:
            raise InputError(f"expected each grade once as GRADE=GRADE, such as 4=3,5=3, found {pair!r}")
        grades[float(numbers[0])] = float(numbers[1])
    return grades
