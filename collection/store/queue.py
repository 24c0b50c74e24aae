"""The queue of an annotator: modes of topics, candidate pairs, leases and skips."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from collection.core import clock
from collection.core.records import QRELS_ANNOTATOR, Candidate
from collection.store.connection import (
    JUDGED_PAIRS,
    Repository,
    count_held_by_others,
    is_held,
    is_held_back,
    json_text,
    writes,
)


class Selection(NamedTuple):
    """A document, and how it was selected for judging; its lease stores this until the judgement is made."""

    doc_id: str
    strategy: str | None = None
    pool_rank: int | None = None
    model_round: int | None = None
    probability: float | None = None
    conditions: int | None = None
    """Number of the conditions under which the loop selected it; see :meth:`QueueTables.number_conditions`."""


# Whether a lease `l` is of a pair on screen or in a work list; what is loaded behind the screen yields to others.
IS_FIRM = "coalesce(l.ahead, 0) = 0"

# The fields of a Candidate, in order, for the topic `t` and the document `d`.
_STATE = f"""
    d.doc_id, {{rank}} AS rank, {is_held_back("d.doc")} AS held_back,
    EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = d.doc
            AND cj.annotator = :annotator AND cj.counts_as = 'judgement') AS own,
    (SELECT count(*) FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = d.doc
            AND cj.annotator <> :annotator AND cj.counts_as = 'judgement') AS others,
    {count_held_by_others("t.topic", "d.doc")} AS leased,
    (SELECT max(skipped_at) FROM skips AS s WHERE s.topic = t.topic AND s.doc = d.doc
            AND s.annotator = :annotator) AS skipped,
    {{wanted}} AS wanted,
    EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = d.doc
            AND cj.counts_as = 'adjudication') AS adjudicated,
    EXISTS (SELECT 1 FROM qualification_set AS c WHERE c.topic = t.topic AND c.doc = d.doc) AS qualification
"""


class Demand(NamedTuple):
    """The facts that decide whether a pair still needs a judgement by one annotator.

    `others` is the number of other annotators who have judged it, `qrels` the number of imported qrels among them.
    `leased` is the number of further annotators who have it on screen or in a work list, and `held` whether this
    annotator has; `loaded` is the number of others whose browsers have only loaded it. `wanted` is the number of
    annotators that it needs, None outside the pool.
    """

    others: int
    qrels: int
    leased: int
    loaded: int
    held: bool
    wanted: int | None
    adjudicated: bool
    qualification: bool


class QueueTables(Repository):
    """The queue of an annotator: modes of topics, candidates, leases and skips."""

    def modes(self) -> list[tuple[str, str | None, bool]]:
        """Return the id of each topic, its own mode or None, and whether it is closed, in order."""
        rows = self.connection.execute(
            "SELECT t.query_id, m.mode, coalesce(m.closed, 0) FROM topics AS t "
            "LEFT JOIN topic_modes AS m USING (topic) ORDER BY t.topic"
        )
        return [(query_id, mode, bool(closed)) for query_id, mode, closed in rows]

    def mode(self, query_id: str) -> str | None:
        """Return a topic's own mode, or "closed"; None if the campaign's mode applies or there is no such topic."""
        mode: str | None = self.connection.value(
            "SELECT CASE WHEN closed THEN 'closed' ELSE mode END FROM topic_modes JOIN topics USING (topic) "
            "WHERE query_id = ?",
            (query_id,),
        )
        return mode

    @writes
    def set_mode(self, query_id: str, mode: str | None) -> None:
        """Open a topic in a mode of its own or, for None, in the campaign's mode."""
        self.connection.execute(
            "INSERT INTO topic_modes (topic, mode) SELECT topic, ? FROM topics WHERE query_id = ? "
            "ON CONFLICT (topic) DO UPDATE SET mode = excluded.mode, closed = 0",
            (mode, query_id),
        )

    @writes
    def close_topic(self, query_id: str, closed: bool = True) -> None:
        """Close a topic, which ends what is reserved of it, or reopen it; its mode stays."""
        self.connection.execute(
            "INSERT INTO topic_modes (topic, closed) SELECT topic, ? FROM topics WHERE query_id = ? "
            "ON CONFLICT (topic) DO UPDATE SET closed = excluded.closed",
            (int(closed), query_id),
        )
        if closed:
            for table in ("leases", "claims"):
                self.connection.execute(
                    f"UPDATE {table} SET until = :at WHERE until > :at "
                    "AND topic = (SELECT topic FROM topics WHERE query_id = :query_id)",
                    {"at": clock.seconds(), "query_id": query_id},
                )

    def candidates(
        self, query_id: str, annotator: str, at: float, among: Sequence[str] | None = None
    ) -> list[Candidate]:
        """Return the pooled documents of a topic in pool order, or the documents `among` in their order.

        `at` is the current time, in seconds since 1970. ``wanted`` is 0 outside the pool.
        """
        if among is None:
            state = _STATE.format(rank="p.rank", wanted="p.wanted")
            source = "pool AS p JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            source += "WHERE t.query_id = :query_id ORDER BY p.pool_round, p.position"
        else:
            state = _STATE.format(rank="o.key + 1", wanted="coalesce(p.wanted, 0)")
            source = "json_each(:ids) AS o JOIN documents AS d ON d.doc_id = o.value "
            source += "JOIN topics AS t ON t.query_id = :query_id "
            source += "LEFT JOIN pool AS p ON p.topic = t.topic AND p.doc = d.doc ORDER BY o.key"
        parameters = {"annotator": annotator, "query_id": query_id, "at": at, "ids": json_text(among or ())}
        return list(map(Candidate._make, self.connection.execute(f"SELECT {state} FROM {source}", parameters)))

    def unfinished(self, query_id: str, annotator: str, at: float) -> Iterator[Candidate]:
        """Yield the :meth:`candidates` of the pool that lack judgements, one at a time.

        Pairs of the qualification set that have the judgements of the pool are left out.
        """
        sql = f"""
            SELECT {_STATE.format(rank="p.rank", wanted="p.wanted")}
            FROM topics AS t CROSS JOIN pool AS p USING (topic) CROSS JOIN documents AS d USING (doc)
            WHERE t.query_id = :query_id AND p.wanted > (
                SELECT count(*) FROM current_judgements AS cj
                WHERE cj.topic = p.topic AND cj.doc = p.doc AND cj.counts_as = 'judgement')
            ORDER BY p.pool_round, p.position
        """
        return map(
            Candidate._make, self.connection.execute(sql, {"annotator": annotator, "query_id": query_id, "at": at})
        )

    @writes
    def skip(self, query_id: str, doc_id: str, annotator: str, at: float) -> None:
        """Record that an annotator skipped a pair."""
        self.connection.execute(
            "INSERT OR IGNORE INTO skips SELECT topic, doc, ?, ? FROM topics, documents "
            "WHERE query_id = ? AND doc_id = ?",
            (annotator, at, query_id, doc_id),
        )

    @writes
    def lease(
        self,
        query_id: str,
        selections: Iterable[Selection],
        annotator: str,
        at: float,
        until: float,
        *,
        behind: int = 0,
    ) -> None:
        """Reserve pairs for an annotator from now (`at`) until a time; `behind` is the number of pairs before them.

        A pair keeps its selection if the annotator found it by searching and still holds it, or if it was drawn at
        random and the annotator skipped it or now finds it by searching. It stays in a work list.
        """
        self.connection.executemany(
            """
            INSERT INTO leases
                (topic, doc, annotator, until, since, ahead, strategy, pool_rank, model_round, probability, conditions)
            SELECT topic, doc, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM topics, documents WHERE query_id = ? AND doc_id = ?
            ON CONFLICT (topic, doc, annotator) DO UPDATE SET
                until = CASE WHEN leases.ahead IS NULL THEN max(leases.until, excluded.until) ELSE excluded.until END,
                ahead = CASE WHEN leases.ahead IS NULL AND leases.until > excluded.since THEN NULL
                        ELSE excluded.ahead END,
                since = excluded.since,
                (strategy, pool_rank, model_round, probability, conditions) = (
                    SELECT excluded.strategy, excluded.pool_rank, excluded.model_round, excluded.probability,
                           excluded.conditions
                    WHERE (leases.strategy IS NOT 'search' OR leases.until <= ?)
                      AND NOT (leases.strategy IS 'random' AND (excluded.strategy IS 'search' OR EXISTS (
                        SELECT 1 FROM skips AS s WHERE s.topic = leases.topic AND s.doc = leases.doc
                        AND s.annotator = leases.annotator)))
                    UNION ALL SELECT strategy, pool_rank, model_round, probability, conditions LIMIT 1)
            """,
            [
                (annotator, until, at, ahead, *chosen[1:], query_id, chosen.doc_id, at)
                for ahead, chosen in enumerate(selections, behind)
            ],
        )

    @writes
    def lease_again(self, query_id: str, places: Mapping[str, int], annotator: str, at: float, until: float) -> None:
        """Reserve pairs that an annotator has judged already, as :meth:`lease` does; how they were selected stays.

        `places` are document ids -> numbers of pairs before them.
        """
        self.connection.executemany(
            """
            INSERT INTO leases (topic, doc, annotator, until, since, ahead)
            SELECT topic, doc, ?, ?, ?, ? FROM topics, documents WHERE query_id = ? AND doc_id = ?
            ON CONFLICT (topic, doc, annotator) DO UPDATE SET
                until = CASE WHEN leases.ahead IS NULL THEN max(leases.until, excluded.until) ELSE excluded.until END,
                ahead = CASE WHEN leases.ahead IS NULL AND leases.until > excluded.since THEN NULL
                        ELSE excluded.ahead END,
                since = excluded.since
            """,
            [(annotator, until, at, ahead, query_id, doc_id) for doc_id, ahead in places.items()],
        )

    @writes
    def number_conditions(self, conditions: str) -> int:
        """Return the number of a set of conditions under which the loop selects, a new one if it has none."""
        self.connection.execute("INSERT OR IGNORE INTO loop_conditions (conditions) VALUES (?)", (conditions,))
        return self.connection.count("SELECT id FROM loop_conditions WHERE conditions = ?", (conditions,))

    def find_conditions(self, conditions: Collection[str]) -> dict[str, int]:
        """Return the numbers of sets of conditions under which anything was selected."""
        return self.connection.mapping(
            "SELECT conditions, id FROM loop_conditions WHERE conditions IN (SELECT value FROM json_each(?)) "
            "ORDER BY id",
            (json_text(conditions),),
        )

    @writes
    def record_round(self, query_id: str, model_round: int, conditions: str, label_trust: float | None) -> int:
        """Record how much a training round trusted the label set that led it, the first time that it hands out pairs.

        Returns the number of its conditions, see :meth:`number_conditions`.
        """
        number = self.number_conditions(conditions)
        if label_trust is not None:
            self.connection.execute(
                "INSERT OR IGNORE INTO label_trust (topic, model_round, conditions, trust) "
                "SELECT topic, ?, ?, ? FROM topics WHERE query_id = ?",
                (model_round, number, label_trust, query_id),
            )
        return number

    def last_trust(self, label_set: int) -> dict[str, float]:
        """Return the trust of the last training round of each topic that a label set has led."""
        return self.connection.mapping(
            "SELECT t.query_id, l.trust FROM label_trust AS l JOIN topics AS t USING (topic) "
            "JOIN loop_conditions AS c ON c.id = l.conditions WHERE json_extract(c.conditions, '$.loop.labels') = ? "
            "ORDER BY l.model_round, l.conditions",
            (label_set,),
        )

    @writes
    def prolong(self, query_id: str, doc_ids: Sequence[str], annotator: str, at: float, until: float) -> None:
        """Renew an annotator's leases of these documents, of which the first is on screen.

        Nothing is written while a lease is in the first half of its time and stays on the screen or behind it. What was
        found by searching counts as on screen. Leases of work lists stay as they are.
        """
        self.connection.execute(
            """
            UPDATE leases SET until = :until, since = :at, ahead = CASE WHEN strategy IS 'search' THEN 0 ELSE o.key END
            FROM json_each(:ids) AS o JOIN documents AS d ON d.doc_id = o.value
            WHERE leases.topic = (SELECT topic FROM topics WHERE query_id = :query_id) AND leases.doc = d.doc
              AND annotator = :annotator AND (ahead IS NOT NULL OR until <= :at)
              AND (until < (:at + :until) / 2 OR (ahead = 0) IS NOT (o.key = 0 OR strategy IS 'search'))
            """,
            {"annotator": annotator, "query_id": query_id, "at": at, "until": until, "ids": json_text(doc_ids)},
        )

    @writes
    def keep_for_list(self, query_id: str, doc_ids: Sequence[str], annotator: str, at: float, until: float) -> None:
        """Reserve documents that an annotator holds for a work list."""
        self.connection.execute(
            "UPDATE leases SET until = ?, since = ?, ahead = NULL WHERE annotator = ? "
            "AND topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND doc IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))",
            (until, at, annotator, query_id, json_text(doc_ids)),
        )

    def prefetched_pairs(self, query_id: str, annotator: str, at: float) -> list[tuple[Selection, int]]:
        """Return the pairs of a topic that others have loaded behind what is on their screens, the last ones first.

        With each: how it was selected, and the number of annotators who have loaded it.
        """
        rows = self.connection.execute(
            f"""
            SELECT d.doc_id, l.strategy, l.pool_rank, l.model_round, l.probability, l.conditions,
                   count(*), max(l.ahead) AS ahead
            FROM leases AS l JOIN documents AS d USING (doc)
            WHERE l.topic = :topic AND l.annotator <> :annotator AND l.ahead > 0 AND {is_held("l.until")}
              AND NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = l.topic AND cj.doc = l.doc
                              AND cj.annotator = l.annotator AND cj.counts_as = 'judgement')
            GROUP BY l.doc ORDER BY ahead DESC, l.doc DESC
            """,
            {"topic": self.connection.topic_key(query_id), "annotator": annotator, "at": at},
        )
        return [(Selection._make(row[:6]), row[6]) for row in rows]

    @writes
    def end_prefetched(self, query_id: str, doc_id: str, annotator: str, at: float, number: int) -> None:
        """End that many leases of other annotators on a pair that they have loaded, where it comes last first."""
        self.connection.execute(
            f"""
            UPDATE leases SET until = :at WHERE (topic, doc, annotator) IN (
                SELECT l.topic, l.doc, l.annotator FROM leases AS l JOIN documents AS d USING (doc)
                WHERE l.topic = :topic AND d.doc_id = :doc_id AND l.annotator <> :annotator AND l.ahead > 0
                  AND {is_held("l.until")} ORDER BY l.ahead DESC, l.annotator LIMIT :number)
            """,
            {
                "topic": self.connection.topic_key(query_id),
                "doc_id": doc_id,
                "annotator": annotator,
                "at": at,
                "number": number,
            },
        )

    def held_pairs(self, annotator: str, at: float) -> list[tuple[str, str]]:
        """Return the pairs that an annotator holds now and has not judged: topic and document, by topic."""
        return self.connection.execute(
            f"""
            SELECT t.query_id, d.doc_id FROM leases AS l JOIN topics AS t USING (topic) JOIN documents AS d USING (doc)
            WHERE l.annotator = :annotator AND {is_held("l.until")} AND NOT EXISTS (
                SELECT 1 FROM current_judgements AS cj WHERE cj.topic = l.topic AND cj.doc = l.doc
                AND cj.annotator = l.annotator AND cj.counts_as = 'judgement')
            ORDER BY t.topic, d.doc
            """,
            {"annotator": annotator, "at": at},
        ).fetchall()

    def count_unavailable(self, query_id: str, at: float, annotator: str | None = None) -> int:
        """Count a topic's unjudged documents that are leased now; with `annotator`, only those leased to others.

        Documents that this annotator skipped also count, since they are not shown either.
        """
        sql = f"""
            SELECT count(*) FROM (
                SELECT doc FROM leases WHERE topic = :topic AND {is_held("until")} AND annotator IS NOT :annotator
                UNION SELECT doc FROM skips WHERE topic = :topic AND annotator = :annotator
            ) AS u WHERE NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.doc = u.doc AND cj.topic = :topic)
        """
        topic = self.connection.topic_key(query_id)
        return self.connection.count(sql, {"topic": topic, "at": at, "annotator": annotator})

    def unavailable_rows(self, query_id: str, at: float, annotator: str) -> list[int]:
        """Return the matrix rows that a topic's loop does not offer an annotator now, ascending.

        These documents are judged, leased to others, or skipped by the annotator.
        """
        sql = f"""
            SELECT doc - 1 FROM (
                SELECT doc FROM current_judgements WHERE topic = :topic
                UNION SELECT doc FROM leases
                    WHERE topic = :topic AND {is_held("until")} AND annotator <> :annotator
                UNION SELECT doc FROM skips WHERE topic = :topic AND annotator = :annotator
            ) ORDER BY doc
        """
        topic = self.connection.topic_key(query_id)
        return self.connection.column(sql, {"topic": topic, "at": at, "annotator": annotator})

    def count_taken(self, at: float, annotator: str | None = None, query_id: str | None = None) -> dict[str, int]:
        """Count the documents by topic that are judged, or leased now to others than the annotator.

        With `query_id`, the annotator's leases in other topics count too. Topics without such a document are missing.
        """
        return self.connection.mapping(
            f"""
            SELECT t.query_id, c.judged + c.elsewhere + coalesce(l.leased, 0) AS taken
            FROM topics AS t JOIN topic_counts AS c USING (topic) LEFT JOIN (
                SELECT l.topic, count(DISTINCT l.doc) AS leased FROM leases AS l JOIN topics AS o USING (topic)
                WHERE {is_held("l.until")}
                AND NOT (l.annotator IS :annotator AND (:query_id IS NULL OR o.query_id = :query_id))
                AND NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = l.topic AND cj.doc = l.doc)
                GROUP BY l.topic
            ) AS l USING (topic) WHERE taken > 0 ORDER BY t.topic
            """,
            {"at": at, "annotator": annotator, "query_id": query_id},
        )

    @writes
    def end_leases(
        self, query_id: str, annotator: str, at: float, *, keep: Sequence[str] = (), others: bool = False
    ) -> None:
        """End an annotator's leases in a topic, except of the documents to `keep`; with `others`, in other topics too.

        An ended lease still stores how the pair was selected, for a judgement that arrives late. Work lists stay.
        """
        topic = self.connection.topic_key(query_id)
        self.connection.execute(
            "UPDATE leases SET until = ? WHERE annotator = ? AND until > ? AND topic = ? AND ahead IS NOT NULL "
            "AND doc NOT IN (SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))",
            (at, annotator, at, topic, json_text(keep)),
        )
        if others:
            self.connection.execute(
                "UPDATE leases SET until = ? WHERE annotator = ? AND until > ? AND topic <> ? AND ahead IS NOT NULL",
                (at, annotator, at, topic),
            )

    def demand(self, query_id: str, doc_id: str, annotator: str, at: float) -> Demand:
        """Return the :class:`Demand` of a pair for an annotator at a time in seconds since 1970."""
        pair = {"query_id": query_id, "doc_id": doc_id}
        row = self.connection.execute(
            f"""
            SELECT (SELECT count(*) FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = d.doc
                      AND cj.annotator <> :annotator AND cj.counts_as = 'judgement'),
                   (SELECT count(*) FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = d.doc
                      AND cj.annotator <> :annotator AND cj.counts_as = 'judgement' AND cj.annotator GLOB :qrels),
                   {count_held_by_others("t.topic", "d.doc", IS_FIRM)},
                   {count_held_by_others("t.topic", "d.doc", f"NOT {IS_FIRM}")},
                   EXISTS (SELECT 1 FROM leases AS l WHERE l.topic = t.topic AND l.doc = d.doc
                      AND l.annotator = :annotator AND {IS_FIRM} AND {is_held("l.until")}),
                   (SELECT p.wanted FROM pool AS p WHERE p.topic = t.topic AND p.doc = d.doc),
                   EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = d.doc
                      AND cj.counts_as = 'adjudication'),
                   EXISTS (SELECT 1 FROM qualification_set AS c WHERE c.topic = t.topic AND c.doc = d.doc)
            FROM topics AS t, documents AS d WHERE t.query_id = :query_id AND d.doc_id = :doc_id
            """,
            pair | {"annotator": annotator, "at": at, "qrels": f"{QRELS_ANNOTATOR}*"},
        ).fetchone()
        others, qrels, leased, loaded, held, wanted, adjudicated, qualification = row
        return Demand(others, qrels, leased, loaded, bool(held), wanted, bool(adjudicated), bool(qualification))

    def judged_by_others(self, query_id: str, annotator: str, at: float) -> list[tuple[str, int, int | None]]:
        """Return judgeable pairs that only others have judged and nobody has adjudicated, oldest first.

        For each pair: the document id, the number of others who have judged it or hold it now, and the number of
        annotators that it needs (None outside the pool).
        """
        return self.connection.execute(
            f"SELECT d.doc_id, s.judgements + {count_held_by_others('s.topic', 's.doc')}, p.wanted "
            f"FROM ({JUDGED_PAIRS.format(where='WHERE topic = :topic')}) AS s "
            "JOIN documents AS d USING (doc) LEFT JOIN pool AS p ON p.topic = s.topic AND p.doc = s.doc "
            f"WHERE NOT s.own AND NOT s.adjudicated AND NOT {is_held_back('s.doc')} ORDER BY "
            # The plus sign keeps SQLite from scanning the topic's log for the smallest id.
            "(SELECT min(+j.id) FROM judgements AS j WHERE j.topic = s.topic AND j.doc = s.doc)",
            {"annotator": annotator, "at": at, "topic": self.connection.topic_key(query_id)},
        ).fetchall()
