"""Logs of choices and preferences, decisions on whole topics: both are written, preferences are also read."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from collection.core.errors import FormatError
from collection.core.records import PREFERENCE_KINDS, Choice, Preference
from collection.formats import delimited, fields
from collection.formats.judgements import read_time
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import parse_score
from collection.formats.write import write_log


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
    for line, found in delimited.aliased_records(path, "preferences", required):
        rows.append(_preference(path, line, {name: None if value == "" else value for name, value in found.items()}))
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
