"""Graded measures.

A grade becomes a gain (nDCG and similar measures) or a probability of being content (ERR, RBP), which depends on the
highest possible grade: `max_rel`, or the highest grade of the qrels. Unjudged documents gain nothing. Grades may
have fractions, as labels inferred from clicks have. rel=n makes any of them binary: grade n or more counts 1.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.measures.aligned import UNJUDGED, Aligned, Grades, places
from collection.measures.ranked import add_description, most_found
from collection.measures.table import MEASURES, Gains, Persistence, Positive, Within
from collection.measures.trace import divide, show

Dcg = Literal["log2", "exp-log2"]

BY_CWL_EVAL = "keeps equal scores in the order of the file (cwl_eval), and needs max_rel"
"""Where ir_measures has cwl_eval compute a measure."""


def gain_of(grades: Grades, dcg: Dcg = "log2", gains: Gains | None = None) -> Floats:
    """The gain of each grade, same shape: the grade itself, 2^grade - 1, or what `gains` names; 0 below 0."""
    gain = np.maximum(grades, 0).astype(np.float64)
    if dcg == "exp-log2":
        if gain.max(initial=0) > 1000:
            raise InputError(f"the gain 2^grade - 1 is too large for the grade {gain.max():g}; use dcg='log2'")
        gain = np.exp2(gain) - 1
    for grade, value in (gains or {}).items():
        if grade >= 0:
            gain[grades == grade] = value
    return gain


def ideal_gain(aligned: Aligned, dcg: Dcg = "log2", gains: Gains | None = None, cutoff: int | None = None) -> Floats:
    """(T, J): the gains of all judged documents of each topic, highest first; or more than the first `cutoff`."""
    gain = gain_of(aligned.judged if gains else aligned.judged[:, :cutoff], dcg, gains)
    # With custom gains, a lower grade may gain more; documents with a gain below 0 are not in the ideal ranking.
    return -np.sort(-np.maximum(gain, 0), axis=1) if gains else gain


def _ranked_gain(
    aligned: Aligned, cutoff: int | None, dcg: Dcg = "log2", gains: Gains | None = None
) -> tuple[Ints, Ints, Floats]:
    """Topic, rank and gain of each judged document: a ranking is mostly unjudged, and powers are slow."""
    topic, column = places(aligned.top(cutoff) > UNJUDGED)
    return topic, column + 1, gain_of(aligned.grades[topic, column], dcg, gains)


def _dcg(aligned: Aligned, cutoff: int | None, dcg: Dcg, gains: Gains | None) -> Floats:
    topic, rank, gain = _ranked_gain(aligned, cutoff, dcg, gains)
    show("gain", gain, rank)
    discount = show("log2(i + 1)", np.log2(rank + 1), rank)
    discounted = show("gain / log2(i + 1)", gain / discount, rank)
    return show("DCG", aligned.total(topic, discounted))


def ideal_dcg(ideal: Floats, cutoff: int | None) -> Floats:
    """(T,): the DCG of the best ranking there could be."""
    ideal = show("ideal gain", ideal[:, :cutoff])
    # Summed one after the other as the ranking's is: the ideal ranking has exactly 1, not 1 and a last digit.
    total = np.zeros(len(ideal))
    if ideal.shape[1]:
        total = np.cumsum(ideal / np.log2(np.arange(2, ideal.shape[1] + 2)), axis=1)[:, -1]
    return show("ideal DCG", total)


@MEASURES.add(
    "nDCG",
    label="nDCG",
    description="Discounted gain of the ranking divided by that of the ideal ranking.",
    graded=True,
    differs={"ir_measures": "its nDCG(dcg='exp-log2')@k has five decimals (gdeval.pl)"},
)
def ndcg(aligned: Aligned, *, cutoff: int | None = None, dcg: Dcg = "log2", gains: Gains | None = None) -> Floats:
    """nDCG = DCG / ideal DCG, DCG = sum over ranks i of gain_i / log2(i + 1), gain_i = grade.

    The ideal ranking has all judged documents of the topic, highest gain first, cut at the same k. With
    dcg='exp-log2' the gain is 2^grade - 1 (Burges et al. 2005; Kaggle, XGBoost, gdeval.pl). gains={1:1,2:3,3:7} sets
    the gain of single grades.
    Source: Järvelin & Kekäläinen, TOIS 2002, with the discount of Burges et al., ICML 2005, as trec_eval's ndcg.
    """
    return divide(_dcg(aligned, cutoff, dcg, gains), ideal_dcg(ideal_gain(aligned, dcg, gains, cutoff), cutoff))


@MEASURES.add(
    "DCG", label="DCG", description="Discounted gain of the ranking.", graded=True, highest=np.inf, found_only=True
)
def dcg_(aligned: Aligned, *, cutoff: int | None = None, dcg: Dcg = "log2", gains: Gains | None = None) -> Floats:
    """DCG = sum over ranks i of gain_i / log2(i + 1), gain_i = grade.

    Gains are set as for nDCG. Source: Järvelin & Kekäläinen, TOIS 2002.
    """
    return _dcg(aligned, cutoff, dcg, gains)


@add_description(
    "IDCG", label="Ideal DCG", description="DCG of the ideal ranking: the divisor of nDCG.", graded=True, highest=np.inf
)
def ideal_dcg_(aligned: Aligned, *, cutoff: int | None = None, dcg: Dcg = "log2", gains: Gains | None = None) -> Floats:
    """IDCG = sum over ranks i of the ideal ranking of gain_i / log2(i + 1), gain_i = grade.

    The ideal ranking and gains are those of nDCG. Source: Järvelin & Kekäläinen, TOIS 2002.
    """
    return ideal_dcg(ideal_gain(aligned, dcg, gains, cutoff), cutoff)


@MEASURES.add("CG", label="CG", description="Gain of the first k ranks.", graded=True, highest=np.inf, found_only=True)
def cg(aligned: Aligned, *, cutoff: int | None = None, gains: Gains | None = None) -> Floats:
    """CG = sum over ranks i of gain_i, gain_i = grade.

    Source: Järvelin & Kekäläinen, SIGIR 2000.
    """
    topic, rank, gain = _ranked_gain(aligned, cutoff, gains=gains)
    return aligned.total(topic, show("gain", gain, rank))


SCALED_DEPTH = 1_000_000
"""The deepest rank of SDCG, whose divisor is a sum over all ranks."""


@MEASURES.add(
    "SDCG",
    label="Scaled DCG",
    description="DCG divided by that of a ranking in which every document has the highest grade.",
    graded=True,
    found_only=True,
    differs={"ir_measures": BY_CWL_EVAL},
)
def scaled_dcg(aligned: Aligned, *, cutoff: int, max_rel: Positive | None = None) -> Floats:
    """SDCG@k = sum over i <= k of (grade_i / max_rel) / log2(i + 1), divided by the sum of 1 / log2(i + 1).

    The value does not depend on how many relevant documents there are, since no ideal ranking is used. Source: Moffat
    et al., TOIS 2017.
    """
    if cutoff > SCALED_DEPTH:
        raise InputError(f"SDCG: expected a cut-off of at most {SCALED_DEPTH:,}, found {cutoff:,}")
    top = max_rel or aligned.top_grade
    topic, rank, gain = _ranked_gain(aligned, cutoff)
    scaled = show("gain / max_rel / log2(i + 1)", np.minimum(gain / top, 1) / np.log2(rank + 1), rank)
    total = show("sum", aligned.total(topic, scaled))
    most = (1 / np.log2(np.arange(2, cutoff + 2))).sum()
    return divide(total, show("sum of 1 / log2(i + 1)", np.full(len(total), most)))


def _err(grades: Grades, max_rel: float, named: str = "") -> Floats:
    """(T,): ERR of these rows; `named` is the prefix of the steps shown."""
    if max_rel > 1000:
        raise InputError(f"max_rel: expected at most 1,000, found {max_rel:g}; pass a smaller one, or use nDCG")
    stop = show(f"{named}content s", (np.exp2(np.clip(grades, 0, max_rel)) - 1) / np.exp2(max_rel))
    reached = show(f"{named}reaches i", product_before(1 - stop))
    terms = show(f"{named}s * reaches / i", stop * reached / np.arange(1, stop.shape[1] + 1))
    return show(f"{named}ERR", terms.sum(axis=1))


def product_before(factors: Floats) -> Floats:
    """(T, k): the product of the `factors`, (T, k), before each column."""
    product = np.ones_like(factors)
    np.cumprod(factors[:, :-1], axis=1, out=product[:, 1:])
    return product


@MEASURES.add(
    "ERR",
    label="Expected reciprocal rank",
    description="Expected reciprocal of the rank at which a user is satisfied and stops.",
    graded=True,
    found_only=True,
    differs={
        "ir_measures": "assumes that the highest grade is 4 (gdeval.pl); its ERR@20 is ERR(max_rel=4)@20 here, to five"
        " decimals"
    },
)
def expected_reciprocal_rank(aligned: Aligned, *, cutoff: int | None = None, max_rel: Positive | None = None) -> Floats:
    """ERR = sum over ranks i of (1/i) s_i * product over j < i of (1 - s_j), s = (2^grade - 1) / 2^max_rel.

    s_i is the probability that the document at rank i satisfies the user.
    Source: Chapelle, Metzler, Zhang & Grinspan, CIKM 2009.
    """
    return _err(aligned.top(cutoff), max_rel or aligned.top_grade)


@MEASURES.add("nERR", label="Normalised ERR", description="ERR divided by that of the ideal ranking.", graded=True)
def normalised_err(aligned: Aligned, *, cutoff: int | None = None, max_rel: Positive | None = None) -> Floats:
    """nERR = ERR / ERR of the ideal ranking, which has all judged documents in the order of their grades.

    Source: Chapelle, Metzler, Zhang & Grinspan, CIKM 2009; normalised as in the NTCIR tracks.
    """
    top = max_rel or aligned.top_grade
    return divide(_err(aligned.top(cutoff), top), _err(aligned.judged[:, :cutoff], top, "ideal "))


@MEASURES.add(
    "RBP", label="Rank-biased precision",
    description="Expected gain per document for a user who continues with probability p.",
    graded=True, found_only=True,
    differs={
        "trec_eval 10": "its rbp reads uninitialised memory, so its value is meaningless",
        "ir_measures": "keeps equal scores in the order of the file (cwl_eval), and needs rel",
        "ranx": "documented as binary, so rbp.95 is RBP(p=0.95,rel=1) here; but it sums the grades and can exceed 1",
    },
)  # fmt: skip
def rank_biased_precision(
    aligned: Aligned, *, cutoff: int | None = None, p: Persistence = 0.8, max_rel: Positive | None = None
) -> Floats:
    """RBP = (1 - p) * sum over ranks i of gain_i p^(i - 1), gain_i = grade / max_rel.

    With rel=n it is binary, as in the paper. Unjudged documents gain nothing, so the value is a lower bound;
    RBPResidual is the distance to the upper bound.
    Source: Moffat & Zobel, TOIS 2008.
    """
    topic, rank, gain = _ranked_gain(aligned, cutoff)
    gain = show("gain / max_rel", np.minimum(gain / (max_rel or aligned.top_grade), 1), rank)
    power = _powers(p, aligned.grades.shape[1])[rank - 1]
    show("(1 - p) p^(i - 1)", (1 - p) * power, rank)
    show("product", (1 - p) * gain * power, rank)
    return (1 - p) * aligned.total(topic, gain * power)


def _powers(p: float, number: int) -> Floats:
    """(number + 1,): p^0, p^1, ..., multiplied one after the other for the same last digit as in trec_eval."""
    return np.cumprod(np.append(1.0, np.full(number, p)))


@add_description(
    "RBPResidual",
    label="RBP residual",
    description="Increase of RBP if every unjudged document had the highest grade.",
)
def rbp_residual(aligned: Aligned, *, cutoff: int | None = None, p: Persistence = 0.8, tail: bool = True) -> Floats:
    """RBPResidual = (1 - p) * sum over the ranks i of unjudged documents of p^(i - 1), plus p^n for a run of n ranks.

    tail=False leaves out p^n, the weight of the ranks after the end of the run (or the cut-off), which no judgement
    can reduce. Source: Moffat & Zobel, TOIS 2008.
    """
    grades, within = aligned.top(cutoff), aligned.within(cutoff)
    powers = _powers(p, grades.shape[1])
    open_ = (grades <= UNJUDGED) & (np.arange(grades.shape[1]) < within[:, None])
    show("unjudged weight", np.where(open_, (1 - p) * powers[:-1], 0.0))
    topic, column = places(open_)
    inside = (1 - p) * aligned.total(topic, powers[column])
    beyond = show("beyond the end", powers[within])
    return inside + beyond if tail else inside


@MEASURES.add(
    "GAP", label="Graded average precision",
    description="AP averaged over users with different minimum relevant grades.",
    graded=True,
)  # fmt: skip
def graded_average_precision(aligned: Aligned, *, cutoff: int | None = None, weights: Gains | None = None) -> Floats:
    """GAP = (sum over grades j of w_j S_j) / (sum over grades j of w_j R_j).

    S_j is the sum of P@i over the ranks i of relevant documents, and R_j their number in the qrels, if documents with
    grade j or more are relevant. w_j is the share of users for whom j is the minimum relevant grade: equal for every
    grade of the qrels, or weights={1:.5,2:.3,3:.2}. Source: Robertson, Kanoulas & Yilmaz, SIGIR 2010.
    """
    share = dict.fromkeys(aligned.levels, 1.0) if weights is None else {j: w for j, w in weights.items() if j > 0}
    above, below = np.zeros(len(aligned.topics)), np.zeros(len(aligned.topics))
    for level, weight in share.items():
        relevant, of_level = aligned.relevant_ranks(level, cutoff), f"relevant from {level:g}"
        precisions = show(f"P at i, {of_level}", relevant.nth / relevant.rank, relevant.rank)
        total = show(f"sum of P at i, {of_level}", aligned.total(relevant.topic, precisions))
        number = show(f"R, {of_level}", aligned.relevant(level))
        show(f"w, {of_level}", np.full(len(total), float(weight)))
        above, below = above + weight * total, below + weight * number
    return divide(show("sum of w S", above), show("sum of w R", below))


@MEASURES.add(
    "Q",
    label="Q-measure",
    description="AP in which precision is blended with the ratio of cumulative gain to ideal cumulative gain.",
    graded=True,
    monotone=0,
)
def q_measure(
    aligned: Aligned,
    *,
    cutoff: int | None = None,
    beta: Annotated[float, Within(0)] = 1.0,
    gains: Gains | None = None,
    norm: Literal["R", "min"] = "min",
) -> Floats:
    """Q = (1/R) * sum over relevant ranks i of (found_i + beta cg_i) / (i + beta ideal cg_i).

    found_i and cg_i are the relevant documents and the cumulative gain to rank i; R is the number of documents with a
    gain. beta=0 is AP. With ``@k`` the divisor is min(R, k), as in NTCIREVAL; norm='R' keeps R. The value can fall when
    a document of a low grade moves up. Source: Sakai, NTCIR-4, 2004.
    """
    gain = gain_of(aligned.top(cutoff), gains=gains)
    ideal = np.cumsum(ideal_gain(aligned, gains=gains), axis=1)
    topic, column = places(gain != 0)
    so_far = np.cumsum(gain, axis=1)[topic, column]
    first = np.searchsorted(topic, np.arange(len(gain)))
    nth = np.arange(1, len(topic) + 1) - first[topic]
    # The ideal list ends at J: beyond it nothing is gained.
    best = ideal[topic, np.minimum(column, ideal.shape[1] - 1)]
    show("gain so far", so_far, column + 1)
    show("ideal gain so far", best, column + 1)
    blended = show("blended ratio", (nth + beta * so_far) / (column + 1 + beta * best), column + 1)
    number = show("R", np.count_nonzero(gain_of(aligned.judged, gains=gains), axis=1))
    total = show("sum", aligned.total(topic, blended))
    return divide(total, most_found(number, cutoff, norm))


@MEASURES.add(
    "Compat",
    label="Compatibility",
    description="Rank-biased overlap of the ranking with the ideal ranking.",
    graded=True,
    differs={
        "ir_measures": "orders equal scores by ascending document id; in its ideal ranking, documents that were not"
        " retrieved are placed as if their score were 0"
    },
)
def compatibility(aligned: Aligned, *, p: Persistence = 0.95, normalize: bool = True) -> Floats:
    """Compat = RBO(ranking, ideal) / RBO(ideal, ideal), RBO = sum over i <= D of w_i (overlap of the first i) / i.

    The ideal ranking has all documents with a grade above 0, highest first; equal grades are in the order of the run,
    then come those that were not retrieved. The overlap is the number of documents that both rankings have in the
    first i. D is the length of the longer one, and w_i is p^(i - 1) divided by the sum of these. normalize=False leaves
    out the division. Source: Clarke, Vtyurina & Smucker, TOIS 2021.
    """
    topic, column = places(aligned.grades > 0)
    ideal_topic, ideal_column = places(aligned.judged > 0)
    levels, code = np.unique(
        np.concatenate([aligned.judged[ideal_topic, ideal_column], aligned.grades[topic, column]]), return_inverse=True
    )
    # By topic, then the highest grade first: the order that the judged grades have anyway.
    group = np.concatenate([ideal_topic, topic]) * len(levels) - code
    ideal, retrieved = group[: len(ideal_topic)], group[len(ideal_topic) :]
    order = np.argsort(retrieved, kind="stable")
    nth = np.empty_like(order)
    nth[order] = np.arange(len(order)) - np.searchsorted(retrieved[order], retrieved[order])
    before = np.searchsorted(ideal, retrieved) - np.searchsorted(ideal_topic, topic)
    place = show("ideal rank", before + nth + 1, column + 1)
    both = show("in both from rank", np.maximum(column + 1, place), column + 1)

    number = show("documents of the ideal ranking", np.count_nonzero(aligned.judged > 0, axis=1))
    depth = show("D", np.maximum(aligned.retrieved, number))
    rank = np.arange(1, int(depth.max(initial=0)) + 1)
    weight = np.append(0.0, np.cumsum(p ** (rank - 1.0)))
    shared = np.append(0.0, np.cumsum(p ** (rank - 1.0) / rank))
    # A document that is in both from rank m on adds w_i / i at each rank i from m to D.
    overlap = show("RBO", divide(aligned.total(topic, shared[depth[topic]] - shared[both - 1]), weight[depth]))
    if not normalize:
        return overlap
    best = divide(weight[number] + number * (shared[depth] - shared[number]), weight[depth])
    return divide(overlap, show("RBO of the ideal ranking with itself", best))
