"""Judgements that were given after the annotator saw a machine label: they are not independent of it."""

from __future__ import annotations

import pandas as pd

_KEY = ["annotator", "query_id", "doc_id"]


def labels_seen(judgements: pd.DataFrame, views: pd.DataFrame) -> pd.Series:
    """Name the label sets of which each annotator had seen the pair's label when they judged it.

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
    rows = judgements[[*_KEY, "judged_at"]].assign(place=range(len(judgements)))
    both = rows.merge(views, on=_KEY)
    both = both[both["judged_at"].notna() & (both["judged_at"] >= both["shown_at"])]
    for place, names in both.groupby("place")["label_set"]:
        seen.iloc[int(str(place))] = "; ".join(sorted(names))
    return seen
