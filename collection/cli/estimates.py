"""`--unjudged` of evaluate and compare: options, estimation of files, and the output of estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from collection.cli.options import COUNT, combine_options
from collection.cli.output import echo, echo_data, print_json, print_notices, print_table, progress_line
from collection.core.phrases import confidence, count, decimal
from collection.core.records import ALL_TOPICS

if TYPE_CHECKING:
    import pandas as pd

    from collection.comparison import Estimates
    from collection.formats import Source
    from collection.measures import Measure

NOT_RELEVANT, LEFT_OUT, EXPECTED = "not-relevant", "left-out", "expected"

UNJUDGED = combine_options(
    click.option(
        "--unjudged",
        type=click.Choice([NOT_RELEVANT, LEFT_OUT, EXPECTED]),
        default=NOT_RELEVANT,
        help="How most measures count unjudged documents; expected draws their grades from a model, for estimates.",
    ),
    click.option(
        "--pool-depth",
        type=COUNT,
        metavar="N",
        help="Ranks of each run in the pool, for --unjudged expected; by default the deepest cut-off of the measures, "
        "or 100 if one has none.",
    ),
)


def refuse_other_options(unjudged: str, pool_depth: int | None, *names: str) -> None:
    """Refuse --pool-depth without expected grades, and with them the given options that have no meaning for estimates.

    `names` are those of parameters of the command.
    """
    context = click.get_current_context()
    if unjudged != EXPECTED:
        if pool_depth is not None:
            raise click.UsageError("--pool-depth needs --unjudged expected")
        return
    written = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    given = [n for n in names if context.get_parameter_source(n) is ParameterSource.COMMANDLINE]
    if given:
        raise click.UsageError(f"--unjudged expected cannot be combined with {written[given[0]]}")


def estimate_files(
    runs: Sequence[Source],
    qrels: pd.DataFrame,
    labels: Mapping[Measure, str],
    exclude_query_document: bool = False,
    **options: Any,
) -> Estimates:
    """Estimate the values of run files, with the measures named as typed; `options` as for :func:`estimate`."""
    from dataclasses import replace

    from collection import estimation, formats

    with progress_line("estimating unjudged grades"):
        read = formats.read_runs(runs, exclude_query_document=exclude_query_document)
        found = estimation.estimate(read, qrels, list(labels), **options)
    names = {str(measure): label for measure, label in labels.items()}
    return replace(
        found,
        values=found.values.assign(measure=found.values["measure"].map(names)),
        pairs=found.pairs.assign(measure=found.pairs["measure"].map(names)),
    )


def print_estimates(found: Estimates, per_topic: bool, form: str) -> None:
    """Print the estimates of `evaluate`."""
    from collection.core.records import sort_naturally
    from collection.formats.spreadsheet import escape_frame, to_tsv

    values = found.values if per_topic else found.values[found.values["query_id"] == ALL_TOPICS]
    if form == "tsv":
        echo_data(to_tsv(values), nl=False)
    elif form == "csv":
        echo_data(escape_frame(values).to_csv(index=False, lineterminator="\n", na_rep="nan"), nl=False)
    elif form == "json":
        print_json({"about": found.about, "estimates": values, "pool": found.pool, "notes": found.notes})
        return
    elif per_topic:
        for run, of_run in values.groupby("run", sort=False):
            of_all = of_run["query_id"] == ALL_TOPICS
            echo(str(run))
            _print_values("topic", "query_id", [*_rows(sort_naturally(of_run[~of_all])), *_rows(of_run[of_all])], found)
            echo()
        echo(found.about)
    else:
        _print_values("run", "run", _rows(values), found)
        echo(f"\n{found.about}")
    print_notices([*([] if form == "table" else [found.about]), *found.notes])


def print_estimated_comparison(found: Estimates, baseline: str | None, all_pairs: bool, form: str) -> None:
    """Print the estimates of `compare`: the systems in order, and probabilities of the order."""
    from collection.formats.spreadsheet import to_tsv

    measures = [str(measure) for measure in found.table()]
    against = {measure: found.against(measure, baseline) for measure in measures}
    if form == "latex":
        echo_data(found.latex())
    elif form == "markdown":
        echo_data(found.markdown())
    elif form == "json":
        estimates = found.values[found.values["query_id"] == ALL_TOPICS].drop(columns="query_id")
        written = {"about": found.about, "alpha": found.alpha, "draws": found.draws, "pool": found.pool}
        print_json(written | {"estimates": estimates, "pairs": found.pairs, "notes": found.notes})
        return
    elif form == "tsv":
        echo_data(to_tsv(found.pairs if all_pairs else _with_differences(found, against)), nl=False)
    else:
        for measure in measures:
            echo(found.sentence(measure))
        echo(f"{found.about}\n")
        order = found.order()
        rows = sorted(
            _rows(found.values[found.values["query_id"] == ALL_TOPICS]), key=lambda row: order.index(row["run"])
        )
        _print_values("system", "run", rows, found)
        for measure in measures:
            _print_probabilities(found, measure, against[measure], all_pairs)
    print_notices([*([] if form in ("table", "latex", "markdown") else [found.about]), *found.notes])


def _with_differences(found: Estimates, against: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row per system and measure, with the difference from the baseline."""
    import pandas as pd

    of_all = found.values[found.values["query_id"] == ALL_TOPICS].drop(columns="query_id")
    compared = pd.concat(against.values(), ignore_index=True)
    return of_all.rename(columns={"run": "system"}).merge(compared, on=["system", "measure"], how="left")


def _print_probabilities(found: Estimates, measure: str, against: pd.DataFrame, all_pairs: bool) -> None:
    sure = f"{confidence(found.alpha)} of draws"
    header = ["difference (estimate)", sure, "probability of being better"]
    if all_pairs:
        rows = _rows(found.pairs[found.pairs["measure"] == measure])
        echo(f"\n{measure}: {count(len(rows), 'pair')} of systems, better estimate first")
        names = [f"{row['system_a']} - {row['system_b']}" for row in rows]
    elif against.empty:
        return
    else:
        rows = _rows(against)
        echo(f"\n{measure} vs. {against['baseline'].iloc[0]}, once all pairs of the pool are judged")
        names = [row["system"] for row in rows]
    cells = [
        [
            name,
            f"{row['difference_estimate']:+.4f}",
            f"{row['difference_low']:.4f} to {row['difference_high']:.4f}",
            found.chance(row["probability_better"]),
            found.chance(row["probability_equal"]) if row["probability_equal"] else "",
        ]
        for name, row in zip(names, rows, strict=True)
    ]
    first = "pair" if all_pairs else "system"
    print_table([first, *header, "probability of being equal"], cells, optional=["probability of being equal"])


def _print_values(first: str, by: str, rows: Sequence[dict[str, Any]], found: Estimates) -> None:
    """Print ``estimate (low to high)`` in one column per measure."""
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        low, high = decimal(row["estimate_low"]), decimal(row["estimate_high"])
        cells.setdefault(row[by], {})[row["measure"]] = f"{decimal(row['estimate'])} ({low} to {high})"
    header = [first, *(f"{measure} (estimate, {confidence(found.alpha)} of draws)" for measure in measures)]
    print_table(header, [[name, *(of[measure] for measure in measures)] for name, of in cells.items()], numbers=True)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
