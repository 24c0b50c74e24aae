"""Items that are read in another thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from collection.core.threads import ReadAhead
from tests.helpers import PATIENCE, until


def test_items_keep_their_order_and_are_read_in_the_meantime() -> None:
    threads: list[str] = []
    started = threading.Event()

    def items() -> Iterator[int]:
        for number in range(1000):
            threads.append(threading.current_thread().name)
            started.set()
            yield number

    read = ReadAhead(items(), lambda _: 1, 10_000)
    taken = [next(read), next(read)]
    started.clear()
    with read.meanwhile():
        assert started.wait(PATIENCE), "no item was read"
    taken += read
    assert taken == list(range(1000))
    assert threads[:2] == [threading.current_thread().name] * 2
    assert threads[2] == "read ahead"


def test_an_error_is_raised_where_its_item_would_be() -> None:
    failed = threading.Event()

    def items() -> Iterator[str]:
        yield from "ab"
        failed.set()
        raise ValueError("the third")

    read = ReadAhead(items(), lambda _: 1, 10_000)
    with read.meanwhile():
        assert failed.wait(PATIENCE), "the third item was not reached"
    assert [next(read), next(read)] == ["a", "b"]
    for _ in range(2):
        with pytest.raises(ValueError, match="the third"):
            next(read)


def test_no_more_is_read_than_fits() -> None:
    """Otherwise, a reader that is faster than the database would fill the memory."""
    read_so_far: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1000):
            read_so_far.append(number)
            yield number

    read = ReadAhead(items(), lambda _: 10, 95)
    taken: list[int] = []
    for _ in range(3):
        with read.meanwhile():
            until(lambda: "read ahead" not in {thread.name for thread in threading.enumerate()}, "the end of reading")
        assert len(read_so_far) == len(taken) + 10
        taken += [next(read) for _ in range(15)]
    assert taken == list(range(45))


def test_the_end_is_kept() -> None:
    read = ReadAhead([], len, 10)
    with read.meanwhile():
        pass
    assert list(read) == list(read) == []
