"""Judgements so far -> expected values of measures if all pairs were judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.expected_judgements.grades import draw_grades, grade_probabilities
from collection.expected_judgements.model import fit_scales, infer
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
    """Expected values of measures for every run, over draws of the unjudged pairs' grades.

    A measure is calculated on every draw as if all pairs were judged, ideal ranking included, so it need not be linear
    in gains.

    After Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation", SIGIR 2006, which has the
    expectation over completed judgements; the model is that of :func:`.model.infer`.

    Parameters
    ----------
    pairs
        All N pairs that may be relevant.
    grades
        (N,) judgements; nan where there is none.
    measures
        Any but those that read strata or subtopics.
    levels
        All grades of the scale; by default those in `grades`, and 0.

    Returns
    -------
    DataFrame
        ``run``, ``measure``, ``value`` (mean over the topics of `pairs`), ``lowest``, ``highest``. The interval covers
        the unjudged grades, not the choice of topics.

    Raises
    ------
    InputError
        Nothing is judged, a grade is not one of the levels, a measure reads more than grades, or a number is out of
        range.
    """
    measures = as_measures(measures)
    for measure in measures:
        if measure.entry.needs:
            raise InputError(f"{measure} has no expected value: it reads {measure.entry.needs} beside grades")
    if draws < 1 or not 0 < confidence < 1:
        raise InputError(f"expected 1 draw or more and a confidence between 0 and 1, found {draws} and {confidence}")
    scale, gains = _scale(pairs, grades, levels)
    posterior = infer(pairs, gains, fit_scales(pairs, gains))
    probabilities = grade_probabilities(posterior, gains, scale / max(scale[-1], 1e-12))
    drawn = scale[draw_grades(pairs, posterior, probabilities, draws, np.random.default_rng(seed))]
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


def _scale(pairs: Pairs, grades: Floats, levels: Sequence[float] | None) -> tuple[Floats, Floats]:
    """All grades of the scale, ascending, and the given ones as gains from 0 to 1."""
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
