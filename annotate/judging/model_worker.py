"""The process that learns while people judge: a child of the server, with an interpreter and a connection of its own.

It reads wishes from its standard input and writes answers to its standard output, both pickled, and ends when the
server does: nobody else has the other end of its input. What it makes it only keeps in memory: a round is a function
of the log, so the next process makes it anew.

Not multiprocessing: a forked child of a program with threads may hang, and a spawned one runs the program's main
script again. Here it is a fresh interpreter that imports this module.
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
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.training_round import Learned, Reasons, Round

T = TypeVar("T")

START = (
    "import sys; sys.path[:] = {path!r}; from annotate.judging import model_worker; model_worker.serve({directory!r})"
)
"""What the child's interpreter is given to run."""

NICENESS = 10
"""Below whatever answers people: with as many saves as cores, the saves come first."""

STARVED, ROOM = 0.25, 0.5
"""Shares of a processor. Rounds that had less than the one were starved; after some that had more than the other, the
next can do with what nobody else wants."""

NOTICED, SURE = 0.05, 1.0
"""Seconds that show it: of waiting and working where they are starved, of work alone where there is room. Whoever has
slept gets the first fraction of a second at once, even where all processors are busy."""

KEPT = 16
"""Topics whose last round is kept."""


class RoundRequest(NamedTuple):
    """A wish: a round of this topic, if the last one is no longer what there is to know."""

    query_id: str


class ReasonsRequest(NamedTuple):
    """A wish: why the document in this row of the matrix stands where it does."""

    ticket: int
    query_id: str
    row: int


class RoundResult(NamedTuple):
    """An answer: the round (None: the last one still holds), or what went wrong, in short and in full."""

    query_id: str
    made: Round | None = None
    problem: str | None = None
    trace: str = ""


class ReasonsResult(NamedTuple):
    """An answer: whether there is a model of the topic, and what its last round says of the document."""

    ticket: int
    known: bool
    reasons: Reasons | None = None


WorkerRequest = RoundRequest | ReasonsRequest
WorkerResult = RoundResult | ReasonsResult


def serve(directory: str) -> None:
    """The child's life, until nothing more can come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the server's to answer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nobody else may write between the answers
    learning = ModelWorker(Path(directory), sys.stdin.buffer, answers)

    def listen() -> None:
        # Nothing under way is worth finishing: the log has it all.
        try:
            learning.listen()
        finally:
            os._exit(0)

    # At once, and in a thread: also a child that imports or learns just now ends with its server.
    threading.Thread(target=listen, name="listener", daemon=True).start()
    import collection.campaign  # noqa: F401  # while the server loads what it needs

    # Half a second that the first model would take longer; an order without a model need not wait for it.
    threading.Thread(target=_warm_up, name="warming up", daemon=True).start()
    if sys.platform != "win32":
        os.nice(NICENESS)
    learning.work()


class ModelWorker:
    """What the child does: one thread listens and explains, the other makes rounds.

    Parameters
    ----------
    directory
        The campaign's.
    wishes, answers
        Where pickled wishes come from and answers go to.
    """

    def __init__(self, directory: Path, wishes: IO[bytes], answers: IO[bytes]) -> None:
        self.directory = directory
        self._wishes, self._answers = wishes, answers
        self._writing = threading.Lock()
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._learned: dict[str, Learned] = {}
        self._over = False

    def listen(self) -> None:
        """Take wishes until nothing more can come; what can be explained is explained while a round is made."""
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            while True:
                wish: WorkerRequest = pickle.load(self._wishes)
                if isinstance(wish, RoundRequest):
                    self._waiting.put(wish.query_id)
                else:
                    self._send(self._explained(wish))
        self._waiting.put(None)

    def work(self) -> None:
        """Make the rounds that are wanted, one after another, and be in nobody's way as far as that can be.

        A thread that is content with what nobody else wants gives way at once, where one that is only less important
        goes on for a millisecond or two, and a save or a page waits for it. But where others keep all processors
        busy, it would hardly get anything, and it may not ask for more again. So each change is another thread.
        """
        modest = False
        while not self._over:
            worker = threading.Thread(target=self._make_rounds, args=(modest,), name="learner")
            worker.start()
            worker.join()
            modest = not modest

    def _make_rounds(self, modest: bool) -> None:
        """Until no more are wanted, or until it should be the other way."""
        from collection.campaign import Campaign

        if modest:
            use_idle_scheduling()
        campaign: Campaign | None = None
        seconds = used = 0.0
        while (query_id := self._waiting.get()) is not None:
            began, worked = time.perf_counter(), time.thread_time()
            try:
                campaign = campaign or Campaign(self.directory)
                answer = RoundResult(query_id, self._round(campaign, query_id))
            except Exception as error:  # judging must go on, whatever the model does
                answer = RoundResult(query_id, None, f"{error}" or type(error).__name__, traceback.format_exc())
            self._send(answer)
            seconds += time.perf_counter() - began
            used += time.thread_time() - worked
            should = should_yield(modest, seconds, used)
            if should is not None:
                if should != modest:
                    break
                seconds = used = 0.0
        else:
            self._over = True
        if campaign is not None:
            campaign.close()

    def _round(self, campaign: Campaign, query_id: str) -> Round | None:
        last = self._learned.get(query_id)
        # It may have been asked for while it was made.
        if (
            last is not None
            and campaign.active_learning.is_current(last.round)
            and not campaign.active_learning.is_short(last.round)
        ):
            return None
        made = campaign.active_learning.learn(query_id)
        self._learned = keep_newest(self._learned, query_id, made)
        return made.round

    def _explained(self, wish: ReasonsRequest) -> ReasonsResult:
        learned = self._learned.get(wish.query_id)
        if learned is None:
            return ReasonsResult(wish.ticket, known=False)
        return ReasonsResult(wish.ticket, known=True, reasons=learned.reasons(wish.row))

    def _send(self, answer: WorkerResult) -> None:
        with suppress(OSError), self._writing:  # the listener notices that nobody reads any more
            send(self._answers, answer)


def should_yield(modest: bool, seconds: float, used: float) -> bool | None:
    """Whether rounds should be content with what is left, by how long some took and had a processor.

    None: it cannot be told yet.

    >>> [should_yield(False, seconds, used=1.2) for seconds in (2.0, 12.0)]
    [True, False]
    >>> [should_yield(True, seconds, used=0.06) for seconds in (0.1, 40.0)]
    [True, False]
    """
    if modest:
        return used > STARVED * seconds if seconds >= NOTICED else None
    return used > ROOM * seconds if used >= SURE else None


def use_idle_scheduling() -> None:
    """Let this thread run where nobody else wants to, and give way at once; where the system knows of such a thing."""
    if sys.platform == "linux":
        with suppress(OSError):  # a container may forbid it
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _warm_up() -> None:
    with suppress(ImportError):
        import sklearn.svm  # noqa: F401


def send(to: IO[bytes], message: Any) -> None:
    """Write a message, whole and at once."""
    to.write(pickle.dumps(message, protocol=5))
    to.flush()


def keep_newest(before: dict[str, T], query_id: str, made: T) -> dict[str, T]:
    """The newest of a topic beside the others, of no more topics than are worth their room.

    A dictionary of its own: another thread that reads meanwhile finds the one or the other.
    """
    others = [(topic, value) for topic, value in before.items() if topic != query_id]
    return dict([*others[max(len(others) - KEPT + 1, 0) :], (query_id, made)])
