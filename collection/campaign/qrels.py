"""Adjudicates judgements, choices and preferences into qrels."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from collection import adjudication, clock, preferences
from collection import export as exporting
from collection.adjudication import Adjudicated, ChosenRule
from collection.campaign.corpus import Corpus
from collection.campaign.topic_tasks import TopicTasks
from collection.errors import CampaignError, InputError
from collection.formats import QrelsForm
from collection.preferences import choices
from collection.records import GradeScale
from collection.store import Store


@dataclass(eq=False)
class QrelsBuilder:
    """Adjudicates judgements, choices and preferences into qrels."""

    store: Store
    title: str
    grades: GradeScale
    corpus: Corpus
    topic_tasks: TopicTasks

    def build(self, rule: str | ChosenRule | None = None, **parameters: str) -> pd.DataFrame:
        """The judgements settled into qrels: ``query_id``, ``doc_id``, ``relevance``; by topic, then document id.

        Parameters
        ----------
        rule, **parameters
            How several annotators' judgements become one grade, as :func:`collection.adjudication.parse_rule` takes it:
            ``"majority"``, ``"majority(ties=higher)"``.
        """
        return self.with_sources(rule, **parameters).qrels

    def with_sources(self, rule: str | ChosenRule | None = None, **parameters: str) -> Adjudicated:
        """The same with the rule and how each grade came about, in the same order."""
        found = adjudication.adjudicate(self.store.judgements.table(), adjudication.parse_rule(rule, **parameters))
        order = pd.Series(range(len(self.corpus.topics())), index=self.corpus.topics()["query_id"])
        keys = found.grades["query_id"].map(order)
        ordered = found.grades.assign(_=keys).sort_values(["_", "doc_id"]).drop(columns="_").reset_index(drop=True)
        return replace(found, grades=ordered)

    def from_choices(self, rule: str = "majority") -> pd.DataFrame:
        """The choices settled into sparse qrels: ``query_id``, ``doc_id``, ``relevance``; topics in their order.

        Parameters
        ----------
        rule
            A name of :data:`collection.preferences.choices.CHOICE_RULES`. What was shown and not chosen has no row.
        """
        return self.corpus.in_topic_order(choices.build_qrels(self.topic_tasks.choices(), rule))

    def strengths(self, *, prior: float = preferences.PRIOR) -> pd.DataFrame:
        """How strong each document is by everybody's preferences; see :func:`collection.preferences.bradley_terry`."""
        return self.corpus.in_topic_order(preferences.estimate_strengths(self.topic_tasks.preferences(), prior=prior))

    def from_preferences(self, *, lowest: int | None = None, alike: float = preferences.ALIKE) -> pd.DataFrame:
        """Preferences made into grades of the campaign's scale: ``query_id``, ``doc_id``, ``relevance``.

        See :func:`collection.preferences.strengths_to_grades` for the rule, and for what such grades cannot say.

        Parameters
        ----------
        lowest
            The grade of the last; the lowest of the scale if left out.
        alike
            How far apart strengths may be that count as alike, in the logarithm of the odds.
        """
        scale = [grade for grade in self.grades.sentences if lowest is None or grade >= lowest]
        return preferences.strengths_to_grades(self.strengths(), scale, alike=alike)

    def in_form(
        self,
        form: QrelsForm = "judged",
        *,
        rule: str | ChosenRule | None = None,
        unjudged: bool = False,
        include_unjudged_topics: bool = False,
    ) -> pd.DataFrame:
        """The qrels with what their form adds, as :func:`collection.formats.read_qrels` reads it back.

        Parameters
        ----------
        form
            "judged": one grade a pair. "strata": with the stratum that each pair of a sampled pool was drawn from, and
            -1 for what is in it and has no grade (:func:`collection.export.with_strata` says more).
            "probabilities": with the probability of being drawn, 1 where nothing was.
        rule
            As :meth:`build` takes it.
        unjudged
            Also the pairs of the pool without a grade, as -1; strata have them whatever is said here.
        include_unjudged_topics
            Also topics in which no pair has a grade, all of it -1. Every system has 0 in them, so they lower all means.

        Raises
        ------
        CampaignError
            Strata or probabilities are asked for, and no pair of the pool came from a sample that has them.
        InputError
            A campaign has no qrels of this form, or topics without a grade are to be in qrels without unjudged pairs.
        """
        frame = self._qrels_of_all_topics(form, rule, unjudged)
        if not include_unjudged_topics:
            return exporting.of_judged_topics(frame)
        if not unjudged and form != "strata":
            raise InputError("a topic without a grade has unjudged pairs only: ask for the unjudged pairs, too")
        return frame

    def unjudged_topics(self, form: QrelsForm = "judged", *, rule: str | ChosenRule | None = None) -> list[str]:
        """Topics of the pool in which no pair has a grade: :meth:`in_form` leaves them out unless asked for.

        Parameters
        ----------
        form, rule
            As for :meth:`in_form`.
        """
        frame = self._qrels_of_all_topics(form, rule, unjudged=True)
        judged = exporting.of_judged_topics(frame)["query_id"]
        return frame.loc[~frame["query_id"].isin(judged), "query_id"].drop_duplicates().tolist()

    def _qrels_of_all_topics(self, form: QrelsForm, rule: str | ChosenRule | None, unjudged: bool) -> pd.DataFrame:
        """What :meth:`in_form` gives, with the topics in which no pair has a grade."""
        qrels, pool = self.build(rule), self.store.pool.pairs()
        if form == "judged":
            return self.corpus.in_topic_order(exporting.with_unjudged(qrels, pool)) if unjudged else qrels
        if form not in ("strata", "probabilities"):
            raise InputError(f"qrels are exported as judged, strata or probabilities; there is no grade per {form}")
        column = "stratum" if form == "strata" else "probability"
        if not pool[column].notna().any():
            raise CampaignError(
                f"no pair of the pool has a {column}: it was not sampled; pool by a strategy that draws, or export the "
                "qrels as they are"
            )
        left_out = self.store.pool.sampled_out()
        if form == "strata":
            return self.corpus.in_topic_order(exporting.with_strata(qrels, pool, left_out))
        return self.corpus.in_topic_order(exporting.with_probabilities(qrels, pool, left_out, unjudged=unjudged))

    def forms(self) -> list[QrelsForm]:
        """The forms in which the qrels can be exported: strata and probabilities only where the pool was sampled."""
        pool = self.store.pool.pairs()
        columns: dict[QrelsForm, str] = {"strata": "stratum", "probabilities": "probability"}
        return ["judged", *(form for form, column in columns.items() if pool[column].notna().any())]

    def rule_report(self, rule: str | ChosenRule | None = None, **parameters: str) -> dict[str, Any]:
        """What made the qrels, as plain data: what ``export`` writes beside them. All of it but ``made_at`` is theirs.

        Parameters
        ----------
        rule, **parameters
            As for :meth:`build`.
        """
        chosen = adjudication.parse_rule(rule, **parameters)
        return self._report_of(self.with_sources(chosen))

    def _report_of(self, found: Adjudicated) -> dict[str, Any]:
        chosen, settled = found.rule, found.grades
        said = self.store.judgements.table()
        adjudicated = said["counts_as"] == adjudication.ADJUDICATION
        graded = said[~adjudicated & (said["kind"] == "graded")]
        return {
            "rule": chosen.name,
            "parameters": chosen.parameters,
            "description": adjudication.RULES[chosen.name].description,
            **({} if found.converged is None else {"rounds": found.rounds, "converged": found.converged}),
            "grades": {str(g): s for g, s in self.grades.sentences.items()},
            "topics": int(settled["query_id"].nunique()),
            "pairs": len(settled),
            "by": adjudication.count_origins(settled),
            "judgements": len(graded),
            "cannot_judge": int((~adjudicated & (said["kind"] == "cannot judge")).sum()),
            "adjudications": int(adjudicated.sum()),
            "annotators": {str(a): int(n) for a, n in graded["annotator"].value_counts().sort_index().items()},
            "adjudicators": {
                str(a): int(n) for a, n in said.loc[adjudicated, "annotator"].value_counts().sort_index().items()
            },
            "campaign": self.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }

    def of_topics(self, rule: str | ChosenRule | None, topics: Iterable[str] | None) -> pd.DataFrame:
        """:meth:`build`, of these topics only; of all if `topics` is None."""
        qrels = self.build(rule)
        return qrels if topics is None else qrels[qrels["query_id"].isin(list(topics))]
