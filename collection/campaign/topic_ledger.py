"""What stands of a topic -> its ledger, as stopping rules want it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication, pooling
from collection.stopping import Ledger

Bools = NDArray[np.bool_]

BY_LOOP = ("loop", "start", "random")
"""Strategies of pairs that the loop brought up, beside the names of those that are adaptive."""


class Known(NamedTuple):
    """A topic's judgements.

    Attributes
    ----------
    ledger
        Each document of the scope once, with its settled grade.
    turns
        (n,) bool: those that the loop brought up, not a pool, a search or an import.
    """

    ledger: Ledger
    turns: Bools


def inside(decisions: pd.DataFrame, allowed: Bools) -> pd.DataFrame:
    """The decisions on documents of the scope.

    Parameters
    ----------
    decisions
        Of one topic, as :meth:`.JudgementTables.decisions` gives them.
    allowed
        (documents,) bool: the scope.
    """
    rows = decisions["row"].to_numpy(dtype=np.int64)
    known = rows < len(allowed)
    known[known] = allowed[rows[known]]
    return decisions[known]


def settled(decisions: pd.DataFrame) -> pd.DataFrame:
    """The decisions of one topic with one row for each document: the first, and the grade that all of them come to.

    ``relevance`` is null where nobody gave a grade. A second opinion is the first only where there is no other: how
    the document came up says the one that brought it up.
    """
    if not decisions["doc_id"].duplicated().any():
        return decisions
    second = decisions["strategy"] == "overlap"
    once = pd.concat([decisions[~second], decisions[second]]).drop_duplicates("doc_id").sort_index()
    grades = adjudication.adjudicate(decisions).grades.set_index("doc_id")["relevance"]
    return once.assign(relevance=once["doc_id"].map(grades))


def ledger_of(decisions: pd.DataFrame, allowed: Bools, level: int, judgeable: Bools | None = None) -> Known:
    """The decisions of one topic as a ledger.

    Parameters
    ----------
    decisions
        Of one topic, as :meth:`.JudgementTables.decisions` gives them.
    allowed
        (documents,) bool: the scope.
    level
        The grade from which on a document is relevant.
    judgeable
        (documents,) bool: those that can be judged now; all if left out. The others of the scope that are not judged
        are unjudged all the same, and out of reach of any draw.

    A draw was made from as many documents as its probability says. Where today's scope has more, since others were
    held by somebody then, or were imported later, or the topic went from its pool to the whole collection, the
    ledger says so, and nothing is promised of those.
    """
    once = settled(inside(decisions, allowed))
    relevant = (pd.to_numeric(once["relevance"]) >= level).fillna(False).to_numpy(dtype=np.bool_)
    chance = pd.to_numeric(once["probability"]).to_numpy(dtype=np.float64)
    rounds = pd.to_numeric(once["model_round"]).to_numpy(dtype=np.float64)
    drawn = (once["strategy"] == "random").to_numpy(dtype=np.bool_) & (chance > 0) & ~np.isnan(rounds)
    # A document that was drawn among U had 1/U in this draw, and the earlier draws passed it over.
    by_now = 1 - np.cumprod(np.where(drawn, 1 - chance, 1.0))
    unreachable = 0
    if judgeable is not None:
        without = allowed & ~judgeable
        without[once["row"].to_numpy(dtype=np.int64)] = False
        unreachable = int(without.sum())
    with np.errstate(divide="ignore"):
        urn = np.where(drawn, 1 / chance, np.nan)
    ledger = Ledger.of(
        relevant,
        int(allowed.sum()),
        drawn=drawn,
        probability=np.where(drawn & (by_now > 0), by_now, np.nan),
        batch=np.maximum.accumulate(np.nan_to_num(rounds, nan=0)).astype(np.int64),
        urn=urn,
        unreachable=unreachable,
    )
    by_loop = [*BY_LOOP, *pooling.strategies(adaptive=True)]
    return Known(ledger, once["strategy"].isin(by_loop).to_numpy(dtype=np.bool_))
