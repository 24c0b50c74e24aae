"""`cleverdon rules`: adjudication rules, listed or compared on a campaign."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from collection.cli.evaluate import parse_one
from collection.cli.methods import list_entries, print_entries
from collection.cli.options import FORMAT
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line

if TYPE_CHECKING:
    from collection.campaign.evaluation import RuleComparison


@click.command()
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--rule", metavar="RULE", help="The first rule; adjudicated-or-majority if left out.")
@click.option("--against", metavar="RULE", help="The rule that it is compared with.")
@click.option("-m", "--measure", metavar="M", help="Also whether a run changes place by this measure, as nDCG@10.")
@FORMAT
def rules(directory: Path | None, rule: str | None, against: str | None, measure: str | None, form: str) -> None:
    """List the rules by which judgements become qrels, or compare two of them on the campaign in DIR.

    A rule is written with its parameters in brackets: majority(ties=higher).
    """
    if directory is None:
        if rule or against or measure:
            raise click.UsageError("two rules are compared on a campaign: give its DIR")
        print_entries(list_entries("rules"), form)
        return
    from collection.adjudication import DEFAULT_RULE
    from collection.campaign import Campaign

    if against is None:
        raise click.UsageError("give --against RULE: the rule to compare with")
    asked = None if measure is None else parse_one(measure)
    with Campaign(directory) as campaign, progress_line("comparing rules"):
        found = campaign.evaluation.compare_rules(rule or DEFAULT_RULE, against, asked)
    if form == "json":
        print_json(_facts(found))
        return
    _print(found)
    print_notices(found.cautions)
    if measure is not None and found.places is None:
        print_notices(["one of the rules settles no pair, so nothing can be evaluated by it"])


def _print(found: RuleComparison) -> None:
    grades = found.grades
    echo(f"{found.first} against {found.second}")
    share = f" ({grades.differ / grades.pairs:.1%})" if grades.pairs else ""
    echo(f"{grades.pairs:,} pairs have a grade by both; it differs on {grades.differ:,}{share}")
    for rule, pairs in ((found.first, grades.only_first), (found.second, grades.only_second)):
        if pairs:
            echo(f"{pairs:,} pairs have a grade only by {rule}")
    if grades.differ:
        echo(f"\nGrades by {found.first} (rows) and by {found.second} (columns):")
        table = grades.confusion
        body = [[f"{grade:g}", *map(int, row)] for grade, row in zip(table.index, table.to_numpy(), strict=True)]
        print_table(["grade", *(f"{grade:g}" for grade in table.columns)], body, numbers=True)
    if found.places is None:
        return
    echo(f"\n{found.places.measure} of each run by both, and its place:")
    rows = [
        [r["run"], f"{r['first']:.4f}", f"{r['second']:.4f}", str(r["first_place"]), str(r["second_place"])]
        for r in found.places.table.to_dict("records")
    ]
    print_table(["run", "first", "second", "place", "place"], rows, numbers=True)
    moved = found.places.moved
    echo(
        (f"{len(moved)} of {len(rows)} runs change place: {', '.join(moved)}" if moved else "no run changes place")
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
        "measure": None,
    }
    if places is not None:
        facts |= {"measure": places.measure, "tau": places.tau, "moved": places.moved, "runs": places.table}
    return facts
