from .corrected_values import (
    LEAST_SAMPLE as LEAST_SAMPLE,
    PLAN_ASSUMES as PLAN_ASSUMES,
    CorrectedValues as CorrectedValues,
    correct as correct,
    plan as plan,
)
from .estimated_values import rank_weights as rank_weights, require_measure as require_measure
from .human_sample import (
    JudgedSample as JudgedSample,
    draw_priorities as draw_priorities,
    judged_sample as judged_sample,
    pair_sizes as pair_sizes,
)
from .people_comparison import PeopleComparison as PeopleComparison, compare_with_people as compare_with_people
from .system_effects import SystemEffects as SystemEffects, find_effects as find_effects
