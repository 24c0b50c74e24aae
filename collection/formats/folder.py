"""Atomic writing of a folder, and checksums of its files."""

from __future__ import annotations

import hashlib
import shutil
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from collection.core import layout
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import join_first
from collection.formats.source import FilePath
from collection.formats.write import replacing_bytes

CHECKSUMS = "checksums.txt"
"""The file of checksums, as ``sha256sum --check`` reads it."""


class WrittenFile(NamedTuple):
    """A file of a folder: its path relative to the folder, with ``/``; size in bytes; SHA-256 of its content."""

    path: str
    bytes: int
    sha256: str


@contextmanager
def replacing_folder(path: FilePath, *, replace: bool = False, known_by: str) -> Iterator[Path]:
    """A folder to write into, which replaces `path` only when everything is written.

    `path` is nothing or an empty folder; with `replace` also a folder with the files `known_by` and :data:`CHECKSUMS`
    and no file that the checksums do not name. Anything else there raises :class:`.CampaignError`.
    """
    layout.require_output(path)
    target = layout.resolved(path)
    _require_free(path, target, replace, known_by)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        private = layout.home(target) is not None
        part.mkdir(mode=layout.PRIVATE_FOLDER if private else 0o777)
        yield part
        if private:
            layout.make_private(part)
        _require_free(path, target, replace, known_by)  # writing may have taken long
        _swap(part, target)
    except FileNotFoundError as error:
        if not target.parent.is_dir():
            raise InputError(f"{path}: cannot be written; there is no folder {target.parent}") from error
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _require_free(path: FilePath, target: Path, replace: bool, known_by: str) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not all((target / name).is_file() for name in (known_by, CHECKSUMS)):
        raise CampaignError(f"{path} already exists and is not an exported collection; choose another name")
    if not replace:
        raise CampaignError(f"{path} already contains an exported collection; use --replace to overwrite it")
    if foreign := _find_foreign(target):
        raise CampaignError(
            f"{path} has files that were not exported ({join_first(foreign, 3)}), which "
            "--replace would delete; move them or choose another name"
        )


def _find_foreign(folder: Path) -> list[str]:
    """The files of an exported folder that its checksums do not name."""
    lines = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    own = {CHECKSUMS, *(line[66:] for line in lines)}  # 64 digits of SHA-256 and two blanks stand before each name
    return sorted({place.relative_to(folder).as_posix() for place in folder.rglob("*") if not place.is_dir()} - own)


def _swap(part: Path, target: Path) -> None:
    """Put `part` in the place of `target`, and restore `target` where that fails."""
    if not target.exists():
        part.rename(target)
        return
    before = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.before")
    target.rename(before)
    try:
        part.rename(target)
    except OSError:
        before.rename(target)
        raise
    shutil.rmtree(before, ignore_errors=True)


def describe_file(folder: Path, file: Path) -> WrittenFile:
    """The record of a file in a folder."""
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return WrittenFile(file.relative_to(folder).as_posix(), file.stat().st_size, digest)


def list_files(folder: Path) -> list[WrittenFile]:
    """Every file in a folder and its subfolders, by path."""
    return sorted(describe_file(folder, file) for file in folder.rglob("*") if file.is_file())


def write_zip(folder: Path, path: FilePath) -> None:
    """Write a folder as a ZIP archive under its own name; the same content gives the same bytes."""
    with replacing_bytes(path) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in list_files(folder):
            entry = zipfile.ZipInfo(f"{folder.name}/{file.path}")  # dated 1980, the first that a ZIP can say
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as to, (folder / file.path).open("rb") as content:
                shutil.copyfileobj(content, to)
