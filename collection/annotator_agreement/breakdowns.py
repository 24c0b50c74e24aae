"""Agreement seen from all sides: over all, between annotators, topic by topic, over time, and pair by pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypedDict, Unpack, get_args

import numpy as np
import pandas as pd

from collection.annotator_agreement.bootstrap import By, build_frame, compute_rows, values
from collection.annotator_agreement.coefficients import MIN_COMMON_PAIRS, Patterns
from collection.annotator_agreement.labels import MISSING, Codes, Labels
from collection.records import in_natural_order

WINDOWS = 10
"""Windows over time."""
SMALLEST_WINDOW = 10
"""Pairs in a window at least."""


Breakdown = Literal["between", "topics", "rest", "windows"]
BREAKDOWNS: tuple[Breakdown, ...] = get_args(Breakdown)
"""What agreement is seen from beside over all."""

KEYS: dict[Breakdown, list[str]] = {
    "between": ["a", "b", "pairs"],
    "topics": ["query_id", "pairs"],
    "rest": ["annotator", "pairs", "difference"],
    "windows": ["window", "first_at", "last_at", "pairs"],
}
"""The columns of each before those of values."""


Part = tuple[tuple[object, ...], list[tuple[object, ...]]]
"""The keys of a part, and the rows of its values."""


class Options(TypedDict, total=False):
    """Parameters of :func:`values`."""

    level: float
    resamples: int
    seed: int
    by: By


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree.

    Attributes
    ----------
    annotators
        Who graded something, by name.
    pairs
        Pairs that anybody graded.
    several
        Those of them that two annotators or more graded.
    judgements
        Grades in all.
    complete
        Whether every annotator graded every pair.
    grades
        The scale.
    level, resamples, seed, by
        As they were asked for; `by` is what was drawn for the intervals.
    values
        Over all: ``scale`` ("graded", "binary"), ``coefficient``, ``value``, ``low``, ``high``, ``note``; of several
        annotators Cohen's kappas and the overlap are plain means over every two of them; those with fewer than 10
        pairs in common are left out where others have more.
    between
        The same for every two annotators who graded a pair in common: ``a``, ``b``, ``pairs``, then as in `values`.
    topics
        The same for every topic with a pair of several annotators: ``query_id``, ``pairs`` (of several annotators),
        then as in `values`. Intervals are by pairs whatever `by` says.
    rest
        The same for every annotator against the majority of the others (in a tie the lower grade): ``annotator``,
        ``pairs``, ``difference`` (mean of their grade minus the mean of the others': above 0 for the generous), then
        as in `values`.
    windows
        The same for windows of equally many pairs in the order in which they were finished, that is in which the last
        of their judgements came: ``window`` (from 1), ``first_at``, ``last_at`` (UTC), ``pairs``, then as in `values`.
        Without pairs of which that is not known.
    notes
        Sentences on what the numbers do not rest on.
    """

    annotators: tuple[str, ...]
    pairs: int
    several: int
    judgements: int
    complete: bool
    grades: tuple[float, ...]
    level: float
    resamples: int
    seed: int
    by: By
    values: pd.DataFrame
    between: pd.DataFrame
    topics: pd.DataFrame
    rest: pd.DataFrame
    windows: pd.DataFrame
    notes: tuple[str, ...]


def agreement(
    frame: pd.DataFrame | Labels,
    *,
    level: float = 1,
    resamples: int = 1000,
    seed: int = 0,
    by: By = "pairs",
    grades: Iterable[float] | None = None,
    sides: Collection[Breakdown] = BREAKDOWNS,
) -> Agreement:
    """How far annotators agree, from all sides.

    Parameters
    ----------
    frame
        :data:`collection.frames.LABELS`, and perhaps ``judged_at``; see :meth:`Labels.of`. Annotators may have graded
        different pairs.
    level, resamples, seed, by
        As for :func:`values`.
    grades
        The scale, where it has grades that nobody gave: the number of grades counts for Gwet's coefficients.
    sides
        Which frames beside `values` are wanted; the others are left empty.

    Raises
    ------
    ColumnsError, InputError
        As for :meth:`Labels.of` and :func:`values`. Never because the labels are too few or too much alike: what has
        no value is nan, with a note.

    Examples
    --------
    >>> labels = pd.DataFrame(
    ...     [("ann", "1", "d1", 2), ("ann", "1", "d2", 0), ("ann", "1", "d3", 1),
    ...      ("bob", "1", "d1", 2), ("bob", "1", "d2", 0), ("bob", "1", "d3", 2)],
    ...     columns=["annotator", "query_id", "doc_id", "relevance"],
    ... )
    >>> found = agreement(labels, resamples=0)
    >>> found.several
    3
    >>> print(found.values.set_index(["scale", "coefficient"])["value"].round(3)["graded", "alpha-interval"])
    0.828
    """
    labels = frame if isinstance(frame, Labels) else Labels.of(frame, grades)
    options: Options = {"level": level, "resamples": resamples, "seed": seed}
    drawn: Options = {**options, "by": by}
    over_all = values(labels, **drawn)
    return Agreement(
        labels.annotators,
        len(labels.pairs),
        int(labels.several.sum()),
        labels.count,
        bool(labels.count) and bool((labels.codes != MISSING).all()),
        tuple(map(float, labels.grades)),
        level,
        resamples,
        seed,
        by,
        over_all,
        _stacked(_every_two(labels, drawn) if "between" in sides else (), KEYS["between"]),
        _stacked(_every_topic(labels, options) if "topics" in sides else (), KEYS["topics"]),
        _stacked(_every_annotator(labels, drawn) if "rest" in sides else (), KEYS["rest"]),
        _stacked(_every_window(labels, drawn) if "windows" in sides else (), KEYS["windows"]),
        tuple(_notes(labels, over_all)),
    )


def between(labels: Labels, **options: Unpack[Options]) -> pd.DataFrame:
    """Every two annotators who graded a pair in common; see :class:`Agreement`. `options` as for :func:`values`."""
    return _stacked(_every_two(labels, options), KEYS["between"])


def _every_two(labels: Labels, options: Options) -> Iterator[Part]:
    for a, b in combinations(labels.annotators, 2):
        two = labels.between(a, b)
        if len(two.pairs):
            yield (a, b, len(two.pairs)), compute_rows(two, **options)


def by_topic(labels: Labels, **options: Unpack[Options]) -> pd.DataFrame:
    """Every topic with a pair of several annotators; see :class:`Agreement`. `options` as for :func:`values`."""
    return _stacked(_every_topic(labels, options), KEYS["topics"])


def _every_topic(labels: Labels, options: Options) -> Iterator[Part]:
    several = labels.several
    topics, names = pd.factorize(labels.pairs["query_id"])
    for number, query_id in enumerate(names):
        places = np.flatnonzero(topics == number)
        if several[places].any():
            yield (str(query_id), int(several[places].sum())), compute_rows(labels.rows(places), **options)


def _every_annotator(labels: Labels, options: Options) -> Iterator[Part]:
    for annotator in labels.annotators:
        two = labels.against_rest(annotator)
        if len(two.pairs):
            yield (annotator, len(two.pairs), labels.difference(annotator)), compute_rows(two, **options)


def over_time(labels: Labels, **options: Unpack[Options]) -> pd.DataFrame:
    """Windows of equally many pairs as they were finished; see :class:`Agreement`. `options` as for :func:`values`.

    There are fewer than :data:`WINDOWS` where they would hold less than 10 pairs.
    """
    return _stacked(_every_window(labels, options), KEYS["windows"])


def _every_window(labels: Labels, options: Options) -> Iterator[Part]:
    known = np.flatnonzero(labels.several & labels.finished_at.notna().to_numpy())
    order = known[np.argsort(labels.finished_at.to_numpy()[known], kind="stable")]
    count = min(WINDOWS, len(order) // SMALLEST_WINDOW)
    for number, places in enumerate(np.array_split(order, count) if count else [], start=1):
        first, last = labels.finished_at.iloc[places[0]], labels.finished_at.iloc[places[-1]]
        yield (number, first, last, len(places)), compute_rows(labels.rows(places), **options)


def _stacked(parts: Iterable[Part], keys: list[str]) -> pd.DataFrame:
    """One frame of all parts, each row with the keys of its part."""
    return build_frame([(*part, *row) for part, rows in parts for row in rows], keys)


def confusion(labels: Labels, a: str | None = None, b: str | None = None) -> pd.DataFrame:
    """How often which grade met which other one.

    Parameters
    ----------
    labels
        Of any number of annotators.
    a, b
        Two annotators; all of them if left out.

    Returns
    -------
    DataFrame
        Grades x grades, counts. Of two annotators: rows `a`'s grades, columns `b`'s. Of all: every two judgements of a
        pair are counted, and since neither comes first, a disagreement stands in both of its cells; the matrix is
        symmetric, and its diagonal and what is below add up to the pairs of judgements.

    Raises
    ------
    UnknownNameError
        Nobody of that name has graded anything.
    """
    size = len(labels.grades)
    if a is not None and b is not None:
        # By place and not by name: the columns of `between` are in the order that was asked for.
        counts = _crossed(labels.between(a, b).codes.T, size)
    else:
        crossed = [_crossed(labels.codes[:, two].T, size) for two in combinations(range(labels.codes.shape[1]), 2)]
        one_way = np.sum(crossed, axis=0) if crossed else np.zeros((size, size), dtype=np.int64)
        counts = one_way + one_way.T - np.diag(np.diag(one_way))
    return pd.DataFrame(counts, index=labels.grades, columns=labels.grades)


def _crossed(two: Codes, size: int) -> np.ndarray:
    both = (two != MISSING).all(axis=0)
    first, second = two[:, both].astype(np.intp)
    return np.bincount(first * size + second, minlength=size * size).reshape(size, size)


def disagreements(
    labels: Labels,
    *,
    annotators: tuple[str, str] | None = None,
    grades: tuple[float, float] | None = None,
    query_id: str | None = None,
) -> pd.DataFrame:
    """Pairs that annotators grade differently: largest distance first, then by topic and document.

    Parameters
    ----------
    labels
        Of any number of annotators.
    annotators
        Only what these two say of pairs that both graded.
    grades
        Only pairs of one cell of :func:`confusion`: of two annotators the first's grade and the second's; of all, any
        two annotators who gave the one and the other.
    query_id
        Only this topic's.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``grades`` (a dictionary from annotator to grade), ``distance`` (highest minus
        lowest).

    Raises
    ------
    UnknownNameError
        Nobody of that name has graded anything.
    """
    asked = labels.rows(labels.several) if annotators is None else labels.between(*annotators)
    there = asked.codes != MISSING
    numbers = asked.grades[asked.codes] if len(asked.grades) else np.zeros(asked.codes.shape)
    if not len(asked.pairs):
        return pd.DataFrame(columns=["query_id", "doc_id", "grades", "distance"])
    distance = np.where(there, numbers, -np.inf).max(axis=1) - np.where(there, numbers, np.inf).min(axis=1)
    chosen = np.ones(len(distance), dtype=bool) if grades is not None else distance > 0
    if query_id is not None:
        chosen &= (asked.pairs["query_id"] == query_id).to_numpy()
    if grades is not None and annotators is not None:
        chosen &= (numbers == grades).all(axis=1)
    elif grades is not None:
        one, other = (((numbers == grade) & there).sum(axis=1) for grade in grades)
        chosen &= (one > 1) if grades[0] == grades[1] else (one > 0) & (other > 0)
    rows = np.flatnonzero(chosen)
    said = [
        {a: float(numbers[row, place]) for place, a in enumerate(asked.annotators) if there[row, place]} for row in rows
    ]
    found = asked.pairs.iloc[rows].assign(grades=pd.Series(said, index=rows, dtype=object), distance=distance[rows])
    found = in_natural_order(found.sort_values("doc_id", kind="stable"))
    return found.sort_values("distance", ascending=False, kind="stable").reset_index(drop=True)


def _notes(labels: Labels, over_all: pd.DataFrame) -> Iterator[str]:
    several, pairs = int(labels.several.sum()), len(labels.pairs)
    if labels.repeated:
        yield (f"{labels.repeated:,} rows are left out: the same annotator graded the same pair again further down, "
               "and the last word counts.")  # fmt: skip
    if several and several < pairs:
        yield (
            f"{pairs - several:,} of {pairs:,} pairs were graded by one annotator only: they count for how often each "
            "grade is given (Fleiss, Gwet), and nowhere else."
        )
    if several and len(set((labels.codes[labels.several] != MISSING).sum(axis=1).tolist())) > 1:
        yield "Pairs have different numbers of judgements: Fleiss' kappa is in Gwet's form for such tables."
    if several and len(labels.annotators) > 2:
        left_out = Patterns(labels).left_out
        few = (
            f" {left_out:,} pairs of annotators with fewer than {MIN_COMMON_PAIRS} pairs in common are left out of "
            "them."
            if left_out
            else ""
        )
        yield f"Cohen's kappas and the overlap are plain means over every two annotators with pairs in common.{few}"
