"""Clients that send slowly or hold connections open."""

from __future__ import annotations

import asyncio
import itertools
import socket
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Message
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from annotate.auth.rate_limit import MAX_STRANGERS, MAX_STRANGERS_PER_ADDRESS, Places
from annotate.auth.tokens import Tokens, cookie_name
from annotate.server import timed_http
from annotate.server.timed_http import OPEN_FILES_ON_MACOS, SlowRequest, TimedH11, allow_open_files, receive_in_time
from collection import Campaign
from tests.browser.serving import Serving
from tests.conftest import signed_in
from tests.helpers import PATIENCE, awaited, join, reads_proc, until

WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that waits a moment only for headers."""
    monkeypatch.setattr(timed_http, "HEADER_SECONDS", 0.05)
    app = Starlette(routes=[Route("/", hello, methods=["GET", "POST"])])
    server = uvicorn.Server(uvicorn.Config(app, http=TimedH11, log_config=None, lifespan="off"))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until(lambda: server.started, "the server")
        yield listening.getsockname()[1]
        server.should_exit = True
        join(thread, "the end of the server")


def read_answer(client: socket.socket) -> None:
    """Read an answer to its end, which has to come."""
    answer = b""
    while not answer.endswith(b"hello"):
        part = client.recv(4096)
        assert part
        answer += part


def ends(client: socket.socket) -> bool:
    """True if the server ends the connection."""
    client.settimeout(PATIENCE)
    try:
        while client.recv(4096):
            pass
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize(
    ("answered", "sent"),
    [
        (b"", b""),
        (b"", b"GET / HTTP/1.1\r\nHost: local"),
        (WHOLE, b"GET / HTT"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", b"x"),  # needs no body for its answer
    ],
    ids=["nothing", "half a header", "half a second header", "half a body after the answer"],
)
def test_half_a_request_does_not_hold_a_connection(port: int, answered: bytes, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        if answered:
            client.sendall(answered)
            read_answer(client)
        client.sendall(sent)
        assert ends(client)


def test_a_header_that_drips_is_cut_off(port: int) -> None:
    """Each byte restarts uvicorn's own timer, but not this one."""
    rest = itertools.chain(b"GET / HTTP/1.1\r\nX: ", itertools.repeat(0))

    def is_cut_off() -> bool:
        try:
            client.sendall(bytes([next(rest)]))
            return client.recv(4096) == b""
        except BlockingIOError:
            return False  # not yet
        except ConnectionError:
            return True

    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setblocking(False)
        until(is_cut_off, "the end of the connection")


def test_whole_requests_are_answered_one_after_another(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        for _ in range(3):
            client.sendall(WHOLE)
            read_answer(client)


def test_a_body_has_to_arrive_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that come after a pause each, by a clock that stands still meanwhile."""
    monkeypatch.setattr(timed_http, "BODY_SECONDS", 20.0)

    def parts(*, in_parts: bool, number: int, pause: float) -> int:
        left, passed = iter(range(number)), [0.0]

        async def receive() -> Message:
            passed[0] += pause
            for _ in range(5):  # whoever has a limit on it may look at the clock
                await asyncio.sleep(0)
            return {"type": "http.request", "body": b"x", "more_body": next(left) < number - 1}

        async def read() -> int:
            loop = asyncio.get_running_loop()
            real = loop.time
            monkeypatch.setattr(loop, "time", lambda: real() + passed[0])
            inner = receive_in_time(receive, in_parts=in_parts)
            taken = 1
            while (await inner())["more_body"]:
                taken += 1
            return taken

        return awaited(read())

    assert parts(in_parts=False, number=3, pause=0.0) == 3
    assert parts(in_parts=True, number=10, pause=4.0) == 10  # an upload may take longer in total
    with pytest.raises(SlowRequest):
        parts(in_parts=False, number=10, pause=4.0)
    with pytest.raises(SlowRequest):
        parts(in_parts=True, number=2, pause=100.0)


@pytest.mark.parametrize(("most", "then"), [(2**63 - 1, 2**63 - 1), (20_000, OPEN_FILES_ON_MACOS), (100, None)])
def test_the_limit_on_open_files_is_raised_as_far_as_the_system_lets(
    most: int, then: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[int] = []

    def set_limit(_: int, limits: tuple[int, int]) -> None:
        if limits[0] > most:
            raise ValueError("current limit exceeds maximum limit")
        allowed.append(limits[0])

    monkeypatch.setattr(timed_http.resource, "setrlimit", set_limit)
    monkeypatch.setattr(timed_http.resource, "getrlimit", lambda _: (256, 2**63 - 1))
    allow_open_files()
    assert allowed == ([then] if then else [])


def test_strangers_are_counted_by_address_and_in_total() -> None:
    sockets = Places(MAX_STRANGERS, MAX_STRANGERS_PER_ADDRESS)

    def opened(address: str | None) -> bool:
        place = sockets.place(address)
        kept.append(place)
        return place.__enter__()

    kept: list[object] = []
    assert [opened("10.0.0.1") for _ in range(MAX_STRANGERS_PER_ADDRESS + 1)].count(True) == MAX_STRANGERS_PER_ADDRESS
    assert [opened(f"10.0.1.{n}") for n in range(MAX_STRANGERS)].count(
        True
    ) == MAX_STRANGERS - MAX_STRANGERS_PER_ADDRESS
    assert opened(None)
    for place in kept:
        place.__exit__(None, None, None)  # type: ignore[attr-defined]
    assert sockets._taken == {}


@reads_proc
@pytest.mark.slow
@pytest.mark.long
def test_two_hundred_idle_sockets_keep_nobody_out(campaign: Campaign) -> None:
    """The same with 1,000 sockets and the memory they take: ``python tests/benchmarks/bench_idle_sockets.py``."""
    secret = signed_in(campaign)
    cookie = Tokens(campaign.operations.server_state.secret(), campaign.id).cookie(secret)
    serving = Serving(campaign.directory)
    try:
        accepted, _, person = awaited(hold(serving, 200, f"{cookie_name(campaign.id)}={cookie}"))
    finally:
        serving.stop()
    assert accepted == MAX_STRANGERS_PER_ADDRESS
    assert person


async def hold(serving: Serving, number: int, cookie: str, hosts: int = 1) -> tuple[int, float, bool]:
    """Open idle WebSockets from as many addresses as `hosts`, and then one of a person who is signed in.

    Returns how many were accepted, by how many MB the server has grown after the first of them, which loads code, and
    whether the person was let in.
    """
    stream = f"ws://127.0.0.1:{serving.port}/_stcore/stream"
    assert serving.process.pid is not None
    async with AsyncExitStack() as held:

        async def open_one(number: int) -> bool:
            local = (f"127.0.0.{2 + number % hosts}", 0)
            try:
                await held.enter_async_context(connect(stream, local_addr=local, open_timeout=PATIENCE))
            except InvalidStatus:
                return False
            return True

        accepted = [await open_one(0)]
        before = memory(serving.process.pid)
        for at in range(1, number, 50):
            accepted += await several(open_one, at, min(at + 50, number))
        grown = memory(serving.process.pid) - before
        person: ClientConnection = await held.enter_async_context(
            connect(stream, additional_headers={"Cookie": cookie}, open_timeout=PATIENCE)
        )
        return accepted.count(True), grown, person.response is not None and person.response.status_code == 101


async def several(work: object, first: int, last: int) -> list[bool]:
    return await asyncio.gather(*(work(number) for number in range(first, last)))  # type: ignore[operator]


def memory(process: int) -> float:
    """The memory that is a process's own, in MB: pages of files come and go with what else the machine does."""
    fields = Path(f"/proc/{process}/status").read_text()
    return int(fields.partition("RssAnon:")[2].split()[0]) / 1024
