"""Topic statistics: relevant documents, difficulty, and influence on the order of the systems."""

from __future__ import annotations

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.measures import Measure, as_measure
from collection.reusability.run_matrix import RunMatrix, summarise_runs, tau


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
