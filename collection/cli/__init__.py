"""The `cleverdon` command.

Heavy imports stay inside the commands, so that `cleverdon --help` is fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from collection.cli.help import Program
from collection.cli.options import DIRECTORY, DIRECTORY_PATH, FILE, FORMAT, SERVER_OPTIONS, open_campaign
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core import layout
from collection.core.characters import one_line
from collection.core.phrases import count, cut, join, plural

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.core.vocabulary import Vocabulary

COMPLETION = """\b
Shell completion: add the line of your shell to its file.
  ~/.bashrc  eval "$(_CLEVERDON_COMPLETE=bash_source cleverdon)"
  ~/.zshrc   eval "$(_CLEVERDON_COMPLETE=zsh_source cleverdon)"
  ~/.config/fish/completions/cleverdon.fish
             _CLEVERDON_COMPLETE=fish_source cleverdon | source
"""


@click.group(
    cls=Program,
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


MODULES = {
    "agreement": "agreement", "answers": "answers", "assign": "assign", "backup": "backup", "check": "backup",
    "compare": "compare", "doctor": "doctor", "duplicates": "duplicates", "evaluate": "evaluate",
    "measures": "evaluate", "export": "export", "import": "import_files", "judging-page": "judging_page",
    "labels": "machine_labels", "loop": "loop", "features": "loop", "methods": "methods", "people": "people",
    "pool": "pool", "preferences": "preferences", "recall": "recall", "remove": "remove", "restore": "backup",
    "reusability": "reusability", "review": "review", "rules": "rules", "simulate": "simulate",
    "system-order": "system_order", "trec_eval": "trec_eval",
}  # fmt: skip
"""Command -> the module that has it, which is imported only for it: all together take as long as a small evaluation."""

for command, module in MODULES.items():
    attribute = "import_" if command == "import" else command.replace("-", "_")
    main.commands[command] = f"collection.cli.{module}:{attribute}"


def main_trec_eval() -> None:
    """The script `trec_eval-cleverdon`, which is `cleverdon trec_eval` by itself."""
    main(["trec_eval", *sys.argv[1:]], prog_name="cleverdon")


@main.command()
@DIRECTORY
@click.option(
    "--grades", default="0-3", metavar="A-B|FILE", help="Grade scale, within 0-20; FILE is JSON: {grade: description}."
)
@click.option("--questions", "questions_file", type=FILE, metavar="FILE", help="Further questions, as JSON.")
@click.option("--title", help="Title of the campaign; by default the name of DIR.")
@click.option("--review", "is_review", is_flag=True, help="Create a literature review.")
@click.pass_context
def new(
    ctx: click.Context, directory: Path, grades: str, questions_file: Path | None, title: str | None, is_review: bool
) -> None:
    """Create an empty campaign.

    DIR is the directory of the campaign; it is created if needed.
    """
    from collection.campaign import Campaign
    from collection.core.questions import describe_question
    from collection.core.review import Review

    if is_review and ctx.get_parameter_source("grades") is not ParameterSource.DEFAULT:
        raise click.UsageError("--grades cannot be used with --review, whose grades are exclude, maybe and include")
    review = Review(title or directory.resolve().name) if is_review else None
    with Campaign.create(
        directory, grades=grades, title=title, questions=questions_file or (), review=review
    ) as campaign:
        if is_review:
            echo(f"Created the literature review {directory}.")
            print_next(directory, campaign.review.steps.next_step()._asdict())
            return
        echo(f"Created the campaign {directory} with the grades {campaign.settings.grades}.")
        for question in campaign.settings.questions():
            echo(f"  {describe_question(question)}")
        print_next(directory, campaign.results.overview.next_step()._asdict())


@main.command()
@DIRECTORY
@SERVER_OPTIONS
def serve(directory: Path, **options: object) -> None:
    """Open a campaign in the app.

    The app runs until Ctrl+C. Its address and a sign-in link are printed.
    """
    _serve(directory, options)


@main.command()
@open_campaign
@FORMAT
def status(campaign: Campaign, form: str) -> None:
    """Show the contents, progress and next step of a campaign."""
    from collection.cli.preferences import print_decisions
    from collection.stopping.table import missing_texts

    with progress_line("counting judgements"):
        state = _read_status(campaign)
    if form == "json":
        print_json(state)
        return
    words = campaign.settings.vocabulary
    echo(f"{one_line(state['title'])}: {words.grades} {', '.join(state['grades'])}")
    _print_contents(state, words)
    per_topic = state["per_topic"]
    pooled = sum(t["pool"] for t in per_topic if t["goal"] is not None)
    several = f"; {state['made']:,} of {state['goal']:,} judgements made" if state["goal"] > pooled else ""
    if state["decisions"]:
        echo(f"  {'pool':<12}{state['pool']:>10,} pairs")
        print_decisions(state["decisions"])
    else:
        # A loop over the whole collection or with a budget has no number of pooled pairs left.
        only_loops = state["in_loop"] == len(per_topic) > 0
        left = several if only_loops else f"{several}, {state['remaining']:,} left"
        pooled_pairs = f"{state['pool']:>10,} pairs, {state['judged_in_pool']:,} judged{left}"
        echo(f"  {'pool':<12}{words.apply(pooled_pairs)}")
    if within := state.get("budget_left"):
        can = words.apply(f"{plural(within, 'pair')} can still be judged")
        echo(f"  {'budget':<12}{within:>10,} {can}")
    if state["outside_pool"]:
        echo(words.apply(f"  {count(state['outside_pool'], 'judged pair')} outside the pool"))
    if missing := missing_texts(t["without_text"] for t in per_topic):
        command = f"`cleverdon export {campaign.directory} --missing-documents FILE`"
        echo(words.apply(f"  {missing} List the ids with {command}."))
    elif state["missing_documents"]:
        missing = count(state["missing_documents"], "pooled document has", "pooled documents have")
        command = f"`cleverdon export {campaign.directory} --missing-documents FILE`"
        echo(words.apply(f"  {missing} no text. List the ids with {command}."))
    for name in ("recall_across_topics", "system_order"):
        if name in state:
            echo(f"  {state[name]}")
    if per_topic and not state["decisions"]:
        echo()
        columns = ("query_id", "mode", "pool", "judged", "left", "without_text", "cannot_judge")
        header = ["topic", "mode", "pool", "judged", "judgements left", "no text", "cannot judge", "title"]
        optional = ["no text", "cannot judge", *([] if any(t["goal"] for t in per_topic) else ["judgements left"])]
        print_table(
            [words.apply(name) for name in header],
            [[*(t[name] for name in columns), cut(t["title"])] for t in per_topic],
            optional=[words.apply(name) for name in optional],
        )
    if state["annotators"] and not state["decisions"]:
        echo()
        rows = [
            [a["annotator"], a["judgements"], (a["last_at"] or "-")[:16].replace("T", " ")] for a in state["annotators"]
        ]
        print_table([words.apply(name) for name in ("annotator", "judgements", "last judgement (UTC)")], rows)
    _print_questions(state.get("questions", ()), words)
    echo()
    qrels = {"list": "sparse-qrels", "preference": "preference-qrels"}.get((state["decisions"] or {}).get("task", ""))
    print_next(campaign.directory, state["next"], qrels or "qrels", "recall_across_topics" in state)


def _read_status(campaign: Campaign) -> dict[str, Any]:
    """Return the status of a campaign, with its generated answers and the next step of the review that it may be."""
    state = campaign.results.overview.status()
    if campaign.store.answers.exist():
        numbers = {"answers": campaign.store.answers.count(), "nuggets": len(campaign.answers.nuggets.current())}
        state |= numbers | {"tasks": campaign.answers.tasks.progress()}
    if campaign.settings.review() is None:
        return state
    return {**state, "next": campaign.review.steps.next_step()._asdict()}


def _print_contents(state: Mapping[str, Any], words: Vocabulary) -> None:
    """Print the size of each part of a campaign, and the progress of the tasks of generated answers."""
    from collection.core.answer_tasks import ANSWER_TASKS

    for name in ("topics", "documents", "runs", "answers", "nuggets"):
        if name in state:
            echo(f"  {words.apply(name):<12}{state[name]:>10,}")
    for each in state.get("tasks", ()):
        done = f"{each['pairs']:>5,} pairs, {each['judged']:,} judged, {each['left']:,} left"
        echo(f"  {ANSWER_TASKS[each['task']].label.lower():<17}{done}")


def _print_questions(questions: Sequence[Mapping[str, Any]], words: Vocabulary) -> None:
    """Print how often each question was asked and answered, and whose judgements lack an answer."""
    if not questions:
        return
    echo()
    rows = []
    for each in questions:
        missing = each["missing"] if each["required"] else "optional"
        rows.append([each["name"], each["asked"], each["answered"], missing, "yes" if each["again"] else "no"])
    header = ["question", "judgements", "answers", "answers missing", "handed out again"]
    print_table([words.apply(name) for name in header], rows)
    lacking = [
        [each["name"], row["annotator"], row["asked"], row["missing"]]
        for each in questions
        for row in each["annotators"]
        if row["missing"]
    ]
    if lacking:
        echo()
        header = ["question", "annotator", "judgements", "answers missing"]
        print_table([words.apply(name) for name in header], lacking)


@main.command()
@open_campaign
@click.option("--topic", required=True, metavar="Q", help="Topic, by query_id.")
@click.option("--doc", required=True, metavar="D", help="Document, by doc_id.")
@click.option("--annotator", required=True, metavar="A", help="Annotator who judges.")
@click.option("--grade", type=int, metavar="G", help="Grade on the campaign's scale.")
@click.option("--cannot-judge", metavar="REASON", help="Reason why the pair cannot be graded.")
@click.option(
    "--answer", "answers", multiple=True, metavar="NAME=A", help="Answer to a further question (tags: a|b); repeatable."
)
@click.option("--undo", is_flag=True, help="Undo the annotator's judgement of the pair.")
@click.option("--adjudicate", is_flag=True, help="Record the grade as adjudicated, separate from A's own judgement.")
@click.option("--flag", is_flag=True, help="Flag the pair for review; the Annotators page lists it.")
def judge(
    campaign: Campaign,
    topic: str,
    doc: str,
    annotator: str,
    grade: int | None,
    cannot_judge: str | None,
    answers: tuple[str, ...],
    undo: bool,
    adjudicate: bool,
    flag: bool,
) -> None:
    """Record one judgement.

    Give one of --grade, --cannot-judge and --undo.

    For example:
      cleverdon judge DIR --topic 301 --doc d7 --annotator ann --grade 2
    """
    from collection.core.questions import parse_answer

    if (grade is not None) + (cannot_judge is not None) + undo != 1:
        raise click.UsageError("expected one of --grade, --cannot-judge or --undo")
    given, questions = {}, {question.name: question for question in campaign.settings.questions()}
    for written in answers:
        name, separator, text = written.partition("=")
        if not separator:
            raise click.UsageError(f"expected --answer as NAME=ANSWER, found {written!r}")
        given[name] = questions[name].read(parse_answer(text)) if name in questions else parse_answer(text)
    judgement = campaign.judging.judge(
        annotator,
        topic,
        doc,
        grade,
        cannot_judge=cannot_judge,
        undo=undo,
        adjudicate=adjudicate,
        flagged=flag,
        answers=given,
    )
    row = campaign.progress.topics(topic).iloc[0]
    if campaign.settings.review() is not None:
        _print_decision(topic, doc, grade, annotator, int(row["judged"]), adjudicated=adjudicate)
        return
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


def _print_decision(
    stage: str, doc: str, grade: int | None, annotator: str, screened: int, *, adjudicated: bool
) -> None:
    """Print a decision in a literature review; `grade` is None if it could not be made, or was undone."""
    from collection.core.review import DECISIONS, STAGES

    decision = "no decision" if grade is None else DECISIONS[grade]
    if adjudicated:
        decision = f"final decision, {decision}," if grade is not None else "no final decision"
    done = count(screened, "record")
    echo(f"Stage {STAGES[stage]}, record {doc}: {decision} by {annotator}. {done} of this stage screened.")


@main.command()
@click.argument("directory", metavar="[DIR]", type=DIRECTORY_PATH, default=Path("demo-campaign"))
@SERVER_OPTIONS
@click.option("--build-only", is_flag=True, help="Build the campaign without opening the app.")
def demo(directory: Path, build_only: bool, **options: object) -> None:
    """Build a demo campaign and open it in the app.

    DIR is demo-campaign by default. An existing demo campaign is opened unchanged.
    """
    from collection.cli.import_files import print_report
    from collection.demo import build, is_built

    if not is_built(directory):
        with progress_line("building the demo") as progress:
            report = build(directory, progress)
        print_report(report)
    elif build_only:
        _print_existing(directory)
    if not build_only:
        _serve(directory, options)


def _complete_page(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from collection.documentation import list_pages

    return [CompletionItem(name) for name in list_pages() if name.startswith(incomplete)]


@main.command()
@click.argument("page", required=False, shell_complete=_complete_page)
def docs(page: str | None) -> None:
    """Read a page of the documentation, or list the pages."""
    from collection.documentation import list_pages, read_page

    if page is None:
        print_table(["page", "title"], list(list_pages().items()))
        echo("\n`cleverdon docs PAGE` prints a page.")
    else:
        echo(read_page(page.removesuffix(".md")))


def _print_existing(directory: Path) -> None:
    """Say what a directory contains where a demo is not built since there is a campaign already."""
    from collection.campaign import Campaign

    with Campaign(directory) as campaign:
        state = campaign.results.overview.status()
    counts = join([count(state[f"{noun}s"], noun) for noun in ("topic", "document", "run")])
    echo(f"{directory} already has a campaign, {one_line(state['title'])}, with {counts}. Nothing was built.")
    echo(f"Open it with `cleverdon serve {quote(str(directory))}`, or name another directory for a new demo.")


def print_next(directory: Path, step: Mapping[str, str], qrels: str = "qrels", across_topics: bool = False) -> None:
    """Print the next step and its command; `across_topics`: recall is guaranteed across topics."""
    from collection.core.answer_tasks import ANSWER_TASKS

    options = {
        "import": "--documents FILE --topics FILE --run FILE",
        "pool": "--dry-run",
        "loop": "--budget N",
        "recall": "--across-topics" if across_topics else "",
        "export": f"--{qrels} FILE",
        "machine-labels": "LABELS",
    }.get(step["page"], "")
    commands = {
        "judge": "serve",
        "adjudicate": "serve",
        "set-up": "serve",
        "full-texts": "serve",
        "duplicates": "serve",
        "stopping": "serve",
        "nuggets": "serve",
        "report": "review",
        "machine-labels": "labels correct",
        "overview": "answers prepare",
    }
    command = commands.get(step["page"], step["page"])
    sentence = step["sentence"]
    outer = layout.outer_campaign(directory)
    if outer is not None and command in ("serve", "answers prepare"):  # by the campaign around a task
        if command == "serve":
            sentence += f" Choose {ANSWER_TASKS[directory.resolve().name].label} above the menu."
        directory = outer
    echo(f"Next: {sentence}")
    echo(f"  cleverdon {command} {quote(str(directory))} {options}".rstrip())


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
