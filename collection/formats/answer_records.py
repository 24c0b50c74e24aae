"""Records of generated answers and their labels: functions that their readers share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import pandas as pd

from collection.core.answers import SUPPORT_GRADES
from collection.core.errors import FormatError, numbered
from collection.core.frames import Schema
from collection.core.phrases import plural
from collection.formats import fields, objects, source
from collection.formats.fields import PAIR_ALIASES
from collection.formats.source import FilePath, quote
from collection.formats.tables.lines import parse_score

RUN = ("run_id", "run", "run_name", "run_tag", "system", "system_id")
"""Field names of the run of an answer."""

TEAM = ("team_id", "team", "group", "org")
"""Field names of the team of a run."""

TOPIC = ("narrative_id", "topic_id", "request_id", *PAIR_ALIASES["query_id"], "turn_id")
"""Field names of the topic of an answer or a nugget."""

_NESTED_TOPIC = tuple(name for name in TOPIC if name not in ("topic", "query"))
"""Field names of the topic in records in which ``topic`` and ``query`` are texts next to an id."""

_TITLE = ("topic", "query", "title", "title_query")
_NARRATIVE = ("narrative", "full_query", "problem_statement")
_FORMS = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")
_GAPS = re.compile(r"[\s_-]+")
_DEEPEST = 4
"""Levels of objects and lists around the records of a file, and of lists in a record."""
_DIGITS = 20
"""More digits than any count in a file has."""
_SUPPORT = {
    **SUPPORT_GRADES, "full_support": 2, "supported": 2, "fully_supported": 2, "full": 2, "fs": 2,
    "partially_supported": 1, "partial": 1, "ps": 1, "no_support": 0, "not_supported": 0, "unsupported": 0, "none": 0,
    "ns": 0, "2": 2, "1": 1, "0": 0,
}  # fmt: skip
NOT_JUDGED = -1
"""Label of a citation that nobody judged."""


class Tally:
    """Counts of what a reader changed or left out, each with the line of its first occurrence.

    Examples
    --------
    >>> tally = Tally("answers.jsonl")
    >>> tally.add("{sentence has|sentences have} no text", 3)
    >>> tally.add("{sentence has|sentences have} no text", 7)
    >>> tally.notes()
    ('2 sentences have no text (first in line 3)',)
    """

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._counts: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        self._examples: dict[str, dict[str, None]] = {}

    def add(self, what: str, line: int, number: int = 1, example: str = "") -> None:
        """Count `what`, in which ``{ONE|MANY}`` agrees with the number; the note names distinct examples."""
        if number:
            self._counts[what] += number
            self._first.setdefault(what, line)
            if example:
                self._examples.setdefault(what, {})[example] = None

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each count."""
        return tuple(self._sentence(what, number) for what, number in self._counts.items())

    def report(self) -> tuple[str, ...]:
        """Return the sentences of :meth:`notes`, and warn of each."""
        for note in self.notes():
            source.warn(self._path, note)
        return self.notes()

    def _sentence(self, what: str, number: int) -> str:
        agreed = _FORMS.sub(lambda forms: plural(number, forms[1], forms[2]), what)
        shown = list(self._examples.get(what, ()))
        named = f", such as {', '.join(map(quote, shown[:3]))}" if shown else ""
        return f"{number:,} {agreed}{named} (first in {numbered(self._path, self._first[what])})"


class MemberNames:
    """Names of members that a reader knows, which files also write in another case or with other separators.

    Those of the run, of its team and of the topic are always among them.

    Examples
    --------
    >>> MemberNames("text").rename({"Run ID": "a", "answers": [{"Text": "b", "note": "c"}]})
    {'run_id': 'a', 'answers': [{'text': 'b', 'note': 'c'}]}
    """

    def __init__(self, *names: str) -> None:
        known = (*RUN, *TEAM, *TOPIC, *_TITLE, *_NARRATIVE, "metadata", *names)
        self._names = frozenset(known)
        self._by_key = {fields.column_key(name): name for name in reversed(known)}

    def rename(self, record: Mapping[str, object], level: int = 0) -> Mapping[str, object]:
        """Return a record with the known names, also in the objects of its lists."""
        own = record
        for name, value in record.items():
            if (
                type(value) is list
                and level < _DEEPEST
                and (members := self._rename_members(value, level)) is not value
            ):
                own = {**own, name: members}
        if self._names.issuperset(own):
            return own
        renamed = {name: self._own_name(name, own) for name in own}
        return own if len(set(renamed.values())) < len(own) else {renamed[name]: own[name] for name in own}

    def _rename_members(self, members: list[object], level: int) -> list[object]:
        own = members
        for place, each in enumerate(members):
            if type(each) is dict and (renamed := self.rename(each, level + 1)) is not each:
                own = [*members] if own is members else own
                own[place] = renamed
        return own

    def _own_name(self, name: str, record: Mapping[str, object]) -> str:
        own = name if name in self._names else self._by_key.get(fields.column_key(name), name)
        return name if own in record else own


def nested_records(
    path: FilePath, what: str, is_nested: Callable[[Mapping[str, object]], bool], names: MemberNames
) -> Iterator[tuple[int, Mapping[str, object]]] | None:
    """Return line and object of each record of JSONL, JSON or Parquet; None if the first record is that of a table.

    NaN is read as null. The members of ``metadata`` are members of the record, unless it has them itself. Records may
    be inside one object: as its lists, or as its members by an id. `names` are those of members.
    """
    records: Iterable[tuple[int, Mapping[str, object]]] | None = None
    if not objects.is_binary(path):
        number, line = fields.first_line(path, what)
        whole = fields.whole_object(path, what, with_nan=True) if line.lstrip().startswith("{") else None
        if whole is not None:
            inside = _records_inside(whole, is_nested, names)
            if not inside and len(list(islice(fields.data_lines(path, what), 2))) > 1:
                found = f"one object with the fields {', '.join(whole)[:200]}"
                raise FormatError(path, number, what, found, "write one object per line (JSONL), or a list of them")
            records = [(number, each) for each in inside or [whole]]
    if records is None and (records := objects.records(path, what, with_nan=True)) is None:
        return None
    merged = ((line, names.rename(_with_metadata(record))) for line, record in records)
    first = next(merged, None)
    return chain([first], merged) if first is not None and is_nested(first[1]) else None


def _records_inside(
    value: object, is_nested: Callable[[Mapping[str, object]], bool], names: MemberNames, level: int = 0
) -> list[Mapping[str, object]]:
    """Return the records inside lists and objects, with the other members of these; none if a part is no record."""
    if isinstance(value, Mapping) and is_nested(names.rename(_with_metadata(value))):
        return [value]
    if not isinstance(value, Mapping | list) or level == _DEEPEST:
        return []
    members = value if isinstance(value, Mapping) else dict(enumerate(value))
    is_part = {name: isinstance(each, Mapping | list) and not _is_metadata(name) for name, each in members.items()}
    others = {str(name): each for name, each in members.items() if not is_part[name] and isinstance(value, Mapping)}
    inside = [_records_inside(each, is_nested, names, level + 1) for name, each in members.items() if is_part[name]]
    return [{**others, **record} for each in inside for record in each] if all(inside) else []


def _with_metadata(record: Mapping[str, object]) -> Mapping[str, object]:
    inner = record.get("metadata") or next((each for name, each in record.items() if _is_metadata(name)), None)
    return {**inner, **record} if isinstance(inner, Mapping) else record


def _is_metadata(name: object) -> bool:
    return isinstance(name, str) and name[:4].lower() == "meta" and fields.column_key(name) == "metadata"


def find_topic(path: FilePath, line: int, record: Mapping[str, object]) -> str:
    """Return the topic id of a record with nested members."""
    names = _NESTED_TOPIC if fields.first_present(record, _NESTED_TOPIC) else TOPIC
    return fields.find_id(path, line, record, names)[1]


def find_run(path: FilePath, line: int, record: Mapping[str, object]) -> str:
    """Return the name of the run as it is in the file."""
    name = fields.first_present(record, RUN)
    text = str(record[name]).strip() if name and isinstance(record[name], str | int) else ""
    if not text or not text.isprintable():
        found = quote(str(record[name])) if name else f"the fields {', '.join(map(str, record))[:200]}"
        raise FormatError(
            path, line, f"the name of a run ({', '.join(RUN[:2])})", found, "name the run in every record"
        )
    return text


def find_text(path: FilePath, line: int, record: Mapping[str, object], names: Sequence[str]) -> str:
    """Return the first of these texts that a record has; '' if it has none."""
    return fields.get_text(path, line, record, fields.first_present(record, names))


def read_support_grade(path: FilePath, line: int, value: object) -> int | None:
    """Return the grade of a label of support, a number or a name; -1 if it was not judged, None if it is unknown.

    Raises
    ------
    FormatError
        A fraction, since 1 then means full support in some files and partial support in others.
    """
    if isinstance(value, str) and value in _SUPPORT:
        return _SUPPORT[value]
    text = str(value).strip().lower() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    number = parse_score(text)
    if number is None:
        return _SUPPORT.get(_GAPS.sub("_", text))
    if number % 1 and 0 < number < max(_SUPPORT.values()):
        hint = "write 2 for support, 1 for partial support, and 0 for none"
        raise FormatError(path, line, "a label of support (2, 1, 0, or its name)", quote(text), hint)
    return int(number) if number in (NOT_JUDGED, *_SUPPORT.values()) else None


def list_of(path: FilePath, line: int, record: Mapping[str, object], name: str, of: str) -> list[Mapping[str, object]]:
    """Return a member that is a list of objects; a missing list is empty, and a text becomes an object with it."""
    value = record.get(name)
    members = [] if value is None else value
    if not isinstance(members, list):
        raise FormatError(path, line, f"{name} as a list of {of}", quote(json.dumps(value)))
    return [as_object(path, line, each, name, of) for each in members]


def as_object(path: FilePath, line: int, value: object, name: str, of: str) -> Mapping[str, object]:
    """Return an element of a list as an object; a text becomes an object with this text."""
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping):
        raise FormatError(path, line, f"{name} as a list of {of}", f"{quote(json.dumps(value))} in it")
    return value


class TopicTexts:
    """Texts of topics in records of answers; the first text of each topic is used."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._texts: dict[str, tuple[str, str]] = {}

    def add(self, path: FilePath, line: int, query_id: str, record: Mapping[str, object]) -> None:
        """Add the texts of a record, if it has any."""
        title, narrative = (find_text(path, line, record, names).strip() for names in (_TITLE, _NARRATIVE))
        texts = ("" if title == query_id else title, narrative)
        if any(texts) and self._texts.setdefault(query_id, texts) != texts:
            self._tally.add("{answer has|answers have} another text of its topic than the first", line)

    def to_frame(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``narrative`` of each topic with a text."""
        rows = [(query_id, *texts) for query_id, texts in self._texts.items()]
        return pd.DataFrame(rows, columns=["query_id", "title", "narrative"]).astype("str")


def to_frame(schema: Schema, rows: Iterable[Sequence[object]], **types: str) -> pd.DataFrame:
    """Return rows as a frame with the required columns of a schema; `types` are those of nullable columns."""
    frame = schema.check(pd.DataFrame(list(rows), columns=list(schema.names)))
    return frame.astype(types)


def as_count(value: object) -> int | None:
    """Return a whole number from 0, also if written as text or float; None for any other value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = value.strip() if isinstance(value, str) else ""
    if text.isascii() and text.isdecimal() and len(text) < _DIGITS:
        value = int(text)
    return value if type(value) is int and 0 <= value < 2**53 else None
