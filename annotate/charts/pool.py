"""The charts of the Pool page."""

from typing import cast

import altair as alt
import pandas as pd

from annotate.charts.colours import NEUTRAL

NAMED = 9
"""Runs that have a colour of their own; more could not be told apart, and the others are one."""


def growth_chart(growth: pd.DataFrame, depth: int | None) -> alt.LayerChart:
    """New pairs per depth, by the run that brings them; a rule marks the depth that is chosen.

    Parameters
    ----------
    growth
        ``depth``, ``run``, ``pairs``, as :func:`collection.pooling.pool_growth` gives them.
    depth
        Where the rule stands; None for no rule.
    """
    rows = group_minor_runs(growth)
    order = rows["run"].drop_duplicates().tolist()
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                "depth:Q",
                title="depth (rank)",
                bin=False,
                scale=alt.Scale(nice=False),
                axis=alt.Axis(tickMinStep=1, labelFlush=10),  # the last number would be cut on a phone
            ),
            y=alt.Y("pairs:Q", title="new pairs at this depth"),
            color=alt.Color(
                "run:N", title="brought by", sort=order, legend=alt.Legend(orient="bottom", columns=2, labelLimit=110)
            ),
            tooltip=[
                alt.Tooltip("run:N", title="run"),
                alt.Tooltip("depth:Q", title="depth"),
                alt.Tooltip("pairs:Q", title="new pairs", format=".1f"),
            ],
        )
    )
    rule = (
        alt.Chart(pd.DataFrame({"depth": [] if depth is None else [depth + 0.5]}))
        .mark_rule(strokeDash=[5, 4], strokeWidth=2, color=NEUTRAL)
        .encode(x="depth:Q")
    )
    return cast(alt.LayerChart, (bars + rule).properties(height=400))


def group_minor_runs(growth: pd.DataFrame) -> pd.DataFrame:
    """The same rows with the runs that bring least as one; whoever brings most first.

    Examples
    --------
    >>> growth = pd.DataFrame({"depth": 1, "run": [f"r{n}" for n in range(12)], "pairs": range(12)})
    >>> group_minor_runs(growth)["run"].tolist()
    ['r11', 'r10', 'r9', 'r8', 'r7', 'r6', 'r5', 'r4', 'r3', '3 other runs']
    """
    brought = growth.groupby("run")["pairs"].sum().sort_values(ascending=False, kind="stable")
    order = brought.index.tolist()
    if len(order) > NAMED + 1:
        rest = f"{len(order) - NAMED} other runs"
        growth = growth.assign(run=growth["run"].where(growth["run"].isin(order[:NAMED]), rest))
        order = [*order[:NAMED], rest]
    rows = growth.groupby(["run", "depth"], as_index=False)["pairs"].sum()
    place = rows["run"].map({run: place for place, run in enumerate(order)})
    ordered: pd.DataFrame = rows.assign(place=place).sort_values(["place", "depth"])
    return ordered.drop(columns="place")
