"""Requests to an endpoint with OpenAI's interface for chat completions, of which many servers have a copy."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from collection.core.characters import one_line, writable
from collection.core.errors import CampaignError, CleverdonError, InputError

T = TypeVar("T")

KEY_VARIABLE = "OPENAI_API_KEY"
RESPONSE_FORMAT = "response_format"
"""Parameter of a request for structured output."""
SHORTEST_KEY = 4
"""Characters of a key that is kept secret; shorter ones are placeholders, and may be part of any reply."""
REACHED = 10.0
"""Seconds in which a server accepts a connection, at most."""
_LONGEST_PROBLEM, _LONGEST_NAME = 300, 200
_MAY_REFUSE_FORMAT = (400, 415, 422, 501)
"""Status of endpoints that do not know a parameter."""
_NAMES_FORMAT = re.compile(r"response[_ ]?format|schema|structured[_ ]?outputs?|guided[_ ]?json|grammar", re.I)
"""What the error of an endpoint says that refuses structured output."""
_REFUSALS = 3
"""Requests in a row that fail with structured output and not without it, after which it counts as refused."""
_REFUSES_ALL = {401: "the key", 402: "the payment", 404: "the model or the address"}
"""Status -> what an endpoint refuses, however often and for whatever document it is asked."""


class EndpointError(CampaignError):
    """The endpoint cannot be used at all.

    Nothing listens at its address, the key is wrong, the model unknown, no money left, or too many requests failed in a
    row.
    """

    page = "how-to/label-with-a-language-model"


class ChatRequestError(CleverdonError):
    """One request failed, after it was repeated where that can help.

    Parameters
    ----------
    tokens
        Estimated tokens of a reply that was given up because of its length, and that is paid nevertheless.
    status
        The status of HTTP, if there was an answer.
    """

    def __init__(self, message: str, tokens: float = 0.0, status: int | None = None) -> None:
        super().__init__(message)
        self.tokens, self.status = tokens, status


class Answer(NamedTuple):
    """A reply as the endpoint sent it; parts that it does not tell are None."""

    text: str | None
    finish: str | None
    """Why the reply ended: "stop", "length", "content_filter", "refusal" or another reason of the endpoint."""
    model: str | None
    revision: str | None
    """The fingerprint of the system that answered."""
    prompt_tokens: int | None
    reply_tokens: int | None
    seconds: float | None
    """From the request to the whole reply, with repeated requests and waiting; None in a batch."""


def require_endpoint(url: str) -> str:
    """Return an endpoint's address without a slash at the end.

    Raises
    ------
    InputError
        It is no web address, or has a user name, password or query, which would be stored with the labels.

    >>> require_endpoint("http://127.0.0.1:8000/v1/")
    'http://127.0.0.1:8000/v1'
    """
    try:
        parts = urlsplit(url)
        has_host, secret = bool(parts.hostname) and (parts.port or 1) > 0, "@" in parts.netloc or parts.query
    except ValueError:
        parts, has_host, secret = urlsplit(""), False, ""
    if parts.scheme not in ("http", "https") or not has_host or not url.isprintable() or " " in url:
        raise InputError(f"endpoint: expected an address such as https://api.example.org/v1, found {url!r}")
    if secret or parts.fragment:
        raise InputError(
            "endpoint: expected an address without user name, password and query, since it is stored with the labels; "
            "put the key into an environment variable and name that with --key-variable"
        )
    return url.rstrip("/")


@dataclass(eq=False)
class ChatEndpoint:
    """An endpoint; its key is read from an environment variable when it is first used, and is kept nowhere.

    Parameters
    ----------
    url
        Address of the interface, such as ``https://api.openai.com/v1``.
    key_variable
        Environment variable with the key; without a value no key is sent, as for a server of your own.
    retries
        How often a request is repeated after a lost connection, 408, 409, 429 or 5xx: after the time that the endpoint
        asks for (up to two minutes), otherwise after .5, 1, 2, 4 and then 8 seconds, less a random part.
    timeout
        Seconds without any data after which the connection counts as lost.
    stream
        Whether replies are read as they are written, which proxies that end silent connections may need.
    """

    url: str
    key_variable: str = KEY_VARIABLE
    retries: int = 6
    timeout: float = 120.0
    stream: bool = False
    refuses_format: bool = field(default=False, init=False)
    """Whether it has refused structured output, and answered the same request without it: with an error that names the
    parameter, or several times in a row."""
    _refused: int = field(default=0, init=False, repr=False)
    """Requests in a row that failed with structured output and not without it."""
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def client(self) -> Any:
        """The client of the package openai; InputError if it is missing."""
        with self._lock:  # threads ask at the same time
            return self._client

    @cached_property
    def _client(self) -> Any:
        try:
            import openai
        except ImportError:
            raise InputError(
                "language models need the package openai; install it with `pip install openai`, or install Cleverdon "
                "with its extra llm"
            ) from None
        from collection.campaign.machine_labels.llm.ask.reply_sizes import bound_reply

        if not all("!" <= character <= "~" for character in self._key):
            raise InputError(
                f"the key in the environment variable {self.key_variable} cannot be sent: expected letters, digits and "
                "signs of ASCII, found other characters"
            )
        return openai.OpenAI(
            base_url=require_endpoint(self.url),
            api_key=self._key or "none",
            max_retries=self.retries,
            timeout=self.timeout,
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [bound_reply]}),
        )

    @property
    def headers(self) -> dict[str, Any]:
        """Further headers of every request: without a key, none is sent."""
        import openai

        return {} if self._key else {"Authorization": openai.Omit()}

    @property
    def _key(self) -> str:
        return os.environ.get(self.key_variable, "").strip()

    def connect(self) -> None:
        """Load the package, read the key, and see whether a server answers at the address, whatever it answers.

        Otherwise each of the first requests would be repeated for as long as one that fails on the way.

        Raises
        ------
        InputError
            The package is missing.
        EndpointError
            No connection could be made.
        """
        client = self.client.with_options(max_retries=0, timeout=min(self.timeout, REACHED))
        import openai

        try:
            client.models.with_raw_response.list(extra_headers=self.headers)
        except openai.APIConnectionError as error:
            # A busy server may not answer in time, but there is one.
            if type(error.__cause__).__name__ != "ReadTimeout":
                raise EndpointError(self._no_connection(error)) from None
        except openai.OpenAIError:  # not every server lists its models
            return

    def ask(self, model: str, messages: Sequence[Mapping[str, str]], settings: Mapping[str, Any], key: str) -> Answer:
        """Ask for one reply; `key` is the same for the same request, so that endpoints may answer it once only.

        If the endpoint refuses a request with :data:`RESPONSE_FORMAT`, it is repeated without it; so are all later ones
        if the error names the parameter, or after three such requests in a row.

        Raises
        ------
        EndpointError
            Every request would be refused.
        ChatRequestError
            This request failed, or the answer is no chat completion.
        """
        started = time.monotonic()
        plain = {name: value for name, value in settings.items() if name != RESPONSE_FORMAT}
        if len(plain) < len(settings) and not self.refuses_format:
            try:
                answer = self._answer(model, messages, settings, key)
            except ChatRequestError as error:
                if error.status not in _MAY_REFUSE_FORMAT:
                    raise
                answer = self._answer(model, messages, plain, f"{key}-plain")
                with self._lock:
                    self._refused += 1
                    if self._refused >= _REFUSALS or _NAMES_FORMAT.search(str(error)):
                        self.refuses_format = True
            else:
                with self._lock:
                    self._refused = 0
        else:
            answer = self._answer(model, messages, plain, key)
        return answer._replace(seconds=time.monotonic() - started)

    def _answer(
        self, model: str, messages: Sequence[Mapping[str, str]], settings: Mapping[str, Any], key: str
    ) -> Answer:
        request = {
            "model": model,
            "messages": list(messages),
            "extra_body": dict(settings),
            "extra_headers": {"Idempotency-Key": key, **self.headers},
        }
        with self.errors():
            whole = None if self.stream else self.client.chat.completions.create(**request)
            answer = self._streamed(request) if self.stream else read_completion(whole)
        return self.cleaned(answer)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise what goes wrong with a request as EndpointError or ChatRequestError, without the key."""
        import openai

        from collection.campaign.machine_labels.llm.ask.reply_sizes import LongReplyError

        try:
            yield
        except LongReplyError as error:
            raise ChatRequestError(str(error), error.tokens) from None
        except openai.APIStatusError as error:
            raise self._status_error(error.status_code, error.body, error.code) from None
        except openai.APITimeoutError:
            raise ChatRequestError(f"no answer in {self.timeout:g} seconds") from None
        except openai.APIConnectionError as error:
            raise ChatRequestError(self._no_connection(error)) from None
        except CleverdonError:
            raise
        except Exception as error:  # whatever a server sends that is no chat completion
            raise ChatRequestError(self.clean(f"{type(error).__name__}: {error}")) from None

    def _no_connection(self, error: Exception) -> str:
        return self.clean(f"no connection to {self.url}: {error.__cause__ or error}")

    def _streamed(self, request: Mapping[str, Any]) -> Answer:
        text, refusal, finish = "", "", None
        model = revision = usage = None
        with self.client.chat.completions.create(
            **request, stream=True, stream_options={"include_usage": True}
        ) as chunks:
            for chunk in chunks:
                model = model or getattr(chunk, "model", None)
                revision = revision or getattr(chunk, "system_fingerprint", None)
                usage = getattr(chunk, "usage", None) or usage
                for choice in (chunk.choices or [])[:1]:
                    text += choice.delta.content or ""
                    refusal += getattr(choice.delta, "refusal", None) or ""
                    finish = choice.finish_reason or finish
        if finish is None:
            raise ChatRequestError("the stream ended before the reply did")
        return _answer(text, refusal, finish, model, revision, usage)

    def _status_error(self, status: int, body: object, code: object) -> CleverdonError:
        error = body.get("error", body) if isinstance(body, dict) else body
        said = error.get("message") if isinstance(error, dict) else error
        words = self.clean(f"HTTP {status}" + (f": {said}" if said else ""))
        if status in _REFUSES_ALL or code == "insufficient_quota":
            hint = f"; is the key in the environment variable {self.key_variable}?" if status == 401 else ""
            return EndpointError(f"{self.url} refuses {_REFUSES_ALL.get(status, 'the quota')} ({words}){hint}")
        return ChatRequestError(words, status=status)

    def clean(self, words: str) -> str:
        """Words of an endpoint in one line that is not too long, without the key."""
        words = one_line(writable(self._without_key(words)))
        return words if len(words) <= _LONGEST_PROBLEM else f"{words[:_LONGEST_PROBLEM]}..."

    def cleaned(self, answer: Answer) -> Answer:
        """The answer without the key, which an endpoint may repeat in any field; only the length of a reply is free."""
        finish, model, revision = (
            each and self._without_key(each)[:_LONGEST_NAME] for each in (answer.finish, answer.model, answer.revision)
        )
        prompt_tokens, reply_tokens = (
            None if self.has_key(each) else each for each in (answer.prompt_tokens, answer.reply_tokens)
        )
        text = answer.text and self._without_key(answer.text)
        return Answer(text, finish, model, revision, prompt_tokens, reply_tokens, answer.seconds)

    def has_key(self, value: object) -> bool:
        """Tell whether something that an endpoint sent contains the key."""
        return self._key_pattern.search(str(value).replace("\0", "")) is not None

    def _without_key(self, text: str) -> str:
        """The text without NUL, which is not stored, and without the key, also where NUL divides it."""
        return self._key_pattern.sub("[key]", text.replace("\0", ""))

    @property
    def _key_pattern(self) -> re.Pattern[str]:
        """The key, with any of its characters as in a web address or in JSON; nothing for a placeholder."""
        if len(self._key) < SHORTEST_KEY:
            return re.compile("(?!)")
        forms = (rf"(?:\\?{re.escape(each)}|(?i:%{ord(each):02x}|\\u{ord(each):04x}))" for each in self._key)
        return re.compile("".join(forms))


def read_completion(completion: Any) -> Answer:
    """Read a completion; the client's library passes on whatever a server has sent, with or without these fields.

    ChatRequestError if it is none.
    """
    choices = getattr(completion, "choices", None)
    if not choices:
        raise ChatRequestError("the answer is no chat completion")
    message, usage = choices[0].message, getattr(completion, "usage", None)
    model, revision = (getattr(completion, name, None) for name in ("model", "system_fingerprint"))
    refusal = getattr(message, "refusal", None)
    return _answer(message.content, refusal, choices[0].finish_reason, model, revision, usage)


def _answer(text: object, refusal: object, finish: object, model: object, revision: object, usage: object) -> Answer:
    if isinstance(refusal, str) and refusal:
        text, finish = refusal, "refusal"
    return Answer(
        text=text if isinstance(text, str) else None,
        finish=_name(finish),
        model=_name(model),
        revision=_name(revision),
        prompt_tokens=_tokens(getattr(usage, "prompt_tokens", None)),
        reply_tokens=_tokens(getattr(usage, "completion_tokens", None)),
        seconds=None,
    )


def _name(value: object) -> str | None:
    return writable(value) if isinstance(value, str) and value else None


def _tokens(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 2**40 else None


@dataclass(frozen=True)
class Answered(Generic[T]):
    """A request with its answer, or with the error that came instead."""

    request: T
    answer: Answer | None
    error: BaseException | None


def ask_all(
    ask: Callable[[T], Answer], next_request: Callable[[], T | None], concurrency: int
) -> Iterator[Answered[T]]:
    """Ask with a thread for each request, and yield what comes back in the order of its arrival.

    `next_request` is called in the caller's thread whenever fewer than `concurrency` requests are under way. If it
    returns None, no request is added before another answer has come; without any request under way, that is the end.
    The process never waits for the threads at its own end, as it would for those of concurrent.futures.
    """
    done: queue.SimpleQueue[Answered[T]] = queue.SimpleQueue()

    def work(request: T) -> None:
        try:
            done.put(Answered(request, ask(request), None))
        except BaseException as error:  # raised where it is handled, in the caller's thread
            done.put(Answered(request, None, error))

    in_flight = 0
    while True:
        while in_flight < concurrency and (request := next_request()) is not None:
            threading.Thread(target=work, args=(request,), name="request", daemon=True).start()
            in_flight += 1
        if not in_flight:
            return
        answered = done.get()
        in_flight -= 1
        yield answered
