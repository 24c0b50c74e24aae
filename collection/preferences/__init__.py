"""Preferences between two documents: choosing pairs, aggregating answers, and evaluating rankings."""

from collection.preferences.bradley_terry import (
    PRIOR as PRIOR,
    estimate_strengths as estimate_strengths,
    fit as fit,
    strengths_to_grades as strengths_to_grades,
)
from collection.preferences.choices import CHOICE_RULES as CHOICE_RULES
from collection.preferences.majority import (
    PreferenceAgreement as PreferenceAgreement,
    agreement as agreement,
    latest_preferences as latest_preferences,
    majority as majority,
)
from collection.preferences.measures import (
    PREFERENCE_MEASURES as PREFERENCE_MEASURES,
    PreferenceValues as PreferenceValues,
    evaluate as evaluate,
)
from collection.preferences.pair_selection import (
    ANSWERS as ANSWERS,
    Lookahead as Lookahead,
    PreferencePlan as PreferencePlan,
    look_ahead as look_ahead,
    plan as plan,
)
