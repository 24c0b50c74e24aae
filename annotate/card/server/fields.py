"""Check what cards send by its types in :mod:`.wire`, and read decisions as the campaign takes them."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from annotate.card.server import wire
from annotate.server.request_bodies import RequestError
from collection.campaign.log.results import RefusedDecision
from collection.core.characters import require_writable

LONGEST_UUID = 100

D = TypeVar("D")
M = TypeVar("M")
Marks = tuple[object, ...]
Check = Callable[[object], Any]  # the checked value; raises RequestError


def check(kind: Any, value: object) -> Any:
    """Return a value of a request if it has the type `kind`, with cut texts; raise :class:`RequestError` otherwise.

    Fields that `kind` does not have are left out. A missing field that may be null is null.
    """
    return _checker(kind, "request")(value)


@cache
def _checker(kind: Any, name: str, marks: Marks = ()) -> Check:
    """Return the check of values of a type: made once, since every save needs it.

    Parameters
    ----------
    name
        The field of the value, for the error.
    marks
        What :data:`typing.Annotated` adds to `kind`. A union hands it on to its types; of a list, it is about the list.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Annotated, NotRequired):
        return _checker(arguments[0], name, arguments[1:])
    if lenient := _mark(wire.Lenient, marks):
        return lenient.read
    check_value: Check
    if origin in (Union, UnionType):
        kinds = [_checker(each, name, marks) for each in arguments if each is not NoneType]
        check_value = partial(_check_union, kinds, NoneType in arguments)
    elif is_typeddict(kind):
        check_value = partial(_check_record, kind, name)
    elif origin is Literal:
        check_value = partial(_check_literal, arguments, name)
    elif origin is list:
        check_value = partial(_check_list, _checker(arguments[0], name), name, marks)
    elif origin is dict:
        check_value = partial(_check_values, _checker(arguments[1], name), name, marks)
    else:
        check_value = partial(CHECKS[origin or kind], name, marks)
    return check_value


def _check_union(checks: Iterable[Check], may_be_null: bool, value: object) -> Any:
    """Check a value of one of several types; an empty text is null where that is allowed."""
    if may_be_null and value in (None, ""):
        return None
    errors = []
    for check_type in checks:
        try:
            return check_type(value)
        except RequestError as error:
            errors.append(error)
    raise errors[0]


@cache
def _fields(kind: Any) -> list[tuple[str, bool, Check]]:
    """Return the name of each field of a record, whether it is required, and its check."""
    hints = get_type_hints(kind, include_extras=True)
    return [(field, field in kind.__required_keys__, _checker(hint, field)) for field, hint in hints.items()]


def _check_record(kind: Any, name: str, value: object) -> dict[str, Any]:
    sent = _check_object(name, (), value)
    return {
        field: check_field(sent.get(field))
        for field, required, check_field in _fields(kind)
        if required or field in sent
    }


def _check_literal(values: tuple[str, ...], name: str, value: object) -> object:
    if value not in values:
        raise RequestError(f"expected {name} as one of {', '.join(values)}")
    return value


def _check_object(name: str, _: Marks, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise RequestError(f"expected {name} as a JSON object")
    return value


def _check_list(check_item: Check, name: str, marks: Marks, value: object) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(f"expected {name} as a list")
    most = _mark(wire.Most, marks)
    if most and len(value) > most.items:
        raise RequestError(f"expected at most {most.items:,} {most.noun or name}, found {len(value):,}")
    return [check_item(item) for item in value]


def _check_values(check_item: Check, name: str, marks: Marks, value: object) -> dict[str, Any]:
    """Check an object of values of one type, with any names that can be stored."""
    form = _mark(wire.Form, marks)
    try:
        return {_check_text(name, (), key): check_item(item) for key, item in _check_object(name, (), value).items()}
    except RequestError as error:
        raise RequestError(f"expected {name} as {form.words}") if form else error from None


def _check_text(name: str, marks: Marks, value: object) -> str:
    """Check a text that is not empty and can be stored."""
    if not isinstance(value, str) or not value:
        form = _mark(wire.Form, marks)
        raise RequestError(f"expected {name} as {form.words if form else 'a string'}")
    require_writable(value, name, RequestError)
    longest = _mark(wire.Longest, marks)
    return value[: longest.characters] if longest else value


def _check_integer(name: str, marks: Marks, value: object) -> int:
    whole = _mark(wire.Whole, marks)
    if type(value) is not int or (whole and not whole.least <= value <= whole.most):
        raise RequestError(f"expected {name} as a whole number{f' from {whole.least}' if whole else ''}")
    return value


def _check_truth(name: str, _: Marks, value: object) -> bool:
    if not isinstance(value, bool):
        raise RequestError(f"expected {name} as true or false")
    return value


CHECKS: Mapping[Any, Callable[..., Any]] = {
    str: _check_text, int: _check_integer, bool: _check_truth, Mapping: _check_object,
}  # fmt: skip


def _mark(kind: type[M], marks: Marks) -> M | None:
    return next((mark for mark in marks if isinstance(mark, kind)), None)


def read_decisions(
    sent: Iterable[object], kind: Any, record: Callable[..., D], annotator: str
) -> tuple[list[D], list[RefusedDecision]]:
    """Read decisions as records, and refuse those that are not of their `kind`, so that the others are saved.

    A record has the fields of its kind and the annotator, who comes from the token and not from the card.
    """
    readable: list[D] = []
    refused: list[RefusedDecision] = []
    for item in sent:
        uuid = _check_text("uuid", (), item.get("uuid") if isinstance(item, dict) else None)
        if len(uuid) > LONGEST_UUID:
            raise RequestError(f"expected a uuid of at most {LONGEST_UUID} characters, found {len(uuid):,}")
        try:
            fields = check(kind, item)
        except RequestError as error:
            refused.append(RefusedDecision(uuid, str(error)))
            continue
        readable.append(record(annotator=annotator, **{name: _with_tuples(value) for name, value in fields.items()}))
    return readable, refused


def _with_tuples(value: object) -> Any:
    """Return a value with tuples in place of lists, as records have them."""
    if isinstance(value, dict):
        return {name: _with_tuples(each) for name, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def refusals(refused: Iterable[RefusedDecision]) -> list[wire.Refused]:
    """Return refused decisions as an answer has them."""
    return [{"uuid": each.uuid, "reason": each.reason} for each in refused]
