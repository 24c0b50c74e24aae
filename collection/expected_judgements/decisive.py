"""Choice of the pairs that best tell systems apart."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.expected_judgements.grades import draw_grades, expected_gains, number_grades
from collection.expected_judgements.model import infer
from collection.expected_judgements.pairs import Pairs

DecisiveChooser = Generator[Ints, Floats, None]
"""Generator that yields the numbers of pairs to judge next, most decisive first, and is sent their grades."""

RANDOM_SHARE = 0.2
"""Share of each batch that is a random sample, from which the model learns about pairs that decide little."""

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
    weigh more. Gains are weighted as in nDCG: by the discount of the rank, divided by the expected ideal DCG. The last
    fifth of the batch is a random sample.

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
    >>> from collection.core.records import Run
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y", "z"], "score": [3.0, 2.0, 1.0]})
    >>> runs = [Run("a", frame), Run("b", frame.assign(score=[1.0, 2.0, 3.0]))]
    >>> pairs = describe(frame, runs)
    >>> int(choose_decisive(pairs, np.array([0.0, np.nan, np.nan]), [0, 1], batch=1)[0])
    2
    """
    if cutoff < 1 or batch < 1:
        raise InputError(f"expected a cut-off and a batch of 1 or more, found cut-off {cutoff} and batch {batch}")
    scale, numbers = number_grades(pairs, grades, levels)
    free = numbers < 0
    if unavailable is not None:
        if unavailable.shape != free.shape:
            raise InputError(f"unavailable: expected shape {free.shape}, found {unavailable.shape}")
        free &= ~unavailable
    scale = scale / scale[-1]
    # The number of judgements is part of the seed, so that a random sample is not that of the batch before.
    random = np.random.default_rng([seed, int((numbers >= 0).sum())])
    posterior = infer(pairs, numbers, len(scale) - 1)
    expected, covariances = expected_gains(pairs, posterior, scale)
    drawn = scale[draw_grades(pairs, posterior, IDEALS, random)]
    weights = pairs.discounts(cutoff) * _inverse_ideals(pairs, drawn, cutoff)[pairs.topic]
    batch = min(batch, int(free.sum()))
    # Small batches have no random pair, or one, so that the share is right on average.
    size = min(batch, int(RANDOM_SHARE * batch + random.random()))
    sample = random.choice(np.flatnonzero(free), size, replace=False)
    return _choose(pairs, expected, covariances, weights, free, batch, sample)


def decisive_pairs(
    pairs: Pairs, levels: Sequence[float], *, cutoff: int = 10, batch: int = 50, seed: int = 0
) -> DecisiveChooser:
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
    >>> from collection.core.records import Run
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
    pairs: Pairs, expected: Floats, covariances: list[Floats], weights: Floats, free: Bools, batch: int, sample: Ints
) -> Ints:
    """The sample, and the free pairs whose grades reduce the variance most, each given those chosen before it."""
    free, covariances = free.copy(), list(covariances)
    weights_of = [weights[:, rows] for rows in pairs.members]
    between = sum(
        (weight @ covariance @ weight.T for weight, covariance in zip(weights_of, covariances, strict=True)),
        start=np.zeros((len(weights), len(weights))),
    )
    contrasts = _contrasts(weights @ expected, between)
    weighted = [contrasts @ weight for weight in weights_of]
    scores = np.empty(len(free))

    def score(topic: int) -> None:
        rows, covariance = pairs.members[topic], covariances[topic]
        reduction = ((weighted[topic] @ covariance) ** 2).sum(axis=0) / (np.diag(covariance) + 1e-9)
        scores[rows] = np.where(free[rows], reduction, -np.inf)

    def take(pair: int) -> None:
        free[pair] = False
        topic = int(pairs.topic[pair])
        place = np.searchsorted(pairs.members[topic], pair)
        column = covariances[topic][:, place]
        covariances[topic] = covariances[topic] - np.outer(column, column) / (column[place] + 1e-9)
        score(topic)

    for topic in range(len(pairs.members)):
        score(topic)
    for pair in sample:
        take(int(pair))
    chosen = []
    for _ in range(batch - len(sample)):
        chosen.append(int(scores.argmax()))
        take(chosen[-1])
    # The sample is spread evenly, so that judging a part of the batch judges that part of the sample.
    places = [(np.arange(len(part)) + 0.5) / max(len(part), 1) for part in (chosen, sample)]
    return np.array([*chosen, *sample], dtype=np.int64)[np.argsort(np.concatenate(places), kind="stable")]


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
