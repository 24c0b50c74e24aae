"""Choice of the pairs that best tell systems apart."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from collection.errors import InputError
from collection.expected_judgements.grades import draw_grades, grade_probabilities
from collection.expected_judgements.model import Posterior, Scales, fit_scales, infer
from collection.expected_judgements.pairs import Bools, Floats, Ints, Pairs

DecisivePairs = Generator[Ints, Floats, None]
"""Generator that yields the numbers of pairs to judge next, most decisive first, and is sent their grades."""

FIRST_FIT, FIT_AGAIN = 100, 1.5
"""Number of judgements at which scales are first fitted, and the growth after which they are fitted again."""

IDEALS = 50
"""Number of draws for the estimate of a topic's ideal DCG."""


def decisive_pairs(
    pairs: Pairs, levels: Sequence[float], *, cutoff: int = 10, batch: int = 50, seed: int = 0
) -> DecisivePairs:
    """Choose the pairs to judge next, in batches across all topics, until every pair is judged.

    The difference between two systems is a weighted sum of gains. The next pair is the one whose grade reduces the
    variance of these differences most, summed over all pairs of systems. Differences near 0, in standard deviations,
    weigh more. Gains are weighted as in nDCG: by the discount of the rank, divided by the expected ideal DCG.

    Unlike the adaptive strategies of :data:`collection.pooling.STRATEGIES`, this one chooses across topics, needs
    grades, and asks in batches, after each of which the model is updated.

    Source: the criterion follows Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation",
    SIGIR 2006, and optimal design for a Gaussian process (Krause, Singh & Guestrin, JMLR 2008).

    Parameters
    ----------
    pairs
        The pool, from :func:`describe`.
    levels
        All grades of the scale.
    cutoff
        Deepest rank with weight; pairs below it in all runs come last.
    batch
        Number of pairs per batch.
    seed
        Random seed.

    Yields
    ------
    (k,) int64
        Rows of ``pairs.frame`` to judge. Send their grades (k,) to get the next batch.

    Raises
    ------
    InputError
        `cutoff` or `batch` is below 1, or no grade is above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> from collection.expected_judgements import decisive_pairs, describe
    >>> from collection.records import Run
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
    >>> runs = [Run("a", frame), Run("b", frame.assign(score=[1.0, 2.0, 3.0]))]
    >>> chooser = decisive_pairs(describe(frame, runs), [0, 1], batch=2)
    >>> first = next(chooser)
    >>> second = chooser.send(np.array([1.0, 0.0]))
    >>> len(first), len(second)
    (2, 1)
    """
    scale = np.unique(np.asarray(levels, dtype=np.float64))
    if cutoff < 1 or batch < 1 or not len(scale) or scale[-1] <= 0:
        raise InputError(
            "expected a cut-off and a batch of 1 or more and a grade above 0, "
            f"found cut-off {cutoff}, batch {batch} and grades {scale.tolist()}"
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
    """(T,) mean of one over the ideal DCG; draws without a relevant document count as 0."""
    inverse = np.zeros(len(pairs.members))
    for topic, rows in enumerate(pairs.members):
        best = -np.sort(-drawn[rows], axis=0)[:cutoff]
        ideal = (best / np.log2(np.arange(2, len(best) + 2))[:, None]).sum(axis=0)
        inverse[topic] = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0).mean()
    return inverse


def _choose(pairs: Pairs, posterior: Posterior, expected: Floats, weights: Floats, unjudged: Bools, batch: int) -> Ints:
    """The pairs whose grades reduce the variance most, each given those chosen before it."""
    # Grades near the ends of the scale vary less than in the Gaussian, like a share near 0 or 1.
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
    """(R, R) rows whose squares sum to the weighted squared differences between all systems.

    The weight of a difference is the rate at which the probability of a wrong sign falls with its variance.
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
