"""What is wrong with a campaign's directory, found by reading alone, and what to do about each."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Hashable, Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from collection import layout
from collection.active_learning import features
from collection.campaign import images, stored_runs
from collection.campaign.results import ProgressCallback
from collection.campaign.server_state import SECRET_CHARACTERS
from collection.errors import CampaignError, FormatError
from collection.phrases import count, join_first, plural
from collection.store import Inspection


class Finding(NamedTuple):
    """Something that a check found."""

    serious: bool
    """Whether somebody has to act; otherwise Cleverdon deals with it."""
    sentence: str
    """What is wrong and what to do, without a capital and a full stop."""


def check(directory: Path | str, progress: ProgressCallback | None = None) -> list[Finding]:
    """Check a campaign's database and files, also while it is in use; nothing is written.

    Parameters
    ----------
    directory
        The campaign's directory, of this version or an earlier one.
    progress
        Gets the number of files that were read.

    Returns
    -------
    list of Finding
        Empty if nothing was found.

    Raises
    ------
    CampaignError
        There is no campaign.
    """
    directory = Path(directory)
    if not (directory / layout.DATABASE).is_file():
        raise CampaignError(f"there is no campaign in {directory}")
    found = [*_key(directory), *_permissions(directory)]
    try:
        with Inspection(directory / layout.DATABASE) as inspection:
            found += _database(inspection)
            found += _runs(directory, inspection, progress)
            found += _images(directory, inspection, progress)
            found += _vectors(directory, inspection)
    except CampaignError as error:
        found.append(Finding(True, str(error)))
    return sorted(found, key=lambda finding: not finding.serious)


def _database(inspection: Inspection) -> Iterator[Finding]:
    for problem in [*inspection.damage(), *inspection.dangling_rows()]:
        yield Finding(
            True, f"{layout.DATABASE} is damaged: {problem}; restore a backup with `cleverdon restore FILE NEW`"
        )
    if inspection.pending:
        yield Finding(
            False,
            f"the tables have version {inspection.version}, of an earlier Cleverdon; the next command that opens the "
            "campaign updates them, after a copy to the folder backups",
        )


def _runs(directory: Path, inspection: Inspection, progress: ProgressCallback | None) -> Iterator[Finding]:
    """Damaged, missing and unnamed files of runs."""
    recorded = inspection.runs()
    damaged: list[tuple[dict[Hashable, Any], str]] = []
    for number, run in enumerate(recorded, 1):
        try:
            stored_runs.read(directory, run)
        except CampaignError as error:
            damaged.append((run, str(error)))
        if progress:
            progress("reading runs", number, len(recorded))
    now = inspection.runs()  # an import may have replaced runs meanwhile
    yield from (Finding(True, message) for run, message in damaged if run in now)
    named = {run["file"] for run in (*recorded, *now)}
    if unnamed := [
        file.name
        for file in _files(directory / layout.RUNS)
        if layout.is_run_file(file.name) and file.name not in named
    ]:
        belong = f"{count(len(unnamed), 'file')} in {layout.RUNS} {plural(len(unnamed), 'belongs', 'belong')} to no run"
        yield Finding(False, f"{belong} ({join_first(unnamed, 3)}), for example of a replaced one; the next import "
                      f"removes {plural(len(unnamed), 'it', 'them')}")  # fmt: skip


def _images(directory: Path, inspection: Inspection, progress: ProgressCallback | None) -> Iterator[Finding]:
    """Damaged, missing and unnamed images."""
    folder = directory / layout.IMAGES
    present = [file for file in _files(folder) if images.NAME.match(file.name)]
    named = {
        image.file
        for metadata in inspection.metadata_with_images()
        for image in images.images_of(metadata)
        if image.file is not None
    }
    damaged = []
    for number, file in enumerate(present, 1):
        with file.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != file.stem:
                damaged.append(file.name)
        if progress:
            progress("reading images", number, len(present))
    again = "import the documents with their images again: `cleverdon import DIR --documents FILE --replace`"
    if damaged:
        of_other = f"{plural(len(damaged), 'has', 'have')} another content than when imported"
        hint = f"delete {plural(len(damaged), 'it', 'them')} and {again}"
        yield Finding(True, f"{_some(damaged, 'image')} {of_other}; {hint}")
    if missing := sorted(named - {file.name for file in present}):
        yield Finding(
            True, f"{_some(missing, 'image')} of documents {plural(len(missing), 'is', 'are')} missing; {again}"
        )
    if unnamed := [file.name for file in present if file.name not in named]:
        yield Finding(
            False,
            f"{_some(unnamed, 'image')} {plural(len(unnamed), 'belongs', 'belong')} to no document; you may delete "
            f"{plural(len(unnamed), 'it', 'them')}",
        )


def _vectors(directory: Path, inspection: Inspection) -> Iterator[Finding]:
    """Vectors that are damaged, or of other documents than those that the database has."""
    made = inspection.settings.get("vectors")
    if made is None:
        return
    again, serious = "they are built again when the loop needs them", False
    if "dense" in made.get("blocks", []):
        again, serious = "provide your embeddings again: `cleverdon vectors DIR --vectors FILE.npy`", True
    try:
        vectors = features.open_vectors(directory / layout.VECTORS)
    except FormatError:
        yield Finding(serious, f"the vectors are missing or damaged; {again}")
        return
    if made.get("version") != inspection.settings.get("documents_version", 0):
        return  # documents came since, and the next update reads them
    if vectors.fingerprint != made.get("fingerprint") or vectors.size != inspection.document_rows():
        yield Finding(serious, f"the vectors were built from other documents ({vectors.size:,} rows); {again}")


def _key(directory: Path) -> Iterator[Finding]:
    place = directory / layout.SECRET
    if place.is_file() and place.stat().st_size < SECRET_CHARACTERS:
        yield Finding(True, f"{place} is damaged; delete it to get a new key: everybody then has to sign in again")


def _permissions(directory: Path) -> Iterator[Finding]:
    """Files that others can read, or that another user owns."""
    if os.name != "posix":
        return
    files = {}
    for file in (directory, *layout.own_files(directory)):
        with suppress(FileNotFoundError):  # SQLite's files beside the database come and go
            files[file] = file.stat()
    if readable := [file.name for file, of in files.items() if of.st_mode & (stat.S_IRWXG | stat.S_IRWXO)]:
        can = f"other users of this machine can read {join_first(readable, 3)}"
        yield Finding(True, f"{can}; run `chmod -R go= {quote(str(directory))}`")
    if foreign := [file.name for file, of in files.items() if of.st_uid != files[directory].st_uid]:
        belong = (
            f"{join_first(foreign, 3)} {plural(len(foreign), 'belongs', 'belong')} to another user than {directory}"
        )
        yield Finding(True, f"{belong}; run `chown -R` with the user that runs the server")


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def _some(names: list[str], noun: str) -> str:
    return f"{count(len(names), noun)} ({join_first(names, 3)})"
