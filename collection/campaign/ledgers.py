"""What stands of a topic -> its ledger, as stopping rules want it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication
from collection.stopping import Ledger

Bools = NDArray[np.bool_]


def inside(decisions: pd.DataFrame, allowed: Bools) -> pd.DataFrame:
    """The decisions on documents of the scope.

    Parameters
    ----------
    decisions
        Of one topic, as :meth:`collection.store.Store.decisions` gives them.
    allowed
        (documents,) bool: the scope.
    """
    rows = decisions["row"].to_numpy(dtype=np.int64)
    known = rows < len(allowed)
    known[known] = allowed[rows[known]]
    return decisions[known]


def ledger_of(decisions: pd.DataFrame, allowed: Bools, level: int) -> tuple[Ledger, int]:
    """The decisions of one topic as a ledger: each document of the scope once, with its settled grade.

    Returns
    -------
    tuple
        The ledger, and how many random draws count as chosen, since they were drawn from fewer documents than these.
        So it is where a topic went from its pool to the whole collection, or documents were imported meanwhile: among
        today's documents such a draw is not uniform, and no promise may rest on it.
    """
    given = inside(decisions, allowed)
    once = given.drop_duplicates("doc_id")
    if len(once) < len(given):
        settled = adjudication.settle(given, adjudication.DEFAULT_RULE).set_index("doc_id")["relevance"]
        grades = once["doc_id"].map(settled)
    else:
        grades = once["relevance"]
    relevant = (pd.to_numeric(grades) >= level).fillna(False).to_numpy(dtype=np.bool_)
    chance = pd.to_numeric(once["probability"]).to_numpy(dtype=np.float64)
    rounds = pd.to_numeric(once["model_round"]).to_numpy(dtype=np.float64)
    drawn = (once["strategy"] == "random").to_numpy(dtype=np.bool_) & ~np.isnan(chance) & ~np.isnan(rounds)
    # A document that was drawn among U had 1/U in this draw, and the earlier draws passed it over.
    by_now = 1 - np.cumprod(np.where(drawn, 1 - chance, 1.0))
    ledger = Ledger.of(
        relevant,
        int(allowed.sum()),
        drawn=drawn,
        probability=np.where(drawn & (by_now > 0), by_now, np.nan),
        batch=np.maximum.accumulate(np.nan_to_num(rounds, nan=0)).astype(np.int64),
    )
    # Who judges beside others, or undoes something, moves the count of the unjudged by a few.
    most = ledger.unjudged_before * 0.95 - 20
    with np.errstate(divide="ignore"):
        uniform = 1 / np.nan_to_num(chance, nan=0.0) >= most
    dropped = int((drawn & ~uniform).sum())
    return (replace(ledger, drawn=drawn & uniform) if dropped else ledger), dropped
