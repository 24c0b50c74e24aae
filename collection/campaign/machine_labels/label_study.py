"""Comparison of machine labels with people's grades of a sample, and the values that both give."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import machine_labels
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.machine_labels.label_sets import LabelSets
from collection.campaign.people.assignments import Assignments
from collection.campaign.people.pools import Pools
from collection.campaign.results.qrels import QrelsBuilder
from collection.campaign.settings.loop_settings import LOOPING
from collection.campaign.settings.settings import Settings
from collection.core.arrays import Floats
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import count, decimal, join, percent, plural
from collection.expected_judgements import Pairs, describe
from collection.machine_labels import (
    LEAST_SAMPLE,
    CorrectedValues,
    PeopleComparison,
    SystemEffects,
    compare_with_people,
    find_effects,
)
from collection.machine_labels.model_families import family_of
from collection.measures import Measure, as_measure
from collection.store import LabelSet, SampleInUse, Store
from collection.store.columns import pack_keys

PAIR = ["query_id", "doc_id"]

MEASURE = "nDCG@10"
"""The measure of warnings, where the campaign's own cannot be corrected."""

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Shares of the pairs for which a plan gives the width of the intervals."""

ERROR = 0.05
"""Error of a corrected value (half the width of its interval) up to which no caution is given."""

CONCENTRATED, LEAST_TOPICS = 1 / 3, 5
"""Share of the disagreement in one topic, and number of topics, from which a caution names the topic."""


class PeopleGrades(NamedTuple):
    """People's grades of N pooled pairs."""

    grades: Floats
    """(N,) their grades, nan without a judgement."""
    textless: NDArray[np.bool_]
    """(N,) whether a pair has neither a judgement nor a text, while others have one."""

    @property
    def judged(self) -> NDArray[np.bool_]:
        """(N,) whether a pair has a grade."""
        judged: NDArray[np.bool_] = ~np.isnan(self.grades)
        return judged


class SampleProgress(NamedTuple):
    """Progress of people's judgements of a sample."""

    asked: int
    """Pairs of the sample that people are asked to judge."""
    judged: int
    """Pairs of the sample judged without a gap in its order."""
    before: int
    """Pairs that were judged before the sample was drawn."""
    pairs: int


@dataclass(eq=False)
class LabelStudy:
    """Comparison of machine labels with people's grades; both stay apart."""

    store: Store
    settings: Settings
    corpus: Corpus
    qrels: QrelsBuilder
    labels: LabelSets
    assignments: Assignments
    pools: Pools

    def cache_key(self) -> str:
        """Cache key of all results.

        It changes with labels, their names, judgements, pool, asked pairs, runs, families, measure.
        """
        tables = self.store
        labels, judgements = tables.machine_labels.version(), tables.judgements.versions()
        built_on = [(each.name, self.labels.runs_built_on(each.name)) for each in self.store.machine_labels.sets()]
        pool = tables.judgements.progress()[["pool", "wanted"]].to_numpy().tolist()
        rest = [tables.corpus.runs_signature(), built_on, pool, self._own_measure()]
        return json.dumps([labels, judgements, *rest])

    def _own_measure(self) -> str:
        """The measure that orders the systems of this campaign."""
        return self.settings.loop().measure

    def main_measure(self) -> Measure:
        """The measure of warnings, and of results for which none is named.

        That of the campaign if it can be corrected and has values between 0 and 1, as the error that is stated for it;
        otherwise :data:`MEASURE`.
        """
        try:
            own = self._measure(self._own_measure())
        except InputError:
            return as_measure(MEASURE)
        return own if own.entry.highest == 1 else as_measure(MEASURE)

    def people(self, name: str) -> pd.DataFrame:
        """People's adjudicated grades, without pairs that somebody judged after seeing the label."""
        qrels = self.qrels.build()[[*PAIR, "relevance"]]
        return qrels[~pd.MultiIndex.from_frame(qrels[PAIR]).isin(self._seen(name))].reset_index(drop=True)

    def _seen(self, name: str) -> pd.MultiIndex:
        """The pairs that somebody judged after seeing the label."""
        if not (self.store.machine_labels.views()["label_set"] == name).any():
            return pd.MultiIndex.from_arrays([[], []], names=PAIR)
        judged = self.store.judgements.table(columns=("annotator", *PAIR, "judged_at"))
        after = judged.drop(self.labels.unseen(name, judged).index)
        return pd.MultiIndex.from_frame(after[PAIR].drop_duplicates())

    def compare(self, name: str, *, resamples: int = 1000) -> PeopleComparison:
        """Compare a label set with people's grades; labels that are no grades of the scale are left out.

        Raises
        ------
        InputError
            No pair has both, or no label is a grade of the scale.
        """
        scale, labels = self._scale(), self.labels.labels(name)
        on_scale = labels["relevance"].isin(scale)
        labels = labels[on_scale] if on_scale.any() else labels
        return compare_with_people(labels, self.people(name), list(self.corpus.runs()), scale, resamples=resamples)

    def plan(
        self, name: str, measure: Measure | str | None = None, counts: Sequence[int] | None = None
    ) -> pd.DataFrame:
        """Expected width of the intervals by number of human judgements; see :func:`collection.machine_labels.plan`."""
        measure, pairs = self._measure(measure), self._pairs()
        counts_planned = (
            sorted({max(20, round(share * len(pairs.topic))) for share in SHARES}) if counts is None else counts
        )
        sizes = self._sizes(name, pairs, measure)[0]
        return machine_labels.plan(pairs, measure, self._aligned(name, pairs), sizes, self._scale(), counts_planned)

    def plan_budget(
        self,
        names: Sequence[str],
        measure: Measure | str | None = None,
        *,
        hours: float | None = None,
        money: float | None = None,
        wage: float = 0.0,
        seconds: float | None = None,
        prices: Mapping[str, float] | None = None,
        correlations: Mapping[str, float] | None = None,
    ) -> pd.DataFrame:
        """Compare what people alone, label sets and their combination buy for a budget.

        Parameters
        ----------
        names
            Label sets, or models that have not labelled yet.
        hours, money, wage
            Hours of people's work, and money for labels and for people at this wage per hour.
        seconds
            Seconds per judgement; by default the campaign's expectation at its recent pace.
        prices
            Name -> money per label that is still to be made; by default the recorded cost of the labels so far. Labels
            of a model without either cost nothing, and their number is in the column ``unpriced``.
        correlations
            Name -> correlation (Pearson) of the labels with people's grades; by default estimated from the pairs that
            people have judged, or that of a usual judge.

        Returns
        -------
        DataFrame
            See :func:`collection.machine_labels.plan_budget`.

        Raises
        ------
        InputError
            No limit, a number out of range, no price of labels that are still to be made, or too few timed judgements
            to know the seconds.
        """
        limits = {"hours": hours, "money": money, "wage": wage, "seconds": seconds, **(prices or {})}
        for what, number in limits.items():
            if number is not None and not (0 <= number < np.inf and (number or what != "seconds")):
                least = "above 0" if what == "seconds" else "of at least 0"
                raise InputError(f"{what}: expected a number {least}, found {number:g}")
        measure, pairs = self._measure(measure), self._pairs()
        grades = self.find_grades(pairs.frame)
        judged = np.where(grades.textless, np.nan, grades.grades)
        judges = [
            self._judge(name, pairs, judged, (prices or {}).get(name), (correlations or {}).get(name))
            for name in dict.fromkeys(names)
        ]
        if seconds is None:
            pace = self.pools.time(1)
            if pace is None:
                raise InputError("expected the seconds per judgement, since too few judgements are timed to tell")
            seconds = pace.mid
        budget = machine_labels.Budget(hours, money, seconds, wage)
        sizes = machine_labels.pair_sizes(machine_labels.rank_weights(measure, pairs.places))
        return machine_labels.plan_budget(pairs, measure, judges, sizes, self._scale(), budget)

    def _judge(
        self, name: str, pairs: Pairs, judged: Floats, price: float | None, correlation: float | None
    ) -> machine_labels.Judge:
        known = self.labels.find(name)
        labels = np.full(len(pairs.topic), np.nan) if known is None else self._aligned(name, pairs)
        missing = int(np.isnan(labels).sum())
        if price is None and known is not None:
            totals = self.store.machine_labels.totals(known.key)
            spent, rows = self.store.machine_labels.cost(known.key, 0.0, 0.0), int(totals["rows"].sum())
            price = spent / rows if rows and spent else None
        if price is None and missing and known is None:
            raise InputError(f"expected the price of a label of {name}, which has none of the pairs labelled yet")
        if correlation is not None and not -1 <= correlation <= 1:
            raise InputError(f"correlation of {name}: expected a number from -1 to 1, found {correlation:g}")
        weight = machine_labels.weight_of_labels(labels, judged)
        if correlation is not None:
            weight = machine_labels.weight_of_correlation(correlation)
        free = price is not None or (known is not None and known.kind != "llm")  # rules and clicks cost nothing
        return machine_labels.Judge(name, labels, weight, missing * (price or 0.0), 0 if free else missing)

    def ask_people(
        self, name: str, judgements: int, measure: Measure | str | None = None, *, seed: int = 1
    ) -> SampleProgress:
        """Ask people to judge a random sample of the pool, and no other pair; a larger number continues the sample.

        The first call draws the order of the sample, from all pairs of the pool that have a text and are not judged
        yet. The overlap of the assignment applies to the sample as to a pool. :meth:`ask_for_pool` ends it.

        Raises
        ------
        CampaignError
            A topic is in a loop, which hands out pairs outside the sample; or the pool has grown since the sample was
            drawn.
        InputError
            Fewer than 20 judgements, or every pair is judged.
        """
        if judgements < LEAST_SAMPLE:
            raise InputError(f"expected at least {LEAST_SAMPLE} judgements, found {judgements}")
        if looping := [q for q, mode in self.settings.modes().items() if mode in LOOPING]:
            raise CampaignError(
                f"expected topics that are judged from the pool, found {count(len(looping), 'topic')} in a loop; "
                "change the mode with `cleverdon loop DIR --mode pool`"
            )
        label_set, measure, pairs = self.labels.named(name), self._measure(measure), self._pairs()
        with self.store.transaction():
            if self.store.machine_labels.sample(label_set.key).empty:
                people = self.find_grades(pairs.frame)
                judged = people.judged
                if judged.all():
                    with_text = " with a text" if people.textless.any() else ""
                    raise InputError(f"expected pairs of the pool that nobody has judged, found none{with_text}")
                sizes = machine_labels.pair_sizes(machine_labels.rank_weights(measure, pairs.places))
                priorities = machine_labels.draw_priorities(sizes, seed)
                priorities[judged] = np.nan
                drawn = pairs.frame.assign(size=sizes, priority=priorities)
                self.store.machine_labels.set_sample(label_set.key, drawn)
            _, priorities = self._sizes(name, pairs, measure)
            in_use = SampleInUse(label_set.key, min(judgements, int((~np.isnan(priorities)).sum())))
            self.store.machine_labels.use_sample(in_use)
            self.assignments.spread_overlap()
        return self.progress(name)

    def ask_for_pool(self) -> None:
        """Ask people to judge the whole pool again."""
        with self.store.transaction():
            self.store.machine_labels.use_sample(None)
            self.assignments.spread_overlap()

    def progress(self, name: str) -> SampleProgress:
        """Return the progress of judging the sample next to a label set."""
        pairs, in_use = self._pairs(), self.store.machine_labels.sample_in_use()
        sizes, priorities = self._sizes(name, pairs, self.main_measure())
        drawn = machine_labels.judged_sample(sizes, priorities, self.find_grades(pairs.frame).judged)
        number = in_use.pairs if in_use is not None and in_use.label_set == self.labels.named(name).key else 0
        return SampleProgress(number, len(drawn.rows) - drawn.before, drawn.before, len(pairs.topic))

    def correct(self, name: str, measure: Measure | str | None = None, also: Sequence[str] = ()) -> CorrectedValues:
        """Correct the values that a label set gives by people's grades of its sample.

        Other label sets, `also`, help to predict people's grades.

        Raises
        ------
        InputError
            Too few judgements of the sample, or a measure that cannot be corrected.
        """
        pairs, measure = self._pairs(), self._measure(measure)
        if self.store.machine_labels.sample(self.labels.named(name).key).empty:
            raise InputError(
                "expected people's grades of a random sample, found no sample; "
                "request judgements on the page Machine labels or by `cleverdon labels ask`"
            )
        sizes, priorities = self._sizes(name, pairs, measure)
        people = self.find_grades(pairs.frame)
        drawn = machine_labels.judged_sample(sizes, priorities, people.judged)
        sets, grades = list(dict.fromkeys((name, *also))), people.grades[drawn.rows]
        labels = np.column_stack([self._aligned(each, pairs) for each in sets])
        corrected = machine_labels.correct(pairs, measure, labels, drawn, grades, self._scale())
        return replace(corrected, before=corrected.before - int(people.textless[drawn.rows[: drawn.before]].sum()))

    def effects(self, name: str, corrected: CorrectedValues) -> SystemEffects:
        """Compare conclusions about the systems by the labels and by people."""
        runs = self.labels.runs_built_on(name)
        model = str(self.labels.named(name).settings.get("model", name))
        return find_effects(corrected, {model: runs})

    def warnings(self, name: str, measure: Measure | str | None = None) -> list[str]:
        """Sentences about a label set that every export of its labels carries; by default about the main measure."""
        limits = [*self._few(name, measure), *self._one_topic(name), *self._views(name), *self.notices(name)]
        return [*self._pooled_model(self.labels.named(name)), *self._off_scale(name), *limits]

    def _off_scale(self, name: str) -> list[str]:
        grades = self.labels.labels(name)["relevance"]
        outside = grades[~grades.isin(self._scale())]
        if outside.empty or self.labels.named(name).kind == "clicks":
            return []
        return [
            f"{count(len(outside), 'label')} {plural(len(outside), 'is no grade', 'are no grades')} of this campaign, "
            f"such as {outside.min():g}: the agreement with people leaves {plural(len(outside), 'it', 'them')} out. "
            "Import the labels under another name with other grades, as with `cleverdon labels import --map`."
        ]

    def _pooled_model(self, label_set: LabelSet) -> Iterator[str]:
        models = self.labels.models(label_set) or [label_set.name]
        named = f"The judging {plural(len(models), 'model', 'models')} {join(models)}"
        if declared := self.labels.declared_runs(label_set):
            parts = f"{plural(len(models), 'is', 'are')} part of {count(len(declared), 'pooled system')} as declared"
            favoured = plural(len(declared), "it", "them")
            yield f"{named} {parts} ({join(declared)}): its labels may favour {favoured}."
        if similar := [run for run in self.labels.runs_named_alike(label_set) if run not in declared]:
            number, names = len(similar), plural(len(similar), "name contains", "names contain")
            families = " or ".join(dict.fromkeys(repr(family_of(each)) for each in models if family_of(each)))
            parts = f"may be part of {count(number, 'pooled system')} whose {names} {families}"
            yield f"{named} {parts} ({join(similar)}): its labels may favour {plural(number, 'it', 'them')}."

    def notices(self, name: str) -> list[str]:
        """Sentences about pairs of the sample next to a label set that people cannot judge."""
        if self.store.machine_labels.sample(self.labels.named(name).key).empty:
            return []
        if not (missing := int(self.find_grades(self._pairs().frame).textless.sum())):
            return []
        return [
            f"{count(missing, 'pair')} of the pool without a text cannot be judged and "
            f"{plural(missing, 'counts', 'count')} as not relevant in corrected values. Import the texts."
        ]

    def _few(self, name: str, measure: Measure | str | None) -> list[str]:
        if self.store.machine_labels.sample(self.labels.named(name).key).empty:
            return [
                "The difference between these labels and people's grades is unknown: people have not been asked to "
                "judge a random sample."
            ]
        try:
            corrected = self.correct(name, measure)
        except (InputError, CampaignError) as error:
            return [f"The difference between these labels and people's grades is unknown: {error}."]
        half = float((corrected.values["high"] - corrected.values["low"]).mean() / 2)
        if half <= ERROR:
            return []
        own = self._own_measure()
        is_own = measure is not None or corrected.measure == str(as_measure(own))
        instead = "" if is_own else f" (none is known for {own}, the campaign's measure)"
        return [
            f"{count(corrected.sampled, 'human judgement')} of the sample give an error of ±{decimal(half, 2)} in "
            f"{corrected.measure}{instead}; for ±{decimal(ERROR, 2)} more are needed."
        ]

    def _one_topic(self, name: str) -> list[str]:
        try:
            topics = self.compare(name, resamples=0).topics
        except InputError:
            return []
        if len(topics) < LEAST_TOPICS:
            return []
        worst = topics.sort_values("disagreement", kind="stable").iloc[-1]
        if not worst["disagreement"] >= CONCENTRATED:
            return []
        return [
            f"Topic {worst['query_id']} accounts for {percent(worst['disagreement'])} of the disagreement with people."
        ]

    def _views(self, name: str) -> list[str]:
        seen = len(self._seen(name))
        if not seen:
            return []
        return [
            f"{count(seen, 'pair')} judged after the label was seen: agreement excludes them, "
            "corrected values include them."
        ]

    def _measure(self, named: Measure | str | None) -> Measure:
        """The measure, if it can be corrected; InputError otherwise."""
        measure = self.main_measure() if named is None else as_measure(named)
        machine_labels.require_measure(measure)
        if measure.level is None:
            raise InputError(f"{measure} cannot be corrected; expected a cut-off, as in {measure}@10")
        return measure

    def _pairs(self) -> Pairs:
        with self.store.snapshot():
            pool = self.store.judgements.progress()["pool"].tolist()
            key = (self.store.corpus.runs_signature(), self.store.judgements.versions()[0], pool)
            return self.store.cached("described pool", key, self._describe_pool, shared=True)

    def _describe_pool(self) -> Pairs:
        pool = self.store.pool.pairs()
        if pool.empty:
            raise CampaignError("expected a pool, found none; add one with `cleverdon pool`")
        runs = list(self.corpus.runs())
        if not runs:
            raise CampaignError(
                "expected runs to evaluate, found none; import some with `cleverdon import DIR --run FILE`"
            )
        return describe(pool[PAIR].astype("str"), runs)

    def _scale(self) -> list[float]:
        return sorted(map(float, self.settings.grades.sentences))

    def find_grades(self, pairs: pd.DataFrame) -> PeopleGrades:
        """Find people's grades of pairs: (N,) ``query_id``, ``doc_id``.

        A pair that people could not judge counts as not relevant, as in values by the qrels; otherwise it would end the
        sample. So does a pair without a text, about which nobody can be asked.
        """
        with self.store.snapshot():
            keys = self.store.judgements.pair_keys(pairs)
            qrels, judged_pairs = self.qrels.coded().grades, self.store.judgements.coded(["topic", "doc"])
        graded = pd.Series(qrels["relevance"].to_numpy(), index=pack_keys(qrels["query_id"], qrels["doc_id"]))
        grades = graded.reindex(keys).to_numpy(dtype=np.float64, copy=True)
        judged = np.isin(keys, pack_keys(judged_pairs["topic"], judged_pairs["doc"]))
        grades[judged & ~(grades >= 0)] = 0.0
        held = self.store.corpus.find_held_back(pairs["doc_id"].unique().tolist())
        textless = pairs["doc_id"].isin(held).to_numpy(dtype=np.bool_) & ~judged
        grades[textless] = 0.0
        return PeopleGrades(grades, textless)

    def _aligned(self, name: str, pairs: Pairs) -> Floats:
        """(N,) labels of the pairs, nan without one."""
        return self.labels.align(name, self.store.judgements.pair_keys(pairs.frame))

    def _sizes(self, name: str, pairs: Pairs, measure: Measure) -> tuple[Floats, Floats]:
        """(N,) sizes and priorities of the sample; the sizes that it would have, and no priorities, without one."""
        sample = self.store.machine_labels.sample(self.labels.named(name).key)
        if sample.empty:
            sizes = machine_labels.pair_sizes(machine_labels.rank_weights(measure, pairs.places))
            return sizes, np.full(len(sizes), np.nan)
        aligned = sample.set_index(PAIR).reindex(pd.MultiIndex.from_frame(pairs.frame))
        if len(sample) != len(pairs.topic) or aligned["size"].isna().any():
            other = "but had other pairs" if len(sample) == len(pairs.topic) else f"but had {len(sample):,}"
            raise CampaignError(
                f"the pool has {count(len(pairs.topic), 'pair')}, {other} when the sample was drawn; "
                "label the new pairs under another name, and draw a new sample"
            )
        return aligned["size"].to_numpy(), aligned["priority"].to_numpy()
