"""Routes of the cards for lists and preferences: hand out topics and take decisions on them.

``task`` is "list" or "preference" in all requests. The card gives each decision a uuid and sends it until it is in
`saved` (its transaction is on disk) or `refused`; sending one again writes nothing and gets the same answer.

``task/sync``  ``{task, decisions, holding: [query_id], want}`` ->
``{task, saved: [uuid], refused: [{uuid, reason}], units, plans, closed: [query_id], progress, exhausted}``

- A list decision: ``{uuid, query_id, kind, shown, chosen, reason, note, shown_at, seconds, away, source}``; kind is
  "chosen" (``chosen: []``: none of these), "cannot judge" (with a reason) or "undone".
- A preference decision: ``{uuid, query_id, left, right, kind, reason, note, shown_at, seconds, away, source}``; kind
  is "left", "right", "equal", "cannot judge" (with a reason) or "undone". It may name the two the other way round.
- A list unit: ``{topic: {query_id, title, description, narrative, note}, documents, former}``. `former` is this
  annotator's earlier decision, ``{uuid, kind, shown, chosen, reason, note}``, or null.
- A preference unit: ``{topic, documents, plan, former}``; `former` is a list of such objects with left and right.
- `documents` (:mod:`annotate.judging.document_payload`) are cut after :data:`UNIT_CAP` characters; those of a list are
  in display order.
- `plan` is ``{pairs, next, done, expected}``. `next` is the comparison now and after each answer, so that no key waits
  for the network: ``{pair: [left, right], then: {left: NEXT, right: NEXT, equal: NEXT, "cannot judge": NEXT}}``. Where
  ``pair`` is null, the topic is decided; where ``then`` is missing, the card has to ask. `pairs` is ``[next.pair]``, or
  empty. `done` and `expected` count pairs; `expected` is an upper bound, and falls.
- `plans` (query_id -> plan) has a new plan for each topic with a saved decision in this request, and, without
  decisions, for each held topic. For decisions that it has not sent yet, a card follows ``then[kind]`` from
  ``plans[query_id].next``; where that ends (one was undone or changed), it sends them and waits for the next plan.
- The plan of the first topic in hand looks :data:`AHEAD` answers ahead (:data:`AHEAD_OF_LONG` for long ones), other
  plans one. So `plans` also has the first held topic where a decision on another one was saved.
- `closed`: held topics that this annotator need not decide any more: decided, closed by the manager, or taken by others
  after the reservation had ended. The card drops those without work in progress.
- `exhausted`: nothing more is open to this annotator now; if ``progress.left_for_me`` exceeds what is held, others hold
  the rest. `progress` is ``{done, goal, left_for_me}`` in topics.
- `task` in the answer is the campaign's current task; if it is not the card's, decisions are saved, nothing is handed
  out, and the page has to be loaded again.
- A request that wants nothing and whose reservations are young writes only its decisions.

``task/recent``  ``{task, limit}`` -> ``{decisions}``: the annotator's latest, newest first, without undone ones: each
as above with `title` (of the topic), `titles` (document id -> title) and `judged_at`.

``task/unit``  ``{task, query_id}`` -> one unit, to decide a topic again: after a list decision, `documents` are those
shown then. 400 for a topic that is not and was not this annotator's.
"""

from collections.abc import Iterable
from functools import partial

from annotate.judging import fields
from annotate.judging.document_payload import Payload, document_payloads
from annotate.judging.handlers import PostRoute, logged_texts, save_and_hand_out
from annotate.server.request_bodies import RequestError
from collection.campaign import Campaign
from collection.campaign.results import JudgeResult
from collection.campaign.topic_tasks import NextTopics
from collection.preferences import Lookahead
from collection.records import CHOICE_KINDS, PREFERENCE_KINDS, Choice, Preference

UNIT_CAP = 4_000  # characters of each document that are sent with a unit
MOST_UNITS = 12  # units handed out at once
MOST_RECENT = 100
AHEAD = 3  # answers that the plan of the first topic in hand looks ahead; each more makes it four times as costly
AHEAD_OF_LONG = 2  # the same for topics with more than LONG documents
LONG = 30
AHEAD_OF_OTHERS = 1  # the same for topics behind the first
MOST_SHOWN = 200  # documents that one decision names


def routes() -> list[PostRoute]:
    """Return the routes of this module."""
    handlers = {"sync": _sync, "recent": _recent, "unit": _unit}
    return [PostRoute(f"task/{name}", handler) for name, handler in handlers.items()]


def _sync(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take decisions, then hand out topics."""
    task, want, holding = _task(payload), fields.read_integer(payload, "want", 0), fields.read_texts(payload, "holding")
    readable, refused = fields.read_decisions(payload, "decisions", partial(_decision, task, annotator))
    want = min(max(want, 0), MOST_UNITS)

    def exchange() -> tuple[str, JudgeResult, NextTopics | None]:
        service = campaign.topic_tasks
        if task == "list":
            result = service.choose([d for d in readable if isinstance(d, Choice)], handed_out_only=True)
        else:
            result = service.prefer([d for d in readable if isinstance(d, Preference)], handed_out_only=True)
        asked: str = campaign.settings.judging_page().task
        return asked, result, service.next_topics(annotator, want, holding) if asked == task else None

    asked, result, found = save_and_hand_out(campaign, exchange)
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


def _recent(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    task, limit = _task(payload), fields.read_integer(payload, "limit", 20)
    recent = _former(campaign, task, annotator=annotator, last=min(max(limit, 1), MOST_RECENT))[::-1]
    topics = campaign.corpus.topic_words([each["query_id"] for each in recent])
    titles = campaign.corpus.titles({doc_id for each in recent for doc_id in _doc_ids(task, each)})
    for each in recent:
        each["title"] = topics[each["query_id"]]["title"]
        each["titles"] = {doc_id: titles[doc_id] for doc_id in _doc_ids(task, each)}
    return {"decisions": recent}


def _unit(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    task, query_id = _task(payload), fields.read_text(payload, "query_id")
    if not campaign.topic_tasks.may_see(annotator, query_id):
        raise RequestError(f"topic {query_id!r} is not yours")
    return _units(campaign, annotator, task, [query_id], first=query_id)[0]


def _units(
    campaign: Campaign, annotator: str, task: str, query_ids: list[str], *, fresh: bool = False, first: str | None
) -> list[Payload]:
    """Topics with their documents; `fresh` ones have no list decision yet, and `first` is the first topic in hand."""
    topics = campaign.corpus.topic_words(query_ids)
    units: list[Payload] = []
    for query_id in query_ids:
        unit: Payload = {"topic": topics[query_id]}
        begun = not fresh
        doc_ids = campaign.topic_tasks.documents(query_id)
        if task == "preference":
            unit["plan"] = _plan(campaign, annotator, query_id, first)
            begun = begun or unit["plan"]["done"] > 0
        former = _former(campaign, task, annotator=annotator, query_id=query_id) if begun else []
        if task == "list" and former:
            doc_ids = former[0]["shown"] or doc_ids
        unit["former"] = former if task == "preference" else next(iter(former), None)
        documents = campaign.corpus.documents(doc_ids)
        unit["documents"] = document_payloads(campaign, [documents[i] for i in doc_ids], query_id, UNIT_CAP)
        units.append(unit)
    return units


def _plan(campaign: Campaign, annotator: str, query_id: str, first: str | None) -> Payload:
    """The next comparisons of a topic; more of them for the `first` one in hand."""
    deep = AHEAD if campaign.settings.judging_page().preference_size <= LONG else AHEAD_OF_LONG
    plan, ahead = campaign.topic_tasks.plan(annotator, query_id, deep if query_id == first else AHEAD_OF_OTHERS)
    pairs = [] if plan.pair is None else [list(plan.pair)]
    return {"pairs": pairs, "next": _ahead(ahead), "done": plan.done, "expected": plan.expected}


def _ahead(ahead: Lookahead) -> Payload:
    if ahead.pair is None:
        return {"pair": None}
    then = {kind: _ahead(after) for kind, after in ahead.then.items()}
    return {"pair": list(ahead.pair)} | ({"then": then} if then else {})


def _former(
    campaign: Campaign, task: str, annotator: str, query_id: str | None = None, last: int | None = None
) -> list[Payload]:
    read = campaign.topic_tasks.choices if task == "list" else campaign.topic_tasks.preferences
    frame = read(annotator=annotator, query_id=query_id, last=last)
    names = ("shown", "chosen") if task == "list" else ("left", "right")
    return [
        {name: list(row[name]) if task == "list" else row[name] for name in names}
        | logged_texts(row, "uuid", "query_id", "kind", "judged_at", "reason", "note")
        for row in frame.to_dict("records")
    ]


def _doc_ids(task: str, decided: Payload) -> Iterable[str]:
    return decided["shown"] if task == "list" else (decided["left"], decided["right"])


def _task(payload: Payload) -> str:
    task = payload.get("task")
    if task not in ("list", "preference"):
        raise RequestError('expected task as "list" or "preference"')
    return str(task)


def _decision(task: str, annotator: str, sent: Payload) -> Choice | Preference:
    kinds = CHOICE_KINDS if task == "list" else PREFERENCE_KINDS
    if sent.get("kind") not in kinds:
        raise RequestError(f"expected kind as one of {', '.join(kinds)}")
    common = fields.read_decision(annotator, sent)
    if task == "list":
        return Choice(**common, kind=sent["kind"], shown=_ids(sent, "shown"), chosen=_ids(sent, "chosen"))
    left, right = fields.read_text(sent, "left"), fields.read_text(sent, "right")
    return Preference(**common, kind=sent["kind"], left=left, right=right)


def _ids(sent: Payload, name: str) -> tuple[str, ...]:
    if len(fields.read_list(sent, name)) > MOST_SHOWN:
        raise RequestError(f"expected at most {MOST_SHOWN} documents in {name}, found {len(sent[name])}")
    return tuple(fields.read_texts(sent, name))
