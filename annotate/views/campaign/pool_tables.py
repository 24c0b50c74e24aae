"""Tables and the chart of the Pool page: the cost of every strategy, the rounds of pooling, and pairs by depth."""

import json
from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.campaign import removal_form
from annotate.views.widgets import display
from annotate.views.widgets.display import number, text, timestamp
from annotate.views.widgets.service_cache import cached
from collection.charts.marks import GREY, tooltips
from collection.core.phrases import count
from collection.pooling import STRATEGIES, format_parameters

NAMED = 9  # runs with a colour of their own; the others share one


def draw_costs(key: str, budget: int, names: list[str] | None) -> None:
    """Draw a toggle and the costs for `budget` pairs of each topic by the runs `names` (None: all)."""
    if not st.toggle("Compare the cost of all strategies", key="every"):
        return
    table = cached(session.current().campaign.people.pools.costs, key, "Counting pairs", 8)(budget, names)
    display.table(
        table.assign(strategy=[STRATEGIES[s].label for s in table["strategy"]]),
        {
            "strategy": "Strategy",
            "pairs": number("Pairs", "localized", "small"),
            "new": number("New pairs", "localized", "small"),
            "median": number("Pairs per topic, median", width="small"),
            "parameters": text("Parameters", "medium"),
        },
        height="content",
        alt="Pairs that each strategy would select",
    )
    st.caption(
        f"{count(budget, 'pair')} per topic for strategies with a budget, default parameters for the others; "
        "near-duplicates included. `cleverdon pool --compare QRELS` compares the strategies' quality on known qrels."
    )


def draw_rounds(runs: Sequence[str]) -> None:
    """Draw the rounds in which pairs were added; `runs` are all runs of the campaign."""
    campaign = session.current().campaign
    rounds = campaign.store.pool.rounds()
    if rounds.empty:
        return
    st.subheader("Pooling history")
    parameters = [format_parameters(json.loads(values)) for values in rounds["parameters"]]
    labels = [STRATEGIES[name].label if name in STRATEGIES else name for name in rounds["strategy"]]
    brought = [json.loads(names) for names in rounds["runs"]]
    by = ["all runs" if sorted(names) == sorted(runs) else ", ".join(names) for names in brought]
    display.table(
        rounds.assign(parameters=parameters, runs=by, strategy=labels),
        {
            "made_at": timestamp("Added (UTC)"),
            "strategy": "Strategy",
            "parameters": text("Parameters", "medium"),
            "pairs": number("Pairs added", "localized"),
            "removed": number("Pairs removed", "localized") if rounds["removed"].any() else None,
            "runs": text("Contributing runs", "medium"),
        },
        alt="Rounds in which pairs were added",
    )
    removal_form.draw_rounds(campaign, rounds)


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
