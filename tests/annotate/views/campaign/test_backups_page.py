"""The page Backups: list, settings, download and check."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotate.views.widgets import downloads
from collection import Campaign
from tests.conftest import Clock
from tests.helpers import Opened, words

pytestmark = pytest.mark.slow


def test_a_backup_is_made_and_listed(campaign: Campaign, opened: Opened) -> None:
    app = opened(campaign, "backups")
    assert "No backups on the server yet." in words(app)
    app.button(key="make").click().run()
    (made,) = campaign.operations.backups.available()
    assert app.dataframe[0].value["file"].tolist() == [made.path.name]
    assert "No backups" not in words(app)


def test_the_schedule_is_saved(campaign: Campaign, opened: Opened) -> None:
    app = opened(campaign, "backups")
    app.number_input(key="every-hours").set_value(24)
    app.number_input(key="keep").set_value(3)
    app.number_input(key="keep-days").set_value(30)
    app.button(key="save").click().run()
    settings = campaign.operations.backups.settings()
    assert (settings.every_hours, settings.keep, settings.keep_days) == (24, 3, 30)


def test_a_failed_backup_is_shown(campaign: Campaign, opened: Opened, clock: Clock) -> None:
    campaign.store.settings.put("backup_problem", "2026-11-25 12:00 UTC: [the disk](x) is full")
    assert "The last backup has a problem. 2026-11-25 12:00 UTC: [the disk](x) is full" in words(
        opened(campaign, "backups")
    )


def test_the_check_shows_each_finding(campaign: Campaign, opened: Opened) -> None:
    app = opened(campaign, "backups")
    app.button(key="check").click().run()
    assert [element.value for element in app.success] == ["No problems."]
    (lost, *_) = (campaign.directory / "runs").iterdir()
    lost.unlink()
    app.button(key="check").click().run()
    assert "is missing; import the run again" in words(app)
    assert "1 problem." in words(app)


def test_a_download_has_no_secrets_of_the_operator(
    campaign: Campaign, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign.operations.server_state.secret()
    (campaign.directory / "sso.toml").write_text("client_secret = 'hush'\n")
    written: list[tuple[str, downloads.Write]] = []
    monkeypatch.setattr(downloads, "draw_deferred", lambda write, name, *_: written.append((name, write)))
    opened(campaign, "backups")
    ((name, write),) = written
    write(campaign, tmp_path / name)
    assert not {".secret", "sso.toml"} & set(zipfile.ZipFile(tmp_path / name).namelist())


def test_a_large_campaign_names_the_command(
    campaign: Campaign, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collection.campaign.operations.backups.Backups.campaign_bytes", lambda self: 10**9)
    app = opened(campaign, "backups")
    assert "too large for a download in the browser: run `cleverdon backup DIR FILE`" in words(app)
    assert not app.get("download_button")
