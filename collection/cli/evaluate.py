"""`cleverdon evaluate` and `cleverdon measures`, which need no campaign."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from collection.cli.options import (
    BOUNDS,
    CLUSTER,
    COMPAT,
    EXCLUDE,
    EXPECTED,
    INPUT,
    LEFT_OUT,
    QRELS_FORM,
    UNJUDGED,
    form_option,
    grade,
    measures_option,
    parse_scale,
    refuse_other_options,
    runs_argument,
)
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.cli.results import print_estimates, print_evaluation
from collection.core import errors
from collection.core.errors import FormatError, InputError
from collection.core.phrases import count, join_first, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from collection.comparison import Estimates, Evaluation
    from collection.formats import QrelsForm, Source
    from collection.measures import Measure, QrelsIndex, Version

T = TypeVar("T", bound="pd.DataFrame | QrelsIndex")

MOST_TOGETHER, LEAST_CALLS = 10, 16
"""Largest number of runs that a worker of a cluster evaluates in one call, which reads the index of the qrels once; and
the calls that runs are divided into before several of them share one, so that all workers have some."""


def parse_measures(
    texts: Sequence[str], relevance_level: float | None, judged_only: bool = False
) -> dict[Measure, str]:
    """Parse measures, and keep their names as typed; none may be repeated.

    A notice lists the measures that were given by their names in other tools.
    """
    from collection.measures import read

    labels: dict[Measure, str] = {}
    notes = []
    for text in texts:
        parsed = read(text, relevance_level)
        notes += [parsed.note] if parsed.note else []
        for plain, label in zip(parsed.measures, parsed.labels, strict=True):
            measure = plain(judged_only=True) if judged_only else plain
            if measure in labels:
                first = labels[measure]
                same = f"the measures {first} and {label} are the same ({measure})" if first != label else ""
                raise click.UsageError(f"{same}; give one of them" if same else f"the measure {label} is given twice")
            labels[measure] = label
    print_notices(["; ".join(notes)] if notes else [])
    return labels


def parse_one(text: str) -> Measure:
    """Parse the measure of an option that takes one."""
    measure, *others = parse_measures([text], None)
    if others:
        raise click.UsageError(f"expected one measure, found {1 + len(others)} in {text}")
    return measure


def read_qrels_for(
    measures: Sequence[Measure], path: Source, form: QrelsForm | None, read: Callable[..., T]
) -> T | pd.DataFrame:
    """Read qrels by `read`, or as a frame if the measures or the form need further columns; print notices on them."""
    from collection.machine_labels.model_families import warn_of_model
    from collection.measures import QrelsIndex
    from collection.measures.aligned import UNJUDGED

    qrels = _read_qrels(measures, path, form, read)
    warn_of_model(path)
    if isinstance(qrels, QrelsIndex):
        is_graded = qrels.has_judged
    else:
        is_graded = (qrels["relevance"] > UNJUDGED).groupby(qrels["query_id"], observed=True).any().to_numpy()
    if ungraded := int((~is_graded).sum()):
        topics = count(len(is_graded), "topic")
        print_notices([f"{path}: {ungraded:,} of {topics} without judged documents count as 0"])
    return qrels


def evaluate_files(
    runs: Sequence[Source],
    qrels: pd.DataFrame | QrelsIndex,
    measures: list[Measure],
    *,
    cluster: str | None = None,
    exclude_query_document: bool = False,
    **options: Any,
) -> Evaluation:
    """Evaluate run files, with progress on stderr; `options` as for :func:`comparison.evaluate`.

    With the address of a Dask scheduler, its workers read and evaluate the files.
    """
    from collection import comparison, formats

    with progress_line("evaluating") as progress:
        if cluster is None:
            done = iter(range(1, len(runs) + 1))
            files = formats.RunFiles(runs, exclude_query_document=exclude_query_document)
            return comparison.evaluate(
                files, qrels, measures, lambda _: progress("runs", next(done), len(runs)), **options
            )
        from collection.cluster import map_items

        if pipe := next((path for path in runs if path.is_pipe), None):
            raise InputError(f"{pipe}: expected a file with --cluster, whose workers open it, found a pipe")
        parts = []
        # Workers have another working directory; a name that is no file is a dataset.
        places = [path.absolute() if path.exists() else path for path in map(Path, runs)]
        named = list(zip(places, formats.name_runs(runs), strict=True))
        size = max(1, min(MOST_TOGETHER, len(runs) // LEAST_CALLS))
        groups = [named[first : first + size] for first in range(0, len(named), size)]
        each = ((qrels, (group, exclude_query_document, measures, options)) for group in groups)
        for part in map_items(_evaluate_group, each, cluster):
            parts.append(part)
            progress("runs", sum(len(done.coverage) for done in parts), len(runs))
        return comparison.Evaluation.merge(parts)


def _evaluate_group(
    qrels: pd.DataFrame | QrelsIndex, own: tuple[list[tuple[Path, str]], bool, list[Measure], dict[str, Any]]
) -> Evaluation:
    from collection import comparison, formats

    named, exclude, measures, options = own
    paths, names = zip(*named, strict=True)
    return comparison.evaluate(
        formats.RunFiles(paths, names, exclude_query_document=exclude), qrels, measures, **options
    )


def estimate_files(
    runs: Sequence[Source],
    qrels: pd.DataFrame,
    labels: Mapping[Measure, str],
    exclude_query_document: bool = False,
    **options: Any,
) -> Estimates:
    """Estimate the values of run files, with the measures named as typed; `options` as for :func:`estimate`."""
    from collection import estimation, formats

    with progress_line("estimating unjudged grades"):
        read = formats.read_runs(runs, exclude_query_document=exclude_query_document)
        estimates = estimation.estimate(read, qrels, list(labels), **options)
    names = {str(measure): label for measure, label in labels.items()}
    return replace(
        estimates,
        values=estimates.values.assign(measure=estimates.values["measure"].map(names)),
        pairs=estimates.pairs.assign(measure=estimates.pairs["measure"].map(names)),
    )


def add_costs(evaluation: Evaluation, path: Source, table: pd.DataFrame) -> Evaluation:
    """Add the costs of a file; report the rows that belong to no run."""
    from collection import comparison, formats

    where = errors.place(path, formats.find_run_line(path, table["run"].iloc[0]))
    evaluation = comparison.with_costs(evaluation, table, where)
    if unknown := comparison.unknown_costs([c.run for c in evaluation.coverage], table):
        are = plural(len(unknown), "is", "are")
        print_notices([f"{path}: {join_first(map(repr, unknown))} {are} not among the runs"])
    return evaluation


def _read_qrels(
    measures: Sequence[Measure], path: Source, form: QrelsForm | None, read: Callable[..., T]
) -> T | pd.DataFrame:
    from collection import formats

    needs = {m.entry.needs: str(m) for m in measures if m.entry.needs}
    if form is not None:
        return read(path, form=form)
    if not needs:
        _refuse_other(path)
        return read(path)
    (need, measure), *others = needs.items()
    if others:
        raise InputError(
            f"{measure} needs qrels with {need}, {others[0][1]} qrels with {others[0][0]}: evaluate them separately"
        )
    try:
        qrels = formats.read_qrels(path, form=need)
    except FormatError as error:
        raise InputError(f"{measure} needs qrels with {need}: {error}") from None
    if need == "strata" and qrels["relevance"].dtype.kind == "f":
        raise InputError(
            f"{path}: expected strata in column 4 and grades in column 5 for {measure}, found fractions in column 5; "
            "if they are probabilities, add --qrels-form probabilities"
        )
    if need == "subtopics" and qrels["subtopic"].nunique() < 2:
        print_notices(
            [f"{path}: column 2 is always {qrels['subtopic'].iloc[0]!r}, so {measure} is computed with 1 subtopic"]
        )
    return qrels


def _refuse_other(path: Source) -> None:
    """Refuse a file that is surely no qrels, and qrels whose grade is not clear."""
    from collection.formats import kinds

    other = kinds.recognise(path, kinds.QRELS)
    if other is None or not other.certain:
        _refuse_fifth_column(path)
    elif other.kind == kinds.RUN:
        command = f"cleverdon {click.get_current_context().info_name} QRELS RUN..."
        raise InputError(f"{path}: expected qrels, found {kinds.describe(other)}; give the qrels first: {command}")


def _refuse_fifth_column(path: Source) -> None:
    """Refuse qrels with a number in column 5, which may be the grade itself, after a stratum."""
    from collection import formats
    from collection.formats.tables.lines import data_lines, parse_score

    if formats.is_binary(path):
        return
    _, line, columns = next(data_lines(path, "qrels"), (0, "", []))
    if len(columns) == 5 and parse_score(columns[4]) is not None:
        raise InputError(
            f"{path}: expected 4 columns, found a number in column 5 ({line.strip()!r}); add --qrels-form strata "
            "(column 4 is the stratum, 5 the grade), probabilities (column 5 is the sampling probability) or "
            "judged (ignore column 5)"
        )


@click.command()
@click.argument("qrels", type=INPUT)
@runs_argument("RUN...", required=True)
@measures_option("Measure, such as nDCG@10, AP(rel=2)@100 or P_5; repeatable.")
@click.option("--per-topic", is_flag=True, help="Show the values of every topic, not only means.")
@click.option(
    "--relevance-level",
    type=grade,
    metavar="G",
    help="Minimum relevant grade of binary measures; by default 1.",
)
@click.option(
    "--judged-only",
    is_flag=True,
    help="Remove unjudged documents from every ranking first, as --unjudged left-out does.",
)
@UNJUDGED
@EXCLUDE
@BOUNDS
@click.option(
    "--grades",
    metavar="SCALE",
    type=parse_scale,
    help="Grade scale for --bounds and --unjudged expected, such as 0-3; by default from QRELS.",
)
@click.option("--explain", metavar="TOPIC", help="Show the calculation for this topic, rank by rank.")
@click.option("--costs", type=INPUT, help="Costs to show next to the values (CSV, TSV) with the column run.")
@click.option(
    "--separate-seeds",
    is_flag=True,
    help="Show runs NAME#1, NAME#2 separately, not their mean as NAME.",
)
@COMPAT
@QRELS_FORM
@CLUSTER
@form_option("table", "tsv", "csv", "json")
def evaluate(
    qrels: Source,
    runs: tuple[Source, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    relevance_level: float | None,
    judged_only: bool,
    unjudged: str,
    pool_depth: int | None,
    exclude_query_document: bool,
    bounds: bool,
    grades: list[float] | None,
    explain: str | None,
    costs: Source | None,
    separate_seeds: bool,
    compat: Version,
    qrels_form: QrelsForm | None,
    cluster: str | None,
    form: str,
) -> None:
    """Evaluate runs against qrels.

    Means are over all topics of QRELS; a topic missing from a run counts as an empty ranking. Runs NAME#1, NAME#2 are
    seeds of the system NAME and are shown as their mean. A folder means all run files in it.

    For example:
      cleverdon evaluate qrels.txt bm25.run -m nDCG@10 -m AP
      cleverdon evaluate qrels.txt runs/ --per-topic --format tsv
    """
    from collection import comparison, formats

    refuse_other_options(unjudged, pool_depth, "judged_only", "bounds", "explain", "costs", "compat", "cluster")
    judged_only, exclude = judged_only or unjudged == LEFT_OUT, exclude_query_document
    labels = parse_measures(measures or comparison.DEFAULT_MEASURES, relevance_level, judged_only)
    if grades is not None and not bounds and unjudged != EXPECTED:
        raise click.UsageError("--grades needs --bounds or --unjudged expected")
    if unjudged == EXPECTED:
        labels = {m: label for m, label in labels.items() if measures or not m.entry.descriptive}
        judged_frame = read_qrels_for(list(labels), qrels, qrels_form, formats.read_qrels)
        options: dict[str, Any] = {"depth": pool_depth, "scale": grades, "separate_seeds": separate_seeds}
        print_estimates(estimate_files(runs, judged_frame, labels, exclude, **options), per_topic, form)
        return
    parsed = list(labels)
    if explain is not None and (bounds or per_topic or costs is not None or cluster is not None or form != "table"):
        others = "--bounds, --per-topic, --costs, --cluster or --format"
        raise click.UsageError(f"--explain cannot be combined with {others}")
    judged = read_qrels_for(parsed, qrels, qrels_form, formats.read_index)
    if explain is not None:
        print_notices(comparison.out_of_reach(parsed, judged))
        for run in formats.read_runs(runs, exclude_query_document=exclude):
            for measure in parsed:
                echo(f"{run.name}: {comparison.explain(run, judged, measure, explain, compat)}\n")
        return
    table = formats.read_costs(costs) if costs else None
    options = {"version": compat, "with_bounds": bounds, "grades": grades}
    evaluation = evaluate_files(runs, judged, parsed, cluster=cluster, exclude_query_document=exclude, **options)
    evaluation = evaluation.rename_measures(labels)
    systems = comparison.group_seeds([c.run for c in evaluation.coverage])
    seeds = {system: members for system, members in systems.items() if len(members) > 1 and not separate_seeds}
    if costs is not None and table is not None:
        evaluation = add_costs(evaluation, costs, table)
    if seeds:
        evaluation, _ = comparison.merge_seeds(evaluation)
    print_evaluation(evaluation, per_topic, form, judged_only)
    print_notices(
        f"{system} is the mean of {len(members)} runs {system}#...; --separate-seeds shows each"
        for system, members in seeds.items()
    )


@click.command()
@click.argument("name", required=False)
@form_option("table", "markdown")
def measures(name: str | None, form: str) -> None:
    """List the measures, or describe one by its NAME.

    For example:
      cleverdon measures nDCG
    """
    from collection.generated_answers import ANSWER_MEASURES, find_entry
    from collection.measures import MEASURES, parse_name
    from collection.measures.catalogue import describe, families, reference, written

    every = [*MEASURES, *ANSWER_MEASURES]
    if name is not None:
        echo(describe(find_entry(name) or parse_name(name)))
    elif form == "markdown":
        echo_data(reference(every))
    else:
        for headline, entries in families(every):
            echo(headline)
            print_table(["", ""], [["  " + written(e), e.description] for e in entries], with_header=False)
            echo()
        echo("`cleverdon measures NAME` shows the formula, the parameters and the source.")
