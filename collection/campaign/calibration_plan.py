"""Plan of a campaign whose recall is guaranteed across topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from collection.phrases import count, percent
from collection.stopping import Ledger
from collection.stopping.risk_control import (
    KNOWN_BASIS,
    CostRange,
    Plan,
    costs_from_known_pools,
    costs_from_shares,
    costs_from_topics,
    measure_losses,
    plan,
)

SHARES = (0.01, 0.6)
"""Share of the collection that each other topic needs, where no topic is judged completely yet: the extremes of replays
by ``tests/benchmarks/bench_risk_control.py`` on TREC DL 2019 (1% to 2%), Vaswani (5% to 13%) and Cranfield (17% to 37%;
all for 90% with 10 to 20 calibration topics), and on systematic reviews (40% to 58%; for 80% with 4 to 5)."""

ENOUGH = 5
"""Completely judged topics from which the costs of the others are estimated; fewer may be unlike them in size."""


def plan_topics(
    complete: Sequence[Ledger],
    topics: int,
    documents: int,
    alpha: float,
    family: str,
    selection: int,
    candidates: Sequence[int],
    in_pool: bool,
    judged: int,
) -> Plan:
    """Plan what numbers of calibration topics promise and cost in all.

    Parameters
    ----------
    complete
        Topics that are judged completely. With :data:`ENOUGH`, the costs of the others come from them, else from
        replays of other collections.
    topics, documents
        Number of topics, and their mean number of documents.
    selection
        Number of calibration topics that choose the family of rules and do not count towards the promise.
    candidates
        Numbers of calibration topics, including the selection.
    in_pool
        The documents are those of a pool.
    judged
        Judgements in a calibration topic.
    """
    if len(complete) >= ENOUGH:
        costs = costs_from_topics(measure_losses(complete, family), alpha)
        basis = f"{count(len(complete), 'topic')} judged completely"
    elif in_pool:
        costs, basis = costs_from_known_pools(documents, alpha), KNOWN_BASIS
    else:
        costs = costs_from_shares(documents, *SHARES)
        basis = f"replays of other collections ({percent(SHARES[0])} to {percent(SHARES[1])} of the documents)"
    numbers = [number - selection for number in candidates]
    made = plan(topics, documents, alpha, costs, candidates=numbers, basis=basis, calibration_documents=judged)
    return _add_selection(made, selection, judged)


def _add_selection(made: Plan, selection: int, judged: int) -> Plan:
    """Add the topics of the selection to each row of a plan; rows that leave no other topic are left out."""
    rows = []
    for row in made.rows if selection else ():
        each = (row.per_topic.low, row.per_topic.expected, row.per_topic.high)
        whole = (row.total.low, row.total.expected, row.total.high)
        total = [all_ + selection * (judged - one) for all_, one in zip(whole, each, strict=True)]
        number = row.calibration_topics + selection
        if number < made.topics:
            judgements = row.calibration_judgements + selection * judged
            rows.append(
                replace(row, calibration_topics=number, calibration_judgements=judgements, total=CostRange(*total))
            )
    return replace(made, rows=tuple(rows)) if selection else made
