"""Probabilities of people's grades, predicted from machine labels, ranks and topics by cross-fitting.

Cross-fitting: the prediction for a judged pair comes from models that did not see its grade, so its error is as large
as for pairs that nobody judged. Source: Zrnic & Candès, "Cross-prediction-powered inference", PNAS 2024.
"""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Bools, Floats, Ints

FOLDS = 5

TINY = 1e-9
"""Smallest standard deviation of labels that is not 0."""

LEAST = 1e-4
"""Lower bound of the probability of a grade, since the few grades of a sample never make one impossible."""


def nearest_grades(labels: Floats, levels: Floats) -> Ints:
    """(N,) number of the grade nearest to each label, the lower one half way; 0 without a label.

    The nearest, since labels with a fraction, from rules and clicks, estimate a grade: rounding down would make all of
    them too low, such as a click probability of .9 not relevant.

    >>> nearest_grades(np.array([0.9, 1.5, 1.6, 7.0, np.nan]), np.array([0.0, 1.0, 2.0])).tolist()
    [1, 1, 2, 2, 0]
    """
    # Half way the lower grade, since most pairs of a pool have it.
    return np.abs(np.nan_to_num(labels)[:, None] - levels).argmin(axis=1)


def label_steps(labels: Floats, levels: Floats) -> Floats:
    """(N, L - 1) whether each label reaches each step of the scale, as 0 or 1; see :func:`nearest_grades`."""
    steps: Floats = (nearest_grades(labels, levels)[:, None] >= np.arange(1, len(levels))).astype(np.float64)
    return steps


def describe_labels(labels: Floats | None, topic: Ints, ranks: Floats, levels: Floats) -> Floats:
    """(N, F) features of pairs: ranks, topic, and each label as it is and beside its topic's mean.

    With several label sets, the mean of the standardised labels is a feature too, since most of what they tell is
    common to them.

    Parameters
    ----------
    labels
        (N,) machine labels, nan without one, or (N, J) of J label sets; None to predict without labels.
    topic
        (N,) number of the topic.
    ranks
        (N, k) features of the ranks, standardised within the topic (:attr:`collection.expected_judgements.Pairs`).
    levels
        (L,) grades of the scale.
    """
    topics = np.eye(int(topic.max(initial=0)) + 1)[topic]
    if labels is None:
        return np.hstack([ranks, topics])
    sets = labels[:, None] if labels.ndim == 1 else labels
    known = ~np.isnan(sets)
    given = np.where(known, sets, 0.0)
    mean = (topics.T @ given) / np.maximum(topics.T @ known, 1)
    beside = np.where(known, given - mean[topic], 0.0)
    one_of = [
        np.eye(len(levels))[nearest_grades(each, levels)] * ~np.isnan(each)[:, None]  # all 0 without a label
        for each in sets.T
    ]
    several = [_mean_label(given, known)] if sets.shape[1] > 1 else []
    return np.hstack([ranks, *one_of, beside, *several, topics])


def _mean_label(given: Floats, known: Bools) -> Floats:
    """(N, 1) mean over J label sets, each standardised over the pairs that have a label."""
    number = np.maximum(known.sum(axis=0), 1)
    apart = np.where(known, given - given.sum(axis=0) / number, 0.0)
    spread = np.sqrt(np.square(apart).sum(axis=0) / number)
    mean: Floats = (apart / np.maximum(spread, TINY)).mean(axis=1, keepdims=True)
    return mean


def predict_steps(features: Floats, rows: Ints, grades: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Probability that people's grade of each pair reaches each step of the scale.

    Parameters
    ----------
    features
        (N, F) of all pairs.
    rows, grades
        (n,) numbers of the judged pairs and their grades, in an order that does not depend on the grades.
    levels
        (L,) grades of the scale, ascending.

    Returns
    -------
    tuple
        (N, L - 1) for all pairs, the mean of the models, and (n, L - 1) for the judged ones, each from the models that
        did not see it.
    """
    from sklearn.linear_model import LogisticRegression

    number = np.searchsorted(levels, grades)
    folds = min(FOLDS, len(rows))
    fold = np.arange(len(rows)) % folds
    everywhere, apart = np.zeros((len(features), len(levels) - 1)), np.zeros((len(rows), len(levels) - 1))
    for each in range(folds):
        held, seen = fold == each, fold != each if folds > 1 else fold == each
        probability = np.full((len(features), len(levels)), LEAST)
        known = np.unique(number[seen])
        if len(known) == 1:
            probability[:, known[0]] = 1.0
        else:
            model = LogisticRegression(solver="newton-cholesky").fit(features[rows[seen]], number[seen])
            probability[:, model.classes_] += model.predict_proba(features)
        probability /= probability.sum(axis=1, keepdims=True)
        steps = np.cumsum(probability[:, ::-1], axis=1)[:, ::-1][:, 1:]
        everywhere += steps / folds
        apart[held] = steps[rows[held]]
    return everywhere, apart
