"""Trust in a topic's evidence: weights of runs and labels relative to the text model, measured on its examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from collection.core.arrays import Bools, Floats, Floats32


class ExpectedTrust(NamedTuple):
    """Trust to expect of one kind of evidence, from other topics."""

    trust: float
    """Trust before a relevant document is found."""
    halved_by: float
    """Number of relevant documents that halves it."""
    precision: float
    """Inverse variance of the measured trust around the expected one: the inertia of the trust."""
    most: float
    """Maximum trust: a few documents that the evidence ranked high and the text low say little about the ratio."""

    def after(self, relevant: int) -> float:
        """Return the trust to expect after this number of relevant documents."""
        return self.trust / (1 + relevant / self.halved_by)


RUNS = ExpectedTrust(trust=1.5, halved_by=6, precision=10, most=6)
"""Trust in a unit of the runs' prior.

Chosen by replays on Cranfield, with fifteen generated runs and with fifteen others that are shallow and alike, Vaswani
and TREC DL 2019. A trust of 1 to 2, halved by 6 to 30 relevant documents, costs within 2% of the best. With a precision
of 3, runs of another topic cost less, but good runs on Cranfield gain less: most of its topics have few relevant
documents. With 30, both are the other way round.
"""

LABELS = ExpectedTrust(trust=12, halved_by=np.inf, precision=1 / 9, most=24)
"""Trust in the distance from 0 to the highest label, if the labels agree with other evidence.

On a scale of 0 to 3, a grade weighs 4 standard scores of the text, with a precision of 1. Chosen with the agreement by
replays on 16 topics of TREC DL 2019 with real labels of a strong and of a weak judge and with shuffled ones, and on 20
topics of Cranfield. Weights of 2.5 to 4 for a grade and precisions of 0.5 to 5 cost within 5% of each other there.
"""

USUAL_DEVIATIONS, FULL_DEVIATIONS = 1.0, 3.0
"""Agreement of labels with other evidence, in standard deviations of random labels, up to which they are expected to
say nothing, and from which they have their full trust.

Without regard to the agreement, random labels cost 4% more judgements on TREC DL 2019, and up to 8% more on Cranfield.
"""

LEAST_AGREEMENT = 0.1
"""Agreement that determines the inertia of labels that do not agree with other evidence."""


def measure_agreement(labels: Floats32, scores: Floats32) -> float:
    """Measure how far labels agree with scores that do not rest on judgements, such as the ranks of runs and BM25.

    Labels that say something of relevance agree with other evidence of it, and random ones do not. So it is known
    before anybody judges whether labels are worth a try.

    Parameters
    ----------
    labels, scores
        (n,) of the same documents.

    Returns
    -------
    float
        Spearman's correlation in its standard deviations for random labels, from 0 at USUAL_DEVIATIONS to 1 at
        FULL_DEVIATIONS; 0 if all labels or all scores are the same.
    """
    from scipy.stats import rankdata

    if len(labels) < 2 or np.ptp(labels) == 0 or np.ptp(scores) == 0:
        return 0.0
    deviations = np.corrcoef(rankdata(labels), rankdata(scores))[0, 1] * np.sqrt(len(labels) - 1)
    return float(np.clip((deviations - USUAL_DEVIATIONS) / (FULL_DEVIATIONS - USUAL_DEVIATIONS), 0, 1))


def expect_of_labels(agreement: float) -> ExpectedTrust:
    """Return the trust to expect of labels with this :func:`measure_agreement`: less, and more firmly, with less."""
    return LABELS._replace(trust=LABELS.trust * agreement, precision=LABELS.precision / max(agreement, LEAST_AGREEMENT))


def measure_trust(
    text: Floats, priors: Floats, relevant: Bools, expected: Sequence[float], kinds: Sequence[ExpectedTrust]
) -> Floats:
    """Measure how much a unit of each prior says about relevance, relative to a unit of the text score.

    Logistic regression with the parameters (a, b, d): the logarithm of the odds of relevance is
    a + b (text + expected x priors) + d x priors, with a normal prior of mean 1 and variance 1 on b, and of mean 0 and
    variance 1 / precision on each d. The trust is expected + d / b. Documents were chosen for their text and priors,
    which biases means and correlations among the judged, but no regression on all of them; documents presumed
    irrelevant are a random sample, of which a few may be relevant.

    Parameters
    ----------
    text
        (n,) standard scores of a text model that has not learned from the document.
    priors
        (n, kinds) :attr:`.Prior.values` of the documents.
    relevant
        (n,).
    expected
        (kinds,) see :meth:`ExpectedTrust.after`; the result if one class is missing.
    kinds
        Kind of each prior.

    Returns
    -------
    array
        (kinds,) from 0 to the maximum of each kind.
    """
    usually = np.array(expected, dtype=np.float64)
    if relevant.all() or not relevant.any():
        return usually
    columns = np.column_stack((np.ones(len(text)), text + priors @ usually, priors))
    usual = np.zeros(columns.shape[1])
    usual[1] = 1
    precision = np.array([1e-3, 1.0, *(kind.precision for kind in kinds)])
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
    return np.clip(usually + weights[2:] / max(weights[1], 0.05), 0, [kind.most for kind in kinds])
