"""Automatic backups: made while the server runs, also after one that failed."""

from __future__ import annotations

import asyncio
import logging

import pytest

from annotate.server import backup_schedule
from collection import Campaign
from tests.helpers import awaited, until


async def run_until(campaign: Campaign, caplog: pytest.LogCaptureFixture) -> None:
    """Run the schedule: a first backup fails, since a file has the name of the folder; then the folder is free.

    A run of the campaign is missing.
    """
    task = asyncio.create_task(backup_schedule.run(campaign.directory))
    folder = campaign.directory / "backups"
    await asyncio.to_thread(until, lambda: "no automatic backup: " in caplog.text, "the error")
    folder.unlink()
    await asyncio.to_thread(until, lambda: "automatic backup of a campaign with a problem: run " in caplog.text, "it")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_backups_are_made_by_the_schedule_also_after_a_failure(
    campaign: Campaign, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_schedule, "CHECKED_EVERY", 0.001)
    campaign.operations.backups.set_settings(every_hours=24)
    (campaign.directory / "backups").write_text("a file of somebody")
    min((campaign.directory / "runs").iterdir()).unlink()
    with caplog.at_level(logging.ERROR):
        awaited(run_until(campaign, caplog))
    assert len(campaign.operations.backups.available()) == 1
    assert "UTC: a backup was made, but the campaign has 1 problem" in str(campaign.operations.backups.problem())
