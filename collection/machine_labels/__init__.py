"""Labels that no person gave, and what they are worth beside people's grades.

labels, ranks -describe_labels-> features + people's grades -predict_steps-> probabilities -correct-> CorrectedValues
rank_weights -pair_sizes-> sizes -draw_priorities-> order in which people judge -judged_sample-> Drawn
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collection.core.imports import attributes_at_use

if TYPE_CHECKING:
    from collection.machine_labels.corrected_values import LEAST_SAMPLE, PLAN_ASSUMES, CorrectedValues, correct, plan
    from collection.machine_labels.estimated_values import rank_weights, require_measure
    from collection.machine_labels.human_sample import Drawn, draw_priorities, judged_sample, pair_sizes
    from collection.machine_labels.people_comparison import PeopleComparison, compare_with_people
    from collection.machine_labels.system_effects import SystemEffects, find_effects

__all__ = [
    "LEAST_SAMPLE",
    "PLAN_ASSUMES",
    "CorrectedValues",
    "Drawn",
    "PeopleComparison",
    "SystemEffects",
    "compare_with_people",
    "correct",
    "draw_priorities",
    "find_effects",
    "judged_sample",
    "pair_sizes",
    "plan",
    "rank_weights",
    "require_measure",
]

_NAMES = {
    "corrected_values": "LEAST_SAMPLE PLAN_ASSUMES CorrectedValues correct plan",
    "estimated_values": "rank_weights require_measure",
    "human_sample": "Drawn draw_priorities judged_sample pair_sizes",
    "people_comparison": "PeopleComparison compare_with_people",
    "system_effects": "SystemEffects find_effects",
}
"""Module -> its names that are exported."""

__getattr__ = attributes_at_use(__name__, _NAMES)
