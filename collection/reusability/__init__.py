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
    >>> report = assess([run("x", "a", "b"), run("y", "a", "c"), run("z", "b", "a")], qrels, groups=None)
    >>> report.pool.depth
    2
    >>> report.left_out.query("measure == 'P@10' and run == 'y'")[["unique", "before", "after"]].values.tolist()
    [[1.0, 0.2, 0.1]]
"""

from collection.reusability.assessment import DEFAULT_MEASURES, Groups, Reusability, assess, bound_means
from collection.reusability.leave_one_out import assign_groups, find_unique, groups_by_prefix, leave_out
from collection.reusability.pool_depth import (
    DEFAULT_DEPTH,
    FULLY_JUDGED,
    STABILITY_DEPTHS,
    STABLE_TAUS,
    PoolDepth,
    compute_judged_curves,
    detect_pool_depth,
    find_stable_depth,
    measure_order_stability,
)
from collection.reusability.run_matrix import RunMatrix, build_run_matrix
from collection.reusability.topics import describe_topics
from collection.reusability.unjudged_relevant import (
    MissingEstimate,
    chao_interval,
    count_captures,
    count_new_by_rank,
    estimate_missing,
    estimate_unseen,
    extrapolate,
)
from collection.reusability.verdict import (
    DEPTHS,
    MAX_BREACHES,
    MAX_CHANGE,
    MAX_MEAN_CHANGE,
    MAX_MOVED,
    MIN_GROUPS,
    MIN_JUDGED,
    MIN_KNOWN,
    MIN_TOPICS,
    Breach,
    DepthResult,
    apply_rules,
    assess_depths,
    find_breaches,
    headline,
)

__all__ = [
    "DEFAULT_DEPTH",
    "DEFAULT_MEASURES",
    "DEPTHS",
    "FULLY_JUDGED",
    "MAX_BREACHES",
    "MAX_CHANGE",
    "MAX_MEAN_CHANGE",
    "MAX_MOVED",
    "MIN_GROUPS",
    "MIN_JUDGED",
    "MIN_KNOWN",
    "MIN_TOPICS",
    "STABILITY_DEPTHS",
    "STABLE_TAUS",
    "Breach",
    "DepthResult",
    "Groups",
    "MissingEstimate",
    "PoolDepth",
    "Reusability",
    "RunMatrix",
    "apply_rules",
    "assess",
    "assess_depths",
    "assign_groups",
    "bound_means",
    "build_run_matrix",
    "chao_interval",
    "compute_judged_curves",
    "count_captures",
    "count_new_by_rank",
    "describe_topics",
    "detect_pool_depth",
    "estimate_missing",
    "estimate_unseen",
    "extrapolate",
    "find_breaches",
    "find_stable_depth",
    "find_unique",
    "groups_by_prefix",
    "headline",
    "leave_out",
    "measure_order_stability",
]
