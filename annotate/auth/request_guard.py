"""Checks on every request and WebSocket before Streamlit and the routes see it."""

from contextlib import suppress
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime

from annotate.auth import forms
from annotate.auth.page_access import PAGES
from annotate.auth.rate_limit import MAX_STRANGERS, MAX_STRANGERS_PER_ADDRESS, Places
from annotate.auth.routes import SignInService
from annotate.auth.security_headers import CLOSED_POLICY, add_headers, page_policy
from annotate.server import uploads
from annotate.server.origins import Origins, parse_origin
from annotate.server.timed_http import SlowRequest, receive_in_time

CSP = "Content-Security-Policy"
PROVIDER_COOKIE = "_streamlit_user"  # holds the provider's claims for Streamlit

UPLOAD = "/_stcore/upload_file/"
PAGE_PATHS = {"" if page.default else page.url_path for page in PAGES}
UPLOADERS = {role for page in PAGES for role in page.uploaders}

MESSAGES = frozenset({"rerun_script", "stop_script", "app_heartbeat"})
"""WebSocket messages passed on without a sign-in: enough to draw the page that leads to it."""
SIGNED_IN_MESSAGES = frozenset({"file_urls_request", "deferred_file", "dataframe_chunk"})
"""Those passed on for people who are signed in. All others are dropped: they are for developers, and clear the caches
of all sessions, install files, run git and stop the server."""
SIGNED_IN_PATHS = ("/media/", UPLOAD, "/_stcore/metrics", "/_stcore/agent/")
"""Streamlit's own routes that need a sign-in: files that pages show and take, metrics of the process, and an interface
for programs, which is off."""


class RequestGuard:
    """Refuses what is not meant for this server, comes from another site's page, or needs a sign-in.

    The pages and routes check for themselves who is signed in; this guards Streamlit's own routes, and redirects people
    without a session to the sign-in page. `max_upload` is in bytes, for the files of one session.
    """

    def __init__(self, app: ASGIApp, service: SignInService, origins: Origins, max_upload: int) -> None:
        self.app, self.service, self.origins, self.max_upload = app, service, origins, max_upload
        self._strangers = Places(MAX_STRANGERS, MAX_STRANGERS_PER_ADDRESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] == "websocket":
            await self._open_websocket(scope, receive, send)
        elif scope["type"] == "http":
            request = Request(scope)
            send = self._with_headers(request, send)
            is_upload = request.method == "PUT" and scope["path"].startswith(UPLOAD)
            receive = receive_in_time(receive, in_parts=is_upload)
            with suppress(ClientDisconnect):  # a client that leaves halfway is no error of the server
                answer = self._refuse_foreign(request) or await self._require_signin(request)
                try:
                    await (answer or (self._upload if is_upload else self.app))(scope, receive, send)
                except SlowRequest:  # raised by a route that reads the body, before it answers
                    slow = PlainTextResponse("The request took too long.", 408, {"Connection": "close"})
                    await slow(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _with_headers(self, request: Request, send: Send) -> Send:
        """Add the security headers to an answer, unless it has its own."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html") and CSP not in headers
                policy = CLOSED_POLICY
                if is_page:
                    policy = page_policy(await self.service.image_hosts(request))
                add_headers(headers, policy=policy, is_page=is_page, is_https=self.origins.is_https(request))
            await send(message)

        return send_with_headers

    def _refuse_foreign(self, request: Request) -> Response | None:
        """Refuse requests that are meant for another server, or that another site's page makes a browser send."""
        origin, host = (request.headers.get(name, "")[:200] for name in ("origin", "host"))
        if not self.origins.is_for_this_server(request):
            reason = f"This server does not accept requests for the host {host!r}."
            remedy = "To allow it, start with: cleverdon serve DIR --public-address https://NAME"
            return PlainTextResponse(f"{reason} {remedy}", 421)
        if request.method in ("GET", "HEAD", "OPTIONS") or self.origins.is_same_origin(request):
            return None
        reason = "This request came from a page of another site and was refused."
        if parse_origin(origin) is not None:
            reason = (
                f"This request came from a page of {origin} to the host {host}, another site, and was refused. "
                "If the app runs behind a proxy at that address, start it with: "
                f"cleverdon serve DIR --public-address {origin}"
            )
        if "text/html" in request.headers.get("accept", ""):
            return forms.refused(reason)
        return JSONResponse({"error": reason}, 403)

    async def _require_signin(self, request: Request) -> Response | None:
        path = request.scope["path"]
        is_streamlit = path.startswith(SIGNED_IN_PATHS)
        if not is_streamlit and (path.strip("/") not in PAGE_PATHS or request.method not in ("GET", "HEAD")):
            return None
        person = await self.service.signed_in(request)
        if person is not None:
            if path.startswith(UPLOAD) and person.role not in UPLOADERS:
                return PlainTextResponse(f"Your role, {person.role}, cannot upload files.", 403)
            return None
        if is_streamlit:
            return PlainTextResponse("You are not signed in.", 401)
        if path == "/" and self.service.provider is not None and PROVIDER_COOKIE in request.cookies:
            return None  # on the way back from the provider: the script reads the claims
        return RedirectResponse("/signin", 303, {"Cache-Control": "no-store"})

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = scope["path"].removeprefix(UPLOAD).partition("/")[0]
        headers = Headers(scope=scope)
        announced = headers.get("content-length", "")
        if not uploads.is_open(session_id):
            answer = PlainTextResponse("This page does not accept files.", 403)
        elif not announced.isdecimal() or "transfer-encoding" in headers:
            # With a Transfer-Encoding, the server reads chunks to their end, whatever Content-Length says.
            answer = PlainTextResponse("An upload needs a Content-Length and no Transfer-Encoding.", 411)
        else:
            size = int(announced.lstrip("0")[:20] or 0)  # int() reads no number of thousands of digits
            with uploads.reserve(session_id, size, self.max_upload, Runtime.instance()) as fits:
                if fits:
                    await self.app(scope, receive, send)
                    return
            limit = f"Uploads are limited to {self.max_upload // 2**20:,} MB in total"
            reason = f"{limit}; use `cleverdon import` for larger files."
            answer = PlainTextResponse(reason, 413)
        await answer(scope, receive, send)

    async def _open_websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HTTPConnection(scope)
        if not (self.origins.is_for_this_server(request) and self.origins.is_same_origin(request)):
            await WebSocketClose(1008)(scope, receive, send)
            return

        async def receive_allowed() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or await self._is_allowed(message, request):
                    return message

        with self._strangers.place(await self._stranger(request)) as is_free:
            if is_free:
                await self.app(_with_host_of_origin(scope, request), receive_allowed, send)
            else:
                await WebSocketClose(1013)(scope, receive, send)

    async def _stranger(self, request: HTTPConnection) -> str | None:
        """The address of a client that is not signed in; None for people who are."""
        if await self.service.signed_in(request) is not None:
            return None
        return request.client.host if request.client else ""

    async def _is_allowed(self, message: Message, request: HTTPConnection) -> bool:
        """Return whether Streamlit may see a message."""
        parsed = BackMsg()
        try:
            parsed.ParseFromString(message.get("bytes") or b"")
        except DecodeError:
            return False
        kind: str | None = parsed.WhichOneof("type")
        if kind == "backend_operation_request":
            kind = parsed.backend_operation_request.WhichOneof("payload")
        return kind in MESSAGES or (kind in SIGNED_IN_MESSAGES and await self.service.signed_in(request) is not None)


def _with_host_of_origin(scope: Scope, request: HTTPConnection) -> Scope:
    """Put the origin's host in the Host header, which a proxy may have changed.

    Otherwise Streamlit asks a server on the internet for this machine's public address, to compare the origin with it.
    """
    origin = request.headers.get("origin")
    if origin is None:
        return scope
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*headers, (b"host", urlsplit(origin).netloc.encode("latin-1"))]}
