"""Topic assignments, the qualification set, and the progress of annotators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from collection.core.records import QRELS_ANNOTATOR
from collection.store.connection import (
    POOL_IF_TEXTS_MISSING,
    Repository,
    is_assigned,
    is_held_back,
    json_text,
    writes,
)

_IS_ASSIGNED = is_assigned(":annotator")

# Whether the pooled pair `p` is in the qualification set.
_IN_QUALIFICATION_SET = "EXISTS (SELECT 1 FROM qualification_set AS c WHERE c.topic = p.topic AND c.doc = p.doc)"


class AssignmentTables(Repository):
    """Topic assignments, the qualification set, and the progress of annotators."""

    def table(self) -> list[tuple[str, str, str]]:
        """Return ``query_id``, ``kind`` ("account" or "group") and ``name`` of each assignment, sorted by these."""
        return self.connection.execute(
            "SELECT t.query_id, a.kind, a.name FROM assignments AS a JOIN topics AS t USING (topic) "
            "ORDER BY t.topic, a.kind, a.name"
        ).fetchall()

    @writes
    def assign(self, query_id: str, accounts: Iterable[str], groups: Iterable[str]) -> None:
        """Assign a topic to exactly these accounts and groups; without any, it is open to everybody."""
        topic = self.connection.topic_key(query_id)
        self.connection.execute("DELETE FROM assignments WHERE topic = ?", (topic,))
        rows = [(topic, "account", name) for name in accounts] + [(topic, "group", name) for name in groups]
        self.connection.executemany("INSERT OR IGNORE INTO assignments VALUES (?, ?, ?)", rows)

    def topics_for(self, annotator: str) -> list[str]:
        """Return the topics that an annotator may judge, in order."""
        return self.connection.column(
            f"SELECT t.query_id FROM topics AS t WHERE {_IS_ASSIGNED} ORDER BY t.topic", {"annotator": annotator}
        )

    def is_for(self, query_id: str, annotator: str) -> bool:
        """Tell whether an annotator may judge a topic."""
        return self.connection.exists(
            f"SELECT 1 FROM topics AS t WHERE t.query_id = :query_id AND {_IS_ASSIGNED}",
            {"query_id": query_id, "annotator": annotator},
        )

    def may_see(self, query_id: str, annotator: str) -> bool:
        """Tell whether an annotator may judge a topic, or could: it was handed out to them, or they have judged it."""
        return self.connection.exists(
            f"""
            SELECT 1 FROM topics AS t WHERE t.query_id = :query_id AND (
                {_IS_ASSIGNED}
                OR EXISTS (SELECT 1 FROM qualification_set AS c WHERE c.topic = t.topic)
                OR EXISTS (SELECT 1 FROM leases AS l WHERE l.topic = t.topic AND l.annotator = :annotator)
                OR EXISTS (SELECT 1 FROM latest_judgements AS lj WHERE lj.topic = t.topic AND lj.annotator = :annotator)
                OR EXISTS (SELECT 1 FROM claims AS c WHERE c.topic = t.topic AND c.annotator = :annotator)
                OR EXISTS (SELECT 1 FROM choices AS c WHERE c.topic = t.topic AND c.annotator = :annotator)
                OR EXISTS (SELECT 1 FROM preferences AS p WHERE p.topic = t.topic AND p.annotator = :annotator))
            """,
            {"query_id": query_id, "annotator": annotator},
        )

    @writes
    def changed(self) -> None:
        """Invalidate the cached progress of annotators, after a change of assignments or overlap."""
        self.connection.execute(
            "INSERT INTO settings (key, value) VALUES ('assignment_version', '1') "
            "ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
        )

    def qualification_set(self) -> pd.DataFrame:
        """Return the qualification set: ``query_id``, ``doc_id``, ``position``, ``settled``.

        ``settled`` is the grade of the latest adjudication (null: cannot judge), else the latest grade of imported
        qrels, else null.
        """
        frame = self.connection.frame(
            """
            SELECT t.query_id, d.doc_id, c.position, (
                SELECT j.relevance FROM current_judgements AS cj JOIN judgements AS j ON j.id = cj.judgement
                WHERE cj.topic = c.topic AND cj.doc = c.doc
                  AND (cj.counts_as = 'adjudication' OR j.annotator GLOB :qrels)
                ORDER BY cj.counts_as = 'adjudication' DESC, +j.id DESC LIMIT 1) AS settled
            FROM qualification_set AS c JOIN topics AS t USING (topic) JOIN documents AS d USING (doc)
            ORDER BY c.topic, c.position
            """,
            {"qrels": f"{QRELS_ANNOTATOR}*"},
        )
        return frame.astype({"settled": "Int64"})

    @writes
    def set_qualification_set(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Replace the qualification set by these pairs (query_id, doc_id)."""
        self.connection.execute("DELETE FROM qualification_set")
        self.connection.executemany(
            "INSERT INTO qualification_set (topic, position, doc) "
            "SELECT t.topic, ?, d.doc FROM topics AS t, documents AS d WHERE t.query_id = ? AND d.doc_id = ?",
            [(position, *pair) for position, pair in enumerate(pairs)],
        )

    def qualification_ids(self, query_id: str) -> list[str]:
        """Return the documents of a topic that are in the qualification set, in order."""
        return self.connection.column(
            "SELECT d.doc_id FROM qualification_set AS c JOIN documents AS d USING (doc) "
            "WHERE c.topic = (SELECT topic FROM topics WHERE query_id = ?) ORDER BY c.position",
            (query_id,),
        )

    def qualification_left(self, annotator: str) -> dict[str, int]:
        """Count the qualification pairs that an annotator has not judged, for each open topic with such pairs."""
        return self.connection.mapping(
            "SELECT t.query_id, count(*) FROM qualification_set AS c CROSS JOIN topics AS t USING (topic) "
            "WHERE NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = c.topic AND cj.doc = c.doc "
            "                  AND cj.annotator = ? AND cj.counts_as = 'judgement') "
            "AND NOT EXISTS (SELECT 1 FROM topic_modes AS m WHERE m.topic = c.topic AND m.closed) "
            "GROUP BY c.topic ORDER BY c.topic",
            (annotator,),
        )

    def qualification_standing(self, annotator: str) -> list[tuple[str, bool, bool]]:
        """Return the topic of each pair of the qualification set, with two flags for an annotator.

        The flags are whether :meth:`standings_for` counts the pair in the pool of one of the annotator's topics, and
        whether the annotator has judged it.
        """
        rows = self.connection.execute(
            f"""
            SELECT t.query_id,
                   {_IS_ASSIGNED} AND EXISTS (SELECT 1 FROM pool AS p WHERE p.topic = c.topic AND p.doc = c.doc
                                          AND p.wanted > 0 AND NOT {is_held_back("p.doc")}),
                   EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = c.topic AND cj.doc = c.doc
                           AND cj.annotator = :annotator AND cj.counts_as = 'judgement')
            FROM qualification_set AS c JOIN topics AS t USING (topic) ORDER BY c.topic, c.position
            """,
            {"annotator": annotator},
        )
        return [(query_id, bool(counted), bool(judged)) for query_id, counted, judged in rows]

    def standing_since(self, query_id: str, annotator: str, logged: int) -> list[tuple[int, bool, bool]]:
        """Return the pairs of a topic with log entries newer than `logged`.

        For each pair: the document's key, whether it is judged, and whether it is pooled and needs no judgement by this
        annotator (:meth:`standings_for`).
        """
        topic = self.connection.topic_key(query_id)
        rows = self.connection.execute(
            f"""
            SELECT n.doc, count(cj.doc), p.doc IS NOT NULL AND p.wanted > 0 AND NOT {is_held_back("p.doc")} AND (
                max(cj.counts_as = 'judgement' AND cj.annotator = :annotator)
                OR ((max(cj.counts_as = 'adjudication') OR sum(cj.counts_as = 'judgement') >= p.wanted)
                    AND NOT {_IN_QUALIFICATION_SET}))
            FROM (SELECT DISTINCT doc FROM judgements INDEXED BY judgements_topic
                  WHERE topic = :topic AND id > :logged) AS n
            LEFT JOIN current_judgements AS cj ON cj.topic = :topic AND cj.doc = n.doc
            LEFT JOIN pool AS p ON p.topic = :topic AND p.doc = n.doc
            GROUP BY n.doc ORDER BY n.doc
            """,
            {"topic": topic, "annotator": annotator, "logged": logged},
        )
        return [(doc, bool(judged), bool(done)) for doc, judged, done in rows]

    def standings_for(self, annotator: str, query_ids: Iterable[str] | None = None) -> dict[str, tuple[int, int, int]]:
        """Count pooled pairs, those of them that need no judgement by the annotator, and all judged pairs, by topic.

        A pair needs no judgement if the annotator has judged it or, outside the qualification set, if enough others
        have judged it or it is adjudicated. The first two numbers leave out pairs without a text, and those outside the
        sample in use. Of these topics, or of every topic.
        """
        # The kept counts know which pairs have all judgements. Only the others are looked at: with several annotators
        # or a sample in use those that this annotator has judged, the qualification set, and pairs without a text.
        rows = self.connection.execute(
            f"""
            WITH own AS (
                SELECT * FROM topics JOIN topic_counts USING (topic)
                WHERE :ids IS NULL OR query_id IN (SELECT value FROM json_each(:ids))
            ), odd AS (
                SELECT cj.topic, cj.doc FROM own CROSS JOIN current_judgements AS cj USING (topic)
                WHERE (own.wanted > own.pool OR EXISTS (SELECT 1 FROM sample_in_use)) AND cj.annotator = :annotator
                UNION SELECT c.topic, c.doc FROM qualification_set AS c
                UNION SELECT p.topic, p.doc FROM {POOL_IF_TEXTS_MISSING} AS p WHERE {is_held_back("p.doc")}
            ), states AS (
                SELECT p.topic, {is_held_back("p.doc")} AS held,
                       coalesce(max(cj.counts_as = 'judgement' AND cj.annotator = :annotator), 0) AS judged,
                       coalesce(max(cj.counts_as = 'adjudication') OR sum(cj.counts_as = 'judgement') >= p.wanted, 0)
                           AS made, {_IN_QUALIFICATION_SET} AS for_all
                FROM own CROSS JOIN odd USING (topic)
                JOIN pool AS p ON p.topic = odd.topic AND p.doc = odd.doc AND p.wanted > 0
                LEFT JOIN current_judgements AS cj ON cj.topic = p.topic AND cj.doc = p.doc GROUP BY p.topic, p.doc
            ), differences AS (
                SELECT topic, sum(held) AS held, sum((NOT held AND (judged OR (made AND NOT for_all))) - made) AS done
                FROM states GROUP BY topic
            ), unasked AS (
                SELECT topic, count(*) AS pairs FROM sample_in_use CROSS JOIN pool WHERE wanted = 0 GROUP BY topic
            )
            SELECT m.query_id, m.pool - coalesce(u.pairs, 0) - coalesce(d.held, 0),
                   m.finished - coalesce(u.pairs, 0) + coalesce(d.done, 0), m.judged + m.elsewhere
            FROM own AS m LEFT JOIN differences AS d USING (topic) LEFT JOIN unasked AS u USING (topic)
            ORDER BY m.topic
            """,
            {"annotator": annotator, "ids": None if query_ids is None else json_text(query_ids)},
        )
        return {query_id: tuple(numbers) for query_id, *numbers in rows}
