"""Removal of topics, documents, runs and pooled pairs that no log names."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from collection.store.connection import Repository, is_held, json_text, writes

JUDGED, LABELLED, RESERVED = "judged", "has machine labels", "reserved by an annotator"
ANSWERED = "has generated answers or nuggets"
"""Reasons for which something stays."""

_TOPIC_LOGS = {
    "judgements": JUDGED, "choices": JUDGED, "preferences": JUDGED, "machine_labels": LABELLED,
    "injection_probes": LABELLED, "human_samples": LABELLED, "label_views": LABELLED, "answers": ANSWERED,
    "nugget_log": ANSWERED,
}  # fmt: skip
"""Tables that name topics for good, and the reason for which such a topic stays; the strongest reason first."""

_DOCUMENT_LOGS = {
    "judgements": ("doc", JUDGED), "choice_documents": ("doc", JUDGED), "preferences": ("left_doc", JUDGED),
    "preferences AS p": ("right_doc", JUDGED), "machine_labels": ("doc", LABELLED),
    "human_samples": ("doc", LABELLED), "label_views": ("doc", LABELLED),
}  # fmt: skip
"""The same for documents, with the column that names them."""

_OF_TOPICS = (
    "leases", "skips", "topic_modes", "assignments", "qualification_set", "sampled_out", "clicks", "claims", "pool",
    "label_trust", "topic_counts", "topics",
)  # fmt: skip
"""Tables from which a removed topic disappears, in an order that no reference forbids."""

_OF_DOCUMENTS = ("leases", "skips", "qualification_set", "sampled_out", "clicks", "pool")
"""Tables from which a removed document disappears."""

_POOL_ROW = "topic, pool_round, position, rank, probability, wanted, stratum"
"""Columns of a pooled pair besides its document."""

_IN_USE = """
    EXISTS (SELECT 1 FROM judgements AS j WHERE j.topic = p.topic AND j.doc = p.doc)
    OR EXISTS (SELECT 1 FROM choices AS c JOIN choice_documents AS d ON d.choice = c.id
               WHERE c.topic = p.topic AND d.doc = p.doc)
    OR EXISTS (SELECT 1 FROM preferences AS f WHERE f.topic = p.topic AND p.doc IN (f.left_doc, f.right_doc))
    OR EXISTS (SELECT 1 FROM human_samples AS h WHERE h.topic = p.topic AND h.doc = p.doc)
"""
"""SQL for whether somebody has judged the pooled pair `p`, or is to judge it in a sample beside machine labels."""

_JUDGED_SAMPLES = """
    SELECT DISTINCT q.topic, q.pool_round FROM pool AS q WHERE q.probability IS NOT NULL
    AND EXISTS (SELECT 1 FROM judgements AS s WHERE s.topic = q.topic AND s.doc = q.doc)
"""
"""SQL for the topics and rounds of random samples of which somebody has judged a pair."""


class RemovalTables(Repository):
    """Removal of topics, documents, runs and pooled pairs that no log names."""

    def topics_in_use(self, at: float) -> dict[str, str]:
        """Return why a topic stays, by the ids of all topics that a log names or that are reserved at a time."""
        reasons = self._reserved("query_id", "topics", "topic", ("leases", "claims"), at)
        for table, reason in reversed(_TOPIC_LOGS.items()):
            ids = self.connection.column(
                f"SELECT query_id FROM topics AS t WHERE EXISTS (SELECT 1 FROM {table} AS l WHERE l.topic = t.topic) "
                "ORDER BY topic"
            )
            reasons |= dict.fromkeys(ids, reason)
        return reasons

    def documents_in_use(self, at: float) -> dict[str, str]:
        """Return why a document stays, by the ids of all documents that a log names or that are reserved at a time."""
        reasons = self._reserved("doc_id", "documents", "doc", ("leases",), at)
        for table, (column, reason) in reversed(_DOCUMENT_LOGS.items()):
            ids = self.connection.column(
                f"SELECT doc_id FROM documents WHERE doc IN (SELECT {column} FROM {table}) ORDER BY doc"
            )
            reasons |= dict.fromkeys(ids, reason)
        return reasons

    def _reserved(self, name: str, table: str, key: str, reservations: Sequence[str], at: float) -> dict[str, str]:
        """Return :data:`RESERVED` by the ids of all that annotators hold: their judgements may be on the way."""
        some = " UNION ".join(f"SELECT {key} FROM {each} WHERE {is_held('until')}" for each in reservations)
        ids = self.connection.column(f"SELECT {name} FROM {table} WHERE {key} IN ({some}) ORDER BY {key}", {"at": at})
        return dict.fromkeys(ids, RESERVED)

    def pooled_pairs(
        self, query_ids: Sequence[str], doc_ids: Sequence[str], rounds: Sequence[int], at: float
    ) -> pd.DataFrame:
        """Return the pooled pairs of these topics, of these documents, or of these rounds of pooling.

        ``query_id``, ``doc_id``, ``pool_round``, and ``stays``: why a pair stays if its round is removed, or "". In
        the order of the pool.
        """
        held = f"SELECT 1 FROM leases AS l WHERE l.topic = p.topic AND l.doc = p.doc AND {is_held('l.until')}"
        return self.connection.frame(
            f"WITH judged_samples AS ({_JUDGED_SAMPLES}) SELECT t.query_id, d.doc_id, p.pool_round, "
            f"CASE WHEN {_IN_USE} THEN '{JUDGED}' WHEN EXISTS ({held}) THEN '{RESERVED}' "
            "WHEN (p.topic, p.pool_round) IN judged_samples THEN 'part of a sample that is judged' "
            "ELSE '' END AS stays FROM pool AS p JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "WHERE t.query_id IN (SELECT value FROM json_each(:topics)) "
            "OR d.doc_id IN (SELECT value FROM json_each(:documents)) "
            "OR p.pool_round IN (SELECT value FROM json_each(:rounds)) ORDER BY p.topic, p.pool_round, p.position",
            {"topics": json_text(query_ids), "documents": json_text(doc_ids), "rounds": json_text(rounds), "at": at},
        )

    @writes
    def remove_topics(self, query_ids: Sequence[str]) -> None:
        """Remove topics that are not in use, with their pooled pairs, reservations, assignments and clicks."""
        topics = "(SELECT topic FROM topics WHERE query_id IN (SELECT value FROM json_each(?)))"
        for table in _OF_TOPICS:
            self.connection.execute(f"DELETE FROM {table} WHERE topic IN {topics}", (json_text(query_ids),))

    @writes
    def remove_documents(self, doc_ids: Sequence[str]) -> None:
        """Remove documents that are not in use, with their pooled pairs.

        The id keeps its row, as that of a document whose text was never imported: keys of documents are rows of the
        features, so none is ever used again.
        """
        docs = "(SELECT doc FROM documents WHERE doc_id IN (SELECT value FROM json_each(?)))"
        for table in _OF_DOCUMENTS:
            self.connection.execute(f"DELETE FROM {table} WHERE doc IN {docs}", (json_text(doc_ids),))
        self.connection.execute(
            f"UPDATE documents SET title = '', text = NULL, metadata = '{{}}' WHERE doc IN {docs}",
            (json_text(doc_ids),),
        )

    def pool_rows(self, doc_id: str) -> list[list[object]]:
        """Return the pooled pairs of a document, for :meth:`put_into_pool`."""
        return [
            list(row)
            for row in self.connection.execute(
                f"SELECT {_POOL_ROW} FROM pool WHERE doc = (SELECT doc FROM documents WHERE doc_id = ?) ORDER BY topic",
                (doc_id,),
            )
        ]

    @writes
    def put_into_pool(self, doc_id: str, rows: Sequence[Sequence[object]], instead_of: str = "") -> None:
        """Put a document into places of the pool, of which another one loses those that it has.

        Topics in whose pool the document is stay as they are, and rounds that were removed are not made again.
        """
        doc = "(SELECT doc FROM documents WHERE doc_id = ?)"
        for row in rows:
            place = row[:3]
            self.connection.execute(
                f"DELETE FROM pool WHERE topic = ? AND pool_round = ? AND position = ? AND doc = {doc}",
                (*place, instead_of),
            )
            self.connection.execute(
                f"INSERT OR IGNORE INTO pool (doc, {_POOL_ROW}) SELECT {doc}, ?, ?, ?, ?, ?, ?, ? "
                "WHERE EXISTS (SELECT 1 FROM pool_rounds WHERE pool_round = ?)",
                (doc_id, *row, row[1]),
            )
            self.connection.execute(
                "UPDATE pool_rounds SET removed = max(removed - 1, 0) WHERE pool_round = ? AND changes() > 0", (row[1],)
            )

    @writes
    def remove_pairs(self, pairs: pd.DataFrame, *, with_reservations: bool = True) -> None:
        """Remove pairs (``query_id``, ``doc_id``, ``pool_round``) from the pool, with their reservations if wanted.

        Random draws of a loop stay: the pair may still be in its scope, and its guarantee counts every draw. Of a topic
        whose sample has lost all its pairs, nothing remains of what the sample left out.
        """
        topic = "topic = (SELECT topic FROM topics WHERE query_id = ?)"
        pair = f"{topic} AND doc = (SELECT doc FROM documents WHERE doc_id = ?)"
        drawn = "SELECT 1 FROM leases AS l WHERE l.topic = {0}.topic AND l.doc = {0}.doc AND l.strategy = 'random'"
        for table in ("skips", *["leases"] * with_reservations, "qualification_set", "pool"):
            rows = pairs[["query_id", "doc_id"]].itertuples(index=False, name=None)
            stays = f" AND NOT EXISTS ({drawn.format(table)})" if table in ("skips", "leases") else ""
            self.connection.executemany(f"DELETE FROM {table} WHERE {pair}{stays}", rows)
        self.connection.executemany(
            f"DELETE FROM sampled_out WHERE {topic} AND pool_round = ? AND NOT EXISTS (SELECT 1 FROM pool AS p "
            "WHERE p.topic = sampled_out.topic AND p.pool_round = sampled_out.pool_round)",
            pairs[["query_id", "pool_round"]].drop_duplicates().itertuples(index=False, name=None),
        )

    @writes
    def remove_empty_rounds(self) -> None:
        """Remove rounds of pooling that have lost all their pairs, with the pairs that their samples left out."""
        empty = (
            "SELECT r.pool_round FROM pool_rounds AS r WHERE r.removed > 0 "
            "AND NOT EXISTS (SELECT 1 FROM pool AS p WHERE p.pool_round = r.pool_round)"
        )
        for table in ("sampled_out", "pool_rounds"):
            self.connection.execute(f"DELETE FROM {table} WHERE pool_round IN ({empty})")

    @writes
    def remove_run(self, name: str) -> None:
        """Remove a run and its costs; its file stays until the next import."""
        for table in ("runs", "run_topics", "run_costs"):
            self.connection.execute(f"DELETE FROM {table} WHERE run = ?", (name,))
