"""All runs laid over the qrels once, pair by pair: any judgements can then be taken away and the runs valued anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.errors import InputError
from collection.frames import QRELS
from collection.measures import UNJUDGED, UNPOOLED, Aligned, Floats, Measure, align, index_qrels
from collection.records import Run
from collection.statistics.rank_correlation import kendall

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

UNLISTED = np.iinfo(np.int32).max
"""The place of a document that a run does not have."""

DIGITS = 12
"""Means that agree in so many decimals are equal: a sum in another order moves no run."""


@dataclass(frozen=True)
class RunMatrix:
    """R runs, T topics, D the depth of the deepest ranking, P judged pairs, J the most in a topic.

    Attributes
    ----------
    runs, topics
        Names of the runs, and the topics that have a judgement; both sorted by name, as the pairs are by topic and
        document, so that nothing that is summed, drawn or tied depends on the order in which they came.
    doc_ids
        (P,): the document of each pair.
    topic
        (P,): the row of the topic of each pair.
    grade
        (P,): its grade, 0 or more.
    cells
        (R, T, D): the pair at each rank in the order in which measures read a run; -1 where the document is unjudged
        or the ranking has ended.
    retrieved
        (R, T): how many documents the run has for the topic.
    places
        (P, R): the place at which the run listed the document, from 1; :data:`UNLISTED` where it does not have it.
        Pools are made of these. They differ from the ranks of :attr:`cells` where scores are equal.
    listed
        (R, T, D): the pairs in the order of the list; `cells` itself where no scores are equal.
    best
        (T, J): the pairs of each topic, highest grade first; -1 as padding.
    levels
        The different grades above 0, lowest first.
    rel
        The lowest grade that counts as relevant.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    doc_ids: tuple[str, ...]
    topic: Ints
    grade: npt.NDArray[np.float64]
    cells: npt.NDArray[np.int32]
    retrieved: Ints
    places: npt.NDArray[np.int32]
    listed: npt.NDArray[np.int32]
    best: npt.NDArray[np.int32]
    levels: tuple[float, ...]
    rel: float

    @property
    def relevant(self) -> Bools:
        """(P,): whether the pair is relevant."""
        return self.grade >= self.rel

    def only(self, runs: Bools) -> RunMatrix:
        """The same of these runs, (R,); all judgements stay."""
        kept = np.flatnonzero(runs)
        cells = self.cells[kept]
        return replace(
            self,
            runs=tuple(self.runs[r] for r in kept),
            cells=cells,
            retrieved=self.retrieved[kept],
            places=self.places[:, kept],
            listed=cells if self.listed is self.cells else self.listed[kept],
        )

    def found_by(self, depth: int) -> Bools:
        """(P, R): whether the run listed the document in its first `depth`."""
        return self.places <= depth

    def aligned(self, taken: Bools | None = None, rows: Ints | None = None) -> Aligned:
        """All runs as one matrix that any measure reads: R x T rows, the topics of the first run above.

        Parameters
        ----------
        taken
            (P,): judgements that are taken away; these pairs are unjudged then. The scale of grades stays that of all.
        rows
            Only these topics.
        """
        rows = np.arange(len(self.topics)) if rows is None else rows
        known = _grades(np.where(taken, UNJUDGED, self.grade) if taken is not None else self.grade)
        # One more entry, at -1, for what is no pair.
        looked_up = np.append(known, np.array(UNPOOLED, known.dtype))
        best = looked_up[self.best[rows]]
        best = np.where(best > UNJUDGED, best, np.array(UNJUDGED, best.dtype))
        if taken is not None:
            best = -np.sort(-best, axis=1)
        count = len(self.runs)
        cells = looked_up[self.cells[:, rows]]
        return Aligned(
            topics=[self.topics[row] for row in rows] * count,
            grades=cells.reshape(count * len(rows), -1),
            retrieved=self.retrieved[:, rows].reshape(-1),
            judged=np.tile(best, (count, 1)),
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
            (P,): judgements that are taken away first.
        before
            (M, R, T): the values with all judgements. Where it is given only topics that lose one are computed anew.
        """
        rows = np.arange(len(self.topics))
        if taken is not None and before is not None:
            rows = np.unique(self.topic[taken])
        whole = np.empty((len(measures), len(self.runs), len(self.topics))) if before is None else before.copy()
        if len(rows) and measures:
            aligned = self.aligned(taken, rows)
            shape = (len(self.runs), len(rows))
            for number, measure in enumerate(measures):
                whole[number][:, rows] = measure(aligned).reshape(shape)
        return whole


def build_run_matrix(runs: Iterable[Run], qrels: pd.DataFrame, *, rel: float = 1) -> RunMatrix:
    """Lay runs over qrels.

    Parameters
    ----------
    runs
        Any number; each is aligned once and let go, so a generator keeps memory flat.
    qrels
        :data:`collection.frames.QRELS`; other columns are not looked at. Grades below 0 are unjudged. The
        highest counts of a pair that is there twice.
    rel
        The lowest grade that counts as relevant.

    Raises
    ------
    InputError
        There is no judgement, no run, or no topic that both have; two runs carry one name.

    Examples
    --------
    >>> from collection.measures import P
    >>> from collection.ranking import rank_run
    >>> qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [2, 1]})
    >>> run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "x"], "score": [2.0, 1.0]})
    >>> matrix = build_run_matrix([Run("r", rank_run(run))], qrels)
    >>> matrix.values([P @ 2]).tolist(), matrix.values([P @ 2], taken=[False, True]).tolist()
    ([[[0.5]]], [[[0.0]]])
    """
    QRELS.check(qrels)
    pairs = qrels[qrels["relevance"] >= 0].astype({"query_id": "str", "doc_id": "str"})
    pairs = (
        pairs.groupby(["query_id", "doc_id"], sort=True, observed=True)
        .agg(relevance=("relevance", "max"))
        .reset_index()
    )
    if not len(pairs):
        raise InputError("the qrels hold no judgement; judge some pairs first")
    topic, topics = pd.factorize(pairs["query_id"])
    # With the number of each pair in the place of its grade, aligning a run finds the pairs themselves.
    numbers = index_qrels(pairs.assign(relevance=np.arange(len(pairs))))
    names: list[str] = []
    cells: list[npt.NDArray[np.int32]] = []
    listed: list[npt.NDArray[np.int32]] = []
    retrieved: list[Ints] = []
    for run in runs:
        if run.name in names:
            raise InputError(f"two runs carry the name {run.name!r}; give one of them another")
        names.append(run.name)
        aligned = align(run.frame, numbers)
        cells.append(np.maximum(aligned.grades, -1).astype(np.int32))
        retrieved.append(aligned.retrieved)
        same = (run.frame["listed"] == run.frame["rank"]).all()
        as_listed = run.frame.assign(score=-run.frame["listed"].to_numpy(dtype=np.float64))
        listed.append(cells[-1] if same else np.maximum(align(as_listed, numbers).grades, -1).astype(np.int32))
    if not names:
        raise InputError("there is no run to look at; name or import some")
    by_name = sorted(range(len(names)), key=names.__getitem__)
    names, cells, listed, retrieved = (
        [names[n] for n in by_name],
        [cells[n] for n in by_name],
        [listed[n] for n in by_name],
        [retrieved[n] for n in by_name],
    )
    whole = _stacked(cells)
    if not (np.stack(retrieved) > 0).any():
        raise InputError(f"no run has a topic of the qrels, which begin with {[str(t) for t in topics[:3]]}")
    order = _stacked(listed) if any(a is not b for a, b in zip(cells, listed, strict=True)) else whole
    places = np.full((len(pairs), len(names)), UNLISTED, dtype=np.int32)
    for number, pair_at in enumerate(order):
        row, column = np.nonzero(pair_at >= 0)
        places[pair_at[row, column], number] = column + 1
    grade = pairs["relevance"].to_numpy(dtype=np.float64)
    return RunMatrix(
        runs=tuple(names),
        topics=tuple(map(str, topics)),
        doc_ids=tuple(pairs["doc_id"]),
        topic=topic.astype(np.int64),
        grade=grade,
        cells=whole,
        retrieved=np.stack(retrieved),
        places=places,
        listed=order,
        best=_best_first(topic, grade, len(topics)),
        levels=tuple(map(float, np.unique(grade[grade > 0]))),
        rel=rel,
    )


def summarise_runs(measures: Sequence[Measure], values: Floats) -> Floats:
    """(M, R): what each measure makes of its topics' values, (M, R, T)."""
    return np.array([[m.summarise(topics) for topics in runs] for m, runs in zip(measures, values, strict=True)])


def place_runs(measures: Sequence[Measure], of_runs: Floats) -> Ints:
    """(M, R): the place of each run, 1 the best; equal means share the better place."""
    placed = [
        pd.Series(row.round(DIGITS)).rank(method="min", ascending=measure.entry.monotone < 0)
        for measure, row in zip(measures, of_runs, strict=True)
    ]
    return np.array(placed, dtype=np.int64).reshape(of_runs.shape)


def tau(one: Floats, other: Floats) -> float:
    """Kendall's tau-b of two rows of values; nan where one of them has no order.

    Examples
    --------
    >>> tau(np.array([0.3, 0.2, 0.1]), np.array([0.5, 0.6, 0.4]))
    0.333...
    """
    return kendall(one.round(DIGITS), other.round(DIGITS))


def _stacked(matrices: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    """(R, T, D) of R matrices, padded to the deepest."""
    deepest = max(m.shape[1] for m in matrices)
    return np.stack([np.pad(m, ((0, 0), (0, deepest - m.shape[1])), constant_values=-1) for m in matrices])


def _best_first(topic: Ints, grade: Floats, topics: int) -> npt.NDArray[np.int32]:
    """(T, J): the pairs of each topic, highest grade first, -1 behind them."""
    order = np.lexsort((-grade, topic))
    counts = np.bincount(topic, minlength=topics)
    column = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    matrix = np.full((topics, int(counts.max(initial=0))), -1, dtype=np.int32)
    matrix[topic[order], column] = order
    return matrix


def _grades(grade: Floats) -> npt.NDArray[np.float64] | npt.NDArray[np.int16]:
    """Small integers where the grades allow it: the matrix is read many times."""
    whole = (grade == np.trunc(grade)).all() and grade.max(initial=0) < np.iinfo(np.int16).max
    return grade.astype(np.int16) if whole else grade
