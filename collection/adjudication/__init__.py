"""Adjudication: one grade from several annotators' judgements of a pair, by a rule or a person.

"Cannot judge" is not a grade: a pair without a grade has no qrel. A person's adjudication is a judgement with
``counts_as`` "adjudication"; each rule's description says whether it takes adjudications into account.
"""

from collection.adjudication.aggregation import (
    DEFAULT_RULE as DEFAULT_RULE,
    Adjudicated as Adjudicated,
    ChosenRule as ChosenRule,
    adjudicate as adjudicate,
    count_origins as count_origins,
    describe_origin as describe_origin,
    parse_rule as parse_rule,
)
from collection.adjudication.dawid_skene import fit_dawid_skene as fit_dawid_skene
from collection.adjudication.disagreement import (
    Disagreements as Disagreements,
    count_disagreements as count_disagreements,
    differ_on as differ_on,
    filter_queue as filter_queue,
    list_disagreements as list_disagreements,
    list_opinions as list_opinions,
)
from collection.adjudication.judgement_matrix import (
    ADJUDICATION as ADJUDICATION,
    ORIGINS as ORIGINS,
    JudgementMatrix as JudgementMatrix,
    RuleResult as RuleResult,
)
from collection.adjudication.question_answers import NOT_GIVEN as NOT_GIVEN, QuestionAnswers as QuestionAnswers
from collection.adjudication.rule_comparison import RuleDifference as RuleDifference, compare as compare
from collection.adjudication.rules import ADJUDICATION_RULES as ADJUDICATION_RULES
