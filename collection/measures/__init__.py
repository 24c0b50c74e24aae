"""Measures: a registry of functions of one aligned matrix of grades.

    >>> import pandas as pd
    >>> from collection.measures import RR, align, nDCG, parse
    >>> qrels = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "relevance": [2, 0]})
    >>> run = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["b", "a"], "score": [2.0, 1.0]})
    >>> aligned = align(run, qrels)
    >>> RR(aligned).tolist()
    [0.5]
    >>> parse("nDCG(dcg='exp-log2')@10") == nDCG(dcg="exp-log2") @ 10
    True

Call :func:`align` once per run; each measure is then a few lines of array code. Every measure can be imported by
its name. To add a measure, write a function with a docstring that returns one value per topic; its keyword
`cutoff` is set by ``@k``, and `rel` is the minimum relevant grade. If a package adds it through an entry point of
the group ``cleverdon.measures``, the command line and the pages have it too:

    >>> from collection.measures import MEASURES, divide
    >>> @MEASURES.add("FirstHalf", label="First half", description="Share of R in the better half of the run.")
    ... def first_half(aligned, *, rel=1):
    ...     '''FirstHalf = relevant in the first retrieved / 2 ranks / R.'''
    ...     relevant = aligned.relevant_ranks(rel)
    ...     early = relevant.rank <= aligned.retrieved[relevant.topic] / 2
    ...     return divide(aligned.total(relevant.topic, early), aligned.relevant(rel))
    >>> parse("FirstHalf")(aligned).tolist()
    [0.0]
"""

from collection.core.arrays import Floats
from collection.measures import (
    diversity,
    effort,
    experimental,
    graded,
    incomplete,
    ranked,
    sets,
    user_models,
)
from collection.measures.aligned import UNJUDGED, UNPOOLED, Aligned, RelevantRanks, Version
from collection.measures.alignment import align, from_grades, rank_as
from collection.measures.explanation import Explanation, explain
from collection.measures.measure import Measure, as_measure, as_measures, list_measures, parse, parse_name, read
from collection.measures.qrels_index import QrelsIndex, index_qrels
from collection.measures.table import MEASURES, MeasureEntry
from collection.measures.trace import divide, show
from collection.measures.value_bounds import Bounds, bounds, describe_search


def __getattr__(name: str) -> Measure:
    """`from collection.measures import nDCG`: every measure by its name."""
    if name.startswith("_") or name not in MEASURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Measure(name)
