"""Which topics are whose, calibration, and what is left for whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from collection.records import (
    QRELS_ANNOTATOR,
)
from collection.store.connection import SAID, Connection, held_back, writes

# Whether topic `t` is one of :annotator's: assigned to them or to a group of theirs, or to nobody in particular.
_IS_MINE = """
    (NOT EXISTS (SELECT 1 FROM assignments AS a WHERE a.topic = t.topic)
     OR EXISTS (SELECT 1 FROM assignments AS a WHERE a.topic = t.topic AND a.kind = 'account' AND a.name = :annotator)
     OR EXISTS (SELECT 1 FROM assignments AS a JOIN memberships AS m ON m.group_name = a.name
                WHERE a.topic = t.topic AND a.kind = 'group' AND m.account = :annotator))
"""


# Whether the pair `p` of the pool is one of the calibration set.
_IN_CALIBRATION = "EXISTS (SELECT 1 FROM calibration AS c WHERE c.topic = p.topic AND c.doc = p.doc)"


# Whether the pair `p` of the pool, of which `s` says what was said, wants no judgement of :annotator.
_DONE = f"(NOT {held_back('p.doc')} AND (s.mine OR ((s.ended OR s.said >= p.wanted) AND NOT {_IN_CALIBRATION})))"


@dataclass(eq=False)
class AssignmentTables:
    """Which topics are whose, calibration, and what is left for whom."""

    connection: Connection

    def table(self) -> list[tuple[str, str, str]]:
        """``query_id``, ``kind`` ("account" or "group") and name of each assignment, by topic, kind and name."""
        return self.connection.db.conn.execute(
            "SELECT t.query_id, a.kind, a.name FROM assignments AS a JOIN topics AS t USING (topic) "
            "ORDER BY t.topic, a.kind, a.name"
        ).fetchall()

    @writes
    def assign(self, query_id: str, accounts: Iterable[str], groups: Iterable[str]) -> None:
        """Assign a topic to these and to nobody else; to none at all, and it is open to everybody."""
        topic = self.connection.value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        self.connection.db.conn.execute("DELETE FROM assignments WHERE topic = ?", (topic,))
        rows = [(topic, "account", name) for name in accounts] + [(topic, "group", name) for name in groups]
        self.connection.db.conn.executemany("INSERT OR IGNORE INTO assignments VALUES (?, ?, ?)", rows)

    def topics_for(self, annotator: str) -> list[str]:
        """Topics that an annotator may judge, in order."""
        rows = self.connection.db.conn.execute(
            f"SELECT t.query_id FROM topics AS t WHERE {_IS_MINE} ORDER BY t.topic", {"annotator": annotator}
        )
        return [query_id for (query_id,) in rows]

    def is_for(self, query_id: str, annotator: str) -> bool:
        """Whether an annotator may judge a topic."""
        return bool(
            self.connection.value(
                f"SELECT 1 FROM topics AS t WHERE t.query_id = :query_id AND {_IS_MINE}",
                {"query_id": query_id, "annotator": annotator},  # type: ignore[arg-type]
            )
        )

    @writes
    def changed(self) -> None:
        """Let everybody's progress be counted anew: topics are others', or other pairs are wanted."""
        self.connection.db.conn.execute(
            "INSERT INTO settings (key, value) VALUES ('assignment_version', '1') "
            "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        )

    def calibration(self) -> pd.DataFrame:
        """The pairs that everybody judges first: ``query_id``, ``doc_id``, ``position``, ``settled``.

        ``settled`` is the grade of the latest adjudication (null: no grade can be given), or where there is none the
        latest grade of imported qrels; null where neither is.
        """
        frame = self.connection.frame(
            """
            SELECT t.query_id, d.doc_id, c.position, (
                SELECT j.relevance FROM words AS w JOIN judgements AS j ON j.id = w.judgement
                WHERE w.topic = c.topic AND w.doc = c.doc
                  AND (w.counts_as = 'adjudication' OR j.annotator GLOB :qrels)
                ORDER BY w.counts_as = 'adjudication' DESC, +j.id DESC LIMIT 1) AS settled
            FROM calibration AS c JOIN topics AS t USING (topic) JOIN documents AS d USING (doc)
            ORDER BY c.topic, c.position
            """,
            {"qrels": f"{QRELS_ANNOTATOR}*"},  # type: ignore[arg-type]
        )
        return frame.astype({"settled": "Int64"})

    @writes
    def set_calibration(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Let everybody judge these pairs, (query_id, doc_id), and no others, first."""
        self.connection.db.conn.execute("DELETE FROM calibration")
        self.connection.db.conn.executemany(
            "INSERT INTO calibration (topic, position, doc) "
            "SELECT t.topic, ?, d.doc FROM topics AS t, documents AS d WHERE t.query_id = ? AND d.doc_id = ?",
            [(position, *pair) for position, pair in enumerate(pairs)],
        )

    def calibration_ids(self, query_id: str) -> list[str]:
        """Documents of a topic that everybody judges first, in order."""
        rows = self.connection.db.conn.execute(
            "SELECT d.doc_id FROM calibration AS c JOIN documents AS d USING (doc) "
            "WHERE c.topic = (SELECT topic FROM topics WHERE query_id = ?) ORDER BY c.position",
            (query_id,),
        )
        return [doc_id for (doc_id,) in rows]

    def calibration_left(self, annotator: str) -> dict[str, int]:
        """Topics, none that is closed, in which pairs of the calibration set are before an annotator, and how many."""
        rows = self.connection.db.conn.execute(
            "SELECT t.query_id, count(*) FROM calibration AS c JOIN topics AS t USING (topic) "
            "WHERE NOT EXISTS (SELECT 1 FROM words AS w WHERE w.topic = c.topic AND w.doc = c.doc "
            "                  AND w.annotator = ? AND w.counts_as = 'judgement') "
            "AND NOT EXISTS (SELECT 1 FROM topic_modes AS m WHERE m.topic = c.topic AND m.closed) "
            "GROUP BY t.topic ORDER BY t.topic",
            (annotator,),
        )
        return dict(rows.fetchall())

    def calibration_standing(self, annotator: str) -> list[tuple[str, bool, bool]]:
        """Each pair of the calibration set: its topic, and how it stands for an annotator.

        Whether :meth:`standings_for` counts it among the pool of a topic that is theirs, and whether they have
        judged it.
        """
        rows = self.connection.db.conn.execute(
            f"""
            SELECT t.query_id,
                   {_IS_MINE} AND EXISTS (SELECT 1 FROM pool AS p WHERE p.topic = c.topic AND p.doc = c.doc
                                          AND NOT {held_back("p.doc")}),
                   EXISTS (SELECT 1 FROM words AS w WHERE w.topic = c.topic AND w.doc = c.doc
                           AND w.annotator = :annotator AND w.counts_as = 'judgement')
            FROM calibration AS c JOIN topics AS t USING (topic) ORDER BY c.topic, c.position
            """,
            {"annotator": annotator},
        )
        return [(query_id, bool(counted), bool(judged)) for query_id, counted, judged in rows]

    def standing_for(self, query_id: str, annotator: str) -> tuple[int, int, int]:
        """Of one topic: pairs of the pool, those of them that want no judgement of this annotator, and all judged.

        A pair wants none when the annotator has judged it, when as many as are wanted have, or when it is adjudicated;
        one of the calibration set when the annotator has judged it. Pairs of the pool whose text is missing are in
        neither of the first two numbers: nobody gets them.
        """
        topic = self.connection.value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        row: tuple[int, int, int] = self.connection.db.conn.execute(
            f"""
            WITH s AS ({SAID.format(where="WHERE topic = :topic")})
            SELECT (SELECT count(*) FROM pool AS p WHERE p.topic = :topic AND NOT {held_back("p.doc")}),
                   (SELECT count(*) FROM s JOIN pool AS p ON p.topic = s.topic AND p.doc = s.doc WHERE {_DONE}),
                   (SELECT count(*) FROM s)
            """,
            {"topic": topic, "annotator": annotator},
        ).fetchone()
        return row

    def standing_since(self, query_id: str, annotator: str, logged: int) -> list[tuple[int, bool, bool]]:
        """Pairs of a topic of which the log has something newer than an entry, each with where it stands now.

        The document's key, whether it is judged, and whether it is of the pool and wants no judgement of this
        annotator any more; see :meth:`standing_for`.
        """
        topic = self.connection.value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        rows = self.connection.db.conn.execute(
            f"""
            SELECT n.doc, count(w.doc), p.doc IS NOT NULL AND NOT {held_back("p.doc")} AND (
                max(w.counts_as = 'judgement' AND w.annotator = :annotator)
                OR ((max(w.counts_as = 'adjudication') OR sum(w.counts_as = 'judgement') >= p.wanted)
                    AND NOT {_IN_CALIBRATION}))
            FROM (SELECT DISTINCT doc FROM judgements INDEXED BY judgements_topic
                  WHERE topic = :topic AND id > :logged) AS n
            LEFT JOIN words AS w ON w.topic = :topic AND w.doc = n.doc
            LEFT JOIN pool AS p ON p.topic = :topic AND p.doc = n.doc
            GROUP BY n.doc ORDER BY n.doc
            """,
            {"topic": topic, "annotator": annotator, "logged": logged},
        )
        return [(doc, bool(judged), bool(done)) for doc, judged, done in rows]

    def standings_for(self, annotator: str) -> dict[str, tuple[int, int, int]]:
        """The same of every topic."""
        rows = self.connection.db.conn.execute(
            f"""
            SELECT t.query_id, coalesce(p.pairs, 0), coalesce(j.done, 0), coalesce(j.judged, 0)
            FROM topics AS t
            LEFT JOIN (SELECT p.topic, count(*) AS pairs FROM pool AS p WHERE NOT {held_back("p.doc")}
                       GROUP BY p.topic) AS p USING (topic)
            LEFT JOIN (
                SELECT s.topic, count(*) AS judged, sum(p.doc IS NOT NULL AND {_DONE}) AS done
                FROM ({SAID.format(where="")}) AS s
                LEFT JOIN pool AS p ON p.topic = s.topic AND p.doc = s.doc GROUP BY s.topic
            ) AS j USING (topic)
            ORDER BY t.topic
            """,
            {"annotator": annotator},
        )
        return {query_id: tuple(numbers) for query_id, *numbers in rows}
