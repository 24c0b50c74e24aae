"""Votes of several judges: the labels of each pair made one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np
import pandas as pd

from collection.core.arrays import Floats
from collection.core.errors import InputError
from collection.core.phrases import join
from collection.core.registry import Entry, Registry

_PAIR = ["query_id", "doc_id"]

VoteRule = Callable[[Floats, Floats, Floats], Floats]
"""Takes (N, J) labels, nan for none, (J,) weights and (V,) grades of the scale, ascending, and returns (N,) labels."""


@dataclass(frozen=True, repr=False)
class VoteEntry(Entry[VoteRule]):
    """A vote."""

    _: KW_ONLY
    weighted: bool = False
    """Whether judges have weights."""


VOTES = Registry("vote", VoteEntry)
"""Every vote; a pair that no judge has labelled gets nan."""


def vote(
    labels: Mapping[str, pd.DataFrame],
    rule: str,
    scale: list[float],
    *,
    least: int = 2,
    weights: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Combine the labels of several judges into one label of each pair.

    Parameters
    ----------
    labels
        Name of a judge -> ``query_id``, ``doc_id``, ``relevance``: each pair at most once, without nulls.
    rule
        A name of :data:`VOTES`.
    scale
        All grades of the scale.
    least
        Number of judges that must have labelled a pair.
    weights
        Name of a judge -> its weight; by default all are equal. Judges whose weight is not above 0 have no vote.

    Returns
    -------
    DataFrame
        ``query_id``, ``doc_id``, ``relevance`` (float64), in the order of the first judge's pairs, then of the next.

    Raises
    ------
    UnknownNameError, InputError
        There is no such rule; fewer than two judges; or none has a weight above 0.

    Examples
    --------
    >>> pair = {"query_id": "1", "doc_id": ["a", "b"]}
    >>> judges = {name: pd.DataFrame({**pair, "relevance": grades})
    ...           for name, grades in {"x": [2, 0], "y": [3, 1], "z": [2, 3]}.items()}
    >>> vote(judges, "majority", [0, 1, 2, 3])["relevance"].tolist()
    [2.0, 0.0]
    >>> vote(judges, "mean", [0, 1, 2, 3])["relevance"].tolist()
    [2.0, 1.0]
    """
    entry = VOTES[rule]
    if len(labels) < 2:
        raise InputError(f"a vote needs two label sets or more, found {join(labels) or 'none'}")
    weighed = np.array([1.0 if weights is None else max(0.0, weights[name]) for name in labels])
    if not weighed.any():
        raise InputError("a weighted vote needs a judge that agrees with people better than chance, found none")
    columns = [frame.set_index(_PAIR)["relevance"].rename(name) for name, frame in labels.items()]
    table = pd.concat(columns, axis="columns", sort=False).loc[:, weighed > 0]
    table = table[table.notna().sum(axis="columns") >= min(least, int((weighed > 0).sum()))]
    values = table.to_numpy(dtype=np.float64)
    return table.index.to_frame(index=False).assign(
        relevance=entry.function(values, weighed[weighed > 0], np.sort(np.array(scale, dtype=np.float64)))
    )


@VOTES.add("majority", "Majority", "The grade that most judges gave; in a tie the lower one.")
def majority(labels: Floats, weights: Floats, scale: Floats) -> Floats:
    """The most frequent grade."""
    return _heaviest(labels, np.ones(len(weights)))


@VOTES.add("median", "Median", "The median of the judges' grades; of two middle ones the lower.")
def median(labels: Floats, weights: Floats, scale: Floats) -> Floats:
    """The lower median, which is a grade that a judge gave."""
    ordered = np.sort(labels, axis=1)  # nan last
    middle = np.maximum((~np.isnan(labels)).sum(axis=1) - 1, 0) // 2
    chosen: Floats = ordered[np.arange(len(labels)), middle]
    return chosen


@VOTES.add("mean", "Mean", "The grade of the scale nearest to the mean of the judges' grades; of two the lower.")
def mean(labels: Floats, weights: Floats, scale: Floats) -> Floats:
    """The mean, rounded to a grade."""
    means = np.nansum(labels, axis=1) / (~np.isnan(labels)).sum(axis=1)
    nearest = np.abs(means[:, None] - scale).round(9).argmin(axis=1)
    rounded: Floats = scale[nearest]
    return rounded


@VOTES.add(
    "weighted",
    "Weighted by agreement with people",
    "The grade with the largest sum of weights, which are each judge's Cohen's kappa with people; in a tie the lower.",
    weighted=True,
)
def weighted(labels: Floats, weights: Floats, scale: Floats) -> Floats:
    """The grade of the largest weight."""
    return _heaviest(labels, weights)


def _heaviest(labels: Floats, weights: Floats) -> Floats:
    """(N,) the grade of each row with the largest sum of weights; of equal ones the lowest."""
    grades = np.unique(labels[~np.isnan(labels)])
    sums = np.array([(labels == grade) @ weights for grade in grades]).T.reshape(len(labels), len(grades))
    chosen: Floats = grades[sums.round(9).argmax(axis=1)] if len(grades) else np.full(len(labels), np.nan)
    return chosen
