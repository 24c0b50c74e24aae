"""`cleverdon preferences`: rankings evaluated by preferences; options and output of topic tasks for other commands."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import COUNT, FILE, FORMAT, WRITTEN, combine_options, runs_argument
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.phrases import count

if TYPE_CHECKING:
    from collection.preferences import PreferenceAgreement, PreferenceValues


DECISIONS = ("sparse_qrels", "choices", "preferences", "preference_qrels")
"""Options of `cleverdon export` for files of choices and preferences."""


DECISION_OPTIONS = combine_options(
    click.option("--sparse-qrels", type=WRITTEN, help="What was chosen from lists, in TREC form; nothing else."),
    click.option("--choices", type=WRITTEN, help="The whole log of choices, FILE.jsonl: lists as they were shown."),
    click.option("--choice-rule", default="majority", metavar="majority|any|all",
                 help="What is relevant where several annotators chose."),
    click.option("--preferences", type=WRITTEN, help="The whole log of preferences, FILE.jsonl or FILE.csv."),
    click.option("--preference-qrels", type=WRITTEN, help="Grades made of preferences, in TREC form."),
)  # fmt: skip
"""The options of `cleverdon export` for choices and preferences."""


@click.command()
@click.argument("source", metavar="DIR|FILE", type=FILE)
@runs_argument("[RUN...]")
@click.option("--depth", type=COUNT, metavar="K", help="Look at the first K ranks of each topic only.")
@click.option("--per-topic", is_flag=True, help="The values of every topic, not only the means.")
@FORMAT
def preferences(source: Path, runs: tuple[Path, ...], depth: int | None, per_topic: bool, form: str) -> None:
    """The share of pairs that rankings order as people did: of the campaign in DIR, or of the preferences in FILE.

    Without RUN, the runs of the campaign.
    """
    from collection import formats
    from collection.campaign import Campaign
    from collection.preferences import agreement, evaluate, latest_preferences

    if source.is_dir():
        with Campaign(source) as campaign, progress_line("evaluating preferences"):
            found = campaign.topic_tasks.preferences()
            values = None if runs else campaign.evaluation.by_preferences(depth=depth)
    else:
        if not runs:
            raise click.UsageError("a file of preferences has no runs: name them after it")
        found, values = latest_preferences(formats.read_preferences(source)), None
    if values is None:
        values = evaluate(formats.read_runs(runs), found, depth)
    _print_values(values, agreement(found), per_topic, form)


def _print_values(values: PreferenceValues, agreement: PreferenceAgreement, per_topic: bool, form: str) -> None:
    from collection.preferences import PREFERENCE_MEASURES
    from collection.records import ALL_TOPICS

    table = values.values[values.values["query_id"] != ALL_TOPICS] if per_topic else values.means()
    if form == "json":
        print_json({"depth": values.depth, "values": table, "undecided": values.undecided, "agreement": agreement})
        return
    rows = [
        [("-" if isnan(cell) else f"{cell:.4f}") if isinstance(cell, float) else cell for cell in row]
        for row in table.astype(object).itertuples(index=False, name=None)
    ]
    print_table([str(column) for column in table.columns], rows, numbers=True)
    print_notices([f"{name}: {meaning}" for name, meaning in PREFERENCE_MEASURES.items()])
    print_notices(
        f"{run}: ppref and wpref are means over {used} of {topics} topics; in the others the ranking has neither "
        "document of any pair, which rpref counts as 0"
        for run, topics, used in values.means()[["run", "topics", "counted"]].itertuples(index=False)
        if used < topics
    )
    if values.undecided:
        topics, more = ", ".join(values.undecided[:5]), ", ..." if len(values.undecided) > 5 else ""
        left_out = f"{count(len(values.undecided), 'topic')}, left out: {topics}{more}"
        print_notices([f"no document is better than another in {left_out}"])
    print_notices(agreement_lines({**agreement._asdict(), "task": "preference"}))


def print_decisions(decisions: dict[str, Any]) -> None:
    """Print the progress of a campaign whose task is lists or preferences, from :meth:`.Overview.status`."""
    from collection.campaign.overview import waiting_topics

    goal = decisions["made"] + decisions["remaining"]
    what = "lists" if decisions["task"] == "list" else "topics compared"
    several = f", {decisions['made']:,} of {goal:,} decisions made" if goal > decisions["topics"] else ""
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
        print_table(["annotator", "topics"], [list(row.values()) for row in decisions["annotators"]])


def agreement_lines(found: dict[str, Any]) -> list[str]:
    """Sentences on the agreement on choices or preferences; empty where no decision was made twice."""
    lines = []
    if found.get("comparisons"):
        times, same = f"of {found['comparisons']:,} times that two annotators", f"{found['same']:.0%}"
        lines.append(
            f"{times} chose from the same topic's list, {same} chose the same documents; overlap {found['overlap']:.2f}"
            if found["task"] == "list"
            else f"{times} compared the same documents, {same} said the same"
        )
    if found.get("triads"):
        lines.append(f"of {found['triads']:,} triads of documents {found['circular']:.1%} are circular by majority")
    return lines
