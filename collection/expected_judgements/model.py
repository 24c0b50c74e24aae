"""Model of the grades of all pairs, given the judged ones.

A document reaches each step of the grade scale, if it has reached the step before, with a log-odds that is the sum of
its weighted features (with the same weights for all topics), an effect of the topic, and an effect shared by documents
with similar texts. Weights and effects are normal, and their variances are estimated too. So runs that the judgements
do not yet tell apart get similar weights, and a topic of which little is judged resembles the other topics.

Sources: Tutz, "Sequential models in categorical regression", Computational Statistics & Data Analysis 1991, for the
steps; Breslow & Clayton, "Approximate inference in generalized linear mixed models", JASA 1993, for the normal
approximation at the mode; Laird & Ware, "Random-effects models for longitudinal data", Biometrics 1982, for the
estimates of the variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.expected_judgements.pairs import Pairs

SWEEPS, TOLERANCE = 15, 1e-3
"""Largest number of steps of the fit, and the change of the weights at which it ends."""

HALVINGS = 10
"""Largest number of times that a step is halved until it no longer overshoots."""


@dataclass(frozen=True)
class Scales:
    """Prior of the weights and effects, in log-odds; all but the means are variances.

    The defaults are round numbers near what the fully judged pools of Cranfield, Vaswani and TREC DL 2019 give.
    """

    constant: float = 9.0
    """Weight of the constant of each step."""
    common: float = 0.25
    """Weights of what the ranks in all runs say together, and of given scores."""
    top: float = 2.0
    """Sum over the runs of the weights of being in the first ten."""
    runs: float = 4.0
    """Sum over the runs of the weights of the discounted rank."""
    topic: float = 1.0
    """Effect of the topic on all steps."""
    step: float = 1.0
    """Effect of the topic on a single step."""
    texts: float = 0.5
    """Effect shared by similar texts."""
    mean_top: float = 1.0
    """Mean of the sum over the runs of the weights of being in the first ten: what more runs find is more relevant."""
    mean_runs: float = 3.0
    """Mean of the sum over the runs of the weights of the discounted rank."""
    certainty: float = 4.0
    """Number of observations that the prior of a variance is worth."""


class Effects(NamedTuple):
    """The n pairs of a topic and its q effects, given the weights of the F features."""

    features: Floats
    """(n, K, F) features of each pair and step."""
    loadings: Floats
    """(n, K, q) contribution of each effect to the log-odds."""
    mean: Floats
    """(q,) expected effects."""
    covariance: Floats
    """(q, q) covariance of the effects if the weights were known."""
    pull: Floats
    """(q, F) by how much the effects fall when a weight rises."""


class Posterior(NamedTuple):
    """Normal distribution of weights and effects, given the judged pairs."""

    numbers: Ints
    """(N,) number of each judged pair's grade in the scale, from 0; -1 for the others."""
    weights: Floats
    """(F,) expected weights."""
    root: Floats
    """(F, F) square root of the covariance of the weights, which is ``root @ root.T``."""
    topics: list[Effects]


def infer(pairs: Pairs, numbers: Ints, steps: int, scales: Scales | None = None, *, sweeps: int = SWEEPS) -> Posterior:
    """Infer weights and effects from the grades of the judged pairs.

    Parameters
    ----------
    pairs
        The N pairs, from :func:`describe`.
    numbers
        (N,) number of each judged pair's grade in the scale, from 0; -1 for the others.
    steps
        K, the number of the highest grade.
    scales
        Prior.
    sweeps
        Largest number of steps of Newton's method, each followed by an estimate of the variances.
    """
    from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
    from scipy.special import expit

    scales = scales or Scales()
    prior = _Prior(pairs, steps, scales)
    features = _features(pairs, steps)
    loadings = [_loadings(pairs, topic, steps) for topic in range(len(pairs.members))]
    trials = [_trials(numbers[rows], steps) for rows in pairs.members]
    # Each trial is one step of a judged pair, and the outcome is whether the pair reached it.
    known = [
        (features[rows[n], k], effect[n, k], outcome)
        for rows, effect, (n, k, outcome) in zip(pairs.members, loadings, trials, strict=True)
    ]
    weights = prior.mean.copy()
    effects = [np.zeros(effect.shape[2]) for effect in loadings]
    for sweep in range(sweeps):
        precision, slope = np.diag(1 / prior.variances), (prior.mean - weights) / prior.variances
        parts: list[tuple[Floats, Floats, Floats]] = []
        for topic, (x, z, outcome) in enumerate(known):
            own = prior.precision(len(effects[topic]))
            probability = expit(x @ weights + z @ effects[topic])
            spread = (probability * (1 - probability))[:, None]
            covariance = np.linalg.inv((z * spread).T @ z + own)
            across = (z * spread).T @ x
            pull, rise = covariance @ across, z.T @ (outcome - probability) - own @ effects[topic]
            precision += (x * spread).T @ x - across.T @ pull
            slope += x.T @ (outcome - probability) - pull.T @ rise
            parts.append((covariance, pull, covariance @ rise))
        factor = cho_factor(precision, lower=True)
        change = cho_solve(factor, slope)
        changes = [own - pull @ change for _, pull, own in parts]
        before, part = prior.plausibility(known, weights, effects), 1.0
        for _ in range(HALVINGS):
            moved = [effect + part * own for effect, own in zip(effects, changes, strict=True)]
            if prior.plausibility(known, weights + part * change, moved) >= before - 1e-6:
                break
            part /= 2
        weights, effects = weights + part * change, moved
        if sweep == sweeps - 1 or (sweep and np.abs(change).max() < TOLERANCE):
            break
        uncertain = cho_solve(factor, np.eye(len(weights)))
        moments = [
            np.outer(effect, effect) + covariance + pull @ uncertain @ pull.T
            for effect, (covariance, pull, _), trial in zip(effects, parts, known, strict=True)
            if len(trial[2])
        ]
        prior.estimate((weights - prior.mean) ** 2 + np.diag(uncertain), moments)
    root = solve_triangular(cholesky(precision, lower=False), np.eye(len(weights)), lower=False)
    topics = [
        Effects(features[rows], loading, effect, covariance, pull)
        for rows, loading, effect, (covariance, pull, _) in zip(pairs.members, loadings, effects, parts, strict=True)
    ]
    return Posterior(numbers, weights, root, topics)


class _Prior:
    """Prior means and variances of the weights, and covariance of a topic's effects, which :meth:`estimate` updates."""

    def __init__(self, pairs: Pairs, steps: int, scales: Scales) -> None:
        self.steps, self.scales, runs = steps, scales, len(pairs.runs)
        common = pairs.features.shape[1] - 2 * runs
        kinds = [(steps, scales.constant), (common * steps, scales.common), (runs, scales.top), (runs, scales.runs)]
        ends = np.cumsum([0, *(size for size, _ in kinds)])
        self.groups = [slice(*ends[n : n + 2]) for n in range(len(kinds))]
        # The variance of a sum over the runs is divided among them.
        self.usual = [kinds[0][1], kinds[1][1], kinds[2][1] / runs, kinds[3][1] / runs]
        self.variances = np.concatenate(
            [np.full(size, usual) for (size, _), usual in zip(kinds, self.usual, strict=True)]
        )
        self.mean = np.zeros(len(self.variances))
        self.mean[self.groups[2]], self.mean[self.groups[3]] = scales.mean_top / runs, scales.mean_runs / runs
        self.usual_topic = scales.topic + scales.step * np.eye(steps)
        self.inverse, self.texts = np.linalg.inv(self.usual_topic), scales.texts

    def precision(self, size: int) -> Floats:
        """(q, q) inverse covariance of the effects of a topic."""
        precision = np.diag(np.full(size, 1 / self.texts))
        precision[: self.steps, : self.steps] = self.inverse
        return precision

    def plausibility(self, known: list[tuple[Floats, Floats, Floats]], weights: Floats, effects: list[Floats]) -> float:
        """Logarithm of the posterior density of weights and effects, up to a constant."""
        total = -float(((weights - self.mean) ** 2 / self.variances).sum()) / 2
        for (x, z, outcome), effect in zip(known, effects, strict=True):
            odds, steps, texts = x @ weights + z @ effect, effect[: self.steps], effect[self.steps :]
            total += float(outcome @ odds - np.logaddexp(0, odds).sum())
            total -= float(steps @ self.inverse @ steps + texts @ texts / self.texts) / 2
        return total

    def estimate(self, squares: Floats, moments: list[Floats]) -> None:
        """Set the variances to their estimates, from the expected squares of weights (F,) and effects (q, q)."""
        certainty = self.scales.certainty
        for group, usual in list(zip(self.groups, self.usual, strict=True))[1:]:
            size = group.stop - group.start
            self.variances[group] = (certainty * usual + squares[group].sum()) / (certainty + size)
        steps = self.steps
        topic = certainty * self.usual_topic + sum(moment[:steps, :steps] for moment in moments)
        self.inverse = np.linalg.inv(topic / (certainty + len(moments)))
        total, count = certainty * self.scales.texts, certainty
        for moment in moments:
            total, count = total + float(np.trace(moment[steps:, steps:])), count + len(moment) - steps
        self.texts = total / count


def _features(pairs: Pairs, steps: int) -> Floats:
    """(N, K, F) features of each pair and step.

    A constant for each step, the common features, their difference from the first step for each later one, the runs.
    """
    count, runs = len(pairs.topic), 2 * len(pairs.runs)
    common = pairs.features[:, :-runs]
    width = common.shape[1]
    features = np.zeros((count, steps, steps + width * steps + runs))
    features[:, range(steps), range(steps)] = 1.0
    features[:, :, steps : steps + width] = common[:, None]
    for step in range(1, steps):
        features[:, step, steps + width * step : steps + width * (step + 1)] = common
    features[:, :, -runs:] = pairs.features[:, None, -runs:]
    return features


def _loadings(pairs: Pairs, topic: int, steps: int) -> Floats:
    """(n, K, q) contributions of the effects: of the topic on each step, and of texts on all steps."""
    texts = pairs.texts[topic] if pairs.texts is not None else np.zeros((len(pairs.members[topic]), 0))
    loadings = np.zeros((len(texts), steps, steps + texts.shape[1]))
    loadings[:, range(steps), range(steps)] = 1.0
    loadings[:, :, steps:] = texts[:, None]
    return loadings


def _trials(numbers: Ints, steps: int) -> tuple[Ints, Ints, Floats]:
    """The steps that judged pairs tried: number of the pair, of the step, and 1 if it was reached."""
    tried = (numbers[:, None] >= 0) & (np.arange(steps) <= numbers[:, None])
    pair, step = np.nonzero(tried)
    return pair, step, (numbers[pair] > step).astype(np.float64)
