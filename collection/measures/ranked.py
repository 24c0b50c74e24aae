"""Binary measures of a ranking.

Each takes an :class:`~collection.measures.aligned.Aligned` of T topics and gives T values (float64). `rel` is the
lowest relevant grade; `cutoff` is the k of ``@k``; R is the number of judged relevant documents. The definitions are
trec_eval 10's unless the docstring says otherwise. A topic without relevant documents, or without documents in the run,
is 0. The first line of a docstring is the definition; lists of measures show it, and the text after "Source:".
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.measures.aligned import Aligned
from collection.measures.table import MEASURES, Positive, Share
from collection.measures.trace import divide, show


@MEASURES.add("P", label="Precision", description="Share of the first k documents that are relevant.", found_only=True)
def precision(aligned: Aligned, *, cutoff: int, rel: Positive = 1, relative: bool = False) -> Floats:
    """P@k = (relevant documents in the first k) / k.

    The divisor is k even if the run is shorter. With relative=True it is min(k, R), the largest number of relevant
    documents that k ranks can hold (trec_eval's relative_P).
    """
    hits = show("relevant in the first k", aligned.count(rel, cutoff))
    divisor = np.minimum(cutoff, aligned.relevant(rel)) if relative else np.full(len(hits), cutoff)
    return divide(hits, show("divisor", divisor))


@MEASURES.add("R", label="Recall", description="Share of the relevant documents in the first k ranks.")
def recall(aligned: Aligned, *, cutoff: int, rel: Positive = 1) -> Floats:
    """R@k = (relevant documents in the first k) / R.

    Some papers write R@k for Success@k (1 if a relevant document was retrieved, else 0), which is another measure.
    """
    hits = show("relevant in the first k", aligned.count(rel, cutoff))
    return divide(hits, show("R", aligned.relevant(rel)))


def combine_f(precision: Floats, recall: Floats, weight: float) -> Floats:
    """F = (weight + 1) P R / (weight P + R); the weight of recall is beta^2."""
    show("P", precision)
    show("recall", recall)
    return divide((weight + 1) * precision * recall, weight * precision + recall)


@MEASURES.add(
    "F", label="F-measure", description="Harmonic mean of precision and recall of the first k ranks, weighted by beta."
)
def f_measure(aligned: Aligned, *, cutoff: int, rel: Positive = 1, beta: Positive = 1.0) -> Floats:
    """F@k = (1 + beta^2) P@k R@k / (beta^2 P@k + R@k).

    With beta = 1 it is the harmonic mean; with another beta, recall counts beta times as much as precision. Source: van
    Rijsbergen, Information Retrieval, 2nd edition, 1979.
    """
    return combine_f(precision(aligned, cutoff=cutoff, rel=rel), recall(aligned, cutoff=cutoff, rel=rel), beta**2)


@MEASURES.add(
    "Success", label="Success", description="1 if a relevant document is in the first k ranks, else 0.", found_only=True
)
def success(aligned: Aligned, *, cutoff: int, rel: Positive = 1) -> Floats:
    """Success@k = 1 if any of the first k documents is relevant, else 0.

    Also called hit rate or accuracy@k.
    """
    return (show("relevant in the first k", aligned.count(rel, cutoff)) > 0).astype(np.float64)


@MEASURES.add(
    "RR",
    label="Reciprocal rank",
    description="1 / rank of the first relevant document.",
    found_only=True,
    differs={
        "ir_measures": "its RR@k orders equal scores by ascending document id (MS MARCO's script), its RR does not"
    },
)
def reciprocal_rank(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1) -> Floats:
    """RR = 1 / rank of the first relevant document; 0 if there is none (in the first k).

    Its mean over topics is MRR. MS MARCO's MRR@10 is RR@10 except for ties, which its script keeps in the order of
    the file. Source: Voorhees, TREC-8 question answering track, 1999.
    """
    hits = aligned.hits(rel, cutoff)
    if not hits.shape[1]:
        return np.zeros(len(hits))
    rank = show("rank of the first relevant", np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, 0))
    return divide(rank > 0, rank)


@MEASURES.add("AP", label="Average precision", description="Mean of the precisions at each relevant document.")
def average_precision(
    aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1, norm: Literal["R", "min"] = "R"
) -> Floats:
    """AP = (1/R) * sum of P@i over the ranks i of relevant documents; with ``@k`` over i <= k.

    With a cut-off the divisor is still R (trec_eval's map_cut). norm='min' divides by min(R, k), the largest number of
    relevant documents that k ranks can hold, as recommender papers and Kaggle's MAP@k do.
    Source: Buckley & Voorhees, SIGIR 2000.
    """
    relevant = aligned.relevant_ranks(rel, cutoff)
    precisions = show("P at i", relevant.nth / relevant.rank, relevant.rank)
    total = show("sum of P at i", aligned.total(relevant.topic, precisions))
    return divide(total, most_found(show("R", aligned.relevant(rel)), cutoff, norm))


def most_found(number: Ints, cutoff: int | None, norm: Literal["R", "min"]) -> Ints:
    """(T,): what a sum over relevant documents is divided by: R, or the most that k ranks can hold."""
    if norm == "R" or cutoff is None:
        return number
    return show("min(R, k)", np.minimum(number, cutoff))


@MEASURES.add(
    "GMAP",
    label="Geometric mean of AP",
    description="Geometric mean of AP over topics, which emphasises hard topics.",
    summary="geometric mean",
)
def geometric_average_precision(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """GMAP = (product of AP over the T topics)^(1/T); an AP below 0.00001 counts as 0.00001.

    The value of one topic is its AP. Source: Robertson, CIKM 2006.
    """
    return average_precision(aligned, rel=rel)


@MEASURES.add(
    "Rprec", label="R-precision", description="Precision at rank R, where R is the number of relevant documents."
)
def r_precision(aligned: Aligned, *, rel: Positive = 1, mult: Positive = 1.0) -> Floats:
    """Rprec = (relevant documents in the first R) / R.

    With `mult`, precision at rank mult * R, rounded as trec_eval's Rprec_mult does. Source: TREC-2 appendix (Harman,
    1994).
    """
    # trec_eval rounds up so.
    depth = show("rank", (mult * aligned.relevant(rel) + 0.9).astype(np.int64))
    return divide(show("relevant up to it", aligned.count_to(depth, rel)), depth)


@MEASURES.add(
    "IPrec",
    label="Interpolated precision",
    description="Highest precision at any rank where a recall level is reached.",
    differs=dict.fromkeys(
        ("trec_eval 9", "pytrec_eval", "ir_measures"),
        "truncates r * R + 0.9 instead of rounding r * R; --compat 9 does the same",
    ),
)
def interpolated_precision(aligned: Aligned, *, recall: Share | None = None, rel: Positive = 1) -> Floats:
    """IPrec@r = highest P@i over the ranks i at which at least r * R relevant documents (rounded) are found.

    Without ``@``, the mean over the eleven recall levels 0, 0.1, ..., 1 (trec_eval's 11pt_avg).
    Source: Harman, TREC-2 appendix, 1994; Salton & McGill, 1983.
    """
    relevant = aligned.relevant_ranks(rel)
    show("P at i", relevant.nth / relevant.rank, relevant.rank)
    if recall is not None:
        return _interpolated(aligned, recall, rel)
    levels = {i / 10: _interpolated(aligned, i / 10, rel) for i in range(11)}
    return np.sum([show(f"best from recall {level:g} on", values) for level, values in levels.items()], axis=0) / 11


def _interpolated(aligned: Aligned, recall: float, rel: float) -> Floats:
    relevant, number = aligned.relevant_ranks(rel), aligned.relevant(rel)
    # The last column stays 0: more relevant documents than there are.
    best = np.zeros((len(number), int(number.max(initial=0)) + 2))
    best[relevant.topic, relevant.nth] = relevant.nth / relevant.rank
    best = np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
    needed = recall * number
    if aligned.version == 9:
        needed = np.floor(needed + 0.9)
    else:
        whole = np.floor(needed)
        needed = whole + (needed - whole >= 0.5)
    show(f"relevant to find for recall {recall:g}", needed)
    column = np.clip(needed, 0, best.shape[1] - 1).astype(np.int64)
    return np.asarray(best[np.arange(len(number)), column])


@MEASURES.add(
    "Accuracy",
    label="Accuracy",
    description="Share of pairs of a relevant and another document in which the relevant one ranks higher.",
    monotone=0,
    differs={
        "ir_measures": "leaves topics without a relevant document in the ranking out of the mean, while they are 0"
        " here; keeps equal scores in the order of the file"
    },
)
def accuracy(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1) -> Floats:
    """Accuracy = share of the pairs (relevant, not relevant) of retrieved documents with the relevant one first.

    Unjudged documents count as not relevant, and only retrieved documents (to rank k) count. It is 1 if only relevant
    documents were retrieved and 0 if none was, two cases for which ir_measures has no value. This is the area under
    the ROC curve of the ranking.
    """
    relevant, hits = aligned.relevant_ranks(rel, cutoff), aligned.count(rel, cutoff)
    others = aligned.within(cutoff) - hits
    above = aligned.total(relevant.topic, show("not relevant above", relevant.rank - relevant.nth, relevant.rank))
    wrong = divide(above, show("pairs", hits * others))
    return np.where(hits > 0, 1.0 - wrong, 0.0)


add_description = partial(MEASURES.add, monotone=0, descriptive=True)
"""Adds a measure that describes a run or the qrels and does not say how good a system is."""


@add_description(
    "Judged",
    label="Judged",
    description="Share of the first k documents that are judged.",
    differs={
        "ir_measures": "orders equal scores by ascending document id; documents with a grade below 0 count as judged"
    },
)
def judged(aligned: Aligned, *, cutoff: int | None = None) -> Floats:
    """Judged@k = (judged documents in the first k) / min(k, retrieved documents).

    The lower it is, the more the other values depend on how unjudged documents count.
    """
    within = show("min(k, retrieved)", aligned.within(cutoff))
    return divide(show("judged of them", within - aligned.unjudged(cutoff)), within)


@add_description("Unjudged", label="Unjudged", description="Share of the first k documents that are unjudged.")
def unjudged(aligned: Aligned, *, cutoff: int | None = None) -> Floats:
    """Unjudged@k = (unjudged documents in the first k) / k; without ``@``, divided by the retrieved documents.

    Ranks after the end of a run count as judged (trec_eval's unj_k).
    """
    unjudged = show("unjudged", aligned.unjudged(cutoff))
    divisor = aligned.retrieved if cutoff is None else np.full(len(unjudged), cutoff)
    return divide(unjudged, show("divisor", divisor))
