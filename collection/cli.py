"""The `cleverdon` command. Every error of the library becomes one line on stderr and exit status 2.

Nothing heavy is imported before a command runs, so that `cleverdon --help` answers at once.
"""

from __future__ import annotations

import getpass
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.errors import CleverdonError

if TYPE_CHECKING:
    import pandas as pd

    from collection.campaign import PoolReport
    from collection.comparison import Evaluation

DIRECTORY = click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
FILE = click.Path(path_type=Path)
FORMAT = click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)


class Group(click.Group):
    """Library errors end as one line on stderr; a closed pipe ends quietly."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises ends here."""
        try:
            return super().invoke(ctx)
        except CleverdonError as error:
            click.echo(f"cleverdon: {_one_line(error)}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            # `cleverdon evaluate ... | head`: nobody is left to tell.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            click.echo(f"cleverdon: {error.filename or ''}: {error.strerror or error}".replace(": :", ":"), err=True)
            ctx.exit(2)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="cleverdon")
def main() -> None:
    """Build test collections for retrieval evaluation: pool, judge, settle, evaluate."""


@main.command()
@DIRECTORY
@click.option(
    "--grades",
    default="0-3",
    show_default=True,
    metavar="0-1|0-3|FILE",
    help="Grade scale, by name or as a JSON file {grade: sentence}.",
)
@click.option("--title", help="What the pages show; the directory's name if left out.")
def new(directory: Path, grades: str, title: str | None) -> None:
    """Make a new, empty campaign in DIR."""
    from collection.campaign import Campaign

    with Campaign.create(directory, grades=grades, title=title) as campaign:
        click.echo(f"{directory}: a new campaign, grades {campaign.grades}. {campaign.next_step().sentence}")


@main.command("import")
@DIRECTORY
@click.option("--documents", multiple=True, type=FILE, help="JSONL, TSV or CSV; may be repeated.")
@click.option("--topics", type=FILE, help="TSV, JSONL, TREC SGML or XML.")
@click.option("--run", "runs", multiple=True, type=FILE, help="A run in TREC form; may be repeated.")
@click.option("--qrels", type=FILE, help="Qrels in TREC form; kept as judgements of the annotator qrels:FILE.")
@click.option("--replace", is_flag=True, help="Take the new content where a name is there with other content.")
def import_(
    directory: Path,
    documents: tuple[Path, ...],
    topics: Path | None,
    runs: tuple[Path, ...],
    qrels: Path | None,
    replace: bool,
) -> None:
    """Import files into the campaign in DIR: all of them, or none if one is wrong."""
    from collection.campaign import Campaign

    if not (documents or topics or runs or qrels):
        raise click.UsageError("nothing to import: give --documents, --topics, --run or --qrels")
    with Campaign(directory) as campaign, _progress() as progress:
        report = campaign.import_files(
            documents=documents, topics=topics, runs=runs, qrels=qrels, replace=replace, progress=progress
        )
    for line in report.done:
        click.echo(line)
    _notices(report.notices)


@main.command()
@DIRECTORY
@click.option("--strategy", default="depth", show_default=True, help="How the pairs are chosen.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    help="Ranks of each run that are taken (strategy depth; 10 if left out).",
)
@click.option(
    "--ties",
    help="Equal scores: as the run's file lists them (listed), or also as measures order them (both).",
)
@click.option("--dry-run", is_flag=True, help="Only say what it would cost.")
def pool(directory: Path, strategy: str, depth: int | None, ties: str | None, dry_run: bool) -> None:
    """Choose the pairs to judge from the runs; only what is new is added."""
    from collection.campaign import Campaign

    parameters = {name: value for name, value in (("depth", depth), ("ties", ties)) if value is not None}
    with Campaign(directory) as campaign:
        _print_pool(campaign.pool(strategy, dry_run=dry_run, **parameters), dry_run)


@main.command()
@DIRECTORY
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Port to listen on; the first free one from 8501 if left out.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--as",
    "annotator",
    default=None,
    metavar="NAME",
    help="Name under which judgements are kept; your login name if left out.",
)
@click.option("--no-browser", is_flag=True, help="Print the sign-in link, open no browser.")
def serve(directory: Path, port: int | None, host: str, annotator: str | None, no_browser: bool) -> None:
    """Open the app on the campaign in DIR."""
    _serve(directory, port, host, annotator, no_browser)


@main.command()
@DIRECTORY
@FORMAT
def status(directory: Path, form: str) -> None:
    """What the campaign in DIR holds, how far it is, and what to do next."""
    from collection.campaign import Campaign

    with Campaign(directory) as campaign:
        state = campaign.status()
    if form == "json":
        click.echo(json.dumps(state, indent=2, ensure_ascii=False, allow_nan=False))
        return
    click.echo(f"{state['title']}: grades {', '.join(state['grades'])}")
    for name in ("topics", "documents", "runs"):
        click.echo(f"  {name:<12}{state[name]:>10,}")
    click.echo(f"  {'pool':<12}{state['pool']:>10,} pairs, {state['judged']:,} judged, {state['remaining']:,} left")
    if state["missing_documents"]:
        click.echo(
            f"  {state['missing_documents']:,} documents of the pool have no text (export --missing-documents FILE)"
        )
    if state["per_topic"]:
        click.echo()
        _table(
            ["topic", "pool", "judged", "cannot judge", "title"],
            [[t["query_id"], t["pool"], t["judged"], t["cannot_judge"], t["title"][:60]] for t in state["per_topic"]],
        )
    if state["annotators"]:
        click.echo()
        rows = [[a["annotator"], a["judgements"], a["last_at"][:16].replace("T", " ")] for a in state["annotators"]]
        _table(["annotator", "judgements", "last (UTC)"], rows)
    click.echo(f"\nNext: {state['next']['sentence']}")


@main.command()
@DIRECTORY
@click.option("--topic", required=True, metavar="Q", help="The topic's query_id.")
@click.option("--doc", required=True, metavar="D", help="The document's doc_id.")
@click.option("--annotator", required=True, metavar="A", help="Whose judgement it is.")
@click.option("--grade", type=int, metavar="G", help="A grade of the campaign's scale.")
@click.option("--cannot-judge", metavar="REASON", help="Instead of a grade: why none can be given.")
@click.option("--undo", is_flag=True, help="Instead of a grade: take the annotator's judgement of the pair back.")
def judge(
    directory: Path,
    topic: str,
    doc: str,
    annotator: str,
    grade: int | None,
    cannot_judge: str | None,
    undo: bool,
) -> None:
    """Write one judgement, by the same path as the app's."""
    from uuid import uuid4

    from collection.campaign import Campaign
    from collection.errors import JudgementError
    from collection.records import Judgement, Kind

    if (grade is not None) + (cannot_judge is not None) + undo != 1:
        raise click.UsageError("give one of --grade G, --cannot-judge REASON, --undo")
    kind: Kind = "graded" if grade is not None else "undone" if undo else "cannot judge"
    judgement = Judgement(str(uuid4()), annotator, topic, doc, kind, relevance=grade, reason=cannot_judge)
    with Campaign(directory) as campaign:
        result = campaign.judge([judgement])
        if result.refused:
            raise JudgementError(result.refused[0].reason)
        row = campaign.progress(topic).iloc[0]
    said = str(grade) if kind == "graded" else kind
    click.echo(f"{topic} {doc}: {said} by {annotator}; {row['judged']} of {row['pool']} pairs of the topic are judged")


@main.command()
@DIRECTORY
@click.option("--qrels", type=FILE, help="Settled grades in TREC form.")
@click.option("--judgements", type=FILE, help="The whole log, FILE.jsonl or FILE.csv.")
@click.option("--pool", "pool_file", type=FILE, help="The pool as TSV.")
@click.option("--missing-documents", type=FILE, help="Ids in the pool whose text is not here, one a line.")
@click.option("--rule", help="How several annotators' judgements become one grade (majority, latest, highest, lowest).")
def export(
    directory: Path,
    qrels: Path | None,
    judgements: Path | None,
    pool_file: Path | None,
    missing_documents: Path | None,
    rule: str | None,
) -> None:
    """Write qrels, the judgement log, the pool or the ids of missing documents."""
    from collection.campaign import Campaign

    if not (qrels or judgements or pool_file or missing_documents):
        raise click.UsageError("nothing to export: give --qrels, --judgements, --pool or --missing-documents")
    with Campaign(directory) as campaign:
        written = campaign.export(
            qrels=qrels, judgements=judgements, pool=pool_file, missing_documents=missing_documents, rule=rule
        )
    for path, rows in written.items():
        click.echo(f"{path}: {rows:,} lines")


@main.command()
@click.argument("qrels", type=FILE)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=FILE)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="M",
    help="As nDCG@10, AP, P@5, AP(rel=2)@100; may be repeated.",
)
@click.option("--per-topic", is_flag=True, help="The value of every topic, not only the mean.")
@click.option(
    "--relevance-level",
    type=click.IntRange(min=1),
    help="Lowest grade that counts as relevant (1 if left out; nDCG has none).",
)
@click.option(
    "--format", "form", type=click.Choice(["table", "tsv", "csv", "json"]), default="table", show_default=True
)
def evaluate(
    qrels: Path,
    runs: tuple[Path, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    relevance_level: int | None,
    form: str,
) -> None:
    """Evaluate RUNs by QRELS: means over all topics of the qrels, a topic that a run lacks counts 0."""
    from collection import comparison, formats
    from collection.measures import parse

    asked = list(measures or comparison.DEFAULT_MEASURES)
    parsed = [parse(m) for m in asked]
    if relevance_level is not None:
        parsed = [m.with_relevance_level(relevance_level) for m in parsed]
    if len(set(parsed)) < len(parsed):
        raise click.UsageError("a measure is asked for twice")
    with _progress() as progress:
        done = iter(range(1, len(runs) + 1))
        evaluation = comparison.evaluate(
            formats.read_runs(runs),
            formats.read_qrels(qrels),
            parsed,
            lambda name: progress("runs", next(done), len(runs)),
        )
    # Rows carry each measure as it was asked for: a script finds what it wrote.
    evaluation.values["measure"] = evaluation.values["measure"].map(dict(zip(map(str, parsed), asked, strict=True)))
    _print_evaluation(evaluation, per_topic, form)


@main.command()
@click.argument("directory", metavar="[DIR]", type=FILE, default=Path("demo-campaign"))
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Port to listen on; the first free one from 8501 if left out.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--as",
    "annotator",
    default=None,
    metavar="NAME",
    help="Name under which judgements are kept; your login name if left out.",
)
@click.option("--no-browser", is_flag=True, help="Print the sign-in link, open no browser.")
@click.option("--build-only", is_flag=True, help="Build the campaign, do not open the app.")
def demo(
    directory: Path, port: int | None, host: str, annotator: str | None, no_browser: bool, build_only: bool
) -> None:
    """Build the demo campaign in DIR (demo-campaign), unless it is there, and open the app on it."""
    from collection.demo import build, is_built

    if not is_built(directory):
        with _progress() as progress:
            report = build(directory, progress)
        for line in report.done:
            click.echo(line)
        _notices(report.notices)
    if not build_only:
        _serve(directory, port, host, annotator, no_browser)


def _serve(directory: Path, port: int | None, host: str, annotator: str | None, no_browser: bool) -> None:
    from collection.campaign import Campaign

    # Opened once here, so that a wrong directory is one line and not a server that cannot start.
    Campaign(directory).close()
    command = [
        sys.executable,
        "-m",
        "annotate",
        str(directory),
        "--host",
        host,
        "--as",
        annotator or _login_name(),
    ]
    if port is not None:
        command += ["--port", str(port)]
    if no_browser:
        command.append("--no-browser")
    sys.stdout.flush()
    # The library must not import the app. Replacing this process leaves none behind to outlive it.
    os.execv(sys.executable, command)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for the user
        return "annotator"


# --- printing -------------------------------------------------------------------------------------


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _notices(notices: list[str]) -> None:
    for notice in notices:
        click.echo(f"note: {notice}", err=True)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """A line on stderr that is rewritten, while stderr is a terminal; nothing otherwise."""
    terminal = sys.stderr.isatty()
    last = 0.0

    def show(what: str, done: int, total: int | None) -> None:
        nonlocal last
        if not terminal or (time.monotonic() - last < 0.1 and done != total):
            return
        last = time.monotonic()
        if total:
            filled = round(24 * done / total)
            text = f"{what:<28} [{'#' * filled}{'.' * (24 - filled)}] {done:,}/{total:,}"
        else:
            text = f"{what:<28} {done:,}"
        click.echo(f"\r\x1b[K{text}", nl=False, err=True)

    try:
        yield show
    finally:
        if terminal and last:
            click.echo("\r\x1b[K", nl=False, err=True)


def _table(header: list[str], rows: list[list[Any]]) -> None:
    """Columns of text: numbers to the right, words to the left."""
    cells = [[f"{c:,}" if isinstance(c, int) else str(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [header, *cells]) for i in range(len(header))]
    right = [all(isinstance(row[i], int | float) for row in rows) for i in range(len(header))]
    for line in [header, *cells]:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)]
        click.echo("  ".join(padded).rstrip())


def _print_pool(report: PoolReport, dry_run: bool) -> None:
    pairs = report.per_topic["pairs"]
    parameters = ", ".join(f"{k} {v}" for k, v in report.parameters.items())
    click.echo(f"{report.strategy} ({parameters}) over {report.runs} runs, {len(pairs)} topics")
    click.echo(f"pairs      {report.pairs:,}")
    click.echo(f"per topic  min {pairs.min()}, median {pairs.median():g}, max {pairs.max()}")
    click.echo(f"new        {report.new:,}" + (" (dry run: nothing was added)" if dry_run else ""))
    empty = report.per_topic.loc[pairs == 0, "query_id"].tolist()
    notices = []
    if empty:
        notices.append(f"{len(empty)} topics have no pair, because no run has them: {', '.join(empty[:5])}")
    if report.without_text:
        notices.append(
            f"{report.without_text:,} documents of these pairs have no text here; "
            "`cleverdon export --missing-documents FILE` lists them once they are in the pool"
        )
    _notices(notices)


def _print_evaluation(evaluation: Evaluation, per_topic: bool, form: str) -> None:
    from collection.records import ALL_TOPICS

    values = evaluation.values if per_topic else evaluation.values[evaluation.values["query_id"] == ALL_TOPICS]
    if form == "tsv":
        sys.stdout.writelines(f"{r}\t{q}\t{m}\t{v!r}\n" for r, q, m, v in _rows(values))
    elif form == "csv":
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(values.columns)
        writer.writerows((r, q, m, repr(v)) for r, q, m, v in _rows(values))
    elif form == "json":
        coverage = [c._asdict() for c in evaluation.coverage]
        rows = [dict(zip(values.columns, row, strict=True)) for row in _rows(values)]
        click.echo(json.dumps({"values": rows, "coverage": coverage}, indent=2, ensure_ascii=False))
    else:
        means = evaluation.means()
        if per_topic:
            for run in means.index:
                of_run = evaluation.values[evaluation.values["run"] == run]
                table = of_run.pivot(index="query_id", columns="measure", values="value")
                table = table.loc[of_run["query_id"].drop_duplicates(), means.columns]
                click.echo(run)
                _values_table("topic", table)
                click.echo()
        else:
            _values_table("run", means)
    for c in evaluation.coverage:
        if c.missing_topics:
            _notices([f"{c.run}: {len(c.missing_topics)} of {c.topics} topics are not in the run and count 0"])
        if c.ignored_topics:
            _notices([f"{c.run}: {len(c.ignored_topics)} of its topics are not in the qrels and are ignored"])


def _rows(values: pd.DataFrame) -> Iterator[tuple[str, str, str, float]]:
    columns = (values["run"], values["query_id"], values["measure"], values["value"].tolist())
    return zip(*columns, strict=True)


def _values_table(first: str, table: pd.DataFrame) -> None:
    header = [first, *map(str, table.columns)]
    rows = [[name, *(f"{v:.4f}" for v in row)] for name, row in zip(table.index, table.to_numpy(), strict=True)]
    widths = [max(len(str(r[i])) for r in [header, *rows]) for i in range(len(header))]
    for line in [header, *rows]:
        click.echo(
            "  ".join(
                [
                    str(line[0]).ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)),
                ]
            )
        )


if __name__ == "__main__":
    main()
