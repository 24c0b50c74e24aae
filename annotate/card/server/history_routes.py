"""Routes for the annotator's own judgements, near-duplicates, judging time and card settings.

They run in a thread of their own, so that judging never waits for them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from annotate.card.server import history_wire, wire
from annotate.card.server.document_payload import FIELD_CAP
from annotate.card.server.handlers import Handler, PostRoute
from annotate.server.request_bodies import RequestError
from collection.campaign import Campaign
from collection.campaign.corpus.near_duplicates import Near
from collection.campaign.judging.history import History, Sum, Times, TopicTime
from collection.core.phrases import brief_duration, count, duration, duration_range, sentence
from collection.documents.rendering import cut

DEFAULT_LIMIT = 50  # judgements in an answer
MOST_TOPICS = 20  # topics with the time that they took


def routes() -> list[PostRoute]:
    """Return the routes of this module."""
    handlers: dict[str, Handler] = {"history": _history, "near": _near, "time": _time, "settings": _settings}
    return [PostRoute(path, handler, thread="aside", own_topic=path == "near") for path, handler in handlers.items()]


def _history(campaign: Campaign, annotator: str, request: history_wire.HistoryRequest) -> history_wire.HistoryAnswer:
    history = campaign.judging.history.judgements(
        annotator,
        query_id=request.get("query_id"),
        grade=request.get("grade"),
        words=request.get("words") or "",
        before=request.get("before"),
        limit=request.get("limit", DEFAULT_LIMIT),
    )
    return cast(history_wire.HistoryAnswer, _json(history))


def _near(campaign: Campaign, annotator: str, request: history_wire.NearRequest) -> history_wire.NearAnswer:
    nearby = campaign.corpus.near_duplicates.for_documents(request["query_id"], annotator, request["doc_ids"])
    near = {doc_id: [_near_duplicate(other) for other in others] for doc_id, others in nearby.near.items()}
    return {"near": near, "more": nearby.more}


def _near_duplicate(near: Near) -> history_wire.NearDuplicate:
    said: wire.SaidGrade | None = None
    if near.judgement is not None:
        kind, relevance, reason = near.judgement
        said = {"kind": kind, "relevance": relevance, "reason": reason}
    return {
        "doc_id": near.doc_id,
        "title": cut(near.title, FIELD_CAP),
        "similarity": round(near.similarity, 3),
        "said": said,
    }


def _time(campaign: Campaign, annotator: str, request: history_wire.TimeRequest) -> history_wire.TimeAnswer:
    return time_answer(campaign.judging.history.time(annotator, day=_day(request.get("day"))))


def time_answer(times: Times) -> history_wire.TimeAnswer:
    """Say how long an annotator has worked, and what is left; topics that are begun come first, done ones last."""
    session = times.session
    topics = sorted(times.per_topic, key=lambda topic: 2 if topic.left == 0 else 0 if topic.judged else 1)
    pace = duration(session.seconds / session.judgements) if session and session.judgements else None
    work = Sum(session.judgements, session.seconds, session.away) if session else Sum(0, 0.0, 0.0)
    return {
        "session": _work(work),
        "today": _work(times.today),
        "since": None if session is None else session.since.isoformat(timespec="milliseconds"),
        "pace": "–" if pace is None else f"{pace} per document",
        "since_break": round(times.since_break, 1),
        "topics": list(map(_topic_time, topics[:MOST_TOPICS])),
        "others": max(0, len(topics) - MOST_TOPICS),
        "left": _left(times),
    }


def _work(work: Sum) -> history_wire.Work:
    return {
        "judgements": work.judgements,
        "active": brief_duration(work.seconds),
        "away": brief_duration(work.away),
    }


def _topic_time(topic: TopicTime) -> history_wire.TopicTime:
    left = "" if topic.left is None else f", {topic.left:,} left"
    each = "" if topic.seconds is None or topic.seconds < 1 else f", {duration(topic.seconds)} each"
    return {"query_id": topic.query_id, "title": topic.title, "words": f"{topic.judged:,} judged{left}{each}"}


def _left(times: Times) -> str:
    if times.left is None:
        return sentence(times.why or "the number of documents left is unknown")
    if not times.left:
        return "Nothing is left for you right now."
    documents, why = f"{count(times.left, 'document')} left", times.why
    if times.estimate is None:
        return f"{documents}. {sentence(why)}" if why else f"{documents}."
    time = duration_range(_roughly(times.estimate.low), _roughly(times.estimate.high))
    return f"{documents}, about {time} at your recent pace{f', {why}' if why else ''}."


def _roughly(seconds: float) -> float:
    """An estimate to 5 minutes from half an hour on, to half an hour from 5 hours on.

    >>> [_roughly(seconds) for seconds in (3, 100, 700, 2000, 20_000)]
    [60, 120, 720, 2100, 19800]
    """
    step = 60 if seconds < 600 else 120 if seconds < 1800 else 300 if seconds < 18_000 else 1800
    return max(60, round(seconds / step) * step)


def _settings(campaign: Campaign, annotator: str, request: history_wire.SettingsRequest) -> history_wire.SettingsAnswer:
    campaign.settings.keep_card_arrangement(annotator, request["settings"])
    return {}


def _json(record: History) -> Mapping[str, object]:
    """A record as a JSON object, without empty answers to further questions."""
    fields = {name: value for name, value in record._asdict().items() if value or name != "answers"}
    return {name: _json_value(value) for name, value in fields.items()}


def _json_value(value: Any) -> object:
    if hasattr(value, "_asdict"):
        return _json(value)
    if isinstance(value, list | tuple):
        return list(map(_json_value, value))
    return value


def _day(value: str | None) -> datetime | None:
    """Read the start of a day; None if it is missing."""
    if value is None:
        return None
    try:
        day = datetime.fromisoformat(value)
    except ValueError:
        raise RequestError("expected day as a time in ISO 8601") from None
    if day.tzinfo is None or not 2000 <= day.year <= 2200:  # what pandas can count
        raise RequestError("expected day as a time in ISO 8601, with its offset from UTC")
    return day
