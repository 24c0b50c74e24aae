"""An endpoint of a language model on this machine that answers as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

NOW = {"retry-after-ms": "1"}
"""A header after which the client repeats a request at once."""


@dataclass
class Reply:
    """One answer. `body` is sent as it is, in place of a completion."""

    text: str | None = "Grade: 2"
    status: int = 200
    finish: str | None = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    tokens: tuple[int, int] | None = (100, 5)
    cut: bool = False
    """Whether a stream ends before the reply does."""


@dataclass
class Asked:
    """A request that arrived."""

    key: str
    authorization: str | None
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


class FakeEndpoint:
    """A server with OpenAI's interface; `answer` makes the reply to a request, in the thread of the request."""

    def __init__(self, answer: Callable[[Asked], Reply] = lambda asked: Reply()) -> None:
        self.answer, self.asked = answer, list[Asked]()
        self.models: Callable[[], object] = lambda: None
        """Called when the models are listed, before the answer that this server does not do that."""
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                endpoint.models()
                with suppress(ConnectionError):
                    self._send(Reply("no list of models", 404), stream=False)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked = Asked(self.headers["Idempotency-Key"], self.headers["Authorization"], body)
                endpoint.asked.append(asked)
                reply = endpoint.answer(asked)
                with suppress(ConnectionError):  # a client that was killed
                    self._send(reply, bool(body.get("stream")))

            def _send(self, reply: Reply, stream: bool) -> None:
                content, kind = completion(reply), "application/json"
                if stream and reply.status == 200:
                    content, kind = chunks(reply), "text/event-stream"
                if reply.body is not None:
                    content = reply.body
                data = content.encode()
                self.send_response(reply.status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self) -> FakeEndpoint:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()


def usage(reply: Reply) -> dict[str, int] | None:
    return reply.tokens and {"prompt_tokens": reply.tokens[0], "completion_tokens": reply.tokens[1]}


def completion(reply: Reply) -> str:
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.text, "type": "fake"}})
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return json.dumps(named("chat.completion") | {"choices": [choice], "usage": usage(reply)})


def chunks(reply: Reply) -> str:
    """The reply as a stream of events, two characters each."""
    text = reply.text or ""
    parts = [{"delta": {"content": text[at : at + 2]}, "finish_reason": None} for at in range(0, len(text), 2)]
    if not reply.cut:
        parts.append({"delta": {}, "finish_reason": reply.finish})
    made = [named("chat.completion.chunk") | {"choices": [{"index": 0, **part}], "usage": None} for part in parts]
    made.append(named("chat.completion.chunk") | {"choices": [], "usage": usage(reply)})
    return "".join(f"data: {json.dumps(each)}\n\n" for each in made) + "data: [DONE]\n\n"


def named(kind: str) -> dict[str, Any]:
    return {"id": "1", "object": kind, "created": 1, "model": "fake-2026-01-01", "system_fingerprint": "fp_7"}
