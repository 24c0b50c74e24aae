"""Preferences between two documents: which pair comes next, what all of them say, and how rankings order the pairs."""

from collection.preferences.majority import PreferenceAgreement, agreement, judged_pairs, last_words, majority
from collection.preferences.measuring import MEASURES, PreferenceValues, evaluate
from collection.preferences.planning import ANSWERS, Ahead, Plan, ahead, cost, plan
from collection.preferences.strengths import ALIKE, PRIOR, fit, grades, strengths

__all__ = [
    "ALIKE",
    "ANSWERS",
    "MEASURES",
    "PRIOR",
    "Ahead",
    "Plan",
    "PreferenceAgreement",
    "PreferenceValues",
    "agreement",
    "ahead",
    "cost",
    "evaluate",
    "fit",
    "grades",
    "judged_pairs",
    "last_words",
    "majority",
    "plan",
    "strengths",
]
