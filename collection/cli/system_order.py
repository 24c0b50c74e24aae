"""`cleverdon system-order`: how certain the ranking of the systems is, and whether judging can stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from collection.cli.options import FORMAT, open_campaign
from collection.cli.output import echo, print_json, print_notices, print_table, progress_line
from collection.core.phrases import confidence as level, count, decimal, percent, plural

if TYPE_CHECKING:
    from collection.campaign import Campaign
    from collection.comparison import SystemOrder

SHOWN = 20
"""Printed pairs of systems."""

BUSY = (
    "another process is writing, so `cleverdon status` and Overview do not repeat this advice; run the command again "
    "to store it"
)


@click.command("system-order")
@open_campaign
@click.option(
    "--target",
    type=float,
    metavar="TAU",
    help="Minimum Kendall's tau with the ranking after all pairs are judged; by default 0.9.",
)
@click.option(
    "--confidence", type=float, metavar="SHARE", help="Confidence of the bound and of the ranges; by default 0.95."
)
@FORMAT
def system_order(campaign: Campaign, target: float | None, confidence: float | None, form: str) -> None:
    """Show how certain the ranking of the systems is.

    The first line says whether you can stop. Grades of unjudged pairs are estimated, so all numbers are estimates. The
    measure is that of `cleverdon loop --measure`.
    """
    with progress_line("estimating unjudged grades"):
        given = {"target": target, "confidence": confidence}
        order = campaign.loop.system_order.assess(**{name: value for name, value in given.items() if value is not None})
    _show(order, form)
    if not campaign.loop.system_order.store_advice(order):  # last, since it waits for other processes
        print_notices([BUSY])
    print_notices([order.caution] if order.caution and form != "json" else [])


def _show(order: SystemOrder, form: str) -> None:
    pairs, pool = order.pairs, order.estimates.pool
    if form == "json":
        facts = {
            "stop": order.stop,
            "final": order.final,
            "reason": order.reason,
            "caution": order.caution,
            "tau": order.tau,
            "lowest_tau": order.lowest_tau,
        }
        counts = {"topics": pool.topics, "judged": pool.judged, "left": pool.unjudged}
        print_json(facts | counts | {"estimates": order.values, "pairs": pairs})
        return
    echo(f"{order.reason}")
    sure = level(order.estimates.alpha)
    echo(
        f"{pool.judged:,} of {count(pool.pairs, 'pair')} of {count(pool.topics, 'topic')} judged; "
        f"expected tau {decimal(order.tau, 2)}, "
        f"at least {decimal(order.lowest_tau, 2)} with {sure} probability under the model.\n"
    )
    rows = [
        [row["run"], f"{decimal(row['estimate'])} ({decimal(row['estimate_low'])} to {decimal(row['estimate_high'])})"]
        for row in order.values.to_dict("records")
    ]
    print_table(["system", f"{order.measure} (estimate, {sure} of draws)"], rows)
    unsure = pairs[~pairs["decided"]]
    if unsure.empty:
        echo(f"\nThe order of every pair of systems has a probability of at least {sure}.")
        return
    of = count(len(pairs), "pair")
    echo(f"\n{len(unsure):,} of {of} of systems {plural(len(unsure), 'is', 'are')} undecided, closest first")
    shown = unsure.head(SHOWN).to_dict("records")
    cells = [[row["system_a"], row["system_b"], percent(row["probability_better"])] for row in shown]
    print_table(["system A", "system B", "probability that A is better"], cells)
    if len(unsure) > SHOWN:
        echo(f"Not shown: {count(len(unsure) - SHOWN, 'pair')}; --format json has all.")
