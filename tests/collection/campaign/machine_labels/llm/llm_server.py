"""An endpoint of a language model on this machine that answers as a test wants."""

import gzip
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

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
    compressed: bool = False
    cut: bool = False
    """Whether a stream ends before the reply does, or the connection without a reply."""


@dataclass
class Asked:
    """A request that arrived."""

    key: str
    authorization: str | None
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass
class FakeBatch:
    """A batch as the server has it."""

    body: dict[str, Any]
    requests: list[dict[str, Any]]
    status: str = "in_progress"
    output: str | None = None
    errors: str | None = None
    refusal: str | None = None


class FakeEndpoint:
    """A server with OpenAI's interface; `answer` makes the reply to a request, in the thread of the request.

    Batches are answered when they are looked at, unless `look` does something else with them.
    """

    def __init__(self, answer: Callable[[Asked], Reply] = lambda asked: Reply()) -> None:
        self.answer, self.asked = answer, list[Asked]()
        self.models: Callable[[], object] = lambda: None
        """Called when the models are listed, before the answer that this server does not do that."""
        self.files: dict[str, str] = {}
        self.batches: dict[str, FakeBatch] = {}
        self.name_batch: Callable[[int], str] = "batch-{}".format
        self.look: Callable[[FakeBatch], Reply | None] = self.finish
        self.after_batch: Callable[[], object] = lambda: None
        """Called when a batch was made; a reply is sent in place of the batch."""
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if "/models" in self.path:
                    endpoint.models()
                with suppress(ConnectionError):
                    self._send(endpoint.get(self.path.partition("?")[0].removeprefix("/v1/")), stream=False)

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                if not self.path.endswith("/chat/completions"):
                    reply = endpoint.post(self.path.removeprefix("/v1/"), sent)
                    with suppress(ConnectionError):
                        self._send(reply, stream=False)
                    return
                body = json.loads(sent)
                asked = Asked(self.headers["Idempotency-Key"], self.headers["Authorization"], body)
                endpoint.asked.append(asked)
                reply = endpoint.answer(asked)
                with suppress(ConnectionError):  # a client that was killed
                    self._send(reply, bool(body.get("stream")))

            def _send(self, reply: Reply, stream: bool) -> None:
                if reply.cut and not stream:
                    self.close_connection = True
                    return
                content, kind = completion(reply), "application/json"
                if stream and reply.status == 200:
                    content, kind = chunks(reply), "text/event-stream"
                if reply.body is not None:
                    content = reply.body
                data = gzip.compress(content.encode()) if reply.compressed else content.encode()
                coding = {"Content-Encoding": "gzip"} if reply.compressed else {}
                headers = {"Content-Type": kind, "Content-Length": str(len(data)), **coding, **reply.headers}
                self.send_response(reply.status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def get(self, path: str) -> Reply:
        """What a GET has as its answer."""
        match path.split("/"):
            case ["files", file, "content"] if file in self.files:
                return Reply(body=self.files[file])
            case ["batches"]:
                newest = [self.described(name) for name in reversed(self.batches)]
                return Reply(body=json.dumps({"object": "list", "data": newest, "has_more": False}))
            case ["batches", name] if name in self.batches:
                return self.look(self.batches[name]) or Reply(body=json.dumps(self.described(name)))
        return Reply("there is no such thing", 404)

    def post(self, path: str, sent: bytes) -> Reply:
        """What another POST than for a completion has as its answer."""
        match path.split("/"):
            case ["files"]:
                content = sent.partition(b'name="file"')[2].partition(b"\r\n\r\n")[2].partition(b"\r\n--")[0]
                name = f"file-{len(self.files)}"
                self.files[name] = content.decode()
                return Reply(body=json.dumps({"id": name, "object": "file"}))
            case ["batches"]:
                body, name = json.loads(sent), self.name_batch(len(self.batches))
                lines = self.files[body["input_file_id"]].split("\n")
                self.batches[name] = FakeBatch(body, list(map(json.loads, lines)))
                instead = self.after_batch()
                return instead if isinstance(instead, Reply) else Reply(body=json.dumps(self.described(name)))
            case ["batches", name, "cancel"] if name in self.batches:
                self.batches[name].status = "cancelled"
                return Reply(body=json.dumps(self.described(name)))
        return Reply("there is no such thing", 404)

    def described(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        counts = {"total": len(batch.requests), "completed": 0, "failed": 0}
        errors = batch.refusal and {"object": "list", "data": [{"code": "invalid", "message": batch.refusal}]}
        return {
            "id": name, "object": "batch", "status": batch.status, "metadata": batch.body["metadata"],
            "output_file_id": batch.output, "error_file_id": batch.errors, "errors": errors, "request_counts": counts,
        }  # fmt: skip

    def finish(self, batch: FakeBatch, status: str = "completed", most: int | None = None) -> None:
        """Answer the requests of a batch, at most so many, backwards; those with an error are in the other file."""
        if batch.status != "in_progress":
            return
        batch.status, lines = status, {"output": list[str](), "errors": list[str]()}
        for number, request in enumerate(batch.requests):
            if number < (len(batch.requests) if most is None else most):
                reply = self.answer(Asked(request["custom_id"], None, request["body"]))
                body = json.loads(completion(reply) if reply.body is None else reply.body)
                result = {"response": {"status_code": reply.status, "body": body}, "error": None}
            else:
                result = {"response": None, "error": {"code": "batch_expired", "message": "not executed in time"}}
            done = result["error"] is None and result["response"]["status_code"] == 200
            lines["output" if done else "errors"].insert(0, json.dumps({"custom_id": request["custom_id"], **result}))
        for kind, written in lines.items():
            if written:
                file = f"file-{len(self.files)}"
                self.files[file] = "\n".join(written) + "\n"
                setattr(batch, kind, file)

    def __enter__(self) -> Self:
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
