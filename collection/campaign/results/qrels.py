"""Adjudication of judgements, choices and preferences into qrels."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication, export, preferences
from collection.adjudication import Adjudicated, ChosenRule, QuestionAnswers
from collection.campaign.corpus.corpus import Corpus
from collection.campaign.progress.progress import Progress
from collection.campaign.settings.loop_settings import DECISIVE
from collection.campaign.settings.settings import Settings
from collection.core import arrow, clock
from collection.core.arrays import Ints
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import count, join
from collection.core.questions import describe_bounds
from collection.formats import QrelsForm
from collection.measures import QrelsIndex
from collection.measures.qrels_index import index_codes
from collection.preferences import choices
from collection.store import Store

RuleChoice = str | ChosenRule | None
"""An adjudication rule; None is the default."""


ENOUGH_FINISHED = 0.5
"""Share of finished topics, among those with grades, from which only finished ones are used: unfinished topics have
unjudged documents through no fault of the pool, but with fewer the result would depend on a few topics."""

OPINION = ("annotator", "query_id", "doc_id", "kind", "relevance", "counts_as")
"""Columns of the log that adjudication reads."""


class TopicsWithGrades(NamedTuple):
    """Topics with a grade, and those among them that are finished; by name."""

    graded: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()

    @property
    def usual(self) -> tuple[str, ...] | None:
        """The default of the pages and of `cleverdon reusability`; None: all topics with a grade.

        >>> TopicsWithGrades(("1", "2", "3"), ("1", "2")).usual
        ('1', '2')
        >>> TopicsWithGrades(("1", "2", "3"), ("1",)).usual
        """
        enough = ENOUGH_FINISHED * len(self.graded) <= len(self.finished) < len(self.graded)
        return self.finished if enough else None

    def select(self, which: str | None) -> tuple[str, ...] | None:
        """The topics for "all" (None) or "finished", or by default (:attr:`usual`).

        Raises
        ------
        InputError
            No topic is finished.
        """
        if which == "finished" and not self.finished:
            topics = count(len(self.graded), "topic")
            raise InputError(f"none of {topics} with a grade is finished; use --topics all")
        return self.usual if which is None else self.finished if which == "finished" else None


@dataclass(eq=False)
class QrelsBuilder:
    """Adjudication of judgements, choices and preferences into qrels.

    `question` is the further question that judgements answer, None the grade; see :meth:`for_question`.
    """

    store: Store
    settings: Settings
    corpus: Corpus
    progress: Progress
    question: QuestionAnswers | None = None

    def for_question(self, name: str | None, answer: str | None = None) -> QrelsBuilder:
        """The same for a further question; None is the grade.

        A pair has a row if its grade by the same rule is one at which the question is asked, and somebody answered it.

        Parameters
        ----------
        name
            Name of the question.
        answer
            Of a choice or tags, the answer whose presence is the grade: each annotator gave it (1) or not (0).

        Raises
        ------
        InputError, UnknownNameError
            There is no such question or answer, or a question without grades lacks one.

        Examples
        --------
        >>> campaign.results.qrels.for_question("credibility").build()  # doctest: +SKIP
        """
        question = self.settings.question_answers(name, answer)
        if question is not None:
            question.require_grades()
        return replace(self, question=question)

    @property
    def scale(self) -> Mapping[int, str]:
        """The grades of the question, with their sentences."""
        return self.settings.grades.sentences if self.question is None else self.question.scale

    @property
    def level(self) -> int:
        """The minimum relevant grade of the question: that of the loop, or the second lowest grade."""
        return self.settings.loop().level if self.question is None else self.question.level

    def build(self, rule: RuleChoice = None, *, topics: Iterable[str] | None = None, **parameters: str) -> pd.DataFrame:
        """Qrels from judgements: ``query_id``, ``doc_id``, ``relevance``; by topic, then document id.

        Parameters
        ----------
        rule, **parameters
            As :func:`collection.adjudication.parse_rule` takes them: ``"majority"``, ``"majority(ties=higher)"``.
        topics
            Only these topics.
        """
        with self.store.snapshot():
            keyed = self._adjudicate(adjudication.parse_rule(rule, **parameters)).qrels
            return self.store.judgements.with_ids(self._select_topics(keyed, topics))

    def index(
        self, rule: RuleChoice = None, *, topics: Iterable[str] | None = None, by_name: bool = False
    ) -> tuple[QrelsIndex, Ints]:
        """The qrels of :meth:`build` as evaluation reads them, and the keys of their documents.

        Documents are sorted by their ids, and topics with `by_name`.
        """
        with self.store.snapshot():
            grades = self._select_topics(self._adjudicate(adjudication.parse_rule(rule)).grades, topics)
            topic, query_ids = self._number_topics(grades)
            if by_name:
                names = sorted(range(len(query_ids)), key=query_ids.__getitem__)
                place = np.argsort(names)[topic]
                order = np.argsort(place, kind="stable")  # by topic and document, as the grades are
                grades, topic, query_ids = grades.iloc[order], place[order], query_ids[names]
            doc, keys = self._number_documents(grades["doc_id"].to_numpy(dtype=np.int64))
            documents = arrow.from_column(self.store.corpus.names(keys))
        index = index_codes([str(each) for each in query_ids], topic, documents, doc, grades["relevance"])
        return index, keys

    def _number_topics(self, grades: pd.DataFrame) -> tuple[Ints, NDArray[np.object_]]:
        """The place of each row's topic among the different ones, and their ids, in order of first occurrence."""
        keys = grades["query_id"].to_numpy(dtype=np.int64)
        begins = np.flatnonzero(np.diff(keys, prepend=-1))  # of rows of one topic
        topic, _ = pd.factorize(keys[begins])
        first = grades.iloc[begins].drop_duplicates("query_id")
        query_ids = self.store.judgements.with_ids(first)["query_id"].to_numpy(dtype=object)
        return np.repeat(topic.astype(np.int64), np.diff(begins, append=len(keys))), query_ids

    def _number_documents(self, docs: Ints) -> tuple[Ints, Ints]:
        """The place of each row's document among those of all rows, which are sorted by id, and their keys."""
        place = self.store.corpus.places(docs)
        is_named = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.bool_)
        is_named[place] = True
        doc = (np.cumsum(is_named) - 1)[place]
        keys = np.empty(np.count_nonzero(is_named), dtype=np.int64)
        keys[doc] = docs
        return doc, keys

    def _select_topics(self, grades: pd.DataFrame, topics: Iterable[str] | None) -> pd.DataFrame:
        """The rows of these topics, whose keys are in the frame, or all."""
        if topics is None:
            return grades
        topic, query_ids = self._number_topics(grades)
        return grades[np.isin(query_ids, list(topics))[topic]].reset_index(drop=True)

    def with_sources(
        self, rule: RuleChoice = None, *, topics: Iterable[str] | None = None, **parameters: str
    ) -> Adjudicated:
        """The qrels of :meth:`build` with the rule and how each grade came about."""
        with self.store.snapshot():
            adjudicated = self.coded(rule, topics=topics, **parameters)
            return replace(adjudicated, grades=self.with_ids(adjudicated.grades))

    def coded(self, rule: RuleChoice = None, *, topics: Iterable[str] | None = None, **parameters: str) -> Adjudicated:
        """:meth:`with_sources` with keys of topics and documents, for :meth:`with_ids`, and origins as categories."""
        with self.store.snapshot():
            adjudicated = self._adjudicate(adjudication.parse_rule(rule, **parameters))
            return replace(adjudicated, grades=self._select_topics(adjudicated.grades, topics).copy(deep=False))

    def with_ids(self, grades: pd.DataFrame) -> pd.DataFrame:
        """Rows of :meth:`coded` as :meth:`with_sources` has them."""
        return self.store.judgements.with_ids(grades).astype({"by": "str"})

    def _adjudicate(self, rule: ChosenRule) -> Adjudicated:
        """The grades of all topics by a rule, with keys as ids; those by the rule used last are shared."""
        question = self.question

        def compute() -> Adjudicated:
            opinions = self.store.judgements.opinions(answers=question is not None)
            adjudicated = adjudication.adjudicate(opinions if question is None else question.select(opinions), rule)
            grades = self.store.judgements.sort_pairs(adjudicated.grades)
            return replace(adjudicated, grades=grades.astype({"by": "category"}))

        with self.store.snapshot():
            key = (str(rule), self.store.judgements.last_entry())
            if question is None:
                return self.store.cached("adjudicated", key, compute, shared=True)
            main = self.for_question(None).coded(rule).grades
            adjudicated = self.store.cached("adjudicated answers", (*key, repr(question)), compute, shared=True)
        return replace(adjudicated, grades=_select_asked(adjudicated.grades, main, question))

    def from_choices(self, rule: str = "majority") -> pd.DataFrame:
        """Sparse qrels from choices: ``query_id``, ``doc_id``, ``relevance``; documents not chosen have no row.

        `rule` is a name of :data:`collection.preferences.choices.CHOICE_RULES`.
        """
        return self.corpus.in_topic_order(choices.build_qrels(self.store.topic_tasks.choices(), rule))

    def strengths(self, *, prior: float = preferences.PRIOR) -> pd.DataFrame:
        """Strength of each document by preferences; see :func:`collection.preferences.bradley_terry`."""
        return self.corpus.in_topic_order(
            preferences.estimate_strengths(self.store.topic_tasks.preferences(), prior=prior)
        )

    def from_preferences(self) -> pd.DataFrame:
        """Qrels from preferences, on the campaign's scale; see :func:`collection.preferences.strengths_to_grades`."""
        return preferences.strengths_to_grades(self.strengths(), list(self.settings.grades.sentences))

    def in_form(
        self,
        form: QrelsForm = "judged",
        *,
        rule: RuleChoice = None,
        unjudged: bool = False,
        include_unjudged_topics: bool = False,
        topics: Iterable[str] | None = None,
    ) -> pd.DataFrame:
        """Qrels in one of the forms that :func:`collection.formats.read_qrels` reads.

        Parameters
        ----------
        form
            "judged": one grade per pair. "strata": :func:`collection.export.add_strata`, with unjudged pairs.
            "probabilities": with the probability of being drawn, 1 where nothing was drawn.
        unjudged
            Also the pairs of the pool without a grade, as -1; of a further question without those at whose grade it is
            not asked.
        include_unjudged_topics
            Also topics in which no pair has a grade, all of it -1. Every system has 0 in them, so they lower all means.
        topics
            Only these topics.

        Raises
        ------
        CampaignError
            The form is strata or probabilities, and the pool has no sample with them.
        InputError
            There is no such form, or not of a question that is asked at some grades only; or topics without a grade are
            included without unjudged pairs or beside `topics`.
        """
        frame = select_topics(self._qrels_of_all_topics(form, rule, unjudged), topics)
        if not include_unjudged_topics:
            return export.select_judged_topics(frame)
        if topics is not None:
            raise InputError(
                "topics without grades cannot be included if topics are selected; leave out one of the two options"
            )
        if not unjudged and form != "strata":
            raise InputError("topics without grades have only unjudged pairs; include the unjudged pairs too")
        return frame

    def unjudged_topics(self, form: QrelsForm = "judged", *, rule: RuleChoice = None) -> list[str]:
        """Topics of the pool in which no pair has a grade: :meth:`in_form` leaves them out by default."""
        frame = self._qrels_of_all_topics(form, rule, unjudged=True)
        judged = export.select_judged_topics(frame)["query_id"]
        return frame.loc[~frame["query_id"].isin(judged), "query_id"].drop_duplicates().tolist()

    def _qrels_of_all_topics(self, form: QrelsForm, rule: RuleChoice, unjudged: bool) -> pd.DataFrame:
        """The qrels with the topics in which no pair has a grade."""
        qrels, pool = self.build(rule), self._select_concerned(self.store.pool.pairs(), rule)
        if form == "judged":
            return self.corpus.in_topic_order(export.add_unjudged(qrels, pool)) if unjudged else qrels
        if form not in ("strata", "probabilities"):
            raise InputError(
                f"form: expected judged, strata or probabilities, found {form}, for which there are no grades"
            )
        if self.question is not None and self._is_bounded:
            name, bounds = self.question.question.name, describe_bounds(self.question.question)
            raise InputError(
                f"question {name!r} is asked at {bounds} only, so the answers are no sample of the pool; export the "
                "qrels in the form judged"
            )
        column = "stratum" if form == "strata" else "probability"
        if not pool[column].notna().any():
            makers = "the strategies stratified and uniform" if form == "strata" else "sampling strategies"
            raise CampaignError(
                f"the pool has no {form}, which only {makers} make; export the qrels in the form "
                f"{join(self.forms(), 'or')}"
            )
        left_out = self.store.pool.undrawn_pairs()
        if form == "strata":
            return self.corpus.in_topic_order(export.add_strata(qrels, pool, left_out))
        return self.corpus.in_topic_order(export.add_probabilities(qrels, pool, left_out, unjudged=unjudged))

    @property
    def _is_bounded(self) -> bool:
        """Tell whether there are grades at which the question is not asked."""
        question = self.question
        return question is not None and not all(map(question.question.is_asked, self.settings.grades.sentences))

    def _select_concerned(self, pool: pd.DataFrame, rule: RuleChoice) -> pd.DataFrame:
        """The pairs of a pool without those at whose grade the question is not asked."""
        if self.question is None or not self._is_bounded:
            return pool
        grades = self.for_question(None).build(rule)
        is_asked = self.question.question.is_asked
        others = grades.loc[[not is_asked(grade) for grade in grades["relevance"]], ["query_id", "doc_id"]]
        return pool[~pd.MultiIndex.from_frame(pool[["query_id", "doc_id"]]).isin(pd.MultiIndex.from_frame(others))]

    def forms(self) -> list[QrelsForm]:
        """The possible forms: strata and probabilities only where the pool was sampled, and at every grade."""
        if self._is_bounded:
            return ["judged"]
        forms: list[QrelsForm] = ["strata", "probabilities"]
        with self.store.snapshot():
            # Rounds carry their time and the number of removed pairs, so the key changes after a restore.
            key = self.store.pool.rounds().to_csv()
            is_sampled = self.store.cached("sampled pool", key, self.store.pool.is_sampled, shared=True)
        return ["judged", *(form for form, has in zip(forms, is_sampled, strict=True) if has)]

    def rule_report(
        self, rule: RuleChoice = None, *, topics: Iterable[str] | None = None, **parameters: str
    ) -> dict[str, object]:
        """Describe how the qrels were made, as plain data; parameters as for :meth:`build`."""
        chosen = adjudication.parse_rule(rule, **parameters)
        topics = None if topics is None else list(topics)
        every = self.with_sources(chosen)
        selected = replace(every, grades=select_topics(every.grades, topics))
        judgements = self.store.judgements.table(columns=OPINION if self.question is None else (*OPINION, "answers"))
        judgements = select_topics(judgements if self.question is None else self.question.select(judgements), topics)
        decisive = self.count_decisive_pairs(topics=topics)
        adjudicated = judgements["counts_as"] == adjudication.ADJUDICATION
        graded = judgements[~adjudicated & (judgements["kind"] == "graded")]
        return {
            "rule": chosen.name,
            "parameters": chosen.parameters,
            "description": adjudication.ADJUDICATION_RULES[chosen.name].description,
            **({} if selected.converged is None else {"rounds": selected.rounds, "converged": selected.converged}),
            **({} if self.question is None else self.question.facts()),
            "grades": {str(g): s for g, s in self.scale.items()},
            "topics": int(selected.grades["query_id"].nunique()),
            **(
                {}
                if topics is None
                else {"topics_left_out": every.grades["query_id"].nunique() - selected.grades["query_id"].nunique()}
            ),
            "pairs": len(selected.grades),
            **({"decisive_pairs": decisive, "caution": export.selection_caution(decisive)} if decisive else {}),
            "by": adjudication.count_origins(selected.grades),
            "judgements": len(graded),
            "cannot_judge": int((~adjudicated & (judgements["kind"] == "cannot judge")).sum()),
            "adjudications": int(adjudicated.sum()),
            "annotators": _count_names(graded),
            "adjudicators": _count_names(judgements[adjudicated]),
            "campaign": self.settings.title,
            "cleverdon": importlib.metadata.version("cleverdon"),
            "made_at": clock.now(),
        }

    def count_decisive_pairs(self, *, topics: Iterable[str] | None = None) -> int:
        """Count the graded pairs that were selected to compare the systems; parameters as for :meth:`build`."""
        counts = self.store.judgements.count_graded_pairs(DECISIVE)
        return sum(counts.values() if topics is None else (counts.get(query_id, 0) for query_id in set(topics)))

    def graded_topics(self, rule: RuleChoice = None) -> tuple[str, ...]:
        """The topics that have a grade, by name."""
        with self.store.snapshot():
            grades = self._adjudicate(adjudication.parse_rule(rule)).grades
            return tuple(sorted(map(str, self._number_topics(grades[grades["relevance"] >= 0])[1])))

    def topics_with_grades(
        self, rule: RuleChoice = None, *, graded: tuple[str, ...] | None = None, closed_early: bool = True
    ) -> TopicsWithGrades:
        """The topics that have a grade, and those among them that are finished.

        Parameters
        ----------
        graded
            :meth:`graded_topics`, if already known, because adjudicating all judgements takes a while.
        closed_early
            As for :meth:`.Progress.finished`.
        """
        graded = self.graded_topics(rule) if graded is None else graded
        finished = self.progress.finished(closed_early=closed_early)
        return TopicsWithGrades(graded, tuple(topic for topic in graded if topic in finished))


def select_topics(frame: pd.DataFrame, topics: Iterable[str] | None) -> pd.DataFrame:
    """The rows of these topics (``query_id``), or all."""
    return frame if topics is None else frame[frame["query_id"].isin(list(topics))]


def _select_asked(grades: pd.DataFrame, main: pd.DataFrame, question: QuestionAnswers) -> pd.DataFrame:
    """The rows of pairs whose grade in `main` is one at which the question is asked; all rows if it is always asked."""
    if question.question.asked_from is None and question.question.asked_to is None:
        return grades
    asked = main.loc[[question.question.is_asked(grade) for grade in main["relevance"]], ["query_id", "doc_id"]]
    chosen = pd.MultiIndex.from_frame(grades[["query_id", "doc_id"]]).isin(pd.MultiIndex.from_frame(asked))
    return grades[chosen].reset_index(drop=True)


def _count_names(judgements: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(n) for name, n in judgements["annotator"].value_counts().sort_index().items()}
