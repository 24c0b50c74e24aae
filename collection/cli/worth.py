"""`cleverdon worth`: what machine labels are worth beside people's grades."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.evaluate import parse_one
from collection.cli.options import COUNT, DIRECTORY, FORMAT
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.errors import CampaignError, InputError
from collection.core.phrases import count, decimal, percent

if TYPE_CHECKING:
    import pandas as pd

    from collection.campaign.machine_labels.label_study import LabelStudy
    from collection.machine_labels import CorrectedValues, PeopleComparison, SystemEffects
    from collection.measures import Measure

SHOWN = 10
"""Printed runs and topics."""


@click.command()
@DIRECTORY
@click.argument("name", metavar="LABELS")
@click.option("-m", "--measure", metavar="M", help="nDCG, DCG or P with a cut-off; by default the campaign's.")
@click.option("--plan", is_flag=True, help="Only show how exact values get with how many human judgements.")
@click.option("--ask", type=COUNT, metavar="N", help="Ask people to judge a random sample of N pairs, and no others.")
@click.option("--ask-all", is_flag=True, help="Ask people for the whole pool again.")
@click.option("--seed", type=COUNT, default=1, help="Seed of the sample (default 1).")
@FORMAT
def worth(
    directory: Path,
    name: str,
    measure: str | None,
    plan: bool,
    ask: int | None,
    ask_all: bool,
    seed: int,
    form: str,
) -> None:
    """Compare a set of machine labels with people's grades.

    LABELS is a set made by `cleverdon llm` or `cleverdon label`. The report has the agreement with people by grade,
    topic and system, the values of the systems corrected by people's grades, and what the labels do to conclusions.

    For example:
      cleverdon worth DIR gpt --plan
      cleverdon worth DIR gpt --ask 300
      cleverdon worth DIR gpt -m nDCG@10
    """
    from collection.campaign import Campaign

    if plan and ask is not None:
        raise click.UsageError("--plan only shows, and --ask draws a sample: expected one of them")
    named = None if measure is None else parse_one(measure)
    with Campaign(directory) as campaign:
        study = campaign.label_study
        asked = named or study.main_measure()
        if ask_all:
            study.ask_for_pool()
            echo("People are asked for the whole pool again.")
            return
        if ask is not None:
            progress = study.ask_people(name, ask, asked, seed=seed)
            if form == "json":
                print_json(progress._asdict())
                return
            before = f"; {progress.before:,} were judged before" if progress.before else ""
            if progress.asked < ask:
                print_notices([f"{ask:,} pairs asked for: {progress.asked:,} could be drawn"])
            print_notices(study.notices(name))
            echo(
                f"Asked people to judge a random sample of {count(progress.asked, 'pair')} of {progress.pairs:,} "
                f"and no others; {progress.judged:,} judged so far{before}."
            )
            return
        if plan:
            _print_plan(study.plan(name, asked), asked, form)
            return
        with progress_line("comparing labels with people's grades"):
            compared, corrected, missing = _study(study, name, asked)
            effects = None if corrected is None else study.effects(name, corrected)
            notices = campaign.machine_labels.warnings(name, named)
    if form == "json":
        print_json(_facts(compared, corrected, effects) | {"cautions": notices})
        return
    if compared is not None:
        _print_compared(compared)
    if corrected is not None and effects is not None:
        if compared is not None:
            echo()
        _print_corrected(corrected, effects)
    print_notices([*missing, *notices])


def _study(
    study: LabelStudy, name: str, measure: Measure
) -> tuple[PeopleComparison | None, CorrectedValues | None, list[str]]:
    """The comparison with people, the corrected values, and why one of them is missing; an error if both are."""
    compared, corrected, missing = None, None, list[str]()
    try:
        compared = study.compare(name)
    except InputError as error:
        missing.append(f"no agreement: {error}")
        first = error
    try:
        corrected = study.correct(name, measure)
    except (InputError, CampaignError) as error:
        if compared is None:
            raise first from None
        missing.append(f"no corrected values: {error}")
    return compared, corrected, missing


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


def _print_compared(found: PeopleComparison) -> None:
    share = percent(found.same / found.pairs)
    echo(f"{count(found.pairs, 'pair')} with a label and a grade by people; the same grade in {share}.\n")
    graded = found.coefficients[found.coefficients["scale"] == "graded"]
    rows = [
        [row["coefficient"], decimal(row["value"]), decimal(row["low"]), decimal(row["high"])]
        for row in graded.to_dict("records")
    ]
    print_table(["agreement", "value", "lowest", "highest"], rows)
    echo("\nPeople's grades (rows) and labels (columns)")
    matrix = found.confusion
    grades = [f"{grade:g}" for grade in found.grades_of_scale]
    cells = [[grade, *(f"{each:,}" for each in row)] for grade, row in zip(grades, matrix.to_numpy(), strict=True)]
    print_table(["", *grades], cells)
    for what, frame in (("topic", found.topics.sort_values("disagreement", ascending=False, kind="stable")),
                        ("run", found.runs.sort_values("bias", ascending=False, kind="stable"))):  # fmt: skip
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


def _print_corrected(found: CorrectedValues, effects: SystemEffects) -> None:
    before = f" and {found.before:,} before it" if found.before else ""
    echo(f"{found.measure} corrected by {count(found.sampled, 'human judgement')} of a random sample{before}")
    values = found.values.sort_values("corrected", ascending=False, kind="stable")
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
    echo("\nWhat labels give to a run, beside the mean of all runs")
    print_table(["run", "gain", "lowest", "highest"], rows)
    if len(effects.families):
        families = effects.families.to_dict("records")
        rows = [[row["family"], *(f"{row[each]:+.3f}" for each in ("gain", "low", "high"))] for row in families]
        echo("\nWhat labels give to the runs of a family, beside the others")
        print_table(["family", "gain", "lowest", "highest"], rows)
    if decisions := effects.decisions.to_dict("records"):
        echo(f"\nPairs of runs, a and b, by a {effects.test}; a is the better one by labels")
        rows = [[row["labels"], row["corrected"], str(row["pairs"])] for row in decisions]
        print_table(["by labels", "corrected", "pairs"], rows)


def _facts(
    compared: PeopleComparison | None, corrected: CorrectedValues | None, effects: SystemEffects | None
) -> dict[str, object]:
    facts: dict[str, object] = {} if compared is None else {
        "pairs": compared.pairs, "same": compared.same, "agreement": compared.coefficients,
        "confusion": compared.confusion.to_numpy().tolist(), "grades": compared.grades, "topics": compared.topics,
        "runs": compared.runs,
    }  # fmt: skip
    if corrected is None or effects is None:
        return facts
    return facts | {
        "measure": corrected.measure, "sampled": corrected.sampled, "before": corrected.before,
        "values": corrected.values, "differences": corrected.differences, "tau": effects.tau, "tau_ap": effects.tau_ap,
        "gains": effects.gains, "families": effects.families, "decisions": effects.decisions,
    }  # fmt: skip
