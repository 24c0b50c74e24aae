"""Runs + qrels -> values per topic and means: what the systems are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.errors import InputError
from collection.measures import Measure, align
from collection.records import ALL_TOPICS, VALUE_COLUMNS, Run

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")


class Coverage(NamedTuple):
    """What a run's values do not rest on: said beside every value, never silently passed over."""

    run: str
    topics: int
    missing_topics: tuple[str, ...]
    ignored_topics: tuple[str, ...]
    unjudged_at_10: float


class Evaluation(NamedTuple):
    """Values of several runs.

    Attributes
    ----------
    values
        ``run``, ``query_id``, ``measure``, ``value``: one row per run, measure and topic of the qrels,
        then the mean over all these topics with the query_id ``all``. A topic that a run lacks counts 0.
    coverage
        One :class:`Coverage` per run.
    """

    values: pd.DataFrame
    coverage: list[Coverage]

    def means(self) -> pd.DataFrame:
        """Runs x measures: the mean of each; rows and columns in the order in which they were given."""
        rows = self.values[self.values["query_id"] == ALL_TOPICS]
        table = rows.pivot(index="run", columns="measure", values="value")
        return table.loc[rows["run"].drop_duplicates(), rows["measure"].drop_duplicates()]

    def per_topic(self) -> pd.DataFrame:
        """The rows of single topics."""
        return self.values[self.values["query_id"] != ALL_TOPICS].reset_index(drop=True)


def evaluate(
    runs: Iterable[Run],
    qrels: pd.DataFrame,
    measures: Sequence[Measure],
    progress: Callable[[str], None] | None = None,
    *,
    strangers: bool = False,
) -> Evaluation:
    """Evaluate runs by qrels.

    Parameters
    ----------
    runs
        Any number; each is aligned once and let go, so a generator keeps memory flat.
    qrels
        ``query_id``, ``doc_id``, ``relevance``.
    measures
        From :func:`collection.measures.parse`.
    progress
        Called with the run's name when it is done.
    strangers
        Take runs that share no topic with the qrels too, as 0 everywhere. Otherwise they are an error,
        since the usual reason is a wrong file.

    Raises
    ------
    InputError
        The qrels have no judgement or a topic called "all", two runs carry one name, or a run shares no
        topic with the qrels.
    """
    if not len(qrels):
        raise InputError("the qrels hold no judgement; judge some pairs first")
    if (qrels["query_id"] == ALL_TOPICS).any():
        raise InputError(f"no topic can be called {ALL_TOPICS!r}, which stands for the mean over topics")
    parts: list[pd.DataFrame] = []
    coverage: list[Coverage] = []
    for run in runs:
        if run.name in {c.run for c in coverage}:
            raise InputError(f"two runs carry the name {run.name!r}; give one of them another")
        aligned = align(run.frame, qrels)
        if len(aligned.missing_topics) == len(aligned.topics) and not strangers:
            raise InputError(
                f"run {run.name!r} has no topic of the qrels: its topics begin with "
                f"{aligned.ignored_topics[:3]}, those of the qrels with {aligned.topics[:3]}"
            )
        for measure in measures:
            values = measure(aligned)
            # fsum: the mean does not depend on the order of the topics, in the last digit either.
            mean = math.fsum(values) / len(values)
            parts.append(
                pd.DataFrame(
                    {
                        "run": run.name,
                        "query_id": [*aligned.topics, ALL_TOPICS],
                        "measure": str(measure),
                        "value": np.append(values, mean),
                    }
                )
            )
        coverage.append(
            Coverage(
                run.name,
                len(aligned.topics),
                tuple(aligned.missing_topics),
                tuple(aligned.ignored_topics),
                float(aligned.unjudged(10).mean()),
            )
        )
        if progress:
            progress(run.name)
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(VALUE_COLUMNS))
    return Evaluation(table, coverage)
