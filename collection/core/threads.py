"""Work in threads, for functions that release Python's lock or wait for another process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from time import sleep
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")

PAUSE_AFTER, PAUSE = 30, 5e-5
"""Number of items after which a reader pauses, and seconds: another thread gets Python's lock then, instead of after
the 5 ms for which a thread may keep it."""


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


class ReadAhead(Iterator[T]):
    """Items that are read in another thread while this one waits for something that needs no lock of Python.

    `size` tells how large an item is; items of at most the size `most` are read ahead. An error of the iterator is
    raised where its item would be.

    >>> letters = ReadAhead("abc", len, 100)
    >>> with letters.meanwhile():
    ...     pass  # such as a long statement of a database
    >>> "".join(letters)
    'abc'
    """

    def __init__(self, items: Iterable[T], size: Callable[[T], int], most: int) -> None:
        self._items, self._size, self._most = iter(items), size, most
        self._ready: deque[T] = deque()
        self._error: BaseException | None = None
        self._stop = False

    def __next__(self) -> T:
        if self._ready:
            return self._ready.popleft()
        if self._error is not None:
            raise self._error
        return next(self._items)

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Read items while the block runs, which takes none."""
        self._stop = False
        reader = Thread(target=self._fill, name="read ahead")
        reader.start()
        try:
            yield
        finally:
            self._stop = True
            reader.join()

    def _fill(self) -> None:
        size = sum(map(self._size, self._ready))
        try:
            while size < self._most and not self._stop:
                item = next(self._items)
                self._ready.append(item)
                size += self._size(item)
                if len(self._ready) % PAUSE_AFTER == 0:
                    sleep(PAUSE)
        except BaseException as error:  # raised in the thread that takes the items; also their end
            self._error = error
