"""Progress of topics, for the campaign and for each annotator."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from collection.campaign.loop_settings import EVERYWHERE
from collection.campaign.settings import Settings
from collection.store import Store

PROGRESS = (
    "query_id", "title", "mode", "pool", "judged", "judged_in_pool", "cannot_judge", "made", "goal", "left", "waiting",
    "without_text",
)  # fmt: skip
"""Columns of :meth:`.Progress.topics`."""

OTHERS_AFTER = 10.0
"""Seconds after which the judgements of others are included in an annotator's progress."""


class Standing(NamedTuple):
    """Pairs that need no judgement by an annotator, and all pairs; the goal is None in a loop over everything."""

    done: int
    goal: int | None


class AnnotatorStanding(NamedTuple):
    """Progress of an annotator in a topic and in all of their topics."""

    topic: Standing
    all: Standing


@dataclass
class _Standings:
    """The cached progress of an annotator in each topic.

    Of the topic `query_id`, also the keys of judged pairs and of pooled ones that are done, up to the entry `read`.
    """

    made_of: tuple[object, ...]
    logged: int
    at: float
    topics: dict[str, tuple[int, int, int]]
    query_id: str = ""
    read: int = 0
    judged: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Progress:
    """Progress of topics, for the campaign and for each annotator."""

    store: Store
    settings: Settings
    _counted: dict[str, _Standings] = field(default_factory=dict, init=False)

    def counts(self) -> dict[str, int]:
        """Count ``topics``, ``documents`` with a text, ``runs``, ``pool``, current ``judgements``, ``logged`` ones."""
        return self.store.judgements.counts()

    def standing(self, query_id: str, annotator: str) -> Standing:
        """Count the pairs of a topic that need no judgement by an annotator, and all pairs.

        Pairs without a text are left out. In a loop over the whole collection: judged pairs, and None. Only the
        calibration set counts until it is judged, and in topics that are not assigned to the annotator.
        """
        left = self.store.assignments.calibration_left(annotator)
        if query_id in left or not self.store.assignments.is_for(query_id, annotator):
            count = len(self.store.assignments.calibration_ids(query_id))
            return Standing(count - left.get(query_id, 0), count)
        scope, is_closed = self.settings.modes_and_closed()[query_id]
        return standing_in_scope(scope, is_closed, self.store.assignments.standing_for(query_id, annotator))

    def topics_for(self, annotator: str) -> list[str]:
        """Return the topics that an annotator judges, if only for the calibration set."""
        mine = {*self.store.assignments.topics_for(annotator), *self.store.assignments.calibration()["query_id"]}
        return [query_id for query_id in self.store.corpus.topics()["query_id"] if query_id in mine]

    def topics(self, query_id: str | None = None) -> pd.DataFrame:
        """Return the progress of all topics or of one.

        ``query_id``, ``title``, ``mode``, ``pool`` (pairs), ``judged`` (pairs in the topic's scope: the pool, or in a
        loop over the whole collection all pairs), ``judged_in_pool``, ``cannot_judge`` (of ``judged``), ``made`` and
        ``goal`` (judgements that the pool has, and is to have; null in a loop over the whole collection; equal in a
        closed topic), ``left`` (``goal`` - ``made``), ``waiting`` (of ``left``: the text is missing),
        ``without_text`` (unjudged pooled pairs whose text is missing).
        """
        frame = self.store.judgements.progress(query_id)
        scopes = self.settings.modes_and_closed()
        frame["mode"] = frame["query_id"].map(self.settings.modes())
        everywhere = frame["query_id"].map(lambda topic: scopes[topic][0] in EVERYWHERE).astype(bool)
        closed = frame["mode"] == "closed"
        frame["judged_in_pool"] = frame["judged"]
        frame["judged"] += frame["elsewhere"].where(everywhere, 0)
        frame["cannot_judge"] += frame["elsewhere_cannot"].where(everywhere, 0)
        endless = everywhere & ~closed
        frame["made"] = frame["made"].astype("Int64").mask(endless)
        frame["goal"] = frame["wanted"].astype("Int64").mask(endless).mask(closed, frame["made"])
        frame["left"] = frame["goal"] - frame["made"]
        frame["waiting"] = frame["waiting"].mask(endless | closed, 0)
        return frame[list(PROGRESS)]

    def finished(self, *, closed_early: bool = True) -> set[str]:
        """Topics whose pool is completely judged, and with `closed_early` those that were closed before."""
        topics = self.topics()
        done = ((topics["goal"] > 0) & (topics["made"] >= topics["goal"])).fillna(False)
        closed = topics["mode"] == "closed"
        done = done | closed if closed_early else done & (~closed | (topics["judged_in_pool"] >= topics["pool"]))
        return set(topics.loc[done, "query_id"].astype(str))

    def of_annotator(self, query_id: str, annotator: str) -> AnnotatorStanding:
        """Return :meth:`standing` and :meth:`totals` from the cache, after each judgement."""
        totals = self.totals(annotator, query_id)
        numbers = self._counted[annotator].topics.get(query_id)
        if numbers is None or query_id in self.store.assignments.calibration_left(annotator):
            return AnnotatorStanding(self.standing(query_id, annotator), totals)
        return AnnotatorStanding(standing_in_scope(*self.settings.modes_and_closed()[query_id], numbers), totals)

    def totals(self, annotator: str, changed: str | None = None) -> Standing:
        """Return the sums of :meth:`standing` over an annotator's topics; None as goal with a loop over everything.

        Calibration pairs of other topics count as well, so that the goal stays the same while the set is judged. The
        topic that `changed` is up to date, the others within :data:`OTHERS_AFTER`.
        """
        scopes = self.settings.modes_and_closed()
        mine = {q: standing_in_scope(*scopes[q], numbers) for q, numbers in self.standings(annotator, changed).items()}
        total = sum(done for done, _ in mine.values())
        goal = sum(of or 0 for _, of in mine.values())
        for query_id, is_counted, is_judged in self.store.assignments.calibration_standing(annotator):
            scope, is_closed = scopes[query_id]
            if not (is_counted or (query_id in mine and scope in EVERYWHERE)):
                total += is_judged
                goal += is_judged or not is_closed
        return Standing(total, None if any(of is None for _, of in mine.values()) else goal)

    def standings(self, annotator: str, changed: str | None) -> dict[str, tuple[int, int, int]]:
        """Return for each topic of an annotator the numbers of pooled pairs, those that are done, and judged pairs.

        Cached: the topic that `changed` is up to date, the others within :data:`OTHERS_AFTER`.
        """
        made_of, logged = self.store.judgements.versions()
        at = time.monotonic()
        known = self._counted.get(annotator)
        if known is None or known.made_of != made_of:
            mine = set(self.store.assignments.topics_for(annotator))
            numbers = {q: n for q, n in self.store.assignments.standings_for(annotator).items() if q in mine}
            self._counted[annotator] = known = _Standings(made_of, logged, at, numbers)
        if known.logged != logged:
            if changed in known.topics:
                known.topics[changed] = self._standing_now(annotator, changed, known, logged)
            if at >= known.at + OTHERS_AFTER:
                for query_id in set(self.store.judgements.topics_since(known.logged)) & known.topics.keys() - {changed}:
                    known.topics[query_id] = self.store.assignments.standing_for(query_id, annotator)
                known.logged, known.at = logged, at
        return known.topics

    def _standing_now(self, annotator: str, query_id: str, known: _Standings, logged: int) -> tuple[int, int, int]:
        """Update the pairs of a topic from the new entries of the log; see :meth:`.AssignmentTables.standing_for`."""
        if known.query_id != query_id:
            known.query_id, known.read, known.judged, known.done = query_id, 0, set(), set()
        for doc, judged, done in self.store.assignments.standing_since(query_id, annotator, known.read):
            (known.judged.add if judged else known.judged.discard)(doc)
            (known.done.add if done else known.done.discard)(doc)
        known.read = logged
        return known.topics[query_id][0], len(known.done), len(known.judged)


def standing_in_scope(scope: str, is_closed: bool, numbers: tuple[int, int, int]) -> Standing:
    """Return done and goal in a scope, from the numbers of pooled pairs, those that are done, and judged pairs."""
    pool, done, everywhere = numbers
    if scope in EVERYWHERE:
        return Standing(everywhere, everywhere if is_closed else None)
    return Standing(done, done if is_closed else pool)
