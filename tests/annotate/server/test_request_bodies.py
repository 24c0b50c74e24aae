"""Bodies of requests: what is read, and what is refused with which status."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from annotate.auth.tokens import TOKEN_HEADER, cookie_name
from annotate.card.server.document_payload import PREFIX
from annotate.card.server.routes import JudgingService
from annotate.server import request_bodies
from annotate.server.request_bodies import LONGEST_JSON, RequestError, read_form, read_json
from collection import Campaign
from collection.core.answer_tasks import SUPPORT
from tests.conftest import judging_token, signed_in
from tests.helpers import AS_JSON, awaited

FORM = "application/x-www-form-urlencoded"


def request(*parts: bytes, **headers: str) -> Request:
    """A request whose body arrives in these parts; `read` counts them."""
    waiting = list(parts)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    made = Request({"type": "http", "method": "POST", "headers": raw}, receive)
    made.scope["waiting"] = waiting
    return made


def read(*parts: bytes, **headers: str) -> dict[str, Any]:
    return awaited(read_json(request(*parts, **{"content_type": "application/json"} | headers)))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "line 1, column 1"),
        (b'{\n"a": }', "line 2, column 6"),
        (b"[1]", "a JSON object, found list"),
        (b'"text"', "a JSON object, found str"),
        (b"\xff\xfe{\x00}\x00", "UTF-8, found 0xff at byte 0"),
        (b'{"a": "\xe9"}', "UTF-8, found 0xe9 at byte 7"),
        (b"[" * 100_000, "nesting"),
        (b'{"a":' * 100_000, "nesting"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too many digits"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": [-Infinity]}', "-Infinity"),
        (b'{"a": 1, "a": 2}', "'a' twice"),
        (b'{"b": {"\\ud800": 1, "\\ud800": 2}}', r"'\\ud800' twice"),
    ],
)
def test_what_is_no_json_object_is_refused_and_located(body: bytes, words: str) -> None:
    with pytest.raises(RequestError, match=words) as caught:
        read(body)
    assert caught.value.status == 400


def test_a_long_body_is_not_read_to_its_end() -> None:
    long = request(*[b" " * 2**20] * 100, content_type="application/json")
    with pytest.raises(RequestError, match="8,388,608 bytes") as caught:
        awaited(read_json(long))
    assert caught.value.status == 413
    assert len(long.scope["waiting"]) == 100 - LONGEST_JSON // 2**20 - 1
    for announced in (str(LONGEST_JSON + 1), "9" * 5000):
        unread = request(b"{}", content_type="application/json", content_length=announced)
        with pytest.raises(RequestError, match="bytes"):
            awaited(read_json(unread))
        assert len(unread.scope["waiting"]) == 1


@pytest.mark.parametrize("found", ["text/plain", "", FORM, "application/jsonp", "multipart/form-data; boundary=x"])
def test_another_content_type_is_refused(found: str) -> None:
    with pytest.raises(RequestError, match="application/json, found") as caught:
        read(b"{}", content_type=found)
    assert caught.value.status == 415
    assert read(b"{}", content_type="Application/JSON; charset=utf-8") == {}


def test_only_short_bodies_are_parsed_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    parse = request_bodies._parse
    monkeypatch.setattr(
        request_bodies, "_parse", lambda *given: threads.append(threading.current_thread()) or parse(*given)
    )

    async def thread_of_the_loop() -> threading.Thread:
        for length in (100, 100_000):
            body = request(b'{"a": "', b"x" * length, b'"}', content_type="application/json")
            assert await read_json(body) == {"a": "x" * length}
        return threading.current_thread()

    loop = awaited(thread_of_the_loop())
    assert [thread is loop for thread in threads] == [True, False]


@pytest.mark.slow
def test_a_long_body_is_parsed_where_others_get_the_interpreter_in_between() -> None:
    """The parser in C would keep it; the event loop goes on while the one in Python works."""
    body = b'{"x": [' + b"1," * 200_000 + b"1]}"

    async def ticks() -> int:
        reading, count = asyncio.create_task(read_json(request(body, content_type="application/json"))), 0
        while not reading.done():
            await asyncio.sleep(0)
            count += 1
        assert len((await reading)["x"]) == 200_001
        return count

    assert awaited(ticks()) > 5


def test_forms_are_read_within_their_limit() -> None:
    form = request(b"name=%C3%89mile&pass", b"word=a+b", content_type=FORM)
    assert awaited(read_form(form, 100)) == {"name": "Émile", "password": "a b"}
    for body, status in ((b"a=1&" * 20, 400), (b"\xff", 400), (b"a" * 101, 413)):
        with pytest.raises(RequestError) as caught:
            awaited(read_form(request(body, content_type=FORM), 100))
        assert caught.value.status == status


# --- the routes -----------------------------------------------------------------------------------


@pytest.fixture
def client(campaign: Campaign) -> Iterator[TestClient]:
    service = JudgingService(campaign.directory)
    with TestClient(Starlette(routes=service.routes(), lifespan=service.lifespan)) as client:
        client.headers[TOKEN_HEADER] = judging_token(campaign)
        client.cookies.set(cookie_name(campaign.id), service.tokens.cookie(signed_in(campaign)))
        yield client


@pytest.mark.slow
@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"\xff", b"[" * 5000, b"null", b'{"annotator": "ann", "annotator": "ann"}']
)
def test_every_route_that_takes_json_refuses_what_is_none(client: TestClient, campaign: Campaign, body: bytes) -> None:
    campaign.answers.tasks.open(SUPPORT).close()
    routes = [route.path for route in client.app.routes if route.methods == {"POST"}]  # type: ignore[attr-defined]
    routes = [route.replace("{task}", SUPPORT) for route in routes]
    assert f"{PREFIX}/token" in routes
    assert len(routes) > 12
    for route in routes:
        assert client.post(route, content=body, headers=AS_JSON).status_code == 400, route
        assert client.post(route, content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415, route
        assert client.post(route, content=b" " * (LONGEST_JSON + 1), headers=AS_JSON).status_code == 413, route


def test_a_name_with_a_character_that_files_cannot_hold_is_refused(client: TestClient) -> None:
    answer = client.post(f"{PREFIX}/sync", content=b'{"query_id": "1\\u0000"}', headers=AS_JSON)
    found = "expected text that can be written as UTF-8, found a NUL character (\\u0000) at character 2"
    assert (answer.status_code, answer.json()["error"]) == (400, f"query_id: {found}")
