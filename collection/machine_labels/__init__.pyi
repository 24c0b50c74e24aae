from .combined_values import CombinedValues as CombinedValues, combine as combine
from .corrected_values import (
    LEAST_SAMPLE as LEAST_SAMPLE,
    CorrectedValues as CorrectedValues,
    correct as correct,
    spread as spread,
    tabulate_corrected as tabulate_corrected,
)
from .estimated_values import rank_weights as rank_weights, require_measure as require_measure
from .human_sample import (
    JudgedSample as JudgedSample,
    draw_priorities as draw_priorities,
    judged_sample as judged_sample,
    pair_sizes as pair_sizes,
)
from .judge_comparison import (
    STATISTICS as STATISTICS,
    JudgeComparison as JudgeComparison,
    compare_judges as compare_judges,
)
from .judgements import PEOPLE as PEOPLE
from .people_comparison import PeopleComparison as PeopleComparison, compare_with_people as compare_with_people
from .precision_plan import (
    LABEL_WEIGHT as LABEL_WEIGHT,
    PEOPLE_ALONE as PEOPLE_ALONE,
    PLAN_ASSUMES as PLAN_ASSUMES,
    Budget as Budget,
    Judge as Judge,
    find_unpriced as find_unpriced,
    plan as plan,
    plan_budget as plan_budget,
    weight_of_correlation as weight_of_correlation,
    weight_of_labels as weight_of_labels,
)
from .predicted_grades import label_steps as label_steps, predict_steps as predict_steps
from .system_effects import SystemEffects as SystemEffects, find_effects as find_effects
from .votes import VOTES as VOTES, vote as vote
