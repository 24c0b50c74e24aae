"""Bounds of a value over the possible grades of the unjudged documents in the ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.core.phrases import join
from collection.measures.aligned import UNJUDGED, Aligned, Grades, compact_grades
from collection.measures.graded import gain_of
from collection.measures.measure import Measure, as_measure

TRY_ALL = 4096
"""The most completions of a topic that are all tried, for measures that look at grades."""

MOST_NEW = 6
"""The most grades that the qrels do not have yet of which every set is tried."""

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
    ranking stay unjudged. A measure without `max_rel` reads the highest grade that the qrels have in the end, so every
    one that they may have is tried.

    Where few completions of a topic are possible, all of them are tried. Beyond that, for a given number of documents
    of each grade a *monotone* measure is highest with the better ones above and lowest with them below; only these
    arrangements are tried, with every number of documents of each grade, one grade after the other until nothing
    changes. That is exact for every monotone measure of relevance yes or no, for the sums (CG, DCG, ERR, RBP) and for
    nDCG; for the others see :func:`describe_search`.

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
    unjudged = aligned.unjudged() > 0
    for row, topic in enumerate(aligned.topics):
        one = aligned.only(topic)
        (places,) = np.nonzero(one.grades[0] <= UNJUDGED)
        if len(places):
            alone = unjudged.sum() == 1  # otherwise another topic may get the highest grade
            extremes = [_extremes(case, measure, places, levels) for case, levels in _cases(measure, one, scale, alone)]
        elif unjudged.any():
            extremes = [measure(case) for case, _ in _cases(measure, one, scale, alone=False)]
        else:
            continue
        tried = np.concatenate(extremes)
        lowest[row], highest[row] = min(lowest[row], tried.min()), max(highest[row], tried.max())
    return Bounds(lowest, highest)


def describe_search(measures: Iterable[Measure]) -> list[str]:
    """Write a note on measures whose bounds may not be the exact extremes."""
    given = list(measures)
    searched = [str(m) for m in given if m.entry.graded and not m.entry.found_only and m.name != "nDCG"]
    shared = [str(m) for m in given if m.entry.parameters.get("max_rel", 0) is None and "max_rel" not in m.parameters]
    notes = []
    if searched:
        notes.append(
            f"bounds of {join(searched)} are searched where a topic has more than {TRY_ALL:,} possible gradings, and "
            "may then be narrower than the extremes"
        )
    if shared:
        notes.append(
            f"bounds of the mean of {join(shared)} may be wider than the extremes, since all topics share the highest "
            "grade of the qrels; max_rel fixes it"
        )
    return notes


class _Levels(NamedTuple):
    """The grades that unjudged documents may get, smallest gain first, and those that one of them must get."""

    grades: Floats
    required: tuple[float, ...] = ()


def _cases(measure: Measure, one: Aligned, scale: tuple[float, ...], alone: bool) -> Iterator[tuple[Aligned, _Levels]]:
    """The topic with each set of levels that the qrels may have in the end, and the possible grades for each.

    Only measures that read the highest grade, or all grades, of the qrels have several cases.
    """
    levels = _levels(measure, one, scale)
    reads = next((name for name in ("max_rel", "weights") if measure.entry.parameters.get(name, 0) is None), "")
    new = [float(grade) for grade in levels if grade > 0 and grade not in one.levels]
    if not reads or measure.parameters.get(reads) is not None or not new:
        yield one, _Levels(levels)
        return
    known = [float(grade) for grade in levels if grade not in new]
    tops = [grade for grade in new if grade > one.top_grade] if reads == "max_rel" else []
    sets = combinations_of(new) if reads == "weights" else [[g for g in new if g <= top] for top in tops]
    below = [grade for grade in new if reads == "max_rel" and grade <= one.top_grade]
    yield one, _Levels(np.array(sorted({*known, *below})))
    for more in sets:
        case = replace(one, levels=tuple(sorted({*one.levels, *more})))
        required = () if not alone else tuple(more) if reads == "weights" else (more[-1],)
        yield case, _Levels(np.array(sorted({*known, *more})), required)


def combinations_of(levels: list[float]) -> list[list[float]]:
    """All sets of levels with one member or more; of many levels, those from the lowest to each of them."""
    if len(levels) > MOST_NEW:
        return [levels[:count] for count in range(1, len(levels) + 1)]
    return [list(some) for count in range(1, len(levels) + 1) for some in combinations(levels, count)]


def _extremes(one: Aligned, measure: Measure, places: Ints, levels: _Levels) -> Floats:
    """Values among which are the lowest and the highest."""
    grades, required = levels
    if measure.entry.found_only and not measure.parameters.get("relative"):
        best = np.full((1, len(places)), grades[-1])
        worst = np.eye(len(places)) * grades[-1] if required else np.full((1, len(places)), grades[0])
        return _values(measure, one, places, np.concatenate([best, worst]))
    proven = measure.entry.monotone and not measure.entry.graded
    if not proven and len(grades) ** len(places) <= TRY_ALL:
        given = np.array(list(product(grades, repeat=len(places))))
        given = given[np.all([(given == grade).any(axis=1) for grade in required], axis=0)] if required else given
        return _values(measure, one, places, given) if len(given) else np.empty(0)
    return np.array([_search(measure, one, order, levels, sign) for order, sign in _search_orders(measure, places)])


def _search_orders(measure: Measure, places: Ints) -> list[tuple[Ints, int]]:
    """Places by priority for better grades, in search of the highest (1) or lowest (-1) value."""
    above, below = places, places[::-1]
    orders = [(above, 1), (below, -1), (above, -1), (below, 1)]
    return {1: orders[:2], -1: orders[2:], 0: orders}[measure.entry.monotone]


def _levels(measure: Measure, one: Aligned, scale: tuple[float, ...]) -> Floats:
    """The possible grades of an unjudged document, including 0, smallest gain first."""
    if measure.entry.graded and "rel" not in measure.parameters:
        levels = np.unique([0.0, *(scale or one.levels or (1.0,))])
        gains = measure.parameters.get("gains")
        return levels[np.argsort(gain_of(levels, gains=gains), kind="stable")] if gains else levels
    # Only whether it is relevant counts.
    level = float(measure.parameters.get("rel", 1))
    if scale and max(scale) < level:
        return np.array([0.0])
    return np.array([0.0, max(scale) if scale else max(one.top_grade, level)])


def _search(measure: Measure, one: Aligned, places: Ints, possible: _Levels, sign: int) -> float:
    """The highest (sign 1) or lowest (-1) value; `ends[j]` documents have level j + 1 or a better one."""
    levels, must = possible.grades, int(bool(possible.required))
    ends = np.full(len(levels) - 1, must, dtype=np.int64)
    best = sign * float(_values(measure, one, places, _given(len(places), levels, ends[None]))[0])
    while True:
        before = best
        for j in reversed(range(len(ends))):
            least = ends[j + 1] if j + 1 < len(ends) else must
            # Those of lower levels go along: a document of level j has all the levels below it.
            tried = np.arange(least, len(places) + 1)
            candidates = np.repeat(ends[None], len(tried), axis=0)
            candidates[:, j] = tried
            candidates[:, :j] = np.maximum(candidates[:, :j], tried[:, None])
            values = sign * _values(measure, one, places, _given(len(places), levels, candidates))
            if values.max() > best:
                best, ends = float(values.max()), candidates[int(values.argmax())]
        # With one level there was nothing to choose but its end, and all of them were tried.
        if best <= before or len(ends) <= 1:
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
