"""Counting on all cores: one Python process per core, each fed by a thread.

multiprocessing does not fit: a forked child of a program with threads may hang, and a spawned one runs the program's
main script again, which under Streamlit is a page. Neither does joblib: it reads the texts in a thread of its own,
which cannot use the caller's database connection.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TypeVar

from collection.active_learning.features import matvec
from collection.active_learning.features.term_counts import TermCounts, count
from collection.core.threads import map_ahead

T = TypeVar("T")
BlockCounts = dict[str, TermCounts]

FEW = 5_000
"""Texts that are counted in this process before others are started, which takes about as long. No other process is
started for the last chunk."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

START = "import sys; sys.path[:] = {path!r}; from collection.active_learning.features import workers; workers.serve()"


class Worker:
    """Child process that runs :func:`.term_counts.count`; if it fails, this process counts instead."""

    def __init__(self, blocks: Sequence[str], bigrams: bool) -> None:
        self.blocks, self.bigrams = blocks, bigrams
        # The current path of the parent, which the program may have changed since its start.
        path = [str(Path(__file__).parents[2]), *(p for p in sys.path if p)]
        command = [sys.executable, "-c", START.format(path=path)]
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **ONE_THREAD}
            )

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def count(self, texts: Sequence[str | None]) -> BlockCounts:
        """Count in the child process, or here if it has failed."""
        if self._process is not None and self._process.stdin and self._process.stdout:
            try:
                pickle.dump((list(texts), self.blocks, self.bigrams), self._process.stdin, protocol=5)
                self._process.stdin.flush()
                answer: BlockCounts = pickle.load(self._process.stdout)
                return answer
            except (OSError, EOFError, pickle.UnpicklingError):
                # The child may have been killed for lack of memory; this costs time, but not the result.
                self.close()
        return count(texts, self.blocks, self.bigrams)


def serve() -> None:
    """Read chunks of texts and answer with their counts until the input ends; runs in the child."""
    # The parent handles keyboard interrupts, and nothing but answers may be written to standard output.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source: IO[bytes] = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while source.peek(1):  # type: ignore[attr-defined]
            texts, blocks, bigrams = pickle.load(source)
            pickle.dump(count(texts, blocks, bigrams), answers, protocol=5)
            answers.flush()


def count_chunks(
    chunks: Iterable[tuple[T, Sequence[str | None]]],
    blocks: Sequence[str],
    bigrams: bool = False,
    processes: int | None = None,
) -> Iterator[tuple[T, BlockCounts]]:
    """Count chunks of (tag, texts) and yield tag and counts, in order; chunks are read slightly ahead.

    `processes`: by default one per core; 1 counts everything in this process.
    """
    processes = processes or matvec.cores()
    chunks, pending = iter(chunks), 0
    following = next(chunks, None)
    while following is not None:
        chunk, following = following, next(chunks, None)
        pending += len(chunk[1])
        if processes > 1 and pending >= FEW and following is not None:
            break
        yield chunk[0], count(chunk[1], blocks, bigrams)
    else:
        return
    with ExitStack() as stack:
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(processes):
            idle.put(stack.enter_context(closing(Worker(blocks, bigrams))))
        yield chunk[0], count(chunk[1], blocks, bigrams)  # while they start

        def count_chunk(chunk: tuple[T, Sequence[str | None]]) -> tuple[T, BlockCounts]:
            worker = idle.get()
            try:
                return chunk[0], worker.count(chunk[1])
            finally:
                idle.put(worker)

        yield from map_ahead(count_chunk, chain([following], chunks), processes)
