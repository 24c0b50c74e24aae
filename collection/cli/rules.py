"""`cleverdon rules`: comparison of two adjudication rules on a campaign."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import click

from collection.cli.evaluate import parse_one
from collection.cli.methods import Names
from collection.cli.options import FORMAT, QUESTION, open_campaign
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import count, percent

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.campaign.results.evaluation import RuleComparison


@click.command()
@open_campaign
@click.option(
    "--rule", type=Names(family="rules"), metavar="RULE", help="First rule; by default adjudicated-or-majority."
)
@click.option("--against", type=Names(family="rules"), metavar="RULE", required=True, help="Second rule.")
@click.option("-m", "--measure", metavar="M", help="Also compare the rankings of runs by this measure.")
@QUESTION
@FORMAT
def rules(
    campaign: Campaign,
    rule: str | None,
    against: str,
    measure: str | None,
    question: str | None,
    answer: str | None,
    form: str,
) -> None:
    """Compare two adjudication rules on a campaign.

    `cleverdon methods rules` lists the rules. Parameters follow in brackets: majority(ties=higher).

    For example:
      cleverdon rules DIR --against "majority(ties=higher)" -m nDCG@10
    """
    from collection.adjudication import DEFAULT_RULE

    parsed = None if measure is None else parse_one(measure)
    with progress_line("comparing rules"):
        evaluation = campaign.results.evaluation.for_question(question, answer)
        compared = evaluation.compare_rules(rule or DEFAULT_RULE, against, parsed)
    if form == "json":
        print_json(_facts(compared))
        return
    _print(compared)
    print_notices(compared.cautions)
    if measure is not None and compared.places is None:
        print_notices(["runs are not compared: one of the rules gives no pair a grade"])


def _print(compared: RuleComparison) -> None:
    grades = compared.grades
    echo(f"{compared.first} vs. {compared.second}")
    share = f" ({percent(grades.differ / grades.pairs, 1)})" if grades.pairs else ""
    echo(f"{count(grades.pairs, 'pair')} with a grade by both rules; {grades.differ:,} different{share}")
    for rule, pairs in ((compared.first, grades.only_first), (compared.second, grades.only_second)):
        if pairs:
            echo(f"{count(pairs, 'pair')} with a grade only by {rule}")
    if grades.differ:
        echo(f"\npairs by their grades: {compared.first} (rows), {compared.second} (columns)")
        table = grades.confusion
        body = [[f"{grade:g}", *map(int, row)] for grade, row in zip(table.index, table.to_numpy(), strict=True)]
        print_table(["grade", *(f"{grade:g}" for grade in table.columns)], body, numbers=True)
    if compared.places is None:
        return
    echo(f"\n{compared.measure} and rank of each run by both rules")
    table = compared.places.table[["run", "first", "second", "first_place", "second_place"]]
    rows = list(table.itertuples(index=False, name=None))
    print_table(["run", "first rule", "second rule", "first rank", "second rank"], rows, numbers=True)
    moved = compared.places.moved
    echo(
        (
            f"{len(moved)} of {count(len(rows), 'run')} change rank: {', '.join(moved)}"
            if moved
            else "no run changes rank"
        )
        + ("" if isnan(compared.places.tau) else f"; Kendall's tau {compared.places.tau:.3f}")
    )


def _facts(compared: RuleComparison) -> dict[str, object]:
    grades, places = compared.grades, compared.places
    confusion = [
        {"first": first, "second": second, "pairs": int(pairs)}
        for first, row in zip(grades.confusion.index, grades.confusion.to_numpy(), strict=True)
        for second, pairs in zip(grades.confusion.columns, row, strict=True)
        if pairs
    ]
    facts = {
        "first": compared.first,
        "second": compared.second,
        **{name: getattr(grades, name) for name in ("pairs", "differ", "only_first", "only_second")},
        "confusion": confusion,
        "cautions": compared.cautions,
        "measure": compared.measure,
    }
    if places is not None:
        facts |= {"tau": places.tau, "moved": places.moved, "runs": places.table}
    return facts
