"""How often somebody may try a password, and how many passwords are checked at once."""

import math
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

MOST = 10
"""Failures of one name from one source that are allowed within :data:`WITHIN`."""
MOST_OF_ACCOUNT = 50
"""Failures of one name from all unknown sources together that are allowed within :data:`WITHIN`."""
WITHIN = 5 * 60.0
"""Seconds."""
KEPT = 10_000
"""Counts that are remembered; the oldest are forgotten first."""
MOST_WAITING = 16
"""Checks of passwords under way or waiting; each takes a tenth of a second."""
MOST_WAITING_OF_SOURCE = 8
"""The same from one source, so that the others have places left."""

_EVERYWHERE = "*"
"""In the place of a source: all unknown ones together."""


class Attempts:
    """Failed attempts, by name and source. Kept in memory: a new process begins at none.

    A source is an address, or a browser in which the person has signed in before and which has a cookie that says so
    ("device cookie", OWASP, Slow Down Online Guessing Attacks with Device Cookies). Guesses from many addresses close
    a name for unknown sources only: the person still gets in from their browser, or by a one-time link.

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

    def wait(self, name: str, source: str, *, is_known: bool = False) -> float:
        """Seconds until this name may be tried again from this source; 0 where it may now."""
        return max(self._wait(key, most) for key, most in _counts(name, source, is_known))

    def failed(self, name: str, source: str, *, is_known: bool = False) -> None:
        """Count a failure."""
        for key, most in _counts(name, source, is_known):
            recent = [*self._recent(key), self._clock()]
            self._failures.pop(key, None)
            while len(self._failures) >= KEPT:
                del self._failures[next(iter(self._failures))]
            self._failures[key] = recent[-most:]

    def succeeded(self, name: str, source: str, *, is_known: bool = False) -> None:
        """Forget the failures of a name from a source; those from other sources still count."""
        for key, _ in _counts(name, source, is_known):
            if key[1] == source:
                self._failures.pop(key, None)
            elif self._failures.get(key):
                self._failures[key].pop()  # the one that was counted for this attempt

    def _wait(self, key: tuple[str, str], most: int) -> float:
        recent = self._recent(key)
        return max(0.0, recent[-most] + WITHIN - self._clock()) if len(recent) >= most else 0.0

    def _recent(self, key: tuple[str, str]) -> list[float]:
        return [at for at in self._failures.get(key, ()) if at > self._clock() - WITHIN]


OLD_PASSWORDS = Attempts()
"""Failures on the Account page, by session: whoever finds an open browser must not find the password as well."""


def wait_message(wait: float) -> str:
    """What somebody is told who has to wait, in seconds."""
    minutes = math.ceil(wait / 60)
    return f"Too many attempts: try again in {minutes} minute{'' if minutes == 1 else 's'}."


class Busy(Exception):
    """No place is free."""


class Queue:
    """The places of passwords that are checked or wait for it. Who finds none is told to come back."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    @contextmanager
    def place(self, source: str) -> Iterator[None]:
        """Hold a place inside the context; raises :class:`Busy` where there is none."""
        if self._taken.total() >= MOST_WAITING or self._taken[source] >= MOST_WAITING_OF_SOURCE:
            raise Busy
        self._taken[source] += 1
        try:
            yield
        finally:
            self._taken[source] -= 1
            if not self._taken[source]:
                del self._taken[source]


def same_name(one: str, other: str) -> bool:
    """Whether two names are one account's, as somebody may type it."""
    return _folded(one) == _folded(other)


def _counts(name: str, source: str, is_known: bool) -> list[tuple[tuple[str, str], int]]:
    """What an attempt counts for, and how many failures each of them allows."""
    folded = _folded(name)
    mine = ((folded, source), MOST)
    return [mine] if is_known else [mine, ((folded, _EVERYWHERE), MOST_OF_ACCOUNT)]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()[:64]
