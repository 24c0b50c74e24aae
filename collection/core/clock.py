"""The clock of all times of a campaign: the machine's clock without jumps.

Corrections by up to a minute are followed, but never backwards. After a larger change time goes on as before; the
change counts only if it lasts for :data:`LASTING` seconds, as after a suspension. So a clock that is set by mistake and
set right again signs nobody out and writes no time of the future. Only times from other machines, such as a sign-in
provider, are compared with the machine's clock itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

JUMP = 60.0
"""Seconds by which the machine's clock may be corrected at once."""
LASTING = 10 * 60.0
"""Seconds after which a larger change counts."""


def _steady() -> float:
    """Seconds of a monotonic clock that goes on while the machine sleeps, if there is one."""
    # On macOS CLOCK_MONOTONIC goes on while the machine sleeps; time.monotonic(), which reads another clock, stops.
    clock = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Clock:
    """A clock without jumps, from the machine's clock (`wall`) and a monotonic one (`steady`), both in seconds."""

    def __init__(self, wall: Callable[[], float], steady: Callable[[], float]) -> None:
        self._wall, self._steady = wall, steady
        self._at, self._steady_at = wall(), steady()
        self._jumped_at: float | None = None
        """By the steady clock, when the machine's clock was set."""
        self._lock = threading.Lock()

    def seconds(self) -> float:
        """The time in seconds of the epoch."""
        with self._lock:
            wall, steady = self._wall(), self._steady()
            expected = self._at + (steady - self._steady_at)
            if abs(wall - expected) <= JUMP:
                self._at, self._jumped_at = max(wall, self._at), None
            elif self._jumped_at is None or steady - self._jumped_at < LASTING:
                if self._jumped_at is None:
                    self._jumped_at = steady
                    logging.getLogger(__name__).warning(
                        "The system clock changed by %+.0f seconds; the change is used if it lasts for %.0f minutes.",
                        wall - expected,
                        LASTING / 60,
                    )
                self._at = expected
            else:
                self._at, self._jumped_at = wall, None
            self._steady_at = steady
            return self._at


_CLOCK = Clock(time.time, _steady)


def seconds() -> float:
    """The time in seconds of the epoch."""
    return _CLOCK.seconds()


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.fromtimestamp(_CLOCK.seconds(), UTC).isoformat(timespec="milliseconds")
