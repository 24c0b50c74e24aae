"""Gaussian model of the gains of all pairs, given the judged ones.

A gain is the sum of its weighted features (with the same weights for all topics), an effect of the topic, an effect
shared by documents with similar texts, and an effect of the document. All parts are normal, so the judged pairs give
mean and covariance of the other pairs in closed form. Topics are solved one by one and linked by the feature weights.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np

from collection.expected_judgements.pairs import Floats, Pairs

JITTER = 1e-6
"""Variance added to that of a document's effect, so that equal documents do not make a matrix singular."""


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

    def weight_variances(self, pairs: Pairs) -> Floats:
        """(F,) prior variance of each feature's weight."""
        runs = len(pairs.runs)
        variances = np.full(pairs.features.shape[1], self.common**2)
        variances[0], variances[-runs:] = 1.0, self.runs**2 / runs
        return variances

    def within(self, pairs: Pairs, topic: int) -> Floats:
        """(n, n) prior covariance of a topic's gains from all effects but the weights."""
        size = len(pairs.members[topic])
        within = np.full((size, size), self.topic)
        if pairs.alike is not None:
            within += self.texts * pairs.alike[topic]
        within[np.diag_indices(size)] += self.own + JITTER
        return within


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
    from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

    judged = ~np.isnan(gains)
    solved = _Judged(pairs, gains).solve(scales)
    upper = cholesky(solved.precision, lower=False)
    root = solve_triangular(upper, np.eye(len(upper)), lower=False)
    mean, left_out = pairs.features @ solved.weights, np.full(len(gains), np.nan)
    loadings, within = pairs.features.copy(), []
    for topic, rows in enumerate(pairs.members):
        known = judged[rows]
        exact = scales.within(pairs, topic)
        within.append(exact)
        if not known.any():
            continue
        at = rows[known]
        factor = cho_factor(exact[np.ix_(known, known)], lower=True, check_finite=False)
        inverse = cho_solve(factor, np.eye(len(at)))
        rest, inside = gains[at] - mean[at], inverse @ pairs.features[at]
        toward = exact[:, known]
        toward[known] -= (scales.own + JITTER) * np.eye(len(at))
        mean[rows] += toward @ (inverse @ rest)
        loadings[rows] -= toward @ inside
        # The gains of judged documents are known, and rounding must leave no variance below 0.
        exact -= toward @ inverse @ toward.T
        loadings[at] = 0.0
        exact[known] = exact[:, known] = 0.0
        spread = np.diag(inverse) - ((inside @ root) ** 2).sum(axis=1)
        left_out[at] = gains[at] - (inverse @ rest) / np.maximum(spread, 1e-12)
    return Posterior(mean, left_out, within, loadings, root)


def fit_scales(pairs: Pairs, gains: Floats, *, steps: int = 30) -> Scales:
    """Fit the scales to `gains` (N,), of which at least one is known: maximum a posteriori around the default scales.

    The search takes at most `steps` steps of L-BFGS.
    """
    from scipy.optimize import minimize

    judged = _Judged(pairs, gains)
    usual = np.log(astuple(Scales()))

    def unlikely(logs: Floats) -> tuple[float, Floats]:
        # A normal prior over the logarithms with a standard deviation of 2.
        solved = judged.solve(Scales(*np.exp(logs)))
        return float(((logs - usual) ** 2).sum()) / 8 - solved.likelihood, (logs - usual) / 4 - solved.slopes

    bounds = [(low - 5, low + 5) for low in usual]
    found = minimize(unlikely, usual, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps})
    return Scales(*map(float, np.exp(found.x)))


class _Solved(NamedTuple):
    """Posterior of the feature weights, and the log-likelihood of the judged gains up to a constant."""

    weights: Floats
    precision: Floats
    likelihood: float
    slopes: Floats
    """(5,) derivatives of the likelihood with respect to the logarithms of the scales, in the order of the fields."""


class _Judged:
    """The M judged pairs, prepared once and solved for any number of scales.

    The gains of each topic are rotated onto the eigenvectors of the similarities, in which texts and documents have
    independent effects. The effect of the topic then is an update of rank one (Sherman & Morrison 1950).
    """

    def __init__(self, pairs: Pairs, gains: Floats) -> None:
        self.pairs = pairs
        features, values, constant, spectrum, sizes = [], [], [], [], []
        for topic, members in enumerate(pairs.members):
            known = ~np.isnan(gains[members])
            at = members[known]
            if not len(at):
                continue
            own, turn = np.zeros(len(at)), np.eye(len(at))
            if pairs.alike is not None:
                own, turn = np.linalg.eigh(pairs.alike[topic][np.ix_(known, known)])
            features.append(turn.T @ pairs.features[at])
            values.append(turn.T @ gains[at])
            constant.append(turn.sum(axis=0))
            spectrum.append(np.maximum(own, 0.0))
            sizes.append(len(at))
        count = pairs.features.shape[1]
        self.features = np.concatenate(features) if features else np.zeros((0, count))
        self.gains, self.constant, self.spectrum = (
            np.concatenate(parts) if parts else np.zeros(0) for parts in (values, constant, spectrum)
        )
        self.starts, self.topic = np.cumsum([0, *sizes])[:-1], np.repeat(np.arange(len(sizes)), sizes)

    def solve(self, scales: Scales) -> _Solved:
        from scipy.linalg import cho_factor, cho_solve, solve_triangular

        features, constant, variance = self.features, self.constant, scales.weight_variances(self.pairs)
        own = scales.texts * self.spectrum + scales.own + JITTER

        def total(values: Floats) -> Floats:
            return np.add.reduceat(values, self.starts, axis=0)

        unit = constant / own
        mass = total(constant * unit)
        update = scales.topic / (1 + scales.topic * mass)
        sums = total(unit[:, None] * features)
        inside = features / own[:, None] - (unit * update[self.topic])[:, None] * sums[self.topic]
        precision = np.diag(1 / variance) + inside.T @ features
        whole = cho_factor(precision, lower=True, check_finite=False)
        pulled = inside.T @ self.gains
        weights = cho_solve(whole, pulled)
        # The inverse covariance of all judged gains, times their deviations from 0.
        rest = self.gains - features @ weights
        pull = rest / own - unit * (update * total(unit * rest))[self.topic]
        likelihood = (
            -0.5
            * (np.log(variance).sum() + np.log(own).sum() + np.log1p(scales.topic * mass).sum() + self.gains @ pull)
            - np.log(np.diag(whole[0])).sum()
        )
        # Derivative with respect to a variance whose part of the covariance is C: half of pull' C pull less the trace
        # of C times the inverse covariance, which is that without weights less a product of this:
        through = solve_triangular(whole[0], inside.T, lower=True, check_finite=False).T
        alone = 1 / own - unit**2 * update[self.topic] - (through**2).sum(axis=1)
        common = mass / (1 + scales.topic * mass) - (total(constant[:, None] * through) ** 2).sum(axis=1)
        spread = weights**2 + np.diag(cho_solve(whole, np.eye(len(weights))))
        by_weight = spread / variance - 1
        runs = len(self.pairs.runs)
        slopes = np.array(
            [
                by_weight[-runs:].sum(),
                by_weight[1:-runs].sum(),
                scales.topic / 2 * ((total(constant * pull) ** 2).sum() - common.sum()),
                scales.texts / 2 * (self.spectrum @ (pull**2 - alone)),
                scales.own / 2 * (pull**2 - alone).sum(),
            ]
        )
        return _Solved(weights, precision, float(likelihood), slopes)
