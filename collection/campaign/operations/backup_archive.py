"""The file of a backup: a zip archive with a manifest, written while people judge, and restored after checks.

`manifest.json`, the last member, names every other one with its size and SHA-256. An archive has only members whose
names Cleverdon gives to files of a campaign.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import IO, Any

from collection.active_learning import features
from collection.campaign.corpus import stored_runs
from collection.campaign.corpus.document_view import named_files
from collection.campaign.operations import stored_settings
from collection.core import clock, layout
from collection.core.errors import CampaignError, FormatError, InputError
from collection.core.phrases import count
from collection.store import Inspection, copy_database

FORMAT = 1
MANIFEST = "manifest.json"
CHUNK = 1 << 20
SECRETS = {layout.SECRET: "the key that signs cookies", layout.PROVIDER: "the secrets of sso.toml"}
"""Files that are secret -> what they hold."""
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OverflowError)
"""What zipfile raises for damaged archives, among them encrypted members and unknown methods (RuntimeError)."""
_FEATURES = f"{layout.FEATURES}/meta.json"
TRIES = 5
"""Number of copies of the database that are made until it agrees with the files, which an import may be replacing."""


@dataclass(frozen=True)
class BackupReport:
    """A backup that was written."""

    path: Path
    size: int
    """Bytes."""
    files: int
    """Number of files in it."""
    secrets: tuple[str, ...]
    """What is secret among them, besides the hashes of passwords in the database."""
    problems: list[str] = field(default_factory=list)
    """What is wrong with the campaign, and so with the backup: sentences without a capital and a full stop."""


@dataclass(frozen=True)
class Manifest:
    """The table of contents of a backup."""

    campaign: str
    """Id of the campaign."""
    title: str
    made_at: str
    """UTC, ISO 8601."""
    files: dict[str, tuple[int, str]]
    """Path in the campaign's directory -> size in bytes, and SHA-256."""
    directory: str | None = None
    """Absolute path of the directory that it is a backup of; None in backups of Cleverdon before this was noted."""
    with_secrets: bool = True
    """Whether ``.secret`` and ``sso.toml`` were to be in it."""


def write(directory: Path, target: Path, *, secrets: bool = True) -> BackupReport:
    """Write a backup of a campaign to a new file, which only its owner may read.

    It has the database as it is at one moment, the runs, images and PDF files, embeddings that a manager provided, and,
    with `secrets`, ``.secret`` and ``sso.toml``. Features that Cleverdon computes, exports, other backups and files of
    others are left out. The campaign is only read, and needs no migration.

    Raises
    ------
    CampaignError
        There is no campaign, or its database is damaged, in which case an older backup is worth more than a new one.
    InputError
        The target exists, belongs to the campaign, or cannot be written.
    """
    layout.require_output(target, directory)
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: expected a new file, found an existing one; choose another name")
    if not target.parent.is_dir():
        raise InputError(f"{target}: cannot be written; there is no folder {target.parent}")
    try:
        with tempfile.TemporaryDirectory(prefix=layout.SCRATCH, dir=target.parent) as scratch:
            for _ in range(TRIES):
                part = Path(scratch, "archive")
                part.unlink(missing_ok=True)
                with layout.create_private(part) as file:
                    manifest, missing, unreadable = _write_archive(directory, Path(scratch), secrets, file)
                    file.flush()
                    os.fsync(file.fileno())
                # An import may have replaced a run since the database was copied, and removed its file.
                if not missing or set(missing) <= set(_all_names(directory, secrets)):
                    break
            else:
                raise CampaignError(f"{directory}: runs are being replaced; try again when the import has finished")
            size = part.stat().st_size
            layout.publish(part, target)
    except FileExistsError:
        raise InputError(f"{target}: expected a new file, found an existing one; choose another name") from None
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise InputError(f"{target}: cannot be written ({error.strerror or error}{where})") from error
    included_secrets = tuple(what for name, what in SECRETS.items() if name in manifest.files)
    return BackupReport(
        target, size, len(manifest.files), included_secrets, _problems(directory, manifest, missing, unreadable)
    )


def _problems(directory: Path, manifest: Manifest, missing: list[str], unreadable: dict[str, str]) -> list[str]:
    """Missing and unreadable files, and files whose content is not the one that their name says."""
    problems = [f"{name} is missing in the campaign, and so in the backup" for name in missing]
    for name, reason in unreadable.items():
        has = "has a part of it" if name in manifest.files else "lacks it"
        problems.append(f"{name} cannot be read ({reason}), so the backup {has}")
    problems += [
        f"{place} is damaged in the campaign, so the backup has no embeddings"
        for place in manifest.files
        if layout.split_task(place)[1] == _FEATURES
        and sum(name.startswith(place.removesuffix("meta.json")) for name in manifest.files) == 1
    ]
    for name, (_, digest) in manifest.files.items():
        folder, _, file = layout.split_task(name)[1].rpartition("/")
        named = {layout.RUNS: stored_runs.named_digest(file), layout.IMAGES: Path(file).stem}.get(folder, "")
        if name not in unreadable and not digest.startswith(named):
            problems.append(f"{name} is damaged in the campaign, and so in the backup: its checksum differs")
    return [f"{each}; `cleverdon check {quote(str(directory))}` says what to do" for each in problems]


def _all_names(directory: Path, secrets: bool) -> Iterator[str]:
    """Yield the files, other than databases, that belong to a campaign and its tasks."""
    for folder in layout.campaign_folders(directory):
        prefix = layout.task_prefix(folder, directory)
        yield from (f"{prefix}{name}" for name in _names(folder, folder / layout.DATABASE, secrets and not prefix))


def _names(directory: Path, database: Path, secrets: bool) -> list[str]:
    """The files beside the database that belong to it."""
    with Inspection(database) as inspection:
        names = [f"{layout.RUNS}/{run['file']}" for run in inspection.runs()]
        named = named_files(inspection.metadata_with_files())
        blocks = stored_settings.sound(inspection.settings, database).get("features", {}).get("blocks", [])
    with suppress(OSError):  # no folder; or it cannot be read, and then neither can they
        named |= {file.name for file in (directory / layout.IMAGES).iterdir() if file.is_file()}
    names += [f"{layout.IMAGES}/{file}" for file in sorted(named)]
    if "dense" in blocks:
        try:
            stored = features.stored_files(directory / layout.FEATURES)
            names += [file.relative_to(directory).as_posix() for file in stored]
        except (FormatError, OSError):  # missing, damaged or unreadable
            names.append(_FEATURES)
    if secrets:
        names += [name for name in (layout.SECRET, layout.PROVIDER) if (directory / name).is_file()]
    return [name for name in names if layout.is_backed_up(name)]


def _write_archive(
    directory: Path, scratch: Path, secrets: bool, file: IO[bytes]
) -> tuple[Manifest, list[str], dict[str, str]]:
    """Write the archive; return its manifest, the files that are missing, and the reasons why others cannot be read.

    Copies of the databases are written into the folder `scratch`.
    """
    files: dict[str, tuple[int, str]] = {}
    missing: list[str] = []
    unreadable: dict[str, str] = {}
    now = datetime.fromtimestamp(clock.seconds(), UTC)
    with zipfile.ZipFile(file, "w") as archive:
        # The database of the campaign is copied after those of its tasks, which hold what was prepared from it.
        for folder in layout.campaign_folders(directory):
            prefix = layout.task_prefix(folder, directory)
            copy = scratch / layout.DATABASE
            settings = _copy_intact(folder / layout.DATABASE, copy)
            name = f"{prefix}{layout.DATABASE}"
            with copy.open("rb") as database, _member(archive, name, now, zipfile.ZIP_DEFLATED) as member:
                files[name] = _copy(database, member)
            for inner in _names(folder, copy, secrets and not prefix):
                name = f"{prefix}{inner}"
                with ExitStack() as opened:
                    try:
                        source = opened.enter_context(_Source((directory / name).open("rb", buffering=0)))
                        source.peek(1)
                    except FileNotFoundError:
                        missing.append(name)
                        continue
                    except OSError as error:
                        unreadable[name] = error.strerror or str(error)
                        continue
                    # Runs and images are compressed already, and a key is too short to compress.
                    member = opened.enter_context(_member(archive, name, now, zipfile.ZIP_STORED))
                    files[name] = _copy(source, member)
                    if source.failure:
                        unreadable[name] = source.failure
        place = str(directory.resolve())
        manifest = Manifest(settings["id"], settings["title"], clock.now(), files, place, with_secrets=secrets)
        about = {"format": FORMAT, "cleverdon": version("cleverdon"), **vars(manifest)}
        with _member(archive, MANIFEST, now, zipfile.ZIP_STORED) as member:
            member.write(json.dumps(about, indent=1).encode())
    return manifest, missing, unreadable


def _copy_intact(database: Path, copy: Path) -> dict[str, Any]:
    """Copy a database, and return its settings; :class:`CampaignError` if it is damaged."""
    copy.unlink(missing_ok=True)
    copy_database(database, copy)
    with Inspection(copy) as inspection:
        settings = stored_settings.sound(inspection.settings, database)
        if damage := inspection.damage():
            raise CampaignError(
                f"{database} is damaged, so no backup was made: {damage[0]}; restore an earlier backup with "
                "`cleverdon restore FILE NEW`"
            )
    return settings


class _Source(io.BufferedReader):
    """A file that ends where it cannot be read any further; `failure` says why."""

    failure = ""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to `size` bytes."""
        try:
            return super().read(size)
        except OSError as error:
            self.failure = error.strerror or str(error)
            return b""


def _member(archive: zipfile.ZipFile, name: str, at: datetime, method: int) -> IO[bytes]:
    about = zipfile.ZipInfo(name, at.timetuple()[:6])
    about.compress_type = method
    about.external_attr = (stat.S_IFREG | layout.PRIVATE_FILE) << 16
    return archive.open(about, "w", force_zip64=True)


def _copy(
    source: IO[bytes], target: IO[bytes] | None, limit: int | None = None, most: int | None = None
) -> tuple[int, str]:
    """Read at most `limit` bytes, and one more to show that there are more; return their number and SHA-256.

    Those are written to `target`, or only the first `most`.
    """
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK if limit is None else min(CHUNK, limit + 1 - size)):
        digest.update(chunk)
        if target is not None:
            target.write(chunk if most is None else chunk[: max(0, most - size)])
        size += len(chunk)
    return size, digest.hexdigest()


def restore(path: Path, directory: Path) -> Manifest:
    """Restore a backup into a new or empty directory, which only its owner may enter.

    The database gets its name last, so a directory in which anything failed holds no campaign.

    Raises
    ------
    FormatError
        The file is no backup, is damaged, or has members that a backup does not have.
    CampaignError
        The directory is not empty, or the backup was made by a newer version.
    InputError
        The directory cannot be written, or the disk lacks space.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise CampaignError(f"{directory}: expected a new or empty directory, found files; choose another name")
    layout.require_output(directory)
    written: list[Path] = []
    with open_backup(path) as backup:
        manifest = backup.manifest
        try:
            if not directory.exists():
                layout.make_folder(directory)
                written.append(directory)
            needed, free = sum(size for size, _ in manifest.files.values()), shutil.disk_usage(directory).free
            if needed > free:
                raise InputError(f"{directory}: expected {needed:,} bytes of free disk space, found {free:,}")
            _fill(backup, directory, written)
        except BaseException as error:
            layout.remove_written(written)
            if isinstance(error, OSError):
                raise InputError(f"{directory}: cannot be written ({error.strerror or error})") from error
            raise
    return manifest


def _fill(backup: OpenBackup, directory: Path, written: list[Path]) -> None:
    """Write all files; `written` gets each file and folder as it is made."""

    def make_folder(folder: Path) -> None:
        if folder not in written and folder != directory:
            make_folder(folder.parent)
            folder.mkdir(mode=layout.PRIVATE_FOLDER)
            written.append(folder)

    directory.chmod(layout.PRIVATE_FOLDER)
    databases = sorted((name for name in backup.manifest.files if _is_database(name)), key=len, reverse=True)
    for name in databases:
        for folder in (layout.RUNS, layout.EXPORTS):
            make_folder((directory / name).parent / folder)
    for name in backup.manifest.files:
        place = _unpacked(directory, name)
        make_folder(place.parent)
        with layout.create_private(place) as file:
            written.append(place)
            backup.read(name, file)
            file.flush()
            os.fsync(file.fileno())
    for name in databases:
        part = _unpacked(directory, name)
        beside = [part.with_name(f"{part.name}-{kind}") for kind in ("wal", "shm")]  # SQLite's, while it reads
        written += beside
        with Inspection(part, known=True) as inspection:  # which refuses a newer version
            if damage := inspection.damage():
                raise FormatError(backup.path, None, f"an intact {name}", damage[0])
        for file_beside in beside:
            file_beside.unlink(missing_ok=True)
    for made in (place for place in (directory, *written) if place.is_dir()):
        layout.sync_folder(made)
    for name in databases:  # that of the campaign itself last
        written.append(_unpacked(directory, name).rename(directory / name))
        layout.sync_folder((directory / name).parent)


def _is_database(name: str) -> bool:
    return layout.split_task(name)[1] == layout.DATABASE


def _unpacked(directory: Path, name: str) -> Path:
    """Return where to unpack a file of a backup; a database gets a temporary name."""
    return directory / f"{name}.part" if _is_database(name) else directory / name


@dataclass(frozen=True)
class OpenBackup:
    """A backup whose files can be read."""

    path: Path
    archive: zipfile.ZipFile
    manifest: Manifest

    def read(self, name: str, target: IO[bytes] | None = None, most: int | None = None) -> None:
        """Read a file, no more than its size in the manifest, and compare its checksum.

        Parameters
        ----------
        name
            One of the manifest.
        target, most
            Where the file is written, or only its first `most` bytes.

        Raises
        ------
        FormatError
            The file is damaged.
        """
        size, digest = self.manifest.files[name]
        try:
            with self.archive.open(name) as member:
                read = _copy(member, target, limit=size, most=most)
        except _ZIP_ERRORS as error:
            problem = f"a damaged or different file ({error})"
            raise FormatError(self.path, None, f"an intact {name}", problem) from error
        if read != (size, digest):
            raise FormatError(self.path, None, f"{name} with the checksum in {MANIFEST}", "another one")


@contextmanager
def open_backup(path: Path) -> Iterator[OpenBackup]:
    """Open a backup whose members are those of its manifest, with their names and sizes checked.

    Raises
    ------
    FormatError
        The file is no backup, or its table of contents is damaged.
    """
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(opened.enter_context(path.open("rb"))))
            manifest = _checked_manifest(path, archive)
        except FileNotFoundError:
            raise FormatError(path, None, "a backup", "no such file") from None
        except IsADirectoryError:
            raise FormatError(path, None, "a backup", "a folder") from None
        except OSError as error:
            raise FormatError(
                path, None, "a backup", f"a file that cannot be read ({error.strerror or error})"
            ) from error
        except _ZIP_ERRORS as error:
            raise FormatError(path, None, "a backup", f"a damaged or different file ({error})") from error
        yield OpenBackup(path, archive, manifest)


def _checked_manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    members = {member.filename: member for member in archive.infolist()}
    if len(members) != len(archive.infolist()):
        raise FormatError(path, None, "members of different names", "two of the same name")
    for member in members.values():
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise FormatError(path, None, "only files", f"{member.filename!a}, a link, folder or device")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(path, None, "members that are stored or deflated", f"{member.filename!a}")
    about = members.pop(MANIFEST, None)
    # Not compressed, so that it is no larger than the archive.
    if about is None or about.compress_type != zipfile.ZIP_STORED or about.file_size != about.compress_size:
        raise FormatError(path, None, f"a backup with a {MANIFEST}", "another archive")
    manifest = _parse(path, archive.read(about))
    if members.keys() != manifest.files.keys():
        other = min(members.keys() ^ manifest.files.keys())
        raise FormatError(path, None, f"the members that {MANIFEST} names", f"a difference in {other!a}")
    for name, (size, _) in manifest.files.items():
        if not layout.is_backed_up(name):
            raise FormatError(path, None, "only files of a campaign", f"{name!a}")
        if members[name].file_size != size:
            raise FormatError(path, None, f"{count(size, 'byte')} in {name}", f"{members[name].file_size:,}")
    if layout.DATABASE not in manifest.files:
        raise FormatError(path, None, f"a backup with {layout.DATABASE}", "none")
    return manifest


def _parse(path: Path, text: bytes) -> Manifest:
    try:
        about = json.loads(text)
        if about["format"] != FORMAT:
            raise FormatError(path, None, f"a backup of format {FORMAT}", f"format {about['format']}")
        files = {str(name): (int(size), str(digest)) for name, (size, digest) in about["files"].items()}
        if any(size < 0 for size, _ in files.values()):
            raise ValueError("a size below 0")
        place = about.get("directory")
        return Manifest(
            str(about["campaign"]),
            str(about["title"]),
            str(about["made_at"]),
            files,
            None if place is None else str(place),
            with_secrets=bool(about.get("with_secrets", True)),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise FormatError(path, None, f"a valid {MANIFEST}", f"another one ({type(error).__name__})") from error
