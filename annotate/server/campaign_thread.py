"""Threads that each have a campaign open, for routes that must not block the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from collection.campaign import Campaign

T = TypeVar("T")


class CampaignThread:
    """A thread with its own connection to the campaign, opened at first use; `name` appears in stack traces."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._campaign: Campaign | None = None

    async def run(self, work: Callable[[Campaign], T]) -> T:
        """Run `work` with the campaign, after the work that was asked for before."""

        def call() -> T:
            if self._campaign is None:
                self._campaign = Campaign(self._directory)
            return work(self._campaign)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    async def close(self) -> None:
        """Close the connection in its own thread, and end the thread."""

        def call() -> None:
            if self._campaign is not None:
                self._campaign.close()

        await asyncio.get_running_loop().run_in_executor(self._thread, call)
        self._thread.shutdown()
