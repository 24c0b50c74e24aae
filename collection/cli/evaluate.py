"""`cleverdon evaluate` and `cleverdon measures`: commands that need no campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from collection.cli.options import (
    BOUNDS,
    COMPAT,
    FILE,
    QRELS_FORM,
    form_option,
    grade,
    measures_option,
    parse_scale,
    runs_argument,
)
from collection.cli.output import echo, echo_data, print_evaluation, print_notices, print_table, progress_line
from collection.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from collection.comparison import Evaluation
    from collection.formats import QrelsForm
    from collection.measures import Measure, Version


def parse_measures(
    asked: Sequence[str], relevance_level: float | None, judged_only: bool = False
) -> dict[Measure, str]:
    """The measures of a command line, with their names there; none may be repeated.

    A notice says which measures stand for the names of other tools.
    """
    from collection.measures import read

    labels: dict[Measure, str] = {}
    notes = []
    for text in asked:
        found = read(text, relevance_level)
        notes += [found.note] if found.note else []
        for plain, label in zip(found.measures, found.labels, strict=True):
            measure = plain(judged_only=True) if judged_only else plain
            if measure in labels:
                raise click.UsageError(f"the measure {label} is asked for twice")
            labels[measure] = label
    print_notices(["; ".join(notes)] if notes else [])
    return labels


def parse_one(asked: str) -> Measure:
    """The measure of an option that takes one."""
    measure, *others = parse_measures([asked], None)
    if others:
        raise click.UsageError(f"{asked} names {1 + len(others)} measures, and one is wanted here: name it alone")
    return measure


def read_qrels_for(measures: Sequence[Measure], path: Path, form: QrelsForm | None) -> pd.DataFrame:
    """Qrels with the columns that the measures need, or in the given form."""
    qrels = _read_qrels(measures, path, form)
    topics = qrels["relevance"].groupby(qrels["query_id"], observed=True).max()
    if ungraded := int((topics < 0).sum()):
        print_notices([f"{path}: {ungraded} of {len(topics)} topics have no judged document and count as 0"])
    return qrels


def evaluate_files(
    runs: Sequence[Path], qrels: pd.DataFrame, measures: list[Measure], costs: Path | None, **options: Any
) -> Evaluation:
    """Evaluate run files, with progress on stderr; `options` as for :func:`collection.comparison.evaluate`.

    The evaluation has the costs of the file `costs`; rows of the file that belong to no run are reported.
    """
    from collection import comparison, formats

    table = None if costs is None else formats.read_costs(costs)
    with progress_line("evaluating") as progress:
        done = iter(range(1, len(runs) + 1))
        evaluation = comparison.evaluate(
            formats.read_runs(runs), qrels, measures, lambda _: progress("runs", next(done), len(runs)), **options
        )
    if costs is None or table is None:
        return evaluation
    place = f"{costs}, line {formats.find_run_line(costs, table['run'].iloc[0])}"
    evaluation = comparison.with_costs(evaluation, table, place)
    if unknown := comparison.unknown_costs([c.run for c in evaluation.coverage], table):
        names = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
        print_notices([f"{costs}: no run or system is called {names}"])
    return evaluation


def _read_qrels(measures: Sequence[Measure], path: Path, form: QrelsForm | None) -> pd.DataFrame:
    from collection import formats

    needs = {m.entry.needs: str(m) for m in measures if m.entry.needs}
    if form is not None:
        return formats.read_qrels(path, form=form)
    if not needs:
        _refuse_fifth_column(path)
        try:
            return formats.read_qrels(path)
        except FormatError as error:
            if "found a run" in str(error):
                command = f"cleverdon {click.get_current_context().info_name}"
                raise InputError(f"{error}; the qrels come first: {command} QRELS RUN...") from None
            raise
    (need, measure), *others = needs.items()
    if others:
        raise InputError(f"{measure} needs {need} and {others[0][1]} {others[0][0]}: no qrels have both, ask apart")
    try:
        qrels = formats.read_qrels(path, form=need)
    except FormatError as error:
        raise InputError(f"{measure} needs qrels with {need}: {error}") from None
    if need == "strata" and qrels["relevance"].dtype.kind == "f":
        raise InputError(
            f"{path}: column 5 has fractions where {measure} looks for grades, with strata in column 4; "
            "if they are probabilities, say --qrels-form probabilities"
        )
    if need == "subtopics" and qrels["subtopic"].nunique() < 2:
        print_notices([f"{path}: column 2 is {qrels['subtopic'].iloc[0]!r} throughout, one subtopic for {measure}"])
    return qrels


def _refuse_fifth_column(path: Path) -> None:
    """Refuse qrels with a number behind the grade: the number may be the grade itself, behind a stratum."""
    from collection.formats.tables.lines import data_lines, parse_score

    _, line, columns = next(data_lines(path, "qrels"), (0, "", []))
    if len(columns) == 5 and parse_score(columns[4]) is not None:
        raise InputError(
            f"{path}: the lines have a number in column 5 ({line.strip()!r}); say what it is: --qrels-form strata "
            "(the grade, behind a stratum), probabilities (of being judged), or judged (to pass it over)"
        )


@click.command()
@click.argument("qrels", type=FILE)
@runs_argument("RUN...", required=True)
@measures_option("As nDCG@10, AP, P@5, AP(rel=2)@100, or as other tools call it: map, P_5; may be repeated.")
@click.option("--per-topic", is_flag=True, help="The value of every topic, not only the mean.")
@click.option(
    "--relevance-level",
    type=grade,
    help="Lowest grade that counts as relevant, as 1 or 0.5 (1 if left out); measures of grades look at all of them.",
)
@click.option("--judged-only", is_flag=True, help="Take unjudged documents out of every ranking first.")
@BOUNDS
@click.option(
    "--grades", metavar="G", type=parse_scale, help="The scale, for --bounds: 0-3 or 0,1,2,3 (those of the qrels)."
)
@click.option("--explain", metavar="TOPIC", help="Show the calculation for this topic, rank by rank.")
@click.option("--costs", type=FILE, help="What the runs cost: a CSV or TSV with a column run; shown beside the values.")
@click.option(
    "--separate-seeds",
    is_flag=True,
    help="Show runs called NAME#1, NAME#2 one by one, not as their mean, the system NAME.",
)
@COMPAT
@QRELS_FORM
@form_option("table", "tsv", "csv", "json")
def evaluate(
    qrels: Path,
    runs: tuple[Path, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    relevance_level: float | None,
    judged_only: bool,
    bounds: bool,
    grades: list[float] | None,
    explain: str | None,
    costs: Path | None,
    separate_seeds: bool,
    compat: Version,
    qrels_form: QrelsForm | None,
    form: str,
) -> None:
    """Evaluate RUNs by QRELS: means over all topics of the qrels; one that a run lacks is an empty ranking.

    Runs called NAME#1, NAME#2 are seeds of the system NAME and are shown as their mean, as `cleverdon compare` does.
    """
    from collection import comparison, formats

    labels = parse_measures(measures or comparison.DEFAULT_MEASURES, relevance_level, judged_only)
    parsed = list(labels)
    if grades is not None and not bounds:
        raise click.UsageError("--grades is for --bounds")
    judged = read_qrels_for(parsed, qrels, qrels_form)
    if explain is not None:
        if bounds or per_topic or costs is not None or form != "table":
            raise click.UsageError("--explain goes without --bounds, --per-topic, --costs and --format")
        print_notices(comparison.out_of_reach(parsed, judged))
        for run in formats.read_runs(runs):
            for measure in parsed:
                echo(f"{run.name}: {comparison.explain(run, judged, measure, explain, compat)}\n")
        return
    evaluation = evaluate_files(runs, judged, parsed, costs, version=compat, with_bounds=bounds, grades=grades)
    names = [c.run for c in evaluation.coverage]
    if not separate_seeds:
        evaluation, _ = comparison.merge_seeds(evaluation)
    # Scripts find the measures under the names that they asked for.
    evaluation.values["measure"] = evaluation.values["measure"].map({str(m): label for m, label in labels.items()})
    print_evaluation(evaluation, per_topic, form, judged_only)
    if not separate_seeds:
        print_notices(
            f"{system} is the mean of {len(members)} runs, {system}#...; --separate-seeds shows each"
            for system, members in comparison.group_seeds(names).items()
            if len(members) > 1
        )


@click.command()
@click.argument("name", required=False)
@form_option("table", "markdown")
def measures(name: str | None, form: str) -> None:
    """List all measures, or say everything about the one called NAME."""
    from collection.measures import parse_name
    from collection.measures.catalogue import describe, families, markdown, written

    if name is not None:
        echo(describe(parse_name(name)))
    elif form == "markdown":
        echo_data(markdown())
    else:
        for headline, entries in families():
            echo(headline)
            print_table(["", ""], [["  " + written(e), e.description] for e in entries], with_header=False)
            echo()
        echo("cleverdon measures NAME says more: formula, parameters, source.")
