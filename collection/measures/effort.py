"""Measures of the effort to reach a recall.

A ranking is the order in which somebody screens documents. N is the number of documents of the collection: `documents`,
or those that the run or the qrels name. A relevant document that the run lacks is found only by reading all N. Topics
without a relevant document are 0.
"""

from __future__ import annotations

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.measures.aligned import Aligned
from collection.measures.sets import collection_size
from collection.measures.table import MEASURES, Amount, Count, Positive, Share
from collection.measures.trace import divide, show


def _reached(aligned: Aligned, recall: float, rel: float) -> tuple[Ints, Ints]:
    """(T,) how many relevant documents make that recall, (T,) the rank where the run has them; 0 where it never has."""
    # 0.95 * 20 is 19, whatever the last binary digit says.
    target = show("relevant to find", np.ceil(recall * aligned.relevant(rel) - 1e-9).astype(np.int64))
    relevant = aligned.relevant_ranks(rel)
    rank = np.zeros(len(target), dtype=np.int64)
    is_last = relevant.nth == target[relevant.topic]
    rank[relevant.topic[is_last]] = relevant.rank[is_last]
    return target, show("rank where the run has them", rank)


@MEASURES.add(
    "R_aRb",
    label="Recall at aR + b",
    description="Recall after reading a * R + b documents, where R is the number of relevant ones.",
)
def recall_at_effort(aligned: Aligned, *, rel: Positive = 1, a: Amount = 1.0, b: Amount = 0.0) -> Floats:
    """R_aRb = (relevant documents in the first a R + b) / R.

    Source: TREC total recall track (Roegiest, Cormack, Clarke & Grossman, 2015), recall@aR+b.
    """
    number = aligned.relevant(rel)
    depth = show("rank", np.floor(a * number + b + 1e-9).astype(np.int64))
    return divide(show("relevant up to it", aligned.count_to(depth, rel)), show("R", number))


@MEASURES.add(
    "Effort", label="Effort", description="Number of documents to read to reach a recall.", highest=np.inf, monotone=-1
)
def effort(aligned: Aligned, *, recall: Share, rel: Positive = 1, documents: Count | None = None) -> Floats:
    """Effort@r = rank of the relevant document with which recall r is reached; N if the run never reaches it."""
    size = collection_size(aligned, documents)
    target, rank = _reached(aligned, recall, rel)
    return np.where(target == 0, 0, np.where(rank > 0, rank, size)).astype(np.float64)


@MEASURES.add(
    "WSS", label="Work saved over sampling",
    description="Share of the reading that a ranking saves at a recall, compared with a random order.",
    lowest=-1.0,
)  # fmt: skip
def work_saved(aligned: Aligned, *, recall: Share, rel: Positive = 1, documents: Count | None = None) -> Floats:
    """WSS@r = (N - Effort@r) / N - (1 - r).

    Reading in random order saves 1 - r on average. WSS@95 is WSS@0.95. Source: Cohen, Hersh, Peterson & Yen,
    JAMIA 2006.
    """
    read = effort(aligned, recall=recall, rel=rel, documents=documents)
    size = show("N", collection_size(aligned, documents))
    show("read", read)
    saved = divide(size - read, size) - (1 - recall)
    return np.where(aligned.relevant(rel) > 0, saved, 0.0)


@MEASURES.add(
    "GainArea", label="Area under the gain curve", description="Recall averaged over all ranks of the collection."
)
def gain_area(aligned: Aligned, *, rel: Positive = 1, documents: Count | None = None) -> Floats:
    """GainArea = (1/N) * sum over i = 1 ... N of R@i.

    About 0.5 for a random order. CLEF's norm_area divides it by the value of the perfect order. Source: CLEF eHealth
    technology-assisted reviews (Kanoulas, Li, Azzopardi & Spijker, 2017).
    """
    size, relevant = collection_size(aligned, documents), aligned.relevant_ranks(rel)
    left = show("N - i + 1", size[relevant.topic] - relevant.rank + 1, relevant.rank)
    total = show("sum", aligned.total(relevant.topic, left))
    return divide(total, show("R", aligned.relevant(rel)) * show("N", size))


@MEASURES.add(
    "LastRel", label="Last relevant", description="Rank of the last relevant document of the run.", highest=np.inf,
    monotone=-1,
)  # fmt: skip
def last_relevant(aligned: Aligned, *, rel: Positive = 1) -> Floats:
    """LastRel = rank of the last relevant document of the run; 0 if it has none.

    It ignores relevant documents that the run lacks; Effort@1 does not. Source: CLEF eHealth
    technology-assisted reviews (Kanoulas, Li, Azzopardi & Spijker, 2017), last_rel.
    """
    relevant = aligned.relevant_ranks(rel)
    show("relevant", np.ones(len(relevant.rank)), relevant.rank)
    last = np.zeros(len(aligned.topics))
    np.maximum.at(last, relevant.topic, relevant.rank)
    return last


@MEASURES.add("PatR", label="Precision at recall", description="Precision at the rank where a recall is reached.")
def precision_at_recall(aligned: Aligned, *, recall: Share, rel: Positive = 1) -> Floats:
    """PatR@r = P@i at the first rank i where recall r is reached; 0 if it never is.

    IPrec@r is the highest precision from there on.
    """
    target, rank = _reached(aligned, recall, rel)
    return divide(target, rank)
