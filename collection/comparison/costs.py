"""Costs of systems, and the cost-effectiveness frontier: the systems that no other beats in both measure and cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from collection.comparison.evaluation import Evaluation
from collection.comparison.seed_groups import group_seeds
from collection.core.errors import InputError, require_known
from collection.measures import parse

MORE_IS_BETTER_COSTS = ("throughput_qps",)
"""Columns of costs in which more is better; in every other column less is better."""


def with_costs(evaluation: Evaluation, costs: pd.DataFrame, place: str = "costs") -> Evaluation:
    """Add costs to an evaluation; a run without a row in `costs` has missing values.

    A row for a system, as ``dense`` of the seeds ``dense#1`` and ``dense#2``, holds for its seeds without a row.

    Parameters
    ----------
    evaluation, costs
        ``run`` and any columns of costs of runs or systems (:func:`collection.formats.read_costs`).
    place
        The source of the costs, for messages.

    Raises
    ------
    InputError
        The costs name none of the runs, nor of their systems.
    """
    runs, known = [c.run for c in evaluation.coverage], costs.set_index("run")
    if len(unknown_costs(runs, costs)) == len(known):
        raise InputError(
            f"{place}: expected costs of one of the runs ({', '.join(runs[:3])}), "
            f"found those of {', '.join(map(str, known.index[:3]))}"
        )
    system_of = {run: system for system, members in group_seeds(runs).items() for run in members}
    own, of_system = known.reindex(runs), known.reindex([system_of[run] for run in runs])
    return replace(evaluation, costs=own.where(own.notna(), of_system.set_axis(own.index)))


def unknown_costs(runs: Iterable[str], costs: pd.DataFrame) -> list[str]:
    """The names in a table of costs that are neither runs nor systems of several seeds."""
    names = list(runs)
    known = {*names, *group_seeds(names)}
    return [run for run in costs["run"] if run not in known]


def number_costs(costs: pd.DataFrame) -> list[str]:
    """The names of the numeric costs."""
    return [str(name) for name in costs if pd.api.types.is_numeric_dtype(costs[name])]


def frontier(
    means: pd.DataFrame, costs: pd.DataFrame, measure: str, cost: str, direction: int | None = None
) -> pd.DataFrame:
    """Find the dominated systems: another system is no worse in measure and cost, and better in one of them.

    The other systems are the frontier: each is the best for some budget. `means` are systems x measures
    (:meth:`Evaluation.means`), `costs` systems x costs (:attr:`Evaluation.costs`). `direction` is that of the measure
    (:attr:`.Measure.direction`), needed if it is not one of rankings.

    Returns
    -------
    DataFrame
        ``system``, ``value``, ``cost``, ``dominated`` (bool), ``by`` (the systems that dominate it, joined by commas,
        the best first; "" if there are none); best value first. Systems without a value or a cost are left out.

    Raises
    ------
    UnknownNameError
        There is no such measure or cost.
    InputError
        The cost is not a number, or the measure has no preferred direction.

    Examples
    --------
    >>> means = pd.DataFrame({"AP": [0.3, 0.4, 0.2]}, index=["a", "b", "c"])
    >>> costs = pd.DataFrame({"latency_ms": [10.0, 90.0, 20.0]}, index=["a", "b", "c"])
    >>> frontier(means, costs, "AP", "latency_ms")[["system", "dominated", "by"]].values.tolist()
    [['b', False, ''], ['a', False, ''], ['c', True, 'a']]
    """
    require_known("measure", set(means.columns), measure)
    require_known("cost", set(costs.columns), cost)
    if not pd.api.types.is_numeric_dtype(costs[cost]):
        known = [repr(value) for value in costs[cost].dropna()[:1]] or ["nothing for these systems"]
        raise InputError(f"cost {cost}: the frontier needs numbers, found {known[0]}")
    way = parse(measure).direction if direction is None else direction
    if not way:
        raise InputError(f"the frontier needs a measure with a preferred direction; {measure} has none")
    table = pd.DataFrame({"value": means[measure], "cost": costs[cost].reindex(means.index)}).dropna()
    worth = (way * table["value"].to_numpy(dtype=np.float64)).round(12)  # equal means may differ by rounding
    order = np.argsort(-worth, kind="stable")
    table, worth = table.iloc[order], worth[order]
    price = table["cost"].to_numpy() * (-1 if cost in MORE_IS_BETTER_COSTS else 1)
    # [i, j]: i is no worse than j in both, and better in one.
    no_worse = (worth[:, None] >= worth) & (price[:, None] <= price)
    over = no_worse & ((worth[:, None] > worth) | (price[:, None] < price))
    names = [str(name) for name in table.index]
    return pd.DataFrame(
        {
            "system": names,
            "value": table["value"].to_numpy(),
            "cost": table["cost"].to_numpy(),
            "dominated": over.any(axis=0),
            "by": [", ".join(names[i] for i in np.flatnonzero(column)) for column in over.T],
        }
    )
