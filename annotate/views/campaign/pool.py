"""Pool: choose a strategy, preview its cost, and add the pairs."""

import json

import streamlit as st

from annotate.auth import session
from annotate.views.campaign import pool_tables
from annotate.views.widgets import pickers, widgets
from annotate.views.widgets.downloads import downloadable_chart
from annotate.views.widgets.service_cache import cached
from collection.campaign.people.pools import NearDuplicateUse
from collection.core.characters import escaped_markdown, without_bidi
from collection.core.phrases import count, duration_range, plural
from collection.pooling import strategies

campaign = session.current().campaign
STRATEGIES = strategies(adaptive=False)

st.title("Pool")
runs = campaign.store.corpus.runs()
if runs.empty:
    widgets.stop_with_next_step("A pool is made from runs, and this campaign has none yet.")
state = campaign.store.judgements.counts()
if state["pool"]:
    st.write(f"The pool has {count(state['pool'], 'topic-document pair')}.")
else:
    st.write(f"The pool is empty. Choose which documents of the {count(len(runs), 'run')} to judge for each topic.")
widgets.documentation_link("how-to/choose-a-pool", "How to choose a pooling strategy")
left, right = st.columns([2, 1])
with left:
    name = st.selectbox("Strategy", list(STRATEGIES), format_func=lambda n: STRATEGIES[n].label)
    entry = STRATEGIES[name]
    st.caption(entry.description)
    every = runs["run"].tolist()
    chosen = st.multiselect("Contributing runs", every, placeholder="All runs", key="runs", format_func=without_bidi)
    names = chosen or None
    hint = "Pool one of several nearly identical documents of a topic. Random samples keep them all."
    skip = st.toggle("Leave out near-duplicates", disabled=entry.samples, help=hint, key="near")
near: NearDuplicateUse = "skip" if skip and not entry.samples else "keep"
with right:
    parameters = {p: pickers.pick_parameter(entry, p, f"{entry.name}-{p}") for p in entry.parameters}

sizes = [state[name] for name in ("pool", "documents", "topics")]
key = json.dumps([runs["sha256"].tolist(), len(campaign.store.pool.rounds()), *sizes])
dry_run = cached(campaign.people.pools.add, key, "Counting pairs", 32)
cost = dry_run(name, dry_run=True, runs=names, near_duplicates=near, **parameters)
pairs = cost.per_topic["pairs"]
time = campaign.people.pools.time(cost.new) if cost.new else None
if not cost.pairs:
    preview = "These settings select no pairs."
elif not cost.new:
    preview = "Nothing to add: all selected pairs are already in the pool."
elif time is None:
    preview = f"This adds {count(cost.new, 'pair')}. Judging time is estimated once enough pairs are judged in the app."
else:
    hours = duration_range(time.low, time.high)
    preview = f"This adds {count(cost.new, 'pair')}: about {hours} of judging at the current pace."
st.write(f"**{preview}**")
if time is not None:
    st.caption("One judgement per pair, all annotators together; 90% prediction interval.")
figures: dict[str, str | int] = {"Pairs selected": cost.pairs, "New pairs": cost.new}
figures["Pairs per topic, median (range)"] = f"{pairs.median():g} ({pairs.min()}-{pairs.max()})"
if cost.sampled_from is not None:
    figures["Sampled from"] = cost.sampled_from
if cost.near_duplicates:
    figures["Near-duplicates left out"] = cost.near_duplicates
widgets.metrics(figures)
if empty := int((pairs == 0).sum()):
    why = "the total budget went to other topics" if parameters.get("total") else "no run retrieves documents for them"
    st.info(f"{empty:,} of {count(len(pairs), 'topic')} {plural(empty, 'gets', 'get')} no pairs: {why}.")
for note in cost.notes:
    st.warning(escaped_markdown(note))
if cost.without_text:
    lacks = plural(cost.without_text, "has no text", "have no text")
    st.warning(f"{count(cost.without_text, 'selected document')} {lacks} in this campaign and cannot be judged yet.")
widgets.missing_texts(campaign.store.pool.count_without_text().values())
if st.button("Add to pool", type="primary", disabled=not cost.new, key="add"):
    added = campaign.people.pools.add(name, runs=names, near_duplicates=near, **parameters)
    st.toast(f"Added {count(added.new, 'pair')} to the pool.")
    st.rerun()
widgets.page_link("loop", "Adaptive strategies are part of the loop")

st.subheader("New pairs at each depth")
depth = int(parameters["depth"]) if "depth" in parameters else None
downloadable_chart(
    pool_tables.growth_chart(cached(campaign.people.pools.growth, key, "Reading runs", 4)(100, names), depth),
    "pool-growth",
    "Pairs that each rank adds to a depth-k pool, by the run that ranks them highest."
    + (" The dashed line is the chosen depth." if depth else ""),
    alt="New pairs at each depth, by run",
)
pool_tables.draw_costs(key, int(parameters.get("budget", 100)), names)
pool_tables.draw_rounds(every)
