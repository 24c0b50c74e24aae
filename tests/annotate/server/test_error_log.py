"""Unexpected errors: one page with an id, and the traceback in the log only."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
import stat
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from annotate.application import create_app
from annotate.auth.error_page import ErrorPage
from annotate.auth.security_headers import HEADERS
from annotate.server import error_log
from collection import Campaign
from tests.browser.serving import Serving
from tests.helpers import awaited

pytestmark = pytest.mark.usefixtures("root_logger")


async def fail(request: Request) -> Response:
    raise RuntimeError("the secret cause")


async def fail_late(request: Request) -> Response:
    async def parts() -> Iterator[bytes]:  # type: ignore[misc]
        yield b"begun "
        raise RuntimeError("the secret cause")

    return StreamingResponse(parts())  # type: ignore[arg-type]


async def fail_websocket(websocket: WebSocket) -> None:
    await websocket.accept()
    raise RuntimeError("the secret cause")


@pytest.fixture
def client() -> TestClient:
    routes = [Route("/fail", fail), WebSocketRoute("/stream", fail_websocket)]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(ErrorPage)]))


def sent_to(path: str) -> list[Message]:
    """The messages of an answer, without a client that would wait for its end."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    app = ErrorPage(Router([Route("/late", fail_late)]))
    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "asgi": {"spec_version": "2.4"}}
    awaited(app(scope, receive, send))
    return sent


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_the_traceback_is_in_the_log_and_only_its_id_on_the_page(client: TestClient, tmp_path: Path) -> None:
    file = tmp_path / "server.log"
    error_log.set_up(file, "json")
    page = client.get("/fail?token=geheim", headers={"Accept": "text/html"})
    data = client.get("/fail")
    assert page.status_code == data.status_code == 500
    assert set(data.json()) == {"error"}
    first, second = lines(file)
    for answer, entry in ((page, first), (data, second)):
        assert entry["error_id"] in answer.text
        assert "secret cause" not in answer.text
        assert "Traceback" not in answer.text
        assert entry["traceback"].endswith("RuntimeError: the secret cause")
        assert (entry["level"], entry["place"]) == ("error", "GET /fail")
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert first["error_id"] != second["error_id"]
    assert "geheim" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_client_that_has_left_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "server.log"
    error_log.set_up(file, "json")
    tries = list[str]()

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        tries.append(message["type"])
        raise ConnectionResetError  # as servers do

    app = ErrorPage(Router([WebSocketRoute("/stream", fail_websocket)]))
    scope = {"type": "websocket", "path": "/stream", "headers": [], "subprotocols": []}
    awaited(app(scope, receive, send))
    assert tries == ["websocket.accept"]
    assert lines(file) == []


def test_an_answer_that_has_begun_ends_and_websockets_are_closed(client: TestClient, tmp_path: Path) -> None:
    file = tmp_path / "server.log"
    error_log.set_up(file, "json")
    assert [part["body"] for part in sent_to("/late")[1:]] == [b"begun "]
    with client.websocket_connect("/stream") as stream, pytest.raises(WebSocketDisconnect) as closed:
        stream.receive_text()
    assert closed.value.code == 1011
    assert [entry["place"] for entry in lines(file)] == ["GET /late", "WebSocket /stream"]


def test_the_log_rotates_and_every_file_of_it_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_log, "FILE_BYTES", 300)
    file = tmp_path / "server.log"
    error_log.set_up(file)
    for number in range(20):
        logging.getLogger("some.library").warning("line %d %s", number, "x" * 100)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["server.log", *(f"server.log.{n}" for n in range(1, error_log.OLD_FILES + 1))]
    assert "WARNING some.library: line 19" in file.read_text()
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


def test_a_path_cannot_forge_a_line(tmp_path: Path) -> None:
    file = tmp_path / "server.log"
    error_log.set_up(file)
    error_log.record(RuntimeError("cause"), "GET /x\n2026-01-01 ERROR forged")
    assert not any(line.startswith("2026-01-01 ERROR forged") for line in file.read_text().splitlines())


def test_pages_of_the_app_log_their_exceptions_and_streamlit_shows_none(campaign: Campaign, tmp_path: Path) -> None:
    """Both need to hold: the handler that draws the id, and Streamlit's own setting for what it does not pass on."""
    app = create_app(campaign.directory)
    assert app._on_script_error is not None
    file = tmp_path / "server.log"
    error_log.set_up(file, "json")
    assert app._on_script_error(RuntimeError("the secret cause")) is True
    (entry,) = (entry for entry in lines(file) if "error_id" in entry)
    assert entry["traceback"] == "RuntimeError: the secret cause"
    from streamlit import config

    assert config.get_option("client.showErrorDetails") == "none"
    assert not config.get_option("runner.magicEnabled")


def test_streamlit_writes_to_the_same_log(tmp_path: Path) -> None:
    from streamlit.logger import get_logger

    file = tmp_path / "server.log"
    error_log.set_up(file, "json")
    get_logger("streamlit.somewhere")
    error_log.take_over_streamlit()
    get_logger("streamlit.somewhere").warning("a warning")
    assert [entry["logger"] for entry in lines(file)] == ["streamlit.somewhere"]


@pytest.mark.slow
def test_no_secret_is_logged(campaign: Campaign, tmp_path: Path) -> None:
    """One-time links are addresses: neither a request nor its failure writes them down."""
    file = tmp_path / "server.log"
    serving = Serving(campaign.directory, options=("--log", str(file), "--log-format", "json"))
    token = serving.link.partition("token=")[2]
    with closing(sqlite3.connect(campaign.directory / "campaign.db", isolation_level=None)) as database:
        database.execute("ALTER TABLE signin_links RENAME TO hidden")
        for address in (f"/signin?token={token}", f"/invitation?token={token}"):
            request = urllib.request.Request(serving.url + address, headers={"Cookie": f"cleverdon={token}"})
            with pytest.raises(urllib.error.HTTPError) as failed:
                urllib.request.urlopen(request)
            assert failed.value.code == 500
            assert failed.value.headers["Server"] is None
        with socket.create_connection(("127.0.0.1", serving.port)) as client:
            client.sendall(f"GET /signin?token={token} HTTP/9\r\n\r\n".encode())
            while client.recv(4096):
                pass
    serving.stop()
    assert [entry.get("place") for entry in lines(file)] == ["GET /signin", "GET /invitation", None]
    assert token not in file.read_text()
