"""What the runs together say of a document: reciprocal rank fusion, the best rank, the number of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.pooling.table import STRATEGIES
from collection.records import POOL_COLUMNS, Run, require_columns

K = 60
"""The constant of the paper: it keeps one run's first place from deciding alone."""


@STRATEGIES.add(
    "rrf",
    label="Reciprocal rank fusion",
    description="The same number of pairs for every topic: those that many runs put high come first.",
)
def rrf(runs: Sequence[Run], *, budget: int = 100, k: int = K) -> pd.DataFrame:
    """The `budget` documents of each topic with the highest sum over the runs of 1 / (k + rank).

    The rank is the place in the run's own list (``listed``), as for a depth pool.

    Source: Cormack, Clarke & Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009.

    Parameters
    ----------
    runs
        Any number of runs; frames as :func:`collection.ranking.rank_run` makes them.
    budget
        How many pairs a topic gets, 1 or more; fewer where the runs have fewer.
    k
        0 or more. The higher, the less the first ranks stand out.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strategy`` ("rrf"), ``rank`` (the place in the fusion, from 1), ``runs`` (how
        many runs have it at any rank). Topics in order of first appearance; within a topic by rank. Equal
        sums stand by the best rank, then by document id.
    """
    if budget < 1:
        raise InputError(f"the budget of a pool is a number of pairs per topic, 1 or more, found {budget}")
    pairs = evidence(runs, k=k)
    place = pairs.groupby("query_id", sort=False).cumcount() + 1
    chosen = pairs.assign(strategy="rrf", rank=place)[place <= budget]
    return chosen.reset_index(drop=True)[[*POOL_COLUMNS, "runs"]]


def evidence(runs: Sequence[Run], *, k: int = K) -> pd.DataFrame:
    """What the runs say of each document that any of them retrieved.

    Ranks are places in the run's own list (``listed``). A sum is added up from the best rank down, so that the
    order of the runs changes no bit of it, and documents with the same ranks in other runs have equal sums.

    Source: Cormack, Clarke & Buettcher, SIGIR 2009 (the column ``fusion``).

    Parameters
    ----------
    runs
        Any number of runs; frames as :func:`collection.ranking.rank_run` makes them.
    k
        The constant of the fusion, 0 or more.

    Returns
    -------
    DataFrame
        One row per pair: ``query_id``, ``doc_id`` (str), ``fusion`` (float64: the sum over the runs of
        1 / (k + rank)), ``best`` (int32: the best rank), ``runs`` (int32: how many runs have it). Topics in order
        of first appearance; within a topic the highest fusion first, equal ones by the best rank, then by
        document id. The index is 0, 1, 2 ...

    Examples
    --------
    >>> from collection.ranking import rank_run
    >>> a = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> b = pd.DataFrame({"query_id": "1", "doc_id": ["y", "z"], "score": [2.0, 1.0]})
    >>> print(evidence([Run("a", rank_run(a)), Run("b", rank_run(b))]).round(4))
      query_id doc_id  fusion  best  runs
    0        1      y  0.0325     1     2
    1        1      x  0.0164     1     1
    2        1      z  0.0161     2     1
    """
    if k < 0:
        raise InputError(f"reciprocal rank fusion needs a constant k of 0 or more, found {k}")
    for run in runs:
        require_columns(run.frame, ("query_id", "doc_id", "listed"), f"run {run.name}")
    topic, topics = _coded([run.frame["query_id"] for run in runs])
    document, documents = _coded([run.frame["doc_id"] for run in runs])
    ranks = [run.frame["listed"].to_numpy(dtype=np.int32) for run in runs]
    rank = np.concatenate(ranks) if ranks else np.empty(0, np.int32)
    keys = topic.astype(np.int64) * max(len(documents), 1) + document
    # From the best rank down: the first row of a pair then has its best rank.
    order = _by_rank(rank)
    keys, rank = keys[order], rank[order]
    pair, unique = pd.factorize(keys)
    best = np.empty(len(unique), np.int32)
    best[pair[::-1]] = rank[::-1]
    fusion = np.bincount(pair, weights=1.0 / (k + rank), minlength=len(unique)).astype(np.float64, copy=False)
    count = np.bincount(pair, minlength=len(unique)).astype(np.int32)
    topic_of, document_of = np.divmod(unique, max(len(documents), 1))
    order = np.lexsort((_places(documents)[document_of], best, -fusion, topic_of))
    return pd.DataFrame(
        {
            "query_id": topics[topic_of[order]],
            "doc_id": documents[document_of[order]],
            "fusion": fusion[order],
            "best": best[order],
            "runs": count[order],
        }
    )


def _coded(columns: Sequence[pd.Series[Any]]) -> tuple[npt.NDArray[np.int64], pd.Index[Any]]:
    """One code a row over all columns together, numbered by first appearance, and the texts behind the codes."""
    if not columns or not all(isinstance(column.dtype, pd.CategoricalDtype) for column in columns):
        texts = [column.astype("str") for column in columns] or [pd.Series(dtype="str")]
        return pd.factorize(pd.Index(pd.concat(texts, ignore_index=True)))
    categories = [pd.Series(column.cat.categories.astype("str")) for column in columns]
    shared, names = pd.factorize(pd.Index(pd.concat(categories, ignore_index=True)))
    ends = np.cumsum([len(names_of_run) for names_of_run in categories])
    rows = [codes[column.cat.codes] for codes, column in zip(np.split(shared, ends), columns, strict=False)]
    code, seen = pd.factorize(np.concatenate(rows))
    return code, names[seen]


def _places(texts: pd.Index[Any]) -> npt.NDArray[np.int64]:
    """Which place each text has when they are sorted by code points."""
    places = np.empty(len(texts), np.int64)
    places[texts.argsort()] = np.arange(len(texts))
    return places


def _by_rank(rank: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Row positions, best rank first; equal ranks as they came. Ranks that fit 16 bits sort by counting."""
    narrow = rank.astype(np.uint16) if rank.max(initial=0) <= np.iinfo(np.uint16).max else rank
    return np.argsort(narrow, kind="stable")
