"""Replays judging against known qrels: what each way of choosing documents would have cost, before anybody judges.

    documents, topics, qrels, runs -cases-> Case, one a topic -playing-> Played, an order -measuring-> values

A pooling strategy and a learner stand side by side, since both answer the same question: which document next?
"""

from collection.active_learning.training_round import Recipe
from collection.simulation.cases import Case, cases
from collection.simulation.cost import measure
from collection.simulation.experiment import LOOPS, Results, simulate
from collection.simulation.replay import SCHEDULES, Played, play_loop, play_pooling

__all__ = [
    "LOOPS",
    "SCHEDULES",
    "Case",
    "Played",
    "Recipe",
    "Results",
    "cases",
    "measure",
    "play_loop",
    "play_pooling",
    "simulate",
]
