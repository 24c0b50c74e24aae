"""The `cleverdon` command.

Heavy imports stay inside the commands, so that `cleverdon --help` is fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.characters import one_line
from collection.cli import (
    agreement,
    assign,
    card,
    compare,
    docs,
    duplicates,
    evaluate,
    export,
    loop,
    methods,
    people,
    pool,
    preferences,
    reusability,
    rules,
    simulate,
)
from collection.cli.options import DIRECTORY, FILE, FORMAT, SERVER_OPTIONS, expand_folders, refuse_repeated
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.errors import CleverdonError
from collection.phrases import count

if TYPE_CHECKING:
    from collection.campaign.results import ImportReport


class Group(click.Group):
    """A command that prints library errors in one line, ends quietly at a closed pipe, and refuses repeated options."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and refuse options that are repeated although they take one value."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            refuse_repeated(command, click.Context(command, ctx, name), rest)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> object:
        """Run the command and turn errors of the library into exit statuses."""
        try:
            return super().invoke(ctx)
        except CleverdonError as error:
            echo(f"cleverdon: {one_line(str(error))}", err=True)
            ctx.exit(2)
        except UnicodeEncodeError as error:
            # Python keeps bytes of an argument that are not UTF-8 as halves of surrogate pairs.
            echo(f"cleverdon: expected text in UTF-8, found {error.object!a}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            # `cleverdon evaluate ... | head` closed the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            message = f"cleverdon: {error.filename or ''}: {error.strerror or error}".replace(": :", ":")
            echo(one_line(message), err=True)
            ctx.exit(2)


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}
)
@click.version_option(package_name="cleverdon")
def main() -> None:
    """Build test collections for retrieval evaluation: pool, judge, settle, evaluate."""


for command in (
    agreement.agreement, assign.assign, card.card, compare.compare, docs.docs, duplicates.duplicates, evaluate.evaluate,
    evaluate.measures, export.export, loop.loop, loop.recall, loop.vectors, methods.methods, people.people, pool.pool,
    preferences.preferences, reusability.reusability, rules.rules, simulate.simulate,
):  # fmt: skip
    main.add_command(command)


@main.command()
@DIRECTORY
@click.option(
    "--grades", default="0-3", metavar="0-1|0-3|FILE", help="Grade scale, by name or as a JSON file {grade: sentence}."
)
@click.option("--title", help="What the pages show; the directory's name if left out.")
def new(directory: Path, grades: str, title: str | None) -> None:
    """Make a new, empty campaign in DIR."""
    from collection.campaign import Campaign

    with Campaign.create(directory, grades=grades, title=title) as campaign:
        echo(f"{directory}: a new campaign, grades {campaign.grades}. {campaign.overview.next_step().sentence}")


@main.command("import")
@DIRECTORY
@click.option("--documents", multiple=True, type=FILE, help="JSONL, TSV or CSV, or a folder of them; may be repeated.")
@click.option("--topics", type=FILE, help="TSV, JSONL, TREC SGML or XML.")
@click.option("--run", "runs", multiple=True, type=FILE, help="A TREC run, or a folder of them; may be repeated.")
@click.option("--qrels", type=FILE, help="Qrels in TREC form; kept as judgements of the annotator qrels:NAME.")
@click.option(
    "--labels", type=FILE, help="Several annotators' grades: CSV or TSV with annotator, query_id, doc_id, relevance."
)
@click.option("--costs", type=FILE, help="What runs cost: a CSV or TSV with a column run; Compare shows it.")
@click.option("--clicks", type=FILE, help="A log of clicks: CSV, TSV or JSONL; kept apart from judgements.")
@click.option("--replace", is_flag=True, help="Take the new content where a name is there with other content.")
def import_(directory: Path, replace: bool, **files: Any) -> None:
    """Import files into the campaign in DIR: all of them, or none if one is wrong."""
    from collection.campaign import Campaign

    if not any(files.values()):
        raise click.UsageError("nothing to import: give --documents, --topics, --run, --qrels or another file")
    files |= {name: expand_folders(files[name]) for name in ("documents", "runs")}
    with Campaign(directory) as campaign, progress_line() as progress:
        report = campaign.importer.import_files(**files, replace=replace, progress=progress)
    _print_report(report)


@main.command()
@DIRECTORY
@SERVER_OPTIONS
def serve(directory: Path, **options: object) -> None:
    """Open the app on the campaign in DIR."""
    _serve(directory, options)


@main.command()
@DIRECTORY
@FORMAT
def status(directory: Path, form: str) -> None:
    """What the campaign in DIR holds, how far it is, and what to do next."""
    from collection.campaign import Campaign
    from collection.stopping.table import missing_texts

    with Campaign(directory) as campaign, progress_line("counting"):
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
        # A loop over the whole collection has no number of pairs left.
        only_loops = state["in_loop"] == len(per_topic) > 0
        left = several if only_loops else f"{several}, {state['remaining']:,} left"
        echo(f"  {'pool':<12}{state['pool']:>10,} pairs, {state['judged_in_pool']:,} judged{left}")
    if state["outside_pool"]:
        outside = count(state["outside_pool"], "more pair is", "more pairs are")
        echo(f"  {outside} judged, outside the pool")
    if missing := missing_texts(t["without_text"] for t in per_topic):
        echo(f"  {missing} `cleverdon export {directory} --missing-documents FILE` lists the ids")
    elif state["missing_documents"]:
        missing = count(state["missing_documents"], "document of the pool has", "documents of the pool have")
        echo(f"  {missing} no text (export --missing-documents FILE)")
    if per_topic and not state["decisions"]:
        echo()
        columns = ("query_id", "mode", "pool", "judged", "left", "without_text", "cannot_judge")
        print_table(
            ["topic", "mode", "pool", "judged", "left", "no text", "cannot judge", "title"],
            [["-" if t[name] is None else t[name] for name in columns] + [t["title"][:60]] for t in per_topic],
        )
    if state["annotators"] and not state["decisions"]:
        echo()
        rows = [[a["annotator"], a["judgements"], a["last_at"][:16].replace("T", " ")] for a in state["annotators"]]
        print_table(["annotator", "judgements", "last (UTC)"], rows)
    echo(f"\nNext: {state['next']['sentence']}")


@main.command()
@DIRECTORY
@click.option("--topic", required=True, metavar="Q", help="The topic's query_id.")
@click.option("--doc", required=True, metavar="D", help="The document's doc_id.")
@click.option("--annotator", required=True, metavar="A", help="Whose judgement it is.")
@click.option("--grade", type=int, metavar="G", help="A grade of the campaign's scale.")
@click.option("--cannot-judge", metavar="REASON", help="Instead of a grade: why none can be given.")
@click.option("--undo", is_flag=True, help="Instead of a grade: take the annotator's judgement of the pair back.")
@click.option("--adjudicate", is_flag=True, help="It ends what annotators differ on, beside A's own judgement, if any.")
@click.option("--flag", is_flag=True, help="A wants the pair to be looked at again: the Annotators page lists it.")
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
    """Write one judgement, by the same path as the app's."""
    from collection.campaign import Campaign

    if (grade is not None) + (cannot_judge is not None) + undo != 1:
        raise click.UsageError("give one of --grade G, --cannot-judge REASON, --undo")
    with Campaign(directory) as campaign:
        judgement = campaign.judging.judge(
            annotator, topic, doc, grade, cannot_judge=cannot_judge, undo=undo, adjudicate=adjudicate, flagged=flag
        )
        row = campaign.progress.topics(topic).iloc[0]
        pooled = campaign.corpus.in_pool(topic, doc)
    decision = ("adjudicated, " if adjudicate else "") + (judgement.kind if grade is None else str(grade))
    judged = f"{row['judged_in_pool']:,} of {row['pool']:,} pairs of the topic's pool are judged"
    if outside := row["judged"] - row["judged_in_pool"]:
        judged += f", and {outside:,} outside it"
    echo(f"{topic} {doc}: {decision} by {annotator}; {judged}")
    if not pooled:
        print_notices(["the pair is not in the pool; its grade goes into the qrels all the same"])


@main.command()
@click.argument("directory", metavar="[DIR]", type=FILE, default=Path("demo-campaign"))
@SERVER_OPTIONS
@click.option("--build-only", is_flag=True, help="Build the campaign, do not open the app.")
def demo(directory: Path, build_only: bool, **options: object) -> None:
    """Build the demo campaign in DIR (demo-campaign), unless it is there, and open the app on it."""
    from collection.demo import build, is_built

    if not is_built(directory):
        with progress_line() as progress:
            report = build(directory, progress)
        _print_report(report)
    if not build_only:
        _serve(directory, options)


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
