"""Depth to which the runs are judged, and the pool depth from which the order of the systems is stable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats
from collection.core.errors import InputError
from collection.measures import Measure, as_measures, divide
from collection.reusability.leave_one_out import find_unique
from collection.reusability.run_matrix import UNLISTED, RunMatrix, summarise_runs, tau

FULLY_JUDGED = 0.95
"""A run counts as judged at a rank if this share of its topics is judged there."""

DEFAULT_DEPTH = 10
"""Assumed depth if most runs are not fully judged even at rank 1."""

STABILITY_DEPTHS = (*range(1, 21), *range(25, 51, 5), *range(60, 101, 10), *range(150, 1001, 50))
"""Pool depths at which the order of the systems is measured."""

STABLE_TAUS = (0.9, 0.95, 1.0)
"""Values of tau from which an order counts as stable. Voorhees ("Variations in relevance judgments", IP&M 2000) treats
two rankings of systems as equivalent from .9 on."""


class PoolDepth(NamedTuple):
    """The pool as seen from the judgements: its depth, (R,) which runs were pooled, and whether these are fully judged.

    `full` is False if most runs are not judged even at rank 1.
    """

    depth: int
    runs: Bools
    full: bool


def detect_pool_depth(matrix: RunMatrix, depth: int | None = None) -> PoolDepth:
    """Find the depth of the pool, if not given, and the runs that were pooled to it.

    It is the deepest rank to which at least half of the runs are judged (:data:`FULLY_JUDGED`). Runs judged to a
    smaller depth came later or were left out. A sampled pool, or one chosen by a budget, has no such rank: then all
    runs count as pooled, and `full` is False.
    """
    if depth is not None and depth < 1:
        raise InputError(f"pool depth: expected a rank of 1 or more, found {depth}")
    longest = matrix.retrieved.max(axis=1)
    ended = np.arange(matrix.listed.shape[2]) >= matrix.retrieved[:, :, None]
    judged = ((matrix.listed >= 0) | ended).mean(axis=1) >= FULLY_JUDGED
    # (R,): the first rank that is not judged; no rank counts at which all topics of the run have ended.
    reached = np.minimum(np.where(judged.all(axis=1), judged.shape[1], judged.argmin(axis=1)), longest)
    detected = int(np.sort(reached)[::-1][(len(reached) - 1) // 2]) if depth is None else depth
    in_full = (longest > 0) & (reached >= np.minimum(detected, longest)) & (detected > 0)
    if 2 * in_full.sum() < len(reached):
        return PoolDepth(detected or DEFAULT_DEPTH, longest > 0, full=False)
    return PoolDepth(detected, in_full, full=True)


def compute_judged_curves(
    matrix: RunMatrix, deepest: int = 100, *, groups: Sequence[str] | None = None, depth: int = DEFAULT_DEPTH
) -> pd.DataFrame:
    """Compute Judged@k of each run for every k to `deepest`, and what it would be if the run had not been pooled.

    The mean is over the topics that the run has, since the others have no documents to judge. With `groups`, the group
    of each run, the pairs that only the run's group brought to a pool of `depth` are removed as well.

    Returns
    -------
    DataFrame
        ``run``, ``depth`` (k), ``judged`` (mean over its topics of judged in the first k / min(k, retrieved); 0 if it
        has none), and with groups ``left_out`` (the same without what the group alone brought).
    """
    deepest = max(1, min(deepest, matrix.cells.shape[2]))
    ranks = np.arange(1, deepest + 1)
    divisor = np.minimum(ranks, matrix.retrieved[:, :, None])
    cells = matrix.cells[:, :, :deepest]

    def shares(judged: np.ndarray, divisor: np.ndarray) -> Floats:
        of_topics = divide(np.cumsum(judged, axis=-1), divisor)
        return np.asarray(of_topics.sum(axis=-2) / np.maximum((divisor > 0).sum(axis=-2), 1))

    table = pd.DataFrame(
        {
            "run": np.repeat(np.array(matrix.runs, dtype=object), deepest),
            "depth": np.tile(ranks, len(matrix.runs)),
            "judged": shares(cells >= 0, divisor).ravel(),
        }
    )
    if groups is None:
        return table
    left_out = np.empty((len(matrix.runs), deepest))
    named = np.array(groups)
    for group in dict.fromkeys(groups):
        # The last entry is for what is no pair.
        remaining = np.append(~find_unique(matrix, named == group, depth), False)
        left_out[named == group] = shares(remaining[cells[named == group]], divisor[named == group])
    return table.assign(left_out=left_out.ravel())


def measure_order_stability(
    matrix: RunMatrix, measures: Measure | str | Iterable[Measure | str], *, before: Floats | None = None
) -> pd.DataFrame:
    """Compare the order of the systems by shallower pools with the order by all judgements.

    The pools are of the same runs: the result is how much judging the order of *these* systems needed, not what a new
    system would find. `before`, (M, R, T), has the values by all judgements, if known.

    Returns
    -------
    DataFrame
        ``depth``, ``pairs`` (judgements kept), ``measure``, ``tau`` (Kendall's tau-b; nan where there is no order).
    """
    measures = as_measures(measures)
    before = matrix.values(measures) if before is None else before
    full = summarise_runs(measures, before)
    shallowest = matrix.places.min(axis=1)
    last = int(min(STABILITY_DEPTHS[-1], shallowest[shallowest < UNLISTED].max(initial=1)))
    rows = []
    for depth in (*(d for d in STABILITY_DEPTHS if d < last), last):
        taken = shallowest > depth
        summary = summarise_runs(measures, matrix.values(measures, taken, before))
        pairs = int((~taken).sum())
        rows += [(depth, pairs, str(m), tau(summary[n], full[n])) for n, m in enumerate(measures)]
    return pd.DataFrame(rows, columns=["depth", "pairs", "measure", "tau"])


def find_stable_depth(curve: pd.DataFrame, least: float) -> pd.Series | None:
    """Find the first row of one measure's curve from which on tau stays `least` or more; None if there is none.

    >>> curve = pd.DataFrame({"depth": [1, 2, 3, 4], "pairs": [9, 15, 20, 24], "tau": [0.9, 0.8, 0.92, 1.0]})
    >>> int(find_stable_depth(curve, 0.9)["depth"])
    3
    """
    below = ~(curve["tau"] >= least - 1e-9).to_numpy()
    first = int(np.flatnonzero(below).max(initial=-1)) + 1
    return None if first >= len(curve) else curve.iloc[first]
