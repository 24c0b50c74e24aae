"""`cleverdon serve` as a process of its own that can be killed, limited and started again."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from unittest import mock

from annotate.__main__ import main
from collection.core import clock
from collection.store import connection
from tests.browser.serving import SERVERS, free_port
from tests.helpers import PATIENCE, too_late, until

BUSY_SECONDS = 0.3
"""How long a writer of the server waits for a lock here; 15 s elsewhere."""


class Server:
    """The server on a campaign; what it prints goes to a file beside the campaign.

    `offset` is a file with the seconds by which the server's clock is `ahead`, `lasting` after how many seconds a
    change of it counts.
    """

    def __init__(self, directory: Path, logs: Path, lasting: float = clock.LASTING, ahead: float = 0) -> None:
        self.directory, self.port = directory, free_port()
        self.log, self.offset, self.lasting = logs / "server.log", logs / "offset", lasting
        self.offset.write_text(str(ahead))
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        begun = self.log.stat().st_size if self.log.exists() else 0
        arguments = [str(self.directory), "--no-browser", "--as", "boss", "--port", str(self.port)]
        self.process = SERVERS.Process(
            target=_serve, args=(arguments, self.log, self.offset, self.lasting), daemon=True
        )
        with mock.patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):  # as in tests.browser.serving
            self.process.start()
        until(lambda: "/signin?token=" in self.printed(begun) or not self.process.is_alive(), "the server")
        assert self.process.is_alive(), self.printed(begun)

    def printed(self, after: int = 0) -> str:
        """What it has printed, after so many bytes."""
        return self.log.read_bytes()[after:].decode(errors="replace") if self.log.exists() else ""

    @property
    def pid(self) -> int:
        """Its process."""
        assert self.process.pid is not None
        return self.process.pid

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it by a signal; its exit code."""
        if self.process.is_alive():
            os.kill(self.pid, how)
        self.process.join(PATIENCE)
        assert self.process.exitcode is not None, too_late("the end of the server", self.printed())
        return self.process.exitcode

    def trainer(self) -> int | None:
        """The process that trains the model, None while there is none."""
        children = Path(f"/proc/{self.pid}/task").glob("*/children")
        found = [int(pid) for file in children for pid in file.read_text().split()]
        return next((pid for pid in found if "trainer_process" in _command(pid)), None)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:  # it has ended
        return ""


def _serve(arguments: list[str], log: Path, offset: Path, lasting: float) -> None:
    """Serve in this process, which prints into `log`, obeys permissions of files, and whose clock can be wrong."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    obey_permissions()
    connection.BUSY_SECONDS, clock.LASTING = BUSY_SECONDS, lasting
    clock._CLOCK = clock.Clock(_wrong_by(offset), clock._steady)
    main(arguments)


def _wrong_by(offset: Path) -> Callable[[], float]:
    def wall() -> float:
        try:
            return time.time() + float(offset.read_text())
        except (OSError, ValueError):  # none, or half written
            return time.time()

    return wall


def obey_permissions() -> None:
    """Take from root what lets it write into read-only files, here and in what this process starts."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert libc.prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP: not for what is started
        header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert libc.capget(header, sets) == 0
        for index in range(3):  # effective, permitted, inheritable
            sets[index] &= ~0b110
        assert libc.capset(header, sets) == 0
