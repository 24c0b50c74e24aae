"""Readable log of the decisions of a literature review, for an appendix."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from collection.core.characters import one_line
from collection.core.review import (
    DECISIONS,
    FULL_TEXT,
    KNOWN,
    NOT_RETRIEVED,
    REASON,
    STAGES,
    UNSCREENED,
    Review,
)  # fmt: skip
from collection.store import Store

COLUMNS = (
    "record", "title", "authors", "year", "doi", "pmid", "stage", "screener", "role", "decision", "reason", "note",
    "time", "current",
)  # fmt: skip

SCREENER, FINAL, KNOWN_RECORD = "screener", "resolved a conflict", "included a known record"
"""Roles in which people decide."""


def describe_log(store: Store, review: Review) -> pd.DataFrame:
    """Describe each decision on the records of a review, oldest first, including decisions that were changed later.

    Returns
    -------
    DataFrame
        ``record`` (id of the document), ``title``, ``authors``, ``year``, ``doi``, ``pmid``, ``stage``, ``screener``;
        ``role``: :data:`SCREENER`, :data:`FINAL` (an adjudication) or :data:`KNOWN_RECORD`; ``decision``: "include",
        "maybe", "exclude", "cannot decide", "not retrieved", or "unscreened" where one was taken back; ``reason`` of an
        exclusion, or why it could not be decided; ``note``; ``time`` (UTC); ``current``: "yes", or "no" for a decision
        that was changed or taken back later. All are texts.
    """
    log = store.judgements.table(current=False, columns=[
        "query_id", "doc_id", "annotator", "kind", "relevance", "reason", "judged_at", "source", "note", "counts_as",
        "answers", "current",
    ])  # fmt: skip
    log = log[log["query_id"].isin(review.stages)]
    documents = store.corpus.documents(list(dict.fromkeys(log["doc_id"])))
    rows = []
    for row in log.to_dict("records"):
        document = documents.get(row["doc_id"])
        metadata = document.metadata if document is not None else {}
        rows.append((
            row["doc_id"], document.title if document is not None else "", _text(metadata.get("authors")),
            *(_text(metadata.get(name)) for name in ("year", "doi", "pmid")), STAGES[row["query_id"]],
            row["annotator"], _role(row), _decision(row), _reason(row), one_line(_text(row["note"])),
            _text(row["judged_at"]), "yes" if row["current"] else "no",
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype("str")


def _role(row: Mapping[Hashable, Any]) -> str:
    if row["source"] == KNOWN:
        return KNOWN_RECORD
    is_final = row["counts_as"] == "adjudication" and row["source"] != NOT_RETRIEVED
    return FINAL if is_final else SCREENER


def _decision(row: Mapping[Hashable, Any]) -> str:
    if row["kind"] == "graded":
        return DECISIONS[int(row["relevance"])]
    if row["kind"] == "undone":
        return UNSCREENED
    return NOT_RETRIEVED if row["query_id"] == FULL_TEXT else "cannot decide"


def _reason(row: Mapping[Hashable, Any]) -> str:
    return _text((row["answers"] or {}).get(REASON) if row["kind"] == "graded" else row["reason"])


def _text(value: object) -> str:
    """Return a value as text, with semicolons between the elements of a list; "" for a missing value."""
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return "" if value is None or value is pd.NA or isinstance(value, float) else str(value)
