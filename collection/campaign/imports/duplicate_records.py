"""Duplicates among the bibliographic records of an import, and of documents in the campaign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from collection.campaign.imports.import_session import ImportSession
from collection.campaign.imports.record_ledger import RecordLedger
from collection.core.errors import as_path, unit
from collection.core.phrases import count, cut, join, plural
from collection.core.records import Document, DuplicateRecord
from collection.documents.duplicate_records import Match, RecordIndex
from collection.formats import Reference, as_reference, is_document, to_reference
from collection.formats.source import FilePath, is_dataset

NAMED = 3
"""Number of duplicates that a notice names."""

POSSIBLE = 4
"""Maximum number of documents that one record is listed with as a possible duplicate."""

LABELS = {"doi": "DOI", "pmid": "PMID", "url": "link"}
"""Names of fields in sentences."""

FILES = "record_files"
"""Setting with the digests of the imported files of records."""


class _Gain(NamedTuple):
    """Fields that a document may take from a record that was left out; `place` is that of the record in the report."""

    place: int
    doc_id: str
    fields: Mapping[str, object]


class _Place(NamedTuple):
    """The document of a record, the reason if the record is a duplicate, and the document to import, if any."""

    doc_id: str
    reason: str | None
    document: Document | None


class DuplicateRecords:
    """Finds duplicates among records with a DOI or PMID, and among records without their own ids.

    A record without its own id is left out if it is certainly the publication of an earlier record or of a document in
    the campaign, which takes from it the fields that it lacks. Possible duplicates are imported and listed, as are
    documents with their own ids, because runs and qrels may name each of them. A literature review has no runs,
    so it lists only documents that are files; documents in tables are records like any other.
    """

    def __init__(self, session: ImportSession, *, is_review: bool = False) -> None:
        self._session, self._is_review = session, is_review
        self._corpus = session.store.corpus
        self._index: RecordIndex | None = None
        self._read: Counter[str] = Counter()
        self._without_abstract: Counter[str] = Counter()
        self._origins: dict[str, str] = {}
        """Id of a record of this import -> its file and line."""
        self._known: set[str] = set()
        """Ids of documents of this and earlier imports."""
        self._blank: set[str] = set()
        """Ids of records of this import without an abstract."""
        self._gains: list[_Gain] = []
        self._again: set[str] = set()
        self._ledger: RecordLedger | None = None
        """The records of the file that is read."""
        self._merged: frozenset[str] = frozenset()
        """Ids of documents that people merged with another one."""
        self._decisions: Counter[str] = Counter()
        """File -> number of its records that contain decisions of a screening tool."""
        self._pairs: list[tuple[str, str, str]] = []
        """Pairs of possible duplicates with documents of files without bibliographic records."""

    def screen(self, path: FilePath, documents: Iterable[tuple[int, Document]]) -> Iterator[tuple[int, Document]]:
        """Yield the documents to import; the others become duplicates in the report of the session."""
        are_records = self._is_review and not is_document(path) and not as_path(path).is_dir()
        for line, each in documents:
            has_own_id = not isinstance(each, Reference)
            document = as_reference(each) if are_records else each
            placed: Document | None = document
            if isinstance(document, Reference):
                self._read[str(path)] += 1
                self._without_abstract[str(path)] += not document.text
                if self._ledger is None and not is_dataset(path):
                    self._ledger = RecordLedger(self._session, path)
                doc_id, reason, placed = self._place(path, line, document, has_own_id=has_own_id)
                if self._ledger is not None:
                    self._ledger.add(line, document, doc_id, reason)
            elif self._is_review or document.metadata.get("doi") or document.metadata.get("pmid"):
                self._look_up(path, line, document)
            if placed is not None:
                self._session.kept_as.pop(placed.doc_id, None)
                self._known.add(placed.doc_id)
                yield line, placed

    def _look_up(self, path: FilePath, line: int, document: Document) -> None:
        """List a document with its own id that duplicates another one."""
        match = next(iter(self._index_of_campaign().enter(document)), None)
        if match is not None and match.doc_id != document.doc_id:
            self._list(path, line, document, match, left_out=False)
            if self._is_review:
                self._pairs.append((match.doc_id, document.doc_id, match.reason))

    def _place(self, path: FilePath, line: int, document: Reference, *, has_own_id: bool) -> _Place:
        matches = self._index_of_campaign().enter(document)
        match = next(iter(matches), None)
        own = self._stored(document.doc_id)
        original = self._stored(match.doc_id) if match is not None and match.certain else None
        is_other = match is not None and match.doc_id != document.doc_id
        if own is not None and (
            # pooled or graded, and to be judged once it has a text
            (own.text is None and document.doc_id not in self._merged)
            # a different record with the same id, which is refused because decisions could name either
            or (has_own_id and (match is None or is_other) and not _contains(own, document))
        ):
            if match is not None and is_other:
                self._list(path, line, document, match, left_out=False)
            return self._new(path, line, document)
        if match is None or not match.certain:
            if own is not None and _contains(own, document):  # such as a record without a title
                match = Match(own.doc_id, "id and content")
                self._list(path, line, document, match, left_out=True)
                return _Place(own.doc_id, match.reason, own)
            named = document if own is None else document._replace(doc_id=self._free_id(document.doc_id))
            if match is not None:
                self._list(path, line, named, match, left_out=False)
            if self._ledger is not None:
                for other in matches[1:POSSIBLE]:
                    self._ledger.add_pair(other.doc_id, named.doc_id, other.reason)
            return self._new(path, line, named)
        if original is not None and (match.doc_id == document.doc_id or own is not None):
            if _contains(original, document):
                self._list(path, line, document, match._replace(reason="id and content"), left_out=True)
                return _Place(match.doc_id, match.reason, original)  # the import counts it as unchanged
            if self._session.replace and match.doc_id == document.doc_id:
                return _Place(match.doc_id, match.reason, document)
        self._leave_out(path, line, document, match, own)
        return _Place(match.doc_id, match.reason, None)

    def _new(self, path: FilePath, line: int, document: Document) -> _Place:
        """Note where a document comes from, and whether it lacks an abstract."""
        self._origins[document.doc_id] = f"{path}, {unit(path)} {line}"
        if not document.text:
            self._blank.add(document.doc_id)
        return _Place(document.doc_id, None, document)

    def _leave_out(self, path: FilePath, line: int, document: Document, match: Match, own: Document | None) -> None:
        self._list(path, line, document, match, left_out=True)
        if own is None:
            self._session.kept_as[document.doc_id] = match.doc_id
        fields = {**document.metadata, "title": document.title, "abstract": document.text}
        original = self._stored(match.doc_id)
        if match.doc_id not in self._blank and (original is None or original.text):
            del fields["abstract"]  # which is long, and not taken
        self._gains.append(_Gain(len(self._session.duplicates) - 1, match.doc_id, fields))

    def _list(self, path: FilePath, line: int, document: Document, match: Match, *, left_out: bool) -> None:
        origin = self._origins.get(match.doc_id, "")
        if not match.certain and self._ledger is not None:
            self._ledger.add_pair(match.doc_id, document.doc_id, match.reason)
        self._session.duplicates.append(
            DuplicateRecord(
                str(path), line, document.doc_id, document.title, match.doc_id, origin, match.reason, match.certain,
                left_out,
            )
        )  # fmt: skip

    def _stored(self, doc_id: str) -> Document | None:
        return self._corpus.documents([doc_id]).get(doc_id) if doc_id in self._known else None

    def _free_id(self, doc_id: str) -> str:
        """An id for another record of the same title and year."""
        number = 2
        while (free := f"{doc_id}-{number}") in self._origins or self._stored(free) is not None:
            number += 1
        return free

    def _index_of_campaign(self) -> RecordIndex:
        """Return the index, which begins with the documents in the campaign and their records."""
        if self._index is None:
            self._index = RecordIndex()
            for document in self._corpus.documents_with_text(pooled=False):
                self._index.add(document)
            for record in self._session.store.records.records(recognised=True):
                self._index.add(to_reference(record.fields, record.form)._replace(doc_id=record.doc_id))
            self._known.update(self._corpus.ids())
            self._merged = frozenset(self._session.store.records.merged())
        return self._index

    def merge(self) -> int:
        """Give the documents what they lack of the records that were left out; return how many changed."""
        changed: dict[str, Document] = {}
        for gain in self._gains:
            document = changed.get(gain.doc_id) or self._stored(gain.doc_id)
            if document is not None and (taken := _lacking(document, gain.fields)):
                changed[gain.doc_id] = _with(document, taken)
                record = self._session.duplicates[gain.place]
                self._session.duplicates[gain.place] = record._replace(merged=", ".join(taken))
        self._gains = []
        return self._corpus.add_documents(changed.values(), replace=True).changed if changed else 0

    def remember(self, path: FilePath) -> None:
        """Store the records of a file, if it had any, and note that it was imported."""
        self._session.store.records.add_pairs(self._pairs)
        self._pairs = []
        if (ledger := self._ledger) is None:
            return
        ledger.finish()
        self._decisions[str(path)] = ledger.decisions
        self._ledger = None
        known = self._session.store.settings.get(FILES, [])
        if ledger.again or ledger.digest in known:
            self._again.add(str(path))
        if ledger.digest not in known:
            self._session.store.settings.put(FILES, [*known, ledger.digest])

    def sum_up(self, path: FilePath) -> str:
        """Count the records of a file that were read, kept and left out; empty for a file without such records."""
        if not (read := self._read[str(path)]):
            return ""
        left_out = [
            duplicate for duplicate in self._session.duplicates if duplicate.file == str(path) and duplicate.left_out
        ]
        out, records = len(left_out), count(read, "record")
        already = out == read and not any(duplicate.kept_from for duplicate in left_out)
        if already and str(path) in self._again:
            return f"; this file was imported before: {_all(read)} already in the campaign"
        duplicates = plural(out, "a duplicate", "duplicates")
        ending = f"; {_all(read)} already in the campaign" if already else ""
        return f"; {records} read, {read - out:,} kept, {out:,} left out as {duplicates}{ending}"

    def report(self, path: FilePath) -> None:
        """Add notices on the duplicates of a file, and on records without an abstract."""
        duplicates = [duplicate for duplicate in self._session.duplicates if duplicate.file == str(path)]
        for some, what in (
            ([d for d in duplicates if d.left_out], "left out"),
            ([d for d in duplicates if not d.left_out and d.certain],
             "imported, because documents with their own ids are never left out"),
        ):  # fmt: skip
            if some and str(path) not in self._again:
                were = plural(len(some), "was", "were")
                self._notice(path, some, f"{count(len(some), 'duplicate record')} {were} {what}")
        if some := [d for d in duplicates if not d.certain]:
            were = plural(len(some), "was", "were")
            self._notice(path, some, f"{count(len(some), 'possible duplicate')} {were} imported")
        if self._is_review and (decided := self._decisions[str(path)]):
            have = plural(decided, "has", "have")
            command = f"`cleverdon review {self._session.directory} --decisions-by NAME`"
            self._session.notice(
                path,
                f"{count(decided, 'record')} {have} decisions of a screening tool, which are not imported with the "
                f"records. {command} imports them as decisions of the screener NAME on titles and abstracts",
            )
        if (blank := self._without_abstract[str(path)]) and str(path) not in self._again:
            read = self._read[str(path)]
            have = plural(blank, "has", "have")
            said = "no record has an abstract" if blank == read else f"{blank:,} of {read:,} records {have} no abstract"
            self._session.notice(path, said)

    def _notice(self, path: FilePath, some: list[DuplicateRecord], said: str) -> None:
        reasons = join([f"{n:,} by {reason}" for reason, n in Counter(d.reason for d in some).most_common()])
        named = [
            f"{unit(path)} {d.line:,} ({cut(d.title) or d.doc_id}) {'duplicates' if d.certain else 'may duplicate'} "
            + d.duplicate_of
            + (f" of {d.kept_from.removeprefix(f'{path}, ')}" if d.kept_from else "")
            + (f", which took its {join([LABELS.get(n, n) for n in d.merged.split(', ')])}" if d.merged else "")
            for d in some[:NAMED]
        ]
        more = f"; {len(some) - NAMED:,} more" if some[NAMED:] else ""
        self._session.notice(path, said, f" ({reasons}): {'; '.join(named)}{more}")


def _all(records: int) -> str:
    return f"all {records:,} records are" if records > 1 else "its record is"


def _contains(stored: Document, record: Document) -> bool:
    """Tell whether the stored document has everything that the record has."""
    return not _lacking(stored, {**record.metadata, "title": record.title, "abstract": record.text}, other=True)


def _lacking(stored: Document, fields: Mapping[str, object], *, other: bool = False) -> dict[str, object]:
    """The fields that the stored document lacks, with keywords that it lacks; `other`: also those that differ."""
    known = {**stored.metadata, "title": stored.title, "abstract": stored.text}
    lacking: dict[str, object] = {}
    for name, value in fields.items():
        existing = known.get(name)
        if name == "keywords" and isinstance(value, list) and isinstance(existing, list):
            same = {str(word).casefold() for word in existing}
            if more := [word for word in value if str(word).casefold() not in same]:
                lacking[name] = more
        elif value and (not existing or (other and existing != value)):
            lacking[name] = value
    return lacking


def add_lacking(stored: Document, other: Document) -> Document:
    """The stored document, completed with fields of a duplicate."""
    taken = _lacking(stored, {**other.metadata, "title": other.title, "abstract": other.text})
    return _with(stored, taken) if taken else stored


def _with(stored: Document, taken: Mapping[str, object]) -> Document:
    """The stored document with the fields that were taken from a duplicate."""
    metadata = {**stored.metadata, **{n: v for n, v in taken.items() if n not in ("title", "abstract", "keywords")}}
    if isinstance(words := taken.get("keywords"), list):
        known = stored.metadata.get("keywords")
        metadata["keywords"] = [*(known if isinstance(known, list) else []), *words]
    title, text = taken.get("title", stored.title), taken.get("abstract", stored.text)
    return Document(stored.doc_id, str(title), str(text), metadata)
