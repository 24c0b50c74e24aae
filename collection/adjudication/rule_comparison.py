"""Comparison of two rules' qrels."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from collection.core.frames import QRELS

TOLERANCE = 1e-9
"""Largest difference of equal grades."""


class RuleDifference(NamedTuple):
    """Differences between two sets of qrels.

    Attributes
    ----------
    pairs, differ
        Pairs in both, and those of them with different grades.
    only_first, only_second
        Pairs in one of the two only.
    confusion
        Rows: first grades; columns: second grades; cells: pairs.
    changed
        ``query_id``, ``doc_id``, ``first``, ``second`` of the pairs whose grade differs.
    """

    pairs: int
    differ: int
    only_first: int
    only_second: int
    confusion: pd.DataFrame
    changed: pd.DataFrame


def compare(first: pd.DataFrame, second: pd.DataFrame) -> RuleDifference:
    """Compare two frames of :data:`collection.core.frames.QRELS`, each pair once.

    Examples
    --------
    >>> import pandas as pd
    >>> low = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y"], "relevance": [0, 1]})
    >>> high = pd.DataFrame({"query_id": "1", "doc_id": ["x", "y", "z"], "relevance": [2, 1, 1]})
    >>> found = compare(low, high)
    >>> found.pairs, found.differ, found.only_first, found.only_second
    (2, 1, 0, 1)
    >>> found.confusion.values.tolist()
    [[0, 1], [1, 0]]
    """
    pair = ["query_id", "doc_id"]
    first, second = (QRELS.check(frame, "comparing qrels") for frame in (first, second))
    one, other = (
        frame[list(QRELS.names)].rename(columns={"relevance": name})
        for frame, name in ((first, "first"), (second, "second"))
    )
    both = one.merge(other, on=pair, how="outer", indicator="there", sort=False)
    shared = both[both["there"] == "both"].drop(columns="there").reset_index(drop=True)
    changed = (shared["first"].astype("float64") - shared["second"].astype("float64")).abs() > TOLERANCE
    return RuleDifference(
        len(shared),
        int(changed.sum()),
        int((both["there"] == "left_only").sum()),
        int((both["there"] == "right_only").sum()),
        pd.crosstab(_short(shared["first"]), _short(shared["second"])),
        shared[changed].reset_index(drop=True),
    )


def _short(grades: pd.Series) -> pd.Series:
    """Whole grades as whole numbers; thirds with digits enough to be told apart."""
    short = [int(g) if float(g).is_integer() else round(float(g), 6) for g in grades]
    return pd.Series(short, name=grades.name, dtype=object)
