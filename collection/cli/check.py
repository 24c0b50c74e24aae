"""`cleverdon check`: look for damage in a campaign or a backup."""

from __future__ import annotations

from pathlib import Path

import click

from collection.cli.options import FORMAT
from collection.cli.output import echo, print_json, progress_line
from collection.core.phrases import count, sentence


@click.command()
@click.argument("path", metavar="DIR|BACKUP", type=click.Path(path_type=Path))
@FORMAT
def check(path: Path, form: str) -> None:
    """Check the database and files of a campaign, or a backup.

    You can run it while the server runs. Each finding includes a remedy. The exit status is 1 if
    there is a problem; notes alone do not count. A backup is checked in the same way as the campaign that it restores.
    """
    from collection.campaign.operations import integrity

    with progress_line("checking") as progress:
        found = integrity.check(path, progress)
    problems = sum(finding.serious for finding in found)
    if form == "json":
        print_json({"problems": problems, "findings": [finding._asdict() for finding in found]})
    else:
        for finding in found:
            echo(f"{'Problem' if finding.serious else 'Note'}: {sentence(finding.sentence)}")
        echo(f"{count(problems, 'problem')}." if problems else "No problems.")
    if problems:
        raise SystemExit(1)
