"""Preferences between two documents: which pair comes next, what all of them say, and how rankings order the pairs."""

from collection.preferences.bradley_terry import ALIKE, PRIOR, fit, grades, strengths
from collection.preferences.choices import CHOICE_RULES
from collection.preferences.majority import PreferenceAgreement, agreement, judged_pairs, last_words, majority
from collection.preferences.measures import MEASURES, PreferenceValues, evaluate
from collection.preferences.pair_selection import ANSWERS, Ahead, Plan, ahead, plan

__all__ = [
    "ALIKE",
    "ANSWERS",
    "CHOICE_RULES",
    "MEASURES",
    "PRIOR",
    "Ahead",
    "Plan",
    "PreferenceAgreement",
    "PreferenceValues",
    "agreement",
    "ahead",
    "evaluate",
    "fit",
    "grades",
    "judged_pairs",
    "last_words",
    "majority",
    "plan",
    "strengths",
]
