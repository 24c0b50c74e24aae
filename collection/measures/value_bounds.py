"""Bounds of a value over the possible grades of the unjudged documents in the ranking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from collection.errors import InputError
from collection.measures.aligned import UNJUDGED, Aligned, Floats, Grades, Ints, compact_grades
from collection.measures.graded import gain_of
from collection.measures.measure import Measure, as_measure

TRY_ALL = 4096
"""The most completions of a topic that are all tried, for measures that look at grades."""

CELLS = 1 << 22
"""Cells of candidates in memory at once."""


class Bounds(NamedTuple):
    """The lowest and the highest value of each topic, shape (T,) each."""

    lowest: Floats
    highest: Floats


def bounds(measure: Measure | str, aligned: Aligned, *, grades: Iterable[float] | None = None) -> Bounds:
    """Bound each value over the grades that the unjudged documents of the ranking could have.

    All of them get a grade of the scale, or none does, so that the value itself always lies between. If the scale is
    not known, the grades are those of the qrels and 0 (and a relevant one if there is none). Documents outside the
    ranking stay unjudged. A measure without `max_rel` keeps the highest grade of the qrels for it.

    For a given number of documents of each grade a *monotone* measure is highest with the better ones above and lowest
    with them below. Only these arrangements are tried, with every number of documents of each grade, one grade after
    the other until nothing changes. That is exact for every monotone measure of relevance yes or no, for the sums (CG,
    DCG, ERR, RBP) and for nDCG. For others (nERR, Q, GAP, INST, G, Accuracy and similar ones) every completion is tried
    where there are few; beyond that the search may stop short of the extremes.

    Parameters
    ----------
    measure
        Over plain qrels.
    aligned
        T topics.
    grades
        The scale: all grades that can be given, used or not.

    Raises
    ------
    InputError
        The measure reads strata or subtopics: an estimate over the unjudged has no such bounds. Or the qrels have a
        grade above the scale.

    Examples
    --------
    >>> from collection.measures import P, from_grades
    >>> bounds(P @ 4, from_grades([[1, None, 0, None]]))
    Bounds(lowest=array([0.25]), highest=array([0.75]))
    """
    measure = as_measure(measure)
    if measure.entry.needs:
        raise InputError(
            f"{measure} has no bounds, since it reads {measure.entry.needs}, which unjudged documents do not have"
        )
    scale = () if grades is None else tuple(float(grade) for grade in grades if grade > 0)
    if scale and aligned.levels and max(aligned.levels) > max(scale):
        raise InputError(
            f"grades: expected a scale up to the highest grade of the qrels ({max(aligned.levels):g}), "
            f"found {', '.join(f'{grade:g}' for grade in sorted({0, *scale}))}"
        )
    values = measure(aligned)
    lowest, highest = values.copy(), values.copy()
    for row, topic in enumerate(aligned.topics):
        one = aligned.only(topic)
        (places,) = np.nonzero(one.grades[0] <= UNJUDGED)
        if not len(places):
            continue
        levels = _levels(measure, one, scale)
        proven = measure.entry.monotone and not measure.entry.graded
        if measure.entry.found_only and not measure.parameters.get("relative"):
            found = _values(measure, one, places, np.outer(levels[[0, -1]], np.ones(len(places))))
        elif not proven and len(levels) ** len(places) <= TRY_ALL:
            found = _values(measure, one, places, np.array(list(product(levels, repeat=len(places)))))
        else:
            found = np.array(
                [_search(measure, one, order, levels, sign) for order, sign in _search_orders(measure, places)]
            )
        lowest[row], highest[row] = min(lowest[row], found.min()), max(highest[row], found.max())
    return Bounds(lowest, highest)


def _search_orders(measure: Measure, places: Ints) -> list[tuple[Ints, int]]:
    """Places by priority for better grades, in search of the highest (1) or lowest (-1) value."""
    above, below = places, places[::-1]
    orders = [(above, 1), (below, -1), (above, -1), (below, 1)]
    return {1: orders[:2], -1: orders[2:], 0: orders}[measure.entry.monotone]


def _levels(measure: Measure, one: Aligned, scale: tuple[float, ...]) -> Floats:
    """The possible grades of an unjudged document, including 0, smallest gain first."""
    if measure.entry.graded and "rel" not in measure.parameters:
        levels = np.unique([0.0, *one.levels, *scale] if scale else [0.0, *(one.levels or (1.0,))])
        gains = measure.parameters.get("gains")
        return levels[np.argsort(gain_of(levels, gains=gains), kind="stable")] if gains else levels
    # Only whether it is relevant counts.
    return np.array([0.0, max(one.top_grade, measure.parameters.get("rel", 1))])


def _search(measure: Measure, one: Aligned, places: Ints, levels: Floats, sign: int) -> float:
    """The highest (sign 1) or lowest (-1) value; `ends[j]` documents have level j + 1 or a better one."""
    ends = np.zeros(len(levels) - 1, dtype=np.int64)
    best = -np.inf
    while True:
        before = best
        for j in reversed(range(len(ends))):
            least = ends[j + 1] if j + 1 < len(ends) else 0
            # Those of lower levels go along: a document of level j has all the levels below it.
            tried = np.arange(least, len(places) + 1)
            candidates = np.repeat(ends[None], len(tried), axis=0)
            candidates[:, j] = tried
            candidates[:, :j] = np.maximum(candidates[:, :j], tried[:, None])
            values = sign * _values(measure, one, places, _given(len(places), levels, candidates))
            if values.max() > best:
                best, ends = float(values.max()), candidates[int(values.argmax())]
        # With one level there was nothing to choose but its end, and all of them were tried.
        if best <= before or len(ends) == 1:
            return sign * best


def _given(count: int, levels: Floats, ends: Ints) -> Grades:
    """(C, count) grades of the unjudged documents in each candidate."""
    levels = compact_grades(levels)
    given = np.full((len(ends), count), levels[0], dtype=levels.dtype)
    for j, level in enumerate(levels[1:]):
        given[np.arange(count) < ends[:, j, None]] = level
    return given


def _values(measure: Measure, one: Aligned, places: Ints, given: Floats) -> Floats:
    """(C,): the value of each candidate, some at a time: a candidate is as wide as the ranking."""
    at_once = max(1, CELLS // (one.grades.shape[1] + one.judged.shape[1] + len(places) + 1))
    parts = [measure(_completed(one, places, given[i : i + at_once])) for i in range(0, len(given), at_once)]
    return np.concatenate(parts)


def _completed(one: Aligned, places: Ints, given: Floats) -> Aligned:
    """The C candidates as topics of their own: in each the unjudged documents have got grades, (C, places)."""
    count = len(given)
    given = compact_grades(given)
    dtype = np.result_type(one.grades.dtype, given.dtype)
    grades = np.repeat(one.grades.astype(dtype), count, axis=0)
    grades[:, places] = given
    judged = np.concatenate([np.repeat(one.judged.astype(dtype), count, axis=0), given.astype(dtype)], axis=1)
    return replace(
        one,
        topics=[str(i) for i in range(count)],
        grades=grades,
        retrieved=np.repeat(one.retrieved, count),
        judged=-np.sort(-judged, axis=1),
    )
