"""Pool: choose a strategy, preview its cost, and add the pairs."""

import json

import streamlit as st

from annotate.auth import session
from annotate.charts.download import downloadable_chart
from annotate.charts.pool import growth_chart
from annotate.elements import pickers, pool_tables, widgets
from annotate.elements.service_cache import cached
from collection.campaign.pools import NearDuplicates
from collection.characters import without_bidi
from collection.pooling import strategies

campaign = session.current().campaign
STRATEGIES = strategies(adaptive=False)

st.title("Pool")
st.write("Which of the retrieved pairs are worth judging? What is in the pool stays; only what is new is added.")
runs = campaign.corpus.run_table()
if runs.empty:
    widgets.stop_with_next_step("There is no run to pool from yet.")
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
    hint = (
        "Of documents that are nearly the same a topic gets one. Not in samples, whose probabilities would hold no "
        "more."
    )
    skip = st.toggle("Leave near-duplicates out", disabled=entry.samples, help=hint, key="near")
near: NearDuplicates = "skip" if skip and not entry.samples else "keep"
with right:
    parameters = {p: pickers.pick_parameter(entry, p, f"{entry.name}-{p}") for p in entry.parameters}

state = campaign.progress.counts()
sizes = [state[name] for name in ("pool", "documents", "topics")]
key = json.dumps([runs["sha256"].tolist(), len(campaign.pools.rounds()), *sizes])
dry_run = cached(campaign.pools.add, key, "Counting", 32)
cost = dry_run(name, dry_run=True, runs=names, near_duplicates=near, **parameters)
pairs = cost.per_topic["pairs"]
spread = {"Per topic, median": f"{pairs.median():g}", "Smallest to largest": f"{pairs.min()} to {pairs.max()}"}
figures: dict[str, str | int] = {"Pairs": cost.pairs, "New": cost.new, **spread}
if cost.sampled_from is not None:
    figures["Drawn from"] = cost.sampled_from
if cost.near_duplicates:
    figures["Near-duplicates left out"] = cost.near_duplicates
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
label = f"Add {cost.new:,} pairs to the pool" if cost.new else "All of these pairs are in the pool"
if st.button(label, type="primary", disabled=not cost.new, key="add"):
    added = campaign.pools.add(name, runs=names, near_duplicates=near, **parameters)
    st.toast(f"{added.new:,} pairs added.")
    st.rerun()
st.caption("Strategies that look at each judgement before they choose the next document work in the loop.")
widgets.page_link("loop.py")

pool_tables.draw_costs(key, int(parameters.get("budget", 100)), names)

st.subheader("What each depth adds")
depth = int(parameters["depth"]) if "depth" in parameters else None
downloadable_chart(
    growth_chart(cached(campaign.pools.growth, key, "Reading the runs", 4)(100, names), depth),
    "pool-growth",
    "Pairs that enter a depth-k pool at each rank, all topics together, and the run that has them highest "
    "(shared where several do)." + (" The dashed line is the depth chosen above." if depth else ""),
    alt="New pairs at each depth, by run",
)
pool_tables.draw_rounds(every)
