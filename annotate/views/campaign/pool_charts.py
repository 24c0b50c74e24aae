"""Chart of the Pool page."""

import altair as alt
import pandas as pd

from collection.charts.marks import GREY, tooltips

NAMED = 9  # runs with a colour of their own; the others share one


def growth_chart(growth: pd.DataFrame, depth: int | None) -> alt.LayerChart:
    """New pairs per depth by run (:func:`collection.pooling.pool_growth`); a rule marks `depth`."""
    rows = group_minor_runs(growth)
    # The last number of the axis would be cut on a phone.
    axis = alt.Axis(tickMinStep=1, labelFlush=10)
    legend = alt.Legend(orient="bottom", columns=2, labelLimit=110)
    bars = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("depth:Q", title="Depth (rank)", bin=False, scale=alt.Scale(nice=False), axis=axis),
            y=alt.Y("pairs:Q", title="New pairs"),
            color=alt.Color("run:N", title="Run", sort=rows["run"].drop_duplicates().tolist(), legend=legend),
            tooltip=tooltips(rows, run="Run", depth="Depth", pairs=("New pairs", ".1f")),
        )
    )
    marked = pd.DataFrame({"depth": [] if depth is None else [depth + 0.5]})
    rule = alt.Chart(marked).mark_rule(strokeDash=[5, 4], strokeWidth=2, color=GREY).encode(x="depth:Q")
    return alt.LayerChart(layer=[bars, rule], height=400)


def group_minor_runs(growth: pd.DataFrame) -> pd.DataFrame:
    """Sum the pairs of the runs that contribute least into one; the run with the most pairs comes first.

    >>> growth = pd.DataFrame({"depth": 1, "run": [f"r{n}" for n in range(12)], "pairs": range(12)})
    >>> group_minor_runs(growth)["run"].tolist()
    ['r11', 'r10', 'r9', 'r8', 'r7', 'r6', 'r5', 'r4', 'r3', '3 other runs']
    """
    order = growth.groupby("run")["pairs"].sum().sort_values(ascending=False, kind="stable").index.tolist()
    if len(order) > NAMED + 1:
        rest = f"{len(order) - NAMED} other runs"
        growth = growth.assign(run=growth["run"].where(growth["run"].isin(order[:NAMED]), rest))
        order = [*order[:NAMED], rest]
    rows = growth.groupby(["run", "depth"], as_index=False).agg({"pairs": "sum"})
    return rows.assign(run=pd.Categorical(rows["run"], order)).sort_values(["run", "depth"]).astype({"run": str})
