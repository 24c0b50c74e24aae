"""What topics and documents have in common: JSON lines, headers, and the names people give to fields."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, NoReturn

from collection.errors import FormatError
from collection.formats import source
from collection.formats.source import fits_a_column, quote

Path = str | PathLike[str]

# Escapes for characters that a text cannot keep: NUL, and halves of surrogate pairs.
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def data_lines(path: Path, what: str) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, with its number."""
    for number, line in source.lines(path, what):
        if line.strip():
            yield number, line


def first_line(path: Path, what: str) -> tuple[int, str]:
    """The first line that is not blank; an error if there is none."""
    first = next(data_lines(path, what), None)
    if first is None:
        raise source.nothing_in(path, what)
    return first


def refuse_array(path: Path, number: int, line: str) -> None:
    """A file that is one JSON array is a near miss worth a word of its own."""
    if line.lstrip().startswith("["):
        raise FormatError(path, number, "one JSON object a line", "a JSON array", "write each member on a line (JSONL)")


def json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """One line of JSONL."""
    try:
        value = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
        written = json.dumps(value, ensure_ascii=False) if _SUSPECT.search(line) else ""
    except json.JSONDecodeError as error:
        found = f"{error.msg.removesuffix(' at')} at column {error.colno} of {quote(line)}"
        raise FormatError(path, number, "one JSON object a line", found) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, number, "one JSON object a line", f"{error} in {quote(line)}") from None
    if not isinstance(value, dict):
        raise FormatError(path, number, "one JSON object a line", quote(line))
    _refuse_bad_characters(path, number, written)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} (JSON has no such value: write null)")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:20]} (too large for a number)")
    return value


def _refuse_bad_characters(path: Path, number: int, written: str) -> None:
    try:
        written.encode()
    except UnicodeEncodeError as error:
        found = f"half a surrogate pair (\\u{ord(written[error.start]):04x})"
        raise FormatError(path, number, "text", found) from None
    # json.dumps escapes a NUL; an escaped backslash before 'u0000' is two backslashes.
    if re.search(r"(?<!\\)(?:\\\\)*\\u0000", written):
        raise FormatError(path, number, "text", "a NUL character (\\u0000)")


def pick(record: Mapping[str, object], names: Iterable[str]) -> str | None:
    """The first of `names` that the record has a value for."""
    return next((n for n in names if record.get(n) is not None), None)


def identifier(path: Path, number: int, record: Mapping[str, object], names: tuple[str, ...]) -> tuple[str, str]:
    """The name of the id's field, and the id as text."""
    name = pick(record, names)
    if name is None:
        there = ", ".join(map(str, record)) or "none"
        raise FormatError(
            path, number, f"an id ({', '.join(names)})", f"the fields {there[:200]}", "name the id's field so"
        )
    return name, check_id(path, number, record[name])


def check_id(path: Path, number: int, value: object) -> str:
    """An id as text: not empty, and without white space, by which runs and qrels part their columns."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FormatError(path, number, "an id (text or a whole number)", quote(repr(value)))
    text = str(value).strip(" \t\r\n")
    if not fits_a_column(text):
        hint = "runs and qrels part their columns by blanks, so an id cannot hold one" if text else ""
        raise FormatError(path, number, "an id without blanks", quote(str(value)), hint)
    return text


def text_of(path: Path, number: int, record: Mapping[str, object], name: str | None) -> str:
    """A field as text; '' where it is absent or null."""
    value = record.get(name) if name is not None else None
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise FormatError(path, number, f"text in the field {quote(str(name))}", quote(json.dumps(value)))


def header_of(fields: list[str], id_names: tuple[str, ...]) -> list[str] | None:
    """The fields in lower case if they are a header, that is if one of them is a name for the id."""
    names = [f.strip().lower() for f in fields]
    return names if any(n in id_names for n in names) else None


def check_header(path: Path, number: int, names: list[str]) -> None:
    """Refuse a header that names a column twice: one of the two would be lost."""
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        raise FormatError(path, number, "a header that names each column once", f"{quote(twice)} twice")


def check_width(path: Path, number: int, fields: list[str], names: list[str]) -> None:
    """Refuse a record that does not fit its header."""
    if len(fields) != len(names):
        found = f"{len(fields)}: {quote(' | '.join(fields))}"
        raise FormatError(path, number, f"{len(names)} columns ({', '.join(names)[:100]})", found)


class Seen:
    """The ids of a file so far; refuses one that comes again and says where it was first."""

    def __init__(self, path: Path, thing: str) -> None:
        self._path, self._thing = path, thing
        self._lines: dict[str, int] = {}

    def add(self, identity: str, number: int) -> None:
        """Note an id with its line."""
        first = self._lines.setdefault(identity, number)
        if first != number:
            found = f"{self._thing} {quote(identity)} a second time (first in line {first})"
            raise FormatError(self._path, number, f"each {self._thing} once", found)

    def line(self, identity: str) -> int:
        """Where an id was first."""
        return self._lines[identity]
