"""Backups of a campaign in a folder: names, schedule, and which ones are kept."""

from __future__ import annotations

import hashlib
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from collection.campaign.operations import backup_archive, integrity, stored_settings
from collection.campaign.operations.backup_archive import BackupReport
from collection.core import clock, layout
from collection.core.errors import CleverdonError, FormatError, InputError, require_known
from collection.core.phrases import count
from collection.core.records import Finding
from collection.store import Inspection, Store

_STAMP = "%Y%m%d-%H%M%S"
_NAME_END = r"([0-9]{8}-[0-9]{6})\.zip"
_LEFT_AFTER = timedelta(days=1)
"""Age of a folder that a backup was written in, after which its process is gone."""


class Backup(NamedTuple):
    """A backup in a folder."""

    path: Path
    made_at: datetime
    """UTC, from its name."""
    size: int
    """Bytes."""


@dataclass(frozen=True)
class BackupSettings:
    """Schedule of the server's backups, and which ones it keeps."""

    every_hours: int = 0
    """0: never."""
    keep: int = 7
    """Number of backups that are kept, the newest."""
    keep_days: int = 0
    """Age in days after which backups are removed, except for the newest; 0: none."""


def add(
    directory: Path, folder: Path, *, keep: int | None = None, keep_days: int | None = None, secrets: bool = True
) -> tuple[BackupReport, list[Path]]:
    """Write a backup into a folder under a name with the time, and remove older ones of the same series there.

    Nothing is removed while :func:`.integrity.find_damage` finds a problem, which is then in the report, since the
    older backups may be the good ones. See :class:`_Series` for what is removed.

    Parameters
    ----------
    keep, keep_days
        As for :class:`BackupSettings`; None keeps all.

    Returns
    -------
    tuple
        The report, and the removed backups.

    Raises
    ------
    CampaignError, InputError
        As :func:`.backup_archive.write`.
    """
    _require_limits(keep, keep_days)
    with Inspection(directory / layout.DATABASE) as inspection:
        campaign = str(stored_settings.sound(inspection.settings, inspection.path)["id"])
    try:
        layout.make_folder(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be created ({error.strerror or error})") from error
    now = datetime.fromtimestamp(clock.seconds(), UTC)
    series = _Series(directory.resolve(), campaign, secrets)
    report = backup_archive.write(directory, folder / f"{series.prefix}{now:{_STAMP}}.zip", secrets=secrets)
    _remove_scratch(folder, now)
    if keep is None and not keep_days:
        return report, []
    damage = [finding.sentence for finding in integrity.find_damage(directory) if finding.serious]
    if problems := damage or report.problems:
        return replace(report, problems=problems), []
    return report, _remove_old(folder, series, now, keep, keep_days)


@dataclass(frozen=True)
class _Series:
    """The backups that count and replace each other: of one campaign in one directory, with secrets or without.

    A copy of a directory has the id of the original and may have its name, so the names of backups have a digest of the
    whole series, and backups say inside what they are of. A directory that is moved begins a new series.
    """

    directory: Path
    """Absolute."""
    campaign: str
    """Its id."""
    secrets: bool = True

    @property
    def _name(self) -> str:
        return re.sub(r"[^A-Za-z0-9.]+", "-", self.directory.name).strip("-.")[:100] or "campaign"

    @property
    def prefix(self) -> str:
        """The beginning of the names of its backups."""
        series = f"{self.directory}\0{self.campaign}\0{self.secrets}".encode(errors="surrogateescape")
        kind = "" if self.secrets else "without-secrets-"
        return f"{self._name}-{self.campaign}-{kind}{hashlib.sha256(series).hexdigest()[:12]}-"

    @property
    def prefixes(self) -> tuple[str, str]:
        """The same, and what it was before names had a digest, which backups of other directories may have, too."""
        return self.prefix, f"{self._name}{'' if self.secrets else '-without-secrets'}-{self.campaign}-"

    def has(self, backup: Path) -> bool:
        """Tell whether a backup says inside that it belongs to the series; one that is damaged does not."""
        try:
            with backup_archive.open_backup(backup) as opened:
                about = opened.manifest
        except FormatError:
            return False
        return (about.directory, about.campaign, about.with_secrets) == (
            str(self.directory),
            self.campaign,
            self.secrets,
        )


def _backups_in(folder: Path, prefix: str) -> list[Backup]:
    """List the backups in a folder whose names begin so, newest first; other files are not looked at."""
    backups = []
    for file in folder.iterdir() if folder.is_dir() else ():
        named = re.fullmatch(re.escape(prefix) + _NAME_END, file.name)
        if named and file.is_file() and not file.is_symlink():
            with suppress(ValueError, FileNotFoundError):  # no such date, or removed meanwhile
                at = datetime.strptime(named[1], _STAMP).replace(tzinfo=UTC)
                backups.append(Backup(file, at, file.stat().st_size))
    return sorted(backups, key=lambda backup: backup.made_at, reverse=True)


def list_backups(directory: Path, campaign: str) -> list[Backup]:
    """Return the backups in the folder of a directory with the campaign of this id: see :meth:`Backups.available`."""
    prefixes = _Series(directory.resolve(), campaign).prefixes
    backups = [each for prefix in prefixes for each in _backups_in(directory / layout.BACKUPS, prefix)]
    return sorted(backups, key=lambda backup: backup.made_at, reverse=True)


def find_scheduled(directory: Path, campaign: str) -> Backup | None:
    """Return the newest backup that counts for the schedule of a directory with the campaign of this id, or None."""
    now = datetime.fromtimestamp(clock.seconds(), UTC)
    own = _backups_in(directory / layout.BACKUPS, _Series(directory.resolve(), campaign).prefix)
    return next((backup for backup in own if backup.made_at <= now), None)  # a later time is from a wrong clock


def _require_limits(keep: int | None, keep_days: int | None) -> None:
    if keep is not None and keep < 1:
        raise InputError(f"keep: expected at least 1 backup, found {keep}")
    if keep_days is not None and keep_days < 0:
        raise InputError(f"keep_days: expected 0 days or more, found {keep_days}")


def _remove_old(folder: Path, series: _Series, now: datetime, keep: int | None, days: int | None) -> list[Path]:
    removed = []
    own = [backup for backup in _backups_in(folder, series.prefix) if series.has(backup.path)]
    # A time later than now is from a wrong clock: that backup, too, is older than the one that was just made.
    own.sort(key=lambda backup: backup.made_at > now)
    for number, backup in enumerate(own):
        is_old = bool(days) and now - backup.made_at > timedelta(days=days or 0)
        if number and (is_old or (keep is not None and number >= keep)):
            with suppress(FileNotFoundError):
                backup.path.unlink()
                removed.append(backup.path)
    return removed


def _remove_scratch(folder: Path, now: datetime) -> None:
    """Remove what killed backups have left."""
    for scratch in folder.glob(f"{layout.SCRATCH}*"):
        with suppress(OSError):
            if scratch.stat().st_mtime < (now - _LEFT_AFTER).timestamp():
                shutil.rmtree(scratch)


@dataclass(eq=False)
class Backups:
    """Backups of a campaign in its own folder ``backups``, which may be a link to a folder on another disk."""

    store: Store
    directory: Path

    @property
    def folder(self) -> Path:
        """The folder of the backups."""
        return self.directory / layout.BACKUPS

    def settings(self) -> BackupSettings:
        """Return the schedule."""
        stored = self.store.settings.get("backups", {})
        known = [each.name for each in fields(BackupSettings)]
        return BackupSettings(**{name: stored[name] for name in known if name in stored})

    def set_settings(self, **changes: int) -> BackupSettings:
        """Change fields of the :class:`BackupSettings`.

        UnknownNameError for an unknown setting, InputError for a value out of range.
        """
        with self.store.transaction():
            settings = self.settings()
            require_known("backup setting", asdict(settings), *changes)
            settings = replace(settings, **changes)
            _require_limits(settings.keep, settings.keep_days)
            if settings.every_hours < 0:
                raise InputError(f"every_hours: expected 0 hours or more, found {settings.every_hours}")
            self.store.settings.put("backups", asdict(settings))
        return settings

    @property
    def _series(self) -> _Series:
        return _Series(self.directory.resolve(), str(self.store.settings.get("id")))

    def available(self) -> list[Backup]:
        """Return the backups of this directory, newest first, but not those without secrets.

        Those of Cleverdon before names had a digest are among them, although they may be of another directory of the
        same name; they are never removed, and do not count for the schedule.
        """
        return list_backups(self.directory, str(self.store.settings.get("id")))

    def make(self) -> BackupReport:
        """Make a backup now, and remove older ones by the settings; problems are kept for :meth:`problem`."""
        settings = self.settings()
        report, _ = add(self.directory, self.folder, keep=settings.keep, keep_days=settings.keep_days)
        if problems := report.problems:
            number = count(len(problems), "problem")
            self._keep_problem(
                f"a backup was made, but the campaign has {number}, and older ones are kept: {problems[0]}"
            )
        else:
            self._keep_problem(None)
        return report

    def write(self, path: Path) -> BackupReport:
        """Write a backup to a new file, without the secrets that only operators know: ``.secret`` and ``sso.toml``."""
        return backup_archive.write(self.directory, path, secrets=False)

    def campaign_bytes(self) -> int:
        """Return the size of the database, runs and images."""
        places = [
            place / name
            for place in layout.campaign_folders(self.directory)
            for name in (layout.DATABASE, layout.RUNS, layout.IMAGES)
        ]
        files = [file for place in places for file in (place.iterdir() if place.is_dir() else [place])]
        return sum(file.stat().st_size for file in files if file.is_file())

    def check(self) -> list[Finding]:
        """Check the campaign: see :func:`.integrity.check`."""
        return integrity.check(self.directory)

    def is_due(self) -> bool:
        """Tell whether the schedule asks for a backup now."""
        hours, now = self.settings().every_hours, datetime.fromtimestamp(clock.seconds(), UTC)
        newest = find_scheduled(self.directory, str(self.store.settings.get("id")))
        return bool(hours) and (newest is None or now - newest.made_at >= timedelta(hours=hours))

    def make_if_due(self) -> BackupReport | None:
        """Make a backup if the schedule asks for one; a failure is kept for :meth:`problem` and raised."""
        if not self.is_due():
            return None
        try:
            return self.make()
        except CleverdonError as error:
            self._keep_problem(f"no backup was made: {error}")
            raise

    def _keep_problem(self, problem: str | None) -> None:
        at = f"{clock.now()[:16].replace('T', ' ')} UTC"
        self.store.settings.put("backup_problem", problem and f"{at}: {problem}")

    def problem(self) -> str | None:
        """Return when and why the last scheduled backup failed or had problems, or None if it was in order."""
        problem: str | None = self.store.settings.get("backup_problem")
        return problem
