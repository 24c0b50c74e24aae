"""The `cleverdon` command.

Heavy imports stay inside the commands, so that `cleverdon --help` is fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

import click

from collection.cli import (
    agreement,
    assign,
    backup,
    calibrate,
    card,
    check,
    compare,
    docs,
    duplicates,
    evaluate,
    export,
    label,
    llm,
    loop,
    methods,
    order,
    people,
    pool,
    preferences,
    remove,
    restore,
    reusability,
    rules,
    simulate,
    trec_eval,
    worth,
)
from collection.cli.help import Group
from collection.cli.options import (
    DIRECTORY,
    DIRECTORY_PATH,
    FILE,
    FORMAT,
    SERVER_OPTIONS,
    WRITTEN,
    expand_folders,
    open_inputs,
)
from collection.cli.output import confirm, echo, print_json, print_notices, print_table, progress_line
from collection.core.characters import one_line
from collection.core.errors import DoubtError, InputError
from collection.core.phrases import count, cut, join, plural

if TYPE_CHECKING:
    from collection.campaign.log.results import ImportReport


COMPLETION = """\b
Shell completion: add the line of your shell to its file.
  ~/.bashrc  eval "$(_CLEVERDON_COMPLETE=bash_source cleverdon)"
  ~/.zshrc   eval "$(_CLEVERDON_COMPLETE=zsh_source cleverdon)"
  ~/.config/fish/completions/cleverdon.fish
             _CLEVERDON_COMPLETE=fish_source cleverdon | source
"""


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    help="""Cleverdon builds test collections for information retrieval.

    \b
    Try it:   cleverdon demo
    Read on:  cleverdon docs start/demo""",
    epilog=COMPLETION,
)
@click.version_option(package_name="cleverdon")
def main() -> None:
    """The `cleverdon` command."""


for command in (
    agreement.agreement, assign.assign, backup.backup, calibrate.calibrate, card.card, check.check, compare.compare,
    docs.docs, duplicates.duplicates, evaluate.evaluate, evaluate.measures, export.export, label.label, llm.llm,
    loop.loop, loop.recall, loop.vectors, methods.methods, order.order, people.people, pool.pool,
    preferences.preferences, remove.remove, restore.restore, reusability.reusability, rules.rules, simulate.simulate,
    trec_eval.trec_eval, worth.worth,
):  # fmt: skip
    main.add_command(command)


def main_trec_eval() -> None:
    """The script `trec_eval-cleverdon`, which is `cleverdon trec_eval` by itself."""
    main(["trec_eval", *sys.argv[1:]], prog_name="cleverdon")


@main.command()
@DIRECTORY
@click.option(
    "--grades", default="0-3", metavar="0-1|0-3|FILE", help="Grade scale; FILE is JSON: {grade: description}."
)
@click.option("--title", help="Title of the campaign; by default the name of DIR.")
def new(directory: Path, grades: str, title: str | None) -> None:
    """Create an empty campaign.

    DIR is the directory of the campaign; it is created if needed.
    """
    from collection.campaign import Campaign

    with Campaign.create(directory, grades=grades, title=title) as campaign:
        echo(f"Created the campaign {directory} with the grades {campaign.grades}.")
        print_next(directory, campaign.overview.next_step()._asdict())


def _require_list_ending(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a list in an unknown format before the import starts."""
    from collection import formats

    if path is not None:
        formats.require_log_ending(path, "duplicates")
    return path


def _part(path: Path, part: Literal["documents", "topics"]) -> tuple[Path, ...]:
    """Return the files of a folder: of a directory in BEIR's layout the part, of any other all; or the file itself."""
    from collection import formats

    with suppress(InputError):
        if path.is_dir():
            return tuple(map(Path, getattr(formats.find_collection(path), part)))
    return expand_folders((path,))


@main.command("import")
@DIRECTORY
@click.option("--collection", type=FILE, help="Whole collection: BEIR directory or ir_datasets:ID.")
@click.option(
    "--documents",
    multiple=True,
    type=FILE,
    help="Documents (JSONL, Parquet, CSV, XLSX, TSV, TREC, RIS, nbib, ciw, BibTeX, EndNote XML, ir_datasets:ID) or a "
    "folder of them (of a BEIR directory, the corpus only); repeatable.",
)
@click.option(
    "--topics",
    type=FILE,
    help="Topics (TSV, CSV, XLSX, JSONL, Parquet, TREC SGML, XML, ir_datasets:ID) or a folder with one file (of a BEIR "
    "directory, the queries).",
)
@click.option("--run", "runs", multiple=True, type=FILE, help="TREC run, or a folder of runs; repeatable.")
@click.option(
    "--qrels",
    type=FILE,
    help="Qrels (TREC, BEIR, CSV, JSON, JSONL, Parquet, ir_datasets:ID), stored as judgements of the annotator "
    "qrels:NAME.",
)
@click.option(
    "--labels",
    type=FILE,
    help="Grades by annotator (CSV, XLSX, ...), an export of an annotation tool, or a work list.",
)
@click.option("--annotator", metavar="NAME", help="Annotator of the labels for which their file names none.")
@click.option("--machine-labels", type=FILE, help="Grades by a language model, as qrels, stored as a label set.")
@click.option("--costs", type=FILE, help="Costs of runs (CSV, TSV) with the column run.")
@click.option("--clicks", type=FILE, help="Click log (CSV, TSV, JSONL), stored apart from judgements.")
@click.option(
    "--replace", is_flag=True, help="Replace existing topics, documents, runs and grades that differ from the file."
)
@click.option("--by-people", is_flag=True, help="Import grades as judgements even if a name is that of a model.")
@click.option("--yes", is_flag=True, help="Import files without asking if they seem to be of another kind.")
@click.option(
    "--duplicates",
    type=WRITTEN,
    callback=_require_list_ending,
    help="Write a list of duplicates and possible duplicates, FILE.csv or FILE.jsonl.",
)
def import_(
    directory: Path,
    annotator: str | None,
    replace: bool,
    by_people: bool,
    yes: bool,
    duplicates: Path | None,
    **files: Any,
) -> None:
    """Import documents, topics, runs, qrels and other files.

    All files are imported, or none of them if one has an error. Compressed files (gzip, bzip2, xz) are read directly.

    For example:
      cleverdon import DIR --documents docs.jsonl --topics topics.tsv --run runs/
    """
    from collection import formats
    from collection.campaign import Campaign

    if not any(files.values()):
        raise click.UsageError("expected a file to import, such as --documents, --topics, --run or --qrels")
    for name in ("documents", "runs"):
        expanded = expand_folders(files[name])
        if name == "documents":  # of a directory in BEIR's layout the corpus only
            expanded = tuple(file for path in files[name] for file in _part(path, "documents"))
        if files[name] and not expanded:
            option = {"runs": "--run"}.get(name, f"--{name}")
            raise click.UsageError(f"{option}: expected files, found the empty folder {files[name][0]}")
        files[name] = expanded
    if files["topics"] is not None:
        found = _part(files["topics"], "topics")
        if len(found) != 1:
            raise click.UsageError(f"--topics: expected a file or a folder with one, found {count(len(found), 'file')}")
        files["topics"] = found[0]
    files = {name: open_inputs(given) if name != "collection" else given for name, given in files.items()}
    with Campaign(directory) as campaign:

        def run(accept_doubts: bool) -> ImportReport:
            with progress_line("importing") as progress:
                return campaign.importer.import_files(
                    **files,
                    annotator=annotator,
                    replace=replace,
                    accept_doubts=accept_doubts,
                    by_people=by_people,
                    progress=progress,
                )

        try:
            report = run(yes)
        except DoubtError as error:
            if not sys.stdin.isatty():
                raise DoubtError(f"{error}; use --yes to import it anyway") from error
            confirm(f"{error}. Import it anyway?", yes, "the file")
            report = run(True)
    _print_report(report)
    if duplicates is not None:
        formats.write_duplicates(report.duplicates, duplicates)
        certain = sum(each.certain for each in report.duplicates)
        possible = len(report.duplicates) - certain
        more = f" and {count(possible, 'possible duplicate')}" if possible else ""
        echo(f"{duplicates}: {count(certain, 'duplicate')}{more}")


@main.command()
@DIRECTORY
@SERVER_OPTIONS
def serve(directory: Path, **options: object) -> None:
    """Open a campaign in the app.

    The app runs until Ctrl+C. Its address and a sign-in link are printed.
    """
    _serve(directory, options)


@main.command()
@DIRECTORY
@FORMAT
def status(directory: Path, form: str) -> None:
    """Show the contents, progress and next step of a campaign."""
    from collection.campaign import Campaign
    from collection.stopping.table import missing_texts

    with Campaign(directory) as campaign, progress_line("counting judgements"):
        state = campaign.overview.status()
    if form == "json":
        print_json(state)
        return
    echo(f"{one_line(state['title'])}: grades {', '.join(state['grades'])}")
    for name in ("topics", "documents", "runs"):
        echo(f"  {name:<12}{state[name]:>10,}")
    per_topic = state["per_topic"]
    pooled = sum(t["pool"] for t in per_topic if t["goal"] is not None)
    several = f"; {state['made']:,} of {state['goal']:,} judgements made" if state["goal"] > pooled else ""
    if state["decisions"]:
        echo(f"  {'pool':<12}{state['pool']:>10,} pairs")
        preferences.print_decisions(state["decisions"])
    else:
        # A loop over the whole collection or with a budget has no number of pooled pairs left.
        only_loops = state["in_loop"] == len(per_topic) > 0
        left = several if only_loops else f"{several}, {state['remaining']:,} left"
        echo(f"  {'pool':<12}{state['pool']:>10,} pairs, {state['judged_in_pool']:,} judged{left}")
    if within := state.get("budget_left"):
        echo(f"  {'budget':<12}{within:>10,} {plural(within, 'pair')} can still be judged")
    if state["outside_pool"]:
        echo(f"  {count(state['outside_pool'], 'judged pair')} outside the pool")
    if missing := missing_texts(t["without_text"] for t in per_topic):
        echo(f"  {missing} List the ids with `cleverdon export {directory} --missing-documents FILE`.")
    elif state["missing_documents"]:
        missing = count(state["missing_documents"], "pooled document has", "pooled documents have")
        echo(f"  {missing} no text. List the ids with `cleverdon export {directory} --missing-documents FILE`.")
    for name in ("recall_across_topics", "system_order"):
        if name in state:
            echo(f"  {state[name]}")
    if per_topic and not state["decisions"]:
        echo()
        columns = ("query_id", "mode", "pool", "judged", "left", "without_text", "cannot_judge")
        print_table(
            ["topic", "mode", "pool", "judged", "judgements left", "no text", "cannot judge", "title"],
            [[*(t[name] for name in columns), cut(t["title"])] for t in per_topic],
            optional=["no text", "cannot judge", *([] if any(t["goal"] for t in per_topic) else ["judgements left"])],
        )
    if state["annotators"] and not state["decisions"]:
        echo()
        rows = [
            [a["annotator"], a["judgements"], (a["last_at"] or "-")[:16].replace("T", " ")] for a in state["annotators"]
        ]
        print_table(["annotator", "judgements", "last judgement (UTC)"], rows)
    echo()
    qrels = {"list": "sparse-qrels", "preference": "preference-qrels"}.get((state["decisions"] or {}).get("task", ""))
    print_next(directory, state["next"], qrels or "qrels")


@main.command()
@DIRECTORY
@click.option("--topic", required=True, metavar="Q", help="Topic, by query_id.")
@click.option("--doc", required=True, metavar="D", help="Document, by doc_id.")
@click.option("--annotator", required=True, metavar="A", help="Annotator who judges.")
@click.option("--grade", type=int, metavar="G", help="Grade on the campaign's scale.")
@click.option("--cannot-judge", metavar="REASON", help="Reason why the pair cannot be graded.")
@click.option("--undo", is_flag=True, help="Withdraw the annotator's judgement of the pair.")
@click.option("--adjudicate", is_flag=True, help="Record the adjudicated grade, apart from A's own judgement.")
@click.option("--flag", is_flag=True, help="Flag the pair for review; the Annotators page lists it.")
def judge(
    directory: Path,
    topic: str,
    doc: str,
    annotator: str,
    grade: int | None,
    cannot_judge: str | None,
    undo: bool,
    adjudicate: bool,
    flag: bool,
) -> None:
    """Record one judgement.

    Give one of --grade, --cannot-judge and --undo.

    For example:
      cleverdon judge DIR --topic 301 --doc d7 --annotator ann --grade 2
    """
    from collection.campaign import Campaign

    if (grade is not None) + (cannot_judge is not None) + undo != 1:
        raise click.UsageError("expected one of --grade, --cannot-judge or --undo")
    with Campaign(directory) as campaign:
        judgement = campaign.judging.judge(
            annotator, topic, doc, grade, cannot_judge=cannot_judge, undo=undo, adjudicate=adjudicate, flagged=flag
        )
        row = campaign.progress.topics(topic).iloc[0]
        pooled = campaign.corpus.in_pool(topic, doc)
    decision = judgement.kind if grade is None else f"grade {grade}"
    if adjudicate:
        decision = f"adjudicated {decision}"
    judged = f"{row['judged_in_pool']:,} of {count(row['pool'], 'pair')} in the topic's pool judged"
    if outside := row["judged"] - row["judged_in_pool"]:
        judged += f", {outside:,} outside the pool"
    echo(f"Topic {topic}, document {doc}: {decision} by {annotator}. {judged}.")
    if not pooled:
        print_notices(["the pair is not in the pool; its grade counts in the qrels nevertheless"])


@main.command()
@click.argument("directory", metavar="[DIR]", type=DIRECTORY_PATH, default=Path("demo-campaign"))
@SERVER_OPTIONS
@click.option("--build-only", is_flag=True, help="Build the campaign without opening the app.")
def demo(directory: Path, build_only: bool, **options: object) -> None:
    """Build a demo campaign and open it in the app.

    DIR is demo-campaign by default. An existing demo campaign is opened as it is.
    """
    from collection.demo import build, is_built

    if not is_built(directory):
        with progress_line("building the demo") as progress:
            report = build(directory, progress)
        _print_report(report)
    elif build_only:
        _print_existing(directory)
    if not build_only:
        _serve(directory, options)


def _print_existing(directory: Path) -> None:
    """Say what a directory contains where a demo is not built since there is a campaign already."""
    from collection.campaign import Campaign

    with Campaign(directory) as campaign:
        state = campaign.overview.status()
    counts = join([count(state[f"{noun}s"], noun) for noun in ("topic", "document", "run")])
    echo(f"{directory} already has a campaign, {one_line(state['title'])}, with {counts}. Nothing was built.")
    echo(f"Open it with `cleverdon serve {quote(str(directory))}`, or name another directory for a new demo.")


def print_next(directory: Path, step: Mapping[str, str], qrels: str = "qrels") -> None:
    """Print the next step and its command."""
    options = {
        "import": "--documents FILE --topics FILE --run FILE",
        "pool": "--dry-run",
        "loop": "--budget N",
        "export": f"--{qrels} FILE",
        "machine-labels": "LABELS",
    }.get(step["page"], "")
    commands = {"judge": "serve", "adjudicate": "serve", "recall": "calibrate", "machine-labels": "worth"}
    command = commands.get(step["page"], step["page"])
    echo(f"Next: {step['sentence']}")
    echo(f"  cleverdon {command} {quote(str(directory))} {options}".rstrip())


def _print_report(report: ImportReport) -> None:
    for line in report.done:
        echo(one_line(line))
    print_notices(report.notices)


def _serve(directory: Path, options: Mapping[str, object]) -> None:
    """Replace this process by the server; `options` are those of :func:`collection.cli.options.SERVER_OPTIONS`."""
    from collection.campaign import Campaign

    # A wrong directory is reported here, before the server starts.
    Campaign(directory).close()
    command = [sys.executable, "-m", "annotate", str(directory)]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            for each in value if isinstance(value, tuple) else (value,):
                command += [option, str(each)]
    sys.stdout.flush()
    # The library must not import the app. Replacing this process leaves none behind to outlive it.
    os.execv(sys.executable, command)
