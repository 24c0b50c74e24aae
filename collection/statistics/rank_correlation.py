"""Correlation of two rankings of the same items: of systems by two sets of qrels, of documents by two systems.

All functions take scores, higher first, and use only their order. There are two treatments of ties: variant a takes
the mean over all ways to break them, as if their order were unknown; variant b treats tied items as equal, which is no
evidence of an order.

    >>> truth, estimate = [4, 3, 2, 1], [3, 4, 2, 1]
    >>> round(kendall(truth, estimate), 3), round(tau_ap(truth, estimate), 3)
    (0.667, 0.333)

A swap of the first two is only a sixth of all pairs, but it is the only change at the top.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from collection.core.arrays import Floats
from collection.core.errors import InputError, require_known

Scores: TypeAlias = Sequence[float] | np.ndarray
"""One number per item, higher is better; or anything that numpy converts to an array, such as a Series."""

Variant = Literal["a", "b"]
TauApTies = Literal["none", "a", "b"]
RboTies = Literal["w", "a", "b"]


def kendall(x: Scores, y: Scores, *, variant: Variant = "b") -> float:
    """Kendall's tau: pairs in the same order minus pairs in opposite orders; nan with fewer than two items.

    Variant "a" divides by all pairs, so that every tie lowers it; "b" by the geometric mean of the number of pairs not
    tied in x, shape (n,), and not tied in y (nan if all are tied on one side).

    Notes
    -----
    Kendall (1945), The treatment of ties in ranking problems. Biometrika 33.

    Examples
    --------
    >>> kendall([1, 2, 3], [1, 2, 2], variant="a")
    0.6666666666666666
    """
    require_known("variant of tau", get_args(Variant), variant)
    xs, ys = _paired(x, y)
    ours, other_signs = _signs(xs), _signs(ys)
    untied = (np.abs(ours).sum(), np.abs(other_signs).sum()) if variant == "b" else (len(xs) * (len(xs) - 1),) * 2
    counted = math.sqrt(untied[0] * untied[1])
    return float((ours * other_signs).sum() / counted) if counted else math.nan


def tau_ap(x: Scores, y: Scores, *, ties: TauApTies = "a") -> float:
    """AP correlation: Kendall's tau with more weight on swaps near the top, from -1 to 1.

    The mean over all ranks of y but the first of the share of the items above it that x has above it too.

    Parameters
    ----------
    x
        Shape (n,): the truth. For "none" and "a" without ties.
    y
        Shape (n,): the estimate. For "none" without ties.
    ties
        "none": Yilmaz et al.'s coefficient. "a": the mean over all ways to break the ties of y. "b": ties on both
        sides, and the mean of both directions, since neither is the truth.

    Returns
    -------
    float
        nan with fewer than two items, and for "b" if all are tied on one side.

    Raises
    ------
    InputError
        There are ties that the coefficient does not allow.

    Notes
    -----
    Yilmaz, Aslam, Robertson (2008), A new rank correlation coefficient for information retrieval. SIGIR.
    Urbano, Marrero (2017), The treatment of ties in AP correlation. ICTIR.
    """
    require_known("treatment of ties", get_args(TauApTies), ties)
    xs, ys = _paired(x, y)
    for side, values, allowed in (("x", xs, ties == "b"), ("y", ys, ties != "none")):
        if not allowed and len(np.unique(values)) < len(values):
            other = 'ties="b"' if side == "x" else 'ties="a" or ties="b"'
            raise InputError(f"tau_ap with ties={ties!r} needs scores without ties, but {side} has some; use {other}")
    if len(xs) < 2:
        return math.nan
    return (_tau_ap_b(xs, ys) + _tau_ap_b(ys, xs)) / 2 if ties == "b" else _tau_ap_a(xs, ys)


def _tau_ap_a(x: Floats, y: Floats) -> float:
    """The mean over all ways to break y's ties.

    An item in a group of t that starts at rank p is at p, ..., p + t - 1 equally often. Above it are all p - 1 of the
    better groups, and of its own group, at its kth place, k - 1 others, of which on average half are above it in x.
    """
    above = y[None, :] > y[:, None]
    first = above.sum(axis=1) + 1
    concordant = (above & (x[None, :] > x[:, None])).sum(axis=1)
    summed = 0.0
    for rank in np.unique(first):
        members = first == rank
        places = np.arange(rank, rank + members.sum())
        within = (places - rank) / 2
        below_top = places > 1
        pairs_in_order = concordant[members].mean() + within[below_top]
        summed += float((pairs_in_order / (places[below_top] - 1)).sum())
    return 2 / (len(x) - 1) * summed - 1


def _tau_ap_b(x: Floats, y: Floats) -> float:
    """One direction, over y's groups: only items above a whole group count."""
    above = y[None, :] > y[:, None]
    ahead = above.sum(axis=1)
    counted = ahead > 0
    if not counted.any():
        return math.nan
    concordant = (above & (x[None, :] > x[:, None])).sum(axis=1)
    return float(2 * np.mean(concordant[counted] / ahead[counted]) - 1)


def rbo(
    x: Scores | Mapping[object, float], y: Scores | Mapping[object, float], *, p: float = 0.9, ties: RboTies = "b"
) -> float:
    """Extrapolated rank-biased overlap: the overlap of the first d ranks, weighted by the share of readers who reach d.

    Parameters
    ----------
    x, y
        Scores of the same items, shape (n,); or mappings from item to score, which may have different items and differ
        in length, as two systems' documents for one topic do.
    p
        The probability that a reader continues to the next rank. With .9 the first 10 ranks have 86% of the weight.
    ties
        "w": tied items share the best rank of their group, as in sports. "a": the mean over all ways to break ties.
        "b": the same, normalised so that a ranking with ties agrees fully with itself.

    Returns
    -------
    float
        From 0 to 1. Unlisted items are assumed to agree as much as listed ones.

    Raises
    ------
    InputError
        A side is empty, or p is not between 0 and 1.

    Notes
    -----
    Webber, Moffat, Zobel (2010), A similarity measure for indefinite rankings. TOIS 28(4).
    Corsi, Urbano (2024), The treatment of ties in rank-biased overlap. SIGIR.

    Examples
    --------
    >>> round(rbo({"a": 3, "b": 2, "c": 1}, {"a": 3, "c": 2, "d": 1}, p=0.9), 4)
    0.685
    """
    require_known("treatment of ties", get_args(RboTies), ties)
    if not 0 < p < 1:
        raise InputError(f"p: expected a probability between 0 and 1, found {p:g}")
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        sides: list[Mapping[object, float]] = [x, y]
    elif isinstance(x, Mapping) or isinstance(y, Mapping):
        raise InputError("rbo: expected two mappings or two lists of scores, found one of each")
    else:
        sides = [dict(enumerate(side.tolist())) for side in _paired(x, y)]
    if not all(sides):
        raise InputError("rbo: expected two rankings, found an empty one")
    short, long = sorted(sides, key=len)
    things: dict[Hashable, int] = {thing: row for row, thing in enumerate({**short, **long})}
    s, depth = len(short), len(long)
    shares, others = (_shares(side, things, depth, ties) for side in (short, long))
    # A shorter ranking continues without ties: one more item at each rank.
    held = [np.square(share).sum(axis=0) if ties == "b" else share.sum(axis=0) for share in (shares, others)]
    held[0][s:] = np.arange(s + 1, depth + 1)
    ranks = np.arange(1, depth + 1)
    size = {"w": (held[0] + held[1]) / 2, "a": ranks, "b": np.sqrt(held[0] * held[1])}[ties]
    overlap = (shares * others).sum(axis=0)
    agreement = float(overlap[s - 1] / size[s - 1])
    if depth > s:
        # Beyond its end the short ranking is assumed to overlap with the long one as at its last rank.
        unseen = others[[row for thing, row in things.items() if thing not in short], s:]
        listed = unseen.sum(axis=0) / np.count_nonzero(unseen, axis=0)
        overlap = np.concatenate([overlap[:s], overlap[s:] + (ranks[s:] - s) * agreement * listed])
        tail = ((shares[:, -1] * others[:, -1]).sum() + (depth - s) * agreement) / depth
    else:
        tail = overlap[-1] / depth
    weights = (1 - p) * p ** (ranks - 1)
    return float((weights * overlap / size).sum() + tail * p**depth)


def _shares(ranking: Mapping[object, float], things: Mapping[Hashable, int], depth: int, ties: RboTies) -> Floats:
    """(items x depth): the share of an item within the first d, 1 unless d cuts its ties."""
    scores = np.array([ranking[thing] for thing in ranking], dtype=np.float64)
    if not np.isfinite(scores).all():
        raise InputError("rbo: expected scores that are finite numbers, found nan or infinity")
    first = (scores[None, :] > scores[:, None]).sum(axis=1) + 1
    last = (scores[None, :] >= scores[:, None]).sum(axis=1)
    ranks = np.arange(1, depth + 1)
    group = 1 if ties == "w" else (last - first + 1)[:, None]
    shares = np.zeros((len(things), depth))
    shares[[things[thing] for thing in ranking]] = np.clip((ranks - first[:, None] + 1) / group, 0, 1)
    return shares


def spearman(x: Scores, y: Scores) -> float:
    """Spearman's rho: Pearson's correlation of the ranks, where tied items share their mean rank.

    nan with fewer than two items, or if all are tied on one side.
    """
    xs, ys = _paired(x, y)
    if len(xs) < 2 or not (np.ptp(xs) > 0 and np.ptp(ys) > 0):
        return math.nan
    # Items above minus items below: the rank, up to a factor and a shift.
    return float(np.corrcoef(_signs(xs).sum(axis=1), _signs(ys).sum(axis=1))[0, 1])


def _paired(x: Scores, y: Scores) -> tuple[Floats, Floats]:
    """Both as arrays, checked to be finite and of equal length."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if xs.ndim != 1 or xs.shape != ys.shape:
        raise InputError(f"a correlation needs two lists of equal length, found shapes {xs.shape} and {ys.shape}")
    if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
        raise InputError("a correlation needs finite scores, found nan or infinity; leave those items out")
    return xs, ys


def _signs(values: Floats) -> Floats:
    signs: Floats = np.sign(values[:, None] - values)
    return signs
