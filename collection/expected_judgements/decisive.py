"""Which pairs to judge so that the systems' order comes out: judgements where they decide."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from collection.errors import InputError
from collection.expected_judgements.grades import chances, draw
from collection.expected_judgements.model import Belief, Scales, believe, fitted
from collection.expected_judgements.pairs import Bools, Floats, Ints, Pairs

DecisivePairs = Generator[Ints, Floats, None]
"""Yields numbers of pairs to judge next, most decisive first, and is sent their grades."""

FIRST_FIT, FIT_AGAIN = 100, 1.5
"""From how many judgements on scales are fitted, and by what factor they must have grown to fit them again."""

IDEALS = 50
"""Draws from which the worth of a topic's ideal ranking is taken."""


def decisive_pairs(
    pairs: Pairs, levels: Sequence[float], *, cutoff: int = 10, batch: int = 50, seed: int = 0
) -> DecisivePairs:
    """Choose pairs, a batch at a time, across all topics, until every one is judged.

    The difference between two systems is a weighted sum of gains, and what is not known of it is its variance. The
    next pair is the one whose grade takes most of the variance away, summed over all pairs of systems, each
    weighted by how near its difference is to 0 in standard deviations: between systems that are far apart nothing is
    left to be decided. Gains weigh as in nDCG: by the discount of the rank, over the expected ideal of the topic.

    This is a strategy like those of :data:`collection.pooling.ADAPTIVE`, but no member: it chooses across topics,
    wants grades and not only whether a document is relevant, and asks in batches, since a model is fitted between them.

    Source: the criterion follows Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation",
    SIGIR 2006, and optimal design for a Gaussian process (Krause, Singh & Guestrin, JMLR 2008).

    Parameters
    ----------
    pairs
        What may be judged.
    levels
        All grades that there are.
    cutoff
        Ranks below it have no weight; pairs that no run has above it come last.
    batch
        How many are judged between two fits.
    seed
        Of the draws that give the ideal rankings their worth.

    Raises
    ------
    InputError
        A number is below 1, or there is no grade above 0.
    """
    scale = np.unique(np.asarray(levels, dtype=np.float64))
    if cutoff < 1 or batch < 1 or not len(scale) or scale[-1] <= 0:
        raise InputError(
            f"wanted a cut-off and a batch of 1 or more and a grade above 0, found {cutoff}, {batch}, {scale.tolist()}"
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
            scales, fit_at = fitted(pairs, gains, scales), int(count * FIT_AGAIN)
        belief = believe(pairs, gains, scales)
        chance = chances(belief, gains, scale)
        worth = _worth(pairs, scale[draw(pairs, belief, chance, IDEALS, random)], cutoff)
        chosen = _most_decisive(pairs, belief, chance @ scale, discounts * worth[pairs.topic], np.isnan(gains), batch)
        gains[chosen] = (yield chosen) / top


def _worth(pairs: Pairs, drawn: Floats, cutoff: int) -> Floats:
    """(T,) the mean of one over the DCG of the ideal ranking; a draw with nothing relevant counts 0."""
    made = np.zeros(len(pairs.members))
    for topic, rows in enumerate(pairs.members):
        best = -np.sort(-drawn[rows], axis=0)[:cutoff]
        ideal = (best / np.log2(np.arange(2, len(best) + 2))[:, None]).sum(axis=0)
        made[topic] = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0).mean()
    return made


def _most_decisive(
    pairs: Pairs,
    belief: Belief,
    expected: Floats,
    weights: Floats,
    unjudged: Bools,
    batch: int,
) -> Ints:
    """The pairs whose grades take most variance away, each given those before it."""
    # Grades near the ends of the scale vary less than a Gaussian thinks: as a share near 0 or 1 does.
    middle = np.clip(expected, 0.02, 0.98)
    uneven = np.sqrt(middle * (1 - middle))
    covariances = []
    for topic, rows in enumerate(pairs.members):
        known = ~unjudged[rows]
        covariance = belief.covariance(pairs, topic) * np.outer(uneven[rows], uneven[rows])
        covariance[known] = covariance[:, known] = 0.0
        covariances.append(covariance)
    of_topic = [weights[:, rows] for rows in pairs.members]
    between = np.zeros((len(weights), len(weights)))
    for weight, covariance in zip(of_topic, covariances, strict=True):
        between += weight @ covariance @ weight.T
    contrasts = _contrasts(weights @ expected, between)
    pulls = [contrasts @ weight for weight in of_topic]
    scores = np.empty(len(unjudged))
    free = unjudged.copy()

    def score(topic: int) -> None:
        rows, covariance = pairs.members[topic], covariances[topic]
        taken = ((pulls[topic] @ covariance) ** 2).sum(axis=0) / (np.diag(covariance) + 1e-9)
        scores[rows] = np.where(free[rows], taken, -np.inf)

    for topic in range(len(pairs.members)):
        score(topic)
    chosen = []
    for _ in range(min(batch, int(unjudged.sum()))):
        best = int(scores.argmax())
        chosen.append(best)
        free[best] = False
        topic = int(pairs.topic[best])
        column = covariances[topic][:, np.searchsorted(pairs.members[topic], best)].copy()
        variance = column[np.searchsorted(pairs.members[topic], best)] + 1e-9
        covariances[topic] -= np.outer(column, column) / variance
        score(topic)
    return np.array(chosen, dtype=np.int64)


def _contrasts(means: Floats, covariance: Floats) -> Floats:
    """(R, R): rows whose squares add up to the weighted differences between all systems.

    A difference weighs as much as the chance that its sign is wrong falls with its variance.
    """
    own = np.diag(covariance)
    variance = np.maximum(own[:, None] + own - 2 * covariance, 1e-9)
    apart = (means[:, None] - means) ** 2 / variance
    weight = np.exp(-apart / 2) / variance
    np.fill_diagonal(weight, 0.0)
    weight /= max(float(weight.max(initial=0)), 1e-300)
    values, vectors = np.linalg.eigh(np.diag(weight.sum(axis=1)) - weight)
    made: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return made
