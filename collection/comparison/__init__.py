"""Evaluation and comparison of runs: values per topic, means, significance tests and conclusions.

runs, qrels -evaluate-> Evaluation -compare-> Comparison: leaderboard, tests, pairs, notes -> a table for a paper
values on draws of unjudged grades -summarise_draws-> Estimates, -assess_order-> SystemOrder
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
