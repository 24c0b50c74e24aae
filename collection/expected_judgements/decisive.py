"""Pairs to judge first to find the order of the systems."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from collection.errors import InputError
from collection.expected_judgements.grades import draw_grades, grade_probabilities
from collection.expected_judgements.model import Posterior, Scales, fit_scales, infer
from collection.expected_judgements.pairs import Bools, Floats, Ints, Pairs

DecisivePairs = Generator[Ints, Floats, None]
"""Yields indices of pairs to judge next, most decisive first, and is sent their grades."""

FIRST_FIT, FIT_AGAIN = 100, 1.5
"""Number of judgements at which scales are first fitted, and its growth at which they are fitted again."""

IDEALS = 50
"""Draws from which a topic's ideal DCG is estimated."""


def decisive_pairs(
    pairs: Pairs, levels: Sequence[float], *, cutoff: int = 10, batch: int = 50, seed: int = 0
) -> DecisivePairs:
    """Choose pairs, a batch at a time, across all topics, until every one is judged.

    The difference between two systems is a weighted sum of gains. The next pair is the one whose grade reduces the
    variance of these differences most, summed over all pairs of systems, each weighted by how near its difference is to
    0 in standard deviations. Gains weigh as in nDCG: by the discount of the rank, over the expected ideal DCG.

    Unlike the adaptive strategies of :data:`collection.pooling.STRATEGIES`, it chooses across topics, needs grades, and
    asks in batches, between which the model is fitted.

    Source: the criterion follows Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation",
    SIGIR 2006, and optimal design for a Gaussian process (Krause, Singh & Guestrin, JMLR 2008).

    Parameters
    ----------
    levels
        All grades of the scale.
    cutoff
        Lower ranks have no weight; pairs that no run has above it come last.
    batch
        Pairs that are judged between two fits.

    Raises
    ------
    InputError
        A number is below 1, or no grade is above 0.
    """
    scale = np.unique(np.asarray(levels, dtype=np.float64))
    if cutoff < 1 or batch < 1 or not len(scale) or scale[-1] <= 0:
        raise InputError(
            f"expected cut-off and batch of 1 or more and a grade above 0, found {cutoff}, {batch}, {scale.tolist()}"
        )
    scale = scale / scale[-1]
    top = float(max(levels))
    random = np.random.default_rng(seed)
    discounts = pairs.discounts(cutoff)
    gains = np.full(len(pairs.topic), np.nan)
    scales, fit_at = Scales(), FIRST_FIT
    while np.isnan(gains).any():
        count = int((~np.isnan(gains)).sum())
        if count >= fit_at:
            scales, fit_at = fit_scales(pairs, gains, scales), int(count * FIT_AGAIN)
        posterior = infer(pairs, gains, scales)
        probabilities = grade_probabilities(posterior, gains, scale)
        drawn = scale[draw_grades(pairs, posterior, probabilities, IDEALS, random)]
        weights = discounts * _inverse_ideals(pairs, drawn, cutoff)[pairs.topic]
        chosen = _choose(pairs, posterior, probabilities @ scale, weights, np.isnan(gains), batch)
        gains[chosen] = (yield chosen) / top


def _inverse_ideals(pairs: Pairs, drawn: Floats, cutoff: int) -> Floats:
    """(T,) the mean of one over the ideal DCG; a draw with nothing relevant counts 0."""
    inverse = np.zeros(len(pairs.members))
    for topic, rows in enumerate(pairs.members):
        best = -np.sort(-drawn[rows], axis=0)[:cutoff]
        ideal = (best / np.log2(np.arange(2, len(best) + 2))[:, None]).sum(axis=0)
        inverse[topic] = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0).mean()
    return inverse


def _choose(pairs: Pairs, posterior: Posterior, expected: Floats, weights: Floats, unjudged: Bools, batch: int) -> Ints:
    """The pairs whose grades reduce the variance most, each given those before it."""
    # Grades near the ends of the scale vary less than in the Gaussian, as a share near 0 or 1 does.
    middle = np.clip(expected, 0.02, 0.98)
    deviation = np.sqrt(middle * (1 - middle))
    covariances = []
    weights_of = [weights[:, rows] for rows in pairs.members]
    between = np.zeros((len(weights), len(weights)))
    for topic, rows in enumerate(pairs.members):
        known = ~unjudged[rows]
        covariance = posterior.covariance(pairs, topic) * np.outer(deviation[rows], deviation[rows])
        covariance[known] = covariance[:, known] = 0.0
        covariances.append(covariance)
        between += weights_of[topic] @ covariance @ weights_of[topic].T
    contrasts = _contrasts(weights @ expected, between)
    weighted = [contrasts @ weight for weight in weights_of]
    scores = np.empty(len(unjudged))
    free = unjudged.copy()

    def score(topic: int) -> None:
        rows, covariance = pairs.members[topic], covariances[topic]
        reduction = ((weighted[topic] @ covariance) ** 2).sum(axis=0) / (np.diag(covariance) + 1e-9)
        scores[rows] = np.where(free[rows], reduction, -np.inf)

    for topic in range(len(pairs.members)):
        score(topic)
    chosen = []
    for _ in range(min(batch, int(unjudged.sum()))):
        best = int(scores.argmax())
        chosen.append(best)
        free[best] = False
        topic = int(pairs.topic[best])
        place = np.searchsorted(pairs.members[topic], best)
        column = covariances[topic][:, place].copy()
        covariances[topic] -= np.outer(column, column) / (column[place] + 1e-9)
        score(topic)
    return np.array(chosen, dtype=np.int64)


def _contrasts(means: Floats, covariance: Floats) -> Floats:
    """(R, R): rows whose squares sum to the weighted squared differences between all systems.

    The weight of a difference is how fast the probability of a wrong sign falls with its variance.
    """
    own = np.diag(covariance)
    variance = np.maximum(own[:, None] + own - 2 * covariance, 1e-9)
    apart = (means[:, None] - means) ** 2 / variance
    weight = np.exp(-apart / 2) / variance
    np.fill_diagonal(weight, 0.0)
    weight /= max(float(weight.max(initial=0)), 1e-300)
    values, vectors = np.linalg.eigh(np.diag(weight.sum(axis=1)) - weight)
    contrasts: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return contrasts
