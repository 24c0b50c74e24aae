"""Which of a campaign's systems is better, by its own qrels, and where two of them differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from collection import comparison
from collection.adjudication import Chosen
from collection.campaign.qrels import Settling
from collection.comparison import Comparison
from collection.errors import UnknownNameError
from collection.measures import Measure


class Comparing(Settling):
    """The part of a campaign that compares its systems."""

    def compare(
        self,
        measures: Measure | str | Iterable[Measure | str],
        *,
        runs: Iterable[str] | None = None,
        rule: str | Chosen | None = None,
        topics: Iterable[str] | None = None,
        **options: Any,
    ) -> Comparison:
        """The leaderboard of the imported runs with intervals and tests; see :func:`collection.comparison.compare`.

        Parameters
        ----------
        measures, runs, rule, topics
            As for :meth:`evaluate`.
        **options
            ``baseline``, ``test``, ``correction``, ``alpha``, ``seed``, ``all_pairs``,
            ``separate_seeds``.

        Raises
        ------
        CampaignError
            There is no grade yet.
        InputError
            `alpha` is no level. One topic or one system is no error: then there are no tests.
        UnknownNameError
            There is no system of the baseline's name, no such test, or no such correction.
        """
        return comparison.compare(self.evaluate(measures, runs=runs, rule=rule, topics=topics), **options)

    def side_by_side(
        self,
        a: str,
        b: str,
        query_id: str,
        *,
        depth: int = 10,
        rule: str | Chosen | None = None,
    ) -> pd.DataFrame:
        """The rankings of two runs for one topic, with grades; see :func:`collection.comparison.side_by_side`.

        Parameters
        ----------
        a, b
            Names of runs.
        query_id
            The topic.
        depth
            How many ranks.
        rule
            How several annotators' judgements become one grade, as :meth:`qrels` takes it.

        Raises
        ------
        UnknownNameError
            There is no such run, or no such topic.
        """
        known = self.store.runs()["run"].tolist()
        for name in (a, b):
            if name not in known:
                raise UnknownNameError("run", name, known)
        topics = self.topics()["query_id"].tolist()
        if query_id not in topics:
            raise UnknownNameError("topic", query_id, topics)
        read = {run.name: run for run in self.runs([a, b])}
        return comparison.side_by_side(read[a], read[b], self.qrels(rule), query_id, depth)
