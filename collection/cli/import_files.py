"""`cleverdon import`: files into a campaign."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import DIRECTORY, FILE, WRITTEN, expand_documents, expand_folders, open_inputs
from collection.cli.output import confirm, echo, print_notices, progress_line
from collection.core.characters import one_line
from collection.core.errors import DoubtError, InputError
from collection.core.phrases import count

if TYPE_CHECKING:
    from collection.campaign.log.results import ImportReport

ACCEPT = click.option("--yes", is_flag=True, help="Import files that seem to be of another kind without asking.")


def _require_list_ending(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a list in an unknown format before the import starts."""
    from collection import formats

    if path is not None:
        formats.require_log_ending(path, "duplicates")
    return path


def _topic_files(path: Path) -> tuple[Path, ...]:
    """Return the files of a folder, of a directory in BEIR's layout the queries only; or the file itself."""
    from collection import formats

    with suppress(InputError):
        if path.is_dir():
            return tuple(map(Path, formats.find_collection(path).topics))
    return expand_folders((path,))


@click.command("import")
@DIRECTORY
@click.option("--collection", type=FILE, help="Whole collection: BEIR directory or ir_datasets:ID.")
@click.option(
    "--documents",
    multiple=True,
    type=FILE,
    help="Documents (JSONL, Parquet, CSV, XLSX, TSV, TREC, RIS, nbib, ciw, BibTeX, EndNote XML, ir_datasets:ID), a "
    "folder of them (of a BEIR directory, the corpus only), or a folder of PDF, HTML, Markdown and text files, each of "
    "which is a document; repeatable.",
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
@click.option("--annotator", metavar="NAME", help="Annotator of labels whose file does not name one.")
@click.option("--costs", type=FILE, help="Costs of runs (CSV, TSV) with the column run.")
@click.option("--clicks", type=FILE, help="Click log (CSV, TSV, JSONL), stored apart from judgements.")
@click.option(
    "--answers",
    multiple=True,
    type=FILE,
    help="Generated answers (JSONL of TREC RAG or RAGTIME), or a folder; repeatable.",
)
@click.option(
    "--nuggets",
    multiple=True,
    type=FILE,
    help="Nuggets by topic, rubrics with weights, or a nugget bank (JSONL), or a folder; repeatable.",
)
@click.option(
    "--nugget-assignments",
    multiple=True,
    type=FILE,
    help="Nugget assignments: a grade for each answer and nugget (JSONL), or a folder; repeatable.",
)
@click.option(
    "--support",
    multiple=True,
    type=FILE,
    help="Support: a grade for each sentence and document that it cites (JSONL), or a folder; repeatable.",
)
@click.option(
    "--label-set", metavar="NAME", help="Label set for nugget assignments and support, instead of judgements."
)
@click.option(
    "--replace", is_flag=True, help="Replace existing topics, documents, runs and grades that differ from the file."
)
@click.option(
    "--by-people", is_flag=True, help="Import grades as judgements even if a file or annotator is named after a model."
)
@ACCEPT
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
    label_set: str | None,
    **files: Any,
) -> None:
    """Import documents, topics, runs, qrels and other files.

    All files are imported, or none of them if one has an error. Compressed files (gzip, bzip2, xz, Zstandard, LZ4) are
    read directly.

    For example:
      cleverdon import DIR --documents docs.jsonl --topics topics.tsv --run runs/
    """
    from collection import formats
    from collection.campaign.answers.answer_archive import is_archive, other_files

    if not any(files.values()):
        raise click.UsageError("expected a file to import, such as --documents, --topics, --run or --qrels")
    if label_set is not None and annotator is not None:
        raise click.UsageError("--label-set cannot be combined with --annotator")
    of_answers = ("answers", "nuggets", "nugget_assignments", "support")
    for name in ("documents", "runs", *of_answers):
        expanded = (expand_documents if name == "documents" else expand_folders)(files[name])
        if files[name] and not expanded:
            option = {"runs": "--run"}.get(name, f"--{name.replace('_', '-')}")
            raise click.UsageError(f"{option}: expected files, found the empty folder {files[name][0]}")
        files[name] = expanded
    if files["topics"] is not None:
        topic_files = _topic_files(files["topics"])
        if len(topic_files) != 1:
            raise click.UsageError(
                f"--topics: expected a file or a folder with one, found {count(len(topic_files), 'file')}"
            )
        files["topics"] = topic_files[0]
    files = {name: open_inputs(given) if name != "collection" else given for name, given in files.items()}
    owner: dict[str, Any] = {"annotator": annotator, "by_people": by_people, "replace": replace}
    answers = {name: files.pop(name) for name in of_answers}
    if files["collection"] is not None and is_archive(Path(files["collection"])):
        answers["collection"] = Path(files.pop("collection"))
        for name, given in other_files(answers["collection"]).items():
            files[name] = files[name] or open_inputs(given)
    report = import_files(
        directory, yes=yes, answers={**answers, **owner, "label_set": label_set} if any(answers.values()) else {},
        **owner, **files,
    )  # fmt: skip
    if duplicates is not None:
        formats.write_duplicates(report.duplicates, duplicates)
        certain = sum(each.certain for each in report.duplicates)
        possible = len(report.duplicates) - certain
        more = f" and {count(possible, 'possible duplicate')}" if possible else ""
        echo(f"{duplicates}: {count(certain, 'duplicate')}{more}")
    elif report.duplicates:
        print_notices(["--duplicates FILE writes a list of the duplicates"])


def import_files(directory: Path, *, yes: bool, answers: Mapping[str, Any] = {}, **files: Any) -> ImportReport:
    """Import files as :meth:`.Importer.import_files`, ask about those that seem to be of another kind, and report.

    `answers` are arguments of :meth:`.GeneratedAnswers.import_files`; its files are written after the others.
    """
    from collection.campaign import Campaign

    def run(accept_doubts: bool) -> ImportReport:
        with progress_line("importing") as progress:

            def others() -> ImportReport:
                return campaign.imports.import_files(**files, accept_doubts=accept_doubts, progress=progress)

            return (
                campaign.answers.import_files(**answers, accept_doubts=accept_doubts, others=others)
                if answers
                else others()
            )

    with Campaign(directory) as campaign:
        try:
            report = run(yes)
        except DoubtError as error:
            if not sys.stdin.isatty():
                raise DoubtError(f"{error}; use --yes to import it anyway") from error
            confirm(f"{error}. Import it anyway?", yes, "the file")
            report = run(True)
    print_report(report)
    return report


def print_report(report: ImportReport) -> None:
    """Print what an import added, and its notices."""
    for line in report.done:
        echo(one_line(line))
    print_notices(report.notices)
