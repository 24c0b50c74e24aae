"""Evaluates and compares the campaign's runs by its own qrels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from collection import adjudication, comparison, preferences, reusability
from collection.adjudication import Chosen, Difference
from collection.campaign.corpus import Corpus
from collection.campaign.progress import Progress
from collection.campaign.qrels import QrelsBuilder
from collection.campaign.rank_comparison import side_by_side
from collection.campaign.topic_tasks import TopicTasks
from collection.comparison import Comparison
from collection.errors import CampaignError, UnknownNameError
from collection.measures import Explanation, Measure, as_measure
from collection.preferences import PreferenceValues
from collection.records import GradeScale
from collection.reusability import Groups, Reusability, groups_by_prefix
from collection.store import Store


class Places(NamedTuple):
    """Where the systems stand by one measure under each of two rules.

    Attributes
    ----------
    measure
        The measure.
    table
        ``run``, ``first``, ``second`` (the means), ``first_place``, ``second_place`` (1 is best, also where less is
        better; equal values share the better place); best by the first rule on top.
    tau
        Kendall's tau-b between the two orders; nan with fewer than two runs, or where all values are equal.
    """

    measure: str
    table: pd.DataFrame
    tau: float

    @property
    def moved(self) -> list[str]:
        """Runs that have another place by the second rule than by the first."""
        other = self.table["first_place"] != self.table["second_place"]
        return self.table.loc[other, "run"].tolist()


class RuleComparison(NamedTuple):
    """Two rules on one campaign's judgements: the grades that differ, and the systems that change place."""

    first: str
    second: str
    grades: Difference
    places: Places | None
    """None where no measure was asked for, or one of the two settles no pair."""
    cautions: tuple[str, ...] = ()
    """What is to be known of the rules' qrels; see :attr:`collection.adjudication.Adjudicated.caution`."""


ENOUGH_FINISHED = 0.5
"""From so large a share of the topics with grades on, those judged to the end are looked at alone: the others would add
holes that are no fault of the pool. With fewer the answer would rest on what happens to be finished first."""


class TopicsWithGrades(NamedTuple):
    """Which topics the pool can be looked at by.

    Attributes
    ----------
    graded
        Topics with a grade, by name.
    finished
        Those of them whose pool is judged to the end.
    """

    graded: tuple[str, ...]
    finished: tuple[str, ...]

    @property
    def usual(self) -> tuple[str, ...] | None:
        """What the page and the command take unless told otherwise; None: all that have a grade.

        Examples
        --------
        >>> TopicsWithGrades(("1", "2", "3"), ("1", "2")).usual
        ('1', '2')
        >>> TopicsWithGrades(("1", "2", "3"), ("1",)).usual
        """
        enough = ENOUGH_FINISHED * len(self.graded) <= len(self.finished) < len(self.graded)
        return self.finished if enough else None


@dataclass(eq=False)
class Evaluator:
    """Evaluates and compares the campaign's runs by its own qrels."""

    store: Store
    grades: GradeScale
    corpus: Corpus
    progress: Progress
    topic_tasks: TopicTasks
    qrels: QrelsBuilder

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
            How several annotators' judgements become one grade, as :meth:`.QrelsBuilder.build` takes it.
        with_bounds
            Also how far each value could move if the unjudged documents had any grade of the campaign's scale.

        Examples
        --------
        >>> campaign.evaluation.evaluate(["nDCG@10", "map"]).means()  # doctest: +SKIP
        """
        qrels = self.qrels.of_topics(rule, topics)
        if not len(qrels):
            raise CampaignError("there is no grade yet to evaluate by; judge some pairs first")
        evaluation = comparison.evaluate(
            self.corpus.runs(runs),
            qrels,
            measures,
            strangers=True,
            with_bounds=with_bounds,
            grades=self.grades.sentences,
        )
        evaluated, costs = [c.run for c in evaluation.coverage], self.corpus.costs()
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
        found = next(self.corpus.runs([run]), None)
        if found is None:
            raise UnknownNameError("run", run, self.store.corpus.runs()["run"])
        return comparison.explain(found, self.qrels.of_topics(rule, topics), measure, query_id)

    def by_preferences(self, runs: Iterable[str] | None = None, depth: int | None = None) -> PreferenceValues:
        """What the imported runs are worth by the preferences; see :func:`collection.preferences.evaluate`.

        Parameters
        ----------
        runs
            Only these; all if left out.
        depth
            Look at so many ranks of each topic; at all if left out.
        """
        said = self.topic_tasks.preferences()
        if said.empty:
            raise CampaignError("there is no preference yet to evaluate by; compare some documents first")
        return preferences.evaluate(self.corpus.runs(runs), said, depth)

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
            How several annotators' judgements become one grade, as :meth:`.QrelsBuilder.build` takes it.

        Raises
        ------
        UnknownNameError
            There is no such run, or no such topic.
        """
        known = self.store.corpus.runs()["run"].tolist()
        for name in (a, b):
            if name not in known:
                raise UnknownNameError("run", name, known)
        topics = self.corpus.topics()["query_id"].tolist()
        if query_id not in topics:
            raise UnknownNameError("topic", query_id, topics)
        read = {run.name: run for run in self.corpus.runs([a, b])}
        return comparison.side_by_side(read[a], read[b], self.qrels.build(rule), query_id, depth)

    def compare_rules(
        self, first: str | Chosen | None, second: str | Chosen, measure: Measure | str | None = None
    ) -> RuleComparison:
        """How many grades differ between two rules, and whether any system changes place.

        Parameters
        ----------
        first, second
            As :meth:`.QrelsBuilder.build` takes them; the first is the default rule where it is None.
        measure
            By which the imported runs are put in order; none if left out, and where there are no runs. The runs are
            evaluated on all topics that have a grade by the rule.
        """
        a, b = adjudication.parse(first), adjudication.parse(second)
        adjudicated = self.qrels.with_sources(a), self.qrels.with_sources(b)
        qrels = adjudicated[0].qrels, adjudicated[1].qrels
        places = None
        if measure is not None and all(map(len, qrels)):
            asked = as_measure(measure)
            if not len(self.store.corpus.runs()):
                raise CampaignError("there is no run whose place could change; import some with --run")
            values = [comparison.evaluate(self.corpus.runs(), frame, [asked], strangers=True) for frame in qrels]
            means = [v.means().iloc[:, 0] for v in values]
            found = side_by_side(*means, less_is_better=asked.entry.monotone < 0)
            places = Places(str(asked), found.table, found.tau)
        cautions = tuple(filter(None, dict.fromkeys(found.caution for found in adjudicated)))
        return RuleComparison(str(a), str(b), adjudication.compare(*qrels), places, cautions)

    def graded_topics(self, rule: str | Chosen | None = None) -> tuple[str, ...]:
        """The topics that have a grade by this rule, by name."""
        qrels = self.qrels.of_topics(rule, None)
        return tuple(sorted(set(qrels.loc[qrels["relevance"] >= 0, "query_id"].astype(str))))

    def topics_with_grades(
        self, rule: str | Chosen | None = None, *, graded: tuple[str, ...] | None = None
    ) -> TopicsWithGrades:
        """The topics that have a grade by this rule, and which of them are finished.

        Parameters
        ----------
        rule
            As :meth:`.QrelsBuilder.build` takes it.
        graded
            :meth:`graded_topics`, if they are there already: settling all judgements takes a while.
        """
        graded = self.graded_topics(rule) if graded is None else graded
        progress = self.progress.topics()
        done = ((progress["goal"] > 0) & (progress["made"] >= progress["goal"])).fillna(False)
        finished = set(progress.loc[done, "query_id"].astype(str))
        return TopicsWithGrades(graded, tuple(topic for topic in graded if topic in finished))

    def reusability(
        self,
        measures: Measure | str | Iterable[Measure | str] = (),
        *,
        rule: str | Chosen | None = None,
        topics: Iterable[str] | None = None,
        groups: Groups = groups_by_prefix,
        depth: int | None = None,
        rel: float = 1,
        with_bounds: bool = False,
    ) -> Reusability:
        """Ask whether the collection can be used for other systems; see :func:`collection.reusability.assess`.

        Parameters
        ----------
        measures, groups, depth, rel, with_bounds
            As there. To which depth the runs were pooled is read off the judgements, not off the rounds of the pool:
            what is pooled and not yet judged helps nobody.
        rule, topics
            As :meth:`evaluate` takes them.

        Raises
        ------
        CampaignError
            There is no run, or no grade.
        """
        if not len(self.store.corpus.runs()):
            raise CampaignError("there is no run to leave out; import some with --run")
        qrels = self.qrels.of_topics(rule, topics)
        if not len(qrels):
            raise CampaignError("there is no grade yet; judge some pairs first")
        return reusability.assess(
            self.corpus.runs(),
            qrels,
            measures,
            groups=groups,
            depth=depth,
            rel=rel,
            with_bounds=with_bounds,
            grades=self.grades.sentences,
        )
