"""Measures of the retrieved set regardless of its order, and counts."""

from __future__ import annotations

from functools import partial

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.measures.aligned import UNJUDGED, Aligned
from collection.measures.ranked import add_description, combine_f
from collection.measures.table import MEASURES, Count, Positive
from collection.measures.trace import divide, show

LACKING = "is 0 for a topic that the run lacks"
"""How ir_measures differs in counts of the qrels."""


def collection_size(aligned: Aligned, documents: int | None) -> Ints:
    """(T,): N, the documents of the collection: `documents`, or those that the run or the qrels name."""
    if documents is None:
        return aligned.size
    at = int(aligned.size.argmax()) if len(aligned.size) else 0
    if len(aligned.size) and aligned.size[at] > documents:
        raise InputError(
            f"documents: expected at least {aligned.size[at]}, the number in the run and the qrels of topic "
            f"{aligned.topics[at]!r}, found {documents}"
        )
    return np.full(len(aligned.topics), int(documents))


@MEASURES.add("SetP", label="Set precision", description="Share of all retrieved documents that are relevant.")
def set_precision(aligned: Aligned, *, rel: Positive = 1, relative: bool = False) -> Floats:
    """SetP = (relevant documents retrieved) / (documents retrieved).

    With relative=True the divisor is min(documents retrieved, R) (trec_eval's set_relative_P).
    """
    divisor = np.minimum(aligned.retrieved, aligned.relevant(rel)) if relative else aligned.retrieved
    return divide(show("relevant retrieved", aligned.count(rel)), show("divisor", divisor))


@MEASURES.add("SetR", label="Set recall", description="Share of the relevant documents that were retrieved.")
def set_recall(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """SetR = (relevant documents retrieved) / R."""
    return divide(show("relevant retrieved", aligned.count(rel)), show("R", aligned.relevant(rel)))


@MEASURES.add(
    "SetF",
    label="Set F-measure",
    description="Harmonic mean of precision and recall of the retrieved set, weighted by beta.",
    differs={
        "trec_eval": "the x of its set_F.x is beta^2: set_F.2 is SetF(beta=1.4142135623730951) here",
        "ir_measures": "its beta is beta^2: its SetF(beta=4) is SetF(beta=2) here",
    },
)
def set_f(aligned: Aligned, *, rel: Positive = 1, beta: Positive = 1.0) -> Floats:
    """SetF = (1 + beta^2) SetP SetR / (beta^2 SetP + SetR).

    This is van Rijsbergen's F-beta. Source: van Rijsbergen, Information Retrieval, 2nd edition, 1979.
    """
    return combine_f(set_precision(aligned, rel=rel), set_recall(aligned, rel=rel), beta**2)


@MEASURES.add("SetAP", label="Set AP", description="Set precision times set recall.")
def set_average_precision(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """SetAP = SetP * SetR (trec_eval's set_map, which some tools call set MAP)."""
    hits = show("relevant retrieved", aligned.count(rel))
    return divide(hits**2, show("retrieved", aligned.retrieved) * show("R", aligned.relevant(rel)))


@MEASURES.add(
    "Utility",
    label="Utility",
    description="Linear utility: a value for each relevant or other document, retrieved or not.",
    lowest=-np.inf,
    highest=np.inf,
)
def utility(
    aligned: Aligned,
    *,
    rel: Positive = 1,
    a: float = 1.0,
    b: float = -1.0,
    c: float = 0.0,
    d: float = 0.0,
    documents: Count | None = None,
) -> Floats:
    """Utility = a * relevant retrieved + b * others retrieved + c * relevant not retrieved + d * others not retrieved.

    The number of others not retrieved needs the size of the collection, `documents`; without it, only documents in
    the run or the qrels count.
    Source: TREC filtering track (Robertson & Soboroff, 2002), trec_eval's utility.
    """
    return linear_utility(aligned, rel, (a, b, c, d), collection_size(aligned, documents))


def linear_utility(
    aligned: Aligned, rel: float, weights: tuple[float, float, float, float], size: Ints | int
) -> Floats:
    """(T,): the utility with these weights a, b, c, d for a collection of `size` documents."""
    a, b, c, d = weights
    hits = show("documents of weight a", aligned.count(rel))
    wrong = show("documents of weight b", aligned.retrieved - hits)
    missed = show("documents of weight c", aligned.relevant(rel) - hits)
    others = show("documents of weight d", size - aligned.retrieved - missed)
    return a * hits + b * wrong + c * missed + d * others


add_count = partial(add_description, summary="sum", highest=np.inf)


@add_count("NumRet", label="Retrieved", description="Number of documents retrieved.")
def number_retrieved(aligned: Aligned, *, rel: Positive | None = None) -> Floats:
    """NumRet = number of documents retrieved; with rel=n, of those with grade n or more."""
    return (aligned.retrieved if rel is None else aligned.count(rel)).astype(np.float64)


@add_count(
    "NumRel", label="Relevant", description="Number of documents judged relevant.", differs={"ir_measures": LACKING}
)
def number_relevant(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """NumRel = R, the number of documents judged relevant."""
    return aligned.relevant(rel).astype(np.float64)


@MEASURES.add(
    "NumRelRet",
    label="Relevant retrieved",
    description="Number of relevant documents retrieved.",
    summary="sum",
    highest=np.inf,
    found_only=True,
    differs={"ranx": "its hits is the mean over topics; this is the sum"},
)
def number_relevant_retrieved(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1) -> Floats:
    """NumRelRet = number of relevant documents retrieved (to rank k)."""
    return aligned.count(rel, cutoff).astype(np.float64)


@add_count(
    "NumNonrelRet",
    label="Nonrelevant retrieved",
    description="Number of retrieved documents that are judged not relevant.",
)
def number_nonrelevant_retrieved(aligned: Aligned, *, cutoff: int | None = None, rel: Positive = 1) -> Floats:
    """NumNonrelRet = number of documents retrieved (to rank k) and judged with a grade below `rel`."""
    grades = aligned.top(cutoff)
    return np.count_nonzero((grades > UNJUDGED) & (grades < rel), axis=1).astype(np.float64)


@add_description(
    "NumQ",
    label="Topics",
    description="Number of topics of the qrels.",
    summary="sum",
    differs={"ir_measures": LACKING},
)
def number_of_topics(aligned: Aligned) -> Floats:
    """NumQ = 1 for every topic of the qrels, including those that the run lacks."""
    return np.ones(len(aligned.topics))
