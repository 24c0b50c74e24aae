"""Probabilities of people's grades, predicted from machine labels, ranks and topics by cross-fitting.

Cross-fitting: the prediction for a judged pair comes from models that did not see its grade, so its error is as large
as for pairs that nobody judged. Source: Zrnic & Candès, "Cross-prediction-powered inference", PNAS 2024.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FOLDS = 5

LEAST = 1e-4
"""Lower bound of the probability of a grade, since the few grades of a sample never make one impossible."""


def describe_labels(labels: Floats | None, topic: Ints, ranks: Floats, levels: Floats) -> Floats:
    """(N, F) features of pairs: ranks, topic, and the label as it is and beside its topic's mean.

    Parameters
    ----------
    labels
        (N,) machine labels, nan without one; None to predict without labels.
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
    known = ~np.isnan(labels)
    given = np.where(known, labels, 0.0)
    number = np.bincount(topic[known], minlength=topics.shape[1])
    mean = np.bincount(topic, given, topics.shape[1]) / np.maximum(number, 1)
    beside = np.where(known, given - mean[topic], 0.0)
    # The nearest grade, since labels from clicks and rules have fractions; a pair without a label has no one.
    nearest = np.abs(given[:, None] - levels).argmin(axis=1)
    one_of = np.eye(len(levels))[nearest] * known[:, None]
    return np.hstack([ranks, one_of, beside[:, None], topics])


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
