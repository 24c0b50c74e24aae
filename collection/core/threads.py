"""Work in threads, for functions that release Python's lock or wait for another process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def map_ahead(function: Callable[[T], U], items: Iterable[T], threads: int) -> Generator[U, None, None]:
    """`map` with up to `threads` items at work, results in the order of the items.

    Items are read in the caller's thread, since a generator may read from a database connection that belongs to it,
    and at most one more than there are threads, so that memory stays small.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    if threads == 1:
        yield from map(function, items)
        return
    pending: deque[Future[U]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
