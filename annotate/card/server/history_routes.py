"""Routes for the annotator's own judgements, near-duplicates, judging time and card settings.

They run in a thread of their own, so that judging never waits for them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from annotate.card.server import wire
from annotate.card.server.document_payload import FIELD_CAP
from annotate.card.server.handlers import Handler, PostRoute
from annotate.server.request_bodies import RequestError
from collection.campaign import Campaign
from collection.campaign.corpus.near_duplicates import Near
from collection.campaign.judging.history import History, Times
from collection.documents.rendering import cut

DEFAULT_LIMIT = 50  # judgements in an answer


def routes() -> list[PostRoute]:
    """Return the routes of this module."""
    handlers: dict[str, Handler] = {"history": _history, "near": _near, "time": _time, "settings": _settings}
    return [PostRoute(path, handler, thread="aside", own_topic=path == "near") for path, handler in handlers.items()]


def _history(campaign: Campaign, annotator: str, request: wire.HistoryRequest) -> wire.HistoryAnswer:
    found = campaign.history.judgements(
        annotator,
        query_id=request.get("query_id"),
        grade=request.get("grade"),
        words=request.get("words") or "",
        before=request.get("before"),
        limit=request.get("limit", DEFAULT_LIMIT),
    )
    return cast(wire.HistoryAnswer, _json(found))


def _near(campaign: Campaign, annotator: str, request: wire.NearRequest) -> wire.NearAnswer:
    found = campaign.near_duplicates.of_documents(request["query_id"], annotator, request["doc_ids"])
    near = {doc_id: [_near_duplicate(other) for other in others] for doc_id, others in found.near.items()}
    return {"near": near, "more": found.more}


def _near_duplicate(near: Near) -> wire.NearDuplicate:
    said: wire.SaidGrade | None = None
    if near.said is not None:
        kind, relevance, reason = near.said
        said = {"kind": kind, "relevance": relevance, "reason": reason}
    return {
        "doc_id": near.doc_id,
        "title": cut(near.title, FIELD_CAP),
        "similarity": round(near.similarity, 3),
        "said": said,
    }


def _time(campaign: Campaign, annotator: str, request: wire.TimeRequest) -> wire.TimeAnswer:
    return cast(wire.TimeAnswer, _json(campaign.history.time(annotator, day=_day(request.get("day")))))


def _settings(campaign: Campaign, annotator: str, request: wire.SettingsRequest) -> wire.SettingsAnswer:
    campaign.settings.keep_card_arrangement(annotator, request["settings"])
    return {}


def _json(record: History | Times) -> Mapping[str, object]:
    """A record as a JSON object, with seconds to one decimal and points in time in ISO 8601."""
    return {name: _json_value(value) for name, value in record._asdict().items()}


def _json_value(value: Any) -> object:
    if hasattr(value, "_asdict"):
        return _json(value)
    if isinstance(value, list | tuple):
        return list(map(_json_value, value))
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    return round(value, 1) if isinstance(value, float) else value


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
