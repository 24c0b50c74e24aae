"""Depth by depth: how far the runs are judged, and from where on the order of the systems no longer moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.measures import Floats, Measure, as_measures
from collection.reusability.leave_one_out import find_unique
from collection.reusability.run_matrix import UNLISTED, Bools, RunMatrix, summarise_runs, tau

FULLY_JUDGED = 0.95
"""A run counts as judged at a rank if so many of its topics are: here and there a pair cannot be judged, and one of
43 topics is more than 2 %."""

DEFAULT_DEPTH = 10
"""The depth that is looked at where most runs are not judged in full even at rank 1."""

STABILITY_DEPTHS = (*range(1, 21), *range(25, 51, 5), *range(60, 101, 10), *range(150, 1001, 50))
"""Depths at which the order of the systems is looked at: each of the first ranks, where most happens."""

STABLE_TAUS = (0.9, 0.95, 1.0)
"""When an order counts as settled. From .9 on Voorhees ("Variations in relevance judgments", IP&M 2000) takes two
rankings of systems as equal."""


class PoolDepth(NamedTuple):
    """What the judgements say of the pool that they came from.

    Attributes
    ----------
    depth
        To which the runs were pooled.
    runs
        (R,): which runs were.
    full
        Whether these runs are judged in full to this depth; False where most runs are not, even at rank 1.
    """

    depth: int
    runs: Bools
    full: bool


def detect_pool_depth(matrix: RunMatrix, depth: int | None = None) -> PoolDepth:
    """To which depth the runs were pooled, as far as the judgements show it.

    It is the deepest rank to which at least half of the runs are judged (:data:`FULLY_JUDGED`). Those of which
    less is judged came later, or were left out. Where the pool is a sample or was chosen by a budget there is no such rank: then all
    runs count as pooled, and `full` is False.

    Parameters
    ----------
    matrix
        R runs.
    depth
        If it is known.
    """
    if depth is not None and depth < 1:
        raise InputError(f"the depth of a pool is a rank, 1 or more, found {depth}")
    ended = np.arange(matrix.listed.shape[2]) >= matrix.retrieved[:, :, None]
    judged = ((matrix.listed >= 0) | ended).mean(axis=1) >= FULLY_JUDGED
    # (R,): the first rank that is not judged; no rank counts at which all topics of the run have ended.
    reached = np.where(judged.all(axis=1), judged.shape[1], judged.argmin(axis=1))
    reached = np.minimum(reached, matrix.retrieved.max(axis=1))
    found = int(np.sort(reached)[::-1][(len(reached) - 1) // 2]) if depth is None else depth
    in_full = reached >= np.minimum(found, matrix.retrieved.max(axis=1)) if found else np.zeros(len(reached), np.bool_)
    in_full &= matrix.retrieved.max(axis=1) > 0
    if 2 * in_full.sum() < len(reached):
        return PoolDepth(found or DEFAULT_DEPTH, matrix.retrieved.max(axis=1) > 0, full=False)
    return PoolDepth(found, in_full, full=True)


def compute_judged_curves(
    matrix: RunMatrix, deepest: int = 100, *, groups: Sequence[str] | None = None, depth: int = DEFAULT_DEPTH
) -> pd.DataFrame:
    """Judged@k of each run for every k, and what it would be if the run had not been pooled.

    The mean is over the topics that the run has: of those that it lacks there is no document that anybody could judge,
    and the measure, which takes them for 0, would blame the pool.

    Parameters
    ----------
    matrix
        R runs.
    deepest
        The last k.
    groups
        The group of each run; with it goes what all runs of the group alone brought to a pool of `depth`.

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

    def shares(cells: np.ndarray, divisor: np.ndarray) -> Floats:
        judged = np.cumsum(cells, axis=-1)
        of_topics = np.divide(judged, divisor, out=np.zeros(judged.shape), where=divisor > 0)
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
        kept = np.append(~find_unique(matrix, named == group, depth), False)
        left_out[named == group] = shares(kept[cells[named == group]], divisor[named == group])
    return table.assign(left_out=left_out.ravel())


DEEPEST_POOL = 1000
"""The deepest pool of the curve of settling; it ends earlier where the runs have no judged document further down."""


def measure_order_stability(
    matrix: RunMatrix, measures: Measure | str | Iterable[Measure | str], *, before: Floats | None = None
) -> pd.DataFrame:
    """How the order of the systems by a shallower pool agrees with that by all judgements.

    Of the qrels only those pairs are kept that some run lists in its first d. The pool of the same runs is looked at:
    so this says how much judging the order of *these* systems needed, not what a new one would find.

    Parameters
    ----------
    matrix
        R runs.
    measures
        Over plain qrels.

    Returns
    -------
    DataFrame
        ``depth``, ``pairs`` (judgements kept), ``measure``, ``tau`` (Kendall's tau-b; nan where there is no order).
    """
    measures = as_measures(measures)
    before = matrix.values(measures) if before is None else before
    full = summarise_runs(measures, before)
    shallowest = matrix.places.min(axis=1)
    last = int(min(DEEPEST_POOL, shallowest[shallowest < UNLISTED].max(initial=1)))
    rows = []
    for depth in sorted({*(d for d in STABILITY_DEPTHS if d < last), last}):
        taken = shallowest > depth
        found = summarise_runs(measures, matrix.values(measures, taken, before))
        pairs = int((~taken).sum())
        rows += [(depth, pairs, str(m), tau(found[n], full[n])) for n, m in enumerate(measures)]
    return pd.DataFrame(rows, columns=["depth", "pairs", "measure", "tau"])


def find_stable_depth(curve: pd.DataFrame, least: float) -> pd.Series | None:
    """The first row of one measure's curve from which on tau stays `least` or more; None if it never does.

    Examples
    --------
    >>> curve = pd.DataFrame({"depth": [1, 2, 3, 4], "pairs": [9, 15, 20, 24], "tau": [0.9, 0.8, 0.92, 1.0]})
    >>> int(find_stable_depth(curve, 0.9)["depth"])
    3
    """
    below = ~(curve["tau"] >= least - 1e-9).to_numpy()
    first = int(np.flatnonzero(below).max(initial=-1)) + 1
    return None if first >= len(curve) else curve.iloc[first]
