"""Records of generated answers and their labels: functions that their readers share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import pandas as pd

from collection.core.errors import FormatError, numbered
from collection.core.frames import Schema
from collection.core.phrases import plural
from collection.formats import fields, objects, source
from collection.formats.fields import PAIR_ALIASES
from collection.formats.source import FilePath, quote

RUN = ("run_id", "run", "runid", "run_name", "run_tag", "system", "system_id")
"""Field names of the run of an answer."""

TEAM = ("team_id", "team", "group", "org")
"""Field names of the team of a run."""

TOPIC = ("narrative_id", "topic_id", "request_id", *PAIR_ALIASES["query_id"])
"""Field names of the topic of an answer or a nugget."""

_NESTED_TOPIC = tuple(name for name in TOPIC if name not in ("topic", "query"))
"""Field names of the topic in records in which ``topic`` and ``query`` are texts next to an id."""

_TITLE = ("topic", "query", "title", "title_query")
_NARRATIVE = ("narrative", "full_query", "problem_statement")
_FORMS = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")


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


def nested_records(
    path: FilePath, what: str, is_nested: Callable[[Mapping[str, object]], bool]
) -> Iterator[tuple[int, Mapping[str, object]]] | None:
    """Return line and object of each record of JSONL, JSON or Parquet; None if the first record is that of a table.

    NaN is read as null. The members of ``metadata`` are members of the record, unless it has them itself.
    """
    records: Iterable[tuple[int, dict[str, object]]] | None = None
    if not objects.is_binary(path):
        number, line = fields.first_line(path, what)
        whole = fields.whole_object(path, what) if line.lstrip().startswith("{") else None
        records = [(number, whole)] if whole is not None else None
    if records is None and (records := objects.records(path, what, with_nan=True)) is None:
        return None
    merged = ((line, _with_metadata(record)) for line, record in records)
    first = next(merged, None)
    return chain([first], merged) if first is not None and is_nested(first[1]) else None


def _with_metadata(record: Mapping[str, object]) -> Mapping[str, object]:
    inner = record.get("metadata")
    return {**inner, **record} if isinstance(inner, Mapping) else record


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
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        value = int(value[:19])
    return value if type(value) is int and 0 <= value < 2**53 else None
