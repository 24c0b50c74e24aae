"""Pooling strategies: choose the pairs to judge from runs, and their order.

Most strategies in STRATEGIES choose before judging starts: pure functions from runs to a pool frame, one row per pair,
best first within each topic. The campaign removes pairs that are already in the pool. Samples also have the documents
that were not drawn, since estimates need the whole population. Adaptive strategies choose one document at a time and
read each judgement first.

All strategies read the column ``listed``, the order of the run's file, and not ``rank``, the order in which a measure
reads equal scores (see :func:`collection.core.ranking.rank_run`).
"""

from __future__ import annotations

from collection.pooling.adaptive import (
    choose_next as choose_next,
    hedge as hedge,
    list_rankings as list_rankings,
    maxmean as maxmean,
    mm_ns as mm_ns,
    mtf as mtf,
    replay as replay,
    thompson as thompson,
)
from collection.pooling.depth_pool import depth as depth, pool_growth as pool_growth
from collection.pooling.fusion import (
    borda as borda,
    combmnz as combmnz,
    combsum as combsum,
    rbp as rbp,
    rrf as rrf,
    sparse as sparse,
)
from collection.pooling.quotas import quota as quota
from collection.pooling.run_evidence import evidence as evidence
from collection.pooling.sampling import (
    parse_strata as parse_strata,
    statap as statap,
    stratified as stratified,
    uniform as uniform,
)
from collection.pooling.table import (
    STRATEGIES as STRATEGIES,
    FullPool as FullPool,
    Indices as Indices,
    Selector as Selector,
    StrategyEntry as StrategyEntry,
    format_parameters as format_parameters,
    read_parameters as read_parameters,
    strategies as strategies,
)
