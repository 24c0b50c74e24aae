"""Diversity measures, for qrels with subtopics.

A topic has S subtopics, and a document may be relevant to several. S counts the subtopics to which some document is
judged relevant. The definitions are those of the TREC web tracks' ndeval, every subtopic equally likely.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from collection.core.arrays import Bools, Floats, Ints
from collection.measures.aligned import Aligned
from collection.measures.table import MEASURES, Persistence, Positive, Share
from collection.measures.trace import divide, show

BY_PYNDEVAL = "orders equal scores by ascending document id (pyndeval)"
"""Where ir_measures has pyndeval compute a measure."""

_add = partial(MEASURES.add, needs="subtopics", monotone=0, differs={"ir_measures": BY_PYNDEVAL})


def _covers(aligned: Aligned, rel: float, cutoff: int | None) -> tuple[Bools, Bools, Ints]:
    """(T, D, S) and (T, P, S): whether a retrieved, a known document is relevant to a subtopic; (T,) S."""
    assert aligned.subtopics is not None, "Measure checks what the qrels have"
    known = aligned.subtopics.judged >= rel
    return aligned.subtopics.grades[:, :cutoff] >= rel, known, np.count_nonzero(known.any(axis=1), axis=1)


def _novelty(covers: Bools, alpha: float) -> Floats:
    """(T, D): the gain of each document; every time a subtopic was seen before it gains 1 - alpha as much."""
    before: Ints = np.cumsum(covers, axis=1) - covers
    gain: Floats = np.where(covers, (1 - alpha) ** before, 0.0).sum(axis=2)
    return gain


def _ideal_order(known: Bools, alpha: float, cutoff: int | None) -> Bools:
    """The documents of each topic so that each gains most after those before it (greedy), to the cut-off.

    Of documents that gain the same, the one with the highest id comes first, as in ndeval. Gains are rounded, since
    0.1 + 0.1 + 1 and 1 + 0.1 + 0.1 differ as doubles.
    """
    topics, documents, _ = known.shape
    depth = documents if cutoff is None else min(cutoff, documents)
    ideal = np.zeros((topics, depth, known.shape[2]), dtype=np.bool_)
    left: Bools = np.any(known, axis=2)
    seen = np.zeros((topics, known.shape[2]))
    rows = np.arange(topics)
    for place in range(depth):
        gain = (known * ((1 - alpha) ** seen)[:, None, :]).sum(axis=2).round(12)
        best = np.where(left, gain, -1.0).argmax(axis=1)
        # Topics with fewer documents than others run out: what they are given then gains nothing.
        ideal[:, place] = known[rows, best] & left[rows, best, None]
        seen += ideal[:, place]
        left[rows, best] = False
    return ideal


def _discounted(gain: Floats, rank_based: bool) -> Floats:
    """(T,): the gains over log2(i + 1), or over i."""
    ranks = np.arange(1, gain.shape[1] + 1)
    discounted = show("gain", gain) / (ranks if rank_based else np.log2(ranks + 1))
    return np.asarray(show("gain, discounted", discounted).sum(axis=1))


@_add(
    "alpha_DCG",
    label="alpha-DCG",
    description="Discounted gain with less credit for subtopics seen before.",
    highest=np.inf,
    differs={
        "ir_measures": "divides by the DCG of a ranking in which every document is relevant to every subtopic (ndeval)"
    },
)
def alpha_dcg(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1, alpha: Share = 0.5) -> Floats:
    """alpha_DCG = sum over ranks i of n_i / log2(i + 1).

    n_i is the sum of (1 - alpha)^m over the subtopics of the document at rank i; m is the number of documents above it
    that are relevant to the subtopic. Source: Clarke et al., SIGIR 2008.
    """
    covers, _, _ = _covers(aligned, rel, cutoff)
    return _discounted(_novelty(covers, alpha), rank_based=False)


@_add("alpha_nDCG", label="alpha-nDCG", description="alpha-DCG divided by that of the ideal ranking.", highest=np.inf)
def alpha_ndcg(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1, alpha: Share = 0.5) -> Floats:
    """alpha_nDCG = alpha_DCG / alpha_DCG of the ideal ranking, which is built greedily.

    Finding the best ranking is NP-hard. The greedy one is the usual divisor, so values slightly above 1 are possible.
    Source: Clarke et al., SIGIR 2008.
    """
    covers, known, _ = _covers(aligned, rel, cutoff)
    ideal = _novelty(_ideal_order(known, alpha, cutoff), alpha)
    value = _discounted(_novelty(covers, alpha), rank_based=False)
    best = (ideal / np.log2(np.arange(2, ideal.shape[1] + 2))).sum(axis=1)
    return divide(show("alpha-DCG", value), show("ideal alpha-DCG", best))


@_add(
    "ERR_IA",
    label="Intent-aware ERR",
    description="ERR averaged over subtopics.",
    differs={"ir_measures": f"{BY_PYNDEVAL}; its ERR_IA@1 is not normalised"},
)
def err_ia(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1, alpha: Persistence = 0.5) -> Floats:
    """ERR_IA = (1/S) * (sum over ranks i of n_i / i) / (sum over ranks i of (1 - alpha)^(i - 1) / i).

    n_i is the sum of (1 - alpha)^m over the subtopics of the document at rank i; m is the number of documents above it
    that are relevant to the subtopic, and alpha the probability that one of them satisfies the user. The divisor is
    the value of a ranking in which every document is relevant to every subtopic (collection-independent normalisation,
    as in ndeval's ERR-IA@k). Source: Chapelle et al., CIKM 2009; Clarke, Craswell & Soboroff, TREC 2009 web track.
    """
    covers, _, number = _covers(aligned, rel, cutoff)
    value = _discounted(_novelty(covers, alpha), rank_based=True)
    if cutoff is None:
        most = -math.log(alpha) / (1 - alpha)
    else:
        # Terms shrink geometrically: after a few thousand a double sees no more of them.
        ranks = np.arange(1, min(cutoff, 5000) + 1)
        most = float(((1 - alpha) ** (ranks - 1) / ranks).sum())
    show("S", number)
    show("most possible", np.full(len(number), most))
    return divide(value, number * most)


@_add("nERR_IA", label="Normalised ERR_IA", description="ERR_IA divided by that of the ideal ranking.", highest=np.inf)
def normalised_err_ia(
    aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1, alpha: Persistence = 0.5
) -> Floats:
    """nERR_IA = ERR_IA / ERR_IA of the ideal ranking, which is built greedily.

    Source: Clarke, Craswell, Soboroff & Ashkan, WSDM 2011; ndeval's nERR-IA.
    """
    covers, known, _ = _covers(aligned, rel, cutoff)
    ideal = _novelty(_ideal_order(known, alpha, cutoff), alpha)
    value = _discounted(_novelty(covers, alpha), rank_based=True)
    best = (ideal / np.arange(1, ideal.shape[1] + 1)).sum(axis=1)
    return divide(show("sum", value), show("ideal sum", best))


@_add("StRecall", label="Subtopic recall", description="Share of the subtopics covered by the first k ranks.")
def subtopic_recall(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1) -> Floats:
    """StRecall@k = (subtopics with a relevant document in the first k) / S.

    Source: Zhai, Cohen & Lafferty, SIGIR 2003.
    """
    covers, _, number = _covers(aligned, rel, cutoff)
    covered = show("subtopics covered", np.count_nonzero(covers.any(axis=1), axis=1))
    return divide(covered, show("S", number))


@_add("P_IA", label="Intent-aware precision", description="Precision averaged over subtopics.")
def precision_ia(aligned: Aligned, *, cutoff: int, rel: Positive = 1) -> Floats:
    """P_IA@k = (1/S) * sum over subtopics of P@k.

    Source: Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009.
    """
    covers, _, number = _covers(aligned, rel, cutoff)
    hits = show("relevant (document, subtopic)", np.count_nonzero(covers, axis=(1, 2)))
    return divide(hits, show("S", number) * cutoff)


@_add("AP_IA", label="Intent-aware AP", description="AP averaged over subtopics.")
def average_precision_ia(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """AP_IA = (1/S) * sum over subtopics of AP.

    Source: Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009 (MAP-IA in ndeval).
    """
    covers, known, number = _covers(aligned, rel, None)
    precisions = np.cumsum(covers, axis=1) / np.arange(1, covers.shape[1] + 1)[:, None]
    per_subtopic = divide(np.where(covers, precisions, 0).sum(axis=1), np.count_nonzero(known, axis=1))
    return divide(show("sum of AP over subtopics", per_subtopic.sum(axis=1)), show("S", number))


@_add("NRBP", label="NRBP", description="RBP with less credit for subtopics seen before.")
def novelty_rbp(aligned: Aligned, *, rel: Positive = 1, alpha: Share = 0.5, beta: Persistence = 0.5) -> Floats:
    """NRBP = ((1 - (1 - alpha) beta) / S) * sum over ranks i of beta^(i - 1) n_i.

    n_i is the sum of (1 - alpha)^m over the subtopics of the document at rank i; m is the number of documents above it
    that are relevant to the subtopic. Source: Clarke, Kolla & Vechtomova, ICTIR 2009.
    """
    covers, _, number = _covers(aligned, rel, None)
    gain = show("n", _novelty(covers, alpha))
    weighted = show("beta^(i - 1) n", gain * beta ** np.arange(gain.shape[1]))
    value = show("sum", weighted.sum(axis=1))
    return divide((1 - (1 - alpha) * beta) * value, show("S", number))


@_add(
    "nNRBP",
    label="Normalised NRBP",
    description="NRBP divided by that of the ideal ranking.",
    highest=np.inf,
    differs={"ir_measures": f"{BY_PYNDEVAL}; a topic without a relevant document is nan, and so is the mean"},
)
def normalised_novelty_rbp(
    aligned: Aligned, *, rel: Positive = 1, alpha: Share = 0.5, beta: Persistence = 0.5
) -> Floats:
    """nNRBP = NRBP / NRBP of the ideal ranking, which is built greedily.

    Source: Clarke, Kolla & Vechtomova, ICTIR 2009; ndeval's nNRBP.
    """
    covers, known, _ = _covers(aligned, rel, None)
    gain, ideal = _novelty(covers, alpha), _novelty(_ideal_order(known, alpha, None), alpha)
    weighted = show("beta^(i - 1) n", show("n", gain) * beta ** np.arange(gain.shape[1]))
    best = (ideal * beta ** np.arange(ideal.shape[1])).sum(axis=1)
    return divide(show("sum", weighted.sum(axis=1)), show("ideal sum", best))
