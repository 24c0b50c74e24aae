"""`cleverdon remove`: take topics, documents, runs and pooled pairs out of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.options import COUNT, FILE, expand_documents, open_campaign
from collection.cli.output import confirm, echo, print_notices
from collection.core.errors import InputError

if TYPE_CHECKING:
    from collection.campaign import Campaign


@click.command()
@open_campaign
@click.option("--topic", "topics", multiple=True, metavar="ID", help="Topic; repeatable.")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Document; repeatable.")
@click.option("--topics-in", type=FILE, metavar="FILE", help="All topics of a file, in any format of `import`.")
@click.option(
    "--documents-in", type=FILE, metavar="FILE", help="All documents of a file or folder, in any format of `import`."
)
@click.option("--run", "runs", multiple=True, metavar="NAME", help="Run with its costs; repeatable.")
@click.option(
    "--round",
    "rounds",
    multiple=True,
    type=COUNT,
    metavar="N",
    help="Unjudged pairs of this round of pooling (numbered on the page Pool); repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be removed.")
@click.option("--yes", is_flag=True, help="Remove without asking.")
def remove(
    campaign: Campaign,
    topics: tuple[str, ...],
    documents: tuple[str, ...],
    topics_in: Path | None,
    documents_in: Path | None,
    runs: tuple[str, ...],
    rounds: tuple[int, ...],
    dry_run: bool,
    yes: bool,
) -> None:
    """Remove unjudged topics, documents, runs or pooled pairs.

    Pooled pairs of removed topics and documents are removed, too. Topics, documents and pairs with a judgement or a
    machine label stay, and so does the log. Documents that are also in another imported file of references
    stay, but lose their records of this file.

    For example:
      cleverdon remove DIR --documents-in topics.tsv
      cleverdon remove DIR --run bm25 --round 2
    """
    from collection import formats

    chosen = {
        "topics": [*topics, *(formats.read_topics(topics_in)["query_id"] if topics_in else ())],
        "documents": list(documents),
        "files": expand_documents((documents_in,) if documents_in else ()),
        "runs": list(runs),
        "rounds": list(rounds),
    }
    if not any(chosen.values()):
        raise click.UsageError("expected something to remove, such as --document, --topic, --run or --round")
    words = campaign.settings.vocabulary
    plan = campaign.imports.removals.preview(**chosen)
    print_notices(map(words.apply, plan.notes))
    if dry_run:
        echo(f"To remove: {words.apply(plan.contents) or 'nothing'}.")
        return
    if plan.is_empty:
        raise InputError("nothing can be removed: everything named here is in use")
    confirm(f"Remove {words.apply(plan.contents)}?", yes, "the removal")
    plan = campaign.imports.removals.remove(**chosen)
    echo(f"Removed {words.apply(plan.contents)}.")
