"""Pools of a fixed size: the documents to which the runs together give the highest weights.

Every strategy here orders the documents of a topic by a weight and takes the first `budget`, or, with `total`, the
first so many of all topics together. For that the weights of one topic have to mean the same as those of another;
each docstring says how far they do. Topics in which the systems agree have few documents of high weight, others many
of middling weight, so a total is spent unevenly: that is its purpose. A topic may get nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

import numpy as np
import pandas as pd

from collection.errors import InputError, UnknownNameError
from collection.frames import POOL
from collection.pooling.run_evidence import Floats, Joined, K, evidence, joined
from collection.pooling.table import STRATEGIES, Budget, Total
from collection.records import Run
from collection.registry import Parameter

Fusion = Literal["rrf", "combsum", "combmnz", "borda", "rbp"]

Constant = Annotated[int, Parameter("Constant k", "The higher, the less the first ranks stand out.", least=0)]
Persistence = Annotated[
    float, Parameter("Persistence p", "Probability of going on to the next document: above 0, below 1.")
]

BUDGET = 100
"""Pairs of each topic, where nobody says how many."""

PERSISTENCE = 0.8
"""Of the reader whom the weights of rank-biased precision describe, where nobody says another."""


@STRATEGIES.add(
    "rrf",
    label="Reciprocal rank fusion",
    description="A budget of pairs: those that many runs put high come first.",
    limits=("budget",),
)
def rrf(runs: Sequence[Run], *, budget: Budget = BUDGET, k: Constant = K, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest sum over the runs of 1 / (k + rank).

    The rank is the place in the run's own list (``listed``), as for a depth pool. Between topics the sums compare
    as long as the same runs have them.

    Source: Cormack, Clarke & Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
    learning methods", SIGIR 2009.

    Parameters
    ----------
    runs
        Any number of runs (:data:`collection.frames.RUN`).
    budget
        How many pairs a topic gets, 1 or more; fewer where the runs have fewer.
    k
        0 or more. The higher, the less the first ranks stand out.
    total
        How many pairs all topics get together, in place of `budget`; 0: `budget` holds.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``strategy`` ("rrf"), ``rank`` (the place in the fusion, from 1), ``runs`` (how
        many runs have it at any rank). Topics in order of first appearance; within a topic by rank. Equal
        sums stand by the best rank, then by document id.
    """
    return _first(evidence(runs, k=k), "rrf", budget, total)


@STRATEGIES.add(
    "combsum",
    label="CombSUM",
    description="A budget of pairs: those with the highest sum of scores, each run's scores brought to 0 to 1.",
    limits=("budget",),
)
def combsum(runs: Sequence[Run], *, budget: Budget = BUDGET, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest sum over the runs of their normalised scores.

    In each run and topic the highest score becomes 1 and the lowest 0; where all scores are equal they become 1.
    A run that does not have a document adds nothing. So the best document of a run weighs the same in every topic,
    and weights compare between topics as far as the runs' scores fall alike in them.

    Source: Fox & Shaw, "Combination of multiple searches", TREC-2, 1994; the normalisation is that of Lee,
    "Analyses of multiple evidence combination", SIGIR 1997.

    Parameters
    ----------
    runs, budget, total
        As for :func:`rrf`. Scores have to be finite.

    Returns
    -------
    DataFrame
        As :func:`rrf`.
    """
    rows = joined(runs)
    return _first(rows.ordered(_scores(rows, runs)), "combsum", budget, total)


@STRATEGIES.add(
    "combmnz",
    label="CombMNZ",
    description="As CombSUM, but the sum counts as often as runs have the document: agreement weighs more.",
    limits=("budget",),
)
def combmnz(runs: Sequence[Run], *, budget: Budget = BUDGET, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the highest CombSUM times the number of runs that have them.

    Source: Fox & Shaw, TREC-2, 1994; Lee, SIGIR 1997.

    Parameters
    ----------
    runs, budget, total
        As for :func:`combsum`; so is what is said there of weights between topics.

    Returns
    -------
    DataFrame
        As :func:`rrf`.
    """
    rows = joined(runs)
    weight = _scores(rows, runs) * np.bincount(rows.pair, minlength=len(rows.topic))
    return _first(rows.ordered(weight), "combmnz", budget, total)


@STRATEGIES.add(
    "borda",
    label="Borda count",
    description="A budget of pairs: runs vote by their order alone, and share the points of what they do not have.",
    limits=("budget",),
)
def borda(runs: Sequence[Run], *, budget: Budget = BUDGET, total: Total = 0) -> pd.DataFrame:
    """The documents of each topic with the most points.

    Of the c documents that the runs have together for a topic, a run gives its first c points, its second c - 1, and
    so on; those that it does not have share what is left evenly. The weight is the points divided by c: a topic
    for which much was retrieved would otherwise come before all others where `total` is spent.

    Source: Aslam & Montague, "Models for metasearch", SIGIR 2001.

    Parameters
    ----------
    runs, budget, total
        As for :func:`rrf`.

    Returns
    -------
    DataFrame
        As :func:`rrf`.
    """
    rows = joined(runs)
    candidates = rows.candidates
    topic = rows.topic[rows.pair]
    # (runs, topics): how many documents each run has, and what each of those that it does not have gets.
    length = np.bincount(rows.lists, minlength=len(runs) * len(rows.topics)).reshape(len(runs), len(rows.topics))
    shared = (candidates - length + 1) / 2
    own = (candidates[topic] - rows.rank + 1) - shared[rows.run, topic]
    # Points are whole or half numbers, whose sums are exact in any order.
    points = shared.sum(axis=0)[rows.topic] + rows.summed(own)
    return _first(rows.ordered(points / candidates[rows.topic]), "borda", budget, total)


@STRATEGIES.add(
    "rbp",
    label="RBP weights",
    description="A budget of pairs: those that weigh most in the systems' rank-biased precision, steepest at the top.",
    limits=("budget",),
)
def rbp(
    runs: Sequence[Run], *, budget: Budget = BUDGET, p: Persistence = PERSISTENCE, total: Total = 0
) -> pd.DataFrame:
    """The documents of each topic with the highest sum over the runs of (1 - p) p^(rank - 1).

    The weight of a document is what the systems' rank-biased precision, summed, may still gain or lose by it. So
    weights compare between topics: of all pools of that size, the one that `total` gives leaves the least of the
    systems' mean RBP open.

    Source: Moffat, Webber & Zobel, "Strategic system comparisons via targeted relevance judgments", SIGIR 2007
    (method A: the weights of all systems summed, fixed before anything is judged).

    Parameters
    ----------
    runs, budget, total
        As for :func:`rrf`.
    p
        Persistence, above 0 and below 1: how likely the reader is to look at the next document.

    Returns
    -------
    DataFrame
        As :func:`rrf`.
    """
    if not 0 < p < 1:
        raise InputError(f"the persistence p of RBP is above 0 and below 1, found {p}")
    rows = joined(runs)
    weight: Floats = (1 - p) * np.power(p, rows.rank - 1.0)
    return _first(rows.ordered(rows.summed(weight)), "rbp", budget, total)


@STRATEGIES.add(
    "sparse",
    label="Sparse",
    description="The few documents of each topic that a fusion of your choice puts first: for lists and sparse qrels.",
    limits=("budget",),
    orders_as="rrf",
)
def sparse(runs: Sequence[Run], *, budget: Budget = 10, fusion: Fusion = "rrf") -> pd.DataFrame:
    """The first `budget` documents of a fusion, so few that an annotator sees all of them at once.

    Sparse qrels want one good document of each topic, not all of them: so the pool is as small as a list on the
    screen, the same for every topic, and how good its first places are is all that counts, which is why the fusion
    can be chosen.

    Source: Nguyen et al., "MS MARCO: a human generated machine reading comprehension dataset", 2016 (ten passages a
    question).

    Parameters
    ----------
    runs
        As for :func:`rrf`.
    budget
        How many documents of each topic, 1 or more.
    fusion
        The strategy whose order it is, with its usual parameters.

    Returns
    -------
    DataFrame
        As :func:`rrf`.
    """
    if fusion not in get_args(Fusion):
        raise UnknownNameError("fusion", fusion, get_args(Fusion))
    return STRATEGIES[fusion].pool(runs, budget=budget).assign(strategy="sparse")


def _first(pairs: pd.DataFrame, strategy: str, budget: int, total: int) -> pd.DataFrame:
    """The first `budget` of each topic, or the first `total` of all by weight, best rank, and place in the topic."""
    if budget < 1:
        raise InputError(f"the budget of a pool is a number of pairs per topic, 1 or more, found {budget}")
    if total < 0:
        raise InputError(f"the total of a pool is a number of pairs, or 0 where the budget holds, found {total}")
    place = (pairs.groupby("query_id", sort=False).cumcount() + 1).to_numpy()
    pairs = pairs.assign(strategy=strategy, rank=place)[[*POOL.names, "runs", "fusion", "best"]]
    if total:
        topic = pd.factorize(pairs["query_id"])[0]
        first = np.lexsort((topic, place, pairs["best"], -pairs["fusion"]))[:total]
        chosen = pairs.iloc[np.sort(first)]
    else:
        chosen = pairs[place <= budget]
    return chosen.drop(columns=["fusion", "best"]).reset_index(drop=True)


def _scores(rows: Joined, runs: Sequence[Run]) -> Floats:
    """(pairs,) sums of normalised scores, added up from the highest down: the order of the runs changes no bit."""
    for run in runs:
        if not np.isfinite(run.frame["score"]).all():
            raise InputError(
                f"sums of scores need scores that are finite; run {run.name} has others; "
                "choose a strategy that goes by ranks, such as rrf"
            )
    # Halves: the distance of two doubles may be more than a double holds.
    score = (
        np.concatenate([np.empty(0), *(run.frame["score"].to_numpy(dtype=np.float64) for run in runs)])[rows.row] / 2
    )
    lists, size = rows.lists, len(runs) * len(rows.topics)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, lists, score)
    np.maximum.at(highest, lists, score)
    span = (highest - lowest)[lists]
    weight = np.divide(score - lowest[lists], span, out=np.ones_like(score), where=span > 0)
    down = np.argsort(-weight, kind="stable")
    return np.bincount(rows.pair[down], weights=weight[down], minlength=len(rows.topic)).astype(np.float64, copy=False)
