"""Screening of records in a literature review: its settings, stages and decisions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from collection import formats
from collection.campaign.imports.records import Records
from collection.campaign.judging.judging import Judging
from collection.campaign.people.assignments import Assignments
from collection.campaign.recall.recall import RecallEstimates
from collection.campaign.results.agreement import AgreementStudy
from collection.campaign.review.decisions import NO_DECISION, ReviewDecisions
from collection.campaign.review.full_texts import FullTexts
from collection.campaign.review.report import ReviewReport
from collection.campaign.review.steps import ReviewSteps
from collection.campaign.settings.settings import Settings
from collection.core.characters import one_line, without_markup
from collection.core.errors import require_known
from collection.core.records import Document, find_dois
from collection.core.review import (
    DECISIONS,
    INCLUDE,
    KNOWN,
    TITLE_ABSTRACT,
    Review,
)
from collection.core.tokens import plain
from collection.documents.duplicate_records import RecordIndex
from collection.formats.source import FilePath
from collection.store import Store

_PMID = re.compile(r"(?:PMID:?\s*)?([1-9]\d{0,7})", re.I)


class KnownRecord(NamedTuple):
    """A known relevant record as a person entered it, and its document; `doc_id` is "" if there is none."""

    entry: str
    doc_id: str = ""
    title: str = ""


@dataclass(eq=False)
class Screening:
    """Screening of records in a literature review.

    Attributes
    ----------
    decisions
        Decisions on records.
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
        self.decisions: ReviewDecisions = ReviewDecisions(self.store, self.settings)
        self.full_texts: FullTexts = FullTexts(
            self.store, self.settings, self.records.directory, self.judging, self.assignments, self.decisions
        )
        self.steps: ReviewSteps = ReviewSteps(self.store, self.settings, self.recall, self.records, self.decisions)
        self.report: ReviewReport = ReviewReport(
            self.store, self.settings, self.recall, self.agreement, self.records, self.decisions
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
            included = self.decisions.for_stage(TITLE_ABSTRACT, replace(review, screeners=1))
            new = [each for each in doc_ids if included.get(each, NO_DECISION).decision != DECISIONS[INCLUDE]]
            for doc_id in new:
                self.judging.judge(by, TITLE_ABSTRACT, doc_id, INCLUDE, adjudicate=True, source=KNOWN)
        return len(new)

    def remove_known(self, doc_id: str) -> None:
        """Undo the inclusion of a known record; JudgementError if it is none."""
        log = self.store.judgements.table(query_id=TITLE_ABSTRACT, doc_id=doc_id)
        known = log.loc[log["source"] == KNOWN, "annotator"]
        for annotator in known:
            self.judging.judge(annotator, TITLE_ABSTRACT, doc_id, undo=True, adjudicate=True)


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
