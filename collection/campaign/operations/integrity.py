"""Problems of a campaign's directory or a backup, found by reading alone, and what to do about each."""

from __future__ import annotations

import hashlib
import shutil
import stat
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import IO, Any

from collection.active_learning import features
from collection.campaign.corpus import stored_runs
from collection.campaign.corpus.content_files import NAME
from collection.campaign.corpus.document_view import named_files
from collection.campaign.log.results import ProgressCallback
from collection.campaign.operations import backup_archive, stored_settings
from collection.campaign.operations.backup_archive import OpenBackup
from collection.campaign.operations.server_state import SECRET_CHARACTERS
from collection.core import layout
from collection.core.errors import CampaignError, FormatError, InputError, as_path
from collection.core.phrases import count, join_first, plural
from collection.core.records import Finding
from collection.store import Inspection

HEAD = 4096
"""Bytes of a file of features that say how many numbers it has."""
RESTORED = "after restoring, "
"""When to do what a finding in a backup asks for."""
FILES_AGAIN = "import the documents with their files again: `cleverdon import DIR --documents FILE --replace`"


def check(path: Path | str, progress: ProgressCallback | None = None) -> list[Finding]:
    """Check a campaign's database and files, also while it is in use, or those in a backup; nothing is changed.

    Parameters
    ----------
    path
        The campaign's directory, or the file of a backup, of this version or an earlier one. Of a backup, the database
        is unpacked into a temporary folder, and one run at a time.
    progress
        Gets the number of files that were read.

    Returns
    -------
    list of Finding
        Empty if nothing was found.

    Raises
    ------
    CampaignError
        There is neither a campaign nor a file.
    InputError, StorageError
        There is no room to unpack a backup.
    """
    path = as_path(path)
    if path.is_file():
        findings = _check_backup(path, progress)
    elif (path / layout.DATABASE).is_file():
        findings = _check_directory(path, progress)
    elif path.exists():
        raise CampaignError(f"there is no campaign in {path}")
    else:
        raise CampaignError(f"{path}: expected the directory of a campaign or a backup, found no such file")
    return sorted(findings, key=lambda finding: not finding.serious)


def _check_directory(directory: Path, progress: ProgressCallback | None) -> list[Finding]:
    secret = directory / layout.SECRET
    findings = list(_about("key", _key(secret.stat().st_size))) if secret.is_file() else []
    findings += _about("permissions", _permissions(directory))
    return [*findings, *find_damage(directory, progress), *_about("other files", _unknown(directory))]


def find_damage(directory: Path, progress: ProgressCallback | None = None) -> list[Finding]:
    """Check the database, runs, files and features of a campaign: what an earlier backup may have intact."""
    findings: list[Finding] = []
    for folder in layout.campaign_folders(directory):
        found: list[Finding] = []
        try:
            with Inspection(folder / layout.DATABASE) as inspection:
                found += _about("database", _database(inspection, "restore a backup with `cleverdon restore FILE NEW`"))
                found += _about("runs", _runs(folder, inspection, progress))
                found += _about("images", _own_content_files(folder, inspection, progress))
                found += _about("features", _features(folder, inspection))
        except CampaignError as error:  # its message names the file
            findings.append(Finding(True, str(error), "database"))
        findings += _in_task(layout.task_prefix(folder, directory), found)
    return findings


def _in_task(prefix: str, findings: Iterable[Finding]) -> list[Finding]:
    """Name the task of findings by the path of its campaign, `prefix`, which is "" for no task."""
    place = prefix.removesuffix("/")
    return [each._replace(sentence=f"{place}: {each.sentence}") if prefix else each for each in findings]


def _about(part: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Pass on the findings about a part of a campaign, up to a file or folder that cannot be read."""
    try:
        for finding in findings:
            yield finding._replace(part=part)
    except OSError as error:
        what = f"{error.filename or 'a file'} cannot be read ({error.strerror or error})"
        yield Finding(True, f"{what}; look at the disk and at its permissions", part)


def _check_backup(path: Path, progress: ProgressCallback | None) -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix=layout.SCRATCH) as scratch, layout.storage_errors(Path(scratch)):
        try:
            with backup_archive.open_backup(path) as backup:
                return _Unpacked(backup, Path(scratch), progress).check()
        except FormatError as error:
            return [Finding(True, f"the backup {error}; use another one", "backup")]


class _Unpacked:
    """The files of a backup, which are read once and unpacked, where that is needed, one after the other."""

    def __init__(self, backup: OpenBackup, folder: Path, progress: ProgressCallback | None) -> None:
        self.backup, self.folder, self.progress = backup, folder, progress
        self.files = backup.manifest.files
        self.unread, self.damage = dict.fromkeys(self.files), list[Finding]()
        sizes = {name: size for name, (size, _) in self.files.items()}
        prefixes = [prefix for prefix, file in map(layout.split_task, self.files) if file == layout.DATABASE]
        self.prefixes = sorted(prefixes, reverse=True)
        needed = sum(sizes[f"{prefix}{layout.DATABASE}"] for prefix in prefixes) + max(
            [sizes[name] for prefix in prefixes for name in self._in(f"{prefix}{layout.RUNS}")], default=0
        )
        if needed > (free := shutil.disk_usage(folder).free):
            raise InputError(
                f"{folder.parent}: expected {needed:,} bytes of free disk space to unpack {backup.path}, found "
                f"{free:,}; name a folder on another disk in the environment variable TMPDIR"
            )

    def check(self) -> list[Finding]:
        """Check all files."""
        findings: list[Finding] = []
        path = self.backup.path
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            can = f"other users of this machine can read {path.name}"
            findings.append(Finding(True, f"{can}; run `chmod go= {quote(str(path))}`", "permissions"))
        if layout.SECRET in self.files:
            findings += _about("key", _key(self.files[layout.SECRET][0], RESTORED))
        for prefix in self.prefixes:
            if self._unpack(database := f"{prefix}{layout.DATABASE}"):
                found: list[Finding] = []
                try:
                    with Inspection(self.folder / database, known=True) as inspection:
                        found += self._check_content(inspection, prefix)
                except CampaignError as error:
                    found.append(Finding(True, str(error).replace(f"{self.folder}/{prefix}", ""), "database"))
                findings += _in_task(prefix, found)
        for name in list(self.unread):
            self._read(name)
        return findings + self.damage

    def _check_content(self, inspection: Inspection, prefix: str) -> Iterator[Finding]:
        yield from _about("database", _database(inspection, "use another backup"))
        yield from _about("runs", self._check_runs(inspection, prefix))
        digests = {Path(name).name: self.files[name][1] for name in self._in(f"{prefix}{layout.IMAGES}")}
        yield from _about("images", _content_files(inspection, digests, RESTORED))
        if "dense" in inspection.settings.get("features", {}).get("blocks", []):  # others are built again
            stored = self._in(f"{prefix}{layout.FEATURES}")
            intact = [self._unpack(name, None if name.endswith(".json") else HEAD) for name in stored]
            if all(intact):
                yield from _about("features", _features(self.folder / prefix, inspection, RESTORED))

    def _check_runs(self, inspection: Inspection, prefix: str) -> Iterator[Finding]:
        for run in inspection.runs():
            name = f"{prefix}{layout.RUNS}/{run['file']}"
            if name not in self.files:
                yield _run_problem(f"run {run['run']!r}: {name} is missing")
            elif self._unpack(name):
                if problem := stored_runs.find_problem(self.folder / prefix, run):
                    yield _run_problem(problem)
                (self.folder / name).unlink()

    def _in(self, folder: str) -> list[str]:
        return [name for name in self.files if name.startswith(f"{folder}/")]

    def _unpack(self, name: str, most: int | None = None) -> bool:
        """Read a file and write it into the folder, or only its first bytes and nothing after them."""
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with layout.create_private(place) as file:
            intact = self._read(name, file, most)
            file.truncate(self.files[name][0])
        if not intact:
            place.unlink()
        return intact

    def _read(self, name: str, target: IO[bytes] | None = None, most: int | None = None) -> bool:
        self.unread.pop(name, None)
        try:
            self.backup.read(name, target, most)
        except FormatError as error:
            self.damage.append(Finding(True, f"the backup {error}; use another one", "backup"))
            return False
        if self.progress:
            self.progress("reading the backup", len(self.files) - len(self.unread), len(self.files))
        return True


def _database(inspection: Inspection, remedy: str) -> Iterator[Finding]:
    for problem in [*inspection.damage(), *inspection.dangling_rows()]:
        yield Finding(True, f"{layout.DATABASE} is damaged: {problem}; {remedy}")
    damaged = stored_settings.find_damage(inspection.settings)
    for name, problem in damaged.items():
        yield Finding(True, f"{layout.DATABASE} is damaged: the setting {name!r}: {problem}; {remedy}")
        inspection.settings.pop(name, None)  # what is read next does without it
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
        if problem := stored_runs.find_problem(directory, run):
            damaged.append((run, problem))
        if progress:
            progress("reading runs", number, len(recorded))
    now = inspection.runs()  # an import may have replaced runs meanwhile
    yield from (_run_problem(problem, directory) for run, problem in damaged if run in now)
    named = {run["file"] for run in (*recorded, *now)}
    if unnamed := [
        file.name
        for file in _files(directory / layout.RUNS)
        if layout.is_run_file(file.name) and file.name not in named
    ]:
        belong = f"{count(len(unnamed), 'file')} in {layout.RUNS} {plural(len(unnamed), 'belongs', 'belong')} to no run"
        yield Finding(False, f"{belong} ({join_first(unnamed, 3)}), for example of a replaced one; the next import "
                      f"removes {plural(len(unnamed), 'it', 'them')}")  # fmt: skip


def _run_problem(problem: str, directory: Path | None = None) -> Finding:
    """A run that cannot be read, in a campaign's directory or in a backup."""
    when, where = (RESTORED, "DIR") if directory is None else ("", quote(str(directory)))
    return Finding(True, f"{problem}; {when}import the run again: `cleverdon import {where} --run FILE --replace`")


def _kind(names: Iterable[str]) -> str:
    """Return the noun for files that documents name."""
    kinds = {name.endswith((".pdf", ".original")) for name in names}
    return "file" if len(kinds) > 1 else "PDF file" if True in kinds else "image"


def _own_content_files(directory: Path, inspection: Inspection, progress: ProgressCallback | None) -> Iterator[Finding]:
    """Unreadable, damaged, missing and unnamed images and PDF files of a directory."""
    digests, present = {}, [file for file in _files(directory / layout.IMAGES) if NAME.match(file.name)]
    unreadable = []
    for number, file in enumerate(present, 1):
        digests[file.name] = file.stem
        try:
            with file.open("rb") as content:
                digests[file.name] = hashlib.file_digest(content, "sha256").hexdigest()
        except FileNotFoundError:  # of an import that failed meanwhile
            del digests[file.name]
        except OSError:
            unreadable.append(file.name)
        if progress:
            progress("reading images", number, len(present))
    if unreadable:
        hint = f"look at the disk, or delete {plural(len(unreadable), 'it', 'them')} and {FILES_AGAIN}"
        yield Finding(True, f"{_some(unreadable, _kind(unreadable))} cannot be read; {hint}")
    yield from _content_files(inspection, digests)


def _content_files(inspection: Inspection, digests: Mapping[str, str], when: str = "") -> Iterator[Finding]:
    """Damaged, missing and unnamed images and PDF files."""
    named = named_files(inspection.metadata_with_files())
    if damaged := [name for name, digest in digests.items() if digest != Path(name).stem]:
        of_other = f"{plural(len(damaged), 'has', 'have')} another content than when imported"
        hint = f"{when}delete {plural(len(damaged), 'it', 'them')} and {FILES_AGAIN}"
        yield Finding(True, f"{_some(damaged, _kind(damaged))} {of_other}; {hint}")
    if missing := sorted(named - digests.keys()):
        yield Finding(
            True,
            f"{_some(missing, _kind(missing))} of documents {plural(len(missing), 'is', 'are')} missing; {when}"
            f"{FILES_AGAIN}",
        )
    if unnamed := [name for name in digests if name not in named]:
        yield Finding(
            False,
            f"{_some(unnamed, _kind(unnamed))} {plural(len(unnamed), 'belongs', 'belong')} to no document; {when}you "
            f"may delete {plural(len(unnamed), 'it', 'them')}",
        )


def _features(directory: Path, inspection: Inspection, when: str = "") -> Iterator[Finding]:
    """Features that are damaged, or of other documents than those that the database has."""
    built = inspection.settings.get("features")
    if built is None:
        return
    again, serious = "they are built again when the loop needs them", False
    if "dense" in built.get("blocks", []):
        again, serious = f"{when}provide your embeddings again: `cleverdon features DIR --embeddings FILE.npy`", True
    try:
        matrix = features.open_features(directory / layout.FEATURES)
    except FormatError:
        yield Finding(serious, f"the features are missing or damaged; {again}")
        return
    if built.get("version") != inspection.settings.get("documents_version", 0):
        return  # documents came since, and the next update reads them
    if matrix.fingerprint != built.get("fingerprint") or matrix.size != inspection.document_rows():
        yield Finding(serious, f"the features were built from other documents ({matrix.size:,} rows); {again}")


def _key(size: int, when: str = "") -> Iterator[Finding]:
    if size < SECRET_CHARACTERS:
        remedy = f"{when}delete it to get a new key: everyone then has to sign in again"
        yield Finding(True, f"{layout.SECRET} is damaged; {remedy}")


def _unknown(directory: Path) -> Iterator[Finding]:
    """Find files that do not belong to the campaign."""
    entries = list(layout.unknown_entries(directory))
    names = [f"{place.relative_to(directory).as_posix()}{'/' if place.is_dir() else ''}" for place in entries]
    if names:
        nouns = ("file or folder", "files or folders") if any(place.is_dir() for place in entries) else ("file",)
        do, leave = plural(len(names), "does", "do"), f"backups leave {plural(len(names), 'it', 'them')} out"
        not_ours = f"{count(len(names), *nouns)} in {directory} {do} not belong to the campaign"
        yield Finding(False, f"{not_ours} ({join_first(names, 3)}); {leave}")


def _permissions(directory: Path) -> Iterator[Finding]:
    """Files that others can read, or that another user owns."""
    files = {}
    for file in (directory, *layout.own_files(directory)):
        with suppress(FileNotFoundError):  # SQLite's files beside the database come and go
            files[file] = file.stat()
    if readable := [file.name for file, of in files.items() if of.st_mode & (stat.S_IRWXG | stat.S_IRWXO)]:
        can = f"other users of this machine can read {join_first(readable, 3)}"
        yield Finding(True, f"{can}; run `chmod -R go= {quote(str(directory))}`")
    if foreign := [file.name for file, of in files.items() if of.st_uid != files[directory].st_uid]:
        belong = (
            f"{_some(foreign, 'file')} {plural(len(foreign), 'belongs', 'belong')} to another user than {directory}"
        )
        yield Finding(True, f"{belong}; run `chown -R` with the user that runs the server")


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def _some(names: list[str], noun: str) -> str:
    return f"{count(len(names), noun)} ({join_first(names, 3)})"
