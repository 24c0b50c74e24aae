"""`cleverdon backup`: write a backup of a campaign."""

from __future__ import annotations

from pathlib import Path

import click

from collection.cli.options import COUNT, DIRECTORY, FILE
from collection.cli.output import echo, print_notices, progress_line
from collection.phrases import count, join


@click.command()
@DIRECTORY
@click.argument("file", metavar="[FILE]", required=False, type=FILE)
@click.option("--to", "folder", metavar="FOLDER", type=FILE, help="Folder for a backup named after DIR and the time.")
@click.option("--keep", type=COUNT, metavar="N", help="With --to: keep this many backups of the campaign, the newest.")
@click.option(
    "--keep-days", type=COUNT, metavar="D", help="With --to: remove older backups of the campaign, never the newest."
)
@click.option("--without-secrets", is_flag=True, help="Leave out .secret and sso.toml.")
def backup(
    directory: Path,
    file: Path | None,
    folder: Path | None,
    keep: int | None,
    keep_days: int | None,
    without_secrets: bool,
) -> None:
    """Write a backup of a campaign, also while people judge.

    The backup is one zip file with checksums. It has the database, runs, images and secrets, but neither exports nor
    your own files in DIR. An existing FILE is never overwritten.

    For example:
      cleverdon backup DIR wings.zip
      cleverdon backup DIR --to /backup --keep 7
    """
    from collection.campaign import backup_archive, backups

    if (file is None) == (folder is None):
        raise click.UsageError("expected either FILE or --to FOLDER")
    if folder is None and (keep or keep_days):
        raise click.UsageError("--keep and --keep-days need --to FOLDER")
    removed: list[Path] = []
    with progress_line("writing the backup"):
        if file is not None:
            report = backup_archive.write(directory, file, secrets=not without_secrets)
        else:
            assert folder is not None
            report, removed = backups.add(
                directory, folder, keep=keep, keep_days=keep_days, secrets=not without_secrets
            )
    echo(f"{report.path}: {count(report.files, 'file')}, {count(report.size, 'byte')}.")
    if removed:
        echo(f"Removed {count(len(removed), 'older backup')}.")
    echo(f"Keep it as private as the campaign: it contains {join(['password hashes', *report.secrets])}.")
    print_notices(report.problems)
