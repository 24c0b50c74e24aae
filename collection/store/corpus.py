"""Topics, documents, runs, costs and click logs."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from heapq import nsmallest
from itertools import accumulate, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core import clock
from collection.core.errors import ConflictError, InputError
from collection.core.records import Document, Kind, Topic
from collection.core.topic_fields import holds_fields
from collection.store import columns
from collection.store.connection import POOL_IF_TEXTS_MISSING, Repository, is_held_back, json_text, writes

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

BATCH = 500
"""Number of documents that are imported together."""

INDEXED = 10_000
"""Largest number of documents that are added to the full-text index in one statement: FTS5 writes what it has collected
at the end of each, and merges it later. The first statement has a twentieth, each further one half as many again as the
one before, so that the next documents of a small file can be read meanwhile, too."""

INDEX_MEMORY = 4 << 20
"""Bytes that FTS5 may collect before it writes them. With its default of 1 MB, an import of 50,000 documents takes a
fifth more processor time; 16 MB save nothing more."""

SEGMENTS = 8
"""Number of parts of the full-text index that FTS5 merges into one: with its default of 4, it does so already in the
import of a small file."""

RANKED = 20_000
"""Maximum number of documents that a search ranks: ranking a million takes seconds."""

COMMON = 100_000
"""Number of documents from which a word is common: to rank by a phrase of such words would take long."""

COMMON_PREFIX = 200_000
"""The same for a prefix, which is counted in a document once for each different word."""


class Added(NamedTuple):
    """Numbers of rows that an import added, changed, and found unchanged."""

    new: int = 0
    changed: int = 0
    same: int = 0


def _json(metadata: Mapping[str, object]) -> str:
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, allow_nan=False) if metadata else "{}"


def _in_order(fields: Mapping[str, object]) -> str:
    return json.dumps(dict(fields), ensure_ascii=False, allow_nan=False) if fields else "{}"


def _has_fields_as_text(known: Topic, topic: Topic) -> bool:
    """Tell whether `known` is `topic` with its fields below the narrative."""
    if known.fields or not topic.fields or known[:3] != topic[:3] or not known.narrative.startswith(topic.narrative):
        return False
    return holds_fields(known.narrative.removeprefix(topic.narrative), topic.fields)


def _batches(values: Iterable[T]) -> Iterator[tuple[T, ...]]:
    # itertools.batched comes with Python 3.12.
    iterator = iter(values)
    while batch := tuple(islice(iterator, BATCH)):
        yield batch


class Matches(NamedTuple):
    """Documents that a search found: id, title and snippet.

    `ranked` is the number of matching documents that were ranked: None for all of them, 0 if none was.
    """

    documents: list[tuple[str, str, str]]
    ranked: int | None


class CorpusTables(Repository):
    """Topics, documents, runs, costs and click logs."""

    def topics(self) -> pd.DataFrame:
        """Return ``query_id``, ``title``, ``description``, ``narrative``, in the order of import."""
        return self.connection.frame("SELECT query_id, title, description, narrative FROM topics ORDER BY topic")

    def topic_records(self, query_ids: Sequence[str] | None = None) -> list[Topic]:
        """Return topics with all their fields, by default all, in the order of import."""
        some = "" if query_ids is None else "WHERE query_id IN (SELECT value FROM json_each(?)) "
        rows = self.connection.execute(
            f"SELECT query_id, title, description, narrative, fields FROM topics {some}ORDER BY topic",
            () if query_ids is None else (json_text(query_ids),),
        )
        return [Topic._make((*texts, json.loads(fields))) for *texts, fields in rows]

    @writes
    def add_topics(self, topics: Iterable[Topic], *, replace: bool = False) -> Added:
        """Add topics; an existing one with another text is replaced or raises ConflictError.

        A topic whose narrative has its fields as text, as in version 0.1.0, is the same; `replace` separates them.
        """
        existing = {topic.query_id: topic for topic in self.topic_records()}
        new = changed = same = 0
        for topic in topics:
            known = existing.get(topic.query_id)
            fields = _in_order(topic.fields)
            if known == topic or (known is not None and not replace and _has_fields_as_text(known, topic)):
                same += 1
            elif known is None:
                self.connection.execute(
                    "INSERT INTO topics (query_id, title, description, narrative, fields) VALUES (?, ?, ?, ?, ?)",
                    (*topic[:4], fields),
                )
                new += 1
            elif replace:
                self.connection.execute(
                    "UPDATE topics SET title = ?, description = ?, narrative = ?, fields = ? WHERE query_id = ?",
                    (*topic[1:4], fields, topic.query_id),
                )
                changed += 1
            else:
                raise ConflictError(
                    f"topic {topic.query_id!r} is already in the campaign with another text; use --replace"
                )
        return Added(new, changed, same)

    @writes
    def add_documents(
        self,
        documents: Iterable[Document],
        *,
        replace: bool = False,
        meanwhile: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> Added:
        """Add documents; an existing one with another text is replaced or raises ConflictError.

        A document that so far had only an id gets its text, and counts as new. `meanwhile` is entered for each addition
        to the full-text index, during which other threads run.
        """
        new = changed = same = 0
        step, waiting, size = INDEXED // 20, 0, 0
        indexed = last = self.document_rows()
        for option, value in (("hashsize", INDEX_MEMORY), ("automerge", SEGMENTS)):
            self.connection.execute("INSERT INTO documents_fts (documents_fts, rank) VALUES (?, ?)", (option, value))
        for batch in _batches(documents):
            rows = {d.doc_id: (d.doc_id, d.title, d.text, _json(d.metadata)) for d in batch}
            self.connection.executemany(
                "INSERT INTO documents (doc_id, title, text, metadata) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (doc_id) DO NOTHING",
                rows.values(),
            )
            before, last = last, self.document_rows()
            existing = self.connection.execute(
                "SELECT doc_id, title, text, metadata FROM documents "
                "WHERE doc_id IN (SELECT value FROM json_each(?)) AND doc <= ? ORDER BY doc",
                (json_text(rows if last - before < len(rows) else ()), before),
            ).fetchall()
            differ = [row for row in existing if row[2] is not None and row != rows[row[0]]]
            if differ and not replace:
                raise ConflictError(
                    f"document {differ[0][0]!r} is already in the campaign with another text; use --replace"
                )
            changed += len(differ)
            same += sum(row == rows[row[0]] for row in existing)
            new += len(rows) - sum(row[2] is not None for row in existing)
            replaced = [(*rows[row[0]][1:], row[0]) for row in existing if row != rows[row[0]]]
            waiting += len(batch)
            size += sum(len(d.text or "") for d in batch)
            if replaced or waiting >= step or size >= INDEX_MEMORY:
                with meanwhile():
                    indexed = self._index(indexed)
                step, waiting, size = min(step * 3 // 2, INDEXED), 0, 0
            # The trigger removes the earlier text from the index, which must have it.
            self.connection.executemany(
                "UPDATE documents SET title = ?, text = ?, metadata = ? WHERE doc_id = ?", replaced
            )
        self._index(indexed)
        if changed:
            self.connection.execute(
                "INSERT INTO settings (key, value) VALUES ('documents_replaced', '1') "
                "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
            )
        return Added(new, changed, same)

    def _index(self, after: int) -> int:
        """Add the documents after this key to the full-text index; return the last key."""
        self.connection.execute(
            "INSERT INTO documents_fts (rowid, title, text) "
            "SELECT doc, title, text FROM documents WHERE doc > ? AND text IS NOT NULL",
            (after,),
        )
        return self.document_rows()

    def count_replacements(self) -> int:
        """Count the times that documents were replaced, so that copies of them are known to be out of date."""
        return self.connection.count("SELECT coalesce(max(value), 0) FROM settings WHERE key = 'documents_replaced'")

    @writes
    def add_document_ids(self, doc_ids: Iterable[str]) -> int:
        """Add a row without a text for each unknown id; return the number of new rows."""
        before = self.connection.db.conn.total_changes
        self.connection.executemany("INSERT OR IGNORE INTO documents (doc_id) VALUES (?)", ((d,) for d in doc_ids))
        return self.connection.db.conn.total_changes - before

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """Return the documents with these ids; unknown ids are left out."""
        return {document.doc_id: document for document in self.iterate_documents(doc_ids)}

    def iterate_documents(self, doc_ids: Sequence[str]) -> Iterator[Document]:
        """Yield the documents with these ids, in the order of their import."""
        # The subquery yields keys, which SQLite reads in order; otherwise it would keep all texts to sort them.
        keys = "SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?))"
        return self._documents(f"doc IN ({keys})", (json_text(doc_ids),))

    def documents_with_text(self, pooled: bool) -> Iterator[Document]:
        """Yield the documents that have a text, in the order of their import; `pooled`: only those in a pool."""
        return self._documents("text IS NOT NULL" + " AND doc IN (SELECT doc FROM pool)" * pooled)

    def _documents(self, condition: str, parameters: Sequence[str] = ()) -> Iterator[Document]:
        rows = self.connection.execute(
            f"SELECT doc_id, title, text, metadata FROM documents WHERE {condition} ORDER BY doc", parameters
        )
        for doc_id, title, text, metadata in rows:
            yield Document(doc_id, title, text, json.loads(metadata))

    def find_without_text(self, doc_ids: Iterable[str]) -> set[str]:
        """Return those of the ids that have no text here."""
        wanted = set(doc_ids)
        return wanted.difference(
            self.connection.column(
                "SELECT doc_id FROM documents WHERE text IS NOT NULL "
                "AND doc_id IN (SELECT value FROM json_each(?)) ORDER BY doc",
                (json_text(wanted),),
            )
        )

    def ids(self) -> list[str]:
        """Return the ids of all documents, with or without a text, in the order of their import."""
        return self.connection.column("SELECT doc_id FROM documents ORDER BY doc")

    def ids_with_text(self) -> list[str]:
        """Return the ids of the documents that have a text, in the order of their import."""
        return self.connection.column("SELECT doc_id FROM documents WHERE text IS NOT NULL ORDER BY doc")

    def missing_documents(self) -> list[str]:
        """Return the ids of pooled documents without a text, in the order of the pool."""
        return self.connection.column(
            f"SELECT d.doc_id FROM {POOL_IF_TEXTS_MISSING} AS p JOIN documents AS d USING (doc) "
            "WHERE p.doc IN (SELECT doc FROM documents WHERE text IS NULL) "
            "GROUP BY d.doc ORDER BY min(p.topic), min(p.pool_round), min(p.position), d.doc"
        )

    def runs(self) -> pd.DataFrame:
        """Return ``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``, by name."""
        return self.connection.frame("SELECT * FROM runs ORDER BY run")

    @writes
    def add_run(self, name: str, file: str, sha256: str, topics: Mapping[str, str], rows: int, deepest: int) -> None:
        """Record an imported run in place of one of the same name; `topics` have digests of its rankings."""
        self.connection.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, file, sha256, len(topics), rows, deepest, clock.now()),
        )
        self.connection.execute("DELETE FROM run_topics WHERE run = ?", (name,))
        self.connection.executemany("INSERT INTO run_topics VALUES (?, ?, ?)", [(name, *row) for row in topics.items()])

    def costs(self) -> pd.DataFrame:
        """Return ``run`` and a column for each kind of cost, by name of the run."""
        rows = self.connection.execute("SELECT run, costs FROM run_costs ORDER BY run")
        return pd.DataFrame([{"run": run, **json.loads(costs)} for run, costs in rows] or {"run": []})

    @writes
    def add_costs(self, run: str, costs: Mapping[str, float | str]) -> None:
        """Record costs of a run; its other kinds of cost stay."""
        self.connection.execute(
            "INSERT INTO run_costs VALUES (?, ?) "
            "ON CONFLICT (run) DO UPDATE SET costs = json_patch(costs, excluded.costs)",
            (run, json.dumps(dict(costs))),
        )

    @writes
    def add_clicks(self, source: str, clicks: pd.DataFrame) -> None:
        """Replace the clicks of a source.

        ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``; one row per pair and rank.
        """
        self.add_document_ids(clicks["doc_id"])
        self.connection.execute("DELETE FROM clicks WHERE source = ?", (source,))
        self.connection.executemany(
            "INSERT INTO clicks (source, topic, doc, rank, shown, clicked) VALUES (?, "
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?, ?, ?)",
            zip(
                repeat(source),
                *(clicks[name].tolist() for name in ("query_id", "doc_id", "rank", "shown", "clicked")),
                strict=False,
            ),
        )

    def clicks(self) -> pd.DataFrame:
        """Return ``source``, ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``, by topic, source, document."""
        return self.connection.frame(
            "SELECT c.source, t.query_id, d.doc_id, c.rank, c.shown, c.clicked FROM clicks AS c "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) ORDER BY c.topic, c.source, c.doc, c.rank"
        )

    def click_sources(self) -> pd.DataFrame:
        """Return ``source`` and ``rows`` (its number of rows in :meth:`clicks`), by name."""
        return self.connection.frame("SELECT source, count(*) AS rows FROM clicks GROUP BY source ORDER BY source")

    def digest_rankings(self, query_ids: Collection[str], without: Collection[str] = ()) -> dict[str, str]:
        """Return a digest of the rankings of each topic in all runs, or in those that are not in `without`."""
        rows = self.connection.execute(
            "SELECT query_id, run, digest FROM run_topics WHERE query_id IN (SELECT value FROM json_each(:topics)) "
            "AND run NOT IN (SELECT value FROM json_each(:without)) ORDER BY run, query_id",
            {"topics": json_text(query_ids), "without": json_text(without)},
        )
        rankings: dict[str, list[str]] = {query_id: [] for query_id in query_ids}
        for query_id, run, digest in rows:
            rankings[query_id].append(f"{run} {digest}")
        return {
            query_id: hashlib.blake2b(json_text(digests).encode(), digest_size=8).hexdigest()
            for query_id, digests in rankings.items()
        }

    def runs_signature(self) -> str:
        """Return a text that changes with the runs."""
        return str(
            self.connection.value("SELECT group_concat(run || sha256) FROM (SELECT run, sha256 FROM runs ORDER BY run)")
        )

    def document_rows(self) -> int:
        """Return the number of rows of the matrix of all documents, which includes documents without text."""
        return self.connection.count("SELECT coalesce(max(doc), 0) FROM documents")

    def texts(self) -> Iterator[tuple[str, str | None]]:
        """Yield each document's id, and its title and text as one text (None without a text), in order of the keys."""
        cursor = self.connection.execute("SELECT doc_id, title, text FROM documents ORDER BY doc")
        for doc_id, title, text in cursor:
            yield doc_id, None if text is None else f"{title} {text}"

    def without_text_rows(self) -> list[int]:
        """Return the matrix rows of the documents that have no text, ascending."""
        return self.connection.column("SELECT doc - 1 FROM documents WHERE text IS NULL ORDER BY doc")

    def rows_of(self, doc_ids: Iterable[str]) -> dict[str, int]:
        """Return the matrix row of each known document id."""
        return self._look_up("d.doc - 1", doc_ids)

    def doc_keys(self, doc_ids: Iterable[str]) -> dict[str, int]:
        """Return the key of each known document id."""
        return self._look_up("d.doc", doc_ids)

    def keys_in(self, ids: Sequence[pa.Array]) -> list[npt.NDArray[np.int32]]:
        """Return the keys of documents in several arrays of many ids, 0 for unknown ones."""
        return columns.doc_keys(self.connection, ids)

    def names(self, keys: npt.NDArray[np.integer]) -> pd.Series[str]:
        """Return the id of each document, given many keys."""
        return columns.doc_ids(self.connection, pd.Series(keys))

    def places(self, keys: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        """Return a number for each document that sorts them by id, given many keys."""
        return columns.doc_places(self.connection, keys)

    def titles(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """Return the title of each known document id, without reading texts."""
        return self._look_up("d.title", doc_ids)

    def _look_up(self, column: str, doc_ids: Iterable[str]) -> dict[str, Any]:
        return self.connection.mapping(
            f"SELECT d.doc_id, {column} FROM json_each(?) AS o CROSS JOIN documents AS d ON d.doc_id = o.value "
            "ORDER BY o.key",
            (json_text(doc_ids),),
        )

    def doc_ids(self, rows: Sequence[int]) -> list[str]:
        """Return the document ids at these matrix rows, in the same order."""
        return self.connection.column(
            "SELECT d.doc_id FROM json_each(?) AS o CROSS JOIN documents AS d ON d.doc = o.value + 1 ORDER BY o.key",
            (json_text(map(int, rows)),),
        )

    def search(self, words: str, count: int, *, ranked: bool = True) -> Matches:
        """Search documents by words: id, title and a snippet with marks around the words, best first (BM25).

        `words` is a query of FTS5: "a phrase", prefix*, NOT, OR. The marks are the characters U+0002 and U+0003, which
        no text contains. Only the first :data:`RANKED` documents that match, in the order of import, are ranked; if
        `ranked` is False, the first `count` are returned in that order.
        """
        match = "FROM documents_fts WHERE documents_fts MATCH ?"
        score, most = ("bm25(documents_fts, 2.0, 1.0)", RANKED) if ranked else ("0", count)
        try:
            scores = self.connection.execute(f"SELECT {score}, rowid {match} LIMIT ?", (words, most)).fetchall()
            rows = [row for _, row in nsmallest(count, scores)]
            # The plus sign keeps FTS5 from a search of its own for each row.
            snippets = self.connection.mapping(
                f"SELECT rowid, snippet(documents_fts, -1, char(2), char(3), ' … ', 24) {match} "
                "AND +rowid IN (SELECT value FROM json_each(?)) LIMIT ?",
                (words, json_text(rows), len(rows)),
            )
        except sqlite3.OperationalError as error:
            raise InputError(f'search: expected words, "a phrase", prefix* or NOT, found {words!r} ({error})') from None
        titles = self.connection.execute(
            "SELECT doc, doc_id, title FROM json_each(?) AS o CROSS JOIN documents ON doc = o.value ORDER BY o.key",
            (json_text(rows),),
        )
        documents = [(doc_id, title, snippets[doc]) for doc, doc_id, title in titles]
        return Matches(documents, (RANKED if len(scores) == RANKED else None) if ranked else 0)

    def is_common(self, word: str) -> bool:
        """Tell whether at least :data:`COMMON` documents have a word, a query of FTS5."""
        some = "SELECT count(*) FROM (SELECT 1 FROM documents_fts WHERE documents_fts MATCH ? LIMIT ?)"
        return self.connection.count(some, (word, COMMON)) == COMMON

    def is_common_prefix(self, prefix: str) -> bool:
        """Tell whether a prefix, in lower case and without accents, is that of :data:`COMMON_PREFIX` words or more."""
        self.connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, documents_fts, row)"
        )
        words = self.connection.execute(
            "SELECT doc FROM vocabulary WHERE term >= ? AND term < ?", (prefix, prefix + chr(0x10FFFF))
        )
        return any(total >= COMMON_PREFIX for total in accumulate(number for (number,) in words))

    def scan(self, groups: Sequence[Sequence[str]], unwanted: Sequence[str], count: int) -> list[tuple[str, str, str]]:
        """Search strings in all documents, most occurrences first: id, title and text.

        A document matches if it has a string of each group and no unwanted one. For scripts without blanks between
        words, of which the full-text index has only the beginnings of sentences. Reads about 100,000 documents per
        second.
        """
        words = [word.lower() for group in groups for word in group]
        content = "lower(title || char(10) || text)"
        some = " AND ".join("(" + " OR ".join([f"instr({content}, ?)"] * len(group)) + ")" for group in groups)
        none = "".join(f" AND NOT instr({content}, ?)" for _ in unwanted)
        times = " + ".join([f"(length({content}) - length(replace({content}, ?, ''))) / ?"] * len(words))
        return self.connection.execute(
            f"SELECT doc_id, title, text FROM documents WHERE text IS NOT NULL AND {some}{none} "
            f"ORDER BY 1.0 * ({times}) / (1000 + length(text)) DESC, doc LIMIT ?",
            [*words, *(word.lower() for word in unwanted), *(x for word in words for x in (word, len(word))), count],
        ).fetchall()

    def topic_words(self, query_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return ``query_id``, ``title``, ``description``, ``narrative``, ``note`` of these topics, by id.

        ``fields`` has their other fields as JSON.
        """
        names = ("query_id", "title", "description", "narrative", "note", "fields")
        rows = self.connection.execute(
            f"SELECT {', '.join('t.' + name for name in names)} FROM json_each(?) AS o "
            "JOIN topics AS t ON t.query_id = o.value ORDER BY o.key",
            (json_text(query_ids),),
        )
        return {row[0]: dict(zip(names, row, strict=True)) for row in rows}

    def judgements_on(self, query_id: str, annotator: str) -> dict[str, tuple[Kind, int | None, str | None]]:
        """Return an annotator's current judgements of a topic, newest first: document id -> kind, grade, reason."""
        rows = self.connection.execute(
            "SELECT d.doc_id, j.kind, j.relevance, j.reason FROM latest_judgements AS l "
            "CROSS JOIN judgements AS j ON j.id = l.judgement CROSS JOIN documents AS d ON d.doc = l.doc "
            "WHERE +l.annotator = ? AND l.topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND l.counts_as = 'judgement' AND NOT l.undone ORDER BY l.judgement DESC",
            (annotator, query_id),
        )
        return {doc_id: tuple(judgement) for doc_id, *judgement in rows}

    def topic_notes(self) -> dict[str, str]:
        """Return the manager's note of each topic that has one."""
        return self.connection.mapping("SELECT query_id, note FROM topics WHERE note <> '' ORDER BY topic")

    @writes
    def set_topic_note(self, query_id: str, note: str) -> None:
        """Set the note of a topic."""
        self.connection.execute("UPDATE topics SET note = ? WHERE query_id = ?", (note, query_id))

    def find_held_back(self, doc_ids: Sequence[str]) -> set[str]:
        """Return which of these documents cannot be judged yet; see :func:`.is_held_back`."""
        if not self.connection.exists("SELECT EXISTS (SELECT 1 FROM documents WHERE text IS NULL)"):
            return set()
        return set(
            self.connection.column(
                "SELECT d.doc_id FROM documents AS d WHERE d.doc_id IN (SELECT value FROM json_each(?)) "
                f"AND {is_held_back('d.doc')} ORDER BY d.doc",
                (json_text(doc_ids),),
            )
        )
