"""Reusability: whether a collection ranks systems reliably that were not pooled.

A new system may find relevant documents that were never judged, since a pool has only what some systems retrieved. The
cost is measured on the existing systems, by treating each in turn as if it had not been pooled.

    >>> import pandas as pd
    >>> from collection.core.ranking import rank_run
    >>> from collection.core.records import Run
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

from collection.reusability.assessment import (
    DEFAULT_MEASURES as DEFAULT_MEASURES,
    Groups as Groups,
    Reusability as Reusability,
    Unjudged as Unjudged,
    assess as assess,
    bound_means as bound_means,
)
from collection.reusability.leave_one_out import (
    GroupsLeftOut as GroupsLeftOut,
    assign_groups as assign_groups,
    groups_by_prefix as groups_by_prefix,
    leave_out as leave_out,
    tabulate_left_out as tabulate_left_out,
)
from collection.reusability.pool_depth import (
    compute_judged_curves as compute_judged_curves,
    measure_order_stability as measure_order_stability,
)
from collection.reusability.run_matrix import (
    build_run_matrix as build_run_matrix,
    describe_topics as describe_topics,
    place_runs as place_runs,
)
from collection.reusability.unjudged_relevant import estimate_missing as estimate_missing
from collection.reusability.verdict import (
    MAX_BREACHES as MAX_BREACHES,
    MAX_CHANGE as MAX_CHANGE,
    MAX_MEAN_CHANGE as MAX_MEAN_CHANGE,
    MAX_MOVED as MAX_MOVED,
    MIN_JUDGED as MIN_JUDGED,
    MIN_KNOWN as MIN_KNOWN,
    MIN_TOPICS as MIN_TOPICS,
    DepthResult as DepthResult,
    find_deepest as find_deepest,
)
