"""The only SQL: a campaign's database, rows in and frames out.

A Store belongs to the thread that opened it. Whoever has several threads opens one in each; SQLite
keeps them apart. Writes happen inside :meth:`Store.transaction`, which is durable when it returns
(WAL, synchronous=FULL) and leaves nothing behind when it raises.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd
from sqlite_utils import Database

from collection.errors import BusyError, CampaignError, ConflictError
from collection.records import Document, Judgement, Topic
from collection.schema import migrations

T = TypeVar("T")

BATCH = 500
"""Rows or variables in one statement; SQLite's limit of variables is 999 in its older builds."""

BUSY_SECONDS = 15.0
"""How long a writer waits for another one; a large import holds the lock for seconds. Shorter than the
judging card waits for an answer: it is told that the campaign is busy, keeps its judgements, and tries again."""


class Added(NamedTuple):
    """What an import did: rows that were new, that changed, and that were there already."""

    new: int = 0
    changed: int = 0
    same: int = 0


class Pair(NamedTuple):
    """What the store knows of a pair, for one annotator."""

    topic: int
    doc: int
    strategy: str | None
    pool_rank: int | None
    probability: float | None
    leased: bool
    known: bool
    """Whether the annotator ever judged it, taken back or not."""
    judgement: int | None
    """Id of the annotator's current judgement, None where they have none."""


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store:
    """A campaign's database.

    Parameters
    ----------
    path
        The SQLite file, or ``":memory:"``.
    create
        Make it if it is not there. Without this a missing file is an error.

    Examples
    --------
    >>> with Store(":memory:", create=True) as store:
    ...     with store.transaction():
    ...         store.add_topics([Topic("1", "wing flow")])
    ...     store.topics()["title"].tolist()
    Added(new=1, changed=0, same=0)
    ['wing flow']
    """

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        if not create and not Path(path).is_file():
            raise CampaignError(f"there is no campaign database at {path}")
        try:
            connection = sqlite3.connect(str(path), timeout=BUSY_SECONDS, isolation_level=None)
            self.db = Database(connection)
            self.db.execute("PRAGMA journal_mode = WAL")
            self.db.execute("PRAGMA synchronous = FULL")
            self.db.execute("PRAGMA foreign_keys = ON")
            if migrations.pending(self.db):
                if self.db.table_names() and not migrations.applied(self.db):
                    raise CampaignError(f"{path} is a database, but not of a campaign")
                migrations.apply(self.db)
        except sqlite3.DatabaseError as error:
            raise CampaignError(f"{path} cannot be opened as a campaign database: {error}") from error

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the store is of no use afterwards."""
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on return it is on disk.

        IMMEDIATE, because a transaction that reads first and writes later can be refused by SQLite at
        once, without waiting, when another writer came in between.
        """
        try:
            self.db.conn.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise BusyError(
                f"the campaign is busy with another writer, perhaps an import ({error}); try again"
            ) from error
        try:
            yield
        except BaseException:
            self.db.conn.rollback()
            raise
        self.db.conn.commit()

    def _frame(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        cursor = self.db.conn.execute(sql, parameters)
        return pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])

    def _value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        row = self.db.conn.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    # --- settings ---------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """All settings."""
        rows = self.db.conn.execute("SELECT key, value FROM settings ORDER BY key")
        return {key: json.loads(value) for key, value in rows}

    def put(self, key: str, value: Any) -> None:
        """Set one setting; `value` is anything that JSON can write."""
        self.db.conn.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, json.dumps(value)),
        )

    # --- topics and documents ---------------------------------------------------------------------

    def topics(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``description``, ``narrative``, in the order of their import."""
        return self._frame("SELECT query_id, title, description, narrative FROM topics ORDER BY topic")

    def add_topics(self, topics: Iterable[Topic], *, replace: bool = False) -> Added:
        """Add topics; one that is there with other words is an error, or replaced."""
        there = {row[0]: Topic._make(row) for row in self.topics().itertuples(index=False)}
        new = changed = same = 0
        for topic in topics:
            known = there.get(topic.query_id)
            if known == topic:
                same += 1
            elif known is None:
                self.db.conn.execute(
                    "INSERT INTO topics (query_id, title, description, narrative) VALUES (?, ?, ?, ?)", topic
                )
                new += 1
            elif replace:
                self.db.conn.execute(
                    "UPDATE topics SET title = ?, description = ?, narrative = ? WHERE query_id = ?",
                    (*topic[1:], topic.query_id),
                )
                changed += 1
            else:
                raise ConflictError(
                    f"topic {topic.query_id!r} is in the campaign already with other words; --replace takes the new"
                )
        return Added(new, changed, same)

    def add_documents(self, documents: Iterable[Document], *, replace: bool = False) -> Added:
        """Add documents, a batch at a time; one that is there with another text is an error, or replaced.

        A document of which only the id was known gets its text, and counts as new.
        """
        new = changed = same = 0
        for batch in _batches(documents):
            rows = {d.doc_id: (d.title, d.text, _json(d.metadata)) for d in batch}
            there = {
                doc_id: tuple(rest)
                for doc_id, *rest in self.db.conn.execute(
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
            self.db.conn.executemany(
                "INSERT INTO documents (doc_id, title, text, metadata) VALUES (?, ?, ?, ?) ON CONFLICT (doc_id) "
                "DO UPDATE SET title = excluded.title, text = excluded.text, metadata = excluded.metadata",
                [(d, *row) for d, row in rows.items() if there.get(d) != row],
            )
        return Added(new, changed, same)

    def add_document_ids(self, doc_ids: Iterable[str]) -> int:
        """Make a row for every id that has none yet, without a text; the number of new rows."""
        before = self.db.conn.total_changes
        self.db.conn.executemany("INSERT OR IGNORE INTO documents (doc_id) VALUES (?)", ((d,) for d in doc_ids))
        return self.db.conn.total_changes - before

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids; ids that nobody knows are not in the result."""
        found: dict[str, Document] = {}
        for batch in _batches(doc_ids):
            rows = self.db.conn.execute(
                f"SELECT doc_id, title, text, metadata FROM documents WHERE doc_id IN ({_marks(batch)}) ORDER BY doc",
                batch,
            )
            for doc_id, title, text, metadata in rows:
                found[doc_id] = Document(doc_id, title, text, json.loads(metadata))
        return found

    def without_text(self, doc_ids: Iterable[str]) -> set[str]:
        """Which of these ids have no text here."""
        wanted = set(doc_ids)
        for batch in _batches(sorted(wanted)):
            rows = self.db.conn.execute(
                f"SELECT doc_id FROM documents WHERE text IS NOT NULL AND doc_id IN ({_marks(batch)}) ORDER BY doc",
                batch,
            )
            wanted.difference_update(r[0] for r in rows)
        return wanted

    def missing_documents(self) -> list[str]:
        """Ids in the pool whose text is not here, in the order of the pool."""
        return self._frame(
            "SELECT d.doc_id FROM pool AS p JOIN documents AS d USING (doc) WHERE d.text IS NULL "
            "GROUP BY d.doc ORDER BY min(p.topic), min(p.pool_round), min(p.position), d.doc"
        )["doc_id"].tolist()

    # --- runs and the pool ------------------------------------------------------------------------

    def runs(self) -> pd.DataFrame:
        """``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``; by name."""
        return self._frame("SELECT * FROM runs ORDER BY run")

    def add_run(self, name: str, file: str, sha256: str, topics: int, rows: int, deepest: int) -> None:
        """Record an imported run; one of the same name is replaced."""
        self.db.conn.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, file, sha256, topics, rows, deepest, now()),
        )

    def pool(self) -> pd.DataFrame:
        """``query_id``, ``doc_id``, ``strategy``, ``rank``, in the order of topics and of the pool in each."""
        return self._frame(
            "SELECT t.query_id, d.doc_id, r.strategy, p.rank FROM pool AS p JOIN topics AS t USING (topic) "
            "JOIN documents AS d USING (doc) JOIN pool_rounds AS r USING (pool_round) "
            "ORDER BY p.topic, p.pool_round, p.position"
        )

    def pool_rounds(self) -> pd.DataFrame:
        """``pool_round``, ``strategy``, ``parameters``, ``runs`` (JSON), ``pairs``, ``made_at``; oldest first."""
        return self._frame("SELECT * FROM pool_rounds ORDER BY pool_round")

    def add_pool(self, pairs: pd.DataFrame, strategy: str, parameters: Mapping[str, Any], runs: Sequence[str]) -> None:
        """Add pairs that are not in the pool yet, as one round, in the frame's order within each topic."""
        if not len(pairs):
            return
        cursor = self.db.conn.execute(
            "INSERT INTO pool_rounds (strategy, parameters, runs, pairs, made_at) VALUES (?, ?, ?, ?, ?)",
            (strategy, json.dumps(dict(parameters)), json.dumps(list(runs)), len(pairs), now()),
        )
        self.add_document_ids(pairs["doc_id"])
        probability = (
            pairs["probability"] if "probability" in pairs else pd.Series(None, index=pairs.index, dtype=object)
        )
        position = pairs.groupby("query_id", sort=False).cumcount()
        self.db.conn.executemany(
            "INSERT INTO pool (topic, pool_round, position, doc, rank, probability) VALUES ("
            "(SELECT topic FROM topics WHERE query_id = ?), ?, ?, (SELECT doc FROM documents WHERE doc_id = ?), ?, ?)",
            (
                (query_id, cursor.lastrowid, int(place), doc_id, int(rank), chance)
                for query_id, doc_id, rank, place, chance in zip(
                    pairs["query_id"], pairs["doc_id"], pairs["rank"], position, probability, strict=True
                )
            ),
        )

    # --- assignment -------------------------------------------------------------------------------

    def candidates(self, query_id: str, annotator: str, at: float) -> pd.DataFrame:
        """The pool of one topic as the assignment wants it; `at` is the time now, seconds since 1970."""
        return self._frame(
            """
            SELECT d.doc_id, p.rank, d.text IS NOT NULL AS has_text,
                   EXISTS (SELECT 1 FROM last_words AS w WHERE w.topic = p.topic AND w.doc = p.doc
                           AND w.annotator = :annotator AND NOT w.open) AS mine,
                   (SELECT count(*) FROM last_words AS w WHERE w.topic = p.topic AND w.doc = p.doc
                           AND w.annotator <> :annotator AND NOT w.open) AS others,
                   (SELECT count(*) FROM leases AS l WHERE l.topic = p.topic AND l.doc = p.doc
                           AND l.annotator <> :annotator AND l.until > :at
                           AND NOT EXISTS (SELECT 1 FROM last_words AS w WHERE w.topic = l.topic AND w.doc = l.doc
                                           AND w.annotator = l.annotator AND NOT w.open)) AS leased,
                   (SELECT max(skipped_at) FROM skips AS s WHERE s.topic = p.topic AND s.doc = p.doc
                           AND s.annotator = :annotator) AS skipped
            FROM pool AS p JOIN topics AS t USING (topic) JOIN documents AS d USING (doc)
            WHERE t.query_id = :query_id ORDER BY p.pool_round, p.position
            """,
            {"annotator": annotator, "query_id": query_id, "at": at},  # type: ignore[arg-type]
        )

    def lease(self, query_id: str, doc_ids: Iterable[str], annotator: str, until: float) -> None:
        """Reserve pairs for an annotator until a time; a lease that they hold already is prolonged."""
        self.db.conn.executemany(
            "INSERT OR REPLACE INTO leases SELECT topic, doc, ?, ? FROM topics, documents "
            "WHERE query_id = ? AND doc_id = ?",
            [(annotator, until, query_id, doc_id) for doc_id in doc_ids],
        )

    def skip(self, query_id: str, doc_id: str, annotator: str, at: float) -> None:
        """Note that an annotator put a pair off."""
        self.db.conn.execute(
            "INSERT OR IGNORE INTO skips SELECT topic, doc, ?, ? FROM topics, documents "
            "WHERE query_id = ? AND doc_id = ?",
            (annotator, at, query_id, doc_id),
        )

    # --- judgements -------------------------------------------------------------------------------

    def pair(self, query_id: str, doc_id: str, annotator: str) -> Pair | None:
        """What is known of a pair; None if the topic or the document is not in the campaign."""
        row = self.db.conn.execute(
            """
            SELECT t.topic, d.doc, r.strategy, p.rank, p.probability,
                   EXISTS (SELECT 1 FROM leases AS l WHERE l.topic = t.topic AND l.doc = d.doc AND l.annotator = ?),
                   w.judgement IS NOT NULL, CASE WHEN NOT w.open THEN w.judgement END
            FROM topics AS t, documents AS d
            LEFT JOIN last_words AS w ON w.topic = t.topic AND w.doc = d.doc AND w.annotator = ?
            LEFT JOIN pool AS p ON p.topic = t.topic AND p.doc = d.doc
            LEFT JOIN pool_rounds AS r ON r.pool_round = p.pool_round
            WHERE t.query_id = ? AND d.doc_id = ?
            """,
            (annotator, annotator, query_id, doc_id),
        ).fetchone()
        if row is None:
            return None
        topic, doc, strategy, rank, probability, leased, known, judgement = row
        return Pair(topic, doc, strategy, rank, probability, bool(leased), bool(known), judgement)

    def logged(self, uuid: str) -> tuple[str, str, str] | None:
        """Annotator, query_id and doc_id of the judgement with this uuid, or None."""
        row: tuple[str, str, str] | None = self.db.conn.execute(
            "SELECT annotator, query_id, doc_id FROM judgements JOIN topics USING (topic) JOIN documents USING (doc) "
            "WHERE uuid = ?",
            (uuid,),
        ).fetchone()
        return row

    def append(self, judgement: Judgement, pair: Pair) -> None:
        """Write one judgement to the log; it revises the annotator's current one on the pair, if any."""
        row = judgement._asdict() | {"topic": pair.topic, "doc": pair.doc, "revises": pair.judgement}
        row["judged_at"] = judgement.judged_at or now()
        del row["query_id"], row["doc_id"]
        columns, places = ", ".join(row), ", ".join(f":{name}" for name in row)
        self.db.conn.execute(f"INSERT INTO judgements ({columns}) VALUES ({places})", row)

    def judgements(
        self,
        *,
        current: bool = True,
        annotator: str | None = None,
        query_id: str | None = None,
        last: int | None = None,
    ) -> pd.DataFrame:
        """The log, oldest first: a column for every field of :class:`~collection.records.Judgement`.

        Parameters
        ----------
        current
            Only each annotator's last word on each pair, and not what was taken back; else the whole log.
        annotator, query_id
            Only theirs; only this topic's.
        last
            Only so many of the newest.
        """
        table = "current_judgements" if current else "judgements"
        tests = [("j.annotator = ?", annotator), ("t.query_id = ?", query_id)]
        used = [(test, value) for test, value in tests if value is not None]
        where = "WHERE " + " AND ".join(test for test, _ in used) if used else ""
        frame = self._frame(
            "SELECT j.uuid, j.annotator, t.query_id, d.doc_id, j.kind, j.relevance, j.reason, j.judged_at, j.shown_at, "
            "j.seconds, j.source, j.strategy, j.pool_rank, j.model_round, j.probability, r.uuid AS revises "
            f"FROM {table} AS j JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            f"LEFT JOIN judgements AS r ON r.id = j.revises {where} ORDER BY j.id DESC LIMIT ?",
            [*(value for _, value in used), -1 if last is None else last],
        )
        # Whole numbers stay whole beside nulls.
        whole = dict.fromkeys(("relevance", "pool_rank", "model_round"), "Int64")
        return frame.iloc[::-1].reset_index(drop=True).astype(whole)

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """How far each topic is: the one count that every page and command shows.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``pool`` (pairs), ``judged`` (pairs of the pool on which somebody's word
            stands), ``cannot_judge`` (those of them on which nobody gave a grade); topics in order.
        """
        return self._frame(
            """
            SELECT t.query_id, t.title, count(p.doc) AS pool, coalesce(sum(p.judged), 0) AS judged,
                   coalesce(sum(p.judged AND NOT p.graded), 0) AS cannot_judge
            FROM topics AS t LEFT JOIN (
                SELECT p.topic, p.doc,
                       max(w.judgement IS NOT NULL AND NOT w.open) AS judged,
                       max(coalesce(j.kind = 'graded', 0)) AS graded
                FROM pool AS p LEFT JOIN last_words AS w ON w.topic = p.topic AND w.doc = p.doc
                LEFT JOIN judgements AS j ON j.id = w.judgement AND NOT w.open
                WHERE :query_id IS NULL OR p.topic = (SELECT topic FROM topics WHERE query_id = :query_id)
                GROUP BY p.topic, p.doc
            ) AS p USING (topic)
            WHERE :query_id IS NULL OR t.query_id = :query_id
            GROUP BY t.topic ORDER BY t.topic
            """,
            {"query_id": query_id},  # type: ignore[arg-type]
        )

    def totals(self) -> tuple[int, int]:
        """Pairs in the pool, and those of them that are judged: the sums of :meth:`progress`, sooner."""
        judged = self._value(
            "SELECT count(*) FROM (SELECT DISTINCT topic, doc FROM last_words WHERE NOT open) "
            "JOIN pool USING (topic, doc)"
        )
        return self._value("SELECT count(*) FROM pool"), judged

    def counts(self) -> dict[str, int]:
        """Sizes at a glance."""
        return {
            "topics": self._value("SELECT count(*) FROM topics"),
            "documents": self._value("SELECT count(*) FROM documents WHERE text IS NOT NULL"),
            "runs": self._value("SELECT count(*) FROM runs"),
            "pool": self._value("SELECT count(*) FROM pool"),
            "judgements": self._value("SELECT count(*) FROM current_judgements"),
            "logged": self._value("SELECT count(*) FROM judgements"),
        }

    def annotators(self) -> pd.DataFrame:
        """``annotator``, ``judgements`` (current), ``seconds`` (median active), ``last_at``; by name."""
        frame = self._frame("SELECT annotator, seconds, judged_at FROM current_judgements ORDER BY annotator, id")
        return frame.groupby("annotator", as_index=False).agg(
            judgements=("annotator", "size"), seconds=("seconds", "median"), last_at=("judged_at", "max")
        )

    # --- sign-in links ----------------------------------------------------------------------------

    def add_signin_link(self, digest: str, annotator: str) -> None:
        """Remember a one-time link by its digest; earlier ones for this annotator that nobody used are void."""
        self.db.conn.execute("DELETE FROM signin_links WHERE annotator = ? AND used_at IS NULL", (annotator,))
        self.db.conn.execute("INSERT INTO signin_links VALUES (?, ?, ?, NULL)", (digest, annotator, now()))

    def use_signin_link(self, digest: str) -> str | None:
        """The annotator whom the link signs in, the first time; None if it is unknown or used."""
        row = self.db.conn.execute(
            "UPDATE signin_links SET used_at = ? WHERE digest = ? AND used_at IS NULL RETURNING annotator",
            (now(), digest),
        ).fetchall()
        return str(row[0][0]) if row else None


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
