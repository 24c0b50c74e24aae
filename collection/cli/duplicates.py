"""`cleverdon duplicates`: near-duplicate documents of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from collection.cli.options import FORMAT, open_campaign
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, join_first

if TYPE_CHECKING:
    from collection.campaign import Campaign

SHOWN = 30
"""Printed groups; JSON has all."""

NAMED = 6
"""Printed ids per group."""


@click.command()
@open_campaign
@click.option(
    "--of",
    type=click.Choice(["pool", "all"]),
    default="pool",
    help="Documents to compare.",
)
@click.option(
    "--threshold",
    type=float,
    default=0.8,
    help="Minimum share of common 4-word shingles, from 0.3 to 1.",
)
@FORMAT
def duplicates(campaign: Campaign, of: str, threshold: float, form: str) -> None:
    """List near-duplicate documents.

    Documents are grouped by the share of 4-word shingles that they have in common.
    """
    with progress_line("comparing documents"):
        result = campaign.corpus.near_duplicates.groups(of, threshold)
    if form == "json":
        members = [{"doc_ids": g.doc_ids, "similarity": [round(s, 4) for s in g.similarity]} for g in result.groups]
        print_json({"of": of, "threshold": threshold, **result._asdict(), "groups": members})
        return
    grouped, groups = sum(len(group.doc_ids) for group in result.groups), count(len(result.groups), "group")
    echo(
        f"{grouped:,} of {count(result.documents, 'document')} are near-duplicates, in {groups}."
        if result.groups
        else f"{count(result.documents, 'document')}, no near-duplicates."
    )
    if result.pairs:
        echo(
            f"{result.pairs:,} of {count(result.pool, 'pooled pair')} follow a near-duplicate in the same topic's pool."
        )
    largest = sorted(result.groups, key=lambda group: -len(group.doc_ids))[:SHOWN]
    rows = [[len(g.doc_ids), f"{min(g.similarity):.2f}", join_first(g.doc_ids, NAMED)] for g in largest]
    if rows:
        echo()
        print_table(["documents", "lowest similarity to the first", "ids"], rows)
    if len(result.groups) > SHOWN:
        print_notices([f"{len(result.groups) - SHOWN:,} more groups; --format json prints all"])
