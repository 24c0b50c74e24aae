"""The door of the app, through which every request and every WebSocket goes before Streamlit and the routes see it."""

from contextlib import suppress
from urllib.parse import urlsplit

from google.protobuf.message import DecodeError
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime

from annotate.auth import forms
from annotate.auth.page_access import PAGES
from annotate.auth.routes import SignInService
from annotate.server import uploads
from annotate.server.origins import Origins, origin_of

PROVIDER_COOKIE = "_streamlit_user"
"""In which Streamlit keeps what the provider said."""

UPLOAD = "/_stcore/upload_file/"
UPLOADERS = {role for page in PAGES if page.has_uploader for role in page.roles}

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

MESSAGES = frozenset({"rerun_script", "stop_script", "app_heartbeat"})
"""What a browser may tell Streamlit without a sign-in: enough to draw the page that leads to it."""
MESSAGES_INSIDE = frozenset({"file_urls_request", "deferred_file", "dataframe_chunk"})
"""What it may tell besides when somebody is signed in: uploads, downloads and rows of tables. Nothing else is passed
on for anybody: Streamlit's other messages are for developers. They empty the caches of all sessions and their own
state (``clear_cache``), install files (``install_skills``), run git, and stop the server."""


class RequestGuard:
    """Refuses what is not meant for this server, comes from another site's page, or needs a sign-in.

    The pages and routes look for themselves who comes; this guards Streamlit's own routes, and spares a person who
    opens a page without a session a click.

    Parameters
    ----------
    app
        What lies behind.
    service
        Knows who is signed in.
    pages
        The addresses of pages.
    origins
        The names and origins of this server.
    max_upload
        Bytes of files that one session may hold.
    """

    INSIDE = ("/media/", UPLOAD, "/_stcore/metrics", "/_stcore/agent/")
    """What Streamlit serves to whoever knows the address: files that pages show and take, figures of the process, and
    an interface for programs, which is off. Only for those who are signed in."""

    def __init__(
        self, app: ASGIApp, service: SignInService, pages: frozenset[str], origins: Origins, max_upload: int
    ) -> None:
        self.app, self.service, self.pages = app, service, pages
        self.origins, self.max_upload = origins, max_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it through."""
        if scope["type"] == "websocket":
            await self._stream(scope, receive, send)
        elif scope["type"] == "http":
            with suppress(ClientDisconnect):  # somebody sent half a body and left: that is no error of the server
                await self._answer_or_pass(Request(scope), scope, receive, _unframed(send))
        else:
            await self.app(scope, receive, send)

    # --- requests ---------------------------------------------------------------------------------

    async def _answer_or_pass(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._refusal(request) or await self._answer(request)
        if answer is not None:
            await answer(scope, receive, send)
        elif request.method == "PUT" and scope["path"].startswith(UPLOAD):
            await self._upload(request, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """What is not meant for this server, and what another site's page makes a browser do."""
        if not self.origins.is_for_this_server(request):
            host = request.headers.get("host", "")[:200]
            words = f"This server does not answer to the name {host!r}."
            remedy = "The operator can name its address: cleverdon serve DIR --public-address https://NAME"
            return PlainTextResponse(f"{words} {remedy}", 421)
        if request.method in SAFE_METHODS or self.origins.is_same_origin(request):
            return None
        words = self._why_refused(request)
        if "text/html" in request.headers.get("accept", ""):
            return forms.refused(words)
        return JSONResponse({"error": words}, 403)

    @staticmethod
    def _why_refused(request: Request) -> str:
        """Which page sent the request, and what helps if that is the app's own page behind a proxy."""
        origin, host = (request.headers.get(name, "")[:200] for name in ("origin", "host"))
        if origin_of(origin) is None:
            return "This request was sent by a page of another site; nothing was done."
        return (
            f"This request was sent by a page of {origin}, and this server was reached with the Host {host}: they are "
            "different sites, and nothing was done. If the page is one of this app, behind a proxy, the operator can "
            f"name its address: cleverdon serve DIR --public-address {origin}"
        )

    async def _answer(self, request: Request) -> Response | None:
        path = request.scope["path"]
        is_inside = path.startswith(self.INSIDE)
        if not is_inside and (path.strip("/") not in self.pages or request.method not in ("GET", "HEAD")):
            return None
        person = await self.service.signed_in(request)
        if person is not None:
            if path.startswith(UPLOAD) and person.role not in UPLOADERS:
                return PlainTextResponse(f"A {person.role} does not upload files.", 403)
            return None
        if is_inside:
            return PlainTextResponse("You are not signed in.", 401)
        if path == "/" and self.service.provider is not None and PROVIDER_COOKIE in request.cookies:
            return None  # on the way back from the provider: the script sees who that is
        return RedirectResponse("/signin", 303, {"Cache-Control": "no-store"})

    async def _upload(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a file through to the memory of the session that its address names."""
        session_id = scope["path"].removeprefix(UPLOAD).partition("/")[0]
        announced = request.headers.get("content-length", "")
        if not uploads.is_open(session_id):
            answer = PlainTextResponse("The page of this session takes no files.", 403)
        elif not announced.isdecimal() or "transfer-encoding" in request.headers:
            # With a Transfer-Encoding, the server reads chunks to their end, whatever Content-Length says.
            answer = PlainTextResponse("An upload needs a Content-Length and no Transfer-Encoding.", 411)
        else:
            size = int(announced[:16])
            with uploads.reserve(session_id, size, self.max_upload, Runtime.instance()) as fits:
                if fits:
                    await self.app(scope, receive, send)
                    return
            megabytes = self.max_upload // 2**20
            answer = PlainTextResponse(f"The files of one session have at most {megabytes:,} MB together.", 413)
        await answer(scope, receive, send)

    # --- WebSockets -------------------------------------------------------------------------------

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = HTTPConnection(scope)
        if not (self.origins.is_for_this_server(request) and self.origins.is_same_origin(request)):
            await WebSocketClose(1008)(scope, receive, send)
            return

        async def passed_on() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive" or await self._may(message, request):
                    return message

        await self.app(_of_its_own_host(scope, request), passed_on, send)

    async def _may(self, message: Message, request: HTTPConnection) -> bool:
        """Whether Streamlit gets to see a message."""
        told = BackMsg()
        try:
            told.ParseFromString(message.get("bytes") or b"")
        except DecodeError:
            return False
        kind: str | None = told.WhichOneof("type")
        if kind == "backend_operation_request":
            kind = told.backend_operation_request.WhichOneof("payload")
        return kind in MESSAGES or (kind in MESSAGES_INSIDE and await self.service.signed_in(request) is not None)


def _unframed(send: Send) -> Send:
    """Send answers that pages of other origins cannot show in a frame, where clicks could be led onto them.

    An answer with a policy of its own keeps that.
    """

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", "frame-ancestors 'self'")
            headers.setdefault("X-Frame-Options", "SAMEORIGIN")
        await send(message)

    return sent


def _of_its_own_host(scope: Scope, request: HTTPConnection) -> Scope:
    """The scope with the origin's host as Host, where a proxy put another one in its place.

    Streamlit would ask a server on the internet for this machine's public address, to compare the origin with that.
    """
    origin = request.headers.get("origin")
    if origin is None:
        return scope
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*headers, (b"host", urlsplit(origin).netloc.encode("latin-1"))]}
