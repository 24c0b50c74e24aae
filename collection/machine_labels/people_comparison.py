"""Agreement of machine labels with people's grades: by grade, topic and system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from collection.annotator_agreement import Labels, agreement, confusion
from collection.core.errors import InputError
from collection.core.records import Run

PEOPLE = "people"
KEYS = ["query_id", "doc_id"]

DEPTH = 10
"""Ranks of a run whose documents count as its own."""


@dataclass(frozen=True, eq=False)
class PeopleComparison:
    """Machine labels next to people's grades of the same pairs.

    Attributes
    ----------
    pairs, same
        Number of pairs with both, and of those with the same grade.
    coefficients
        As :attr:`collection.annotator_agreement.Agreement.values`: kappa, alpha and others, with intervals.
    confusion
        Counts; rows are people's grades, columns the labels.
    grades
        By people's grade: ``relevance``, ``pairs``, ``same`` (share), ``bias`` (mean of label minus grade).
    topics, runs
        By ``query_id``, and by ``run`` for the pairs in its first ten ranks: ``pairs``, ``same``, ``bias``,
        ``disagreement`` (share of the sum of squared differences over all topics; only in `topics`).
    """

    pairs: int
    same: int
    coefficients: pd.DataFrame
    confusion: pd.DataFrame
    grades: pd.DataFrame
    topics: pd.DataFrame
    runs: pd.DataFrame

    @property
    def grades_of_scale(self) -> list[float]:
        """The grades of the scale, which are rows and columns of `confusion`."""
        return [float(grade) for grade in self.confusion.index.to_numpy()]


def compare_with_people(
    labels: pd.DataFrame, people: pd.DataFrame, runs: list[Run], scale: list[float], *, resamples: int = 1000
) -> PeopleComparison:
    """Compare machine labels with people's grades.

    Parameters
    ----------
    labels, people
        ``query_id``, ``doc_id``, ``relevance``: each pair at most once.
    runs
        May be empty.
    scale
        All grades of the scale.

    Raises
    ------
    InputError
        No pair has both, or a label is not a grade of the scale.

    Examples
    --------
    >>> labels = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "relevance": [2, 0]})
    >>> people = labels.assign(relevance=[1, 0])
    >>> compare_with_people(labels, people, [], [0, 1, 2], resamples=0).grades["bias"].tolist()
    [0.0, 1.0]
    """
    both = people[[*KEYS, "relevance"]].merge(labels[[*KEYS, "relevance"]], on=KEYS, suffixes=("", "_label"))
    both = both[both["relevance_label"].notna() & (both["relevance"] >= 0)].reset_index(drop=True)
    if both.empty:
        raise InputError("expected pairs with a label and a grade by people, found none; people have to judge some")
    strange = both.loc[~both["relevance_label"].isin(scale), "relevance_label"]
    if len(strange):
        raise InputError(f"expected labels that are grades of the scale, found {strange.iloc[0]:g}")
    error = both["relevance_label"].astype("float64") - both["relevance"]
    both = both.assign(same=error == 0, bias=error, square=error**2)
    long = pd.concat(
        [
            both[KEYS].assign(annotator=PEOPLE, relevance=both["relevance"]),
            both[KEYS].assign(annotator="labels", relevance=both["relevance_label"]),
        ]
    )
    grades = Labels.of(long, scale)
    within = {
        run.name: run.frame.sort_values(["query_id", "score", "doc_id"], ascending=[True, False, False])
        .groupby("query_id")
        .head(DEPTH)[KEYS]
        for run in runs
    }
    by_run = [both.merge(pairs.astype("str"), on=KEYS).assign(run=name) for name, pairs in within.items()]
    total = both["square"].sum()
    topics = _summarise(both, "query_id").assign(
        disagreement=both.groupby("query_id", sort=False)["square"].sum().to_numpy() / (total or np.nan)
    )
    nothing = both.iloc[:0].assign(run="")
    return PeopleComparison(
        len(both),
        int(both["same"].sum()),
        agreement(grades, resamples=resamples, sides=()).values,
        confusion(grades, PEOPLE, "labels"),
        _summarise(both.sort_values("relevance"), "relevance"),
        topics,
        _summarise(pd.concat(by_run) if by_run else nothing, "run"),
    )


def _summarise(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    grouped = rows.groupby(by, sort=False)
    return grouped.agg(pairs=("same", "size"), same=("same", "mean"), bias=("bias", "mean")).reset_index()
