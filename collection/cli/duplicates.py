"""`cleverdon duplicates`: documents of a campaign that are nearly the same."""

from __future__ import annotations

from pathlib import Path

import click

from collection.cli.options import DIRECTORY, FORMAT
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.phrases import count

SHOWN = 30
"""Groups in the table; JSON has all."""

NAMED = 6
"""Documents named for each group."""


@click.command()
@DIRECTORY
@click.option(
    "--of",
    type=click.Choice(["pool", "all"]),
    default="pool",
    help="Compare the documents of the pool, or all of the campaign.",
)
@click.option(
    "--threshold",
    type=float,
    default=0.8,
    help="Share of four-word shingles in common from which on two are near-duplicates, .3 to 1.",
)
@FORMAT
def duplicates(directory: Path, of: str, threshold: float, form: str) -> None:
    """List groups of near-duplicates among the documents of the campaign in DIR."""
    from collection.campaign import Campaign

    with Campaign(directory) as campaign, progress_line("comparing documents"):
        found = campaign.near_duplicates.groups(of, threshold)
    if form == "json":
        members = [{"doc_ids": g.doc_ids, "similarity": [round(s, 4) for s in g.similarity]} for g in found.groups]
        print_json({"of": of, "threshold": threshold, **found._asdict(), "groups": members})
        return
    grouped, groups = sum(len(group.doc_ids) for group in found.groups), count(len(found.groups), "group")
    echo(
        f"{grouped:,} of {found.documents:,} documents are in {groups} of near-duplicates"
        if found.groups
        else f"None of {found.documents:,} documents is nearly the same as another one."
    )
    if found.pairs:
        echo(f"{found.pairs:,} of {found.pool:,} pairs of the pool have one before them in their topic's pool")
    largest = sorted(found.groups, key=lambda group: -len(group.doc_ids))[:SHOWN]
    rows = []
    for group in largest:
        more = ", ..." if len(group.doc_ids) > NAMED else ""
        rows.append([len(group.doc_ids), f"{min(group.similarity):.2f}", ", ".join(group.doc_ids[:NAMED]) + more])
    if rows:
        echo()
        print_table(["documents", "least similar to the first", "ids"], rows)
    if len(found.groups) > SHOWN:
        print_notices([f"{len(found.groups) - SHOWN:,} more groups; --format json has all"])
