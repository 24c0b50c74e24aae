"""Expected costs of the topics that a calibrated rule stops."""

from __future__ import annotations

from collections.abc import Sequence

from collection.phrases import count, percent_range
from collection.stopping import Ledger
from collection.stopping.risk_control import (
    KNOWN_BASIS,
    CostsOf,
    costs_from_known_pools,
    costs_from_shares,
    costs_from_topics,
    measure_losses,
)

SHARES = (0.01, 0.6)
"""Share of the collection that each other topic needs, where no topic is judged completely yet: the extremes of replays
by ``tests/benchmarks/bench_risk_control.py`` on TREC DL 2019 (1% to 2%), Vaswani (5% to 13%) and Cranfield (17% to 37%;
all for 90% with 10 to 20 calibration topics), and on systematic reviews (40% to 58%; for 80% with 4 to 5)."""

ENOUGH = 5
"""Completely judged topics from which the costs of the others are estimated; fewer may be unlike them in size."""


def estimate_costs(
    complete: Sequence[Ledger], documents: int, alpha: float, family: str, *, in_pool: bool
) -> tuple[CostsOf, str]:
    """Return the costs of topics with so many documents, or with so many in the pool, and where they come from.

    They come from the topics that are judged completely if there are :data:`ENOUGH`, else from replays of other
    collections.

    Parameters
    ----------
    complete
        Topics that are judged completely.
    documents
        Mean number of documents of a topic.
    alpha
        Expected loss, 1 - recall.
    family
        Name of a family of :data:`collection.stopping.risk_control.RULE_FAMILIES`.
    in_pool
        Whether the documents are those of a pool.
    """
    if len(complete) >= ENOUGH:
        costs = costs_from_topics(measure_losses(complete, family), alpha)
        return costs, f"{count(len(complete), 'topic')} judged completely"
    if in_pool:
        return costs_from_known_pools(documents, alpha), KNOWN_BASIS
    shares = f"{percent_range(*SHARES)} of the documents"
    return costs_from_shares(documents, *SHARES), f"replays of other collections ({shares})"
