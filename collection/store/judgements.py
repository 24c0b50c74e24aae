"""The log of judgements, and how far each topic is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import pandas as pd

from collection import clock
from collection.records import CountsAs, Judgement
from collection.store.connection import Repository, held_back, json_text, writes


class Pair(NamedTuple):
    """What the store knows of a pair, for one annotator."""

    topic: int
    doc: int
    strategy: str | None
    pool_rank: int | None
    model_round: int | None
    probability: float | None
    leased: bool
    known: bool
    """Whether the annotator ever judged it, taken back or not."""
    judgement: int | None
    """Id of the annotator's current judgement, None where they have none."""
    held_back: bool
    """Whether the text of the document is missing, see :func:`collection.store.connection.held_back`."""


class Logged(NamedTuple):
    """What an entry of the log is about, and what it counts as."""

    annotator: str
    query_id: str
    doc_id: str
    counts_as: CountsAs


class JudgementTables(Repository):
    """The log of judgements, and how far each topic is."""

    def pair(self, query_id: str, doc_id: str, annotator: str, counts_as: CountsAs = "judgement") -> Pair | None:
        """What is known of a pair; None if the topic or the document is not in the campaign."""
        row = self.connection.execute(
            f"""
            SELECT t.topic, d.doc, coalesce(l.strategy, r.strategy),
                   CASE WHEN l.strategy IS NULL THEN p.rank ELSE l.pool_rank END, l.model_round,
                   CASE WHEN l.strategy IS NULL THEN p.probability ELSE l.probability END,
                   l.topic IS NOT NULL, w.judgement IS NOT NULL, CASE WHEN NOT w.open THEN w.judgement END,
                   {held_back("d.doc")}
            FROM topics AS t, documents AS d
            LEFT JOIN leases AS l ON l.topic = t.topic AND l.doc = d.doc AND l.annotator = ?
            LEFT JOIN last_words AS w
                ON w.topic = t.topic AND w.doc = d.doc AND w.annotator = ? AND w.counts_as = ?
            LEFT JOIN pool AS p ON p.topic = t.topic AND p.doc = d.doc
            LEFT JOIN pool_rounds AS r ON r.pool_round = p.pool_round
            WHERE t.query_id = ? AND d.doc_id = ?
            """,
            (annotator, annotator, counts_as, query_id, doc_id),
        ).fetchone()
        if row is None:
            return None
        topic, doc, strategy, rank, model_round, probability, leased, known, judgement, waits = row
        seen = bool(leased), bool(known)
        return Pair(topic, doc, strategy, rank, model_round, probability, *seen, judgement, bool(waits))

    def logged(self, uuid: str) -> Logged | None:
        """The judgement with this uuid, or None."""
        row = self.connection.execute(
            "SELECT annotator, query_id, doc_id, counts_as FROM judgements JOIN topics USING (topic) "
            "JOIN documents USING (doc) WHERE uuid = ?",
            (uuid,),
        ).fetchone()
        return None if row is None else Logged(*row)

    @writes
    def append(self, judgement: Judgement, pair: Pair) -> None:
        """Write one judgement to the log; it revises the annotator's current one on the pair, if any."""
        row = judgement._asdict() | {"topic": pair.topic, "doc": pair.doc, "revises": pair.judgement}
        row["judged_at"] = judgement.judged_at or clock.now()
        row["passages"] = json.dumps(judgement.passages) if judgement.passages else None
        del row["query_id"], row["doc_id"]
        columns, places = ", ".join(row), ", ".join(f":{name}" for name in row)
        self.connection.execute(f"INSERT INTO judgements ({columns}) VALUES ({places})", row)

    def table(
        self,
        *,
        current: bool = True,
        annotator: str | None = None,
        query_id: str | None = None,
        doc_id: str | None = None,
        last: int | None = None,
    ) -> pd.DataFrame:
        """The log, oldest first: a column for every field of :class:`~collection.records.Judgement`.

        Adjudications are among them, with ``counts_as`` "adjudication".

        Parameters
        ----------
        current
            Only each annotator's last word on each pair, without what was taken back or was not wanted any more
            ("surplus"); else the whole log.
        annotator, query_id, doc_id
            Only theirs; only this topic's; only this document's.
        last
            Only so many of the newest.
        """
        tests = [
            ("annotator = ?", annotator),
            ("topic = (SELECT topic FROM topics WHERE query_id = ?)", query_id),
            ("doc = (SELECT doc FROM documents WHERE doc_id = ?)", doc_id),
        ]
        used = [(test, value) for test, value in tests if value is not None]
        where = "WHERE " + " AND ".join(test for test, _ in used) if used else ""
        # Found by the key of the words: a join of the view on the topic would read all words for each judgement.
        table = "words" if current else "judgements"
        which = f"SELECT {'judgement' if current else 'id'} FROM {table} {where}"
        frame = self.connection.frame(
            "SELECT j.uuid, j.annotator, t.query_id, d.doc_id, j.kind, j.relevance, j.reason, j.judged_at, j.shown_at, "
            "j.seconds, j.source, j.strategy, j.pool_rank, j.model_round, j.probability, r.uuid AS revises, "
            "j.note, j.counts_as, j.away, j.flagged, j.passages "
            "FROM judgements AS j JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            f"LEFT JOIN judgements AS r ON r.id = j.revises WHERE j.id IN ({which}) ORDER BY j.id DESC LIMIT ?",
            [*(value for _, value in used), -1 if last is None else last],
        )
        # Whole numbers stay whole beside nulls.
        whole = dict.fromkeys(("relevance", "pool_rank", "model_round"), "Int64")
        frame = frame.iloc[::-1].reset_index(drop=True).astype(whole)
        frame["flagged"] = frame["flagged"].astype(bool)
        # Where some have passages and others none, the null of a column of text is not None but a float.
        marked = [tuple(map(tuple, json.loads(p))) if isinstance(p, str) else () for p in frame["passages"]]
        frame["passages"] = pd.Series(marked, index=frame.index, dtype=object)
        return frame

    def last_grades(self, annotator: str) -> dict[tuple[str, str], tuple[int | str, CountsAs]]:
        """What an annotator said last of each pair, surplus as well; adjudications and what was taken back left out.

        Topic and document -> the grade, or "cannot judge", and what it counts as: "judgement" before "surplus".
        """
        rows = self.connection.execute(
            "SELECT t.query_id, d.doc_id, CASE j.kind WHEN 'graded' THEN j.relevance ELSE j.kind END, l.counts_as "
            "FROM last_words AS l JOIN judgements AS j ON j.id = l.judgement JOIN topics AS t ON t.topic = l.topic "
            "JOIN documents AS d ON d.doc = l.doc WHERE l.annotator = ? AND NOT l.open "
            "AND l.counts_as <> 'adjudication' ORDER BY l.counts_as = 'judgement', l.judgement",
            (annotator,),
        )
        return {(query_id, doc_id): (said, counts_as) for query_id, doc_id, said, counts_as in rows}

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """How far each topic is: the one count that every page and command shows.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``pool`` (pairs), ``judged`` (pairs of the pool on which somebody's word
            stands), ``cannot_judge`` (those of them on which nobody gave a grade), ``wanted`` (judgements that the
            pool's pairs are to have), ``made`` (those of them that there are; an adjudicated pair has all),
            ``without_text`` (pairs of the pool that nobody has judged and that are held back, as their text is
            missing), ``waiting`` (judgements that held-back pairs still want), ``elsewhere`` and ``elsewhere_cannot``
            (judged, and without a grade, outside the pool); topics in order.
        """
        return self.connection.frame(
            f"""
            SELECT t.query_id, t.title, count(p.doc) AS pool, coalesce(sum(p.judged), 0) AS judged,
                   coalesce(sum(p.judged AND NOT p.graded), 0) AS cannot_judge,
                   coalesce(sum(p.wanted), 0) AS wanted,
                   coalesce(sum(p.made), 0) AS made,
                   coalesce(sum(p.held_back AND NOT p.judged), 0) AS without_text,
                   coalesce(sum(CASE WHEN p.held_back THEN p.wanted - p.made END), 0) AS waiting,
                   coalesce(o.judged, 0) AS elsewhere, coalesce(o.judged - o.graded, 0) AS elsewhere_cannot
            FROM topics AS t LEFT JOIN (
                SELECT p.topic, p.doc, p.wanted, {held_back("p.doc")} AS held_back,
                       max(w.judgement IS NOT NULL) AS judged,
                       CASE WHEN max(w.counts_as = 'adjudication') THEN p.wanted
                            ELSE min(coalesce(sum(w.counts_as = 'judgement'), 0), p.wanted) END AS made,
                       max(coalesce(j.kind = 'graded', 0)) AS graded
                FROM pool AS p LEFT JOIN words AS w ON w.topic = p.topic AND w.doc = p.doc
                LEFT JOIN judgements AS j ON j.id = w.judgement
                WHERE :query_id IS NULL OR p.topic = (SELECT topic FROM topics WHERE query_id = :query_id)
                GROUP BY p.topic, p.doc
            ) AS p USING (topic)
            LEFT JOIN (
                SELECT w.topic, count(DISTINCT w.doc) AS judged,
                       count(DISTINCT CASE WHEN j.kind = 'graded' THEN w.doc END) AS graded
                FROM words AS w JOIN judgements AS j ON j.id = w.judgement
                LEFT JOIN pool AS e ON e.topic = w.topic AND e.doc = w.doc
                WHERE e.doc IS NULL GROUP BY w.topic
            ) AS o USING (topic)
            WHERE :query_id IS NULL OR t.query_id = :query_id
            GROUP BY t.topic ORDER BY t.topic
            """,
            {"query_id": query_id},
        )

    def versions(self) -> tuple[tuple[object, ...], int]:
        """What differs where topics, the pool, assignments or texts differ, and the number of the log's last entry."""
        *made_of, logged = self.connection.execute(
            "SELECT (SELECT count(*) FROM topics), (SELECT coalesce(max(pool_round), 0) FROM pool_rounds), "
            "(SELECT value FROM settings WHERE key = 'assignment_version'), "
            "(SELECT value FROM settings WHERE key = 'documents_version'), "
            "(SELECT coalesce(max(id), 0) FROM judgements)"
        ).fetchone()
        return tuple(made_of), logged

    def judged_outside_pool(self) -> int:
        """Pairs that somebody judged and that are in no pool."""
        return int(
            self.connection.value(
                "SELECT count(*) FROM (SELECT DISTINCT w.topic, w.doc FROM words AS w WHERE NOT EXISTS "
                "(SELECT 1 FROM pool AS p WHERE p.topic = w.topic AND p.doc = w.doc))"
            )
        )

    def topics_since(self, logged: int) -> list[str]:
        """Topics of which the log has something newer than this entry."""
        return self.connection.column(
            "SELECT DISTINCT query_id FROM judgements JOIN topics USING (topic) WHERE id > ? ORDER BY topic", (logged,)
        )

    def counts(self) -> dict[str, int]:
        """Sizes at a glance."""
        return {
            "topics": self.connection.value("SELECT count(*) FROM topics"),
            "documents": self.connection.value("SELECT count(*) FROM documents WHERE text IS NOT NULL"),
            "runs": self.connection.value("SELECT count(*) FROM runs"),
            "pool": self.connection.value("SELECT count(*) FROM pool"),
            "judgements": self.connection.value("SELECT count(*) FROM current_judgements"),
            "logged": self.connection.value("SELECT count(*) FROM judgements"),
        }

    def annotators(self) -> pd.DataFrame:
        """``annotator``, ``judgements`` (current), ``seconds`` (median active), ``last_at``; by name."""
        frame = self.connection.frame(
            "SELECT annotator, seconds, judged_at FROM current_judgements WHERE counts_as = 'judgement' "
            "ORDER BY annotator, id"
        )
        return frame.groupby("annotator", as_index=False).agg(
            judgements=("annotator", "size"), seconds=("seconds", "median"), last_at=("judged_at", "max")
        )

    def logged_in(self, query_id: str) -> int:
        """How many entries the log has for a topic: what numbers the rounds of its model."""
        return int(
            self.connection.value(
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
            self.connection.value(
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
                {"query_id": query_id, "newest": newest},
            )
        )

    def log_sizes(self) -> dict[str, int]:
        """Entries in the log for each topic that has any."""
        return self.connection.mapping(
            "SELECT t.query_id, count(*) FROM judgements AS j JOIN topics AS t USING (topic) "
            "GROUP BY t.topic ORDER BY t.topic"
        )

    def decisions(self, query_id: str | None = None) -> pd.DataFrame:
        """What stands of a topic, or of all: one row for each annotator's last word on each document.

        ``query_id``, ``doc_id``, ``row`` (of the matrix), ``annotator``, ``counts_as``, ``kind``, ``relevance`` (null
        where no grade could be given), ``strategy``, ``model_round``, ``probability``, ``judged_at``: these of the
        first judgement of the pair, or the first after it was last taken back; in the order of these. Of several
        adjudications the last one counts, so these are in the order in which they were last changed.
        """
        return self.connection.frame(
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

    def judged_rows(self, query_id: str) -> list[int]:
        """Matrix rows of the documents of a topic that somebody has judged, ascending."""
        return self.connection.column(
            "SELECT DISTINCT doc - 1 FROM words WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) ORDER BY 1",
            (query_id,),
        )

    def judged_since(self, query_id: str, annotator: str, count: int) -> float:
        """When the annotator made the last but `count` judgement of the topic, seconds since 1970; 0 before."""
        judged_at: str | None = self.connection.value(
            "SELECT judged_at FROM judgements WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND annotator = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
            (query_id, annotator, count - 1),
        )
        return 0.0 if judged_at is None else datetime.fromisoformat(judged_at).timestamp()

    def skipped(self) -> dict[str, tuple[int, int]]:
        """Documents that somebody skipped and nobody has judged: topic -> how many, and how many of them were drawn."""
        rows = self.connection.execute(
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

    def grades_of(self, query_id: str, annotator: str, doc_ids: Sequence[str]) -> Mapping[str, int | None]:
        """The annotator's standing judgements of these documents: document id -> grade (None: cannot judge)."""
        return self.connection.mapping(
            "SELECT d.doc_id, j.relevance FROM documents AS d JOIN words AS w ON w.doc = d.doc "
            "AND w.topic = (SELECT topic FROM topics WHERE query_id = ?) AND w.annotator = ? "
            "AND w.counts_as = 'judgement' "
            "JOIN judgements AS j ON j.id = w.judgement "
            "WHERE d.doc_id IN (SELECT value FROM json_each(?)) ORDER BY d.doc",
            (query_id, annotator, json_text(doc_ids)),
        )
