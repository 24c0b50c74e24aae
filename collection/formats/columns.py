"""Names that columns have in files and in other tools."""

from __future__ import annotations

import pandas as pd

from collection.errors import InputError
from collection.formats.fields import PAIR_ALIASES
from collection.frames import Schema, index_to_columns
from collection.records import Run

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
    "title": ("query",),
}
"""Names of each column in other tools. pyterrier's ``query`` is usually a text, so the last choice for an id."""


def rename_columns(frame: pd.DataFrame, schema: Schema, what: str = "") -> pd.DataFrame:
    """The frame with the columns of `schema` under our names."""
    if isinstance(frame, pd.DataFrame):
        frame = index_to_columns(frame)
        wanted = [column for column in schema.names if column not in frame]
        theirs: dict[str, str] = {}
        for column in wanted:
            there = (name for name in _NAMES.get(column, ()) if name in frame and name not in theirs)
            theirs[next(there, column)] = column
        frame = frame.rename(columns=theirs)
    return schema.check(frame, what)


def to_pyterrier(frame: pd.DataFrame | Run) -> pd.DataFrame:
    """Topics, documents, qrels or a run with the column names of PyTerrier.

    Parameters
    ----------
    frame
        A frame of :data:`collection.frames.TOPICS`, ``DOCUMENTS``, ``QRELS`` or ``RUN``, or a Run.

    Returns
    -------
    DataFrame
        ``qid`` for ``query_id``, ``docno`` for ``doc_id``, ``label`` for ``relevance``, and ``query`` for the title of
        a topic; ranks begin at 0. ``listed`` is left out, since it does not hold once PyTerrier has changed scores.
        Other columns keep their names.

    Raises
    ------
    InputError
        `frame` is neither.

    Examples
    --------
    >>> to_pyterrier(pd.DataFrame({"query_id": ["1"], "doc_id": ["d7"], "relevance": [2]})).columns.tolist()
    ['qid', 'docno', 'label']
    """
    given = frame.frame if isinstance(frame, Run) else frame
    if not isinstance(given, pd.DataFrame):
        raise InputError(f"to_pyterrier: expected a frame or a Run, found {type(given).__name__}")
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    if "doc_id" not in given:
        names["title"] = "query"
    renamed = given.rename(columns=names)
    if not {"rank", "score"} <= set(renamed):
        return renamed
    return renamed.assign(rank=renamed["rank"] - 1).drop(columns="listed", errors="ignore")
