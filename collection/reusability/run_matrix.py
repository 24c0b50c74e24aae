"""Runs and judgements as arrays in which judgements can be removed, and statistics of their topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError
from collection.core.frames import QRELS
from collection.core.phrases import join
from collection.core.records import Run
from collection.measures import (
    UNJUDGED,
    UNPOOLED,
    Aligned,
    Measure,
    QrelsIndex,
    align,
    as_measure,
    index_qrels,
)
from collection.measures.aligned import Grades, compact_grades, grade_levels
from collection.measures.qrels_index import stack_by_topic
from collection.statistics.rank_correlation import kendall

PairNumbers = npt.NDArray[np.int32]
"""Numbers of pairs, -1 where there is none."""

UNLISTED = np.iinfo(np.int32).max
"""The place of a document that a run does not have."""

DIGITS = 12
"""Number of decimals in which equal means agree, so that the order of summation changes no place."""


@dataclass(frozen=True)
class RunMatrix:
    """R runs, T topics, D the depth of the deepest ranking, P judged pairs, J the most in a topic.

    Attributes
    ----------
    runs, topics
        Names of the runs, and the topics that have a judgement; both sorted, as the pairs are by topic and document,
        so that no sum, random sample or tie depends on the order of the input.
    doc_ids, topic, grade
        (P,): the document of each pair, the row of its topic, and its grade, 0 or more.
    cells
        (R, T, D): the pair at each rank in the order in which measures read a run; -1 where the document is unjudged
        or the ranking has ended.
    retrieved
        (R, T): how many documents the run has for the topic.
    places
        (P, R): the place, from 1, at which the run lists the document, as pools use it; :data:`UNLISTED` where it does
        not have it. Places differ from the ranks of :attr:`cells` where scores are equal.
    listed
        (R, T, D): the pairs in the order of the list; `cells` itself where no scores are equal.
    best
        (T, J): the pairs of each topic, highest grade first; -1 as padding.
    levels
        The different grades above 0, lowest first.
    rel
        The lowest relevant grade.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    doc_ids: pd.Series[str]
    topic: Ints
    grade: Floats
    cells: PairNumbers
    retrieved: Ints
    places: PairNumbers
    listed: PairNumbers
    best: PairNumbers
    levels: tuple[float, ...]
    rel: float

    @property
    def relevant(self) -> Bools:
        """(P,): whether the pair is relevant."""
        return self.grade >= self.rel

    @cached_property
    def _known(self) -> Grades:
        """(P + 2,): the grade of each pair; then those of cells without a pair, and of the padding of judged pairs."""
        return compact_grades(np.concatenate([self.grade, [UNPOOLED, UNJUDGED]]))

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """The places of :attr:`cells` and :attr:`best` in :attr:`_known`, of the type that indexes fastest."""
        cells, best = (places.astype(np.intp) for places in (self.cells, self.best))
        cells[cells < 0], best[best < 0] = len(self.grade), len(self.grade) + 1
        return cells, best

    def _changed(self, taken: Bools) -> Ints:
        """The topics of the pairs `taken`; pairs are sorted by topic, and each topic has one."""
        starts = np.searchsorted(self.topic, np.arange(len(self.topics)))
        return np.flatnonzero(np.logical_or.reduceat(taken, starts))

    def only(self, runs: Bools) -> RunMatrix:
        """Select these runs, (R,); all judgements stay."""
        chosen = np.flatnonzero(runs)
        cells = self.cells[chosen]
        return replace(
            self,
            runs=tuple(self.runs[r] for r in chosen),
            cells=cells,
            retrieved=self.retrieved[chosen],
            places=self.places[:, chosen],
            listed=cells if self.listed is self.cells else self.listed[chosen],
        )

    def aligned(self, taken: Bools | None = None, rows: Ints | None = None) -> Aligned:
        """All runs as one matrix for measures: R x T rows, the topics of the first run above.

        Judgements `taken`, (P,), count as unjudged, but the scale of grades stays that of all; `rows` selects topics.
        """
        known = self._known
        if taken is not None:
            known = known.copy()
            np.copyto(known[:-2], UNJUDGED, where=taken)
        whole = rows is None or len(rows) == len(self.topics)
        rows = np.arange(len(self.topics)) if rows is None else rows
        cells, best = self._places
        grades = known.take(cells if whole else cells[:, rows])
        judged = known.take(best if whole else best[rows])
        if taken is not None:
            judged = _close_gaps(judged)
        count = len(self.runs)
        return Aligned(
            topics=[self.topics[row] for row in rows] * count,
            grades=grades.reshape(count * len(rows), -1),
            retrieved=self.retrieved[:, rows].reshape(-1),
            judged=np.tile(judged, (count, 1)),
            levels=self.levels,
            ignored_topics=[],
        )

    def values(self, measures: Sequence[Measure], taken: Bools | None = None, before: Floats | None = None) -> Floats:
        """(M, R, T): the value of every measure, run and topic.

        Parameters
        ----------
        measures
            M measures over plain qrels.
        taken
            (P,): judgements to remove first.
        before
            (M, R, T): the values with all judgements, if known; then only topics that lose one are computed again.
        """
        runs, topics = len(self.runs), len(self.topics)
        rows = np.arange(topics) if taken is None or before is None else self._changed(np.asarray(taken))
        values = np.empty((len(measures), runs, topics)) if before is None else before.copy()
        if len(rows):
            aligned = self.aligned(taken, rows)
            for of_measure, measure in zip(values, measures, strict=True):
                of_measure[:, rows] = measure(aligned).reshape(runs, len(rows))
        return values


def _close_gaps(judged: Grades) -> Grades:
    """Move the grades that each row still has to its beginning, in the same order, with as few columns as possible."""
    is_left = judged > UNJUDGED
    counts = np.count_nonzero(is_left, axis=1)[:, None]
    closed = np.full((len(judged), int(counts.max(initial=0))), UNJUDGED, dtype=judged.dtype)
    closed[np.arange(closed.shape[1]) < counts] = judged[is_left]
    return closed


class OrderedRuns(Protocol):
    """Runs that are aligned without their texts, such as :class:`~collection.campaign.corpus.coded_runs.KeyedRuns`."""

    def align_both(self, index: QrelsIndex) -> Iterator[tuple[str, Aligned, Aligned]]:
        """Align each run as measures order it, and as it lists documents; twice the same if it is one order."""


def build_run_matrix(
    runs: Iterable[Run] | OrderedRuns, qrels: pd.DataFrame | QrelsIndex, *, rel: float = 1
) -> RunMatrix:
    """Align runs with qrels.

    Parameters
    ----------
    runs
        Any number; each is aligned once and released, so a generator keeps memory flat.
    qrels
        :data:`.QRELS`; other columns are ignored. Grades below 0 are unjudged. Of several grades for
        a pair the highest counts.
    rel
        The lowest relevant grade.

    Raises
    ------
    InputError
        There is no judgement, no run, or no topic in common; or two runs have the same name.

    Examples
    --------
    >>> from collection.measures import P
    >>> from collection.core.ranking import rank_run
    >>> qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [2, 1]})
    >>> run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "x"], "score": [2.0, 1.0]})
    >>> matrix = build_run_matrix([Run("r", rank_run(run))], qrels)
    >>> matrix.values([P @ 2]).tolist(), matrix.values([P @ 2], taken=[False, True]).tolist()
    ([[[0.5]]], [[[0.0]]])
    """
    if not isinstance(qrels, QrelsIndex):
        qrels = index_qrels(QRELS.check(qrels)[list(QRELS.names)])
    index, grade = _number_judged(qrels)
    if not len(grade):
        raise InputError("the qrels have no judgements; judge some pairs first")
    topics = index.topics
    topic, document = np.divmod(index.pairs, len(index.documents))
    numbered_runs: dict[str, tuple[PairNumbers, PairNumbers, Ints]] = {}
    for name, aligned, as_listed in _align_both(runs, index):
        if name in numbered_runs:
            raise InputError(f"two runs have the name {name!r}; rename one of them")
        cells = np.maximum(aligned.grades, -1)
        numbered_runs[name] = (
            cells,
            cells if as_listed is aligned else np.maximum(as_listed.grades, -1),
            aligned.retrieved,
        )
    if not numbered_runs:
        raise InputError("there are no runs to assess; name or import some")
    names = sorted(numbered_runs)
    all_cells, all_listed, all_retrieved = zip(*(numbered_runs[name] for name in names), strict=True)
    retrieved = np.stack(all_retrieved)
    if not (retrieved > 0).any():
        raise InputError(f"no run has a topic of the qrels (first topics: {join(topics[:3])})")
    whole = _stack(all_cells)
    in_list_order = whole if all(a is b for a, b in zip(all_cells, all_listed, strict=True)) else _stack(all_listed)
    places = np.full((len(grade), len(names)), UNLISTED, dtype=np.int32)
    number, row, column = np.nonzero(in_list_order >= 0)
    places[in_list_order[number, row, column], number] = column + 1
    best_first = np.lexsort((-grade, topic))
    return RunMatrix(
        runs=tuple(names),
        topics=tuple(map(str, topics)),
        doc_ids=pd.Series(index.documents.take(document), dtype="str"),
        topic=topic.astype(np.int64),
        grade=grade,
        cells=whole,
        retrieved=retrieved,
        places=places,
        listed=in_list_order,
        best=stack_by_topic(topic[best_first], best_first.astype(np.int32), len(topics), -1),
        levels=grade_levels(grade),
        rel=rel,
    )


def _number_judged(index: QrelsIndex) -> tuple[QrelsIndex, Floats]:
    """The judged pairs, by topic and document id, with their places as grades; and their grades."""
    import pyarrow.compute as pc

    documents, width = index.documents, max(1, len(index.documents))
    judged = index.grade > UNJUDGED
    topic, document = np.divmod(index.pairs[judged], width)
    graded = sorted(np.flatnonzero(np.bincount(topic)).tolist(), key=index.topics.__getitem__)
    new_topic = np.zeros(len(index.topics), dtype=np.int64)
    new_topic[graded] = np.arange(len(graded))
    if not pc.all(pc.less(documents[:-1], documents[1:])).as_py():
        order = pc.sort_indices(documents)
        documents, new_document = documents.take(order), np.empty(width, dtype=np.int64)
        new_document[order.to_numpy()] = np.arange(width)
        document = new_document[document]
    pairs = new_topic[topic] * width + document
    order = slice(None) if (np.diff(pairs) > 0).all() else np.argsort(pairs, kind="stable")
    numbered = QrelsIndex(
        topics=[index.topics[place] for place in graded],
        documents=documents,
        highest=0,
        pairs=pairs[order],
        grade=np.arange(len(pairs), dtype=np.int32),
        judged=np.empty((len(graded), 0), dtype=np.int32),
        levels=(),
        stratum=None,
        sample=None,
        subtopics=None,
        known=None,
    )
    return numbered, index.grade[judged][order].astype(np.float64)


def _align_both(runs: Iterable[Run] | OrderedRuns, index: QrelsIndex) -> Iterator[tuple[str, Aligned, Aligned]]:
    """Align each run in the order of measures, and as it is listed."""
    if not isinstance(runs, Iterable):
        yield from runs.align_both(index)
        return
    for run in runs:
        aligned = listed = align(run.frame, index)
        if (run.frame["listed"] != run.frame["rank"]).any():
            as_listed = run.frame.assign(score=-run.frame["listed"].to_numpy(dtype=np.float64))
            listed = align(as_listed, index)
        yield run.name, aligned, listed


def summarise_runs(measures: Sequence[Measure], values: Floats) -> Floats:
    """(M, R): the mean (or sum) of each measure over topics, from values (M, R, T)."""
    return np.array([[m.summarise(topics) for topics in runs] for m, runs in zip(measures, values, strict=True)])


def place_runs(measures: Sequence[Measure], of_runs: Floats) -> Ints:
    """(M, R): the place of each run, 1 the best; equal means share the better place."""
    placed = [
        pd.Series(row.round(DIGITS)).rank(method="min", ascending=measure.entry.monotone < 0)
        for measure, row in zip(measures, of_runs, strict=True)
    ]
    return np.array(placed, dtype=np.int64).reshape(of_runs.shape)


def tau(one: Floats, other: Floats) -> float:
    """Kendall's tau-b of two rows of values; nan if one of them has no order.

    >>> tau(np.array([0.3, 0.2, 0.1]), np.array([0.5, 0.6, 0.4]))
    0.333...
    """
    return kendall(one.round(DIGITS), other.round(DIGITS))


def _stack(matrices: Sequence[PairNumbers]) -> PairNumbers:
    """(R, T, D) of R matrices, padded to the deepest."""
    deepest = max(m.shape[1] for m in matrices)
    return np.stack([np.pad(m, ((0, 0), (0, deepest - m.shape[1])), constant_values=-1) for m in matrices])


def describe_topics(matrix: RunMatrix, measure: Measure | str, *, before: Floats | None = None) -> pd.DataFrame:
    """Describe each topic for these systems, by a measure over plain qrels.

    `before`, (1, R, T), has the values of the measure, if known.

    Returns
    -------
    DataFrame
        One row per topic, by name: ``query_id``, ``judged``, ``relevant`` (documents),
        ``prevalence`` (relevant / judged), ``mean``, ``median`` and ``spread`` (standard deviation) of the systems'
        values, ``agrees`` (tau-b of the order by this topic alone with the order by all; low: it contradicts the rest),
        ``without`` (tau-b of the order by all other topics with the order by all; low: a large influence).
    """
    measure = as_measure(measure)
    (values,) = before = matrix.values([measure]) if before is None else before
    (overall,) = summarise_runs([measure], before)
    count = len(matrix.topics)
    judged = np.bincount(matrix.topic, minlength=count)
    relevant = np.bincount(matrix.topic[matrix.relevant], minlength=count)
    without = [summarise_runs([measure], np.delete(before, t, axis=2))[0] for t in range(count)]
    return pd.DataFrame(
        {
            "query_id": matrix.topics,
            "judged": judged,
            "relevant": relevant,
            "prevalence": relevant / judged,
            "mean": values.mean(axis=0),
            "median": np.median(values, axis=0),
            "spread": values.std(axis=0),
            "agrees": [tau(values[:, t], overall) for t in range(count)],
            "without": [tau(rest, overall) if count > 1 else float("nan") for rest in without],
        }
    )
