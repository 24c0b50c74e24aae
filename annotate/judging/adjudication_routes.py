"""The routes of the Adjudicate page's card: hand out pairs on which annotators differ, and take adjudications.

Posts with JSON and the judging token, as the other judging routes; for managers only. The card is the one of lists and
preferences (see :mod:`annotate.judging.task_routes`) whose unit is one pair; in `holding`, `closed` and `pair`, a pair
is named by the JSON text of ``[query_id, doc_id]``, made by the card.

``adjudicate/sync``  ``{decisions, holding: [pair], want, due, filter}`` ->
``{task: "adjudication", saved: [uuid], refused: [{uuid, reason}], units, closed: [pair], exhausted, progress?}``

- A decision: ``{uuid, query_id, doc_id, kind, relevance, reason, note, shown_at, seconds, away, source}``; kind is
  "graded", "cannot judge" (with a reason) or "undone". It is in `saved` when its transaction is on disk. Refused is one
  on a pair that another manager has adjudicated meanwhile, on which annotators do not differ, or whose document has
  no text yet; pairs that wait for a text are not handed out, and not counted in `progress`.
- A unit: ``{topic: {query_id, title, description, narrative, note}, documents: [document], opinions, former}``.
  An opinion is ``{annotator, kind, relevance, reason, note, flagged, passages, quotes, seconds, judged_at}``, lowest
  grade first; `passages` are places in the text, `quotes` their words. `former` is this manager's adjudication that
  stands, or null.
- `filter` is ``{why, query_id, distance, names}``, each of which may be missing; see
  :func:`collection.adjudication.filter_queue`.
- `closed`: of what was held, the pairs that want no adjudication any more. `progress` is ``{done, goal}`` in pairs of
  the filter. The whole log is read for both, so a request that brings decisions and wants no pairs gets an empty
  `closed` and no `progress`, unless it is `due`: the card asks how things stand, every two minutes.
- Pairs that another manager holds come last, for :data:`HELD_FOR` seconds, so that two who adjudicate at the same time
  see different ones. That is kept in memory only: what decides is what is written first.

``adjudicate/recent``  ``{limit}`` -> ``{decisions}``: the manager's last, newest first, with the document's ``title``.

``adjudicate/unit``  ``{pair}`` -> one unit, whatever became of it.
"""

import json
import time
from collections.abc import Hashable, Sequence
from functools import partial
from itertools import islice

import pandas as pd
from starlette.routing import Route

from annotate.auth.roles import MANAGERS
from annotate.judging import request_fields as fields
from annotate.judging.card import PairFilter
from annotate.judging.document_payload import PREFIX, document_payloads
from annotate.judging.request_fields import Guard, Handler, Payload, Row
from annotate.server.request_bodies import BadRequest
from collection.adjudication import filter_queue, list_opinions
from collection.campaign import Campaign

TASK = "adjudication"
MOST_UNITS = 36
"""Pairs that are handed out at once."""
MOST_HELD = 200
"""Pairs of one manager that the others get last; those at the end of what a card holds, it has skipped."""
MOST_RECENT = 100
HELD_FOR = 300.0
"""Seconds for which the others see what a manager holds last; a card in front renews it every two minutes."""
LONGEST_OPINION = 20_000
"""Characters of an opinion's note that travel; one that was imported may be longer than the card takes."""
MOST_GRADES = 1000
LONGEST_QUOTE = 300
MOST_QUOTES = 20

Pair = tuple[str, str]
Held = dict[Pair, tuple[str, float]]
"""Who holds a pair, and until when."""


class Queue:
    """The pairs to adjudicate and those that are ended, read from the log again only where that may have changed."""

    def __init__(self) -> None:
        self._version: Hashable = None
        self._pairs = pd.DataFrame()

    def read(self, campaign: Campaign) -> pd.DataFrame:
        """What :meth:`~collection.campaign.Campaign.to_adjudicate` says; callers do not change it."""
        version = campaign.adjudication.version()
        if version != self._version:
            self._pairs = campaign.adjudication.queue(ended=True)
            self._version = version
        return self._pairs


def routes(guarded: Guard) -> list[Route]:
    """The routes of this module; `guarded` makes an endpoint of a handler. They run in a thread of their own."""
    handlers: dict[str, Handler] = {"sync": partial(_sync, {}, Queue()), "recent": _recent, "unit": _unit}
    return [
        Route(f"{PREFIX}/adjudicate/{name}", guarded(handler, thread="adjudicating", roles=MANAGERS), methods=["POST"])
        for name, handler in handlers.items()
    ]


def _sync(held: Held, known: Queue, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take adjudications, then hand out what is wanted."""
    adjudications, refused = fields.decisions(fields.items(payload, "decisions"), partial(fields.judgement, annotator))
    # On disk before anything else of the request is read: nothing odd in it keeps a decision from being saved.
    result = campaign.adjudication.adjudicate(adjudications)
    want, holding = fields.whole(payload, "want", 0), fields.items(payload, "holding")
    pairs = [_pair(name) for name in holding]
    conditions = _filter(payload.get("filter") or {})
    answer: Payload = {
        "task": TASK,
        "saved": result.saved,
        "refused": [r._asdict() for r in refused + result.refused],
        "units": [],
        "closed": [],
        "exhausted": False,
    }
    if want <= 0 and (adjudications or refused) and payload.get("due") is not True:
        return answer
    queue = known.read(campaign)
    queue = queue[~queue["held_back"]]
    chosen = filter_queue(queue, **conditions)
    open_now = set(_pairs(queue[~queue["ended"]]))
    waiting = _pairs(chosen[~chosen["ended"]])
    mine = dict.fromkeys(pair for pair in pairs if pair in open_now)
    others = _held_by_others(held, annotator)
    fresh = [pair for pair in waiting if pair not in mine]
    fresh.sort(key=lambda pair: pair in others)
    handed = fresh[: min(max(want, 0), MOST_UNITS)]
    reserved = (*islice(mine, MOST_HELD), *handed)
    held |= dict.fromkeys(reserved, (annotator, time.monotonic() + HELD_FOR))
    return answer | {
        "units": _units(campaign, annotator, handed),
        "closed": [name for name, pair in zip(holding, pairs, strict=True) if pair not in open_now],
        "exhausted": len(handed) == len(fresh),
        "progress": {"done": int(chosen["ended"].sum()), "goal": len(chosen)},
    }


def _held_by_others(held: Held, annotator: str) -> set[Pair]:
    """Pairs that somebody else holds; what is over, and what this annotator held, is forgotten."""
    now = time.monotonic()
    for pair in [pair for pair, (who, until) in held.items() if who == annotator or until < now]:
        del held[pair]
    return set(held)


def _recent(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The manager's last adjudications, newest first."""
    limit = min(max(fields.whole(payload, "limit", 20), 1), MOST_RECENT)
    mine = campaign.judgement_log.adjudications(annotator).iloc[::-1].head(limit)
    titles = campaign.corpus.titles(set(mine["doc_id"]))
    return {"decisions": [_former(row) | {"title": titles[row["doc_id"]]} for row in mine.to_dict("records")]}


def _unit(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """One pair with what everybody said of it."""
    query_id, doc_id = _pair(payload.get("pair"))
    if not campaign.corpus.documents([doc_id]) or query_id not in campaign.corpus.topic_words([query_id]):
        raise BadRequest(f"document {doc_id!r} of topic {query_id!r} is not in the campaign")
    return _units(campaign, annotator, [(query_id, doc_id)])[0]


def _units(campaign: Campaign, annotator: str, pairs: Sequence[Pair]) -> list[Payload]:
    words = campaign.corpus.topic_words(sorted({query_id for query_id, _ in pairs}))
    documents = campaign.corpus.documents([doc_id for _, doc_id in pairs])
    units: list[Payload] = []
    for query_id, doc_id in pairs:
        said = campaign.judgement_log.judgements(query_id=query_id, doc_id=doc_id)
        mine = said[(said["counts_as"] == TASK) & (said["annotator"] == annotator)]
        opinions = list_opinions(said, query_id, doc_id).to_dict("records")
        text = campaign.document_view.shown(documents[doc_id]).text if any(row["passages"] for row in opinions) else ""
        units.append(
            {
                "topic": words[query_id],
                "documents": document_payloads(campaign, [documents[doc_id]], query_id),
                "opinions": [_opinion(row, text) for row in opinions],
                "former": next(map(_former, mine.to_dict("records")), None),
            }
        )
    return units


def _said(row: Row) -> Payload:
    """What a judgement of the log says."""
    return {
        "kind": row["kind"],
        "relevance": None if pd.isna(row["relevance"]) else int(row["relevance"]),
        "reason": _words(row["reason"]),
        "note": _words(row["note"]),
        "judged_at": row["judged_at"],
    }


def _opinion(row: Row, text: str) -> Payload:
    """What one annotator said, as the card shows it."""
    return _said(row) | {
        "annotator": row["annotator"],
        "flagged": bool(row["flagged"]),
        "passages": [list(passage) for passage in row["passages"]],
        "quotes": [text[start:end][:LONGEST_QUOTE] for start, end in row["passages"][:MOST_QUOTES]],
        "seconds": None if pd.isna(row["seconds"]) else round(float(row["seconds"]), 1),
    }


def _former(row: Row) -> Payload:
    """An adjudication of the log as the card wants it."""
    return _said(row) | {name: row[name] for name in ("uuid", "query_id", "doc_id")}


def _words(value: object) -> str | None:
    return value[:LONGEST_OPINION] if isinstance(value, str) else None


def _pairs(queue: pd.DataFrame) -> list[Pair]:
    return list(zip(queue["query_id"], queue["doc_id"], strict=True))


def _pair(name: object) -> Pair:
    """The topic and the document that a pair's name says."""
    try:
        parts = json.loads(fields.text({"pair": name}, "pair"))
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != 2:
        raise BadRequest("wanted a pair as the JSON text of [query_id, doc_id]")
    query_id, doc_id = parts
    return fields.text({"query_id": query_id}, "query_id"), fields.text({"doc_id": doc_id}, "doc_id")


def _filter(said: object) -> PairFilter:
    """The conditions of a filter, as :func:`collection.adjudication.filter_queue` takes them."""
    if not isinstance(said, dict):
        raise BadRequest("wanted filter as a JSON object")
    distance = said.get("distance")
    if distance is not None and distance not in range(MOST_GRADES):
        raise BadRequest("wanted distance as a whole number from 0")
    return {
        "why": fields.text(said, "why") if said.get("why") else None,
        "query_id": fields.text(said, "query_id") if said.get("query_id") else None,
        "distance": distance,
        "names": fields.texts(said, "names"),
    }
