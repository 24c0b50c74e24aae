"""The server's side of the process that trains models: sends requests, keeps results, and restarts the process.

The other side is :mod:`annotate.card.server.trainer_process`.
"""

from __future__ import annotations

import itertools
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from annotate.card.server import trainer_process
from collection.active_learning.features import ONE_THREAD
from collection.campaign import Campaign
from collection.campaign.settings.loop_settings import LOOPING

if TYPE_CHECKING:
    from collection.campaign.loop.loop_round import LoopRound, Reasons

log = logging.getLogger(__name__)

REASONS_TIMEOUT = 10.0  # seconds
MAX_FAILURES = 2  # ends of the process in a row after which it is only started again for a request


class NoModelError(Exception):
    """There is no model of the topic that could give reasons."""


def start_process(directory: Path) -> subprocess.Popen[bytes]:
    """Start the process that trains, for the campaign in this directory; it inherits none of the server's sockets."""
    # The path as it is now: the program may have changed it since it was started.
    path = [str(Path(__file__).parents[2]), *(p for p in sys.path if p)]
    command = [sys.executable, "-c", trainer_process.START.format(path=path, directory=str(directory))]
    environment = {**os.environ, **ONE_THREAD}  # the other cores are for the server
    pipe = subprocess.PIPE
    # In a process group of its own: Ctrl+C in the terminal is for the server.
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, process_group=0)


class Trainer:
    """Has one process make one round at a time, the newest request first."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._rounds: dict[str, LoopRound] = {}
        self._problems: dict[str, str] = {}
        self._requested: list[str] = []
        self._current: str | None = None
        self._state = threading.Condition()
        self._stopping = False
        self._start_early = False
        self._failures = 0
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._tickets = itertools.count()
        self._reasons: dict[int, SimpleQueue[trainer_process.ReasonsResult | None]] = {}

    @property
    def process(self) -> int | None:
        """The id of the process, None while there is none."""
        child = self._child
        return None if child is None else child.pid

    @property
    def has_given_up(self) -> bool:
        """Return whether the process has ended repeatedly, and starts again only for a request."""
        return self._failures >= MAX_FAILURES and self._child is None

    def start(self, campaign: Campaign) -> None:
        """Start the process before the first request if a topic of the campaign is in its loop."""
        if not LOOPING.intersection(campaign.settings.modes().values()):
            return
        with self._state:
            self._start_early = True
            self._start_thread()

    def request(self, query_id: str) -> None:
        """Request a new round of a topic, once."""
        with self._state:
            if query_id in self._requested:
                self._requested.remove(query_id)
            self._requested.append(query_id)
            self._start_thread()
            self._send_next()

    def latest(self, query_id: str) -> LoopRound | None:
        """Return the latest round of a topic, which newer judgements may have outdated."""
        return self._rounds.get(query_id)

    def problem(self, query_id: str) -> str | None:
        """Return why the last attempt at a round of this topic failed, or None."""
        return self._problems.get(query_id)

    def reasons(self, query_id: str, row: int) -> Reasons | None:
        """Return the latest round's reasons for a document's rank; None if it has no such row of the matrix.

        Raises :class:`NoModelError` if the process has made no round of the topic since it was started.
        """
        ticket = next(self._tickets)
        results: SimpleQueue[trainer_process.ReasonsResult | None] = SimpleQueue()
        with self._state:
            self._reasons[ticket] = results
            sent = self._send(trainer_process.ReasonsRequest(ticket, query_id, row))
        try:
            result = results.get(timeout=REASONS_TIMEOUT) if sent else None
        except Empty:
            result = None
        finally:
            with self._state:
                del self._reasons[ticket]
        if result is None or not result.known:
            raise NoModelError(query_id)
        return result.reasons

    def stop(self) -> None:
        """End the process without finishing its round, which can be made again."""
        with self._state:
            self._stopping = True
            if self._child is not None:
                _close_input(self._child)
            self._state.notify()
        if self._thread is not None:
            self._thread.join(timeout=5)
            if self._thread.is_alive() and self._child is not None:
                self._child.kill()
                self._thread.join(timeout=5)

    # --- with the state held ---

    def _start_thread(self) -> None:
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._supervise, name="trainer", daemon=True)
            self._thread.start()
        self._state.notify()

    def _send_next(self) -> None:
        if self._current is None and self._requested and self._send(trainer_process.RoundRequest(self._requested[-1])):
            self._current = self._requested.pop()

    def _send(self, request: trainer_process.WorkerRequest) -> bool:
        """Return whether a request could be sent; it is short, so that the pipe takes it at once."""
        if self._child is None or self._child.stdin is None or self._stopping:
            return False
        try:
            trainer_process.send(self._child.stdin, request)
        except (OSError, ValueError):  # the process has ended, which the reader of its results notices
            return False
        return True

    # --- in the thread that reads the results ---

    def _supervise(self) -> None:
        """Start the process, read its results, and start it again after it has ended."""
        while True:
            with self._state:
                self._state.wait_for(
                    lambda: self._stopping or self._requested or (self._start_early and self._failures < MAX_FAILURES)
                )
                if self._stopping:
                    return
            try:
                child = start_process(self.directory)
            except OSError as error:
                self._failures += 1
                self._fail(f"the training process cannot be started: {error}", retry=False)
                continue
            with self._state:
                self._child = child
                self._current = None
                if self._stopping:
                    _close_input(child)
                self._send_next()
            if self._read_results(child):
                self._failures = 0
            how = _wait_for_end(child)
            with self._state:  # other threads see the failed requests and the missing process together
                self._child = None
                if self._stopping:
                    return
                self._failures += 1
                self._start_early = True
                log.error("the training process ended (%s)", how)
                self._fail(f"the training process ended ({how})", retry=self._failures < MAX_FAILURES)

    def _read_results(self, child: subprocess.Popen[bytes]) -> bool:
        """Read results until the process ends; whether there were any."""
        any_result = False
        assert child.stdout is not None
        with suppress(OSError, EOFError, pickle.UnpicklingError), child.stdout as source:
            while True:
                result: trainer_process.WorkerResult = pickle.load(source)
                any_result = True
                with self._state:
                    if isinstance(result, trainer_process.RoundResult):
                        self._keep(result)
                        self._current = None
                        self._send_next()
                    elif result.ticket in self._reasons:
                        self._reasons[result.ticket].put(result)
        return any_result

    def _keep(self, result: trainer_process.RoundResult) -> None:
        if result.problem is not None:
            log.error("no new round for topic %s\n%s", result.query_id, result.trace)
            self._problems[result.query_id] = result.problem
            return
        self._problems.pop(result.query_id, None)
        if result.loop_round is not None:
            self._rounds = trainer_process.keep_newest(self._rounds, result.query_id, result.loop_round)

    def _fail(self, problem: str, *, retry: bool) -> None:
        """Fail the current round, or else all requested ones; with `retry`, the current one is requested again."""
        with self._state:
            failed = set() if self._current is None else {self._current}
            if not retry or not failed:
                failed |= set(self._requested)
            self._problems.update(dict.fromkeys(failed, problem))
            if not retry:
                self._requested.clear()  # until they are requested again, as after any other failure
            elif self._current is not None and self._current not in self._requested:
                self._requested.append(self._current)
            self._current = None
            for results in self._reasons.values():
                results.put(None)


def _close_input(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    with suppress(OSError):
        child.stdin.close()


def _wait_for_end(child: subprocess.Popen[bytes]) -> str:
    """Wait for a process that sends no more results, and say how it ended."""
    _close_input(child)
    try:
        code = child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
        code = child.wait()
    if code >= 0:
        return f"exit status {code}"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"
