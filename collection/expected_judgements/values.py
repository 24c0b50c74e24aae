"""Expected values of measures if all pairs were judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.expected_judgements.draws import draw_values
from collection.expected_judgements.pairs import Floats, Pairs
from collection.measures import Measure, as_measures


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
    """Estimate the value of each measure for each run if all pairs were judged.

    The grades of unjudged pairs are drawn many times from a model fitted to the judged pairs (:func:`.model.infer`).
    Each draw completes the judgements, and each measure is computed on it in full, ideal ranking included.

    Source: Carterette, Allan & Sitaraman, "Minimal test collections for retrieval evaluation", SIGIR 2006, for the
    expectation over completed judgements.

    Parameters
    ----------
    pairs
        The N pooled pairs with their runs, from :func:`describe`.
    grades
        (N,) float64, in the order of ``pairs.frame``: the grade of each judged pair, nan for the others.
    measures
        Measures of plain qrels, such as ``["nDCG@10", "AP"]``; no measures that read strata or subtopics.
    levels
        All grades of the scale; by default 0, 1 and the grades in `grades`.
    draws
        Number of draws.
    confidence
        Coverage of the interval, between 0 and 1.
    seed
        Random seed of the draws.

    Returns
    -------
    DataFrame
        One row per measure and run: ``run``, ``measure``, ``value`` (the expected mean over the topics), ``lowest`` and
        ``highest`` (the interval). The interval covers the uncertainty about unjudged grades, not the choice of topics.

    Raises
    ------
    InputError
        No pair is judged, a grade is not in `levels`, a measure reads more than grades, or `draws` or `confidence` is
        out of range.

    Examples
    --------
    A pool of two runs, of which every other pair is judged:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from collection.expected_judgements import describe, expected_values
    >>> from collection.pooling import depth
    >>> from collection.ranking import rank_run
    >>> from collection.records import Run
    >>> rows = [(topic, f"d{n}", 9.0 - n) for topic in ("1", "2") for n in range(8)]
    >>> frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    >>> runs = [Run("good", rank_run(frame)), Run("poor", rank_run(frame.assign(score=-frame["score"])))]
    >>> pairs = describe(depth(runs, depth=8), runs)
    >>> relevant = pairs.frame["doc_id"].isin(["d0", "d1", "d2"]).to_numpy(dtype=np.float64)
    >>> grades = np.where(np.arange(len(relevant)) % 2, np.nan, relevant)
    >>> found = expected_values(pairs, grades, "nDCG@5").set_index("run")
    >>> list(found.columns), bool(found.loc["good", "value"] > found.loc["poor", "value"])
    (['measure', 'value', 'lowest', 'highest'], True)
    """
    if not 0 < confidence < 1:
        raise InputError(f"expected a confidence between 0 and 1, found {confidence:g}")
    return summarize(pairs, draw_means(pairs, grades, measures, levels=levels, draws=draws, seed=seed), confidence)


def draw_means(
    pairs: Pairs,
    grades: Floats,
    measures: Measure | str | Iterable[Measure | str],
    *,
    levels: Sequence[float] | None = None,
    draws: int = 200,
    seed: int = 0,
) -> dict[str, Floats]:
    """Draw the mean values of the R runs if all pairs were judged: (R, draws) for each measure.

    The parameters are those of :func:`expected_values`.
    """
    measures = as_measures(measures)
    for measure in measures:
        if measure.entry.needs:
            raise InputError(
                f"expected values need a measure of grades alone; {measure} also reads {measure.entry.needs}"
            )
    if draws < 1:
        raise InputError(f"expected 1 or more draws, found {draws}")
    scale = [0.0, 1.0, *grades[~np.isnan(grades)].tolist()] if levels is None else levels
    drawn = draw_values(pairs, grades, measures, levels=scale, draws=draws, seed=seed)
    return {str(measure): values.mean(axis=2) for measure, values in drawn.items()}


def summarize(pairs: Pairs, values: dict[str, Floats], confidence: float) -> pd.DataFrame:
    """Mean and interval of the drawn values of each measure and run, as :func:`expected_values` returns them."""
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows = [
        (name, measure, float(each.mean()), *map(float, np.quantile(each, ends)))
        for measure, drawn in values.items()
        for name, each in zip(pairs.runs, drawn, strict=True)
    ]
    return pd.DataFrame(rows, columns=["run", "measure", "value", "lowest", "highest"])
