"""The routes of the cards for lists and for preferences: hand out topics and take decisions on them.

Posts with JSON and the judging token, as the other judging routes; ``task`` is "list" or "preference" in all of them.
A decision has a uuid that was made where it was made: sending it again writes nothing and answers as before, so a card
keeps what is not yet `saved` or `refused` and sends it until it is. A decision is acknowledged when it is on disk.

``task/sync``  ``{task, decisions, holding: [query_id], want}`` ->
``{task, saved: [uuid], refused: [{uuid, reason}], units, plans, closed: [query_id], progress, exhausted}``

- A list decision: ``{uuid, query_id, kind, shown, chosen, reason, note, shown_at, seconds, away, source}``; kind is
  "chosen" (``chosen: []``: none of these), "cannot judge" (with a reason) or "undone".
- A preference decision: ``{uuid, query_id, left, right, kind, reason, note, shown_at, seconds, away, source}``; kind
  is "left", "right", "equal", "cannot judge" (with a reason) or "undone". It may name the two the other way round.
- A list unit: ``{topic: {query_id, title, description, narrative, note}, documents, former}``. `former` is what this
  annotator decided before: ``{uuid, kind, shown, chosen, reason, note}``, or null.
- A preference unit: ``{topic, documents, plan, former}``; `former` is a list of such objects with left and right.
- `documents` are as the other judging routes show them, cut after :data:`UNIT_CAP` characters; the route ``document``
  has the whole. Those of a list stand in the order in which to show them.
- `plan` is ``{pairs, next, done, expected}``. `next` says what to compare now and what after each answer, so that no
  key waits for the network: ``{pair: [left, right], then: {left: NEXT, right: NEXT, equal: NEXT, "cannot judge":
  NEXT}}``. Where ``pair`` is null the topic is decided: the card goes on to its next unit. Where ``then`` is missing
  nobody has looked so far ahead: the card asks. `pairs` is ``[next.pair]``, or empty. `done` and `expected` count
  pairs; `expected` is the most that there can be, and falls.
- `plans` (query_id -> plan) has the plan anew for each topic that a saved decision of this request is on, and in a
  request without decisions for each that is held. It knows of these decisions and of no later ones. A card that has
  later ones goes from ``plans[query_id].next`` through ``then[kind]`` of each that it has not sent; where that leads
  nowhere (one was undone, or changed), it sends them and waits for the next plan.
- Of the topic that is first in hand plans look :data:`AHEAD` answers ahead, of long ones :data:`AHEAD_OF_LONG`; of the
  others one answer. So `plans` has the first that is held, too, where a decision was saved on another.
- `closed`: of what was held, topics that want no decision of this annotator any more: decided, closed by the manager,
  taken by others after the reservation had ended. The card drops those on which nothing is under way.
- `exhausted`: nothing more is open to this annotator now; with ``progress.left_for_me`` above what is held, others have
  the rest in hand. `progress` is ``{done, goal, left_for_me}`` in topics.
- ``task`` in the answer is what the campaign asks for now; where it is another than the card's, decisions are
  taken all the same and nothing is handed out: the page has to be loaded again.
- A request that wants nothing and whose reservations are young writes nothing but its decisions.

``task/recent``  ``{task, limit}`` -> ``{decisions}``: the annotator's last, newest first: a decision as above with
``title`` (of the topic), ``titles`` (document id -> title) and ``judged_at``; nothing that was taken back.

``task/unit``  ``{task, query_id}`` -> one unit, to look at a topic again and decide anew: with a list decision the
documents are those that were shown then. 400 where the topic is not and was not this annotator's.
"""

from collections.abc import Iterable
from functools import partial

from starlette.routing import Route

from annotate.judging.document_payload import PREFIX, document_payloads
from annotate.judging.request_fields import Guard, Payload, decision, decisions, items, text, texts, whole
from annotate.server.request_bodies import BadRequest
from collection.campaign import Campaign
from collection.campaign.results import JudgeResult
from collection.campaign.topic_tasks import NextTopics
from collection.errors import BusyError
from collection.preferences import Lookahead
from collection.records import CHOICE_KINDS, PREFERENCE_KINDS, Choice, Preference

UNIT_CAP = 4_000
"""Characters of each document that travel with a unit."""
MOST_UNITS = 12
"""Units that are handed out at once."""
MOST_RECENT = 100
AHEAD = 3
"""Answers that the plan of the topic that is first in hand looks ahead; each more makes it four times as costly."""
AHEAD_OF_LONG = 2
"""The same where there are more than :data:`LONG` documents to compare."""
LONG = 30
AHEAD_OF_OTHERS = 1
"""The same for topics behind the first: what follows comes with the first answer to them."""
MOST_SHOWN = 200
"""Documents that one decision names."""


def routes(guarded: Guard) -> list[Route]:
    """The routes of this module; `guarded` makes an endpoint for those who judge of a handler."""
    handlers = {"sync": _sync, "recent": _recent, "unit": _unit}
    return [Route(f"{PREFIX}/task/{name}", guarded(handler), methods=["POST"]) for name, handler in handlers.items()]


def _sync(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take decisions, then hand out what is wanted. In this order: what was just decided is not open."""
    task, want, holding = _task(payload), whole(payload, "want", 0), texts(payload, "holding")
    readable, refused = decisions(items(payload, "decisions"), partial(_decision, task, annotator))
    want = min(max(want, 0), MOST_UNITS)
    try:
        with campaign.transaction():  # one wait for the disk, not two
            asked, result, found = _exchange(campaign, annotator, task, readable, holding, want)
    except BusyError:
        raise
    except Exception:
        # No decision is lost because nothing could be handed out after it: now they are on disk by themselves.
        asked, result, found = _exchange(campaign, annotator, task, readable, holding, want)
    answer: Payload = {
        "task": asked,
        "saved": result.saved,
        "refused": [r._asdict() for r in refused + result.refused],
        "units": [],
        "plans": {},
        "closed": [],
        "exhausted": True,
    }
    if found is not None:
        kept = [query_id for query_id in holding if query_id not in set(found.closed)]
        first = next(iter([*kept, *found.fresh]), None)
        answer |= {"closed": found.closed, "exhausted": found.exhausted}
        answer["units"] = _units(campaign, annotator, task, found.fresh, fresh=True, first=first)
        if task == "preference":
            saved = set(result.saved)
            changed = [d.query_id for d in readable if d.uuid in saved]
            planned = dict.fromkeys([*changed, *kept[:1]] if readable else kept)
            answer["plans"] = {query_id: _plan(campaign, annotator, query_id, first) for query_id in planned}
    done, goal, left = campaign.topic_tasks.progress(annotator)
    return answer | {"progress": {"done": done, "goal": goal, "left_for_me": left}}


def _exchange(
    campaign: Campaign, annotator: str, task: str, decisions: list[Choice | Preference], holding: list[str], want: int
) -> tuple[str, JudgeResult, NextTopics | None]:
    """What the campaign asks for, what became of the decisions, and the next topics, where it asks for this task."""
    if task == "list":
        result = campaign.topic_tasks.choose([d for d in decisions if isinstance(d, Choice)], handed_out_only=True)
    else:
        result = campaign.topic_tasks.prefer([d for d in decisions if isinstance(d, Preference)], handed_out_only=True)
    asked: str = campaign.settings.judging_page().task
    return asked, result, campaign.topic_tasks.next_topics(annotator, want, holding) if asked == task else None


def _recent(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The annotator's last decisions, newest first."""
    task, limit = _task(payload), whole(payload, "limit", 20)
    recent = _former(campaign, task, annotator=annotator, last=min(max(limit, 1), MOST_RECENT))[::-1]
    words = campaign.corpus.topic_words([each["query_id"] for each in recent])
    titles = campaign.corpus.titles({doc_id for each in recent for doc_id in _named(task, each)})
    for each in recent:
        each["title"] = words[each["query_id"]]["title"]
        each["titles"] = {doc_id: titles[doc_id] for doc_id in _named(task, each)}
    return {"decisions": recent}


def _unit(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """One topic with its documents, and what this annotator decided."""
    task, query_id = _task(payload), text(payload, "query_id")
    if not campaign.topic_tasks.may_see(annotator, query_id):
        raise BadRequest(f"topic {query_id!r} is not yours")
    return _units(campaign, annotator, task, [query_id], first=query_id)[0]


def _units(
    campaign: Campaign, annotator: str, task: str, query_ids: list[str], *, fresh: bool = False, first: str | None
) -> list[Payload]:
    """Topics with their documents; those that are `fresh` have no choice of this annotator, and need no look.

    `first` is the topic that is decided first.
    """
    words = campaign.corpus.topic_words(query_ids)
    units: list[Payload] = []
    for query_id in query_ids:
        unit: Payload = {"topic": words[query_id]}
        doc_ids = campaign.topic_tasks.documents(query_id)
        if task == "preference":
            unit["plan"] = _plan(campaign, annotator, query_id, first)
            begun = not fresh or unit["plan"]["done"]
            unit["former"] = _former(campaign, task, annotator=annotator, query_id=query_id) if begun else []
        else:
            said = [] if fresh else _former(campaign, task, annotator=annotator, query_id=query_id)
            unit["former"] = said[0] if said else None
            doc_ids = said[0]["shown"] if said and said[0]["shown"] else doc_ids
        documents = campaign.corpus.documents(doc_ids)
        unit["documents"] = document_payloads(campaign, [documents[i] for i in doc_ids], query_id, UNIT_CAP)
        units.append(unit)
    return units


def _plan(campaign: Campaign, annotator: str, query_id: str, first: str | None) -> Payload:
    """What to compare next, and after each answer; of the topic that is `first` in hand after some more."""
    deep = AHEAD if campaign.settings.judging_page().preference_size <= LONG else AHEAD_OF_LONG
    plan, ahead = campaign.topic_tasks.plan(annotator, query_id, deep if query_id == first else AHEAD_OF_OTHERS)
    pairs = [] if plan.pair is None else [list(plan.pair)]
    return {"pairs": pairs, "next": _ahead(ahead), "done": plan.done, "expected": plan.expected}


def _ahead(ahead: Lookahead) -> Payload:
    if ahead.pair is None:
        return {"pair": None}
    then = {kind: _ahead(after) for kind, after in ahead.then.items()}
    return {"pair": list(ahead.pair)} | ({"then": then} if then else {})


def _former(campaign: Campaign, task: str, **which: str | int | None) -> list[Payload]:
    """Decisions of the log as the card wants them, oldest first."""
    frame = campaign.topic_tasks.choices(**which) if task == "list" else campaign.topic_tasks.preferences(**which)
    names = ("shown", "chosen") if task == "list" else ("left", "right")
    return [
        {"uuid": row["uuid"], "query_id": row["query_id"], "kind": row["kind"], "judged_at": row["judged_at"]}
        | {name: list(row[name]) if task == "list" else row[name] for name in names}
        | {name: row[name] if isinstance(row[name], str) else None for name in ("reason", "note")}
        for row in frame.to_dict("records")
    ]


def _named(task: str, each: Payload) -> Iterable[str]:
    return each["shown"] if task == "list" else (each["left"], each["right"])


def _task(payload: Payload) -> str:
    task = payload.get("task")
    if task not in ("list", "preference"):
        raise BadRequest("wanted task as list or preference")
    return str(task)


def _decision(task: str, annotator: str, sent: Payload) -> Choice | Preference:
    """A choice or a preference as the card sends it."""
    kinds = CHOICE_KINDS if task == "list" else PREFERENCE_KINDS
    if sent.get("kind") not in kinds:
        raise BadRequest(f"wanted decisions whose kind is one of {', '.join(kinds)}")
    fields = decision(annotator, sent)
    if task == "list":
        return Choice(**fields, kind=sent["kind"], shown=_ids(sent, "shown"), chosen=_ids(sent, "chosen"))
    return Preference(**fields, kind=sent["kind"], left=text(sent, "left"), right=text(sent, "right"))


def _ids(sent: Payload, name: str) -> tuple[str, ...]:
    if len(items(sent, name)) > MOST_SHOWN:
        raise BadRequest(f"wanted {MOST_SHOWN} documents at most in {name}, found {len(sent[name])}")
    return tuple(texts(sent, name))
