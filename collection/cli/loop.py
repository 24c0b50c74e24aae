"""`cleverdon vectors`, `cleverdon loop` and `cleverdon recall`: settings and results of active learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from collection.cli.options import COUNT, DIRECTORY, FILE, FORMAT
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.phrases import count, percent_down, percent_up

NAMED = 10
"""Topics of a mode in the table."""


@click.command()
@DIRECTORY
@click.option(
    "--block",
    "blocks",
    multiple=True,
    type=click.Choice(["words", "chars", "dense"]),
    help="What the model reads: words, characters (4-grams), your own embeddings; may be repeated.",
)
@click.option("--bigrams/--no-bigrams", default=None, help="Pairs of words as well as words.")
@click.option("--vectors", "dense", type=FILE, metavar="FILE.npy", help="Your own embeddings: one row a document.")
@click.option("--processes", type=COUNT, help="As many as there are cores if left out.")
def vectors(
    directory: Path, blocks: tuple[str, ...], bigrams: bool | None, dense: Path | None, processes: int | None
) -> None:
    """Make the vectors of the documents in DIR, or bring them up to date: only what is new is read.

    The app does so by itself when the loop begins. Rows of FILE.npy are in the order of import.
    """
    from collection.campaign import Campaign

    with Campaign(directory) as campaign, progress_line() as progress:
        report = campaign.features.update(
            blocks=blocks or None, bigrams=bigrams, dense=dense, progress=progress, processes=processes
        )
        used = ", ".join(campaign.features.state().blocks)
    read = f"{report.tokenised:,} texts read" if report.tokenised else "no text had to be read"
    taken = f"; embeddings from {dense}" if dense is not None else ""
    echo(f"{directory / 'vectors'}: {report.documents:,} documents by {used}; {read}{taken}; {report.seconds:.1f} s")


@click.command()
@DIRECTORY
@click.option(
    "--mode", help="pool, random, pool-then-loop, loop, loop-in-pool, closed; campaign: a topic's own no more."
)
@click.option("--topic", "topics", multiple=True, metavar="Q", help="Give only this topic the mode; may be repeated.")
@click.option("--by", metavar="S", help="What ranks: model, or an adaptive strategy (`cleverdon methods strategies`).")
@click.option("--level", type=int, metavar="G", help="The grade from which on a document is relevant.")
@click.option("--learner", metavar="L", help="What the model learns by (`cleverdon methods learners`).")
@click.option("--evidence", help="What the runs do for the model: prior, columns or none.")
@click.option("--grades", help="What grades do for the model: weights or threshold.")
@click.option("--presumed", type=int, help="Random documents that are presumed irrelevant in each round.")
@click.option("--row", "run", metavar="N|auto", help="Random draws begin after N irrelevant in a row; 0: never.")
@click.option("--control", type=float, metavar="SHARE", help="Least share of random draws from the beginning.")
@click.option("--target", type=float, metavar="SHARE", help="The recall that the stop advice is to promise.")
@click.option("--confidence", type=float, metavar="SHARE", help="With how much confidence.")
@click.option("--budget", type=int, metavar="N", help="Documents to judge in all topics together (0: unlimited).")
@click.option("--topic-budget", type=int, metavar="N", help="Documents to judge in each topic (0: unlimited).")
@click.option("--explain", help="What annotators see who ask why: terms, 'terms and runs' or nothing.")
def loop(directory: Path, topics: tuple[str, ...], **changes: Any) -> None:
    """Show how documents are chosen in DIR, or change it.

    The topics in their loop share --budget equally: each may come to the same number of judged documents, and what a
    topic cannot use (closed, nothing left, --topic-budget reached) goes to the others.
    """
    from dataclasses import asdict

    from collection.campaign import Campaign
    from collection.campaign.loop_settings import LOOPING, MODES

    given = {name: value for name, value in changes.items() if value is not None}
    if "run" in given:
        if not (given["run"] == "auto" or given["run"].isdecimal()):
            raise click.BadParameter(f"wanted a whole number or auto, found {given['run']!r}", param_hint="--row")
        given["run"] = None if given["run"] == "auto" else int(given["run"])
    if topics and given.get("mode") == "campaign":
        given["mode"] = None
    with Campaign(directory) as campaign:
        if given:
            campaign.settings.set_loop(topics=list(topics) or None, **given)
        elif topics:
            raise click.UsageError("what of these topics? give --mode")
        settings = asdict(campaign.settings.loop())
        modes = campaign.settings.modes()
        used_up = campaign.budget.state().words
    rows = [[name.replace("_", "-"), "automatic" if value is None else str(value)] for name, value in settings.items()]
    print_table(["setting", "value"], rows)
    echo()
    of_mode = {mode: [query_id for query_id, m in modes.items() if m == mode] for mode in MODES}
    named = [
        [len(some), ": ".join(MODES[mode]), ", ".join(some[:NAMED]) + (", ..." if some[NAMED:] else "")]
        for mode, some in of_mode.items()
        if some
    ]
    print_table(["topics", "mode", "which"], named)
    if used_up:
        echo(f"\n{used_up}")
    elif (settings["budget"] or settings["topic_budget"]) and not LOOPING & set(modes.values()):
        print_notices(["no topic is in a loop: budgets take effect with --mode loop, loop-in-pool or pool-then-loop"])


@click.command()
@DIRECTORY
@FORMAT
def recall(directory: Path, form: str) -> None:
    """How much of what is relevant has been found in DIR: every topic, worst first."""
    from collection.campaign import Campaign
    from collection.stopping.table import missing_texts

    with Campaign(directory) as campaign, progress_line("estimating recall"):
        table = campaign.recall.table()
        settings = campaign.settings.loop()
        used_up = campaign.budget.state().words
    if form == "json":
        echo_data(table.to_json(orient="records", indent=2, force_ascii=False))
        return
    rows = []
    for row in table.to_dict("records"):
        relevant = share = "-"
        if row["judged"]:
            relevant = f"{row['low']:,} to {row['high']:,}"
            share = f"{percent_down(row['recall_low'])} to {percent_up(row['recall_high'])}"
        known = [row[name] for name in ("query_id", "mode", "judged", "found", "without_text")]
        rows.append([*known, relevant, share, row["of"], row["advice"]])
    header = ["topic", "mode", "judged", "found", "no text", "relevant", "recall", "scope", "advice"]
    print_table(header, rows)
    ready = int(table["stop"].sum())
    echo(f"\n{ready:,} of {count(len(table), 'topic is', 'topics are')} ready to stop")
    if used_up:
        echo(used_up)
    if missing := missing_texts(table["without_text"]):
        echo(f"{missing} `cleverdon export {directory} --missing-documents FILE` lists the ids")
    echo(
        f"relevant is from grade {settings.level} on; intervals with {percent_down(settings.confidence)} confidence; "
        f"the advice is to promise {percent_down(settings.target)} recall"
    )
