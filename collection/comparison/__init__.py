"""Evaluation and comparison of runs: values per topic, means, significance tests and conclusions.

runs, qrels -evaluate-> Evaluation -compare-> Comparison: leaderboard, tests, pairs, notes -> a table for a paper
values on draws of unjudged grades -summarise_draws-> Estimates, -assess_order-> SystemOrder
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from collection.core.imports import exports_at_use

if TYPE_CHECKING:
    from collection.comparison.conclusions import describe_power
    from collection.comparison.costs import MORE_IS_BETTER_COSTS, frontier, number_costs, unknown_costs, with_costs
    from collection.comparison.estimates import EstimatedPool, Estimates, summarise_draws
    from collection.comparison.evaluation import (
        DEFAULT_MEASURES,
        Evaluation,
        assumed_grades,
        describe_coverage,
        evaluate,
        explain,
        out_of_reach,
    )
    from collection.comparison.leaderboard import Comparison, compare
    from collection.comparison.seed_groups import group_seeds, merge_seeds
    from collection.comparison.system_order import SystemOrder, Unlisted, assess_order
    from collection.comparison.topics import differences, side_by_side
    from collection.core.frames import STANDINGS

__getattr__, __dir__, __all__ = exports_at_use(__name__, __file__)
