"""Evaluation of rankings by preferences, without grades."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.errors import InputError
from collection.core.frames import RUN
from collection.core.records import ALL_TOPICS, Run
from collection.preferences.majority import majority

PREFERENCE_MEASURES = {
    "ppref": "share of the counted pairs that the ranking orders as the annotators did",
    "wpref": "ppref with each pair weighted by 1 / log2(rank + 1) of its higher-ranked document",
    "rpref": "share of all pairs that the ranking orders as the annotators did",
}
"""Name -> description. A pair counts if the ranking retrieves at least one of its documents."""


class PreferenceValues(NamedTuple):
    """Values of rankings by preferences."""

    values: pd.DataFrame
    """``run``, ``query_id``, ``pairs`` (counted pairs), ``of`` (pairs with a better document), and a column for each of
    :data:`PREFERENCE_MEASURES`. One row per run and topic, then one with the query_id ``all``: sums of the pairs and
    means of the values. In topics without a counted pair, ppref and wpref are nan and left out of the means."""
    depth: int | None
    """Number of ranks evaluated; None for all."""
    undecided: tuple[str, ...] = ()
    """Topics in which no pair has a better document; they have no row."""

    def means(self) -> pd.DataFrame:
        """Return the runs, best by ppref first: ``run``, ``topics``, ``counted``, ``pairs``, ``of``, and the measures.

        ppref and wpref are means over the ``counted`` topics, those with at least one counted pair; rpref over all.
        """
        all_ = self.values["query_id"] == ALL_TOPICS
        topics = self.values[~all_].assign(counted=self.values["pairs"] > 0).groupby("run", sort=False)["counted"]
        means = self.values[all_].drop(columns="query_id")
        means.insert(1, "topics", means["run"].map(topics.size()).astype("int64"))
        means.insert(2, "counted", means["run"].map(topics.sum()).astype("int64"))
        return means.sort_values("ppref", ascending=False, kind="stable", ignore_index=True)


def evaluate(runs: Iterable[Run], preferences: pd.DataFrame, depth: int | None = None) -> PreferenceValues:
    """Evaluate rankings by preferences: ppref, wpref and rpref.

    The better document of a pair is that of :func:`~collection.preferences.majority`. A pair counts if at least one of
    its documents is retrieved within `depth`; retrieved documents rank above others. In a topic without a counted pair,
    ppref and wpref have no value and rpref is 0.

    Source: Carterette, Bennett, Chickering & Dumais, ECIR 2008.

    Parameters
    ----------
    runs
        One or more, each with a name of its own.
    preferences
        ``annotator``, ``query_id``, ``left``, ``right``, ``kind``; one row per annotator and pair.
    depth
        Number of ranks to evaluate in each topic; all if left out.

    Raises
    ------
    InputError
        `depth` is below 1, no pair has a better document, a topic is named "all", there are no runs, or two runs have
        the same name.

    Examples
    --------
    >>> rows = [("ann", "1", "a", "b", "left"), ("ann", "1", "c", "b", "left")]
    >>> said = pd.DataFrame(rows, columns=["annotator", "query_id", "left", "right", "kind"])
    >>> from collection.core.ranking import rank_run
    >>> run = Run("r", rank_run(pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})))
    >>> evaluate([run], said).means()[["pairs", "ppref"]].values.tolist()
    [[2.0, 0.5]]
    """
    if depth is not None and depth < 1:
        raise InputError(f"depth: expected 1 or more, found {depth}")
    decided = majority(preferences)
    if decided.empty:
        raise InputError("preferences: expected a pair with a preferred document, found none; compare some documents")
    topics = decided["query_id"].drop_duplicates().tolist()
    if ALL_TOPICS in topics:
        raise InputError(f"a topic is named {ALL_TOPICS!r}, a name reserved for the mean over topics")
    frames: list[pd.DataFrame] = []
    names: set[str] = set()
    for run in runs:
        if run.name in names:
            raise InputError(f"two runs have the name {run.name!r}; rename one of them")
        names.add(run.name)
        frames.append(_values(run, decided, topics, depth))
    if not frames:
        raise InputError("runs: expected at least one to evaluate, found none")
    compared = preferences["query_id"].astype(str)
    undecided = compared[~compared.isin(topics)].drop_duplicates()
    return PreferenceValues(pd.concat(frames, ignore_index=True), depth, tuple(undecided))


def _values(run: Run, decided: pd.DataFrame, topics: list[str], depth: int | None) -> pd.DataFrame:
    ranks = RUN.check(run.frame, f"run {run.name}")[["query_id", "doc_id", "rank"]]
    ranks = ranks[ranks["query_id"].isin(topics)]
    if depth is not None:
        ranks = ranks[ranks["rank"] <= depth]
    pairs = decided
    for side in ("better", "worse"):
        of_side = ranks.rename(columns={"doc_id": side, "rank": f"{side}_rank"})
        pairs = pairs.merge(of_side, on=["query_id", side], how="left")
    better = pairs["better_rank"].to_numpy(dtype=np.float64, na_value=np.inf)
    worse = pairs["worse_rank"].to_numpy(dtype=np.float64, na_value=np.inf)
    highest = np.minimum(better, worse)
    counts = np.isfinite(highest)
    weight = np.where(counts, 1.0 / np.log2(np.where(counts, highest, 1.0) + 1.0), 0.0)
    right = counts & (better < worse)
    sums = pd.DataFrame(
        {
            "query_id": pairs["query_id"],
            "pairs": counts.astype(np.int64),
            "of": 1,
            "right": right.astype(np.int64),
            "weight": weight,
            "right_weight": np.where(right, weight, 0.0),
        }
    )
    by_topic = sums.groupby("query_id", sort=False).sum().loc[topics]
    values = by_topic[["pairs", "of"]].copy()
    values["ppref"] = by_topic["right"] / by_topic["pairs"].where(by_topic["pairs"] > 0)
    values["wpref"] = by_topic["right_weight"] / by_topic["weight"].where(by_topic["weight"] > 0)
    values["rpref"] = by_topic["right"] / by_topic["of"]
    mean = values.mean().to_frame().T.assign(pairs=values["pairs"].sum(), of=values["of"].sum())
    table = pd.concat([values.reset_index(), mean.assign(query_id=ALL_TOPICS)], ignore_index=True)
    table.insert(0, "run", run.name)
    return table.astype({"pairs": "int64", "of": "int64"})[["run", "query_id", "pairs", "of", *PREFERENCE_MEASURES]]
