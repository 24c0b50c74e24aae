"""The health of a campaign as facts that are safe to publish: counts, ages and states, without names and contents."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

from collection.campaign.log.results import ProgressCallback
from collection.campaign.operations import backups, integrity, server_lock, stored_settings
from collection.campaign.operations.server_state import HEALTH, is_loopback
from collection.core import clock, layout
from collection.core.characters import one_line
from collection.core.errors import CampaignError
from collection.core.phrases import age, count, cut, join, plural, size
from collection.core.records import Finding
from collection.doctor import LEAST_FREE_BYTES, Examination, attempt, describe, examine_folder
from collection.store import Inspection

NETWORK = re.compile(r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|fuse\.(sshfs|rclone|gvfsd-fuse)")
"""File systems of networks, on which SQLite's write-ahead log cannot be relied on."""
MOUNTS = Path("/proc/self/mounts")
"""Linux's table of mounts."""
ANSWER_SECONDS = 10.0
LATE_INTERVALS = 2
"""Number of intervals after which a scheduled backup is late."""


def examine_campaign(directory: Path, progress: ProgressCallback | None = None) -> Examination:
    """Examine a campaign, also one that is damaged, locked or of another version; its data is only read.

    Findings name neither the directory nor what is in it: they name the command that does.
    """
    findings: list[Finding] = []
    facts: dict[str, Any] = {}
    try:
        present = (directory / layout.DATABASE).is_file()
    except OSError as error:
        reason = describe(error)
        sentence = f"the campaign's directory cannot be read ({reason}); run this as the user that runs the server"
        return Examination(facts, [Finding(True, sentence, "folder")])
    if not present:
        sentence = "there is no campaign in the directory; check its name, or create one with `cleverdon new DIR`"
        return Examination(facts, [Finding(True, sentence, "folder")])
    parts = {
        "folder": lambda: _folder(directory, findings),
        "database": lambda: _database(directory, findings),
        "server": lambda: _server(directory, findings),
        "check": lambda: _check(directory, findings, progress),
    }
    for name, part in parts.items():
        facts[name] = attempt(findings, f"the campaign's {name}", part)
    return Examination(facts, findings)


def _folder(directory: Path, findings: list[Finding]) -> dict[str, Any]:
    """Owner, permissions, free space and file system of the directory."""
    status = directory.stat()
    own = status.st_uid == os.geteuid()
    if not own:
        findings.append(
            Finding(True, "the campaign's directory belongs to another user than the one that runs this command; run "
                    "commands as the user that runs the server", "folder")
        )  # fmt: skip
    facts = examine_folder(
        findings, directory, "the campaign's directory",
        "make its directory and files writable for the user that runs the server, on a disk with free space",
    )  # fmt: skip
    database = layout.DATABASE
    if facts["writable"] and not os.access(directory / database, os.W_OK):
        findings.append(Finding(True, f"{database} cannot be written; run `chmod u+w` on it", "folder"))
    needed = (directory / database).stat().st_size
    if facts["free"] is not None and LEAST_FREE_BYTES <= facts["free"] < needed:  # less is another finding
        findings.append(
            Finding(False, f"the disk has {size(facts['free'])} of free space, and a copy of the database needs "
                    f"{size(needed)}; free some before the next update or backup", "folder")
        )  # fmt: skip
    kind = file_system(directory, MOUNTS)
    if kind and NETWORK.fullmatch(kind):
        findings.append(
            Finding(True, f"the campaign is on a network file system ({kind}), where SQLite may damage its database; "
                    "stop the server and move the campaign to a local disk", "folder")
        )  # fmt: skip
    return facts | {"own": own, "permissions": f"{stat.S_IMODE(status.st_mode):o}", "file_system": kind}


def file_system(place: Path, table: Path) -> str | None:
    """Return the type of the file system of a path, such as ``ext4``, by a table of mounts; None if unknown."""
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    mounts = [(_unescaped(line.split()[1]), line.split()[2]) for line in lines if len(line.split()) > 2]
    above = {str(place.resolve()), *map(str, place.resolve().parents)}
    return max(((len(mount), kind) for mount, kind in mounts if mount in above), default=(0, None))[1]


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _database(directory: Path, findings: list[Finding]) -> dict[str, Any]:
    """Version, sizes, counts, the last decision, and backups."""
    path = directory / layout.DATABASE
    log = path.with_name(f"{path.name}-wal")
    facts: dict[str, Any] = {"bytes": path.stat().st_size, "log_bytes": log.stat().st_size if log.exists() else 0}
    try:
        with Inspection(path) as inspection:
            facts |= {"version": inspection.version, "current": not inspection.pending}
            settings = stored_settings.sound(inspection.settings, path)
            facts["backups"] = attempt(findings, "the backups", lambda: _backups(directory, settings, findings))
            facts["counts"] = inspection.counts()
            facts["last_decision"] = _last_decision(directory)
            facts["being_written"] = os.access(directory, os.W_OK) and inspection.is_being_written()
    except CampaignError:
        facts["readable"] = False  # which the check explains
    return facts


def _last_decision(directory: Path) -> str | None:
    """Return when somebody last judged, also in a task; None for never."""
    latest = []
    for folder in layout.campaign_folders(directory):
        with Inspection(folder / layout.DATABASE) as inspection:
            latest.append(inspection.last_decision())
    return max(filter(None, latest), default=None)


def _backups(directory: Path, settings: dict[str, Any], findings: list[Finding]) -> dict[str, Any]:
    existing = backups.list_backups(directory, str(settings["id"]))
    scheduled = backups.find_scheduled(directory, str(settings["id"]))
    changed = None
    with suppress(CampaignError):  # which the check explains
        changed = _last_decision(directory)
    hours = settings.get("backups", {}).get("every_hours", 0)
    now = datetime.fromtimestamp(clock.seconds(), UTC)
    newest = (now - existing[0].made_at).total_seconds() if existing else None
    if settings.get("backup_problem"):
        findings.append(
            Finding(True, "the last scheduled backup failed or had problems; `cleverdon backup DIR --schedule` says "
                    "why", "backups")
        )  # fmt: skip
    elif hours and changed and (scheduled is None or _is_late(scheduled.made_at, changed, now, hours)):
        latest = f"the newest was made {age((now - scheduled.made_at).total_seconds())}" if scheduled else "it has none"
        findings.append(
            Finding(True, f"the server should make a backup of the directory every {count(hours, 'hour')}, but {latest}"
                    "; start the server, or run `cleverdon backup`", "backups")
        )  # fmt: skip
    elif not existing:
        findings.append(
            Finding(False, "the campaign's folder has no backup; `cleverdon docs operations/backup` says how to make "
                    "them", "backups")
        )  # fmt: skip
    return {"number": len(existing), "newest_seconds": newest, "every_hours": hours}


def _is_late(made_at: datetime, changed: str, now: datetime, hours: int) -> bool:
    """Return whether a scheduled backup is due for long, and lacks the last decision."""
    is_without = datetime.fromisoformat(changed).replace(tzinfo=UTC) > made_at
    return is_without and now - made_at > timedelta(hours=LATE_INTERVALS * hours)


def _server(directory: Path, findings: list[Finding]) -> dict[str, Any]:
    """Tell whether a server runs, since when, and what it says of itself."""
    server = server_lock.read_server(directory)
    if server is None:
        return {"running": False}
    answer = None
    if is_loopback(server["address"]):  # another one may lead to another machine
        answer = _ask(server["address"])
        if answer != "OK":
            findings.append(Finding(True, f"the server has a problem: {answer.removesuffix('.')}; restart it if that "
                                    "remains", "server"))  # fmt: skip
    return {"running": True, "since": server["since"] or None, "answer": answer}


def _ask(address: str) -> str:
    """Ask the server at an address for its health; the answer names nothing of the campaign."""
    try:
        with build_opener(ProxyHandler({})).open(f"{address}{HEALTH}", timeout=ANSWER_SECONDS) as answer:
            return one_line(answer.read(1000).decode("utf-8", "replace"))
    except HTTPError as error:
        return cut(one_line(error.read(1000).decode("utf-8", "replace")), 200)
    except OSError as error:
        reason = error.reason if isinstance(error, URLError) and isinstance(error.reason, OSError) else error
        if isinstance(reason, TimeoutError):
            return f"it does not answer within {ANSWER_SECONDS:.0f} seconds"
        return f"it cannot be reached ({describe(reason)})"


def _check(directory: Path, findings: list[Finding], progress: ProgressCallback | None) -> dict[str, Any]:
    """Count what `cleverdon check` finds, without its sentences, which name files and runs."""
    found = integrity.check(directory, progress)
    counts = {serious: Counter(each.part for each in found if each.serious == serious) for serious in (True, False)}
    findings += _summaries(counts)
    return {"problems": dict(counts[True]), "notes": dict(counts[False])}


def _summaries(counts: dict[bool, Counter[str]]) -> Iterator[Finding]:
    for serious, parts in counts.items():
        if parts:
            number = count(parts.total(), "problem" if serious else "note")
            about = join(part if times == 1 else f"{part} ({times:,})" for part, times in parts.items())
            remedy = f"run it to see what to do about {plural(parts.total(), 'it', 'each')}"
            yield Finding(serious, f"`cleverdon check DIR` finds {number}: {about}; {remedy}", "check")
