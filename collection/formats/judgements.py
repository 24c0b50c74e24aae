"""Details of a judgement in a log besides the grade, and logs of choices and preferences, decisions on whole topics."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from collection.core.errors import FormatError, InputError, JudgementError
from collection.core.questions import check_question_name, parse_answer, read_answer
from collection.core.records import PREFERENCE_KINDS, Answer, Choice, Preference
from collection.formats import delimited, fields
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import parse_score
from collection.formats.write import ANSWERS, write_log

DETAILS = ("uuid", "judged_at", "shown_at", "seconds", "away", "strategy", "pool_rank", "model_round", "probability",
           "note", "flagged", "passages", "answers")  # fmt: skip
"""Fields of :class:`collection.core.records.Judgement` that :func:`read_details` reads."""

_SECONDS = 1e9
"""Seconds from 1970 to 2001, the earliest time in seconds; from 5138 on, in milliseconds."""

_TEXTS = ("uuid", "judged_at", "shown_at", "strategy", "note")
_HIGHEST = {"seconds": 1e9, "away": 1e9, "probability": 1.0, "pool_rank": 1e9, "model_round": 1e9}
_WHOLE = ("pool_rank", "model_round")


def read_details(path: FilePath, number: int, record: Mapping[str, object]) -> dict[str, object]:
    """The fields :data:`DETAILS` of a record, of the types in a judgement; None for missing values.

    The record is a line of JSON; or of CSV, where everything is text, nulls are empty, and passages are JSON. A missing
    ``flagged`` is False, missing ``passages`` are (), and missing ``answers`` {}.
    """
    details: dict[str, object] = {}
    for name in _TEXTS:
        text = fields.get_text(path, number, record, name)
        details[name] = read_time(path, number, text, name) if text and name.endswith("_at") else text or None
    for name, highest in _HIGHEST.items():
        details[name] = _number(path, number, record.get(name), name, highest)
    flagged = record.get("flagged")
    if str(flagged).lower() not in ("none", "", "true", "false"):
        raise FormatError(path, number, "true or false as flagged", quote(str(flagged)))
    details["flagged"] = str(flagged).lower() == "true"
    details["passages"] = _passages(path, number, record.get("passages"))
    details["answers"] = read_question_answers(path, number, record)
    return details


def read_question_answers(path: FilePath, number: int, record: Mapping[str, object]) -> dict[str, Answer]:
    """The answers of a record to further questions, from the object ``answers`` or columns ``answers.NAME``.

    In a column, tags are separated by ``|``; a single tag without it is a text, as the answer to a choice is.
    """
    given = record.get(ANSWERS)
    if not isinstance(given, Mapping | None):
        raise FormatError(path, number, "answers as an object with an answer for each question", quote(str(given)))
    answers = {name: answer for name, answer in (given or {}).items() if answer is not None}
    for column, cell in record.items():
        if column.startswith(f"{ANSWERS}.") and cell is not None and (text := str(cell).strip()):
            answers[column.removeprefix(f"{ANSWERS}.")] = parse_answer(text)
    try:
        for name in answers:
            check_question_name(name)
        return {name: read_answer(answer) for name, answer in answers.items()}
    except (InputError, JudgementError) as error:
        raise FormatError(path, number, *str(error).removeprefix("expected ").rsplit(", found ", 1)) from None


def to_utc(text: str, *, browser: bool = False) -> str | None:
    """A time in UTC as a campaign writes it, or None if the text is no time.

    Times are in ISO 8601, without a zone in UTC, or in seconds or milliseconds since 1970. Other forms of ISO 8601 sort
    wrongly, or pandas cannot read them. `browser`: accept Z, as browsers write it.

    >>> to_utc("1700000000"), to_utc("2026-03-02 09:00:00 UTC"), to_utc("2026-02-30")
    ('2023-11-14T22:13:20.000+00:00', '2026-03-02T09:00:00.000+00:00', None)
    """
    try:
        if (epoch := parse_score(text)) is not None and _SECONDS <= epoch < 1000 * _SECONDS * 100:
            seconds = epoch if epoch < 100 * _SECONDS else epoch / 1000
            time = datetime.fromtimestamp(seconds, UTC)
        else:
            time = datetime.fromisoformat(re.sub(r" (?:UTC|GMT)$", "+00:00", text))
        time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    thousandths = time.isoformat(timespec="milliseconds")
    own = (thousandths, time.isoformat(), *([thousandths.replace("+00:00", "Z")] if browser else ()))
    return text if text in own else thousandths


def read_time(path: FilePath, number: int, text: str, name: str) -> str:
    """A time as a campaign writes it."""
    time = to_utc(text, browser=name == "shown_at")
    if time is None:
        raise FormatError(path, number, f"a time as {name} (ISO 8601, such as 2026-03-02T09:00:00Z)", quote(text))
    return time


def _number(path: FilePath, number: int, value: object, name: str, highest: float) -> float | int | None:
    if value is None or value == "":
        return None
    parsed = None if isinstance(value, bool) else parse_score(str(value))
    whole = name in _WHOLE
    if parsed is None or not 0 <= parsed <= highest or (whole and parsed % 1):
        wanted = f"{name} as a {'whole ' if whole else ''}number from 0 to {highest:g}"
        raise FormatError(path, number, wanted, quote(str(value)))
    return int(parsed) if whole else parsed


def _passages(path: FilePath, number: int, value: object) -> tuple[tuple[int, int], ...]:
    """Passages as pairs of start and end; read from such pairs or from objects with start and end."""
    wanted = 'passages as a list of {"start": 0, "end": 5}'
    try:
        marked: Any = json.loads(value) if isinstance(value, str) and value else value or ()
        places = [(p["start"], p["end"]) if isinstance(p, dict) else tuple(p) for p in marked]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FormatError(path, number, wanted, quote(str(value))) from None
    for place in places:
        ends = len(place) == 2 and all(type(end) is int and 0 <= end <= 1e9 for end in place)
        if not ends or place[0] >= place[1]:
            raise FormatError(path, number, wanted, quote(str(value)))
    return tuple(places)


def write_choices(frame: pd.DataFrame, path: FilePath) -> None:
    """Write choices as ``.jsonl`` with every field of :class:`.Choice`; see :func:`.write_log`."""
    write_log(frame.filter(Choice._fields), path, Choice._fields, "choices", forms=(".jsonl",))


def write_preferences(frame: pd.DataFrame, path: FilePath) -> None:
    """Write preferences with every field of :class:`.Preference`; see :func:`.write_log`."""
    write_log(frame.filter(Preference._fields), path, Preference._fields, "preferences")


@opens_once
def read_preferences(path: FilePath) -> pd.DataFrame:
    """Read preferences as :func:`write_preferences` writes them, or from TSV with a header.

    annotator, query_id, left, right and kind are required; other missing fields are null, and unknown fields are
    ignored. Returns the fields of :class:`collection.core.records.Preference`, in the order of the file.
    """
    rows = []
    required = {name: (name,) for name in ("annotator", "query_id", "left", "right", "kind")}
    for line, record in delimited.aliased_records(path, "preferences", required):
        rows.append(_preference(path, line, {name: None if value == "" else value for name, value in record.items()}))
    return pd.DataFrame(rows, columns=list(Preference._fields))


def _preference(path: FilePath, line: int, record: Mapping[str, object]) -> dict[str, object]:
    for name in ("annotator", "query_id", "left", "right", "kind"):
        if record.get(name) is None:
            names = quote(", ".join(map(str, record)) or "none")
            raise FormatError(path, line, f"a value of {name}", f"none (the fields are {names})")
    row = {name: record.get(name) for name in Preference._fields}
    annotator = row["annotator"]
    if not isinstance(annotator, str) or annotator != annotator.strip() or not annotator.isprintable():
        raise FormatError(path, line, "an annotator's name without surrounding blanks", quote(str(annotator)))
    if row["kind"] not in PREFERENCE_KINDS:
        raise FormatError(path, line, f"a kind ({', '.join(PREFERENCE_KINDS)})", quote(str(row["kind"])))
    for name, value in row.items():
        if name in ("query_id", "left", "right"):
            row[name] = fields.check_id(path, line, value)
        elif name in ("seconds", "away") and value is not None:
            number = None if isinstance(value, bool) else parse_score(str(value))
            if number is None or not 0 <= number <= 1e9:
                raise FormatError(path, line, f"{name} as a number, 0 or more", quote(str(value)))
            row[name] = number
        elif value is not None:
            text = fields.get_text(path, line, record, name)
            row[name] = read_time(path, line, text, name) if text and name.endswith("_at") else text
    if row["left"] == row["right"]:
        raise FormatError(path, line, "two different documents", f"{quote(str(row['left']))} twice")
    return row
