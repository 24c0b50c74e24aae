"""Fields of requests to the judging routes: what is read from their JSON, and what is refused."""

from __future__ import annotations

from typing import Any

from annotate.server.request_bodies import BadRequest
from collection.campaign.results import Refused
from collection.characters import require_writable, writable
from collection.records import KINDS, Judgement

LONGEST_NOTE = 2000
"""Characters of a note with a judgement; the card's field takes no more."""
MOST_PASSAGES = 100
"""Passages that one judgement marks."""
LONGEST_TEXT = 1 << 40
"""Characters; no document has more."""
A_DAY = 24 * 3600

Payload = dict[str, Any]


def judgements_of(annotator: str, items: list[Any]) -> tuple[list[Judgement], list[Refused]]:
    """What can be read, and what not: one odd judgement must not keep those behind it from being saved."""
    readable: list[Judgement] = []
    refused: list[Refused] = []
    for item in items:
        uuid = text_of(item, "uuid")
        try:
            readable.append(_judgement(annotator, item))
        except BadRequest as error:
            refused.append(Refused(uuid, str(error)))
    return readable, refused


def _judgement(annotator: str, item: Any) -> Judgement:
    """A judgement as the card sends it; whose it is says the token, not the card."""
    if item.get("kind") not in KINDS:
        raise BadRequest(f"wanted judgements whose kind is one of {', '.join(KINDS)}")
    relevance = item.get("relevance")
    if relevance is not None and (not isinstance(relevance, int) or isinstance(relevance, bool)):
        raise BadRequest("wanted a whole number as relevance")
    return Judgement(
        uuid=text_of(item, "uuid"),
        annotator=annotator,
        query_id=text_of(item, "query_id"),
        doc_id=text_of(item, "doc_id"),
        kind=item["kind"],
        relevance=relevance,
        reason=text_of(item, "reason")[:1000] if item.get("reason") else None,
        shown_at=text_of(item, "shown_at")[:40] if item.get("shown_at") else None,
        seconds=seconds_of(item.get("seconds")),
        source="click" if item.get("source") == "click" else "key",
        note=note_of(item.get("note")),
        away=seconds_of(item.get("away")),
        flagged=item.get("flagged") is True,
        passages=_passages(item.get("passages")),
    )


def text_of(item: Any, name: str) -> str:
    """A text that is not empty and can be written as UTF-8."""
    value = item.get(name) if isinstance(item, dict) else None
    if not isinstance(value, str) or not value:
        raise BadRequest(f"wanted {name} as a string")
    require_writable(value, name, BadRequest)
    return value


def seconds_of(value: Any) -> float | None:
    """Seconds on screen; None where the browser's clock gave no sensible number: no judgement is lost for that."""
    sensible = isinstance(value, int | float) and 0 <= value <= A_DAY
    return round(float(value), 3) if sensible else None


def note_of(value: Any) -> str | None:
    """A note as it can be kept: no judgement is lost for an odd one, nor for one that is too long."""
    if not isinstance(value, str) or not value.strip():
        return None
    return writable(value).strip()[:LONGEST_NOTE] or None


def _passages(value: Any) -> tuple[tuple[int, int], ...]:
    """Marked passages as they can be kept, in their order and apart; no judgement is lost for odd ones."""
    if not isinstance(value, list):
        return ()
    pairs = [tuple(pair) for pair in value if isinstance(pair, list) and len(pair) == 2]
    sensible = [p for p in pairs if all(type(n) is int for n in p) and 0 <= p[0] < p[1] <= LONGEST_TEXT]
    apart: list[tuple[int, int]] = []
    for start, end in sorted(sensible)[:MOST_PASSAGES]:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return tuple(apart)


def list_of(payload: Payload, name: str) -> list[Any]:
    """A list; an empty one where the request has none."""
    value = payload.get(name, [])
    if not isinstance(value, list):
        raise BadRequest(f"wanted {name} as a list")
    return value
