"""What an annotator looks back at: their judgements and their time."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from collection import clock
from collection.annotator_agreement import judging_time
from collection.campaign.progress import Progress, standing_in_scope
from collection.campaign.settings import Settings
from collection.campaign.topic_tasks import TopicTasks
from collection.errors import InputError, UnknownNameError
from collection.records import GradeScale
from collection.store import PastJudgement, Store

MOST_ENTRIES = 100
"""Judgements that are looked back at in one go."""

MOST_WORDS = 10
"""Words that a search in one's judgements takes."""

SESSIONS = 10
"""Sessions that are listed."""

TOPICS = 50
"""Topics that are listed of those that an annotator has judged in, and of those that are open."""

NO_END = "no end is known: the Recall page says when enough is found"

SHARED = "if nobody else takes part of it"

UNCOUNTED = "how many pairs a topic takes is known when it is done"

_COLUMNS = ("at", "seconds", "away", "query_id", "log")

_LOGS = {"grades": "judgements", "list": "choices", "preference": "preferences"}


class History(NamedTuple):
    """Judgements, newest first, and whether there are older ones."""

    entries: list[PastJudgement]
    more: bool


class Sum(NamedTuple):
    """How much was judged, and how long it took in seconds: at work, and away."""

    judgements: int
    seconds: float
    away: float


class TopicTime(NamedTuple):
    """A topic: how many judgements of the annotator stand in it, how many it wants of them, their median seconds.

    `left` is None where no end is known, and `seconds` where none of the judgements has any.
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
    today
        Since the day began.
    session
        The one that goes on, None in a pause that ends one.
    sessions
        The last ones, newest first.
    since_break
        Seconds of work since the last stop of five minutes.
    per_topic
        Topics in which they have judged, the latest first, and then those that are open; none where each topic is
        decided as a whole.
    left
        Pairs that want a judgement of theirs now, and topics where these are decided as a whole; None where no end is
        known.
    estimate
        How long these will take; None where that cannot be said, and `why` says why.
    why
        Of the estimate: the reason that there is none, or under what condition it holds; or "".
    """

    today: Sum
    session: judging_time.Session | None
    sessions: list[judging_time.Session]
    since_break: float
    per_topic: list[TopicTime]
    left: int | None
    estimate: judging_time.Estimate | None
    why: str


@dataclass(eq=False)
class JudgingHistory:
    """What an annotator looks back at: their judgements and their time."""

    store: Store
    grades: GradeScale
    settings: Settings
    progress: Progress
    topic_tasks: TopicTasks
    _spent: dict[str, tuple[tuple[int, ...], pd.DataFrame]] = field(default_factory=dict, init=False)

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
        """An annotator's judgements that stand, newest first.

        Parameters
        ----------
        annotator
            Whose.
        query_id
            Only of this topic.
        grade
            Only with this grade; or "cannot judge", or "flagged".
        words
            Only where each of these is in the document's title, text or id, or in the note; a phrase in quotes.
        before
            Only those older than the entry with this number.
        limit
            So many at most, 1 to :data:`MOST_ENTRIES`.

        Raises
        ------
        UnknownNameError
            There is no such topic or grade.
        InputError
            The limit is not in its range.
        """
        if query_id is not None:
            self.settings.require_topic(query_id)
        if not 1 <= limit <= MOST_ENTRIES:
            raise InputError(f"judgements are looked back at 1 to {MOST_ENTRIES} at a time, found {limit}")
        which: dict[str, Any] = {}
        if grade is not None:
            if not (grade in ("cannot judge", "flagged") or (type(grade) is int and grade in self.grades)):
                raise UnknownNameError(
                    "grade", str(grade), [*map(str, self.grades.sentences), "cannot judge", "flagged"]
                )
            if isinstance(grade, int):
                which = {"kind": "graded", "relevance": grade}
            else:
                which = {"flagged": True} if grade == "flagged" else {"kind": grade}
        wanted = re.findall(r'"[^"]*"|\S+', words.replace("\0", " "))
        found = self.store.history.judgements(
            annotator,
            query_id=query_id,
            words=[word for token in wanted[:MOST_WORDS] if (word := token.strip('"').strip())],
            before=before,
            limit=limit + 1,
            **which,
        )
        earlier = self.store.history.earlier_judgements([said.id for said in found[:limit]])
        entries = [said._replace(former=tuple(earlier.get(said.id, ()))) for said in found[:limit]]
        return History(entries, len(found) > limit)

    def last_topic(self, annotator: str) -> str | None:
        """The topic of the annotator's newest judgement, if it is one of theirs still; where another card goes on."""
        last = self.store.history.last_topic(annotator)
        return last if last in self.progress.topics_for(annotator) else None

    def time(self, annotator: str, *, day: datetime | None = None, now: datetime | None = None) -> Times:
        """How an annotator's time goes, and how long what is left will take.

        Parameters
        ----------
        annotator
            Whose; nothing of it depends on the times of others.
        day
            When their day began; midnight in UTC if left out.
        now
            The time, for tests.
        """
        at = pd.Timestamp(now or clock.now()).tz_convert("UTC")
        since = at.floor("D") if day is None else pd.Timestamp(day).tz_convert("UTC")
        entries = self._entries(annotator)
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
                why = f"an estimate needs {judging_time.ENOUGH} judgements with times, and there are {timed}"
        return Times(
            Sum(len(today), float(today["seconds"].sum()), float(today["away"].sum())),
            sessions[0] if goes_on else None,
            sessions,
            judging_time.seconds_since_break(entries, at),
            self._topic_times(annotator, entries, left) if task == "grades" else [],
            total,
            estimate,
            why,
        )

    def _entries(self, annotator: str) -> pd.DataFrame:
        """What the annotator made themselves: ``at``, ``seconds``, ``away``, ``query_id``, oldest first; read once."""
        since, known = self._spent.get(annotator, ((0, 0, 0), None))
        new, last = self.store.history.timed_decisions(annotator, since)
        if new or known is None:
            fresh = pd.DataFrame(new, columns=list(_COLUMNS)).astype({"seconds": "float64", "away": "float64"})
            fresh["at"] = pd.to_datetime(fresh["at"], utc=True, format="ISO8601")
            both = fresh if known is None or known.empty else pd.concat([known, fresh], ignore_index=True)
            known = both.sort_values("at", kind="stable", ignore_index=True)
        self._spent[annotator] = (last, known)
        return known

    def _left(self, annotator: str) -> tuple[dict[str, int | None], int | None]:
        """How many judgements each topic of the annotator wants of them, and how many in all; None: no end is known."""
        changed = self.store.history.last_topic(annotator)
        done, goal = self.progress.totals(annotator, changed)
        scopes = self.settings.scopes_and_closed()
        standings = {
            q: standing_in_scope(*scopes[q], of) for q, of in self.progress.standings(annotator, changed).items()
        }
        standings |= {
            q: self.progress.standing(q, annotator) for q in self.store.assignments.calibration_left(annotator)
        }
        left = {q: None if of is None else max(of - judged, 0) for q, (judged, of) in standings.items()}
        return left, None if goal is None else max(goal - done, 0)

    def _others_judge(self, annotator: str) -> bool:
        accounts = self.store.accounts.table()
        others = accounts["role"].isin(["manager", "annotator"]) & ~accounts["locked"].astype(bool)
        return bool((others & (accounts["name"] != annotator)).any())

    def _topic_times(self, annotator: str, entries: pd.DataFrame, left: dict[str, int | None]) -> list[TopicTime]:
        judged = self.store.history.count_by_topic(annotator)
        latest = entries["query_id"][::-1].drop_duplicates().tolist()
        begun = list(dict.fromkeys([*latest, *judged]))[:TOPICS]
        open_ = [q for q, number in left.items() if number != 0 and q not in judged and q not in begun][:TOPICS]
        titles = self.store.corpus.topics().set_index("query_id")["title"]
        medians = judging_time.median_seconds(entries, begun)
        return [TopicTime(q, titles[q], judged.get(q, 0), left.get(q, 0), medians.get(q)) for q in [*begun, *open_]]
