"""Pooling strategies: choose the pairs to judge from runs, and their order.

Most strategies in STRATEGIES choose before judging starts: pure functions from runs to a pool frame, one row per pair,
best first within each topic. The campaign removes pairs that are already in the pool. Samples also have the documents
that were not drawn, since estimates need the whole population. Adaptive strategies choose one document at a time and
read each judgement first.

All strategies read the column ``listed``, the order of the run's file, and not ``rank``, the order in which a measure
reads equal scores (see :func:`collection.core.ranking.rank_run`).
"""

from __future__ import annotations

from collection.pooling.adaptive import choose_next, hedge, list_rankings, maxmean, mm_ns, mtf, replay, thompson
from collection.pooling.depth_pool import depth, pool_growth
from collection.pooling.fusion import borda, combmnz, combsum, rbp, rrf, sparse
from collection.pooling.quotas import quota
from collection.pooling.run_evidence import evidence
from collection.pooling.sampling import parse_strata, statap, stratified, uniform
from collection.pooling.table import (
    STRATEGIES,
    FullPool,
    Indices,
    Selector,
    StrategyEntry,
    format_parameters,
    read_parameters,
    strategies,
)
