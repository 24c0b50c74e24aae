"""`cleverdon labels list | rule | clicks | import | declare | delete`: the label sets of a campaign."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.import_files import ACCEPT, import_files
from collection.cli.methods import Names
from collection.cli.options import DIRECTORY, FORMAT, INPUT, open_campaign
from collection.cli.output import confirm, echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, plural

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
        print_table(list(rows[0]), [list(row.values()) for row in rows], optional=[] if models else LLM_COLUMNS)
    else:
        echo("The campaign has no label sets.")
    print_notices(map(describe_batch, campaign.machine_labels.llm.batches.under_way()))


LLM_COLUMNS = ("model", "template", "prompt tokens", "reply tokens", "cost", "injected requests followed")
"""Columns of label sets by language models."""


def _cells(summary: LabelSetSummary, model: LlmLabelSet | None) -> dict[str, object]:
    """Header -> cell of a label set; `model` is the same set if a language model made it."""
    return {
        "label set": summary.name,
        "kind": summary.kind,
        "model": model.model if model else "",
        "template": model.template if model else "",
        "graded": summary.graded,
        "no grade": summary.no_grade,
        "failed": summary.failed,
        "prompt tokens": model.prompt_tokens if model else "",
        "reply tokens": model.reply_tokens if model else "",
        "cost": format_money(model.cost) if model else "",
        "injected requests followed": _describe_probe(model) if model else "",
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


@click.command("import")
@DIRECTORY
@click.argument("file", type=INPUT)
@ACCEPT
def import_(directory: Path, file: Path, yes: bool) -> None:
    """Import grades by a language model as a label set.

    FILE has qrels (TREC, BEIR, CSV, JSON, JSONL, Parquet). The label set gets the name of the file, or the name and
    settings in FILE.labels.json, if `cleverdon export` wrote it.
    """
    import_files(directory, yes=yes, machine_labels=file)


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
