"""Replays of judging against known qrels, which show the cost of each strategy before anybody judges.

documents, topics, qrels, runs -cases-> one Case per topic -replay_...-> JudgingOrder -measure-> values
"""

from collection.active_learning.training_round import Recipe as Recipe
from collection.simulation.cases import Case as Case, cases as cases
from collection.simulation.cost import measure as measure
from collection.simulation.experiment import LOOPS as LOOPS, Results as Results, simulate as simulate
from collection.simulation.replay import (
    SCHEDULES as SCHEDULES,
    JudgingOrder as JudgingOrder,
    replay_loop as replay_loop,
    replay_pooling as replay_pooling,
)
from collection.simulation.risk_control import (
    compare_promises as compare_promises,
    replay_risk_control as replay_risk_control,
)
