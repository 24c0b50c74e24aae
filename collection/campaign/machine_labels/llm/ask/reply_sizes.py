"""The largest size of what an endpoint sends, applied while it is read. Imported only where requests are made."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import openai

LONGEST_REPLY = 16_000_000
"""Bytes of a reply, or of an error, at most: some hundred thousand tokens with their alternatives."""
LARGEST_FILE = 1_000_000_000
"""Bytes of a file with the answers of a batch, at most."""
_BYTES_PER_TOKEN = 4


class LongReplyError(openai.OpenAIError):  # type: ignore[misc]
    """A reply is too long; as an error of the client's library it is not repeated, which would be paid again.

    Parameters
    ----------
    limit
        Bytes that were read.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"the endpoint sends more than {limit / 1e6:,.6g} MB; the rest was not read")
        self.tokens = limit / _BYTES_PER_TOKEN


class _BoundedStream(httpx2.SyncByteStream):
    """The decompressed body of a response, up to a limit."""

    def __init__(self, response: httpx2.Response, limit: int) -> None:
        self.response, self.limit = response, limit

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self.response.iter_bytes():
            size += len(part)
            if size > self.limit:
                raise LongReplyError(self.limit)
            yield part

    def close(self) -> None:
        self.response.close()


def bound_reply(response: httpx2.Response) -> None:
    """Bound the body of a response, whatever its compression; a hook of the HTTP client."""
    limit = LARGEST_FILE if "/files/" in response.request.url.path else LONGEST_REPLY
    whole = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    response.stream = _BoundedStream(whole, limit)
    response.headers.pop("content-encoding", None)
