"""Runs -> pool: which pairs are worth judging, and in which order.

Most strategies of the table STRATEGIES choose before anybody judges: pure functions from runs to a pool frame,
one row per pair, best first within each topic. Only what the runs say goes in; what is in the pool already
is taken away by the campaign, so a pool grows by exactly what is new. Samples hold what was not drawn as well,
since what was drawn stands for it. Adaptive strategies choose one document after the other and look at each
answer first. `evidence` says what the runs together say of each document; the active-learning loop begins with it.

Systems put forward what they list, so all of this goes by the column ``listed`` and not by ``rank``, the
order in which a measure reads equal scores (see :func:`collection.ranking.rank_run`).
"""

from __future__ import annotations

from collection.pooling.adaptive import ahead, hedge, maxmean, mm_ns, mtf, rankings_of, replay, thompson
from collection.pooling.depth_pool import depth, pool_growth
from collection.pooling.fusion import borda, combmnz, combsum, rbp, rrf, sparse
from collection.pooling.parameters import in_words, read_parameters
from collection.pooling.quotas import quota
from collection.pooling.run_evidence import evidence
from collection.pooling.sampling import Stratum, parse_strata, statap, stratified, uniform
from collection.pooling.table import STRATEGIES, Asking, FullPool, Indices, StrategyEntry, Ties, strategies

__all__ = [
    "STRATEGIES",
    "Asking",
    "FullPool",
    "Indices",
    "StrategyEntry",
    "Stratum",
    "Ties",
    "ahead",
    "borda",
    "combmnz",
    "combsum",
    "depth",
    "evidence",
    "hedge",
    "in_words",
    "maxmean",
    "mm_ns",
    "mtf",
    "parse_strata",
    "pool_growth",
    "quota",
    "rankings_of",
    "rbp",
    "read_parameters",
    "replay",
    "rrf",
    "sparse",
    "statap",
    "strategies",
    "stratified",
    "thompson",
    "uniform",
]
