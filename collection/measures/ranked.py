"""Measures over sets and ranks.

Each takes an :class:`~collection.measures.aligned.Aligned` of T topics and gives T values (float64).
`rel` is the lowest grade that counts as relevant; `cutoff` is the k of ``@k``. R is the number of
relevant documents that are judged. The definitions are trec_eval 10's unless the docstring says
otherwise. A topic without relevant documents, or without documents in the run, is 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from collection.measures.aligned import UNJUDGED, Aligned, Floats, Grades
from collection.measures.measure import MEASURES


def _divide(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """Quotient, 0 where the divisor is 0."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    quotient: Floats = np.zeros(np.broadcast(above, below).shape)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient


@MEASURES.add("P", label="Precision", description="Share of the first k ranks that are relevant.")
def precision(aligned: Aligned, *, cutoff: int, rel: int = 1) -> Floats:
    """P@k = relevant in the first k / k. The divisor is k also where the run is shorter."""
    return _divide(aligned.hits(rel, cutoff).sum(axis=1), np.float64(cutoff))


@MEASURES.add("R", label="Recall", description="Share of the relevant documents that are in the first k ranks.")
def recall(aligned: Aligned, *, cutoff: int, rel: int = 1) -> Floats:
    """R@k = relevant in the first k / R."""
    return _divide(aligned.hits(rel, cutoff).sum(axis=1), aligned.relevant(rel))


@MEASURES.add("AP", label="Average precision", description="Mean of the precisions at each relevant document.")
def average_precision(aligned: Aligned, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """AP = (1/R) * sum of P@i over the ranks i of relevant documents; with ``@k`` over i <= k.

    The divisor stays R under a cut-off (trec_eval's map_cut); others divide by min(R, k).
    Source: Buckley & Voorhees, SIGIR 2000.
    """
    hits = aligned.hits(rel, cutoff)
    ranks = np.arange(1, hits.shape[1] + 1, dtype=np.float64)
    precisions = np.where(hits, np.cumsum(hits, axis=1) / ranks, 0.0)
    return _divide(precisions.sum(axis=1), aligned.relevant(rel))


@MEASURES.add("RR", label="Reciprocal rank", description="1 / rank of the first relevant document.")
def reciprocal_rank(aligned: Aligned, *, cutoff: int | None = None, rel: int = 1) -> Floats:
    """RR = 1 / rank of the first relevant document; 0 where there is none (in the first k).

    Its mean over topics is MRR. Source: Voorhees, TREC-8 question answering track, 1999.
    """
    hits = aligned.hits(rel, cutoff)
    if not hits.shape[1]:
        return np.zeros(len(hits))
    return _divide(hits.any(axis=1), hits.argmax(axis=1) + 1)


@MEASURES.add("nDCG", label="nDCG", description="Discounted gain of the ranking as a share of the ideal one.")
def ndcg(aligned: Aligned, *, cutoff: int | None = None) -> Floats:
    """NDCG = DCG / ideal DCG, DCG = sum over ranks i of gain_i / log2(i + 1), gain = grade (linear).

    The ideal is over all judged documents of the topic, cut at the same k. There is no relevance
    level: each grade is its own gain. The other convention in the field has the gain 2^grade - 1.
    Source: Järvelin & Kekäläinen, TOIS 2002, with the discount of trec_eval and Burges et al. 2005.
    """
    ideal = aligned.judged if cutoff is None else aligned.judged[:, :cutoff]
    return _divide(_dcg(aligned.top(cutoff)), _dcg(ideal))


def _dcg(grades: Grades) -> Floats:
    discounts = np.log2(np.arange(2, grades.shape[1] + 2, dtype=np.float64))
    gained: Floats = (np.maximum(grades, 0) / discounts).sum(axis=1)
    return gained


@MEASURES.add("Rprec", label="R-precision", description="Precision at rank R, R the number of relevant documents.")
def r_precision(aligned: Aligned, *, rel: int = 1) -> Floats:
    """Rprec = relevant in the first R / R. Source: TREC-2 appendix (Harman, 1994)."""
    number = aligned.relevant(rel)
    hits = aligned.hits(rel)
    return _divide((hits & (np.arange(hits.shape[1]) < number[:, None])).sum(axis=1), number)


@MEASURES.add("bpref", label="bpref", description="How often judged nonrelevant documents stand above relevant ones.")
def bpref(aligned: Aligned, *, rel: int = 1) -> Floats:
    """Bpref = (1/R) * sum over retrieved relevant d of 1 - min(n above d, R) / min(N, R).

    N counts the judged nonrelevant documents, n those above d; unjudged documents are passed over.
    A relevant document with no judged nonrelevant one above it counts 1. ir_measures writes it Bpref.
    Source: Buckley & Voorhees, SIGIR 2004, in the form of trec_eval since version 8.
    """
    grades, number = aligned.grades, aligned.relevant(rel)
    hits = aligned.hits(rel)
    above = np.minimum(np.cumsum((grades > UNJUDGED) & (grades < rel), axis=1), number[:, None])
    penalty = _divide(above, np.minimum(aligned.nonrelevant(rel), number)[:, None])
    counted: Floats = np.where(hits, 1.0 - penalty, 0.0)
    return _divide(counted.sum(axis=1), number)


@MEASURES.add("Success", label="Success", description="1 if a relevant document is in the first k ranks, else 0.")
def success(aligned: Aligned, *, cutoff: int, rel: int = 1) -> Floats:
    """Success@k = 1 if any of the first k documents is relevant, else 0."""
    return np.asarray(aligned.hits(rel, cutoff).any(axis=1), dtype=np.float64)


@MEASURES.add("Judged", label="Judged", description="Share of the first k documents that somebody judged.")
def judged(aligned: Aligned, *, cutoff: int | None = None) -> Floats:
    """Judged@k = judged in the first k / min(k, retrieved): how far the other values can be trusted."""
    within = aligned.retrieved if cutoff is None else np.minimum(aligned.retrieved, cutoff)
    return _divide((aligned.top(cutoff) > UNJUDGED).sum(axis=1), within)
