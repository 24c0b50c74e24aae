"""The pool, and the pairs that random samples left out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from collection.core import clock
from collection.core.records import QRELS_ANNOTATOR
from collection.store import columns, log_arrays
from collection.store.connection import (
    POOL_IF_TEXTS_MISSING,
    Repository,
    is_held_back,
    json_text,
    topic_condition,
    writes,
)
from collection.store.corpus import CorpusTables
from collection.store.log_arrays import is_value, to_numpy


@dataclass(eq=False)
class PoolTables(Repository):
    """The pool, and the pairs that samples left out."""

    corpus: CorpusTables

    def pairs(self) -> pd.DataFrame:
        """Return the pool in the order of topics, and in pool order within each.

        ``query_id``, ``doc_id``, ``strategy``, ``rank``, ``probability`` (of inclusion; null without sampling),
        ``stratum``, ``pool_round``.
        """
        short = {"query_id": "topic", "doc_id": "doc", "rank": "rank", "stratum": "stratum", "pool_round": "pool_round"}
        with self.connection.snapshot():
            rows = "FROM pool ORDER BY topic, pool_round, position"
            pool = columns.read(self.connection, short, {"probability": "probability"}, rows)
            frame = columns.with_ids(self.connection, pool)
            strategies = self.connection.mapping("SELECT pool_round, strategy FROM pool_rounds ORDER BY pool_round")
        frame.insert(2, "strategy", frame["pool_round"].map(strategies).astype("str"))
        frame = frame[["query_id", "doc_id", "strategy", "rank", "probability", "stratum", "pool_round"]]
        return frame.astype({"probability": "float64", "stratum": "Int64"})

    def is_sampled(self) -> tuple[bool, bool]:
        """Return whether any pooled pair has a stratum, and whether any has a probability."""
        some = "EXISTS (SELECT 1 FROM pool WHERE {} IS NOT NULL)"
        row = self.connection.execute(f"SELECT {some.format('stratum')}, {some.format('probability')}").fetchone()
        return bool(row[0]), bool(row[1])

    def ids(self) -> pd.DataFrame:
        """Return ``query_id`` and ``doc_id`` of :meth:`pairs`, in no particular order of the documents of a topic."""
        with self.connection.snapshot():
            keys = {"query_id": "topic", "doc_id": "doc"}
            pool = columns.read(self.connection, keys, {}, "FROM pool ORDER BY topic, doc")
            return columns.with_ids(self.connection, pool)

    def with_text(self, most: int) -> pd.DataFrame:
        """Return ``query_id`` and ``doc_id`` of the first `most` of :meth:`pairs` whose document has a text."""
        return self.connection.frame(
            "SELECT t.query_id, d.doc_id FROM pool AS p CROSS JOIN topics AS t USING (topic) "
            "CROSS JOIN documents AS d USING (doc) WHERE d.text IS NOT NULL "
            "ORDER BY p.topic, p.pool_round, p.position LIMIT ?",
            (most,),
        )

    def needed_beside_qrels(self) -> list[tuple[str, int, int]]:
        """Return how much work imported qrels leave to people, by topic.

        The topic's id; the largest number of people that one of its pooled pairs needs; the number of its pooled pairs
        that need several annotators, of which imported qrels count as one.
        """
        with self.connection.snapshot():
            qrels = self._count_qrels()
            if not len(qrels):
                # Outside a sample each pair needs at least one annotator: if the sum is that of pairs, all need one.
                return self.connection.execute(
                    "SELECT query_id, CASE WHEN wanted = pool AND NOT EXISTS (SELECT 1 FROM sample_in_use) THEN 1 "
                    "ELSE (SELECT max(p.wanted) FROM pool AS p WHERE p.topic = c.topic) END, 0 "
                    "FROM topics JOIN topic_counts AS c USING (topic) WHERE pool > 0 ORDER BY topic"
                ).fetchall()
            names = {name: name for name in ("topic", "doc", "wanted")}
            pool = columns.read(self.connection, names, {}, "FROM pool ORDER BY topic, doc").astype("int64")
            ids = self.connection.mapping("SELECT topic, query_id FROM topics ORDER BY topic")
        given = qrels.reindex(columns.pack_keys(pool["topic"], pool["doc"]), fill_value=0).to_numpy()
        pool = pool.assign(left=pool["wanted"] - given, taken=(pool["wanted"] > 1) & (given > 0))
        needed = pool.groupby("topic").agg({"left": "max", "taken": "sum"})
        return [(ids[topic], int(most), int(taken)) for topic, most, taken in needed.itertuples()]

    def _count_qrels(self) -> pd.Series[int]:
        """Count the current judgements of each pair by imported qrels; see :func:`.columns.pack_keys` for the index."""
        log = log_arrays.shared(self.connection).read(self.connection, [])
        names = log["annotator"].dictionary.to_pylist()
        is_qrels = np.array([*(name.startswith(QRELS_ANNOTATOR) for name in names), False])
        if not is_qrels.any():
            return pd.Series(dtype="int64")
        rows = is_qrels[to_numpy(log["annotator"])] & to_numpy(log["current"])
        rows &= is_value(log["counts_as"], "judgement")
        return pd.Series(columns.pack_keys(to_numpy(log["topic"]), to_numpy(log["doc"]))[rows]).value_counts()

    def are_pooled(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """(pairs,) whether each pair of ``query_id`` and ``doc_id`` is in the pool."""
        with self.connection.snapshot():
            wanted = columns.pair_keys(self.connection, pairs)
            rows = "FROM pool ORDER BY topic, doc"
            pool = columns.read(self.connection, {"topic": "topic", "doc": "doc"}, {}, rows)
        known = np.append(columns.pack_keys(pool["topic"], pool["doc"]), np.iinfo(np.int64).max)
        return known[np.searchsorted(known, wanted)] == wanted

    def undrawn_pairs(self) -> pd.DataFrame:
        """Return the pairs that random samples left out, unless another round put them into the pool.

        ``query_id``, ``doc_id``, ``stratum``, ``probability``, ``pool_round``; by topic, round and document. A pair
        has one row for each round that left it out.
        """
        frame = self.connection.frame(
            "SELECT t.query_id, d.doc_id, s.stratum, s.probability, s.pool_round FROM sampled_out AS s "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "WHERE NOT EXISTS (SELECT 1 FROM pool AS p WHERE p.topic = s.topic AND p.doc = s.doc) "
            "ORDER BY s.topic, s.pool_round, s.doc"
        )
        return frame.astype({"probability": "float64", "stratum": "Int64"})

    def rounds(self) -> pd.DataFrame:
        """Return the rounds of pooling, oldest first; ``parameters`` and ``runs`` are JSON."""
        return self.connection.frame("SELECT * FROM pool_rounds ORDER BY pool_round")

    @writes
    def add(self, pairs: pd.DataFrame, strategy: str, parameters: Mapping[str, object], runs: Sequence[str]) -> None:
        """Add new pairs to the pool as one round, in the frame's order within each topic.

        The frame has ``query_id``, ``doc_id``, ``rank``; for a random sample also ``probability``, ``stratum`` and
        ``drawn``, which is False for the pairs of :meth:`undrawn_pairs`.
        """
        if not len(pairs):
            return
        optional = ["probability", "stratum"]
        pairs = pairs.reindex(columns=pairs.columns.union(optional, sort=False))
        pairs[optional] = pairs[optional].astype(object).where(pairs[optional].notna(), None)
        self.corpus.add_document_ids(pairs["doc_id"])
        drawn = pairs["drawn"].astype(bool) if "drawn" in pairs else pd.Series(True, index=pairs.index)
        pairs, left_out = pairs[drawn], pairs[~drawn]
        values = {"parameters": json.dumps(dict(parameters)), "runs": json_text(runs), "made_at": clock.now()}
        pool_round = self.connection.insert("pool_rounds", {"strategy": strategy, "pairs": len(pairs), **values})
        keys = "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?)"
        position = pairs.groupby("query_id", sort=False).cumcount()
        self.connection.executemany(
            "INSERT INTO pool (topic, doc, position, rank, probability, stratum, pool_round) "
            f"VALUES ({keys}, ?, ?, ?, ?, {pool_round})",
            zip(
                pairs["query_id"],
                pairs["doc_id"],
                position.tolist(),
                pairs["rank"].astype(int).tolist(),
                pairs["probability"],
                pairs["stratum"],
                strict=True,
            ),
        )
        self.connection.executemany(
            "INSERT INTO sampled_out (topic, doc, probability, stratum, pool_round) "
            f"VALUES ({keys}, ?, ?, {pool_round})",
            left_out[["query_id", "doc_id", *optional]].itertuples(index=False, name=None),
        )

    def rows_by_topic(self, query_ids: Collection[str]) -> dict[str, NDArray[np.int64]]:
        """Return :meth:`rows` of these topics; those without a pool are missing."""
        where, values = topic_condition(query_ids)
        rows = f"FROM pool WHERE {where} ORDER BY topic, pool_round, position"
        with self.connection.snapshot():
            pool = columns.read(self.connection, {"topic": "topic", "row": "doc - 1"}, {}, rows, values)
            names = self.connection.mapping("SELECT topic, query_id FROM topics ORDER BY topic")
        keys, starts = np.unique(pool["topic"].to_numpy(dtype=np.int64), return_index=True)
        parts = np.split(pool["row"].to_numpy(dtype=np.int64), starts[1:])
        return {names[key]: part for key, part in zip(keys.tolist(), parts, strict=True)} if len(keys) else {}

    def rows(self, query_id: str) -> list[int]:
        """Return the matrix rows of a topic's pool, in pool order."""
        return self.connection.column(
            "SELECT doc - 1 FROM pool WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "ORDER BY pool_round, position",
            (query_id,),
        )

    def annotators_wanted(self) -> pd.DataFrame:
        """Return ``query_id``, ``doc_id``, ``wanted`` (annotators needed) of the pool, in the order of :meth:`pairs`.

        ``topic`` and ``doc`` are the keys for :meth:`set_wanted`.
        """
        names = {name: name for name in ("topic", "doc", "wanted")}
        with self.connection.snapshot():
            rows = "FROM pool ORDER BY topic, pool_round, position"
            pool = columns.read(self.connection, names, {}, rows).astype("int64")
            pool = columns.with_ids(self.connection, pool.assign(query_id=pool["topic"], doc_id=pool["doc"]))
        return pool[["query_id", "doc_id", "wanted", "topic", "doc"]]

    @writes
    def set_wanted(self, pairs: Iterable[tuple[int, int, int]]) -> None:
        """Set the number of annotators that pooled pairs need: tuples of number, topic key and document key."""
        self.connection.executemany("UPDATE pool SET wanted = ? WHERE topic = ? AND doc = ?", pairs)

    def first_documents(self, query_id: str, count: int) -> list[str]:
        """Return the first documents of a topic's pool that have a text, in pool order."""
        return self.connection.column(
            "SELECT d.doc_id FROM pool AS p JOIN documents AS d USING (doc) "
            "WHERE p.topic = (SELECT topic FROM topics WHERE query_id = ?) AND d.text IS NOT NULL "
            "ORDER BY p.pool_round, p.position LIMIT ?",
            (query_id, count),
        )

    def find_missing(self, query_id: str, doc_ids: Sequence[str]) -> list[str]:
        """Return those of the ids that are not in a topic's pool, in the given order."""
        return self.connection.column(
            "SELECT o.value FROM json_each(?) AS o WHERE NOT EXISTS (SELECT 1 FROM documents AS d "
            "JOIN pool AS p ON p.doc = d.doc AND p.topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "WHERE d.doc_id = o.value) ORDER BY o.key",
            (json_text(doc_ids), query_id),
        )

    def count_without_text(self) -> dict[str, int]:
        """Count the unjudged pooled pairs that are held back, for each topic that has any."""
        return self.connection.mapping(
            f"SELECT t.query_id, count(*) FROM {POOL_IF_TEXTS_MISSING} AS p JOIN topics AS t USING (topic) "
            f"WHERE {is_held_back('p.doc')} "
            "AND NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = p.topic AND cj.doc = p.doc) "
            "GROUP BY p.topic ORDER BY p.topic"
        )
