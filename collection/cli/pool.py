"""`cleverdon pool`: pairs to judge and their cost, and a comparison of pooling strategies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from collection.cli.methods import list_entries, print_entries
from collection.cli.options import COUNT, FILE, expand_folders, form_option
from collection.cli.output import echo, print_notices, progress_line
from collection.errors import InputError
from collection.phrases import count

if TYPE_CHECKING:
    from collection.annotator_agreement.judging_time import Estimate
    from collection.campaign.results import PoolReport

OF_ONE_STRATEGY = ("strategy", "settings", "names", "near_duplicates", "dry_run", "depth", "ties", "budget", "k")
"""Options that --compare does not take."""

AT = ("10%", "25%", "50%")
"""Default shares of the full pool at which strategies are compared."""


@click.command()
@click.argument("directory", metavar="[DIR]", required=False, type=FILE)
@click.option("--strategy", default="depth", help="Pooling strategy; --list shows all.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the strategy, as --list names it; may be repeated.",
)
@click.option("--depth", type=COUNT, help="Short for --set depth=N: ranks of each run that are taken.")
@click.option("--ties", help="Short for --set ties=listed or both: equal scores as the run's file lists them, or also.")
@click.option("--budget", type=COUNT, help="Short for --set budget=N: pairs of each topic.")
@click.option("--k", type=click.IntRange(min=0), help="Short for --set k=N: the constant of reciprocal rank fusion.")
@click.option("--from-run", "names", multiple=True, metavar="NAME", help="Only this run contributes; may be repeated.")
@click.option(
    "--near-duplicates",
    type=click.Choice(["keep", "skip"]),
    default="keep",
    help="skip: of nearly equal documents a topic gets one.",
)
@click.option("--dry-run", is_flag=True, help="Only say what it would cost.")
@click.option("--list", "listing", is_flag=True, help="List the pooling strategies with their parameters, and end.")
@click.option(
    "--compare",
    "qrels",
    type=FILE,
    metavar="QRELS",
    help="Add nothing: show what each strategy would have found at a part of the cost, by known grades.",
)
@click.option("--run", "files", multiple=True, type=FILE, help="With --compare: a run, or a folder; in place of DIR.")
@click.option("--at", "budgets", multiple=True, metavar="SHARE", help=f"With --compare: {', '.join(AT)} if left out.")
@click.option("-m", "--measure", default="nDCG@10", metavar="M", help="With --compare: what ranks systems.")
@form_option("table", "tsv", "json", help_text="With --compare.")
def pool(
    directory: Path | None,
    strategy: str,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    near_duplicates: str,
    dry_run: bool,
    listing: bool,
    qrels: Path | None,
    files: tuple[Path, ...],
    budgets: tuple[str, ...],
    measure: str,
    form: str,
    **short: Any,
) -> None:
    """Choose the pairs to judge in DIR from the runs; only what is new is added."""
    if listing:
        print_entries(list_entries("strategies"))
        return
    if qrels is not None:
        if directory is None and not files:
            raise click.UsageError("strategies are compared on runs: give DIR or --run")
        used = {click.get_current_context().get_parameter_source(option) for option in OF_ONE_STRATEGY}
        if ParameterSource.COMMANDLINE in used:
            raise click.UsageError("--compare plays every strategy on all runs: leave out what belongs to one of them")
        from collection.cli.pool_comparison import compare_pools

        compare_pools(list(expand_folders(files)), qrels, directory, measure, list(budgets or AT), form)
        return
    if directory is None:
        raise click.UsageError("a pool is a campaign's: give its DIR, or --list, or --compare QRELS with --run")
    if files or budgets:
        raise click.UsageError("--run and --at belong to --compare; --from-run says which runs contribute")
    from collection.campaign import Campaign
    from collection.pooling import STRATEGIES, read_parameters

    entry = STRATEGIES[strategy]
    if entry.adaptive:
        # Parameters such as --budget belong to the loop.
        budget = f" --topic-budget {short['budget']}" if short.get("budget") else ""
        raise InputError(
            f"{strategy} chooses each document after the judgement of the one before, so it makes no pool in advance: "
            f"`cleverdon loop {directory} --mode loop --by {strategy}{budget}` has it choose what is judged next, and "
            "`cleverdon simulate` tries it out"
        )
    given = [f"{name}={value}" for name, value in short.items() if value is not None]
    parameters = read_parameters(entry, [*given, *settings])
    with Campaign(directory) as campaign, progress_line("pooling"):
        report = campaign.pools.add(
            strategy,
            dry_run=dry_run,
            runs=names or None,
            near_duplicates="skip" if near_duplicates == "skip" else "keep",
            **parameters,
        )
        time = campaign.pools.time(report.new)
    _print_pool(report, time, dry_run)


def _print_pool(report: PoolReport, time: Estimate | None, dry_run: bool) -> None:
    from collection.pooling import format_parameters

    pairs = report.per_topic["pairs"]
    scope = f"{count(report.runs, 'run')}, {count(len(pairs), 'topic')}"
    echo(f"{report.strategy} ({format_parameters(report.parameters)}) over {scope}")
    drawn = "" if report.sampled_from is None else f", drawn from {report.sampled_from:,}"
    echo(f"pairs      {report.pairs:,}{drawn}")
    echo(f"per topic  min {pairs.min()}, median {pairs.median():g}, max {pairs.max()}")
    if report.near_duplicates:
        echo(f"left out   {report.near_duplicates:,} as near-duplicates")
    echo(f"new        {report.new:,}" + (" (dry run: nothing was added)" if dry_run else ""))
    if time is not None and report.new:
        hours = f"{time.low / 3600:.1f} to {time.high / 3600:.1f}"
        echo(f"hours      {hours} at the pace so far, with one judgement a pair")
    empty = report.per_topic.loc[pairs == 0, "query_id"].tolist()
    notices = []
    if empty:
        # With a total over all topics a strategy may leave out topics that runs do have.
        why = "" if report.parameters.get("total") else ", because no run has them"
        notices.append(f"{count(len(empty), 'topic has', 'topics have')} no pair{why}: {', '.join(empty[:5])}")
    if report.without_text:
        notices.append(
            f"{report.without_text:,} documents of these pairs have no text here; "
            "`cleverdon export DIR --missing-documents FILE` lists them" + (" once they are pooled" if dry_run else "")
        )
    print_notices(notices)
