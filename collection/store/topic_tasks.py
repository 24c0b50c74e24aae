"""Choices from lists, preferences, and claims on topics."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypedDict, Unpack

import pandas as pd

from collection.core import clock
from collection.core.records import Choice, Preference
from collection.store.connection import Repository, is_held, json_text, writes


class TopicKey(NamedTuple):
    """A topic of a task: its key and id, and the number of annotators that it needs.

    `enough` is whether its pool has enough documents with a text; `waiting`, whether it would have enough if no text
    were missing.
    """

    topic: int
    query_id: str
    wanted: int
    enough: bool
    waiting: bool


class Claim(NamedTuple):
    """A topic that is reserved for an annotator: until when, and how many topics come before it on their card."""

    topic: int
    annotator: str
    until: float
    ahead: int


class LoggedDecision(NamedTuple):
    """An annotator's decision on a topic, or on two documents of it.

    `entry` is the number of their current entry in the log, None if there is none or it was undone; `known` is whether
    they ever decided.
    """

    topic: int
    entry: int | None
    known: bool


class DecisionFilter(TypedDict, total=False):
    """Filters of choices or preferences.

    `current` (default True): only current decisions of each annotator, without undone ones. `last`: maximum number of
    rows, the newest ones. `shared`: only topics with decisions by several annotators.
    """

    current: bool
    annotator: str | None
    query_id: str | None
    last: int | None
    shared: bool


def _logged(row: tuple[int, int | None, str | None] | None) -> LoggedDecision | None:
    if row is None:
        return None
    topic, entry, kind = row
    return LoggedDecision(topic, None if kind == "undone" else entry, entry is not None)


class TopicTaskTables(Repository):
    """Choices from lists, preferences, and claims on topics."""

    def topics(self, least: int) -> list[TopicKey]:
        """Return all topics in order; a topic has enough documents if at least `least` in its pool have a text.

        A topic needs the maximum number of annotators that any of its pooled pairs needs.
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
        """Return the keys of the topics that are closed."""
        return frozenset(self.connection.column("SELECT topic FROM topic_modes WHERE closed ORDER BY topic"))

    def claims_on(self, topics: Iterable[int], at: float) -> list[Claim]:
        """Return the claims on these topics that are valid at a time."""
        rows = self.connection.execute(
            "SELECT c.topic, c.annotator, c.until, c.ahead FROM json_each(:topics) AS o "
            f"JOIN claims AS c ON c.topic = o.value WHERE {is_held('c.until')} ORDER BY c.topic, c.annotator",
            {"topics": json_text(topics), "at": at},
        )
        return list(map(Claim._make, rows))

    @writes
    def claim(self, topics: Iterable[int], annotator: str, at: float, until: float, *, behind: int = 0) -> None:
        """Reserve topics for an annotator from now (`at`) until a time.

        The first is on screen or behind that number of topics. Nothing is written while a claim is in the first half of
        its time and stays on the screen or behind it.
        """
        self.connection.executemany(
            "INSERT INTO claims (topic, annotator, until, since, ahead) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (topic, annotator) DO UPDATE SET until = excluded.until, since = excluded.since, "
            "ahead = excluded.ahead WHERE until < (excluded.since + excluded.until) / 2 "
            "OR (ahead = 0) <> (excluded.ahead = 0)",
            [(topic, annotator, until, at, ahead) for ahead, topic in enumerate(topics, behind)],
        )

    @writes
    def end_claims(self, claims: Iterable[Claim], at: float) -> None:
        """End claims now."""
        self.connection.executemany(
            "UPDATE claims SET until = ? WHERE topic = ? AND annotator = ?",
            [(at, claim.topic, claim.annotator) for claim in claims],
        )

    def was_claimed(self, topic: int, annotator: str) -> bool:
        """Tell whether a topic was ever reserved for an annotator."""
        return self.connection.exists("SELECT 1 FROM claims WHERE topic = ? AND annotator = ?", (topic, annotator))

    def find_choice(self, uuid: str) -> tuple[str, str] | None:
        """Return annotator and topic of the choice with this uuid, or None."""
        return self.connection.execute(
            "SELECT annotator, query_id FROM choices JOIN topics USING (topic) WHERE uuid = ?", (uuid,)
        ).fetchone()

    def last_choice(self, query_id: str, annotator: str) -> LoggedDecision | None:
        """Return an annotator's last choice for a topic; None if there is no such topic."""
        row = self.connection.execute(
            "SELECT t.topic, c.id, c.kind FROM topics AS t LEFT JOIN choices AS c ON c.id = ("
            "SELECT max(l.id) FROM choices AS l WHERE l.annotator = ? AND l.topic = t.topic) WHERE t.query_id = ?",
            (annotator, query_id),
        ).fetchone()
        return _logged(row)

    @writes
    def append_choice(self, choice: Choice, logged: LoggedDecision, docs: Sequence[int]) -> None:
        """Append a choice to the log; `docs` are the keys of the shown documents, in order."""
        row = choice._asdict() | {"topic": logged.topic, "revises": logged.entry}
        row["judged_at"] = choice.judged_at or clock.now()
        for name in ("query_id", "shown", "chosen"):
            del row[name]
        entry = self.connection.insert("choices", row)
        chosen = set(choice.chosen)
        self.connection.executemany(
            "INSERT INTO choice_documents (choice, position, doc, chosen) VALUES (?, ?, ?, ?)",
            [
                (entry, position, doc, doc_id in chosen)
                for position, (doc, doc_id) in enumerate(zip(docs, choice.shown, strict=True))
            ],
        )

    def choices(self, **which: Unpack[DecisionFilter]) -> pd.DataFrame:
        """Return choices, oldest first, with the fields of :class:`~collection.core.records.Choice`."""
        frame = self._decisions(
            "choices",
            "(SELECT json_group_array(json_array(s.position, d.doc_id, s.chosen)) FROM choice_documents AS s "
            "JOIN documents AS d USING (doc) WHERE s.choice = c.id) AS list",
            **which,
        )
        lists = [sorted(json.loads(rows)) for rows in frame["list"]]
        shown = [tuple(doc_id for _, doc_id, _ in rows) for rows in lists]
        chosen = [tuple(doc_id for _, doc_id, is_chosen in rows if is_chosen) for rows in lists]
        for name, values in (("shown", shown), ("chosen", chosen)):
            frame[name] = pd.Series(values, index=frame.index, dtype=object)
        return frame[list(Choice._fields)]

    def _decisions(
        self,
        log: str,
        columns: str,
        joins: str = "",
        *,
        current: bool = True,
        annotator: str | None = None,
        query_id: str | None = None,
        last: int | None = None,
        shared: bool = False,
    ) -> pd.DataFrame:
        tests = ["true"]
        if annotator is not None:
            # The plus sign keeps SQLite from the index when reading the log backwards finds the last few sooner.
            tests.append(f"{'+' if last is not None and query_id is None else ''}w.annotator = :annotator")
        if query_id is not None:
            tests.append("w.topic = (SELECT topic FROM topics WHERE query_id = :query_id)")
        if shared:
            tests.append(f"w.topic IN (SELECT topic FROM {log} GROUP BY topic HAVING min(annotator) <> max(annotator))")
        source = f"current_{log}" if current else log
        frame = self.connection.frame(
            "SELECT c.uuid, c.annotator, t.query_id, c.kind, c.reason, c.judged_at, c.shown_at, c.seconds, c.away, "
            f"c.source, c.note, r.uuid AS revises, {columns} FROM {log} AS c JOIN topics AS t USING (topic) "
            f"LEFT JOIN {log} AS r ON r.id = c.revises {joins} WHERE c.id IN ("
            f"SELECT w.id FROM {source} AS w WHERE {' AND '.join(tests)} "
            "ORDER BY w.id DESC LIMIT :last) ORDER BY c.id DESC",
            {"annotator": annotator, "query_id": query_id, "last": -1 if last is None else last},
        )
        return frame.iloc[::-1].reset_index(drop=True)

    def choices_after(self, entry: int) -> list[tuple[int, str, int, str]]:
        """Return the choices after an entry: number, annotator, key of the topic, kind."""
        return self.connection.execute(
            "SELECT id, annotator, topic, kind FROM choices WHERE id > ? ORDER BY id", (entry,)
        ).fetchall()

    def find_preference(self, uuid: str) -> tuple[str, str, str, str] | None:
        """Return annotator, topic, and the two documents of the preference with this uuid, or None."""
        return self.connection.execute(
            "SELECT p.annotator, t.query_id, l.doc_id, r.doc_id FROM preferences AS p JOIN topics AS t USING (topic) "
            "JOIN documents AS l ON l.doc = p.left_doc JOIN documents AS r ON r.doc = p.right_doc WHERE p.uuid = ?",
            (uuid,),
        ).fetchone()

    def last_preference_between(self, query_id: str, annotator: str, left: int, right: int) -> LoggedDecision | None:
        """Return an annotator's last preference between two documents; None if there is no such topic."""
        row = self.connection.execute(
            "SELECT t.topic, p.id, p.kind FROM topics AS t LEFT JOIN preferences AS p ON p.id = ("
            "SELECT max(l.id) FROM preferences AS l WHERE l.annotator = ? AND l.topic = t.topic "
            "AND min(l.left_doc, l.right_doc) = ? AND max(l.left_doc, l.right_doc) = ?) WHERE t.query_id = ?",
            (annotator, min(left, right), max(left, right), query_id),
        ).fetchone()
        return _logged(row)

    def has_preferences(self, topic: int, annotator: str) -> bool:
        """Tell whether an annotator ever compared documents of a topic."""
        return self.connection.exists(
            "SELECT 1 FROM preferences WHERE annotator = ? AND topic = ? LIMIT 1", (annotator, topic)
        )

    @writes
    def append_preference(self, preference: Preference, logged: LoggedDecision, left: int, right: int) -> None:
        """Append a preference to the log."""
        row = preference._asdict() | {"topic": logged.topic, "revises": logged.entry}
        row |= {"left_doc": left, "right_doc": right, "judged_at": preference.judged_at or clock.now()}
        for name in ("query_id", "left", "right"):
            del row[name]
        self.connection.insert("preferences", row)

    def preferences(self, **which: Unpack[DecisionFilter]) -> pd.DataFrame:
        """Return preferences, oldest first, with the fields of :class:`~collection.core.records.Preference`."""
        frame = self._decisions(
            "preferences",
            "a.doc_id AS left, b.doc_id AS right",
            "JOIN documents AS a ON a.doc = c.left_doc JOIN documents AS b ON b.doc = c.right_doc",
            **which,
        )
        return frame[list(Preference._fields)]

    def preferences_of(self, topic: int, annotator: str) -> list[tuple[str, str, str]]:
        """Return an annotator's current preferences of a topic: left, right, kind; oldest first."""
        return self.connection.execute(
            "SELECT a.doc_id, b.doc_id, p.kind FROM preferences AS p "
            "JOIN documents AS a ON a.doc = p.left_doc JOIN documents AS b ON b.doc = p.right_doc WHERE p.id IN ("
            "SELECT max(l.id) FROM preferences AS l WHERE l.annotator = ? AND l.topic = ? "
            "GROUP BY min(l.left_doc, l.right_doc), max(l.left_doc, l.right_doc)) "
            "AND p.kind <> 'undone' ORDER BY p.id",
            (annotator, topic),
        ).fetchall()

    def last_preference(self) -> int:
        """Return the number of the last entry in the log of preferences."""
        return self.connection.count("SELECT coalesce(max(id), 0) FROM preferences")

    def preferences_after(self, entry: int) -> list[tuple[str, int]]:
        """Return the annotators and keys of topics of the preferences after an entry."""
        return self.connection.execute(
            "SELECT DISTINCT annotator, topic FROM preferences WHERE id > ? ORDER BY annotator, topic", (entry,)
        ).fetchall()

    def decision_uuid(self, entry: int, *, preference: bool) -> str | None:
        """Return the uuid of an entry in the log of preferences, or of choices; None if there is none."""
        uuid: str | None = self.connection.value(
            f"SELECT uuid FROM {'preferences' if preference else 'choices'} WHERE id = ?", (entry,)
        )
        return uuid

    def preferences_by_topic(self) -> Iterator[tuple[str, int, list[tuple[str, str, str]]]]:
        """Yield annotator, key of the topic, and the preferences as :meth:`preferences_of` returns them."""
        rows = self.connection.execute(
            "SELECT annotator, topic, a.doc_id, b.doc_id, kind FROM current_preferences "
            "JOIN documents AS a ON a.doc = left_doc JOIN documents AS b ON b.doc = right_doc "
            "ORDER BY annotator, topic, id"
        )
        for (annotator, topic), group in groupby(rows, key=lambda row: row[:2]):
            yield annotator, topic, [(left, right, kind) for _, _, left, right, kind in group]

    def counts(self) -> dict[str, int]:
        """Count current ``choices`` and ``preferences``."""
        return {
            "choices": self.connection.value("SELECT count(*) FROM current_choices"),
            "preferences": self.connection.value("SELECT count(*) FROM current_preferences"),
        }
