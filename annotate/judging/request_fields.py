"""Read what cards send: the fields of JSON objects, each checked, and decisions as the campaign takes them."""

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol, TypedDict, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from annotate.auth.roles import JUDGES
from annotate.judging.card import LONGEST_NOTE
from annotate.server.request_bodies import BadRequest
from collection.campaign import Campaign
from collection.campaign.results import Refused
from collection.characters import require_writable, writable
from collection.records import KINDS, Judgement, Role

MOST_PASSAGES = 100
"""Passages that one judgement marks."""
LONGEST_TEXT = 1 << 40
"""Characters; no document has more."""
A_DAY = 24 * 3600

D = TypeVar("D")
Payload = dict[str, Any]
"""A JSON object, sent or to be sent."""
Row = dict[Hashable, Any]
"""A row of a frame."""
Handler = Callable[[Campaign, str, Payload], Payload]
"""Answers a request of an annotator in a campaign."""


class Guard(Protocol):
    """Makes the endpoint of a route of a handler: it runs in one of the service's threads, for people of some roles."""

    def __call__(
        self, handler: Handler, *, thread: str = "judging", roles: tuple[Role, ...] = JUDGES
    ) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint."""


class DecisionFields(TypedDict):
    """What every decision has, whatever it is on."""

    uuid: str
    annotator: str
    query_id: str
    reason: str | None
    shown_at: str | None
    seconds: float | None
    away: float | None
    source: str
    note: str | None


def text(fields: Mapping[str, object], name: str) -> str:
    """A text that is not empty and can be written."""
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"wanted {name} as a string")
    require_writable(value, name, BadRequest)
    return value


def items(fields: Mapping[str, object], name: str) -> list[object]:
    """A list, empty if it is missing."""
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise BadRequest(f"wanted {name} as a list")
    return value


def texts(fields: Mapping[str, object], name: str) -> list[str]:
    """A list of texts."""
    return [text({name: value}, name) for value in items(fields, name)]


def whole(fields: Mapping[str, object], name: str, default: int, least: int | None = None) -> int:
    """A whole number, or `default` if it is missing; with `least`, one that a database can hold too."""
    value = fields.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and not least <= value < 2**53):
        raise BadRequest(f"wanted {name} as a whole number{'' if least is None else f' from {least}'}")
    return value


def decisions(sent: Sequence[object], read: Callable[[Payload], D]) -> tuple[list[D], list[Refused]]:
    """What `read` makes of them, and what not: one odd decision must not keep those behind it from being saved."""
    readable: list[D] = []
    refused: list[Refused] = []
    for item in sent:
        fields = item if isinstance(item, dict) else {}
        uuid = text(fields, "uuid")
        try:
            readable.append(read(fields))
        except BadRequest as error:
            refused.append(Refused(uuid, str(error)))
    return readable, refused


def decision(annotator: str, sent: Payload) -> DecisionFields:
    """The fields of a decision; whose it is says the token, not the card."""
    return {
        "uuid": text(sent, "uuid"),
        "annotator": annotator,
        "query_id": text(sent, "query_id"),
        "reason": text(sent, "reason")[:1000] if sent.get("reason") else None,
        "shown_at": text(sent, "shown_at")[:40] if sent.get("shown_at") else None,
        "seconds": _seconds(sent.get("seconds")),
        "away": _seconds(sent.get("away")),
        "source": "click" if sent.get("source") == "click" else "key",
        "note": _note(sent.get("note")),
    }


def judgement(annotator: str, sent: Payload) -> Judgement:
    """A judgement as the card sends it."""
    if sent.get("kind") not in KINDS:
        raise BadRequest(f"wanted judgements whose kind is one of {', '.join(KINDS)}")
    relevance = sent.get("relevance")
    if relevance is not None and (not isinstance(relevance, int) or isinstance(relevance, bool)):
        raise BadRequest("wanted a whole number as relevance")
    return Judgement(
        **decision(annotator, sent),
        doc_id=text(sent, "doc_id"),
        kind=sent["kind"],
        relevance=relevance,
        flagged=sent.get("flagged") is True,
        passages=_passages(sent.get("passages")),
    )


def _seconds(value: object) -> float | None:
    """Seconds on screen; None where the browser's clock gave no sensible number: no judgement is lost for that."""
    return round(float(value), 3) if isinstance(value, int | float) and 0 <= value <= A_DAY else None


def _note(value: object) -> str | None:
    """A note as it can be kept: no judgement is lost for an odd one, nor for one that is too long."""
    if not isinstance(value, str) or not value.strip():
        return None
    return writable(value).strip()[:LONGEST_NOTE] or None


def _passages(value: object) -> tuple[tuple[int, int], ...]:
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
