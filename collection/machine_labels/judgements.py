"""Machine labels next to judgements: which labels an annotator had seen, and qrels that labels fill."""

from __future__ import annotations

import pandas as pd

PEOPLE = "people"
"""Who gave a grade that judgements of people decided; no label set has this name."""

_PAIR = ["query_id", "doc_id"]
_OPINION = ["annotator", *_PAIR]


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


def labels_seen(judgements: pd.DataFrame, views: pd.DataFrame) -> pd.Series:
    """Name the label sets of which each annotator had seen the pair's label when they judged it.

    Such judgements are not independent of the label.

    Parameters
    ----------
    judgements
        ``annotator``, ``query_id``, ``doc_id``, ``judged_at`` (ISO 8601; null: imported, so nothing was seen).
    views
        As :meth:`.MachineLabelTables.views` returns them.

    Returns
    -------
    Series
        With the index of the judgements: names joined by "; ", "" for none.

    Examples
    --------
    >>> pair = {"annotator": ["ann", "bob"], "query_id": "1", "doc_id": "d1"}
    >>> judged = pd.DataFrame({**pair, "judged_at": "2026-01-02"})
    >>> views = pd.DataFrame({**pair, "label_set": "rule", "shown_at": ["2026-01-01", "2026-01-03"]})
    >>> labels_seen(judged, views).tolist()
    ['rule', '']
    """
    seen = pd.Series("", index=judgements.index, dtype="str")
    if judgements.empty or views.empty:
        return seen
    rows = judgements[[*_OPINION, "judged_at"]].assign(place=range(len(judgements)))
    both = rows.merge(views, on=_OPINION)
    both = both[both["judged_at"].notna() & (both["judged_at"] >= both["shown_at"])]
    for place, names in both.groupby("place")["label_set"]:
        seen.iloc[int(str(place))] = "; ".join(sorted(names))
    return seen
