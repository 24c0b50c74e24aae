"""The files of a campaign's directory: their names, permissions, and protection from outputs."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO

from collection.core.errors import BusyError, InputError, StorageError, as_path

DATABASE = "campaign.db"
SECRET = ".secret"
PROVIDER = "sso.toml"
SERVER = ".server.json"
RUNS = "runs"
IMAGES = "files"
FEATURES = "features"
EXPORTS = "exports"
BACKUPS = "backups"
TASKS = "tasks"
"""Folder with a campaign for each task of generated answers; these share the accounts of the campaign around them."""

NUGGET_ASSIGNMENT, SUPPORT = TASK_NAMES = ("nugget-assignment", "support")
"""Names of these tasks, and of their folders."""

SCRATCH = ".cleverdon-backup-"
"""The beginning of the names of folders in which backups are written; a killed process may leave one."""

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""The database has password hashes and addresses: only the owner of a campaign reads it."""

_TOP = re.compile(r"campaign\.db(?:-wal|-shm|-journal)?|\.secret(?:-[0-9a-f]+)?|\.server\.json|sso\.toml", re.I)
_RUN = re.compile(r"[\w.~% -]+\.[0-9a-f]{8}-[0-9]+(?:-[0-9a-f]{8})?(?:-[0-9a-f]{16})?\.(?:parquet|part)", re.A)
_CURRENT_RUN = re.compile(r"[\w.~% -]+\.[0-9a-f]{8}-[0-9]+(?:-[0-9a-f]{8})?(?:-[0-9a-f]{16}\.parquet|\.part)", re.A)
"""With a digest of the content, unlike names from earlier versions."""
_IMAGE = re.compile(r"[0-9a-f]{64}\.[a-z]+(?:(?:\.[0-9a-f]{8})?\.part)?")
_BACKUP = re.compile(r"before-version-[0-9]+\.db(?:\.part)?|[^/\x00]*-[0-9a-f]{12}-[0-9]{8}-[0-9]{6}\.zip")
_FEATURE_FOLDER = re.compile(r"made-[a-z0-9_]{8}")
_FEATURE = re.compile(
    r"(?:hashes|dense|[a-z]+\.[a-z]+)\.npy|[a-z]+\.terms\.txt|meta\.json|(?:[0-9a-f]{32}|unfinished)\.npz"
)


def is_run_file(name: str) -> bool:
    """Return whether a file in ``runs/`` is certainly from an import; one without a digest may be the user's own."""
    return bool(_CURRENT_RUN.fullmatch(name))


def is_partial_image(name: str) -> bool:
    """Return whether a file in ``files/`` is an image that an import did not finish."""
    return bool(_IMAGE.fullmatch(name)) and name.endswith(".part")


def is_feature_folder(name: str) -> bool:
    """Return whether a folder in ``features/`` was made by an update of the features."""
    return bool(_FEATURE_FOLDER.fullmatch(name))


def is_feature_file(name: str) -> bool:
    """Return whether a file in a folder of features was written by an update of the features."""
    return bool(_FEATURE.fullmatch(name))


def outer_campaign(directory: Path) -> Path | None:
    """Return the directory of the campaign around a task's campaign in `directory`; None for any other campaign."""
    place = directory.resolve()
    outer = place.parent.parent
    is_task = place.name in TASK_NAMES and place.parent.name == TASKS and (outer / DATABASE).is_file()
    return outer if is_task else None


def task_campaigns(directory: Path) -> dict[str, Path]:
    """Return the directory of the campaign of each task that a campaign has, by name."""
    folders = {name: directory / TASKS / name for name in TASK_NAMES}
    return {name: folder for name, folder in folders.items() if (folder / DATABASE).is_file()}


def campaign_folders(directory: Path) -> list[Path]:
    """Return the directories of the tasks of a campaign, followed by its own."""
    return [*task_campaigns(directory).values(), directory]


def is_backed_up(name: str) -> bool:
    """Return whether a path inside a campaign's directory, with slashes, is one that a backup can have."""
    task, name = split_task(name)
    folder, _, file = name.rpartition("/")
    if not folder:
        return file == DATABASE or (not task and file in (SECRET, PROVIDER))
    if folder in (RUNS, IMAGES):
        return not file.endswith(".part") and bool((_RUN if folder == RUNS else _IMAGE).fullmatch(file))
    parent, _, inner = folder.partition("/")
    return name == f"{FEATURES}/meta.json" or (
        parent == FEATURES and is_feature_folder(inner) and is_feature_file(file)
    )


def task_prefix(folder: Path, directory: Path) -> str:
    """Return the path of a task's campaign inside `directory`, with a final slash; "" for `directory` itself."""
    return "" if folder == directory else f"{folder.relative_to(directory).as_posix()}/"


def split_task(name: str) -> tuple[str, str]:
    """Split a path (with slashes) inside a campaign's directory into the path of a task, or "", and the rest.

    >>> split_task("tasks/support/campaign.db"), split_task("runs/a.parquet")
    (('tasks/support/', 'campaign.db'), ('', 'runs/a.parquet'))
    """
    for task in TASK_NAMES:
        if name.startswith(prefix := f"{TASKS}/{task}/"):
            return prefix, name.removeprefix(prefix)
    return "", name


def remove_features(folder: Path) -> None:
    """Remove a folder of features, except for files that an update did not write."""
    with suppress(OSError):
        for file in _regular_files(folder):
            if is_feature_file(file.name):
                file.unlink()
        folder.rmdir()


def own_files(directory: Path) -> Iterator[Path]:
    """Every regular file that Cleverdon named, without exports."""
    for campaign in campaign_folders(directory):
        for folder, names in _names_in(campaign).items():
            yield from (file for file in _regular_files(folder) if names.fullmatch(file.name))


def unknown_entries(directory: Path) -> Iterator[Path]:
    """Every file and folder whose name is not one of Cleverdon's, without exports and what lies in such folders."""
    tasks = task_campaigns(directory)
    folders = {*own_folders(directory), *([directory / TASKS] if tasks else [])}
    names_in = {
        folder: names for campaign in campaign_folders(directory) for folder, names in _names_in(campaign).items()
    }
    if tasks:
        names_in[directory / TASKS] = re.compile("|".join(tasks))
    for folder, names in names_in.items():
        if folder.is_dir() and not (folder.name == BACKUPS and folder.is_symlink()):  # a link to where others write
            for entry in sorted(folder.iterdir()):
                if not (entry in folders or names.fullmatch(entry.name) or entry.name.startswith(SCRATCH)):
                    yield entry


def own_folders(directory: Path) -> Iterator[Path]:
    """Yield the folders inside the directories of a campaign and of its tasks."""
    for campaign in campaign_folders(directory):
        yield from (campaign / name for name in (RUNS, IMAGES, FEATURES, EXPORTS, BACKUPS))
        yield from _feature_folders(campaign)


def _names_in(directory: Path) -> dict[Path, re.Pattern[str]]:
    """Each folder, except that of exports -> names that Cleverdon gives to files in it."""
    names_in = {directory: _TOP, directory / RUNS: _RUN, directory / IMAGES: _IMAGE, directory / FEATURES: _FEATURE}
    return names_in | {directory / BACKUPS: _BACKUP} | dict.fromkeys(_feature_folders(directory), _FEATURE)


def _feature_folders(directory: Path) -> list[Path]:
    folder = directory / FEATURES
    return sorted(f for f in folder.iterdir() if is_feature_folder(f.name)) if folder.is_dir() else []


def _regular_files(folder: Path) -> list[Path]:
    """Regular files by name, without links, which may lead to files of others."""
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.is_symlink())


def resolved(path: str | PathLike[str]) -> Path:
    """The path without links; raises :class:`InputError` if they cannot be followed."""
    try:
        resolved_path = as_path(path).resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link that leads to itself, before Python 3.13
        raise InputError(f"{path}: symbolic links cannot be resolved ({error})") from error
    # Unlike pathlib, os.path raises nothing for a folder that may not be entered.
    if any(os.path.islink(part) for part in (resolved_path, *resolved_path.parents)):  # noqa: PTH114
        raise InputError(f"{path}: symbolic links cannot be resolved (one leads to itself)")  # since Python 3.13
    return resolved_path


def home(path: str | PathLike[str]) -> Path | None:
    """The nearest campaign directory above a path, if any."""
    return next(iter(_homes(resolved(path))), None)


def _homes(target: Path) -> list[Path]:
    # Unlike pathlib, os.path raises nothing for a folder that may not be entered.
    return [folder for folder in target.parents if os.path.isfile(folder / DATABASE)]  # noqa: PTH113


def require_output(path: str | PathLike[str] | None, campaign: Path | None = None) -> None:
    """Raise :class:`InputError` for an output that would replace a file of a campaign or be among its files.

    That is the database, the key, the settings of a provider, anything in ``runs/``, ``files/`` or ``features/``, a
    link to such a file, or a folder above a campaign.

    Parameters
    ----------
    path
        The output; None: nothing is written.
    campaign
        The directory of the open campaign. Others are found by the folders above `path`.
    """
    if path is None:
        return
    # The path as written, too: a folder of the campaign may be a link to another disk.
    for target in dict.fromkeys([resolved(path), Path(os.path.abspath(path))]):  # noqa: PTH100
        for directory in dict.fromkeys([*([resolved(campaign)] if campaign else []), *_homes(target)]):
            if _is_own(target, directory):
                raise InputError(
                    f"{path} belongs to the campaign in {directory} and cannot be overwritten; write to another path, "
                    f"such as {directory / EXPORTS / target.name}"
                )


def _is_own(target: Path, directory: Path) -> bool:
    if directory == target or directory.is_relative_to(target):
        return True
    if target.is_relative_to(directory):
        first, *more = (part.casefold() for part in target.relative_to(directory).parts)
        is_tasks = first == TASKS and len(more) < 2 and bool(task_campaigns(directory))  # a task checks its own paths
        if is_tasks or first in (RUNS, IMAGES, FEATURES) or (not more and _TOP.fullmatch(first)):
            return True
        # An existing one; a new backup is written there.
        if first == BACKUPS and len(more) == 1 and _BACKUP.fullmatch(more[0]) and target.exists():
            return True
    if any(target.is_relative_to(resolved(directory / name)) for name in (RUNS, IMAGES, FEATURES, DATABASE, SECRET)):
        return True
    with suppress(OSError):
        status = target.stat()
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            return any(os.path.samestat(status, file.stat()) for file in own_files(directory))
    return False


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""Error numbers of a full or read-only disk."""


@contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Raise :class:`StorageError` where a full or read-only disk keeps something from being written into a folder."""
    try:
        yield
    except OSError as error:
        short = type(error) is OSError and error.errno is None  # how NumPy says that a file has no room
        if not short and error.errno not in NO_SPACE:
            raise
        reason = error.strerror or error
        raise StorageError(
            f"{place} cannot be written ({reason}); free some space on its disk, or make it writable"
        ) from error


def find_write_problem(folder: Path) -> str | None:
    """Return why no file can be written into a folder, or None; what is written has no name, so a kill leaves none."""
    from tempfile import TemporaryFile

    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return None


def create_private(path: Path) -> IO[bytes]:
    """Open a new file for writing that only its owner may read, whatever the umask."""
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return os.fdopen(os.open(path, how, PRIVATE_FILE), "wb")


def sync_file(path: Path) -> None:
    """Make the content of a file durable that somebody else wrote and closed, also through a memory map."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make new names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def publish(part: Path, target: Path) -> None:
    """Give a finished file its durable name; raises :class:`FileExistsError` if another file has it."""
    try:
        target.hardlink_to(part)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError(target) from None
        part.rename(target)
    sync_folder(target.parent)


def remove_written(written: list[Path]) -> None:
    """Remove new files and folders, the latest first, and forget them; folders with other files stay."""
    while written:
        place = written.pop()
        with suppress(OSError):
            place.rmdir() if place.is_dir() else place.unlink(missing_ok=True)


def make_folder(folder: Path, mode: int = PRIVATE_FOLDER) -> None:
    """Make a folder, and those above it that are missing, and make their names durable."""
    if not folder.is_dir():
        make_folder(folder.parent, 0o777)
        folder.mkdir(mode, exist_ok=True)
        sync_folder(folder.parent)


SERVED: set[Path] = set()
"""Directories that this process serves, resolved."""


def is_served_elsewhere(directory: Path) -> bool:
    """Return whether another process serves the campaign in a directory; never on file systems without locks."""
    directory = outer_campaign(directory) or directory  # one server serves it with its tasks
    if directory.resolve() in SERVED:
        return False
    try:
        handle = os.open(directory / SERVER, os.O_RDONLY)
    except OSError:  # there was no server yet
        return False
    try:
        return not lock_file(handle, shared=True)
    finally:
        os.close(handle)


def lock_file(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed, and say whether no other process has locked it.

    True without a lock on file systems without locks.
    """
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@contextmanager
def locked(directory: Path, work: str = "updating") -> Iterator[None]:
    """Lock a directory for one piece of work; the operating system releases the lock when the process ends.

    Raises
    ------
    BusyError
        Another process has locked it.
    """
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"another process is {work} {directory}; try again when it has finished") from None
        yield
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Restrict a folder that Cleverdon wrote, with its content, to its owner."""
    for place in (folder, *folder.rglob("*")):
        if not place.is_symlink():
            place.chmod(PRIVATE_FOLDER if place.is_dir() else PRIVATE_FILE)


def restrict_permissions(directory: Path) -> None:
    """Restrict the files of a campaign that others can read, as earlier versions made them, to its owner."""
    if not (_is_open(directory) or _is_open(directory / DATABASE)):
        return
    with suppress(OSError):
        directory.chmod(PRIVATE_FOLDER)
        for folder in own_folders(directory):
            if folder.is_dir() and not folder.is_symlink():
                folder.chmod(PRIVATE_FOLDER)
        for file in own_files(directory):
            if file.name != PROVIDER:  # the user's own; `serve` warns if others can read it
                file.chmod(PRIVATE_FILE)


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)
