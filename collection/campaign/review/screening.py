"""Screening of records in a literature review: its settings, stages and decisions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd

from collection import formats
from collection.campaign.imports.records import Records
from collection.campaign.judging.judging import Judging
from collection.campaign.people.assignments import Assignments
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.review.full_texts import FullTexts
from collection.campaign.review.report import ReviewReport
from collection.campaign.review.steps import ReviewSteps
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.characters import one_line, without_markup
from collection.core.errors import require_known
from collection.core.records import Document, find_dois
from collection.core.review import (
    CONFLICT,
    DECISIONS,
    EXCLUDE,
    FULL_TEXT,
    GOES_ON,
    INCLUDE,
    KNOWN,
    MAYBE,
    NOT_RETRIEVED,
    STAGES,
    TITLE_ABSTRACT,
    UNSCREENED,
    Review,
    list_reasons,
)
from collection.core.tokens import plain
from collection.documents.duplicate_records import RecordIndex
from collection.formats.source import FilePath
from collection.store import RESERVED, Store

POOL = "review"
"""Strategy of the pool of full texts."""

_PMID = re.compile(r"(?:PMID:?\s*)?([1-9]\d{0,7})", re.I)


class KnownRecord(NamedTuple):
    """A known relevant record as a person entered it, and its document; `doc_id` is "" if there is none."""

    entry: str
    doc_id: str = ""
    title: str = ""


class _Stage(NamedTuple):
    """The decision on a record in one stage, the reason for exclusion, the screeners and their notes."""

    decision: str
    reason: str
    by: str
    notes: str


_UNSCREENED = _Stage(UNSCREENED, "", "", "")


@dataclass(eq=False)
class Screening:
    """Screening of records in a literature review.

    Attributes
    ----------
    steps
        What is done, and what is next.
    full_texts
        Full texts that are due, and their PDF files.
    report
        What a review reports: PRISMA numbers, when screening may stop, the text of its methods, references.
    """

    store: Store
    settings: Settings
    judging: Judging
    assignments: Assignments
    recall: RecallEstimates
    agreement: AgreementStudy
    records: Records

    def __post_init__(self) -> None:
        self.full_texts: FullTexts = FullTexts(self.store, self.records.directory, self.judging, self.decisions)
        self.steps: ReviewSteps = ReviewSteps(
            self.store, self.settings, self.recall, self.records, self.decisions, self.known
        )
        self.report: ReviewReport = ReviewReport(
            self.store, self.settings, self.recall, self.agreement, self.records, self.decisions, self.known
        )

    def update(self, *, reasons: Iterable[str] | None = None, **changes: Any) -> Review:
        """Change fields of the :class:`.Review` and the reasons for exclusion; decisions already made stay.

        Raises
        ------
        CampaignError
            The campaign is not a review.
        InputError
            A value is invalid.
        """
        with self.store.transaction():
            review = replace(self.settings.require_review(), **changes)
            self.settings.set_review(review)
            if reasons is not None:
                self.settings.set_reasons(reasons)
            self.assignments.spread_overlap()
        return review

    def decisions(self) -> pd.DataFrame:
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
        return self.store.cached("decisions of a review", key, lambda: self._decisions(review), shared=True).copy()

    def _decisions(self, review: Review) -> pd.DataFrame:
        stages = self._stages(review)
        first, second = stages[TITLE_ABSTRACT], stages[FULL_TEXT] if review.full_text else {}
        rows = []
        for doc_id in self.store.corpus.ids_with_text():
            title_abstract = first.get(doc_id, _UNSCREENED)
            goes_on = review.full_text and title_abstract.decision in GOES_ON
            full_text = second.get(doc_id, _UNSCREENED) if goes_on else None
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

    def _stages(self, review: Review) -> dict[str, dict[str, _Stage]]:
        """Return the decisions of each stage by record."""
        columns = ["query_id", "doc_id", "annotator", "kind", "relevance", "reason", "note", "counts_as", "answers"]
        logs: dict[str, dict[str, list[Mapping[Hashable, Any]]]] = {query_id: {} for query_id in STAGES}
        for row in self.store.judgements.table(columns=columns).to_dict("records"):
            if row["query_id"] in logs:
                logs[row["query_id"]].setdefault(row["doc_id"], []).append(row)
        return {
            query_id: {doc_id: _decide(query_id, log, review) for doc_id, log in records.items()}
            for query_id, records in logs.items()
        }

    def advance(self) -> int:
        """Add records included or kept as maybe by title and abstract to the full-text stage; return how many are new.

        Records with another decision by now leave the stage, unless their full text was screened or is on a screen.
        """
        if not self.settings.require_review().full_text:
            return 0
        with self.store.transaction():
            table = self.decisions()
            goes_on = table.loc[table["title_abstract"].isin(GOES_ON), "doc_id"]
            pool = self.store.removal.pooled_pairs([FULL_TEXT], [], [], clock.seconds())
            new = goes_on[~goes_on.isin(pool["doc_id"])]
            screened = self.store.judgements.table(query_id=FULL_TEXT, columns=["doc_id"])["doc_id"]
            stays = pool["doc_id"].isin({*goes_on, *screened}) | (pool["stays"] == RESERVED)
            gone = pool[~stays & (pool["query_id"] == FULL_TEXT)]
            if new.empty and gone.empty:
                return 0
            self.store.removal.remove_pairs(gone)
            self.store.removal.remove_empty_rounds()
            self.store.pool.add(pd.DataFrame({"query_id": FULL_TEXT, "doc_id": new, "rank": 1}), POOL, {}, [])
            self.assignments.spread_overlap()
        return len(new)

    def find_known(self, entries: Iterable[str] = (), files: Iterable[FilePath] = ()) -> list[KnownRecord]:
        """Find records by the DOI, PMID or title that people entered, and the records of files.

        Raises :class:`.FormatError` for a file without records.
        """
        index = RecordIndex()
        titles, same_title = {}, defaultdict[str, list[str]](list)
        for document in self.store.corpus.documents_with_text(pooled=False):
            index.add(document)
            titles[document.doc_id] = document.title
            same_title[_title_key(document.title)].append(document.doc_id)
        known = []
        for entry, record in [*map(_named, filter(None, map(one_line, entries))), *_read_records(files)]:
            match, named = index.find(record), same_title.get(_title_key(record.title), [])
            doc_id = named[0] if match is None and record.title and len(named) == 1 else ""
            doc_id = doc_id if match is None else match.doc_id
            known.append(KnownRecord(entry, doc_id, titles.get(doc_id, "")))
        return known

    def add_known(self, doc_ids: Iterable[str], by: str) -> int:
        """Include records whose relevance was known before screening; return how many were not included yet.

        The decisions are final, so no screener gets these records; their source is :data:`KNOWN`.

        Raises
        ------
        UnknownNameError
            A record is not in the campaign.
        """
        review, doc_ids = self.settings.require_review(), list(dict.fromkeys(doc_ids))
        with self.store.transaction():
            rows = self.store.corpus.rows_of(doc_ids)
            for doc_id in doc_ids:
                if doc_id not in rows:
                    require_known("record", rows, doc_id)
            included = self._stages(replace(review, screeners=1))[TITLE_ABSTRACT]
            new = [each for each in doc_ids if included.get(each, _UNSCREENED).decision != DECISIONS[INCLUDE]]
            for doc_id in new:
                self.judging.judge(by, TITLE_ABSTRACT, doc_id, INCLUDE, adjudicate=True, source=KNOWN)
        return len(new)

    def known(self) -> list[str]:
        """Return the records that were included because their relevance was known, in the order of these decisions."""
        log = self.store.judgements.table(query_id=TITLE_ABSTRACT, columns=["doc_id", "source", "counts_as"])
        return [str(doc_id) for doc_id in log.loc[log["source"] == KNOWN, "doc_id"]]

    def remove_known(self, doc_id: str) -> None:
        """Undo the inclusion of a known record; JudgementError if it is none."""
        log = self.store.judgements.table(query_id=TITLE_ABSTRACT, doc_id=doc_id)
        known = log.loc[log["source"] == KNOWN, "annotator"]
        for annotator in known:
            self.judging.judge(annotator, TITLE_ABSTRACT, doc_id, undo=True, adjudicate=True)


def _decide(query_id: str, log: list[Mapping[Hashable, Any]], review: Review) -> _Stage:
    """The decision on one record in one stage that follows from its current judgements."""
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
    return _Stage(decision, reason, ", ".join(names), "; ".join(notes))


def _title_key(title: str) -> str:
    """A title without case, punctuation, spaces and markup."""
    return "".join(plain(without_markup(title)).split())


def _named(entry: str) -> tuple[str, Document]:
    """An entry of a person, and a record with its DOI, PMID or title."""
    if dois := find_dois(entry):
        return entry, Document("", metadata={"doi": dois[0]})
    if pmid := _PMID.fullmatch(entry):
        return entry, Document("", metadata={"pmid": pmid[1]})
    return entry, Document("", entry)


def _read_records(files: Iterable[FilePath]) -> Iterator[tuple[str, Document]]:
    for file in files:
        for _, record in formats.read_documents(file):
            yield record.title or record.doc_id, record
