"""Clicks: logs of what was shown and clicked, in; what they say of documents, out."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from collection.errors import FormatError, InputError
from collection.formats import delimited, fields, source
from collection.formats.source import quote
from collection.formats.tables.lines import WHOLE
from collection.formats.write import write_table
from collection.records import require_columns

WANTED = "a log of clicks"
ALIASES = {
    "query_id": ("query_id", "qid", "topic", "query-id"),
    "doc_id": ("doc_id", "docno", "docid", "corpus-id", "document"),
    "rank": ("rank", "position"),
    "shown": ("shown", "impressions"),
    "clicked": ("clicked", "clicks"),
}
"""Column -> what files call it."""

ESTIMATE = ("query_id", "doc_id", "shown", "clicked", "ctr", "attractiveness", "by")

MOST = 2**53
"""Counts above this are no counts: sums of them would lose clicks."""


def read_clicks(path: str | PathLike[str]) -> pd.DataFrame:
    """Read a log of clicks: a row for each impression, or counts.

    Parameters
    ----------
    path
        CSV or TSV with a header, or JSONL; gzip is read as it is. The columns query_id (or qid, topic), doc_id (docno,
        docid), rank (position; from 1), shown (impressions) and clicked (clicks): how often the document was shown for
        the topic at that rank, and how often it was clicked there. One impression a row is 1 and 0 or 1. Others are
        passed over. JSONL may also say true and false.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id`` (str), ``rank``, ``shown``, ``clicked`` (int64): rows of the same pair and rank added
        up, in the order in which they first come. Memory grows with the pairs and ranks and not with the impressions.

    Raises
    ------
    FormatError
        With path and line: a column that is missing, a rank below 1, a number that is none, is below 0 or has a
        fraction, more clicks than impressions, a record of another width than the header, text that is not UTF-8,
        nothing at all.
    """
    places: dict[tuple[str, str, int], int] = {}
    shown, clicked = array("q"), array("q")
    for number, record in delimited.aliased_records(path, WANTED, ALIASES):
        query_id, doc_id = (fields.check_id(path, number, record[name]) for name in ("query_id", "doc_id"))
        rank = _count(path, number, record, "rank", least=1)
        seen, hits = (_count(path, number, record, name) for name in ("shown", "clicked"))
        if hits > seen:
            raise FormatError(path, number, "no more clicks than impressions", f"clicked {hits} of {seen} shown")
        place = places.setdefault((query_id, doc_id, rank), len(places))
        if place == len(shown):
            shown.append(seen)
            clicked.append(hits)
        else:
            shown[place] += seen
            clicked[place] += hits
    frame = pd.DataFrame(list(places), columns=["query_id", "doc_id", "rank"])
    frame = frame.astype({"query_id": "str", "doc_id": "str", "rank": "int64"})
    return frame.assign(shown=np.array(shown, np.int64), clicked=np.array(clicked, np.int64))


def write_clicks(frame: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write what clicks say of documents as TSV with a header, in the order of the frame.

    Parameters
    ----------
    frame
        The ``documents`` of a :class:`collection.clicks.ClickEstimate`. Its column ``by`` marks every row as made of
        clicks. An attractiveness that has no estimate is empty in the file.
    path
        ``.tsv``, perhaps ``.gz`` after it. An existing file is replaced when all is written.

    Raises
    ------
    ColumnsError
        A column is missing.
    InputError
        The file ends in anything else, or cannot be written.
    """
    if source.suffix(path) != ".tsv":
        raise InputError(f"{path}: what clicks say is written as .tsv (perhaps .gz after it)")
    require_columns(frame, ESTIMATE, "writing what clicks say")
    write_table(frame[list(ESTIMATE)], path)


def _count(path: str | PathLike[str], number: int, record: Mapping[str, Any], column: str, least: int = 0) -> int:
    """A whole number from `least` on."""
    value = record[column]
    answered = isinstance(value, bool) and column != "rank"
    text = str(int(value)) if answered else "" if value is None else str(value).strip()
    count = int(text) if WHOLE.fullmatch(text) and len(text) < 18 else None
    if count is None or not least <= count < MOST:
        raise FormatError(path, number, f"{column} as a whole number, {least} or more", quote(text) if text else "none")
    return count
