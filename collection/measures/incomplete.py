"""Measures for incomplete judgements: what a ranking is worth when part of the pool was never judged."""

from __future__ import annotations

import numpy as np

from collection.measures.aligned import UNJUDGED, UNPOOLED, Aligned, Bools, Floats, Found, Sample, places
from collection.measures.table import MEASURES, Positive
from collection.measures.trace import divide, show

EPSILON = 1e-5
"""Keeps a precision of 0 / 0 defined (trec_eval's INFAP_EPSILON)."""


@MEASURES.add(
    "bpref",
    label="bpref",
    description="How rarely judged nonrelevant documents rank above relevant ones.",
    differs={"ranx": "has no number for a topic without a document that is judged not relevant"},
)
def bpref(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """bpref = (1/R) * sum over retrieved relevant d of 1 - min(n above d, R) / min(N, R).

    N counts the judged nonrelevant documents, n those above d; unjudged documents are passed over.
    A relevant document with no judged nonrelevant one above it counts 1. ir_measures writes it Bpref.
    Source: Buckley & Voorhees, SIGIR 2004, in the form of trec_eval since version 8.
    """
    number = aligned.relevant(rel)
    return _preferences(aligned, rel, number, np.minimum(aligned.nonrelevant(rel), number))


@MEASURES.add("bpref10", label="bpref-10", description="bpref that also works with very few relevant documents.")
def bpref10(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """bpref10 = (1/R) * sum over retrieved relevant d of 1 - min(n above d, R + 10) / (R + 10).

    n counts judged nonrelevant documents above d, the first R + 10 of them. The paper writes bpref-10.
    Source: Buckley & Voorhees, SIGIR 2004.
    """
    number = aligned.relevant(rel)
    return _preferences(aligned, rel, number + 10, number + 10)


def _preferences(aligned: Aligned, rel: float, most: np.ndarray, divisor: np.ndarray) -> Floats:
    """The mean over relevant documents of 1 - min(nonrelevant above, most) / divisor."""
    found, grades = aligned.found(rel), aligned.grades
    nonrelevant = np.cumsum((grades > UNJUDGED) & (grades < rel), axis=1)
    above = np.minimum(nonrelevant[found.topic, found.rank - 1], most[found.topic])
    kept = 1 - divide(above, divisor[found.topic])
    show("judged nonrelevant above", above, found.rank)
    show("kept", kept, found.rank)
    return divide(aligned.total(found.topic, kept), show("R", aligned.relevant(rel)))


@MEASURES.add("infAP", label="Inferred AP", description="AP estimated from a uniform sample of the pool.")
def inferred_average_precision(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """infAP = (1/R) * sum over relevant ranks i of 1/i + (pooled above / i) (relevant above + e) / (judged above + 2e).

    A grade of -1 in the qrels says "in the pool, but not judged"; documents that the qrels do not name are not
    relevant. Every judged document must have been equally likely to be judged. e = 0.00001.
    Source: Yilmaz & Aslam, CIKM 2006, as trec_eval computes it.
    """
    found = aligned.found(rel)
    pooled = show("pooled above", _count_above(aligned.grades > UNPOOLED, found), found.rank)
    judged = show("judged above", _count_above(aligned.grades > UNJUDGED, found), found.rank)
    relevant = found.nth - 1.0
    expected = 1 / found.rank + pooled / found.rank * (relevant + EPSILON) / (judged + 2 * EPSILON)
    # At rank 1 nothing stands above.
    expected = show("expected P at i", np.where(found.rank == 1, 1.0, expected), found.rank)
    return divide(aligned.total(found.topic, expected), show("R", aligned.relevant(rel)))


def _count_above(cells: Bools, found: Found) -> Floats:
    """(F,): how many of the cells (T, D) stand above each relevant document."""
    return (np.cumsum(cells, axis=1) - cells)[found.topic, found.rank - 1].astype(np.float64)


@MEASURES.add(
    "xinfAP", label="Extended inferred AP", description="AP estimated from a stratified sample of the pool.",
    highest=np.inf, needs="strata",
)  # fmt: skip
def extended_inferred_average_precision(aligned: Aligned, *, cutoff: int = 1000, rel: Positive = 1) -> Floats:
    """xinfAP = (1/R) * sum over strata of (size / judged) * sum over its relevant ranks i of the expected P@i.

    R is estimated alike, size / judged for each relevant document. Expected P@i = 1/i + (1/i) * sum over strata of
    pooled above * (relevant above + e) / (judged above + 3e). Where R is above k, the most that a run may retrieve,
    the divisor is k. sample_eval.pl prints it as infAP. Source: Yilmaz, Kanoulas & Aslam, SIGIR 2008, with the
    constants of NIST's sample_eval.pl.
    """
    sample = _sample_of(aligned)
    found, grades = aligned.found(rel, cutoff), aligned.top(cutoff)
    strata, here = sample.size.shape[1], sample.stratum[:, :cutoff]
    per_judged = divide(sample.size, sample.judged)
    expected = np.zeros(len(found.rank))
    for s in range(strata):
        inside = here == s
        judged = _count_above(inside & (grades > UNJUDGED), found)
        relevant = _count_above(inside & (grades >= rel), found)
        pooled = _count_above(inside, found) if sample.listed else judged * per_judged[found.topic, s]
        expected += pooled * (relevant + EPSILON) / (judged + 3 * EPSILON)
    expected = show("expected P at i", (1 + expected) / found.rank, found.rank)
    stands_for = show("stands for", per_judged[found.topic, here[found.topic, found.rank - 1]], found.rank)
    total = aligned.total(found.topic, expected * stands_for)
    topic, column = places(aligned.judged >= rel)
    number = show("R (estimated)", aligned.total(topic, per_judged[topic, sample.graded[topic, column]]))
    return divide(total, show("divisor", np.minimum(number, cutoff)))


@MEASURES.add(
    "infNDCG", label="Inferred nDCG", description="nDCG estimated from a stratified sample of the pool.",
    highest=np.inf, graded=True, needs="strata",
)  # fmt: skip
def inferred_ndcg(aligned: Aligned, *, cutoff: int = 1000) -> Floats:
    """infNDCG = estimated DCG / DCG of the estimated ideal ranking, gain = grade.

    In each stratum DCG is (retrieved / judged and retrieved) times the DCG of the judged ones; the ideal has
    (size / judged) documents for each judged one, fractions included. Runs are cut at 1,000, if not otherwise said.
    Source: Yilmaz, Kanoulas & Aslam, SIGIR
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
        there = (nth <= count[:, None] + 1e-9) & (ranks <= cutoff)
        total += float(grade) * np.where(there, 1 / np.log2(ranks + 1), 0.0).sum(axis=1)
        start += count
    return total
