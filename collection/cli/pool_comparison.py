"""`cleverdon pool --compare`: results of each pooling strategy at several shares of the full pool."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from collection.cli.evaluate import parse_one
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.errors import InputError
from collection.phrases import join_first

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


DEEPEST = 10
"""Depth of the full pool."""


def compare_pools(
    runs: list[Path], qrels: Path, directory: Path | None, measure: str, budgets: list[str], form: str
) -> None:
    """Print how well each strategy and estimate preserves the ranking of systems at each budget.

    `runs` are files; if empty, the campaign's runs are used. `directory` is a campaign with documents and topics, or
    None for runs only. `budgets` are shares of the full pool: ``10%`` or ``0.1``.
    """
    from collection import formats
    from collection.campaign import Campaign
    from collection.simulation.budgets import compare

    shares, asked = [read_share(budget) for budget in budgets], parse_one(measure)
    known = formats.read_qrels(qrels)
    ranked = list(formats.read_runs(runs))
    documents, topics = None, None
    if directory is not None:
        with Campaign(directory) as campaign:
            ranked = ranked or list(campaign.corpus.runs())
            listed = (run.frame.loc[run.frame["listed"] <= DEEPEST, "doc_id"] for run in ranked)
            found = campaign.corpus.documents(sorted({str(doc_id) for ids in listed for doc_id in ids}))
            if any(document.text is not None for document in found.values()):
                documents, topics = list(found.values()), campaign.corpus.topics()
    with progress_line("comparing strategies") as line:
        table = compare(
            ranked, known, budgets=shares, measure=asked, depth=DEEPEST, documents=documents, topics=topics,
            progress=line if sys.stderr.isatty() else print_finished(),
        )  # fmt: skip
    _print(sort_rows(table), form)


def sort_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows by strategy, estimate ("expected gains" last) and share."""
    return table.sort_values(
        ["strategy", "estimate", "share"], key=lambda of: of == "expected gains" if of.name == "estimate" else of
    ).reset_index(drop=True)


def describe_best(table: pd.DataFrame) -> list[str]:
    """Name the strategies with the highest tau at each share, a sentence each; none if no ranking could be compared.

    >>> import pandas as pd
    >>> rows = [("rrf", "judged only", 0.1, 0.5), ("mtf", "expected gains", 0.1, 0.8), ("mtf", "judged only", 0.2, 1)]
    >>> for line in describe_best(pd.DataFrame(rows, columns=["strategy", "estimate", "share", "tau"])):
    ...     print(line)
    At 10% of the full pool, Kendall's tau is highest for mtf (expected gains): 0.800.
    At 20% of the full pool, Kendall's tau is highest for mtf (judged only): 1.000.
    """
    sentences = []
    for share, rows in table.dropna(subset="tau").groupby("share"):
        # Values that print the same are ties.
        first = rows[rows["tau"].round(3) == rows["tau"].round(3).max()]
        names = [f"{row.strategy} ({row.estimate})" for row in first.itertuples()]
        at = f"{100 * float(str(share)):.4g}%"
        sentences.append(
            f"At {at} of the full pool, Kendall's tau is highest for {join_first(names, 3)}: {first['tau'].max():.3f}."
        )
    return sentences


def read_share(text: str) -> float:
    """Read a share of the full pool.

    >>> read_share("25%"), read_share(".5")
    (0.25, 0.5)
    """
    try:
        share = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise InputError(
            f"--at: expected a share of the full pool above 0 and up to 1, such as 25% or 0.25, found {text!r}"
        )
    return share


def print_finished() -> Callable[[str, int, int], None]:
    """Return a progress callback that prints a line for every finished strategy, for logs."""
    current = ""

    def tell(name: str, done: int, total: int) -> None:
        nonlocal current
        if done:
            echo(f"{current}: done, {done:,} of {total:,}", err=True)
        current = name

    return tell


def _print(table: pd.DataFrame, form: str) -> None:
    if form == "json":
        echo_data(table.to_json(orient="records", indent=2))
    elif form == "tsv":
        echo_data(table.to_csv(sep="\t", index=False, lineterminator="\n"), nl=False)
    else:
        for sentence in describe_best(table):
            echo(sentence)
        echo()
        header = ["strategy", "estimate", "share of full pool", "judgements", "recall", "Kendall's tau", "tau_AP"]
        rows = [
            [name, estimate, f"{100 * share:.4g}%", f"{judgements:,.0f}", *map(_format_value, figures)]
            for name, estimate, share, judgements, *figures in table.itertuples(index=False, name=None)
        ]
        print_table(header, rows, numbers=True)
    print_notices(
        [
            f"the full pool is the first {DEEPEST} documents of every run; recall is the share of its relevant "
            "documents that are found; tau and tau_AP compare the ranking of systems with their ranking by all qrels"
        ]
    )


def _format_value(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
