"""Routes of the cards for lists and preferences: hand out topics and take decisions on them."""

from collections.abc import Callable, Mapping

from annotate.card.server import fields, wire
from annotate.card.server.document_payload import FIELD_CAP, document_payloads
from annotate.card.server.handlers import PostRoute, logged_text, save_and_hand_out, topic_words
from annotate.server.request_bodies import RequestError
from collection.campaign import Campaign
from collection.campaign.judging.topic_tasks import NextTopics
from collection.campaign.log.results import JudgeResult
from collection.campaign.settings.judging_settings import Task
from collection.core.records import Choice, Preference
from collection.documents.rendering import cut
from collection.preferences import Lookahead

UNIT_CAP = 4_000  # characters of each document that are sent with a unit
MOST_UNITS = 12  # units handed out at once
MOST_RECENT = 100
AHEAD = 3  # answers that the plan of the first topic in hand looks ahead; each more makes it four times as costly
AHEAD_OF_LONG = 2  # the same for topics with more than LONG documents
LONG = 30
AHEAD_OF_OTHERS = 1  # the same for topics behind the first

RECORDS: Mapping[Task, tuple[type, Callable[..., Choice | Preference]]] = {
    "list": (wire.ListDecision, Choice),
    "preference": (wire.PreferenceDecision, Preference),
}
"""Task -> the type of its decisions on the wire, and their record."""


def routes() -> list[PostRoute]:
    """Return the routes of this module."""
    handlers = {"sync": _sync, "recent": _recent, "unit": _unit}
    return [PostRoute(f"task/{name}", handler) for name, handler in handlers.items()]


def _sync(campaign: Campaign, annotator: str, request: wire.TaskSyncRequest) -> wire.TaskSyncAnswer:
    """Take decisions, then hand out topics."""
    task, holding = request["task"], request.get("holding", [])
    kind, record = RECORDS[task]
    readable, refused = fields.read_decisions(request.get("decisions", ()), kind, record, annotator)
    want = min(max(request.get("want", 0), 0), MOST_UNITS)

    def exchange() -> tuple[Task, JudgeResult, NextTopics | None]:
        service = campaign.topic_tasks
        if task == "list":
            result = service.choose([d for d in readable if isinstance(d, Choice)], handed_out_only=True)
        else:
            result = service.prefer([d for d in readable if isinstance(d, Preference)], handed_out_only=True)
        asked = campaign.settings.judging_page().task
        if request.get("leave"):
            campaign.judging.leave(annotator)
            return asked, result, None
        return asked, result, service.next_topics(annotator, want, holding) if asked == task else None

    asked, result, found = save_and_hand_out(campaign, exchange)
    done, goal, left = campaign.topic_tasks.progress(annotator)
    answer: wire.TaskSyncAnswer = {
        "task": asked,
        "saved": result.saved,
        "refused": fields.refusals(refused + result.refused),
        "units": [],
        "plans": {},
        "closed": [],
        "exhausted": True,
        "progress": {"done": done, "goal": goal, "left_for_me": left},
    }
    if found is not None:
        kept = [query_id for query_id in holding if query_id not in set(found.closed)]
        first = next(iter([*kept, *found.fresh]), None)
        answer["closed"], answer["exhausted"] = found.closed, found.exhausted
        if task == "list":
            answer["units"] = _list_units(campaign, annotator, found.fresh, fresh=True)
        else:
            answer["units"] = _preference_units(campaign, annotator, found.fresh, first, fresh=True)
            saved = set(result.saved)
            changed = [d.query_id for d in readable if d.uuid in saved]
            # Also the first held topic: another one may have been the first when its plan was made.
            planned = dict.fromkeys([*changed, *kept[:1]] if readable else kept)
            answer["plans"] = {query_id: _plan(campaign, annotator, query_id, first) for query_id in planned}
    return answer


def _recent(campaign: Campaign, annotator: str, request: wire.TaskRecentRequest) -> wire.TaskRecentAnswer:
    last = min(max(request.get("limit", 20), 1), MOST_RECENT)
    if request["task"] == "list":
        choices = _choices(campaign, annotator, last=last)[::-1]
        titles = _titles(campaign, [each["query_id"] for each in choices])
        chosen: list[wire.RecentListDecision] = [{**each, "title": titles[each["query_id"]]} for each in choices]
        return {"decisions": chosen}
    preferences = _preferences(campaign, annotator, last=last)[::-1]
    titles = _titles(campaign, [each["query_id"] for each in preferences])
    preferred: list[wire.RecentPreferenceDecision] = [
        {**each, "title": titles[each["query_id"]]} for each in preferences
    ]
    return {"decisions": preferred}


def _titles(campaign: Campaign, query_ids: list[str]) -> dict[str, str]:
    """Titles of topics, by id."""
    return {
        query_id: cut(topic["title"], FIELD_CAP) for query_id, topic in campaign.corpus.topic_words(query_ids).items()
    }


def _unit(campaign: Campaign, annotator: str, request: wire.TaskUnitRequest) -> wire.ListUnit | wire.PreferenceUnit:
    query_id = request["query_id"]
    if not campaign.topic_tasks.may_see(annotator, query_id):
        raise RequestError(f"topic {query_id!r} is not yours")
    if request["task"] == "list":
        return _list_units(campaign, annotator, [query_id])[0]
    return _preference_units(campaign, annotator, [query_id], query_id)[0]


def _list_units(
    campaign: Campaign, annotator: str, query_ids: list[str], *, fresh: bool = False
) -> list[wire.ListUnit]:
    """Topics with their documents; `fresh` ones have no decision yet."""
    topics = campaign.corpus.topic_words(query_ids)
    units: list[wire.ListUnit] = []
    for query_id in query_ids:
        former = None if fresh else next(iter(_choices(campaign, annotator, query_id)), None)
        doc_ids = (former and former["shown"]) or campaign.topic_tasks.documents(query_id)
        documents = _documents(campaign, query_id, doc_ids)
        units.append({"topic": topic_words(topics[query_id]), "documents": documents, "former": former})
    return units


def _preference_units(
    campaign: Campaign, annotator: str, query_ids: list[str], first: str | None, *, fresh: bool = False
) -> list[wire.PreferenceUnit]:
    """Topics with their documents and plans; `first` is the first topic in hand."""
    topics = campaign.corpus.topic_words(query_ids)
    units: list[wire.PreferenceUnit] = []
    for query_id in query_ids:
        plan = _plan(campaign, annotator, query_id, first)
        former = _preferences(campaign, annotator, query_id) if plan["done"] or not fresh else []
        documents = _documents(campaign, query_id, campaign.topic_tasks.documents(query_id))
        units.append({"topic": topic_words(topics[query_id]), "documents": documents, "plan": plan, "former": former})
    return units


def _documents(campaign: Campaign, query_id: str, doc_ids: list[str]) -> list[wire.DocumentPayload]:
    documents = campaign.corpus.documents(doc_ids)
    return document_payloads(campaign, [documents[doc_id] for doc_id in doc_ids], query_id, UNIT_CAP)


def _plan(campaign: Campaign, annotator: str, query_id: str, first: str | None) -> wire.Plan:
    """The next comparisons of a topic; more of them for the `first` one in hand."""
    deep = AHEAD if campaign.settings.judging_page().preference_size <= LONG else AHEAD_OF_LONG
    plan, ahead = campaign.topic_tasks.plan(annotator, query_id, deep if query_id == first else AHEAD_OF_OTHERS)
    pairs = [] if plan.pair is None else [plan.pair]
    return {"pairs": pairs, "next": _comparison(ahead), "done": plan.done, "expected": plan.expected}


def _comparison(ahead: Lookahead) -> wire.PlannedComparison:
    if ahead.pair is None or not ahead.then:
        return {"pair": ahead.pair}
    return {"pair": ahead.pair, "then": {kind: _comparison(after) for kind, after in ahead.then.items()}}


def _choices(
    campaign: Campaign, annotator: str, query_id: str | None = None, last: int | None = None
) -> list[wire.PastListDecision]:
    frame = campaign.topic_tasks.choices(annotator=annotator, query_id=query_id, last=last)
    return [
        {
            "uuid": logged_text(row, "uuid"),
            "query_id": row["query_id"],
            "kind": row["kind"],
            "shown": list(row["shown"]),
            "chosen": list(row["chosen"]),
            "reason": logged_text(row, "reason"),
            "note": logged_text(row, "note"),
            "judged_at": logged_text(row, "judged_at"),
        }
        for row in frame.to_dict("records")
    ]


def _preferences(
    campaign: Campaign, annotator: str, query_id: str | None = None, last: int | None = None
) -> list[wire.PastPreferenceDecision]:
    frame = campaign.topic_tasks.preferences(annotator=annotator, query_id=query_id, last=last)
    return [
        {
            "uuid": logged_text(row, "uuid"),
            "query_id": row["query_id"],
            "kind": row["kind"],
            "left": row["left"],
            "right": row["right"],
            "reason": logged_text(row, "reason"),
            "note": logged_text(row, "note"),
            "judged_at": logged_text(row, "judged_at"),
        }
        for row in frame.to_dict("records")
    ]
