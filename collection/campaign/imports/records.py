"""The records of imported files of references, and decisions on possible duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from collection.campaign.imports.duplicate_records import add_lacking
from collection.campaign.imports.import_session import KEPT_AS
from collection.campaign.imports.record_ledger import DECISIONS
from collection.core import clock, layout
from collection.core.characters import one_line, require_writable
from collection.core.errors import ConflictError, InputError
from collection.core.records import Document
from collection.formats import to_reference
from collection.store import RecordPair, Store, StoredRecord
from collection.store.records import Decision
from collection.store.removal import JUDGED, LABELLED

DECIDED = "decided"
"""Reason of a record whose document a person merged with another one."""

_STAYS = {JUDGED: "have been screened", LABELLED: "have machine labels"}


@dataclass(frozen=True)
class RecordCounts:
    """Numbers of records and documents, as a PRISMA diagram has them."""

    identified: Mapping[str, int]
    """Database (the file's name if it is unknown) -> number of its records."""
    documents: int
    """Documents that the records belong to."""
    recognised: int
    """Certain duplicates, recognised at import."""
    decided: int
    """Records that a person decided to be duplicates."""
    open_pairs: int
    """Pairs of possible duplicates without a decision."""

    @property
    def records(self) -> int:
        """Return the number of all records."""
        return sum(self.identified.values())

    @property
    def duplicates(self) -> int:
        """Return the number of records that are duplicates."""
        return self.recognised + self.decided


@dataclass(eq=False)
class Records:
    """Sources, their records, and decisions on possible duplicates.

    Decisions can be undone: a merged document comes back under its id, with its records.
    """

    store: Store
    directory: Path

    def sources(self) -> pd.DataFrame:
        """Return the imported files of references, in the order of import.

        Returns
        -------
        DataFrame
            ``source`` (key), ``name`` (of the file), ``database``, ``form``, ``imported_at``, ``read`` (records),
            ``documents`` (records that made a document), ``duplicates`` (the others), ``without_abstract``,
            ``without_doi``, ``years`` and ``languages`` (dicts with the number of records, '' for those without), and
            ``skipped`` (records and lines that were not read).
        """
        frame = self.store.records.sources()
        for name in ("without_abstract", "without_doi", "years", "languages"):
            frame[name] = [report.get(name, 0) for report in frame["report"]]
        frame["duplicates"] = frame["records"] - frame["documents"]
        return frame[
            [
                "source", "name", "database", "form", "imported_at", "read", "documents", "duplicates",
                "without_abstract", "without_doi", "years", "languages", "skipped",
            ]
        ]  # fmt: skip

    def count_decisions(self) -> int:
        """Count the records whose files have decisions of a screening tool; :meth:`.Importer.import_decisions`."""
        return sum(report.get(DECISIONS, 0) for report in self.store.records.sources()["report"])

    def table(self) -> pd.DataFrame:
        """Return ``record``, ``source``, ``line``, ``doc_id`` and ``reason`` (of a duplicate, else None)."""
        return self.store.records.table()

    def fields(self, doc_id: str) -> list[tuple[str, str, dict[str, list[str]]]]:
        """Return the name of the source, the format and the fields of each record of a document.

        The record that made the document is the first. Fields are tags or columns with their texts, as in the source.
        """
        return [(each.source, each.form, each.source_fields) for each in self.store.records.records([doc_id])]

    def document(self, record: int) -> Document:
        """Return a record as a document, under the id of the document that it belongs to.

        Raises
        ------
        InputError
            There is no such record.
        """
        stored = self._record(record)
        return Document._make(to_reference(stored.fields, stored.form))._replace(doc_id=stored.doc_id)

    def _record(self, record: int) -> StoredRecord:
        doc_ids = self.store.records.document_ids([record])
        stored = next((each for each in self.store.records.records(doc_ids) if each.record == record), None)
        if stored is None:
            raise InputError(f"the campaign has no record {record}")
        return stored

    def rename_database(self, source: int, name: str) -> None:
        """Set the database that a source was exported from.

        Raises
        ------
        InputError
            There is no such source, or the name is empty.
        """
        name = one_line(name)
        require_writable(name, "name of a database")
        if source not in set(self.store.records.sources()["source"]):
            raise InputError(f"the campaign has no source {source}")
        if not name:
            raise InputError("name of a database: expected a text, found none")
        self.store.records.rename_database(source, name)

    def counts(self) -> RecordCounts:
        """Count records by database, documents and duplicates."""
        sources, table = self.store.records.sources(), self.store.records.table()
        names = sources["database"].where(sources["database"] != "", sources["name"])
        reasons = table["reason"]
        return RecordCounts(
            {str(name): int(number) for name, number in sources["records"].groupby(names, sort=False).sum().items()},
            table["doc_id"].nunique(),
            int((reasons.notna() & (reasons != DECIDED)).sum()),
            int((reasons == DECIDED).sum()),
            len(self.pairs()),
        )

    def pairs(self, open: bool = True) -> pd.DataFrame:
        """Return the pairs of possible duplicates without a decision, oldest first, or those with one, latest first.

        Returns
        -------
        DataFrame
            ``pair`` (key), ``doc_a``, ``doc_b`` (of an open pair, the documents that remain after other merges),
            ``reason``, ``decision``, ``decided_by``, ``decided_at``.
        """
        rows = self._open_pairs() if open else [pair for pair in self.store.records.pairs() if pair.decision]
        rows = rows if open else sorted(rows, key=lambda pair: pair.decided_at or "", reverse=True)
        return pd.DataFrame([row[:-1] for row in rows], columns=RecordPair._fields[:-1])

    def _open_pairs(self) -> list[RecordPair]:
        """Return the pairs without a decision, each two documents once."""
        merged, settled = self.store.records.merged(), set()
        found: dict[frozenset[str], RecordPair] = {}
        for pair in self.store.records.pairs():
            doc_a, doc_b = _follow(pair.doc_a, merged), _follow(pair.doc_b, merged)
            documents = frozenset((doc_a, doc_b))
            if pair.decision is not None:
                settled.add(documents)
            elif len(documents) == 2:
                found.setdefault(documents, pair._replace(doc_a=doc_a, doc_b=doc_b))
        return [pair for documents, pair in found.items() if documents not in settled]

    def decide(self, pair: int, decision: Decision, by: str) -> None:
        """Record that the documents of a pair are one publication ("duplicate"), or two ("distinct").

        Duplicates are merged: the document that has been screened remains, otherwise the earlier one. It takes over
        the records of the other one, and the fields that it lacks.

        Raises
        ------
        InputError
            There is no such pair or decision.
        ConflictError
            Both documents have been screened, or somebody is screening one of them.
        """
        if decision not in ("duplicate", "distinct"):
            raise InputError(f"expected the decision 'duplicate' or 'distinct', found {decision!r}")
        with layout.storage_errors(self.directory), self.store.transaction():
            known = self._pair(pair)
            if known.decision == decision:
                return
            if known.decision is not None:
                self.undo(pair, by)
            undo = None
            merged = self.store.records.merged()
            doc_a, doc_b = _follow(known.doc_a, merged), _follow(known.doc_b, merged)
            if decision == "duplicate" and doc_a != doc_b:
                undo = self._merge(doc_a, doc_b)
            self.store.records.decide(pair, decision, by, undo)

    def _pair(self, pair: int) -> RecordPair:
        known = next((each for each in self.store.records.pairs() if each.pair == pair), None)
        if known is None:
            raise InputError(f"the campaign has no pair {pair} of possible duplicates")
        return known

    def _merge(self, doc_a: str, doc_b: str) -> dict[str, Any]:
        """Merge two documents; return what :meth:`undo` needs."""
        original, removed = self._which_stays(doc_a, doc_b)
        tables, documents = self.store.records, self.store.corpus.documents([original, removed])
        records = list(tables.records([removed]))
        gone = documents[removed]
        changed = add_lacking(documents[original], gone)
        kept_as: dict[str, str] = self.store.settings.get(KEPT_AS, {})
        names = [name for name, original in kept_as.items() if original == removed]
        pool = self.store.removal.pool_rows(removed)
        self.store.removal.remove_documents([removed])
        self.store.removal.put_into_pool(original, pool)
        self._replace(changed)
        tables.move([record.record for record in records], original, DECIDED)
        self._keep_as(dict.fromkeys([*names, removed], original))
        return {
            "kept": original, "removed": removed, "title": gone.title, "text": gone.text,
            "metadata": dict(gone.metadata), "records": [record.record for record in records],
            "base": _base(records), "names": names, "pool": pool,
        }  # fmt: skip

    def _which_stays(self, doc_a: str, doc_b: str) -> tuple[str, str]:
        in_use = self.store.removal.documents_in_use(clock.seconds())
        if doc_a in in_use and doc_b in in_use:
            why = {in_use[doc_a], in_use[doc_b]}
            if why <= _STAYS.keys():
                what = " or ".join(_STAYS[reason] for reason in _STAYS if reason in why)
                raise ConflictError(
                    f"{doc_a} and {doc_b} {what}, so neither can be removed; mark the pair as different, and give both "
                    "the same decision"
                )
            raise ConflictError(f"{doc_a} or {doc_b} is being screened now; try again in some minutes")
        return (doc_b, doc_a) if doc_b in in_use else (doc_a, doc_b)

    def undo(self, pair: int, by: str) -> None:
        """Open a pair again; a merged document comes back under its id, with its records.

        Raises
        ------
        InputError
            There is no such pair.
        """
        with layout.storage_errors(self.directory), self.store.transaction():
            known = self._pair(pair)
            self.store.records.decide(pair, None, by)
            if known.undo is not None:
                self._separate(known.undo)

    def _separate(self, undo: Mapping[str, Any]) -> None:
        original = _follow(undo["kept"], self.store.records.merged())
        before = list(self.store.records.records([original]))
        moving = [record for record in before if record.record in set(undo["records"])]
        gone = self._as_it_was(undo, moving)
        self.store.corpus.add_documents([gone])
        self.store.removal.put_into_pool(gone.doc_id, undo["pool"], instead_of=original)
        self.store.records.move([record.record for record in moving], gone.doc_id, None)
        if undo["base"] is not None:
            self.store.records.set_reason(undo["base"], None)
        kept_as: dict[str, str] = self.store.settings.get(KEPT_AS, {})
        names = [name for name in undo["names"] if kept_as.get(name) == original]
        self._keep_as(dict.fromkeys(names, gone.doc_id), without=gone.doc_id)
        self._without(original, before, moving)

    def _as_it_was(self, undo: Mapping[str, Any], moving: Sequence[StoredRecord]) -> Document:
        """The removed document, without fields from records that later decisions moved to other documents."""
        gone = Document(undo["removed"], undo["title"], undo["text"], undo["metadata"])
        ids = set(undo["records"])
        if not moving or len(moving) == len(ids):
            return gone
        then = [record for record in self.store.records.records() if record.record in ids]
        then.sort(key=lambda record: record.record != undo["base"])
        moved = {record.record for record in moving}
        still = [record for record in then if record.record in moved]
        return _made_of(gone.doc_id, still) if _made_of(gone.doc_id, then) == gone else gone

    def split(self, record: int, by: str) -> str:
        """Make a certain duplicate a document of its own; return its id.

        The decision is one on a pair, which :meth:`undo` opens again.

        Raises
        ------
        InputError
            There is no such record, or it is not a duplicate.
        """
        with layout.storage_errors(self.directory), self.store.transaction():
            split = self._record(record)
            before = list(self.store.records.records([split.doc_id]))
            if split.reason is None:
                raise InputError(f"record {record} is not a duplicate, so it cannot be separated")
            if split.reason == DECIDED:
                raise InputError(f"record {record} was merged by a decision on a pair; undo that decision")
            own = to_reference(split.fields, split.form)
            own = own._replace(doc_id=self._free_id(own.doc_id))
            self.store.corpus.add_documents([Document._make(own)])
            self.store.records.move([record], own.doc_id, None)
            self.store.records.set_reason(record, None)
            self.store.records.add_pairs([(split.doc_id, own.doc_id, split.reason)])
            pair = next(p for p in self.store.records.pairs() if (p.doc_a, p.doc_b) == (split.doc_id, own.doc_id))
            self.store.records.decide(pair.pair, "distinct", by)
            self._keep_as({}, without=own.doc_id)
            self._without(split.doc_id, before, [split])
            return own.doc_id

    def _free_id(self, doc_id: str) -> str:
        known, free, number = self.store.corpus.doc_keys, doc_id, 1
        while known([free]):
            number += 1
            free = f"{doc_id}-{number}"
        return free

    def _without(self, doc_id: str, before: Sequence[StoredRecord], gone: Sequence[StoredRecord]) -> None:
        """Remove the fields that a document has only from records that it has lost.

        A document whose content differs from its records, because it was imported again, stays as it is.
        """
        document = self.store.corpus.documents([doc_id])[doc_id]
        lost = {record.record for record in gone}
        remaining = [record for record in before if record.record not in lost]
        if remaining and _made_of(doc_id, before) == document:
            document = _made_of(doc_id, remaining)
        self._replace(document)

    def _replace(self, document: Document) -> None:
        """Store a document, and have everything that is computed from documents computed again."""
        self.store.corpus.add_documents([document], replace=True)
        self.store.settings.put("documents_version", self.store.settings.get("documents_version", 0) + 1)

    def _keep_as(self, kept_as: Mapping[str, str], without: str | None = None) -> None:
        """Let later imports of runs and grades find the documents that stayed."""
        known: dict[str, str] = self.store.settings.get(KEPT_AS, {})
        changed = {name: original for name, original in {**known, **kept_as}.items() if name != without}
        if changed != known:
            self.store.settings.put(KEPT_AS, changed)


def describe_years(years: Mapping[str, int]) -> str:
    """Write the years of a source's records as a range; empty if none is known.

    >>> describe_years({"": 2, "1994": 1, "2003": 7})
    '1994-2003'
    """
    known = sorted(int(year) for year in years if year.isdecimal())
    return "-".join(map(str, dict.fromkeys((known[0], known[-1])))) if known else ""


def _follow(doc_id: str, merged: Mapping[str, str]) -> str:
    """The document that remains of one after all merges."""
    while doc_id in merged:
        doc_id = merged[doc_id]
    return doc_id


def _base(records: Iterable[StoredRecord]) -> int | None:
    """The record that made the document of these."""
    return next((record.record for record in records if record.reason is None), None)


def _made_of(doc_id: str, records: Sequence[StoredRecord]) -> Document:
    """The document of several records: the first one, completed from the others."""
    document, *others = (to_reference(record.fields, record.form) for record in records)
    made = Document(doc_id, document.title, document.text, document.metadata)
    for other in others:
        made = add_lacking(made, other)
    return made
