"""Pairs chosen for judging, and what samples did not draw."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from collection import clock
from collection.store.connection import Repository, held_back, writes
from collection.store.corpus import CorpusTables


@dataclass(eq=False)
class PoolTables(Repository):
    """Pairs chosen for judging, and what samples did not draw."""

    corpus: CorpusTables

    def pairs(self) -> pd.DataFrame:
        """The pool, in the order of topics and of the pool in each.

        ``query_id``, ``doc_id``, ``strategy``, ``rank``, ``probability`` (of being drawn; null where it was not
        sampled), ``stratum``, ``pool_round`` (that brought the pair).
        """
        frame = self.connection.frame(
            "SELECT t.query_id, d.doc_id, r.strategy, p.rank, p.probability, p.stratum, p.pool_round FROM pool AS p "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) JOIN pool_rounds AS r USING (pool_round) "
            "ORDER BY p.topic, p.pool_round, p.position"
        )
        return frame.astype({"probability": "float64", "stratum": "Int64"})

    def sampled_out(self) -> pd.DataFrame:
        """What samples were drawn from and did not draw, and is not in the pool by another round either.

        ``query_id``, ``doc_id``, ``stratum``, ``probability``, ``pool_round``; in the order of topics, then by round
        and document. A pair has a row for each round that left it out.
        """
        frame = self.connection.frame(
            "SELECT t.query_id, d.doc_id, s.stratum, s.probability, s.pool_round FROM sampled_out AS s "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "WHERE NOT EXISTS (SELECT 1 FROM pool AS p WHERE p.topic = s.topic AND p.doc = s.doc) "
            "ORDER BY s.topic, s.pool_round, s.doc"
        )
        return frame.astype({"probability": "float64", "stratum": "Int64"})

    def rounds(self) -> pd.DataFrame:
        """``pool_round``, ``strategy``, ``parameters``, ``runs`` (JSON), ``pairs``, ``made_at``; oldest first."""
        return self.connection.frame("SELECT * FROM pool_rounds ORDER BY pool_round")

    @writes
    def add(self, pairs: pd.DataFrame, strategy: str, parameters: Mapping[str, Any], runs: Sequence[str]) -> None:
        """Add pairs that are not in the pool yet, as one round, in the frame's order within each topic.

        ``query_id``, ``doc_id``, ``rank``; where they were sampled also ``probability``, ``stratum`` and ``drawn``:
        rows in which that is False are kept apart, see :meth:`sampled_out`.
        """
        if not len(pairs):
            return
        nothing = pd.Series(None, index=pairs.index, dtype=object)
        pairs = pairs.assign(
            **{
                c: pairs[c].astype(object).where(pairs[c].notna(), None) if c in pairs else nothing
                for c in ("probability", "stratum")
            }
        )
        left_out = pairs[~pairs["drawn"]] if "drawn" in pairs else pairs.iloc[:0]
        self.corpus.add_document_ids(pairs["doc_id"])
        pairs = pairs.drop(left_out.index)
        cursor = self.connection.execute(
            "INSERT INTO pool_rounds (strategy, parameters, runs, pairs, made_at) VALUES (?, ?, ?, ?, ?)",
            (strategy, json.dumps(dict(parameters)), json.dumps(list(runs)), len(pairs), clock.now()),
        )
        position = pairs.groupby("query_id", sort=False).cumcount()
        self.connection.executemany(
            "INSERT INTO pool (topic, pool_round, position, doc, rank, probability, stratum) VALUES ("
            "(SELECT topic FROM topics WHERE query_id = ?), ?, ?, "
            "(SELECT doc FROM documents WHERE doc_id = ?), ?, ?, ?)",
            (
                (query_id, cursor.lastrowid, int(place), doc_id, int(rank), chance, stratum)
                for query_id, doc_id, rank, place, chance, stratum in zip(
                    pairs["query_id"],
                    pairs["doc_id"],
                    pairs["rank"],
                    position,
                    pairs["probability"],
                    pairs["stratum"],
                    strict=True,
                )
            ),
        )
        self.connection.executemany(
            "INSERT INTO sampled_out (topic, doc, pool_round, stratum, probability) VALUES ("
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?, ?, ?)",
            (
                (query_id, doc_id, cursor.lastrowid, stratum, chance)
                for query_id, doc_id, stratum, chance in zip(
                    left_out["query_id"], left_out["doc_id"], left_out["stratum"], left_out["probability"], strict=True
                )
            ),
        )

    def rows(self, query_id: str) -> list[int]:
        """Matrix rows of a topic's pool, in pool order."""
        return [
            row
            for (row,) in self.connection.execute(
                "SELECT doc - 1 FROM pool WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) "
                "ORDER BY pool_round, position",
                (query_id,),
            )
        ]

    def wanted(self) -> pd.DataFrame:
        """How many are to judge each pair of the pool: ``query_id``, ``doc_id``, ``wanted``, ``topic``, ``doc``.

        In the order of topics, and of the pool in each. The last two are the keys for :meth:`set_wanted`.
        """
        return self.connection.frame(
            "SELECT t.query_id, d.doc_id, p.wanted, p.topic, p.doc FROM pool AS p "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "ORDER BY p.topic, p.pool_round, p.position"
        )

    @writes
    def set_wanted(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        """Write how many are to judge pairs of the pool: the number, and the keys of topic and document."""
        self.connection.executemany("UPDATE pool SET wanted = ? WHERE topic = ? AND doc = ?", pairs)

    def first(self, query_id: str, count: int) -> list[str]:
        """The first documents of a topic's pool that have a text, in the order of the pool."""
        return self.connection.column(
            "SELECT d.doc_id FROM pool AS p JOIN documents AS d USING (doc) "
            "WHERE p.topic = (SELECT topic FROM topics WHERE query_id = ?) AND d.text IS NOT NULL "
            "ORDER BY p.pool_round, p.position LIMIT ?",
            (query_id, count),
        )

    def missing(self, query_id: str, doc_ids: Sequence[str]) -> list[str]:
        """Which of these ids are not in a topic's pool, in their order."""
        return self.connection.column(
            "SELECT o.value FROM json_each(?) AS o WHERE NOT EXISTS (SELECT 1 FROM documents AS d "
            "JOIN pool AS p ON p.doc = d.doc AND p.topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "WHERE d.doc_id = o.value) ORDER BY o.key",
            (json.dumps(list(doc_ids)), query_id),
        )

    def without_text(self) -> dict[str, int]:
        """Topics with pairs in their pool that nobody has judged and that are held back, and how many these are."""
        return self.connection.mapping(
            f"SELECT t.query_id, count(*) FROM pool AS p JOIN topics AS t USING (topic) WHERE {held_back('p.doc')} "
            "AND NOT EXISTS (SELECT 1 FROM words AS w WHERE w.topic = p.topic AND w.doc = p.doc) "
            "GROUP BY p.topic ORDER BY p.topic"
        )
