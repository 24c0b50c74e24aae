"""How far two rules' qrels lie apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.frames import QRELS

ALIKE = 1e-9
"""Grades that lie no further apart are equal."""


class RuleDifference(NamedTuple):
    """Two settlements of the same judgements.

    Attributes
    ----------
    pairs
        Pairs that both settle.
    differ
        Those of them with another grade by each.
    only_first, only_second
        Pairs that one of the two settles and the other leaves without a qrel.
    confusion
        Rows: grades by the first rule; columns: grades by the second; cells: pairs.
    changed
        ``query_id``, ``doc_id``, ``first``, ``second`` of the pairs whose grade differs, in order of the first.
    """

    pairs: int
    differ: int
    only_first: int
    only_second: int
    confusion: pd.DataFrame
    changed: pd.DataFrame


def compare(first: pd.DataFrame, second: pd.DataFrame) -> RuleDifference:
    """Compare qrels that two rules made.

    Parameters
    ----------
    first, second
        :data:`collection.frames.QRELS`, each pair once.

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
    for frame in (first, second):
        QRELS.check(frame, "comparing qrels")
    both = first[list(QRELS.names)].merge(
        second[list(QRELS.names)], on=pair, how="outer", suffixes=("_1", "_2"), indicator="there", sort=False
    )
    shared = both[both["there"] == "both"]
    mine, other = (shared[c].to_numpy(dtype=np.float64) for c in ("relevance_1", "relevance_2"))
    changed = np.abs(mine - other) > ALIKE
    table = pd.crosstab(
        pd.Series(_short(mine), name="first", dtype=object), pd.Series(_short(other), name="second", dtype=object)
    )
    return RuleDifference(
        len(shared),
        int(changed.sum()),
        int((both["there"] == "left_only").sum()),
        int((both["there"] == "right_only").sum()),
        table,
        shared.loc[changed, [*pair, "relevance_1", "relevance_2"]]
        .rename(columns={"relevance_1": "first", "relevance_2": "second"})
        .reset_index(drop=True),
    )


def _short(grades: np.ndarray) -> list[float]:
    """Whole grades as whole numbers; thirds with digits enough to be told apart."""
    return [int(g) if float(g).is_integer() else round(float(g), 6) for g in grades]
