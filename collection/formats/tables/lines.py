"""What a line says in the blank-separated tables of the field, runs and qrels: columns, numbers, where things stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import FormatError
from collection.formats import source
from collection.formats.source import quote

_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
# Python's float() would also take '1_000', ' 1' and 'nan'; int() would take Arabic-Indic digits.
SCORE = re.compile(rf"{_DECIMAL}|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
GRADE = re.compile(_DECIMAL, re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


class Extra(NamedTuple):
    """One more column to keep, of the name `name`.

    `parse` makes a value of its text, or None where the text is not what `wanted` says. If it `parts` a
    topic, a document may come once under each value.
    """

    name: str
    place: int
    wanted: str = "text"
    parse: Callable[[str], str | float | None] = str
    parts: bool = False


class Tag(NamedTuple):
    """The tag that all lines must have: its column, and what it is since which line."""

    place: int
    word: str
    line: int


class Layout(NamedTuple):
    """Where things stand in a line.

    `columns` is the least number of columns, or the only one if `exact`; `names` says it in words.
    `marker` is a column that must hold ``Q0``. `graded` tells a grade from a score. `seen` is the number
    of columns in the first line, `header` the number of the line that names the columns, 0 where none does.
    """

    what: str
    names: str
    columns: int
    seen: int
    doc: int
    value: int
    tag: Tag | None = None
    marker: int | None = None
    extra: Extra | None = None
    exact: bool = False
    graded: bool = False
    header: int = 0
    refuse: Callable[[list[str]], str] | None = None
    """Given a line's columns, says what the line is if it is something else; '' if it may pass."""


class Rows(NamedTuple):
    """What a file said: topics as codes and the names that they stand for, documents, values."""

    topics: npt.NDArray[np.int32]
    topic_names: pd.Index[str]
    documents: Any
    """A pandas array of type `str`."""
    values: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    extra: list[Any] | None = None
    """The values of the layout's extra column."""


def columns_of(line: str) -> list[str]:
    """The columns of a line: parted by blanks and tabs only, since ids may hold any other character."""
    return [c for c in line.replace("\t", " ").split(" ") if c]


def data_lines(path: str | PathLike[str], what: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, line and columns of every line that is not blank and no comment (#)."""
    for number, line in source.lines(path, what, source.LONGEST_ROW):
        if "\r" in line:
            raise FormatError(
                path,
                number,
                "lines that end in LF or CRLF",
                f"a lone carriage return in {quote(line)}",
                "save the file with Unix line ends",
            )
        columns = columns_of(line)
        if columns and not columns[0].startswith("#"):
            yield number, line, columns


def parse_score(text: str) -> float | None:
    """The number, or None if it is none; 1e999 is infinite."""
    return float(text) if SCORE.fullmatch(text) else None


def parse_grade(text: str) -> int | float | None:
    """The grade: an int where it has no fraction, a float where it has; None if it is no grade."""
    if WHOLE.fullmatch(text):
        # Beyond 64 bits there is no place for it in a frame, and nobody means it.
        return int(text) if len(text) < 20 and -(2**63) <= int(text) < 2**63 else None
    if not GRADE.fullmatch(text):
        return None
    value = float(text)
    if not abs(value) < 2**63:
        return None
    return int(value) if value.is_integer() else value


def as_numbers(grades: list[int | float]) -> np.ndarray:
    """Grades as an array: of integers if all are whole."""
    whole = all(isinstance(g, int) for g in grades)
    return np.array(grades, dtype=np.int64 if whole else np.float64)
