"""`cleverdon export`: single files of a campaign, training data, or a whole collection that other tools load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from collection.cli.methods import Names
from collection.cli.options import COUNT, WRITTEN, SectionedCommand, combine_options, open_campaign, option_section
from collection.cli.output import echo, print_notices, progress_line
from collection.core import layout
from collection.core.phrases import count

if TYPE_CHECKING:
    from collection.adjudication import ChosenRule
    from collection.campaign import Campaign
    from collection.campaign.exports.collection_export import CollectionReport
    from collection.campaign.exports.training_data import TrainingFile

ABOUT = ("description", "licence", "citation", "url")
"""Texts of the card that the manager writes."""

EMPTY = {
    "qrels": "no pair has a grade by this adjudication rule",
    "judgements": "nothing is judged yet",
    "labels": "no annotator has graded a pair yet",
    "passages": "no passage is marked in the current judgements",
    "pool": "the pool has no pairs yet",
    "machine_labels": "the label set has no labels with a grade",
    "worklist": "no pairs are left for this annotator",
    "missing_documents": "every pooled document has a text",
    "topic_file": "the campaign has no topics yet",
    "sparse_qrels": "no document is chosen by this rule",
    "choices": "nothing has been chosen from lists yet",
    "preferences": "no documents have been compared yet",
    "preference_qrels": "the preferences give no document a grade",
}
"""Option -> why its file may have no lines."""

_qrels, _grades, _logs = option_section("Qrels"), option_section("Adjudication"), option_section("Logs and lists")
_labels, _collection = option_section("Machine labels"), option_section("Collection")

COLLECTION_OPTIONS = combine_options(
    _collection("--collection", type=WRITTEN, metavar="OUT",
                help="Directory to write: BEIR layout, TREC files, load.py for ir_datasets, card."),
    _collection("--name", help="Name for ir_datasets; by default from the title."),
    _collection("--corpus", type=click.Choice(["all", "judged", "none"]), default="all", help="Documents to include."),
    _collection("--query-text", type=click.Choice(["title", "description", "title-description"]), default="title",
                help="Text of the queries."),
    _collection("--with-runs", is_flag=True, help="Include the imported runs."),
    _collection("--name-annotators", is_flag=True, help="Include the names of annotators instead of a1, a2, ..."),
    _collection("--replace", is_flag=True, help="Replace an existing collection in OUT."),
    _collection("--description", help="Description for the card; stored in the campaign."),
    _collection("--licence", help="Licence of the published collection; stored."),
    _collection("--citation", help="How to cite the collection; stored."),
    _collection("--url", help="Web address of the collection; stored."),
)  # fmt: skip
"""The options of `cleverdon export` for a whole collection."""

CHOICES = ("name", "corpus", "query_text", "with_runs", "name_annotators")
"""Options of a collection that :class:`.CollectionChoices` has by the same names."""

FILES = ("qrels", "judgements", "labels", "passages", "pool", "missing_documents", "topic_file")
"""Options for files that :meth:`.Exporter.write` writes."""

DECISIONS = ("sparse_qrels", "choices", "preferences", "preference_qrels")
"""Options for files of choices and preferences."""

_decisions = option_section("Lists and preferences")

DECISION_OPTIONS = combine_options(
    _decisions("--sparse-qrels", type=WRITTEN, help="Documents chosen from lists as TREC qrels."),
    _decisions("--choices", type=WRITTEN, help="Log of all choices with the lists shown, FILE.jsonl."),
    _decisions("--choice-rule", default="majority", type=Names("majority", "any", "all"),
               help="Annotators who must choose a document to make it relevant."),
    _decisions("--preferences", type=WRITTEN, help="Log of all preferences, FILE.jsonl or FILE.csv."),
    _decisions("--preference-qrels", type=WRITTEN, help="Grades derived from preferences as TREC qrels."),
)  # fmt: skip
"""The options of `cleverdon export` for choices and preferences."""

TRAINING_FILES = ("triples", "tuples", "clicks", "click_qrels")
"""Options for files of training data and clicks."""


def _ranks(value: str) -> tuple[int, int]:
    first, _, last = value.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise click.BadParameter(f"expected a first and a last rank such as 1-100, found {value!r}")
    return int(first), int(last)


_training, _clicks = option_section("Training data"), option_section("Clicks")

TRAINING_OPTIONS = combine_options(
    _training("--triples", type=WRITTEN, help="Training triples, FILE.tsv (ids) or FILE.jsonl (texts)."),
    _training("--tuples", type=WRITTEN, help="Training tuples: a positive and its negatives per line."),
    _training("--negatives", default="judged", type=Names("judged", "hard", "unjudged-hard", "unjudged-random"),
              help="Kind of negatives."),
    _training("--negatives-each", "count", type=COUNT, default=1, help="Negatives per positive."),
    _training("--ranks", type=_ranks, metavar="A-B", help="First and last rank of hard negatives; by default 1-100."),
    _training("--ranks-of", type=click.Choice(["fusion", "any"]), default="fusion",
              help="Ranks in the fusion of all runs, or the best rank in any run."),
    _training("--level", type=COUNT, metavar="G", help="Minimum grade of a positive; by default the campaign's."),
    _training("--margin", type=COUNT, help="Minimum difference in grade between positive and negative."),
    _training("--positives", type=COUNT, help="Maximum number of positives per topic, drawn at random."),
    _training("--apart", is_flag=True, help="Leave out negatives that are near-duplicates of a positive."),
    _training("--seed", type=int, default=0, help="Random seed."),
    _clicks("--clicks", type=WRITTEN, help="Click statistics of each pair, FILE.tsv."),
    _clicks("--click-qrels", type=WRITTEN, help="Labels from clicks, with fractions, as TREC qrels."),
    _clicks("--click-log", "sources", multiple=True, metavar="NAME", help="Only this click log; repeatable."),
    _clicks("--smoothing", type=click.FloatRange(min=0), default=1.0, help="Impressions added to each pair."),
)  # fmt: skip
"""The options of `cleverdon export` for training data and clicks."""


@click.command(cls=SectionedCommand)
@open_campaign
@_qrels("--qrels", type=WRITTEN, help="Adjudicated grades as TREC qrels.")
@_qrels("--unjudged", is_flag=True, help="Include unjudged pairs of the pool, with grade -1.")
@_qrels(
    "--include-unjudged-topics",
    is_flag=True,
    help="Include topics without a grade, where every system scores 0; with --unjudged or --qrels-form.",
)
@_qrels(
    "--qrels-form",
    type=click.Choice(["judged", "strata", "probabilities"]),
    default="judged",
    help="Add the stratum or the sampling probability of each pair of a sampled pool.",
)
@_qrels(
    "--topics",
    type=click.Choice(["all", "finished"]),
    help="Topics of the qrels, also in a collection: all with a grade (default), or finished ones.",
)
@_qrels("--question", metavar="NAME", help="Further question of --qrels and --labels; by default the grade.")
@_qrels("--answer", metavar="KEY", help="Answer or tag of --question: given (1) or not given (0).")
@_labels(
    "--machine-labels",
    type=(str, WRITTEN),
    metavar="NAME FILE",
    help="Labels of a label set as TREC qrels, FILE.csv or FILE.jsonl (whole log).",
)
@_labels(
    "--fill-with",
    metavar="NAME",
    help="Label set for the pooled pairs without a grade in --qrels or --collection.",
)
@_grades("--rule", type=Names(family="rules"), metavar="RULE", help="Adjudication rule (`cleverdon methods rules`).")
@_grades("--ties", type=Names("lower", "higher", "adjudicate"), help="Grade of pairs with tied grades.")
@_grades("--annotator", metavar="A", help="Annotator whose grades to export, for the rule annotator.")
@_logs("--judgements", type=WRITTEN, help="Log of all judgements, FILE.jsonl, FILE.csv or FILE.parquet.")
@_logs("--labels", type=WRITTEN, help="Current grades of each annotator, FILE.csv or FILE.tsv.")
@_logs("--passages", type=WRITTEN, help="Marked passages, FILE.jsonl, one per line.")
@_logs("--pool", type=WRITTEN, help="Pool, FILE.tsv.")
@_logs(
    "--worklist",
    type=(str, WRITTEN),
    metavar="ANNOTATOR FILE",
    help="Pairs for an annotator to judge in a spreadsheet, FILE.csv or FILE.xlsx.",
)
@_logs("--pairs", type=COUNT, default=50, help="Maximum number of pairs in the work list.")
@_logs("--topic-file", type=WRITTEN, help="All topics, FILE.jsonl (all fields), FILE.xml (TREC XML), FILE.txt (TREC).")
@_logs("--missing-documents", type=WRITTEN, help="Ids of pooled documents without text, one per line.")
@DECISION_OPTIONS
@COLLECTION_OPTIONS
@TRAINING_OPTIONS
def export(
    campaign: Campaign,
    rule: str | None,
    ties: str | None,
    annotator: str | None,
    unjudged: bool,
    include_unjudged_topics: bool,
    qrels_form: Any,
    topics: str | None,
    collection: Path | None,
    worklist: tuple[str, Path] | None,
    pairs: int,
    machine_labels: tuple[str, Path] | None,
    fill_with: str | None,
    question: str | None,
    answer: str | None,
    **options: Any,
) -> None:
    """Export qrels, logs, training data or a whole collection.

    Each option that takes a FILE writes that file.

    For example:
      cleverdon export DIR --qrels qrels.txt --judgements log.jsonl
      cleverdon export DIR --qrels credibility.txt --question credibility
      cleverdon export DIR --collection out --licence CC-BY-4.0
      cleverdon export DIR --triples triples.tsv --negatives hard
    """
    from collection.adjudication import ADJUDICATION_RULES, parse_rule
    from collection.campaign.exports.collection_card import CollectionChoices
    from collection.campaign.results.qrels import TopicsWithGrades
    from collection.export import selection_caution

    plain = {name: options[name] for name in FILES}
    decided, about = (
        {name: options[name] for name in names if options[name] is not None} for names in (DECISIONS, ABOUT)
    )
    requested = [*plain.values(), decided, about, collection, worklist, machine_labels]
    if not any([*requested, *(options[name] for name in TRAINING_FILES)]):
        raise click.UsageError("expected a file to export, such as --qrels, --judgements, --pool or --collection")
    _refuse_options_without_output(topics, fill_with, plain["qrels"] or collection, worklist)
    _refuse_question(question, [fill_with, collection], [plain["qrels"], plain["labels"]])
    options |= {"worklist": worklist[1] if worklist else None, "machine_labels": machine_labels and machine_labels[1]}
    _require_different(path for path in (*options.values(), collection) if isinstance(path, Path))
    chosen = parse_rule(rule, ties=ties, annotator=annotator)
    qrels: Path | None = plain["qrels"]
    builder = campaign.results.qrels.for_question(question, answer)
    with progress_line("exporting") as progress:
        graded = builder.topics_with_grades(chosen) if qrels or collection else TopicsWithGrades()
        only = graded.select(topics or "all")
        written = campaign.exports.files.write(
            **plain,
            rule=chosen,
            qrels_form=qrels_form,
            unjudged=unjudged,
            include_unjudged_topics=include_unjudged_topics,
            topics=only,
            fill_with=fill_with if qrels else None,
            question=question,
            answer=answer,
        )
        written |= _write_named(campaign, machine_labels, worklist, pairs)
        label_notices = _label_notices(
            campaign, fill_with, [qrels, collection and collection / "qrels.txt"], machine_labels
        )
        decisive = builder.count_decisive_pairs(topics=only) if qrels or collection else 0
        left_out, has_unjudged = [], unjudged or qrels_form == "strata"
        to_include = f"{'' if has_unjudged else '--unjudged '}--include-unjudged-topics"
        if qrels is not None and not include_unjudged_topics and (has_unjudged or (decisive and only is None)):
            left_out = builder.unjudged_topics(qrels_form, rule=chosen)
        if decided:
            written |= campaign.exports.files.write_decisions(**decided, choice_rule=options["choice_rule"])
        training = _write_training(campaign, options, chosen)
        written |= training.files
        if about:
            campaign.settings.set_collection(**about)
        if collection:
            choices = CollectionChoices(
                rule=chosen, topics=only, fill_with=fill_with, **{name: options[name] for name in CHOICES}
            )
            report = campaign.exports.collection.write(
                collection, choices, replace=options["replace"], progress=progress
            )
        estimated = (qrels or collection) and ADJUDICATION_RULES[chosen.name].estimates
        caution = builder.with_sources(chosen).caution if estimated else ""
    for path, rows in written.items():
        echo(f"{path}: {count(rows, 'line')}")
    if collection:
        _print_collection(collection, report)
    print_notices(
        f"{options[name]} is empty: {reason}"
        for name, reason in EMPTY.items()
        if options[name] is not None and not written[str(options[name])]
    )
    if topics is None and graded.usual:
        of = f"{len(graded.finished):,} of {count(len(graded.graded), 'topic')}"
        print_notices(
            [f"only {of} with a grade are finished; --topics finished exports these, as the page Compare does"]
        )
    if left_out:
        topics = count(len(left_out), "topic")
        print_notices([f"{qrels}: left out {topics} without a grade; {to_include} includes them"])
    print_notices([*filter(None, [caution, selection_caution(decisive)]), *training.notices, *label_notices])


def _refuse_options_without_output(
    topics: str | None, fill_with: str | None, qrels: Path | None, worklist: tuple[str, Path] | None
) -> None:
    """Refuse --topics and --fill-with without qrels, and --pairs without a work list."""
    if fill_with and not qrels:
        raise click.UsageError("--fill-with adds labels to qrels: expected --qrels or --collection too")
    if topics and not qrels:
        raise click.UsageError("--topics selects topics of qrels: expected --qrels or --collection too")
    given = click.get_current_context().get_parameter_source("pairs")
    if worklist is None and given is ParameterSource.COMMANDLINE:
        raise click.UsageError("--pairs limits a work list: expected --worklist ANNOTATOR FILE too")


def _refuse_question(question: str | None, others: Iterable[object], outputs: Iterable[Path | None]) -> None:
    """Refuse --question beside what is about the grade only, and without a file that it concerns."""
    if question is not None and (any(others) or not any(outputs)):
        raise click.UsageError(
            "--question selects the question of --qrels or --labels, without --fill-with and --collection"
        )


def _write_named(
    campaign: Campaign, machine_labels: tuple[str, Path] | None, worklist: tuple[str, Path] | None, pairs: int
) -> dict[str, int]:
    """Write the labels of a label set, and the work list of an annotator."""
    written = {}
    if machine_labels:
        written[str(machine_labels[1])] = campaign.machine_labels.files.export(*machine_labels)
    if worklist:
        written[str(worklist[1])] = campaign.exports.work_lists.write(*worklist, pairs)
    return written


def _label_notices(
    campaign: Campaign, fill_with: str | None, qrels: Iterable[Path | None], named: tuple[str, Path] | None
) -> list[str]:
    """Notices on the machine labels that were written, with the warnings of their label sets."""
    from collection.campaign.machine_labels.label_files import LABELS_FILE

    notices = [
        f"{path}: pairs without a grade by people have labels of {fill_with}; {path}{LABELS_FILE} says which"
        for path in qrels
        if fill_with and path
    ]
    for name in dict.fromkeys(filter(None, (fill_with, named and named[0]))):
        notices += campaign.machine_labels.study.warnings(name)
    return notices


def _print_collection(folder: Path, report: CollectionReport) -> None:
    """Print the size of an exported collection, and a note where it has no licence."""
    size = sum(file.bytes for file in report.files)
    echo(f"{folder}: collection {report.facts['name']}, {len(report.files):,} files, {size:,} bytes")
    if not report.facts["licence"]:
        print_notices(["the collection has no licence; add one with --licence"])


def _require_different(paths: Iterable[Path]) -> None:
    """Refuse to write two outputs to one file."""
    seen = set[Path]()
    for path in paths:
        target = layout.resolved(path)
        if target in seen and (path.is_file() or not path.exists()):
            raise click.UsageError(f"expected a different file for each output, found {path} twice")
        seen.add(target)


class _TrainingReport(NamedTuple):
    """Number of lines by path, and notices about the files."""

    files: dict[str, int]
    notices: list[str]


def _write_training(campaign: Campaign, given: Mapping[str, Any], rule: ChosenRule | None) -> _TrainingReport:
    """Write the files named by :data:`TRAINING_OPTIONS`; `rule` adjudicates several annotators' judgements."""
    files: dict[str, int] = {}
    notices: list[str] = []
    triples, tuples, table, qrels = (given[name] for name in TRAINING_FILES)
    if triples is not None or tuples is not None:
        how = {
            name: given[name]
            for name in ("negatives", "count", "ranks", "ranks_of", "level", "margin", "positives", "apart", "seed")
        }
        for file in campaign.exports.training_data.export(triples=triples, tuples=tuples, rule=rule, **how):
            files[file.path] = file.lines
            notices += _notices_of(file)
    if table is not None or qrels is not None:
        from collection.clicks import cautions

        written, estimate = campaign.corpus.clicks.export(
            table=table, qrels=qrels, sources=given["sources"] or None, smoothing=given["smoothing"]
        )
        files |= written
        notices += cautions(estimate)
    return _TrainingReport(files, notices)


def _notices_of(file: TrainingFile) -> list[str]:
    counts, name = file.report["counts"], Path(file.path).name
    if not counts["positives"]:
        return [f"{name} is empty: no document is a positive ({file.report['positives']})"]
    if not file.lines:
        wanted = count(file.report["negatives_each"] if file.report["form"] == "tuples" else 1, "negative")
        return [f"{name} is empty: no positive has {wanted} of the kind {file.report['negatives']}"]
    positives, topics = count(counts["positives_used"], "positive"), count(counts["topics_used"], "topic")
    notices = [f"{name}: {positives} of {topics} with {count(counts['negatives'], 'different negative')}"]
    if counts["negatives_unjudged"]:
        notices.append(f"{name}: {counts['negatives_unjudged']:,} of the negatives are unjudged")
    if counts["positives_short"]:
        each = file.report["negatives_each"]
        fate = "left out" if file.report["form"] == "tuples" or each == 1 else "with fewer negatives or none"
        few = "no negative" if each == 1 else f"fewer than {each:,} negatives"
        notices.append(
            f"{name}: {count(counts['topics_short'], 'topic has', 'topics have')} {few} of this kind: "
            f"{counts['positives_short']:,} of {count(counts['positives_drawn'], 'positive')} {fate}"
        )
    return notices
