"""Values of measures on many completed judgements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, product
from math import ceil

import numpy as np

from collection.core.arrays import Floats, Ints
from collection.core.errors import InputError
from collection.expected_judgements.grades import draw_grades, number_grades
from collection.expected_judgements.model import infer
from collection.expected_judgements.pairs import Pairs
from collection.measures import Measure
from collection.measures.aligned import UNJUDGED, Aligned, Grades, compact_grades, grade_levels
from collection.measures.imputation import complete_all, to_its_depth

WIDENING = 2.0
"""Variance of weights and effects in the draws, relative to that of the model, whose own 95% ranges held too few of the
final differences of systems. Chosen on Cranfield, Vaswani and TREC DL 2019 (`docs/explanation/fewer-judgements.md`)."""

NOISE = 1e-12
"""Values that differ by less are equal."""

CELLS = 1 << 22
"""Number of grades in completed rankings that are held at once."""


def draw_values(
    pairs: Pairs,
    grades: Floats,
    measures: Iterable[Measure],
    *,
    levels: Sequence[float],
    draws: int = 200,
    seed: int = 0,
    widening: float = WIDENING,
) -> dict[Measure, Floats]:
    """Draw the grades of unjudged pairs jointly, and compute each measure of each run and topic on every draw.

    The grades are drawn from a model fitted to the judged pairs (:func:`.model.infer`). Each draw completes the
    judgements, and each measure is computed on it in full, ideal ranking included.

    Source: Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation", SIGIR 2006, for the
    expectation over completed judgements.

    Parameters
    ----------
    pairs
        The N pooled pairs with their R runs, from :func:`.describe`.
    grades
        (N,) float64, in the order of ``pairs.frame``: the grade of each judged pair, nan for the others.
    measures
        Measures of plain qrels.
    levels
        All grades of the scale, 0 and the given grades among them.
    draws
        Number of draws. If every pair is judged, nothing is drawn, and there is one "draw": the judgements.
    seed
        Random seed.
    widening
        Factor on the posterior variance of weights and effects, for the uncertainty that the model leaves out.

    Returns
    -------
    dict
        For each measure (R, draws, T): the value of each run in each draw and topic. Topics are in the order of
        ``pairs.numbered[0].topics``.

    Raises
    ------
    InputError
        No pair is judged, a grade is not in `levels`, a measure reads more than grades, or there are no draws.

    Examples
    --------
    >>> import pandas as pd
    >>> from collection.expected_judgements import describe
    >>> from collection.measures import parse
    >>> from collection.core.records import Run
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> pairs = describe(frame, [Run("a", frame)])
    >>> draw_values(pairs, np.array([0.0, 1.0]), [parse("RR")], levels=[0, 1])[parse("RR")].tolist()
    [[[0.5]]]
    """
    measures = list(measures)
    for measure in measures:
        if measure.entry.needs:
            raise InputError(f"draws need a measure of grades alone; {measure} also reads {measure.entry.needs}")
    if draws < 1:
        raise InputError(f"expected 1 or more draws, found {draws}")
    completed = _complete(pairs, grades, np.unique(np.asarray(levels, dtype=np.float64)), draws, seed, widening)
    # The highest grade of all draws, so that every draw is measured on the same scale.
    graded = grade_levels(completed)
    drawn_values = {}
    for measure in measures:
        numbered = _to_depth(pairs, measure)
        widest = max(aligned.judged.shape[1] + aligned.grades.shape[1] for aligned in numbered)
        topics, count = len(numbered[0].topics), completed.shape[1]
        values = np.empty((len(numbered), count, topics))
        step = max(1, CELLS // max(1, topics * widest))
        for start in range(0, count, step):
            part = completed[:, start : start + step]
            for row, aligned in enumerate(complete_all(numbered, part)):
                drawn = measure(replace(aligned, levels=graded))
                values[row, start : start + step] = drawn.reshape(part.shape[1], topics)
        drawn_values[measure] = values
    return drawn_values


def reads_unlisted(
    pairs: Pairs, grades: Floats, measure: Measure, *, levels: Sequence[float], addable: Ints | None = None
) -> bool:
    """Tell whether the grade of a document that is not among the pairs, and at no rank that counts, can change a value.

    It is true of a measure with an ideal ranking or a number of relevant documents, unless they cannot change any more:
    the ideal ranking has the highest grade throughout, or no run has found anything.

    Parameters
    ----------
    pairs, grades, levels
        As for :func:`draw_values`; a pair without a grade is unjudged.
    addable
        (T,) number of other documents of each topic, in the order of ``pairs.numbered[0].topics``; None: any number.

    Examples
    --------
    >>> import pandas as pd
    >>> from collection.expected_judgements import describe
    >>> from collection.measures import parse
    >>> from collection.core.records import Run
    >>> frame = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "score": [2.0, 1.0]})
    >>> pairs, grades = describe(frame, [Run("a", frame)]), np.array([1.0, 0.0])
    >>> [reads_unlisted(pairs, grades, parse(name), levels=[0, 1]) for name in ("P@2", "nDCG@2", "nDCG@1")]
    [False, True, False]
    """
    filled = compact_grades(np.where(np.isnan(grades), UNJUDGED, grades)[:, None])
    numbered = _to_depth(pairs, measure)
    for aligned in complete_all(numbered, filled):
        before = measure(aligned)
        for some, copies in product(combinations_with_replacement(levels, 2), (1, 2, _enough(measure, aligned))):
            added = np.tile(np.resize(some, copies), (len(aligned.topics), 1))
            if addable is not None:
                added[np.arange(copies) >= addable[:, None]] = UNJUDGED
            judged = -np.sort(-np.hstack([aligned.judged, compact_grades(added)]), axis=1)
            now = measure(replace(aligned, judged=judged, levels=grade_levels(judged)))
            if not np.allclose(now, before, rtol=0, atol=NOISE):
                return True
    return False


def _enough(measure: Measure, aligned: Aligned) -> int:
    """The number of further documents after which still more of them change nothing else.

    It is beyond a cut-off, and so large that no level of recall that is reached remains reached.
    """
    level = measure.level or 1
    return max(int(level) + 1, ceil((aligned.judged.shape[1] + 1) / min(level, 1)))


def count_unlisted(pairs: Pairs, measure: Measure) -> tuple[int, int]:
    """Count the ranks that a measure reads whose documents are not among the pairs, and the topics without a pair."""
    numbered = _to_depth(pairs, measure)
    ranks = sum(int(aligned.retrieved.sum() - np.count_nonzero(aligned.grades >= 0)) for aligned in numbered)
    return ranks, len({topic for aligned in pairs.numbered for topic in aligned.ignored_topics})


def _to_depth(pairs: Pairs, measure: Measure) -> list[Aligned]:
    """Each run of the pairs down to the rank to which a measure reads it."""
    return [to_its_depth(aligned, measure) for aligned in pairs.numbered]


def _complete(pairs: Pairs, grades: Floats, scale: Floats, draws: int, seed: int, widening: float) -> Grades:
    """(N, draws) grades of all pairs: the given ones, and drawn ones for the others."""
    if np.isnan(grades).all():
        raise InputError("grades: expected at least one judged pair, found none; judge some pairs first")
    scale, numbers = number_grades(pairs, grades, scale.tolist())
    if (numbers >= 0).all():
        return compact_grades(grades[:, None])
    posterior = infer(pairs, numbers, len(scale) - 1)
    drawn = draw_grades(pairs, posterior, draws, np.random.default_rng(seed), widening=widening)
    return compact_grades(scale[drawn])
