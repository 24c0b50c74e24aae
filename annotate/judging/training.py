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
import traceback
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collection.campaign import Campaign, Learned, Reasons, Round

T = TypeVar("T")

START = "import sys; sys.path[:] = {path!r}; from annotate.judging import training; training.serve({directory!r})"
"""What the child's interpreter is given to run."""

NICENESS = 10
"""Below whatever answers people: with as many saves as cores, the saves come first."""

KEPT = 16
"""Topics whose last round is kept."""


class RoundWanted(NamedTuple):
    """A wish: a round of this topic, if the last one is no longer what there is to know."""

    query_id: str


class ReasonsWanted(NamedTuple):
    """A wish: why the document in this row of the matrix stands where it does."""

    ticket: int
    query_id: str
    row: int


class RoundMade(NamedTuple):
    """An answer: the round (None: the last one still holds), or what went wrong, in short and in full."""

    query_id: str
    made: Round | None = None
    problem: str | None = None
    trace: str = ""


class ReasonsFound(NamedTuple):
    """An answer: whether there is a model of the topic, and what its last round says of the document."""

    ticket: int
    known: bool
    reasons: Reasons | None = None


Wish = RoundWanted | ReasonsWanted
Answer = RoundMade | ReasonsFound


def serve(directory: str) -> None:
    """The child's life, until nothing more can come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt from the keyboard is the server's to answer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nobody else may write between the answers
    learning = Learning(Path(directory), sys.stdin.buffer, answers)

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


class Learning:
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

    def listen(self) -> None:
        """Take wishes until nothing more can come; what can be explained is explained while a round is made."""
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            while True:
                wish: Wish = pickle.load(self._wishes)
                if isinstance(wish, RoundWanted):
                    self._waiting.put(wish.query_id)
                else:
                    self._send(self._explained(wish))
        self._waiting.put(None)

    def work(self) -> None:
        """Make the rounds that are wanted, one after another."""
        from collection.campaign import Campaign

        campaign: Campaign | None = None
        while (query_id := self._waiting.get()) is not None:
            try:
                campaign = campaign or Campaign(self.directory)
                answer = RoundMade(query_id, self._round(campaign, query_id))
            except Exception as error:  # judging must go on, whatever the model does
                answer = RoundMade(query_id, None, f"{error}" or type(error).__name__, traceback.format_exc())
            self._send(answer)
        if campaign is not None:
            campaign.close()

    def _round(self, campaign: Campaign, query_id: str) -> Round | None:
        last = self._learned.get(query_id)
        # It may have been asked for while it was made.
        if last is not None and campaign.is_current(last.round) and not campaign.is_short(last.round):
            return None
        made = campaign.learn(query_id)
        self._learned = kept(self._learned, query_id, made)
        return made.round

    def _explained(self, wish: ReasonsWanted) -> ReasonsFound:
        learned = self._learned.get(wish.query_id)
        if learned is None:
            return ReasonsFound(wish.ticket, known=False)
        return ReasonsFound(wish.ticket, known=True, reasons=learned.reasons(wish.row))

    def _send(self, answer: Answer) -> None:
        with suppress(OSError), self._writing:  # the listener notices that nobody reads any more
            send(self._answers, answer)


def _warm_up() -> None:
    with suppress(ImportError):
        import sklearn.svm  # noqa: F401


def send(to: IO[bytes], message: Any) -> None:
    """Write a message, whole and at once."""
    to.write(pickle.dumps(message, protocol=5))
    to.flush()


def kept(before: dict[str, T], query_id: str, made: T) -> dict[str, T]:
    """The newest of a topic beside the others, of no more topics than are worth their room.

    A dictionary of its own: another thread that reads meanwhile finds the one or the other.
    """
    others = [(topic, value) for topic, value in before.items() if topic != query_id]
    return dict([*others[max(len(others) - KEPT + 1, 0) :], (query_id, made)])
