"""The answer to a request whose handling raised an unexpected exception."""

from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from annotate.auth import forms
from annotate.auth.security_headers import CLOSED_POLICY, add_headers
from annotate.server import error_log


class ErrorPage:
    """Logs an exception that nothing else has handled, and answers with its id and without its traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer if that fails."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        has_begun = has_left = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_begun, has_left
            has_begun = True
            try:
                await send(message)
            except OSError:  # what a server raises when the client has gone
                has_left = True
                raise

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:
            if has_left:
                return
            error_id = error_log.record(error, f"{scope.get('method', 'WebSocket')} {scope['path']}")
            with suppress(Exception):  # the client may have left
                if scope["type"] == "websocket":
                    await WebSocketClose(1011)(scope, receive, send)
                elif not has_begun:  # else the server cuts the connection, and the client sees that the rest is missing
                    answer = _answer(error_log.explain(error_id), Headers(scope=scope).get("accept", ""))
                    await answer(scope, receive, send)


def _answer(reason: str, accept: str) -> Response:
    answer = forms.failed(reason) if "text/html" in accept else JSONResponse({"error": reason}, 500)
    add_headers(answer.headers, policy=CLOSED_POLICY, is_page=False, is_https=False)
    return answer
