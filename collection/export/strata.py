"""Qrels that also say what was not judged: pairs of the pool as -1, strata and probabilities of a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.frames import QRELS

UNJUDGED = -1
"""The grade that stands for "in the pool, and not judged" in files, and nowhere else."""

_PAIR = ["query_id", "doc_id"]


def with_unjudged(qrels: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Qrels with the pairs of the pool that have no grade as -1.

    Parameters
    ----------
    qrels, pool
        ``query_id``, ``doc_id``, and in the qrels ``relevance``.

    Returns
    -------
    DataFrame
        :data:`collection.frames.QRELS`: topics in the order of the qrels and then of the pool, by document
        id within each.

    Examples
    --------
    >>> qrels = pd.DataFrame({"query_id": ["1"], "doc_id": ["d2"], "relevance": [3]})
    >>> pool = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["d1", "d2"]})
    >>> with_unjudged(qrels, pool).to_dict("split")["data"]
    [['1', 'd1', -1], ['1', 'd2', 3]]
    """
    QRELS.check(qrels, "adding what is unjudged")
    more = pool.loc[~_among(pool, qrels), _PAIR].assign(relevance=UNJUDGED)
    return _ordered(pd.concat([qrels[list(QRELS.names)], more], ignore_index=True))


def of_judged_topics(qrels: pd.DataFrame) -> pd.DataFrame:
    """Qrels without the topics in which every pair is unjudged: a measure is 0 there whatever a system retrieves.

    Parameters
    ----------
    qrels
        ``query_id``, ``relevance`` (below 0: unjudged); any other columns stay.

    Examples
    --------
    >>> qrels = pd.DataFrame({"query_id": ["1", "1", "2"], "relevance": [3, -1, -1]})
    >>> of_judged_topics(qrels).to_dict("split")["data"]
    [['1', 3], ['1', -1]]
    """
    judged = qrels.loc[qrels["relevance"] >= 0, "query_id"]
    return qrels[qrels["query_id"].isin(judged)].reset_index(drop=True)


def with_strata(qrels: pd.DataFrame, pool: pd.DataFrame, sampled_out: pd.DataFrame) -> pd.DataFrame:
    """Qrels of a sampled pool with the stratum of each pair, as xinfAP and infNDCG read them.

    A stratum is what one round of sampling drew from; rounds do not share any. Pairs that were not drawn by lot (they
    came by a depth pool, a search, the loop) stand for themselves: they are one more stratum, the first. Pairs that
    were drawn and have no grade are -1, and so is every pair that a sample left out, whatever was said of it since: a
    grade that did not come by the draw would upset what the sample says. Where two rounds left a pair out, the later
    one counts: what the earlier one drew from the same stratum was known by then. Where a later round that is no sample
    took pairs out of a stratum, the estimate is a little off: which of those drawn before it would have taken as well
    is not known.

    Parameters
    ----------
    qrels
        :data:`collection.frames.QRELS`.
    pool, sampled_out
        As the store gives them: ``query_id``, ``doc_id``, ``stratum`` (null where nothing was drawn), ``pool_round``;
        in the pool ``probability`` too.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``stratum`` (from 0), ``relevance``; in the order of :func:`with_unjudged`.

    Raises
    ------
    InputError
        A topic has pairs of a stratum and others that were drawn by weight, without one.
    """
    weighted = pool[pool["probability"].notna() & pool["stratum"].isna()]
    both = weighted[weighted["query_id"].isin(pool.loc[pool["stratum"].notna(), "query_id"])]
    if len(both):
        raise InputError(
            "qrels with strata need pairs that were drawn from one, found topic "
            f"{both['query_id'].iloc[0]!r} with others that were drawn by weight, which no estimate takes together; "
            "export the qrels as they are"
        )
    drawn = pool[pool["stratum"].notna()]
    left_out = sampled_out[sampled_out["stratum"].notna()].sort_values("pool_round", kind="stable")
    left_out = left_out[~left_out.duplicated(_PAIR, keep="last")]
    known = pd.concat([drawn, left_out])[[*_PAIR, "pool_round", "stratum"]]
    design = pd.MultiIndex.from_frame(known[["pool_round", "stratum"]].astype("int64"))
    codes, _ = pd.factorize(design, sort=True)
    settled = qrels[~_among(qrels, left_out)]
    found = with_unjudged(settled, pd.concat([pool[_PAIR], left_out[_PAIR]]))
    found = found.merge(known[_PAIR].assign(stratum=codes), on=_PAIR, how="left")
    certain = found["stratum"].isna().any()
    stratum = found["stratum"].fillna(-1).astype("int64") + int(certain)
    return found.assign(stratum=stratum)[[*_PAIR, "stratum", "relevance"]]


def with_probabilities(
    qrels: pd.DataFrame, pool: pd.DataFrame, sampled_out: pd.DataFrame, *, unjudged: bool = False
) -> pd.DataFrame:
    """Qrels with the probability with which each pair came to be judged; 1 where it was not drawn by lot.

    A pair that a sample left out has no row, whatever was said of it since: those that were drawn stand for it already.

    Parameters
    ----------
    qrels
        :data:`collection.frames.QRELS`.
    pool
        ``query_id``, ``doc_id``, ``probability`` (null where nothing was drawn), ``pool_round``.
    sampled_out
        ``query_id``, ``doc_id``.
    unjudged
        Also the pairs of the pool that have no grade, as -1. Estimates by probabilities take everything that was drawn
        to be judged; those by strata allow for what is not.

    Returns
    -------
    DataFrame
        :data:`collection.frames.QRELS` with ``probability`` (above 0, at most 1).

    Raises
    ------
    InputError
        A topic was sampled more than once: a pair could come by either draw, and no probability of one says so.
    """
    rounds = pool[pool["probability"].notna()].groupby("query_id", sort=False)["pool_round"].nunique()
    if (rounds > 1).any():
        raise InputError(
            f"qrels with probabilities need topics that were sampled once, found {rounds.idxmax()!r} sampled "
            f"{rounds.max()} times; strata say what several samples are worth together"
        )
    settled = qrels[~_among(qrels, sampled_out)]
    found = with_unjudged(settled, pool) if unjudged else _ordered(settled[list(QRELS.names)])
    found = found.merge(pool[[*_PAIR, "probability"]], on=_PAIR, how="left")
    return found.assign(probability=found["probability"].astype("float64").fillna(1.0))


def _among(frame: pd.DataFrame, others: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which pairs of the one are in the other."""
    there = pd.MultiIndex.from_frame(others[_PAIR].astype("str"))
    return np.asarray(pd.MultiIndex.from_frame(frame[_PAIR].astype("str")).isin(there), dtype=np.bool_)


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """Topics as they come first, then by document id."""
    place = pd.factorize(frame["query_id"])[0]
    return frame.assign(_=place).sort_values(["_", "doc_id"], kind="stable", ignore_index=True).drop(columns="_")
