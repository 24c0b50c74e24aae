"""Depth-k pools, and the pairs that each further rank adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, get_args

import numpy as np
import pandas as pd

from collection.core.errors import require_known
from collection.core.frames import POOL, RUN
from collection.core.records import Run
from collection.core.registry import Parameter
from collection.pooling.table import STRATEGIES, Depth, TiedRanks, check_depth


@STRATEGIES.add(
    "depth",
    label="Depth-k",
    description="The first k documents of every run, as in TREC: enough for measures with a cut-off of k or less.",
    limits=("depth",),
)
def depth(
    runs: Sequence[Run],
    *,
    depth: Depth = 10,
    ties: Annotated[
        TiedRanks,
        Parameter(
            "Ties (equal scores)",
            "Order in which documents with equal scores are pooled. Measures order them by document id.",
            labels={"listed": "As listed in the run", "both": "As listed, and as measures order them"},
        ),
    ] = "listed",
) -> pd.DataFrame:
    """The union of the first `depth` documents of every run.

    Measures order equal scores by document id, as trec_eval does, while a run may list them in another order. By
    default the pool follows the run, as TREC does, and may miss a few documents that a measure reads in the first k.
    With ``ties="both"`` the first `depth` documents in either order are pooled, and none is missing.

    Source: Sparck Jones & van Rijsbergen, "ideal" test collection report, 1975; Voorhees & Harman, TREC, 2005.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strategy`` ("depth"), ``rank`` (the best over the runs), ``runs`` (how many runs
        have it within the depth). Topics in order of first appearance, then by rank, number of runs and document id.
    """
    check_depth(depth)
    require_known("treatment of ties", get_args(TiedRanks), ties)
    tops = [_top(run, depth, ties) for run in runs]
    rows = pd.concat(tops, ignore_index=True) if tops else pd.DataFrame(columns=["query_id", "doc_id", "rank"])
    pairs = rows.groupby(["query_id", "doc_id"], sort=False, as_index=False).agg(
        rank=("rank", "min"), runs=("rank", "size")
    )
    pairs["strategy"] = "depth"
    topic_order = pd.factorize(pairs["query_id"])[0]
    order = np.lexsort((pairs["doc_id"].to_numpy(dtype=object), -pairs["runs"], pairs["rank"], topic_order))
    return pairs.iloc[order].reset_index(drop=True)[[*POOL.names, "runs"]]


def pool_growth(runs: Sequence[Run], deepest: int = 100) -> pd.DataFrame:
    """``depth``, ``run``, ``pairs``: how many pairs each rank of each run adds to a depth pool.

    A pair is credited to the run that ranks it highest, in equal fractions where runs tie.
    """
    tops = [_top(run, deepest).assign(run=run.name) for run in runs]
    if not tops:
        return pd.DataFrame({"depth": [], "run": [], "pairs": []})
    rows = pd.concat(tops, ignore_index=True)
    rows["best"] = rows.groupby(["query_id", "doc_id"])["rank"].transform("min")
    first = rows[rows["rank"] == rows["best"]]
    share = 1.0 / first.groupby(["query_id", "doc_id"])["rank"].transform("size")
    credited = first.assign(pairs=share, depth=first["rank"])
    return credited.groupby(["depth", "run"], as_index=False).agg(pairs=("pairs", "sum"))


def _top(run: Run, depth: int, ties: TiedRanks = "listed") -> pd.DataFrame:
    """``query_id``, ``doc_id``, ``rank`` of a run's first rows, by the better of both ranks if `ties` is "both"."""
    frame = RUN.check(run.frame, f"run {run.name}")
    places = frame["listed"]
    if ties == "both":
        places = frame[["listed", "rank"]].min(axis=1)
    top = frame.loc[places <= depth, ["query_id", "doc_id"]].assign(rank=places[places <= depth])
    # Plain strings from here: the runs' categories differ, and what is left is small.
    return top.assign(query_id=top["query_id"].astype(str), doc_id=top["doc_id"].astype(str))
