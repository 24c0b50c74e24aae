"""Choices and preferences: the logs of what was decided on whole topics, out, and preferences also in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import pandas as pd

from collection.errors import FormatError
from collection.formats import delimited, fields
from collection.formats.source import quote
from collection.formats.tables.lines import parse_score
from collection.formats.write import write_log
from collection.records import PREFERENCE_KINDS, Choice, Preference

Path = str | PathLike[str]

_NUMBERS = ("seconds", "away")


def write_choices(frame: pd.DataFrame, path: Path) -> None:
    """Write choices, one JSON object a line with every field, in the order of the frame.

    Parameters
    ----------
    frame
        The fields of :class:`collection.records.Choice`; ``shown`` is the list in the order on screen.
    path
        ``.jsonl``, perhaps ``.gz`` after it. An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        If a field is missing.
    InputError
        If the file ends in anything else, or cannot be written.
    """
    write_log(_fields_of(frame, Choice._fields), path, Choice._fields, "choices", forms=(".jsonl",))


def write_preferences(frame: pd.DataFrame, path: Path) -> None:
    """Write preferences with every field, in the order of the frame.

    Parameters
    ----------
    frame
        The fields of :class:`collection.records.Preference`.
    path
        ``.jsonl``: one object a line, nulls kept. ``.csv``: a header, nulls empty. Either may be followed by ``.gz``.
        An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        If a field is missing.
    InputError
        If the file ends in anything else, or cannot be written.
    """
    write_log(_fields_of(frame, Preference._fields), path, Preference._fields, "preferences")


def read_preferences(path: Path) -> pd.DataFrame:
    """Read preferences as :func:`write_preferences` writes them.

    Parameters
    ----------
    path
        JSONL, or CSV or TSV with a header; gzip is read as it is. Needed are annotator, query_id, left, right and kind;
        other fields that are missing are null, and those that no preference has are passed over.

    Returns
    -------
    DataFrame
        The fields of :class:`collection.records.Preference`, in the order of the file: the whole log, if it is one.

    Raises
    ------
    FormatError
        With path and line: a field that is missing, or is not what it should be; nothing at all.
    """
    rows = []
    columns = {name: (name,) for name in ("annotator", "query_id", "left", "right", "kind")}
    for at, found in delimited.aliased_records(path, "preferences", columns):
        record = {name: None if value == "" else value for name, value in found.items()}
        row = _common(path, at, record, Preference._fields, ("left", "right"), PREFERENCE_KINDS)
        row["left"], row["right"] = (fields.check_id(path, at, record[side]) for side in ("left", "right"))
        if row["left"] == row["right"]:
            raise FormatError(path, at, "two documents to compare", f"{quote(row['left'])} twice")
        rows.append(row)
    return pd.DataFrame(rows, columns=list(Preference._fields))


def _fields_of(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The fields in their order; those that are missing are missed by whoever writes them."""
    return frame[[name for name in names if name in frame.columns]]


def _common(
    path: Path, number: int, record: Mapping[str, Any], names: tuple[str, ...], more: tuple[str, str], kinds: Any
) -> dict[str, Any]:
    """A record of a log with its fields checked; those in `more` are only there."""
    for name in ("annotator", "query_id", *more, "kind"):
        if record.get(name) is None:
            there = quote(", ".join(map(str, record)) or "none")
            raise FormatError(path, number, f"a value of {name}", f"none (the fields are {there})")
    row = {name: record.get(name) for name in names}
    annotator = row["annotator"]
    if not isinstance(annotator, str) or annotator != annotator.strip() or not annotator.isprintable():
        raise FormatError(path, number, "the name of an annotator, without blanks around it", quote(str(annotator)))
    if row["kind"] not in kinds:
        raise FormatError(path, number, f"a kind ({', '.join(kinds)})", quote(str(row["kind"])))
    row["query_id"] = fields.check_id(path, number, record["query_id"])
    for name in names:
        if name not in _NUMBERS and name not in more and row[name] is not None:
            row[name] = fields.text_of(path, number, record, name) if name != "query_id" else row[name]
    for name in _NUMBERS:
        if row[name] is not None:
            value = None if isinstance(row[name], bool) else parse_score(str(row[name]))
            if value is None or not 0 <= value <= 1e9:
                raise FormatError(path, number, f"{name} as a number, 0 or more", quote(str(row[name])))
            row[name] = value
    return row
