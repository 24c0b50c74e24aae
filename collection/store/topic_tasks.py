"""Choices from lists, preferences, and who has which topic in hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from collection import clock
from collection.records import Choice, Preference
from collection.store.connection import Repository, writes


class TopicKey(NamedTuple):
    """A topic as its tasks want it.

    Its key and id, how many are to decide on it, whether its pool has enough documents with a text, and if not, whether
    it has enough in all.
    """

    topic: int
    query_id: str
    wanted: int
    enough: bool
    waiting: bool


class Standing(NamedTuple):
    """What the log has of one annotator on a topic, or on two documents of it.

    `entry` is their entry that stands, None where they have none or took it back; `known` whether they ever decided.
    """

    topic: int
    entry: int | None
    known: bool


def _standing(row: tuple[int, int | None, str | None]) -> Standing:
    topic, entry, kind = row
    return Standing(topic, None if kind == "undone" else entry, entry is not None)


def _wanted(log: str, current: bool, which: dict[str, object], shared: bool) -> str:
    """SQL for the numbers of the entries that are wanted, the newest first; `which` are its parameters."""
    tests = []
    if which["annotator"] is not None:
        # The sign keeps SQLite from an index where it is quicker to walk back through the log to the last few.
        last_few = which["last"] != -1 and which["query_id"] is None
        tests.append(f"{'+' if last_few else ''}w.annotator = :annotator")
    if which["query_id"] is not None:
        tests.append("w.topic = (SELECT topic FROM topics WHERE query_id = :query_id)")
    if shared:
        tests.append(f"w.topic IN (SELECT topic FROM {log} GROUP BY topic HAVING min(annotator) <> max(annotator))")
    where = "WHERE " + " AND ".join(tests) if tests else ""
    return f"SELECT w.id FROM {f'current_{log}' if current else log} AS w {where} ORDER BY w.id DESC LIMIT :last"


def _parameters(annotator: str | None, query_id: str | None, last: int | None) -> dict[str, object]:
    return {"annotator": annotator, "query_id": query_id, "last": -1 if last is None else last}


class TopicTaskTables(Repository):
    """Choices from lists, preferences, and who has which topic in hand."""

    def topics(self, least: int) -> list[TopicKey]:
        """All topics in order; one is long enough with so many documents with a text in its pool.

        As many are to decide on a topic as are to judge that pair of its pool which most are to judge.
        """
        rows = self.connection.execute(
            """
            SELECT t.topic, t.query_id, coalesce((SELECT max(p.wanted) FROM pool AS p WHERE p.topic = t.topic), 1),
                   (SELECT count(*) FROM (SELECT 1 FROM pool AS p JOIN documents AS d USING (doc)
                    WHERE p.topic = t.topic AND d.text IS NOT NULL LIMIT :least)) = :least,
                   (SELECT count(*) FROM (SELECT 1 FROM pool AS p WHERE p.topic = t.topic LIMIT :least)) = :least
            FROM topics AS t ORDER BY t.topic
            """,
            {"least": least},
        )
        return [
            TopicKey(topic, query_id, wanted, bool(enough), bool(pooled and not enough))
            for topic, query_id, wanted, enough, pooled in rows
        ]

    def closed_topics(self) -> frozenset[int]:
        """Keys of the topics that are closed."""
        rows = self.connection.execute("SELECT topic FROM topic_modes WHERE closed ORDER BY topic")
        return frozenset(topic for (topic,) in rows)

    def claims_on(self, topics: Iterable[int], at: float) -> list[tuple[int, str, float]]:
        """Claims on these topics that hold at a time: topic, annotator, until when."""
        return self.connection.execute(
            "SELECT c.topic, c.annotator, c.until FROM json_each(?) AS o JOIN claims AS c ON c.topic = o.value "
            "WHERE c.until > ? ORDER BY c.topic, c.annotator",
            (json.dumps(list(topics)), at),
        ).fetchall()

    @writes
    def claim(self, topics: Iterable[int], annotator: str, until: float) -> None:
        """Put topics into an annotator's hands, or keep them there, until a time."""
        self.connection.executemany(
            "INSERT INTO claims (topic, annotator, until) VALUES (?, ?, ?) "
            "ON CONFLICT (topic, annotator) DO UPDATE SET until = excluded.until",
            [(topic, annotator, until) for topic in topics],
        )

    def was_claimed(self, topic: int, annotator: str) -> bool:
        """Whether an annotator ever had a topic in hand."""
        return bool(self.connection.value("SELECT 1 FROM claims WHERE topic = ? AND annotator = ?", (topic, annotator)))

    def choice_logged(self, uuid: str) -> tuple[str, str] | None:
        """Annotator and topic of the choice with this uuid, or None."""
        return self.connection.execute(
            "SELECT annotator, query_id FROM choices JOIN topics USING (topic) WHERE uuid = ?", (uuid,)
        ).fetchone()

    def choice_standing(self, query_id: str, annotator: str) -> Standing | None:
        """What an annotator chose for a topic; None if nobody knows the topic."""
        row = self.connection.execute(
            "SELECT t.topic, c.id, c.kind FROM topics AS t LEFT JOIN choices AS c ON c.id = ("
            "SELECT max(l.id) FROM choices AS l WHERE l.annotator = ? AND l.topic = t.topic) WHERE t.query_id = ?",
            (annotator, query_id),
        ).fetchone()
        return None if row is None else _standing(row)

    @writes
    def append_choice(self, choice: Choice, standing: Standing, docs: Sequence[int]) -> None:
        """Write one choice to the log; `docs` are the keys of what was shown, in its order."""
        row = choice._asdict() | {"topic": standing.topic, "revises": standing.entry}
        row["judged_at"] = choice.judged_at or clock.now()
        for name in ("query_id", "shown", "chosen"):
            del row[name]
        columns, places = ", ".join(row), ", ".join(f":{name}" for name in row)
        cursor = self.connection.execute(f"INSERT INTO choices ({columns}) VALUES ({places})", row)
        chosen = set(choice.chosen)
        self.connection.executemany(
            "INSERT INTO choice_documents (choice, position, doc, chosen) VALUES (?, ?, ?, ?)",
            [
                (cursor.lastrowid, position, doc, doc_id in chosen)
                for position, (doc, doc_id) in enumerate(zip(docs, choice.shown, strict=True))
            ],
        )

    def choices(
        self,
        *,
        current: bool = True,
        annotator: str | None = None,
        query_id: str | None = None,
        last: int | None = None,
        shared: bool = False,
    ) -> pd.DataFrame:
        """Choices, oldest first: a column for every field of :class:`~collection.records.Choice`.

        Parameters
        ----------
        current
            Only each annotator's last word on each topic, without what was taken back; else the whole log.
        annotator, query_id
            Only theirs; only this topic's.
        last
            Only so many of the newest.
        shared
            Only of topics on which several annotators decided.
        """
        which = _parameters(annotator, query_id, last)
        frame = self.connection.frame(
            "SELECT c.uuid, c.annotator, t.query_id, c.kind, "
            "(SELECT json_group_array(json_array(s.position, d.doc_id, s.chosen)) FROM choice_documents AS s "
            " JOIN documents AS d USING (doc) WHERE s.choice = c.id) AS list, "
            "c.reason, c.judged_at, c.shown_at, c.seconds, c.away, c.source, c.note, r.uuid AS revises "
            f"FROM choices AS c JOIN topics AS t USING (topic) LEFT JOIN choices AS r ON r.id = c.revises "
            f"WHERE c.id IN ({_wanted('choices', current, which, shared)}) ORDER BY c.id DESC",
            which,
        )
        frame = frame.iloc[::-1].reset_index(drop=True)
        lists = [sorted(json.loads(rows)) for rows in frame["list"]]
        shown = [tuple(doc_id for _, doc_id, _ in rows) for rows in lists]
        chosen = [tuple(doc_id for _, doc_id, is_chosen in rows if is_chosen) for rows in lists]
        for name, values in (("shown", shown), ("chosen", chosen)):
            frame[name] = pd.Series(values, index=frame.index, dtype=object)
        return frame[list(Choice._fields)]

    def choices_after(self, entry: int) -> list[tuple[int, str, int, str]]:
        """What the log of choices has behind an entry: its number, annotator, key of the topic, kind."""
        return self.connection.execute(
            "SELECT id, annotator, topic, kind FROM choices WHERE id > ? ORDER BY id", (entry,)
        ).fetchall()

    def preference_logged(self, uuid: str) -> tuple[str, str, str, str] | None:
        """Annotator, topic, and the two documents of the preference with this uuid, or None."""
        return self.connection.execute(
            "SELECT p.annotator, t.query_id, l.doc_id, r.doc_id FROM preferences AS p JOIN topics AS t USING (topic) "
            "JOIN documents AS l ON l.doc = p.left_doc JOIN documents AS r ON r.doc = p.right_doc WHERE p.uuid = ?",
            (uuid,),
        ).fetchone()

    def preference_standing(self, query_id: str, annotator: str, left: int, right: int) -> Standing | None:
        """What an annotator said of two documents, whichever stood where; None if nobody knows the topic."""
        row = self.connection.execute(
            "SELECT t.topic, p.id, p.kind FROM topics AS t LEFT JOIN preferences AS p ON p.id = ("
            "SELECT max(l.id) FROM preferences AS l WHERE l.annotator = ? AND l.topic = t.topic "
            "AND min(l.left_doc, l.right_doc) = ? AND max(l.left_doc, l.right_doc) = ?) WHERE t.query_id = ?",
            (annotator, min(left, right), max(left, right), query_id),
        ).fetchone()
        return None if row is None else _standing(row)

    def has_preferences(self, topic: int, annotator: str) -> bool:
        """Whether an annotator ever compared documents of a topic."""
        return bool(
            self.connection.value(
                "SELECT 1 FROM preferences WHERE annotator = ? AND topic = ? LIMIT 1", (annotator, topic)
            )
        )

    @writes
    def append_preference(self, preference: Preference, standing: Standing, left: int, right: int) -> None:
        """Write one preference to the log."""
        row = preference._asdict() | {"topic": standing.topic, "revises": standing.entry}
        row |= {"left_doc": left, "right_doc": right, "judged_at": preference.judged_at or clock.now()}
        for name in ("query_id", "left", "right"):
            del row[name]
        columns, places = ", ".join(row), ", ".join(f":{name}" for name in row)
        self.connection.execute(f"INSERT INTO preferences ({columns}) VALUES ({places})", row)

    def preferences(
        self,
        *,
        current: bool = True,
        annotator: str | None = None,
        query_id: str | None = None,
        last: int | None = None,
        shared: bool = False,
    ) -> pd.DataFrame:
        """Preferences, oldest first: a column for every field of :class:`~collection.records.Preference`.

        Parameters are those of :meth:`choices`; the last word is that on each two documents of a topic.
        """
        which = _parameters(annotator, query_id, last)
        frame = self.connection.frame(
            "SELECT c.uuid, c.annotator, t.query_id, a.doc_id AS left, b.doc_id AS right, c.kind, c.reason, "
            "c.judged_at, c.shown_at, c.seconds, c.away, c.source, c.note, r.uuid AS revises "
            "FROM preferences AS c JOIN topics AS t USING (topic) LEFT JOIN preferences AS r ON r.id = c.revises "
            "JOIN documents AS a ON a.doc = c.left_doc JOIN documents AS b ON b.doc = c.right_doc "
            f"WHERE c.id IN ({_wanted('preferences', current, which, shared)}) ORDER BY c.id DESC",
            which,
        )
        return frame.iloc[::-1].reset_index(drop=True)

    def preferences_of(self, topic: int, annotator: str) -> list[tuple[str, str, str]]:
        """What an annotator said of the documents of a topic and did not take back: left, right, kind; oldest first."""
        return self.connection.execute(
            "SELECT a.doc_id, b.doc_id, p.kind FROM preferences AS p "
            "JOIN documents AS a ON a.doc = p.left_doc JOIN documents AS b ON b.doc = p.right_doc WHERE p.id IN ("
            "SELECT max(l.id) FROM preferences AS l WHERE l.annotator = ? AND l.topic = ? "
            "GROUP BY min(l.left_doc, l.right_doc), max(l.left_doc, l.right_doc)) "
            "AND p.kind <> 'undone' ORDER BY p.id",
            (annotator, topic),
        ).fetchall()

    def last_preference(self) -> int:
        """The number of the last entry in the log of preferences."""
        return int(self.connection.value("SELECT coalesce(max(id), 0) FROM preferences"))

    def compared_after(self, entry: int) -> list[tuple[str, int]]:
        """Who compared documents of which topics behind an entry of the log: annotator, key of the topic."""
        return self.connection.execute(
            "SELECT DISTINCT annotator, topic FROM preferences WHERE id > ? ORDER BY annotator, topic", (entry,)
        ).fetchall()

    def decision_uuid(self, entry: int, *, preference: bool) -> str | None:
        """The uuid of an entry in the log of preferences, or of choices; None if there is none."""
        uuid: str | None = self.connection.value(
            f"SELECT uuid FROM {'preferences' if preference else 'choices'} WHERE id = ?", (entry,)
        )
        return uuid

    def compared(self) -> Iterator[tuple[str, int, list[tuple[str, str, str]]]]:
        """Every annotator's topics, and what they said of their documents as :meth:`preferences_of` has it."""
        rows = self.connection.execute(
            "SELECT annotator, topic, a.doc_id, b.doc_id, kind FROM current_preferences "
            "JOIN documents AS a ON a.doc = left_doc JOIN documents AS b ON b.doc = right_doc "
            "ORDER BY annotator, topic, id"
        )
        of: tuple[str, int] | None = None
        said: list[tuple[str, str, str]] = []
        for annotator, topic, *words in rows:
            if (annotator, topic) != of:
                if of is not None:
                    yield *of, said
                of, said = (annotator, topic), []
            said.append((words[0], words[1], words[2]))
        if of is not None:
            yield *of, said

    def counts(self) -> dict[str, int]:
        """How many stand: ``choices``, ``preferences``."""
        return {
            "choices": self.connection.value("SELECT count(*) FROM current_choices"),
            "preferences": self.connection.value("SELECT count(*) FROM current_preferences"),
        }
