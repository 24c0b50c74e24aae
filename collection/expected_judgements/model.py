"""The gains of all pairs as one Gaussian: what the judged ones say of the others.

A gain is a sum: of features (what each run's word is worth is learned from all topics), of what its topic has in
common, of what documents with like texts have in common, and of its own share. All parts are normal, so what is
judged gives mean and covariance of the rest in closed form, topic by topic, with the features' weights between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np

from collection.expected_judgements.pairs import Bools, Floats, Pairs


@dataclass(frozen=True)
class Scales:
    """How much of a gain each part explains before anything is judged; gains are from 0 to 1.

    Attributes
    ----------
    runs
        Standard deviation of what the runs' columns bring together.
    common
        Standard deviation of the weight of every other feature; that of the constant is 1.
    topic, texts, own
        Variances of the parts: the topic's, the texts', the document's own.
    """

    runs: float = 0.3
    common: float = 0.1
    topic: float = 0.05
    texts: float = 0.1
    own: float = 0.05


class Belief(NamedTuple):
    """What is expected of N pairs.

    Attributes
    ----------
    mean
        (N,) expected gains, of judged pairs without their own share; they may leave 0 to 1 a little.
    left_out
        (N,) for a judged pair what would be expected of it if it alone were not judged; nan for the others.
    within
        For each topic (n, n): the covariance of its gains if the weights of the features were known.
    pulls
        (N, F): how a pair's gain follows the weights of the features.
    root
        (F, F): the covariance of these weights is ``root @ root.T``.
    """

    mean: Floats
    left_out: Floats
    within: list[Floats]
    pulls: Floats
    root: Floats

    def covariance(self, pairs: Pairs, topic: int) -> Floats:
        """(n, n): the covariance of the gains of a topic's pairs."""
        pull = self.pulls[pairs.members[topic]] @ self.root
        made: Floats = self.within[topic] + pull @ pull.T
        return made


def believe(pairs: Pairs, gains: Floats, scales: Scales) -> Belief:
    """What the judged pairs say of all.

    Source: Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006: explicit basis functions (2.7),
    leaving one out (5.4.2).

    Parameters
    ----------
    pairs
        N of them.
    gains
        (N,) from 0 to 1; nan where nobody judged.
    scales
        See :func:`fitted`.
    """
    from scipy.linalg import cho_solve, cholesky, solve_triangular

    judged = ~np.isnan(gains)
    parts = _Parts(pairs, gains, judged)
    solved = parts.solve(scales)
    mean, left_out = np.empty(len(gains)), np.full(len(gains), np.nan)
    pulls, within = pairs.features.copy(), []
    upper = cholesky(solved.precision, lower=False)
    root = solve_triangular(upper, np.eye(len(upper)), lower=False)
    for topic, rows in enumerate(pairs.members):
        known = judged[rows]
        prior = parts.prior(topic, scales)
        mean[rows] = pairs.features[rows] @ solved.weights
        if known.any():
            factor, inside, rest = solved.factors[topic]
            toward = prior[:, known]
            mean[rows] += toward @ cho_solve(factor, rest)
            pulls[rows] -= toward @ inside
            inverse = cho_solve(factor, np.eye(int(known.sum())))
            exact = prior + scales.own * np.eye(len(rows))
            # Own shares of judged documents are known with them; rounding must leave no variance below 0.
            across = exact[:, known]
            exact -= across @ inverse @ across.T
            pulls[rows[known]] = 0.0
            exact[known] = exact[:, known] = 0.0
            within.append(exact)
            spread = np.diag(inverse) - ((inside @ root) ** 2).sum(axis=1)
            left_out[rows[known]] = gains[rows[known]] - (inverse @ rest) / np.maximum(spread, 1e-12)
        else:
            within.append(prior + scales.own * np.eye(len(rows)))
    return Belief(mean, left_out, within, pulls, root)


def fitted(pairs: Pairs, gains: Floats, start: Scales | None = None, *, steps: int = 12) -> Scales:
    """The scales under which the judged gains are most likely; what they leave open stays near the usual ones.

    Parameters
    ----------
    pairs, gains
        As for :func:`believe`; at least one gain.
    start
        From where to look; the usual ones if left out.
    steps
        At most so many steps of L-BFGS.
    """
    from scipy.optimize import minimize

    parts = _Parts(pairs, gains, ~np.isnan(gains))
    usual = np.log(astuple(Scales()))

    def unlikely(logs: Floats) -> float:
        # A normal prior over the logarithms with a standard deviation of 2.
        return -parts.solve(Scales(*np.exp(logs))).likelihood + float(((logs - usual) ** 2).sum()) / 8

    bounds = [(low - 5, low + 5) for low in usual]
    begin = np.clip(np.log(astuple(start or Scales())), usual - 5, usual + 5)
    found = minimize(unlikely, begin, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps})
    return Scales(*map(float, np.exp(found.x)))


class _Solved(NamedTuple):
    """The weights of the features, and per topic the factor of the judged pairs' covariance."""

    weights: Floats
    precision: Floats
    factors: list[Any]
    """For each topic with judged pairs: the Cholesky factor, the factor applied to their features, and what of their
    gains the features do not explain."""
    likelihood: float


class _Parts:
    """The judged pairs of each topic, taken apart once for any number of scales."""

    def __init__(self, pairs: Pairs, gains: Floats, judged: Bools) -> None:
        self.pairs = pairs
        self.known = [judged[rows] for rows in pairs.members]
        rows = [members[known] for members, known in zip(pairs.members, self.known, strict=True)]
        self.features, self.gains = [pairs.features[r] for r in rows], [gains[r] for r in rows]
        alike: Sequence[Floats | None] = pairs.alike or [None] * len(rows)
        self.alike = [
            None if square is None else square[np.ix_(known, known)]
            for square, known in zip(alike, self.known, strict=True)
        ]

    def prior(self, topic: int, scales: Scales) -> Floats:
        """(n, n): the covariance that a topic and its texts bring, the documents' own share left out."""
        size = len(self.pairs.members[topic])
        if self.pairs.alike is None:
            return np.full((size, size), scales.topic)
        made: Floats = scales.topic + scales.texts * self.pairs.alike[topic]
        return made

    def solve(self, scales: Scales) -> _Solved:
        """The posterior of the weights, and the logarithm of the judged gains' likelihood but for a constant."""
        from scipy.linalg import cho_factor, cho_solve

        count, runs = self.pairs.features.shape[1], len(self.pairs.runs)
        variance = np.full(count, scales.common**2)
        variance[0], variance[-runs:] = 1.0, scales.runs**2 / runs
        precision, pulled = np.diag(1 / variance), np.zeros(count)
        likelihood = -0.5 * float(np.log(variance).sum())
        halves: list[Any] = []
        for features, gains, alike in zip(self.features, self.gains, self.alike, strict=True):
            if not len(gains):
                halves.append(None)
                continue
            square = np.full((len(gains), len(gains)), scales.topic)
            if alike is not None:
                square += scales.texts * alike
            # A little more, so that twins are no singular matrix.
            square[np.diag_indices(len(gains))] += scales.own + 1e-6
            factor = cho_factor(square, lower=True, overwrite_a=True, check_finite=False)
            both = cho_solve(factor, np.column_stack([features, gains]), check_finite=False)
            inside, alone = both[:, :-1], both[:, -1]
            precision += features.T @ inside
            pulled += inside.T @ gains
            likelihood -= float(np.log(np.diag(factor[0])).sum() + 0.5 * gains @ alone)
            halves.append((factor, inside))
        whole = cho_factor(precision, lower=True, check_finite=False)
        weights = cho_solve(whole, pulled)
        likelihood += float(0.5 * pulled @ weights - np.log(np.diag(whole[0])).sum())
        factors = [
            None if half is None else (*half, gains - features @ weights)
            for half, features, gains in zip(halves, self.features, self.gains, strict=True)
        ]
        return _Solved(weights, precision, factors, likelihood)
