"""Judges side by side: agreement with people and with each other, and votes as label sets of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pandas as pd

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.machine_labels.label_sets import LabelledPairs, LabelSets
from collection.campaign.machine_labels.label_study import LabelStudy
from collection.campaign.settings.settings import Settings
from collection.core.errors import InputError
from collection.core.phrases import join
from collection.machine_labels import JudgeComparison, compare_judges, vote
from collection.machine_labels.judgements import PEOPLE
from collection.machine_labels.votes import VOTES
from collection.measures import Measure
from collection.store import LabelSet, Store

_PAIR = ["query_id", "doc_id"]


@dataclass(eq=False)
class Judges:
    """Judges side by side: agreement with people and with each other, and votes as label sets of their own."""

    store: Store
    settings: Settings
    corpus: Corpus
    labels: LabelSets
    study: LabelStudy

    def names(self) -> list[str]:
        """Names of all label sets with grades, in order of creation; estimates from clicks are probabilities."""
        return [each.name for each in self._sets() if self.labels.count_statuses(each)["graded"]]

    def _sets(self) -> list[LabelSet]:
        return [each for each in self.store.machine_labels.sets() if each.kind != "clicks"]

    def compare(self, names: Sequence[str] = (), measure: Measure | str | None = None) -> JudgeComparison:
        """Compare label sets with each other, and with people's grades (the judge "people") where there are any.

        Pairs that somebody judged after seeing a label of one of the sets are no grades of people here.

        Parameters
        ----------
        names
            Label sets; by default all of :meth:`names`.
        measure
            Orders the systems; by default that of :meth:`.LabelStudy.main_measure`.

        Raises
        ------
        UnknownNameError, InputError
            There is no such label set; or there are fewer than two judges, or none with a common pair.
        """
        chosen = list(dict.fromkeys(names)) or [each.name for each in self._sets()]
        labels = {name: self.labels.labels(name) for name in chosen}
        labels = {name: rows for name, rows in labels.items() if names or len(rows)}
        if not labels:
            raise InputError("expected label sets, found none; import some with `cleverdon labels import DIR FILE`")
        people = self._people(list(labels))
        judges = {PEOPLE: people, **labels} if len(people) else labels
        wanted = self.study.main_measure() if measure is None else measure
        return compare_judges(judges, list(self.corpus.runs()), wanted)

    def vote(
        self, rule: str, names: Sequence[str] = (), *, name: str | None = None, least: int | None = None
    ) -> LabelledPairs:
        """Make a label set of the votes of others; a set of this name that was made in the same way gets new pairs.

        Labels that are no grades of the campaign have no vote.
        The weights of the rule "weighted" are each judge's Cohen's kappa with people's grades so far.

        Parameters
        ----------
        rule
            A name of :data:`collection.machine_labels.votes.VOTES`.
        names
            Label sets that vote; by default all except votes.
        name
            Name of the new label set; by default that of the rule.
        least
            Number of label sets that must have labelled a pair; by default more than half of them.

        Raises
        ------
        UnknownNameError, InputError, ConflictError
            There is no such rule or label set; fewer than two vote, or no pair has enough labels; a weighted vote
            without people's grades; or the name is not free.
        """
        entry = VOTES[rule]
        sets = [self.labels.named(each) for each in names or self.names()]
        sets = sets if names else [each for each in sets if "vote" not in each.settings]
        scale = sorted(map(float, self.settings.grades.sentences))
        every = {each.name: self.labels.labels(each.name) for each in sets}
        labels = {name: frame[frame["relevance"].isin(scale)] for name, frame in every.items()}
        least = len(labels) // 2 + 1 if least is None else least
        if not 1 <= least <= max(1, len(labels)):
            raise InputError(f"least: expected 1 to {len(labels)}, the number of label sets, found {least}")
        weights = self._weights(labels) if entry.weighted and labels else None
        voted = vote(labels, rule, scale, least=least, weights=weights)
        if voted.empty:
            raise InputError(f"expected pairs that {least} of {join(labels)} have labelled, found none")
        settings: dict[str, Any] = {
            "vote": rule,
            "description": entry.description,
            "label_sets": list(labels),
            "least": least,
            "models": [str(each.settings.get("model", "")) for each in sets],
        }
        if weights is not None:
            settings["weights"] = {judge: round(weight, 6) for judge, weight in weights.items()}
        return self.labels.label_by_file(voted, name or rule, "rule", settings)

    def _weights(self, labels: Mapping[str, pd.DataFrame]) -> dict[str, float]:
        """Name of a label set -> its Cohen's kappa with people, 0 where undefined."""
        people = self._people(list(labels))
        if people.empty:
            raise InputError("a weighted vote needs people's grades, found none; people have to judge some pairs first")
        agreement = compare_judges({PEOPLE: people, **labels}, []).against(PEOPLE).set_index("judge")["kappa"]
        known = agreement.reindex(list(labels)).fillna(0.0)
        return dict(zip(labels, known.tolist(), strict=True))

    def _people(self, names: Sequence[str]) -> pd.DataFrame:
        """People's grades without pairs that somebody judged after seeing a label of one of the sets."""
        grades = [self.study.people(name) for name in names]
        return reduce(lambda one, other: one.merge(other[_PAIR], on=_PAIR), grades)
