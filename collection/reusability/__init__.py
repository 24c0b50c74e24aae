"""Runs + qrels -> whether the collection can be used for a system that was not there when it was built.

A pool is made of what some systems retrieved. A new one may find relevant documents that nobody judged, and they count
against it. How much that would cost is tried on the systems that there are: each in turn is treated as if it had not
been pooled.

    >>> import pandas as pd
    >>> from collection.ranking import rank_run
    >>> from collection.records import Run
    >>> def run(name, *documents):
    ...     frame = pd.DataFrame({"query_id": "1", "doc_id": documents, "score": range(len(documents), 0, -1)})
    ...     return Run(name, rank_run(frame))
    >>> qrels = pd.DataFrame({"query_id": "1", "doc_id": list("abcd"), "relevance": [1, 0, 1, 1]})
    >>> report = look([run("x", "a", "b"), run("y", "a", "c"), run("z", "b", "a")], qrels, groups=None)
    >>> report.pool.depth
    2
    >>> report.left_out.query("measure == 'P@10' and run == 'y'")[["unique", "before", "after"]].values.tolist()
    [[1.0, 0.2, 0.1]]
"""

from collection.reusability.assessment import DEFAULT_MEASURES, Groups, Reusability, bounds_of, look
from collection.reusability.leave_one_out import brought_alone, group_of, groups_by_prefix, leave_out
from collection.reusability.pool_depth import (
    DEPTH,
    FULL,
    STEPS,
    TAUS,
    Pooled,
    judged_curves,
    pooled,
    settled_at,
    settling,
)
from collection.reusability.run_matrix import Laid, lay
from collection.reusability.topics import by_topic
from collection.reusability.unjudged_relevant import (
    Missing,
    captured,
    chao,
    continued,
    estimates,
    interval,
    new_by_depth,
)
from collection.reusability.verdict import (
    CARE,
    JUDGED,
    KNOWN,
    LADDER,
    LEAST_GROUPS,
    LEAST_TOPICS,
    MEAN_CHANGE,
    MOVED,
    WORST_CHANGE,
    Breach,
    Rung,
    breaches,
    headline,
    judge,
    rungs,
)

__all__ = [
    "CARE",
    "DEFAULT_MEASURES",
    "DEPTH",
    "FULL",
    "JUDGED",
    "KNOWN",
    "LADDER",
    "LEAST_GROUPS",
    "LEAST_TOPICS",
    "MEAN_CHANGE",
    "MOVED",
    "STEPS",
    "TAUS",
    "WORST_CHANGE",
    "Breach",
    "Groups",
    "Laid",
    "Missing",
    "Pooled",
    "Reusability",
    "Rung",
    "bounds_of",
    "breaches",
    "brought_alone",
    "by_topic",
    "captured",
    "chao",
    "continued",
    "estimates",
    "group_of",
    "groups_by_prefix",
    "headline",
    "interval",
    "judge",
    "judged_curves",
    "lay",
    "leave_out",
    "look",
    "new_by_depth",
    "pooled",
    "rungs",
    "settled_at",
    "settling",
]
