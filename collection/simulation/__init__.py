"""Replays of judging against known qrels, which show the cost of each strategy before anybody judges.

documents, topics, qrels, runs -cases-> one Case per topic -replay_...-> JudgingOrder -measure-> values
"""

from collection.active_learning.training_round import Recipe
from collection.simulation.cases import Case, cases
from collection.simulation.cost import measure
from collection.simulation.experiment import LOOPS, Results, simulate
from collection.simulation.replay import SCHEDULES, JudgingOrder, replay_loop, replay_pooling
from collection.simulation.risk_control import compare_promises, replay_risk_control
