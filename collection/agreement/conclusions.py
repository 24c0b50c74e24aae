"""What disagreement means for the conclusions: whether the annotators put the systems into the same order."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from collection.records import require_columns


def rank_correlation(values: pd.DataFrame) -> pd.DataFrame:
    """Kendall's tau-b between the orders into which annotators' grades put the runs.

    Parameters
    ----------
    values
        ``annotator``, ``run``, ``value``: one row per annotator and run.

    Returns
    -------
    DataFrame
        ``a``, ``b``, ``runs`` (that have a value under both), ``tau`` (1 for the same order, -1 for the reverse; nan
        where it is not defined), ``swaps`` (pairs of runs that change places), ``note``. One row for every two
        annotators.

    Notes
    -----
    Kendall (1945), The treatment of ties in ranking problems: tau-b counts runs of equal value as neither order.

    Examples
    --------
    >>> ann, bob = {"x": 0.3, "y": 0.2, "z": 0.1}, {"x": 0.5, "y": 0.6, "z": 0.4}
    >>> rows = [(a, r, v) for a, of in (("ann", ann), ("bob", bob)) for r, v in of.items()]
    >>> found = rank_correlation(pd.DataFrame(rows, columns=["annotator", "run", "value"]))
    >>> found[["tau", "swaps"]].round(3).to_numpy()
    array([[0.333, 1.   ]])
    """
    from scipy.stats import kendalltau

    require_columns(values, ("annotator", "run", "value"), "the correlation of rankings")
    table = values.pivot(index="run", columns="annotator", values="value")
    rows = []
    for a, b in combinations(table.columns, 2):
        both = table[[a, b]].dropna()
        first, second = both[a].to_numpy(dtype=np.float64), both[b].to_numpy(dtype=np.float64)
        above, below = np.sign(first[:, None] - first), np.sign(second[:, None] - second)
        swaps = int((above * below < 0).sum() // 2)
        tau, note = np.nan, ""
        if len(both) < 2:
            note = "there are not two runs to put into an order"
        elif not above.any() or not below.any():
            note = f"by the grades of {b if above.any() else a} all runs have the same value"
        else:
            tau = float(kendalltau(first, second).statistic)
        rows.append((str(a), str(b), len(both), tau, swaps, note))
    return pd.DataFrame(rows, columns=["a", "b", "runs", "tau", "swaps", "note"])
