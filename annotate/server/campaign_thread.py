"""A thread with a campaign of its own, for routes that must not block the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from collection.campaign import Campaign

T = TypeVar("T")


class CampaignThread:
    """One thread with one connection to the campaign.

    Parameters
    ----------
    directory
        The campaign's directory; opened with the first piece of work.
    name
        The thread's, for whoever looks at a stack.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._campaign: Campaign | None = None

    async def run(self, work: Callable[[Campaign], T]) -> T:
        """Do `work` with the campaign, one piece after another."""

        def call() -> T:
            if self._campaign is None:
                self._campaign = Campaign(self._directory)
            return work(self._campaign)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def close(self) -> None:
        """Close the connection in its own thread, and end it."""

        def call() -> None:
            if self._campaign is not None:
                self._campaign.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, call)
        self._thread.shutdown()
