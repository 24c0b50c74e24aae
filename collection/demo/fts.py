"""Full-text search with FTS5's bm25() as a retrieval system.

The one exception to "SQL only in the store": it stands for an outside search engine, in a private database in memory
through which no campaign data passes.
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
"""Weight of a word in the title; one in the text has 1."""


def search(documents: pd.DataFrame, queries: pd.Series[str], *, depth: int) -> pd.DataFrame:
    """``query_id``, ``doc_id``, ``score`` of the best documents for each query, by BM25 of Porter stems.

    A document (``doc_id``, ``title``, ``text``) matches if it has one of the words; `queries` are by ``query_id``.
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
            if match := _match(query):
                # FTS5's bm25() is smaller for better documents; our scores grow.
                found = db.execute(
                    "SELECT doc_id, -bm25(document, 0, ?, 1) AS score FROM document WHERE document MATCH ?"
                    " ORDER BY score DESC, doc_id DESC LIMIT ?",
                    (TITLE_WEIGHT, match, depth),
                )
                rows.extend((str(query_id), doc_id, score) for doc_id, score in found)
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "score"]).astype({"score": "float64"})


def _match(query: str) -> str:
    """The query in FTS5's syntax: any of its words, without stop words where others remain."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    content = [word for word in words if word not in ENGLISH_STOP_WORDS]
    # Each in quotes: bare AND, OR, NOT and NEAR are operators.
    return " OR ".join(f'"{word}"' for word in content or words)
