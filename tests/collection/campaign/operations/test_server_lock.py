"""One server per campaign: a second one names the first, and a killed one blocks nobody."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from collection import Campaign
from collection.campaign.operations import server_lock
from collection.core.errors import BusyError, CampaignError
from collection.store import Inspection
from tests.helpers import GOLDEN, PATIENCE, ROOT

HOLDER = """
import sys
from pathlib import Path
from collection.campaign.operations import server_lock

with server_lock.hold(Path(sys.argv[1])) as record:
    record("http://127.0.0.1:8501")
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_server_names_the_first_until_it_ends(campaign: Campaign) -> None:
    with server_lock.hold(campaign.directory) as record:
        with pytest.raises(CampaignError, match=rf"already served by process {os.getpid()} on \S+ since \d{{4}}-"):
            server_lock.hold(campaign.directory).__enter__()
        record("https://judging.example.org")
        with pytest.raises(CampaignError, match=r" at https://judging\.example\.org since .* UTC; use that server, or"):
            server_lock.hold(campaign.directory).__enter__()
    with server_lock.hold(campaign.directory):
        pass


@contextmanager
def other_server(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that serves a campaign."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, directory],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process


@pytest.mark.slow
@pytest.mark.long
def test_tables_are_not_migrated_under_a_running_server(tmp_path: Path, later_version: None) -> None:
    """It may be of the earlier version."""
    directory = Path(shutil.copytree(GOLDEN / "campaign-0.1.0", tmp_path / "old"))
    before = (directory / "campaign.db").read_bytes()
    with other_server(directory):
        with pytest.raises(BusyError, match="the tables must be updated, but a server is running on the campaign"):
            Campaign(directory)
        with Inspection(directory / "campaign.db") as inspection:
            assert inspection.pending
    assert not (directory / "backups").exists()
    assert (directory / "campaign.db").read_bytes() == before
    with server_lock.hold(directory), Campaign(directory) as campaign:  # the server itself
        assert campaign.title == "Coffee and tea"


@pytest.mark.slow
@pytest.mark.long
def test_a_killed_server_blocks_nobody(campaign: Campaign) -> None:
    with other_server(campaign.directory) as process:
        with pytest.raises(CampaignError, match=rf"process {process.pid} on \S+ at http://127\.0\.0\.1:8501 since"):
            server_lock.hold(campaign.directory).__enter__()
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    assert (campaign.directory / ".server.json").stat().st_size > 0  # stale, and without effect
    with server_lock.hold(campaign.directory):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"process": "x", "machine": 7}'])
def test_a_record_that_cannot_be_read_still_refuses(campaign: Campaign, text: str) -> None:
    with server_lock.hold(campaign.directory):
        (campaign.directory / ".server.json").write_text(text)
        with pytest.raises(CampaignError, match="already served by another process, which is starting"):
            server_lock.hold(campaign.directory).__enter__()


def test_no_campaign_and_no_place_for_the_lock(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="there is no campaign in"):
        server_lock.hold(tmp_path / "none").__enter__()
    (campaign.directory / ".server.json").mkdir()
    with pytest.raises(CampaignError, match="cannot be written"):
        server_lock.hold(campaign.directory).__enter__()
