"""`cleverdon labels compare | matrix | plan | ask | correct`: machine labels measured by people's grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from collection.cli.evaluate import parse_one
from collection.cli.machine_labels.label_sets import LABELS
from collection.cli.options import COUNT, FORMAT, combine_options, form_option, open_campaign
from collection.cli.output import echo, echo_data, print_json, print_notices, print_table, progress_line
from collection.core.errors import require_known
from collection.core.phrases import count, decimal, percent

if TYPE_CHECKING:
    import pandas as pd

    from collection.campaign import Campaign
    from collection.campaign.machine_labels.label_study import SampleProgress
    from collection.machine_labels import CorrectedValues, JudgeComparison, PeopleComparison, SystemEffects
    from collection.measures import Measure

SHOWN = 10
"""Printed runs and topics."""

_AGAINST = {
    "kappa": "kappa", "kappa_quadratic": "quadratic kappa", "alpha": "alpha", "tau": "tau", "tau_ap": "tau_AP",
}  # fmt: skip
"""Statistics of a label set against people -> their column."""


MEASURE = click.option("-m", "--measure", metavar="M", help="nDCG, DCG or P with a cut-off; by default the campaign's.")
ALSO = click.option(
    "--also", metavar="LABELS", multiple=True, help="Another label set to correct with; repeat the option for more."
)
SAMPLE = combine_options(
    click.option("--pairs", type=COUNT, metavar="N", help="Size of the random sample; a larger one continues it."),
    click.option("--whole-pool", is_flag=True, help="End the sample: annotators judge the whole pool again."),
    click.option("--seed", type=COUNT, default=1, help="Random seed of the sample."),
)


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
@click.argument("labels", metavar="[LABELS]...", nargs=-1)
@click.option(
    "--statistic",
    metavar="NAME",
    default="kappa",
    help="Statistic of the matrix: pairs, same, kappa, kappa_quadratic, alpha, bias, tau or tau_ap.",
)
@click.option("-m", "--measure", metavar="M", help="Measure that orders the systems; by default the campaign's.")
@form_option("table", "tsv", "json")
def matrix(campaign: Campaign, labels: tuple[str, ...], statistic: str, measure: str | None, form: str) -> None:
    """Compare label sets with people's grades and with each other.

    LABELS are the label sets, by default all. Shows each against people, and a matrix of one statistic. --format tsv
    prints the matrix, json all statistics of every two.
    """  # fmt: skip
    from collection.machine_labels import STATISTICS

    require_known("statistic of two judges", STATISTICS, statistic)
    with progress_line("comparing label sets"):
        compared = campaign.machine_labels.judges.compare(labels, None if measure is None else parse_one(measure))
    if form == "json":
        print_json(
            {"judges": compared.judges, "measure": compared.measure, "systems": compared.systems,
             "between": compared.between}
        )  # fmt: skip
    elif form == "tsv":
        from collection.formats import to_tsv

        echo_data(to_tsv(compared.matrix(statistic).rename_axis("judge").reset_index()), nl=False)
    else:
        _print_judges(compared, statistic)


def _print_judges(compared: JudgeComparison, statistic: str) -> None:
    """Print the judges against people, if there are any, and the matrix of a statistic."""
    from collection.machine_labels import STATISTICS
    from collection.machine_labels.judgements import PEOPLE

    orders = ["tau", "tau_ap"] if compared.systems > 1 else []
    if PEOPLE in compared.judges:
        shown = ["kappa", "kappa_quadratic", "alpha", *orders]
        rows = [
            [row["judge"], f"{row['pairs']:,}", percent(row["same"]), *(_cell(row[each], each) for each in shown),
             _cell(row["bias"], "bias")]
            for row in compared.against(PEOPLE).to_dict("records")
        ]  # fmt: skip
        about = f"; tau and tau_AP of the order of {count(compared.systems, 'system')} by {compared.measure}"
        echo(f"Label sets against people; bias is the mean of label minus grade{about if orders else ''}\n")
        print_table(["label set", "pairs", "same grade", *map(_AGAINST.__getitem__, shown), "bias"], rows)
        echo()
    square = compared.matrix(statistic)
    echo(f"{STATISTICS[statistic]}\n")
    numbers = [f"[{n}]" for n in range(1, len(square) + 1)]
    rows = [
        [f"{number} {name}", *(_cell(value, statistic) for value in row)]
        for number, name, row in zip(numbers, square.index, square.to_numpy().tolist(), strict=True)
    ]
    print_table(["", *numbers], rows)


def _cell(value: float, statistic: str) -> str:
    """Format a statistic; a value that is not defined is empty."""
    if math.isnan(value):
        return ""
    if statistic == "pairs":
        return f"{value:,.0f}"
    return f"{round(value, 2) + 0.0:+.2f}" if statistic == "bias" else decimal(value, 2)


@click.command()
@open_campaign
@click.argument("labels", metavar="LABELS...", nargs=-1)
@MEASURE
@click.option("--hours", type=float, metavar="H", help="Hours that people can judge.")
@click.option("--money", type=float, metavar="M", help="Money for labels, and for people with --wage.")
@click.option("--wage", type=float, default=0.0, metavar="M", help="Money per hour of judging.")
@click.option("--seconds", type=float, metavar="S", help="Seconds per judgement; by default the campaign's own pace.")
@click.option(
    "--price",
    "prices",
    metavar="NAME=M",
    multiple=True,
    help="Price of each label still to be made; by default its mean cost so far.",
)
@click.option(
    "--correlation", "correlations", metavar="NAME=R", multiple=True, help="Correlation with people's grades."
)
@FORMAT
def plan(
    campaign: Campaign,
    labels: tuple[str, ...],
    measure: str | None,
    hours: float | None,
    money: float | None,
    wage: float,
    seconds: float | None,
    prices: tuple[str, ...],
    correlations: tuple[str, ...],
    form: str,
) -> None:
    """Estimate the precision of values by judgements, or by a budget.

    Without a budget, each row is a number of human judgements next to one label set. With --hours or --money, each row
    is an option: people alone, each label set, and all of them together, with the interval that it buys. LABELS may
    name models that have not labelled yet; they need --price.

    For example:
      cleverdon labels plan DIR gpt
      cleverdon labels plan DIR gpt llama --hours 10
      cleverdon labels plan DIR big --money 200 --wage 20 --price big=0.01
    """
    named, study = _measure(campaign, measure), campaign.machine_labels.study
    if hours is None and money is None:
        if len(labels) != 1:
            raise click.UsageError("expected one label set, or a budget (--hours, --money) to compare options")
        _print_plan(study.plan(labels[0], named), named, form)
        return
    planned = study.plan_budget(
        labels, named, hours=hours, money=money, wage=wage, seconds=seconds,
        prices=_numbers_by_name(prices), correlations=_numbers_by_name(correlations),
    )  # fmt: skip
    _print_budget(planned, named, form)


@click.command()
@open_campaign
@LABELS
@SAMPLE
@MEASURE
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
    require_one(pairs, whole_pool)
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
    print_sample(progress, pairs, notices)


@click.command()
@open_campaign
@LABELS
@ALSO
@MEASURE
@FORMAT
def correct(campaign: Campaign, labels: str, also: tuple[str, ...], measure: str | None, form: str) -> None:
    """Correct the values of the systems with people's grades of a sample.

    Shows corrected and combined values next to those by labels alone, and which conclusions the labels change. The
    sample is that of `cleverdon labels ask`. Corrected values are unbiased; combined values are more precise, and their
    intervals hold on average over the systems.

    For example:
      cleverdon labels correct DIR gpt
      cleverdon labels correct DIR gpt --also llama --also mistral
    """
    named = None if measure is None else parse_one(measure)
    with progress_line("correcting values by people's grades"):
        corrected = campaign.machine_labels.study.correct(labels, named, also)
        effects = campaign.machine_labels.study.effects(labels, corrected)
        cautions = campaign.machine_labels.study.warnings(labels, named)
    print_corrected(corrected, effects, form, cautions)


def require_one(pairs: int | None, whole_pool: bool) -> None:
    """Refuse neither or both of the options of :data:`SAMPLE` that exclude each other."""
    if (pairs is None) != whole_pool:
        raise click.UsageError("expected one of --pairs and --whole-pool")


def print_sample(progress: SampleProgress, pairs: int, notices: Sequence[str] = ()) -> None:
    """Print how much of the sample is judged; `pairs` is its size that was asked for."""
    if progress.asked < pairs:
        print_notices([f"{pairs:,} pairs asked for: {progress.asked:,} could be drawn"])
    print_notices(notices)
    before = f"; {progress.before:,} were judged before" if progress.before else ""
    echo(
        f"Annotators judge only a random sample of {progress.asked:,} of {count(progress.pairs, 'pair')}; "
        f"{progress.judged:,} judged so far{before}."
    )


def _print_plan(plan: pd.DataFrame, measure: Measure, form: str) -> None:
    from collection.machine_labels import PLAN_ASSUMES

    if form == "json":
        print_json(plan)
        return
    rows = [
        [f"{row['judgements']:,.0f}", percent(row["share"]), f"±{decimal(row['width'] / 2)}",
         f"±{decimal(row['difference_width'] / 2)}", f"±{decimal(row['combined_width'] / 2)}",
         f"±{decimal(row['combined_difference_width'] / 2)}"]
        for row in plan.to_dict("records")
    ]  # fmt: skip
    print_table(["human judgements", "of the pool", *_error_columns(measure)], rows)
    print_notices([PLAN_ASSUMES])


def _error_columns(measure: Measure) -> list[str]:
    """Columns of a plan: corrected value and difference, combined value and difference."""
    return [f"{what}, {kind}" for kind in ("corrected", "combined") for what in (str(measure), "difference")]


def _numbers_by_name(given: Sequence[str]) -> dict[str, float]:
    """Parse NAME=NUMBER of repeated options."""
    numbers = dict[str, float]()
    for each in given:
        name, _, number = each.rpartition("=")
        try:
            numbers[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise click.UsageError(f"expected NAME=NUMBER, found {each!r}")
    return numbers


def _print_budget(planned: pd.DataFrame, measure: Measure, form: str) -> None:
    from collection.machine_labels import PLAN_ASSUMES, find_unpriced

    if form == "json":
        print_json(planned)
        return
    widths = ["width", "difference_width", "combined_width", "combined_difference_width"]
    rows = []
    for row in planned.to_dict("records"):
        bought = [f"±{decimal(row[each] / 2)}" if row[each] == row[each] else "" for each in widths]
        judgements = f"{row['judgements']:,}" if row["judgements"] >= 0 else "labels cost more"
        rows.append([row["option"] + (" (best)" if row["best"] else ""), f"{row['labels']:,.2f}", judgements,
                     f"{row['hours']:,.1f}", f"{row['money']:,.2f}", *bought])  # fmt: skip
    print_table(["option", "label cost", "judgements", "hours", "total cost", *_error_columns(measure)], rows)
    print_notices([*find_unpriced(planned), PLAN_ASSUMES])


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


def print_corrected(
    corrected: CorrectedValues, effects: SystemEffects, form: str, cautions: Sequence[str] = ()
) -> None:
    """Print corrected values and what labels do to conclusions, as a table or JSON."""
    if form == "json":
        print_json(
            {"measure": corrected.measure, "sampled": corrected.sampled, "before": corrected.before,
             "values": corrected.values, "differences": corrected.differences, "tau": effects.tau,
             "tau_ap": effects.tau_ap, "gains": effects.gains, "families": effects.families,
             "decisions": effects.decisions, "cautions": list(cautions)}
        )  # fmt: skip
        return
    before = f" and {corrected.before:,} before it" if corrected.before else ""
    echo(f"{corrected.measure} corrected by {count(corrected.sampled, 'human judgement')} of a random sample{before}")
    values = corrected.values.sort_values("combined", ascending=False, kind="stable")
    columns = ["combined", "combined_low", "combined_high", "corrected", "low", "high", "labels"]
    rows = [[row["run"], *(decimal(row[each]) for each in columns)] for row in values.to_dict("records")]
    print_table(["run", "combined", "lowest", "highest", "corrected", "lowest", "highest", "labels alone"], rows)
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
    print_notices(cautions)
