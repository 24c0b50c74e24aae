"""Recall: how much of what is relevant has been found, topic by topic, and what may be promised of it."""

from math import isnan

import pandas as pd
import streamlit as st
from streamlit.column_config import TextColumn

from annotate.auth import session
from annotate.charts.recall import recall_charts
from annotate.elements import display, recall_table, widgets
from collection.campaign.recall import Recall
from collection.stopping import percent

campaign = session.current().campaign
counts = campaign.progress.counts()
settings = campaign.settings.loop()
goal, sure = percent(settings.target), percent(settings.confidence)

st.title("Recall")
st.write(
    f"How much of what is relevant has been found, and may the judging of a topic stop? The goal is {goal} of the "
    f"relevant documents, with {sure} confidence; the Loop page sets it."
)
if not counts["judgements"]:
    widgets.stop_with_next_step("Nothing is judged yet, so nothing can be said.")


@st.cache_data(show_spinner="Estimating", max_entries=4)
def table_of(campaign_id: str, key: str) -> pd.DataFrame:
    """All topics; kept while nothing changes that they rest on."""
    return session.current().campaign.recall.table()


@st.cache_data(show_spinner=False, max_entries=64)
def recall_of(campaign_id: str, key: str, query_id: str) -> Recall:
    """One topic, kept as the table is."""
    return session.current().campaign.recall.of_topic(query_id)


key = campaign.recall.key()
table = table_of(campaign.id, key)
begun = table["judged"] > 0
widgets.metrics(
    {
        "Topics": f"{len(table):,}",
        "Started": f"{int(begun.sum()):,}",
        "Ready to stop": f"{int(table['stop'].sum()):,}",
        "Judged": f"{int(table['judged'].sum()):,}",
        "Relevant found": f"{int(table['found'].sum()):,}",
    }
)
if used_up := campaign.budget.state().words:
    st.warning(widgets.plain(used_up))
widgets.missing_texts(table["without_text"])
shown = table
some = f"{int(begun.sum()):,} topic{'' if begun.sum() == 1 else 's'}"
if not begun.all() and st.toggle(f"Only what is begun: {some}", True):
    shown = table[begun]
topic = recall_table.draw(shown, key)
st.caption(
    f"Worst first. Select a row to see the topic. Each topic's recall lies between the two shares with {sure} "
    f"confidence; that is said of each topic by itself, so among many a few may lie outside."
)
if topic is None:
    st.stop()
if topic not in set(table["query_id"]):
    st.error(f"There is no topic {widgets.plain(topic)}.")
    st.stop()

row = table[table["query_id"] == topic].iloc[0]
known = recall_of(campaign.id, key, topic)
estimate = known.estimate
st.subheader(f"Topic {widgets.plain(topic)}: {widgets.plain(row['title'])}")
with st.container(border=True):
    icon = (
        "check_circle" if known.advice.stop and known.judged else "lock" if known.mode == "closed" else "hourglass_top"
    )
    st.markdown(f"#### :material/{icon}: {widgets.plain(known.promise)}")
    if "Loop page" in known.promise:
        widgets.page_link("loop.py")
interval = (
    f"{percent(estimate.recall_low)} to {percent(estimate.recall_high, upper=True)}" if known.judged else "not known"
)
likely = "not known" if isnan(estimate.relevant) or not known.judged else f"{estimate.relevant:,.0f}"
widgets.metrics(
    {
        "Relevant found": f"{known.found:,}",
        "Judged": f"{known.judged:,} of {known.size:,}",
        f"Recall of the {row['of']}, {sure} sure": interval,
        "Relevant, most likely": likely,
        "Judgements for the next 1 %": "not known" if known.next_percent is None else f"{known.next_percent:,}",
    }
)
if known.advice.stop and known.judged and estimate.recall_low < settings.target:
    st.caption("The promise looks at one end only, and is a little stronger than the interval, which holds at both.")
for note in known.notes:
    st.warning(widgets.plain(note))
if known.mode == "closed":
    st.write("The topic is closed: nothing more is handed out for it.")
elif known.judged:
    st.write(f"**Advice:** {widgets.plain(row['advice'])}. {widgets.plain(known.next_reason)}")

closed = campaign.settings.own_modes()[topic] == "closed"
# A reader changes nothing, not even by pressing what is not drawn for them.
may = session.current().role == "manager"
if may and st.button("Open it again" if closed else "Close this topic", key="open" if closed else "close"):
    if closed:
        campaign.settings.reopen_topic(topic)
    else:
        campaign.settings.set_loop(topics=[topic], mode="closed")
    st.toast("Open again, as it was." if closed else "Closed: nothing more is handed out for it.")
    st.rerun()

if known.judged:
    recall_charts(known, sure)
    with st.expander("What other rules say"):
        for reason in (known.advice.reason, estimate.reason):
            st.write(widgets.sentence(reason))
        display.table(
            known.rules,
            {
                "rule": "Rule",
                "says": "Says",
                "promises": TextColumn("What it promises", width="medium"),
                "reason": TextColumn("Why", width="large"),
            },
        )
