"""Leave-one-out: the unique contribution of a run or group, and the values of its runs without it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.core.arrays import Bools, Floats, Ints
from collection.core.errors import InputError, require_known
from collection.core.phrases import join_first
from collection.measures import Measure, as_measures
from collection.reusability.run_matrix import RunMatrix, place_runs, summarise_runs

_SEPARATOR = re.compile(r"[-_.#/: ]")


def groups_by_prefix(names: Sequence[str]) -> dict[str, str]:
    """Guess the group of each run: its name before the first ``- _ . # / :`` or space, without trailing digits.

    Runs of one participant usually have similar names. A run whose prefix no other run has is a group of its own.

    >>> groups_by_prefix(["idst_bert_p1", "idst_bert_p2", "TUW19-p1", "runid2", "runid3", "7"])
    {'idst_bert_p1': 'idst', 'idst_bert_p2': 'idst', 'TUW19-p1': 'TUW', 'runid2': 'runid', 'runid3': 'runid', '7': '7'}
    """
    first = {name: _SEPARATOR.split(name, maxsplit=1)[0] for name in names}
    return {name: prefix.rstrip("0123456789") or prefix or name for name, prefix in first.items()}


def assign_groups(runs: Sequence[str], groups: Mapping[str, str] | None) -> tuple[str, ...]:
    """Look up the group of each run; without `groups` each run is a group.

    Raises
    ------
    UnknownNameError
        The groups name an unknown run.
    InputError
        A run has no group.
    """
    if groups is None:
        return tuple(runs)
    require_known("run", runs, *groups)
    without = [name for name in runs if name not in groups]
    if without:
        raise InputError(
            f"groups: expected a group for every run, even if it is the only member; found none for "
            f"{join_first(without)}"
        )
    return tuple(groups[name] for name in runs)


def find_unique(matrix: RunMatrix, members: Bools, depth: int) -> Bools:
    """(P,): pairs that one of the runs `members`, (R,), has in its first `depth` ranks and no other run has there."""
    pooled = matrix.places <= depth
    return np.asarray(pooled[:, members].any(axis=1) & ~pooled[:, ~members].any(axis=1))


def leave_out(
    matrix: RunMatrix,
    measures: Measure | str | Iterable[Measure | str],
    groups: Sequence[str],
    depth: int,
    *,
    before: Floats | None = None,
) -> pd.DataFrame:
    """Remove the unique judgements of each group in turn, and evaluate all runs by the rest.

    This treats a run as a system that came after the collection was built. Its place is among all runs by the reduced
    judgements.

    Source: Zobel, "How reliable are the results of large-scale information retrieval experiments?", SIGIR 1998 (one
    run); Buttcher, Clarke, Yeung & Soboroff, "Reliable information retrieval evaluation with incomplete and biased
    judgements", SIGIR 2007 (all runs of one group).

    Parameters
    ----------
    matrix
        R runs.
    measures
        Over plain qrels.
    groups
        The group of each run, as :func:`assign_groups` gives them.
    depth
        The depth of the pool.
    before
        (M, R, T): the values by all judgements, if known.

    Returns
    -------
    DataFrame
        ``group``, ``run``, ``unique`` and ``relevant`` (judged pairs, and relevant ones, that only the group found),
        ``measure``, ``before``, ``after``, ``change`` (after - before), ``place_before``, ``place_after`` (1 is best),
        ``moved`` (after - before: above 0 is worse): one row per run and measure.
    """
    measures = as_measures(measures)
    before = matrix.values(measures) if before is None else before
    mean_before = summarise_runs(measures, before)
    place_before, named = place_runs(measures, mean_before), np.array(groups)
    mean_after, place_after = np.empty_like(mean_before), np.empty_like(place_before)
    unique, relevant = np.zeros((2, len(named)), dtype=np.int64)
    for group in dict.fromkeys(groups):
        members = named == group
        taken = find_unique(matrix, members, depth)
        after = summarise_runs(measures, matrix.values(measures, taken, before))
        mean_after[:, members] = after[:, members]
        place_after[:, members] = place_runs(measures, after)[:, members]
        unique[members], relevant[members] = taken.sum(), (taken & matrix.relevant).sum()
    rows = GroupsLeftOut(groups, matrix.runs, unique, relevant, mean_before, mean_after, place_before, place_after)
    return tabulate_left_out(measures, rows)


class GroupsLeftOut(NamedTuple):
    """Values of R runs by M measures, with all judgements and without those that only their group contributed."""

    groups: Sequence[str]
    """(R,) group of each run."""
    runs: Sequence[str]
    unique: Ints
    """(R,) number of pairs or nuggets that only the group contributed."""
    relevant: Ints
    """(R,) number of relevant pairs or vital nuggets among them."""
    before: Floats
    """(M, R) values."""
    after: Floats
    place_before: Ints
    """(M, R) places, 1 the best."""
    place_after: Ints


def tabulate_left_out(measures: Sequence[Measure], rows: GroupsLeftOut) -> pd.DataFrame:
    """Return the table of :func:`leave_out`."""
    number = len(measures)
    table = pd.DataFrame(
        {
            "group": list(rows.groups) * number,
            "run": list(rows.runs) * number,
            "unique": np.tile(rows.unique, number),
            "relevant": np.tile(rows.relevant, number),
            "measure": np.repeat([str(measure) for measure in measures], len(rows.runs)),
            "before": rows.before.ravel(),
            "after": rows.after.ravel(),
            "change": (rows.after - rows.before).ravel(),
            "place_before": rows.place_before.ravel(),
            "place_after": rows.place_after.ravel(),
            "moved": (rows.place_after - rows.place_before).ravel(),
        }
    )
    # Stable, so that equal runs stay in the order of their names.
    order = np.lexsort((rows.place_before.ravel(), np.repeat(np.arange(number), len(rows.runs))))
    return table.iloc[order].reset_index(drop=True)
