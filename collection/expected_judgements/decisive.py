"""Choice of the pairs that best tell systems apart."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from collection.errors import InputError
from collection.expected_judgements.grades import draw_grades, grade_probabilities, scale_gains
from collection.expected_judgements.model import Posterior, Scales, fit_scales, infer
from collection.expected_judgements.pairs import Bools, Floats, Ints, Pairs

DecisivePairs = Generator[Ints, Floats, None]
"""Generator that yields the numbers of pairs to judge next, most decisive first, and is sent their grades."""

IDEALS = 50
"""Number of draws for the estimate of a topic's ideal DCG."""


def choose_decisive(
    pairs: Pairs,
    grades: Floats,
    levels: Sequence[float],
    *,
    cutoff: int = 10,
    batch: int = 50,
    seed: int = 0,
    unavailable: Bools | None = None,
) -> Ints:
    """Choose the pairs whose grades best tell systems apart, given the grades so far.

    The difference between two systems is a weighted sum of gains. The next pair is the one whose grade reduces the
    variance of these differences most, summed over all pairs of systems. Differences near 0, in standard deviations,
    weigh more. Gains are weighted as in nDCG: by the discount of the rank, divided by the expected ideal DCG.

    Equal arguments give equal choices: nothing depends on the order of judging.

    Source: the criterion follows Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation",
    SIGIR 2006, and optimal design for a Gaussian process (Krause, Singh & Guestrin, JMLR 2008).

    Parameters
    ----------
    pairs
        The pool of N pairs, from :func:`describe`.
    grades
        (N,) float64, in the order of ``pairs.frame``: the grade of each judged pair, nan for the others.
    levels
        All grades of the scale.
    cutoff
        Deepest rank with weight; pairs below it in all runs come last.
    batch
        Number of pairs to choose; fewer if fewer are left.
    seed
        Random seed.
    unavailable
        (N,) unjudged pairs that cannot be judged now. They are not chosen, but their grades remain unknown.

    Returns
    -------
    (k,) int64
        Rows of ``pairs.frame`` to judge, most decisive first; empty if no pair is left.

    Raises
    ------
    InputError
        `cutoff` or `batch` is below 1, no grade is above 0, a grade is not in `levels`, or an array has another shape.

    Examples
    --------
    Two runs that return the same documents in opposite orders: the one in the middle cannot tell them apart.

    >>> import pandas as pd
    >>> from collection.expected_judgements import choose_decisive, describe
    >>> from collection.records import Run
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
    >>> runs = [Run("a", frame), Run("b", frame.assign(score=[1.0, 2.0, 3.0]))]
    >>> pairs = describe(frame, runs)
    >>> int(choose_decisive(pairs, np.array([0.0, np.nan, np.nan]), [0, 1], batch=1)[0])
    2
    """
    if cutoff < 1 or batch < 1:
        raise InputError(f"expected a cut-off and a batch of 1 or more, found cut-off {cutoff} and batch {batch}")
    scale, gains = scale_gains(pairs, grades, levels)
    if scale[-1] <= 0:
        raise InputError(f"levels: expected a grade above 0, found {scale.tolist()}")
    scale = scale / scale[-1]
    free = np.isnan(gains)
    if unavailable is not None:
        if unavailable.shape != free.shape:
            raise InputError(f"unavailable: expected shape {free.shape}, found {unavailable.shape}")
        free &= ~unavailable
    scales = Scales() if np.isnan(gains).all() else fit_scales(pairs, gains)
    posterior = infer(pairs, gains, scales)
    probabilities = grade_probabilities(posterior, gains, scale)
    drawn = scale[draw_grades(pairs, posterior, probabilities, IDEALS, np.random.default_rng(seed))]
    weights = pairs.discounts(cutoff) * _inverse_ideals(pairs, drawn, cutoff)[pairs.topic]
    return _choose(pairs, posterior, probabilities @ scale, weights, np.isnan(gains), free, batch)


def decisive_pairs(
    pairs: Pairs, levels: Sequence[float], *, cutoff: int = 10, batch: int = 50, seed: int = 0
) -> DecisivePairs:
    """Choose the pairs to judge next, in batches across all topics, until every pair is judged.

    Unlike the adaptive strategies of :data:`collection.pooling.STRATEGIES`, this one chooses across topics, needs
    grades, and asks in batches, after each of which the model is updated. The parameters are those of
    :func:`choose_decisive`.

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
    grades = np.full(len(pairs.topic), np.nan)
    while len(chosen := choose_decisive(pairs, grades, levels, cutoff=cutoff, batch=batch, seed=seed)):
        grades[chosen] = yield chosen


def _inverse_ideals(pairs: Pairs, drawn: Floats, cutoff: int) -> Floats:
    """(T,) mean of one over the ideal DCG; draws without a relevant document count as 0."""
    inverse = np.zeros(len(pairs.members))
    for topic, rows in enumerate(pairs.members):
        best = -np.sort(-drawn[rows], axis=0)[:cutoff]
        ideal = (best / np.log2(np.arange(2, len(best) + 2))[:, None]).sum(axis=0)
        inverse[topic] = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0).mean()
    return inverse


def _choose(
    pairs: Pairs, posterior: Posterior, expected: Floats, weights: Floats, unjudged: Bools, free: Bools, batch: int
) -> Ints:
    """The free pairs whose grades reduce the variance most, each given those chosen before it."""
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
    free = free.copy()

    def score(topic: int) -> None:
        rows, covariance = pairs.members[topic], covariances[topic]
        reduction = ((weighted[topic] @ covariance) ** 2).sum(axis=0) / (np.diag(covariance) + 1e-9)
        scores[rows] = np.where(free[rows], reduction, -np.inf)

    for topic in range(len(pairs.members)):
        score(topic)
    chosen = []
    for _ in range(min(batch, int(free.sum()))):
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
