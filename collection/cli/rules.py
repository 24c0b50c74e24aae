"""`cleverdon rules`: comparison of two adjudication rules on a campaign."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import click

from collection.cli.evaluate import parse_one
from collection.cli.methods import Names
from collection.cli.options import FORMAT, open_campaign
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
@FORMAT
def rules(campaign: Campaign, rule: str | None, against: str, measure: str | None, form: str) -> None:
    """Compare two adjudication rules on a campaign.

    `cleverdon methods rules` lists the rules. Parameters follow in brackets: majority(ties=higher).

    For example:
      cleverdon rules DIR --against "majority(ties=higher)" -m nDCG@10
    """
    from collection.adjudication import DEFAULT_RULE

    asked = None if measure is None else parse_one(measure)
    with progress_line("comparing rules"):
        found = campaign.results.evaluation.compare_rules(rule or DEFAULT_RULE, against, asked)
    if form == "json":
        print_json(_facts(found))
        return
    _print(found)
    print_notices(found.cautions)
    if measure is not None and found.places is None:
        print_notices(["runs are not compared: one of the rules gives no pair a grade"])


def _print(found: RuleComparison) -> None:
    grades = found.grades
    echo(f"{found.first} vs. {found.second}")
    share = f" ({percent(grades.differ / grades.pairs, 1)})" if grades.pairs else ""
    echo(f"{count(grades.pairs, 'pair')} with a grade by both rules; {grades.differ:,} different{share}")
    for rule, pairs in ((found.first, grades.only_first), (found.second, grades.only_second)):
        if pairs:
            echo(f"{count(pairs, 'pair')} with a grade only by {rule}")
    if grades.differ:
        echo(f"\npairs by their grades: {found.first} (rows), {found.second} (columns)")
        table = grades.confusion
        body = [[f"{grade:g}", *map(int, row)] for grade, row in zip(table.index, table.to_numpy(), strict=True)]
        print_table(["grade", *(f"{grade:g}" for grade in table.columns)], body, numbers=True)
    if found.places is None:
        return
    echo(f"\n{found.measure} and rank of each run by both rules")
    table = found.places.table[["run", "first", "second", "first_place", "second_place"]]
    rows = list(table.itertuples(index=False, name=None))
    print_table(["run", "first rule", "second rule", "first rank", "second rank"], rows, numbers=True)
    moved = found.places.moved
    echo(
        (
            f"{len(moved)} of {count(len(rows), 'run')} change rank: {', '.join(moved)}"
            if moved
            else "no run changes rank"
        )
        + ("" if isnan(found.places.tau) else f"; Kendall's tau {found.places.tau:.3f}")
    )


def _facts(found: RuleComparison) -> dict[str, object]:
    grades, places = found.grades, found.places
    confusion = [
        {"first": first, "second": second, "pairs": int(pairs)}
        for first, row in zip(grades.confusion.index, grades.confusion.to_numpy(), strict=True)
        for second, pairs in zip(grades.confusion.columns, row, strict=True)
        if pairs
    ]
    facts = {
        "first": found.first,
        "second": found.second,
        **{name: getattr(grades, name) for name in ("pairs", "differ", "only_first", "only_second")},
        "confusion": confusion,
        "cautions": found.cautions,
        "measure": found.measure,
    }
    if places is not None:
        facts |= {"tau": places.tau, "moved": places.moved, "runs": places.table}
    return facts
