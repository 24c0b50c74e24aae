"""How the command line prints: notices and progress to stderr, tables and values to stdout."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from collection.campaign import PoolReport
    from collection.comparison import Evaluation


def one_line(error: Exception) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split())


def print_notices(notices: list[str]) -> None:
    """What a user should notice, on stderr: stdout may go into a file."""
    for notice in notices:
        click.echo(f"note: {notice}", err=True)


@contextmanager
def progress_line() -> Iterator[Callable[[str, int, int | None], None]]:
    """A line on stderr that is rewritten, while stderr is a terminal; nothing otherwise."""
    terminal = sys.stderr.isatty()
    last = 0.0

    def show(what: str, done: int, total: int | None) -> None:
        nonlocal last
        if not terminal or (time.monotonic() - last < 0.1 and done != total):
            return
        last = time.monotonic()
        if total:
            filled = round(24 * done / total)
            text = f"{what:<28} [{'#' * filled}{'.' * (24 - filled)}] {done:,}/{total:,}"
        else:
            text = f"{what:<28} {done:,}"
        click.echo(f"\r\x1b[K{text}", nl=False, err=True)

    try:
        yield show
    finally:
        if terminal and last:
            click.echo("\r\x1b[K", nl=False, err=True)


def print_table(header: list[str], rows: list[list[Any]], *, numbers: bool = False) -> None:
    """Columns of text: whole numbers to the right, words to the left; `numbers`: all but the first to the right."""
    cells = [[f"{c:,}" if isinstance(c, int) else str(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [header, *cells]) for i in range(len(header))]
    right = [all(isinstance(row[i], int) for row in rows) or (numbers and i > 0) for i in range(len(header))]
    for line in [header, *cells]:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(line, widths, right, strict=True)]
        click.echo("  ".join(padded).rstrip())


def print_pool(report: PoolReport, dry_run: bool) -> None:
    """What a pool costs: in all, per topic, and how much of it is new."""
    pairs = report.per_topic["pairs"]
    parameters = ", ".join(f"{k} {v}" for k, v in report.parameters.items())
    click.echo(f"{report.strategy} ({parameters}) over {report.runs} runs, {len(pairs)} topics")
    click.echo(f"pairs      {report.pairs:,}")
    click.echo(f"per topic  min {pairs.min()}, median {pairs.median():g}, max {pairs.max()}")
    click.echo(f"new        {report.new:,}" + (" (dry run: nothing was added)" if dry_run else ""))
    empty = report.per_topic.loc[pairs == 0, "query_id"].tolist()
    notices = []
    if empty:
        notices.append(f"{len(empty)} topics have no pair, because no run has them: {', '.join(empty[:5])}")
    if report.without_text:
        notices.append(
            f"{report.without_text:,} documents of these pairs have no text here; "
            "`cleverdon export DIR --missing-documents FILE` lists them" + (" once they are pooled" if dry_run else "")
        )
    print_notices(notices)


def print_evaluation(evaluation: Evaluation, per_topic: bool, form: str) -> None:
    """Values on stdout in one of the forms; what they do not rest on, on stderr."""
    from collection.records import ALL_TOPICS

    values = evaluation.values if per_topic else evaluation.values[evaluation.values["query_id"] == ALL_TOPICS]
    if form == "tsv":
        sys.stdout.writelines(f"{r}\t{q}\t{m}\t{v!r}\n" for r, q, m, v in _rows(values))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(values.columns)
        writer.writerows((r, q, m, repr(v)) for r, q, m, v in _rows(values))
    elif form == "json":
        coverage = [c._asdict() for c in evaluation.coverage]
        rows = [dict(zip(values.columns, row, strict=True)) for row in _rows(values)]
        click.echo(json.dumps({"values": rows, "coverage": coverage}, indent=2, ensure_ascii=False))
    else:
        means = evaluation.means()
        if per_topic:
            for run in means.index:
                of_run = evaluation.values[evaluation.values["run"] == run]
                table = of_run.pivot(index="query_id", columns="measure", values="value")
                table = table.loc[of_run["query_id"].drop_duplicates(), means.columns]
                click.echo(run)
                _values_table("topic", table)
                click.echo()
        else:
            _values_table("run", means)
    for c in evaluation.coverage:
        if c.missing_topics:
            print_notices([f"{c.run}: {len(c.missing_topics)} of {c.topics} topics are not in the run and count 0"])
        if c.ignored_topics:
            print_notices([f"{c.run}: {len(c.ignored_topics)} of its topics are not in the qrels and are ignored"])


def _rows(values: pd.DataFrame) -> Iterator[tuple[str, str, str, float]]:
    columns = (values["run"], values["query_id"], values["measure"], values["value"].tolist())
    return zip(*columns, strict=True)


def _values_table(first: str, values: pd.DataFrame) -> None:
    rows = [[name, *(f"{v:.4f}" for v in row)] for name, row in zip(values.index, values.to_numpy(), strict=True)]
    print_table([first, *map(str, values.columns)], rows, numbers=True)
