"""Seeds of one system: runs named ``name#1``, ``name#2`` become the system ``name`` with the mean of their values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from collection.comparison.evaluation import Coverage, Evaluation
from collection.core.records import ALL_TOPICS

if TYPE_CHECKING:
    import pandas as pd

SEED_MARK = "#"


def group_seeds(names: Iterable[str]) -> dict[str, list[str]]:
    """System -> its runs, in the order of `names`.

    Runs are seeds of a system if two or more have the same name before the last ``#`` and no run has that name itself.
    Any other run is a system by itself.

    >>> group_seeds(["bm25", "dense#1", "dense#2", "tuned#3"])
    {'bm25': ['bm25'], 'dense': ['dense#1', 'dense#2'], 'tuned#3': ['tuned#3']}
    """
    runs = list(names)
    before = {run: run.rpartition(SEED_MARK)[0] for run in runs if not run.endswith(SEED_MARK)}
    shared = list(before.values())
    systems: dict[str, list[str]] = {}
    for run in runs:
        name = before.get(run, "")
        of_several = name and shared.count(name) > 1 and name not in runs
        systems.setdefault(name if of_several else run, []).append(run)
    return systems


def find_mistaken_seeds(names: Iterable[str]) -> list[str]:
    """Names of runs that several other runs have before their ``#``."""
    runs = list(names)
    before = [run.rpartition(SEED_MARK)[0] for run in runs]
    return [run for run in runs if before.count(run) > 1]


def merge_seeds(evaluation: Evaluation, *, separate_seeds: bool = False) -> tuple[Evaluation, pd.DataFrame]:
    """Merge the runs of each system, and describe the spread of its seeds.

    With `separate_seeds` every run is a system, whatever its name.

    Returns
    -------
    Evaluation
        Every number is the mean over a system's seeds; a topic is missing if one of them lacks it. Costs that are not
        numbers stay if all seeds have the same.
    DataFrame
        ``system``, ``measure``, ``seeds`` (how many), ``spread`` (standard deviation of the seeds' values over all
        topics; nan for one), ``lowest_seed``, ``highest_seed``.
    """
    runs = [c.run for c in evaluation.coverage]
    groups = {run: [run] for run in runs} if separate_seeds else group_seeds(runs)
    system_of = {run: system for system, runs in groups.items() for run in runs}
    overall = evaluation.values[evaluation.values["query_id"] == ALL_TOPICS]
    of_seeds = (
        overall.assign(system=overall["run"].map(system_of))
        .groupby(["system", "measure"], sort=False)["value"]
        .agg(seeds="size", spread="std", lowest_seed="min", highest_seed="max")
        .reset_index()
    )
    if len(groups) == len(system_of):
        return evaluation, of_seeds
    coverage = [
        _merge_coverage(system, [c for c in evaluation.coverage if c.run in runs]) for system, runs in groups.items()
    ]
    merged = replace(
        evaluation,
        columns=_means(evaluation.values, system_of, ["query_id", "measure"]),
        coverage=coverage,
        shares=_means(evaluation.unjudged, system_of, ["measure", "cutoff"]),
        costs=None if evaluation.costs is None else _merge_costs(evaluation.costs, groups),
    )
    return merged, of_seeds


def _means(frame: pd.DataFrame, system_of: dict[str, str], keys: list[str]) -> dict[str, list[Any]]:
    """The columns of a frame with the means of each system in place of its runs."""
    named = frame.assign(run=frame["run"].map(system_of))
    means = named.groupby(["run", *keys], sort=False, dropna=False).mean().reset_index()
    order = {system: place for place, system in enumerate(dict.fromkeys(system_of.values()))}
    means = means.sort_values("run", key=lambda runs: runs.map(order), kind="stable", ignore_index=True)
    return {str(name): means[name].tolist() for name in frame}


def _merge_coverage(system: str, parts: list[Coverage]) -> Coverage:
    def all_of(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(topic for topics in lists for topic in topics))

    return Coverage(
        system,
        parts[0].topics,
        all_of(c.missing_topics for c in parts),
        all_of(c.ignored_topics for c in parts),
        round(float(np.mean([c.retrieved for c in parts]))),
        round(float(np.mean([c.unjudged for c in parts]))),
        float(np.mean([c.unjudged_at_10 for c in parts])),
    )


def _merge_costs(costs: pd.DataFrame, groups: dict[str, list[str]]) -> pd.DataFrame:
    """The mean of known numbers; other costs if all seeds have the same."""
    import pandas as pd  # not needed to read names

    def merge(name: Hashable, runs: list[str]) -> object:
        column = costs[name].loc[runs]
        known = column.dropna()
        if pd.api.types.is_numeric_dtype(column):
            return known.mean() if len(known) else np.nan
        return known.iloc[0] if known.nunique() == 1 else None

    rows = {system: {name: merge(name, runs) for name in costs} for system, runs in groups.items()}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(costs.columns))
    table.index.name = costs.index.name
    return table.astype({name: costs[name].dtype for name in costs})
