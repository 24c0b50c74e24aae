"""What is judged: topics, documents, runs and the pool."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from collection import clock
from collection.errors import ConflictError
from collection.records import Document, Topic
from collection.store.connection import Connection

T = TypeVar("T")

BATCH = 500
"""Rows or variables in one statement; SQLite's limit of variables is 999 in its older builds."""


class Added(NamedTuple):
    """What an import did: rows that were new, that changed, and that were there already."""

    new: int = 0
    changed: int = 0
    same: int = 0


class Material(Connection):
    """Topics, documents, runs and the pool."""

    def topics(self) -> pd.DataFrame:
        """``query_id``, ``title``, ``description``, ``narrative``, in the order of their import."""
        return self._frame("SELECT query_id, title, description, narrative FROM topics ORDER BY topic")

    def add_topics(self, topics: Iterable[Topic], *, replace: bool = False) -> Added:
        """Add topics; one that is there with other words is an error, or replaced."""
        there = {row[0]: Topic._make(row) for row in self.topics().itertuples(index=False)}
        new = changed = same = 0
        for topic in topics:
            known = there.get(topic.query_id)
            if known == topic:
                same += 1
            elif known is None:
                self.db.conn.execute(
                    "INSERT INTO topics (query_id, title, description, narrative) VALUES (?, ?, ?, ?)", topic
                )
                new += 1
            elif replace:
                self.db.conn.execute(
                    "UPDATE topics SET title = ?, description = ?, narrative = ? WHERE query_id = ?",
                    (*topic[1:], topic.query_id),
                )
                changed += 1
            else:
                raise ConflictError(
                    f"topic {topic.query_id!r} is in the campaign already with other words; --replace takes the new"
                )
        return Added(new, changed, same)

    def add_documents(self, documents: Iterable[Document], *, replace: bool = False) -> Added:
        """Add documents, a batch at a time; one that is there with another text is an error, or replaced.

        A document of which only the id was known gets its text, and counts as new.
        """
        new = changed = same = 0
        for batch in _batches(documents):
            rows = {d.doc_id: (d.title, d.text, _json(d.metadata)) for d in batch}
            there = {
                doc_id: tuple(rest)
                for doc_id, *rest in self.db.conn.execute(
                    f"SELECT doc_id, title, text, metadata FROM documents WHERE doc_id IN ({_marks(rows)}) "
                    "ORDER BY doc",
                    list(rows),
                )
            }
            differ = [d for d, row in there.items() if row[1] is not None and row != rows[d]]
            if differ and not replace:
                raise ConflictError(
                    f"document {differ[0]!r} is in the campaign already with another text; --replace takes the new one"
                )
            changed += len(differ)
            same += sum(row == rows[d] for d, row in there.items())
            new += sum(d not in there or there[d][1] is None for d in rows)
            self.db.conn.executemany(
                "INSERT INTO documents (doc_id, title, text, metadata) VALUES (?, ?, ?, ?) ON CONFLICT (doc_id) "
                "DO UPDATE SET title = excluded.title, text = excluded.text, metadata = excluded.metadata",
                [(d, *row) for d, row in rows.items() if there.get(d) != row],
            )
        return Added(new, changed, same)

    def add_document_ids(self, doc_ids: Iterable[str]) -> int:
        """Make a row for every id that has none yet, without a text; the number of new rows."""
        before = self.db.conn.total_changes
        self.db.conn.executemany("INSERT OR IGNORE INTO documents (doc_id) VALUES (?)", ((d,) for d in doc_ids))
        return self.db.conn.total_changes - before

    def documents(self, doc_ids: Sequence[str]) -> dict[str, Document]:
        """The documents with these ids; ids that nobody knows are not in the result."""
        found: dict[str, Document] = {}
        for batch in _batches(doc_ids):
            rows = self.db.conn.execute(
                f"SELECT doc_id, title, text, metadata FROM documents WHERE doc_id IN ({_marks(batch)}) ORDER BY doc",
                batch,
            )
            for doc_id, title, text, metadata in rows:
                found[doc_id] = Document(doc_id, title, text, json.loads(metadata))
        return found

    def without_text(self, doc_ids: Iterable[str]) -> set[str]:
        """Which of these ids have no text here."""
        wanted = set(doc_ids)
        for batch in _batches(sorted(wanted)):
            rows = self.db.conn.execute(
                f"SELECT doc_id FROM documents WHERE text IS NOT NULL AND doc_id IN ({_marks(batch)}) ORDER BY doc",
                batch,
            )
            wanted.difference_update(r[0] for r in rows)
        return wanted

    def missing_documents(self) -> list[str]:
        """Ids in the pool whose text is not here, in the order of the pool."""
        return self._frame(
            "SELECT d.doc_id FROM pool AS p JOIN documents AS d USING (doc) WHERE d.text IS NULL "
            "GROUP BY d.doc ORDER BY min(p.topic), min(p.pool_round), min(p.position), d.doc"
        )["doc_id"].tolist()

    def runs(self) -> pd.DataFrame:
        """``run``, ``file``, ``sha256``, ``topics``, ``rows``, ``deepest``, ``imported_at``; by name."""
        return self._frame("SELECT * FROM runs ORDER BY run")

    def add_run(self, name: str, file: str, sha256: str, topics: int, rows: int, deepest: int) -> None:
        """Record an imported run; one of the same name is replaced."""
        self.db.conn.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)",
            (name, file, sha256, topics, rows, deepest, clock.now()),
        )

    def costs(self) -> pd.DataFrame:
        """``run`` and a column for everything that is known of any run's costs; by name of the run."""
        rows = self.db.conn.execute("SELECT run, costs FROM run_costs ORDER BY run")
        return pd.DataFrame([{"run": run, **json.loads(costs)} for run, costs in rows] or {"run": []})

    def add_costs(self, run: str, costs: Mapping[str, float | str]) -> None:
        """Record what a run costs; what was known before under other names stays."""
        self.db.conn.execute(
            "INSERT INTO run_costs VALUES (?, ?) "
            "ON CONFLICT (run) DO UPDATE SET costs = json_patch(costs, excluded.costs)",
            (run, json.dumps(dict(costs))),
        )

    def pool(self) -> pd.DataFrame:
        """The pool, in the order of topics and of the pool in each.

        ``query_id``, ``doc_id``, ``strategy``, ``rank``, ``probability`` (of being drawn; null where it was not
        sampled), ``stratum``, ``pool_round`` (that brought the pair).
        """
        frame = self._frame(
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
        frame = self._frame(
            "SELECT t.query_id, d.doc_id, s.stratum, s.probability, s.pool_round FROM sampled_out AS s "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) "
            "WHERE NOT EXISTS (SELECT 1 FROM pool AS p WHERE p.topic = s.topic AND p.doc = s.doc) "
            "ORDER BY s.topic, s.pool_round, s.doc"
        )
        return frame.astype({"probability": "float64", "stratum": "Int64"})

    def pool_rounds(self) -> pd.DataFrame:
        """``pool_round``, ``strategy``, ``parameters``, ``runs`` (JSON), ``pairs``, ``made_at``; oldest first."""
        return self._frame("SELECT * FROM pool_rounds ORDER BY pool_round")

    def add_pool(self, pairs: pd.DataFrame, strategy: str, parameters: Mapping[str, Any], runs: Sequence[str]) -> None:
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
        self.add_document_ids(pairs["doc_id"])
        pairs = pairs.drop(left_out.index)
        cursor = self.db.conn.execute(
            "INSERT INTO pool_rounds (strategy, parameters, runs, pairs, made_at) VALUES (?, ?, ?, ?, ?)",
            (strategy, json.dumps(dict(parameters)), json.dumps(list(runs)), len(pairs), clock.now()),
        )
        position = pairs.groupby("query_id", sort=False).cumcount()
        self.db.conn.executemany(
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
        self.db.conn.executemany(
            "INSERT INTO sampled_out (topic, doc, pool_round, stratum, probability) VALUES ("
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?, ?, ?)",
            (
                (query_id, doc_id, cursor.lastrowid, stratum, chance)
                for query_id, doc_id, stratum, chance in zip(
                    left_out["query_id"], left_out["doc_id"], left_out["stratum"], left_out["probability"], strict=True
                )
            ),
        )

    def add_clicks(self, source: str, clicks: pd.DataFrame) -> None:
        """Keep what a log of clicks says in place of what the same source said before.

        ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``; one row per pair and rank.
        """
        self.add_document_ids(clicks["doc_id"])
        self.db.conn.execute("DELETE FROM clicks WHERE source = ?", (source,))
        self.db.conn.executemany(
            "INSERT INTO clicks (source, topic, doc, rank, shown, clicked) VALUES (?, "
            "(SELECT topic FROM topics WHERE query_id = ?), (SELECT doc FROM documents WHERE doc_id = ?), ?, ?, ?)",
            (
                (source, query_id, doc_id, int(rank), int(shown), int(clicked))
                for query_id, doc_id, rank, shown, clicked in clicks[
                    ["query_id", "doc_id", "rank", "shown", "clicked"]
                ].itertuples(index=False)
            ),
        )

    def clicks(self) -> pd.DataFrame:
        """``source``, ``query_id``, ``doc_id``, ``rank``, ``shown``, ``clicked``; by topic, source, document."""
        return self._frame(
            "SELECT c.source, t.query_id, d.doc_id, c.rank, c.shown, c.clicked FROM clicks AS c "
            "JOIN topics AS t USING (topic) JOIN documents AS d USING (doc) ORDER BY c.topic, c.source, c.doc, c.rank"
        )

    def click_sources(self) -> pd.DataFrame:
        """``source``, ``rows``: how many rows :meth:`clicks` has of each log; by name."""
        return self._frame("SELECT source, count(*) AS rows FROM clicks GROUP BY source ORDER BY source")


def _json(metadata: Mapping[str, Any]) -> str:
    """Metadata as text; the order of its keys says nothing, so it makes no difference."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, allow_nan=False)


def _marks(values: Iterable[Any]) -> str:
    return ",".join("?" for _ in values)


def _batches(values: Iterable[T]) -> Iterator[tuple[T, ...]]:
    # itertools.batched comes with Python 3.12.
    iterator = iter(values)
    while batch := tuple(islice(iterator, BATCH)):
        yield batch
