"""The places of the runs by two sets of grades."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection.statistics.rank_correlation import kendall

DIGITS = 12
"""Means that agree to this many decimals are equal, so that the order of summation moves no run."""


class RankComparison(NamedTuple):
    """The places of the runs by two series of means."""

    table: pd.DataFrame
    """``run``, ``first``, ``second`` (the means), ``first_place``, ``second_place`` (int64; 1 is the best, equal means
    share the better place); by first place, then name."""
    tau: float
    """Kendall's tau-b between the two orders; nan where there is none."""
    swaps: int
    """Pairs of runs that are in another order by the second than by the first."""
    equal: str
    """Side on which all runs have the same mean or there are fewer than two, "first" or "second"; else ""."""

    @property
    def moved(self) -> list[str]:
        """Runs with another place by the second series."""
        return self.table.loc[self.table["first_place"] != self.table["second_place"], "run"].tolist()


def compare_ranks(first: pd.Series[Any], second: pd.Series[Any], *, less_is_better: bool = False) -> RankComparison:
    """Rank the runs by each of two series of means, run -> mean, for the same runs.

    Source: Kendall, The treatment of ties in ranking problems, Biometrika 1945 (tau-b).

    >>> ann, bob = pd.Series({"x": 0.3, "y": 0.2, "z": 0.1}), pd.Series({"x": 0.5, "y": 0.6, "z": 0.4})
    >>> found = compare_ranks(ann, bob)
    >>> round(found.tau, 3), found.swaps
    (0.333, 1)
    >>> found.table[["run", "first_place", "second_place"]].values.tolist()
    [['x', 1, 2], ['y', 2, 1], ['z', 3, 3]]
    """
    second = second.reindex(first.index)
    ones, others = first.to_numpy(dtype=np.float64).round(DIGITS), second.to_numpy(dtype=np.float64).round(DIGITS)
    above, below = np.sign(ones[:, None] - ones), np.sign(others[:, None] - others)
    equal = "" if above.any() and below.any() else "second" if above.any() else "first"
    table = pd.DataFrame({"run": first.index.astype(str), "first": first.to_numpy(), "second": second.to_numpy()})
    for side, values in (("first", ones), ("second", others)):
        places = pd.Series(values).rank(method="min", ascending=less_is_better, na_option="bottom")
        table[f"{side}_place"] = places.astype("int64")
    return RankComparison(
        table.sort_values(["first_place", "run"], ignore_index=True),
        float("nan") if equal else kendall(ones, others),
        int((above * below < 0).sum() // 2),
        equal,
    )
