"""Evaluation and comparison of the campaign's runs with its own qrels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from collection import adjudication, comparison, estimation, preferences, reusability
from collection.adjudication import ChosenRule, RuleDifference
from collection.campaign.corpus.coded_runs import KeyedRuns
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.results.qrels import QrelsBuilder, RuleChoice
from collection.campaign.results.rank_comparison import RankComparison, compare_ranks
from collection.campaign.settings.settings import Settings
from collection.comparison import Comparison, Estimates
from collection.core.errors import CampaignError, UnknownNameError, require_known
from collection.measures import Explanation, Measure, as_measure
from collection.preferences import PreferenceValues
from collection.reusability import Groups, Reusability, Unjudged, groups_by_prefix
from collection.store import Store

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class RuleComparison(NamedTuple):
    """Two adjudication rules on one campaign: the grades that differ, and the systems that change place."""

    first: str
    second: str
    grades: RuleDifference
    measure: str | None
    """The measure that orders the systems; None if it was not named, or if a rule adjudicates no pair."""
    places: RankComparison | None
    """The order of the systems under each rule; None without a measure."""
    cautions: tuple[str, ...] = ()
    """See :attr:`collection.adjudication.Adjudicated.caution`."""


Measures = Measure | str | Iterable[Measure | str]


@dataclass(eq=False)
class RunEvaluator:
    """Evaluates and compares the campaign's runs with its own qrels.

    In its methods `runs` and `topics` select some of the runs and topics, and `rule` is an adjudication rule as
    :meth:`.QrelsBuilder.build` takes it.
    """

    store: Store
    settings: Settings
    corpus: Corpus
    qrels: QrelsBuilder

    def for_question(self, name: str | None, answer: str | None = None) -> RunEvaluator:
        """The same with the qrels of a further question; see :meth:`.QrelsBuilder.for_question`."""
        return replace(self, qrels=self.qrels.for_question(name, answer))

    def cache_key(self) -> str:
        """Cache key of all results, which changes with judgements, pool, runs and costs."""
        runs = self.store.corpus.runs_signature()
        question = () if self.qrels.question is None else (self.qrels.question,)
        return repr((self.store.judgements.versions(), runs, self.store.corpus.costs().to_csv(), *question))

    def evaluate(
        self,
        measures: Measures,
        *,
        runs: Iterable[str] | None = None,
        rule: RuleChoice = None,
        topics: Iterable[str] | None = None,
        with_bounds: bool = False,
    ) -> comparison.Evaluation:
        """Evaluate the imported runs with the campaign's own qrels.

        Parameters
        ----------
        measures
            As text (``["nDCG@10", "map"]``) or from :func:`collection.measures.parse`.
        with_bounds
            Also compute the bounds of each value if the unjudged documents had any grade of the campaign's scale.

        Examples
        --------
        >>> campaign.results.evaluation.evaluate(["nDCG@10", "map"]).means()  # doctest: +SKIP
        """
        index, keys = self.qrels.index(rule, topics=topics)
        if not len(index.pairs):
            raise CampaignError("there are no grades yet to evaluate with; judge some pairs first")
        evaluation = comparison.evaluate(
            KeyedRuns(self.corpus.coded_runs(runs), keys),
            index,
            measures,
            strangers=True,
            with_bounds=with_bounds,
            grades=self.qrels.scale,
        )
        evaluated, costs = [c.run for c in evaluation.coverage], self.store.corpus.costs()
        if len(comparison.unknown_costs(evaluated, costs)) == len(costs):
            return evaluation
        return comparison.with_costs(evaluation, costs)

    def explain(
        self,
        measure: Measure | str,
        run: str,
        query_id: str,
        *,
        rule: RuleChoice = None,
        topics: Iterable[str] | None = None,
    ) -> Explanation:
        """The calculation of one topic's value for one run, rank by rank.

        Raises
        ------
        UnknownNameError
            There is no such run, or the topic has no grade.
        """
        ranking = next(self.corpus.runs([run]), None)
        if ranking is None:
            raise UnknownNameError("run", run, self.store.corpus.runs()["run"])
        return comparison.explain(ranking, self.qrels.build(rule, topics=topics), measure, query_id)

    def by_preferences(self, depth: int | None = None) -> PreferenceValues:
        """Evaluate the imported runs by preferences, to a depth; see :func:`collection.preferences.evaluate`."""
        decisions = self.store.topic_tasks.preferences()
        if decisions.empty:
            raise CampaignError("there are no preferences yet to evaluate with; compare some documents first")
        return preferences.evaluate(self.corpus.runs(), decisions, depth)

    def compare(
        self,
        measures: Measures,
        *,
        runs: Iterable[str] | None = None,
        rule: RuleChoice = None,
        topics: Iterable[str] | None = None,
        **options: Any,
    ) -> Comparison:
        """The leaderboard of the imported runs with intervals and tests.

        `options` and further errors are those of :func:`collection.comparison.compare`, the other parameters and the
        CampaignError without a grade those of :meth:`evaluate`.
        """
        return comparison.compare(self.evaluate(measures, runs=runs, rule=rule, topics=topics), **options)

    def estimate(
        self,
        measures: Measures,
        *,
        runs: Iterable[str] | None = None,
        rule: RuleChoice = None,
        topics: Iterable[str] | None = None,
        **options: Any,
    ) -> Estimates:
        """Estimate the values that the imported runs would have if all pairs of the pool were judged.

        The topics are those with a grade. Similar texts have similar grades if the document features exist and are
        up to date (:meth:`.Features.update`); otherwise only ranks and judged pairs tell about a pair. `options` are
        ``alpha``, ``seed``, ``draws`` and ``separate_seeds`` of :func:`collection.estimation.estimate`.

        Raises
        ------
        CampaignError
            There are no grades.
        InputError
            As for :func:`collection.estimation.estimate`.

        Examples
        --------
        >>> campaign.results.evaluation.estimate("nDCG@10").table()  # doctest: +SKIP
        """
        qrels = self.qrels.build(rule, topics=topics)
        if not len(qrels):
            raise CampaignError("there are no grades yet to estimate others from; judge some pairs first")
        return estimation.estimate(
            self.corpus.runs(runs),
            qrels,
            measures,
            pool=self.store.pool.pairs(),
            texts=self._features_of,
            scale=self.qrels.scale,
            strangers=True,
            **options,
        )

    def _features_of(self, pairs: pd.DataFrame) -> csr_matrix | None:
        """Features of the documents of pairs; None where there are none that are up to date."""
        return self.corpus.features.rows(pairs["doc_id"]) if self.corpus.features.state().current else None

    def side_by_side(self, a: str, b: str, query_id: str, *, depth: int = 10, rule: RuleChoice = None) -> pd.DataFrame:
        """The rankings of two runs for one topic, with grades; see :func:`collection.comparison.side_by_side`.

        Raises
        ------
        UnknownNameError
            There is no such run, or no such topic.
        """
        require_known("run", self.store.corpus.runs()["run"].tolist(), a, b)
        require_known("topic", self.store.corpus.topics()["query_id"].tolist(), query_id)
        read = {run.name: run for run in self.corpus.runs([a, b])}
        return comparison.side_by_side(read[a], read[b], self.qrels.build(rule), query_id, depth)

    def compare_rules(
        self, first: RuleChoice, second: str | ChosenRule, measure: Measure | str | None = None
    ) -> RuleComparison:
        """The grades that differ between two rules, and the systems that change place by a measure.

        Parameters
        ----------
        first, second
            None is the default rule.
        measure
            Orders the imported runs, on all topics that have a grade by the rule.
        """
        a, b = adjudication.parse_rule(first), adjudication.parse_rule(second)
        adjudicated = self.qrels.with_sources(a), self.qrels.with_sources(b)
        qrels = adjudicated[0].qrels, adjudicated[1].qrels
        named = places = None
        if measure is not None and all(map(len, qrels)):
            parsed = as_measure(measure)
            if not len(self.store.corpus.runs()):
                raise CampaignError("there are no runs to rank; import some with --run")
            values = [comparison.evaluate(self.corpus.runs(), frame, [parsed], strangers=True) for frame in qrels]
            means = [v.means().iloc[:, 0] for v in values]
            named, places = str(parsed), compare_ranks(*means, less_is_better=parsed.entry.monotone < 0)
        cautions = tuple(filter(None, dict.fromkeys(each.caution for each in adjudicated)))
        return RuleComparison(str(a), str(b), adjudication.compare(*qrels), named, places, cautions)

    def reusability(
        self,
        measures: Measures = (),
        *,
        rule: RuleChoice = None,
        topics: Iterable[str] | None = None,
        groups: Groups = groups_by_prefix,
        depth: int | None = None,
        rel: float = 1,
        with_bounds: bool = False,
        unjudged: Unjudged = "unknown",
    ) -> Reusability:
        """Assess whether the collection is reusable for other systems; see :func:`collection.reusability.assess`.

        The depth of the pool is inferred from the judgements: pooled pairs that are not yet judged do not count.

        Raises
        ------
        CampaignError
            There are no runs or no grades.
        """
        if not len(self.store.corpus.runs()):
            raise CampaignError("there are no runs to leave out; import some with --run")
        index, keys = self.qrels.index(rule, topics=topics, by_name=True)
        if not len(index.pairs):
            raise CampaignError("there are no grades yet; judge some pairs first")
        if unjudged == "unknown":
            given: tuple[Any, Any] = KeyedRuns(self.corpus.coded_runs(), keys), index
        else:
            given = self.corpus.runs(), self.qrels.build(rule, topics=topics)
        return reusability.assess(
            *given,
            measures,
            groups=groups,
            depth=depth,
            rel=rel,
            with_bounds=with_bounds,
            grades=self.qrels.scale,
            unjudged=unjudged,
        )
