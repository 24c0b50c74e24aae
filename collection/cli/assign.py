"""`cleverdon assign`: assignment of topics, overlap, calibration and guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import COUNT, DIRECTORY, FILE, FORMAT
from collection.cli.output import echo, print_json, print_notices, print_table

if TYPE_CHECKING:
    from collection.campaign import Campaign


@click.command()
@DIRECTORY
@click.option("--annotators", type=COUNT, metavar="K", help="How many judge each pair; of all, or of:")
@click.option("--share", type=float, metavar="S", help="... a share of the pairs from 0 to 1, chosen at random.")
@click.option("--number", type=int, metavar="N", help="... N pairs of each topic's pool, chosen at random.")
@click.option(
    "--whole-topic", "whole", multiple=True, metavar="Q", help="... all pairs of this topic; may be repeated."
)
@click.option("--all-pairs", is_flag=True, help="... all pairs (as in the beginning).")
@click.option("--topic", "topics", multiple=True, metavar="Q", help="Which topics are assigned, all if left out.")
@click.option("--to", "people", multiple=True, metavar="NAME", help="Assign them to this account; may be repeated.")
@click.option("--to-group", "groups", multiple=True, metavar="G", help="Assign them to this group; may be repeated.")
@click.option("--to-everybody", is_flag=True, help="Open them to everybody (as in the beginning).")
@click.option("--deal-to", "deal", multiple=True, metavar="NAME", help="Deal them out evenly among these; repeated.")
@click.option("--per-topic", type=COUNT, help="With --deal-to: people a topic; as many as --annotators if left out.")
@click.option(
    "--calibration",
    metavar="FILE|N",
    help="Pairs that everybody judges first: lines `query_id doc_id`, or N of each topic's pool at random; 0: none.",
)
@click.option("--feedback/--no-feedback", default=None, help="Show the settled grade after a pair of these.")
@click.option("--lease", type=float, metavar="MIN", help="Minutes that a pair is reserved for who has it in hand.")
@click.option("--blind/--unblind", default=None, help="Whether annotators see others' judgements, runs and ranks.")
@click.option("--guidelines", type=FILE, help="A Markdown file: how to judge; the card shows it.")
@click.option("--note", metavar="TEXT", help="With --topic: a note that the card shows beside the topic.")
@FORMAT
def assign(
    directory: Path,
    share: float | None,
    number: int | None,
    whole: tuple[str, ...],
    all_pairs: bool,
    topics: tuple[str, ...],
    people: tuple[str, ...],
    groups: tuple[str, ...],
    to_everybody: bool,
    deal: tuple[str, ...],
    per_topic: int | None,
    calibration: str | None,
    guidelines: Path | None,
    note: str | None,
    form: str,
    **others: Any,
) -> None:
    """Show who judges what in DIR, or change it."""
    from collection import formats
    from collection.campaign import Campaign

    chosen = {"share": share is not None, "number": number is not None, "topics": bool(whole), "all": all_pairs}
    if sum(chosen.values()) > 1:
        raise click.UsageError("give one of --share, --number, --whole-topic, --all-pairs")
    if bool(people or groups) + to_everybody + bool(deal) > 1:
        raise click.UsageError("give one of --to (and --to-group), --to-everybody, --deal-to")
    if topics and not (people or groups or to_everybody or deal or note is not None):
        raise click.UsageError("what of these topics? give --to, --to-group, --to-everybody, --deal-to or --note")
    if note is not None and not topics:
        raise click.UsageError("--note is of a --topic")
    which = next((which for which, given in chosen.items() if given), None)
    changes = others | {"share": share, "number": number, "topics": whole or None, "which": which}
    changes = {name: value for name, value in changes.items() if value is not None}
    # Read before anything is written: a file that is not there leaves the campaign as it was.
    text = None
    if guidelines is not None:
        text = "\n".join(line for _, line in formats.source.lines(guidelines, "guidelines in Markdown"))
    with Campaign(directory) as campaign, campaign.transaction():
        pairs = None if calibration is None else _pairs(campaign, calibration)
        if changes:
            campaign.assignments.update(**changes)
        if pairs is not None:
            campaign.calibration.set_pairs(pairs)
        of = list(topics) or campaign.corpus.topics()["query_id"].tolist()
        if people or groups or to_everybody:
            campaign.assignments.assign(of, people, groups)
        for query_id, names in _deal(campaign, deal, per_topic, of).items():
            campaign.assignments.assign([query_id], names)
        if text is not None:
            campaign.settings.set_guidelines(text)
        for query_id in topics if note is not None else ():
            campaign.settings.set_topic_note(query_id, note or "")
    with Campaign(directory) as campaign:
        _show(campaign, form)


def _deal(campaign: Campaign, people: Sequence[str], per_topic: int | None, of: list[str]) -> dict[str, list[str]]:
    """The people of each topic: by default as many as judge each pair, if there are as many."""
    if not people:
        return {}
    usual = min(campaign.settings.assignment().annotators, len(set(people)))
    return campaign.assignments.deal(people, per_topic or usual, of)


def _pairs(campaign: Campaign, calibration: str) -> list[tuple[str, str]]:
    """So many random pairs of each topic, or the pairs of a file."""
    from collection import formats
    from collection.errors import FormatError

    if calibration.isdecimal():
        return campaign.calibration.draw(int(calibration)) if int(calibration) else []
    pairs: list[tuple[str, str]] = []
    for number, line in formats.source.lines(calibration, "lines of query_id and doc_id"):
        fields = line.split()
        if fields and not line.startswith("#"):
            if len(fields) != 2:
                raise FormatError(calibration, number, "query_id and doc_id", line.strip()[:60])
            pairs.append((fields[0], fields[1]))
    return pairs


def _show(campaign: Campaign, form: str) -> None:
    settings, work = campaign.settings.assignment(), campaign.assignments.workload()
    table, calibrated = campaign.assignments.table(), campaign.calibration.results()
    topics = table.astype(object).where(table.notna(), None).to_dict("records")
    size = len(campaign.calibration.pairs())
    if form == "json":
        notices, calibration = campaign.assignments.notices(), {"pairs": size, "annotators": calibrated}
        print_json(
            {"settings": settings, "workload": work, "topics": topics, "notices": notices, "calibration": calibration}
        )
        return
    several = "one annotator judges each pair"
    if settings.annotators > 1:
        which = {
            "all": "all pairs",
            "share": f"{settings.share:.0%} of the pairs",
            "number": f"{settings.number:,} pairs of each topic",
            "topics": f"the pairs of {', '.join(settings.topics) or 'no topic'}",
        }[settings.which]
        others = "" if settings.which == "all" else ", one judges each of the others"
        several = f"{settings.annotators} annotators judge each of {which}{others}"
    echo(f"{several}: {work.pairs:,} pairs of the pool, {work.judgements:,} judgements, {work.made:,} made")
    echo(f"a pair is reserved for {settings.lease:g} minutes; judging is {'blind' if settings.blind else 'not blind'}")
    if size:
        feedback = "; the settled grade is shown after each" if settings.feedback else ""
        echo(f"everybody judges {size:,} pairs first, beyond these{feedback}")
    guidelines, notes = len(campaign.settings.guidelines()), len(campaign.settings.topic_notes())
    if guidelines or notes:
        echo(f"guidelines of {guidelines:,} characters, notes for {notes:,} topics")
    print_notices(campaign.assignments.notices())
    if len(table):
        echo()
        rows = [
            [
                row["query_id"],
                ", ".join([*row["accounts"], *(f"group {g}" for g in row["groups"])]) or "everybody",
                row["pool"],
                *("-" if row[name] is None else row[name] for name in ("wanted", "made")),
                row["title"][:60],
            ]
            for row in topics
        ]
        print_table(["topic", "who", "pairs", "judgements", "made", "title"], rows)
    if size and len(calibrated):
        echo()
        rows = [
            [row["annotator"], f"{row['judged']} of {row['of']}", "-" if isnan(row["agree"]) else f"{row['agree']:.0%}"]
            for row in calibrated.to_dict("records")
        ]
        print_table(["annotator", "calibration", "as settled"], rows)
        if not campaign.calibration.pairs()["settled"].notna().any():
            print_notices(["no pair of the calibration set is settled yet: adjudicate them, or import qrels"])
