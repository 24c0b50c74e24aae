"""`cleverdon pool --compare`: what each pooling strategy would have found at a part of the cost."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from collection.cli.evaluate import parse_one
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


DEEPEST = 10
"""Depth of the full pool."""


def compare_pools(
    runs: list[Path], qrels: Path, directory: Path | None, measure: str, budgets: list[str], form: str
) -> None:
    """Print how well strategies and estimates keep the systems' ranking at each budget.

    `runs` are files; the campaign's runs where there are none. `directory` is a campaign with documents and topics, or
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
    with progress_line() as line:
        table = compare(
            ranked, known, budgets=shares, measure=asked, depth=DEEPEST, documents=documents, topics=topics,
            progress=line if sys.stderr.isatty() else print_finished(),
        )  # fmt: skip
    _print(sort_rows(table), form)


def sort_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows by strategy, then estimate ("expected gains" last), then share."""
    return table.sort_values(
        ["strategy", "estimate", "share"], key=lambda of: of == "expected gains" if of.name == "estimate" else of
    ).reset_index(drop=True)


def describe_best(table: pd.DataFrame) -> str:
    """A sentence that names the best tau at each share; "" where no ranking could be compared.

    >>> import pandas as pd
    >>> rows = [("rrf", "judged only", 0.1, 0.5), ("mtf", "expected gains", 0.1, 0.8), ("mtf", "judged only", 0.2, 1)]
    >>> describe_best(pd.DataFrame(rows, columns=["strategy", "estimate", "share", "tau"]))
    'the best tau is 0.800 at 10% (mtf, expected gains) and 1.000 at 20% (mtf, judged only)'
    """
    parts = []
    for share, rows in table.dropna(subset="tau").groupby("share"):
        # Values that are printed alike are equally good.
        first = rows[rows["tau"].round(3) == rows["tau"].round(3).max()]
        names = [f"{row.strategy}, {row.estimate}" for row in first.head(3).itertuples()]
        more = [f"{len(first) - 3:,} more"] if len(first) > 3 else []
        parts.append(f"{first['tau'].max():.3f} at {100 * float(str(share)):.4g}% ({'; '.join(names + more)})")
    if not parts:
        return ""
    return "the best tau is " + " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), parts[-1]])


def read_share(text: str) -> float:
    """A share of the full pool.

    >>> read_share("25%"), read_share(".5")
    (0.25, 0.5)
    """
    try:
        share = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise InputError(f"a budget is a share of the full pool, as 25% or 0.25, above 0 and at most 1; found {text!r}")
    return share


def print_finished() -> Callable[[str, int, int], None]:
    """A progress callback that prints a plain line for every finished strategy, for logs."""
    current = ""

    def tell(name: str, done: int, total: int) -> None:
        nonlocal current
        if done:
            echo(f"{current}: played, {done:,} of {total:,}", err=True)
        current = name

    return tell


def _print(table: pd.DataFrame, form: str) -> None:
    if form == "json":
        echo_data(table.to_json(orient="records", indent=2))
    elif form == "tsv":
        echo_data(table.to_csv(sep="\t", index=False, lineterminator="\n"), nl=False)
    else:
        header = ["strategy", "of the rest", "cost", "judgements", "recall", "tau", "tau_AP"]
        rows = [
            [name, estimate, f"{100 * share:.4g}%", f"{judgements:,.0f}", *map(_format_value, figures)]
            for name, estimate, share, judgements, *figures in table.itertuples(index=False, name=None)
        ]
        print_table(header, rows, numbers=True)
    print_notices(
        [
            f"the full pool is the first {DEEPEST} documents of every run; tau and tau_AP compare the ranking of the "
            "systems with that by all of the qrels",
            *([sentence] if (sentence := describe_best(table)) else []),
        ]
    )


def _format_value(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
