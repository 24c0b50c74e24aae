"""Experimental measures of trec_eval, for comparison with older results."""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Floats
from collection.measures.aligned import Aligned, places
from collection.measures.graded import gain_of, ideal_gain
from collection.measures.table import MEASURES, Gains, Positive
from collection.measures.trace import divide, show


def _curves(aligned: Aligned, gains: Gains | None) -> tuple[Floats, Floats, Floats, Floats]:
    """(T, W) each: gain and ideal gain at every rank, and the DCG of both; W holds the longer of the two."""
    gain, ideal = gain_of(aligned.grades, gains=gains), ideal_gain(aligned, gains=gains)
    width = max(gain.shape[1], ideal.shape[1])
    gain, ideal = (np.pad(m, ((0, 0), (0, width - m.shape[1]))) for m in (gain, ideal))
    discount = np.log2(np.arange(2, width + 2))
    return gain, ideal, np.cumsum(gain / discount, axis=1), np.cumsum(ideal / discount, axis=1)


@MEASURES.add(
    "G",
    label="G",
    description="Gain, discounted by how far the cumulative gain lags behind the ideal one.",
    graded=True,
    monotone=0,
)
def g(aligned: Aligned, *, gains: Gains | None = None) -> Floats:
    """G = (sum over ranks i of gain_i / log2(2 + cost_i - cg_i)) / (sum of all gains of the qrels).

    cg_i is the gain of the first i ranks. cost_i is that of the first i ranks of the ideal ranking, in which each rank
    counts at least 1. Source: Buckley, trec_eval, 2008.
    """
    gain, ideal, _, _ = _curves(aligned, gains)
    behind = np.cumsum(np.maximum(ideal, 1), axis=1) - np.cumsum(gain, axis=1)
    topic, column = places(gain != 0)
    amounts = gain[topic, column] / np.log2(2 + behind[topic, column])
    show("gain / log2(2 + cost - gain)", amounts, column + 1)
    return divide(aligned.total(topic, amounts), ideal.sum(axis=1))


@MEASURES.add("binG", label="binG", description="G with binary relevance.")
def bin_g(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """binG = (1/R) * sum over relevant ranks i of 1 / log2(2 + documents above i that are not relevant).

    Source: Buckley, trec_eval, 2008.
    """
    relevant = aligned.relevant_ranks(rel)
    amounts = show("1 / log2(2 + not relevant above)", 1 / np.log2(2 + relevant.rank - relevant.nth), relevant.rank)
    return divide(aligned.total(relevant.topic, amounts), aligned.relevant(rel))


@MEASURES.add(
    "nDCG_rel", label="nDCG at relevant ranks", description="nDCG averaged over the relevant documents.",
    graded=True, monotone=0,
)  # fmt: skip
def ndcg_at_relevant(aligned: Aligned, *, gains: Gains | None = None) -> Floats:
    """nDCG_rel = mean over the documents with a gain of nDCG@i at their rank i.

    A document that was not retrieved counts with the nDCG of the whole run.
    Source: Buckley, trec_eval (ndcg_rel), 2008.
    """
    gain, ideal, dcg, best = _curves(aligned, gains)
    if not gain.shape[1]:
        return np.zeros(len(gain))
    topic, column = places(gain > 0)
    ratio = show("nDCG@i", divide(dcg[topic, column], best[topic, column]), column + 1)
    number = show("relevant", np.count_nonzero(ideal, axis=1))
    missed = show("not retrieved", number - np.count_nonzero(gain > 0, axis=1))
    show("nDCG at the end", divide(dcg[:, -1], best[:, -1]))
    return divide(aligned.total(topic, ratio) + divide(missed * dcg[:, -1], best[:, -1]), number)


@MEASURES.add(
    "RnDCG", label="nDCG at R levels", description="nDCG averaged over the ranks where the ideal gain changes.",
    graded=True, monotone=0,
)  # fmt: skip
def ndcg_at_levels(aligned: Aligned, *, gains: Gains | None = None) -> Floats:
    """RnDCG = mean of nDCG@n over the ranks n at which the ideal gain falls, and of the nDCG of the whole run.

    The nDCG of the whole run counts if the run is at least two ranks longer than the last n.
    Source: Buckley, trec_eval (Rndcg), 2008.
    """
    gain, ideal, dcg, best = _curves(aligned, gains)
    if not gain.shape[1]:
        return np.zeros(len(gain))
    ratio = divide(dcg, best)
    falls = np.zeros(gain.shape, dtype=np.bool_)
    falls[:, :-1] = ideal[:, :-1] > ideal[:, 1:]
    falls[:, -1] = ideal[:, -1] > 0
    at_end = aligned.retrieved > np.count_nonzero(ideal, axis=1) + 1
    show("nDCG@i", np.where(falls, ratio, np.nan))
    show("nDCG at the end", np.where(at_end, divide(dcg[:, -1], best[:, -1]), np.nan))
    total = np.where(falls, ratio, 0).sum(axis=1) + at_end * divide(dcg[:, -1], best[:, -1])
    return np.where(best[:, -1] > 0, divide(total, falls.sum(axis=1) + at_end), 0.0)


@MEASURES.add("YAAP", label="YAAP", description="AP on a log-odds scale.", lowest=-np.inf, highest=np.inf)
def yet_another_average_precision(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """YAAP = ln((1 + S) / (1 + R - S)), S the sum of P@i over the ranks i of relevant documents.

    On this scale, differences near 0 and near 1 are not compressed. A topic that the run lacks is ln(1 / (1 + R)).
    Source: Robertson, ECIR 2012.
    """
    relevant = aligned.relevant_ranks(rel)
    total = show("sum of P at i", aligned.total(relevant.topic, relevant.nth / relevant.rank))
    return np.log((1 + total) / (1 + show("R", aligned.relevant(rel)) - total))
