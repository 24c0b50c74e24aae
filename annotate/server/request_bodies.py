"""Read the bodies of requests: a limited number of bytes, of the content type that the route expects."""

import asyncio
import json
from typing import NoReturn
from urllib.parse import parse_qs

from starlette.requests import Request

LONGEST_JSON = 8 * 2**20  # bytes; more than a card can keep in a browser's localStorage (5 million characters)
LONGEST_ON_THE_LOOP = 64 * 2**10  # bytes parsed on the event loop, in a few milliseconds; longer ones in a thread
JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"


class RequestError(Exception):
    """A request that a route refuses, with the HTTP status of the answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


async def read_json(request: Request, limit: int = LONGEST_JSON) -> dict[str, object]:
    """Read a JSON object of at most `limit` bytes with unique keys; raise :class:`RequestError` otherwise."""
    body = await _read(request, JSON_TYPE, limit)
    if len(body) <= LONGEST_ON_THE_LOOP:
        return _parse(body)
    return await asyncio.to_thread(_parse, body, _PythonDecoder)


async def read_form(request: Request, limit: int) -> dict[str, str]:
    """Read the fields of a form from the body of a request; raises as :func:`read_json` does."""
    body = await _read(request, FORM_TYPE, limit)
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=10, errors="replace")
    except ValueError as error:  # UnicodeDecodeError is one
        raise RequestError(f"expected a form with at most 10 fields, percent-encoded: {error}") from None
    return {name: values[-1] for name, values in fields.items()}


async def _read(request: Request, content_type: str, limit: int) -> bytes:
    header = request.headers.get("content-type", "")
    if header.partition(";")[0].strip().lower() != content_type:
        raise RequestError(f"expected the content type {content_type}, found {header[:100]!r}", 415)
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and (len(announced) > 15 or int(announced) > limit):
        raise _too_long(limit)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise _too_long(limit)
    return bytes(body)


def _too_long(limit: int) -> RequestError:
    return RequestError(f"expected a body of at most {limit:,} bytes, found more", 413)


class _Decoder(json.JSONDecoder):
    """Refuses repeated keys and constants such as NaN."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=_object, parse_constant=_constant)


class _PythonDecoder(_Decoder):
    """Lets other threads run meanwhile; the parser in C keeps the interpreter for seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def _parse(body: bytes, decoder: type[_Decoder] = _Decoder) -> dict[str, object]:
    try:
        parsed: object = json.loads(body.decode("utf-8"), cls=decoder)
    except UnicodeDecodeError as error:
        raise RequestError(f"expected JSON in UTF-8, found {body[error.start]:#04x} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise RequestError(
            f"expected JSON, found an error in line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except RecursionError:
        raise RequestError("expected JSON, found too deep nesting") from None
    except ValueError:  # Python refuses to read integers of more than 4,300 digits
        raise RequestError("expected JSON, found a number with too many digits") from None
    if not isinstance(parsed, dict):
        raise RequestError(f"expected a JSON object, found {type(parsed).__name__}")
    return parsed


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise RequestError(f"expected unique keys in a JSON object, found {name[:100]!r} twice")
        fields[name] = value
    return fields


def _constant(name: str) -> NoReturn:
    raise RequestError(f"expected JSON, found {name}, which is not a JSON number")
