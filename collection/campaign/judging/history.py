"""An annotator's past judgements and working time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pandas as pd

from collection.annotator_agreement import judging_time
from collection.campaign.judging.topic_tasks import TopicTasks
from collection.campaign.progress.progress import Progress
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.errors import InputError, UnknownNameError
from collection.store import PastJudgement, Store

MOST_ENTRIES = 100
"""Maximum number of judgements of a query."""

MOST_WORDS = 10
"""Maximum number of words of a query."""

SESSIONS = 10
"""Maximum number of sessions that are listed."""

TOPICS = 50
"""Maximum number of judged topics, and of open topics, that are listed."""

NO_END = "the number of documents left is not known in advance; managers see on the page Recall when to stop"
SHARED = "if nobody else judges them"
UNCOUNTED = "the number of pairs per topic is known only when it is done"

_COLUMNS = ("at", "seconds", "away", "query_id", "entry", "log")

_LOGS = {"grades": "judgements", "list": "choices", "preference": "preferences"}


class History(NamedTuple):
    """Judgements, newest first; `more`: there are older ones."""

    entries: list[PastJudgement]
    more: bool


class Sum(NamedTuple):
    """Number of judgements that are neither undone nor replaced, and the seconds of all at work and away."""

    judgements: int
    seconds: float
    away: float


class TopicTime(NamedTuple):
    """A topic with an annotator's number of judgements, those that are left, and the median seconds.

    `left` is None in a loop over the whole collection, `seconds` without timed judgements.
    """

    query_id: str
    title: str
    judged: int
    left: int | None
    seconds: float | None


class Times(NamedTuple):
    """An annotator's time.

    Attributes
    ----------
    session, sessions
        The current session, if there is one, and the latest sessions, newest first.
    since_break
        Seconds of work since the last break of five minutes.
    per_topic
        Judged topics, the latest first, then open ones; empty for lists and preferences.
    left
        Pairs (of lists and preferences: topics) that need a judgement of theirs; None in a loop over everything.
    estimate, why
        Time for these, and its condition or the reason that there is none.
    """

    today: Sum
    session: judging_time.JudgingSession | None
    sessions: list[judging_time.JudgingSession]
    since_break: float
    per_topic: list[TopicTime]
    left: int | None
    estimate: judging_time.DurationEstimate | None
    why: str


@dataclass(eq=False)
class JudgingHistory:
    """An annotator's past judgements and working time."""

    store: Store
    settings: Settings
    progress: Progress
    topic_tasks: TopicTasks

    def judgements(
        self,
        annotator: str,
        *,
        query_id: str | None = None,
        grade: int | str | None = None,
        words: str = "",
        before: int | None = None,
        limit: int = 50,
    ) -> History:
        """Return an annotator's current judgements, newest first; UnknownNameError for an unknown topic or grade.

        Parameters
        ----------
        grade
            A grade, "cannot judge" or "flagged".
        words
            Each occurs in the document's title, text or id, or in the note; a phrase in quotes.
        before
            Only judgements before the entry with this number.
        limit
            From 1 to :data:`MOST_ENTRIES`.
        """
        if query_id is not None:
            self.settings.require_topic(query_id)
        if not 1 <= limit <= MOST_ENTRIES:
            raise InputError(f"limit: expected 1 to {MOST_ENTRIES} judgements, found {limit}")
        is_grade = type(grade) is int and grade in self.settings.grades
        if grade not in (None, "cannot judge", "flagged") and not is_grade:
            raise UnknownNameError(
                "grade", str(grade), [*map(str, self.settings.grades.sentences), "cannot judge", "flagged"]
            )
        wanted = re.findall(r'"[^"]*"|\S+', words.replace("\0", " "))
        past = self.store.history.judgements(
            annotator,
            query_id=query_id,
            words=[word for token in wanted[:MOST_WORDS] if (word := token.strip('"').strip())],
            kind="graded" if is_grade else "cannot judge" if grade == "cannot judge" else None,
            relevance=grade if isinstance(grade, int) else None,
            flagged=grade == "flagged",
            before=before,
            limit=limit + 1,
        )
        earlier = self.store.history.earlier_judgements([judgement.id for judgement in past[:limit]])
        entries = [judgement._replace(former=tuple(earlier.get(judgement.id, ()))) for judgement in past[:limit]]
        return History(entries, len(past) > limit)

    def last_topic(self, annotator: str) -> str | None:
        """Return the topic of the annotator's newest judgement, if it is still one of theirs."""
        last = self.store.history.last_topic(annotator)
        return last if last in self.progress.topics_for(annotator) else None

    def time(self, annotator: str, *, day: datetime | None = None, now: datetime | None = None) -> Times:
        """Return an annotator's working time, and an estimate for what is left.

        `day` is the start of their day, midnight in UTC if left out; `now` is the time, for tests.
        """
        at = pd.Timestamp(now or clock.now()).tz_convert("UTC")
        since = at.floor("D") if day is None else pd.Timestamp(day).tz_convert("UTC")
        entries = self._entries(annotator)
        current = entries["entry"].isin(self.store.history.current_entries(annotator))
        entries = entries.assign(current=current | (entries["log"] != "judgements"))
        today = entries[entries["at"] >= since]
        sessions = judging_time.find_sessions(entries)[-SESSIONS:][::-1]
        goes_on = bool(sessions) and (at - sessions[0].until).total_seconds() <= judging_time.PAUSE
        left, total = self._left(annotator)
        task = self.settings.judging_page().task
        if task != "grades":
            total = self.topic_tasks.progress(annotator)[2]
        if total is None or task == "preference":
            estimate, why = None, NO_END if total is None else UNCOUNTED
        else:
            seconds = entries["seconds"][entries["log"] == _LOGS[task]]
            estimate = judging_time.estimate_duration(seconds.to_numpy(dtype=np.float64), total)
            why = SHARED if total and self._others_judge(annotator) else ""
            if estimate is None:
                timed = int(seconds.notna().sum())
                why = f"a time estimate needs {judging_time.ENOUGH} timed decisions; you have {timed}"
        return Times(
            Sum(int(today["current"].sum()), float(today["seconds"].sum()), float(today["away"].sum())),
            sessions[0] if goes_on else None,
            sessions,
            judging_time.seconds_since_break(entries, at),
            self._topic_times(annotator, entries, left) if task == "grades" else [],
            total,
            estimate,
            why,
        )

    def _entries(self, annotator: str) -> pd.DataFrame:
        """Return the annotator's timed decisions, oldest first; cached."""
        spent = self.store.cached("timed decisions", None, dict[str, tuple[tuple[int, ...], pd.DataFrame | None]])
        since, known = spent.get(annotator, ((0, 0, 0), None))
        new, last = self.store.history.timed_decisions(annotator, since)
        if new or known is None:
            fresh = pd.DataFrame(new, columns=list(_COLUMNS)).astype({"seconds": "float64", "away": "float64"})
            fresh["at"] = pd.to_datetime(fresh["at"], utc=True, format="ISO8601")
            both = fresh if known is None or known.empty else pd.concat([known, fresh], ignore_index=True)
            known = both.sort_values("at", kind="stable", ignore_index=True)
        spent[annotator] = (last, known)
        return known

    def _left(self, annotator: str) -> tuple[dict[str, int | None], int | None]:
        """Count the judgements that each topic needs of the annotator, and all topics; None: a loop over everything."""
        changed = self.store.history.last_topic(annotator)
        done, goal = self.progress.totals(annotator, changed)
        standings = self.progress.topic_standings(annotator, changed)
        left = {q: None if of is None else max(of - judged, 0) for q, (judged, of) in standings.items()}
        return left, None if goal is None else max(goal - done, 0)

    def _others_judge(self, annotator: str) -> bool:
        accounts = self.store.accounts.table()
        others = accounts["role"].isin(["manager", "annotator"]) & ~accounts["locked"].astype(bool)
        return bool((others & (accounts["name"] != annotator)).any())

    def _topic_times(self, annotator: str, entries: pd.DataFrame, left: dict[str, int | None]) -> list[TopicTime]:
        judged = self.store.history.count_by_topic(annotator)
        latest = entries["query_id"][::-1].drop_duplicates().tolist()
        started = list(dict.fromkeys([*latest, *judged]))[:TOPICS]
        open_ = [q for q, number in left.items() if number != 0 and q not in judged and q not in started][:TOPICS]
        titles = self.store.corpus.topics().set_index("query_id")["title"]
        medians = judging_time.median_seconds(entries, started)
        return [TopicTime(q, titles[q], judged.get(q, 0), left.get(q, 0), medians.get(q)) for q in [*started, *open_]]
