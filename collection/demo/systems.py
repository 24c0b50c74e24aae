"""The demo's retrieval systems: small, of different families, and really run over the documents.

A system takes documents (``doc_id``, ``title``, ``text``) and topics (``query_id``, ``title``,
``description``, ``narrative``) and gives ``query_id``, ``doc_id``, ``score``, at most `depth` a topic.
They are meant to disagree: a pool is worth judging when its systems find different documents.
None reads the narrative, which is written for the annotators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from collection.demo import fts
from collection.ranking import rank_run
from collection.records import Run
from collection.registry import Entry, Registry

if TYPE_CHECKING:
    import pandas as pd

System = Callable[..., "pd.DataFrame"]

SYSTEMS = Registry("demo system", Entry[System])

_DECIMALS = 6
"""Scores are rounded, so that the last bits of a sum (they depend on the processor) settle no tie."""

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@SYSTEMS.add("bm25", label="BM25", description="Full-text search with BM25; the query is the topic's title.")
def bm25(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """SQLite's full-text search, words stemmed, any word of the title."""
    return fts.search(documents, _queries(topics, "title"), depth=depth)


@SYSTEMS.add("bm25-long", label="BM25, long query", description="Full-text search with BM25; title and description.")
def bm25_long(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """As :func:`bm25`, with the words of the description as well."""
    return fts.search(documents, _queries(topics, "title", "description"), depth=depth)


@SYSTEMS.add("tfidf", label="TF-IDF", description="Cosine of tf-idf vectors over words and pairs of words.")
def tfidf(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Words and pairs of words, sublinear term frequency, without English stop words."""
    matrix, queries = _vectorise(_texts(documents), _queries(topics, "title"), ngram_range=(1, 2), min_df=2)
    return _best(queries @ matrix.T, documents, topics, depth)


@SYSTEMS.add(
    "chargrams",
    label="Character n-grams",
    description="Cosine over groups of four letters; forgives endings.",
)
def chargrams(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Groups of four letters within words: finds ``rolling`` for ``rolled``, and some oddities."""
    matrix, queries = _vectorise(
        _texts(documents),
        _queries(topics, "title"),
        analyzer="char_wb",
        ngram_range=(4, 4),
        min_df=2,
        stop_words=None,
    )
    return _best(queries @ matrix.T, documents, topics, depth)


@SYSTEMS.add(
    "lsi",
    label="Latent semantics",
    description="Cosine in a space of 150 dimensions; finds related vocabulary.",
)
def lsi(
    documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100, dimensions: int = 150, seed: int = 7
) -> pd.DataFrame:
    """Latent semantic indexing: a truncated singular value decomposition of the tf-idf matrix."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    matrix, queries = _vectorise(_texts(documents), _queries(topics, "title", "description"), min_df=2)
    # A handful of documents spans fewer dimensions than were asked for.
    possible = max(1, min(dimensions, min(matrix.shape) - 1))
    svd = TruncatedSVD(possible, random_state=seed, n_iter=4)
    space = normalize(svd.fit_transform(matrix))
    return _best(normalize(svd.transform(queries)) @ space.T, documents, topics, depth)


@SYSTEMS.add(
    "title-only",
    label="Names only",
    description="Looks at names and signatures alone, split into their words.",
)
def title_only(documents: pd.DataFrame, topics: pd.DataFrame, *, depth: int = 100) -> pd.DataFrame:
    """Names split at dots, underscores and capitals; short names with the query's words come first."""
    titles = documents["title"].fillna("").astype(str)
    matrix, queries = _vectorise(
        titles,
        _queries(topics, "title"),
        tokenizer=_parts,
        token_pattern=None,
        lowercase=False,
        stop_words=None,
    )
    return _best(queries @ matrix.T, documents, topics, depth)


@SYSTEMS.add(
    "rocchio",
    label="Rocchio feedback",
    description="TF-IDF twice: words of the first answers join the query.",
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
    import numpy as np
    from scipy.sparse import csr_array, vstack
    from sklearn.preprocessing import normalize

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
    """Each other system gives a document 1 / (k + rank)."""
    others = (s for s in SYSTEMS if s.function is not fusion)
    return fuse((rank_run(s.function(documents, topics, depth=depth)) for s in others), depth=depth, k=k)


def fuse(ranked: Iterable[pd.DataFrame], *, depth: int = 100, k: int = 60) -> pd.DataFrame:
    """Reciprocal rank fusion of ranked run frames.

    Parameters
    ----------
    ranked
        Run frames with ``query_id``, ``doc_id``, ``rank``.
    depth
        At most so many documents a topic.
    k
        Larger: first ranks count less against the others.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``score``.
    """
    import pandas as pd

    rows = pd.concat([f.assign(score=1.0 / (k + f["rank"])) for f in ranked], ignore_index=True)
    summed = rows.groupby(["query_id", "doc_id"], as_index=False, sort=True)["score"].sum()
    # Twelve places: 1 / (k + rank) differs in the fourth, the order of summing in the sixteenth.
    best = summed.assign(score=summed["score"].round(12)).sort_values(
        ["query_id", "score", "doc_id"], ascending=[True, False, False]
    )
    return best.groupby("query_id", sort=False).head(depth).reset_index(drop=True)


def run_all(documents: pd.DataFrame, topics: pd.DataFrame, depth: int = 100) -> Iterator[Run]:
    """Run every system of :data:`SYSTEMS`, in the order of the table.

    Parameters
    ----------
    documents, topics
        As each system takes them.
    depth
        At most so many documents a topic.

    Yields
    ------
    Run
        Named after the system; the frame has ``query_id``, ``doc_id``, ``score``, ``rank``.
    """
    done: dict[str, pd.DataFrame] = {}
    # The fusion last, wherever it stands: it takes the others as they were run here, not once more.
    entries = sorted(SYSTEMS, key=lambda s: s.function is fusion)
    for entry in entries:
        if entry.function is fusion:
            scored = fuse(done.values(), depth=depth)
        else:
            scored = entry.function(documents, topics, depth=depth)
        done[entry.name] = rank_run(scored)
        yield Run(entry.name, done[entry.name])


def _queries(topics: pd.DataFrame, *fields: str) -> pd.Series[str]:
    joined = [" ".join(map(str, row)) for row in topics[list(fields)].itertuples(index=False)]
    import pandas as pd

    return pd.Series(joined, index=pd.Index(topics["query_id"].astype(str), name="query_id"), dtype="str")


def _texts(documents: pd.DataFrame) -> pd.Series[str]:
    """Title and text, then once more what says most: the words of the name and the first paragraph."""
    titles = documents["title"].fillna("").astype(str)
    texts = documents["text"].fillna("").astype(str)
    names = titles.map(lambda title: " ".join(_parts(title)))
    return titles + "\n" + texts + "\n" + names + "\n" + texts.str.split("\n\n", n=1).str[0]


def _parts(text: str) -> list[str]:
    """Words of a name: ``sklearn.svm.LinearSVC`` is sklearn, svm, linear, svc; plurals lose their s."""
    return [p.lower().removesuffix("s") if len(p) > 3 else p.lower() for p in _PART.findall(text)]


def _vectorise(texts: pd.Series[str], queries: pd.Series[str], **options: Any) -> tuple[Any, Any]:
    """Tf-idf matrices of documents and queries, rows of length one."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    settings: dict[str, Any] = {"sublinear_tf": True, "stop_words": "english", **options}
    if len(texts) < 20:
        settings["min_df"] = 1  # in a handful of documents every word may be a rare one
    vectoriser = TfidfVectorizer(**settings)
    matrix = vectoriser.fit_transform(texts)
    return matrix, vectoriser.transform(queries)


def _best(scores: Any, documents: pd.DataFrame, topics: pd.DataFrame, depth: int) -> pd.DataFrame:
    """The `depth` best of a topics x documents matrix; what scores nothing was not retrieved."""
    import numpy as np
    import pandas as pd

    dense = np.round(np.asarray(scores.toarray() if hasattr(scores, "toarray") else scores), _DECIMALS)
    doc_ids = documents["doc_id"].astype(str).to_numpy(dtype=object)
    # Position of each id in descending order: the tie-break of a ranking.
    order = np.empty(len(doc_ids), dtype=np.intp)
    order[np.argsort(doc_ids, kind="stable")[::-1]] = np.arange(len(doc_ids))
    frames = []
    for query_id, row in zip(topics["query_id"].astype(str), dense, strict=True):
        best = np.lexsort((order, -row))[:depth]
        best = best[row[best] > 0]
        frames.append(pd.DataFrame({"query_id": query_id, "doc_id": doc_ids[best], "score": row[best]}))
    columns = {"query_id": "str", "doc_id": "str", "score": "float64"}
    found = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(columns))
    return found.astype(columns)
