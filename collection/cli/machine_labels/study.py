"""`cleverdon labels compare | plan | ask | correct`: machine labels measured by people's grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from collection.cli.evaluate import parse_one
from collection.cli.machine_labels.label_sets import LABELS
from collection.cli.options import COUNT, FORMAT, open_campaign
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, decimal, percent

if TYPE_CHECKING:
    import pandas as pd

    from collection.campaign import Campaign
    from collection.machine_labels import CorrectedValues, PeopleComparison, SystemEffects
    from collection.measures import Measure

SHOWN = 10
"""Printed runs and topics."""


MEASURE = click.option("-m", "--measure", metavar="M", help="nDCG, DCG or P with a cut-off; by default the campaign's.")


def _measure(campaign: Campaign, name: str | None) -> Measure:
    """The measure of this name; by default the campaign's."""
    return campaign.machine_labels.study.main_measure() if name is None else parse_one(name)


@click.command()
@open_campaign
@LABELS
@FORMAT
def compare(campaign: Campaign, labels: str, form: str) -> None:
    """Compare machine labels with people's grades.

    Shows the agreement with people by grade, topic and run.
    """
    with progress_line("comparing labels with people's grades"):
        compared = campaign.machine_labels.study.compare(labels)
        cautions = campaign.machine_labels.study.warnings(labels)
    if form == "json":
        print_json(
            {"pairs": compared.pairs, "same": compared.same, "agreement": compared.coefficients,
             "confusion": compared.confusion.to_numpy().tolist(), "grades": compared.grades, "topics": compared.topics,
             "runs": compared.runs, "cautions": cautions}
        )  # fmt: skip
        return
    _print_compared(compared)
    print_notices(cautions)


@click.command()
@open_campaign
@LABELS
@MEASURE
@FORMAT
def plan(campaign: Campaign, labels: str, measure: str | None, form: str) -> None:
    """Estimate the precision of corrected values by number of judgements."""
    named = _measure(campaign, measure)
    _print_plan(campaign.machine_labels.study.plan(labels, named), named, form)


@click.command()
@open_campaign
@LABELS
@click.option("--pairs", type=COUNT, metavar="N", help="Size of the random sample; a larger one continues it.")
@click.option("--whole-pool", is_flag=True, help="Return to judging the whole pool.")
@MEASURE
@click.option("--seed", type=COUNT, default=1, help="Random seed of the sample.")
@FORMAT
def ask(
    campaign: Campaign, labels: str, pairs: int | None, whole_pool: bool, measure: str | None, seed: int, form: str
) -> None:
    """Ask people to judge a random sample of the pool.

    Annotators get only these pairs. Their grades correct the values of the systems.

    For example:
      cleverdon labels ask DIR gpt --pairs 300
      cleverdon labels ask DIR gpt --whole-pool
    """
    if (pairs is None) != whole_pool:
        raise click.UsageError("expected one of --pairs and --whole-pool")
    study = campaign.machine_labels.study
    if pairs is None:
        study.ask_for_pool()
        echo("Annotators judge the whole pool again.")
        return
    progress = study.ask_people(labels, pairs, _measure(campaign, measure), seed=seed)
    notices = study.notices(labels)
    if form == "json":
        print_json(progress._asdict())
        return
    before = f"; {progress.before:,} were judged before" if progress.before else ""
    if progress.asked < pairs:
        print_notices([f"{pairs:,} pairs asked for: {progress.asked:,} could be drawn"])
    print_notices(notices)
    echo(
        f"Asked people to judge a random sample of {count(progress.asked, 'pair')} of {progress.pairs:,} "
        f"and no others; {progress.judged:,} judged so far{before}."
    )


@click.command()
@open_campaign
@LABELS
@MEASURE
@FORMAT
def correct(campaign: Campaign, labels: str, measure: str | None, form: str) -> None:
    """Correct the values of the systems with people's grades of a sample.

    Shows the corrected values next to those by labels alone, and which conclusions the labels change. The sample is
    that of `cleverdon labels ask`.
    """
    named = None if measure is None else parse_one(measure)
    with progress_line("correcting values by people's grades"):
        corrected = campaign.machine_labels.study.correct(labels, named)
        effects = campaign.machine_labels.study.effects(labels, corrected)
        cautions = campaign.machine_labels.study.warnings(labels, named)
    if form == "json":
        print_json(
            {"measure": corrected.measure, "sampled": corrected.sampled, "before": corrected.before,
             "values": corrected.values, "differences": corrected.differences, "tau": effects.tau,
             "tau_ap": effects.tau_ap, "gains": effects.gains, "families": effects.families,
             "decisions": effects.decisions, "cautions": cautions}
        )  # fmt: skip
        return
    _print_corrected(corrected, effects)
    print_notices(cautions)


def _print_plan(plan: pd.DataFrame, measure: Measure, form: str) -> None:
    from collection.machine_labels import PLAN_ASSUMES

    if form == "json":
        print_json(plan)
        return
    rows = [
        [f"{row['judgements']:,.0f}", percent(row["share"]), f"±{decimal(row['width'] / 2)}",
         f"±{decimal(row['difference_width'] / 2)}"]
        for row in plan.to_dict("records")
    ]  # fmt: skip
    print_table(["human judgements", "of the pool", f"{measure} of a run", "difference of two runs"], rows)
    print_notices([PLAN_ASSUMES])


def _print_compared(compared: PeopleComparison) -> None:
    share = percent(compared.same / compared.pairs)
    echo(f"{count(compared.pairs, 'pair')} with a label and a grade by people; the same grade in {share}.\n")
    graded = compared.coefficients[compared.coefficients["scale"] == "graded"]
    rows = [
        [row["coefficient"], decimal(row["value"]), decimal(row["low"]), decimal(row["high"])]
        for row in graded.to_dict("records")
    ]
    print_table(["agreement", "value", "lowest", "highest"], rows)
    echo("\nPeople's grades (rows) and labels (columns)")
    matrix = compared.confusion
    grades = [f"{grade:g}" for grade in compared.grades_of_scale]
    cells = [[grade, *(f"{each:,}" for each in row)] for grade, row in zip(grades, matrix.to_numpy(), strict=True)]
    print_table(["", *grades], cells)
    for what, frame in (("topic", compared.topics.sort_values("disagreement", ascending=False, kind="stable")),
                        ("run", compared.runs.sort_values("bias", ascending=False, kind="stable"))):  # fmt: skip
        if len(frame):
            key = "query_id" if what == "topic" else "run"
            echo(f"\nBy {what}; bias is the mean of label minus grade")
            rows = [
                [row[key], f"{row['pairs']:,}", percent(row["same"]), f"{row['bias']:+.2f}"]
                for row in frame.head(SHOWN).to_dict("records")
            ]
            print_table([what, "pairs", "same grade", "bias"], rows)
            if len(frame) > SHOWN:
                order = "most disagreement first" if what == "topic" else "highest bias first"
                echo(f"Not shown: {count(len(frame) - SHOWN, what)} ({order}); --format json has all.")


def _print_corrected(corrected: CorrectedValues, effects: SystemEffects) -> None:
    before = f" and {corrected.before:,} before it" if corrected.before else ""
    echo(f"{corrected.measure} corrected by {count(corrected.sampled, 'human judgement')} of a random sample{before}")
    values = corrected.values.sort_values("corrected", ascending=False, kind="stable")
    rows = [
        [row["run"], decimal(row["corrected"]), decimal(row["low"]), decimal(row["high"]), decimal(row["labels"])]
        for row in values.to_dict("records")
    ]
    print_table(["run", "corrected", "lowest", "highest", "labels alone"], rows)
    echo(
        f"\nThe order by labels alone has tau {decimal(effects.tau, 2)} and tau_AP {decimal(effects.tau_ap, 2)} "
        "with the corrected order."
    )
    gains = effects.gains.head(SHOWN).to_dict("records")
    rows = [[row["run"], *(f"{row[each]:+.3f}" for each in ("gain", "low", "high"))] for row in gains]
    echo("\nGain of each run by labels, relative to the mean of all runs")
    print_table(["run", "gain", "lowest", "highest"], rows)
    if len(effects.families):
        families = effects.families.to_dict("records")
        rows = [[row["family"], *(f"{row[each]:+.3f}" for each in ("gain", "low", "high"))] for row in families]
        echo("\nGain of the runs of each family of models, relative to the others")
        print_table(["family", "gain", "lowest", "highest"], rows)
    if decisions := effects.decisions.to_dict("records"):
        echo(f"\nPairs of runs, a and b, by a {effects.test}; a is the better one by labels")
        rows = [[row["labels"], row["corrected"], str(row["pairs"])] for row in decisions]
        print_table(["by labels", "corrected", "pairs"], rows)
