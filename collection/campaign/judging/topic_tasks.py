"""Tasks with topics as units: choosing from lists, and comparing two documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeVar

from collection import preferences
from collection.assignment import random_keys
from collection.campaign.judging.topic_task_state import TopicTaskState
from collection.campaign.log.decision_checks import check_annotator, check_choice, check_preference
from collection.campaign.log.results import JudgeResult, RefusedDecision
from collection.campaign.settings.judging_settings import MOST_CHOSEN
from collection.campaign.settings.settings import Settings
from collection.core import clock
from collection.core.errors import JudgementError, require_known
from collection.core.records import Choice, Preference
from collection.store import Claim, LoggedDecision, Store

D = TypeVar("D", Choice, Preference)

BATCH = 32
"""Number of topics whose claims are read together."""


class NextTopics(NamedTuple):
    """Topics for one annotator: `fresh` ones in order, and those of the held ones that need no decision any more.

    `exhausted`: no other topic is open to them now.
    """

    fresh: list[str]
    closed: list[str]
    exhausted: bool


class TaskProgress(NamedTuple):
    """Numbers of topics of an annotator: decided, decided or left, and left."""

    done: int
    goal: int
    left: int


@dataclass(eq=False)
class TopicTasks:
    """Tasks with topics as units: choosing from lists, and comparing two documents.

    `choices`, `preferences` and `counts` are the methods of :class:`.TopicTaskTables`.
    """

    store: Store
    settings: Settings

    def next_topics(self, annotator: str, count: int, holding: Sequence[str] = ()) -> NextTopics:
        """Give an annotator up to `count` topics of the campaign's task, and renew the claims on those they hold.

        In the order of import, or in random order in the mode "random". Topics that are closed, assigned to others,
        decided or held by enough annotators, or without enough documents with a text are left out. The first held topic
        is taken to be on screen. Who has none gets half of those that others have loaded behind theirs.
        """
        lease = self.settings.assignment().lease * 60
        if self.settings.judging_page().task == "grades":
            return NextTopics([], list(holding), True)
        with self.store.transaction():
            at, state = clock.seconds(), self.state()
            held = [state.keys[query_id] for query_id in holding if query_id in state.keys]
            claims = self._claims_on(held, at)
            still_open = [t for t in dict.fromkeys(held) if _may_have(state, t, annotator, claims.get(t, []))]
            self.store.topic_tasks.claim(still_open, annotator, at, at + lease)
            fresh, exhausted = self._fresh(state, annotator, max(count, 0), set(still_open), at)
            if count > 0 and not still_open and not fresh:
                fresh = self._take_over(state, annotator, count, at)
            self.store.topic_tasks.claim(fresh, annotator, at, at + lease, behind=len(still_open))
        ids = {state.topics[topic].query_id for topic in still_open}
        closed = [query_id for query_id in holding if query_id not in ids]
        return NextTopics([state.topics[topic].query_id for topic in fresh], closed, exhausted)

    def _fresh(
        self, state: TopicTaskState, annotator: str, count: int, held: set[int], at: float
    ) -> tuple[list[int], bool]:
        chosen: list[int] = []
        topics = (topic for topic in state.open_to(annotator) if topic not in held)
        while len(chosen) < count:
            waiting = list(islice(topics, BATCH))
            if not waiting:
                return chosen, True
            claims = self._claims_on(waiting, at)
            chosen += [topic for topic in waiting if _may_have(state, topic, annotator, claims.get(topic, []))]
        return chosen[:count], False

    def _claims_on(self, topics: Sequence[int], at: float) -> dict[int, list[Claim]]:
        """Return the valid claims on topics, by topic."""
        by_topic: dict[int, list[Claim]] = {}
        for claim in self.store.topic_tasks.claims_on(topics, at):
            by_topic.setdefault(claim.topic, []).append(claim)
        return by_topic

    def _take_over(self, state: TopicTaskState, annotator: str, count: int, at: float) -> list[int]:
        """End the claims of others on half of the topics that they have loaded, and return these topics in order."""
        candidates: list[tuple[int, int, list[Claim]]] = []
        for topic, claims in self._claims_on(list(state.open_to(annotator)), at).items():
            on_screen = [claim for claim in claims if not claim.ahead]
            if _may_have(state, topic, annotator, on_screen):
                colleagues = sorted((c for c in claims if c.ahead and c.annotator != annotator), key=lambda c: -c.ahead)
                excess = _others(state, topic, annotator, claims) - state.room(topic, annotator)
                candidates.append((colleagues[0].ahead, topic, colleagues[: max(excess, 0)]))
        candidates.sort(key=lambda each: -each[0])
        taken = candidates[: min(count, (len(candidates) + 1) // 2)][::-1]
        self.store.topic_tasks.end_claims([claim for _, _, claims in taken for claim in claims], at)
        return [topic for _, topic, _ in taken]

    def progress(self, annotator: str) -> TaskProgress:
        """Count the topics that an annotator has decided, and those that need a decision by them."""
        done, left = self.state().progress(annotator)
        return TaskProgress(done, done + left, left)

    def plan(
        self, annotator: str, query_id: str, depth: int = 0
    ) -> tuple[preferences.PreferencePlan, preferences.Lookahead]:
        """Choose which two documents of a topic an annotator compares next, and which after each possible answer.

        See :func:`collection.preferences.plan` and :func:`collection.preferences.look_ahead`. UnknownNameError for an
        unknown topic.
        """
        state = self.state()
        require_known("topic", state.keys, query_id)
        documents = state.documents(query_id)
        judged = self.store.topic_tasks.preferences_of(state.keys[query_id], annotator)
        seed = f"{self.settings.campaign_id} {annotator} {query_id}"
        return preferences.plan(documents, judged, seed), preferences.look_ahead(documents, judged, seed, depth)

    def may_see(self, annotator: str, query_id: str) -> bool:
        """Tell whether a topic has documents for the task, and is or was one of an annotator's."""
        return query_id in self.state().keys and self.store.assignments.may_see(query_id, annotator)

    def state(self) -> TopicTaskState:
        """Return which annotators have answered each topic of the campaign's task; up to date."""
        settings = self.settings.judging_page()
        (topics, pool_round, *others), _ = self.store.judgements.versions()
        # New and replaced texts raise this version.
        version = self.store.settings.get("documents_version", 0)
        lists_of = (settings.task, settings.list_size, settings.preference_size, topics, pool_round, version)
        key = (lists_of, *others, self.store.topic_tasks.closed_topics(), self.settings.usual_mode())
        state = self.store.cached(
            "topic tasks", key, lambda: TopicTaskState(self.store, settings, self._order_of, lists_of)
        )
        state.catch_up()
        return state

    def _order_of(self, annotator: str, topics: Sequence[int]) -> list[int]:
        if self.settings.usual_mode() != "random":
            return list(topics)
        random_order = random_keys(list(map(str, topics)), self.settings.campaign_id, annotator, "topics").tolist()
        return [topic for _, topic in sorted(zip(random_order, topics, strict=True))]

    def choose(self, choices: Sequence[Choice], *, handed_out_only: bool = False) -> JudgeResult:
        """Write choices to the log in order, idempotently by uuid; those in `saved` are then on disk.

        Parameters
        ----------
        choices
            ``kind`` "chosen" has the `shown` documents and up to ``most_chosen`` of them as `chosen` (none: "none of
            these"); "cannot judge" needs a reason; "undone" undoes the annotator's current choice for the topic.
        handed_out_only
            Refuse topics that were never assigned to the annotator, and documents outside the topic's pool. The
            current ``most_chosen`` does not apply, as it may have been lowered since.
        """
        return self._take(choices, lambda choice: self._choose(choice, handed_out_only))

    def prefer(self, preferences: Sequence[Preference], *, handed_out_only: bool = False) -> JudgeResult:
        """Write preferences to the log, as :meth:`choose` does.

        "cannot judge" needs a reason; "undone" undoes the annotator's current preference between the two documents, in
        either order.
        """
        return self._take(preferences, lambda preference: self._prefer(preference, handed_out_only))

    def _take(self, decisions: Sequence[D], write: Callable[[D], None]) -> JudgeResult:
        saved: list[str] = []
        refused: list[RefusedDecision] = []
        with self.store.transaction():
            for decision in decisions:
                try:
                    write(decision)
                except JudgementError as error:
                    refused.append(RefusedDecision(decision.uuid, str(error)))
                else:
                    saved.append(decision.uuid)
        return JudgeResult(saved, refused)

    def _choose(self, c: Choice, handed_out_only: bool) -> None:
        check_annotator(c, "choice")
        logged = self.store.topic_tasks.find_choice(c.uuid)
        if logged is not None:
            if logged != (c.annotator, c.query_id):
                raise JudgementError(f"expected a new uuid, found {c.uuid} of another choice")
            return
        last = self.store.topic_tasks.last_choice(c.query_id, c.annotator)
        if last is None:
            raise JudgementError(f"topic {c.query_id!r} is not in the campaign")
        docs = self.store.corpus.doc_keys(c.shown)
        check_choice(c, docs, MOST_CHOSEN if handed_out_only else self.settings.judging_page().most_chosen)
        if c.kind == "undone" and last.entry is None:
            raise JudgementError(f"{c.annotator} has no choice for topic {c.query_id!r} to undo")
        if handed_out_only:
            self._check_handed_out(c, last.known, last.topic, c.shown)
        self.store.topic_tasks.append_choice(c, last, [docs[doc_id] for doc_id in c.shown])
        self._keep_in_hand(c, last, handed_out_only)

    def _prefer(self, p: Preference, handed_out_only: bool) -> None:
        check_annotator(p, "preference")
        logged = self.store.topic_tasks.find_preference(p.uuid)
        if logged is not None:
            if (*logged[:2], *sorted(logged[2:])) != (p.annotator, p.query_id, *sorted((p.left, p.right))):
                raise JudgementError(f"expected a new uuid, found {p.uuid} of another preference")
            return
        docs = self.store.corpus.doc_keys([p.left, p.right])
        check_preference(p, docs)
        last = self.store.topic_tasks.last_preference_between(p.query_id, p.annotator, docs[p.left], docs[p.right])
        if last is None:
            raise JudgementError(f"topic {p.query_id!r} is not in the campaign")
        if p.kind == "undone" and last.entry is None:
            raise JudgementError(f"{p.annotator} has no preference between {p.left!r} and {p.right!r} to undo")
        if handed_out_only:
            known = last.known or self.store.topic_tasks.has_preferences(last.topic, p.annotator)
            self._check_handed_out(p, known, last.topic, (p.left, p.right))
        self.store.topic_tasks.append_preference(p, last, docs[p.left], docs[p.right])
        self._keep_in_hand(p, last, handed_out_only)

    def _check_handed_out(self, decision: D, known: bool, topic: int, shown: Sequence[str]) -> None:
        if not (known or self.store.topic_tasks.was_claimed(topic, decision.annotator)):
            raise JudgementError(f"topic {decision.query_id!r} is not assigned to {decision.annotator}")
        if strange := self.store.pool.find_missing(decision.query_id, shown):
            raise JudgementError(f"document {strange[0]!r} is not in the pool of topic {decision.query_id!r}")
        if decision.kind != "undone" and (missing := self.store.corpus.find_without_text(shown)):
            raise JudgementError(f"document {min(missing)!r} has no text yet and cannot be judged")

    def _keep_in_hand(self, decision: D, last: LoggedDecision, handed_out: bool) -> None:
        """Claim the topic of an undone decision for the annotator again, if others have not taken it."""
        if decision.kind != "undone" or not handed_out:
            return
        at, lease = clock.seconds(), self.settings.assignment().lease * 60
        claims = self.store.topic_tasks.claims_on([last.topic], at)
        if _may_have(self.state(), last.topic, decision.annotator, claims):
            self.store.topic_tasks.claim([last.topic], decision.annotator, at, at + lease)


def _may_have(state: TopicTaskState, topic: int, annotator: str, claims: Sequence[Claim]) -> bool:
    """Tell whether a topic needs a decision by the annotator that others have not claimed; `claims` are those on it."""
    return state.wants(topic, annotator) and _others(state, topic, annotator, claims) <= state.room(topic, annotator)


def _others(state: TopicTaskState, topic: int, annotator: str, claims: Sequence[Claim]) -> int:
    """Count the other annotators who have claimed a topic and not decided it."""
    decided = state.decided.get(topic, set())
    return sum(claim.annotator != annotator and claim.annotator not in decided for claim in claims)
