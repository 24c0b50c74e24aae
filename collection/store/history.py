"""The judging history of an annotator: judgements, and the time that each took."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from collection.core.questions import parse_answers
from collection.core.records import UNSPACED, Answer
from collection.store.connection import Repository, json_text

_UNSPACED = re.compile(f"[{UNSPACED}]")
"""Scripts without blanks between words; the full-text index has only the beginnings of their sentences."""

PREFIX_FROM = 3
"""Minimum length of words that also match as a prefix."""

LOGS = ("judgements", "choices", "preferences")
"""Tables that log the decisions of annotators."""


class EarlierJudgement(NamedTuple):
    """An earlier judgement of the same pair by the same annotator; `kind` is "undone" for an undo."""

    kind: str
    relevance: int | None
    judged_at: str
    answers: Mapping[str, Answer] = {}


class PastJudgement(NamedTuple):
    """A current judgement in the history of an annotator.

    `id` is its number in the log, `topic` the topic's title, `former` the earlier judgements of the pair, newest
    first. The other fields are those of :class:`collection.core.records.Judgement` and of the document.
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
    former: tuple[EarlierJudgement, ...] = ()
    answers: Mapping[str, Answer] = {}


class TimedDecision(NamedTuple):
    """The time of a decision, and how long it took; `seconds` and `away` are None if unknown."""

    at: str
    seconds: float | None
    away: float | None
    query_id: str
    entry: int
    log: str


def _passages(written: str | None) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in json.loads(written)) if written else ()


def _has(word: str, n: int) -> list[str]:
    """Write one SQL condition for each place where a word may occur."""
    places = [f"d.doc_id LIKE :like{n} ESCAPE '!'", f"j.note LIKE :like{n} ESCAPE '!'"]
    if _match(word):
        places.append(f"l.doc IN (SELECT rowid FROM documents_fts WHERE documents_fts MATCH :match{n})")
    if _UNSPACED.search(word):
        places += [f"d.title LIKE :like{n} ESCAPE '!'", f"d.text LIKE :like{n} ESCAPE '!'"]
    return places


def _match(word: str) -> str:
    """Quote a word for the full-text index; empty for a word without letters and digits."""
    core = word.replace('"', " ").strip()
    if not any(c.isalnum() for c in core):
        return ""
    return f'"{core}"' + ("*" if len(core) >= PREFIX_FROM else "")


def _like(word: str) -> str:
    escaped = re.sub(r"([!%_])", r"!\1", word)
    return f"%{escaped}%"


class HistoryTables(Repository):
    """The judging history of an annotator: judgements, and the time that each took."""

    def judgements(
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
    ) -> list[PastJudgement]:
        """Return current judgements of an annotator, newest first.

        Parameters
        ----------
        annotator, query_id, kind, relevance, flagged
            Filters.
        words
            Words that must all occur in the document's title or text (as a word; from three letters on also as a
            prefix; in scripts without blanks anywhere), in its id, or in the note.
        before
            Only entries with a number below this one in the log.
        limit
            Maximum number of judgements.
        """
        tests = ["l.annotator = :annotator", "l.counts_as = 'judgement'", "j.kind <> 'undone'"]
        values: dict[str, object] = {"annotator": annotator, "limit": limit}
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
        rows = self.connection.execute(
            # CROSS JOIN fixes the order of the joins: newest first, reading no more than `limit`.
            "SELECT l.judgement, t.query_id, t.title, d.doc_id, d.title, j.kind, j.relevance, j.reason, j.note, "
            "j.flagged, j.passages, j.answers, j.judged_at FROM latest_judgements AS l "
            "CROSS JOIN judgements AS j ON j.id = l.judgement "
            "CROSS JOIN documents AS d ON d.doc = l.doc CROSS JOIN topics AS t ON t.topic = l.topic "
            f"WHERE {' AND '.join(tests)} ORDER BY l.judgement DESC LIMIT :limit",
            values,
        )
        return [
            PastJudgement._make((*fields, bool(flagged), _passages(passages), judged_at, (), parse_answers(answers)))
            for *fields, flagged, passages, answers, judged_at in rows
        ]

    def earlier_judgements(self, entries: Sequence[int]) -> dict[int, list[EarlierJudgement]]:
        """Return earlier judgements of the pair of each entry by its annotator, newest first."""
        earlier: dict[int, list[EarlierJudgement]] = {}
        rows = self.connection.execute(
            "SELECT j.id, f.kind, f.relevance, f.judged_at, f.answers FROM json_each(?) AS e "
            "CROSS JOIN judgements AS j ON j.id = e.value "
            "CROSS JOIN judgements AS f ON f.topic = j.topic AND f.doc = j.doc AND f.annotator = j.annotator "
            "AND f.counts_as = j.counts_as AND f.id < j.id ORDER BY f.id DESC",
            (json_text(entries),),
        )
        for entry, *row, answers in rows:
            earlier.setdefault(entry, []).append(EarlierJudgement._make((*row, parse_answers(answers))))
        return earlier

    def last_topic(self, annotator: str) -> str | None:
        """Return the topic of the annotator's newest judgement, including undone ones."""
        topic: str | None = self.connection.value(
            "SELECT t.query_id FROM latest_judgements AS l JOIN topics AS t USING (topic) "
            "WHERE l.annotator = ? AND l.counts_as <> 'adjudication' ORDER BY l.judgement DESC LIMIT 1",
            (annotator,),
        )
        return topic

    def count_by_topic(self, annotator: str) -> dict[str, int]:
        """Count the annotator's current judgements by topic."""
        return self.connection.mapping(
            "SELECT t.query_id, count(*) FROM latest_judgements AS l JOIN topics AS t USING (topic) "
            "WHERE l.annotator = ? AND l.counts_as = 'judgement' AND NOT l.undone GROUP BY t.topic ORDER BY t.topic",
            (annotator,),
        )

    def current_entries(self, annotator: str) -> list[int]:
        """Return the entries of the annotator's current judgements, those of :meth:`count_by_topic`."""
        return self.connection.column(
            "SELECT judgement FROM latest_judgements WHERE annotator = ? AND counts_as = 'judgement' AND NOT undone "
            "ORDER BY judgement",
            (annotator,),
        )

    def timed_decisions(self, annotator: str, since: tuple[int, ...]) -> tuple[list[TimedDecision], tuple[int, ...]]:
        """Return the decisions made in the app after the entries `since` of the :data:`LOGS`, oldest first.

        Leaves out undone decisions and adjudications. Also returns the last entry of each log, for the next call.
        """
        last = tuple(int(self.connection.value(f"SELECT coalesce(max(id), 0) FROM {log}")) for log in LOGS)
        own = "l.annotator = ? AND l.kind <> 'undone' AND l.source IN ('key', 'click')"
        select = (
            "SELECT l.judged_at, l.seconds, l.away, t.query_id, l.id FROM {} AS l CROSS JOIN topics AS t USING (topic) "
        )
        decisions: list[TimedDecision] = []
        # Decisions saved from here on are left to the next call.
        for log, after, until in zip(LOGS, since, last, strict=True):
            judgements_only = " AND l.counts_as <> 'adjudication'" if log == "judgements" else ""
            rows = self.connection.execute(
                f"{select.format(log)} WHERE l.id > ? AND l.id <= ? AND {own}{judgements_only} ORDER BY l.id",
                (after, until, annotator),
            )
            decisions += [TimedDecision._make((*row, log)) for row in rows]
        return sorted(decisions, key=lambda entry: entry.at), last
