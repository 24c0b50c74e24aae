"""The routes of the judging card: hand out pairs and take judgements, search, and say why a document came up."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from starlette.routing import Route

from annotate.elements.markdown import to_html
from annotate.judging import document_payload
from annotate.judging.document_payload import PREFIX
from annotate.judging.model_process import NotLearned, Trainer
from annotate.judging.request_fields import Payload, judgements_of, list_of, text_of
from annotate.server.request_bodies import BadRequest
from collection.campaign import Campaign
from collection.campaign.results import NextPairs
from collection.errors import BusyError
from collection.records import Document

RECENT = 20
"""Judgements that a fresh card is given to look back at and to undo."""
MOST_WANTED = 50
IN_LOOP = 16
"""Documents that a card holds in the loop: enough for fast keys and a short time offline, few to be replaced."""
FOUND = 30
"""Documents that a search shows."""


def routes(guarded: Callable[..., Callable[..., Any]], trainer: Trainer) -> list[Route]:
    """The routes, each guarded by a token; `trainer` learns behind them."""
    handlers = {
        "topics": guarded(_topics),
        "sync": guarded(partial(_sync, trainer)),
        "document": guarded(_document),
        "why": guarded(partial(_why, trainer), desk="aside"),
        "search": guarded(_search, desk="aside"),
        "take": guarded(_take),
        "guidelines": guarded(_guidelines),
    }
    return [Route(f"{PREFIX}/{name}", handler, methods=["POST"]) for name, handler in handlers.items()]


def _topics(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The annotator's topics with their words and how far each is for them, and the one of their newest judgement."""
    mine = set(campaign.progress.topics_for(annotator))
    topics = [topic for topic in campaign.corpus.topics().to_dict("records") if topic["query_id"] in mine]
    without_text = campaign.corpus.without_text()
    for topic in topics:
        done, goal = campaign.progress.standing(topic["query_id"], annotator)
        topic |= {"pool": goal, "judged": done, "without_text": without_text.get(topic["query_id"], 0)}
    work = campaign.judging.topic_with_work(annotator) if topics else None
    return {"topics": topics, "last": campaign.history.last_topic(annotator), "work": work}


def _sync(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Take judgements and skips, then hand out what is wanted, and say how far it is."""
    behind: list[str] = []
    try:
        with campaign.transaction():  # one wait for the disk, not two
            answer, pairs = _exchange(trainer, campaign, annotator, payload, behind)
    except BusyError:
        raise
    except Exception:
        # No judgement is lost because nothing could be handed out after it: now each is on disk by itself.
        behind.clear()
        answer, pairs = _exchange(trainer, campaign, annotator, payload, behind)
    for query_id in behind:  # what it learns from is on disk now
        trainer.request(query_id)
    # Long texts take their time: nobody else's save waits for it.
    if pairs is not None:
        answer["documents"] = document_payload.shown(campaign, pairs.documents, answer["query_id"])
        everybody = set(pairs.calibration)
        for document in answer["documents"]:
            if document["doc_id"] in everybody:
                document["calibration"] = True
    if "query_id" in answer and payload.get("recent"):
        answer["recent"] = _recent(campaign, annotator, answer["query_id"])
    return answer | {"progress": _progress(campaign, annotator, answer.get("query_id"))}


def _exchange(
    trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload, behind: list[str]
) -> tuple[Payload, NextPairs | None]:
    """Take first, then give: what was just judged is not open. `behind` gets the topic if its model wants to learn."""
    readable, refused = judgements_of(annotator, list_of(payload, "judgements"))
    result = campaign.judging.judge_many(readable, leased_only=True)
    for item in list_of(payload, "skips"):
        campaign.judging.skip(annotator, text_of(item, "query_id"), text_of(item, "doc_id"))
    answer: Payload = {
        "saved": result.saved,
        "refused": [r._asdict() for r in refused + result.refused],
        "documents": [],
        "closed": [],
        "surplus": list(result.surplus),
        "feedback": [
            {"title": (campaign.corpus.document(f.doc_id) or Document(f.doc_id)).title, **f._asdict()}
            for f in result.feedback
        ],
    }
    query_id = payload.get("query_id")
    if query_id is None:
        return answer, None
    want = payload.get("want", 0)
    if not isinstance(want, int):
        raise BadRequest("wanted want as a whole number")
    query_id = text_of(payload, "query_id")
    holding = [text_of({"holding": doc_id}, "holding") for doc_id in list_of(payload, "holding")]
    answer["query_id"] = query_id
    pairs = None
    # A save that wants nothing prolongs no lease either: that would be work for nothing.
    if want > 0 or not result.saved:
        made = trainer.latest(query_id)
        # Nobody waits for the model: what there is is handed out, and the card asks again while it is behind.
        count = min(max(want, 0), MOST_WANTED)
        # A card that knows of another one of its annotator leaves that one what it has.
        alone = payload.get("alone") is not False
        pairs = campaign.judging.next_pairs(
            annotator, query_id, count, holding, made=made, in_loop=IN_LOOP, wait=False, alone=alone
        )
        answer |= {"closed": pairs.closed, "first": pairs.first}
        if pairs.order is not None:
            current = campaign.settings.mode(query_id) == "closed" or (
                made is not None and campaign.active_learning.is_current(made)
            )
            problem = None if current else trainer.problem(query_id)
            # After a failure a new judgement is worth a new attempt; so is a card with nothing to go on with.
            if current and not pairs.order and made is not None and campaign.active_learning.is_short(made):
                current = False  # others hold all that the round has: a longer one is wanted
            if not current and (result.saved or problem is None or not pairs.order):
                behind.append(query_id)
            answer |= {"order": pairs.order, "model_round": pairs.model_round}
            answer |= {"behind": not current and problem is None, "problem": problem}
        in_hand = set(holding) - set(pairs.closed)
        if want > 0 and not (pairs.documents or in_hand or pairs.first or answer.get("behind")):
            tried = [text_of({"tried": topic}, "tried") for topic in list_of(payload, "tried")]
            answer["next"] = campaign.judging.topic_with_work(annotator, query_id, tried)
            answer["budget"] = campaign.budget.used_up(query_id)
    return answer, pairs


def _document(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document with the whole of its text; with ``said``, also what this annotator says of it."""
    document = campaign.corpus.document(text_of(payload, "doc_id"))
    if document is None:
        raise BadRequest("there is no such document")
    query_id = text_of(payload, "query_id") if payload.get("query_id") else None
    (whole,) = document_payload.shown(campaign, [document], query_id, cap=None)
    if payload.get("said"):
        words = campaign.judgement_log.judgements(annotator=annotator, query_id=text_of(payload, "query_id"))
        words = words[(words["doc_id"] == document.doc_id) & (words["counts_as"] == "judgement")]
        whole["said"] = next(map(_said, words.to_dict("records")), None)
    return whole


def _guidelines(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """What the manager has written for those who judge: guidelines as safe HTML, and notes by topic."""
    mine = set(campaign.progress.topics_for(annotator))
    notes = {query_id: note for query_id, note in campaign.settings.topic_notes().items() if query_id in mine}
    return {"html": to_html(campaign.settings.guidelines()), "notes": notes}


def _progress(campaign: Campaign, annotator: str, query_id: str | None) -> Payload:
    if query_id is None:
        counts = {"all": campaign.progress.totals(annotator)}
    else:
        counts = dict(zip(("topic", "all"), campaign.progress.of_annotator(query_id, annotator), strict=True))
    return {of: {"judged": judged, "pool": pool} for of, (judged, pool) in counts.items()}


def _why(trainer: Trainer, campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Why a document came up, as far as the manager lets annotators know."""
    query_id, doc_id = text_of(payload, "query_id"), text_of(payload, "doc_id")
    try:
        return campaign.explanations.why(query_id, doc_id, annotator, partial(trainer.reasons, query_id))._asdict()
    except NotLearned:
        problem = trainer.problem(query_id)
        trainer.request(query_id)
        sentence = "The model is being made." if problem is None else f"There is no model: {problem}"
        return {"sentence": sentence, "terms": [], "behind": problem is None}


def _search(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Documents with these words, and what this annotator said of them."""
    found = campaign.search.find(text_of(payload, "query_id"), annotator, text_of(payload, "words")[:500], FOUND + 1)
    return {"documents": [document._asdict() for document in found[:FOUND]], "more": len(found) > FOUND}


def _take(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """A document that the annotator found by searching, to be judged next."""
    query_id = text_of(payload, "query_id")
    return document_payload.shown(
        campaign, [campaign.search.take(annotator, query_id, text_of(payload, "doc_id"))], query_id
    )[0]


def _recent(campaign: Campaign, annotator: str, query_id: str) -> list[Payload]:
    """The annotator's last judgements of the topic, newest first."""
    rows = campaign.judgement_log.judgements(annotator=annotator, query_id=query_id, last=RECENT)[::-1]
    rows = rows[rows["counts_as"] == "judgement"]
    known = campaign.corpus.documents(rows["doc_id"].tolist())
    documents = document_payload.shown(campaign, [known[doc_id] for doc_id in rows["doc_id"]], query_id)
    said = [_said(row) for row in rows.to_dict("records")]
    return [{"query_id": query_id, **document, **words} for document, words in zip(documents, said, strict=True)]


def _said(row: dict[Hashable, Any]) -> Payload:
    """A judgement of the log as the card wants it."""
    return {
        "kind": row["kind"],
        "relevance": int(row["relevance"]) if row["kind"] == "graded" else None,
        "reason": row["reason"] if row["kind"] == "cannot judge" else None,
        "note": row["note"] if isinstance(row["note"], str) else None,
        "flagged": bool(row["flagged"]),
        "passages": [list(passage) for passage in row["passages"]],
    }
