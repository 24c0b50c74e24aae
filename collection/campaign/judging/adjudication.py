"""Adjudication of the pairs on which annotators disagree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection import adjudication
from collection.campaign.log.results import JudgeResult, RefusedDecision
from collection.campaign.settings.settings import Settings
from collection.core.errors import JudgementError
from collection.core.records import Answer, Judgement
from collection.core.review import Review
from collection.store import Store


@dataclass(eq=False)
class Adjudication:
    """Adjudication of the pairs on which annotators disagree."""

    store: Store
    settings: Settings
    _write: Callable[[Judgement], object]
    """Write a judgement to the log, inside a transaction."""

    def queue(self, *, ended: bool = False) -> pd.DataFrame:
        """The pairs that wait for adjudication: disagreements, then pairs of the qualification set without a grade.

        Returns
        -------
        DataFrame
            The columns of :func:`collection.adjudication.list_disagreements`; ``why``: "disagreement" or
            "qualification"; ``held_back``: whether the pair waits for the text of its document. `ended` adds
            adjudicated pairs, also those that the adjudicator could not judge.
        """
        queue = self._queue(ended)
        missing = self.store.corpus.find_held_back(queue["doc_id"].unique().tolist())
        return queue.assign(held_back=queue["doc_id"].isin(missing) & ~queue["ended"])

    def cache_key(self) -> tuple[Hashable, ...]:
        """Cache key of :meth:`queue`: differs where the queue may differ."""
        qualification = self.store.assignments.qualification_set()[["query_id", "doc_id"]]
        pairs = tuple(qualification.itertuples(index=False, name=None))
        return *self.store.judgements.versions(), pairs, repr(self.settings.review())

    def _queue(self, ended: bool) -> pd.DataFrame:
        pair = ["query_id", "doc_id"]
        said = ("annotator", "kind", "relevance", "counts_as", "answers")
        judgements = self.store.judgements.table(several=True, columns=(*pair, *said))
        queue = adjudication.list_disagreements(
            judgements,
            self.store.corpus.topics()["query_id"].tolist(),
            ended=ended,
            questions=self.settings.questions(),
        )
        if (review := self.settings.review()) is not None:
            queue = queue[_are_conflicts(review, queue, judgements)]
        queue = queue.assign(why="disagreement")
        qualification = self.store.assignments.qualification_set()[[*pair, "settled"]]
        if qualification.empty:
            return queue
        # An adjudicator who could not judge a pair has ended it too, though it has no grade.
        over = judgements.loc[judgements["counts_as"] == adjudication.ADJUDICATION, pair]
        adjudicated, known = set(over.itertuples(index=False)), set(queue[pair].itertuples(index=False))
        rows = []
        for query_id, doc_id, grade in qualification.itertuples(index=False):
            is_over = (query_id, doc_id) in adjudicated
            if (query_id, doc_id) in known or (is_over and not ended) or (not is_over and not pd.isna(grade)):
                continue
            sides = adjudication.list_opinions(judgements, query_id, doc_id)
            grades = " ".join("?" if pd.isna(grade) else str(grade) for grade in sides["relevance"])
            names = tuple(sides["annotator"])
            rows.append((query_id, doc_id, 0, len(sides), grades, names, is_over, (), "qualification"))
        return pd.concat([queue, pd.DataFrame(rows, columns=queue.columns)], ignore_index=True) if rows else queue

    def adjudicate(self, judgements: Sequence[Judgement]) -> JudgeResult:
        """Write adjudications to the log; those in ``saved`` are durable. Idempotent by uuid.

        Refused are pairs that somebody else has already adjudicated, pairs that need no adjudication, and pairs
        that wait for the text of their document. One's own adjudication can be revised and taken back.
        """
        saved: list[str] = []
        refused: list[RefusedDecision] = []
        with self.store.transaction():
            waiting = self._waiting_qualification() if judgements else set()
            for judgement in judgements:
                try:
                    self._check_open(judgement, waiting)
                    self._write(judgement._replace(counts_as="adjudication"))
                    saved.append(judgement.uuid)
                except JudgementError as error:
                    refused.append(RefusedDecision(judgement.uuid, str(error)))
        return JudgeResult(saved, refused)

    def _waiting_qualification(self) -> set[tuple[str, str]]:
        """Return the pairs of the qualification set that have no grade yet."""
        pairs = self.store.assignments.qualification_set()
        waiting = pairs.loc[pairs["settled"].isna(), ["query_id", "doc_id"]]
        return set(waiting.itertuples(index=False, name=None))

    def _check_open(self, judgement: Judgement, waiting: set[tuple[str, str]]) -> None:
        """Raise JudgementError if the pair needs no adjudication or somebody else has adjudicated it.

        `waiting` are the pairs that need one although annotators do not differ.
        """
        j = judgement
        if j.kind == "undone" or self.store.judgements.find_entry(j.uuid) is not None:
            return
        opinions = self.store.judgements.opinions_on(j.query_id, j.doc_id)
        over = [each for each in opinions if each.counts_as == adjudication.ADJUDICATION]
        if over:
            last = over[-1]
            if last.annotator != j.annotator:
                decision = f"with grade {last.relevance}" if last.kind == "graded" else 'as "cannot judge"'
                raise JudgementError(f"{last.annotator} has already adjudicated this pair, {decision}")
            return
        # As list_disagreements() tells for all pairs: "cannot judge" differs from every grade.
        said = [each for each in opinions if each.counts_as == "judgement"]
        if (review := self.settings.review()) is not None:
            grades, answers = [each.relevance for each in said], [each.answers for each in said]
            differ = review.is_conflict(j.query_id, grades, answers)
        else:
            different = adjudication.differ_on((each.answers for each in said), self.settings.questions())
            differ = len({each.relevance for each in said}) > 1 or bool(different)
        if not differ and (j.query_id, j.doc_id) not in waiting:
            raise JudgementError("annotators do not disagree on this pair")
        if self.store.corpus.find_held_back([j.doc_id]):
            raise JudgementError(f"document {j.doc_id!r} has no text yet and cannot be judged")


def _are_conflicts(review: Review, queue: pd.DataFrame, judgements: pd.DataFrame) -> NDArray[np.bool_]:
    """(rows,) whether the decisions of a row of a queue contradict each other in the review."""
    own = judgements.loc[judgements["counts_as"] == "judgement", ["query_id", "doc_id", "relevance", "answers"]]
    said: dict[tuple[str, str], tuple[list[int | None], list[Mapping[str, Answer]]]] = {}
    for query_id, doc_id, grade, answers in own.itertuples(index=False):
        grades, answered = said.setdefault((query_id, doc_id), ([], []))
        grades.append(None if pd.isna(grade) else int(grade))
        answered.append(answers)
    pairs = zip(queue["query_id"], queue["doc_id"], strict=True)
    return np.array([review.is_conflict(pair[0], *said[pair]) for pair in pairs], dtype=np.bool_)
