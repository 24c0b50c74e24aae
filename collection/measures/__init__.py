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

from collection.measures import (
    diversity as diversity,
    effort as effort,
    experimental as experimental,
    graded as graded,
    incomplete as incomplete,
    ranked as ranked,
    sets as sets,
    user_models as user_models,
)
from collection.measures.aligned import (
    UNJUDGED as UNJUDGED,
    UNPOOLED as UNPOOLED,
    Aligned as Aligned,
    RelevantRanks as RelevantRanks,
    Version as Version,
)
from collection.measures.alignment import (
    LookedUp as LookedUp,
    align as align,
    from_grades as from_grades,
    look_up as look_up,
    rank_as as rank_as,
)
from collection.measures.explanation import Explanation as Explanation, explain as explain
from collection.measures.measure import (
    WRITTEN as WRITTEN,
    Measure as Measure,
    as_measure as as_measure,
    as_measures as as_measures,
    list_measures as list_measures,
    parse as parse,
    parse_name as parse_name,
    read as read,
    read_parameters as read_parameters,
)
from collection.measures.qrels_index import QrelsIndex as QrelsIndex, index_qrels as index_qrels
from collection.measures.table import MEASURES as MEASURES, MeasureEntry as MeasureEntry
from collection.measures.trace import divide as divide, show as show
from collection.measures.value_bounds import Bounds as Bounds, bounds as bounds, describe_search as describe_search


def __getattr__(name: str) -> Measure:
    """`from collection.measures import nDCG`: every measure by its name."""
    if name.startswith("_") or name not in MEASURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Measure(name)
