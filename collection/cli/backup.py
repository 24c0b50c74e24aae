"""`cleverdon backup`, `restore` and `check`: backups of a campaign, their schedule, and damage in either."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click

from collection.cli.options import COUNT, DIRECTORY, DIRECTORY_PATH, FILE, FORMAT
from collection.cli.output import echo, print_json, print_notices, print_settings, progress_line
from collection.core.characters import one_line
from collection.core.phrases import count, join, sentence


@click.command()
@DIRECTORY
@click.argument("file", metavar="[FILE]", required=False, type=FILE)
@click.option("--to", "folder", metavar="FOLDER", type=FILE, help="Folder for a backup named after DIR and the time.")
@click.option("--keep", type=COUNT, metavar="N", help="Number of backups to keep, the newest; with --to or --schedule.")
@click.option(
    "--keep-days",
    type=click.IntRange(min=0),
    metavar="D",
    help="Maximum age of backups in days (0 = unlimited); the newest stays; with --to or --schedule.",
)
@click.option("--without-secrets", is_flag=True, help="Leave out .secret and sso.toml.")
@click.option("--quiet", is_flag=True, help="Print problems only, as for cron.")
@click.option(
    "--schedule",
    is_flag=True,
    help="Show or change when the server makes backups, instead of making one.",
)
@click.option(
    "--every-hours",
    type=click.IntRange(min=0),
    metavar="H",
    help="Hours between backups by the server (0 = none); with --schedule.",
)
def backup(
    directory: Path,
    file: Path | None,
    folder: Path | None,
    keep: int | None,
    keep_days: int | None,
    without_secrets: bool,
    quiet: bool,
    schedule: bool,
    every_hours: int | None,
) -> None:
    """Write a backup of a campaign, also while people judge.

    The backup is one zip file with checksums. It has the database, runs, images, PDF files and secrets, but neither
    exports nor your own files in DIR. An existing FILE is never overwritten.

    The exit status is 1 if a file of the campaign, and therefore of the backup, is missing or damaged; 2 if no backup
    was made.

    For example:
      cleverdon backup DIR wings.zip
      cleverdon backup DIR --to /backup --keep 7 --quiet
      cleverdon backup DIR --schedule --every-hours 24 --keep 7
    """
    from collection.campaign.operations import backup_archive, backups

    if schedule:
        if file is not None or folder is not None or without_secrets or quiet:
            raise click.UsageError("--schedule makes no backup: give neither FILE, --to, --without-secrets nor --quiet")
        _set_schedule(directory, every_hours=every_hours, keep=keep, keep_days=keep_days)
        return
    if every_hours is not None:
        raise click.UsageError("--every-hours needs --schedule")
    if (file is None) == (folder is None):
        raise click.UsageError("expected either FILE or --to FOLDER")
    if folder is None and (keep is not None or keep_days is not None):
        raise click.UsageError("--keep and --keep-days need --to FOLDER or --schedule")
    removed: list[Path] = []
    with nullcontext() if quiet else progress_line("writing the backup"):
        if file is not None:
            report = backup_archive.write(directory, file, secrets=not without_secrets)
        else:
            assert folder is not None
            report, removed = backups.add(
                directory, folder, keep=keep, keep_days=keep_days, secrets=not without_secrets
            )
    if not quiet:
        echo(f"{report.path}: {count(report.files, 'file')}, {count(report.size, 'byte')}.")
        if removed:
            echo(f"Removed {count(len(removed), 'older backup')}.")
        echo(f"Keep it as private as the campaign: it contains {join(['password hashes', *report.secrets])}.")
    if report.problems:
        print_notices(report.problems, "problem")
        older = "; older ones are kept until this is solved" if keep is not None or keep_days else ""
        print_notices([f"the backup {report.path} was made{older}"])
        raise SystemExit(1)


def _set_schedule(directory: Path, **changes: int | None) -> None:
    """Change the settings that are given, and print all."""
    from collection.campaign import Campaign

    given = {name: value for name, value in changes.items() if value is not None}
    with Campaign(directory) as campaign:
        settings = (
            campaign.operations.backups.set_settings(**given) if given else campaign.operations.backups.settings()
        )
        problem = campaign.operations.backups.problem()
    print_settings(asdict(settings) | {"keep_days": settings.keep_days or "unlimited"})
    if problem:
        print_notices([problem], "problem")


@click.command()
@click.argument("file", metavar="FILE", type=FILE)
@click.argument("directory", metavar="DIR", type=DIRECTORY_PATH)
def restore(file: Path, directory: Path) -> None:
    """Restore a backup into a new or empty directory.

    The checksums of all files are compared first. Nothing is left in DIR if the backup is damaged.
    """
    from collection.campaign.operations import backup_archive

    with progress_line("restoring"):
        manifest = backup_archive.restore(file, directory)
    echo(
        f"Restored the campaign {one_line(manifest.title)} as of {manifest.made_at[:16].replace('T', ' ')} UTC: "
        f"{count(len(manifest.files), 'file')} in {directory}."
    )


@click.command()
@click.argument("path", metavar="DIR|BACKUP", type=click.Path(path_type=Path))
@FORMAT
def check(path: Path, form: str) -> None:
    """Check the database and files of a campaign, or a backup.

    You can run it while the server runs. Each finding includes a remedy. The exit status is 1 if there is a problem;
    notes alone do not count. A backup is checked in the same way as the campaign that it restores.
    """
    from collection.campaign.operations import integrity

    with progress_line("checking") as progress:
        findings = integrity.check(path, progress)
    problems = sum(finding.serious for finding in findings)
    if form == "json":
        print_json({"problems": problems, "findings": [finding._asdict() for finding in findings]})
    else:
        for finding in findings:
            echo(f"{'Problem' if finding.serious else 'Note'}: {sentence(finding.sentence)}")
        echo(f"{count(problems, 'problem')}." if problems else "No problems.")
    if problems:
        raise SystemExit(1)
