"""Gaussian model of the gains of all pairs, given the judged ones.

A gain is the sum of its weighted features (with the same weights for all topics), an effect of the topic, an effect
shared by documents with similar texts, and an effect of the document. All parts are normal, so the judged pairs give
mean and covariance of the other pairs in closed form. Topics are solved one by one and linked by the feature weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from collection.expected_judgements.pairs import Bools, Floats, Pairs


@dataclass(frozen=True)
class Scales:
    """Prior scales of the parts of a gain, for gains from 0 to 1."""

    runs: float = 0.3
    """Standard deviation of the sum of the runs' features."""
    common: float = 0.1
    """Standard deviation of the weight of each other feature; that of the constant is 1."""
    topic: float = 0.05
    """Variance of the effect of the topic."""
    texts: float = 0.1
    """Variance of the effect shared by similar texts."""
    own: float = 0.05
    """Variance of the effect of the document."""


class Posterior(NamedTuple):
    """Distribution of the gains of N pairs, given the judged ones."""

    mean: Floats
    """(N,) expected gains, for judged pairs without the effect of the document; may be slightly outside 0 to 1."""
    left_out: Floats
    """(N,) leave-one-out expectations of judged pairs; nan for the others."""
    within: list[Floats]
    """For each topic (n, n): covariance of its gains if the feature weights were known."""
    loadings: Floats
    """(N, F) derivatives of the gains with respect to the feature weights."""
    root: Floats
    """(F, F) square root of the covariance of the feature weights, which is ``root @ root.T``."""

    def covariance(self, pairs: Pairs, topic: int) -> Floats:
        """(n, n) covariance of the gains of a topic's pairs."""
        loading = self.loadings[pairs.members[topic]] @ self.root
        covariance: Floats = self.within[topic] + loading @ loading.T
        return covariance


def infer(pairs: Pairs, gains: Floats, scales: Scales) -> Posterior:
    """Infer the distribution of all gains from `gains` (N,), from 0 to 1 and nan if unjudged.

    `scales` come from :func:`fit_scales`. Source: Rasmussen & Williams, "Gaussian Processes for Machine Learning",
    2006, sections 2.7 (explicit basis functions) and 5.4.2 (leave-one-out).
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
            # The gains of judged documents are known, and rounding must leave no variance below 0.
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
    """Fit the scales to `gains` (N,), of which at least one is known: maximum a posteriori around the default scales.

    The search starts at `start` (by default the default scales) and takes at most `steps` steps of L-BFGS.
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
"""The result of `scipy.linalg.cho_factor`: a matrix, and whether it is the lower triangle."""


class _Solved(NamedTuple):
    """Feature weights, and for each topic a factor of the covariance of the judged pairs."""

    weights: Floats
    precision: Floats
    factors: list[tuple[Factor, Floats, Floats] | None]
    """For each topic with judged pairs: the Cholesky factor, its solution for their features, and the residuals of
    their gains."""
    likelihood: float


class _Parts:
    """The judged pairs of each topic, selected once and solved for any number of scales."""

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
        """(n, n) prior covariance from the effects of the topic and of similar texts."""
        size = len(self.pairs.members[topic])
        if self.pairs.alike is None:
            return np.full((size, size), scales.topic)
        prior: Floats = scales.topic + scales.texts * self.pairs.alike[topic]
        return prior

    def solve(self, scales: Scales) -> _Solved:
        """Compute the posterior of the weights, and the log-likelihood of the judged gains up to a constant."""
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
            # The small constant keeps equal documents from making the matrix singular.
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
