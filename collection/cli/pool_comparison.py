"""`cleverdon pool --compare`: results of each pooling strategy at several shares of the full pool."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from collection.cli.evaluate import parse_one
from collection.cli.output import echo, echo_data, print_notices, print_table, progress_line
from collection.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from collection.formats import Source
    from collection.simulation.budgets import BudgetComparison, Unjudged

DEEPEST = 10
"""Depth of the full pool."""


def compare_pools(
    runs: list[Path],
    qrels: Source,
    directory: Path | None,
    *,
    measure: str,
    budgets: list[str],
    unjudged: Unjudged,
    form: str,
) -> None:
    """Print how well each strategy and estimate preserves the ranking of systems at each budget.

    `runs` are files; if empty, the campaign's runs are used. `directory` is a campaign with documents and topics, or
    None for runs only. `budgets` are shares of the full pool: ``10%`` or ``0.1``.
    """
    from collection import formats
    from collection.campaign import Campaign
    from collection.machine_labels.model_families import warn_of_model
    from collection.simulation.budgets import compare

    shares, asked = [read_share(budget) for budget in budgets], parse_one(measure)
    known = formats.read_qrels(qrels)
    warn_of_model(qrels, formats.names_of_qrels(qrels))
    ranked = list(formats.read_runs(runs))
    documents, topics = None, None
    if directory is not None:
        with Campaign(directory) as campaign:
            ranked = ranked or list(campaign.corpus.runs())
            listed = (run.frame.loc[run.frame["listed"] <= DEEPEST, "doc_id"] for run in ranked)
            found = campaign.store.corpus.documents(sorted({str(doc_id) for ids in listed for doc_id in ids}))
            if any(document.text is not None for document in found.values()):
                documents, topics = list(found.values()), campaign.store.corpus.topics()
    with progress_line("comparing strategies") as line:
        compared = compare(
            ranked, known, budgets=shares, measure=asked, depth=DEEPEST, documents=documents, topics=topics,
            unjudged=unjudged, progress=line if sys.stderr.isatty() else print_finished(),
        )  # fmt: skip
    _print(compared, form)


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


def _print(compared: BudgetComparison, form: str) -> None:
    table = compared.table.sort_values(
        ["strategy", "estimate", "share"], key=lambda of: of == "expected gains" if of.name == "estimate" else of
    )
    if form == "json":
        echo_data(table.to_json(orient="records", indent=2))
    elif form == "tsv":
        echo_data(table.to_csv(sep="\t", index=False, lineterminator="\n"), nl=False)
    else:
        for sentence in compared.best():
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
            *compared.notes,
            "recall is the share of the relevant documents of the full pool that are found; tau and tau_AP compare the "
            "ranking of systems with their ranking by all qrels",
        ]
    )


def _format_value(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
