"""`cleverdon reusability`: whether systems that were not pooled can be compared."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.evaluate import parse_measures
from collection.cli.options import BOUNDS, COUNT, FILE, FORMAT, grade, measures_option, parse_scale, runs_argument
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.errors import FormatError, InputError
from collection.records import sort_naturally

if TYPE_CHECKING:
    from collection.reusability import Groups, Reusability

SHOWN = 10
"""Topics that are printed; JSON has all."""


def read_groups(path: Path) -> dict[str, str]:
    """The group of each run, from a TSV without a header, ``run<TAB>group``; each run may be named once."""
    from collection.formats.delimited import records

    wanted = "run<TAB>group"
    groups: dict[str, str] = {}
    for number, record in records(path, "groups of runs", "\t"):
        cells = [cell.strip() for cell in record]
        if len(cells) != 2 or not all(cells):
            raise FormatError(path, number, wanted, repr("\t".join(record)))
        if cells[0] in groups:
            raise FormatError(path, number, "each run once", f"{cells[0]!r} again")
        groups[cells[0]] = cells[1]
    if not groups:
        raise FormatError(path, None, wanted, "no line")
    return groups


@click.command()
@click.argument("source", metavar="DIR|QRELS", type=FILE)
@runs_argument("[RUN]...")
@measures_option("As nDCG@10; may be repeated (nDCG@10, AP and P@10 if left out). The first decides.")
@click.option(
    "--group",
    "grouping",
    default="names",
    metavar="names|none|FILE",
    help="Which runs belong together: those whose names begin alike, none, or as FILE says (run<TAB>group).",
)
@click.option("--depth", type=COUNT, help="To which the runs were pooled; seen from what is judged if left out.")
@click.option("--relevance-level", type=grade, help="Lowest grade that counts as relevant (a campaign's own, else 1).")
@click.option("--rule", help="Of a campaign: how several grades become one; `cleverdon rules` lists the ways.")
@click.option(
    "--topics",
    type=click.Choice(["all", "finished"]),
    help="Of a campaign: all topics with a grade, or those judged to the end (taken once half are).",
)
@BOUNDS
@click.option("--grades", metavar="G", type=parse_scale, help="The scale, for --bounds of QRELS: 0-3 or 0,1,2,3.")
@FORMAT
def reusability(
    source: Path,
    runs: tuple[Path, ...],
    measures: tuple[str, ...],
    grouping: str,
    depth: int | None,
    relevance_level: float | None,
    rule: str | None,
    topics: str | None,
    bounds: bool,
    grades: list[float] | None,
    form: str,
) -> None:
    """Whether a new system can be compared fairly: by the campaign in DIR, or by QRELS and the RUNs pooled for them."""
    from collection import formats
    from collection.campaign import Campaign
    from collection.comparison import assumed_grades, out_of_reach
    from collection.reusability import DEFAULT_MEASURES, assess, groups_by_prefix

    groups: Groups = groups_by_prefix if grouping == "names" else None
    if grouping not in ("names", "none"):
        groups = read_groups(Path(grouping))
    options: dict[str, Any] = {"groups": groups, "depth": depth, "with_bounds": bounds}
    asked = measures or DEFAULT_MEASURES
    if source.is_dir():
        if runs:
            raise InputError(
                f"{source} is a directory, so a campaign, which has its runs; name only it, or QRELS and RUNs"
            )
        if grades is not None:
            raise InputError(f"--grades is for QRELS, and {source} is a campaign, which has its own")
        with Campaign(source) as campaign, progress_line("leaving runs out"):
            rel = relevance_level or campaign.settings.loop().level
            there = campaign.evaluation.topics_with_grades(rule)
            if topics == "finished" and not there.finished:
                raise InputError(
                    f"none of the {len(there.graded):,} topics with a grade is judged to the end; take --topics all"
                )
            taken = there.usual if topics is None else there.finished if topics == "finished" else None
            report = campaign.evaluation.reusability(
                list(parse_measures(asked, rel)), rule=rule, topics=taken, rel=rel, **options
            )
        if taken is not None:
            graded = f"{len(there.graded):,} with a grade"
            print_notices(
                [f"by the {len(taken):,} topics that are judged to the end of {graded}; --topics all takes every one"]
            )
    else:
        if rule is not None:
            raise InputError(f"--rule is for a campaign's judgements, and {source} is no directory")
        if topics is not None:
            raise InputError(f"--topics is for a campaign, which knows what is finished, and {source} is no directory")
        qrels = formats.read_qrels(source)
        if not runs:
            raise click.UsageError("name the runs behind the qrels: cleverdon reusability QRELS RUN...")
        rel = relevance_level or 1
        chosen = list(parse_measures(asked, rel))
        print_notices(out_of_reach(chosen, qrels))
        if bounds:
            print_notices([assumed_grades(grades, qrels.loc[qrels["relevance"] > 0, "relevance"])])
        with progress_line("leaving runs out"):
            report = assess(formats.read_runs(runs), qrels, chosen, rel=rel, grades=grades, **options)
    if form == "json":
        pool = {"depth": report.pool.depth, "runs": list(report.groups), "full": report.pool.full}
        print_json(report._asdict() | {"pool": pool})
        return
    _print(report)


def _print(report: Reusability) -> None:
    """Print the verdict, then the tables."""
    for sentence in report.verdict:
        echo(sentence)
    if report.ladder:
        echo("\nleft out, at each depth")
        rows = []
        for r in report.ladder:
            breaking, shares = f"{len(r.breaking):,} of {r.others + 1:,}", [f"{r.judged:.3f}", f"{r.known:.3f}"]
            rows.append([r.measure, r.verdict, f"{r.change:.4f}", f"{r.worst:.4f}", r.moved, breaking, *shares])
        header = ["measure", "verdict", "mean change", "worst", "places", "runs over", "judged", "judged if pooled"]
        print_table(header, rows)
    for measure, left_out in report.left_out.groupby("measure", sort=False):
        echo(f"\n{measure}, each run with its group left out")
        rows = []
        for row in left_out.itertuples():
            change = [f"{row.before:.4f}", f"{row.after:.4f}", f"{row.change:+.4f}"]
            rows.append([row.run, row.group, row.unique, row.relevant, *change, row.place_before, row.place_after])
        header = ["run", "group", "unique", "relevant", "before", "after", "change", "place", "then"]
        print_table(header, rows)
    if report.bounds is not None:
        echo("\nbounds over the unjudged")
        values = ["lowest", "value", "highest"]
        bounds = report.bounds[["run", "measure", *values]]
        bounds = bounds.assign(**{name: bounds[name].map("{:.4f}".format) for name in values})
        print_table(bounds.columns.tolist(), bounds.to_numpy().tolist())
    echo("\ntopics that decide most")
    topics = sort_naturally(report.topics).sort_values("without", kind="stable").head(SHOWN)
    print_table(
        ["topic", "judged", "relevant", "mean", "median", "spread", "tau alone", "tau without"],
        [
            [
                *row[:3],
                *("" if isnan(number) else f"{number:.4f}" for number in row[4:]),
            ]
            for row in topics.to_numpy().tolist()
        ],
    )
    print_notices(estimate.assumption for estimate in report.missing)
