"""`cleverdon labels list | rule | clicks | vote | import | rename | declare | delete`: the label sets of a campaign."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.import_files import ACCEPT, import_files
from collection.cli.methods import Names
from collection.cli.options import COUNT, DIRECTORY, FORMAT, INPUT, open_campaign
from collection.cli.output import confirm, echo, print_json, print_notices, print_table, progress_line
from collection.core.errors import InputError
from collection.core.phrases import count, percent, plural

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.machine_labels.label_sets import LabelledPairs, LabelSetSummary
    from collection.campaign.machine_labels.llm.ask.batches import Batch
    from collection.campaign.machine_labels.llm.label_sets import LlmLabelSet

LABELS = click.argument("labels", metavar="LABELS")
"""The name of a label set."""


@click.command("list")
@open_campaign
@FORMAT
def list_(campaign: Campaign, form: str) -> None:
    """List the label sets with their labels and cost.

    Notes list the batches of language models in progress.
    """
    _print_label_sets(campaign, form)


def _print_label_sets(campaign: Campaign, form: str) -> None:
    models = {each.name: each for each in campaign.machine_labels.llm.label_sets.summaries()}
    sets = [models.get(each.name, each) for each in campaign.machine_labels.sets.summaries()]
    if form == "json":
        print_json([asdict(each) for each in sets])
    elif sets:
        rows = [_cells(each, models.get(each.name)) for each in sets]
        print_table(list(rows[0]), [list(row.values()) for row in rows], optional=OPTIONAL)
    else:
        echo("The campaign has no label sets.")
    print_notices(map(describe_batch, campaign.machine_labels.llm.batches.under_way()))


SAMPLES = "samples differ"

OPTIONAL = (
    "model", "template", SAMPLES, "prompt tokens", "reply tokens", "cost", "injected requests followed",
)  # fmt: skip
"""Columns that are empty for labels by rules, or for imported ones."""


def _cells(summary: LabelSetSummary, model: LlmLabelSet | None) -> dict[str, object]:
    """Header -> cell of a label set; `model` is the same set if a language model made it."""
    asked = model if model and model.endpoint else None  # labels that were imported have neither tokens nor a probe
    spread = summary.spread
    return {
        "label set": summary.name,
        "kind": summary.kind,
        "model": model.model if model else "",
        "template": model.template if model else "",
        "graded": summary.graded,
        "no grade": summary.no_grade,
        "failed": summary.failed,
        SAMPLES: f"{percent(spread.differing)} of {count(spread.pairs, 'pair')}" if spread else "",
        "prompt tokens": asked.prompt_tokens if asked else "",
        "reply tokens": asked.reply_tokens if asked else "",
        "cost": format_money(asked.cost) if asked else "",
        "injected requests followed": _describe_probe(asked) if asked else "",
        "made": summary.made_at[:10],
        "runs built on it": ", ".join(summary.built_on),
    }


def _describe_probe(summary: LlmLabelSet) -> str:
    if summary.probe is None:
        return "not probed"
    return f"{sum(summary.probe.followed.values())} of {sum(summary.probe.asked.values())}"


def format_money(amount: float) -> str:
    """Format an amount: cents from 1, two digits below."""
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.2g}"


def describe_batch(batch: Batch) -> str:
    """Describe a batch in progress, with the number of its requests and its label set."""
    of = f"{count(batch.requests, 'request')} for the label set {batch.name}, sent {batch.sent_at[:16]}"
    return f"a batch is in progress: {batch.id or 'not confirmed'}, {of}"


@click.command()
@open_campaign
@click.argument("rule_name", metavar="RULE", type=Names(family="label-rules"))
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Parameter of the rule; repeatable.")
@click.option("--name", metavar="NAME", help="Name of the label set; by default that of the rule.")
@FORMAT
def rule(campaign: Campaign, rule_name: str, settings: tuple[str, ...], name: str | None, form: str) -> None:
    """Label the pooled and the judged pairs by a rule.

    `cleverdon methods label-rules` lists the rules with their parameters. The same command labels pairs that are pooled
    later.

    For example:
      cleverdon labels rule DIR contains-query --set terms=any
    """
    from collection.machine_labels.rules import LABEL_RULES
    from collection.pooling import read_parameters

    with progress_line("labelling"):
        parameters = read_parameters(LABEL_RULES[rule_name], settings)
        labelled = campaign.machine_labels.sets.label_by_rule(rule_name, parameters, name=name)
    _print_labelled(labelled, form)


@click.command()
@open_campaign
@click.option("--click-log", "logs", multiple=True, metavar="NAME", help="Click log to use (default: all); repeatable.")
@click.option("--name", metavar="NAME", default="clicks", help="Name of the label set.")
@FORMAT
def clicks(campaign: Campaign, logs: tuple[str, ...], name: str, form: str) -> None:
    """Label the pairs of imported click logs by their attractiveness."""
    with progress_line("labelling"):
        labelled = campaign.machine_labels.sets.label_by_clicks(logs or None, name=name)
    _print_labelled(labelled, form)


def _print_labelled(labelled: LabelledPairs, form: str) -> None:
    """Print the size of a label set that was made or extended."""
    label_set = labelled.label_set
    if form == "json":
        print_json(
            {"name": label_set.name, "kind": label_set.kind, "settings": dict(label_set.settings),
             "added": labelled.added, "without_grade": labelled.without_grade, "pairs": labelled.pairs}
        )  # fmt: skip
        return
    before = labelled.pairs - labelled.added
    more = f"; {before:,} {plural(before, 'was', 'were')} labelled before" if before else ""
    echo(f"Labelled {count(labelled.added, 'pair')} in the label set {label_set.name}{more}.")
    if labelled.without_grade:
        has = plural(labelled.without_grade, "has", "have")
        print_notices([f"{count(labelled.without_grade, 'pair')} {has} no label, because the rule gave none"])


def _read_grades(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[float, float]:
    """Read ``GRADE=GRADE`` pairs, separated by commas."""
    from collection.formats import parse_grades

    try:
        return parse_grades(",".join(given))
    except InputError as error:
        raise click.BadParameter(str(error)) from None


@click.command("import")
@DIRECTORY
@click.argument("files", metavar="FILE...", type=INPUT, nargs=-1, required=True)
@click.option("--name", metavar="NAME", help="Name of the label set; by default that of the judge or of the file.")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Judge in the file (default: all); repeatable.")
@click.option(
    "--map",
    "grades",
    multiple=True,
    metavar="GRADE=GRADE",
    callback=_read_grades,
    help="Grade in the file and grade of the campaign, such as 4=3,5=3; repeatable.",
)
@ACCEPT
def import_(
    directory: Path,
    files: tuple[Path, ...],
    name: str | None,
    judges: tuple[str, ...],
    grades: dict[float, float],
    yes: bool,
) -> None:
    """Import labels of one judge or of several as label sets.

    FILE has qrels (TREC, BEIR, CSV, JSON, JSONL, Parquet). A column annotator, judge or model, or a column of grades
    for each judge, makes a label set for each judge; otherwise the label set gets the name of the file, or the name and
    settings in FILE.labels.json, if `cleverdon export` wrote it. Several labels of a pair are samples of the judge.

    For example:
      cleverdon labels import DIR umbrela.qrels --name gpt-4o
      cleverdon labels import DIR binary.qrels --name llama --map 1=2
    """  # fmt: skip
    from collection.campaign.imports.label_set_import import LabelChoices

    import_files(directory, yes=yes, machine_labels=files, label_choices=LabelChoices(name, judges, grades))


@click.command()
@open_campaign
@click.argument("rule_name", metavar="VOTE", type=Names(family="votes"))
@click.argument("labels", metavar="[LABELS]...", nargs=-1)
@click.option("--name", metavar="NAME", help="Name of the new label set; by default that of the vote.")
@click.option("--least", type=COUNT, metavar="N", help="Label sets that must label a pair; by default more than half.")
@FORMAT
def vote(
    campaign: Campaign, rule_name: str, labels: tuple[str, ...], name: str | None, least: int | None, form: str
) -> None:
    """Make a label set of the votes of others.

    VOTE is majority, median, mean or weighted (by each judge's kappa with people); `cleverdon methods votes` explains
    them. LABELS are the label sets that vote, by default all except votes. The same command labels pairs that get
    labels later.

    For example:
      cleverdon labels vote DIR majority gpt-4o llama qwen
    """
    labelled = campaign.machine_labels.judges.vote(rule_name, labels, name=name, least=least)
    _print_labelled(labelled, form)


@click.command()
@open_campaign
@LABELS
@click.argument("new_name", metavar="NEW_NAME")
def rename(campaign: Campaign, labels: str, new_name: str) -> None:
    """Rename a label set.

    Its labels, random sample and declared runs stay.
    """
    renamed = campaign.machine_labels.sets.rename(labels, new_name)
    echo(f"Renamed the label set {labels} to {renamed.name}.")


@click.command()
@open_campaign
@LABELS
@click.option("--yes", is_flag=True, help="Delete without asking.")
def delete(campaign: Campaign, labels: str, yes: bool) -> None:
    """Delete a label set with its labels.

    Its injection probe, random sample and declared runs are deleted, too. A label set in use stays: while a batch is in
    progress, annotators see its labels or judge its sample, or if a judgement was made after the annotator saw a label.
    """
    contents = campaign.machine_labels.sets.preview_deletion(labels)
    confirm(f"Delete the label set {labels} with {contents}?", yes, "the deletion")
    contents = campaign.machine_labels.sets.delete(labels)
    echo(f"Deleted the label set {labels} with {contents}.")


@click.command()
@open_campaign
@LABELS
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
def declare(campaign: Campaign, labels: str, runs: tuple[str, ...]) -> None:
    """Declare which runs are built on the model of a label set.

    Exports of its labels warn that they may favour these runs. Replaces an earlier declaration.
    """
    campaign.machine_labels.sets.declare_runs(labels, runs)
    _print_label_sets(campaign, "table")
