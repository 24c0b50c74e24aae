"""The blank-separated tables of the field, runs and qrels: a quick reader and an authority.

:func:`read_quickly` reads blocks of bytes with arrow and gives up (None) at anything odd at all.
:func:`read_slowly` reads line by line; it alone decides what is allowed and where the error is. What both
accept they read alike, so the quick one never changes an answer.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import FormatError
from collection.formats import source
from collection.formats.codes import Codes, DocumentCodes, TopicCodes, find_duplicate
from collection.formats.source import quote

_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
# Python's float() would also take '1_000', ' 1' and 'nan'; int() would take Arabic-Indic digits.
SCORE = re.compile(rf"{_DECIMAL}|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
GRADE = re.compile(_DECIMAL, re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


class Layout(NamedTuple):
    """Where things stand in a line.

    `columns` is the least number of columns, or the only one if `exact`; `names` says it in words.
    `tag` and `marker` are columns that must hold one tag throughout and ``Q0``. `graded` tells a
    grade from a score. `seen` is the number of columns in the first line, `header` whether that line
    names the columns.
    """

    what: str
    names: str
    columns: int
    seen: int
    doc: int
    value: int
    tag: int | None = None
    marker: int | None = None
    exact: bool = False
    graded: bool = False
    header: bool = False
    refuse: Callable[[list[str]], str] | None = None
    """Given a line's columns, says what the line is if it is something else; '' if it may pass."""


class Rows(NamedTuple):
    """What a file said, coded: codes and the names that they stand for, values, the tag."""

    topics: Codes
    topic_names: pd.Index[str]
    documents: Codes
    document_names: pd.Index[str]
    values: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    tag: str | None


def columns_of(line: str) -> list[str]:
    """The columns of a line: parted by blanks and tabs only, since ids may hold any other character."""
    return [c for c in line.replace("\t", " ").split(" ") if c]


def data_lines(path: str | PathLike[str], what: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, line and columns of every line that is not blank and no comment (#)."""
    for number, line in source.lines(path, what):
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


def read_table(path: str | PathLike[str], layout: Layout) -> Rows:
    """Read a file by its layout: quickly if it is in order, else by the authority."""
    # Whether a line is something else can only be asked line by line.
    return (None if layout.refuse else read_quickly(path, layout)) or read_slowly(path, layout)


# The quick reader ---------------------------------------------------------------------------------


def read_quickly(path: str | PathLike[str], layout: Layout) -> Rows | None:
    """Read with arrow, block by block; None if anything at all is odd."""
    import pyarrow as pa

    topics, documents = TopicCodes(), DocumentCodes()
    values: list[npt.NDArray[Any]] = []
    tags: set[str] = set()
    try:
        for table in _blocks(path, layout):
            values += _values(table["value"], layout)
            for topic, document in zip(table["topic"].chunks, table["doc"].chunks, strict=True):
                topics.add(topic)
                documents.add(document)
            if layout.tag is not None:
                tags |= _words(table["tag"])
            if layout.marker is not None and any(m.upper() != "Q0" for m in _words(table["marker"])):
                return None
    except (*source.BROKEN, pa.ArrowException, MemoryError, _Odd):
        return None
    if len(tags) > 1 or not any(map(len, values)):
        return None
    topic_codes, topic_names = topics.finish()
    document_codes, document_names = documents.finish()
    if find_duplicate(topic_codes, document_codes, len(document_names)):
        return None
    tag = next(iter(tags), None)
    return Rows(topic_codes, topic_names, document_codes, document_names, np.concatenate(values), tag)


class _Odd(Exception):
    """Something that the quick reader leaves to the authority."""


def _blocks(path: str | PathLike[str], layout: Layout) -> Iterator[Any]:
    """The file as arrow tables, one a block."""
    skip = int(layout.header)
    for chunk in source.chunks(path, layout.what):
        block, separator = _prepared(chunk)
        if block.strip():
            yield _parsed(block, separator, layout).slice(skip)
            skip = 0


def _words(column: Any) -> set[str]:
    """The different words of a coded column."""
    return {word for piece in column.chunks for word in piece.dictionary.to_pylist()}


def _prepared(chunk: bytes) -> tuple[bytes, bytes]:
    """The block with one separator between columns, and that separator."""
    if not chunk.isascii() and not _is_utf8(chunk):
        raise _Odd
    separator = _separator(chunk)
    if separator is not None:
        return chunk, separator
    chunk = chunk.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    # What is left now, a NUL or a lone carriage return, is no text; not in a comment either.
    if _control_characters(np.frombuffer(chunk, np.uint8)) != chunk.count(b"\n"):
        raise _Odd
    while b"  " in chunk:
        chunk = chunk.replace(b"  ", b" ")
    chunk = chunk.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")
    if chunk.startswith(b"#") or b"\n#" in chunk:
        chunk = re.sub(rb"(?m)^#[^\n]*\n?", b"", chunk)
    return chunk, b" "


def _is_utf8(chunk: bytes) -> bool:
    """Whether the block is UTF-8, without making a Python string of it."""
    import pyarrow as pa

    ends = pa.array([0, len(chunk)], pa.int64()).buffers()[1]
    try:
        pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(chunk)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _control_characters(some: npt.NDArray[np.uint8]) -> int:
    return int(np.count_nonzero(some < 32))


def _separator(chunk: bytes) -> bytes | None:
    """The one byte that parts the columns, if the block can be parsed as it is; else None."""
    data = np.frombuffer(chunk, np.uint8)
    if data[0] <= 32 or data[0] == 35 or b"\n#" in chunk:
        return None
    blanks = tabs = False
    step = 1 << 18  # a piece that stays in the processor's cache through the passes over it
    for begin in range(0, len(data), step):
        piece = data[begin : begin + step + 1]  # one over, to see pairs across the cut
        gap = piece <= 32
        if (gap[1:] & gap[:-1]).any():
            return None
        blanks = blanks or bool((piece == 32).any())
        tab_count = int(np.count_nonzero(piece == 9))
        tabs = tabs or tab_count > 0
        if _control_characters(piece) != np.count_nonzero(piece == 10) + tab_count:
            return None
    return None if blanks and tabs else b"\t" if tabs else b" "


def _parsed(chunk: bytes, separator: bytes, layout: Layout) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    names = [f"column {i}" for i in range(layout.seen)]
    coded = pa.dictionary(pa.int32(), pa.string())
    types = {"topic": coded, "doc": pa.string(), "value": coded if layout.graded else pa.float64()}
    names[0], names[layout.doc], names[layout.value] = "topic", "doc", "value"
    for name, place in (("tag", layout.tag), ("marker", layout.marker)):
        if place is not None:
            names[place] = name
            types[name] = coded
    return csv.read_csv(
        pa.BufferReader(chunk),
        csv.ReadOptions(column_names=names, block_size=2 << 20),
        csv.ParseOptions(delimiter=separator.decode(), quote_char=False, double_quote=False, escape_char=False),
        csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            check_utf8=False,  # done for the whole block, the columns that are left out included
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _values(column: Any, layout: Layout) -> list[npt.NDArray[Any]]:
    """The block's grades or scores."""
    if not layout.graded:
        scores = column.to_numpy()
        if np.isnan(scores).any():
            raise _Odd
        return [scores]
    found: list[npt.NDArray[Any]] = []
    for piece in column.chunks:
        # A header's word stays in the dictionary when its row is cut off: only what is used counts.
        codes, used = np.unique(piece.indices.to_numpy(), return_inverse=True)
        grades = [parse_grade(piece.dictionary[int(c)].as_py()) for c in codes]
        sound = [g for g in grades if g is not None]
        if len(sound) < len(grades):
            raise _Odd
        found.append(_as_numbers(sound)[used])
    return found


def _as_numbers(grades: list[int | float]) -> npt.NDArray[Any]:
    whole = all(isinstance(g, int) for g in grades)
    return np.array(grades, dtype=np.int64 if whole else np.float64)


# The authority ------------------------------------------------------------------------------------


def read_slowly(path: str | PathLike[str], layout: Layout) -> Rows:
    """Read line by line: the rows, or the error with its line."""
    topics: dict[str, int] = {}
    documents: dict[str, int] = {}
    topic_codes, document_codes, numbers = array("i"), array("i"), array("q")
    grades: list[int | float] = []
    scores = array("d")
    tag: str | None = None
    tag_line = 0
    rows = data_lines(path, layout.what)
    if layout.header:
        next(rows)
    for number, line, columns in rows:
        _check_columns(path, number, line, columns, layout)
        text = columns[layout.value]
        value = parse_grade(text) if layout.graded else parse_score(text)
        if value is None:
            kind = "a grade (a number)" if layout.graded else "a score (a number)"
            raise FormatError(path, number, f"{kind} in column {layout.value + 1}", quote(text), _hint(text))
        if layout.tag is not None and columns[layout.tag] != tag:
            if tag is not None:
                raise FormatError(
                    path,
                    number,
                    f"one tag throughout ({quote(tag)} since line {tag_line})",
                    f"the tag {quote(columns[layout.tag])}",
                    "a run file holds one run: split the file by its last column",
                )
            tag, tag_line = columns[layout.tag], number
        topic_codes.append(topics.setdefault(columns[0], len(topics)))
        document_codes.append(documents.setdefault(columns[layout.doc], len(documents)))
        numbers.append(number)
        if layout.graded:
            grades.append(value)
        else:
            scores.append(value)
    if not numbers:
        found = "a header and nothing below it" if layout.header else "nothing but blank lines and comments"
        raise FormatError(path, None, layout.what, found)
    names = pd.Index(list(documents), dtype="str")
    values = _as_numbers(grades) if layout.graded else np.array(scores, dtype=np.float64)
    result = Rows(
        np.array(topic_codes, np.int32), pd.Index(list(topics), dtype="str"),
        np.array(document_codes, np.int32), names, values, tag,
    )  # fmt: skip
    twice = find_duplicate(result.topics, result.documents, len(names))
    if twice:
        first, second = numbers[twice[0]], numbers[twice[1]]
        topic = result.topic_names[result.topics[twice[1]]]
        document = names[result.documents[twice[1]]]
        raise FormatError(
            path,
            second,
            "each document once in a topic",
            f"document {quote(document)} of topic {quote(topic)} a second time (first in line {first})",
        )
    return result


def _check_columns(path: str | PathLike[str], number: int, line: str, columns: list[str], layout: Layout) -> None:
    count = len(columns)
    if count < layout.columns or (layout.exact and count != layout.columns):
        found = f"{count} column{'s' if count != 1 else ''}: {quote(line.strip())}"
        raise FormatError(path, number, f"{layout.columns} columns ({layout.names})", found)
    if layout.marker is not None and columns[layout.marker].upper() != "Q0":
        raise FormatError(
            path, number, f"Q0 in column {layout.marker + 1} ({layout.names})", quote(columns[layout.marker])
        )
    if layout.refuse is not None and (other := layout.refuse(columns)):
        raise FormatError(path, number, f"{layout.what} ({layout.names})", f"{other}: {quote(line.strip())}")


def _hint(text: str) -> str:
    """What to do about a common way of writing numbers that is not the one in files."""
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        return "write decimals with a point"
    if re.fullmatch(r"[+-]?nan", text, re.IGNORECASE):
        return "NaN has no place in an order: leave the document out or give it a score"
    return ""
