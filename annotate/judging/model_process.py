"""The loop behind the judging card: a process that learns after every judgement, so that nobody waits for it.

This is the server's end of it: what is wanted, what was made, and a new process where one has ended. The other end
is :mod:`annotate.judging.model_worker`.
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
from typing import IO, TYPE_CHECKING, Protocol

from annotate.judging import model_worker
from annotate.judging.model_worker import (
    ReasonsRequest,
    ReasonsResult,
    RoundRequest,
    RoundResult,
    WorkerRequest,
    keep_newest,
    send,
)
from collection.active_learning.features import ONE_THREAD
from collection.campaign import Campaign
from collection.campaign.loop_settings import LOOPING

if TYPE_CHECKING:
    from collection.campaign.training_round import Reasons, Round

log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds that an explanation may take."""

ENOUGH_DEATHS = 2
"""So many in a row, and the next process is only started when somebody asks for a round."""


class NoModelError(Exception):
    """There is no model of the topic at hand that could say why."""


class WorkerProcess(Protocol):
    """The process that learns, as the server has it: a :class:`subprocess.Popen`, or what a test puts in its place."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def wait(self, timeout: float | None = None) -> int:
        """How it ended."""

    def kill(self) -> None:
        """End it."""


def start_worker(directory: Path) -> WorkerProcess:
    """Start the process that learns, for the campaign in this directory."""
    # The parent's path as it is now: the program may have changed it since it was started.
    path = [str(Path(__file__).parents[2]), *(p for p in sys.path if p)]
    command = [sys.executable, "-c", model_worker.START.format(path=path, directory=str(directory))]
    # Its sums in one thread: the other cores are for whoever answers people. No socket of the server goes with it:
    # Python lets none be inherited.
    environment = {**os.environ, **ONE_THREAD}
    pipe = subprocess.PIPE
    if sys.platform == "win32":
        apart = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, creationflags=apart)
    # A group of its own: Ctrl+C in the terminal is for the server, at whose end it ends as well.
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, process_group=0)


class Trainer:
    """One process, one round at a time, the newest wish first.

    Parameters
    ----------
    directory
        The campaign's directory.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._rounds: dict[str, Round] = {}
        self._problems: dict[str, str] = {}
        self._wanted: list[str] = []
        self._under_way: str | None = None
        self._state = threading.Condition()
        self._stopping = False
        self._idle_start = False
        self._deaths = 0
        self._thread: threading.Thread | None = None
        self._child: WorkerProcess | None = None
        self._tickets = itertools.count()
        self._asked: dict[int, SimpleQueue[ReasonsResult | None]] = {}

    @property
    def process(self) -> int | None:
        """The id of the process that learns, None while there is none."""
        return getattr(self._child, "pid", None)

    def start(self, campaign: Campaign) -> None:
        """Have the process ready before somebody asks for a round, where a topic of the campaign is in its loop."""
        if not LOOPING.intersection(campaign.settings.modes().values()):
            return
        with self._state:
            self._idle_start = True
            self._begin()

    def request(self, query_id: str) -> None:
        """Ask for a new round of a topic; one that waits already is not made twice."""
        with self._state:
            if query_id in self._wanted:
                self._wanted.remove(query_id)
            self._wanted.append(query_id)
            self._begin()
            self._next()

    def latest(self, query_id: str) -> Round | None:
        """The last round of a topic that was made, perhaps not the newest any more."""
        return self._rounds.get(query_id)

    def problem(self, query_id: str) -> str | None:
        """Why the last attempt at a round of this topic came to nothing, or None."""
        return self._problems.get(query_id)

    def reasons(self, query_id: str, row: int) -> Reasons | None:
        """What the topic's last round says of a document; None if it knows no such row of the matrix.

        Raises
        ------
        NoModelError
            There is no round yet, or none any more: the process was started anew.
        """
        ticket = next(self._tickets)
        answer: SimpleQueue[ReasonsResult | None] = SimpleQueue()
        with self._state:
            self._asked[ticket] = answer
            sent = self._tell(ReasonsRequest(ticket, query_id, row))
        try:
            found = answer.get(timeout=PATIENCE) if sent else None
        except Empty:
            found = None
        finally:
            with self._state:
                self._asked.pop(ticket, None)
        if found is None or not found.known:
            raise NoModelError(query_id)
        return found.reasons

    def stop(self) -> None:
        """End the process, whatever is under way: what it makes can be made again."""
        with self._state:
            self._stopping = True
            if self._child is not None and self._child.stdin is not None:
                with suppress(OSError):
                    self._child.stdin.close()
            self._state.notify()
        if self._thread is not None:
            self._thread.join(timeout=5)
            if self._thread.is_alive() and self._child is not None:
                self._child.kill()
                self._thread.join(timeout=5)

    # --- all of this with the state held --------------------------------------------------------------

    def _begin(self) -> None:
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._attend, name="trainer", daemon=True)
            self._thread.start()
        self._state.notify()

    def _next(self) -> None:
        """Tell the process what to do next, if it is there and has nothing to do."""
        if self._under_way is None and self._wanted and self._tell(RoundRequest(self._wanted[-1])):
            self._under_way = self._wanted.pop()

    def _tell(self, wish: WorkerRequest) -> bool:
        """Whether a wish could be sent. They are short: a pipe takes them without waiting for whoever reads."""
        if self._child is None or self._child.stdin is None or self._stopping:
            return False
        try:
            send(self._child.stdin, wish)
        except (OSError, ValueError):  # it has ended, as whoever reads its answers notices
            return False
        return True

    # --- the thread that reads the answers ------------------------------------------------------------

    def _attend(self) -> None:
        """Start the process, take its answers, and start it again where it has ended."""
        while True:
            with self._state:
                self._state.wait_for(
                    lambda: self._stopping or self._wanted or (self._idle_start and self._deaths < ENOUGH_DEATHS)
                )
                if self._stopping:
                    return
            try:
                child = start_worker(self.directory)
            except OSError as error:
                self._deaths += 1
                self._ended(f"the process that learns cannot be started: {error}", again=False)
                continue
            with self._state:
                self._child = child
                self._under_way = None
                if self._stopping and child.stdin is not None:
                    child.stdin.close()
                self._next()
            if self._answers(child):
                self._deaths = 0
            how = _ending(child)
            with self._state:  # who sees that it is gone sees what has become of the wishes, too
                self._child = None
                if self._stopping:
                    return
                self._deaths += 1
                self._idle_start = True  # one is wanted, as there was one before
                log.error("the process that learns has ended (%s)", how)
                self._ended(f"the process that learns has ended ({how})", again=self._deaths < ENOUGH_DEATHS)

    def _answers(self, child: WorkerProcess) -> bool:
        """Take answers until there are no more; whether there was one."""
        some = False
        assert child.stdout is not None
        with suppress(OSError, EOFError, pickle.UnpicklingError), child.stdout as source:
            while True:
                answer = pickle.load(source)
                some = True
                with self._state:
                    if isinstance(answer, ReasonsResult):
                        if answer.ticket in self._asked:
                            self._asked[answer.ticket].put(answer)
                        continue
                    self._made(answer)
                    self._under_way = None
                    self._next()
        return some

    def _made(self, answer: RoundResult) -> None:
        if answer.problem is not None:
            log.error("no new round for topic %s\n%s", answer.query_id, answer.trace)
            self._problems[answer.query_id] = answer.problem
            return
        self._problems.pop(answer.query_id, None)
        if answer.made is not None:
            self._rounds = keep_newest(self._rounds, answer.query_id, answer.made)

    def _ended(self, why: str, *, again: bool) -> None:
        """What was under way has come to nothing; `again`: it is tried once more."""
        with self._state:
            concerned = set() if self._under_way is None else {self._under_way}
            if not again or not concerned:  # nothing that waits is forgotten without a word
                concerned |= set(self._wanted)
            self._problems.update(dict.fromkeys(concerned, why))
            if not again:
                self._wanted.clear()  # until somebody asks anew, as after any other failure
            elif self._under_way is not None and self._under_way not in self._wanted:
                self._wanted.append(self._under_way)
            self._under_way = None
            for waiting in self._asked.values():
                waiting.put(None)


def _ending(child: WorkerProcess) -> str:
    """How a process ended that answers no more, in words."""
    if child.stdin is not None:
        with suppress(OSError):
            child.stdin.close()
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
