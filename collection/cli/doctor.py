"""`cleverdon doctor`: a report on the installation and a campaign that is safe to publish.

It works where other commands fail, so it imports what may be broken last, and only if that is possible.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import DIRECTORY_PATH, FORMAT
from collection.cli.output import echo, echo_data, progress_line
from collection.core import clock
from collection.core.phrases import age, count, sentence, size

if TYPE_CHECKING:
    from collection.doctor import Examination

LABEL, WIDTH = 12, 100
"""Columns of the labels, and of a line."""
NOUNS = {
    "topics": ("topic",),
    "documents": ("document",),
    "runs": ("run",),
    "pool": ("pooled pair",),
    "judgements": ("judgement",),
    "choices": ("choice from a list", "choices from lists"),
    "preferences": ("preference",),
    "label_sets": ("label set",),
    "annotators": ("annotator",),
    "accounts": ("account",),
}
"""What is counted in a campaign -> its nouns."""


@click.command()
@click.argument("directory", metavar="[DIR]", required=False, type=DIRECTORY_PATH)
@FORMAT
def doctor(directory: Path | None, form: str) -> None:
    """Check the installation, and a campaign, for a bug report.

    With DIR, the report includes the state of the campaign. It contains versions, settings of the machine, counts and
    ages, but no names, texts, passwords or keys, so that you can publish it. No data is changed.

    The exit status is 1 if there is a problem; notes alone do not count. Each problem includes a remedy.
    """
    from collection.doctor import examine_machine

    with progress_line("importing packages"):
        facts, findings = examine_machine()
    report: dict[str, Any] = {"machine": facts}
    if form == "table":
        _print_lines(_machine_lines(facts))
    if directory is not None:
        campaign, more = _examine_campaign(directory, facts["not_imported"] or [])
        report["campaign"] = campaign
        findings += more
        if form == "table":
            echo()
            _print_lines(_campaign_lines(campaign))
    problems = sum(finding.serious for finding in findings)
    if form == "json":
        report |= {"problems": problems, "findings": [finding._asdict() for finding in findings]}
        echo_data(json.dumps(report, indent=2))  # print_json imports pandas, which may be broken
    else:
        echo()
        for finding in sorted(findings, key=lambda finding: not finding.serious):
            echo(f"{'Problem' if finding.serious else 'Note'}: {sentence(finding.sentence)}")
        echo(f"{count(problems, 'problem')}." if problems else "No problems.")
    if problems:
        raise SystemExit(1)


def _examine_campaign(directory: Path, not_imported: list[str]) -> Examination:
    """Examine a campaign, unless a module for that cannot be imported, which may even end the process."""
    from collection.core.records import Finding
    from collection.doctor import LIBRARY, Examination

    if LIBRARY in not_imported:
        unknown = "the campaign cannot be examined before the packages can be imported"
        return Examination({}, [Finding(True, f"{unknown}; then run this again", "packages")])
    from collection.campaign.operations.doctor import examine_campaign

    with progress_line("checking the campaign") as progress:
        return examine_campaign(directory, progress)


def _print_lines(lines: Iterator[tuple[str, str]]) -> None:
    for label, text in lines:
        indent = " " * LABEL
        echo(textwrap.fill(text, WIDTH, initial_indent=f"{label:<{LABEL}}", subsequent_indent=indent,
                           break_long_words=False, break_on_hyphens=False))  # fmt: skip


def _machine_lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Label and text of each part of the machine that is known."""
    if about := facts["cleverdon"]:
        commit = f", commit {about['commit']}" if about["commit"] else ""
        yield "Cleverdon", f"{about['version']} ({about['installed'] or 'not installed'}{commit})"
    if about := facts["python"]:
        where = "in a virtual environment" if about["virtual_environment"] else "without a virtual environment"
        variables = f"; set: {', '.join(about['variables'])}" if about["variables"] else ""
        yield "Python", f"{about['version']} ({about['implementation']}), {where}{variables}"
    if about := facts["system"]:
        memory = f", {size(about['memory'])} of memory" if about["memory"] else ""
        name = f"{about['distribution']}, " if about["distribution"] else ""
        yield "System", f"{name}{about['platform']}; {count(about['processors'], 'processor')}{memory}"
    if about := facts["packages"]:
        yield "Packages", ", ".join(f"{name} {version or '(missing)'}" for name, version in about.items())
    if (about := facts["extras"]) is not None:
        groups = {present: [name for name in about if about[name] == present] for present in (True, False)}
        missing = f"; not installed: {', '.join(groups[False])}" if groups[False] else ""
        yield "Extras", f"{', '.join(groups[True]) or 'none'}{missing}"
    if about := facts["sqlite"]:
        states = {True: "", False: " (missing)", None: " (unknown)"}
        yield "SQLite", f"{about['version']}: {', '.join(n + states[is_] for n, is_ in about['features'].items())}"
    if about := facts["text"]:
        values = "".join(f"; {name}={value}" for name, value in about["variables"].items())
        encodings = ", ".join(f"{about[use]} for {use.replace('_', ' ')}" for use in ("files", "file_names", "output"))
        yield "Text", f"{encodings}{values}"
    if about := facts["folders"]:
        named = {
            f"temporary {(about['temporary'] or {}).get('path', '')}": about["temporary"],
            "current": about["current"],
        }
        yield "Folders", "; ".join(f"{name}: {_folder(each)}" for name, each in named.items())


def _folder(about: dict[str, Any] | None) -> str:
    if about is None:
        return "missing"
    free = f", {size(about['free'])} free" if about["free"] is not None else ""
    return f"{'writable' if about['writable'] else 'not writable'}{free}"


def _campaign_lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Label and text of each part of the campaign that is known."""
    if about := facts.get("folder"):
        owner = "own" if about["own"] else "of another user"
        yield (
            "Directory",
            f"{_folder(about)}; {owner}, permissions {about['permissions']}"
            + (f"; {about['file_system']}" if about["file_system"] else ""),
        )
    if about := facts.get("database"):
        yield from _database_lines(about)
    if about := facts.get("server"):
        since = f" since {about['since'][:16].replace('T', ' ')} UTC" if about.get("since") else ""
        answer = f"; answers: {about['answer']}" if about.get("answer") else ""
        yield "Server", f"running{since}{answer}" if about["running"] else "not running"
    if about := facts.get("check"):
        numbers = [count(sum(about[kind].values()), kind[:-1]) for kind in ("problems", "notes")]
        yield "Check", f"`cleverdon check`: {', '.join(numbers)}"


def _database_lines(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    version = "not readable"
    if about.get("version") is not None:
        version = f"tables of version {about['version']}{'' if about['current'] else ', of an earlier Cleverdon'}"
    written = "; another process is writing" if about.get("being_written") else ""
    yield "Database", f"{version}; {size(about['bytes'])}, write-ahead log {size(about['log_bytes'])}{written}"
    if counts := about.get("counts"):
        contents = [count(counts[key], *nouns) for key, nouns in NOUNS.items() if counts[key]]
        yield "Contents", ", ".join(contents) or "none"
        last = about["last_decision"]
        seconds = clock.seconds() - datetime.fromisoformat(last).replace(tzinfo=UTC).timestamp() if last else None
        yield "Judging", "none in the app" if seconds is None else f"last judgement in the app {age(seconds)}"
    if backups := about.get("backups"):
        newest, hours = backups["newest_seconds"], backups["every_hours"]
        schedule = f"every {count(hours, 'hour')}" if hours else "no schedule"
        latest = "none" if newest is None else f"{backups['number']:,}, the newest {age(newest)}"
        yield "Backups", f"{latest}; {schedule}"
