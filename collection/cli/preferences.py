"""`cleverdon preferences`: evaluation by preferences; output of topic tasks for other commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import COUNT, FILE, FORMAT, runs_argument
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, join_first, percent

if TYPE_CHECKING:
    from collection.formats import Source
    from collection.preferences import PreferenceAgreement, PreferenceValues


HEADERS = {"query_id": "topic", "counted": "topics counted", "pairs": "pairs counted", "of": "pairs"}
"""Printed names of columns."""


@click.command()
@click.argument("source", metavar="DIR|FILE", type=FILE)
@runs_argument("[RUN...]")
@click.option("--depth", type=COUNT, metavar="K", help="Evaluate the first K ranks only.")
@click.option("--per-topic", is_flag=True, help="Show the values of every topic, not only means.")
@FORMAT
def preferences(source: Path, runs: tuple[Source, ...], depth: int | None, per_topic: bool, form: str) -> None:
    """Evaluate runs against preference judgements.

    Reads the preferences of the campaign DIR, or FILE (JSONL, CSV). Without RUN, evaluates the runs of the campaign.

    For example:
      cleverdon preferences DIR
      cleverdon preferences preferences.csv bm25.run
    """
    from collection import formats
    from collection.campaign import Campaign
    from collection.preferences import agreement, evaluate, latest_preferences

    if source.is_dir():
        with Campaign(source) as campaign, progress_line("evaluating preferences"):
            decisions = campaign.store.topic_tasks.preferences()
            values = None if runs else campaign.results.evaluation.by_preferences(depth=depth)
    else:
        decisions, values = latest_preferences(formats.read_preferences(source)), None
        if not runs:
            raise click.UsageError("expected at least one RUN after the file of preferences")
    if values is None:
        values = evaluate(formats.read_runs(runs), decisions, depth)
    _print_values(values, agreement(decisions), per_topic, form)


def _print_values(values: PreferenceValues, agreement: PreferenceAgreement, per_topic: bool, form: str) -> None:
    from collection.core.records import ALL_TOPICS
    from collection.preferences import PREFERENCE_MEASURES

    table = values.values[values.values["query_id"] != ALL_TOPICS] if per_topic else values.means()
    if form == "json":
        print_json({"depth": values.depth, "values": table, "undecided": values.undecided, "agreement": agreement})
        return
    rows = list(table.astype(object).itertuples(index=False, name=None))
    print_table([HEADERS.get(str(column), str(column)) for column in table.columns], rows, numbers=True)
    print_notices([f"{name}: {meaning}" for name, meaning in PREFERENCE_MEASURES.items()])
    print_notices(
        f"{run}: ppref and wpref are means over {used} of {count(topics, 'topic')}; in the others the run has neither "
        "document of any pair, which rpref counts as 0"
        for run, topics, used in values.means()[["run", "topics", "counted"]].itertuples(index=False)
        if used < topics
    )
    if values.undecided:
        left_out = f"left out {count(len(values.undecided), 'topic')} where all documents are tied"
        print_notices([f"{left_out}: {join_first(values.undecided)}"])
    print_notices(agreement_lines({**agreement._asdict(), "task": "preference"}))


def print_decisions(decisions: dict[str, Any]) -> None:
    """Print the progress of a campaign whose task is lists or preferences, from :meth:`.Overview.status`."""
    from collection.campaign.results.overview import waiting_topics

    goal = decisions["made"] + decisions["remaining"]
    what = "lists" if decisions["task"] == "list" else "to compare"
    several = f", {decisions['made']:,} of {count(goal, 'decision')} made" if goal > decisions["topics"] else ""
    echo(
        f"  {what:<15}{decisions['topics']:>7,}, {decisions['decided']:,} decided{several}, "
        f"{decisions['remaining']:,} left"
    )
    if waiting := waiting_topics(decisions["waiting"]):
        echo(f"  {waiting}")
    for line in agreement_lines({**(decisions["agreement"] or {}), "task": decisions["task"]}):
        echo(f"  {line}")
    if decisions["annotators"]:
        echo()
        print_table(["annotator", "topics decided"], [list(row.values()) for row in decisions["annotators"]])


def agreement_lines(agreement: dict[str, Any]) -> list[str]:
    """Write sentences on the agreement on choices or preferences; empty if no decision was made twice."""
    lines = []
    if agreement.get("comparisons"):
        same, times = percent(agreement["same"]), agreement["comparisons"]
        lines.append(
            f"agreement: same choice in {same} of {count(times, 'comparison')} of two annotators, "
            f"overlap {agreement['overlap']:.2f}"
            if agreement["task"] == "list"
            else f"agreement: same preference in {same} of {count(times, 'comparison')} of two annotators"
        )
    if agreement.get("triads"):
        lines.append(f"circular triads by majority: {percent(agreement['circular'], 1)} of {agreement['triads']:,}")
    return lines
