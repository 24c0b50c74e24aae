"""Combined values of systems: corrections by people's grades, shrunk to what labels and ranks predict.

A corrected value is right on average, but with few judgements its error is large: each sampled pair stands for many
others. A predicted value errs little by chance, but may be wrong for a kind of system. The combined value weighs both.
The level, that is the mean over the systems, is the corrected one. Differences between systems are shrunk to the
predicted ones, by as much as the errors of the two sides tell (best linear unbiased prediction).

The errors of the predicted differences are taken as random, with four sources: pairs that nobody judged, each on its
own; errors that pairs of the same systems share, as if labels favour one kind of system (:data:`SHARED`); a scale that
is too small or too large (:data:`SCALE_ERROR`); and labels that deserve more or less than their share
(:data:`SHARE_ERROR`). For a single system, a combined value is biased. Its 95% intervals hold in 95% of the systems on
average, not for each system.

Sources: Henderson, Biometrics 1975, and Robinson, Statistical Science 1991, for the prediction; Morris, Journal of the
American Statistical Association 1983, for intervals that hold on average; Fay & Herriot, Journal of the American
Statistical Association 1979, for corrections of small areas that are shrunk to predictions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from collection.core.arrays import Floats

SHARED, SHARED_IN_INTERVALS = 6.0, 10.0
"""Least variance of the errors that pairs of the same systems share, as a multiple of that of single pairs: for the
values, and for their intervals. The values follow the predictions further than their intervals trust these: the errors
of corrections have long tails, so the order by the values is better for it."""

SHARED_ERROR, LEAST_SHARED = 10.0, 2.0
"""Standard error of the multiple in intervals before corrections tell more, and its lower bound."""

SEEN = 0.65
"""Share of the squared errors of predictions that corrections show: a model fitted to the sample errs with it."""

SHARED_MOST, SHARED_STEPS = 2000.0, 15
"""Largest such multiple that is tried, and the number of those that are."""

TINY = 1e-12
"""Sum of variances up to which every grade counts as known."""

SCALE_ERROR = 0.3
"""Standard error of the scale of the predicted differences."""

LABELS_SHARE, SHARE_ERROR = 0.5, 0.3
"""Weight of the differences by labels in the predicted ones, and its standard error: the corrections move it."""


class CombinedValues(NamedTuple):
    """Combined values of R systems."""

    values: Floats
    """(R,)"""
    parts: Floats
    """(R, n + R) independent parts of their errors."""


def combine(
    predicted: Floats, shifts: Floats | None, parts: Floats, unjudged: Floats, labels: Floats | None = None
) -> CombinedValues:
    """Combine predicted values with their corrections.

    Parameters
    ----------
    predicted
        (R,) values that predictions give, with known grades where people have judged.
    shifts
        (R,) corrections: a corrected value is the sum of both. None in a plan, before anybody has judged.
    parts
        (R, n) independent parts of the errors of the corrections.
    unjudged
        (R, R) covariance of the predicted values by the unknown grades of the pairs that nobody judged.
    labels
        (R,) values by machine labels, with known grades where people have judged. A model of people's grades that has
        seen few of them errs in its own way, so about half of the predicted differences are those by labels, brought
        to the same scale; the corrections tell whether it is more or less.

    Examples
    --------
    Without errors of the corrections, they are taken as they are; without unknown grades, only the level is.

    >>> predicted, shifts = np.array([0.5, 0.4]), np.array([0.1, -0.1])
    >>> combine(predicted, shifts, np.zeros((2, 1)), np.eye(2)).values.round(6).tolist()
    [0.6, 0.3]
    >>> combine(predicted, shifts, np.eye(2), np.eye(2) * 1e-12).values.round(2).tolist()
    [0.5, 0.4]
    """
    number, known = len(predicted), shifts is not None
    shifts = np.zeros(number) if shifts is None else shifts
    if number < 2:
        return CombinedValues(predicted + shifts, np.hstack([parts, np.zeros((number, number))]))
    basis = np.linalg.eigh(np.eye(number) - 1 / number)[1][:, 1:]  # contrasts of the systems
    seen, own = basis.T @ parts, basis.T @ unjudged @ basis
    by_model = basis.T @ predicted
    by_labels = by_model if labels is None else _rescale(basis.T @ labels, by_model)
    differences = (1 - LABELS_SHARE) * by_model + LABELS_SHARE * by_labels
    sampling = seen @ seen.T
    observed = basis.T @ (predicted + shifts) - differences
    # The square has most of its weight where many systems err together.
    square = own @ own
    shared = square * (np.trace(own) / max(np.trace(square), 1e-300))
    common = np.stack([SCALE_ERROR * differences, SHARE_ERROR * (by_labels - by_model)])
    fixed = own + common.T @ common
    prior = fixed + _multiple(observed, sampling + fixed, shared) * shared
    multiple = _multiple_in_intervals(observed, sampling, fixed, shared) if known else SHARED_IN_INTERVALS
    weights = prior @ np.linalg.pinv(sampling + prior, rcond=1e-9, hermitian=True)
    spread, directions = np.linalg.eigh(fixed + multiple * shared)
    bias = (np.eye(number - 1) - weights) @ directions * np.sqrt(np.maximum(spread, 0))
    level = parts.mean(axis=0)
    values = (predicted + shifts).mean() + basis @ (differences + weights @ observed)
    errors = np.hstack([level + basis @ (weights @ seen), basis @ bias, np.zeros((number, 1))])
    return CombinedValues(values, errors)


def _rescale(labels: Floats, predicted: Floats) -> Floats:
    """(R - 1,) contrasts by labels on the scale of the predicted ones; these if labels tell no systems apart."""
    size = float(np.linalg.norm(labels))
    if not size > 1e-9:  # also not a number
        return predicted
    rescaled: Floats = labels * (np.linalg.norm(predicted) / size)
    return rescaled


def _multiple(observed: Floats, variance: Floats, shared: Floats) -> float:
    """The multiple of the shared variance under which the observed corrections are likeliest, at least SHARED."""
    candidates = np.geomspace(SHARED, SHARED_MOST, SHARED_STEPS)
    likelihoods = []
    for candidate in candidates:
        spread, directions = np.linalg.eigh(variance + candidate * shared)
        positive = spread > 1e-9 * max(spread[-1], 1e-300)
        squares = np.square(directions[:, positive].T @ observed) / spread[positive]
        likelihoods.append(-(np.log(spread[positive]).sum() + squares.sum()) / 2)
    return float(candidates[int(np.argmax(likelihoods))])


def _multiple_in_intervals(observed: Floats, sampling: Floats, fixed: Floats, shared: Floats) -> float:
    """The multiple of the shared variance in intervals: SHARED_IN_INTERVALS, moved by the size of the corrections."""
    size = float(np.trace(shared))
    if size < TINY:
        return SHARED_IN_INTERVALS
    # The squares of the corrections beyond those of their sampling errors, with the variance of this sum.
    found = float(observed @ observed - np.trace(sampling)) / (SEEN * size) - 1
    total = sampling + fixed + SHARED_IN_INTERVALS * shared
    variance = 2 * float(np.square(total).sum()) / (SEEN * size) ** 2
    moved = (found - SHARED_IN_INTERVALS) * SHARED_ERROR**2 / (SHARED_ERROR**2 + variance)
    return max(LEAST_SHARED, SHARED_IN_INTERVALS + moved)
