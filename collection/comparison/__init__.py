"""Evaluation and comparison of runs: values per topic, means, significance tests and conclusions.

runs, qrels -evaluate-> Evaluation -compare-> Comparison: leaderboard, tests, pairs, notes -> a table for a paper
values on draws of unjudged grades -summarise_draws-> Estimates, -assess_order-> SystemOrder
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collection.core.frames import STANDINGS
from collection.core.imports import attributes_at_use

if TYPE_CHECKING:
    from collection.comparison.conclusions import describe_power
    from collection.comparison.costs import MORE_IS_BETTER_COSTS, frontier, number_costs, unknown_costs, with_costs
    from collection.comparison.estimates import EstimatedPool, Estimates, summarise_draws
    from collection.comparison.evaluation import (
        DEFAULT_MEASURES,
        Evaluation,
        assumed_grades,
        cutoff_of,
        describe_coverage,
        direction,
        evaluate,
        explain,
        out_of_reach,
    )
    from collection.comparison.leaderboard import Comparison, compare
    from collection.comparison.seed_groups import merge_seeds
    from collection.comparison.system_names import group_seeds
    from collection.comparison.system_order import SystemOrder, Unlisted, assess_order
    from collection.comparison.topics import differences, side_by_side

__all__ = [
    "DEFAULT_MEASURES",
    "MORE_IS_BETTER_COSTS",
    "STANDINGS",
    "Comparison",
    "EstimatedPool",
    "Estimates",
    "Evaluation",
    "SystemOrder",
    "Unlisted",
    "assess_order",
    "assumed_grades",
    "compare",
    "cutoff_of",
    "describe_coverage",
    "describe_power",
    "differences",
    "direction",
    "evaluate",
    "explain",
    "frontier",
    "group_seeds",
    "merge_seeds",
    "number_costs",
    "out_of_reach",
    "side_by_side",
    "summarise_draws",
    "unknown_costs",
    "with_costs",
]

_NAMES = {
    "conclusions": "describe_power",
    "costs": "MORE_IS_BETTER_COSTS frontier number_costs unknown_costs with_costs",
    "estimates": "EstimatedPool Estimates summarise_draws",
    "evaluation": (
        "DEFAULT_MEASURES Evaluation assumed_grades cutoff_of describe_coverage direction evaluate explain out_of_reach"
    ),
    "leaderboard": "Comparison compare",
    "seed_groups": "merge_seeds",
    "system_names": "group_seeds",
    "system_order": "SystemOrder Unlisted assess_order",
    "topics": "differences side_by_side",
}
"""Module -> its names that are exported."""

__getattr__ = attributes_at_use(__name__, _NAMES)


def __dir__() -> list[str]:
    return __all__
