"""Pools of a fixed size: the documents with the highest weights by a fusion of the runs.

Every strategy here orders the documents of a topic by a weight and takes the first `budget`, or, with `total`, the
first `total` of all topics together (0: `budget` applies). A total is spent unevenly on purpose: where systems agree,
few documents have a high weight, and a topic may get none. Each docstring says how comparable weights are between
topics.

Returns ``query_id``, ``doc_id``, ``strategy``, ``rank`` (in the fusion, from 1), ``runs`` (how many runs have the
document at any rank). Topics in order of first appearance, then by weight, best rank and document id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.errors import InputError, require_known
from collection.core.frames import POOL
from collection.core.records import Run
from collection.core.registry import Parameter
from collection.pooling.run_evidence import K, RunRows, evidence, join_runs
from collection.pooling.table import STRATEGIES, Budget, Total, check_budget

Fusion = Literal["rrf", "combsum", "combmnz", "borda", "rbp"]

Constant = Annotated[int, Parameter("Constant k", "Larger values give the first ranks less weight.", least=0)]
RbpPersistence = Annotated[
    float, Parameter("Persistence p", "Probability of continuing to the next document (above 0, below 1).")
]

BUDGET = 100
"""Default number of pairs per topic."""


@STRATEGIES.add(
    "rrf",
    label="Reciprocal rank fusion",
    description="Fills a budget with the documents that many runs rank high.",
    limits=("budget",),
)
def rrf(runs: Sequence[Run], *, budget: Budget = BUDGET, k: Constant = K, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest sum over the runs of 1 / (k + rank).

    The rank is that in the run's own list (``listed``). Weights are comparable between topics that all runs have.

    Source: Cormack, Clarke & Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009.
    """
    return _take_first(evidence(runs, k=k), "rrf", budget, total)


@STRATEGIES.add(
    "combsum",
    label="CombSUM",
    description="Fills a budget with the highest sums of scores, normalised to 0-1 in each run.",
    limits=("budget",),
)
def combsum(runs: Sequence[Run], *, budget: Budget = BUDGET, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest sum over the runs of their normalised scores, which must be finite.

    In each run and topic the highest score becomes 1 and the lowest 0; if all are equal, they become 1. Weights are
    comparable between topics if the runs' scores have similar distributions.

    Source: Fox & Shaw, "Combination of multiple searches", TREC-2, 1994; the normalisation is that of Lee,
    "Analyses of multiple evidence combination", SIGIR 1997.
    """
    rows = join_runs(runs)
    return _take_first(rows.ordered(_sum_scores(rows, runs)), "combsum", budget, total)


@STRATEGIES.add(
    "combmnz",
    label="CombMNZ",
    description="CombSUM times the number of runs that retrieve the document, so that agreement counts more.",
    limits=("budget",),
)
def combmnz(runs: Sequence[Run], *, budget: Budget = BUDGET, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest :func:`combsum` times the number of runs that have them.

    Source: Fox & Shaw, TREC-2, 1994; Lee, SIGIR 1997.
    """
    rows = join_runs(runs)
    return _take_first(rows.ordered(_sum_scores(rows, runs) * rows.run_counts), "combmnz", budget, total)


@STRATEGIES.add(
    "borda",
    label="Borda count",
    description="Fills a budget by votes: runs score documents by rank and split the rest among those they lack.",
    limits=("budget",),
)
def borda(runs: Sequence[Run], *, budget: Budget = BUDGET, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the most points.

    Of the c documents that the runs have together for a topic, a run gives its first c points, its second c - 1, and
    so on; those that it does not have share the remaining points. The weight is the points divided by c, which makes
    topics comparable.

    Source: Aslam & Montague, "Models for metasearch", SIGIR 2001.
    """
    rows = join_runs(runs)
    candidates = np.bincount(rows.topic, minlength=len(rows.topics))
    topic = rows.topic[rows.pair]
    # (runs, topics): how many documents each run has, and the points of each document that it does not have.
    length = np.bincount(rows.lists, minlength=len(runs) * len(rows.topics)).reshape(len(runs), len(rows.topics))
    shared = (candidates - length + 1) / 2
    own = (candidates[topic] - rows.rank + 1) - shared[rows.run, topic]
    # Points are whole or half numbers, whose sums are exact in any order.
    points = shared.sum(axis=0)[rows.topic] + rows.sum_by_pair(own)
    return _take_first(rows.ordered(points / candidates[rows.topic]), "borda", budget, total)


@STRATEGIES.add(
    "rbp",
    label="RBP weights",
    description="Fills a budget with the documents that weigh most in the runs' rank-biased precision.",
    limits=("budget",),
)
def rbp(runs: Sequence[Run], *, budget: Budget = BUDGET, p: RbpPersistence = 0.8, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest sum over the runs of (1 - p) p^(rank - 1).

    A document's weight is how much it can change the sum of the systems' rank-biased precision. So weights are
    comparable between topics, and `total` gives the pool of that size with the smallest mean RBP residual.

    Source: Moffat, Webber & Zobel, "Strategic system comparisons via targeted relevance judgments", SIGIR 2007
    (method A: the weights of all systems summed, fixed before anything is judged).
    """
    if not 0 < p < 1:
        raise InputError(f"persistence p: expected a number above 0 and below 1, found {p}")
    rows = join_runs(runs)
    weight: Floats = (1 - p) * np.power(p, rows.rank - 1.0)
    return _take_first(rows.ordered(rows.sum_by_pair(weight)), "rbp", budget, total)


@STRATEGIES.add(
    "sparse",
    label="Sparse",
    description="The top few documents of each topic by rank fusion, for lists and sparse qrels.",
    limits=("budget",),
    orders_as="rrf",
)
def sparse(runs: Sequence[Run], *, budget: Budget = 10, fusion: Fusion = "rrf") -> pd.DataFrame:
    """The first `budget` documents of a fusion with its default parameters, few enough to judge as one list.

    Sparse qrels need one good document of each topic, so only the first places of the fusion matter.

    Source: Nguyen et al., "MS MARCO: a human generated machine reading comprehension dataset", 2016 (ten passages a
    question).
    """
    require_known("fusion", get_args(Fusion), fusion)
    return STRATEGIES[fusion].pool(runs, budget=budget).assign(strategy="sparse")


def _take_first(pairs: pd.DataFrame, strategy: str, budget: int, total: int) -> pd.DataFrame:
    """The first `budget` of each topic, or the first `total` of all by weight, best rank, and place in the topic."""
    check_budget(budget)
    if total < 0:
        raise InputError(f"pool total: expected a number of pairs, or 0 to use the budget, found {total}")
    place = (pairs.groupby("query_id", sort=False).cumcount() + 1).to_numpy()
    pool = pairs.assign(strategy=strategy, rank=place)[[*POOL.names, "runs"]]
    if not total:
        return pool[place <= budget].reset_index(drop=True)
    topic = pd.factorize(pairs["query_id"])[0]
    first = np.lexsort((topic, place, pairs["best"], -pairs["fusion"]))[:total]
    return pool.iloc[np.sort(first)].reset_index(drop=True)


def _sum_scores(rows: RunRows, runs: Sequence[Run]) -> Floats:
    """(pairs,) sums of normalised scores, added up from the highest down: the order of the runs changes no bit."""
    for run in runs:
        if not np.isfinite(run.frame["score"]).all():
            raise InputError(
                f"run {run.name}: sums of scores need finite scores, found nan or infinity; choose a strategy that "
                "uses ranks, such as rrf"
            )
    scores = np.concatenate([np.empty(0), *(run.frame["score"].to_numpy(dtype=np.float64) for run in runs)])
    # Halves: the distance of two doubles may be more than a double holds.
    score = scores[rows.row] / 2
    lists, size = rows.lists, len(runs) * len(rows.topics)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, lists, score)
    np.maximum.at(highest, lists, score)
    span = (highest - lowest)[lists]
    weight = np.divide(score - lowest[lists], span, out=np.ones_like(score), where=span > 0)
    down = np.argsort(-weight, kind="stable")
    return np.bincount(rows.pair[down], weights=weight[down], minlength=len(rows.topic)).astype(np.float64, copy=False)
