"""Measures for incomplete judgements."""

from __future__ import annotations

from functools import partial

import numpy as np

from collection.core.arrays import Bools, Floats
from collection.measures.aligned import UNJUDGED, UNPOOLED, Aligned, RelevantRanks, Sample, places
from collection.measures.table import MEASURES, Positive
from collection.measures.trace import divide, show

_add = partial(MEASURES.add, estimates_unjudged=True)

EPSILON = 1e-5
"""Keeps a precision of 0 / 0 defined (trec_eval's INFAP_EPSILON)."""


@_add(
    "bpref",
    label="bpref",
    description="How rarely documents judged not relevant rank above relevant ones.",
    differs={
        "ranx": "undefined for a topic without a document judged not relevant; "
        "a topic without a relevant document can make the values of other topics 0"
    },
)
def bpref(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """bpref = (1/R) * sum over retrieved relevant d of 1 - min(n above d, R) / min(N, R).

    N is the number of documents judged not relevant, n the number of those above d; unjudged documents are ignored.
    The term of a relevant document with n = 0 is 1. ir_measures calls it Bpref.
    Source: Buckley & Voorhees, SIGIR 2004, in the form of trec_eval since version 8.
    """
    number = aligned.relevant(rel)
    return _preferences(aligned, rel, number, np.minimum(aligned.nonrelevant(rel), number))


@_add("bpref10", label="bpref-10", description="bpref for topics with very few relevant documents.")
def bpref10(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """bpref10 = (1/R) * sum over retrieved relevant d of 1 - min(n above d, R + 10) / (R + 10).

    n is the number of documents judged not relevant above d. The paper writes bpref-10.
    Source: Buckley & Voorhees, SIGIR 2004.
    """
    number = aligned.relevant(rel)
    return _preferences(aligned, rel, number + 10, number + 10)


@_add(
    "GMbpref",
    label="Geometric mean of bpref",
    description="Geometric mean of bpref over topics, which emphasises hard topics.",
    summary="geometric mean",
)
def geometric_bpref(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """GMbpref = (product of bpref over the T topics)^(1/T); a bpref below 0.00001 counts as 0.00001.

    The value of one topic is its bpref. Source: Buckley, trec_eval (gm_bpref), 2008.
    """
    return bpref(aligned, rel=rel)


def _preferences(aligned: Aligned, rel: float, most: np.ndarray, divisor: np.ndarray) -> Floats:
    """The mean over relevant documents of 1 - min(nonrelevant above, most) / divisor."""
    relevant, grades = aligned.relevant_ranks(rel), aligned.grades
    nonrelevant = np.cumsum((grades > UNJUDGED) & (grades < rel), axis=1)
    above = np.minimum(nonrelevant[relevant.topic, relevant.rank - 1], most[relevant.topic])
    shares = 1 - divide(above, divisor[relevant.topic])
    show("judged nonrelevant above", above, relevant.rank)
    show("kept", shares, relevant.rank)
    return divide(aligned.total(relevant.topic, shares), show("R", aligned.relevant(rel)))


@_add("infAP", label="Inferred AP", description="AP estimated from a uniform sample of the pool.")
def inferred_average_precision(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """infAP = (1/R) * sum over relevant ranks i of (1/i + (pooled / i) * (relevant + e) / (judged + 2e)).

    pooled, relevant and judged count documents above rank i; e = 0.00001. A grade of -1 in the qrels means "in the
    pool, but not sampled"; documents missing from the qrels are outside the pool and count as not relevant. Every
    document of the pool must have had the same probability of being judged.
    Source: Yilmaz & Aslam, CIKM 2006, as trec_eval computes it.
    """
    relevant = aligned.relevant_ranks(rel)
    pooled = show("pooled above", _count_above(aligned.grades > UNPOOLED, relevant), relevant.rank)
    judged = show("judged above", _count_above(aligned.grades > UNJUDGED, relevant), relevant.rank)
    relevant_above = relevant.nth - 1.0
    above, precision = relevant.rank - 1, (relevant_above + EPSILON) / (judged + 2 * EPSILON)
    # The order of operations is that of trec_eval, for the same last digit.
    expected = 1 / relevant.rank + above / relevant.rank * divide(pooled, above) * precision
    # At rank 1 nothing stands above.
    expected = show("expected P at i", np.where(relevant.rank == 1, 1.0, expected), relevant.rank)
    return divide(aligned.total(relevant.topic, expected), show("R", aligned.relevant(rel)))


def _count_above(cells: Bools, relevant: RelevantRanks) -> Floats:
    """(F,): how many of the cells (T, D) stand above each relevant document."""
    return (np.cumsum(cells, axis=1) - cells)[relevant.topic, relevant.rank - 1].astype(np.float64)


@_add(
    "xinfAP", label="Extended inferred AP", description="AP estimated from a stratified sample of the pool.",
    highest=np.inf, needs="strata",
)  # fmt: skip
def extended_inferred_average_precision(aligned: Aligned, *, cutoff: int = 1000, rel: Positive = 1) -> Floats:
    """xinfAP = (1/R) * sum over strata of (size / judged) * (sum over its relevant ranks i of the expected P@i).

    The expected P@i is 1/i + (1/i) * (sum over strata of pooled * (relevant + e) / (judged + 3e)), where pooled,
    relevant and judged count documents of the stratum above rank i, and e = 0.00001. R is estimated: each relevant
    document counts size / judged of its stratum. If R is above k, the divisor is k. sample_eval.pl prints it as infAP.
    Source: Yilmaz, Kanoulas & Aslam, SIGIR 2008, with the
    constants of NIST's sample_eval.pl.
    """
    sample = _sample_of(aligned)
    relevant, grades = aligned.relevant_ranks(rel, cutoff), aligned.top(cutoff)
    strata, here = sample.size.shape[1], sample.stratum[:, :cutoff]
    per_judged = divide(sample.size, sample.judged)
    expected = np.zeros(len(relevant.rank))
    for s in range(strata):
        inside = here == s
        judged = _count_above(inside & (grades > UNJUDGED), relevant)
        relevant_above = _count_above(inside & (grades >= rel), relevant)
        pooled = _count_above(inside, relevant) if sample.listed else judged * per_judged[relevant.topic, s]
        expected += pooled * (relevant_above + EPSILON) / (judged + 3 * EPSILON)
    expected = show("expected P at i", (1 + expected) / relevant.rank, relevant.rank)
    stands_for = show("stands for", per_judged[relevant.topic, here[relevant.topic, relevant.rank - 1]], relevant.rank)
    total = aligned.total(relevant.topic, expected * stands_for)
    topic, column = places(aligned.judged >= rel)
    number = show("R (estimated)", aligned.total(topic, per_judged[topic, sample.graded[topic, column]]))
    return divide(total, show("divisor", np.minimum(number, cutoff)))


@_add(
    "infNDCG", label="Inferred nDCG", description="nDCG estimated from a stratified sample of the pool.",
    highest=np.inf, graded=True, needs="strata",
)  # fmt: skip
def inferred_ndcg(aligned: Aligned, *, cutoff: int = 1000) -> Floats:
    """infNDCG = estimated DCG / DCG of the estimated ideal ranking; gain = grade.

    The DCG of the judged documents of a stratum is multiplied by the number of its retrieved documents over that of its
    judged and retrieved ones. In the ideal ranking each judged document counts as size / judged documents of its
    stratum, which may be a fraction. Source: Yilmaz, Kanoulas & Aslam, SIGIR
    2008, as NIST's sample_eval.pl.
    """
    sample, grades = _sample_of(aligned), aligned.top(cutoff)
    here = sample.stratum[:, :cutoff]
    topic, column = places(grades > UNJUDGED)
    gain = show("gain / log2(i + 1)", grades[topic, column] / np.log2(column + 2), column + 1)
    strata = sample.size.shape[1]
    key, shape = topic * strata + here[topic, column], sample.size.shape
    gained = np.bincount(key, gain, np.prod(shape, dtype=int)).reshape(shape)
    judged = np.bincount(key, minlength=np.prod(shape, dtype=int)).reshape(shape)
    pooled = judged * divide(sample.size, sample.judged)
    if sample.listed:
        pooled = np.zeros(shape)
        for s in range(strata):
            pooled[:, s] = np.count_nonzero(here == s, axis=1)
    stands_for = divide(pooled, judged)
    show("stands for", stands_for[topic, here[topic, column]], column + 1)
    total = show("estimated DCG", (gained * stands_for).sum(axis=1))
    return divide(total, show("ideal DCG (estimated)", _estimate_ideals(aligned, sample, cutoff)))


def _sample_of(aligned: Aligned) -> Sample:
    assert aligned.sample is not None, "Measure checks what the qrels have"
    return aligned.sample


def _estimate_ideals(aligned: Aligned, sample: Sample, cutoff: int) -> Floats:
    """(T,): the DCG of the ideal rankings, each grade filling as many ranks as it is estimated to have."""
    stands_for = np.take_along_axis(divide(sample.size, sample.judged), np.maximum(sample.graded, 0), axis=1)
    start = np.zeros(len(aligned.topics))
    total = np.zeros(len(aligned.topics))
    for grade in np.unique(aligned.judged[aligned.judged > 0])[::-1]:
        count = np.where(aligned.judged == grade, stands_for, 0.0).sum(axis=1)
        # Half a document fills no rank, but the next grade starts where it ends.
        nth = np.arange(1, int(count.max(initial=0) + 1e-9) + 1)
        ranks = start[:, None] + nth
        in_ideal = (nth <= count[:, None] + 1e-9) & (ranks <= cutoff)
        total += float(grade) * np.where(in_ideal, 1 / np.log2(ranks + 1), 0.0).sum(axis=1)
        start += count
    return total
