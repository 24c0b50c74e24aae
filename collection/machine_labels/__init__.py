"""Machine labels, and their comparison with people's grades.

labels, ranks -describe_labels-> features + people's grades -predict_steps-> probabilities -correct-> CorrectedValues
rank_weights -pair_sizes-> sizes -draw_priorities-> order in which people judge -judged_sample-> JudgedSample
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collection.core.imports import exports_at_use

if TYPE_CHECKING:
    from collection.machine_labels.corrected_values import LEAST_SAMPLE, PLAN_ASSUMES, CorrectedValues, correct, plan
    from collection.machine_labels.estimated_values import rank_weights, require_measure
    from collection.machine_labels.human_sample import JudgedSample, draw_priorities, judged_sample, pair_sizes
    from collection.machine_labels.people_comparison import PeopleComparison, compare_with_people
    from collection.machine_labels.system_effects import SystemEffects, find_effects

__getattr__, __dir__, __all__ = exports_at_use(__name__, __file__)
