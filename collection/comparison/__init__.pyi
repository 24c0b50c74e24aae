from .conclusions import describe_power as describe_power
from .costs import (
    MORE_IS_BETTER_COSTS as MORE_IS_BETTER_COSTS,
    frontier as frontier,
    number_costs as number_costs,
    unknown_costs as unknown_costs,
    with_costs as with_costs,
)
from .estimates import EstimatedPool as EstimatedPool, Estimates as Estimates, summarise_draws as summarise_draws
from .evaluation import (
    DEFAULT_MEASURES as DEFAULT_MEASURES,
    Evaluation as Evaluation,
    assumed_grades as assumed_grades,
    describe_coverage as describe_coverage,
    describe_missing as describe_missing,
    evaluate as evaluate,
    explain as explain,
    out_of_reach as out_of_reach,
)
from .leaderboard import STANDINGS as STANDINGS, Comparison as Comparison, compare as compare
from .seed_groups import group_seeds as group_seeds, merge_seeds as merge_seeds
from .system_order import SystemOrder as SystemOrder, Unlisted as Unlisted, assess_order as assess_order
from .topics import differences as differences, side_by_side as side_by_side
