"""One run aligned with many qrels at once, which have the same pairs with different grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from collection.measures.aligned import UNJUDGED, UNPOOLED, Aligned, Grades
from collection.measures.measure import Measure
from collection.measures.qrels_index import QrelsIndex, index_qrels


def number_rows(pairs: pd.DataFrame) -> QrelsIndex:
    """Make qrels in which the grade of a pair (``query_id``, ``doc_id``) is its row number, for :func:`complete`."""
    return index_qrels(pairs[["query_id", "doc_id"]].assign(relevance=np.arange(len(pairs))))


def complete(numbered: Aligned, grades: Grades) -> Aligned:
    """Align one ranking with B qrels, as B x T topics, those of the first qrels first.

    One call of a measure then evaluates all of them; ``values.reshape(B, T)`` separates the values.

    Parameters
    ----------
    numbered
        A run aligned with the result of :func:`number_rows`.
    grades
        (pairs, B) grade of each pair in each of the qrels; UNJUDGED for pairs without one.

    Examples
    --------
    >>> from collection.measures import align, parse
    >>> run = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    >>> both = complete(align(run, number_rows(run)), np.array([[0, 1], [1, 0]]))
    >>> parse("RR")(both).tolist()
    [0.5, 1.0]
    """
    return next(complete_all([numbered], grades))


def complete_all(numbered: Iterable[Aligned], grades: Grades) -> Iterator[Aligned]:
    """Complete several runs that are aligned with the same numbers, sorting what they share once."""
    copies = grades.shape[1]
    levels = tuple(map(float, np.unique(grades[grades > 0])))
    judged = None
    for aligned in numbered:
        topics = len(aligned.topics)
        if judged is None:
            judged = -np.sort(-_spread(aligned.judged, grades, UNJUDGED), axis=1)
        yield replace(
            aligned,
            topics=[str(n) for n in range(copies * topics)],
            grades=_spread(aligned.grades, grades, UNPOOLED),
            retrieved=np.tile(aligned.retrieved, copies),
            judged=judged,
            levels=levels,
            ignored_topics=[],
        )


def _spread(numbers: Grades, grades: Grades, empty: int) -> Grades:
    """(T, width) row numbers -> (B x T, width) grades."""
    copies = grades.shape[1]
    table = np.vstack([grades, np.full((1, copies), empty, dtype=grades.dtype)])
    cells = table.T[:, np.where(numbers < 0, len(grades), numbers).astype(np.int64)]
    return cells.reshape(copies * len(numbers), numbers.shape[1])


def to_its_depth(numbered: Aligned, measure: Measure) -> Aligned:
    """Drop the ranks below the measure's cut-off, so that copies are small."""
    depth = measure.cutoff
    if depth is None or depth >= numbered.grades.shape[1]:
        return numbered
    return replace(numbered, grades=numbered.grades[:, :depth], retrieved=np.minimum(numbered.retrieved, depth))
