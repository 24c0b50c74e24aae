"""The loop behind the judging card: a thread that learns after every judgement, so that nobody waits for it.

What it makes is only kept in memory: a round is a function of the log, so a new process makes it anew.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from collection.campaign import Campaign, Round

log = logging.getLogger(__name__)

FIRST_THE_ANSWER = 0.01
"""Seconds before a round begins: whoever asked for it is answered first, and does not share the interpreter."""

LONGEST_REST = 0.5
"""Seconds; a round is followed by a rest that is as long as it was, and no longer than this."""

KEPT = 16
"""Topics whose last round is kept."""


class Trainer:
    """One thread, one connection, the newest wish first.

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
        self._state = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def request(self, query_id: str) -> None:
        """Ask for a new round of a topic; one that waits already is not made twice."""
        with self._state:
            if self._stopping:
                return
            if query_id in self._wanted:
                self._wanted.remove(query_id)
            self._wanted.append(query_id)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="trainer", daemon=True)
                self._thread.start()
            self._state.notify()

    def latest(self, query_id: str) -> Round | None:
        """The last round of a topic that was made, perhaps not the newest any more."""
        return self._rounds.get(query_id)

    def problem(self, query_id: str) -> str | None:
        """Why the last attempt at a round of this topic came to nothing, or None."""
        return self._problems.get(query_id)

    def stop(self) -> None:
        """Finish the round under way, and no more."""
        with self._state:
            self._stopping = True
            self._state.notify()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _work(self) -> None:
        campaign: Campaign | None = None
        took = 0.0
        try:
            while (query_id := self._next()) is not None:
                time.sleep(max(FIRST_THE_ANSWER, took))
                begun = time.perf_counter()
                try:
                    campaign = campaign or Campaign(self.directory)
                    last = self._rounds.get(query_id)
                    # It may have been asked for while it was made.
                    if last is None or not campaign.is_current(last) or campaign.is_short(last):
                        self._keep(campaign.retrain(query_id))
                    self._problems.pop(query_id, None)
                except Exception as error:  # judging must go on, whatever the model does
                    log.exception("no new round for topic %s", query_id)
                    self._problems[query_id] = f"{error}" or type(error).__name__
                # Half of the time is left to the pages and the saves, however many annotators are at work.
                took = min(time.perf_counter() - begun, LONGEST_REST)
        finally:
            if campaign is not None:
                campaign.close()

    def _next(self) -> str | None:
        with self._state:
            self._state.wait_for(lambda: self._wanted or self._stopping)
            return None if self._stopping else self._wanted.pop()

    def _keep(self, made: Round) -> None:
        self._rounds.pop(made.query_id, None)
        while len(self._rounds) >= KEPT:
            del self._rounds[next(iter(self._rounds))]
        self._rounds[made.query_id] = made
