"""A run aligned with qrels: the (topics x depth) matrix of grades that every measure reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from collection.core.arrays import Bools, Floats, Ints, distinct
from collection.core.ranking import Doubts

Grades = np.ndarray
"""Integers, or float64 where grades have fractions."""

Version = Literal[9, 10]
"""Version of trec_eval whose order of ties and recall levels apply."""

UNJUDGED = -1
"""Grade of a document that is in the qrels without a grade: pooled, but not judged."""

UNPOOLED = -2
"""Grade of a document that is not in the qrels, and of a rank beyond the end of the run."""


class RelevantRanks(NamedTuple):
    """The F relevant documents of a run, topic by topic, best rank first.

    Each has the row of its topic, its rank from 1, and the number of relevant documents at this rank or above; (F,).
    """

    topic: Ints
    rank: Ints
    nth: Ints


def places(cells: Bools) -> tuple[Ints, Ints]:
    """Row and column of every True, as np.nonzero, but three times faster if few are True."""
    return divmod(np.flatnonzero(cells), max(1, cells.shape[1]))


def compact_grades(grades: Floats) -> Grades:
    """Convert to small integers if all grades are whole, since these matrices are read many times."""
    if not (grades == np.trunc(grades)).all():
        return grades
    return grades.astype(np.int16 if grades.max(initial=0) < np.iinfo(np.int16).max else np.int64)


def grade_levels(grades: Grades) -> tuple[float, ...]:
    """The distinct grades above 0, lowest first."""
    return tuple(map(float, distinct(grades[grades > 0])))


@dataclass(frozen=True)
class Sample:
    """The strata of a sampled pool, and how much of each was judged."""

    stratum: Ints
    """(T, D): the stratum of the document at each rank, from 0; -1 where the pool has no such document."""
    size: Floats
    """(T, S): documents in each stratum; where only inclusion probabilities are known, their estimate."""
    judged: Floats
    """(T, S): those of them that were judged."""
    graded: Ints
    """(T, J): the strata of the documents in :attr:`Aligned.judged`, in their order; -1 as padding."""
    listed: bool
    """Whether the qrels also name the documents outside the sample (grade -1). Otherwise the retrieved documents of a
    stratum are estimated from the judged ones."""


@dataclass(frozen=True)
class Subtopics:
    """The grades for each of the topic's S subtopics, UNJUDGED where there is none.

    `grades` are (T, D, S), of the document at each rank; `judged` (T, P, S), of all documents that the qrels name.
    """

    grades: Grades
    judged: Grades


@dataclass(frozen=True)
class Aligned:
    """One run aligned with its qrels. T topics, D the depth of the deepest topic, J the most judged."""

    topics: list[str]
    """The T topics, in the order of the qrels. Every measure gives one value for each."""
    grades: Grades
    """(T, D): the grade of the document at each rank; :data:`UNJUDGED` or :data:`UNPOOLED`, both below 0, if none."""
    retrieved: Ints
    """(T,): how many documents the run has for the topic; 0 where it lacks the topic."""
    judged: Grades
    """(T, J): the grades of all judged documents of the topic, highest first, padded with UNJUDGED."""
    levels: tuple[float, ...]
    """The different grades above 0 that the qrels have anywhere, lowest first."""
    ignored_topics: list[str]
    """Topics of the run that the qrels do not have, in the run's order."""
    sample: Sample | None = None
    """Of qrels with strata or probabilities."""
    subtopics: Subtopics | None = None
    version: Version = 10
    """The trec_eval whose conventions hold."""
    doubts: Doubts = field(default_factory=Doubts)
    """What raises doubts about the order of the run."""
    unnamed: tuple[str, ...] = ()
    """Some documents of the run that the qrels do not name, for notes."""

    @cached_property
    def missing_topics(self) -> list[str]:
        """Topics of the qrels for which the run has no document; they count 0 in every mean."""
        return [t for t, n in zip(self.topics, self.retrieved, strict=True) if n == 0]

    @property
    def top_grade(self) -> float:
        """The highest grade in the qrels, at least 1."""
        return max([1.0, *self.levels])

    @cached_property
    def size(self) -> Ints:
        """(T,) number of documents in the run or the qrels, a lower bound of the size of the collection."""
        judged = (self.judged > UNJUDGED).sum(axis=1) - (self.grades > UNJUDGED).sum(axis=1)
        return self.retrieved + judged

    @cached_property
    def _by_level(self) -> tuple[dict[float, Ints], dict[float, RelevantRanks]]:
        """Results of :meth:`relevant` and :meth:`relevant_ranks`, for which most measures ask with the same level."""
        return {}, {}

    def relevant(self, rel: float = 1) -> Ints:
        """(T,) number of judged documents with grade `rel` or more."""
        numbers, _ = self._by_level
        if rel not in numbers:
            numbers[rel] = np.count_nonzero(self.judged >= rel, axis=1)
            numbers[rel].flags.writeable = False
        return numbers[rel]

    def nonrelevant(self, rel: float = 1) -> Ints:
        """(T,): how many documents are judged, with a grade below `rel`."""
        return np.count_nonzero((self.judged > UNJUDGED) & (self.judged < rel), axis=1)

    def top(self, cutoff: int | None) -> Grades:
        """(T, <= cutoff): the grades of the first `cutoff` ranks, or of all."""
        return self.grades if cutoff is None else self.grades[:, :cutoff]

    def hits(self, rel: float = 1, cutoff: int | None = None) -> Bools:
        """(T, <= cutoff): whether the document at this rank is relevant, that is of grade `rel` or more."""
        return self.top(cutoff) >= rel

    def count(self, rel: float = 1, cutoff: int | None = None) -> Ints:
        """(T,) number of relevant documents retrieved up to `cutoff`."""
        return np.count_nonzero(self.hits(rel, cutoff), axis=1)

    def relevant_ranks(self, rel: float = 1, cutoff: int | None = None) -> RelevantRanks:
        """The relevant documents up to `cutoff` one by one; most measures are sums over these few documents."""
        _, ranks = self._by_level
        if cutoff is not None and rel in ranks:
            top = ranks[rel].rank <= cutoff
            return RelevantRanks(*(array[top] for array in ranks[rel]))
        if rel not in ranks:
            topic, column = places(self.hits(rel, cutoff))
            first = np.searchsorted(topic, np.arange(len(self.topics)))
            found = RelevantRanks(topic, column + 1, np.arange(1, len(topic) + 1) - first[topic])
            if cutoff is not None:
                return found
            for array in found:
                array.flags.writeable = False
            ranks[rel] = found
        return ranks[rel]

    def count_to(self, depth: Ints, rel: float = 1) -> Ints:
        """(T,) number of relevant documents among the first `depth` (T,) of each topic."""
        hits = self.hits(rel)
        return np.count_nonzero(hits & (np.arange(hits.shape[1]) < depth[:, None]), axis=1)

    def total(self, topic: Ints, amounts: npt.ArrayLike) -> Floats:
        """(T,) sum of `amounts` by topic; `topic` has the topic of each amount."""
        summed: Floats = np.bincount(topic, np.asarray(amounts, dtype=np.float64), len(self.topics)).astype(np.float64)
        return summed

    def within(self, cutoff: int | None = None) -> Ints:
        """(T,) number of documents retrieved up to `cutoff`."""
        return self.retrieved if cutoff is None else np.minimum(self.retrieved, cutoff)

    def unjudged(self, cutoff: int | None = None) -> Ints:
        """(T,) number of unjudged documents retrieved up to `cutoff`."""
        return self.within(cutoff) - np.count_nonzero(self.top(cutoff) > UNJUDGED, axis=1)

    @cached_property
    def condensed(self) -> Aligned:
        """The same run without its unjudged documents (condensed list; Sakai, SIGIR 2007)."""
        judged = self.grades > UNJUDGED
        retrieved = np.count_nonzero(judged, axis=1)
        order = np.argsort(~judged, axis=1, kind="stable")[:, : retrieved.max(initial=0)]
        over = np.arange(order.shape[1]) >= retrieved[:, None]

        def closed_up(cells: Grades) -> Grades:
            flat = over if cells.ndim == 2 else over[..., None]
            index = order if cells.ndim == 2 else order[..., None]
            return np.where(flat, np.array(UNPOOLED, cells.dtype), np.take_along_axis(cells, index, axis=1))

        sample, subtopics = self.sample, self.subtopics
        return replace(
            self,
            grades=closed_up(self.grades),
            retrieved=retrieved,
            sample=sample and replace(sample, stratum=np.maximum(closed_up(sample.stratum), -1)),
            subtopics=subtopics and replace(subtopics, grades=closed_up(subtopics.grades)),
        )

    def binary(self, rel: float) -> Aligned:
        """The same run and qrels with grade 1 for grades of `rel` or more, and 0 for lower ones."""

        def flattened(grades: Grades) -> Grades:
            return np.where(grades > UNJUDGED, grades >= rel, grades).astype(np.int16)

        return replace(self, grades=flattened(self.grades), judged=flattened(self.judged), levels=(1.0,))

    def only(self, topic: str) -> Aligned:
        """The same for one topic only; its values do not change, since the grade levels stay those of all topics."""
        at = self.topics.index(topic)
        row, depth = slice(at, at + 1), int(self.retrieved[at])
        sample, subtopics = self.sample, self.subtopics
        return replace(
            self,
            topics=[topic],
            grades=self.grades[row, :depth],
            retrieved=self.retrieved[row],
            judged=self.judged[row],
            ignored_topics=[],
            sample=sample
            and Sample(
                sample.stratum[row, :depth], sample.size[row], sample.judged[row], sample.graded[row], sample.listed
            ),
            subtopics=subtopics and Subtopics(subtopics.grades[row, :depth], subtopics.judged[row]),
        )
