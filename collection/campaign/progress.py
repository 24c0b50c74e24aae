"""How far each topic is, for the campaign and for each annotator."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

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
"""Seconds after which what others did is counted anew for an annotator's progress in all topics."""


@dataclass
class _Pairs:
    """A topic pair by pair, as the log has it up to an entry: judged, and those of the pool that are done."""

    query_id: str
    logged: int = 0
    judged: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)


@dataclass
class _Standings:
    """What an annotator's progress was counted from, and the numbers of each of their topics.

    Of the topic that they judge just now also its pairs: a save then only looks at what is new in the log.
    """

    made_of: tuple[object, ...]
    logged: int
    at: float
    topics: dict[str, tuple[int, int, int]]
    pairs: _Pairs | None = None


@dataclass(eq=False)
class Progress:
    """How far each topic is, for the campaign and for each annotator."""

    store: Store
    settings: Settings
    _counted: dict[str, _Standings] = field(default_factory=dict, init=False)

    def counts(self) -> dict[str, int]:
        """Sizes: ``topics``, ``documents`` (with a text), ``runs``, ``pool``, ``judgements`` (current), ``logged``."""
        return self.store.judgements.counts()

    def standing(self, query_id: str, annotator: str) -> tuple[int, int | None]:
        """How far a topic is for an annotator: pairs that want nothing of them any more, and pairs in all.

        A pair wants nothing of them when they have judged it, or as many have as are wanted. Pairs whose text is
        missing are in neither number until it is imported. In a loop over the whole collection pairs that anybody
        judged, and None: it has no end. While pairs of the calibration set are before them, and in a topic of which
        only these are theirs, those and no others.
        """
        left = self.store.assignments.calibration_left(annotator)
        if query_id in left or not self.store.assignments.is_for(query_id, annotator):
            count = len(self.store.assignments.calibration_ids(query_id))
            return count - left.get(query_id, 0), count
        scope, is_closed = self.settings.scopes_and_closed()[query_id]
        return standing_in_scope(scope, is_closed, self.store.assignments.standing_for(query_id, annotator))

    def topics_for(self, annotator: str) -> list[str]:
        """Topics that an annotator judges; those of which only the calibration set is theirs among them."""
        mine = {*self.store.assignments.topics_for(annotator), *self.store.assignments.calibration()["query_id"]}
        return [query_id for query_id in self.store.corpus.topics()["query_id"] if query_id in mine]

    def topics(self, query_id: str | None = None) -> pd.DataFrame:
        """How far each topic is: the numbers that every page and command shows.

        Returns
        -------
        DataFrame
            ``query_id``, ``title``, ``mode``, ``pool`` (pairs), ``judged`` (pairs in the topic's scope, which its
            recall is of: the pool, or in a loop over the whole collection all pairs), ``judged_in_pool``,
            ``cannot_judge`` (of ``judged``), ``made`` and ``goal`` (judgements that the pool's pairs have of those
            that they are to have, and how many these are; both null in a loop over the whole collection, which ends
            when the recall is good enough; a closed topic is at its goal), ``left`` (``goal`` - ``made``),
            ``waiting`` (of ``left``: the text of the document is missing), ``without_text`` (pairs of the pool that
            nobody has judged, and nobody can, as their text is missing).
        """
        frame = self.store.judgements.progress(query_id)
        scopes = self.settings.scopes_and_closed()
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

    def of_annotator(self, query_id: str, annotator: str) -> tuple[tuple[int, int | None], tuple[int, int | None]]:
        """:meth:`standing` and :meth:`totals` together, sooner: what the judging page shows after every judgement."""
        totals = self.totals(annotator, query_id)
        numbers = self._counted[annotator].topics.get(query_id)
        if numbers is None or query_id in self.store.assignments.calibration_left(annotator):
            return self.standing(query_id, annotator), totals
        return standing_in_scope(*self.settings.scopes_and_closed()[query_id], numbers), totals

    def totals(self, annotator: str, changed: str | None = None) -> tuple[int, int | None]:
        """The sums of :meth:`standing` over an annotator's topics; None where a loop has no end.

        Pairs of the calibration set that are in none of these count as well, whoever their topics are assigned to, so
        that the goal stays the same while the set is judged. The judging page shows the sums after every judgement:
        the topic that `changed` is counted anew, and what others did elsewhere some seconds later.
        """
        scopes = self.settings.scopes_and_closed()
        mine = {q: standing_in_scope(*scopes[q], numbers) for q, numbers in self.standings(annotator, changed).items()}
        total = sum(done for done, _ in mine.values())
        goal = sum(of or 0 for _, of in mine.values())
        for query_id, is_counted, is_judged in self.store.assignments.calibration_standing(annotator):
            scope, is_closed = scopes[query_id]
            if not (is_counted or (query_id in mine and scope in EVERYWHERE)):
                total += is_judged
                goal += is_judged or not is_closed
        return total, None if any(of is None for _, of in mine.values()) else goal

    def standings(self, annotator: str, changed: str | None) -> dict[str, tuple[int, int, int]]:
        """Count an annotator's topics: ``query_id`` -> pairs of the pool, those that are done, all judged pairs.

        Cached: `changed` is counted anew when the log has grown, the other topics some seconds later.
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
            if at >= known.at + OTHERS_AFTER:
                known.logged, known.at = logged, at
        return known.topics

    def _standing_now(self, annotator: str, query_id: str, known: _Standings, logged: int) -> tuple[int, int, int]:
        """:meth:`.AssignmentTables.standing_for`, by what the log has since it was last asked."""
        if known.pairs is None or known.pairs.query_id != query_id:
            known.pairs = _Pairs(query_id)
        pairs = known.pairs
        for doc, judged, done in self.store.assignments.standing_since(query_id, annotator, pairs.logged):
            (pairs.judged.add if judged else pairs.judged.discard)(doc)
            (pairs.done.add if done else pairs.done.discard)(doc)
        pairs.logged = logged
        return known.topics[query_id][0], len(pairs.done), len(pairs.judged)


def standing_in_scope(scope: str, is_closed: bool, numbers: tuple[int, int, int]) -> tuple[int, int | None]:
    """Done and goal in a scope, from pairs of the pool, those of them that are done, and all that are judged."""
    pool, done, everywhere = numbers
    if scope in EVERYWHERE:
        return everywhere, everywhere if is_closed else None
    return done, done if is_closed else pool
