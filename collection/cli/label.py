"""`cleverdon label`: weak labels by rules and clicks, and the label sets of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.methods import Names, list_entries, print_entries
from collection.cli.options import DIRECTORY_PATH, FORMAT
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, plural

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.machine_labels.machine_labels import LabelSetSummary

Columns = Mapping[str, Callable[[Any], object]]
"""Header -> what a label set has in the column."""


@click.command()
@click.argument("directory", metavar="[DIR]", required=False, type=DIRECTORY_PATH)
@click.option("--rule", type=Names(family="label-rules"), metavar="RULE", help="Rule that labels the pooled pairs.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter of the rule; repeatable.")
@click.option("--clicks", is_flag=True, help="Label the pairs of the imported click logs by their attractiveness.")
@click.option("--click-log", "logs", multiple=True, metavar="NAME", help="Click log to use (default: all); repeatable.")
@click.option("--name", metavar="NAME", help="Name of the label set; by default that of the rule, or `clicks`.")
@click.option(
    "--built-on",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Run built on the model of the label set --name, for the warnings of exports; repeatable.",
)
@click.option("--list", "listing", is_flag=True, help="List the rules with their parameters.")
@FORMAT
def label(
    directory: Path | None,
    rule: str | None,
    settings: tuple[str, ...],
    clicks: bool,
    logs: tuple[str, ...],
    name: str | None,
    runs: tuple[str, ...],
    listing: bool,
    form: str,
) -> None:
    """Label pairs by a rule or by clicks, apart from all judgements.

    Without options, lists the label sets of the campaign DIR.

    For example:
      cleverdon label DIR --rule contains-query --set terms=any
      cleverdon label DIR --clicks
    """
    if listing:
        print_entries(list_entries("label-rules"))
        return
    if directory is None:
        raise click.UsageError("expected DIR or --list")
    if (rule is not None) + clicks + bool(runs) > 1:
        raise click.UsageError("expected one of --rule, --clicks and --built-on, found several")
    if settings and rule is None:
        raise click.UsageError("--set needs --rule")
    if logs and not clicks:
        raise click.UsageError("--click-log needs --clicks")
    if runs and name is None:
        raise click.UsageError("--built-on needs the label set: expected --name too")
    if name and not (rule or clicks or runs):
        raise click.UsageError("--name needs --rule, --clicks or --built-on")
    from collection.campaign import Campaign

    with Campaign(directory) as campaign:
        if runs and name:
            campaign.machine_labels.declare_runs(name, runs)
        elif rule or clicks:
            _add_labels(campaign, rule, settings, logs, name, form)
            return
        print_label_sets(
            campaign.machine_labels.summaries(),
            form,
            {"kind": lambda s: s.kind},
            {"made": lambda s: s.made_at[:10], "runs built on it": lambda s: ", ".join(s.built_on)},
            without_any="The campaign has no label sets.",
        )


def _add_labels(
    campaign: Campaign, rule: str | None, settings: tuple[str, ...], logs: tuple[str, ...], name: str | None, form: str
) -> None:
    """Make or extend a label set, and print its size."""
    from collection.machine_labels.rules import LABEL_RULES
    from collection.pooling import read_parameters

    with progress_line("labelling"):
        if rule is not None:
            parameters = read_parameters(LABEL_RULES[rule], settings)
            found = campaign.machine_labels.label_by_rule(rule, parameters, name=name)
        else:
            found = campaign.machine_labels.label_by_clicks(logs or None, name=name or "clicks")
    made = found.label_set
    if form == "json":
        print_json(
            {"name": made.name, "kind": made.kind, "settings": dict(made.settings), "added": found.added,
             "without_grade": found.without_grade, "pairs": found.pairs}
        )  # fmt: skip
        return
    before = found.pairs - found.added
    more = f"; {before:,} {plural(before, 'was', 'were')} labelled before" if before else ""
    echo(f"Labelled {count(found.added, 'pair')} in the label set {made.name}{more}.")
    if found.without_grade:
        has = plural(found.without_grade, "has", "have")
        print_notices([f"{count(found.without_grade, 'pair')} {has} no label, because the rule could not tell"])


def print_label_sets(
    sets: Sequence[LabelSetSummary], form: str, before: Columns, after: Columns, *, without_any: str
) -> None:
    """Print label sets: their names, the columns `before` their counts, and those `after`; a hint if there are none."""
    if form == "json":
        print_json([asdict(each) for each in sets])
        return
    if not sets:
        echo(without_any)
        return
    counts: Columns = {"graded": lambda s: s.graded, "no grade": lambda s: s.no_grade, "failed": lambda s: s.failed}
    columns: Columns = {"label set": lambda s: s.name, **before, **counts, **after}
    print_table(list(columns), [[write(each) for write in columns.values()] for each in sets])
