"""Work at the workers of a Dask cluster (extra ``cluster``), or in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import starmap
from typing import Any, TypeVar

from collection.core.errors import ClusterError, InputError

S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")

CONNECT_SECONDS = 5
POLL_SECONDS, PATIENCE = 5, 3
"""Without a worker at so many looks in a row, the cluster has failed; one that was killed starts again sooner."""

AHEAD = 3
"""Calls that each thread of the workers has in hand or waiting."""


class Workers:
    """The workers of a Dask cluster.

    Dask repeats what a lost worker has done. After a failure of the whole cluster, the next call connects again.

    Raises
    ------
    ClusterError
        By every method, where the cluster cannot be reached, has no workers, or cannot read a file.
    InputError
        The extra ``cluster`` is not installed.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client: Any = None

    def check(self) -> None:
        """Connect and leave again."""
        self._call(lambda: None)
        self.close()

    def close(self) -> None:
        """Leave the cluster, which then forgets all results."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                client.close(timeout=1)

    def _call(self, ask: Callable[[], T]) -> T:
        """Call a function that uses the client."""
        distributed = require_module("distributed")
        try:
            if self._client is None:
                self._client = self._connect(distributed)
            with self._client.as_current():
                return ask()
        except (OSError, CancelledError, distributed.KilledWorker, ClusterError) as error:
            self.close()
            if isinstance(error, ClusterError):
                raise
            raise ClusterError(f"the cluster at {self.address} failed ({_reason(error)})") from error

    def _connect(self, distributed: Any) -> Any:
        try:
            return distributed.Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:  # no answer, or no address
            raise ClusterError(f"the cluster at {self.address} cannot be reached ({_reason(error)})") from error

    def _results(self, futures: list[Any], needed: bool = True) -> list[Any]:
        """Wait for results as long as there are workers; return them, or nothing if they are not `needed` here."""
        distributed, without = require_module("distributed"), 0
        while without < PATIENCE:
            try:
                distributed.wait(futures, timeout=POLL_SECONDS)
            except TimeoutError:
                if self._client.status == "closed":
                    break
                without = 0 if self._client.scheduler_info().get("workers") else without + 1
                continue
            if needed:
                return list(self._client.gather(futures))
            failed = [future for future in futures if future.status != "finished"]
            return list(self._client.gather(failed))  # raises their error
        raise ClusterError(f"the cluster at {self.address} has no workers")

    def map(self, function: Callable[[S, U], T], items: Iterable[tuple[S, U]]) -> Iterator[T]:
        """See :func:`map_items`."""
        pending: deque[Any] = deque()
        shared: tuple[S, Any] | None = None

        def submit(given: S, own: U) -> None:
            nonlocal shared
            if shared is None or shared[0] is not given:
                # Unlike scattered data, the result of a call survives the loss of all workers.
                shared = given, self._client.submit(_return, given, pure=False)
            pending.append(self._client.submit(function, shared[1], own, pure=False))

        def first() -> T:
            result: T = self._results([pending.popleft()])[0]
            return result

        dask = require_module("dask")
        for given, own in items:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                self._call(lambda: submit(given, own))  # noqa: B023 (called at once)
            if len(pending) > AHEAD * max(1, self._call(lambda: sum(self._client.nthreads().values()))):
                yield self._call(first)
        while pending:
            yield self._call(first)


def map_items(function: Callable[[S, U], T], items: Iterable[tuple[S, U]], address: str | None = None) -> Iterator[T]:
    """Yield `function(shared, own)` for each item (shared, own), in order: in this process, or on a cluster.

    The function is pure, so a call can be repeated at another worker. A shared object is sent again only if it is not
    that of the item before. Items are read slightly ahead.

    Parameters
    ----------
    address
        Address of a Dask scheduler; None for this process.

    Raises
    ------
    ClusterError, InputError
        As :class:`Workers`.
    """
    if address is None:
        yield from starmap(function, items)
        return
    workers = Workers(address)
    try:
        yield from workers.map(function, items)
    finally:
        workers.close()


def _return(given: T) -> T:
    return given


def _reason(error: BaseException) -> str:
    if isinstance(error, CancelledError):
        return "connection lost"
    return (str(error) or type(error).__name__).strip().splitlines()[0]


def require_module(name: str) -> Any:
    """Import a module of the extra ``cluster``."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"a cluster needs {name}: pip install 'cleverdon[cluster]'") from None
