"""The log of judgements, and the progress of topics."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from collection.core import clock
from collection.core.questions import parse_answers
from collection.core.records import Answer, CountsAs, Judgement
from collection.store import columns as columns_of, log_arrays
from collection.store.connection import (
    POOL_IF_TEXTS_MISSING,
    Repository,
    is_held_back,
    json_text,
    topic_condition,
    writes,
)
from collection.store.log_arrays import LogColumns, is_value, to_numpy

_SOURCES = {"query_id": "topic", "doc_id": "doc"}
"""Columns of the log in place of those of a frame with another name."""


def _sources(names: Sequence[str]) -> list[str]:
    return [_SOURCES.get(name, name) for name in names]


def _parse_each(texts: pd.Series[str], parse: Callable[[str | None], object]) -> pd.Series[Any]:
    """Parse the JSON in a column, equal texts once; None stands for a missing one."""
    codes, distinct = pd.factorize(texts)
    values = np.fromiter((*map(parse, distinct), parse(None)), dtype=object)
    return pd.Series(values[codes], index=texts.index)


class PairState(NamedTuple):
    """The state of a pair for one annotator: how it was selected, and the annotator's judgement.

    `conditions` is the number of the conditions under which the loop selected it, None if it did not; see
    :meth:`.QueueTables.number_conditions`. `judgement` is the id of the annotator's current judgement, or None; `known`
    is whether they ever judged the pair;
    for `held_back` see :func:`collection.store.connection.is_held_back`.
    """

    topic: int
    doc: int
    strategy: str | None
    pool_rank: int | None
    model_round: int | None
    probability: float | None
    conditions: int | None
    judgement: int | None
    leased: bool
    known: bool
    held_back: bool


class Ungraded(NamedTuple):
    """The documents of a topic that annotators saw and that nobody has judged now."""

    skipped: int = 0
    undone: int = 0
    """Those that the loop selected, that nobody skipped, and whose judgement was undone."""
    drawn: int = 0
    """Those of both that were drawn at random."""


class LogEntry(NamedTuple):
    """An entry in the log: annotator, pair, and what it counts as."""

    annotator: str
    query_id: str
    doc_id: str
    counts_as: CountsAs


class LastGrade(NamedTuple):
    """An annotator's current judgement of a pair: a grade or "cannot judge"; None if there is no judgement."""

    grade: int | str | None = None
    counts_as: CountsAs | None = None
    answers: Mapping[str, Answer] = {}


class PairOpinion(NamedTuple):
    """A current judgement or adjudication of a pair; `relevance` is None unless `kind` is "graded"."""

    annotator: str
    kind: str
    relevance: int | None
    counts_as: CountsAs
    answers: Mapping[str, Answer] = {}


class JudgementTables(Repository):
    """The log of judgements, and the progress of topics."""

    def pair(self, query_id: str, doc_id: str, annotator: str, counts_as: CountsAs = "judgement") -> PairState | None:
        """Return the state of a pair; None if the topic or the document is not in the campaign."""
        row = self.connection.execute(
            f"""
            SELECT t.topic, d.doc, coalesce(l.strategy, r.strategy),
                   CASE WHEN l.strategy IS NULL THEN p.rank ELSE l.pool_rank END, l.model_round,
                   CASE WHEN l.strategy IS NULL THEN p.probability ELSE l.probability END, l.conditions,
                   CASE WHEN NOT lj.undone THEN lj.judgement END, l.topic IS NOT NULL, lj.judgement IS NOT NULL,
                   {is_held_back("d.doc")}
            FROM topics AS t, documents AS d
            LEFT JOIN leases AS l ON l.topic = t.topic AND l.doc = d.doc AND l.annotator = ?
            LEFT JOIN latest_judgements AS lj
                ON lj.topic = t.topic AND lj.doc = d.doc AND lj.annotator = ? AND lj.counts_as = ?
            LEFT JOIN pool AS p ON p.topic = t.topic AND p.doc = d.doc
            LEFT JOIN pool_rounds AS r ON r.pool_round = p.pool_round
            WHERE t.query_id = ? AND d.doc_id = ?
            """,
            (annotator, annotator, counts_as, query_id, doc_id),
        ).fetchone()
        if row is None:
            return None
        *values, leased, known, waits = row
        return PairState._make((*values, bool(leased), bool(known), bool(waits)))

    def opinions_on(self, query_id: str, doc_id: str) -> list[PairOpinion]:
        """Return the current judgements and adjudications of a pair, oldest first."""
        rows = self.connection.execute(
            "SELECT j.annotator, j.kind, j.relevance, cj.counts_as, j.answers "
            "FROM current_judgements AS cj JOIN judgements AS j ON j.id = cj.judgement "
            "WHERE cj.topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND cj.doc = (SELECT doc FROM documents WHERE doc_id = ?) ORDER BY cj.judgement",
            (query_id, doc_id),
        )
        return [
            PairOpinion(annotator, kind, relevance, counts_as, parse_answers(answers))
            for annotator, kind, relevance, counts_as, answers in rows
        ]

    def find_entry(self, uuid: str) -> LogEntry | None:
        """Return the entry with this uuid, or None."""
        row = self.connection.execute(
            "SELECT annotator, query_id, doc_id, counts_as FROM judgements JOIN topics USING (topic) "
            "JOIN documents USING (doc) WHERE uuid = ?",
            (uuid,),
        ).fetchone()
        return None if row is None else LogEntry(*row)

    def opinions(self, *, answers: bool = False, several: bool = False) -> pd.DataFrame:
        """Return the current judgements and adjudications as adjudication reads them, oldest first.

        With `several` only those of :meth:`table` with it.

        ``annotator``, ``kind``, ``relevance``, ``counts_as``, ``answers`` where they are wanted; and the keys of the
        pair as ``query_id`` and ``doc_id``, for which :meth:`with_ids` puts the ids.
        """
        columns = ["annotator", "topic", "doc", "kind", "relevance", "counts_as", *(["answers"] if answers else [])]
        return self.table(columns=columns, several=several).rename(columns={"topic": "query_id", "doc": "doc_id"})

    def sort_pairs(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Sort by topic, as imported, and document id, given the keys of both in ``query_id`` and ``doc_id``."""
        return columns_of.sort_pairs(self.connection, frame)

    @writes
    def append(self, judgement: Judgement, pair: PairState) -> None:
        """Append a judgement to the log; it revises the annotator's current one of the pair, if any."""
        row = judgement._asdict() | {"topic": pair.topic, "doc": pair.doc, "revises": pair.judgement}
        row["conditions"] = pair.conditions
        row["judged_at"] = judgement.judged_at or clock.now()
        row["passages"] = json.dumps(judgement.passages) if judgement.passages else None
        row["answers"] = json.dumps(judgement.answers, sort_keys=True) if judgement.answers else None
        del row["query_id"], row["doc_id"]
        self.connection.insert("judgements", row)

    def table(
        self,
        *,
        current: bool = True,
        annotator: str | None = None,
        query_id: str | None = None,
        doc_id: str | None = None,
        last: int | None = None,
        columns: Sequence[str] = Judgement._fields,
        several: bool = False,
        flagged: bool = False,
    ) -> pd.DataFrame:
        """Return judgements and adjudications, oldest first, with the fields of :class:`.Judgement`.

        Parameters
        ----------
        current
            If True, only the current judgement of each annotator and pair, without undone and surplus ones; if False,
            the whole log.
        annotator, query_id, doc_id
            Filters.
        last
            Maximum number of rows, the newest ones.
        columns
            Names of the columns to read; of half a million judgements, all take seconds. ``current``, which is not
            among them by default, tells whether an entry is current.
        several
            If True, only pairs with several current judgements, an adjudication, or a place in the qualification set.
            Not with a filter.
        flagged
            If True, only flagged judgements. Not with a filter.
        """
        tests = [
            ("annotator = ?", annotator),
            ("topic = (SELECT topic FROM topics WHERE query_id = ?)", query_id),
            ("doc = (SELECT doc FROM documents WHERE doc_id = ?)", doc_id),
        ]
        used = [(test, value) for test, value in tests if value is not None]
        if not used:
            return self._read_whole(columns, last, current=current, several=several, flagged=flagged)
        values = list[object](value for _, value in used)
        where = "WHERE " + " AND ".join(test for test, _ in used)
        if current:
            # A join with the view on the topic would read the whole view for each judgement.
            where = f"WHERE id IN (SELECT judgement FROM current_judgements {where})"
        with self.connection.snapshot():
            ids = f"SELECT id FROM judgements {where} ORDER BY id DESC LIMIT ?"
            return self._read_entries(self.connection.column(ids, [*values, -1 if last is None else last]), columns)

    def _read_whole(
        self, columns: Sequence[str], last: int | None, *, current: bool, several: bool, flagged: bool
    ) -> pd.DataFrame:
        """Return :meth:`table` without a filter on ids."""
        names = _sources(columns)
        with self.connection.snapshot():
            arrays = log_arrays.shared(self.connection)
            log = arrays.read(self.connection, ["flagged"] if flagged else [])
            rows = self._select_rows(log, current=current, several=several)
            if flagged:
                rows = rows & to_numpy(log["flagged"]).astype(np.bool_)
            if last is not None:
                rows = rows & (np.cumsum(rows[::-1])[::-1] <= last)
            if rows.sum() * columns_of.FEW < len(rows):
                return self._read_entries(to_numpy(log["id"])[rows].tolist(), columns)
            log = arrays.read(self.connection, log_arrays.KEPT.intersection(names))
            log |= log_arrays.read(self.connection, [n for n in names if n not in log], "FROM judgements ORDER BY id")
            return self._frame(log_arrays.select(log, names, rows), columns)

    def _select_rows(self, log: LogColumns, *, current: bool, several: bool) -> npt.NDArray[np.bool_]:
        rows = to_numpy(log["current"]) if current else np.ones(len(log["id"]), dtype=np.bool_)
        if not several:
            return rows
        shared = to_numpy(log["shared"])
        qualification = self.connection.column("SELECT topic << 32 | doc FROM qualification_set ORDER BY 1")
        if qualification:
            pairs = columns_of.pack_keys(to_numpy(log["topic"]), to_numpy(log["doc"]))
            shared = shared | np.isin(pairs, qualification)
        return rows & shared

    def coded(self, columns: Collection[str], *, current: bool = True, several: bool = False) -> pd.DataFrame:
        """Return columns of :meth:`table` without making texts of them, which takes longer than most sums.

        Names, such as ``annotator`` and ``kind``, are categories, numbers float64 if one is missing. In place of
        ``query_id``, ``doc_id`` and ``judged_at`` the frame has ``topic`` and ``doc``, the keys for :meth:`with_ids`,
        and ``at``, the time, NaT where it is none.
        """
        import pyarrow as pa

        with self.connection.snapshot():
            log = log_arrays.shared(self.connection).read(self.connection, log_arrays.KEPT.intersection(columns))
            rows = self._select_rows(log, current=current, several=several)
        return pa.table(log_arrays.select(log, columns, rows)).to_pandas()

    def read_ahead(self) -> None:
        """Read the columns of the log that pages sum up, which stay in memory."""
        log_arrays.shared(self.connection).read(self.connection, log_arrays.SUMMED)

    def with_ids(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Put ids in place of the keys in ``query_id`` and ``doc_id``."""
        return columns_of.with_ids(self.connection, frame)

    def pair_keys(self, pairs: pd.DataFrame) -> npt.NDArray[np.int64]:
        """Return the keys of each ``query_id`` and ``doc_id`` as one number; see :func:`.columns.pair_keys`."""
        return columns_of.pair_keys(self.connection, pairs)

    def _read_entries(self, ids: Iterable[int], columns: Sequence[str]) -> pd.DataFrame:
        rows = "FROM judgements WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
        return self._frame(log_arrays.read(self.connection, _sources(columns), rows, [json_text(ids)]), columns)

    def _frame(self, log: LogColumns, columns: Sequence[str]) -> pd.DataFrame:
        """Return columns of :meth:`table` from those of the log that they need."""
        frame = _frame({name: log[_SOURCES.get(name, name)] for name in columns})
        types = {"relevance": "Int64", "pool_rank": "Int64", "model_round": "Int64", "flagged": "bool"}
        frame = frame.astype({n: t for n, t in types.items() if n in columns})
        for name, find in (("query_id", columns_of.query_ids), ("doc_id", columns_of.doc_ids)):
            if name in columns:
                frame[name] = find(self.connection, frame[name])
        if "revises" in columns:
            uuids = "SELECT id, uuid FROM judgements WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
            revised = log["revises"].unique().drop_null().to_pylist()
            frame["revises"] = frame["revises"].map(self.connection.mapping(uuids, (json_text(revised),))).astype("str")
        if "passages" in columns:
            frame["passages"] = _parse_each(frame["passages"], lambda text: tuple(map(tuple, json.loads(text or "[]"))))
        if "answers" in columns:
            frame["answers"] = _parse_each(frame["answers"], parse_answers)
        return frame

    def given_answers(self, question: str) -> list[Answer]:
        """Return the different answers to a question in the whole log, sorted by the JSON of the judgements."""
        distinct = self.connection.column(
            "SELECT DISTINCT answers FROM judgements WHERE answers IS NOT NULL ORDER BY answers"
        )
        return list(dict.fromkeys(answers[question] for answers in map(parse_answers, distinct) if question in answers))

    def count_answers(self) -> dict[str, int]:
        """Count the entries of the whole log with an answer to each question, also to removed ones, by name."""
        rows = self.connection.execute(
            "SELECT answers, count(*) FROM judgements WHERE answers IS NOT NULL GROUP BY answers ORDER BY answers"
        )
        counts: Counter[str] = Counter()
        for written, number in rows:
            counts.update(dict.fromkeys(parse_answers(written), number))
        return dict(sorted(counts.items()))

    def last_grades(self, annotator: str) -> dict[tuple[str, str], LastGrade]:
        """Return an annotator's current judgement of each pair, including surplus ones but not adjudications.

        Keys are (query_id, doc_id); "judgement" wins over "surplus".
        """
        rows = self.connection.execute(
            "SELECT t.query_id, d.doc_id, CASE j.kind WHEN 'graded' THEN j.relevance ELSE j.kind END, l.counts_as, "
            "j.answers FROM latest_judgements AS l JOIN judgements AS j ON j.id = l.judgement "
            "JOIN topics AS t ON t.topic = l.topic JOIN documents AS d ON d.doc = l.doc WHERE l.annotator = ? "
            "AND NOT l.undone AND l.counts_as <> 'adjudication' ORDER BY l.counts_as = 'judgement', l.judgement",
            (annotator,),
        )
        return {
            (query_id, doc_id): LastGrade(grade, counts_as, parse_answers(answers))
            for query_id, doc_id, grade, counts_as, answers in rows
        }

    def progress(self, query_id: str | None = None) -> pd.DataFrame:
        """Count pairs and judgements of each topic, in the order of topics.

        ``query_id``, ``title``, ``pool`` (pairs), ``judged`` (pooled pairs with a judgement), ``cannot_judge`` (judged
        pooled pairs without a grade), ``wanted`` (judgements that the pool needs), ``made`` (judgements that it has; an
        adjudicated pair has all it needs), ``without_text`` (unjudged pooled pairs held back because their text is
        missing), ``waiting`` (judgements that held-back pairs still need), ``elsewhere`` and ``elsewhere_cannot``
        (pairs outside the pool: judged, and judged without a grade).
        """
        held = f"""
            SELECT p.topic, p.wanted, count(cj.doc) AS judgements,
                   CASE WHEN max(cj.counts_as = 'adjudication') THEN p.wanted
                        ELSE min(coalesce(sum(cj.counts_as = 'judgement'), 0), p.wanted) END AS made
            FROM {POOL_IF_TEXTS_MISSING} AS p
            LEFT JOIN current_judgements AS cj ON cj.topic = p.topic AND cj.doc = p.doc
            WHERE {is_held_back("p.doc")}
            AND (:query_id IS NULL OR p.topic = (SELECT topic FROM topics WHERE query_id = :query_id))
            GROUP BY p.topic, p.doc
        """
        return self.connection.frame(
            f"""
            SELECT t.query_id, t.title, c.pool, c.judged, c.cannot_judge, c.wanted, c.made,
                   coalesce(h.without_text, 0) AS without_text, coalesce(h.waiting, 0) AS waiting,
                   c.elsewhere, c.elsewhere_cannot
            FROM topics AS t JOIN topic_counts AS c USING (topic) LEFT JOIN (
                SELECT topic, sum(judgements = 0) AS without_text, sum(wanted - made) AS waiting
                FROM ({held}) GROUP BY topic
            ) AS h USING (topic)
            WHERE :query_id IS NULL OR t.query_id = :query_id ORDER BY t.topic
            """,
            {"query_id": query_id},
        )

    def versions(self) -> tuple[tuple[object, ...], int]:
        """Return the versions of topics, pool, assignments and texts, and the number of the last entry in the log.

        The last of the versions is the stored setting of the questions, as JSON, or None.
        """
        *content, logged = self.connection.execute(
            "SELECT (SELECT count(*) FROM topics), (SELECT coalesce(max(pool_round), 0) FROM pool_rounds), "
            "(SELECT value FROM settings WHERE key = 'assignment_version'), "
            "(SELECT value FROM settings WHERE key = 'documents_version'), "
            "(SELECT value FROM settings WHERE key = 'questions'), "
            "(SELECT coalesce(max(id), 0) FROM judgements)"
        ).fetchone()
        return tuple(content), logged

    def last_entry(self) -> tuple[int, str] | None:
        """Return number and uuid of the last entry in the log; a restored copy of the campaign gives numbers again."""
        row: tuple[int, str] | None = self.connection.execute(
            "SELECT id, uuid FROM judgements ORDER BY id DESC LIMIT 1"
        ).fetchone()
        return row

    def count_judged_outside_pool(self) -> int:
        """Count judged pairs outside the pool."""
        return self.connection.count("SELECT coalesce(sum(elsewhere), 0) FROM topic_counts")

    def count_graded_pairs(self, strategy: str) -> dict[str, int]:
        """Count the pairs of each topic with a current grade that were selected by a strategy."""
        # By the index on topics, each row of the log would be looked up by itself.
        return self.connection.mapping(
            "SELECT t.query_id, count(DISTINCT j.doc) FROM judgements AS j NOT INDEXED "
            "CROSS JOIN topics AS t USING (topic) "
            "WHERE j.strategy = ? AND j.kind = 'graded' AND EXISTS (SELECT 1 FROM current_judgements AS cj "
            "WHERE cj.topic = j.topic AND cj.doc = j.doc AND cj.annotator = j.annotator "
            "AND cj.counts_as = j.counts_as AND cj.judgement = j.id) "
            "GROUP BY j.topic ORDER BY j.topic",
            (strategy,),
        )

    def topics_since(self, logged: int) -> list[str]:
        """Return the topics of log entries newer than `logged`."""
        return self.connection.column(
            "SELECT DISTINCT query_id FROM judgements JOIN topics USING (topic) WHERE id > ? ORDER BY topic", (logged,)
        )

    def counts(self) -> dict[str, int]:
        """Count topics, documents with a text, runs, pooled pairs, current judgements, and entries in the log."""
        # No document is ever deleted, so the largest key is their number.
        counts = self.connection.frame(
            "SELECT count(*) AS topics, (SELECT coalesce(max(doc), 0) FROM documents) "
            "- (SELECT count(*) FROM documents WHERE text IS NULL) AS documents, (SELECT count(*) FROM runs) AS runs, "
            "coalesce(sum(pool), 0) AS pool, coalesce(sum(judgements), 0) AS judgements, "
            "coalesce(sum(logged), 0) AS logged FROM topic_counts"
        )
        return {str(name): int(number) for name, number in counts.iloc[0].items()}

    def annotators(self) -> pd.DataFrame:
        """Return ``annotator``, ``judgements`` (current), ``seconds`` (median), ``last_at`` (not imported), by name."""
        counted = "FROM latest_judgements WHERE NOT undone AND counts_as = 'judgement'"
        frame = self.connection.frame(
            f"SELECT annotator, count(*) AS judgements, count(seconds) AS timed, max(judged_at) AS last_at {counted} "
            "GROUP BY annotator ORDER BY annotator"
        )
        # The index latest_judgements_times has the seconds in order.
        middle = f"SELECT seconds {counted} AND annotator = ? AND seconds IS NOT NULL ORDER BY seconds LIMIT ? OFFSET ?"
        timed = zip(frame["annotator"], frame.pop("timed").tolist(), strict=True)
        frame["seconds"] = [
            self.connection.value(f"SELECT avg(seconds) FROM ({middle})", (name, 2 - n % 2, max(n - 1, 0) // 2))
            for name, n in timed
        ]
        return frame.astype({"seconds": "float64"})[["annotator", "judgements", "seconds", "last_at"]]

    def count_entries(self, query_id: str) -> int:
        """Count a topic's entries in the log; rounds of its model are numbered by this count."""
        return self.connection.count(
            "SELECT coalesce((SELECT logged FROM topic_counts JOIN topics USING (topic) WHERE query_id = ?), 0)",
            (query_id,),
        )

    def count_newly_judged(self, query_id: str, newest: int) -> int:
        """Count a topic's documents that are judged now but were unjudged before the `newest` entries of its log."""
        if newest <= 0:
            return 0
        # The plus sign before an id keeps SQLite from scanning the topic's log for each document.
        return self.connection.count(
            """
                WITH t AS (SELECT topic FROM topics WHERE query_id = :query_id),
                     new AS (SELECT id, doc FROM judgements WHERE topic = (SELECT topic FROM t)
                             ORDER BY id DESC LIMIT :newest),
                     first AS (SELECT min(id) AS id FROM new)
                SELECT count(DISTINCT new.doc) FROM t, new, first
                WHERE EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = t.topic AND cj.doc = new.doc)
                AND NOT EXISTS (
                    SELECT 1 FROM judgements AS b WHERE b.topic = t.topic AND b.doc = new.doc AND +b.id < first.id
                    AND b.kind <> 'undone' AND b.counts_as <> 'surplus'
                    AND NOT EXISTS (
                        SELECT 1 FROM judgements AS u WHERE u.topic = b.topic AND u.doc = b.doc
                        AND u.annotator = b.annotator AND u.counts_as = b.counts_as
                        AND +u.id > b.id AND +u.id < first.id))
                """,
            {"query_id": query_id, "newest": newest},
        )

    def led_by_labels(self) -> pd.DataFrame:
        """Return the entries of the log that the model ranked while a label set led it, oldest first.

        ``uuid``, ``query_id``, ``led_by`` (present name of the label set) and ``label_trust`` (float64, nan before the
        model starts). Random draws are left out: labels did not choose them.
        """
        frame = self.connection.frame(
            "WITH led AS (SELECT id, json_extract(conditions, '$.loop.labels') AS key FROM loop_conditions) "
            "SELECT j.uuid, t.query_id, coalesce(s.name, 'deleted label set ' || led.key) AS led_by, "
            "l.trust AS label_trust "
            "FROM judgements AS j JOIN led ON led.id = j.conditions JOIN topics AS t USING (topic) "
            "LEFT JOIN label_sets AS s ON s.label_set = led.key LEFT JOIN label_trust AS l "
            "ON l.topic = j.topic AND l.model_round = j.model_round AND l.conditions = j.conditions "
            "WHERE led.key IS NOT NULL AND j.strategy IN ('loop', 'start') ORDER BY j.id"
        )
        return frame.astype({"uuid": "str", "query_id": "str", "led_by": "str", "label_trust": "float64"})

    def count_led(self, label_set: int) -> int:
        """Count the judgements of :meth:`led_by_labels` that a label set led."""
        return int(
            self.connection.value(
                "SELECT count(*) FROM judgements WHERE strategy IN ('loop', 'start') AND conditions IN "
                "(SELECT id FROM loop_conditions WHERE json_extract(conditions, '$.loop.labels') = :label_set)",
                {"label_set": label_set},
            )
        )

    def count_ordered(self, conditions: Mapping[str, Collection[int]]) -> dict[str, int]:
        """Count the documents that were judged as the loop selected them under these conditions, by topic."""
        return self.connection.mapping(
            "SELECT o.key, count(DISTINCT doc) FROM json_each(?) AS o JOIN topics AS t ON t.query_id = o.key "
            "JOIN judgements AS j USING (topic) WHERE j.conditions IN (SELECT value FROM json_each(o.value)) "
            "GROUP BY topic ORDER BY topic",
            (json.dumps({query_id: sorted(numbers) for query_id, numbers in conditions.items()}),),
        )

    def topic_versions(self) -> dict[str, tuple[int, int, int, float, str | None]]:
        """Return what changes whenever a topic's log, pool or skips do, for each topic, in their order.

        The last is the uuid of its last entry: a restored copy of the campaign gives other entries the same numbers.
        """
        rows = self.connection.execute(
            "SELECT query_id, logged, pool, count(doc), coalesce(max(skipped_at), 0), "
            "(SELECT uuid FROM judgements AS j WHERE j.topic = t.topic ORDER BY id DESC LIMIT 1) FROM topics AS t "
            "JOIN topic_counts USING (topic) LEFT JOIN skips USING (topic) GROUP BY t.topic ORDER BY t.topic"
        )
        return {query_id: tuple(numbers) for query_id, *numbers in rows}

    def current_judgements(self, query_ids: str | Collection[str] | None = None) -> pd.DataFrame:
        """Return the current judgement of each annotator and document of a topic, of several, or of all topics.

        ``query_id``, ``row`` (of the document in the matrix), ``annotator``, ``counts_as``, ``kind``, ``relevance``
        (null: cannot judge); and how the document was selected: ``strategy``, ``model_round``, ``probability``,
        ``conditions`` (their number, null if the loop did not select it), ``imported`` (0 or 1) and ``while_undone``
        (whether another judgement of the topic was undone then, so that the loop had forgotten it). That is the
        selection of the document's first judgement in the log, also if it was undone since, so that an undo never
        changes what was drawn; second opinions have a selection of their own only where no other judgement was made.
        Sorted by these first judgements.
        """
        pair = ("topic", "doc", "annotator", "counts_as", "kind", "relevance")
        choice = ("strategy", "model_round", "probability", "conditions")
        with self.connection.snapshot():
            log = self._log_of(query_ids, [*pair, *choice, "source"])
            last, first = log_arrays.find_entries(log)
            order = first.argsort(kind="stable")
            last, first = last[order], first[order]
            frames = [_frame({n: log[n].take(p) for n in names}) for names, p in ((pair, last), (choice, first))]
            current = pd.concat(frames, axis=1)
            current["imported"] = is_value(log["source"], "imported")[first].astype(np.int64)
            current["while_undone"] = log_arrays.find_while_undone(log)[first]
            current = self._restore_draws(current, query_ids)
            ids = {"query_id": columns_of.query_ids(self.connection, current["topic"]), "row": current["doc"] - 1}
        return pd.concat([pd.DataFrame(ids), current.drop(columns=["topic", "doc"])], axis=1)

    def _log_of(self, query_ids: str | Collection[str] | None, names: Sequence[str]) -> LogColumns:
        """Return columns of the log of a topic, of several, or of all topics, without surplus judgements."""
        where, values = topic_condition(query_ids)
        if isinstance(query_ids, str):
            own = f"FROM judgements WHERE counts_as <> 'surplus' AND {where} ORDER BY id"
            return log_arrays.read(self.connection, names, own, values)
        log = log_arrays.shared(self.connection).read(self.connection, names)
        rows = ~is_value(log["counts_as"], "surplus")
        if query_ids is not None:
            topics = self.connection.column(f"SELECT topic FROM topics WHERE {where} ORDER BY topic", values)
            rows &= np.isin(to_numpy(log["topic"]), topics)
        return log_arrays.select(log, names, rows)

    def _restore_draws(self, judgements: pd.DataFrame, query_ids: str | Collection[str] | None) -> pd.DataFrame:
        """Mark judged documents of these topics that were drawn at random for somebody who skipped them as drawn."""
        where, wanted = topic_condition(query_ids)
        drawn = self.connection.frame(
            "SELECT topic, doc, min(l.model_round) AS model_round, l.probability, l.conditions FROM skips AS s "
            "JOIN leases AS l USING (topic, doc, annotator) WHERE l.strategy = 'random' AND l.probability IS NOT NULL "
            f"AND {where} GROUP BY topic, doc ORDER BY topic, doc",
            wanted,
        )
        if drawn.empty:
            return judgements
        pairs = pd.MultiIndex.from_frame(drawn[["topic", "doc"]])
        at = pairs.get_indexer(pd.MultiIndex.from_frame(judgements[["topic", "doc"]]))
        missed = (at >= 0) & (judgements["strategy"] != "random").to_numpy(dtype=np.bool_)
        for name in ("model_round", "probability", "conditions"):
            values = judgements[name].to_numpy(dtype=np.float64, na_value=np.nan)
            judgements[name] = np.where(missed, drawn[name].to_numpy(dtype=np.float64)[at], values)
        return judgements.assign(strategy=judgements["strategy"].mask(missed, "random"))

    def judged_rows(self, query_id: str) -> list[int]:
        """Return the matrix rows of a topic's judged documents, ascending."""
        return self.connection.column(
            "SELECT DISTINCT doc - 1 FROM current_judgements "
            "WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) ORDER BY 1",
            (query_id,),
        )

    def judging_time(self, query_id: str, annotator: str, count: int) -> float:
        """Return the time of the annotator's `count`-th newest judgement of a topic, in seconds since 1970, or 0."""
        judged_at: str | None = self.connection.value(
            "SELECT judged_at FROM judgements WHERE topic = (SELECT topic FROM topics WHERE query_id = ?) "
            "AND annotator = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
            (query_id, annotator, count - 1),
        )
        return 0.0 if judged_at is None else datetime.fromisoformat(judged_at).timestamp()

    def count_ungraded(self, query_ids: str | Collection[str] | None = None) -> dict[str, Ungraded]:
        """Count the unjudged documents that annotators saw, by topic; topics without any are missing."""
        where, values = topic_condition(query_ids)
        rows = self.connection.execute(
            f"""
            WITH seen AS (
                SELECT topic, doc, 1 AS kind, max(l.strategy IS 'random') AS drawn
                FROM skips AS s LEFT JOIN leases AS l USING (topic, doc, annotator) WHERE {where} GROUP BY topic, doc
                UNION ALL
                SELECT topic, doc, 2, max(j.strategy IS 'random' AND j.probability IS NOT NULL)
                FROM latest_judgements AS o INDEXED BY latest_judgements_undone
                JOIN judgements AS j USING (topic, doc, annotator)
                WHERE o.undone AND o.counts_as = 'judgement' AND j.counts_as = 'judgement' AND {where}
                AND (j.conditions IS NOT NULL OR (strategy IS 'random' AND source <> 'imported')) GROUP BY topic, doc
            )
            SELECT query_id, sum(first = 1), sum(first = 2), sum(drawn) FROM (
                SELECT topic, doc, min(kind) AS first, max(drawn) AS drawn FROM seen AS s
                WHERE NOT EXISTS (SELECT 1 FROM current_judgements AS cj WHERE cj.topic = s.topic AND cj.doc = s.doc)
                GROUP BY topic, doc
            ) JOIN topics USING (topic) GROUP BY topic ORDER BY topic
            """,
            values * 2,
        )
        return {query_id: Ungraded(*counts) for query_id, *counts in rows}

    def count_passed(self, query_ids: str | Collection[str]) -> dict[str, int]:
        """Count the unjudged documents that the loop selected before one that the same annotator judged, by topic.

        Topics without any are missing. Only documents of the same round, which has an order, and without skipped and
        undone ones: those apart, the judging page passes over none.
        """
        where, values = topic_condition(query_ids)
        return self.connection.mapping(
            f"""
            SELECT query_id, count(DISTINCT l.doc) FROM leases AS l JOIN (
                SELECT topic, annotator, conditions, model_round, max(pool_rank) AS last FROM judgements
                WHERE {where} AND conditions IS NOT NULL
                AND pool_rank IS NOT NULL AND kind <> 'undone' GROUP BY topic, annotator, conditions, model_round
            ) AS j USING (topic, annotator, conditions, model_round) JOIN topics USING (topic)
            WHERE l.pool_rank < j.last
            AND NOT EXISTS (SELECT 1 FROM latest_judgements AS lj WHERE lj.topic = l.topic AND lj.doc = l.doc)
            AND NOT EXISTS (SELECT 1 FROM skips AS s WHERE s.topic = l.topic AND s.doc = l.doc)
            GROUP BY topic ORDER BY topic
            """,
            values,
        )

    def grades_of(self, query_id: str, annotator: str, doc_ids: Sequence[str]) -> Mapping[str, int | None]:
        """Return the annotator's current grades of those documents that they judged; None: cannot judge."""
        return self.connection.mapping(
            "SELECT d.doc_id, j.relevance FROM documents AS d JOIN current_judgements AS cj ON cj.doc = d.doc "
            "AND cj.topic = (SELECT topic FROM topics WHERE query_id = ?) AND cj.annotator = ? "
            "AND cj.counts_as = 'judgement' "
            "JOIN judgements AS j ON j.id = cj.judgement "
            "WHERE d.doc_id IN (SELECT value FROM json_each(?)) ORDER BY d.doc",
            (query_id, annotator, json_text(doc_ids)),
        )


def _frame(log: LogColumns) -> pd.DataFrame:
    """Return columns of the log as a frame, texts as such."""
    import pyarrow as pa

    names = {n: v.cast(pa.large_string()) for n, v in log.items() if isinstance(v, pa.DictionaryArray)}
    return pa.table(log | names).to_pandas()
