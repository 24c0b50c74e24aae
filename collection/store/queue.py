"""What the loop and a search read and write: modes of topics, keys of documents, leases with their reason."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import pandas as pd

from collection.errors import InputError
from collection.records import Candidate
from collection.store.connection import Connection, held_back, held_by_others

BATCH = 500
"""Variables in one statement; SQLite's limit is 999 in its older builds."""


class Way(NamedTuple):
    """How a pair came up: what a lease keeps until the judgement is made."""

    doc_id: str
    strategy: str | None = None
    pool_rank: int | None = None
    model_round: int | None = None
    probability: float | None = None


# The fields of a Candidate, in their order; `t`, `d` are topic and document, rank and wanted are given by the caller.
_STATE = f"""
    d.doc_id, {{rank}} AS rank, {held_back("d.doc")} AS held_back,
    EXISTS (SELECT 1 FROM words AS w WHERE w.topic = t.topic AND w.doc = d.doc
            AND w.annotator = :annotator AND w.counts_as = 'judgement') AS mine,
    (SELECT count(*) FROM words AS w WHERE w.topic = t.topic AND w.doc = d.doc
            AND w.annotator <> :annotator AND w.counts_as = 'judgement') AS others,
    {held_by_others("t.topic", "d.doc")} AS leased,
    (SELECT max(skipped_at) FROM skips AS s WHERE s.topic = t.topic AND s.doc = d.doc
            AND s.annotator = :annotator) AS skipped,
    {{wanted}} AS wanted,
    EXISTS (SELECT 1 FROM words AS w WHERE w.topic = t.topic AND w.doc = d.doc
            AND w.counts_as = 'adjudication') AS adjudicated,
    EXISTS (SELECT 1 FROM calibration AS c WHERE c.topic = t.topic AND c.doc = d.doc) AS calibration
"""


class Choosing(Connection):
    """The part of the store that choosing the next pairs stands on."""

    def modes(self) -> list[tuple[str, str | None, bool]]:
        """Every topic's id, mode (None where the campaign's holds) and whether it is closed, in order."""
        rows = self.db.conn.execute(
            "SELECT t.query_id, m.mode, coalesce(m.closed, 0) FROM topics AS t "
            "LEFT JOIN topic_modes AS m USING (topic) ORDER BY t.topic"
        )
        return [(query_id, mode, bool(closed)) for query_id, mode, closed in rows]

    def mode(self, query_id: str) -> str | None:
        """A topic's own mode, "closed" if it is; None where the campaign's holds, or nobody knows the topic."""
        mode: str | None = self._value(
            "SELECT CASE WHEN closed THEN 'closed' ELSE mode END FROM topic_modes JOIN topics USING (topic) "
            "WHERE query_id = ?",
            (query_id,),
        )
        return mode

    def runs_signature(self) -> str:
        """Differs where the runs differ."""
        return str(self._value("SELECT group_concat(run || sha256) FROM (SELECT run, sha256 FROM runs ORDER BY run)"))

    def set_mode(self, query_id: str, mode: str | None) -> None:
        """Give a topic a mode of its own, or with None the campaign's again; it is open then."""
        self.db.conn.execute(
            "INSERT INTO topic_modes (topic, mode) SELECT topic, ? FROM topics WHERE query_id = ? "
            "ON CONFLICT (topic) DO UPDATE SET mode = excluded.mode, closed = 0",
            (mode, query_id),
        )

    def close_topic(self, query_id: str, closed: bool = True) -> None:
        """Close a topic, or open it again; its mode stays."""
        self.db.conn.execute(
            "INSERT INTO topic_modes (topic, closed) SELECT topic, ? FROM topics WHERE query_id = ? "
            "ON CONFLICT (topic) DO UPDATE SET closed = excluded.closed",
            (int(closed), query_id),
        )

    def document_rows(self) -> int:
        """How many rows a matrix of all documents has, those without a text among them."""
        return int(self._value("SELECT coalesce(max(doc), 0) FROM documents"))

    def texts(self) -> Iterator[tuple[str, str | None]]:
        """Every document's id, and its title and text as one text (None without a text), in order of the keys."""
        cursor = self.db.conn.execute("SELECT doc_id, title, text FROM documents ORDER BY doc")
        for doc_id, title, text in cursor:
            yield doc_id, None if text is None else f"{title} {text}"

    def without_text_rows(self) -> list[int]:
        """Matrix rows of the documents that have no text, ascending."""
        return [row for (row,) in self.db.conn.execute("SELECT doc - 1 FROM documents WHERE text IS NULL ORDER BY doc")]

    def pool_rows(self, query_id: str) -> list[int]:
        """Matrix rows of a topic's pool, in pool order."""
        return [
            row
            for (row,) in self.db.conn.execute(
                "SELECT doc - 1 FROM pool WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) "
                "ORDER BY pool_round, position",
                (query_id,),
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
                self.db.conn.execute(
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
                self.db.conn.execute(
                    f"SELECT doc - 1, doc_id FROM documents WHERE doc IN ({marks}) ORDER BY doc", batch
                ).fetchall()
            )
        return [found[int(row)] for row in rows]

    def logged_in(self, query_id: str) -> int:
        """How many entries the log has for a topic: what numbers the rounds of its model."""
        return int(
            self._value(
                "SELECT count(*) FROM judgements WHERE topic = (SELECT topic FROM topics WHERE query_id = ?)",
                (query_id,),
            )
        )

    def judged_among(self, query_id: str, newest: int) -> int:
        """Documents of a topic that are judged now and were not before the newest so many entries of its log."""
        if newest <= 0:
            return 0
        # A sign before an id keeps SQLite from walking through the topic's log for each document.
        return int(
            self._value(
                """
                WITH t AS (SELECT topic FROM topics WHERE query_id = :query_id),
                     new AS (SELECT id, doc FROM judgements WHERE topic = (SELECT topic FROM t)
                             ORDER BY id DESC LIMIT :newest),
                     first AS (SELECT min(id) AS id FROM new)
                SELECT count(DISTINCT new.doc) FROM t, new, first
                WHERE EXISTS (SELECT 1 FROM words AS w WHERE w.topic = t.topic AND w.doc = new.doc)
                AND NOT EXISTS (
                    SELECT 1 FROM judgements AS b WHERE b.topic = t.topic AND b.doc = new.doc AND +b.id < first.id
                    AND b.kind <> 'undone' AND b.counts_as <> 'surplus'
                    AND NOT EXISTS (
                        SELECT 1 FROM judgements AS u WHERE u.topic = b.topic AND u.doc = b.doc
                        AND u.annotator = b.annotator AND u.counts_as = b.counts_as
                        AND +u.id > b.id AND +u.id < first.id))
                """,
                {"query_id": query_id, "newest": newest},  # type: ignore[arg-type]
            )
        )

    def log_sizes(self) -> dict[str, int]:
        """Entries in the log for each topic that has any."""
        return dict(
            self.db.conn.execute(
                "SELECT t.query_id, count(*) FROM judgements AS j JOIN topics AS t USING (topic) "
                "GROUP BY t.topic ORDER BY t.topic"
            ).fetchall()
        )

    def decisions(self, query_id: str | None = None) -> pd.DataFrame:
        """What stands of a topic, or of all: one row for each annotator's last word on each document.

        ``query_id``, ``doc_id``, ``row`` (of the matrix), ``annotator``, ``counts_as``, ``kind``, ``relevance`` (null
        where no grade could be given), ``strategy``, ``model_round``, ``probability``, ``judged_at``: these of the
        first judgement of the pair, or the first after it was last taken back; in the order of these. Of several
        adjudications the last one counts, so these are in the order in which they were last changed.
        """
        return self._frame(
            f"""
            SELECT t.query_id, d.doc_id, d.doc - 1 AS row, j.annotator, j.counts_as, j.kind, j.relevance,
                   f.strategy, f.model_round, f.probability, f.judged_at
            FROM words AS w JOIN judgements AS j ON j.id = w.judgement
            JOIN topics AS t ON t.topic = w.topic JOIN documents AS d ON d.doc = w.doc
            JOIN judgements AS f ON f.id = (
                SELECT min(b.id) FROM judgements AS b
                WHERE b.topic = w.topic AND b.doc = w.doc AND b.annotator = w.annotator AND b.counts_as = w.counts_as
                AND b.id > coalesce((
                    SELECT max(u.id) FROM judgements AS u WHERE u.topic = w.topic AND u.doc = w.doc
                    AND u.annotator = w.annotator AND u.counts_as = w.counts_as AND u.kind = 'undone'), 0))
            {"" if query_id is None else "WHERE w.topic = (SELECT topic FROM topics WHERE query_id = ?)"}
            ORDER BY CASE WHEN j.counts_as = 'adjudication' THEN j.id ELSE f.id END
            """,
            [] if query_id is None else [query_id],
        )

    def candidates(
        self, query_id: str, annotator: str, at: float, among: Sequence[str] | None = None
    ) -> list[Candidate]:
        """A topic's documents as the assignment wants them; `at` is the time now, seconds since 1970.

        Those of the pool in its order, or those `among` these ids in theirs. ``wanted`` is 0 outside the pool.
        """
        parameters = {"annotator": annotator, "query_id": query_id, "at": at, "ids": _json(among or ())}
        if among is None:
            sql = (
                f"SELECT {_STATE.format(rank='p.rank', wanted='p.wanted')} FROM pool AS p "
                "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
                "WHERE t.query_id = :query_id ORDER BY p.pool_round, p.position"
            )
        else:
            sql = (
                f"SELECT {_STATE.format(rank='o.key + 1', wanted='coalesce(p.wanted, 0)')} "
                "FROM json_each(:ids) AS o "
                "JOIN documents AS d ON d.doc_id = o.value JOIN topics AS t ON t.query_id = :query_id "
                "LEFT JOIN pool AS p ON p.topic = t.topic AND p.doc = d.doc ORDER BY o.key"
            )
        return list(map(Candidate._make, self.db.conn.execute(sql, parameters)))

    def skip(self, query_id: str, doc_id: str, annotator: str, at: float) -> None:
        """Note that an annotator put a pair off."""
        self.db.conn.execute(
            "INSERT OR IGNORE INTO skips SELECT topic, doc, ?, ? FROM topics, documents "
            "WHERE query_id = ? AND doc_id = ?",
            (annotator, at, query_id, doc_id),
        )

    def lease(self, query_id: str, ways: Iterable[Way], annotator: str, at: float, until: float) -> None:
        """Reserve pairs for an annotator from now (`at`) until a time, each with how it came up.

        What they found by searching stays found so while they hold it, and what was drawn and skipped stays drawn.
        """
        self.db.conn.executemany(
            """
            INSERT INTO leases (topic, doc, annotator, until, strategy, pool_rank, model_round, probability)
            SELECT topic, doc, ?, ?, ?, ?, ?, ? FROM topics, documents WHERE query_id = ? AND doc_id = ?
            ON CONFLICT (topic, doc, annotator) DO UPDATE SET until = excluded.until,
                (strategy, pool_rank, model_round, probability) = (
                    SELECT excluded.strategy, excluded.pool_rank, excluded.model_round, excluded.probability
                    WHERE (leases.strategy IS NOT 'search' OR leases.until <= ?)
                      AND NOT (leases.strategy IS 'random' AND EXISTS (
                        SELECT 1 FROM skips AS s WHERE s.topic = leases.topic AND s.doc = leases.doc
                        AND s.annotator = leases.annotator))
                    UNION ALL SELECT strategy, pool_rank, model_round, probability LIMIT 1)
            """,
            [(annotator, until, *way[1:], query_id, way.doc_id, at) for way in ways],
        )

    def prolong(self, query_id: str, doc_ids: Sequence[str], annotator: str, until: float) -> None:
        """Reserve what an annotator holds until a later time; how it came up stays as it is."""
        self.db.conn.execute(
            "UPDATE leases SET until = ? WHERE annotator = ? "
            "AND topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND doc IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))",
            (until, annotator, query_id, _json(doc_ids)),
        )

    def held(self, query_id: str, at: float, but: str | None = None) -> int:
        """Documents of a topic that are unjudged and on lease now; those of one annotator can be left out.

        With `but`, those that this annotator has skipped and not judged count as well: neither come up for them.
        """
        return int(
            self._value(
                """
                SELECT count(*) FROM (
                    SELECT l.doc FROM leases AS l
                    WHERE l.topic = (SELECT topic FROM topics WHERE query_id = :query_id)
                      AND l.until > :at AND l.annotator IS NOT :but
                    UNION SELECT s.doc FROM skips AS s
                    WHERE s.topic = (SELECT topic FROM topics WHERE query_id = :query_id) AND s.annotator = :but
                ) AS h WHERE NOT EXISTS (
                    SELECT 1 FROM words AS w WHERE w.doc = h.doc
                      AND w.topic = (SELECT topic FROM topics WHERE query_id = :query_id))
                """,
                {"query_id": query_id, "at": at, "but": but},  # type: ignore[arg-type]
            )
        )

    def judged_rows(self, query_id: str) -> list[int]:
        """Matrix rows of the documents of a topic that somebody has judged, ascending."""
        rows = self.db.conn.execute(
            "SELECT DISTINCT doc - 1 FROM words WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) ORDER BY 1",
            (query_id,),
        )
        return [row for (row,) in rows]

    def out_of_reach_rows(self, query_id: str, at: float, annotator: str) -> list[int]:
        """Matrix rows of what a topic's loop does not bring to an annotator now, ascending.

        These documents are judged, on lease to others, or skipped by the annotator.
        """
        rows = self.db.conn.execute(
            """
            WITH t AS (SELECT topic FROM topics WHERE query_id = :query_id)
            SELECT doc - 1 FROM (
                SELECT doc FROM words WHERE topic = (SELECT topic FROM t)
                UNION SELECT doc FROM leases
                WHERE topic = (SELECT topic FROM t) AND until > :at AND annotator <> :annotator
                UNION SELECT doc FROM skips WHERE topic = (SELECT topic FROM t) AND annotator = :annotator
            ) ORDER BY doc
            """,
            {"query_id": query_id, "at": at, "annotator": annotator},
        )
        return [row for (row,) in rows]

    def spoken_for(self, at: float, query_id: str | None = None, but: str | None = None) -> int:
        """Documents that are judged or on lease now, of a topic, or pairs of all; leases of one can be left out."""
        # An index finds the rows of a topic only where the condition names nothing else.
        of = "" if query_id is None else "AND topic = (SELECT topic FROM topics WHERE query_id = :query_id)"
        return int(
            self._value(
                f"SELECT count(*) FROM (SELECT topic, doc FROM words WHERE true {of} UNION "
                f"SELECT topic, doc FROM leases WHERE until > :at AND annotator IS NOT :but {of})",
                {"query_id": query_id, "at": at, "but": but},  # type: ignore[arg-type]
            )
        )

    def spoken_for_topics(self, at: float, but: str | None = None, query_id: str | None = None) -> dict[str, int]:
        """The same for each topic that has any; with `query_id` only the leases that `but` has there are left out."""
        rows = self.db.conn.execute(
            """
            SELECT t.query_id, count(*) FROM (
                SELECT topic, doc FROM words
                UNION SELECT l.topic, l.doc FROM leases AS l JOIN topics AS o USING (topic)
                WHERE l.until > :at AND NOT (l.annotator IS :but AND (:query_id IS NULL OR o.query_id = :query_id))
            ) JOIN topics AS t USING (topic) GROUP BY t.topic ORDER BY t.topic
            """,
            {"at": at, "but": but, "query_id": query_id},
        )
        return dict(rows.fetchall())

    def judged_since(self, query_id: str, annotator: str, count: int) -> float:
        """When the annotator made the last but `count` judgement of the topic, seconds since 1970; 0 before."""
        judged_at: str | None = self._value(
            "SELECT judged_at FROM judgements WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND annotator = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
            (query_id, annotator, count - 1),
        )
        return 0.0 if judged_at is None else datetime.fromisoformat(judged_at).timestamp()

    def skipped(self) -> dict[str, tuple[int, int]]:
        """Documents that somebody skipped and nobody has judged: topic -> how many, and how many of them were drawn."""
        rows = self.db.conn.execute(
            """
            SELECT t.query_id, count(DISTINCT s.doc),
                   count(DISTINCT CASE WHEN l.strategy = 'random' THEN s.doc END)
            FROM skips AS s JOIN topics AS t USING (topic)
            LEFT JOIN leases AS l ON l.topic = s.topic AND l.doc = s.doc AND l.annotator = s.annotator
            WHERE NOT EXISTS (SELECT 1 FROM words AS w WHERE w.topic = s.topic AND w.doc = s.doc)
            GROUP BY s.topic ORDER BY s.topic
            """
        )
        return {query_id: (skipped, drawn) for query_id, skipped, drawn in rows}

    def end_leases(self, query_id: str, but: Sequence[str], annotator: str, at: float, *, others: bool = False) -> None:
        """End an annotator's leases in a topic, `but` those on these documents; with `others` in all other topics, too.

        A lease that has ended still says how the pair came up, should its judgement arrive late.
        """
        topic = self._value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        self.db.conn.execute(
            "UPDATE leases SET until = ? WHERE annotator = ? AND until > ? AND topic = ? "
            "AND doc NOT IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))",
            (at, annotator, at, topic, _json(but)),
        )
        if others:
            self.db.conn.execute(
                "UPDATE leases SET until = ? WHERE annotator = ? AND until > ? AND topic <> ?",
                (at, annotator, at, topic),
            )

    def search(self, words: str, count: int) -> list[tuple[str, str, str]]:
        """Documents by the words in them, best first (BM25): id, title and a snippet with marks around the words.

        `words` is FTS5's own query language: "a phrase", prefix*, NOT, OR. The marks are the characters U+0002 and
        U+0003, which no text carries.
        """
        try:
            return self.db.conn.execute(
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
        return self.db.conn.execute(
            f"SELECT doc_id, title, text FROM documents WHERE text IS NOT NULL AND {some}{none} "
            f"ORDER BY 1.0 * ({times}) / (1000 + length(text)) DESC, doc LIMIT ?",
            [*words, *(word.lower() for word in unwanted), *(x for word in words for x in (word, len(word))), count],
        ).fetchall()

    def grades_of(self, query_id: str, annotator: str, doc_ids: Sequence[str]) -> Mapping[str, int | None]:
        """The annotator's standing judgements of these documents: document id -> grade (None: cannot judge)."""
        return dict(
            self.db.conn.execute(
                "SELECT d.doc_id, j.relevance FROM documents AS d JOIN words AS w ON w.doc = d.doc "
                "AND w.topic = (SELECT topic FROM topics WHERE query_id = ?) AND w.annotator = ? "
                "AND w.counts_as = 'judgement' "
                "JOIN judgements AS j ON j.id = w.judgement "
                "WHERE d.doc_id IN (SELECT value FROM json_each(?)) ORDER BY d.doc",
                (query_id, annotator, _json(doc_ids)),
            ).fetchall()
        )


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values))
