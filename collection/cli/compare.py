"""`cleverdon compare`: leaderboard and significance tests of run files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from collection.cli.evaluate import add_costs, estimate_files, evaluate_files, parse_measures, read_qrels_for
from collection.cli.methods import Names
from collection.cli.options import (
    COMPAT,
    EXCLUDE,
    EXPECTED,
    INPUT,
    LEFT_OUT,
    QRELS_FORM,
    UNJUDGED,
    SectionedCommand,
    combine_options,
    form_option,
    grade,
    measures_option,
    option_section,
    refuse_other_options,
    runs_argument,
)
from collection.cli.output import echo, format_cost, print_frame, print_json, print_notices, progress_line
from collection.cli.results import print_comparison, print_estimated_comparison
from collection.core.phrases import count, join, join_first

if TYPE_CHECKING:
    import pandas as pd

    from collection.comparison import Comparison, Evaluation
    from collection.formats import QrelsForm, Source
    from collection.measures import Version

NOT_ESTIMATED = ("test", "correction", "systems", "topic", "depth", "costs", "frontier", "power", "compat")
"""Options that have no meaning for estimates, which are not tested."""

_tests, _views = option_section("Significance tests"), option_section("Other tables")

TESTED = combine_options(
    _tests("--baseline", metavar="RUN", help="System to test all others against; by default the best."),
    _tests(
        "--test",
        type=Names("auto", "paired-t", "permutation", "bootstrap", "wilcoxon"),
        default="auto",
        show_default=False,
        help="Paired test; auto (default) chooses by the number of topics and the skewness of the differences.",
    ),
    _tests(
        "--correction",
        type=Names("holm", "bonferroni", "benjamini-hochberg", "none"),
        default="holm",
        show_default=False,
        help="Correction for multiple testing; by default holm.",
    ),
    _tests("--alpha", default=0.05, help="Significance level."),
    _tests("--all-pairs", is_flag=True, help="Test all pairs of systems with the randomised Tukey HSD test."),
    _tests("--seed", default=0, help="Random seed for reproducible p-values."),
)
"""Options of commands that test differences between systems."""


@click.command(cls=SectionedCommand)
@click.argument("qrels", type=INPUT)
@runs_argument("RUN...", required=True)
@measures_option()
@click.option("--relevance-level", metavar="G", type=grade, help="Minimum relevant grade of binary measures.")
@click.option(
    "--separate-seeds",
    is_flag=True,
    help="Compare runs NAME#1, NAME#2 separately, not their mean as NAME.",
)
@UNJUDGED
@EXCLUDE
@COMPAT
@QRELS_FORM
@form_option("table", "tsv", "json", "latex", "markdown")
@TESTED
@_views("--systems", nargs=2, metavar="A B", help="Values of two runs by topic, largest difference first.")
@_views("--topic", metavar="Q", help="With --systems: values and rankings of both runs for this topic.")
@_views("--depth", default=10, help="Ranks to show with --topic.")
@_views("--costs", type=INPUT, help="Costs of the runs (CSV, TSV) with the column run, for --frontier.")
@_views("--frontier", metavar="COST", help="Column of --costs; shows which systems are dominated in value and cost.")
@_views("--power", metavar="D", type=float, help="Number of topics needed to detect a difference of D.")
def compare(
    qrels: Source,
    runs: tuple[Source, ...],
    measures: tuple[str, ...],
    test: str,
    correction: str,
    costs: Source | None,
    frontier: str | None,
    systems: tuple[str, str] | None,
    topic: str | None,
    depth: int,
    power: float | None,
    relevance_level: float | None,
    unjudged: str,
    pool_depth: int | None,
    compat: Version,
    qrels_form: QrelsForm | None,
    exclude_query_document: bool,
    form: str,
    **settings: Any,
) -> None:
    """Compare systems: leaderboard, significance tests, costs.

    Runs NAME#1, NAME#2 are seeds of the system NAME and are compared by their mean. A folder means all run
    files in it.

    For example:
      cleverdon compare qrels.txt runs/ -m nDCG@10 --baseline bm25
      cleverdon compare qrels.txt runs/ -m AP --systems bm25 dense
    """
    from collection import comparison, formats

    refuse_other_options(unjudged, pool_depth, *NOT_ESTIMATED)
    views = _require_consistent(systems, topic, power, costs, frontier, form)
    # The table shows the share of unjudged documents next to every value, so the default measures of it are left out.
    requested = parse_measures(measures or comparison.DEFAULT_MEASURES, relevance_level, unjudged == LEFT_OUT)
    parsed = [measure for measure in requested if measures or not measure.entry.descriptive]
    if unjudged == EXPECTED:
        judged = read_qrels_for(parsed, qrels, qrels_form, formats.read_qrels)
        baseline, all_pairs = settings.pop("baseline"), settings.pop("all_pairs")
        labels = {measure: str(measure) for measure in parsed}
        estimates = estimate_files(runs, judged, labels, exclude_query_document, depth=pool_depth, **settings)
        print_estimated_comparison(estimates, baseline, all_pairs, form)
        return
    if systems is not None and topic is not None:
        judged = read_qrels_for(parsed, qrels, qrels_form, formats.read_qrels)
        named = {
            run.name: run
            for run in formats.read_runs(runs, exclude_query_document=exclude_query_document)
            if run.name in systems
        }
        if missing := [name for name in systems if name not in named]:
            raise click.UsageError(f"--systems: expected two of the runs, found {missing[0]!r}")
        a, b = (named[name] for name in systems)
        print_notices(comparison.out_of_reach(parsed, judged))
        ranks = comparison.side_by_side(a, b, judged, topic, depth)
        _print_topic(topic, comparison.evaluate([a, b], judged, parsed, version=compat), ranks, systems, form)
        return
    index = read_qrels_for(parsed, qrels, qrels_form, formats.read_index)
    table = formats.read_costs(costs) if costs else None
    evaluation = evaluate_files(runs, index, parsed, version=compat, exclude_query_document=exclude_query_document)
    if costs is not None and table is not None:
        evaluation = add_costs(evaluation, costs, table)
    print_notices(evaluation.notes if views else ())  # the notes of a comparison include them
    if systems is not None:
        print_frame(_topics(evaluation, systems), form)
        return
    with progress_line("testing differences"):
        compared = comparison.compare(evaluation, test=test, correction=correction, **settings)
    if frontier is not None:
        _print_frontier(compared, frontier, form)
    elif power is not None:
        _print_power(compared, power, form)
    else:
        print_comparison(compared, form)
        print_notices(compared.notes)


def _require_consistent(
    systems: tuple[str, str] | None,
    topic: str | None,
    power: float | None,
    costs: Source | None,
    frontier: str | None,
    form: str,
) -> list[str]:
    """Refuse options that contradict each other; return those that ask for another table than the leaderboard."""
    views = [name for name, value in (("--frontier", frontier), ("--systems", systems), ("--power", power)) if value]
    if systems is not None and systems[0] == systems[1]:
        raise click.UsageError(f"expected two different runs after --systems, found {systems[0]} twice")
    if len(views) > 1:
        raise click.UsageError(f"expected only one of {join(views)}")
    if views and form in ("latex", "markdown"):
        raise click.UsageError(f"expected --format table, tsv or json with {views[0]}, found {form}")
    if (costs is None) != (frontier is None):
        raise click.UsageError("--costs needs --frontier" if frontier is None else "--frontier needs --costs")
    if topic is None and click.get_current_context().get_parameter_source("depth") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--depth needs --topic")
    if power is not None and power <= 0:
        raise click.BadParameter(f"expected a difference above 0, found {power:g}", param_hint="--power")
    if topic is not None and systems is None:
        raise click.UsageError("--topic needs --systems A B")
    return views


def _columns_for(a: str, b: str) -> dict[str, str]:
    """New names for the columns of `side_by_side` and `differences`: the runs' names in place of the letters."""
    names = {f"{what}_{letter}": f"{what} {name}" for letter, name in (("a", a), ("b", b)) for what in ("doc", "grade")}
    values = {"value_a": f"value {a}", "value_b": f"value {b}"}  # a run may be called as a column is
    return names | values | {"rank_in_a": f"rank in {a}", "rank_in_b": f"rank in {b}"}


def _topics(evaluation: Evaluation, systems: tuple[str, str]) -> pd.DataFrame:
    """The values of two runs for every measure and topic."""
    import pandas as pd

    from collection import comparison

    names = map(str, evaluation.means())
    tables = [comparison.differences(evaluation, *systems, name).assign(measure=name) for name in names]
    columns = ["measure", "query_id", "value_a", "value_b", "difference"]
    return pd.concat(tables, ignore_index=True)[columns].rename(columns=_columns_for(*systems))


def _print_topic(topic: str, evaluation: Evaluation, ranks: pd.DataFrame, systems: tuple[str, str], form: str) -> None:
    """Print the values and rankings of two runs for a topic; TSV has the rankings only."""
    if form == "table":
        ranks = ranks.assign(**ranks[["grade_a", "grade_b"]].map("{:g}".format, na_action="ignore"))
    ranks = ranks.rename(columns=_columns_for(*systems))
    values = _topics(evaluation, systems)
    values = values[values["query_id"] == topic].drop(columns="query_id")
    if form == "tsv":
        print_frame(ranks.assign(query_id=topic)[["query_id", *ranks]], form)
    elif form == "json":
        print_json({"query_id": topic, "values": values, "ranks": ranks})
    else:
        echo(f"topic {topic}\n")
        if values.empty:
            echo("No values: the topic is not in the qrels.")
        else:
            print_frame(values, form)
        echo()
        print_frame(ranks, form)


def _print_frontier(compared: Comparison, cost: str, form: str) -> None:
    import pandas as pd

    from collection import comparison

    means, costs = compared.evaluation.means(), compared.evaluation.costs
    assert costs is not None  # the options go together
    parts = [
        comparison.frontier(means, costs, name, cost, measure.direction).assign(measure=name)
        for name, measure in compared.evaluation.measures.items()
    ]
    table = pd.concat(parts, ignore_index=True).rename(columns={"cost": cost})
    table = table[["measure", "system", "value", cost, "dominated", "by"]]
    if form == "table":
        table["by"] = table["by"].map(lambda names: join_first(names.split(", "), 2))
        table[cost] = table[cost].map(format_cost)
        table = table.drop(columns="dominated").rename(columns={"by": "dominated by"})
    print_frame(table, form)
    unknown = means.index[costs[cost].isna()].tolist()
    if unknown:
        print_notices([f"no value of {cost} for {join_first(unknown)}"])


def _print_power(compared: Comparison, difference: float, form: str) -> None:
    """Print the number of topics needed, for the median and the largest spread of differences."""
    import pandas as pd

    from collection.statistics import compute_detectable, compute_topics_needed

    rows = []
    for measure, tests in compared.tests.groupby("measure", sort=False):
        topics = int(tests["topics"].iloc[0])
        spreads = tests["detectable"] / compute_detectable(1.0, topics, alpha=compared.alpha)
        for which, spread in (("median", spreads.median()), ("largest", spreads.max())):
            if spread > 0:
                needed = compute_topics_needed(difference, spread, alpha=compared.alpha)
                seen = compute_detectable(spread, topics, alpha=compared.alpha)
                rows.append([str(measure), which, spread, needed, topics, seen])
    if not rows:
        raise click.UsageError("--power needs at least two runs with different values")
    columns = ["measure", "comparison", "SD of differences", "topics needed", "topics here", "detectable here"]
    if form == "table":
        most = max(int(row[3]) for row in rows)
        answer = f"A difference of {difference:g} needs up to {count(most, 'topic')}"
        echo(f"{answer}, depending on the measure and the systems; there are {compared.topics:,}.\n")
    print_frame(pd.DataFrame(rows, columns=columns), form)
    print_notices(
        [
            f"for 80% power with one paired t-test at significance level {compared.alpha:g}; SD: standard deviation "
            "over topics, the median and the largest of all comparisons"
        ]
    )
