"""Progress of topics, for the campaign and for each annotator."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from collection.campaign.corpus.corpus import Corpus
from collection.campaign.progress.judging_budget import JudgingBudget
from collection.campaign.progress.loop_scope import LoopScope
from collection.campaign.progress.missing_answers import MissingAnswers, handed_out_again
from collection.campaign.settings.loop_settings import EVERYWHERE
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.store import Store

PROGRESS = (
    "query_id", "title", "mode", "pool", "judged", "judged_in_pool", "cannot_judge", "made", "goal", "left", "waiting",
    "without_text",
)  # fmt: skip
"""Columns of :meth:`.Progress.topics`."""

OTHERS_AFTER = 10.0
"""Seconds after which the judgements of others are included in an annotator's progress."""

Numbers = Mapping[str, tuple[int, int, int]]
"""By topic: the numbers of pooled pairs, those that are done, and judged pairs."""


class _Scope(NamedTuple):
    """Scope of a topic's progress for an annotator."""

    mode: str
    """Mode of the topic while it is open."""
    is_closed: bool
    started: int = 0
    """Number of pairs that others have judged and the annotator has yet to judge; only in a review."""
    size: int | None = None
    """Number of documents of a loop over the whole collection; only in a review, which may judge all of them."""
    own: int | None = None
    """Number of judgements of the annotator; only in a review."""


Scopes = Mapping[str, _Scope]
"""By topic."""


class Standing(NamedTuple):
    """Pairs that need no judgement by an annotator, and all pairs; the goal is None where a topic has no own number."""

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
    corpus: Corpus

    def __post_init__(self) -> None:
        self.loop_scope: LoopScope = LoopScope(self.store, self.settings, self.corpus)
        self.budget: JudgingBudget = JudgingBudget(self.store, self.settings, self.loop_scope)
        self.missing_answers: MissingAnswers = MissingAnswers(self.store, self.settings)

    def standing(self, query_id: str, annotator: str) -> Standing:
        """Count the pairs of a topic that need no judgement by an annotator, and all pairs.

        Pairs without a text are left out, and pairs that the annotator gets again for a missing answer are not done. In
        a loop over the whole collection: judged pairs, and None; in one with a budget None, too, since :meth:`totals`
        has what the budget allows. In a review: the annotator's own judgements, and these with the pairs left for them;
        others' judgements are not counted. Only the qualification set counts until it is judged, and in topics that are
        not assigned to the annotator.
        """
        left = self.store.assignments.qualification_left(annotator)
        if query_id in left or not self.store.assignments.is_for(query_id, annotator):
            count = len(self.store.assignments.qualification_ids(query_id))
            return Standing(count - left.get(query_id, 0), count)
        numbers = self._count(annotator, [query_id])
        scopes, _, limited = self._scopes(annotator)
        return _in_scope(numbers, scopes, limited)[query_id]

    def topics_for(self, annotator: str) -> list[str]:
        """Return the topics that an annotator judges, if only for the qualification set."""
        own = {*self.store.assignments.topics_for(annotator), *self.store.assignments.qualification_set()["query_id"]}
        return [query_id for query_id in self.store.corpus.topics()["query_id"] if query_id in own]

    def topics(self, query_id: str | None = None) -> pd.DataFrame:
        """Return the progress of all topics or of one.

        ``query_id``, ``title``, ``mode``, ``pool`` (pairs), ``judged`` (pairs in the topic's scope: the pool, or in a
        loop over the whole collection all pairs), ``judged_in_pool``, ``cannot_judge`` (of ``judged``), ``made`` and
        ``goal`` (judgements that the pool has, and is to have; null in a loop over the whole collection while it has
        unjudged documents, and in one with a budget while pairs with a text are left; equal in a closed topic),
        ``left`` (``goal`` - ``made``), ``waiting`` (of ``left``: the text is missing), ``without_text`` (unjudged
        pooled pairs whose text is missing).
        """
        return self._count_topics(query_id, self.budget.limited_topics() or [])

    def _count_topics(self, query_id: str | None, limited: Collection[str]) -> pd.DataFrame:
        """Return :meth:`topics`; a budget limits what is judged of the topics `limited`."""
        frame = self.store.judgements.progress(query_id)
        scopes = self.settings.modes_and_closed()
        modes = self.settings.modes(scopes)
        frame["mode"] = frame["query_id"].map(modes)
        everywhere = frame["query_id"].map(lambda topic: scopes[topic][0] in EVERYWHERE).astype(bool)
        closed = frame["mode"] == "closed"
        frame["judged_in_pool"] = frame["judged"]
        frame["judged"] += frame["elsewhere"].where(everywhere, 0)
        frame["cannot_judge"] += frame["elsewhere_cannot"].where(everywhere, 0)
        free = frame["wanted"] - frame["made"] - frame["waiting"] > 0
        some = frame[everywhere & ~closed]
        loops = dict(zip(some["query_id"], some["judged"].tolist(), strict=True))
        unjudged = self.loop_scope.topics_with_unjudged(loops, modes)
        endless = frame["query_id"].isin([q for q, number in loops.items() if not number or q in unjudged])
        endless |= free & frame["query_id"].isin(limited)
        frame["made"] = frame["made"].astype("Int64").mask(endless)
        frame["goal"] = frame["wanted"].astype("Int64").mask(endless).mask(closed, frame["made"])
        frame["left"] = frame["goal"] - frame["made"]
        frame["waiting"] = frame["waiting"].mask(endless | closed, 0)
        return frame[list(PROGRESS)]

    def finished(self, *, closed_early: bool = True) -> set[str]:
        """Topics whose scope is completely judged, and with `closed_early` those that were closed before.

        A topic of which people were asked for a sample only has all judgements that are wanted, but is not finished.
        """
        topics = self._count_topics(None, [])
        closed = topics["mode"] == "closed"
        some = (topics["goal"] > 0) | (~closed & (topics["judged"] > 0))  # a loop needs no pool
        done = (some & (topics["made"] >= topics["goal"])).fillna(False) & (topics["judged_in_pool"] >= topics["pool"])
        done = done | closed if closed_early else done
        return set(topics.loc[done, "query_id"].astype(str))

    def annotator_standing(self, query_id: str, annotator: str) -> AnnotatorStanding:
        """Return :meth:`standing` and :meth:`totals` from the cache, after each judgement."""
        scopes, modes, limited = self._scopes(annotator)
        totals = self._sum(annotator, query_id, scopes, modes, limited)
        numbers = self._counted()[annotator].topics.get(query_id)
        if numbers is None or query_id in self.store.assignments.qualification_left(annotator):
            return AnnotatorStanding(self.standing(query_id, annotator), totals)
        return AnnotatorStanding(_in_scope({query_id: numbers}, scopes, limited)[query_id], totals)

    def topic_standings(self, annotator: str, changed: str | None = None) -> dict[str, Standing]:
        """Return :meth:`standing` of each topic of an annotator from the cache; `changed` as for :meth:`totals`."""
        scopes, _, limited = self._scopes(annotator)
        own = _in_scope(self.standings(annotator, changed), scopes, limited)
        # Topics that have only qualification pairs, or unjudged qualification pairs.
        others = {*self.topics_for(annotator)} - own.keys() | {*self.store.assignments.qualification_left(annotator)}
        return own | {query_id: self.standing(query_id, annotator) for query_id in others}

    def _scopes(self, annotator: str) -> tuple[Scopes, dict[str, str], list[str] | None]:
        """Return the scope and the mode of each topic, and the topics that a budget limits; None without a budget."""
        scopes = self.settings.modes_and_closed()
        modes, review = self.settings.modes(scopes), self.settings.review()
        states = {query_id: _Scope(*scope) for query_id, scope in scopes.items()}
        for query_id in states.keys() & set(review.stages if review else ()):
            mode, is_closed, *_ = states[query_id]
            waits = (is_closed or mode in EVERYWHERE) and self.settings.is_completed_when_closed(query_id)
            states[query_id] = _Scope(
                mode,
                is_closed,
                self._count_started(query_id, annotator) if waits else 0,
                int(self.loop_scope.judgeable().sum()),
                self.store.history.count_by_topic(annotator).get(query_id, 0),
            )
        return states, modes, self.budget.limited_topics(modes)

    def _count_started(self, query_id: str, annotator: str) -> int:
        """Count the pairs of a topic that others have judged and the annotator has yet to judge."""
        judged = self.store.queue.judged_by_others(query_id, annotator, clock.seconds())
        return sum(number < self.settings.assignment().annotators for _, number, _ in judged)

    def totals(self, annotator: str, changed: str | None = None) -> Standing:
        """Return the sums over an annotator's topics; None as goal with a loop over everything without a budget.

        With a budget, the goal of the topics in a loop is what is judged and what the budget still allows.
        Qualification pairs of other topics count as well, so that the goal stays the same while the set is judged. The
        topic that `changed` is up to date, the others within :data:`OTHERS_AFTER`.
        """
        return self._sum(annotator, changed, *self._scopes(annotator))

    def _sum(
        self,
        annotator: str,
        changed: str | None,
        scopes: Scopes,
        modes: Mapping[str, str],
        limited: Sequence[str] | None,
    ) -> Standing:
        """Return :meth:`totals`; a budget limits what is judged of the topics `limited`."""
        numbers = self.standings(annotator, changed)
        own = {q: _standing_in_scope(scopes[q], of) for q, of in numbers.items()}
        within_budget = 0 if limited is None else self._limit(own, numbers, modes, limited)
        total = sum(done for done, _ in own.values())
        goal = sum(of or 0 for _, of in own.values()) + within_budget
        for query_id, is_counted, is_judged in self.store.assignments.qualification_standing(annotator):
            scope = scopes[query_id]
            if not (is_counted or (query_id in own and scope.mode in EVERYWHERE)):
                total += is_judged
                goal += is_judged or not scope.is_closed
        return Standing(total, None if any(of is None for _, of in own.values()) else goal)

    def _limit(
        self, own: dict[str, Standing], numbers: Numbers, modes: Mapping[str, str], limited: Sequence[str]
    ) -> int:
        """Reduce the goals of topics with a budget to judged documents, and return what the budget allows in addition.

        What is judged still needs second opinions: all judged documents of a pool that are not done. A pool that comes
        before the loop is judged whatever the budget.
        """
        left = self.budget.left_of(limited, modes, {query_id: count for query_id, (_, _, count) in numbers.items()})
        judged = self.budget.judged_in_pool(modes) if self.settings.assignment().annotators > 1 else {}
        more, pooled = 0, 0
        for query_id in own.keys() & left.topics.keys():
            (done, goal), room = own[query_id], left.topics[query_id]
            second = 0
            if goal is not None:
                second = min(max(judged.get(query_id, 0) - done, 0), goal - done) if judged else 0
                room = min(room, goal - done - second)
            elif modes[query_id] == "pool-then-loop":
                waiting = numbers[query_id][0] - numbers[query_id][1]
                room, pooled = max(room, waiting), pooled + waiting
            own[query_id] = Standing(done, done + second)
            more += room
        return max(min(more, left.total), pooled)

    def standings(self, annotator: str, changed: str | None) -> dict[str, tuple[int, int, int]]:
        """Return for each topic of an annotator the numbers of pooled pairs, those that are done, and judged pairs.

        Cached: the topic that `changed` is up to date, the others within :data:`OTHERS_AFTER`.
        """
        (_, logged), at, counted = self.store.judgements.versions(), time.monotonic(), self._counted()
        known = counted.get(annotator)
        if known is None:
            own = set(self.store.assignments.topics_for(annotator))
            numbers = {q: n for q, n in self._count(annotator).items() if q in own}
            counted[annotator] = known = _Standings(logged, at, numbers)
        if known.logged != logged:
            if changed in known.topics:
                now = self._standing_now(annotator, changed, known, logged)
                known.topics |= self._without_incomplete({changed: now}, annotator)
            if at >= known.at + OTHERS_AFTER:
                others = set(self.store.judgements.topics_since(known.logged)) & known.topics.keys() - {changed}
                known.topics |= self._count(annotator, others)
                known.logged, known.at = logged, at
        return known.topics

    def _count(self, annotator: str, query_ids: Iterable[str] | None = None) -> dict[str, tuple[int, int, int]]:
        """Count as :meth:`standings`, without the cache."""
        return self._without_incomplete(self.store.assignments.standings_for(annotator, query_ids), annotator)

    def _without_incomplete(self, numbers: Numbers, annotator: str) -> dict[str, tuple[int, int, int]]:
        """Take the pairs that the annotator gets again for a missing answer out of the done and judged ones."""
        again = handed_out_again(self.settings.questions())
        if not again:
            return dict(numbers)
        missing = self.missing_answers.counts(annotator, again, numbers)
        return {
            query_id: (pool, done - missing.get(query_id, (0, 0))[0], judged - missing.get(query_id, (0, 0))[1])
            for query_id, (pool, done, judged) in numbers.items()
        }

    def _counted(self) -> dict[str, _Standings]:
        """Return the cached progress of annotators in the topics, pool and assignments as they are now."""
        return self.store.cached("standings", self.store.judgements.versions()[0], dict[str, _Standings])

    def _standing_now(self, annotator: str, query_id: str, known: _Standings, logged: int) -> tuple[int, int, int]:
        """Update the pairs of a topic from the new entries of the log; see :meth:`.AssignmentTables.standings_for`."""
        if known.query_id != query_id:
            known.query_id, known.read, known.judged, known.done = query_id, 0, set(), set()
        for doc, judged, done in self.store.assignments.standing_since(query_id, annotator, known.read):
            (known.judged.add if judged else known.judged.discard)(doc)
            (known.done.add if done else known.done.discard)(doc)
        known.read = logged
        return known.topics[query_id][0], len(known.done), len(known.judged)


def _in_scope(numbers: Numbers, scopes: Scopes, limited: Sequence[str] | None) -> dict[str, Standing]:
    """Return :meth:`.Progress.standing` from the numbers of :meth:`.Progress.standings`."""
    standings = {query_id: _standing_in_scope(scopes[query_id], of) for query_id, of in numbers.items()}
    own = [query_id for query_id in limited or () if query_id in standings]
    return standings | {query_id: Standing(standings[query_id].done, None) for query_id in own}


def _standing_in_scope(scope: _Scope, numbers: tuple[int, int, int]) -> Standing:
    """Return done and goal in a scope, from the numbers of pooled pairs, those that are done, and judged pairs."""
    pool, done, everywhere = numbers
    if scope.mode in EVERYWHERE:
        done = everywhere - scope.started
        goal = everywhere if scope.is_closed else scope.size
    else:
        goal = done + scope.started if scope.is_closed else pool
    if scope.own is None or goal is None:
        return Standing(done, goal)
    return Standing(scope.own, scope.own + max(goal - done, 0))
