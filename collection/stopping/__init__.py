"""When the judging of one topic may stop, and what recall it has reached.

A rule of the table STOPPING_RULES reads the ledger of a topic, its judgements in order, and returns a decision with a
reason. Most rules are heuristics without a guarantee; each docstring says. `advise` uses the rule whose guarantee holds
however often it is asked, `estimate` gives the number of relevant documents and the recall with an interval, and
`next_sources` says where the next documents should come from so that both work.
"""

from __future__ import annotations

from collection.stopping.ledger import Ledger
from collection.stopping.martingale import Estimate, advise, betting, estimate, next_sources
from collection.stopping.published import quantile_bound, smallest_sample
from collection.stopping.table import STOPPING_RULES, StopDecision, missing_texts

__all__ = [
    "STOPPING_RULES",
    "Estimate",
    "Ledger",
    "StopDecision",
    "advise",
    "betting",
    "estimate",
    "missing_texts",
    "next_sources",
    "quantile_bound",
    "smallest_sample",
]
