"""What people said: the log of judgements, how far each topic is, leases, skips and sign-in links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from collection.records import Judgement
from collection.store.connection import Connection, now


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


class Log(Connection):
    """The append-only log and what is derived from it."""

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
