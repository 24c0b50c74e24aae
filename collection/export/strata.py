"""Qrels with unjudged pairs of the pool as -1, and with strata or probabilities of a sample."""

from __future__ import annotations

import numpy as np
import pandas as pd

from collection.core.arrays import Bools
from collection.core.errors import InputError
from collection.core.frames import QRELS

UNJUDGED = -1
"""The grade of unjudged pairs of the pool, in files only."""

_PAIR = ["query_id", "doc_id"]


def add_unjudged(qrels: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Qrels with the pairs of the pool that have no grade as -1.

    Topics are in the order of the qrels and then of the pool, by document id within each.

    >>> qrels = pd.DataFrame({"query_id": ["1"], "doc_id": ["d2"], "relevance": [3]})
    >>> pool = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["d1", "d2"]})
    >>> add_unjudged(qrels, pool).to_dict("split")["data"]
    [['1', 'd1', -1], ['1', 'd2', 3]]
    """
    qrels = QRELS.check(qrels, "adding what is unjudged")
    more = pool.loc[~_among(pool, qrels), _PAIR].assign(relevance=UNJUDGED)
    return _ordered(pd.concat([qrels[list(QRELS.names)], more], ignore_index=True))


def select_judged_topics(qrels: pd.DataFrame) -> pd.DataFrame:
    """Qrels without topics in which every pair is unjudged, where a measure is 0 whatever a system retrieves.

    >>> qrels = pd.DataFrame({"query_id": ["1", "1", "2"], "relevance": [3, -1, -1]})
    >>> select_judged_topics(qrels).to_dict("split")["data"]
    [['1', 3], ['1', -1]]
    """
    judged = qrels.loc[qrels["relevance"] >= 0, "query_id"]
    return qrels[qrels["query_id"].isin(judged)].reset_index(drop=True)


def add_strata(qrels: pd.DataFrame, pool: pd.DataFrame, sampled_out: pd.DataFrame) -> pd.DataFrame:
    """Qrels of a sampled pool with the stratum of each pair, as xinfAP and infNDCG read them.

    A stratum is what one round of sampling drew from. Pairs that were not drawn (from a depth pool, a search, the loop)
    are one more stratum, the first. Drawn pairs without a grade are -1, and so are pairs that a sample left out, even
    if they were judged since: such a grade would bias the sample. Of two rounds that left a pair out the later one
    counts. Where a later round without sampling took pairs out of a stratum, the estimate is slightly biased: which of
    the drawn pairs it would have taken as well is not known.

    `pool` and `sampled_out` have ``query_id``, ``doc_id``, ``stratum`` (null where nothing was drawn), ``pool_round``;
    the pool also ``probability``.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``stratum`` (from 0), ``relevance``; in the order of :func:`add_unjudged`.

    Raises
    ------
    InputError
        A topic has pairs of a stratum and others that were drawn by weight, without one.
    """
    weighted = pool[pool["probability"].notna() & pool["stratum"].isna()]
    both = weighted[weighted["query_id"].isin(pool.loc[pool["stratum"].notna(), "query_id"])]
    if len(both):
        raise InputError(
            f"topic {both['query_id'].iloc[0]!r} has pairs sampled by stratum and pairs sampled by weight, which no "
            "estimator combines; export the qrels without strata"
        )
    drawn = pool[pool["stratum"].notna()]
    left_out = sampled_out[sampled_out["stratum"].notna()].sort_values("pool_round", kind="stable")
    left_out = left_out[~left_out.duplicated(_PAIR, keep="last")]
    known = pd.concat([drawn, left_out])[[*_PAIR, "pool_round", "stratum"]]
    design = pd.MultiIndex.from_frame(known[["pool_round", "stratum"]].astype("int64"))
    codes, _ = pd.factorize(design, sort=True)
    rows = add_unjudged(qrels[~_among(qrels, left_out)], pd.concat([pool[_PAIR], left_out[_PAIR]]))
    rows = rows.merge(known[_PAIR].assign(stratum=codes), on=_PAIR, how="left")
    certain = rows["stratum"].isna().any()
    stratum = rows["stratum"].fillna(-1).astype("int64") + int(certain)
    return rows.assign(stratum=stratum)[[*_PAIR, "stratum", "relevance"]]


def add_probabilities(
    qrels: pd.DataFrame, pool: pd.DataFrame, sampled_out: pd.DataFrame, *, unjudged: bool = False
) -> pd.DataFrame:
    """Qrels with the probability of being drawn (``probability``, above 0), 1 for pairs that were not sampled.

    A pair that a sample left out has no row, even if it was judged since: the drawn pairs stand for it.

    Parameters
    ----------
    pool
        ``query_id``, ``doc_id``, ``probability`` (null where nothing was drawn), ``pool_round``.
    sampled_out
        ``query_id``, ``doc_id``.
    unjudged
        Also the pairs of the pool without a grade, as -1; estimates by probabilities expect every drawn pair judged.

    Raises
    ------
    InputError
        A topic was sampled more than once, so that no single probability holds.
    """
    rounds = pool[pool["probability"].notna()].groupby("query_id", sort=False)["pool_round"].nunique()
    if (rounds > 1).any():
        raise InputError(
            f"topic {rounds.idxmax()!r} was sampled {rounds.max()} times, but qrels with probabilities need topics "
            "sampled once; export the qrels with strata"
        )
    drawn = qrels[~_among(qrels, sampled_out)]
    rows = add_unjudged(drawn, pool) if unjudged else _ordered(drawn[list(QRELS.names)])
    rows = rows.merge(pool[[*_PAIR, "probability"]], on=_PAIR, how="left")
    return rows.assign(probability=rows["probability"].astype("float64").fillna(1.0))


def _among(frame: pd.DataFrame, others: pd.DataFrame) -> Bools:
    """(rows of `frame`,) whether a pair is among `others`."""
    index = pd.MultiIndex.from_frame(others[_PAIR].astype("str"))
    return np.asarray(pd.MultiIndex.from_frame(frame[_PAIR].astype("str")).isin(index), dtype=np.bool_)


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort by topic in order of appearance, then by document id."""
    place = pd.factorize(frame["query_id"])[0]
    return frame.assign(_=place).sort_values(["_", "doc_id"], kind="stable", ignore_index=True).drop(columns="_")
