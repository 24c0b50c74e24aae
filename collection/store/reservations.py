"""Reservations: which annotator holds which pair or topic, where, and how a reservation ends."""

from __future__ import annotations

import pandas as pd

from collection.core.records import LONGEST_LEASE
from collection.store.connection import Repository, is_assigned, is_held, writes

SCREEN, AHEAD, LIST = "screen", "ahead", "work list"
"""Where a reserved pair or topic is: on a screen, loaded by the browser behind that, or in an exported work list."""

_TABLES = ("leases", "claims")

# Whether the annotator of a reservation `r` may not judge its topic, and the pair is not in the qualification set.
_IS_FOREIGN = f"NOT EXISTS (SELECT 1 FROM topics AS t WHERE t.topic = r.topic AND {is_assigned('r.annotator')})"
_IS_FOREIGN_PAIR = (
    f"{_IS_FOREIGN} AND NOT EXISTS (SELECT 1 FROM qualification_set AS c WHERE c.topic = r.topic AND c.doc = r.doc)"
)


class ReservationTables(Repository):
    """Reservations of pairs (leases) and of topics (claims).

    A reservation that ended stays as a row: it says that the pair was handed out, and how it was selected.
    """

    def table(self, at: float) -> pd.DataFrame:
        """Return what is reserved at a time and not judged, by annotator and topic, what is on screen first.

        ``annotator``, ``query_id``, ``doc_id`` (None: the whole topic), ``place`` (:data:`SCREEN`, :data:`AHEAD` or
        :data:`LIST`), ``since`` and ``until`` (seconds since 1970).
        """
        return self.connection.frame(
            f"""
            SELECT annotator, query_id, doc_id, CASE WHEN ahead IS NULL THEN '{LIST}' WHEN ahead = 0 THEN '{SCREEN}'
                   ELSE '{AHEAD}' END AS place, since, until
            FROM (
                SELECT l.annotator, l.topic, d.doc_id, l.ahead, l.since, l.until
                FROM leases AS l JOIN documents AS d USING (doc) WHERE {is_held("l.until")} AND NOT EXISTS (
                    SELECT 1 FROM current_judgements AS cj WHERE cj.topic = l.topic AND cj.doc = l.doc
                    AND cj.annotator = l.annotator AND cj.counts_as = 'judgement')
                UNION ALL SELECT c.annotator, c.topic, NULL, c.ahead, c.since, c.until FROM claims AS c
                WHERE {is_held("c.until")}
            ) JOIN topics USING (topic) ORDER BY annotator, topic, ahead IS NULL, ahead, doc_id
            """,
            {"at": at},
        )

    @writes
    def release(
        self, at: float, annotator: str | None = None, query_id: str | None = None, *, lists: bool = False
    ) -> int:
        """End reservations of an annotator or of all, in a topic or in all; return their number.

        With `lists`, also those of work lists, which people have outside the app.
        """
        tests = ["until > :at"]
        tests += ["annotator = :annotator"] if annotator is not None else []
        tests += ["topic = (SELECT topic FROM topics WHERE query_id = :query_id)"] if query_id is not None else []
        tests += [] if lists else ["ahead IS NOT NULL"]
        values = {"at": at, "annotator": annotator, "query_id": query_id}
        return sum(
            self.connection.execute(f"UPDATE {table} SET until = :at WHERE {' AND '.join(tests)}", values).rowcount
            for table in _TABLES
        )

    @writes
    def release_foreign(self, at: float) -> None:
        """End the reservations, also of work lists, in topics that are not assigned to the annotator any more."""
        for table, is_foreign in (("leases", _IS_FOREIGN_PAIR), ("claims", _IS_FOREIGN)):
            self.connection.execute(
                f"UPDATE {table} AS r SET until = :at WHERE until > :at AND {is_foreign}", {"at": at}
            )

    @writes
    def shorten(self, at: float, lease: float) -> None:
        """End reservations `lease` seconds after they were made or renewed, except of work lists."""
        for table in _TABLES:
            self.connection.execute(
                f"UPDATE {table} SET until = max(:at, since + :lease) WHERE ahead IS NOT NULL "
                "AND until > max(:at, since + :lease) AND until <= :at + :longest",
                {"at": at, "lease": lease, "longest": LONGEST_LEASE},
            )
