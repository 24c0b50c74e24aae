"""Judgements -> qrels: how several annotators' decisions on one pair become one grade.

Rules (table :data:`RULES`) take the current judgements, a person's last word on each pair, and give qrels. "Cannot
judge" is not a grade: a pair on which nobody gave a grade has no qrel. An adjudication is a judgement of its own kind
(``counts_as`` "adjudication"), the word that ends a disagreement; each rule's description says whether it looks at
adjudications, and those that say nothing look at what the annotators said and at nothing else.

Before anybody adjudicates, :func:`queue` lists the pairs on which annotators differ. Afterwards :func:`compare` says
how far two rules' qrels lie apart.
"""

from collection.adjudication.aggregation import DEFAULT_RULE, Adjudicated, Chosen, adjudicate, origin, origins, parse
from collection.adjudication.dawid_skene import DawidSkene, fit_dawid_skene
from collection.adjudication.disagreement import Disagreements, disagreements, filtered, queue, sides
from collection.adjudication.judgement_matrix import ADJUDICATION, BY, Settled, Words
from collection.adjudication.rule_comparison import Difference, compare
from collection.adjudication.rules import RULES

__all__ = [
    "ADJUDICATION",
    "BY",
    "DEFAULT_RULE",
    "RULES",
    "Adjudicated",
    "Chosen",
    "DawidSkene",
    "Difference",
    "Disagreements",
    "Settled",
    "Words",
    "adjudicate",
    "compare",
    "disagreements",
    "filtered",
    "fit_dawid_skene",
    "origin",
    "origins",
    "parse",
    "queue",
    "sides",
]
