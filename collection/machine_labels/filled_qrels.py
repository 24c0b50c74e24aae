"""Qrels of people, filled with machine labels; each pair says who gave its grade."""

from __future__ import annotations

import pandas as pd

PEOPLE = "people"
"""Who gave a grade that judgements of people decided; no label set has this name."""

_PAIR = ["query_id", "doc_id"]


def fill_qrels(qrels: pd.DataFrame, labels: pd.DataFrame, pool: pd.DataFrame, name: str) -> pd.DataFrame:
    """Add the machine labels of pooled pairs that have no grade by people.

    Parameters
    ----------
    qrels
        ``query_id``, ``doc_id``, ``relevance``, none below 0: adjudicated judgements.
    labels
        The same columns, without nulls: the labels of one set.
    pool
        ``query_id``, ``doc_id``.
    name
        The name of the label set.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``relevance``, ``by`` (:data:`PEOPLE` or `name`); the rows of people first.

    Examples
    --------
    >>> qrels = pd.DataFrame({"query_id": ["1"], "doc_id": ["a"], "relevance": [0]})
    >>> labels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b", "z"], "relevance": 1.0})
    >>> pool = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b", "c"]})
    >>> print(fill_qrels(qrels, labels, pool, "rule").to_string(index=False))
    query_id doc_id  relevance     by
           1      a        0.0 people
           1      b        1.0   rule
    """
    pooled = labels.merge(pool[_PAIR].drop_duplicates(), on=_PAIR)
    judged = pooled[_PAIR].merge(qrels[_PAIR].assign(judged=True), on=_PAIR, how="left")["judged"].notna()
    added = pooled.loc[~judged.to_numpy(), [*_PAIR, "relevance"]].assign(by=name)
    own = qrels[[*_PAIR, "relevance"]].astype({"relevance": "float64"}).assign(by=PEOPLE)
    return pd.concat([own, added], ignore_index=True)
