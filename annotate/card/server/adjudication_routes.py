"""Routes of the Adjudicate page's card, for managers: hand out pairs on which annotators differ, take adjudications.

A unit is one pair, which `holding`, `closed` and `pair` name by the JSON text of ``[query_id, doc_id]``. `closed` and
`progress` need the whole log, so a request with decisions that wants no pairs gets neither, unless it is `due`. Pairs
that another manager holds come last for :data:`HELD_FOR` seconds, so that two managers see different ones; that is kept
in memory only: the adjudication that is saved first counts.
"""

import json
import time
from collections.abc import Hashable, Sequence
from functools import lru_cache, partial

import pandas as pd

from annotate.auth.roles import MANAGERS
from annotate.card.server import fields, wire
from annotate.card.server.document_payload import FIELD_CAP, document_payloads
from annotate.card.server.handlers import Handler, PostRoute, Row, logged_text, topic_words
from annotate.server.request_bodies import RequestError
from collection.adjudication import filter_queue, list_opinions
from collection.campaign import Campaign
from collection.core.records import Judgement
from collection.documents.rendering import cut

TASK = "adjudication"
MOST_UNITS = 36  # pairs handed out at once
MOST_RECENT = 100
HELD_FOR = 300.0  # seconds of a reservation; a visible card renews it every two minutes
LONGEST_OPINION = 20_000  # characters of an opinion's note that are sent; imported ones may be longer
LONGEST_QUOTE = 300
MOST_QUOTES = 20

Pair = tuple[str, str]
Held = dict[Pair, tuple[str, float]]  # the manager who holds a pair, and until when


def routes() -> list[PostRoute]:
    """Return the routes of this module, which share a reservation of pairs and a thread of their own."""
    handlers: dict[str, Handler] = {"sync": partial(_sync, {}), "recent": _recent, "unit": _unit}
    return [PostRoute(f"adjudicate/{name}", handler, "adjudicating", MANAGERS) for name, handler in handlers.items()]


def _sync(
    held: Held, campaign: Campaign, annotator: str, request: wire.AdjudicationSyncRequest
) -> wire.AdjudicationSyncAnswer:
    """Take adjudications, then hand out pairs."""
    adjudications, refused = fields.read_decisions(
        request.get("decisions", ()), wire.AdjudicationDecision, Judgement, annotator
    )
    # Saved before the names of pairs are read, so that no error in them loses a decision.
    result = campaign.adjudication.adjudicate(adjudications)
    want, holding = request.get("want", 0), request.get("holding", [])
    pairs = [_pair(name) for name in holding]
    answer: wire.AdjudicationSyncAnswer = {
        "task": "adjudication",
        "saved": result.saved,
        "refused": fields.refusals(refused + result.refused),
        "units": [],
        "closed": [],
        "exhausted": False,
    }
    if request.get("leave"):
        _release(held, annotator)
        return answer
    if want <= 0 and (adjudications or refused) and not request.get("due"):
        return answer
    queue = _queue(campaign, campaign.adjudication.cache_key())
    chosen = filter_queue(queue, **(request.get("filter") or {}))
    open_now = set(_pairs(queue[~queue["ended"]]))
    waiting = _pairs(chosen[~chosen["ended"]])
    mine = dict.fromkeys(pair for pair in pairs if pair in open_now)
    _release(held, annotator)
    fresh = [pair for pair in waiting if pair not in mine]
    fresh.sort(key=lambda pair: pair in held)
    handed = fresh[: min(max(want, 0), MOST_UNITS)]
    reserved = (*mine, *handed)
    held |= dict.fromkeys(reserved, (annotator, time.monotonic() + HELD_FOR))
    answer["units"] = _units(campaign, annotator, handed)
    answer["closed"] = [name for name, pair in zip(holding, pairs, strict=True) if pair not in open_now]
    answer["exhausted"] = len(handed) == len(fresh)
    answer["progress"] = {"done": int(chosen["ended"].sum()), "goal": len(chosen)}
    return answer


@lru_cache(maxsize=1)
def _queue(campaign: Campaign, _version: Hashable) -> pd.DataFrame:
    """The pairs that are not held back, kept until the log changes; callers must not change the frame."""
    queue = campaign.adjudication.queue(ended=True)
    return queue[~queue["held_back"]]


def _release(held: Held, annotator: str) -> None:
    """End this annotator's reservations; those of others that are over are forgotten."""
    now = time.monotonic()
    for pair in [pair for pair, (who, until) in held.items() if who == annotator or until < now]:
        del held[pair]


def _recent(
    campaign: Campaign, annotator: str, request: wire.AdjudicationRecentRequest
) -> wire.AdjudicationRecentAnswer:
    limit = min(max(request.get("limit", 20), 1), MOST_RECENT)
    mine = campaign.judgement_log.adjudications(annotator).iloc[::-1].head(limit)
    titles = {d: cut(title, FIELD_CAP) for d, title in campaign.corpus.titles(set(mine["doc_id"])).items()}
    return {"decisions": [{**_former(row), "title": titles[row["doc_id"]]} for row in mine.to_dict("records")]}


def _unit(campaign: Campaign, annotator: str, request: wire.AdjudicationUnitRequest) -> wire.AdjudicationUnit:
    query_id, doc_id = _pair(request["pair"])
    if not campaign.corpus.documents([doc_id]) or query_id not in campaign.corpus.topic_words([query_id]):
        raise RequestError(f"document {doc_id!r} of topic {query_id!r} is not in the campaign")
    return _units(campaign, annotator, [(query_id, doc_id)])[0]


def _units(campaign: Campaign, annotator: str, pairs: Sequence[Pair]) -> list[wire.AdjudicationUnit]:
    topics = campaign.corpus.topic_words(sorted({query_id for query_id, _ in pairs}))
    documents = campaign.corpus.documents([doc_id for _, doc_id in pairs])
    units: list[wire.AdjudicationUnit] = []
    for query_id, doc_id in pairs:
        log = campaign.judgement_log.judgements(query_id=query_id, doc_id=doc_id)
        mine = log[(log["counts_as"] == TASK) & (log["annotator"] == annotator)]
        opinions = list_opinions(log, query_id, doc_id).to_dict("records")
        text = campaign.document_view.shown(documents[doc_id]).text if any(row["passages"] for row in opinions) else ""
        units.append(
            {
                "topic": topic_words(topics[query_id]),
                "documents": document_payloads(campaign, [documents[doc_id]], query_id),
                "opinions": [_opinion(row, text) for row in opinions],
                "former": next(map(_former, mine.to_dict("records")), None),
            }
        )
    return units


def _opinion(row: Row, text: str) -> wire.Opinion:
    """One annotator's judgement; `text` is the document's."""
    return {
        "annotator": row["annotator"],
        "kind": row["kind"],
        "relevance": None if pd.isna(row["relevance"]) else int(row["relevance"]),
        "reason": logged_text(row, "reason", LONGEST_OPINION),
        "note": logged_text(row, "note", LONGEST_OPINION),
        "flagged": bool(row["flagged"]),
        "passages": list(row["passages"]),
        "quotes": [text[start:end][:LONGEST_QUOTE] for start, end in row["passages"][:MOST_QUOTES]],
        "seconds": None if pd.isna(row["seconds"]) else round(float(row["seconds"]), 1),
        "judged_at": logged_text(row, "judged_at"),
    }


def _former(row: Row) -> wire.PastAdjudication:
    return {
        "uuid": row["uuid"],
        "query_id": row["query_id"],
        "doc_id": row["doc_id"],
        "kind": row["kind"],
        "relevance": None if pd.isna(row["relevance"]) else int(row["relevance"]),
        "reason": logged_text(row, "reason", LONGEST_OPINION),
        "note": logged_text(row, "note", LONGEST_OPINION),
        "judged_at": logged_text(row, "judged_at"),
    }


def _pairs(queue: pd.DataFrame) -> list[Pair]:
    return list(zip(queue["query_id"], queue["doc_id"], strict=True))


def _pair(name: str) -> Pair:
    try:
        parts = json.loads(name)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != 2:
        raise RequestError("expected a pair as the JSON text of [query_id, doc_id]")
    pair = fields.check(wire.Pair, dict(zip(("query_id", "doc_id"), parts, strict=True)))
    return pair["query_id"], pair["doc_id"]
