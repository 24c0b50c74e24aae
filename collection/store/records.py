"""The records of imported files of references, and pairs of possible duplicates."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from collection.core import clock
from collection.store.connection import Repository, json_text, writes

Decision = Literal["duplicate", "distinct"]
Fields = Mapping[str, Sequence[str]]
"""Tag or column -> its texts."""


class RecordRow(NamedTuple):
    """A record of a source; `fields` as :func:`pack` writes them, `reason` null for the one that made its document."""

    position: int
    line: int
    doc_id: str
    fields: bytes
    reason: str | None


class StoredRecord(NamedTuple):
    """A record, the source that it came from with its database ("" if unknown), and the format of its fields."""

    record: int
    doc_id: str
    source: str
    database: str
    form: str
    line: int
    fields: dict[str, list[str]]
    reason: str | None

    @property
    def source_fields(self) -> dict[str, list[str]]:
        """Return the fields that the source has, without those that its reader made."""
        return {name: texts for name, texts in self.fields.items() if name[:1] != "_"}


class RecordPair(NamedTuple):
    """Two documents that are possible duplicates."""

    pair: int
    doc_a: str
    doc_b: str
    reason: str
    decision: Decision | None
    decided_by: str | None
    decided_at: str | None
    undo: dict[str, Any] | None


def pack(fields: Fields) -> bytes:
    """The fields of a record as compressed JSON."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def _unpack(packed: bytes) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    return fields


_DOC = "(SELECT doc FROM documents WHERE doc_id = ?)"
_PAIRS = """
    SELECT pair, a.doc_id, b.doc_id, reason, decision, decided_by, decided_at, undo FROM record_pairs
    JOIN documents AS a ON a.doc = doc_a JOIN documents AS b ON b.doc = doc_b
"""


class RecordTables(Repository):
    """Sources, their records, and pairs of possible duplicates."""

    def find_source(self, sha256: str) -> int | None:
        """Return the key of the source with this digest, or None."""
        source: int | None = self.connection.value("SELECT source FROM record_sources WHERE sha256 = ?", (sha256,))
        return source

    @writes
    def add_source(self, name: str, sha256: str) -> int:
        """Add a source without records; return its key."""
        return self.connection.insert("record_sources", {
            "name": name, "database": "", "form": "", "sha256": sha256, "imported_at": clock.now(), "read": 0,
            "skipped": 0, "report": "{}",
        }) or 0  # fmt: skip

    @writes
    def describe_source(
        self, source: int, *, database: str, form: str, read: int, skipped: int, report: Mapping[str, object]
    ) -> None:
        """Record what was read of a source; its database stays if it has one."""
        self.connection.execute(
            "UPDATE record_sources SET database = CASE database WHEN '' THEN ? ELSE database END, form = ?, read = ?, "
            "skipped = ?, report = ? WHERE source = ?",
            (database, form, read, skipped, json.dumps(report, ensure_ascii=False), source),
        )

    @writes
    def rename_database(self, source: int, name: str) -> None:
        """Set the database that a source was exported from."""
        self.connection.execute("UPDATE record_sources SET database = ? WHERE source = ?", (name, source))

    @writes
    def add_records(self, source: int, rows: Sequence[RecordRow]) -> list[RecordRow]:
        """Add records in place of those at the same positions; return those whose document is not stored yet."""
        keys = self.connection.mapping(
            "SELECT doc_id, doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)) ORDER BY doc",
            (json_text({row.doc_id for row in rows}),),
        )
        self.connection.executemany(
            "INSERT OR REPLACE INTO records (source, position, line, doc, fields, reason) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (source, row.position, row.line, keys[row.doc_id], row.fields, row.reason)
                for row in rows
                if row.doc_id in keys
            ),
        )
        return [row for row in rows if row.doc_id not in keys]

    def positions_in_use(self, source: int) -> set[int]:
        """Return the positions of the records of a source whose documents have a text."""
        return set(
            self.connection.column(
                "SELECT position FROM records JOIN documents USING (doc) WHERE source = ? AND text IS NOT NULL "
                "ORDER BY position",
                (source,),
            )
        )

    def sources(self) -> pd.DataFrame:
        """Return ``source``, ``name``, ``database``, ``form``, ``imported_at``, ``read``, ``skipped``, ``report``.

        Besides ``records``, ``documents``: its records, and those that made a document; in the order of import.
        """
        frame = self.connection.frame(
            "SELECT s.source, s.name, s.database, s.form, s.imported_at, s.read, s.skipped, s.report, "
            "count(r.record) AS records, coalesce(sum(r.record IS NOT NULL AND r.reason IS NULL), 0) AS documents "
            "FROM record_sources AS s LEFT JOIN records AS r USING (source) GROUP BY s.source ORDER BY s.source"
        )
        return frame.assign(report=[json.loads(text) for text in frame["report"]])

    def table(self) -> pd.DataFrame:
        """Return ``record``, ``source``, ``line``, ``doc_id``, ``reason`` of all records, in the order of import."""
        return self.connection.frame(
            "SELECT record, source, line, doc_id, reason FROM records JOIN documents USING (doc) "
            "ORDER BY source, position"
        )

    def document_ids(self, records: Sequence[int]) -> list[str]:
        """Return the ids of the documents that records belong to."""
        return self.connection.column(
            "SELECT DISTINCT doc_id FROM records JOIN documents USING (doc) "
            "WHERE record IN (SELECT value FROM json_each(?)) ORDER BY doc",
            (json_text(records),),
        )

    def records(self, doc_ids: Sequence[str] | None = None, *, recognised: bool = False) -> Iterator[StoredRecord]:
        """Yield the records of documents, by default of all, the one that made each document first.

        `recognised`: only duplicates.
        """
        some = "TRUE" if doc_ids is None else "d.doc_id IN (SELECT value FROM json_each(?))"
        rows = self.connection.execute(
            "SELECT r.record, d.doc_id, s.name, s.database, s.form, r.line, r.fields, r.reason FROM records AS r "
            f"JOIN documents AS d USING (doc) JOIN record_sources AS s USING (source) WHERE {some} "
            f"{'AND r.reason IS NOT NULL ' * recognised}ORDER BY r.doc, r.reason IS NOT NULL, r.source, r.position",
            () if doc_ids is None else (json_text(doc_ids),),
        )
        for record, doc_id, source, database, form, line, fields, reason in rows:
            yield StoredRecord(record, doc_id, source, database, form, line, _unpack(fields), reason)

    @writes
    def move(self, records: Sequence[int], doc_id: str, reason: str | None) -> None:
        """Assign records to another document; those without a reason get `reason`, if any."""
        self.connection.execute(
            f"UPDATE records SET doc = {_DOC}, reason = coalesce(reason, ?) "
            "WHERE record IN (SELECT value FROM json_each(?))",
            (doc_id, reason, json_text(records)),
        )

    @writes
    def set_reason(self, record: int, reason: str | None) -> None:
        """Set the reason why a record is a duplicate; None if it is not."""
        self.connection.execute("UPDATE records SET reason = ? WHERE record = ?", (reason, record))

    @writes
    def forget_documents(self, doc_ids: Sequence[str]) -> None:
        """Remove the records and pairs of removed documents, and sources that have no record left."""
        docs = "(SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))"
        self.connection.execute(f"DELETE FROM records WHERE doc IN {docs}", (json_text(doc_ids),))
        self.connection.execute(
            f"DELETE FROM record_pairs WHERE doc_a IN {docs} OR doc_b IN {docs}", (json_text(doc_ids),) * 2
        )
        self._forget_empty_sources()

    @writes
    def forget_records(self, source: int, doc_ids: Sequence[str]) -> None:
        """Remove the records of documents in one source; if one of them made the document, the next one does."""
        docs = "(SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))"
        self.connection.execute(f"DELETE FROM records WHERE source = ? AND doc IN {docs}", (source, json_text(doc_ids)))
        self.connection.execute(
            "UPDATE records SET reason = NULL WHERE record IN "
            f"(SELECT min(record) FROM records WHERE doc IN {docs} GROUP BY doc HAVING sum(reason IS NULL) = 0)",
            (json_text(doc_ids),),
        )
        self._forget_empty_sources()

    def _forget_empty_sources(self) -> None:
        self.connection.execute("DELETE FROM record_sources WHERE source NOT IN (SELECT source FROM records)")

    @writes
    def add_pairs(self, pairs: Iterable[tuple[str, str, str]]) -> None:
        """Add pairs of possible duplicates with the reason of the match; known pairs stay as they are."""
        known = f"SELECT 1 FROM record_pairs WHERE doc_a = {_DOC} AND doc_b = {_DOC}"
        self.connection.executemany(
            "INSERT OR IGNORE INTO record_pairs (doc_a, doc_b, reason) "
            f"SELECT {_DOC}, {_DOC}, ? WHERE NOT EXISTS ({known})",
            ((a, b, reason, b, a) for a, b, reason in pairs),
        )

    def pairs(self) -> list[RecordPair]:
        """Return all pairs, in the order in which they were found."""
        rows = self.connection.execute(f"{_PAIRS} ORDER BY pair")
        return [RecordPair._make((*row[:-1], None if row[-1] is None else json.loads(row[-1]))) for row in rows]

    def merged(self) -> dict[str, str]:
        """Return, for each merged document, the one that was kept, which may have been merged later."""
        return self.connection.mapping(
            "SELECT json_extract(undo, '$.removed'), json_extract(undo, '$.kept') FROM record_pairs "
            "WHERE undo IS NOT NULL ORDER BY pair"
        )

    @writes
    def decide(
        self, pair: int, decision: Decision | None, by: str | None, undo: Mapping[str, object] | None = None
    ) -> None:
        """Record the decision on a pair, or with None that it is open."""
        self.connection.execute(
            "UPDATE record_pairs SET decision = ?, decided_by = ?, decided_at = ?, undo = ? WHERE pair = ?",
            (decision, by, clock.now() if decision else None, None if undo is None else json.dumps(undo), pair),
        )
