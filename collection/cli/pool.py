"""`cleverdon pool`: pairs to judge and their cost, and a comparison of pooling strategies."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from collection.cli.evaluate import parse_one
from collection.cli.methods import Names
from collection.cli.options import (
    COUNT,
    DIRECTORY_PATH,
    FILE,
    INPUT,
    SectionedCommand,
    expand_folders,
    form_option,
    option_section,
)
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.core.errors import InputError
from collection.core.phrases import count, duration_range, join_first, plural
from collection.core.topic_fields import to_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from collection.annotator_agreement.judging_time import DurationEstimate
    from collection.campaign.log.results import PoolReport
    from collection.formats import Source
    from collection.simulation.budgets import BudgetComparison, UnjudgedUse

OF_ONE_STRATEGY = ("strategy", "settings", "names", "near_duplicates", "dry_run", "depth", "ties", "budget", "k")
"""Options that --compare does not take."""

AT = ("10%", "25%", "50%")
"""Default shares of the full pool for comparing strategies."""

DEEPEST = 10
"""Depth of the full pool in a comparison."""


_comparison = option_section("Comparison of strategies")


@click.command(cls=SectionedCommand)
@click.argument("directory", metavar="[DIR]", required=False, type=DIRECTORY_PATH)
@click.option("--strategy", type=Names(family="strategies"), metavar="S", default="depth", help="Pooling strategy.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the strategy; repeatable.",
)
@click.option("--depth", type=COUNT, help="Pool depth: ranks per run (--set depth=N).")
@click.option(
    "--ties",
    type=Names("listed", "both"),
    help="Pool equal scores in the order of the run, or both in that and in the order of measures.",
)
@click.option("--budget", type=COUNT, help="Pairs per topic (--set budget=N).")
@click.option("--k", type=click.IntRange(min=0), help="Constant of reciprocal rank fusion (--set k=N).")
@click.option("--from-run", "names", multiple=True, metavar="NAME", help="Pool only the runs named; repeatable.")
@click.option(
    "--near-duplicates",
    type=click.Choice(["keep", "skip"]),
    default="keep",
    help="Keep or skip near-duplicates within a topic.",
)
@click.option("--dry-run", is_flag=True, help="Show the cost without adding pairs.")
@_comparison(
    "--compare",
    "qrels",
    type=INPUT,
    metavar="QRELS",
    help="Compare all strategies on known qrels; the pool stays as it is.",
)
@_comparison("--run", "files", multiple=True, type=FILE, help="Run, or folder of runs, instead of DIR; repeatable.")
@_comparison(
    "--at",
    "budgets",
    multiple=True,
    metavar="SHARE",
    help=f"Share of the full pool; repeatable; by default {', '.join(AT)}.",
)
@_comparison("-m", "--measure", default="nDCG@10", metavar="M", help="Measure to rank systems by.")
@_comparison(
    "--unjudged",
    type=click.Choice(["not-relevant", "left-out"]),
    help="Pairs without a grade in QRELS: not-relevant (default), or left-out of the runs.",
)
@form_option("table", "tsv", "json", help_text="Output format with --compare.")
def pool(
    directory: Path | None,
    strategy: str,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    near_duplicates: str,
    dry_run: bool,
    qrels: Source | None,
    files: tuple[Path, ...],
    budgets: tuple[str, ...],
    measure: str,
    unjudged: UnjudgedUse | None,
    form: str,
    **short: Any,
) -> None:
    """Choose the pairs to judge, or compare pooling strategies.

    Adds pairs from the imported runs to the pool of the campaign DIR. Pairs already in the pool stay.
    `cleverdon methods strategies` lists the strategies with their parameters.

    For example:
      cleverdon pool DIR --depth 20 --dry-run
      cleverdon pool --compare qrels.txt --run runs/
    """
    if qrels is not None:
        if directory is None and not files:
            raise click.UsageError("--compare needs runs: add DIR or --run")
        used = {click.get_current_context().get_parameter_source(option) for option in OF_ONE_STRATEGY}
        if ParameterSource.COMMANDLINE in used:
            raise click.UsageError(
                "--compare runs every strategy on all runs: leave out the options of a single strategy"
            )
        compare_pools(
            list(expand_folders(files)),
            qrels,
            directory,
            measure=measure,
            budgets=list(budgets or AT),
            unjudged=unjudged or "not-relevant",
            form=form,
        )
        return
    if directory is None:
        raise click.UsageError("expected DIR, or --compare QRELS with --run")
    if files or budgets or unjudged:
        raise click.UsageError("--run, --at and --unjudged need --compare; choose the runs to pool with --from-run")
    from collection.campaign import Campaign
    from collection.pooling import STRATEGIES, read_parameters

    entry = STRATEGIES[strategy]
    if entry.adaptive:
        # Parameters such as --budget are settings of the loop.
        budget = f" --topic-budget {short['budget']}" if short.get("budget") else ""
        raise InputError(
            f"{strategy} is adaptive: it chooses each document by the judgements so far and cannot pool in advance. "
            f"Judge with it: `cleverdon loop {directory} --mode loop --by {strategy}{budget}`. "
            "Try it first: `cleverdon simulate`"
        )
    given = [f"{name}={value}" for name, value in short.items() if value is not None]
    parameters = read_parameters(entry, [*given, *settings])
    with Campaign(directory) as campaign, progress_line("pooling"):
        report = campaign.people.pools.add(
            strategy,
            dry_run=dry_run,
            runs=names or None,
            near_duplicates="skip" if near_duplicates == "skip" else "keep",
            **parameters,
        )
        time = campaign.people.pools.time(report.new)
    _print_pool(report, time, dry_run)


def _print_pool(report: PoolReport, time: DurationEstimate | None, dry_run: bool) -> None:
    from collection.pooling import format_parameters

    pairs = report.per_topic["pairs"]
    added = f"Dry run: would add {count(report.new, 'pair')}" if dry_run else f"Added {count(report.new, 'pair')}"
    already = report.pairs - report.new
    known = f"; {already:,} more {plural(already, 'is', 'are')} already in the pool" if already else ""
    echo(f"{added} to the pool{known}.")
    echo(f"  strategy         {report.strategy} ({format_parameters(report.parameters)})")
    echo(f"  read             {count(report.runs, 'run')}, {count(len(pairs), 'topic')}")
    if report.sampled_from is not None:
        echo(f"  random sample    {report.pairs:,} of {count(report.sampled_from, 'pair')}")
    least, most = pairs.min(), pairs.max()
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}, median {pairs.median():g}"
    echo(f"  pairs per topic  {span}")
    if report.near_duplicates:
        echo(f"  left out         {count(report.near_duplicates, 'near-duplicate')}")
    if time is not None and report.new:
        echo(f"  judging time     {duration_range(time.low, time.high)} at the pace so far, 1 judgement per pair")
    empty = report.per_topic.loc[pairs == 0, "query_id"].tolist()
    notices = list(report.notes)
    if empty:
        # With a total over all topics, a strategy may leave out topics that runs have.
        why = "" if report.parameters.get("total") else ", since no run has them"
        notices.append(f"{count(len(empty), 'topic has', 'topics have')} no pairs{why}: {join_first(empty)}")
    if report.without_text:
        notices.append(
            f"{count(report.without_text, 'document of these pairs has', 'documents of these pairs have')} no text; "
            "list them with `cleverdon export DIR --missing-documents FILE`" + (" after pooling" if dry_run else "")
        )
    print_notices(notices)


def compare_pools(
    runs: list[Path],
    qrels: Source,
    directory: Path | None,
    *,
    measure: str,
    budgets: list[str],
    unjudged: UnjudgedUse,
    form: str,
) -> None:
    """Print how well each strategy and estimate preserves the ranking of systems at each budget.

    `runs` are files; if empty, the campaign's runs are used. `directory` is a campaign with documents and topics, or
    None for runs only. `budgets` are shares of the full pool: ``10%`` or ``0.1``.
    """
    from collection import formats
    from collection.campaign import Campaign
    from collection.machine_labels.model_families import warn_of_model
    from collection.simulation.budgets import compare

    shares, parsed = [_read_share(budget) for budget in budgets], parse_one(measure)
    known = formats.read_qrels(qrels)
    warn_of_model(qrels)
    ranked = list(formats.read_runs(runs))
    documents, topics = None, None
    if directory is not None:
        with Campaign(directory) as campaign:
            ranked = ranked or list(campaign.corpus.runs())
            listed = (run.frame.loc[run.frame["listed"] <= DEEPEST, "doc_id"] for run in ranked)
            texts = campaign.store.corpus.documents(sorted({str(doc_id) for ids in listed for doc_id in ids}))
            if any(document.text is not None for document in texts.values()):
                documents, topics = list(texts.values()), to_frame(campaign.store.corpus.topic_records())
    with progress_line("comparing strategies") as line:
        compared = compare(
            ranked, known, budgets=shares, measure=parsed, depth=DEEPEST, documents=documents, topics=topics,
            unjudged=unjudged, progress=line if sys.stderr.isatty() else _print_finished(),
        )  # fmt: skip
    _print_comparison(compared, form)


def _read_share(text: str) -> float:
    """Read a share of the full pool.

    >>> _read_share("25%"), _read_share(".5")
    (0.25, 0.5)
    """
    try:
        share = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise InputError(
            f"--at: expected a share of the full pool above 0 and up to 1, such as 25% or 0.25, found {text!r}"
        )
    return share


def _print_finished() -> Callable[[str, int, int], None]:
    """Return a progress callback that prints a line for every finished strategy, for logs."""
    current = ""

    def tell(name: str, done: int, total: int) -> None:
        nonlocal current
        if done:
            echo(f"{current}: done, {done:,} of {total:,}", err=True)
        current = name

    return tell


def _print_comparison(compared: BudgetComparison, form: str) -> None:
    table = compared.table.sort_values(
        ["strategy", "estimate", "share"], key=lambda of: of == "expected gains" if of.name == "estimate" else of
    )
    if form == "json":
        echo_data(table.to_json(orient="records", indent=2))
    elif form == "tsv":
        echo_data(table.to_csv(sep="\t", index=False, lineterminator="\n"), nl=False)
    else:
        for sentence in compared.best():
            echo(sentence)
        echo()
        header = ["strategy", "estimate", "share of full pool", "judgements", "recall", "Kendall's tau", "tau_AP"]
        rows = [
            [name, estimate, f"{100 * share:.4g}%", f"{judgements:,.0f}", *map(_format_value, figures)]
            for name, estimate, share, judgements, *figures in table.itertuples(index=False, name=None)
        ]
        print_table(header, rows, numbers=True)
    print_notices(
        [
            *compared.notes,
            "recall is the share of the relevant documents of the full pool that are found; tau and tau_AP compare the "
            "ranking of systems with their ranking by all qrels",
        ]
    )


def _format_value(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
