"""Full texts of a literature review: records to assess, their PDF files, and reports that were not retrieved."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from collection.campaign.corpus.pdf_files import PdfImport, pdf_of
from collection.campaign.judging.judging import Judging
from collection.campaign.people.assignments import Assignments
from collection.campaign.review.decisions import ReviewDecisions
from collection.campaign.settings.settings import Settings
from collection.core import clock, layout
from collection.core.characters import is_web_address, one_line
from collection.core.errors import InputError, JudgementError
from collection.core.phrases import join_first, plural
from collection.core.records import Document, find_dois
from collection.core.review import FULL_TEXT, GOES_ON, NOT_RETRIEVED, UNSCREENED
from collection.documents.pdf_names import PdfIndex
from collection.formats import PdfFile
from collection.formats.pdf import LARGEST, PdfProblem, PdfText, read_texts
from collection.store import RESERVED, Store

POOL = "review"
"""Strategy of the pool of full texts."""

PROBLEMS: Mapping[PdfProblem, str] = {
    "password": "it has a password",
    "security": "its encryption is not supported",
    "damaged": "it is not a readable PDF file",
    "large": f"it is larger than {LARGEST // 1_000_000} MB",
}
"""Why a PDF file cannot be attached."""

COLUMNS = (
    "doc_id", "title", "authors", "year", "link", "pages", "title_abstract", "full_text", "not_retrieved", "by"
)  # fmt: skip


class PdfReport(NamedTuple):
    """Result for a PDF file: the record that it was attached to and the `reason`, or the `problem`, if any."""

    name: str
    doc_id: str = ""
    reason: str = ""
    problem: str = ""


@dataclass(eq=False)
class FullTexts:
    """Full texts of a literature review: records to assess, their PDF files, and reports that were not retrieved."""

    store: Store
    settings: Settings
    directory: Path
    judging: Judging
    assignments: Assignments
    decisions: ReviewDecisions

    def advance(self) -> int:
        """Add due full texts to the pool and remove the others; return the number of added ones.

        Due are those of records that were included or kept as maybe by title and abstract, unless they were marked as
        not retrieved. Of the others, those that were screened or are reserved stay. Without a change since the last
        time, nothing is read.
        """
        review = self.settings.require_review()
        if not review.full_text:
            return 0
        entries = [self.store.judgements.count_entries(query_id) for query_id in review.stages]
        key = (review, self.store.judgements.versions()[0], entries)
        unchanged = self.store.cached("full texts in the pool", key, list[bool])
        if unchanged:
            return 0
        with self.store.transaction():
            first, second = (self.decisions.for_stage(query_id, review) for query_id in review.stages)
            reached = [d for d in self.store.corpus.ids_with_text() if d in first and first[d].decision in GOES_ON]
            marked = {doc_id for doc_id in self._marks()["doc_id"] if second[doc_id].decision == NOT_RETRIEVED}
            due = [doc_id for doc_id in reached if doc_id not in marked]
            pool = self.store.removal.pooled_pairs([FULL_TEXT], [], [], clock.seconds())
            others = pool[~pool["doc_id"].isin(due)]
            is_marked = others["doc_id"].isin(marked)
            gone = others[is_marked | ~(others["doc_id"].isin(second) | (others["stays"] == RESERVED))]
            new = [doc_id for doc_id in due if doc_id not in set(pool["doc_id"])]
            if new or len(gone):
                # A record marked as not retrieved may be on screen; a decision on it is still saved.
                self.store.removal.remove_pairs(gone, with_reservations=False)
                self.store.removal.remove_empty_rounds()
                self.store.pool.add(pd.DataFrame({"query_id": FULL_TEXT, "doc_id": new, "rank": 1}), POOL, {}, [])
                self.assignments.spread_overlap()
            elif RESERVED not in set(others["stays"]):
                unchanged.append(True)
        return len(new)

    def table(self) -> pd.DataFrame:
        """Return the records that reached the full-text stage, in the order of import.

        Returns
        -------
        DataFrame
            ``doc_id``, ``title``, ``authors``, ``year``; ``link`` to the publication, or ""; ``pages`` of its PDF file,
            0 without one; ``title_abstract`` and ``full_text`` as in :meth:`.Screening.decisions`; ``not_retrieved``:
            why the text could not be retrieved, or "", and who said so (``by``).

        Raises
        ------
        CampaignError
            The campaign is not a review.
        """
        due = self._due()
        marks = self._marks().set_index("doc_id")
        rows = []
        for document in self.store.corpus.iterate_documents(due["doc_id"].tolist()):
            authors, pdf = document.metadata.get("authors", ""), pdf_of(document.metadata)
            names = ", ".join(map(str, authors)) if isinstance(authors, list) else str(authors)
            reason, by = (
                marks.loc[document.doc_id, ["reason", "annotator"]] if document.doc_id in marks.index else ("", "")
            )
            year = str(document.metadata.get("year", ""))
            rows.append(
                (document.doc_id, document.title, names, year, link_of(document), pdf.pages if pdf else 0, reason, by)
            )
        columns = [name for name in COLUMNS if name not in ("title_abstract", "full_text")]
        frame = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(set(columns) - {"pages"}, "str"))
        return frame.merge(due, on="doc_id")[list(COLUMNS)]

    def _due(self) -> pd.DataFrame:
        """Return ``doc_id``, ``title_abstract`` and ``full_text`` of the records that reached this stage."""
        table = self.decisions.table()
        return table.loc[table["title_abstract"].isin(GOES_ON), ["doc_id", "title_abstract", "full_text"]]

    def add_files(self, files: Sequence[Path]) -> list[PdfReport]:
        """Attach PDF files to records, if the name or first page matches exactly one record.

        The files are copied; browsers get copies without active content. A mark as not retrieved is removed.

        Returns
        -------
        list
            A report per file, in order. Use :meth:`attach` for files without a match.
        """
        due = self._due()["doc_id"].tolist()
        index = PdfIndex(self.store.corpus.iterate_documents(due))
        with tempfile.TemporaryDirectory() as copies:
            contents = list(read_texts(((file, file) for file in files), Path(copies)))
            reports, matched = [], dict[str, tuple[Path, PdfText]]()
            for file, content in contents:
                assert content is not None
                if content.problem:
                    reports.append(PdfReport(file.name, problem=PROBLEMS[content.problem]))
                    continue
                match = index.find(file.name, content.text)
                if match.doc_id in matched:
                    other = matched[match.doc_id][0].name
                    reports.append(PdfReport(file.name, problem=f"{other} is for the same record"))
                    continue
                if match.doc_id:
                    matched[match.doc_id] = file, content
                reports.append(PdfReport(file.name, *match))
            self._write(matched)
        return reports

    def attach(self, file: Path, doc_id: str) -> None:
        """Attach a PDF file to a record, in place of the one that it has.

        Raises
        ------
        InputError
            The file cannot be read, or the record is not among those of :meth:`table`.
        """
        self._require_due([doc_id])
        with tempfile.TemporaryDirectory() as copies:
            for _, content in read_texts([(file, file)], Path(copies)):
                if content is None or content.problem:
                    problem = PROBLEMS[content.problem] if content and content.problem else "it cannot be read"
                    raise InputError(f"{file.name}: {problem}")
                self._write({doc_id: (file, content)})

    def detach(self, doc_ids: Iterable[str]) -> int:
        """Detach the PDF files of records; return how many had one. The files stay in the campaign until an import."""
        with self.store.transaction():
            documents = [
                document
                for document in self.store.corpus.iterate_documents(list(doc_ids))
                if pdf_of(document.metadata) is not None
            ]
            without = (
                each._replace(metadata={name: value for name, value in each.metadata.items() if name != "pdf"})
                for each in documents
            )
            self.store.corpus.add_documents(without, replace=True)
        return len(documents)

    def mark_not_retrieved(self, doc_ids: Iterable[str], reason: str, by: str) -> None:
        """Mark reports as not retrieved; they are no longer handed out for screening.

        Each is an adjudication without a grade, with the source "not retrieved".

        Raises
        ------
        InputError
            A record is not among those of :meth:`table`, or its full text has been screened.
        JudgementError
            The reason is empty, or the name is invalid.
        """
        ids = list(dict.fromkeys(doc_ids))
        if not one_line(reason):
            raise JudgementError("expected a reason why the report was not retrieved, found none")
        with self.store.transaction():
            self._require_due(ids)
            due = self._due()
            screened = due.loc[~due["full_text"].isin([UNSCREENED, NOT_RETRIEVED]), "doc_id"]
            if done := [doc_id for doc_id in ids if doc_id in set(screened)]:
                raise InputError(f"the full text of {join_first(done)} has been screened already")
            marked = set(self._marks()["doc_id"])
            for doc_id in ids:
                if doc_id in marked:
                    self.mark_retrieved([doc_id])
                self.judging.judge(
                    by, FULL_TEXT, doc_id, cannot_judge=one_line(reason), adjudicate=True, source=NOT_RETRIEVED
                )
            self.advance()

    def mark_retrieved(self, doc_ids: Iterable[str]) -> list[str]:
        """Remove the marks of reports that were not retrieved; return the ids that had one."""
        with self.store.transaction():
            marks = self._marks()
            marks = marks[marks["doc_id"].isin(list(doc_ids))]
            pairs = list(zip(marks["doc_id"].tolist(), marks["annotator"].tolist(), strict=True))
            for doc_id, annotator in pairs:
                self.judging.judge(annotator, FULL_TEXT, doc_id, undo=True, adjudicate=True, source=NOT_RETRIEVED)
            self.advance()
        return [str(doc_id) for doc_id, _ in pairs]

    def _marks(self) -> pd.DataFrame:
        """Return ``doc_id``, ``annotator``, ``reason`` of the reports that were not retrieved."""
        log = self.store.judgements.table(query_id=FULL_TEXT, columns=["doc_id", "annotator", "reason", "source"])
        return log[log["source"] == NOT_RETRIEVED].drop_duplicates("doc_id", keep="last")

    def _require_due(self, doc_ids: Sequence[str]) -> None:
        known = set(self._due()["doc_id"])
        if unknown := [doc_id for doc_id in doc_ids if doc_id not in known]:
            these, have = plural(len(unknown), "the record", "the records"), plural(len(unknown), "has", "have")
            raise InputError(f"{these} {join_first(unknown)} {have} not reached the full-text stage")

    def _write(self, files: Mapping[str, tuple[Path, PdfText]]) -> None:
        """Copy files into the campaign, name them in the metadata of their records, and remove marks of the latter."""
        if not files:
            return
        written: list[Path] = []
        pdfs = PdfImport(self.directory, written)
        try:
            with layout.storage_errors(self.directory), self.store.transaction():
                documents = self.store.corpus.documents(list(files))
                changed: list[Document] = []
                for doc_id, (file, content) in files.items():
                    shown = (content.copy or file) if content.checked else None
                    pdf = PdfFile(file, content.sha256, content.pages, content.size, shown)
                    metadata = {name: value for name, value in documents[doc_id].metadata.items() if name != "pdf"}
                    changed.append(documents[doc_id]._replace(metadata=pdfs.add(file, 1, {**metadata, "pdf": pdf})))
                self.store.corpus.add_documents(changed, replace=True)
                pdfs.content.sync()
                self.mark_retrieved(files)
        except BaseException:
            layout.remove_written(written)
            raise


def link_of(document: Document) -> str:
    """The address of a publication: by its DOI, its link or its PMID; "" if the record has none of them.

    >>> link_of(Document("r1", metadata={"doi": "10.1000/x"}))
    'https://doi.org/10.1000/x'
    """
    metadata = document.metadata
    if dois := find_dois(str(metadata.get("doi", ""))):
        return f"https://doi.org/{dois[0]}"
    url = metadata.get("url")
    for address in url if isinstance(url, list) else [url]:
        if isinstance(address, str) and is_web_address(address):
            return address
    pmid = str(metadata.get("pmid", ""))
    return f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid.isdecimal() else ""
