"""Stopping rules for judging a topic, and estimates of the recall reached.

A rule in STOPPING_RULES reads the ledger of a topic (its judgements in order) and returns a decision with a reason.
Most rules are heuristics without a guarantee, as their docstrings state. `advise` uses the rule whose guarantee holds
however often it is checked, `estimate` gives intervals for the number of relevant documents and the recall, and
`next_sources` chooses between ranking and random draws so that both work. For a promise across topics, `risk_control`
calibrates rules of RULE_FAMILIES on topics that are judged completely.
"""

from __future__ import annotations

from collection.stopping.ledger import Ledger as Ledger
from collection.stopping.martingale import (
    RelevantEstimate as RelevantEstimate,
    advise as advise,
    betting as betting,
    estimate as estimate,
    next_sources as next_sources,
)
from collection.stopping.outlook import Outlook as Outlook, predict_next as predict_next
from collection.stopping.published import quantile_bound as quantile_bound, smallest_sample as smallest_sample
from collection.stopping.risk_control import RULE_FAMILIES as RULE_FAMILIES, RuleFamily as RuleFamily
from collection.stopping.table import (
    STOPPING_RULES as STOPPING_RULES,
    StopDecision as StopDecision,
    StopKind as StopKind,
    missing_texts as missing_texts,
)
