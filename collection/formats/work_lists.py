"""Work lists: pairs to judge outside the app, as CSV or XLSX, and the grades in returned lists."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from collection.core.errors import FormatError
from collection.core.questions import QUESTION_KINDS, TAG_SEPARATOR, Question, describe_bounds, write_answer
from collection.core.records import Answer
from collection.formats import delimited, fields, source, spreadsheet, workbook
from collection.formats.fields import LABEL_ALIASES
from collection.formats.judgements import read_question_answers
from collection.formats.labels import read_grade
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.write import ANSWERS, NOT_XML, replacing, replacing_bytes

WANTED = "a work list"
COLUMNS = ("work_list", "annotator", "query_id", "topic", "doc_id", "title", "text", "relevance", "grades")
"""``work_list`` names the campaign, ``relevance`` is for the grade, and ``grades`` says what the grades mean."""

METADATA = ("authors", "year", "journal", "doi", "url")
"""Metadata with a column after the title, if a document of the list has it."""

LONGEST_CELL = 32_767
"""Maximum characters of a cell in Excel."""

LONGEST_LIST = 225
"""Maximum characters of the list of a cell's allowed values in Excel, or of its error message."""

_WIDTHS = {"topic": 40, "title": 30, "text": 90, "relevance": 12, "grades": 40, "questions": 40}


class WorkListRow(NamedTuple):
    """A pair of a work list with the grade (None: not judged yet) and the other answers; in a returned file, its line.

    In a new list, only pairs whose judgement is to be completed have a grade.
    """

    campaign: str
    annotator: str
    query_id: str
    doc_id: str
    topic: str = ""
    title: str = ""
    text: str = ""
    line: int = 0
    relevance: int | float | None = None
    metadata: Mapping[str, object] = {}
    answers: Mapping[str, Answer] = {}


@opens_once
def is_work_list(path: FilePath) -> bool:
    """Return whether a file is a work list, by its first column."""
    if workbook.is_workbook(path):
        _, header = next(workbook.read_rows(path, "labels"), (0, [""]))
        return header[0] == COLUMNS[0]
    return source.suffix(path) == ".csv" and fields.first_line(path, "labels")[1].strip('"').startswith(COLUMNS[0])


def require_work_list_ending(path: FilePath) -> None:
    """Raise InputError unless the name ends in .csv or .xlsx."""
    if source.suffix(path) not in (".csv", ".xlsx"):
        raise source.ending_error(path, "work lists", (".csv", ".xlsx"))


def write_work_list(
    rows: Sequence[WorkListRow], grades: Mapping[int, str], path: FilePath, questions: Sequence[Question] = ()
) -> None:
    """Write a work list as ``.csv`` or ``.xlsx``; `grades` are the grades with what they mean.

    Each of the other `questions` has a column ``answers.NAME`` behind the grade, and the column ``questions`` explains
    them.

    In CSV, texts that a spreadsheet would compute get an apostrophe (:mod:`collection.formats.spreadsheet`); in XLSX
    every cell is marked as text. Cells of XLSX are cut to what Excel can hold.
    """
    require_work_list_ending(path)
    meaning = "\n".join(f"{grade}: {sentence}" for grade, sentence in grades.items())
    more = [name for name in METADATA if any(row.metadata.get(name) for row in rows)]
    others = {f"{ANSWERS}.{question.name}": question for question in questions}
    columns = [*COLUMNS[:6], *more, *COLUMNS[6:8], *others, COLUMNS[8]]
    asked = "\n\n".join(map(_describe_question, questions))
    cells = [
        [row.campaign, row.annotator, row.query_id, row.topic, row.doc_id, row.title,
         *(_cell(row.metadata.get(name)) for name in more), row.text,
         "" if row.relevance is None else str(row.relevance),
         *("" if each.name not in row.answers else write_answer(row.answers[each.name]) for each in questions), meaning]
        for row in rows
    ]  # fmt: skip
    if questions:
        columns, cells = [*columns, "questions"], [[*row, asked] for row in cells]
    if source.suffix(path) == ".csv":
        with replacing(path) as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(columns)
            for each in cells:
                writer.writerow(map(spreadsheet.escape, each, columns))
    else:
        with replacing_bytes(path) as raw:
            choices = {name: each.answers for name, each in others.items() if each.kind != "tags"}
            _write_workbook(columns, cells, {"relevance": list(grades)} | {n: list(c) for n, c in choices.items()}, raw)


def _describe_question(question: Question) -> str:
    """Write what a question asks, when, and its answers."""
    separated = f", separated by {TAG_SEPARATOR}" if question.kind == "tags" else ""
    how = f"{QUESTION_KINDS[question.kind]} these{separated}, at {describe_bounds(question)}"
    optional = "" if question.required else ", optional"
    lines = [f"{question.name}: {question.sentence} ({how}{optional})"]
    return "\n".join(
        lines + [str(name) if name == text else f"{name}: {text}" for name, text in question.answers.items()]
    )


def _cell(value: object) -> str:
    """A value of metadata as a text; a list, such as authors, with semicolons."""
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _write_workbook(
    columns: Sequence[str], cells: Sequence[Sequence[str]], choices: Mapping[str, Sequence[int | str]], file: IO[bytes]
) -> None:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.active
    sheet.title = "Work list"
    sheet.append(list(columns))
    for number, row in enumerate(cells, start=2):
        for place, text in enumerate(row, start=1):
            if not text:  # a grade or another answer
                continue
            cell = sheet.cell(number, place)
            cell.value = NOT_XML.sub("\ufffd", text)[:LONGEST_CELL]
            cell.data_type = "s"  # else text that begins with = would be a formula
            cell.quotePrefix = True  # text also after somebody edited the cell
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for place, name in enumerate(columns, start=1):
        head = sheet.cell(1, place)
        head.font = Font(bold=True)
        sheet.column_dimensions[head.column_letter].width = _WIDTHS.get(name, 14)
        listed = ",".join(map(str, choices.get(name, ())))
        # Excel allows lists of 255 characters, which cannot have names with a comma.
        if not cells or not listed or len(listed) > LONGEST_LIST or listed.count(",") >= len(choices[name]):
            continue
        what = "grade" if name == "relevance" else "answer"
        choice = DataValidation("list", formula1=f'"{listed}"', allow_blank=True, showErrorMessage=True)
        choice.errorTitle = f"Not {'a' if what == 'grade' else 'an'} {what}"
        choice.error = f"Choose one of the {what}s {', '.join(map(str, choices[name]))}."[:LONGEST_LIST]
        sheet.add_data_validation(choice)
        choice.add(f"{head.column_letter}2:{head.column_letter}{len(cells) + 1}")
    sheet.freeze_panes = "A2"
    book.save(file)


@opens_once
def read_work_list(path: FilePath, names: Mapping[str, int]) -> Iterator[WorkListRow]:
    """Read the rows of a returned work list, with line and grade; a grade may be one of the `names`.

    Raises
    ------
    FormatError
        A missing column, an invalid id or grade, or a repeated pair; with path and line.
    """
    aliases = {"work_list": ("work_list",), **LABEL_ALIASES}
    seen: dict[tuple[str, str, str], int] = {}
    for line, record in delimited.aliased_records(path, WANTED, aliases):
        query_id, doc_id = (fields.check_id(path, line, record[column]) for column in ("query_id", "doc_id"))
        annotator, said = str(record["annotator"]), str(record["relevance"]).strip()
        if (first := seen.setdefault((annotator, query_id, doc_id), line)) != line:
            found = f"topic {quote(query_id)}, document {quote(doc_id)} again (first in {first:,})"
            raise FormatError(path, line, "each pair once", found)
        grade = read_grade(path, line, said, names) if said else None
        answers = read_question_answers(path, line, record)
        if answers and grade is None:
            name = next(iter(answers))
            raise FormatError(path, line, "a grade in relevance with the answers", f"none, but an answer to {name!r}")
        yield WorkListRow(
            str(record["work_list"]), annotator, query_id, doc_id, line=line, relevance=grade, answers=answers
        )
