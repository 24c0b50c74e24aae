"""What one annotator has done: judgements to look back at, and how long each took."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from collection.records import (
    UNSPACED,
)
from collection.store.connection import Connection

_UNSPACED = re.compile(f"[{UNSPACED}]")
"""Scripts without blanks, of whose words the full-text index knows no more than the beginnings of sentences."""


PREFIX_FROM = 3
"""Letters from which on a word is looked for as the beginning of others as well."""


LOGS = ("judgements", "choices", "preferences")
"""What annotators are asked for; each has a log of its own."""


class Former(NamedTuple):
    """What somebody had said before; `kind` is "undone" where they took their word back."""

    kind: str
    relevance: int | None
    judged_at: str


class Said(NamedTuple):
    """One annotator's standing judgement of a pair, as it is looked back at.

    `id` is its number in the log, `topic` the topic's title, `former` what the annotator had said of the pair before,
    newest first. The other fields are those of :class:`collection.records.Judgement` and of the document.
    """

    id: int
    query_id: str
    topic: str
    doc_id: str
    title: str
    kind: str
    relevance: int | None
    reason: str | None
    note: str | None
    flagged: bool
    passages: tuple[tuple[int, int], ...]
    judged_at: str
    former: tuple[Former, ...] = ()


class Spent(NamedTuple):
    """When one entry of a log was made and how long it took; `seconds` and `away` are None where nobody knows."""

    at: str
    seconds: float | None
    away: float | None
    query_id: str
    log: str
    """One of :data:`LOGS`."""


def _passages(written: str | None) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in json.loads(written)) if written else ()


def _has(word: str, n: int) -> list[str]:
    """SQL for the places in which a word may stand."""
    places = [f"d.doc_id LIKE :like{n} ESCAPE '!'", f"j.note LIKE :like{n} ESCAPE '!'"]
    if _match(word):
        places.append(f"l.doc IN (SELECT rowid FROM documents_fts WHERE documents_fts MATCH :match{n})")
    if _UNSPACED.search(word):
        places += [f"d.title LIKE :like{n} ESCAPE '!'", f"d.text LIKE :like{n} ESCAPE '!'"]
    return places


def _match(word: str) -> str:
    """A word as the full-text index reads it; empty where there is no letter to look for."""
    core = word.replace('"', " ").strip()
    if not any(c.isalnum() for c in core):
        return ""
    return f'"{core}"' + ("*" if len(core) >= PREFIX_FROM else "")


def _like(word: str) -> str:
    escaped = re.sub(r"([!%_])", r"!\1", word)
    return f"%{escaped}%"


@dataclass(eq=False)
class HistoryTables:
    """What one annotator has done: judgements to look back at, and how long each took."""

    connection: Connection

    def said(
        self,
        annotator: str,
        *,
        query_id: str | None = None,
        kind: str | None = None,
        relevance: int | None = None,
        flagged: bool = False,
        words: Sequence[str] = (),
        before: int | None = None,
        limit: int = 50,
    ) -> list[Said]:
        """The annotator's judgements that stand, newest first.

        Parameters
        ----------
        annotator
            Whose.
        query_id, kind, relevance, flagged
            Only those of this topic; of this kind; with this grade; that are to be looked at again.
        words
            Only those where each of these is in the document's title or text (a whole word, or from three letters on
            the beginning of one; anywhere in a text of a script without blanks), in its id or in the note.
        before
            Only those with a lower number in the log.
        limit
            So many at most.
        """
        # The row of the log is read anyway, and says as well that it was taken back.
        tests = ["l.annotator = :annotator", "l.counts_as = 'judgement'", "j.kind <> 'undone'"]
        values: dict[str, Any] = {"annotator": annotator, "limit": limit}
        for test, value in (
            ("l.topic = (SELECT topic FROM topics WHERE query_id = :query_id)", query_id),
            ("j.kind = :kind", kind),
            ("j.relevance = :relevance", relevance),
            ("l.judgement < :before", before),
        ):
            if value is not None:
                tests.append(test)
                values[test.rpartition(":")[2].rstrip(")")] = value
        if flagged:
            tests.append("j.flagged")
        for n, word in enumerate(words):
            tests.append(f"({' OR '.join(_has(word, n))})")
            values |= {f"like{n}": _like(word), f"match{n}": _match(word)}
        rows = self.connection.db.conn.execute(
            # The order of the joins is ours: the newest first, and no more of them than are wanted.
            "SELECT l.judgement, t.query_id, t.title, d.doc_id, d.title, j.kind, j.relevance, j.reason, j.note, "
            "j.flagged, j.passages, j.judged_at FROM last_words AS l "
            "CROSS JOIN judgements AS j ON j.id = l.judgement "
            "CROSS JOIN documents AS d ON d.doc = l.doc CROSS JOIN topics AS t ON t.topic = l.topic "
            f"WHERE {' AND '.join(tests)} ORDER BY l.judgement DESC LIMIT :limit",
            values,
        )
        return [
            Said._make((*told, bool(flagged), _passages(passages), judged_at, ()))
            for *told, flagged, passages, judged_at in rows
        ]

    def said_before(self, entries: Sequence[int]) -> dict[int, list[Former]]:
        """What the annotator of each entry had said of its pair before, newest first."""
        found: dict[int, list[Former]] = {}
        rows = self.connection.db.conn.execute(
            "SELECT j.id, f.kind, f.relevance, f.judged_at FROM json_each(?) AS e "
            "CROSS JOIN judgements AS j ON j.id = e.value "
            "CROSS JOIN judgements AS f ON f.topic = j.topic AND f.doc = j.doc AND f.annotator = j.annotator "
            "AND f.counts_as = j.counts_as AND f.id < j.id ORDER BY f.id DESC",
            (json.dumps(list(entries)),),
        )
        for entry, *former in rows:
            found.setdefault(entry, []).append(Former(*former))
        return found

    def last_topic(self, annotator: str) -> str | None:
        """The topic of the annotator's newest judgement, also of one that they took back."""
        topic: str | None = self.connection.value(
            "SELECT t.query_id FROM last_words AS l JOIN topics AS t USING (topic) "
            "WHERE l.annotator = ? AND l.counts_as <> 'adjudication' ORDER BY l.judgement DESC LIMIT 1",
            (annotator,),
        )
        return topic

    def said_in_topics(self, annotator: str) -> dict[str, int]:
        """How many judgements of the annotator stand in each topic that has any."""
        return dict(
            self.connection.db.conn.execute(
                "SELECT t.query_id, count(*) FROM last_words AS l JOIN topics AS t USING (topic) "
                "WHERE l.annotator = ? AND l.counts_as = 'judgement' AND NOT l.open GROUP BY t.topic ORDER BY t.topic",
                (annotator,),
            ).fetchall()
        )

    def spent(self, annotator: str, since: tuple[int, ...]) -> tuple[list[Spent], tuple[int, ...]]:
        """What the annotator made themselves after these entries of the :data:`LOGS`, oldest first.

        What was taken back is none, nor is an adjudication; imports and scripts took nobody's time.

        Returns
        -------
        list, tuple
            The entries, and the last entry of each log, with which to ask the next time.
        """
        last = tuple(int(self.connection.value(f"SELECT coalesce(max(id), 0) FROM {log}")) for log in LOGS)
        own = "l.annotator = ? AND l.kind <> 'undone' AND l.source IN ('key', 'click')"
        one = "SELECT l.judged_at, l.seconds, l.away, t.query_id FROM {} AS l CROSS JOIN topics AS t USING (topic) "
        found: list[Spent] = []
        # What is saved from here on comes the next time, and not twice.
        for log, after, until in zip(LOGS, since, last, strict=True):
            but = " AND l.counts_as <> 'adjudication'" if log == "judgements" else ""
            rows = self.connection.db.conn.execute(
                f"{one.format(log)} WHERE l.id > ? AND l.id <= ? AND {own}{but} ORDER BY l.id",
                (after, until, annotator),
            )
            found += [Spent._make((*row, log)) for row in rows]
        return sorted(found, key=lambda entry: entry.at), last
