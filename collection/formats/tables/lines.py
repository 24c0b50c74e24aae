"""Lines of blank-separated tables (runs, qrels): layout, columns, numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Floats, Ints
from collection.core.errors import FormatError
from collection.core.phrases import count, plural
from collection.formats import source
from collection.formats.source import FilePath, quote

_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
# Python's float() would also accept '1_000', ' 1' and 'nan'; int() would accept Arabic-Indic digits.
SCORE = re.compile(rf"{_DECIMAL}|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
GRADE = re.compile(_DECIMAL, re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


class Extra(NamedTuple):
    """One more column to keep.

    `parse` gives its value, or None where the text is not what `wanted` says. If it `parts` a topic, a document may
    occur once under each value.
    """

    name: str
    place: int
    wanted: str = "text"
    parse: Callable[[str], str | float | None] = str
    parts: bool = False


class Tag(NamedTuple):
    """The tag that all lines must have, its column, and the line where it first occurs."""

    place: int
    word: str
    line: int


class Layout(NamedTuple):
    """The columns of a line.

    `columns` is the least number of columns, or the only one if `exact`; `names` are their names for messages. `marker`
    is a column that must hold ``Q0``. `graded` marks grades, other values are scores. `seen` is the number of columns
    in the first line, `header` the line number of the header, 0 where there is none.
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
    rank: int | None = None
    """Column of a rank, which is read as a whole number where all are."""
    refuse: Callable[[list[str]], str] | None = None
    """Names the other kind of file that a line's columns come from; '' if the line is valid."""


class TableRows(NamedTuple):
    """The rows of a file, topics as codes into `topic_names`."""

    topics: npt.NDArray[np.int32]
    topic_names: list[str]
    documents: Any
    """An arrow array of large strings."""
    values: Floats | Ints
    extra: list[Any] | None = None
    ranks: npt.NDArray[np.int32] | None = None
    """`extra` are the values of the layout's extra column, `ranks` of its rank where all are whole numbers."""


def split_columns(line: str) -> list[str]:
    """The columns of a line, separated by blanks and tabs only, since ids may hold any other character."""
    return [c for c in line.replace("\t", " ").split(" ") if c]


class Comments:
    """The lines of a file that begin with #; blocks of lines may be added by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._count, self._first = 0, ""

    def add(self, number: int, first: str) -> None:
        """Add a number of lines and one of them."""
        with self._lock:
            self._count, self._first = self._count + number, self._first or first

    def report(self, path: FilePath) -> None:
        """Warn of the lines."""
        if self._count:
            begin = plural(self._count, "line that begins", "lines that begin")
            source.warn(path, f"skipped {self._count:,} {begin} with #, such as {quote(self._first.strip())}")


def report_copies(path: FilePath, copies: int) -> None:
    """Warn of repetitions that were dropped."""
    if copies:
        source.warn(path, f"dropped {count(copies, 'identical repetition')} of lines")


def data_lines(path: FilePath, what: str, comments: Comments | None = None) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, line and columns of every line that is neither blank nor a comment (#)."""
    for number, line in source.lines(path, what, source.LONGEST_ROW, from_mac=False):
        if "\r" in line:
            found, hint = f"a lone carriage return in {quote(line)}", "save the file with Unix line ends"
            raise FormatError(path, number, "lines that end in LF or CRLF", found, hint)
        columns = split_columns(line)
        if columns and not columns[0].startswith("#"):
            yield number, line, columns
        elif columns and comments is not None:
            comments.add(1, line)


def first_line(path: FilePath, what: str) -> tuple[int, str, list[str]]:
    """The first of :func:`data_lines`; an error if there is none."""
    first = next(data_lines(path, what), None)
    if first is None:
        raise source.empty_file_error(path, what)
    return first


def number_hint(text: str) -> str:
    """Suggest a remedy for common ways of writing numbers that are not accepted, and for names of columns."""
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        return "write decimals with a point"
    if re.fullmatch(r"[+-]?nan", text, re.IGNORECASE):
        return "NaN cannot be ranked; remove the document or give it a score"
    if text.lower() in ("score", "sim", "relevance", "rel", "grade", "label"):
        return "remove the line with the names of the columns"
    return ""


def parse_score(text: str) -> float | None:
    """The number, or None for other texts; 1e999 is infinite."""
    return float(text) if SCORE.fullmatch(text) else None


def parse_grade(text: str) -> int | float | None:
    """The grade, an int where it has no fraction, else a float; None for other texts."""
    if WHOLE.fullmatch(text):
        # A frame cannot hold integers beyond 64 bits.
        return int(text) if len(text) < 20 and -(2**63) <= int(text) < 2**63 else None
    if not GRADE.fullmatch(text):
        return None
    value = float(text)
    if not abs(value) < 2**63:
        return None
    return int(value) if value.is_integer() else value


def to_array(grades: list[int | float]) -> np.ndarray:
    """Grades as an array, of integers if all are whole."""
    whole = all(isinstance(g, int) for g in grades)
    return np.array(grades, dtype=np.int64 if whole else np.float64)
