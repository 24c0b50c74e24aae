"""The records of the files of an import, with the documents that they belong to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from collection.campaign.imports.import_session import ImportSession
from collection.core.characters import writable
from collection.formats import Reference, database_lines, find_decisions, guess_database
from collection.formats.databases import RECORDS
from collection.formats.record_report import RecordReport
from collection.formats.source import STANDARD_INPUT, FilePath, opened
from collection.store.records import RecordRow, pack

DECISIONS = "decisions"
"""Key of the number of records with decisions in the report of a source."""

WAITING = 2_000
"""Number of collected records at which those whose documents are stored are written."""


class RecordLedger:
    """Stores each record of a file of references, once for each file, in the transaction of the import.

    A file with the content of an earlier one is the same source; its records keep their current documents, unless these
    were removed.
    """

    def __init__(self, session: ImportSession, path: FilePath) -> None:
        self._session, self._tables, self._path = session, session.store.records, path
        self._report, self._form = RecordReport(), ""
        self._first: list[Mapping[str, list[str]]] = []
        self._rows: list[RecordRow] = []
        self._pairs: list[tuple[str, str, str]] = []
        with opened(path) as source, source.open("documents") as file:
            self.digest = hashlib.file_digest(file, "sha256").hexdigest()
        known = self._tables.find_source(self.digest)
        self.again = known is not None
        """Whether the file was imported before."""
        self.decisions = 0
        """Number of records with decisions of a screening tool."""
        self._name = "standard input" if str(path) == STANDARD_INPUT else writable(Path(os.fspath(path)).name)
        self._source = known if known is not None else self._tables.add_source(self._name, self.digest)
        self._in_use = self._tables.positions_in_use(self._source) if self.again else set()

    def add(self, line: int, record: Reference, doc_id: str, reason: str | None) -> None:
        """Add the next record of the file, with its document and, for a duplicate, the reason."""
        position = self._report.read
        self._report.add(record)
        self.decisions += bool(find_decisions(record.fields))
        self._form = record.form
        if position < RECORDS:
            self._first.append(record.fields)
        if position in self._in_use:
            return
        self._rows.append(RecordRow(position, line, doc_id, pack(record.fields), reason))
        if len(self._rows) >= WAITING:
            self._rows = self._tables.add_records(self._source, self._rows)

    def add_pair(self, earlier: str, doc_id: str, reason: str) -> None:
        """Add a pair of possible duplicates."""
        self._pairs.append((earlier, doc_id, reason))

    def finish(self) -> None:
        """Write the remaining records, once all documents of the file are stored."""
        self._tables.add_records(self._source, self._rows)
        self._tables.add_pairs(self._pairs)
        self._tables.describe_source(
            self._source,
            database=guess_database(self._form, self._first, database_lines(self._path)),
            form=self._form,
            read=self._report.read,
            skipped=self._session.skipped(self._path),
            report={**self._report.counts(), DECISIONS: self.decisions},
        )
        self._rows, self._pairs = [], []
