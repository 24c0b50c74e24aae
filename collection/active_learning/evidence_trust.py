"""Trust in a topic's evidence: weights of runs and labels relative to the text model, measured on its examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
"""Trust in the distance from 0 to the highest label, if the labels fully agree with other evidence.

On a scale of 0 to 3, a grade weighs 4 standard scores of the text, with a precision of 1. Chosen with the agreement by
replays on 16 topics of TREC DL 2019 with real labels of a strong and of a weak judge (GPT-4o, Llama 3.2), and on 20
topics of Cranfield. A trust of 18 costs the weak judge 4% more, and the strong one the same.
"""

DEVIATIONS = 2.0
"""Standard errors by which the mean correlation of labels with other evidence has to exceed 0."""

FULL_AGREEMENT = 0.3
"""Mean correlation, less these standard errors, from which labels have their full trust.

Real labels of 7 judges of TREC DL 2019 correlate by .24 to .42 with BM25, drawn ones on Cranfield and Vaswani, which
err regardless of the text, by .01 to .06, and random ones by 0 within a standard error, which is .004 to .01.
"""

SURE_DEVIATIONS = 3.0, 5.0
SURE_AGREEMENT = 0.3
"""Standard errors from which labels certainly agree, however little: their agreement rises from 0 at the first number
to at least this one at the second. Of 1,000 random sets, 1 reaches the first.

Chosen on 20 topics of Cranfield, on text alone, with drawn labels of a strong and of a weak judge: with this agreement,
they save 8% and 4% of the judgements to 90% recall, and 2% and 3% with an agreement of .08.
"""

UNDECIDED = 0.01
"""Agreement of labels while their correlations are too few or too noisy to tell: nothing is expected of them, but they
can earn trust by judgements."""

LEAST_AGREEMENT = 0.1
"""Agreement that determines the inertia of labels that hardly agree with other evidence."""


class Correlation(NamedTuple):
    """Spearman's correlation of labels with evidence that does not rest on judgements, in one topic."""

    value: float
    documents: int
    """Number of documents with a label, at least 2."""


def correlate(labels: Floats, *evidence: Floats32) -> Correlation | None:
    """Correlate labels of documents with the first evidence that tells the documents apart.

    Parameters
    ----------
    labels, *evidence
        (n,) of the same documents.

    Returns
    -------
    Correlation
        None if all labels are the same, or all values of each evidence.
    """
    from scipy.stats import rankdata

    scores = next((each for each in evidence if len(each) and np.ptp(each)), None)
    if scores is None or np.ptp(labels) == 0:
        return None
    return Correlation(float(np.corrcoef(rankdata(labels), rankdata(scores))[0, 1]), len(labels))


def measure_agreement(topics: Iterable[Correlation]) -> float:
    """Measure how far the labels of a set agree with other evidence, from 0 to 1.

    Labels that say something of relevance agree with other evidence of it, and random ones do not. So it is known
    before anybody judges whether labels are worth a try. One topic tells little, since the correlation of random labels
    of n documents has a variance of 1 / (n - 1); all topics of a set together tell a lot. So the agreement is that of
    the set, in every topic: on the 16 topics of TREC DL 2019 that chose the constants, the strong judge then saves 23%
    on text alone, and 17% with the agreement of each topic alone. The mean over topics and its standard error are those
    of a random-effects model (DerSimonian & Laird, 1986): a set that agrees in some topics only is trusted less in all.

    Parameters
    ----------
    topics
        :func:`correlate` of each topic in which the labels of the set differ.

    Returns
    -------
    float
        The mean correlation less :data:`DEVIATIONS` standard errors, as a share of :data:`FULL_AGREEMENT`; more if it
        is small, but certain (:data:`SURE_AGREEMENT`). If it is not above 0, 0 for labels that do not agree, and
        :data:`UNDECIDED` if the mean plus these standard errors is half of the full agreement or more.
    """
    listed = list(topics)
    if not listed:
        return UNDECIDED
    values, documents = np.array(listed, dtype=np.float64).T
    variance = 1 / (documents - 1)
    weights = 1 / variance
    spread = weights.sum() - (weights**2).sum() / weights.sum()  # 0 for one topic
    excess = (weights * (values - np.average(values, weights=weights)) ** 2).sum() - (len(values) - 1)
    weights = 1 / (variance + max(0.0, excess / max(spread, 1e-9)))
    mean, error = np.average(values, weights=weights), weights.sum() ** -0.5
    share = float(np.clip((mean - DEVIATIONS * error) / FULL_AGREEMENT, 0, 1))
    share = max(share, SURE_AGREEMENT * float(np.interp(mean / error, SURE_DEVIATIONS, (0, 1))))
    share = round(share, 2)  # so that a label more, of any topic, seldom changes the order of all others
    return max(share, UNDECIDED) if mean + DEVIATIONS * error >= FULL_AGREEMENT / 2 else share


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
