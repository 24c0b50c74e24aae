"""Names that columns have in files and in other tools."""

from __future__ import annotations

import pandas as pd

from collection.formats.fields import PAIR_ALIASES
from collection.frames import Schema

LABEL_ALIASES = {
    "annotator": ("annotator", "assessor", "rater", "judge", "user"),
    **PAIR_ALIASES,
    "relevance": ("relevance", "grade", "label", "rel", "score", "judgment", "judgement"),
}
"""Names of the columns of labels in files."""

_NAMES = {
    **LABEL_ALIASES,
    "query_id": (*LABEL_ALIASES["query_id"], "q_id", "query"),
    "relevance": ("label", "rel", "grade"),
}
"""Names of each column in other tools. pyterrier's ``query`` is usually a text, so the last choice for an id."""


def rename_columns(frame: pd.DataFrame, schema: Schema, what: str = "") -> pd.DataFrame:
    """The frame with the columns of `schema` under our names."""
    if isinstance(frame, pd.DataFrame):
        wanted = [column for column in schema.names if column not in frame]
        theirs = {next((n for n in _NAMES.get(column, ()) if n in frame), column): column for column in wanted}
        frame = frame.rename(columns=theirs)
    return schema.check(frame, what)
