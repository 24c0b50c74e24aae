"""Judgements so far -> what a measure would probably be if all pairs were judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.expected_judgements.grades import chances, draw
from collection.expected_judgements.model import believe, fitted
from collection.expected_judgements.pairs import Floats, Pairs
from collection.measures import Measure, as_measures
from collection.measures.imputation import complete_all, to_its_depth


def expected_values(
    pairs: Pairs,
    grades: Floats,
    measures: Measure | str | Iterable[Measure | str],
    *,
    levels: Sequence[float] | None = None,
    draws: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """What every run is probably worth, with the unjudged pairs' grades drawn from what the judged ones teach.

    The measure is calculated on every draw as if all had been judged, ideal ranking included, and the mean over the
    draws is its expected value. (An ideal ranking of expected gains would be too low where many documents are each a
    little likely.) So it works for every measure of plain qrels and not only for those that are linear in gains.

    After Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation", SIGIR 2006, which has the
    expectation over completed judgements; the model is :func:`collection.expected_judgements.believe`'s.

    Parameters
    ----------
    pairs
        N of them: what would be judged if the budget were endless.
    grades
        (N,) as they were given; nan where nobody judged.
    measures
        Any but those that read strata or subtopics.
    levels
        All grades that there are; those that were given, and 0, if left out.
    draws
        How often the unjudged are drawn.
    confidence
        Of the intervals: so many of the draws lie within.
    seed
        Another seed, other draws.

    Returns
    -------
    DataFrame
        ``run``, ``measure``, ``value`` (mean over the topics of `pairs`), ``lowest``, ``highest``. The interval is of
        what the unjudged could be and not of what other topics would give.

    Raises
    ------
    InputError
        Nothing is judged, a grade is none of the levels, a measure reads more than grades, or a number is out of
        range.
    """
    measures = as_measures(measures)
    for measure in measures:
        if measure.entry.needs:
            raise InputError(f"{measure} has no expected value: it reads {measure.entry.needs} beside grades")
    if draws < 1 or not 0 < confidence < 1:
        raise InputError(f"wanted 1 draw or more and a confidence between 0 and 1, found {draws} and {confidence}")
    scale, gains = _scaled(pairs, grades, levels)
    belief = believe(pairs, gains, fitted(pairs, gains))
    chance = chances(belief, gains, scale / max(scale[-1], 1e-12))
    drawn = scale[draw(pairs, belief, chance, draws, np.random.default_rng(seed))]
    judged = ~np.isnan(grades)
    drawn[judged] = grades[judged][:, None]
    if (drawn == np.trunc(drawn)).all():
        drawn = drawn.astype(np.int16)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows = []
    for measure in measures:
        completed = complete_all((to_its_depth(numbered, measure) for numbered in pairs.numbered), drawn)
        for name, aligned in zip(pairs.runs, completed, strict=True):
            each = measure(aligned).reshape(draws, -1).mean(axis=1)
            rows.append((name, str(measure), float(each.mean()), *map(float, np.quantile(each, ends))))
    return pd.DataFrame(rows, columns=["run", "measure", "value", "lowest", "highest"])


def _scaled(pairs: Pairs, grades: Floats, levels: Sequence[float] | None) -> tuple[Floats, Floats]:
    """The grades that there are, ascending, and the given ones as gains from 0 to 1."""
    if grades.shape != pairs.topic.shape:
        raise InputError(f"grades want one number for each of the {len(pairs.topic)} pairs, found {grades.shape}")
    given = grades[~np.isnan(grades)]
    if not len(given):
        raise InputError("expected gains are learned from judged pairs, and none is judged; judge some first")
    scale = np.unique(np.asarray([0.0, *given] if levels is None else levels, dtype=np.float64))
    strange = np.setdiff1d(given, scale)
    if len(strange) or scale[0] < 0:
        raise InputError(f"grades are one of {scale.tolist()}, none below 0; found {np.append(strange, scale)[0]:g}")
    return scale, grades / max(float(scale[-1]), 1e-12)
