"""An outside retrieval system that happens to use SQLite: full-text search with FTS5's own bm25().

The house keeps SQL in the store. This module is the exception, and no campaign data passes through
it: as a demo system it stands for a search engine that somebody else runs. Its database is private,
lives in memory for the length of one call, and hands back an ordinary ranking.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_WORD = re.compile(r"[^\W_]+")


TITLE_WEIGHT = 3.0
"""A word in the title counts as often as so many in the text."""


def search(documents: pd.DataFrame, queries: pd.Series[str], *, depth: int) -> pd.DataFrame:
    """Rank `documents` for each query by BM25 over title and text, words stemmed with Porter's algorithm.

    Parameters
    ----------
    documents
        Columns ``doc_id``, ``title``, ``text``.
    queries
        Free text, indexed by ``query_id``; a document matches that holds one of the words.
    depth
        At most so many documents a query.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``score`` (larger is better).
    """
    import pandas as pd

    rows: list[tuple[str, str, float]] = []
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(
            "CREATE VIRTUAL TABLE document USING fts5(doc_id UNINDEXED, title, text, tokenize = 'porter unicode61')"
        )
        columns = (documents[c].fillna("").astype(str) for c in ("doc_id", "title", "text"))
        db.executemany("INSERT INTO document VALUES (?, ?, ?)", zip(*columns, strict=True))
        for query_id, query in queries.items():
            match = _match(query)
            if match:
                # FTS5's bm25() is smaller for better documents; our scores grow.
                found = db.execute(
                    "SELECT doc_id, -bm25(document, 0, ?, 1) AS score FROM document WHERE document MATCH ?"
                    " ORDER BY score DESC, doc_id DESC LIMIT ?",
                    (TITLE_WEIGHT, match, depth),
                )
                rows.extend((str(query_id), doc_id, score) for doc_id, score in found)
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"score": "float64"})


def _match(query: str) -> str:
    """The query in FTS5's language: any of its words, without function words where others remain."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    content = [word for word in words if word not in ENGLISH_STOP_WORDS]
    # Each in quotes: bare AND, OR, NOT and NEAR are operators.
    return " OR ".join(f'"{word}"' for word in content or words)
