"""`cleverdon assign`: assignment of topics, overlap, qualification set and guidelines."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import COUNT, FILE, FORMAT, SectionedCommand, open_campaign, option_section
from collection.cli.output import echo, print_json, print_notices, print_table
from collection.core.answer_tasks import describe_id
from collection.core.phrases import count, cut, percent, plural

if TYPE_CHECKING:
    from collection.campaign import Campaign


_overlap, _topics = option_section("Overlap"), option_section("Topics")
_qualification, _page = option_section("Qualification set"), option_section("Judging page")


@click.command(cls=SectionedCommand)
@open_campaign
@_overlap("--annotators", type=COUNT, metavar="K", help="Annotators per overlap pair; other pairs have one.")
@_overlap("--share", type=float, metavar="S", help="Overlap: a random share of the pairs, from 0 to 1.")
@_overlap("--number", type=int, metavar="N", help="Overlap: N random pairs of each topic's pool.")
@_overlap("--whole-topic", "whole", multiple=True, metavar="Q", help="Overlap: all pairs of this topic; repeatable.")
@_overlap("--all-pairs", is_flag=True, help="Overlap: all pairs (the initial setting).")
@_topics("--topic", "topics", multiple=True, metavar="Q", help="Topic to assign; repeatable; by default all.")
@_topics("--to", "people", multiple=True, metavar="NAME", help="Assign to this account; repeatable.")
@_topics("--to-group", "groups", multiple=True, metavar="G", help="Assign to this group; repeatable.")
@_topics("--to-everyone", is_flag=True, help="Assign to everyone (the initial setting).")
@_topics("--deal-to", "deal", multiple=True, metavar="NAME", help="Distribute evenly among these accounts; repeatable.")
@_topics("--per-topic", type=COUNT, help="Accounts per topic with --deal-to; by default as many as --annotators.")
@_topics("--note", metavar="TEXT", help="Note on each --topic, shown on the judging page.")
@_qualification(
    "--qualification",
    metavar="FILE|N",
    help="Pairs that everyone judges first: a file of `query_id doc_id`, or N random pairs per topic (0 = none).",
)
@_qualification("--feedback/--no-feedback", default=None, help="Show the adjudicated grade after each of these pairs.")
@_page("--lease", type=float, metavar="MIN", help="Minutes for which a pair on screen is reserved.")
@_page(
    "--reservations", "reserved", is_flag=True, help="List what annotators have on screen, loaded, or in work lists."
)
@_page(
    "--release", "released", multiple=True, metavar="NAME", help="End the reservations of this annotator; repeatable."
)
@_page("--release-all", is_flag=True, help="End all reservations; with --topic, those of these topics.")
@_page("--blind/--unblind", default=None, help="Hide others' judgements, runs and ranks from annotators.")
@_page("--guidelines", type=FILE, help="Judging guidelines, a Markdown file.")
@FORMAT
def assign(campaign: Campaign, topics: tuple[str, ...], form: str, **options: Any) -> None:
    """Show or change who judges which pairs.

    Without options, shows the overlap, the work of each topic, and the results of the qualification set.

    For example:
      cleverdon assign DIR --annotators 2 --share 0.1
      cleverdon assign DIR --deal-to ann --deal-to bob
      cleverdon assign DIR --reservations
    """
    from collection import formats

    _check_usage(topics, options)
    # Read before anything is written: a missing file leaves the campaign unchanged.
    text, note = None, options["note"]
    if options["guidelines"] is not None:
        text = "\n".join(line for _, line in formats.source.lines(options["guidelines"], "guidelines in Markdown"))
    with campaign.transaction():
        pairs = None if options["qualification"] is None else _pairs(campaign, options["qualification"])
        if changes := _settings(options):
            campaign.people.assignments.update(**changes)
        if pairs is not None:
            campaign.people.qualification_set.set_pairs(pairs)
        _assign_topics(campaign, list(topics) or campaign.store.corpus.topics()["query_id"].tolist(), options)
        if text is not None:
            campaign.settings.set_guidelines(text)
        for query_id in topics if note is not None else ():
            campaign.settings.set_topic_note(query_id, note)
        ended = None
        if names := [None] if options["release_all"] else options["released"]:
            ended = sum(campaign.people.assignments.release(name, list(topics) or None) for name in names)
    if options["reserved"] or ended is not None:
        _show_reservations(campaign, form, ended)
    else:
        _show(campaign, form)


def _overlaps(options: Mapping[str, Any]) -> list[str]:
    """Return the kinds of overlap that the options choose, as :attr:`.AssignmentSettings.which` names them."""
    share, number = (options[name] is not None for name in ("share", "number"))
    chosen = {"share": share, "number": number, "topics": options["whole"], "all": options["all_pairs"]}
    return [which for which, is_chosen in chosen.items() if is_chosen]


def _check_usage(topics: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other."""
    releases, note = options["released"] or options["release_all"], options["note"]
    ways = bool(options["people"] or options["groups"]) + options["to_everyone"] + bool(options["deal"])
    if len(_overlaps(options)) > 1:
        raise click.UsageError("expected only one of --share, --number, --whole-topic and --all-pairs")
    if ways > 1:
        raise click.UsageError("expected only one of --to (with --to-group), --to-everyone and --deal-to")
    if options["released"] and options["release_all"]:
        raise click.UsageError("expected only one of --release and --release-all")
    if topics and not (ways or note is not None or releases):
        raise click.UsageError(
            "--topic needs --to, --to-group, --to-everyone, --deal-to, --note, --release or --release-all"
        )
    if note is not None and not topics:
        raise click.UsageError("--note needs --topic")


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of assignment that the options change."""
    given = {name: options[name] for name in ("annotators", "share", "number", "feedback", "lease", "blind")}
    given |= {"topics": options["whole"] or None, "which": next(iter(_overlaps(options)), None)}
    return {name: value for name, value in given.items() if value is not None}


def _assign_topics(campaign: Campaign, topics: list[str], options: Mapping[str, Any]) -> None:
    """Assign topics to accounts and groups, to everyone, or evenly: by default to as many as judge each pair."""
    if options["people"] or options["groups"] or options["to_everyone"]:
        campaign.people.assignments.assign(topics, options["people"], options["groups"])
    if people := options["deal"]:
        usual = min(campaign.settings.assignment().annotators, len(set(people)))
        for query_id, names in campaign.people.assignments.deal(people, options["per_topic"] or usual, topics).items():
            campaign.people.assignments.assign([query_id], names)


def _show_reservations(campaign: Campaign, form: str, ended: int | None) -> None:
    table = campaign.people.assignments.reservations()
    rows = table.astype(object).where(table.notna(), None)
    if form == "json":
        print_json({"released": ended or 0, "reservations": rows.to_dict("records")})
        return
    if ended is not None:
        echo(f"Released {count(ended, 'reservation')}.")
    if not len(rows):
        echo("Nothing is reserved.")
        return
    places = {"screen": "on screen", "ahead": "loaded", "work list": "work list"}
    rows["place"], rows["doc_id"] = rows["place"].map(places), rows["doc_id"].fillna("whole topic")
    columns = ["annotator", "query_id", "doc_id", "place", "minutes"]
    print_table(["annotator", "topic", "document", "where", "ends in (minutes)"], rows[columns].values.tolist())


def _pairs(campaign: Campaign, source: str) -> list[tuple[str, str]]:
    """Draw random pairs of each topic, or read the pairs of a file."""
    from collection import formats
    from collection.core.errors import FormatError

    if source.isdecimal():
        return campaign.people.qualification_set.draw(int(source)) if int(source) else []
    pairs: list[tuple[str, str]] = []
    for number, line in formats.source.lines(source, "lines of query_id and doc_id"):
        fields = line.split()
        if fields and not line.startswith("#"):
            if len(fields) != 2:
                raise FormatError(source, number, "query_id and doc_id", line.strip()[:60])
            pairs.append((fields[0], fields[1]))
    return pairs


def _show(campaign: Campaign, form: str) -> None:
    settings, work = campaign.settings.assignment(), campaign.people.assignments.workload()
    table, results = campaign.people.assignments.table(), campaign.people.qualification_set.results()
    topics = table.astype(object).where(table.notna(), None).to_dict("records")
    size, length = len(campaign.store.assignments.qualification_set()), len(campaign.settings.guidelines())
    if form == "json":
        notices, qualification = campaign.people.assignments.notices(), {"pairs": size, "annotators": results}
        shown = {"settings": settings, "workload": work, "topics": topics, "notices": notices}
        print_json(shown | {"qualification": qualification})
        return
    looping, progress = (
        int(table["wanted"].isna().sum()),
        f"{work.made:,} of {count(work.judgements, 'judgement')} made",
    )
    if looping:
        total = count(campaign.store.judgements.counts()["judgements"], "judgement")
        outside = "" if looping == len(table) else f"{progress} outside the loop; "
        without = f"{count(looping, 'topic is', 'topics are')} in the loop, without a fixed number"
        progress = f"{outside}{total} in total; {without}"
    several = "1 annotator per pair"
    if settings.annotators > 1:
        which = {
            "all": "all pairs",
            "share": f"{percent(settings.share)} of the pairs",
            "number": f"{count(settings.number, 'pair')} of each topic",
            "topics": f"the pairs of {count(len(settings.topics), 'topic')} ({', '.join(settings.topics) or 'none'})",
        }[settings.which]
        others = "" if settings.which == "all" else ", 1 for the others"
        several = f"{settings.annotators} annotators for {which}{others}"
    print_table(
        ["setting", "value"],
        [
            ["overlap", several],
            ["work", f"{count(work.pairs, 'pooled pair')}; {progress}"],
            ["reservation of a pair on screen", f"{settings.lease:g} {plural(settings.lease, 'minute')}"],
            ["others' judgements, runs and ranks", "hidden" if settings.blind else "shown"],
            [
                "qualification set",
                count(size, "pair") + (", with feedback" if settings.feedback else "") if size else "none",
            ],
            ["guidelines", count(length, "character") if length else "none"],
            ["topic notes", str(len(campaign.store.corpus.topic_notes()) or "none")],
        ],
    )
    words = campaign.settings.vocabulary
    print_notices(map(words.apply, campaign.people.assignments.notices()))
    if len(table):
        echo()
        log = campaign.store.judgements.table()
        in_loop = log.loc[log["counts_as"] == "judgement", "query_id"].value_counts()
        rows = [
            [
                row["query_id"],
                ", ".join([*row["accounts"], *(f"group {g}" for g in row["groups"])]) or "everyone",
                row["pool"],
                row["wanted"],
                in_loop.get(row["query_id"], 0) if row["made"] is None else row["made"],
                cut(row["title"]),
            ]
            for row in topics
        ]
        header = ["topic", "assigned to", "pairs in pool", "judgements needed", "judgements made", "title"]
        print_table([words.apply(name) for name in header], rows)
        if explained := describe_id(topics[0]["query_id"]) if campaign.settings.task() else "":
            echo(f"{explained}.")
    if size and len(results):
        echo()
        rows = [
            [row["annotator"], f"{row['judged']} of {row['of']}", "-" if isnan(row["agree"]) else percent(row["agree"])]
            for row in results.to_dict("records")
        ]
        print_table(["annotator", "qualification pairs judged", "agreement with adjudicated grades"], rows)
        if not campaign.store.assignments.qualification_set()["settled"].notna().any():
            print_notices(["no qualification pair has an adjudicated grade yet: adjudicate them, or import qrels"])
