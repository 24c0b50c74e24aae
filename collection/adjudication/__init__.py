"""Adjudication: one grade from several annotators' judgements of a pair, by a rule or a person.

"Cannot judge" is not a grade: a pair without a grade has no qrel. A person's adjudication is a judgement with
``counts_as`` "adjudication"; each rule's description says whether it takes adjudications into account.
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
from collection.adjudication.dawid_skene import fit_dawid_skene
from collection.adjudication.disagreement import (
    Disagreements,
    count_disagreements,
    filter_queue,
    list_disagreements,
    list_opinions,
)
from collection.adjudication.judgement_matrix import ADJUDICATION, ORIGINS, JudgementMatrix, RuleResult
from collection.adjudication.rule_comparison import RuleDifference, compare
from collection.adjudication.rules import ADJUDICATION_RULES
