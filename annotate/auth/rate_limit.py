"""Limits on failed sign-ins, on passwords checked at the same time, and on WebSockets without a sign-in."""

import math
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from collection.core.phrases import count

MAX_FAILURES = 10  # failures allowed for one name from one source within PERIOD
MAX_FAILURES_PER_NAME = 50  # failures allowed for one name from all unknown sources together within PERIOD
PERIOD = 5 * 60.0  # seconds
MAX_COUNTS = 10_000  # counts kept; the oldest are forgotten first
MAX_CHECKS = 16  # password checks running or waiting, 0.1 s each
MAX_CHECKS_PER_SOURCE = 8  # the same from one source

MAX_STRANGERS = 200  # WebSockets open without a sign-in
MAX_STRANGERS_PER_ADDRESS = 50  # the same from one address; behind a proxy that is not trusted, all have its address

_ALL_SOURCES = "*"


class FailedAttempts:
    """Failed attempts by name and source, kept in memory.

    A source is an address, or a browser with a cookie that says that the person has signed in there before ("device
    cookie", OWASP, Slow Down Online Guessing Attacks with Device Cookies). Guesses from many addresses lock a name for
    unknown sources only: the person can still sign in from their own browser, or by a one-time link.

    >>> attempts = FailedAttempts(clock=lambda: 0.0)
    >>> for _ in range(MAX_FAILURES):
    ...     attempts.failed("ann", "10.0.0.1")
    >>> attempts.wait("ann", "10.0.0.1"), attempts.wait("ann", "10.0.0.2")
    (300.0, 0.0)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[tuple[str, str], list[float]] = {}

    def wait(self, name: str, source: str, *, is_known: bool = False) -> float:
        """Seconds until this name may be tried again from this source; 0 where it may now."""
        now = self._clock()
        recent = ((self._recent(key), most) for key, most in _limits(name, source, is_known))
        return max([0.0, *(times[-most] + PERIOD - now for times, most in recent if len(times) >= most)])

    def failed(self, name: str, source: str, *, is_known: bool = False) -> None:
        """Count a failure."""
        for key, most in _limits(name, source, is_known):
            recent = [*self._recent(key), self._clock()]
            self._failures.pop(key, None)
            while len(self._failures) >= MAX_COUNTS:
                del self._failures[next(iter(self._failures))]
            self._failures[key] = recent[-most:]

    def succeeded(self, name: str, source: str, *, is_known: bool = False) -> None:
        """Forget the failures of a name from a source; those from other sources still count."""
        for key, _ in _limits(name, source, is_known):
            if key[1] == source:
                self._failures.pop(key, None)
            elif self._failures.get(key):
                self._failures[key].pop()  # the one that was counted for this attempt

    def _recent(self, key: tuple[str, str]) -> list[float]:
        return [at for at in self._failures.get(key, ()) if at > self._clock() - PERIOD]


OLD_PASSWORD_FAILURES = FailedAttempts()
"""Failures on the Account page by session: an open browser must not give away the password as well."""


def wait_message(wait: float) -> str:
    """Tell how long to wait, rounded up to minutes; `wait` is in seconds."""
    return f"Too many attempts. Try again in {count(math.ceil(wait / 60), 'minute')}."


class Places:
    """A limited number of places, in total and for each source.

    Password checks that run or wait take one, and WebSockets that are open without a sign-in: each of these holds a
    session of Streamlit in memory, which people need for moments only on the way to and from a sign-in provider.
    """

    def __init__(self, most: int, most_per_source: int) -> None:
        self._most, self._most_per_source = most, most_per_source
        self._taken: Counter[str] = Counter()

    @contextmanager
    def place(self, source: str | None) -> Iterator[bool]:
        """Return whether there is a place for a source, and hold it inside the context; None needs none."""
        if source is None:
            yield True
            return
        if self._taken.total() >= self._most or self._taken[source] >= self._most_per_source:
            yield False
            return
        self._taken[source] += 1
        try:
            yield True
        finally:
            self._taken[source] -= 1
            if not self._taken[source]:
                del self._taken[source]


def same_name(one: str, other: str) -> bool:
    """Return whether two names, as typed, are the same account's."""
    return _folded(one) == _folded(other)


def _limits(name: str, source: str, is_known: bool) -> list[tuple[tuple[str, str], int]]:
    """The counts that an attempt adds to, with the failures allowed for each."""
    folded = _folded(name)
    own = ((folded, source), MAX_FAILURES)
    return [own] if is_known else [own, ((folded, _ALL_SOURCES), MAX_FAILURES_PER_NAME)]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()[:64]
