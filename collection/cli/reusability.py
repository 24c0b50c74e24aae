"""`cleverdon reusability`: whether unpooled systems can be compared fairly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.evaluate import parse_measures
from collection.cli.methods import Names
from collection.cli.options import (
    BOUNDS,
    COUNT,
    FILE,
    FORMAT,
    QUESTION,
    F,
    grade,
    measures_option,
    parse_scale,
    runs_argument,
)
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.errors import FormatError, InputError
from collection.core.phrases import count
from collection.core.records import sort_naturally

if TYPE_CHECKING:
    from collection.formats import Source
    from collection.reusability import Groups, Reusability, Unjudged

SHOWN = 10
"""Printed topics; JSON has all."""


def read_groups(path: Path) -> dict[str, str]:
    """Read the group of each run from a TSV without a header, ``run<TAB>group``; each run may occur once."""
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


def group_option(what: str) -> Callable[[F], F]:
    """``--group``, which :func:`find_groups` reads; `what` is left out together."""
    return click.option(
        "--group",
        "grouping",
        default="names",
        metavar="names|none|FILE",
        help=f"Groups of {what} to leave out together: by name prefix, none, or FILE (run<TAB>group).",
    )


def find_groups(grouping: str) -> Groups:
    """Return the groups that the option ``--group`` asks for."""
    from collection.reusability import groups_by_prefix

    if grouping in ("names", "none"):
        return groups_by_prefix if grouping == "names" else None
    return read_groups(Path(grouping))


@click.command()
@click.argument("source", metavar="DIR|QRELS", type=FILE)
@runs_argument("[RUN]...")
@measures_option("Measure; repeatable; the first decides the verdict; by default nDCG@10, AP, P@10.")
@group_option("runs")
@click.option("--depth", type=COUNT, help="Pool depth; by default derived from the judged documents.")
@click.option(
    "--relevance-level", metavar="G", type=grade, help="Minimum relevant grade; by default the campaign's, 1 for QRELS."
)
@click.option("--rule", type=Names(family="rules"), metavar="RULE", help="Adjudication rule, for DIR.")
@click.option(
    "--topics",
    type=click.Choice(["all", "finished"]),
    help="Topics of DIR: all with a grade, or completely judged ones (default if at least half are).",
)
@click.option(
    "--unjudged",
    type=click.Choice(["unknown", "not-relevant"]),
    default="unknown",
    help="Unjudged documents: unknown, or not-relevant if all were examined and only relevant ones recorded.",
)
@QUESTION
@BOUNDS
@click.option("--grades", metavar="SCALE", type=parse_scale, help="Grade scale of QRELS for --bounds, such as 0-3.")
@FORMAT
def reusability(
    source: Path,
    runs: tuple[Source, ...],
    measures: tuple[str, ...],
    grouping: str,
    depth: int | None,
    relevance_level: float | None,
    rule: str | None,
    topics: str | None,
    unjudged: Unjudged,
    question: str | None,
    answer: str | None,
    bounds: bool,
    grades: list[float] | None,
    form: str,
) -> None:
    """Check whether unpooled systems can be compared fairly.

    Leaves each run, or group of runs, out of the pool and compares the values and rankings before and after. Reads
    the campaign DIR, or QRELS and the RUNs that were pooled for them.

    For example:
      cleverdon reusability DIR
      cleverdon reusability qrels.txt runs/ -m nDCG@10
    """
    from collection import formats
    from collection.campaign import Campaign
    from collection.comparison import assumed_grades, out_of_reach
    from collection.machine_labels.model_families import warn_of_model
    from collection.measures import describe_search
    from collection.reusability import DEFAULT_MEASURES, assess

    groups = find_groups(grouping)
    options: dict[str, Any] = {"groups": groups, "depth": depth, "with_bounds": bounds, "unjudged": unjudged}
    names = measures or DEFAULT_MEASURES
    if source.is_dir():
        if runs:
            raise InputError(
                f"expected DIR alone, or QRELS and RUNs; {source} is a directory and its campaign has runs"
            )
        if grades is not None:
            raise InputError(f"--grades needs QRELS; the campaign {source} has its own grade scale")
        with Campaign(source) as campaign, progress_line("leaving runs out"):
            evaluation = campaign.results.evaluation.for_question(question, answer)
            rel = relevance_level or evaluation.qrels.level
            with_grades = evaluation.qrels.topics_with_grades(rule, closed_early=False)
            taken = with_grades.select(topics)
            report = evaluation.reusability(
                list(parse_measures(names, rel)), rule=rule, topics=taken, rel=rel, **options
            )
        if taken is not None:
            graded = f"{count(len(with_grades.graded), 'topic')} with a grade"
            print_notices([f"using the {len(taken):,} completely judged of {graded}; --topics all uses all of them"])
    else:
        if rule is not None:
            raise InputError(f"--rule needs a campaign; {source} is not a directory")
        if question is not None or answer is not None:
            raise InputError(f"--question needs a campaign; {source} is not a directory")
        if topics is not None:
            raise InputError(f"--topics needs a campaign; {source} is not a directory")
        with formats.opened(source) as file:
            qrels = formats.read_qrels(file)
            warn_of_model(file)
        if not runs:
            raise click.UsageError("expected at least one RUN after QRELS")
        rel = relevance_level or 1
        chosen = list(parse_measures(names, rel))
        print_notices(out_of_reach(chosen, qrels))
        with progress_line("leaving runs out"):
            report = assess(formats.read_runs(runs), qrels, chosen, rel=rel, grades=grades, **options)
        if bounds:
            assumed = assumed_grades(grades, qrels.loc[qrels["relevance"] > 0, "relevance"])
            print_notices([assumed, *describe_search(chosen)])
    if form == "json":
        pool = {"depth": report.pool.depth, "runs": list(report.groups), "full": report.pool.full}
        print_json(vars(report) | {"pool": pool})
        return
    _print(report)


def _print(report: Reusability) -> None:
    """Print the verdict and the tables."""
    from collection.reusability import MIN_TOPICS

    if len(report.topics) < 2:  # tables of one topic would tell nothing about new systems
        echo(report.verdict[0])
        return
    for sentence in report.verdict:
        echo(sentence)
    if len(report.topics) < MIN_TOPICS:
        echo("The tables describe the runs on these topics, not the collection.")
    if report.ladder:
        echo("\nleave-one-out at each depth")
        rows = []
        for r in report.ladder:
            breaking, shares = f"{len(r.breaking):,} of {r.others + 1:,}", [f"{r.judged:.3f}", f"{r.known:.3f}"]
            rows.append([r.measure, r.verdict, r.change, r.worst, r.moved, breaking, *shares])
        header = [
            "measure",
            "verdict",
            "mean change",
            "worst change",
            "ranks changed",
            "runs above limit",
            "judged",
            "judged if pooled",
        ]
        print_table(header, rows)
    for measure, left_out in report.left_out.groupby("measure", sort=False):
        echo(f"\n{measure} of each run, leaving out its group")
        rows = []
        for row in left_out.itertuples():
            change = [row.before, row.after, f"{row.change:+.4f}"]
            rows.append([row.run, row.group, row.unique, row.relevant, *change, row.place_before, row.place_after])
        header = [
            "run", "group", "unique documents", "unique relevant", "pooled", "left out", "change", "rank pooled",
            "rank left out",
        ]  # fmt: skip
        print_table(header, rows)
    if report.bounds is not None:
        echo("\nbounds over all grades of the unjudged documents")
        bounds = report.bounds[["run", "measure", "lowest", "value", "highest"]]
        print_table(bounds.columns.tolist(), bounds.to_numpy().tolist())
    echo("\ntopics with the most influence on the ranking of systems")
    topics = sort_naturally(report.topics).sort_values("without", kind="stable").head(SHOWN)
    print_table(
        ["topic", "judged", "relevant", "mean", "median", "SD", "tau, topic alone", "tau, all other topics"],
        [[*row[:3], *row[4:]] for row in topics.to_numpy().tolist()],
    )
    print_notices(estimate.assumption for estimate in report.missing)
