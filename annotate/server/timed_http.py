"""Limits on the time that a client may take to send a request, and on open files."""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress

from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 15.0
"""Time for a request line with its headers, from the connection or the first byte after an earlier request. Their size
is limited to 64 KB by h11."""

BODY_SECONDS = 30.0  # time for a whole body; for an upload, which can be large, for each part of it

OPEN_FILES_ON_MACOS = 10_240
"""Files that a process may open on macOS, which names no hard limit but refuses more (OPEN_MAX in sys/syslimits.h)."""


class SlowRequest(Exception):
    """A request whose body does not arrive in time."""


class TimedH11(H11Protocol):
    """HTTP/1.1 that closes a connection on which no complete header arrives in time; uvicorn waits for ever."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a header."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Take data, and wait for a header unless a request is being handled or a WebSocket has taken over."""
        super().data_received(data)
        is_handled = self.cycle is not None and not self.cycle.response_complete
        if is_handled or self.transport.get_protocol() is not self:
            self._stop()
        elif self._timer is None:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def receive_in_time(receive: Receive, *, in_parts: bool) -> Receive:
    """Raise :class:`SlowRequest` where the body of a request, or with `in_parts` one part of it, takes too long."""
    end: float | None = None
    is_complete = False

    async def receive_part() -> Message:
        nonlocal end, is_complete
        if is_complete:  # what comes now is that the client leaves, at any time
            return await receive()
        now = asyncio.get_running_loop().time()
        if end is None or in_parts:
            end = now + BODY_SECONDS
        try:
            message = await asyncio.wait_for(receive(), max(0.0, end - now))
        except TimeoutError:
            raise SlowRequest from None
        is_complete = not message.get("more_body", False)
        return message

    return receive_part


def allow_open_files() -> None:
    """Raise the limit on open files, of which each connection is one, as far as the system lets this process."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for limit in (most, OPEN_FILES_ON_MACOS):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
            return
