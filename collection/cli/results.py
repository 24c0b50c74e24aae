"""The output of `evaluate` and `compare` in its forms: values, comparisons, and estimates of either."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from collection.cli.output import echo, echo_data, format_cost, print_frame, print_json, print_notices, print_table
from collection.core.characters import natural_key
from collection.core.phrases import confidence, count, decimal, join_first, probability
from collection.core.records import ALL_TOPICS

if TYPE_CHECKING:
    import pandas as pd

    from collection.comparison import Comparison, Estimates, Evaluation

Cells: TypeAlias = dict[str, list[tuple[str, str]]]
"""The columns and cells of each row, by the row's name."""

WRITTEN = ("baseline", "test", "correction", "alpha", "seed", "topics", "leaderboard", "tests", "pairs", "notes")
"""Attributes of a comparison in JSON."""

MARKS = {"better": "+", "worse": "-", "": " "}


def print_evaluation(evaluation: Evaluation, per_topic: bool, form: str, judged_only: bool = False) -> None:
    """Print values on stdout in one of the forms, and notices about missing and unjudged documents on stderr."""
    from collection.comparison import describe_coverage

    costs = evaluation.costs
    if form in ("csv", "json"):
        values = evaluation.values if per_topic else _select_all(evaluation.values)
        if form == "csv":
            print_frame(values, form)
        else:
            shown = {} if costs is None else {"costs": costs.reset_index()}
            print_json({"values": values, "coverage": evaluation.coverage, **shown})
    else:
        rows = [row for row in zip(*evaluation.columns.values(), strict=True) if per_topic or row[1] == ALL_TOPICS]
        if form == "tsv":
            lines = ("\t".join(cell if isinstance(cell, str) else repr(cell) for cell in row) for row in rows)
            echo_data("\n".join([*lines, ""]), nl=False)
        elif per_topic:
            for run in dict.fromkeys(evaluation.columns["run"]):
                of_run = [row for row in rows if row[0] == run]
                of_run.sort(key=lambda row: (row[1] == ALL_TOPICS, natural_key(row[1])))
                echo(run)
                _print_values("topic", of_run, 1)
                echo()
        else:
            _print_values("run", rows, 0, costs)
    if costs is not None:
        if form in ("tsv", "csv") or (form == "table" and per_topic):
            print_notices(["costs are shown only in the table of means and with --format json"])
        unknown = costs.index[costs.isna().all(axis=1)].tolist()
        if unknown:
            print_notices([f"no costs for {join_first(unknown)}"])
    print_notices(evaluation.notes)
    measures = evaluation.measures.values()
    print_notices(describe_coverage(evaluation.coverage, measures, judged_only, evaluation.missing))


def _print_values(first: str, values: Iterable[tuple[Any, ...]], place: int, costs: pd.DataFrame | None = None) -> None:
    """Print values as a table, with a row for each name at `place`; bounds as `value (lowest-highest)`."""
    cells: Cells = {}
    for row in values:
        value, *bounds = map(decimal, row[3:])
        cells.setdefault(row[place], []).append((row[2], f"{value} ({'-'.join(bounds)})" if bounds else value))
    if costs is not None:
        of_runs = costs.loc[list(cells)].map(format_cost).to_numpy().tolist()
        for line, of_run in zip(cells.values(), of_runs, strict=True):
            line.extend(zip(map(str, costs.columns), of_run, strict=True))
    _print_cells(first, cells)


def _print_cells(first: str, cells: Cells) -> None:
    """Print a table; all of its rows have the same columns."""
    columns = [column for column, _ in next(iter(cells.values()), [])]
    rows = [[name, *(cell for _, cell in line)] for name, line in cells.items()]
    print_table([first, *columns], rows, numbers=True)


def _select_all(values: pd.DataFrame) -> pd.DataFrame:
    """The rows over all topics."""
    return values[values["query_id"] == ALL_TOPICS]


def print_comparison(compared: Comparison, form: str) -> None:
    """Print a comparison of `compare`, without its notes."""
    if form == "latex":
        echo_data(compared.to_latex())
    elif form == "markdown":
        echo_data(compared.to_markdown())
    elif form == "json":
        print_json({name: getattr(compared, name) for name in WRITTEN})
    elif form == "tsv" and compared.pairs is not None:
        print_frame(compared.pairs, form)
    elif form == "tsv":
        tests = compared.tests.rename(columns={"low": "difference_low", "high": "difference_high"})
        counts = dict.fromkeys(("topics", "wins", "ties", "losses"), "Int64")  # missing for the baseline
        print_frame(compared.leaderboard.merge(tests, on=["system", "measure"], how="left").astype(counts), form)
    else:
        _print_leaderboard(compared)
        if compared.baseline is not None:
            _print_tests(compared)
        if compared.pairs is not None:
            _print_pairs(compared)


def _print_leaderboard(compared: Comparison) -> None:
    """Print the best systems and the leaderboard by the first measure; with one or two measures also the intervals."""
    import pandas as pd

    columns_shown = ("value", "like_best", "best", "spread", "low", "high", "unjudged")
    values, alike, best, spread, low, high, unjudged = (compared.table(column) for column in columns_shown)
    mark = compared.mark_significance()
    cutoffs = dict(zip(compared.leaderboard["measure"], compared.leaderboard["cutoff"], strict=True))
    shown: set[str] = set()
    header: list[str] = ["system"]
    columns: list[list[str]] = []
    for measure in values:
        header += [str(measure), "", *([f"{confidence(compared.alpha)} CI"] if len(values.columns) <= 2 else [])]
        deviations = ["" if math.isnan(sd) else f" ±{decimal(sd)}" for sd in spread[measure]]
        columns.append([decimal(value) + sd for value, sd in zip(values[measure], deviations, strict=True)])
        signs = [MARKS[sign] if compared.baseline is not None else "" for sign in mark[measure]]
        standings = zip(best[measure], alike[measure], signs, strict=True)
        columns.append([("*" if first else "~" if like else " ") + sign for first, like, sign in standings])
        if len(values.columns) <= 2:
            columns.append([_interval(*ends) for ends in zip(low[measure], high[measure], strict=True)])
        cutoff = cutoffs[str(measure)]
        name: str = "unjudged" if pd.isna(cutoff) else f"unjudged@{cutoff}"
        if name not in shown and unjudged[measure].notna().any():
            shown.add(name)
            header.append(name)
            columns.append([f"{share:.1%}" for share in unjudged[measure]])
    for measure in values:
        echo(compared.sentence(str(measure)))
    echo()
    rows = [[str(system), *(column[n] for column in columns)] for n, system in enumerate(values.index)]
    print_table(header, rows, numbers=True)
    echo(f"\n{compared.legend}")


def _print_tests(compared: Comparison) -> None:
    from collection.statistics import CORRECTIONS, TESTS

    for measure, tests in compared.tests.groupby("measure", sort=False):
        test, correction = TESTS[tests["test"].iloc[0]].label, CORRECTIONS[compared.correction]
        corrected = "no correction" if correction.name == "none" else f"{correction.label} correction"
        echo(f"\n{measure} vs. {compared.baseline}: {test}, {corrected}")
        of = tests["interval_of"].iloc[0]
        interval = f"{confidence(compared.alpha)} CI" + ("" if of == "mean" else f" of the {of}")
        header = ["system", "difference", interval, "effect size d_z", "p", "adjusted p", "better/equal/worse topics"]
        rows = []
        for row in tests.to_dict("records"):
            more = [probability(row["p_adjusted"]), f"{row['wins']}/{row['ties']}/{row['losses']}"]
            rows.append([row["system"], *_test_cells(row), *more, "*" if row["significant"] else ""])
        print_table([*header, "significant"], rows, numbers=True)


def _print_pairs(compared: Comparison) -> None:
    assert compared.pairs is not None  # requested
    for measure, pairs in compared.pairs.groupby("measure", sort=False):
        significant = int(pairs["significant"].sum())
        number = count(len(pairs), "pair")
        echo(f"\n{measure}: {significant:,} of {number} significantly different (randomised Tukey HSD)")
        rows = [
            [f"{row['system_a']} - {row['system_b']}", *_test_cells(row), "*" if row["significant"] else ""]
            for row in pairs.to_dict("records")
        ]
        header = ["pair", "difference", f"{confidence(compared.alpha)} CI", "effect size d_z", "p", "significant"]
        print_table(header, rows, numbers=True)


def _test_cells(row: Mapping[Hashable, Any]) -> list[str]:
    interval = _interval(row["low"], row["high"]) or "none (too few topics)"
    return [f"{row['difference']:+.4f}", interval, f"{row['effect']:+.2f}", probability(row["p"])]


def _interval(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"


def print_estimates(estimates: Estimates, per_topic: bool, form: str) -> None:
    """Print the estimates of `evaluate`."""
    import pandas as pd

    from collection.core.records import sort_naturally

    values = estimates.values if per_topic else _select_all(estimates.values)
    if form in ("tsv", "csv"):
        print_frame(values, form)
    elif form == "json":
        print_json({"about": estimates.about, "estimates": values, "pool": estimates.pool, "notes": estimates.notes})
        return
    elif per_topic:
        for run, of_run in values.groupby("run", sort=False):
            of_all = of_run["query_id"] == ALL_TOPICS
            echo(str(run))
            _print_estimates(
                "topic", "query_id", pd.concat([sort_naturally(of_run[~of_all]), of_run[of_all]]), estimates
            )
            echo()
        echo(estimates.about)
    else:
        _print_estimates("run", "run", values, estimates)
        echo(f"\n{estimates.about}")
    print_notices([*([] if form == "table" else [estimates.about]), *estimates.notes])


def print_estimated_comparison(estimates: Estimates, baseline: str | None, all_pairs: bool, form: str) -> None:
    """Print the estimates of `compare`: the systems in order, and probabilities of the order."""
    measures = [str(measure) for measure in estimates.table()]
    against = {measure: estimates.against(measure, baseline) for measure in measures}
    if form == "latex":
        echo_data(estimates.to_latex())
    elif form == "markdown":
        echo_data(estimates.to_markdown())
    elif form == "json":
        overall = _select_all(estimates.values).drop(columns="query_id")
        written = {"about": estimates.about, "alpha": estimates.alpha, "draws": estimates.draws, "pool": estimates.pool}
        print_json(written | {"estimates": overall, "pairs": estimates.pairs, "notes": estimates.notes})
        return
    elif form == "tsv":
        print_frame(estimates.pairs if all_pairs else _with_differences(estimates, against), form)
    else:
        for measure in measures:
            echo(estimates.sentence(measure))
        echo(f"{estimates.about}\n")
        places = {system: place for place, system in enumerate(estimates.order())}
        ordered = _select_all(estimates.values).sort_values("run", key=lambda runs: runs.map(places), kind="stable")
        _print_estimates("system", "run", ordered, estimates)
        for measure in measures:
            _print_probabilities(estimates, measure, against[measure], all_pairs)
    print_notices([*([] if form in ("table", "latex", "markdown") else [estimates.about]), *estimates.notes])


def _with_differences(estimates: Estimates, against: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row per system and measure, with the difference from the baseline."""
    import pandas as pd

    of_all = _select_all(estimates.values).drop(columns="query_id")
    compared = pd.concat(against.values(), ignore_index=True)
    return of_all.rename(columns={"run": "system"}).merge(compared, on=["system", "measure"], how="left")


def _print_probabilities(estimates: Estimates, measure: str, against: pd.DataFrame, all_pairs: bool) -> None:
    sure = f"{confidence(estimates.alpha)} of draws"
    header = ["difference (estimate)", sure, "probability of being better"]
    if all_pairs:
        rows = _rows(estimates.pairs[estimates.pairs["measure"] == measure])
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
            estimates.chance(row["probability_better"]),
            estimates.chance(row["probability_equal"]) if row["probability_equal"] else "",
        ]
        for name, row in zip(names, rows, strict=True)
    ]
    first = "pair" if all_pairs else "system"
    print_table([first, *header, "probability of being equal"], cells, optional=["probability of being equal"])


def _print_estimates(first: str, by: str, values: pd.DataFrame, estimates: Estimates) -> None:
    """Print ``estimate (low to high)`` in one column per measure."""
    cells: Cells = {}
    for row in _rows(values):
        low, high = decimal(row["estimate_low"]), decimal(row["estimate_high"])
        column = f"{row['measure']} (estimate, {confidence(estimates.alpha)} of draws)"
        cells.setdefault(row[by], []).append((column, f"{decimal(row['estimate'])} ({low} to {high})"))
    _print_cells(first, cells)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
