"""How often somebody may try a password."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable

MOST = 10
"""Failures of one name from one address that are allowed within :data:`WITHIN`."""
WITHIN = 5 * 60.0
"""Seconds."""
KEPT = 10_000
"""Pairs of name and address that are remembered; the oldest are forgotten first."""


class Attempts:
    """Failed attempts, by name and address. Kept in memory: a new process begins at none.

    Parameters
    ----------
    clock
        Seconds that only go forward; for tests.

    Examples
    --------
    >>> attempts = Attempts(clock=lambda: 0.0)
    >>> for _ in range(MOST):
    ...     attempts.failed("ann", "10.0.0.1")
    >>> attempts.wait("ann", "10.0.0.1"), attempts.wait("ann", "10.0.0.2")
    (300.0, 0.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[tuple[str, str], list[float]] = {}

    def wait(self, name: str, address: str) -> float:
        """Seconds until this name may be tried again from this address; 0 where it may now."""
        recent = self._recent(name, address)
        return max(0.0, recent[-MOST] + WITHIN - self._clock()) if len(recent) >= MOST else 0.0

    def failed(self, name: str, address: str) -> None:
        """Count a failure."""
        recent = [*self._recent(name, address), self._clock()]
        key = _key(name, address)
        self._failures.pop(key, None)
        while len(self._failures) >= KEPT:
            del self._failures[next(iter(self._failures))]
        self._failures[key] = recent[-MOST:]

    def succeeded(self, name: str, address: str) -> None:
        """Forget the failures of a name from an address."""
        self._failures.pop(_key(name, address), None)

    def _recent(self, name: str, address: str) -> list[float]:
        return [at for at in self._failures.get(_key(name, address), ()) if at > self._clock() - WITHIN]


def _key(name: str, address: str) -> tuple[str, str]:
    return unicodedata.normalize("NFC", name).strip().casefold()[:64], address
