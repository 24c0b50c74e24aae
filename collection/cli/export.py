"""`cleverdon export`: files out of a campaign, one by one or as a collection that others load."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from collection import layout
from collection.cli import preferences, training_data
from collection.cli.options import DIRECTORY, WRITTEN, combine_options
from collection.cli.output import echo, print_notices, progress_line
from collection.phrases import count

ABOUT = ("description", "licence", "citation", "url")
"""Texts of the card that the manager writes."""


COLLECTION_OPTIONS = combine_options(
    click.option("--collection", type=WRITTEN, metavar="OUT",
                 help="A directory with everything: BEIR's layout, TREC files, load.py for ir_datasets, the card."),
    click.option("--name", help="Of the collection: what ir_datasets calls it; made of the title if left out."),
    click.option("--corpus", type=click.Choice(["all", "judged", "none"]), default="all",
                 help="Of the collection: which documents are in it."),
    click.option("--query-text", type=click.Choice(["title", "description", "title-description"]), default="title",
                 help="Of the collection: what the text of its queries is."),
    click.option("--with-runs", is_flag=True, help="Of the collection: the imported runs, too."),
    click.option("--name-annotators", is_flag=True,
                 help="Of the collection: annotators by their names, not as a1, a2 ..."),
    click.option("--replace", is_flag=True, help="Of the collection: take the place of one that is there."),
    click.option("--description", help="Of the collection, for its card; kept in the campaign, as are the next."),
    click.option("--licence", help="Under which it is handed on."),
    click.option("--citation", help="How it is to be cited."),
    click.option("--url", help="Where it is to be found."),
)  # fmt: skip
"""The options of `cleverdon export` for a whole collection."""


@click.command()
@DIRECTORY
@click.option("--qrels", type=WRITTEN, help="Settled grades in TREC form.")
@click.option("--unjudged", is_flag=True, help="Of the qrels: pairs of the pool without a grade, too, as -1.")
@click.option(
    "--include-unjudged-topics",
    is_flag=True,
    help="With --unjudged or --qrels-form: topics without a grade, too. every system has 0 there.",
)
@click.option(
    "--qrels-form",
    type=click.Choice(["judged", "strata", "probabilities"]),
    default="judged",
    help="Of the qrels of a sampled pool: with each pair's stratum, or its probability of being drawn.",
)
@click.option("--judgements", type=WRITTEN, help="The whole log, FILE.jsonl, FILE.csv or FILE.parquet.")
@click.option("--labels", type=WRITTEN, help="Every annotator's current grades, FILE.csv or FILE.tsv.")
@click.option("--passages", type=WRITTEN, help="What annotators marked, FILE.jsonl: a line for each passage.")
@click.option("--pool", type=WRITTEN, help="The pool as TSV.")
@click.option("--missing-documents", type=WRITTEN, help="Ids in the pool whose text is not here, one a line.")
@preferences.DECISION_OPTIONS
@training_data.TRAINING_OPTIONS
@click.option("--rule", help="How several grades become one; `cleverdon rules` lists the ways.")
@click.option("--ties", help="Of the rule: what becomes of grades given equally often (lower, higher, adjudicate).")
@click.option("--annotator", metavar="A", help="Of the rule annotator: whose grades are wanted.")
@COLLECTION_OPTIONS
def export(
    directory: Path,
    rule: str | None,
    ties: str | None,
    annotator: str | None,
    unjudged: bool,
    include_unjudged_topics: bool,
    qrels_form: Any,
    collection: Path | None,
    **options: Any,
) -> None:
    """Write qrels, logs, the pool, or a whole collection with its card."""
    from collection.adjudication import ADJUDICATION_RULES, parse_rule
    from collection.campaign import Campaign

    plain = {name: options[name] for name in ("qrels", "judgements", "labels", "passages", "pool", "missing_documents")}
    decided, about = (
        {name: options[name] for name in names if options[name] is not None} for names in (preferences.DECISIONS, ABOUT)
    )
    if not (
        any(plain.values()) or decided or about or collection or any(options[name] for name in training_data.FILES)
    ):
        raise click.UsageError("nothing to export: give --qrels, --judgements, --pool, --collection or another file")
    _require_different(path for path in (*options.values(), collection) if isinstance(path, Path))
    chosen = parse_rule(rule, ties=ties, annotator=annotator)
    qrels: Path | None = plain["qrels"]
    with Campaign(directory) as campaign, progress_line("exporting") as progress:
        written = campaign.export.files(
            **plain,
            rule=chosen,
            qrels_form=qrels_form,
            unjudged=unjudged,
            include_unjudged_topics=include_unjudged_topics,
        )
        left_out = []
        if qrels is not None and (unjudged or qrels_form == "strata") and not include_unjudged_topics:
            left_out = campaign.qrels.unjudged_topics(qrels_form, rule=chosen)
        if decided:
            written |= campaign.export.decisions(**decided, choice_rule=options["choice_rule"])
        training = training_data.write(campaign, options, chosen)
        written |= training.files
        if about:
            campaign.settings.set_collection(**about)
        if collection:
            wanted = ("name", "corpus", "query_text", "with_runs", "name_annotators", "replace")
            report = campaign.collection_export.write(
                collection, rule=chosen, progress=progress, **{name: options[name] for name in wanted}
            )
        estimated = (qrels or collection) and ADJUDICATION_RULES[chosen.name].estimates
        caution = campaign.qrels.with_sources(chosen).caution if estimated else ""
    for path, rows in written.items():
        echo(f"{path}: {count(rows, 'line')}")
    if collection:
        size = sum(file.bytes for file in report.files)
        echo(f"{collection}: the collection {report.facts['name']}, {len(report.files)} files, {size:,} bytes")
        if not report.facts["licence"]:
            print_notices(["its card states no licence: say it with --licence"])
    if qrels is not None and not written[str(qrels)]:
        print_notices([f"{qrels} is empty: by this rule no pair of the campaign has a grade"])
    if left_out:
        topics = count(len(left_out), "topic")
        print_notices([f"{qrels}: {topics} without a grade left out; --include-unjudged-topics adds them"])
    if caution:
        print_notices([caution])
    print_notices(training.notices)


def _require_different(paths: Iterable[Path]) -> None:
    """Refuse two outputs in one file: the second would replace the first."""
    seen = set[Path]()
    for path in paths:
        target = layout.resolved(path)
        if target in seen and (path.is_file() or not path.exists()):
            raise click.UsageError(f"{path} is named for two outputs, and the second would replace the first")
        seen.add(target)
