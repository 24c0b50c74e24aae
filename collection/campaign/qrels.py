"""What the judgements say: settled into qrels, and what the runs are worth by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from collection import adjudication, comparison
from collection.adjudication import Adjudicated, Chosen
from collection.campaign import run_files
from collection.campaign.progress import Reading
from collection.errors import CampaignError, UnknownNameError
from collection.measures import Explanation, Measure
from collection.records import Run


class Settling(Reading):
    """The part of a campaign that goes from judgements to values."""

    directory: Path

    def runs(self, names: Iterable[str] | None = None) -> Iterator[Run]:
        """The imported runs, one at a time, by name; `names` chooses among them.

        Raises
        ------
        CampaignError
            The file of a run is missing, damaged, or another one.
        """
        table = self.store.runs()
        wanted = set(table["run"] if names is None else names)
        for recorded in table.to_dict("records"):
            if recorded["run"] in wanted:
                yield Run(recorded["run"], run_files.read(self.directory, recorded))

    def qrels(self, rule: str | Chosen | None = None, **parameters: str) -> pd.DataFrame:
        """The judgements settled into qrels: ``query_id``, ``doc_id``, ``relevance``; by topic, then document id.

        Parameters
        ----------
        rule, **parameters
            How several annotators' judgements become one grade, as :func:`collection.adjudication.parse` takes it:
            ``"majority"``, ``"majority(ties=higher)"``.
        """
        return self.settled(rule, **parameters).qrels

    def settled(self, rule: str | Chosen | None = None, **parameters: str) -> Adjudicated:
        """The same with the rule and how each grade came about, in the same order."""
        found = adjudication.adjudicate(self.store.judgements(), adjudication.parse(rule, **parameters))
        order = pd.Series(range(len(self.topics())), index=self.topics()["query_id"])
        keys = found.grades["query_id"].map(order)
        ordered = found.grades.assign(_=keys).sort_values(["_", "doc_id"]).drop(columns="_").reset_index(drop=True)
        return replace(found, grades=ordered)

    def disagreements(self) -> adjudication.Disagreements:
        """How many pairs several annotators graded, and on how many of them they differ."""
        return adjudication.disagreements(self.store.judgements())

    def evaluate(
        self,
        measures: Measure | str | Iterable[Measure | str],
        *,
        runs: Iterable[str] | None = None,
        rule: str | Chosen | None = None,
        topics: Iterable[str] | None = None,
        with_bounds: bool = False,
    ) -> comparison.Evaluation:
        """Evaluate the imported runs by the campaign's own qrels.

        Parameters
        ----------
        measures
            As text (``["nDCG@10", "map"]``) or from :func:`collection.measures.parse`.
        runs, topics
            Only these; all runs, and all topics that have a grade, if left out.
        rule
            How several annotators' judgements become one grade, as :meth:`qrels` takes it.
        with_bounds
            Also how far each value could move if the unjudged documents had any grade of the campaign's scale.

        Examples
        --------
        >>> campaign.evaluate(["nDCG@10", "map"]).means()  # doctest: +SKIP
        """
        qrels = self._qrels_of(rule, topics)
        if not len(qrels):
            raise CampaignError("there is no grade yet to evaluate by; judge some pairs first")
        evaluation = comparison.evaluate(
            self.runs(runs), qrels, measures, strangers=True, with_bounds=with_bounds, grades=self.grades.sentences
        )
        evaluated, costs = [c.run for c in evaluation.coverage], self.costs()
        if len(comparison.unknown_costs(evaluated, costs)) == len(costs):
            return evaluation
        return comparison.with_costs(evaluation, costs)

    def explain(
        self,
        measure: Measure | str,
        run: str,
        query_id: str,
        *,
        rule: str | Chosen | None = None,
        topics: Iterable[str] | None = None,
    ) -> Explanation:
        """The calculation of one topic's value for one run, rank by rank; `rule` and `topics` as for :meth:`evaluate`.

        Raises
        ------
        UnknownNameError
            There is no such run, or no grade for the topic.
        """
        found = next(self.runs([run]), None)
        if found is None:
            raise UnknownNameError("run", run, self.store.runs()["run"])
        return comparison.explain(found, self._qrels_of(rule, topics), measure, query_id)

    def _qrels_of(self, rule: str | Chosen | None, topics: Iterable[str] | None) -> pd.DataFrame:
        qrels = self.qrels(rule)
        return qrels if topics is None else qrels[qrels["query_id"].isin(list(topics))]

    def costs(self) -> pd.DataFrame:
        """``run`` and what is known of its costs: a column for each name that any import of costs had."""
        return self.store.costs()
