"""Who judges what: topics and their people, how many judge each pair, calibration, and what is left for whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from collection.records import QRELS_ANNOTATOR
from collection.store.connection import Connection, held_back, held_by_others


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


# Whether topic `t` is one of :annotator's: assigned to them or to a group of theirs, or to nobody in particular.
_IS_MINE = """
    (NOT EXISTS (SELECT 1 FROM assignments AS a WHERE a.topic = t.topic)
     OR EXISTS (SELECT 1 FROM assignments AS a WHERE a.topic = t.topic AND a.kind = 'account' AND a.name = :annotator)
     OR EXISTS (SELECT 1 FROM assignments AS a JOIN memberships AS m ON m.group_name = a.name
                WHERE a.topic = t.topic AND a.kind = 'group' AND m.account = :annotator))
"""

# Of each pair on which somebody's word stands: annotators, whether one of them is :annotator, whether it is ended.
_SAID = """
    SELECT topic, doc, sum(counts_as = 'judgement') AS said,
           max(counts_as = 'judgement' AND annotator = :annotator) AS mine, max(counts_as = 'adjudication') AS ended
    FROM words {where} GROUP BY topic, doc
"""


# Whether the pair `p` of the pool is one of the calibration set.
_IN_CALIBRATION = "EXISTS (SELECT 1 FROM calibration AS c WHERE c.topic = p.topic AND c.doc = p.doc)"

# Whether the pair `p` of the pool, of which `s` says what was said, wants no judgement of :annotator.
_DONE = f"(NOT {held_back('p.doc')} AND (s.mine OR ((s.ended OR s.said >= p.wanted) AND NOT {_IN_CALIBRATION})))"


class Assigning(Connection):
    """The part of the store that says who judges what."""

    # --- topics -----------------------------------------------------------------------------------

    def assignments(self) -> list[tuple[str, str, str]]:
        """``query_id``, ``kind`` ("account" or "group") and name of each assignment, by topic, kind and name."""
        return self.db.conn.execute(
            "SELECT t.query_id, a.kind, a.name FROM assignments AS a JOIN topics AS t USING (topic) "
            "ORDER BY t.topic, a.kind, a.name"
        ).fetchall()

    def assign(self, query_id: str, accounts: Iterable[str], groups: Iterable[str]) -> None:
        """Assign a topic to these and to nobody else; to none at all, and it is open to everybody."""
        topic = self._value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        self.db.conn.execute("DELETE FROM assignments WHERE topic = ?", (topic,))
        rows = [(topic, "account", name) for name in accounts] + [(topic, "group", name) for name in groups]
        self.db.conn.executemany("INSERT OR IGNORE INTO assignments VALUES (?, ?, ?)", rows)

    def topics_for(self, annotator: str) -> list[str]:
        """Topics that an annotator may judge, in order."""
        rows = self.db.conn.execute(
            f"SELECT t.query_id FROM topics AS t WHERE {_IS_MINE} ORDER BY t.topic", {"annotator": annotator}
        )
        return [query_id for (query_id,) in rows]

    def is_for(self, query_id: str, annotator: str) -> bool:
        """Whether an annotator may judge a topic."""
        return bool(
            self._value(
                f"SELECT 1 FROM topics AS t WHERE t.query_id = :query_id AND {_IS_MINE}",
                {"query_id": query_id, "annotator": annotator},  # type: ignore[arg-type]
            )
        )

    def assignment_changed(self) -> None:
        """Let everybody's progress be counted anew: topics are others', or other pairs are wanted."""
        self.db.conn.execute(
            "INSERT INTO settings (key, value) VALUES ('assignment_version', '1') "
            "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        )

    def topic_notes(self) -> dict[str, str]:
        """``query_id`` -> the manager's note, of the topics that have one."""
        return dict(
            self.db.conn.execute("SELECT query_id, note FROM topics WHERE note <> '' ORDER BY topic").fetchall()
        )

    def text(self, name: str) -> str:
        """A long text by name; empty where there is none."""
        return str(self._value("SELECT text FROM texts WHERE name = ?", (name,)) or "")

    def put_text(self, name: str, text: str) -> None:
        """Keep a long text."""
        self.db.conn.execute(
            "INSERT INTO texts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET text = excluded.text", (name, text)
        )

    def set_topic_note(self, query_id: str, note: str) -> None:
        """Write a topic's note."""
        self.db.conn.execute("UPDATE topics SET note = ? WHERE query_id = ?", (note, query_id))

    # --- how many judge a pair ----------------------------------------------------------------------

    def pool_wanted(self) -> pd.DataFrame:
        """How many are to judge each pair of the pool: ``query_id``, ``doc_id``, ``wanted``, ``topic``, ``doc``.

        In the order of topics, and of the pool in each. The last two are the keys for :meth:`set_wanted`.
        """
        return self._frame(
            "SELECT t.query_id, d.doc_id, p.wanted, p.topic, p.doc FROM pool AS p "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "ORDER BY p.topic, p.pool_round, p.position"
        )

    def set_wanted(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        """Write how many are to judge pairs of the pool: the number, and the keys of topic and document."""
        self.db.conn.executemany("UPDATE pool SET wanted = ? WHERE topic = ? AND doc = ?", pairs)

    def demand(self, query_id: str, doc_id: str, annotator: str, at: float) -> Demand:
        """Whether a pair wants a judgement of an annotator at a time (seconds since 1970)."""
        row = self.db.conn.execute(
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
        return self.db.conn.execute(
            f"SELECT d.doc_id, s.said + {held_by_others('s.topic', 's.doc')}, p.wanted "
            f"FROM ({_SAID.format(where='WHERE topic = :topic')}) AS s "
            "JOIN documents AS d USING (doc) LEFT JOIN pool AS p ON p.topic = s.topic AND p.doc = s.doc "
            f"WHERE NOT s.mine AND NOT s.ended AND NOT {held_back('s.doc')} ORDER BY "
            # The sign keeps SQLite from walking through the topic's log in search of the smallest id.
            "(SELECT min(+j.id) FROM judgements AS j WHERE j.topic = s.topic AND j.doc = s.doc)",
            {
                "annotator": annotator,
                "at": at,
                "topic": self._value("SELECT topic FROM topics WHERE query_id = ?", (query_id,)),
            },
        ).fetchall()

    # --- calibration --------------------------------------------------------------------------------

    def calibration(self) -> pd.DataFrame:
        """The pairs that everybody judges first: ``query_id``, ``doc_id``, ``position``, ``settled``.

        ``settled`` is the grade of the latest adjudication (null: no grade can be given), or where there is none the
        latest grade of imported qrels; null where neither is.
        """
        frame = self._frame(
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

    def set_calibration(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Let everybody judge these pairs, (query_id, doc_id), and no others, first."""
        self.db.conn.execute("DELETE FROM calibration")
        self.db.conn.executemany(
            "INSERT INTO calibration (topic, position, doc) "
            "SELECT t.topic, ?, d.doc FROM topics AS t, documents AS d WHERE t.query_id = ? AND d.doc_id = ?",
            [(position, *pair) for position, pair in enumerate(pairs)],
        )

    def calibration_ids(self, query_id: str) -> list[str]:
        """Documents of a topic that everybody judges first, in order."""
        rows = self.db.conn.execute(
            "SELECT d.doc_id FROM calibration AS c JOIN documents AS d USING (doc) "
            "WHERE c.topic = (SELECT topic FROM topics WHERE query_id = ?) ORDER BY c.position",
            (query_id,),
        )
        return [doc_id for (doc_id,) in rows]

    def calibration_left(self, annotator: str) -> dict[str, int]:
        """Topics, none that is closed, in which pairs of the calibration set are before an annotator, and how many."""
        rows = self.db.conn.execute(
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
        rows = self.db.conn.execute(
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

    # --- how far it is for one annotator ------------------------------------------------------------

    def standing_for(self, query_id: str, annotator: str) -> tuple[int, int, int]:
        """Of one topic: pairs of the pool, those of them that want no judgement of this annotator, and all judged.

        A pair wants none when the annotator has judged it, when as many as are wanted have, or when it is adjudicated;
        one of the calibration set when the annotator has judged it. Pairs of the pool whose text is missing are in
        neither of the first two numbers: nobody gets them.
        """
        topic = self._value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        row: tuple[int, int, int] = self.db.conn.execute(
            f"""
            WITH s AS ({_SAID.format(where="WHERE topic = :topic")})
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
        topic = self._value("SELECT topic FROM topics WHERE query_id = ?", (query_id,))
        rows = self.db.conn.execute(
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
        rows = self.db.conn.execute(
            f"""
            SELECT t.query_id, coalesce(p.pairs, 0), coalesce(j.done, 0), coalesce(j.judged, 0)
            FROM topics AS t
            LEFT JOIN (SELECT p.topic, count(*) AS pairs FROM pool AS p WHERE NOT {held_back("p.doc")}
                       GROUP BY p.topic) AS p USING (topic)
            LEFT JOIN (
                SELECT s.topic, count(*) AS judged, sum(p.doc IS NOT NULL AND {_DONE}) AS done
                FROM ({_SAID.format(where="")}) AS s
                LEFT JOIN pool AS p ON p.topic = s.topic AND p.doc = s.doc GROUP BY s.topic
            ) AS j USING (topic)
            ORDER BY t.topic
            """,
            {"annotator": annotator},
        )
        return {query_id: tuple(numbers) for query_id, *numbers in rows}
