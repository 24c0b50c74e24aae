"""`cleverdon answers`: prepare the tasks in which annotators judge generated answers, and evaluate the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.compare import TESTED
from collection.cli.help import CommandGroup
from collection.cli.machine_labels.label_sets import LABELS
from collection.cli.machine_labels.study import SAMPLE, print_corrected, print_sample, require_one
from collection.cli.options import FORMAT, WRITTEN, SectionedCommand, form_option, measures_option, open_campaign
from collection.cli.output import echo, print_frame, print_json, print_notices, print_table, progress_line
from collection.cli.results import print_comparison, print_evaluation
from collection.cli.reusability import find_groups, group_option
from collection.core.answer_tasks import ANSWER_TASKS
from collection.core.layout import TASK_NAMES
from collection.core.phrases import count

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.answers.tasks import Citations
    from collection.formats import AnswersForm, NuggetsForm
    from collection.generated_answers import MissingAnswers


MEASURES = measures_option("Measure, such as nugget_vital(strict=True) or support_precision; repeatable.")
MEASURE = click.option(
    "-m", "--measure", metavar="M", default="nugget_vital", help="Answer measure; it must be a weighted sum of labels."
)
RULE = click.option("--rule", metavar="NAME", help="Adjudication rule for pairs that several annotators judged.")
LABEL_SET = click.option("--label-set", metavar="NAME", help="Label set to use instead of judgements.")
MISSING = click.option(
    "--missing",
    "missing_answers",
    type=click.Choice(["zero", "leave-out"]),
    default="zero",
    help="Count topics without an answer as 0, or leave them out of the mean.",
)


@click.group(cls=CommandGroup)
def answers() -> None:
    """Judge and evaluate generated answers.

    In the task nugget-assignment, annotators say which nuggets an answer contains; in the task support, whether cited
    documents support its sentences.
    """


@answers.command()
@open_campaign
@click.option("--task", "names", type=click.Choice(TASK_NAMES), multiple=True, help="Task to prepare; by default both.")
@click.option(
    "--citations",
    type=click.Choice(["all", "first"]),
    help="Citations of each sentence to judge; by default the last choice, initially all.",
)
@FORMAT
def prepare(campaign: Campaign, names: tuple[str, ...], citations: Citations | None, form: str) -> None:
    """Add the current answers, nuggets and citations to the tasks.

    Run the command again after a change. A changed nugget is judged again; existing judgements are kept.

    For example:
      cleverdon answers prepare DIR --task support --citations first
    """
    prepared = []
    for name in names or TASK_NAMES:
        with progress_line(f"preparing {name}"):
            prepared.append(campaign.answers.tasks.prepare(name, citations=citations))
    if form == "json":
        print_json([each._asdict() for each in prepared])
        return
    rows = []
    for name, topics, pairs, *changes in prepared:
        task = ANSWER_TASKS[name]
        scope = count(topics, task.vocabulary.topic, task.vocabulary.topics)
        rows.append([name, scope, count(pairs, task.unit), *changes])
    print_table(["task", "scope", "pairs to judge", "new pairs", "removed pairs", "changed pairs kept"], rows)
    echo(f"\nTo judge them, run `cleverdon serve {campaign.directory}` and choose the task in the menu.")


@answers.command()
@open_campaign
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--by", "source", metavar="NAME", help="Model that made the nuggets; by default the name of the file.")
def propose(campaign: Campaign, file: Path, source: str | None) -> None:
    """Add the nuggets of a file as proposals.

    Proposals become nuggets when a manager accepts them on the page Nuggets. Texts that a topic already has are left
    out.

    For example:
      cleverdon answers propose DIR nuggets.jsonl --by gpt-4o
    """
    from collection.campaign.answers.nuggets import IMPORTED
    from collection.formats.nuggets import read_nuggets

    added = campaign.answers.nuggets.propose(read_nuggets(file), source or file.name, annotator=IMPORTED)
    echo(f"Added {count(added, 'proposal')}.")
    echo(f"To accept them, run `cleverdon serve {campaign.directory}` and open the page Nuggets.")


@answers.command()
@open_campaign
@MEASURES
@RULE
@LABEL_SET
@MISSING
@click.option("--per-topic", is_flag=True, help="Show the values of each topic, not only means.")
@form_option("table", "tsv", "csv", "json")
def evaluate(
    campaign: Campaign,
    measures: tuple[str, ...],
    rule: str | None,
    label_set: str | None,
    missing_answers: MissingAnswers,
    per_topic: bool,
    form: str,
) -> None:
    """Evaluate runs by judgements or machine labels of their answers.

    For example:
      cleverdon answers evaluate DIR -m nugget_vital -m support_precision
    """
    with progress_line("evaluating answers"):
        evaluation = campaign.answers.evaluate(
            measures, rule=rule, label_set=label_set, missing_answers=missing_answers
        )
    print_evaluation(evaluation, per_topic, form)


@answers.command(cls=SectionedCommand)
@open_campaign
@MEASURES
@RULE
@LABEL_SET
@MISSING
@form_option("table", "tsv", "json", "latex", "markdown")
@TESTED
def compare(
    campaign: Campaign,
    measures: tuple[str, ...],
    rule: str | None,
    label_set: str | None,
    missing_answers: MissingAnswers,
    form: str,
    **settings: Any,
) -> None:
    """Compare systems by their answers, with intervals and significance tests.

    For example:
      cleverdon answers compare DIR -m nugget_vital --baseline bm25-rag
    """
    from collection import comparison

    with progress_line("testing differences"):
        evaluation = campaign.answers.evaluate(
            measures, rule=rule, label_set=label_set, missing_answers=missing_answers
        )
        compared = comparison.compare(evaluation, **settings)
    print_comparison(compared, form)
    print_notices(compared.notes)


@answers.command()
@open_campaign
@click.option("--answers", "answer_file", type=WRITTEN, help="Answers, FILE.jsonl.")
@click.option(
    "--answers-form",
    type=click.Choice(["rag2024", "rag2025", "rag2026", "ragtime"]),
    default="rag2026",
    help="Format of --answers.",
)
@click.option("--nuggets", type=WRITTEN, help="Current nuggets, FILE.jsonl.")
@click.option(
    "--nuggets-form",
    type=click.Choice(["nuggetizer", "ragtime"]),
    default="nuggetizer",
    help="Format of --nuggets; ragtime is a nugget bank of questions and claims.",
)
@click.option("--nugget-assignments", type=WRITTEN, help="Adjudicated nugget assignments, FILE.jsonl.")
@click.option("--support", type=WRITTEN, help="Adjudicated support in the format of NIST, FILE.jsonl.")
@RULE
@LABEL_SET
def export(
    campaign: Campaign,
    answer_file: Path | None,
    answers_form: AnswersForm,
    nuggets: Path | None,
    nuggets_form: NuggetsForm,
    nugget_assignments: Path | None,
    support: Path | None,
    rule: str | None,
    label_set: str | None,
) -> None:
    """Export answers, nuggets, nugget assignments and support in track formats.

    `cleverdon export DIR --collection OUT` writes all of them, with their logs.

    For example:
      cleverdon answers export DIR --answers answers.jsonl --answers-form rag2025
    """
    if not any((answer_file, nuggets, nugget_assignments, support)):
        raise click.UsageError("expected a file to export, such as --answers or --nugget-assignments")
    for path, rows in campaign.answers.export_files(
        answers=answer_file,
        answers_form=answers_form,
        nuggets=nuggets,
        nuggets_form=nuggets_form,
        nugget_assignments=nugget_assignments,
        support=support,
        rule=rule,
        label_set=label_set,
    ).items():
        echo(f"{path}: {count(rows, 'line')}")


@answers.command()
@open_campaign
@LABELS
@SAMPLE
@MEASURE
def ask(campaign: Campaign, labels: str, pairs: int | None, whole_pool: bool, measure: str, seed: int) -> None:
    """Ask people to judge a random sample of nugget assignments or citations.

    Annotators of the task get only this sample. Their judgements correct the scores by the label set LABELS.

    For example:
      cleverdon answers ask DIR gpt-4o --pairs 300
    """
    require_one(pairs, whole_pool)
    if pairs is None:
        campaign.answer_samples.end(measure)
        echo("Annotators judge the whole pool again.")
        return
    print_sample(campaign.answer_samples.ask(labels, pairs, measure, seed=seed), pairs)


@answers.command()
@open_campaign
@LABELS
@MEASURE
@FORMAT
def correct(campaign: Campaign, labels: str, measure: str, form: str) -> None:
    """Correct scores by machine labels with people's judgements of a random sample.

    Draw the sample with `cleverdon answers ask`. Shows the corrected score of each system with its confidence interval,
    next to the score by machine labels alone.

    For example:
      cleverdon answers correct DIR gpt-4o -m nugget_vital
    """
    with progress_line("correcting scores by people's judgements"):
        corrected = campaign.answer_samples.correct(labels, measure)
        effects = campaign.answer_samples.effects(labels, corrected)
    print_corrected(corrected, effects, form)


@answers.command()
@open_campaign
@MEASURES
@RULE
@LABEL_SET
@group_option("systems")
@form_option("table", "tsv", "csv", "json")
def reusability(
    campaign: Campaign, measures: tuple[str, ...], rule: str | None, label_set: str | None, grouping: str, form: str
) -> None:
    """Evaluate each system as if it had joined after the nuggets were made.

    Leaves out the nuggets that only the system, or its group, contributed.

    For example:
      cleverdon answers reusability DIR -m nugget_vital
    """
    groups = find_groups(grouping)
    with progress_line("leaving systems out"):
        table = campaign.answers.leave_out(measures or "nugget_vital", rule=rule, label_set=label_set, groups=groups)
    print_frame(table, form)
