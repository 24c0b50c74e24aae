"""A ZIP archive of a folder, unpacked."""

from __future__ import annotations

import shutil
import stat
import zipfile
from pathlib import Path

from collection.core import layout
from collection.core.errors import FormatError, as_path
from collection.formats import compression, source
from collection.formats.source import FilePath

WANTED = "a ZIP archive of a folder"
MOST_FILES = 200_000
"""Entries of an archive."""


def unpack_zip(path: FilePath, folder: Path) -> Path:
    """Unpack an archive into an empty folder, and return the folder that it has: `folder`, or the only one in it.

    Links are left out, and no name leads out of `folder`.

    Raises
    ------
    FormatError
        The archive is damaged or encrypted, expands to more than is read, or has a file that cannot be written, such
        as a second one with the same path.
    StorageError
        The disk is full, or cannot be written.
    """
    hint = "make the archive again"
    try:
        with zipfile.ZipFile(as_path(path)) as archive:
            entries = [entry for entry in archive.infolist() if not (entry.is_dir() or _is_link(entry))]
            size, packed = sum(entry.file_size for entry in entries), as_path(path).stat().st_size
            if len(entries) > MOST_FILES:
                raise FormatError(path, None, f"at most {MOST_FILES:,} files in the archive", f"{len(entries):,}")
            if size > compression.EXPANDED and size > compression.LARGEST_RATIO * packed:
                wanted = f"at most {compression.EXPANDED >> 20:,} MiB when unpacked"
                hint = "the archive may be made to fill the disk; if you trust it, unpack it first"
                raise FormatError(path, None, wanted, f"{size >> 20:,} MiB", hint)
            if any(entry.flag_bits & 1 for entry in entries):
                raise FormatError(path, None, "an archive without a password", "an encrypted one", hint)
            with layout.storage_errors(folder):
                for entry in entries:
                    try:
                        _unpack(archive, entry, folder)
                    except (*compression.BROKEN, zipfile.BadZipFile, NotImplementedError) as error:
                        if getattr(error, "errno", None) in layout.NO_SPACE:
                            raise
                        reason = getattr(error, "strerror", None) or error
                        found = f"{source.quote(entry.filename)}, which cannot be unpacked ({reason})"
                        raise FormatError(path, None, WANTED, found, hint) from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise FormatError(path, None, WANTED, f"damaged data ({error})", hint) from None
    inside = [entry for entry in folder.iterdir() if entry.name[0] != "." and entry.name != "__MACOSX"]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _is_link(entry: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(entry.external_attr >> 16)


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    parts = [part for part in entry.filename.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts:
        return
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as content, target.open("xb") as file:
        shutil.copyfileobj(content, file)
