"""Routes of the cards for lists, preferences and adjudication: hand out units and take decisions on them.

`holding`, `closed` and `unit` name a unit by the id of its topic; in adjudication, where it is a pair, by the JSON text
of ``[query_id, doc_id]``.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple, cast

import pandas as pd

from annotate.auth.roles import JUDGES, MANAGERS
from annotate.card.server import fields, unit_wire, wire
from annotate.card.server.document_payload import (
    FIELD_CAP,
    TEXT_CAP,
    content_version,
    document_payloads,
    held_documents,
)
from annotate.card.server.handlers import (
    PostRoute,
    Row,
    logged_grade,
    logged_text,
    said_judgement,
    save_and_hand_out,
    topic_form,
    topic_words,
    wire_answers,
)
from annotate.server.request_bodies import RequestError
from collection.adjudication import filter_queue, list_opinions
from collection.campaign import Campaign
from collection.campaign.judging.topic_tasks import NextTopics
from collection.campaign.log.results import JudgeResult
from collection.core.records import Choice, Judgement, Preference, Role
from collection.core.review import MARKS
from collection.documents.rendering import cut
from collection.preferences import Lookahead

UNIT_CAP = 4_000  # characters of each document of a topic that are sent
MOST_RECENT = 100
AHEAD = 3  # answers that the plan of the first topic in hand looks ahead; each more makes it four times as costly
AHEAD_OF_LONG = 2  # the same for topics with more than LONG documents
LONG = 30
AHEAD_OF_OTHERS = 1  # the same for topics behind the first
HELD_FOR = 300.0  # seconds of a manager's reservation; a visible card renews it every two minutes
LONGEST_QUOTE = 300
MOST_QUOTES = 20

PairIds = tuple[str, str]
Held = dict[PairIds, tuple[str, float]]
"""The manager who holds a pair to adjudicate, and the end of the reservation.

Pairs that another manager holds come last, so that two managers see different ones. It is kept in memory only: the
adjudication that is saved first counts.
"""


class Exchange(NamedTuple):
    """Decisions that were taken, and the units and state for the annotator."""

    result: JudgeResult
    task: wire.Task
    """The campaign's task now."""
    units: Sequence[unit_wire.Unit] = ()
    closed: Sequence[str] = ()
    exhausted: bool = False
    progress: unit_wire.UnitProgress | None = None
    plans: dict[str, unit_wire.Plan] | None = None


@dataclass(frozen=True)
class UnitRoutes(ABC):
    """A task of an annotator, with the type of its decisions on the wire and their record."""

    campaign: Campaign
    annotator: str
    held: Held

    name: ClassVar[wire.UnitTaskName]
    decision: ClassVar[type]
    record: ClassVar[type]
    most_units: ClassVar[int]  # handed out at once
    thread: ClassVar[str] = "judging"
    roles: ClassVar[tuple[Role, ...]] = JUDGES
    cap: ClassVar[int] = TEXT_CAP

    def sync(self, request: unit_wire.UnitSyncRequest) -> unit_wire.UnitSyncAnswer:
        """Take decisions, then hand out units."""
        version = content_version(self.campaign)  # documents that are read later may be newer, never older
        sent = request.get("decisions", ())
        readable, refused = fields.read_decisions(sent, self.decision, self.record, self.annotator)
        done = self.exchange(readable, min(max(request.get("want", 0), 0), self.most_units), request)
        answer: unit_wire.UnitSyncAnswer = {
            "task": done.task,
            "saved": done.result.saved,
            "refused": fields.refusals(refused + done.result.refused),
            "units": [*done.units],
            "closed": [*done.closed],
            "exhausted": done.exhausted,
            "version": version,
        }
        if done.progress is not None:
            answer["progress"] = done.progress
        if done.plans is not None:
            answer["plans"] = done.plans
        if request.get("version", version) != version:
            closed = set(done.closed)
            held = self.held_documents([name for name in request.get("holding", ()) if name not in closed])
            answer["changed"] = held_documents(self.campaign, held, self.cap)
        return answer

    def recent(self, request: unit_wire.UnitRecentRequest) -> unit_wire.UnitRecentAnswer:
        """Return the annotator's latest decisions."""
        return {"decisions": self.latest(min(max(request.get("limit", 20), 1), MOST_RECENT))}

    @abstractmethod
    def exchange(self, decisions: list[Any], want: int, request: unit_wire.UnitSyncRequest) -> Exchange:
        """Save decisions, and hand out up to `want` units."""

    @abstractmethod
    def held_documents(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the documents of held units by topic."""

    @abstractmethod
    def latest(self, limit: int) -> list[Any]:
        """Return the annotator's latest decisions with titles, newest first."""

    @abstractmethod
    def unit(self, request: unit_wire.UnitRequest) -> unit_wire.Unit:
        """Return one unit, to decide it again."""


class TopicTask(UnitRoutes):
    """A task whose units are topics."""

    most_units = 12
    cap = UNIT_CAP

    def held_documents(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the documents of held topics."""
        state = self.campaign.judging.topic_tasks.state()
        own = [name for name in names if self.campaign.judging.topic_tasks.may_see(self.annotator, name)]
        return {query_id: list(state.documents(query_id)) for query_id in own}

    def exchange(self, decisions: list[Any], want: int, request: unit_wire.UnitSyncRequest) -> Exchange:
        """Save decisions, and hand out topics while this is the campaign's task."""
        campaign, annotator, holding = self.campaign, self.annotator, request.get("holding", [])

        def save_and_choose() -> tuple[JudgeResult, wire.Task, NextTopics | None]:
            result, task = self.save(decisions), campaign.settings.judging_page().task
            if request.get("leave"):
                campaign.judging.leave(annotator)
            elif task == self.name:
                return result, task, campaign.judging.topic_tasks.next_topics(annotator, want, holding)
            return result, task, None

        result, task, topics = save_and_hand_out(campaign, save_and_choose)
        count = campaign.judging.topic_tasks.progress(annotator)
        progress: unit_wire.UnitProgress = {"done": count.done, "goal": count.goal}
        if topics is None:
            return Exchange(result, task, exhausted=True, progress=progress)
        still_held = [query_id for query_id in holding if query_id not in set(topics.closed)]
        first = next(iter([*still_held, *topics.fresh]), None)
        units = self.units(topics.fresh, first, fresh=True)
        saved = set(result.saved)
        changed = [decision.query_id for decision in decisions if decision.uuid in saved]
        # Also the first held topic: another one may have been the first when its plan was made.
        planned = dict.fromkeys([*changed, *still_held[:1]] if decisions else still_held)
        plans = {query_id: plan for query_id in planned if (plan := self.plan(query_id, first))}
        return Exchange(result, task, units, topics.closed, topics.exhausted, progress, plans)

    def latest(self, limit: int) -> list[Any]:
        """Return the annotator's latest decisions with the titles of their topics, newest first."""
        past = self.past(last=limit)[::-1]
        topics = self.campaign.store.corpus.topic_words([each["query_id"] for each in past])
        return [each | {"title": cut(topics[each["query_id"]]["title"], FIELD_CAP)} for each in past]

    def unit(self, request: unit_wire.UnitRequest) -> unit_wire.Unit:
        """Return a topic that is or was the annotator's."""
        query_id = request["unit"]
        if not self.campaign.judging.topic_tasks.may_see(self.annotator, query_id):
            raise RequestError(f"topic {query_id!r} is not yours")
        (unit,) = self.units([query_id], query_id)
        return unit

    def units(self, query_ids: list[str], first: str | None, *, fresh: bool = False) -> list[unit_wire.Unit]:
        """Return topics with their documents; `first` is the first topic in hand, `fresh` ones have no decision yet."""
        topics, form = self.campaign.store.corpus.topic_words(query_ids), topic_form(self.campaign)
        return [self.topic_unit(topic_words(topics[query_id], form), first, fresh) for query_id in query_ids]

    def documents(self, query_id: str, doc_ids: Sequence[str]) -> list[wire.DocumentPayload]:
        """Return the payloads of a topic's documents."""
        documents = self.campaign.store.corpus.documents(doc_ids)
        return document_payloads(self.campaign, [documents[doc_id] for doc_id in doc_ids], query_id, UNIT_CAP)

    def plan(self, query_id: str, first: str | None) -> unit_wire.Plan | None:
        """Return the plan of a topic, if the task has one."""
        return None

    @abstractmethod
    def save(self, decisions: list[Any]) -> JudgeResult:
        """Save decisions."""

    @abstractmethod
    def past(self, query_id: str | None = None, last: int | None = None) -> list[Any]:
        """Return the annotator's decisions, oldest first."""

    @abstractmethod
    def topic_unit(self, topic: wire.TopicWords, first: str | None, fresh: bool) -> unit_wire.Unit:
        """Return a topic with its documents."""


class Lists(TopicTask):
    """Lists: select the documents that answer a topic."""

    name, decision, record = "list", unit_wire.ListDecision, Choice

    def save(self, decisions: list[Choice]) -> JudgeResult:
        """Save choices."""
        return self.campaign.judging.topic_tasks.choose(decisions, handed_out_only=True)

    def past(self, query_id: str | None = None, last: int | None = None) -> list[unit_wire.PastListDecision]:
        """Return the annotator's choices, oldest first."""
        choices = self.campaign.store.topic_tasks.choices(annotator=self.annotator, query_id=query_id, last=last)
        return [
            {**_past(row), "kind": row["kind"], "shown": list(row["shown"]), "chosen": list(row["chosen"])}
            for row in choices.to_dict("records")
        ]

    def topic_unit(self, topic: wire.TopicWords, first: str | None, fresh: bool) -> unit_wire.ListUnit:
        """Return a topic with its documents: where there is a decision, those shown with it."""
        query_id = topic["query_id"]
        former = None if fresh else next(iter(self.past(query_id)), None)
        doc_ids = (former and former["shown"]) or self.campaign.judging.topic_tasks.state().documents(query_id)
        return {"topic": topic, "documents": self.documents(query_id, doc_ids), "former": former}


class Preferences(TopicTask):
    """Preferences: compare a topic's documents, two at a time."""

    name, decision, record = "preference", unit_wire.PreferenceDecision, Preference

    def save(self, decisions: list[Preference]) -> JudgeResult:
        """Save preferences."""
        return self.campaign.judging.topic_tasks.prefer(decisions, handed_out_only=True)

    def past(self, query_id: str | None = None, last: int | None = None) -> list[unit_wire.PastPreferenceDecision]:
        """Return the annotator's preferences, oldest first."""
        preferences = self.campaign.store.topic_tasks.preferences(
            annotator=self.annotator, query_id=query_id, last=last
        )
        return [
            {**_past(row), "kind": row["kind"], "left": row["left"], "right": row["right"]}
            for row in preferences.to_dict("records")
        ]

    def topic_unit(self, topic: wire.TopicWords, first: str | None, fresh: bool) -> unit_wire.PreferenceUnit:
        """Return a topic with its documents and its plan."""
        query_id = topic["query_id"]
        plan = self.plan(query_id, first)
        former = self.past(query_id) if plan["done"] or not fresh else []
        documents = self.documents(query_id, self.campaign.judging.topic_tasks.state().documents(query_id))
        return {"topic": topic, "documents": documents, "plan": plan, "former": former}

    def plan(self, query_id: str, first: str | None) -> unit_wire.Plan:
        """Return the next comparisons of a topic; more of them for the first topic in hand."""
        deep = AHEAD if self.campaign.settings.judging_page().preference_size <= LONG else AHEAD_OF_LONG
        depth = deep if query_id == first else AHEAD_OF_OTHERS
        plan, ahead = self.campaign.judging.topic_tasks.plan(self.annotator, query_id, depth)
        return {"next": _comparison(ahead), "done": plan.done, "expected": plan.expected}


def _comparison(ahead: Lookahead) -> unit_wire.PlannedComparison:
    if ahead.pair is None or not ahead.then:
        return {"pair": ahead.pair}
    return {"pair": ahead.pair, "then": {kind: _comparison(after) for kind, after in ahead.then.items()}}


class Adjudications(UnitRoutes):
    """Adjudication, for managers: give one grade to a pair on which annotators differ.

    `closed` and `progress` need the whole log, so a request with decisions that wants no pairs gets neither, unless it
    is `due`.
    """

    name, decision, record = "adjudication", unit_wire.AdjudicationDecision, Judgement
    most_units = 36
    thread, roles = "adjudicating", MANAGERS

    def exchange(self, decisions: list[Judgement], want: int, request: unit_wire.UnitSyncRequest) -> Exchange:
        """Save adjudications, and hand out pairs."""
        # Saved before the names of pairs are read, so that no error in them loses a decision.
        result = self.campaign.judging.adjudication.adjudicate(decisions)
        holding = request.get("holding", [])
        pairs = [_pair(name) for name in holding]
        if request.get("leave"):
            self._release()
            return Exchange(result, self.name)
        if want == 0 and request.get("decisions") and not request.get("due"):
            return Exchange(result, self.name)
        queue = _queue(self.campaign, self.campaign.judging.adjudication.cache_key())
        chosen = filter_queue(queue, **(request.get("filter") or {}))
        open_now = set(_pairs(queue[~queue["ended"]]))
        own = dict.fromkeys(pair for pair in pairs if pair in open_now)
        self._release()
        fresh = [pair for pair in _pairs(chosen[~chosen["ended"]]) if pair not in own]
        fresh.sort(key=lambda pair: pair in self.held)
        self.held.update(dict.fromkeys((*own, *fresh[:want]), (self.annotator, time.monotonic() + HELD_FOR)))
        closed = [name for name, pair in zip(holding, pairs, strict=True) if pair not in open_now]
        progress: unit_wire.UnitProgress = {"done": int(chosen["ended"].sum()), "goal": len(chosen)}
        return Exchange(result, self.name, self.units(fresh[:want]), closed, len(fresh) <= want, progress)

    def held_documents(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the documents of held pairs by topic."""
        held: dict[str, list[str]] = {}
        for query_id, doc_id in map(_pair, names):
            held.setdefault(query_id, []).append(doc_id)
        return held

    def _release(self) -> None:
        """End this annotator's reservations; those of others that are over are forgotten."""
        now = time.monotonic()
        for pair in [pair for pair, (who, until) in self.held.items() if who == self.annotator or until < now]:
            del self.held[pair]

    def latest(self, limit: int) -> list[unit_wire.PastAdjudication]:
        """Return the manager's latest adjudications with the titles of their documents, newest first."""
        marks = MARKS if self.campaign.settings.review() is not None else ()
        adjudications = self.campaign.log.adjudications(self.annotator, without=marks).iloc[::-1].head(limit)
        titles = self.campaign.store.corpus.titles(set(adjudications["doc_id"]))
        rows = adjudications.to_dict("records")
        return [_adjudication(row) | {"title": cut(titles[row["doc_id"]], FIELD_CAP)} for row in rows]

    def unit(self, request: unit_wire.UnitRequest) -> unit_wire.Unit:
        """Return a pair, open or not."""
        query_id, doc_id = _pair(request["unit"])
        corpus = self.campaign.store.corpus
        if not corpus.documents([doc_id]) or query_id not in corpus.topic_words([query_id]):
            raise RequestError(f"document {doc_id!r} of topic {query_id!r} is not in the campaign")
        return self.units([(query_id, doc_id)])[0]

    def units(self, pairs: Sequence[PairIds]) -> list[unit_wire.AdjudicationUnit]:
        """Return pairs with all annotators' judgements."""
        topics = self.campaign.store.corpus.topic_words(sorted({query_id for query_id, _ in pairs}))
        form = topic_form(self.campaign)
        documents = self.campaign.store.corpus.documents([doc_id for _, doc_id in pairs])
        units: list[unit_wire.AdjudicationUnit] = []
        for query_id, doc_id in pairs:
            document = documents[doc_id]
            log = self.campaign.store.judgements.table(query_id=query_id, doc_id=doc_id)
            own = log[(log["counts_as"] == "adjudication") & (log["annotator"] == self.annotator)]
            opinions = list_opinions(log, query_id, doc_id).to_dict("records")
            marked = any(row["passages"] for row in opinions)
            text = self.campaign.corpus.view.marked(query_id, document).text if marked else ""
            units.append(
                {
                    "topic": topic_words(topics[query_id], form),
                    "documents": document_payloads(self.campaign, [document], query_id),
                    "opinions": [_opinion(row, text) for row in opinions],
                    "former": next(map(_adjudication, own.to_dict("records")), None),
                }
            )
        return units


@lru_cache(maxsize=1)
def _queue(campaign: Campaign, _version: Hashable) -> pd.DataFrame:
    """The pairs that are not held back, kept until the log changes; callers must not change the frame."""
    queue = campaign.judging.adjudication.queue(ended=True)
    return queue[~queue["held_back"]]


def _opinion(row: Row, text: str) -> unit_wire.Opinion:
    """One annotator's judgement; `text` is the document's."""
    more = {
        "annotator": row["annotator"],
        "quotes": [text[start:end][:LONGEST_QUOTE] for start, end in row["passages"][:MOST_QUOTES]],
        "seconds": None if pd.isna(row["seconds"]) else round(float(row["seconds"]), 1),
        "judged_at": logged_text(row, "judged_at"),
    }
    return cast(unit_wire.Opinion, {**said_judgement(row), **more})


def _adjudication(row: Row) -> unit_wire.PastAdjudication:
    grade = {"doc_id": row["doc_id"], "kind": row["kind"], "relevance": logged_grade(row)}
    past = cast(unit_wire.PastAdjudication, {**_past(row), **grade})
    if row["answers"]:
        past["answers"] = wire_answers(row["answers"])
    return past


def _past(row: Row) -> unit_wire.PastDecision:
    """Fields that all decisions in a log have."""
    return {
        "uuid": logged_text(row, "uuid"),
        "query_id": row["query_id"],
        "reason": logged_text(row, "reason"),
        "note": logged_text(row, "note"),
        "judged_at": logged_text(row, "judged_at"),
    }


def _pairs(queue: pd.DataFrame) -> list[PairIds]:
    return list(zip(queue["query_id"], queue["doc_id"], strict=True))


def _pair(name: str) -> PairIds:
    try:
        parts = json.loads(name)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != 2:
        raise RequestError("expected a pair as the JSON text of [query_id, doc_id]")
    pair = fields.check(wire.Pair, dict(zip(("query_id", "doc_id"), parts, strict=True)))
    return pair["query_id"], pair["doc_id"]


def _sync(
    task: type[UnitRoutes], held: Held, campaign: Campaign, annotator: str, request: unit_wire.UnitSyncRequest
) -> unit_wire.UnitSyncAnswer:
    return task(campaign, annotator, held).sync(request)


def _recent(
    task: type[UnitRoutes], held: Held, campaign: Campaign, annotator: str, request: unit_wire.UnitRecentRequest
) -> unit_wire.UnitRecentAnswer:
    return task(campaign, annotator, held).recent(request)


def _unit(
    task: type[UnitRoutes], held: Held, campaign: Campaign, annotator: str, request: unit_wire.UnitRequest
) -> unit_wire.Unit:
    return task(campaign, annotator, held).unit(request)


def routes() -> list[PostRoute]:
    """Return the routes of all tasks."""
    held: Held = {}
    return [
        PostRoute(f"{task.name}/{name}", partial(handler, task, held), task.thread, task.roles)
        for task in (Lists, Preferences, Adjudications)
        for name, handler in {"sync": _sync, "recent": _recent, "unit": _unit}.items()
    ]
