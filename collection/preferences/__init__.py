"""Preferences between two documents: choosing pairs, aggregating answers, and evaluating rankings."""

from collection.preferences.bradley_terry import ALIKE, PRIOR, estimate_strengths, fit, strengths_to_grades
from collection.preferences.choices import CHOICE_RULES
from collection.preferences.majority import PreferenceAgreement, agreement, latest_preferences, majority
from collection.preferences.measures import PREFERENCE_MEASURES, PreferenceValues, evaluate
from collection.preferences.pair_selection import ANSWERS, Lookahead, PreferencePlan, look_ahead, plan
