"""Topics, documents, runs, costs and click logs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from collection import clock
from collection.errors import ConflictError, InputError
from collection.records import (
    Document,
    Topic,
)
from collection.store.connection import Connection, held_back, writes

T = TypeVar("T")


BATCH = 500
"""Rows or variables in one statement; SQLite's limit of variables is 999 in its older builds."""


class Added(NamedTuple):
    """What an import did: rows that were new, that changed, and that were there already."""

    new: int = 0
    changed: int = 0
    same: int = 0


def _json(metadata: Mapping[str, Any]) -> str:
    """Metadata as text; the order of its keys says nothing, so it makes no difference."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, allow_nan=False)


def _marks(values: Iterable[Any]) -> str:
    return ",".join("?" for _ in values)


def _batches(values: Iterable[T]) -> Iterator[tuple[T, ...]]:
    # itertools.batched comes with Python 3.12.
    iterator = iter(values)
    while batch := tuple(islice(iterator, BATCH)):
        yield batch


@dataclass(eq=False)
class CorpusTables:
    """Topics, documents, runs, costs and click logs."""

    connection: Connection

    def topics(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``description``, ``narrative``, in the order of their import."""
        return self.connection.frame("SELECT query_id, title, description, narrative FROM topics ORDER BY topic")

    @writes
    def add_topics(self, topics: Iterable[Topic], *, replace: bool = False) -> Added:
        """Add topics; one that is there with other words is an error, or replaced."""
        there = {row[0]: Topic._make(row) for row in self.topics().itertuples(index=False)}
        new = changed = same = 0
        for topic in topics:
            known = there.get(topic.query_id)
            if known == topic:
                same += 1
            elif known is None:
                self.connection.db.conn.execute(
                    "INSERT INTO topics (query_id, title, description, narrative) VALUES (?, ?, ?, ?)", topic
                )
                new += 1
            elif replace:
                self.connection.db.conn.execute(
                    "UPDATE topics SET title = ?, description = ?, narrative = ? WHERE query_id = ?",
                    (*topic[1:], topic.query_id),
                )
                changed += 1
            else:
                raise ConflictError(
                    f"topic {topic.query_id!r} is in the campaign already with other words; --replace takes the new"
                )
        return Added(new, changed, same)

    @writes
    def add_documents(self, documents: Iterable[Document], *, replace: bool = False) -> Added:
        """Add documents, a batch at a time; one that is there with another text is an error, or replaced.

        A document of which only the id was known gets its text, and counts as new.
        """
        new = changed = same = 0
        for batch in _batches(documents):
            rows = {d.doc_id: (d.title, d.text, _json(d.metadata)) for d in batch}
            there = {
                doc_id: tuple(rest)
                for doc_id, *rest in self.connection.db.conn.execute(
                    f"SELECT doc_id, title, text, metadata FROM documents WHERE doc_id IN ({_marks(rows)}) "
                    "ORDER BY doc",
                    list(rows),
                )
            }
            differ = [d for d, row in there.items() if row[1] is not None and row != rows[d]]
            if differ and not replace:
                raise ConflictError(
                    f"document {differ[0]!r} is in the campaign already with another text; --replace takes the new one"
                )
            changed += len(differ)
            same += sum(row == rows[d] for d, row in there.items())
            new += sum(d not in there or there[d][1] is None for d in rows)
            self.connection.db.conn.executemany(
                "INSERT INTO documents (doc_id, title, text, metadata) VALUES (?, ?, ?, ?) ON CONFLICT (doc_id) "
                "DO UPDATE SET title = excluded.title, text = excluded.text, metadata = excluded.metadata",
                [(d, *row) for d, row in rows.items() if there.get(d) != row],
            )
        return Added(new, changed, same)

    @writes
    def add_document_ids(self, doc_ids: Iterable[str]) -> int:
        """Make a row for every id that has none yet, without a text; the number of new rows."""
        before = self.connection.db.conn.total_changes
        self.connection.db.conn.executemany(
            "INSERT OR IGNORE INTO documents (doc_id) VALUES (?)", ((d,) for d in doc_ids)
        )
        return self.connection.db.conn.total_changes - before

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids; unknown ids are not in the result."""
        return {document.doc_id: document for document in self.iterate_documents(doc_ids)}

    def iterate_documents(self, doc_ids: Sequence[str]) -> Iterator[Document]:
        """The documents with these ids, of which only a batch is in memory."""
        for batch in _batches(doc_ids):
            rows = self.connection.db.conn.execute(
                f"SELECT doc_id, title, text, metadata FROM documents WHERE doc_id IN ({_marks(batch)}) ORDER BY doc",
                batch,
            )
            for doc_id, title, text, metadata in rows:
                yield Document(doc_id, title, text, json.loads(metadata))

    def without_text(self, doc_ids: Iterable[str]) -> set[str]:
        """Which of these ids have no text here."""
        wanted = set(doc_ids)
        for batch in _batches(sorted(wanted)):
            rows = self.connection.db.conn.execute(
                f"SELECT doc_id FROM documents WHERE text IS NOT NULL AND doc_id IN ({_marks(batch)}) ORDER BY doc",
                batch,
            )
            wanted.difference_update(r[0] for r in rows)
        return wanted

    def missing_documents(self) -> list[str]:
        """Ids in the pool whose text is not here, in the order of the pool."""
        return self.connection.frame(
            "SELECT d.doc_id FROM pool AS p JOIN documents AS d USING (doc) WHERE d.text IS NULL "
            "GROUP BY d.doc ORDER BY min(p.topic), min(p.pool_round), min(p.position), d.doc"
        )["doc_id"].tolist()

    def runs(self) -> pd.DataFrame:
        """``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``; by name."""
        return self.connection.frame("SELECT * FROM runs ORDER BY run")

    @writes
    def add_run(self, name: str, file: str, sha256: str, topics: int, rows: int, deepest: int) -> None:
        """Record an imported run; one of the same name is replaced."""
        self.connection.db.conn.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, file, sha256, topics, rows, deepest, clock.now()),
        )

    def costs(self) -> pd.DataFrame:
        """``run`` and a column for everything that is known of any run's costs; by name of the run."""
        rows = self.connection.db.conn.execute("SELECT run, costs FROM run_costs ORDER BY run")
        return pd.DataFrame([{"run": run, **json.loads(costs)} for run, costs in rows] or {"run": []})

    @writes
    def add_costs(self, run: str, costs: Mapping[str, float | str]) -> None:
        """Record what a run costs; what was known before under other names stays."""
        self.connection.db.conn.execute(
            "INSERT INTO run_costs VALUES (?, ?) "
            "ON CONFLICT (run) DO UPDATE SET costs = json_patch(costs, excluded.costs)",
            (run, json.dumps(dict(costs))),
        )

    @writes
    def add_clicks(self, source: str, clicks: pd.DataFrame) -> None:
        """Keep what a log of clicks says in place of what the same source said before.

        ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``; one row per pair and rank.
        """
        self.add_document_ids(clicks["doc_id"])
        self.connection.db.conn.execute("DELETE FROM clicks WHERE source = ?", (source,))
        self.connection.db.conn.executemany(
            "INSERT INTO clicks (source, topic, doc, rank, shown, clicked) VALUES (?, "
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?, ?, ?)",
            (
                (source, query_id, doc_id, int(rank), int(shown), int(clicked))
                for query_id, doc_id, rank, shown, clicked in clicks[
                    ["query_id", "doc_id", "rank", "shown", "clicked"]
                ].itertuples(index=False)
            ),
        )

    def clicks(self) -> pd.DataFrame:
        """``source``, ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``; by topic, source, document."""
        return self.connection.frame(
            "SELECT c.source, t.query_id, d.doc_id, c.rank, c.shown, c.clicked FROM clicks AS c "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) ORDER BY c.topic, c.source, c.doc, c.rank"
        )

    def click_sources(self) -> pd.DataFrame:
        """``source``, ``rows``: how many rows :meth:`clicks` has of each log; by name."""
        return self.connection.frame("SELECT source, count(*) AS rows FROM clicks GROUP BY source ORDER BY source")

    def runs_signature(self) -> str:
        """Differs where the runs differ."""
        return str(
            self.connection.value("SELECT group_concat(run || sha256) FROM (SELECT run, sha256 FROM runs ORDER BY run)")
        )

    def document_rows(self) -> int:
        """How many rows a matrix of all documents has, those without a text among them."""
        return int(self.connection.value("SELECT coalesce(max(doc), 0) FROM documents"))

    def texts(self) -> Iterator[tuple[str, str | None]]:
        """Every document's id, and its title and text as one text (None without a text), in order of the keys."""
        cursor = self.connection.db.conn.execute("SELECT doc_id, title, text FROM documents ORDER BY doc")
        for doc_id, title, text in cursor:
            yield doc_id, None if text is None else f"{title} {text}"

    def without_text_rows(self) -> list[int]:
        """Matrix rows of the documents that have no text, ascending."""
        return [
            row
            for (row,) in self.connection.db.conn.execute(
                "SELECT doc - 1 FROM documents WHERE text IS NULL ORDER BY doc"
            )
        ]

    def rows_of(self, doc_ids: Iterable[str]) -> dict[str, int]:
        """The matrix row of each document id that is known."""
        found: dict[str, int] = {}
        wanted = list(doc_ids)
        for at in range(0, len(wanted), BATCH):
            batch = wanted[at : at + BATCH]
            marks = ",".join("?" * len(batch))
            found.update(
                self.connection.db.conn.execute(
                    f"SELECT doc_id, doc - 1 FROM documents WHERE doc_id IN ({marks}) ORDER BY doc", batch
                ).fetchall()
            )
        return found

    def doc_ids(self, rows: Sequence[int]) -> list[str]:
        """The document ids at these matrix rows, in the same order."""
        found: dict[int, str] = {}
        for at in range(0, len(rows), BATCH):
            batch = [int(row) + 1 for row in rows[at : at + BATCH]]
            marks = ",".join("?" * len(batch))
            found.update(
                self.connection.db.conn.execute(
                    f"SELECT doc - 1, doc_id FROM documents WHERE doc IN ({marks}) ORDER BY doc", batch
                ).fetchall()
            )
        return [found[int(row)] for row in rows]

    def search(self, words: str, count: int) -> list[tuple[str, str, str]]:
        """Documents by the words in them, best first (BM25): id, title and a snippet with marks around the words.

        `words` is FTS5's own query language: "a phrase", prefix*, NOT, OR. The marks are the characters U+0002 and
        U+0003, which no text carries.
        """
        try:
            return self.connection.db.conn.execute(
                "SELECT d.doc_id, d.title, snippet(documents_fts, -1, char(2), char(3), ' … ', 24) "
                "FROM documents_fts JOIN documents AS d ON d.doc = documents_fts.rowid "
                "WHERE documents_fts MATCH ? ORDER BY bm25(documents_fts, 2.0, 1.0), documents_fts.rowid LIMIT ?",
                (words, count),
            ).fetchall()
        except sqlite3.OperationalError as error:
            raise InputError(
                f'the search {words!r} cannot be read ({error}); words, "a phrase", prefix* and NOT work'
            ) from None

    def scan(self, groups: Sequence[Sequence[str]], unwanted: Sequence[str], count: int) -> list[tuple[str, str, str]]:
        """Documents in which of each group some string occurs, and none of the unwanted ones, most occurrences first.

        For scripts without blanks between words, of which the full-text index knows no more than the beginnings of
        sentences. It reads every document: a second for some hundred thousand. Id, title and text.
        """
        words = [word.lower() for group in groups for word in group]
        said = "lower(title || char(10) || text)"
        some = " AND ".join("(" + " OR ".join([f"instr({said}, ?)"] * len(group)) + ")" for group in groups)
        none = "".join(f" AND NOT instr({said}, ?)" for _ in unwanted)
        times = " + ".join([f"(length({said}) - length(replace({said}, ?, ''))) / ?"] * len(words))
        return self.connection.db.conn.execute(
            f"SELECT doc_id, title, text FROM documents WHERE text IS NOT NULL AND {some}{none} "
            f"ORDER BY 1.0 * ({times}) / (1000 + length(text)) DESC, doc LIMIT ?",
            [*words, *(word.lower() for word in unwanted), *(x for word in words for x in (word, len(word))), count],
        ).fetchall()

    def doc_keys(self, doc_ids: Sequence[str]) -> dict[str, int]:
        """The key of each document id that is known."""
        rows = self.connection.db.conn.execute(
            "SELECT d.doc_id, d.doc FROM json_each(?) AS o JOIN documents AS d ON d.doc_id = o.value ORDER BY o.key",
            (json.dumps(list(doc_ids)),),
        )
        return dict(rows.fetchall())

    def titles(self, doc_ids: Sequence[str]) -> dict[str, str]:
        """The title of each document id that is known; texts are not read."""
        rows = self.connection.db.conn.execute(
            "SELECT d.doc_id, d.title FROM json_each(?) AS o JOIN documents AS d ON d.doc_id = o.value ORDER BY o.key",
            (json.dumps(list(doc_ids)),),
        )
        return dict(rows.fetchall())

    def topic_words(self, query_ids: Sequence[str]) -> dict[str, dict[str, str]]:
        """``query_id``, ``title``, ``description``, ``narrative``, ``note`` of these topics, by id."""
        names = ("query_id", "title", "description", "narrative", "note")
        rows = self.connection.db.conn.execute(
            f"SELECT {', '.join('t.' + name for name in names)} FROM json_each(?) AS o "
            "JOIN topics AS t ON t.query_id = o.value ORDER BY o.key",
            (json.dumps(list(query_ids)),),
        )
        return {row[0]: dict(zip(names, row, strict=True)) for row in rows}

    def documents_with_text(self, pooled: bool) -> Iterator[Document]:
        """Every document that has a text, in the order of their import; `pooled`: of those in a pool."""
        among = "AND doc IN (SELECT doc FROM pool)" if pooled else ""
        rows = self.connection.db.conn.execute(
            f"SELECT doc_id, title, text, metadata FROM documents WHERE text IS NOT NULL {among} ORDER BY doc"
        )
        for doc_id, title, text, metadata in rows:
            yield Document(doc_id, title, text, json.loads(metadata))

    def words_on(self, query_id: str, annotator: str) -> dict[str, tuple[str, int | None, str | None]]:
        """What the annotator says of each document of a topic: document id -> kind, grade, reason; newest first."""
        rows = self.connection.db.conn.execute(
            "SELECT d.doc_id, j.kind, j.relevance, j.reason FROM last_words AS l "
            "CROSS JOIN judgements AS j ON j.id = l.judgement CROSS JOIN documents AS d ON d.doc = l.doc "
            "WHERE +l.annotator = ? AND l.topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND l.counts_as = 'judgement' AND NOT l.open ORDER BY l.judgement DESC",
            (annotator, query_id),
        )
        return {doc_id: (kind, relevance, reason) for doc_id, kind, relevance, reason in rows}

    def topic_notes(self) -> dict[str, str]:
        """``query_id`` -> the manager's note, of the topics that have one."""
        return dict(
            self.connection.db.conn.execute(
                "SELECT query_id, note FROM topics WHERE note <> '' ORDER BY topic"
            ).fetchall()
        )

    @writes
    def set_topic_note(self, query_id: str, note: str) -> None:
        """Write a topic's note."""
        self.connection.db.conn.execute("UPDATE topics SET note = ? WHERE query_id = ?", (note, query_id))

    def held_back(self, doc_ids: Sequence[str]) -> set[str]:
        """Which of these documents cannot be judged yet; see :func:`collection.store.connection.held_back`."""
        rows = self.connection.db.conn.execute(
            "SELECT d.doc_id FROM documents AS d WHERE d.doc_id IN (SELECT value FROM json_each(?)) "
            f"AND {held_back('d.doc')} ORDER BY d.doc",
            (json.dumps(list(doc_ids)),),
        )
        return {doc_id for (doc_id,) in rows}
