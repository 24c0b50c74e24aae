"""Grouping of runs into seeds of one system by their names: ``name#1``, ``name#2``."""

from __future__ import annotations

from collections.abc import Iterable

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
