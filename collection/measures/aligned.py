"""A run laid over its qrels: the (topics x depth) matrix of grades that every measure reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.ranking import rank_run
from collection.records import QRELS_COLUMNS, require_columns

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Grades = npt.NDArray[Any]
"""Integers, or float64 where grades have fractions."""

UNJUDGED = -1
"""What a cell holds where nobody judged the document, its grade is negative, or the run has ended."""


@dataclass(frozen=True)
class Aligned:
    """One run laid over its qrels. T topics, D the depth of the deepest topic, J the most judged.

    Attributes
    ----------
    topics
        The T topics of the qrels, in the order of the qrels. Every measure gives one value for each.
    grades
        (T, D): the grade of the document at each rank; :data:`UNJUDGED` where there is none. Integers,
        or float64 where the qrels carry fractions.
    retrieved
        (T,): how many documents the run has for the topic; 0 where it lacks the topic.
    judged
        (T, J): the grades of all judged documents of the topic, highest first, padded with UNJUDGED.
    ignored_topics
        Topics of the run that the qrels do not have, in the run's order: nothing can be said of them.
    """

    topics: list[str]
    grades: Grades
    retrieved: Ints
    judged: Grades
    ignored_topics: list[str]

    @cached_property
    def missing_topics(self) -> list[str]:
        """Topics of the qrels for which the run has no document; they count 0 in every mean."""
        return [t for t, n in zip(self.topics, self.retrieved, strict=True) if n == 0]

    def relevant(self, rel: int = 1) -> Ints:
        """(T,): how many judged documents have grade `rel` or more."""
        return (self.judged >= max(rel, UNJUDGED + 1)).sum(axis=1)

    def nonrelevant(self, rel: int = 1) -> Ints:
        """(T,): how many documents are judged, with a grade below `rel`."""
        return ((self.judged > UNJUDGED) & (self.judged < rel)).sum(axis=1)

    def top(self, cutoff: int | None) -> Grades:
        """(T, <= cutoff): the grades of the first `cutoff` ranks, or of all."""
        return self.grades if cutoff is None else self.grades[:, :cutoff]

    def hits(self, rel: int = 1, cutoff: int | None = None) -> npt.NDArray[np.bool_]:
        """(T, <= cutoff): whether the document at this rank is relevant, that is of grade `rel` or more."""
        return self.top(cutoff) >= max(rel, UNJUDGED + 1)

    def unjudged(self, cutoff: int | None = None) -> Ints:
        """(T,): how many of the documents retrieved to `cutoff` nobody judged."""
        depth = self.top(cutoff).shape[1]
        within = np.minimum(self.retrieved, depth)
        return within - (self.top(cutoff) > UNJUDGED).sum(axis=1)


def align(run: pd.DataFrame, qrels: pd.DataFrame) -> Aligned:
    """Lay a run over its qrels.

    The run is put into trec_eval's order first (score descending, ties by document id descending; a
    rank column is ignored). Negative grades are unjudged. Topics of the qrels that the run lacks stay
    as empty rows.

    Parameters
    ----------
    run
        ``query_id``, ``doc_id``, ``score``; categorical columns (as the readers give them) are quickest.
    qrels
        ``query_id``, ``doc_id``, ``relevance``; one row per pair.

    Raises
    ------
    ColumnsError
        A frame lacks a column.
    """
    require_columns(qrels, QRELS_COLUMNS, "qrels")
    ranked = rank_run(run)
    topic_of_qrel, topics = pd.factorize(qrels["query_id"].astype(str))
    grade = _as_grades(qrels["relevance"])

    topic_codes, run_topics = _codes(ranked["query_id"])
    doc_codes, run_docs = _codes(ranked["doc_id"])
    topic_of_row = pd.Index(topics).get_indexer(run_topics)[topic_codes]
    known = topic_of_row >= 0
    there = set(topics)
    ignored = [t for t in run_topics if t not in there]
    rank = ranked["rank"].to_numpy()
    if not known.all():
        topic_of_row, doc_codes, rank = topic_of_row[known], doc_codes[known], rank[known]

    retrieved = np.bincount(topic_of_row, minlength=len(topics)).astype(np.int64)
    depth = int(retrieved.max(initial=0))
    grades = np.full((len(topics), depth), UNJUDGED, dtype=grade.dtype)
    grades[topic_of_row, rank - 1] = _look_up(
        topic_of_row, doc_codes, run_docs, topic_of_qrel, qrels["doc_id"].astype(str), grade
    )
    return Aligned(
        topics=[str(t) for t in topics],
        grades=grades,
        retrieved=retrieved,
        judged=_judged(topic_of_qrel, grade, len(topics)),
        ignored_topics=ignored,
    )


def _as_grades(relevance: pd.Series) -> Grades:
    """Small integers where the grades allow it (the matrix is read many times), negatives as UNJUDGED."""
    values = np.maximum(relevance.to_numpy(dtype=np.float64), UNJUDGED)
    values[values < 0] = UNJUDGED
    if (values == np.trunc(values)).all():
        return values.astype(np.int16 if values.max(initial=0) < np.iinfo(np.int16).max else np.int64)
    return values


def _codes(column: pd.Series) -> tuple[npt.NDArray[np.integer], list[str]]:
    """Integer codes and the names that they stand for; no string is touched where the column is coded."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = column.cat.remove_unused_categories() if len(column) < len(column.cat.categories) else column
        return used.cat.codes.to_numpy(), list(used.cat.categories.astype(str))
    codes, names = pd.factorize(column.astype(str))
    return codes, list(names)


def _look_up(
    topic_of_row: npt.NDArray[np.integer],
    doc_of_row: npt.NDArray[np.integer],
    run_docs: list[str],
    topic_of_qrel: npt.NDArray[np.integer],
    doc_of_qrel: pd.Series,
    grade: Grades,
) -> Grades:
    """The grade of each row of the run, by a sorted search over integer keys (topic, document)."""
    found = np.full(len(topic_of_row), UNJUDGED, dtype=grade.dtype)
    if not len(grade) or not len(found):
        return found
    # Documents are looked up among the judged ones, which are few, not the other way round.
    qrel_doc_codes, judged_docs = pd.factorize(doc_of_qrel)
    doc_in_qrels = pd.Index(judged_docs).get_indexer(pd.Index(run_docs, dtype=judged_docs.dtype))[doc_of_row]
    keys = topic_of_qrel.astype(np.int64) * len(judged_docs) + qrel_doc_codes
    order = np.argsort(keys, kind="stable")
    keys, grade = keys[order], grade[order]
    candidates = np.flatnonzero(doc_in_qrels >= 0)
    wanted = topic_of_row[candidates].astype(np.int64) * len(judged_docs) + doc_in_qrels[candidates]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    hit = keys[at] == wanted
    found[candidates[hit]] = grade[at[hit]]
    return found


def _judged(topic_of_qrel: npt.NDArray[np.integer], grade: Grades, topics: int) -> Grades:
    """(T, J): each topic's grades, highest first."""
    order = np.lexsort((-grade, topic_of_qrel))
    topic, grade = topic_of_qrel[order], grade[order]
    counts = np.bincount(topic, minlength=topics)
    column = np.arange(len(topic)) - np.repeat(np.cumsum(counts) - counts, counts)
    judged = np.full((topics, int(counts.max(initial=0))), UNJUDGED, dtype=grade.dtype)
    judged[topic, column] = grade
    return judged
