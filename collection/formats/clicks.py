"""Click logs in, and estimates from clicks out."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import numpy as np
import pandas as pd

from collection.core import phrases
from collection.core.errors import FormatError
from collection.core.records import require_columns
from collection.formats import delimited, fields, kinds, source
from collection.formats.source import FilePath, opens_once, quote
from collection.formats.tables.lines import WHOLE
from collection.formats.write import write_table

WANTED = "a click log"
ALIASES = {
    **fields.PAIR_ALIASES,
    "rank": ("rank", "position"),
    "shown": ("shown", "impressions"),
    "clicked": ("clicked", "clicks"),
}
"""Names of each column in files."""

ESTIMATE = ("query_id", "doc_id", "shown", "clicked", "ctr", "attractiveness", "by")

MOST = 2**53
"""Upper limit of a count: floats represent whole numbers exactly up to here."""


@opens_once
def read_clicks(path: FilePath) -> pd.DataFrame:
    """Read a click log, one row an impression, or counts: CSV or TSV with a header, or JSONL.

    The columns are query_id (qid, topic), doc_id (docno, docid), rank (position, from 1), shown (impressions) and
    clicked (clicks): how often the document was shown for the topic at that rank, and how often it was clicked there. A
    row for one impression has 1 and 0 or 1. JSONL may also have true and false.

    Returns ``query_id``, ``doc_id`` (str), ``rank``, ``shown``, ``clicked`` (int64): one row for each pair and rank, in
    the order of first occurrence. Memory grows with these rows, not with the impressions.
    """
    kinds.refuse_other(path, WANTED)
    places: dict[tuple[str, str, int], int] = {}
    shown, clicked = array("q"), array("q")
    for number, record in delimited.aliased_records(path, WANTED, ALIASES):
        query_id, doc_id = (fields.check_id(path, number, record[name]) for name in ("query_id", "doc_id"))
        rank = _count(path, number, record, "rank", least=1)
        seen, hits = (_count(path, number, record, name) for name in ("shown", "clicked"))
        if hits > seen:
            raise FormatError(
                path,
                number,
                "no more clicks than impressions",
                f"{phrases.count(hits, 'click')} on {phrases.count(seen, 'impression')}",
            )
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


def write_clicks(frame: pd.DataFrame, path: FilePath) -> None:
    """Write estimates from clicks as ``.tsv`` with a header, in the order of the frame.

    `frame` is the ``documents`` of a :class:`collection.clicks.ClickEstimate`; a missing attractiveness is empty.
    """
    if source.suffix(path) != ".tsv":
        raise source.ending_error(path, "click estimates", (".tsv",))
    require_columns(frame, ESTIMATE, "writing click estimates")
    write_table(frame[list(ESTIMATE)], path)


def _count(path: FilePath, number: int, record: Mapping[str, object], column: str, least: int = 0) -> int:
    value = record[column]
    if isinstance(value, bool) and column != "rank":
        value = int(value)
    text = "" if value is None else str(value).strip()
    count = int(text) if WHOLE.fullmatch(text) and len(text) < 18 else None
    if count is None or not least <= count < MOST:
        raise FormatError(path, number, f"{column} as a whole number, {least} or more", quote(text) if text else "none")
    return count
