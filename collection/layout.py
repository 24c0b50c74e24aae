"""The files of a campaign's directory: their names, who may read them, and that no output replaces them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import IO

from collection.errors import InputError

DATABASE = "campaign.db"
SECRET = ".secret"
RUNS = "runs"
IMAGES = "files"
VECTORS = "vectors"
EXPORTS = "exports"

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""The database holds password hashes and addresses of people: only the owner of a campaign reads it."""

_TOP = re.compile(r"campaign\.db(?:-wal|-shm|-journal)?|\.secret(?:-[0-9a-f]+)?|sso\.toml", re.I)
_RUN = re.compile(r"[\w.~% -]+\.[0-9a-f]{8}-[0-9]+(?:-[0-9a-f]{8})?(?:-[0-9a-f]{16})?\.(?:parquet|part)", re.A)
_RUN_OF_TODAY = re.compile(r"[\w.~% -]+\.[0-9a-f]{8}-[0-9]+(?:-[0-9a-f]{8})?(?:-[0-9a-f]{16}\.parquet|\.part)", re.A)
"""With a digest of its content, which no name has by chance; earlier versions wrote none."""
_IMAGE = re.compile(r"[0-9a-f]{64}\.[a-z]+(?:(?:\.[0-9a-f]{8})?\.part)?")
_VECTOR_FOLDER = re.compile(r"made-[a-z0-9_]{8}")
_VECTOR = re.compile(r"(?:hashes|dense|[a-z]+\.[a-z]+)\.npy|[a-z]+\.terms\.txt|meta\.json")


def is_run_file(name: str) -> bool:
    """Whether a file in ``runs/`` has a name as the import gives it, and may be removed when no run is kept in it.

    Without a digest it may be the user's own, such as ``bm25.20240101-1530.parquet``.
    """
    return bool(_RUN_OF_TODAY.fullmatch(name))


def is_partial_image(name: str) -> bool:
    """Whether a file in ``files/`` is an image that an import did not finish."""
    return bool(_IMAGE.fullmatch(name)) and name.endswith(".part")


def is_vector_folder(name: str) -> bool:
    """Whether a folder in ``vectors/`` has a name as an update of the vectors gives it."""
    return bool(_VECTOR_FOLDER.fullmatch(name))


def remove_vectors(folder: Path) -> None:
    """Remove a folder of vectors; what an update did not write stays, and the folder with it."""
    with suppress(OSError):
        for file in _regular_files(folder):
            if _VECTOR.fullmatch(file.name):
                file.unlink()
        folder.rmdir()


def own_files(directory: Path) -> Iterator[Path]:
    """Every regular file of a campaign that has a name which Cleverdon gives; exports are not among them."""
    folders = [
        (directory, _TOP),
        (directory / RUNS, _RUN),
        (directory / IMAGES, _IMAGE),
        (directory / VECTORS, _VECTOR),
    ]
    folders += [(folder, _VECTOR) for folder in _vector_folders(directory)]
    for folder, names in folders:
        yield from (file for file in _regular_files(folder) if names.fullmatch(file.name))


def _vector_folders(directory: Path) -> list[Path]:
    vectors = directory / VECTORS
    return sorted(f for f in vectors.iterdir() if is_vector_folder(f.name)) if vectors.is_dir() else []


def _regular_files(folder: Path) -> list[Path]:
    """By name; links are not followed, since they may lead to a file of somebody else."""
    if not folder.is_dir():
        return []
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.is_symlink())


# --- outputs ----------------------------------------------------------------------------------------------


def resolved(path: str | PathLike[str]) -> Path:
    """The path without links.

    Raises
    ------
    InputError
        A link leads to itself, or a folder above cannot be read.
    """
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError) as error:  # Python before 3.13 says RuntimeError of a link that leads to itself
        raise InputError(f"{path}: the links in it cannot be followed ({error})") from error


def home(path: str | PathLike[str]) -> Path | None:
    """The nearest campaign directory above a path; None if the path lies in no campaign."""
    return next(iter(_homes(resolved(path))), None)


def _homes(target: Path) -> list[Path]:
    # os.path asks quietly where a folder above may not be entered.
    return [folder for folder in target.parents if os.path.isfile(folder / DATABASE)]  # noqa: PTH113


def require_output(path: str | PathLike[str] | None, campaign: Path | None = None) -> None:
    """Refuse an output that would replace a file of a campaign or lie among its files.

    Parameters
    ----------
    path
        Where something is to be written; links are followed. None: nothing is written.
    campaign
        The directory of the campaign that is open. Other campaigns are found by the folders above `path`.

    Raises
    ------
    InputError
        The path is the database, the key, the settings of a provider, in ``runs/``, ``files/`` or ``vectors/``, a hard
        link to such a file, or a folder with the campaign in it.
    """
    if path is None:
        return
    # As it is written, too: a folder of the campaign may be a link to another disk.
    for target in dict.fromkeys([resolved(path), Path(os.path.abspath(path))]):  # noqa: PTH100
        for directory in dict.fromkeys([*([resolved(campaign)] if campaign else []), *_homes(target)]):
            if _is_own(target, directory):
                raise InputError(
                    f"{path} belongs to the campaign in {directory}, whose files no output replaces; choose another "
                    f"place, such as {directory / EXPORTS / target.name}"
                )


def _is_own(target: Path, directory: Path) -> bool:
    if directory == target or directory.is_relative_to(target):
        return True
    if target.is_relative_to(directory):
        first, *more = (part.casefold() for part in target.relative_to(directory).parts)
        if first in (RUNS, IMAGES, VECTORS) or (not more and _TOP.fullmatch(first)):
            return True
    if any(target.is_relative_to(resolved(directory / name)) for name in (RUNS, IMAGES, VECTORS, DATABASE, SECRET)):
        return True
    with suppress(OSError):
        found = target.stat()
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            return any(os.path.samestat(found, file.stat()) for file in own_files(directory))
    return False


# --- permissions ------------------------------------------------------------------------------------------


def create_private(path: Path) -> IO[bytes]:
    """A new file for writing that only its owner may read, whatever the umask; it must not be there yet."""
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, how, PRIVATE_FILE), "wb")


def sync_folder(folder: Path) -> None:
    """Make the names of new files in a folder outlive a power cut; on Windows nothing is done."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_private(folder: Path) -> None:
    """Close a folder that Cleverdon wrote, and all that is in it, to everybody but its owner."""
    for place in (folder, *folder.rglob("*")):
        if not place.is_symlink():
            place.chmod(PRIVATE_FOLDER if place.is_dir() else PRIVATE_FILE)


def tighten(directory: Path) -> None:
    """Close a campaign that others can read, as those made by earlier versions are; files of the user stay as they are.

    A campaign of another owner stays as it is, too.
    """
    if not (_is_open(directory) or _is_open(directory / DATABASE)):
        return
    with suppress(OSError):
        directory.chmod(PRIVATE_FOLDER)
        for folder in (*(directory / name for name in (RUNS, IMAGES, VECTORS, EXPORTS)), *_vector_folders(directory)):
            if folder.is_dir() and not folder.is_symlink():
                folder.chmod(PRIVATE_FOLDER)
        for file in own_files(directory):
            if file.name != "sso.toml":  # the user's own; `serve` warns if others can read it
                file.chmod(PRIVATE_FILE)


def _is_open(path: Path) -> bool:
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)
