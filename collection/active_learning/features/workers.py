"""Counting on all cores: one Python process a core, each fed by a thread.

Not multiprocessing: a forked child of a program with threads may hang, and a spawned one runs the program's main
script again, which under Streamlit is a page. Here a child is a fresh interpreter that imports this module alone.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import IO, TypeVar

from collection.active_learning.features import matvec
from collection.active_learning.features.term_counts import Counts, count

T = TypeVar("T")
Counted = dict[str, Counts]

FEW = 5_000
"""So many documents are counted here before a process is started: a start takes about as long."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

START = "import sys; sys.path[:] = {path!r}; from collection.active_learning.features import workers; workers.serve()"


class Worker:
    """A child process that counts; where it cannot be had any longer, the counting is done here.

    Parameters
    ----------
    blocks, bigrams
        As for :func:`~collection.active_learning.features.term_counts.count`.
    """

    def __init__(self, blocks: Sequence[str], bigrams: bool) -> None:
        self.blocks, self.bigrams = blocks, bigrams
        # The parent's path as it is now: the program may have changed it since it was started.
        path = [str(Path(__file__).parents[2]), *(p for p in sys.path if p)]
        command = [sys.executable, "-c", START.format(path=path)]
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **ONE_THREAD}
            )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def count(self, texts: Sequence[str | None]) -> Counted:
        """What :func:`~collection.active_learning.features.term_counts.count` gives."""
        if self._process is not None and self._process.stdin and self._process.stdout:
            try:
                pickle.dump((list(texts), self.blocks, self.bigrams), self._process.stdin, protocol=5)
                self._process.stdin.flush()
                answer: Counted = pickle.load(self._process.stdout)
                return answer
            except (OSError, EOFError, pickle.UnpicklingError):
                # Killed, for want of memory perhaps: that costs time and not the result.
                self.__exit__(None, None, None)
        return count(texts, self.blocks, self.bigrams)


def serve() -> None:
    """The child's life: read a chunk of texts, answer with the counts, until nothing more comes."""
    # An interrupt from the keyboard is the parent's to answer; and nobody else may write between the answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source: IO[bytes] = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while source.peek(1):  # type: ignore[attr-defined]
            texts, blocks, bigrams = pickle.load(source)
            pickle.dump(count(texts, blocks, bigrams), answers, protocol=5)
            answers.flush()


def counted(
    chunks: Iterable[tuple[T, Sequence[str | None]]],
    blocks: Sequence[str],
    bigrams: bool = False,
    processes: int | None = None,
) -> Iterator[tuple[T, Counted]]:
    """The counts of each chunk, in the order of the chunks.

    Parameters
    ----------
    chunks
        A tag, which comes back as it was, and texts; read a little ahead of the results.
    blocks, bigrams
        As for :func:`~collection.active_learning.features.term_counts.count`.
    processes
        None: as many as there are cores; 1: everything is counted in this one.
    """
    processes = processes or matvec.cores()
    chunks, here = iter(chunks), 0
    while processes == 1 or here < FEW:
        chunk = next(chunks, None)
        if chunk is None:
            return
        here += len(chunk[1])
        yield chunk[0], count(chunk[1], blocks, bigrams)
    with ExitStack() as stack:
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(Worker(blocks, bigrams)))

        def one(texts: Sequence[str | None]) -> Counted:
            worker = idle.get()
            try:
                return worker.count(texts)
            finally:
                idle.put(worker)

        threads = stack.enter_context(ThreadPoolExecutor(processes))
        waiting: deque[tuple[T, Future[Counted]]] = deque()
        try:
            for tag, texts in chunks:
                waiting.append((tag, threads.submit(one, texts)))
                if len(waiting) > processes:
                    done, future = waiting.popleft()
                    yield done, future.result()
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()
        finally:
            for _, future in waiting:
                future.cancel()
