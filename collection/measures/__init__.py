"""The metric module: a table of measures over one aligned matrix of grades.

    >>> import pandas as pd
    >>> qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [2, 0]})
    >>> run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [2.0, 1.0]})
    >>> aligned = align(run, qrels)
    >>> parse("RR")(aligned).tolist()
    [0.5]

:func:`align` is done once per run; each measure is then a few lines of array code.
"""

from collection.measures.aligned import Aligned, align
from collection.measures.measure import MEASURES, Measure, parse
from collection.measures.ranked import (
    average_precision,
    bpref,
    judged,
    ndcg,
    precision,
    r_precision,
    recall,
    reciprocal_rank,
    success,
)

__all__ = [
    "MEASURES",
    "Aligned",
    "Measure",
    "align",
    "average_precision",
    "bpref",
    "judged",
    "ndcg",
    "parse",
    "precision",
    "r_precision",
    "recall",
    "reciprocal_rank",
    "success",
]
