"""Backups that the server makes by the schedule of the campaign."""

import asyncio
import logging
from pathlib import Path

from annotate.server.campaign_thread import CampaignThread
from collection.core.errors import CleverdonError

log = logging.getLogger(__name__)

CHECKED_EVERY = 300.0  # seconds between two looks at the schedule


async def run(directory: Path) -> None:
    """Make the backups that are due, in a thread of their own, until this task is cancelled."""
    thread = CampaignThread(directory, "backups")
    try:
        while True:
            await asyncio.sleep(CHECKED_EVERY)
            try:
                report = await thread.run(lambda campaign: campaign.operations.backups.make_if_due())
                for problem in report.problems if report else ():  # the page Backups shows them, and the next error
                    log.error("automatic backup of a campaign with a problem: %s", problem)
            except CleverdonError as error:
                log.error("no automatic backup: %s", error)
            except Exception:  # such as a full disk for the database itself; the next try may succeed
                log.exception("no automatic backup")
    finally:
        await thread.close()
