"""When the judging of one topic may stop, and how much of what is relevant has been found.

A rule reads the ledger of a topic, its judgements in the order in which they were made, and answers with a
decision and one sentence of reason. Most rules are heuristics that promise nothing; the docstring of each says
what it guarantees. `advice` uses the one that holds however often it is asked, `estimate` gives the number of
relevant documents and the recall with an interval, and `next_choices` says where the next documents should
come from so that both can promise something. The table is RULES; outside packages add to it through the entry point
``cleverdon.stopping``.
"""

from __future__ import annotations

from collection.stopping.ledger import Ledger
from collection.stopping.martingale import Choice, Estimate, advice, betting, estimate, next_choices
from collection.stopping.published import quantile_bound, smallest_sample
from collection.stopping.table import RULES, Decision, missing_texts, percent

__all__ = [
    "RULES",
    "Choice",
    "Decision",
    "Estimate",
    "Ledger",
    "advice",
    "betting",
    "estimate",
    "missing_texts",
    "next_choices",
    "percent",
    "quantile_bound",
    "smallest_sample",
]
