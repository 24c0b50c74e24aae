"""Leave one out: what a run, or all runs of a group, alone brought, and what they are worth without it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from collection.errors import InputError, UnknownNameError
from collection.measures import Floats, Measure, as_measures
from collection.reusability.run_matrix import Bools, RunMatrix, place_runs, summarise_runs

_SEPARATOR = re.compile(r"[-_.#/: ]")


def groups_by_prefix(names: Sequence[str]) -> dict[str, str]:
    """A guess at who made which run: what stands before the first ``- _ . # / :`` or blank, without digits at its end.

    Runs of one participant are mostly called alike. Those that stand alone make a group of their own.

    Examples
    --------
    >>> groups_by_prefix(["idst_bert_p1", "idst_bert_p2", "TUW19-p1", "runid2", "runid3", "7"])
    {'idst_bert_p1': 'idst', 'idst_bert_p2': 'idst', 'TUW19-p1': 'TUW', 'runid2': 'runid', 'runid3': 'runid', '7': '7'}
    """
    first = {name: _SEPARATOR.split(name, maxsplit=1)[0] for name in names}
    return {name: prefix.rstrip("0123456789") or prefix or name for name, prefix in first.items()}


def assign_groups(runs: Sequence[str], groups: Mapping[str, str] | None) -> tuple[str, ...]:
    """The group of each run; without `groups` each run is a group.

    Raises
    ------
    UnknownNameError
        The groups name a run that is not there.
    InputError
        A run has no group.
    """
    if groups is None:
        return tuple(runs)
    for name in groups:
        if name not in runs:
            raise UnknownNameError("run", name, runs)
    without = [name for name in runs if name not in groups]
    if without:
        raise InputError(f"every run needs a group, found none for {', '.join(without[:5])}; a group may be one run")
    return tuple(groups[name] for name in runs)


def find_unique(matrix: RunMatrix, members: Bools, depth: int) -> Bools:
    """(P,): pairs that one of these runs lists in its first `depth` and no other run does.

    Parameters
    ----------
    matrix
        R runs.
    members
        (R,): which runs are meant.
    depth
        Of the pool.
    """
    found = matrix.found_by(depth)
    inside, outside = found[:, members].any(axis=1), found[:, ~members].any(axis=1)
    return np.asarray(inside & ~outside)


def leave_out(
    matrix: RunMatrix,
    measures: Measure | str | Iterable[Measure | str],
    groups: Sequence[str],
    depth: int,
    *,
    before: Floats | None = None,
) -> pd.DataFrame:
    """Each group in turn: its unique judgements are taken away, and all runs are valued anew by what is left.

    So a run of it is seen as a system that came when the collection was built. Its place is that among all runs by the
    reduced judgements.

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
        The group of each run, in the order of ``matrix.runs``: :func:`assign_groups`.
    depth
        Of the pool: what stands below brought nothing.
    before
        (M, R, T): the values by all judgements, if they are there already.

    Returns
    -------
    DataFrame
        ``group``, ``run``, ``unique`` and ``relevant`` (judged pairs, and relevant ones, that the group alone brought),
        ``measure``, ``before``, ``after``, ``change`` (after - before), ``place_before``, ``place_after`` (1 is best),
        ``moved`` (after - before: above 0 is worse): one row per run and measure.
    """
    measures = as_measures(measures)
    before = matrix.values(measures) if before is None else before
    mean_before = summarise_runs(measures, before)
    place_before = place_runs(measures, mean_before)
    named = np.array(groups)
    found = []
    for group in dict.fromkeys(groups):
        members = np.flatnonzero(named == group)
        taken = find_unique(matrix, named == group, depth)
        mean_after = summarise_runs(measures, matrix.values(measures, taken, before))
        place_after = place_runs(measures, mean_after)
        for number, measure in enumerate(measures):
            table = {
                "group": group,
                "run": np.array(matrix.runs, dtype=object)[members],
                "unique": int(taken.sum()),
                "relevant": int((taken & matrix.relevant).sum()),
                "measure": str(measure),
                "before": mean_before[number, members],
                "after": mean_after[number, members],
                "place_before": place_before[number, members],
                "place_after": place_after[number, members],
            }
            found.append(pd.DataFrame(table).assign(order=number))
    whole = pd.concat(found).sort_values(["order", "place_before", "run"], ignore_index=True)
    whole.insert(7, "change", whole["after"] - whole["before"])
    whole["moved"] = whole["place_after"] - whole["place_before"]
    return whole.drop(columns="order")
