"""Lines of JSON, headers, ids and texts: helpers shared by the readers of records."""

from __future__ import annotations

import datetime
import itertools
import json
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

from collection.core.errors import EntryNumber, FormatError, numbered
from collection.core.phrases import count
from collection.formats import source
from collection.formats.source import FilePath, fits_a_column, quote
from collection.formats.tables.lines import parse_grade

PAIR_ALIASES = {
    "query_id": ("query_id", "qid", "topic", "query-id", "q_id", "topic_id", "query_id_str", "topic_number", "query"),
    "doc_id": ("doc_id", "docno", "docid", "corpus-id", "document", "document_id", "pid", "passage_id", "doc"),
}
"""Names of the columns of a pair in files; pyterrier's ``docno`` goes before its own number ``docid``."""

GRADE_NAMES = (
    "relevance", "grade", "label", "rel", "judgment", "judgement", "rating", "relevance_grade", "relevance_label",
    "relevance_level",
)  # fmt: skip
"""Names of the column of a grade in files."""

NUGGET_LABELS = ("assignment", "grade", "label", "relevance")
"""Members with the label of a nugget; without a run, all but the first may say something else of it."""

PERSON_NAMES = (
    "annotator", "assessor", "rater", "judge", "user", "worker", "coder", "labeler", "labeller", "reviewer",
    "annotator_id", "assessor_id", "rater_id", "judge_id", "user_id", "worker_id", "_worker_id", "coder_id",
    "annotator_name", "user_name", "email_address", "email", "e-mail", "annotated_by", "labeled_by", "judged_by",
    "completed_by", "created_by", "participant", "participant_id",
)  # fmt: skip
"""Names of the column of who gave a grade, in files and in exports of tools."""

LABEL_ALIASES = {
    "annotator": PERSON_NAMES,
    **PAIR_ALIASES,
    "relevance": (*GRADE_NAMES, "score"),
}
"""Names of the columns of labels in files."""

DOC_ID = ("doc_id", "docno", "_id", "id", "docid")
"""Names of the id of a document."""

TEXT = ("text", "contents", "body", "abstract")
"""Names of the text of a document."""

_TRUTHS = {"true": 1, "false": 0}

_GAP = re.compile(r"[ \t\r\n,]*")

# Escapes for characters that a text cannot keep: NUL, and halves of surrogate pairs.
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def column_key(name: str) -> str:
    """A column's name as names of ids and numbers are compared: letters and digits, in lower case.

    >>> column_key("Query-ID"), column_key(" _worker_id "), column_key('"Doc ID"')
    ('queryid', 'workerid', 'docid')
    """
    return "".join(character for character in name.lower() if character.isalnum())


def data_lines(path: FilePath, what: str) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, with its number."""
    for number, line in source.lines(path, what):
        if line.strip():
            yield number, line


def first_line(path: FilePath, what: str) -> tuple[int, str]:
    """The first line that is not blank; an error if there is none."""
    first = next(data_lines(path, what), None)
    if first is None:
        raise source.empty_file_error(path, what)
    return first


def refuse_array(path: FilePath, number: int, line: str) -> None:
    """Refuse a file that is one JSON array, with a hint."""
    if line.lstrip().startswith("["):
        raise FormatError(path, number, "one JSON object per line", "a JSON array", "write one object per line (JSONL)")


def json_records(path: FilePath, what: str, *, with_nan: bool = False) -> Iterator[tuple[int, dict[str, object]]]:
    """Line number and object of every line of JSONL that is not blank; `with_nan` accepts NaN, as null."""
    for number, line in data_lines(path, what):
        yield number, json_object(path, number, line, with_nan=with_nan)


def _whole_text(path: FilePath, what: str) -> str:
    """The text of a file that is one JSON value."""
    return source.whole_text(path, what, "in a JSON array", "export a part, or CSV")


def whole_object(path: FilePath, what: str, *, with_nan: bool = False) -> dict[str, object] | None:
    """The object that a file consists of; None if it has one object per line, or another value."""
    number, line = first_line(path, what)
    try:
        value = json_object(path, number, line, with_nan=with_nan)
    except FormatError:
        with suppress(FormatError):
            return json_object(path, number, _whole_text(path, what), with_nan=with_nan)
        return None
    return value if len(list(itertools.islice(data_lines(path, what), 2))) == 1 else None


def array_records(path: FilePath, what: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Line, or number of the entry in a file of one line, and object of every member of JSON arrays, read whole."""
    text, wanted = _whole_text(path, what), f"{what} as a JSON array of objects"
    decoder = json.JSONDecoder()  # takes NaN, which some tools write
    at, line, counted = text.index("[") + 1, 1, 0
    in_one_line = "\n" not in text.strip()
    while True:
        at = _after_gap(text, at)
        line, counted = EntryNumber(line + (counted > 0)) if in_one_line else line + text.count("\n", counted, at), at
        if text.startswith("]", at):
            at = _after_gap(text, at + 1)
            if at == len(text):
                return
            if not text.startswith("[", at):
                place = line if in_one_line else line + text.count("\n", counted, at)
                raise FormatError(path, place, "the end after the JSON array", quote(text[at : at + 100]))
            at += 1  # another array, from a second file
            continue
        try:
            member, end = decoder.raw_decode(text, at)
            if isinstance(member, dict):
                member = {str(as_json(path, line, name)): as_json(path, line, value) for name, value in member.items()}
        except (ValueError, RecursionError):
            raise FormatError(path, line, wanted, quote(text[at : at + 100]) if at < len(text) else "its end") from None
        if not isinstance(member, dict):
            raise FormatError(path, line, wanted, quote(text[at:end]))
        yield line, member
        at = end


def _after_gap(text: str, at: int) -> int:
    """The place of the next member of an array."""
    match = _GAP.match(text, at)
    return match.end() if match else at


def json_object(path: FilePath, number: int, line: str, *, with_nan: bool = False) -> dict[str, object]:
    """The object in a line of JSONL; `with_nan` accepts NaN, as null."""
    try:
        value = (_NAN_DECODER if with_nan else _DECODER).decode(line)
        written = json.dumps(value, ensure_ascii=False) if "\\" in line and _SUSPECT.search(line) else ""
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and line[error.pos :].strip() == ",":  # lines cut from an array
            return json_object(path, number, line[: error.pos], with_nan=with_nan)
        found = f"{quote(line)}; {error.msg.removesuffix(' at')} at column {error.colno}"
        raise FormatError(path, number, "one JSON object per line", found) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, number, "one JSON object per line", f"{error} in {quote(line)}") from None
    if not isinstance(value, dict):
        raise FormatError(path, number, "one JSON object per line", quote(line))
    if written:
        _refuse_bad_characters(path, number, written)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} (not a JSON value; write null)")


def _null_for_nan(name: str) -> None:
    if name != "NaN":
        _refuse_constant(name)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:20]} (too large for a number)")
    return value


# json.loads() would make a decoder for each line.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_NAN_DECODER = json.JSONDecoder(parse_constant=_null_for_nan, parse_float=_finite)


def _refuse_bad_characters(path: FilePath, number: int, written: str) -> None:
    try:
        written.encode()
    except UnicodeEncodeError as error:
        found = f"half a surrogate pair (\\u{ord(written[error.start]):04x})"
        raise FormatError(path, number, "text", found) from None
    # json.dumps escapes a NUL; an escaped backslash before 'u0000' is two backslashes.
    if re.search(r"(?<!\\)(?:\\\\)*\\u0000", written):
        raise FormatError(path, number, "text", "a NUL character (\\u0000)")


def as_json(path: FilePath, number: int, value: object) -> object:
    """Convert a value of a typed file to JSON: times become text; bytes, nan and infinity become null."""
    if isinstance(value, str):
        if "\0" in value or any(0xD800 <= ord(c) <= 0xDFFF for c in value if not c.isascii()):
            raise FormatError(path, number, "text", f"an invalid character in {quote(value)}")
    elif isinstance(value, bytes) or (isinstance(value, float) and not math.isfinite(value)):
        value = None
    elif isinstance(value, datetime.date | datetime.time):
        value = value.isoformat()
    elif isinstance(value, Mapping) or hasattr(value, "_asdict"):
        members = value if isinstance(value, Mapping) else value._asdict()
        value = {str(as_json(path, number, str(name))): as_json(path, number, each) for name, each in members.items()}
    elif isinstance(value, list | tuple):
        value = [as_json(path, number, each) for each in value]
    elif value is not None and not isinstance(value, bool | int | float):
        value = str(value)
    return value


def first_present(record: Mapping[str, object], names: Iterable[str]) -> str | None:
    """The first of `names` that the record has a value for."""
    for name in names:  # a generator would take three times as long, for each document
        if record.get(name) is not None:
            return name
    return None


def find_id(path: FilePath, number: int, record: Mapping[str, object], names: tuple[str, ...]) -> tuple[str, str]:
    """The name of the id's field, and the id as text."""
    name = first_present(record, names)
    if name is None:
        found = f"the fields {(', '.join(map(str, record)) or 'none')[:200]}"
        raise FormatError(path, number, f"an id ({', '.join(names)})", found, "rename the field that has the id")
    if record[name] == "":
        hint = "fill it in"
        if names == DOC_ID:
            hint += f"; bibliographic records need no ids: remove {quote(name)} if these are some"
        raise FormatError(path, number, "an id without blanks", f"no id in {quote(name)}", hint)
    return name, check_id(path, number, record[name])


def check_id(path: FilePath, number: int | None, value: object) -> str:
    """An id as text: not empty, and without white space, which separates the columns of runs and qrels."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FormatError(path, number, "an id (text or a whole number)", quote(repr(value)))
    text = str(value).strip(" \t\r\n")
    if not fits_a_column(text):
        hint = (
            "blanks separate the columns of runs and qrels; replace each, such as by '_', in all files" if text else ""
        )
        raise FormatError(path, number, "an id without blanks", quote(str(value)), hint)
    return text


def get_text(path: FilePath, number: int, record: Mapping[str, object], name: str | None) -> str:
    """A field as text; '' where it is absent or null."""
    value = record.get(name) if name is not None else None
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise FormatError(path, number, f"text in the field {quote(str(name))}", quote(json.dumps(value)))


def as_grade(value: object) -> int | float | None:
    """A grade: a number, or true and false as 1 and 0; None for anything else."""
    text = "" if value is None else str(value).strip()
    return _TRUTHS.get(text.casefold(), parse_grade(text))


def find_header(fields: list[str], id_names: tuple[str, ...]) -> list[str] | None:
    """The fields in lower case if one of them is a name of the id; else None."""
    names = [f.strip().lower() for f in fields]
    return names if any(n in id_names for n in names) else None


def check_header(path: FilePath, number: int, names: list[str]) -> None:
    """Refuse a header that names a column twice."""
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        wanted = "a header that names each column once"
        raise FormatError(path, number, wanted, f"{quote(twice)} twice", "rename one of the two")


def fit_width(path: FilePath, number: int, fields: list[str], names: Sequence[str], separator: str = "") -> list[str]:
    """The record without empty columns beyond those of its header; refuses one that does not fit it."""
    while len(fields) > len(names) and not fields[-1].strip():
        fields = fields[:-1]
    if len(fields) != len(names):
        found = f"{count(len(fields), 'column')}: {quote(' | '.join(fields))}"
        hint = "put texts that contain the separator or a line end in quotation marks"
        hint = "separate the columns by one tab each, and leave no tab in a text" if "\t" in separator else hint
        raise FormatError(path, number, f"{len(names)} columns ({', '.join(names)[:100]})", found, hint)
    return fields


class UniqueIds:
    """The ids of a file so far; refuses a repeated one with other content and names its first line."""

    def __init__(self, path: FilePath, thing: str, hint: str = "") -> None:
        self._path, self._thing = path, thing
        self._hint = hint or f"remove one of them, or give each {thing} its own id"
        self._places: dict[str, int] = {}
        self._lines, self._contents = array("q"), array("q")
        self._copies = 0

    def add(self, identity: str, number: int, content: int = 0) -> bool:
        """Add an id with its line and a hash of what it stands for; False for a copy, which is to be left out."""
        place = self._places.setdefault(identity, len(self._lines))
        if place == len(self._lines):
            self._lines.append(number)
            self._contents.append(content)
            return True
        if not content or content != self._contents[place]:
            first = numbered(self._path, self._lines[place])
            found = f"{self._thing} {quote(identity)} again (first in {first})"
            raise FormatError(self._path, number, f"each {self._thing} once", found, self._hint)
        self._copies += 1
        return False

    def report(self) -> None:
        """Warn of copies that were dropped."""
        if self._copies:
            source.warn(self._path, f"dropped {count(self._copies, 'identical repetition')} of {self._thing}s")
