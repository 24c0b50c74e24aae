"""Pool: choose a strategy, see what it costs, and only then add the pairs."""

import pandas as pd
import streamlit as st

from annotate import session, widgets
from collection.pooling import STRATEGIES

campaign = session.current().campaign

st.title("Pool")
st.write("Which of the retrieved pairs are worth judging? What is in the pool stays; only what is new is added.")
if campaign.run_table().empty:
    st.write("There is no run to pool from yet.")
    widgets.next_step(campaign.next_step())
    st.stop()


@st.cache_data(show_spinner="Reading the runs", max_entries=4)
def growth_of(campaign_id: str, runs: str) -> pd.DataFrame:
    """What each depth would add; kept while the runs are the same."""
    return session.current().campaign.pool_growth(100)


left, right = st.columns([2, 1])
name = left.selectbox("Strategy", [s.name for s in STRATEGIES], format_func=lambda n: STRATEGIES[n].label)
entry = STRATEGIES[name]
left.caption(entry.description)
parameters = {
    key: right.selectbox(key.capitalize(), entry.choices[key], key=f"{name}-{key}")
    if key in entry.choices
    else right.number_input(key.capitalize(), min_value=int(key != "k"), value=default, step=1, key=f"{name}-{key}")
    for key, default in entry.parameters.items()
}
cost = campaign.pool(name, dry_run=True, **parameters)
pairs = cost.per_topic["pairs"]
widgets.metrics(
    {
        "Pairs": f"{cost.pairs:,}",
        "New": f"{cost.new:,}",
        "Per topic, median": f"{pairs.median():g}",
        "Smallest to largest": f"{pairs.min()} to {pairs.max()}",
    }
)
if (pairs == 0).any():
    st.info(f"{(pairs == 0).sum()} of {len(pairs)} topics have no pair: no run has them.")
if cost.without_text:
    st.warning(
        f"{cost.without_text:,} of these documents have no text here. They are pooled too; the Export page lists them."
    )
if st.button(
    f"Add {cost.new:,} pairs to the pool" if cost.new else "All of these pairs are in the pool",
    type="primary",
    disabled=not cost.new,
    key="add",
):
    added = campaign.pool(name, **parameters)
    st.toast(f"{added.new:,} pairs added.")
    st.rerun()

st.subheader("What each depth adds")
runs = campaign.run_table()
growth = growth_of(campaign.id, ",".join(runs["run"] + runs["sha256"]))
depth = int(parameters["depth"]) if "depth" in parameters else None
st.altair_chart(widgets.growth_chart(growth, depth), alt="New pairs at each depth, by run")
st.caption(
    "Pairs that enter a depth-k pool at each rank, all topics together, and the run that has them highest "
    "(shared where several do)." + (" The dashed line is the depth chosen above." if depth else "")
)
if len(rounds := campaign.pool_rounds()):
    st.subheader("How the pool was made")
    st.dataframe(
        rounds[["made_at", "strategy", "parameters", "pairs"]],
        hide_index=True,
        column_config={
            "made_at": st.column_config.DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm"),
            "strategy": "Strategy",
            "parameters": "Parameters",
            "pairs": "New pairs",
        },
    )
