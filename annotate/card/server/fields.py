"""Read and check what cards send: the fields of JSON objects, and decisions as the campaign takes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, NotRequired, TypedDict, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

from annotate.card.server import wire
from annotate.card.server.card import LONGEST_NOTE
from annotate.card.server.wire import Payload
from annotate.server.request_bodies import RequestError
from collection.campaign.log.results import Refused
from collection.core.characters import require_writable, writable
from collection.core.records import KINDS, Judgement

MOST_PASSAGES = 100  # marked passages of one judgement
LONGEST_TEXT = 1 << 40  # characters; no document has more
LONGEST_UUID = 100
DAY = 24 * 3600

D = TypeVar("D")
K = TypeVar("K", bound=str)


class DecisionFields(TypedDict):
    """The fields of every decision."""

    uuid: str
    annotator: str
    query_id: str
    reason: str | None
    shown_at: str | None
    seconds: float | None
    away: float | None
    source: str
    note: str | None


def read_text(fields: Mapping[str, object], name: str) -> str:
    """Read a text that is not empty and can be stored."""
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise RequestError(f"expected {name} as a string")
    require_writable(value, name, RequestError)
    return value


def read_optional_text(fields: Mapping[str, object], name: str, longest: int | None = None) -> str | None:
    """Read a text, cut after `longest` characters; None if it is missing or empty."""
    return read_text(fields, name)[:longest] if fields.get(name) else None


def read_list(fields: Mapping[str, object], name: str) -> list[object]:
    """Read a list, empty if it is missing."""
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise RequestError(f"expected {name} as a list")
    return value


def read_texts(fields: Mapping[str, object], name: str) -> list[str]:
    """Read a list of texts."""
    return [read_text({name: value}, name) for value in read_list(fields, name)]


@cache
def list_bounds(request: type) -> Mapping[str, int]:
    """Return the most items of each bounded list in a request of :data:`.wire.ROUTES`; inner fields as ``outer.name``.

    Not of lists within decisions: one that is too long does not keep the others from being saved.
    """
    bounds: dict[str, int] = {}
    for name, hint in get_type_hints(request, include_extras=True).items():
        kind = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        if get_origin(kind) is Annotated:
            bounds[name] = next(each.items for each in kind.__metadata__ if isinstance(each, wire.Most))
        for inner in (kind, *get_args(kind)):
            if is_typeddict(inner):
                bounds |= {f"{name}.{field}": most for field, most in list_bounds(inner).items()}
    return bounds


def require_bounds(request: type, payload: Payload) -> None:
    """Refuse a request with a list that is too long."""
    for name, most in list_bounds(request).items():
        outer, _, inner = name.rpartition(".")
        holder = payload.get(outer) if outer else payload
        value = holder.get(inner) if isinstance(holder, Mapping) else None
        if isinstance(value, list) and len(value) > most:
            raise RequestError(f"expected at most {most:,} {name}, found {len(value):,}")


def read_pair(sent: object) -> tuple[str, str]:
    """Read the topic and the document of an object."""
    pair = sent if isinstance(sent, dict) else {}
    return read_text(pair, "query_id"), read_text(pair, "doc_id")


def read_integer(fields: Mapping[str, object], name: str, default: int, least: int | None = None) -> int:
    """Read an integer, `default` if it is missing; with `least`, one between that and what the database can store."""
    value = fields.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and not least <= value < 2**53):
        raise RequestError(f"expected {name} as a whole number{'' if least is None else f' from {least}'}")
    return value


def read_kind(sent: Payload, kinds: Sequence[K]) -> K:
    """Read the kind of a decision."""
    for kind in kinds:
        if sent.get("kind") == kind:
            return kind
    raise RequestError(f"expected kind as one of {', '.join(kinds)}")


def read_decisions(payload: Payload, name: str, read: Callable[[Payload], D]) -> tuple[list[D], list[Refused]]:
    """Read decisions, and refuse those that cannot be read, so that the others are saved."""
    readable: list[D] = []
    refused: list[Refused] = []
    for item in read_list(payload, name):
        fields = item if isinstance(item, dict) else {}
        uuid = read_text(fields, "uuid")
        if len(uuid) > LONGEST_UUID:
            raise RequestError(f"expected a uuid of at most {LONGEST_UUID} characters, found {len(uuid):,}")
        try:
            readable.append(read(fields))
        except RequestError as error:
            refused.append(Refused(uuid, str(error)))
    return readable, refused


def refusals(refused: Iterable[Refused]) -> list[wire.Refused]:
    """Return refused decisions as an answer has them."""
    return [{"uuid": each.uuid, "reason": each.reason} for each in refused]


def read_decision(annotator: str, sent: Payload) -> DecisionFields:
    """Read the fields of a decision; `annotator` comes from the token, not from the card."""
    return {
        "uuid": read_text(sent, "uuid"),
        "annotator": annotator,
        "query_id": read_text(sent, "query_id"),
        "reason": read_optional_text(sent, "reason", 1000),
        "shown_at": read_optional_text(sent, "shown_at", 40),
        "seconds": _seconds(sent.get("seconds")),
        "away": _seconds(sent.get("away")),
        "source": "click" if sent.get("source") == "click" else "key",
        "note": _note(sent.get("note")),
    }


def read_judgement(annotator: str, sent: Payload) -> Judgement:
    """Read a judgement."""
    kind = read_kind(sent, KINDS)
    relevance = sent.get("relevance")
    if relevance is not None and (not isinstance(relevance, int) or isinstance(relevance, bool)):
        raise RequestError("expected relevance as a whole number")
    return Judgement(
        **read_decision(annotator, sent),
        doc_id=read_text(sent, "doc_id"),
        kind=kind,
        relevance=relevance,
        flagged=sent.get("flagged") is True,
        passages=_passages(sent.get("passages")),
    )


def _seconds(value: object) -> float | None:
    """Seconds on screen, None for a senseless number from the browser's clock: no judgement is lost for that."""
    return round(float(value), 3) if isinstance(value, int | float) and 0 <= value <= DAY else None


def _note(value: object) -> str | None:
    """A note as it can be stored: no judgement is lost for a malformed or overlong one."""
    if not isinstance(value, str) or not value.strip():
        return None
    return writable(value).strip()[:LONGEST_NOTE] or None


def _passages(value: object) -> tuple[tuple[int, int], ...]:
    """Marked passages, merged and in order; malformed ones are dropped, so that no judgement is lost for them."""
    if not isinstance(value, list):
        return ()
    pairs = [tuple(pair) for pair in value[: 10 * MOST_PASSAGES] if isinstance(pair, list) and len(pair) == 2]
    valid = [p for p in pairs if all(type(n) is int for n in p) and 0 <= p[0] < p[1] <= LONGEST_TEXT]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(valid)[:MOST_PASSAGES]:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
