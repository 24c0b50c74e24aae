"""The demo's retrieval systems: small, and of different families, as a pool needs systems that disagree.

A system takes documents (``doc_id``, ``title``, ``text``) and topics (``query_id``, ``title``, ``description``) and
returns ``query_id``, ``doc_id``, ``score``, at most `depth` per topic.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, csr_matrix, vstack
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.preprocessing import normalize

from collection.core.arrays import Floats
from collection.core.ranking import rank_run
from collection.core.records import Run
from collection.core.registry import Entry, Registry

System = Callable[..., pd.DataFrame]

SYSTEMS = Registry("demo system", Entry[System])

_DECIMALS = 6
"""Digits of scores: the last bits of a sum depend on the processor."""

TITLE_WEIGHT = 3.0
"""Weight of a word in the title for BM25; one in the text has 1."""

_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@SYSTEMS.add("bm25", label="BM25", description="Full-text search with BM25; the query is the topic's title.")
def bm25(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """SQLite's full-text search, words stemmed, any word of the title."""
    return _search(documents, _queries(topics, "title"), depth=depth)


@SYSTEMS.add("bm25-long", label="BM25, long query", description="Full-text search with BM25; title and description.")
def bm25_long(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Rank like :func:`bm25`, with the words of the description as well."""
    return _search(documents, _queries(topics, "title", "description"), depth=depth)


@SYSTEMS.add("tfidf", label="TF-IDF", description="Cosine of tf-idf vectors over words and pairs of words.")
def tfidf(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Words and pairs of words, sublinear term frequency, without English stop words."""
    matrix, queries = _vectorise(_texts(documents), _queries(topics, "title"), ngram_range=(1, 2), min_df=2)
    return _best(queries @ matrix.T, documents, topics, depth)


@SYSTEMS.add(
    "chargrams", label="Character n-grams", description="Cosine over groups of four letters; tolerates other endings."
)
def chargrams(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Character 4-grams within words: finds ``rolling`` for ``rolled``, with some false matches."""
    options = {"analyzer": "char_wb", "ngram_range": (4, 4), "min_df": 2, "stop_words": None}
    matrix, queries = _vectorise(_texts(documents), _queries(topics, "title"), **options)
    return _best(queries @ matrix.T, documents, topics, depth)


@SYSTEMS.add(
    "lsi", label="Latent semantics", description="Cosine in a space of 150 dimensions; finds related vocabulary."
)
def lsi(
    documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100, dimensions: int = 150, seed: int = 7
) -> pd.DataFrame:
    """Latent semantic indexing: a truncated singular value decomposition of the tf-idf matrix."""
    matrix, queries = _vectorise(_texts(documents), _queries(topics, "title", "description"), min_df=2)
    # A handful of documents spans fewer dimensions than were asked for.
    possible = max(1, min(dimensions, min(matrix.shape) - 1))
    svd = TruncatedSVD(possible, random_state=seed, n_iter=4)
    space = normalize(svd.fit_transform(matrix))
    return _best(normalize(svd.transform(queries)) @ space.T, documents, topics, depth)


@SYSTEMS.add(
    "title-only", label="Names only", description="Looks at names and signatures alone, split into their words."
)
def title_only(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Names split at dots, underscores and capitals; short names with the query's words come first."""
    titles = documents["title"].fillna("").astype(str)
    options = {"tokenizer": _parts, "token_pattern": None, "lowercase": False, "stop_words": None}
    matrix, queries = _vectorise(titles, _queries(topics, "title"), **options)
    return _best(queries @ matrix.T, documents, topics, depth)


@SYSTEMS.add(
    "rocchio", label="Rocchio feedback", description="TF-IDF twice: words of the first answers join the query."
)
def rocchio(
    documents: pd.DataFrame,
    topics: pd.DataFrame,
    *,
    depth: int = 100,
    feedback: int = 8,
    terms: int = 40,
    beta: float = 0.75,
) -> pd.DataFrame:
    """Pseudo-relevance feedback: the strongest `terms` of the first `feedback` answers' mean, at `beta`."""
    matrix, queries = _vectorise(_texts(documents), _queries(topics, "title", "description"), min_df=2)
    first = np.round((queries @ matrix.T).toarray(), _DECIMALS)
    expanded = []
    for row, scores in enumerate(first):
        query = queries[[row]]
        best = np.argsort(-scores, kind="stable")[:feedback]
        best = best[scores[best] > 0]
        if best.size:
            centre = np.asarray(matrix[best].mean(axis=0)).ravel()
            strongest = np.argsort(-np.round(centre, _DECIMALS + 3), kind="stable")[:terms]
            query = query + beta * csr_array(
                (centre[strongest], (np.zeros(strongest.size, dtype=np.intp), strongest)), shape=query.shape
            )
        expanded.append(query)
    return _best(normalize(vstack(expanded, format="csr")) @ matrix.T, documents, topics, depth)


@SYSTEMS.add("fusion", label="Fusion", description="Reciprocal rank fusion of all the others (Cormack et al. 2009).")
def fusion(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100, k: int = 60) -> pd.DataFrame:
    """Reciprocal rank fusion of all other systems."""
    others = (s for s in SYSTEMS if s.function is not fusion)
    return fuse((rank_run(s.function(documents, topics, depth=depth)) for s in others), depth=depth, k=k)


def fuse(ranked: Iterable[pd.DataFrame], *, depth: int = 100, k: int = 60) -> pd.DataFrame:
    """Reciprocal rank fusion of ranked run frames: each gives a document 1 / (k + rank)."""
    rows = pd.concat([f.assign(score=1.0 / (k + f["rank"])) for f in ranked], ignore_index=True)
    summed = rows.groupby(["query_id", "doc_id"], as_index=False, sort=True)["score"].sum()
    # Twelve places: 1 / (k + rank) differs in the fourth, the order of summing in the sixteenth.
    return _first(summed.assign(score=summed["score"].round(12), topic=summed["query_id"]), depth)


def run_all(documents: pd.DataFrame, topics: pd.DataFrame, depth: int = 100) -> Iterator[Run]:
    """Run every system of :data:`SYSTEMS`, in the order of the table, the fusion last."""
    done: dict[str, pd.DataFrame] = {}
    for entry in sorted(SYSTEMS, key=lambda s: s.function is fusion):
        if entry.function is fusion:
            scored = fuse(done.values(), depth=depth)  # of the runs made here, not of new ones
        else:
            scored = entry.function(documents, topics, depth=depth)
        done[entry.name] = rank_run(scored)
        yield Run(entry.name, done[entry.name])


def _queries(topics: pd.DataFrame, *fields: str) -> pd.Series[str]:

    joined = [" ".join(map(str, row)) for row in topics[list(fields)].itertuples(index=False)]
    return pd.Series(joined, index=pd.Index(topics["query_id"].astype(str), name="query_id"), dtype="str")


def _texts(documents: pd.DataFrame) -> pd.Series[str]:
    """Title and text, then again the words of the name and the first paragraph."""
    titles = documents["title"].fillna("").astype(str)
    texts = documents["text"].fillna("").astype(str)
    names = titles.map(lambda title: " ".join(_parts(title)))
    return titles + "\n" + texts + "\n" + names + "\n" + texts.str.split("\n\n", n=1).str[0]


def _parts(text: str) -> list[str]:
    """Words of a name: ``sklearn.svm.LinearSVC`` is sklearn, svm, linear, svc; plurals lose their s."""
    return [p.lower().removesuffix("s") if len(p) > 3 else p.lower() for p in _PART.findall(text)]


def _vectorise(texts: pd.Series[str], queries: pd.Series[str], **options: object) -> tuple[csr_matrix, csr_matrix]:
    """Tf-idf matrices of documents and queries, rows of length one."""
    options = {"sublinear_tf": True, "stop_words": "english", **options}
    if len(texts) < 20:
        options["min_df"] = 1  # in a handful of documents every word may be a rare one
    vectoriser = TfidfVectorizer(**options)
    matrix = vectoriser.fit_transform(texts)
    return matrix, vectoriser.transform(queries)


def _best(scores: csr_matrix | Floats, documents: pd.DataFrame, topics: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The `depth` best documents of a topics x documents matrix that have a score above 0."""
    dense = np.round(np.asarray(scores.toarray() if hasattr(scores, "toarray") else scores), _DECIMALS)
    topic, document = np.nonzero(dense > 0)
    columns = {
        "query_id": topics["query_id"].astype("str").to_numpy()[topic],
        "doc_id": documents["doc_id"].astype("str").to_numpy()[document],
        "score": dense[topic, document],
        "topic": topic,
    }
    found = pd.DataFrame(columns).astype({"query_id": "str", "doc_id": "str", "score": "float64"})
    return _first(found, depth)


def _first(scored: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The `depth` best rows of each ``topic``; equal scores by descending document id, as in a ranking."""
    ordered = scored.sort_values(["topic", "score", "doc_id"], ascending=[True, False, False])
    return ordered.groupby("topic", sort=False).head(depth).drop(columns="topic").reset_index(drop=True)


def _search(documents: pd.DataFrame, queries: pd.Series[str], *, depth: int) -> pd.DataFrame:
    """``query_id``, ``doc_id``, ``score`` of the best documents for each query, by the bm25() of FTS5 of Porter stems.

    A document (``doc_id``, ``title``, ``text``) matches if it has one of the words; `queries` are by ``query_id``.
    """
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
    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    content = [word for word in words if word not in ENGLISH_STOP_WORDS]
    # Each in quotes: bare AND, OR, NOT and NEAR are operators.
    return " OR ".join(f'"{word}"' for word in content or words)
