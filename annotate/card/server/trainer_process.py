"""The process that trains models while people judge: a child of the server with its own interpreter and connection.

It reads pickled requests from its standard input, writes pickled results to its standard output, and ends when its
input is closed, as it is when the server ends. Rounds are only kept in memory: the next process can make them again
from the log.

Not multiprocessing: a forked child of a program with threads may hang, and a spawned one runs the program's main script
again. This is a new interpreter that imports this module.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.loop.loop_round import ExplainableRound, LoopRound, Reasons

T = TypeVar("T")

START = (
    "import sys; sys.path[:] = {path!r}; from annotate.card.server import trainer_process; "
    "trainer_process.serve({directory!r})"
)
"""The program of the child's interpreter."""
NICENESS = 10  # lower priority than the server's: saving judgements comes first
STARVED_SHARE, FREE_SHARE = 0.25, 0.5
"""Shares of a processor: idle scheduling ends below the first, and starts above the second."""
STARVED_AFTER, FREE_AFTER = 0.05, 1.0
"""Seconds after which each share is measured: of wall time for the first, of processor time for the second (a process
that has slept gets its first fraction of a second at once, even where all processors are busy)."""
KEPT_ROUNDS = 16  # topics whose latest round is kept


class RoundRequest(NamedTuple):
    """A request for a new round of a topic, unless the latest one is still current."""

    query_id: str


class ReasonsRequest(NamedTuple):
    """A request for the reasons for the rank of the document in a row of the matrix."""

    ticket: int
    query_id: str
    row: int


class RoundResult(NamedTuple):
    """A new round (None: the latest one is still current), or an error with its traceback."""

    query_id: str
    loop_round: LoopRound | None = None
    problem: str | None = None
    trace: str = ""


class ReasonsResult(NamedTuple):
    """Availability of a model of the topic, and its reasons for the document's rank."""

    ticket: int
    known: bool
    reasons: Reasons | None = None


WorkerRequest = RoundRequest | ReasonsRequest
WorkerResult = RoundResult | ReasonsResult


def serve(directory: str) -> None:
    """Run the child until its input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the server
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that nothing else is printed between the results
    worker = TrainerProcess(Path(directory), sys.stdin.buffer, results)

    def listen() -> None:
        try:
            worker.listen()
        finally:
            os._exit(0)  # all judgements are in the log: no round is worth finishing

    # In a thread from the start, so that the child ends with its server while it still imports or trains.
    threading.Thread(target=listen, name="listener", daemon=True).start()
    import collection.campaign  # noqa: F401  # in parallel to the server's imports

    # Saves the first model half a second, in a thread because an order without a model does not need it.
    threading.Thread(target=_import_learners, name="imports", daemon=True).start()
    os.nice(NICENESS)
    worker.work()


class TrainerProcess:
    """Reads `requests` and writes `results`, both pickled: one thread gives reasons, the other makes rounds."""

    def __init__(self, directory: Path, requests: IO[bytes], results: IO[bytes]) -> None:
        self.directory = directory
        self._requests, self._results = requests, results
        self._writing = threading.Lock()
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._learned: dict[str, ExplainableRound] = {}
        self._over = self._prepared = False

    def listen(self) -> None:
        """Take requests until the input is closed, and give reasons while rounds are made."""
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            while True:
                request: WorkerRequest = pickle.load(self._requests)
                if isinstance(request, RoundRequest):
                    self._waiting.put(request.query_id)
                else:
                    learned = self._learned.get(request.query_id)
                    reasons = None if learned is None else learned.reasons(request.row)
                    self._send(ReasonsResult(request.ticket, learned is not None, reasons))
        self._waiting.put(None)

    def work(self) -> None:
        """Make the requested rounds one after another, in a thread that lets the server run first.

        A thread with idle scheduling gives way at once; one with low priority keeps the processor for 1-2 ms, which
        delays a save or a page. But on a busy machine an idle thread starves, and it cannot return to normal
        scheduling. So each change starts a new thread.
        """
        idle = False
        while not self._over:
            thread = threading.Thread(target=self._make_rounds, args=(idle,), name="learner")
            thread.start()
            thread.join()
            idle = not idle

    def _make_rounds(self, idle: bool) -> None:
        """Make rounds until the input is closed or the scheduling should change."""
        from collection.campaign import Campaign

        if idle:
            use_idle_scheduling()
        campaign = self._prepare() if not self._prepared else None
        seconds = used = 0.0
        while (query_id := self._waiting.get()) is not None:
            start, start_used = time.perf_counter(), time.thread_time()
            try:
                campaign = campaign or Campaign(self.directory)
                result = RoundResult(query_id, self._round(campaign, query_id))
            except Exception as error:  # judging must go on, whatever the model does
                result = RoundResult(query_id, None, f"{error}" or type(error).__name__, traceback.format_exc())
            self._send(result)
            seconds += time.perf_counter() - start
            used += time.thread_time() - start_used
            should_be_idle = should_yield(idle, seconds, used)
            if should_be_idle is not None:
                if should_be_idle != idle:
                    break
                seconds = used = 0.0
        else:
            self._over = True
        if campaign is not None:
            campaign.close()

    def _prepare(self) -> Campaign | None:
        """Open the campaign and make its features, so that the first round of a new campaign need not wait for them."""
        from collection.campaign import Campaign

        self._prepared = True
        campaign = None
        with suppress(Exception):  # the first round reports it
            campaign = Campaign(self.directory)
            if campaign.settings.loop().by_model:
                campaign.corpus.features.open()
        return campaign

    def _round(self, campaign: Campaign, query_id: str) -> LoopRound | None:
        last, service = self._learned.get(query_id), campaign.loop
        if last is not None and service.is_current(last.round) and not service.is_short(last.round):
            return None  # it was requested again while it was made
        learned = service.next_explainable_round(query_id)
        self._learned = keep_newest(self._learned, query_id, learned)
        return learned.round

    def _send(self, result: WorkerResult) -> None:
        with suppress(OSError), self._writing:  # the listener notices when the server is gone
            send(self._results, result)


def should_yield(idle: bool, seconds: float, used: float) -> bool | None:
    """Decide by their wall and processor time whether rounds use idle scheduling; None if it is too early to tell.

    >>> [should_yield(False, seconds, used=1.2) for seconds in (2.0, 12.0)]
    [True, False]
    >>> [should_yield(True, seconds, used=0.06) for seconds in (0.1, 40.0)]
    [True, False]
    """
    if idle:
        return used > STARVED_SHARE * seconds if seconds >= STARVED_AFTER else None
    return used > FREE_SHARE * seconds if used >= FREE_AFTER else None


def use_idle_scheduling() -> None:
    """Run this thread only while a processor is idle, on Linux."""
    if sys.platform == "linux":
        with suppress(OSError):  # a container may forbid it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _import_learners() -> None:
    with suppress(ImportError):
        import sklearn.svm  # noqa: F401


def send(to: IO[bytes], message: WorkerRequest | WorkerResult) -> None:
    """Write a message and flush it."""
    to.write(pickle.dumps(message, protocol=5))
    to.flush()


def keep_newest(before: dict[str, T], query_id: str, newest: T) -> dict[str, T]:
    """Add the newest result of a topic to a copy (other threads read), and keep the last :data:`KEPT_ROUNDS`."""
    others = {topic: value for topic, value in before.items() if topic != query_id}
    return dict([*others.items(), (query_id, newest)][-KEPT_ROUNDS:])
