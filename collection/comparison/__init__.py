"""Evaluation and comparison of runs: values per topic, means, significance tests and conclusions.

runs, qrels -evaluate-> Evaluation -compare-> Comparison: leaderboard, tests, pairs, notes -> a table for a paper
values on draws of unjudged grades -summarise_draws-> Estimates, -assess_order-> SystemOrder
"""

from collection.comparison.conclusions import describe_power
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
    unknown_costs,
    with_costs,
)
from collection.comparison.frontier import MORE_IS_BETTER_COSTS, frontier, number_costs
from collection.comparison.leaderboard import Comparison, compare
from collection.comparison.seed_groups import merge_seeds
from collection.comparison.system_names import group_seeds
from collection.comparison.system_order import SystemOrder, assess_order
from collection.comparison.tables import latex, markdown
from collection.comparison.topics import differences, side_by_side
from collection.frames import STANDINGS

__all__ = [
    "DEFAULT_MEASURES",
    "MORE_IS_BETTER_COSTS",
    "STANDINGS",
    "Comparison",
    "EstimatedPool",
    "Estimates",
    "Evaluation",
    "SystemOrder",
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
    "latex",
    "markdown",
    "merge_seeds",
    "number_costs",
    "out_of_reach",
    "side_by_side",
    "summarise_draws",
    "unknown_costs",
    "with_costs",
]
