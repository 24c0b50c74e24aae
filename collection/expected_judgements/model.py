"""The gains of all pairs as one Gaussian, given the judged ones.

A gain is the sum of weighted features, the weights shared by all topics, of an effect of its topic, of an effect that
documents with similar texts share, and of an effect of its own. All are normal, so the judged pairs give mean and
covariance of the others in closed form, topic by topic, with the features' weights between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from collection.expected_judgements.pairs import Bools, Floats, Pairs


@dataclass(frozen=True)
class Scales:
    """Prior scales of the parts of a gain; gains are from 0 to 1."""

    runs: float = 0.3
    """Standard deviation of the sum of the runs' features."""
    common: float = 0.1
    """Standard deviation of the weight of every other feature; that of the constant is 1."""
    topic: float = 0.05
    """Variance of the topic's effect."""
    texts: float = 0.1
    """Variance of the texts' effect."""
    own: float = 0.05
    """Variance of the document's own effect."""


class Posterior(NamedTuple):
    """Distribution of the gains of N pairs, given the judged ones."""

    mean: Floats
    """(N,) expected gains, of judged pairs without their own effect; they may be slightly outside 0 to 1."""
    left_out: Floats
    """(N,) the leave-one-out expectation of a judged pair; nan for the others."""
    within: list[Floats]
    """For each topic (n, n): the covariance of its gains if the weights of the features were known."""
    loadings: Floats
    """(N, F): the derivative of a pair's gain with respect to the weights of the features."""
    root: Floats
    """(F, F): the covariance of these weights is ``root @ root.T``."""

    def covariance(self, pairs: Pairs, topic: int) -> Floats:
        """(n, n): the covariance of the gains of a topic's pairs."""
        loading = self.loadings[pairs.members[topic]] @ self.root
        covariance: Floats = self.within[topic] + loading @ loading.T
        return covariance


def infer(pairs: Pairs, gains: Floats, scales: Scales) -> Posterior:
    """The distribution of the gains, given those (N,) that are not nan, from 0 to 1; scales from :func:`fit_scales`.

    Source: Rasmussen & Williams, "Gaussian Processes for Machine Learning", 2006: explicit basis functions (2.7),
    leaving one out (5.4.2).
    """
    from scipy.linalg import cho_solve, cholesky, solve_triangular

    judged = ~np.isnan(gains)
    parts = _Parts(pairs, gains, judged)
    solved = parts.solve(scales)
    mean, left_out = np.empty(len(gains)), np.full(len(gains), np.nan)
    loadings, within = pairs.features.copy(), []
    upper = cholesky(solved.precision, lower=False)
    root = solve_triangular(upper, np.eye(len(upper)), lower=False)
    for topic, rows in enumerate(pairs.members):
        known = judged[rows]
        prior = parts.prior(topic, scales)
        mean[rows] = pairs.features[rows] @ solved.weights
        solution = solved.factors[topic]
        if solution is not None:
            factor, inside, rest = solution
            toward = prior[:, known]
            mean[rows] += toward @ cho_solve(factor, rest)
            loadings[rows] -= toward @ inside
            inverse = cho_solve(factor, np.eye(int(known.sum())))
            exact = prior + scales.own * np.eye(len(rows))
            # The own effects of judged documents are known; rounding must leave no variance below 0.
            across = exact[:, known]
            exact -= across @ inverse @ across.T
            loadings[rows[known]] = 0.0
            exact[known] = exact[:, known] = 0.0
            within.append(exact)
            spread = np.diag(inverse) - ((inside @ root) ** 2).sum(axis=1)
            left_out[rows[known]] = gains[rows[known]] - (inverse @ rest) / np.maximum(spread, 1e-12)
        else:
            within.append(prior + scales.own * np.eye(len(rows)))
    return Posterior(mean, left_out, within, loadings, root)


def fit_scales(pairs: Pairs, gains: Floats, start: Scales | None = None, *, steps: int = 12) -> Scales:
    """The scales of maximum posterior probability given one or more gains, with a prior around the default scales.

    The search starts at `start`, by default the default scales, and takes at most `steps` steps of L-BFGS.
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


Factor = tuple[Floats, bool]
"""A matrix from `scipy.linalg.cho_factor`, and whether it is the lower triangle."""


class _Solved(NamedTuple):
    """The weights of the features, and per topic the factor of the judged pairs' covariance."""

    weights: Floats
    precision: Floats
    factors: list[tuple[Factor, Floats, Floats] | None]
    """For each topic with judged pairs: the Cholesky factor, its solution for their features, and the residuals of
    their gains from the features."""
    likelihood: float


class _Parts:
    """The judged pairs of each topic, selected once for any number of scales."""

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
        """(n, n): the covariance from a topic and its texts, without the documents' own effects."""
        size = len(self.pairs.members[topic])
        if self.pairs.alike is None:
            return np.full((size, size), scales.topic)
        prior: Floats = scales.topic + scales.texts * self.pairs.alike[topic]
        return prior

    def solve(self, scales: Scales) -> _Solved:
        """The posterior of the weights, and the logarithm of the judged gains' likelihood up to a constant."""
        from scipy.linalg import cho_factor, cho_solve

        count, runs = self.pairs.features.shape[1], len(self.pairs.runs)
        variance = np.full(count, scales.common**2)
        variance[0], variance[-runs:] = 1.0, scales.runs**2 / runs
        precision, pulled = np.diag(1 / variance), np.zeros(count)
        likelihood = -0.5 * float(np.log(variance).sum())
        halves: list[tuple[Factor, Floats] | None] = []
        for features, gains, alike in zip(self.features, self.gains, self.alike, strict=True):
            if not len(gains):
                halves.append(None)
                continue
            square = np.full((len(gains), len(gains)), scales.topic)
            if alike is not None:
                square += scales.texts * alike
            # A little more, so that equal documents make no singular matrix.
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
