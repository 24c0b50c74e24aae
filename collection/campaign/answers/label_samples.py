"""Random samples of answers' labels that people judge, which correct the scores by machine labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from collection import machine_labels
from collection.campaign.answers.generated_answers import GeneratedAnswers
from collection.campaign.answers.tasks import assigned_pairs, citation_pairs
from collection.campaign.machine_labels.label_study import SampleProgress
from collection.core.arrays import Bools, Floats
from collection.core.errors import CampaignError, InputError, UnknownNameError
from collection.core.layout import NUGGET_ASSIGNMENT, SUPPORT
from collection.machine_labels import LEAST_SAMPLE, CorrectedValues, SystemEffects
from collection.store import SampleInUse

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.generated_answers import AnswerMeasure, LabelledAnswers

PAIR = ["query_id", "doc_id"]


class _Labels(NamedTuple):
    """The N labels that a measure reads, by a label set and by people."""

    machine: LabelledAnswers
    pairs: pd.DataFrame
    """(N,) ``query_id``, ``doc_id`` in the task."""
    pooled: Bools
    """(N,) whether the pair is in the pool of the task."""
    unjudgeable: Bools
    """(N,) whether nobody can judge the pair, because answer or document have no text; it counts as no support."""
    people: Floats
    """(N,) people's grades, nan without one."""


@dataclass(eq=False)
class LabelSamples:
    """Random samples of answers' labels that people judge, which correct the scores by machine labels."""

    answers: GeneratedAnswers

    def ask(
        self, label_set: str, judgements: int, measure: AnswerMeasure | str = "nugget_vital", *, seed: int = 1
    ) -> SampleProgress:
        """Ask people to judge a random sample of the labels that a measure reads, and no others of the task.

        The first call draws the order of the sample; a larger number continues it. :meth:`end` ends it.

        Raises
        ------
        UnknownNameError
            The task has no such label set.
        InputError
            Fewer than 20 judgements, every pair is judged, or the measure is not a weighted sum of labels.
        """
        from collection.generated_answers import label_sizes

        if judgements < LEAST_SAMPLE:
            raise InputError(f"expected at least {LEAST_SAMPLE} judgements, found {judgements}")
        with self._task(measure, label_set) as inner:
            labels = self._labels(inner, label_set, measure)
            key = inner.machine_labels.sets.named(label_set).key
            with inner.transaction():
                if inner.store.machine_labels.sample(key).empty:
                    sizes = label_sizes(measure, labels.machine)
                    priorities = machine_labels.draw_priorities(sizes, seed)
                    priorities[~np.isnan(labels.people)] = np.nan
                    drawn = labels.pairs.assign(size=sizes, priority=priorities)[labels.pooled]
                    if drawn["priority"].isna().all():
                        raise InputError("expected pairs of the task that nobody has judged, found none")
                    inner.store.machine_labels.set_sample(key, drawn)
                sample = inner.store.machine_labels.sample(key)
                asked = min(judgements, int(sample["priority"].notna().sum()))
                inner.store.machine_labels.use_sample(SampleInUse(key, asked))
                inner.people.assignments.spread_overlap()
            sizes, priorities = self._sizes(inner, label_set, labels)
            judged = machine_labels.judged_sample(sizes, priorities, ~np.isnan(labels.people))
            before = judged.before - int((labels.unjudgeable & np.isnan(priorities)).sum())
            return SampleProgress(asked, len(judged.rows) - judged.before, before, int(labels.pooled.sum()))

    def end(self, measure: AnswerMeasure | str = "nugget_vital") -> None:
        """Return to the whole pool in the task whose labels a measure reads."""
        with self.answers.tasks.open(_task_of(measure)) as inner:
            inner.machine_labels.study.ask_for_pool()

    def correct(self, label_set: str, measure: AnswerMeasure | str = "nugget_vital") -> CorrectedValues:
        """Correct the scores that a label set gives by people's judgements of its sample.

        Raises
        ------
        UnknownNameError
            The task has no such label set.
        InputError
            There is no sample, too few of it are judged, or the measure is not a weighted sum of labels.
        """
        from collection.generated_answers import correct_scores

        with self._task(measure, label_set) as inner:
            labels = self._labels(inner, label_set, measure)
            sizes, priorities = self._sizes(inner, label_set, labels)
        reads = _measure(measure).entry.reads
        people = labels.machine.with_grades(reads, labels.people)
        corrected = correct_scores(labels.machine, people, measure, sizes, priorities)
        before = corrected.before - int((labels.unjudgeable & np.isnan(priorities)).sum())
        return replace(corrected, before=before, pairs=int(labels.pooled.sum()))

    def effects(self, label_set: str, corrected: CorrectedValues) -> SystemEffects:
        """Compare conclusions about the systems by a label set and by people; `corrected` is from :meth:`correct`.

        The systems whose names have the family of the label set's model are compared with the others.
        """
        with self._task(corrected.measure, label_set) as inner:
            sets = inner.machine_labels.sets
            known = sets.named(label_set)
            runs = sets.runs_named_alike(known, corrected.values["run"].tolist())
        return machine_labels.find_effects(corrected, {str(known.settings.get("model", label_set)): runs})

    def _task(self, measure: AnswerMeasure | str, label_set: str) -> Campaign:
        task = _task_of(measure)
        if task not in self.answers.tasks.existing():
            raise CampaignError(f"the task {task} is not prepared; prepare it with `cleverdon answers prepare`")
        inner = self.answers.tasks.open(task)
        if inner.machine_labels.sets.find(label_set) is None:
            names = [each.name for each in inner.store.machine_labels.sets()]
            inner.close()
            raise UnknownNameError(f"label set of {task}", label_set, names)
        return inner

    def _labels(self, inner: Campaign, label_set: str, measure: AnswerMeasure | str) -> _Labels:
        measure = _measure(measure)
        reads = measure.entry.reads
        machine = self.answers.labelled(label_set=label_set)
        grades = machine.labels(reads)[1]
        pairs = self._pairs(machine, support=reads == "support")
        pool = pd.MultiIndex.from_frame(inner.store.pool.pairs()[PAIR].astype("str"))
        pooled = np.asarray(pd.MultiIndex.from_frame(pairs).isin(pool))
        if lacking := int((measure.needed(machine) & ~pooled).sum()):
            raise CampaignError(
                f"expected all pairs that {measure} reads in the task, found {lacking:,} that it lacks; add them with "
                "`cleverdon answers prepare`, and --citations all if the measure reads all citations"
            )
        people = inner.machine_labels.study.find_grades(pairs)
        machine = machine.with_grades(reads, np.where(pooled, grades, 0.0))
        grades = np.where(pooled, people.grades, 0.0)
        return _Labels(machine, pairs, pooled, ~pooled | people.textless, grades)

    def _pairs(self, labelled: LabelledAnswers, *, support: bool) -> pd.DataFrame:
        """Return the pair of the task of each label: ``query_id``, ``doc_id``."""
        numbers = self.answers.store.answers.answers()[["run", "query_id", "number"]]
        if support:
            pairs = citation_pairs(labelled.support.listed.merge(numbers, how="left"))
        else:
            assigned = labelled.answers[["run", "query_id"]].iloc[labelled.nuggets.answer].reset_index(drop=True)
            assigned["nugget"] = labelled.listed["nugget"].to_numpy()[labelled.nuggets.nugget]
            versions = self.answers.nuggets.table()[["query_id", "nugget", "version"]]
            pairs = assigned_pairs(assigned.merge(numbers, how="left").merge(versions, how="left"))
        return pd.DataFrame(pairs, columns=PAIR, dtype="str")

    def _sizes(self, inner: Campaign, label_set: str, labels: _Labels) -> tuple[Floats, Floats]:
        """(N,) sizes and priorities of the sample; pairs that people cannot judge have no priority."""
        sample = inner.store.machine_labels.sample(inner.machine_labels.sets.named(label_set).key)
        if sample.empty:
            raise InputError("expected people's judgements of a random sample; draw one with `cleverdon answers ask`")
        aligned = sample.set_index(PAIR).reindex(pd.MultiIndex.from_frame(labels.pairs))
        if aligned.loc[labels.pooled, "size"].isna().any() or len(sample) != labels.pooled.sum():
            raise CampaignError(
                "the task had other pairs when the sample was drawn; label the answers under another name, and draw a "
                "new sample"
            )
        return aligned["size"].fillna(1.0).to_numpy(), aligned["priority"].to_numpy()


def _task_of(measure: AnswerMeasure | str) -> str:
    """Return the name of the task whose labels a measure reads."""
    return SUPPORT if _measure(measure).entry.reads == "support" else NUGGET_ASSIGNMENT


def _measure(measure: AnswerMeasure | str) -> AnswerMeasure:
    from collection.generated_answers import parse_answer_measure

    parsed = parse_answer_measure(measure)
    if parsed.entry.reads == "words":
        raise InputError(f"{parsed} reads no labels, so there is nothing to correct")
    return parsed
