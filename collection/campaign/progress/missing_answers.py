"""Judgements that lack answers, because a question was added or changed after they were made."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import pandas as pd

from collection.campaign.settings.settings import Settings
from collection.core.questions import Question
from collection.core.records import HIGHEST_GRADE
from collection.store import AnswerCount, AskedQuestion, Store


@dataclass(eq=False)
class MissingAnswers:
    """Judgements that lack answers, because a question was added or changed after they were made.

    An answer is missing if its question is required and asked at the grade of a current judgement that has none. Where
    the question says so (:attr:`.Question.again`), the annotator gets the pair again.
    """

    store: Store
    settings: Settings

    def table(self) -> pd.DataFrame:
        """Count the answers of each annotator to the questions of the campaign.

        Returns
        -------
        DataFrame
            ``question``, ``annotator``, ``asked`` (current judgements at whose grade the question is asked),
            ``answered`` (of these, with an answer), ``missing`` (those without one; 0 if the question is optional); by
            question in its order, then by annotator. Imported qrels are left out.
        """
        questions = self.settings.questions()
        key = (questions, self.store.judgements.last_entry())
        counts = self.store.cached(
            "answer counts", key, lambda: self.store.missing_answers.count_by_annotator(_asked(questions)), shared=True
        )
        table = pd.DataFrame(counts, columns=list(AnswerCount._fields)).astype({"asked": "int64", "answered": "int64"})
        is_required = table["question"].isin([question.name for question in questions if question.required])
        return table.assign(missing=(table["asked"] - table["answered"]).where(is_required, 0))

    def count_handed_out(self) -> int:
        """Count the judgements that annotators get again: of those who can sign in, in open topics that they judge."""
        again = handed_out_again(self.settings.questions())
        people, modes = self.store.accounts.table(), self.settings.modes()
        number = 0
        for name in people.loc[(people["role"] != "reader") & ~people["locked"], "name"] if again else ():
            counts = self.counts(name, again)
            own = counts.keys() & self.store.assignments.topics_for(name)
            number += sum(counts[query_id][1] for query_id in own if modes[query_id] != "closed")
        return number

    def find(self, query_id: str, annotator: str, among: Collection[str] | None = None) -> dict[str, float | None]:
        """Return the documents of a topic that an annotator gets again, in order, as :meth:`.MissingAnswerTables.find`.

        Of the questions with the names `among`, or of all.
        """
        asked = self._handed_out(among)
        return self.store.missing_answers.find(query_id, annotator, asked) if asked else {}

    def topics(self, annotator: str, among: Collection[str] | None = None) -> list[str]:
        """Return the topics that have documents for :meth:`find`."""
        asked = self._handed_out(among)
        return list(self.store.missing_answers.count(annotator, asked)) if asked else []

    def counts(
        self, annotator: str, questions: Iterable[Question], query_ids: Iterable[str] | None = None
    ) -> dict[str, tuple[int, int]]:
        """Count an annotator's judgements that lack an answer to one of the questions, by topic: pooled ones, and all.

        Of the topics `query_ids` or of every topic; see :meth:`.MissingAnswerTables.count`.
        """
        return self.store.missing_answers.count(annotator, _asked(questions), query_ids)

    def _handed_out(self, among: Collection[str] | None) -> list[AskedQuestion]:
        again = handed_out_again(self.settings.questions())
        return _asked(question for question in again if among is None or question.name in among)


def handed_out_again(questions: Iterable[Question]) -> list[Question]:
    """Return the questions for which judgements without an answer are handed out again."""
    return [question for question in questions if question.again and question.required]


def _asked(questions: Iterable[Question]) -> list[AskedQuestion]:
    return [
        AskedQuestion(
            question.name,
            0 if question.asked_from is None else question.asked_from,
            HIGHEST_GRADE if question.asked_to is None else question.asked_to,
            question.required_topics,
        )
        for question in questions
    ]
