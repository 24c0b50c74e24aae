"""`cleverdon review`: state of a literature review, and records known to be relevant."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.options import FILE, FORMAT, WRITTEN, open_campaign
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.characters import one_line
from collection.core.errors import InputError
from collection.core.phrases import count, cut, join_first, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collection.campaign import Campaign


@click.command()
@open_campaign
@click.option(
    "--settings", type=FILE, metavar="FILE", help="Set question, criteria, terms, screeners and reasons, as JSON."
)
@click.option(
    "--known",
    multiple=True,
    metavar="FILE|ID",
    help="Include records known to be relevant: a file of references, a DOI, PMID or title; repeatable.",
)
@click.option("--by", metavar="NAME", help="Screener who includes them; by default your login name.")
@click.option(
    "--decisions-by",
    metavar="NAME",
    help="Import the decisions of ASReview, Rayyan, Covidence or Cleverdon in the imported files; NAME is the screener "
    "where a file names none.",
)
@click.option(
    "--sources", is_flag=True, help="List the imported files, with their databases, numbers of records and duplicates."
)
@click.option("--pairs", is_flag=True, help="List pairs of possible duplicates without a decision.")
@click.option(
    "--prisma", type=WRITTEN, help="Write the PRISMA 2020 flow diagram (.svg, .png) or its numbers (.json, .csv)."
)
@click.option(
    "--since",
    metavar="DATE",
    help="Date or time (UTC) of the update of a review, for --prisma, --references, --methods and --log.",
)
@click.option("--studies", type=click.IntRange(min=0), help="Number of included studies in the diagram of --prisma.")
@click.option("--references", type=WRITTEN, help="Write records with their decisions (.ris, .bib, .csv, .xlsx).")
@click.option(
    "--decision",
    "decisions",
    multiple=True,
    metavar="D",
    help="Decision of the records in --references: include (default), maybe, exclude, conflict, unscreened or 'not "
    "retrieved'; repeatable.",
)
@click.option("--methods", is_flag=True, help="Print a text for the methods section, with citations.")
@click.option("--log", type=WRITTEN, help="Write a readable log of all decisions, for an appendix (.csv, .xlsx).")
@FORMAT
def review(
    campaign: Campaign,
    settings: Path | None,
    known: tuple[str, ...],
    by: str | None,
    decisions_by: str | None,
    sources: bool,
    pairs: bool,
    prisma: Path | None,
    since: str | None,
    studies: int | None,
    references: Path | None,
    decisions: tuple[str, ...],
    methods: bool,
    log: Path | None,
    form: str,
) -> None:
    """Show the steps and decisions of a literature review.

    Screening itself is done in the browser: cleverdon serve DIR.
    """
    from collection.campaign.settings.settings import read_review_file
    from collection.core.review import STAGES

    campaign.settings.require_review()
    if settings is not None:
        campaign.review.update(**read_review_file(settings))
    if decisions_by is not None:
        from collection.cli.import_files import print_report

        print_report(campaign.imports.import_decisions(decisions_by))
        return
    if sources or pairs:
        _list_records(campaign, sources=sources, pairs=pairs, form=form)
        return
    included = _include(campaign, known, by or getpass.getuser()) if known else None
    if included is not None and form != "json":
        echo(f"Included {count(included['included'], 'known record')}.")
    outputs = {"--prisma": prisma, "--references": references, "--log": log}
    if _report(campaign, outputs, decisions, methods=methods, since=since, studies=studies):
        return
    table, steps = campaign.review.decisions.table(), campaign.review.steps.table()
    numbers = {
        stage: {str(name): int(number) for name, number in group["decision"].value_counts().sort_index().items()}
        for stage in STAGES.values()
        if len(group := table[table["stage"] == stage])
    }
    if form == "json":
        state = {"title": campaign.title, "steps": [each._asdict() for each in steps], "decisions": numbers}
        print_json(state | ({} if included is None else {"known": included}))
        return
    echo(one_line(campaign.title))
    echo()
    print_table(["step", "done", "state"], [[each.name, "yes" if each.done else "no", each.sentence] for each in steps])
    if numbers:
        echo()
        rows = [[stage, name, number] for stage, decided in numbers.items() for name, number in decided.items()]
        print_table(["stage", "decision", "records"], rows)


def _report(
    campaign: Campaign,
    outputs: Mapping[str, Path | None],
    decisions: tuple[str, ...],
    *,
    methods: bool,
    since: str | None,
    studies: int | None,
) -> bool:
    """Write the requested files and print the methods text; return whether anything was requested."""
    report, files = campaign.review.report, {option: path for option, path in outputs.items() if path is not None}
    for option, given in (("--prisma", studies is not None), ("--references", bool(decisions))):
        if given and option not in files:
            raise InputError(f"{'--studies' if option == '--prisma' else '--decision'} needs {option} FILE")
    if since is not None and not (files or methods):
        raise InputError("--since needs --prisma FILE, --references FILE, --log FILE or --methods")
    for option, path in files.items():
        if option == "--prisma":
            counts = report.write_prisma(path, since=since, studies=studies)
            done = f"{count(counts.identified, 'record')} identified, {counts.included:,} included"
        elif option == "--references":
            done = count(report.write_references(path, decisions or ("include",), since=since), "record")
        else:
            done = count(report.write_log(path, since=since), "decision")
        echo(f"Wrote {path}: {done}.")
    if methods:
        echo(report.methods_text(since=since))
    return methods or bool(files)


def _list_records(campaign: Campaign, *, sources: bool, pairs: bool, form: str) -> None:
    """Print the sources, the pairs of possible duplicates without a decision, or both."""
    from collection.campaign.imports.records import describe_years

    files = campaign.records.sources().to_dict("records") if sources else []
    undecided = campaign.records.pairs().to_dict("records") if pairs else []
    titles = campaign.store.corpus.titles([each[name] for each in undecided for name in ("doc_a", "doc_b")])
    if form == "json":
        listed = [
            {name: each[name] for name in ("pair", "doc_a", "doc_b", "reason")}
            | {f"title_{place}": titles[each[f"doc_{place}"]] for place in "ab"}
            for each in undecided
        ]
        print_json(({"sources": files} if sources else {}) | ({"pairs": listed} if pairs else {}))
        return
    if sources:
        header = ["file", "database", "records", "duplicates", "no abstract", "no DOI", "years", "languages", "skipped"]
        print_table(header, [
            [
                one_line(each["name"]), one_line(each["database"]), each["read"], each["duplicates"],
                each["without_abstract"], each["without_doi"], describe_years(each["years"]),
                join_first([name for name in each["languages"] if name], 3), each["skipped"],
            ]
            for each in files
        ])  # fmt: skip
    if sources and pairs:
        echo()
    if pairs:
        rows = [
            [each["pair"], *(cut(one_line(titles[each[name]])) or each[name] for name in ("doc_a", "doc_b")),
             each["reason"]]
            for each in undecided
        ]  # fmt: skip
        print_table(["pair", "record", "other record", "match"], rows)


def _include(campaign: Campaign, known: tuple[str, ...], by: str) -> dict[str, int]:
    """Include the known records that are found; return the numbers of included and of missing records."""
    files = [Path(each) for each in known if Path(each).is_file()]
    with progress_line("comparing records"):
        found = campaign.review.find_known([each for each in known if not Path(each).is_file()], files)
    number = campaign.review.add_known([each.doc_id for each in found if each.doc_id], by)
    if missing := [each.entry for each in found if not each.doc_id]:
        are = plural(len(missing), "is", "are")
        print_notices([f"{count(len(missing), 'record')} {are} not in the review: {join_first(missing)}"])
    return {"included": number, "missing": len(missing)}
