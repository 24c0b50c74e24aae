"""Pool: choose a strategy, see what it costs, and only then add the pairs."""

import json
from typing import Any

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.charts.download import downloadable_chart
from annotate.charts.pool import growth_chart
from annotate.elements import pool_tables, widgets
from annotate.elements.parameter_field import parameter_field
from collection.campaign.pools import NearDuplicates
from collection.campaign.results import PoolReport
from collection.characters import without_bidi
from collection.pooling import strategies

campaign = session.current().campaign
STRATEGIES = strategies(adaptive=False)

st.title("Pool")
st.write("Which of the retrieved pairs are worth judging? What is in the pool stays; only what is new is added.")
runs = campaign.corpus.run_table()
if runs.empty:
    widgets.stop_with_next_step("There is no run to pool from yet.")


@st.cache_data(show_spinner="Reading the runs", max_entries=4)
def growth_of(campaign_id: str, key: str, names: list[str] | None) -> pd.DataFrame:
    """What each depth would add; kept while the runs are the same."""
    return session.current().campaign.pools.growth(100, names)


@st.cache_data(show_spinner="Counting", max_entries=32)
def cost_of(
    campaign_id: str, key: str, strategy: str, parameters: dict[str, Any], names: list[str] | None, near: NearDuplicates
) -> PoolReport:
    """What a strategy would cost; kept while runs, pool and documents are the same."""
    return session.current().campaign.pools.add(strategy, dry_run=True, runs=names, near_duplicates=near, **parameters)


left, right = st.columns([2, 1])
with left:
    name = st.selectbox("Strategy", list(STRATEGIES), format_func=lambda n: STRATEGIES[n].label)
    entry = STRATEGIES[name]
    st.caption(entry.description)
    every = runs["run"].tolist()
    chosen = st.multiselect(
        "Runs that contribute", every, placeholder="All of them", key="runs", format_func=without_bidi
    )
    names = chosen or None
    skip = st.toggle(
        "Leave near-duplicates out",
        disabled=entry.samples,
        help="Of documents that are nearly the same a topic gets one. Not in samples, whose probabilities would hold "
        "no more.",
        key="near",
    )
near: NearDuplicates = "skip" if skip and not entry.samples else "keep"
with right:
    parameters = {p: parameter_field(entry, p, f"{entry.name}-{p}") for p in entry.parameters}

state = campaign.progress.counts()
key = json.dumps(
    [runs["sha256"].tolist(), state["pool"], len(campaign.pools.rounds()), state["documents"], state["topics"]]
)
cost = cost_of(campaign.id, key, name, parameters, names, near)
pairs = cost.per_topic["pairs"]
figures = {
    "Pairs": f"{cost.pairs:,}",
    "New": f"{cost.new:,}",
    "Per topic, median": f"{pairs.median():g}",
    "Smallest to largest": f"{pairs.min()} to {pairs.max()}",
}
if cost.sampled_from is not None:
    figures["Drawn from"] = f"{cost.sampled_from:,}"
if cost.near_duplicates:
    figures["Near-duplicates left out"] = f"{cost.near_duplicates:,}"
time = campaign.pools.time(cost.new) if cost.new else None
if time is not None:
    figures["Hours for what is new"] = f"{time.low / 3600:,.1f} to {time.high / 3600:,.1f}"
widgets.metrics(figures)
if time is not None:
    st.caption("Hours of work at the annotators' pace so far, with one judgement a pair; nine times of ten it holds.")
if (pairs == 0).any():
    why = "the total went to others" if parameters.get("total") else "no run has them"
    st.info(f"{(pairs == 0).sum()} of {len(pairs)} topics have no pair: {why}.")
if cost.without_text:
    st.warning(
        f"{cost.without_text:,} of these documents have no text here. They are pooled too; the Export page lists them."
    )
widgets.missing_texts(campaign.corpus.without_text().values())
if st.button(
    f"Add {cost.new:,} pairs to the pool" if cost.new else "All of these pairs are in the pool",
    type="primary",
    disabled=not cost.new,
    key="add",
):
    added = campaign.pools.add(name, runs=names, near_duplicates=near, **parameters)
    st.toast(f"{added.new:,} pairs added.")
    st.rerun()
st.caption("Strategies that look at each judgement before they choose the next document work in the loop.")
widgets.page_link("loop.py")

pool_tables.draw_costs(key, int(parameters.get("budget", 100)), names)

st.subheader("What each depth adds")
depth = int(parameters["depth"]) if "depth" in parameters else None
downloadable_chart(
    growth_chart(growth_of(campaign.id, key, names), depth),
    "pool-growth",
    "Pairs that enter a depth-k pool at each rank, all topics together, and the run that has them highest "
    "(shared where several do)." + (" The dashed line is the depth chosen above." if depth else ""),
    alt="New pairs at each depth, by run",
)
pool_tables.draw_rounds(every)
