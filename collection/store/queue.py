"""What is handed out: modes of topics, candidates, leases and skips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from collection.records import (
    QRELS_ANNOTATOR,
    Candidate,
)
from collection.store.connection import SAID, Connection, held_back, held_by_others, json_text, writes


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


class Demand(NamedTuple):
    """Whether a pair still wants a judgement of one annotator.

    Attributes
    ----------
    others, qrels, leased
        How many others have judged it, how many of these are imported qrels, and how many more hold it now.
    held
        Whether the annotator holds it now.
    wanted
        How many are to judge it; None outside the pool.
    adjudicated, calibration
        Whether somebody ended it; whether everybody judges it.
    """

    others: int
    qrels: int
    leased: int
    held: bool
    wanted: int | None
    adjudicated: bool
    calibration: bool


@dataclass(eq=False)
class QueueTables:
    """What is handed out: modes of topics, candidates, leases and skips."""

    connection: Connection

    def modes(self) -> list[tuple[str, str | None, bool]]:
        """Every topic's id, mode (None where the campaign's holds) and whether it is closed, in order."""
        rows = self.connection.db.conn.execute(
            "SELECT t.query_id, m.mode, coalesce(m.closed, 0) FROM topics AS t "
            "LEFT JOIN topic_modes AS m USING (topic) ORDER BY t.topic"
        )
        return [(query_id, mode, bool(closed)) for query_id, mode, closed in rows]

    def mode(self, query_id: str) -> str | None:
        """A topic's own mode, "closed" if it is; None where the campaign's holds, or nobody knows the topic."""
        mode: str | None = self.connection.value(
            "SELECT CASE WHEN closed THEN 'closed' ELSE mode END FROM topic_modes JOIN topics USING (topic) "
            "WHERE query_id = ?",
            (query_id,),
        )
        return mode

    @writes
    def set_mode(self, query_id: str, mode: str | None) -> None:
        """Give a topic a mode of its own, or with None the campaign's again; it is open then."""
        self.connection.db.conn.execute(
            "INSERT INTO topic_modes (topic, mode) SELECT topic, ? FROM topics WHERE query_id = ? "
            "ON CONFLICT (topic) DO UPDATE SET mode = excluded.mode, closed = 0",
            (mode, query_id),
        )

    @writes
    def close_topic(self, query_id: str, closed: bool = True) -> None:
        """Close a topic, or open it again; its mode stays."""
        self.connection.db.conn.execute(
            "INSERT INTO topic_modes (topic, closed) SELECT topic, ? FROM topics WHERE query_id = ? "
            "ON CONFLICT (topic) DO UPDATE SET closed = excluded.closed",
            (int(closed), query_id),
        )

    def candidates(
        self, query_id: str, annotator: str, at: float, among: Sequence[str] | None = None
    ) -> list[Candidate]:
        """A topic's documents as the assignment wants them; `at` is the time now, seconds since 1970.

        Those of the pool in its order, or those `among` these ids in theirs. ``wanted`` is 0 outside the pool.
        """
        parameters = {"annotator": annotator, "query_id": query_id, "at": at, "ids": json_text(among or ())}
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
        return list(map(Candidate._make, self.connection.db.conn.execute(sql, parameters)))

    @writes
    def skip(self, query_id: str, doc_id: str, annotator: str, at: float) -> None:
        """Note that an annotator put a pair off."""
        self.connection.db.conn.execute(
            "INSERT OR IGNORE INTO skips SELECT topic, doc, ?, ? FROM topics, documents "
            "WHERE query_id = ? AND doc_id = ?",
            (annotator, at, query_id, doc_id),
        )

    @writes
    def lease(self, query_id: str, ways: Iterable[Way], annotator: str, at: float, until: float) -> None:
        """Reserve pairs for an annotator from now (`at`) until a time, each with how it came up.

        What they found by searching stays found so while they hold it, and what was drawn and skipped stays drawn.
        """
        self.connection.db.conn.executemany(
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

    @writes
    def prolong(self, query_id: str, doc_ids: Sequence[str], annotator: str, until: float) -> None:
        """Reserve what an annotator holds until a later time; how it came up stays as it is."""
        self.connection.db.conn.execute(
            "UPDATE leases SET until = ? WHERE annotator = ? "
            "AND topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND doc IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))",
            (until, annotator, query_id, json_text(doc_ids)),
        )

    def held(self, query_id: str, at: float, but: str | None = None) -> int:
        """Documents of a topic that are unjudged and on lease now; those of one annotator can be left out.

        With `but`, those that this annotator has skipped and not judged count as well: neither come up for them.
        """
        return int(
            self.connection.value(
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

    def out_of_reach_rows(self, query_id: str, at: float, annotator: str) -> list[int]:
        """Matrix rows of what a topic's loop does not bring to an annotator now, ascending.

        These documents are judged, on lease to others, or skipped by the annotator.
        """
        rows = self.connection.db.conn.execute(
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
            self.connection.value(
                f"SELECT count(*) FROM (SELECT topic, doc FROM words WHERE true {of} UNION "
                f"SELECT topic, doc FROM leases WHERE until > :at AND annotator IS NOT :but {of})",
                {"query_id": query_id, "at": at, "but": but},  # type: ignore[arg-type]
            )
        )

    def spoken_for_topics(self, at: float, but: str | None = None, query_id: str | None = None) -> dict[str, int]:
        """The same for each topic that has any; with `query_id` only the leases that `but` has there are left out."""
        rows = self.connection.db.conn.execute(
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

    @writes
    def end_leases(self, query_id: str, but: Sequence[str], annotator: str, at: float, *, others: bool = False) -> None:
        """End an annotator's leases in a topic, `but` those on these documents; with `others` in all other topics, too.

        A lease that has ended still says how the pair came up, should its judgement arrive late.
        """
        topic = self.connection.value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        self.connection.db.conn.execute(
            "UPDATE leases SET until = ? WHERE annotator = ? AND until > ? AND topic = ? "
            "AND doc NOT IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))",
            (at, annotator, at, topic, json_text(but)),
        )
        if others:
            self.connection.db.conn.execute(
                "UPDATE leases SET until = ? WHERE annotator = ? AND until > ? AND topic <> ?",
                (at, annotator, at, topic),
            )

    def demand(self, query_id: str, doc_id: str, annotator: str, at: float) -> Demand:
        """Whether a pair wants a judgement of an annotator at a time (seconds since 1970)."""
        row = self.connection.db.conn.execute(
            f"""
            SELECT (SELECT count(*) FROM words AS w WHERE w.topic = t.topic AND w.doc = d.doc
                      AND w.annotator <> :annotator AND w.counts_as = 'judgement'),
                   (SELECT count(*) FROM words AS w WHERE w.topic = t.topic AND w.doc = d.doc
                      AND w.annotator <> :annotator AND w.counts_as = 'judgement' AND w.annotator GLOB :qrels),
                   {held_by_others("t.topic", "d.doc")},
                   EXISTS (SELECT 1 FROM leases AS l WHERE l.topic = t.topic AND l.doc = d.doc
                      AND l.annotator = :annotator AND l.until > :at),
                   (SELECT p.wanted FROM pool AS p WHERE p.topic = t.topic AND p.doc = d.doc),
                   EXISTS (SELECT 1 FROM words AS w WHERE w.topic = t.topic AND w.doc = d.doc
                      AND w.counts_as = 'adjudication'),
                   EXISTS (SELECT 1 FROM calibration AS c WHERE c.topic = t.topic AND c.doc = d.doc)
            FROM topics AS t, documents AS d WHERE t.query_id = :query_id AND d.doc_id = :doc_id
            """,
            {
                "query_id": query_id,
                "doc_id": doc_id,
                "annotator": annotator,
                "at": at,
                "qrels": f"{QRELS_ANNOTATOR}*",
            },
        ).fetchone()
        others, qrels, leased, held, wanted, adjudicated, calibration = row
        return Demand(others, qrels, leased, bool(held), wanted, bool(adjudicated), bool(calibration))

    def begun(self, query_id: str, annotator: str, at: float) -> list[tuple[str, int, int | None]]:
        """Pairs that others have judged, this annotator has not, and nobody has ended, the oldest first.

        Those that wait for a text are not among them.

        Document id, how many others have judged it or hold it at this time, and how many are to judge it (None outside
        the pool).
        """
        return self.connection.db.conn.execute(
            f"SELECT d.doc_id, s.said + {held_by_others('s.topic', 's.doc')}, p.wanted "
            f"FROM ({SAID.format(where='WHERE topic = :topic')}) AS s "
            "JOIN documents AS d USING (doc) LEFT JOIN pool AS p ON p.topic = s.topic AND p.doc = s.doc "
            f"WHERE NOT s.mine AND NOT s.ended AND NOT {held_back('s.doc')} ORDER BY "
            # The sign keeps SQLite from walking through the topic's log in search of the smallest id.
            "(SELECT min(+j.id) FROM judgements AS j WHERE j.topic = s.topic AND j.doc = s.doc)",
            {
                "annotator": annotator,
                "at": at,
                "topic": self.connection.value("SELECT topic FROM topics WHERE query_id = ?", (query_id,)),
            },
        ).fetchall()
