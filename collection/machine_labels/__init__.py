"""Labels that no person gave, and what they are worth beside people's grades.

labels, ranks -describe_labels-> features + people's grades -predict_steps-> probabilities -correct-> CorrectedValues
rank_weights -pair_sizes-> sizes -draw_priorities-> order in which people judge -judged_sample-> Drawn
"""

from collection.machine_labels.corrected_values import CorrectedValues, correct, plan
from collection.machine_labels.expected_values import rank_weights, require_measure
from collection.machine_labels.human_sample import Drawn, draw_priorities, judged_sample, pair_sizes

__all__ = [
    "CorrectedValues",
    "Drawn",
    "correct",
    "draw_priorities",
    "judged_sample",
    "pair_sizes",
    "plan",
    "rank_weights",
    "require_measure",
]
