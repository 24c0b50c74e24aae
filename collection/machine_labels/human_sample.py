"""The pairs that people judge next to machine labels: a random sample that stays one however many of it are judged.

Each pair has a size and, drawn once, a priority: the size divided by a uniform random number. People judge by falling
priority. When n pairs are judged, the next priority is the threshold t, and a pair of size s counts as drawn with
probability min(1, s / t), independently of the others as far as sums and their variances are concerned. So a larger
budget continues the same sample.

Source: Duffield, Lund & Thorup, "Priority sampling for estimation of arbitrary subset sums", Journal of the ACM 2007.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError

LEAST_SIZE = 0.05
"""Size of a pair that weighs nothing in any run, relative to the first rank of every run: its grade may still change
the ideal ranking."""


_NONE: Ints = np.zeros(0, dtype=np.int64)


class JudgedSample(NamedTuple):
    """The judged pairs of a sample."""

    rows: Ints
    """(n,) numbers of the pairs, those judged before the sample first."""
    probability: Floats
    """(n,) probability that each was drawn; 1 for those judged before the sample."""
    before: int
    """Number of those judged before the sample."""
    undone: Ints = _NONE
    """Numbers of the pairs known before the sample whose judgement is missing now."""
    gap: int | None = None
    """Number of the first pair in the order that is not judged, where the sample ends."""
    beyond: int = 0
    """Number of pairs judged after the gap, which do not count."""


def pair_sizes(weights: Floats) -> Floats:
    """(N,) sizes of pairs for a sample, from the (R, N) weights of their grades in the values of R runs, at most 1.

    The variance of a corrected value falls fastest if the probability is proportional to the weight; the root mean
    square serves all runs.

    >>> pair_sizes(np.array([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [1.05, 0.05]
    """
    sizes: Floats = np.sqrt(np.mean(np.square(weights), axis=0)) + LEAST_SIZE
    return sizes


def draw_priorities(sizes: Floats, seed: int) -> Floats:
    """(N,) random priorities for pairs of given sizes, all above 0."""
    uniform = 1.0 - np.random.default_rng(seed).random(len(sizes))
    priorities: Floats = sizes / uniform
    return priorities


def judged_sample(sizes: Floats, priorities: Floats, judged: Bools) -> JudgedSample:
    """The part of a sample that is judged without a gap, with the probability of each of its pairs.

    Parameters
    ----------
    sizes, priorities
        (N,) of the pairs; the priority is nan for pairs that were judged before the sample was drawn.
    judged
        (N,) whether people have judged the pair. Judgements after the first gap in the order do not count, since they
        are no random sample. Pairs judged before come first in the order: if the judgement of one is missing now, the
        sample ends before it begins, since neither its grade nor its probability is known.

    Raises
    ------
    InputError
        Another number of priorities or judgements than of sizes.

    Examples
    --------
    >>> sizes, priorities = np.array([1.0, 1.0, 2.0]), np.array([4.0, 8.0, 2.5])
    >>> drawn = judged_sample(sizes, priorities, np.array([False, True, False]))
    >>> drawn.rows.tolist(), drawn.probability.tolist()
    ([1], [0.25])
    """
    if not len(sizes) == len(priorities) == len(judged):
        raise InputError(
            f"expected as many sizes, priorities and judgements, found {len(sizes)}, {len(priorities)}, {len(judged)}"
        )
    before = np.flatnonzero(np.isnan(priorities) & judged)
    undone = np.flatnonzero(np.isnan(priorities) & ~judged)
    drawn = np.flatnonzero(~np.isnan(priorities))
    order = drawn[np.argsort(-priorities[drawn], kind="stable")]
    gaps = np.flatnonzero(~judged[order])
    ready = 0 if len(undone) else len(order) if len(gaps) == 0 else int(gaps[0])
    rows = order[:ready]
    gap = int(undone[0]) if len(undone) else int(order[ready]) if ready < len(order) else None
    threshold = priorities[order[ready]] if ready < len(order) else 0.0
    probability = np.minimum(1.0, sizes[rows] / threshold) if threshold else np.ones(ready)
    every = np.concatenate([np.ones(len(before)), probability])
    beyond = int(judged[order[ready:]].sum())
    return JudgedSample(np.concatenate([before, rows]), every, len(before), undone, gap, beyond)


def expected_probabilities(sizes: Floats, count: int) -> Floats:
    """(N,) probabilities proportional to the sizes and at most 1, which sum to `count`, for plans.

    >>> expected_probabilities(np.array([3.0, 1.0, 1.0]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    if count >= len(sizes):
        return np.ones(len(sizes))
    probability = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        rest = count - int(certain.sum())
        probability = np.where(certain, 1.0, sizes * rest / max(sizes[~certain].sum(), 1e-300))
        above = (probability > 1.0) & ~certain
        if not above.any():
            return probability
        certain |= above
