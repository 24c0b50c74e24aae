"""Decisions on the records of a literature review, which follow from the judgements of its screeners."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from collection.campaign.settings.settings import Settings
from collection.core.characters import one_line
from collection.core.review import (
    CONFLICT,
    DECISIONS,
    EXCLUDE,
    FULL_TEXT,
    GOES_ON,
    KNOWN,
    MAYBE,
    NOT_RETRIEVED,
    STAGES,
    TITLE_ABSTRACT,
    UNSCREENED,
    Review,
    list_reasons,
)
from collection.store import Store

_COLUMNS = ("doc_id", "annotator", "kind", "relevance", "reason", "note", "counts_as", "answers")


class StageDecision(NamedTuple):
    """The decision on a record in one stage, the reason for exclusion, the screeners and their notes."""

    decision: str
    reason: str
    by: str
    notes: str


NO_DECISION = StageDecision(UNSCREENED, "", "", "")


@dataclass(eq=False)
class ReviewDecisions:
    """Decisions on the records of a literature review; CampaignError if the campaign is none."""

    store: Store
    settings: Settings

    def table(self) -> pd.DataFrame:
        """Return the decision on each record, in the order of import.

        Returns
        -------
        DataFrame
            ``doc_id``; ``title_abstract`` and ``full_text``: the decision of each stage, "" where the record has not
            reached it; ``title_abstract_by``: the screeners of the first stage; ``reason`` of the exclusion; ``notes``;
            ``screeners`` of both stages; ``decision``: that of the last stage that the record has reached, and this
            ``stage``. A decision is "include", "exclude", "maybe", "conflict" (:meth:`.Review.is_conflict`, and
            nobody has resolved it), "unscreened" (not all screeners have decided) or, for full texts, "not retrieved"
            (they could not be judged). A title and abstract that could not be judged is a "maybe".
        """
        review = self.settings.require_review()
        key = (review, self.store.judgements.versions(), self.store.corpus.document_rows())
        return self.store.cached("decisions of a review", key, lambda: self._table(review), shared=True).copy()

    def _table(self, review: Review) -> pd.DataFrame:
        first = self.for_stage(TITLE_ABSTRACT, review)
        second = self.for_stage(FULL_TEXT, review) if review.full_text else {}
        rows = []
        for doc_id in self.store.corpus.ids_with_text():
            title_abstract = first.get(doc_id, NO_DECISION)
            goes_on = review.full_text and title_abstract.decision in GOES_ON
            full_text = second.get(doc_id, NO_DECISION) if goes_on else None
            is_last = full_text is not None and full_text.decision != UNSCREENED
            last = full_text if full_text is not None and is_last else title_abstract
            both = [title_abstract] if full_text is None else [title_abstract, full_text]
            names = dict.fromkeys(name for each in both for name in each.by.split(", ") if name)
            rows.append((
                doc_id, title_abstract.decision, title_abstract.by, full_text.decision if full_text else "",
                last.reason, "; ".join(filter(None, (each.notes for each in both))), ", ".join(names),
                last.decision, STAGES[FULL_TEXT if is_last else TITLE_ABSTRACT],
            ))  # fmt: skip
        columns = ["doc_id", "title_abstract", "title_abstract_by", "full_text", "reason", "notes", "screeners"]
        return pd.DataFrame(rows, columns=[*columns, "decision", "stage"]).astype("str")

    def for_stage(self, query_id: str, review: Review) -> Mapping[str, StageDecision]:
        """Return the decision on each record with a judgement in a stage, by the rules of `review`."""
        key = (review, self.store.judgements.count_entries(query_id))  # the log is append-only
        stage = partial(self._read_stage, query_id, review)
        return self.store.cached("decisions of a stage", key, stage, member=query_id, shared=True)

    def _read_stage(self, query_id: str, review: Review) -> dict[str, StageDecision]:
        logs: dict[str, list[Mapping[Hashable, Any]]] = {}
        for row in self.store.judgements.table(query_id=query_id, columns=_COLUMNS).to_dict("records"):
            logs.setdefault(row["doc_id"], []).append(row)
        return {doc_id: decide(query_id, log, review) for doc_id, log in logs.items()}

    def known(self) -> list[str]:
        """Return the ids of the known records, in the order in which they were included."""
        log = self.store.judgements.table(query_id=TITLE_ABSTRACT, columns=["doc_id", "source", "counts_as"])
        return [str(doc_id) for doc_id in log.loc[log["source"] == KNOWN, "doc_id"]]


def decide(query_id: str, log: list[Mapping[Hashable, Any]], review: Review) -> StageDecision:
    """Derive the decision on one record in one stage from its current judgements."""
    own = [row for row in log if row["counts_as"] == "judgement"]
    final = [row for row in log if row["counts_as"] == "adjudication"]
    counted = final[-1:] or own
    # A title and abstract that cannot be judged is no reason to exclude; a full text that cannot be judged is missing.
    unclear = NOT_RETRIEVED if query_id == FULL_TEXT else DECISIONS[MAYBE]
    grades = [int(row["relevance"]) if row["kind"] == "graded" else None for row in counted]
    said = {unclear if grade is None else DECISIONS[grade] for grade in grades}
    answers = [row["answers"] for row in counted]
    reasons = list_reasons(answers) or list_reasons(row["answers"] for row in own)
    if not final and len(own) < review.screeners:
        decision = UNSCREENED
    elif not final and review.is_conflict(query_id, grades, answers):
        decision = CONFLICT
    else:
        decision = said.pop() if len(said) == 1 else DECISIONS[MAYBE]
    names = dict.fromkeys(str(row["annotator"]) for row in own or final)
    written = [row for row in log if isinstance(row["note"], str) and row["note"]]
    notes = [
        f"{row['annotator']}: {one_line(row['note'])}" if len(log) > 1 else one_line(row["note"]) for row in written
    ]
    unclear_for = dict.fromkeys(str(row["reason"]) for row in counted if row["kind"] == "cannot judge")
    reason = "; ".join({DECISIONS[EXCLUDE]: reasons, NOT_RETRIEVED: unclear_for}.get(decision, ()))
    return StageDecision(decision, reason, ", ".join(names), "; ".join(notes))
