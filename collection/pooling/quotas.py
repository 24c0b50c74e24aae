"""Pools to which every run adds the same number of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from collection.core.errors import InputError
from collection.core.frames import POOL
from collection.core.records import Run
from collection.core.registry import Parameter
from collection.pooling.run_evidence import join_runs
from collection.pooling.table import STRATEGIES


@STRATEGIES.add(
    "quota",
    label="Quota per run",
    description="Every run adds the same number of new documents, however similar the runs are.",
    limits=("n",),
)
def quota(
    runs: Sequence[Run],
    *,
    n: Annotated[int, Parameter("Documents per run", "New documents from each run for each topic.", least=1)] = 10,
) -> pd.DataFrame:
    """Runs take turns, in their order; each adds its next document that is not in the pool, until it has added `n`.

    In a depth pool, similar systems share their documents, so a dissimilar system adds the most. Here each adds `n`
    documents per topic, unless its run ends before.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strategy`` ("quota"), ``rank`` (place in the order of adding, from 1), ``runs``
        (how many runs have it at any rank). Topics in order of first appearance.

    Examples
    --------
    >>> from collection.core.ranking import rank_run
    >>> a = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
    >>> runs = [Run("a", rank_run(a)), Run("b", rank_run(a))]
    >>> quota(runs, n=1)["doc_id"].tolist()
    ['x', 'y']
    """
    if n < 1:
        raise InputError(f"quota: expected 1 or more documents per run and topic, found {n}")
    rows = join_runs(runs)
    # Rows are in the order of ranks, which a stable sort by run and topic keeps within each list.
    lists, topics = rows.lists, len(rows.topics)
    order = np.argsort(lists, kind="stable")
    listed = np.split(rows.pair[order], np.cumsum(np.bincount(lists, minlength=len(runs) * topics))[:-1])
    taken: list[int] = []
    for topic in range(topics):
        taken += _take_turns([pairs.tolist() for pairs in listed[topic::topics]], n)
    chosen = np.array(taken, dtype=np.int64)
    pool = pd.DataFrame(
        {
            "query_id": rows.topics[rows.topic[chosen]],
            "doc_id": rows.documents[rows.document[chosen]],
            "strategy": "quota",
            "runs": rows.run_counts[chosen],
        }
    )
    pool["rank"] = pool.groupby("query_id", sort=False).cumcount() + 1
    return pool[[*POOL.names, "runs"]]


def _take_turns(lists: list[list[int]], n: int) -> list[int]:
    unread = [iter(pairs) for pairs in lists]
    taken: dict[int, None] = {}
    for _ in range(min(n, max(map(len, lists), default=0))):
        for pairs in unread:
            new = next((pair for pair in pairs if pair not in taken), None)
            if new is not None:
                taken[new] = None
    return list(taken)
