"""Ledger of a topic's judgements, for stopping rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication, pooling
from collection.stopping import Ledger

Bools = NDArray[np.bool_]

LOOP_STRATEGIES = ("loop", "start", "decisive", "random")
"""Strategies of the loop, beside adaptive pooling strategies."""


class TopicLedger(NamedTuple):
    """The ledger of a topic, and a mask of the documents that the loop selected."""

    ledger: Ledger
    from_loop: Bools


def select_in_scope(judgements: pd.DataFrame, scope: Bools) -> pd.DataFrame:
    """Return the judgements on documents of the scope, a (documents,) mask."""
    rows = judgements["row"].to_numpy(dtype=np.int64)
    known = rows < len(scope)
    known[known] = scope[rows[known]]
    return judgements[known]


def reduce_to_documents(judgements: pd.DataFrame) -> pd.DataFrame:
    """Reduce the judgements of a topic to the first of each document, with the adjudicated grade (null: none).

    The first one is not a second opinion if there is another, since it has the selection of the document.
    """
    if not judgements["row"].duplicated().any():
        return judgements
    second = judgements["strategy"] == "overlap"
    once = pd.concat([judgements[~second], judgements[second]]).drop_duplicates("row").sort_index()
    grades = adjudication.adjudicate(judgements.rename(columns={"row": "doc_id"})).grades
    return once.assign(relevance=once["row"].astype("str").map(grades.set_index("doc_id")["relevance"]))  # ids are text


def build_topic_ledger(
    judgements: pd.DataFrame, scope: Bools, level: int, judgeable: Bools | None = None
) -> TopicLedger:
    """Return the ledger of a topic.

    Parameters
    ----------
    judgements
        Those of :meth:`.JudgementTables.current_judgements` for the topic.
    scope
        (documents,) bool: the scope. Documents that a random draw excluded, by its probability, are marked.
    level
        Minimum relevant grade.
    judgeable
        (documents,) bool: those that can be judged now, all if left out. The others are unjudged, and no draw can
        reach them.
    """
    once = reduce_to_documents(select_in_scope(judgements, scope))
    relevant = (pd.to_numeric(once["relevance"]) >= level).fillna(False).to_numpy(dtype=np.bool_)
    chance = pd.to_numeric(once["probability"]).to_numpy(dtype=np.float64)
    rounds = pd.to_numeric(once["model_round"]).to_numpy(dtype=np.float64)
    drawn = (once["strategy"] == "random").to_numpy(dtype=np.bool_) & (chance > 0) & ~np.isnan(rounds)
    # A document drawn among U had probability 1/U in this draw, after the earlier draws missed it.
    by_now = 1 - np.cumprod(np.where(drawn, 1 - chance, 1.0))
    unreachable = 0
    if judgeable is not None:
        without = scope & ~judgeable
        without[once["row"].to_numpy(dtype=np.int64)] = False
        unreachable = int(without.sum())
    with np.errstate(divide="ignore"):
        urn = np.where(drawn, 1 / chance, np.nan)
    ledger = Ledger.of(
        relevant,
        int(scope.sum()),
        drawn=drawn,
        probability=np.where(drawn & (by_now > 0), by_now, np.nan),
        batch=np.maximum.accumulate(np.nan_to_num(rounds, nan=0)).astype(np.int64),
        urn=urn,
        unreachable=unreachable,
    )
    by_loop = [*LOOP_STRATEGIES, *pooling.strategies(adaptive=True)]
    return TopicLedger(ledger, once["strategy"].isin(by_loop).to_numpy(dtype=np.bool_))
