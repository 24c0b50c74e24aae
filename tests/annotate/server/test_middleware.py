"""The door of the app: hosts, origins, uploads and the messages that reach Streamlit."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit import config, net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed

from annotate.application import SCRIPT, create_app
from annotate.auth.security_headers import HEADERS
from annotate.auth.tokens import Tokens, cookie_name
from annotate.server import uploads
from annotate.server.origins import Origins
from collection import Campaign
from collection.core.records import Role
from tests.conftest import signed_in
from tests.helpers import awaited

STREAM = "/_stcore/stream"


@pytest.fixture
def client(campaign: Campaign) -> Iterator[TestClient]:
    """The app's door; behind it, in the place of Streamlit, what tells whether something got through."""
    app = create_app(campaign.directory, public_addresses=["https://judging.example.org"], max_upload=1)

    async def page(request: Request) -> HTMLResponse:
        answer = HTMLResponse("<title>as Streamlit's</title>", headers={"Cache-Control": "no-cache"})
        answer.raw_headers += [(b"set-cookie", b"by-streamlit=1"), (b"set-cookie", b"safe=1; Path=/; Secure")]
        return answer

    async def inside(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{len(await request.body())} bytes")

    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        allowed = _is_origin_allowed(websocket.headers.get("origin"), websocket.headers.get("host"))
        await websocket.send_text(str(allowed))
        with contextlib.suppress(WebSocketDisconnect):
            while True:
                await websocket.send_text(BackMsg.FromString(await websocket.receive_bytes()).WhichOneof("type") or "")

    routes = [
        *app._user_routes,
        WebSocketRoute(STREAM, stream),
        Route("/page", page),
        Route("/{path:path}", inside, methods=["GET", "POST", "PUT", "DELETE"]),
    ]
    everything = Starlette(routes=routes, middleware=app._user_middleware, lifespan=app._user_lifespan)
    with TestClient(everything, follow_redirects=False, base_url="http://localhost:8501") as client:
        yield client


def enter(client: TestClient, campaign: Campaign, role: Role) -> None:
    value = Tokens(campaign.operations.server_state.secret(), campaign.id).cookie(
        signed_in(campaign, f"some {role}", role)
    )
    client.cookies.set(cookie_name(campaign.id), value)


# --- hosts and origins ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "judging.example.org@evil.example", "", "["]
)
def test_another_host_is_refused(client: TestClient, host: str) -> None:
    """DNS rebinding: a foreign name that points to this machine."""
    answer = client.get("/signin", headers={"Host": host})
    assert answer.status_code == 421
    assert "--public-address" in answer.text
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(STREAM, headers={"Host": host}):
        pass


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:8501", "[::1]:8501", "192.168.1.7:8501", "LOCALHOST:80", "judging.example.org"]
)
def test_its_own_names_and_any_ip_address_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/signin", headers={"Host": host}).status_code == 200


OWN = [
    ("localhost:8501", "http://localhost:8501"),
    ("127.0.0.1:8501", "http://127.0.0.1:8501"),
    ("localhost:9999", "http://localhost:9999"),  # through a tunnel
    ("judging.example.org", "https://judging.example.org"),
    ("127.0.0.1:8501", "https://judging.example.org"),  # a proxy that puts its own Host in
    ("localhost:8501", None),  # no browser
]
FOREIGN = [
    ("localhost:8501", "http://localhost:9000"),
    ("localhost:8501", "http://localhost"),
    ("localhost:8501", "https://localhost:8501"),
    ("localhost:8501", "http://127.0.0.1:8501"),
    ("localhost:8501", "http://evil.example"),
    ("localhost:8501", "http://localhost:8501.evil.example"),
    ("localhost:8501", "http://localhost:8501@evil.example"),
    ("localhost:8501", "null"),
    ("localhost:8501", "nonsense"),
    ("judging.example.org", "http://judging.example.org:8501"),
    ("judging.example.org", "https://other.example.org"),
]


def of_origin(host: str, origin: str | None) -> dict[str, str]:
    return {"Host": host} | ({} if origin is None else {"Origin": origin})


@pytest.mark.parametrize(("host", "origin"), OWN)
def test_pages_of_its_own_origin_get_through(client: TestClient, host: str, origin: str | None) -> None:
    assert client.post("/anything", headers=of_origin(host, origin)).status_code == 200
    with client.websocket_connect(STREAM, headers=of_origin(host, origin)) as stream:
        assert stream.receive_text() == "True"


@pytest.mark.parametrize(("host", "origin"), FOREIGN)
def test_pages_of_another_origin_do_not(client: TestClient, campaign: Campaign, host: str, origin: str) -> None:
    enter(client, campaign, "manager")
    headers = of_origin(host, origin)
    for method in ("POST", "PUT", "DELETE"):
        assert client.request(method, "/anything", headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(STREAM, headers=headers):
        pass
    assert refused.value.code == 1008
    assert client.get("/people", headers=headers).status_code == 200  # a link on another site leads here


def test_a_browser_that_says_that_it_comes_from_another_site_is_believed(client: TestClient) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        headers = {"Origin": "http://localhost:8501", "Sec-Fetch-Site": site}
        assert client.post("/anything", headers=headers).status_code == status


@pytest.mark.parametrize(("host", "origin"), [*OWN, *FOREIGN])
@pytest.mark.long
def test_no_request_leaves_the_machine_for_an_origin(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, host: str, origin: str | None
) -> None:
    """Streamlit asks a server on the internet for the machine's public address when it does not know an origin."""

    def ask(*_: object, **__: object) -> None:
        asked.append(origin)

    asked: list[str | None] = []
    for name in ("get_external_ip", "get_internal_ip", "_make_blocking_http_get"):
        monkeypatch.setattr(net_util, name, ask)
    with contextlib.suppress(WebSocketDisconnect), client.websocket_connect(STREAM, headers=of_origin(host, origin)):
        pass
    client.get("/_stcore/health", headers=of_origin(host, origin))
    assert asked == []
    assert not _is_origin_allowed("http://evil.example", "localhost:8501")  # what would happen without the door
    assert asked


def test_the_name_of_this_machine_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Lab7.example.edu")
    origins = Origins(host="judge.lan")
    for host, meant in (("lab7", True), ("LAB7.local:81", True), ("judge.lan", True), ("lab7.example.edu", True)):
        scope = {"type": "http", "scheme": "http", "headers": [(b"host", host.encode())]}
        assert origins.is_for_this_server(HTTPConnection(scope)) is meant
    assert not origins.is_for_this_server(HTTPConnection({"type": "http", "scheme": "http", "headers": []}))
    twice = {"type": "http", "scheme": "http", "headers": [(b"host", b"localhost"), (b"host", b"evil.example")]}
    assert not origins.is_for_this_server(HTTPConnection(twice))


def test_browsers_name_an_international_address_in_ascii() -> None:
    origins = Origins(["https://bücher.example"])
    for host in ("xn--bcher-kva.example", "127.0.0.1:8501"):
        headers = [(b"host", host.encode()), (b"origin", b"https://xn--bcher-kva.example")]
        request = HTTPConnection({"type": "http", "scheme": "http", "headers": headers})
        assert origins.is_for_this_server(request)
        assert origins.is_same_origin(request)


def test_a_refused_form_names_both_origins_and_the_option_for_a_proxy(client: TestClient) -> None:
    headers = {"Host": "10.0.0.7", "Origin": "https://10.0.0.7", "Accept": "text/html"}
    for path, accept in (("/signin", "text/html"), ("/anything", "*/*")):
        answer = client.post(path, headers={**headers, "Accept": accept})
        assert answer.status_code == 403
        for named in ("a page of https://10.0.0.7 ", "the host 10.0.0.7,", "--public-address https://10.0.0.7"):
            assert named in answer.text
    answer = client.post("/anything", headers={"Sec-Fetch-Site": "cross-site", "Accept": "text/html"})
    assert "a page of another site" in answer.text
    answer = client.post("/anything", headers={"Origin": "<b>" + "x" * 9000, "Accept": "text/html"})
    assert "<b>" not in answer.text
    assert len(answer.text) < 5000


# --- messages -------------------------------------------------------------------------------------


def messages() -> dict[str, bytes]:
    """One message of every kind that Streamlit knows, by name."""
    made = {}
    for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields:
        message = BackMsg()
        if field.name == "backend_operation_request":
            for payload in field.message_type.oneofs_by_name["payload"].fields:
                getattr(message.backend_operation_request, payload.name).SetInParent()
                made[payload.name] = message.SerializeToString()
        elif field.message_type is not None:
            getattr(message, field.name).SetInParent()
            made[field.name] = message.SerializeToString()
        else:
            setattr(message, field.name, True)
            made[field.name] = message.SerializeToString()
    return made


@pytest.mark.parametrize("role", [None, "reader", "manager"])
def test_only_harmless_messages_reach_streamlit(client: TestClient, campaign: Campaign, role: Role | None) -> None:
    if role is not None:
        enter(client, campaign, role)
    heartbeat = messages()["app_heartbeat"]
    passed = set()
    with client.websocket_connect(STREAM, headers={"Host": "localhost:8501"}) as stream:
        stream.receive_text()
        stream.send_text("no message")
        stream.send_bytes(b"\xff\xff")
        for name, message in messages().items():
            stream.send_bytes(message)
            stream.send_bytes(heartbeat)
            while stream.receive_text() != "app_heartbeat":
                passed.add(name)
            if name == "app_heartbeat":
                assert stream.receive_text() == "app_heartbeat"
    assert {"clear_cache", "install_skills", "dismiss_skills_nudge", "load_git_info"} <= set(messages())
    known = {"deferred_file", "dataframe_chunk", "file_urls_request"} if role else set()
    assert passed == {"rerun_script", "stop_script"} | known


def test_streamlit_runs_without_a_developer_in_front_of_it(client: TestClient) -> None:
    assert config.get_option("server.headless") is True
    assert config.get_option("server.maxUploadSize") == 1


def directives(answer: Any) -> dict[str, str]:
    """The directives of an answer's only policy."""
    (policy,) = answer.headers.get_list("Content-Security-Policy")
    return {name: sources for name, _, sources in (part.strip().partition(" ") for part in policy.split(";"))}


def test_every_answer_has_the_security_headers(client: TestClient, campaign: Campaign) -> None:
    enter(client, campaign, "manager")
    paths = (
        "/",
        "/people",
        "/nothing",
        "/signin",
        "/documentation/index",
        "/healthz",
        "/api/judging/files/x",
        "/media/x",
    )
    for path in paths:
        headers = client.get(path).headers
        for name, value in HEADERS.items():
            assert headers.get_list(name) == [value], (path, name)
        assert directives(client.get(path))["frame-ancestors"] == "'none'"
        assert directives(client.get(path))["default-src"] == "'none'"
    refused = client.get("/", headers={"Host": "evil.example"})
    assert "default-src" in directives(refused)
    settings = tomllib.loads((SCRIPT.parent / ".streamlit" / "config.toml").read_text())
    assert settings["client"]["allowedOrigins"] == []  # parents whose messages control the page


def test_pages_run_scripts_of_this_server_only(client: TestClient, campaign: Campaign) -> None:
    enter(client, campaign, "manager")
    found = directives(client.get("/page"))
    scripts = found["script-src"].split()
    assert {"'self'", "blob:", "'wasm-unsafe-eval'"} == {each for each in scripts if not each.startswith("'sha256-")}
    assert len(scripts) == 5  # one script in Streamlit's page, and the one that continues after signing in
    assert found["connect-src"] == "'self'"
    for name, sources in found.items():
        assert "'unsafe-eval'" not in sources
        assert ("'unsafe-inline'" in sources) == (name == "style-src")
        assert not {"*", "http:", "https:"} & set(sources.split())
    assert "sandbox" in directives(client.get("/media/x"))  # what a person opens by itself


def test_images_come_from_the_hosts_of_the_manager_alone(client: TestClient, campaign: Campaign) -> None:
    with campaign.transaction():
        campaign.settings.set_judging_page(image_hosts=("images.example.org",))
    assert directives(client.get("/page"))["img-src"] == "'self' data: blob:"  # nobody is signed in
    enter(client, campaign, "annotator")
    assert directives(client.get("/page"))["img-src"] == "'self' data: blob: images.example.org:*"


def test_private_answers_are_not_stored(client: TestClient, campaign: Campaign) -> None:
    enter(client, campaign, "manager")
    for path in ("/", "/page", "/media/x", "/api/judging/files/x"):
        assert client.get(path).headers["Cache-Control"] == "no-store"
    assert client.post("/api/judging/topics").headers["Cache-Control"] == "no-store"


def test_browsers_stay_with_https_once_they_have_it(client: TestClient) -> None:
    assert "Strict-Transport-Security" not in client.get("/signin").headers
    answer = client.get("/page", headers={"Host": "judging.example.org"})
    assert answer.headers["Strict-Transport-Security"] == "max-age=15552000"
    cookies = answer.headers.get_list("set-cookie")
    assert cookies == ["by-streamlit=1; Secure", "safe=1; Path=/; Secure"]
    assert client.get("/page").headers.get_list("set-cookie")[0] == "by-streamlit=1"


# --- uploads --------------------------------------------------------------------------------------


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """As much of Streamlit as uploads need: the files in memory, and which sessions are connected."""
    files, connected = MemoryUploadedFileManager("/upload"), {"mine"}
    runtime = SimpleNamespace(uploaded_file_mgr=files, connected=connected)
    runtime.is_active_session = connected.__contains__
    monkeypatch.setattr(Runtime, "instance", classmethod(lambda cls: runtime))
    monkeypatch.setattr(uploads, "_open", {})
    yield runtime
    assert not uploads._reserved


def on_page(monkeypatch: pytest.MonkeyPatch, runtime: Any, session_id: str, *, has_uploader: bool) -> None:
    """The beginning of a script run of the session on a page."""
    context = SimpleNamespace(session_id=session_id, uploaded_file_mgr=runtime.uploaded_file_mgr)
    monkeypatch.setattr(uploads, "get_script_run_ctx", lambda: context)
    uploads.allow_for_page(has_uploader=has_uploader)


def put(client: TestClient, size: int, session_id: str = "mine") -> int:
    return int(client.put(f"/_stcore/upload_file/{session_id}/file", content=b"x" * size).status_code)


def hold(runtime: Any, size: int, session_id: str = "mine") -> None:
    runtime.uploaded_file_mgr.add_file(session_id, UploadedFileRec(f"f{size}", "name", "text/plain", b"x" * size))


def test_only_a_manager_on_a_page_with_an_uploader_can_upload(
    client: TestClient, campaign: Campaign, runtime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    assert put(client, 10) == 401
    for role in ("annotator", "reader"):
        enter(client, campaign, role)
        assert put(client, 10) == 403
    enter(client, campaign, "manager")
    assert put(client, 10) == 200
    assert put(client, 10, "other") == 403
    on_page(monkeypatch, runtime, "mine", has_uploader=False)
    assert put(client, 10) == 403


def test_a_session_holds_so_much_and_no_more(
    client: TestClient, campaign: Campaign, runtime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(client, campaign, "manager")
    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    assert put(client, 2**20 + 1) == 413
    hold(runtime, 2**20 - 10)
    assert put(client, 11) == 413
    assert put(client, 10) == 200
    with uploads.reserve("mine", 10, 2**20, runtime) as fits:
        assert fits
        assert put(client, 1) == 413  # two at once are not more than one after the other
    parts = client.put("/_stcore/upload_file/mine/file", content=iter([b"x"]))
    assert parts.status_code == 411
    headers = {"Content-Length": "5", "Transfer-Encoding": "chunked"}
    parts = client.put("/_stcore/upload_file/mine/file", content=iter([b"x" * 2**21]), headers=headers)
    assert parts.status_code == 411
    for announced, status in {f"{11:020}": 413, "9" * 5000: 413, f"{10:020}": 200}.items():
        sent = client.put("/_stcore/upload_file/mine/file", content=b"x" * 10, headers={"Content-Length": announced})
        assert sent.status_code == status, announced


def test_a_file_that_arrives_after_its_page_was_left_is_not_kept(runtime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    with uploads.reserve("mine", 10, 2**20, runtime) as fits:
        assert fits
        on_page(monkeypatch, runtime, "mine", has_uploader=False)
        hold(runtime, 10)
    assert not runtime.uploaded_file_mgr.file_storage
    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    with uploads.reserve("mine", 10, 2**20, runtime):
        hold(runtime, 10)
    assert list(runtime.uploaded_file_mgr.file_storage) == ["mine"]


def test_what_was_uploaded_is_freed_with_the_page_and_with_the_session(
    runtime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = runtime.uploaded_file_mgr.file_storage
    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    hold(runtime, 10)
    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    assert list(storage) == ["mine"]
    on_page(monkeypatch, runtime, "mine", has_uploader=False)
    assert not storage

    on_page(monkeypatch, runtime, "mine", has_uploader=True)
    hold(runtime, 10)
    runtime.connected.clear()
    uploads.free(runtime, at=0.0)
    uploads.free(runtime, at=uploads.KEPT_SECONDS - 1)
    assert list(storage) == ["mine"]  # the network may come back
    runtime.connected.add("mine")
    uploads.free(runtime, at=uploads.KEPT_SECONDS)
    runtime.connected.clear()
    uploads.free(runtime, at=1000.0)
    assert list(storage) == ["mine"]
    uploads.free(runtime, at=1000.0 + uploads.KEPT_SECONDS)
    assert not storage
    assert not uploads.is_open("mine")


# --- who leaves -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/signin", "/invitation", "/anything"])
def test_who_leaves_in_the_middle_of_a_body_causes_no_error(campaign: Campaign, path: str) -> None:
    app = create_app(campaign.directory)
    sent: list[Any] = []

    async def body(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(await request.body()))

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    parts = [{"type": "http.request", "body": b"name=a", "more_body": True}, {"type": "http.disconnect"}]
    headers = [(b"host", b"localhost"), (b"content-type", b"application/x-www-form-urlencoded")]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "scheme": "http", "query_string": b""}
    routes = [*app._user_routes, Route("/anything", body, methods=["POST"])]
    awaited(Starlette(routes=routes, middleware=app._user_middleware)(scope, receive, send))
    assert sent == []
