"""Judgements -> qrels: how several annotators' decisions on one pair become one grade.

Rules (table :data:`RULES`) take the current judgements, a person's last word on each pair, and give qrels. "Cannot
judge" is not a grade: a pair on which nobody gave a grade has no qrel. An adjudication is a judgement of its own kind
(``counts_as`` "adjudication"), the word that ends a disagreement; each rule's description says whether it looks at
adjudications, and those that say nothing look at what the annotators said and at nothing else.

Before anybody adjudicates, :func:`list_disagreements` lists the pairs on which annotators differ. Afterwards
:func:`compare` compares the qrels of two rules.
"""

from collection.adjudication.aggregation import (
    DEFAULT_RULE,
    Adjudicated,
    ChosenRule,
    adjudicate,
    count_origins,
    describe_origin,
    parse_rule,
)
from collection.adjudication.dawid_skene import DawidSkene, fit_dawid_skene
from collection.adjudication.disagreement import (
    Disagreements,
    count_disagreements,
    filter_queue,
    list_disagreements,
    list_opinions,
)
from collection.adjudication.judgement_matrix import ADJUDICATION, ORIGINS, JudgementMatrix, RuleResult
from collection.adjudication.rule_comparison import RuleDifference, compare
from collection.adjudication.rules import RULES

__all__ = [
    "ADJUDICATION",
    "DEFAULT_RULE",
    "ORIGINS",
    "RULES",
    "Adjudicated",
    "ChosenRule",
    "DawidSkene",
    "Disagreements",
    "JudgementMatrix",
    "RuleDifference",
    "RuleResult",
    "adjudicate",
    "compare",
    "count_disagreements",
    "count_origins",
    "describe_origin",
    "filter_queue",
    "fit_dawid_skene",
    "list_disagreements",
    "list_opinions",
    "parse_rule",
]
