"""Trust in a topic's runs: the weight of their prior relative to the text model, measured on the topic's examples."""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Bools, Floats

TRUST, HALVED_BY = 1.5, 6.0
"""Trust expected before a relevant document is found; number of relevant documents that halves it.

Chosen with PRECISION by replays on Cranfield, with fifteen generated runs and with fifteen others that are shallow and
alike, Vaswani and TREC DL 2019. A trust of 1 to 2, halved by 6 to 30 relevant documents, costs within 2% of the best.
"""

PRECISION = 10.0
"""Inverse variance of the measured weight of the prior around the expected one: the inertia of the trust.

With 3, runs of another topic cost less, but good runs on Cranfield gain less: most of its topics have few relevant
documents. With 30, both are the other way round.
"""

MOST = 6.0
"""Maximum trust: a few documents that the runs ranked high and the text low say little about the ratio of weights."""


def expect_trust(relevant: int) -> float:
    """Trust to expect of a topic's runs after this number of relevant documents, from other topics."""
    return TRUST / (1 + relevant / HALVED_BY)


def measure_trust(text: Floats, prior: Floats, relevant: Bools, expected: float) -> float:
    """Measure how much a unit of the prior says about relevance, relative to a unit of the text score.

    Logistic regression with the parameters (a, b, d): the logarithm of the odds of relevance is
    a + b (text + expected x prior) + d x prior, with a normal prior of mean 1 and variance 1 on b, and of mean 0 and
    variance 1 / PRECISION on d. The trust is expected + d / b. Documents were chosen for their text and prior, which
    biases means and correlations among the judged, but no regression on both; documents presumed irrelevant are a
    random sample, of which a few may be relevant.

    Parameters
    ----------
    text
        (n,) standard scores of a text model that has not learned from the document.
    prior
        (n,) :attr:`.Space.prior` of the documents.
    relevant
        (n,).
    expected
        See :func:`expect_trust`; the result if one class is missing.
    """
    if relevant.all() or not relevant.any():
        return expected
    columns = np.column_stack((np.ones(len(text)), text + expected * prior, prior))
    usual, precision = np.array([0.0, 1.0, 0.0]), np.array([1e-3, 1.0, PRECISION])
    weights = usual.copy()
    for _ in range(20):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        slope = columns.T @ (chance - relevant) + precision * (weights - usual)
        curvature = (columns.T * (chance * (1 - chance))) @ columns + np.diag(precision)
        step = np.linalg.solve(curvature, slope)
        largest = float(np.abs(step).max())
        weights -= step * min(1.0, 4 / max(largest, 1e-9))  # Newton's method can overshoot at the start
        if largest < 1e-5:
            break
    # With a text score that says nothing the ratio has no bound.
    return float(np.clip(expected + weights[2] / max(weights[1], 0.05), 0, MOST))
