"""Duplicates among the bibliographic records of an import, and of documents in the campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from collection.campaign.import_session import ImportSession
from collection.documents.duplicate_records import RecordIndex
from collection.errors import unit
from collection.formats import Reference
from collection.phrases import count, join, plural
from collection.records import Document, DuplicateRecord

NAMED = 3
"""Number of duplicates that the notice names."""


class DuplicateRecords:
    """Finds duplicates among records with a DOI or PMID, and among records without their own ids.

    A record without its own id is left out if it is the same publication as an earlier record or a document in the
    campaign, also if both are equal. Documents with their own ids are only reported, because runs and qrels may name
    each of them.
    """

    def __init__(self, session: ImportSession) -> None:
        self._session = session
        self._corpus = session.store.corpus
        self._index: RecordIndex | None = None
        self._read: Counter[str] = Counter()

    def screen(self, path: Path | str, documents: Iterable[tuple[int, Document]]) -> Iterator[tuple[int, Document]]:
        """Yield the documents to import; the others become duplicates in the report of the session."""
        for line, document in documents:
            self._read[str(path)] += isinstance(document, Reference)
            if not self._leave_out(path, line, document):
                self._session.kept_as.pop(document.doc_id, None)
                yield line, document

    def _leave_out(self, path: Path | str, line: int, document: Document) -> bool:
        """Whether a document is left out; a duplicate is recorded."""
        is_reference = isinstance(document, Reference)
        if not is_reference and not (document.metadata.get("doi") or document.metadata.get("pmid")):
            return False
        match = self._index_of_campaign().find(document)
        kept, reason = (document.doc_id, "abstract") if match is None else match
        self._index_of_campaign().add(document._replace(doc_id=kept))
        there = self._corpus.documents([document.doc_id]).get(document.doc_id) if is_reference else None
        waits = there is not None and there.text is None  # pooled or graded, and to be judged once it has a text
        is_unchanged = kept == document.doc_id and there is not None and tuple(there) == tuple(document)
        if kept == document.doc_id and not is_unchanged and (there is None or waits or self._session.replace):
            return False
        reason = "id and content" if is_unchanged else reason
        found = DuplicateRecord(
            str(path), line, document.doc_id, document.title, kept, reason, is_reference and not waits
        )
        self._session.duplicates.append(found)
        if is_unchanged:  # the import counts it as unchanged
            return False
        if found.left_out and there is None:
            self._session.kept_as[document.doc_id] = kept
        return found.left_out

    def _index_of_campaign(self) -> RecordIndex:
        """Return the index, which at first has the documents in the campaign."""
        if self._index is None:
            self._index = RecordIndex()
            for document in self._corpus.documents_with_text(pooled=False):
                self._index.add(document)
        return self._index

    def sum_up(self, path: Path | str) -> str:
        """Count the records of a file that were read, kept and left out; empty for a file without such records."""
        if not (read := self._read[str(path)]):
            return ""
        out = sum(duplicate.file == str(path) and duplicate.left_out for duplicate in self._session.duplicates)
        duplicates = plural(out, "a duplicate", "duplicates")
        return f"; {count(read, 'record')} read, {read - out:,} kept, {out:,} left out as {duplicates}"

    def report(self, path: Path | str) -> None:
        """Add a notice on the duplicates of a file."""
        found = [duplicate for duplicate in self._session.duplicates if duplicate.file == str(path)]
        for left_out in (True, False):
            some = [duplicate for duplicate in found if duplicate.left_out == left_out]
            if not some:
                continue
            reasons = join([f"{n:,} by {reason}" for reason, n in Counter(d.reason for d in some).most_common()])
            named = [
                f"{unit(path)} {d.line:,} ({d.title[:60] or d.doc_id}) duplicates {d.duplicate_of}"
                for d in some[:NAMED]
            ]
            what = "left out" if left_out else "imported, because documents with their own ids are never left out"
            records, were = count(len(some), "duplicate record"), plural(len(some), "was", "were")
            more = f"; {len(some) - NAMED:,} more" if some[NAMED:] else ""
            self._session.notice(
                path,
                f"{records} {were} {what} ({reasons}): {'; '.join(named)}{more}. `cleverdon import` lists them with "
                "--duplicates FILE",
            )
