"""Routes of the judging card that look back: judgements, near-duplicates, time, and how the card is arranged.

All of it is of the annotator who asks, and they run beside the judging, which never waits for them.

    history   {query_id?, grade?: number|"cannot judge"|"flagged", words?, before?, limit?} -> {entries: Entry[], more}
              an Entry is {id, query_id, topic, doc_id, title, kind, relevance, reason, note, flagged, passages,
              judged_at, former: {kind, relevance, judged_at}[]}; both newest first; `before` is the id of the last
              one that is there already
    near      {query_id, doc_ids} -> {near: {doc_id: {doc_id, title, similarity, said: ?{kind, relevance, reason}}[]},
              more}: near-duplicates among what the annotator has judged for the topic (`said`) and among those asked
              about; with `more` not all that was judged is compared yet, and to ask again some seconds later goes on
    time      {day?} -> {today: {judgements, seconds, away}, session: ?Session, sessions: Session[], since_break,
              per_topic: {query_id, title, judged, left, seconds}[], left, estimate: ?{low, mid, high}, why}
              a Session is {since, until, judgements, seconds, away}; `day` is when the annotator's day began, ISO 8601;
              `left` is null where no end is known; `why` is why there is no estimate, or on what it depends
    settings  {settings: object} -> {}
"""

from datetime import datetime

import pandas as pd
from starlette.routing import Route

from annotate.judging.document_payload import PREFIX
from annotate.judging.request_fields import Guard, Handler, Payload, text, texts, whole
from annotate.server.request_bodies import BadRequest
from collection.annotator_agreement import Session
from collection.campaign import Campaign

LONGEST_WORDS = 500
"""Characters of a search in one's judgements."""

MOST_ASKED = 50
"""Documents whose near-duplicates are asked for at once."""

USUAL = 50
"""Judgements in an answer, if the card does not say."""


def routes(guarded: Guard) -> list[Route]:
    """The routes; `guarded` makes an endpoint of a handler, for those who judge, in the thread beside."""
    handlers: dict[str, Handler] = {"history": _history, "near": _near, "time": _time, "settings": _settings}
    return [
        Route(f"{PREFIX}/{name}", guarded(handler, thread="aside"), methods=["POST"])
        for name, handler in handlers.items()
    ]


def _history(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The annotator's judgements, some at a time."""
    grade = payload.get("grade")
    if grade is not None and (isinstance(grade, bool) or not isinstance(grade, int | str)):
        raise BadRequest('wanted grade as a number, "cannot judge" or "flagged"')
    found = campaign.history.judgements(
        annotator,
        query_id=None if payload.get("query_id") is None else text(payload, "query_id"),
        grade=grade,
        words=text(payload, "words")[:LONGEST_WORDS] if payload.get("words") else "",
        before=None if payload.get("before") is None else whole(payload, "before", 0, least=1),
        limit=whole(payload, "limit", USUAL, least=1),
    )
    entries = [entry._asdict() | {"former": [f._asdict() for f in entry.former]} for entry in found.entries]
    return {"entries": entries, "more": found.more}


def _near(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Near-duplicates of some documents."""
    doc_ids = texts(payload, "doc_ids")
    if len(doc_ids) > MOST_ASKED:
        raise BadRequest(f"wanted {MOST_ASKED} doc_ids or fewer, found {len(doc_ids)}")
    found = campaign.near_duplicates.of_documents(text(payload, "query_id"), annotator, doc_ids)
    return {
        "near": {
            doc_id: [
                {
                    "doc_id": near.doc_id,
                    "title": near.title,
                    "similarity": round(near.similarity, 3),
                    "said": None if near.said is None else dict(zip(SAID, near.said, strict=True)),
                }
                for near in others
            ]
            for doc_id, others in found.near.items()
        },
        "more": found.more,
    }


SAID = ("kind", "relevance", "reason")


def _time(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """The annotator's time; seconds with one digit behind the point."""
    times = campaign.history.time(annotator, day=_day(payload.get("day")))
    return {
        "today": _rounded(times.today._asdict()),
        "session": None if times.session is None else _session(times.session),
        "sessions": [_session(session) for session in times.sessions],
        "since_break": round(times.since_break, 1),
        "per_topic": [_rounded(topic._asdict()) for topic in times.per_topic],
        "left": times.left,
        "estimate": None if times.estimate is None else _rounded(times.estimate._asdict()),
        "why": times.why,
    }


def _settings(campaign: Campaign, annotator: str, payload: Payload) -> Payload:
    """Keep how the annotator has arranged the card."""
    settings = payload.get("settings")
    if not isinstance(settings, dict):
        raise BadRequest("wanted settings as a JSON object")
    campaign.settings.keep_card_arrangement(annotator, settings)
    return {}


def _session(session: Session) -> Payload:
    spans = {"since": _iso(session.since), "until": _iso(session.until)}
    return _rounded(session._asdict()) | spans


def _rounded(values: Payload) -> Payload:
    return {name: round(value, 1) if isinstance(value, float) else value for name, value in values.items()}


def _iso(at: pd.Timestamp) -> str:
    return at.isoformat(timespec="milliseconds")


def _day(value: object) -> datetime | None:
    """When a day began, as the browser says; None where it says nothing, or nothing that is a time."""
    if value is None:
        return None
    try:
        day = datetime.fromisoformat(text({"day": value}, "day"))
    except (BadRequest, ValueError):
        raise BadRequest("wanted day as a time in ISO 8601") from None
    if day.tzinfo is None or not 2000 <= day.year <= 2200:  # what pandas can count
        raise BadRequest("wanted day as a time in ISO 8601, with its offset from UTC")
    return day
