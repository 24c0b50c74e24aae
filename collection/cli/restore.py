"""`cleverdon restore`: make a campaign of a backup."""

from __future__ import annotations

from pathlib import Path

import click

from collection.cli.options import DIRECTORY_PATH, FILE
from collection.cli.output import echo, progress_line
from collection.core.characters import one_line
from collection.core.phrases import count


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
