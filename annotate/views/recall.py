"""Recall: how much of what is relevant has been found, topic by topic, and what may be promised of it."""

from math import isnan

import pandas as pd
import streamlit as st

from annotate import charts
from annotate.auth import session
from annotate.elements import drawing, widgets
from collection.campaign.recall import Recall
from collection.stopping.table import percent

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
    st.write("Nothing is judged yet, so nothing can be said.")
    widgets.next_step(campaign.overview.next_step())
    st.stop()


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
    st.warning(drawing.plain(used_up))
widgets.missing_texts(table["without_text"])
shown = table
some = f"{int(begun.sum()):,} topic{'' if begun.sum() == 1 else 's'}"
if not begun.all() and st.toggle(f"Only what is begun: {some}", True):
    shown = table[begun]
listed = shown["query_id"].tolist()
# Another order, another table: a selected row never stays where another topic has come to stand.
rows = f"rows-{hash((key, len(listed)))}"


def pick() -> None:
    """The address carries the topic, so that it can be sent to somebody."""
    chosen = st.session_state[rows]["selection"]["rows"]
    if chosen:
        st.query_params["topic"] = listed[chosen[0]]
    else:
        st.query_params.pop("topic", None)


topic = st.query_params.get("topic")
drawing.dataframe(
    shown,
    hide_index=True,
    height=min(35 * len(shown) + 38, 318),
    on_select=pick,
    selection_mode="single-row",
    selection_default={"selection": {"rows": [listed.index(topic)] if topic in listed else []}},
    key=rows,
    placeholder="",
    alt="Every topic's recall, worst first",
    # The advice before the title: on a phone two columns are in sight.
    column_order=["query_id", "advice", "title", "judged", "found", "without_text", "recall_low", "recall_high", "of"],
    column_config={
        "query_id": st.column_config.TextColumn("Topic", width=60),
        "title": st.column_config.TextColumn("Title", width=190),
        "judged": st.column_config.NumberColumn("Judged", width=65),
        "found": st.column_config.NumberColumn("Found", width=60, help="Relevant documents found."),
        "without_text": st.column_config.NumberColumn(
            "No text", width=65, help="Pooled documents that cannot be judged; they count as unjudged."
        ),
        "recall_low": st.column_config.NumberColumn("Recall from", format="percent", width="small"),
        "recall_high": st.column_config.NumberColumn("to", format="percent", width="small"),
        "of": st.column_config.TextColumn(
            "Scope", width=65, help="A pool holds what the systems retrieved; nothing is said of the rest."
        ),
        "advice": st.column_config.TextColumn(
            "Advice", width=215, help="Random documents count where none of them is relevant."
        ),
    },
)
st.caption(
    f"Worst first. Select a row to see the topic. Each topic's recall lies between the two shares with {sure} "
    f"confidence; that is said of each topic by itself, so among many a few may lie outside."
)
if topic is None:
    st.stop()
if topic not in set(table["query_id"]):
    st.error(f"There is no topic {drawing.plain(topic)}.")
    st.stop()

row = table[table["query_id"] == topic].iloc[0]
known = recall_of(campaign.id, key, topic)
estimate = known.estimate
st.subheader(f"Topic {drawing.plain(topic)}: {drawing.plain(row['title'])}")
with st.container(border=True):
    icon = (
        "check_circle" if known.advice.stop and known.judged else "lock" if known.mode == "closed" else "hourglass_top"
    )
    st.markdown(f"#### :material/{icon}: {drawing.plain(known.promise)}")
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
    st.warning(drawing.plain(note))
if known.mode == "closed":
    st.write("The topic is closed: nothing more is handed out for it.")
elif known.judged:
    st.write(f"**Advice:** {drawing.plain(row['advice'])}. {drawing.plain(known.next_reason)}")

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
    charts.recall_charts(known, sure)
    with st.expander("What other rules say"):
        for reason in (known.advice.reason, estimate.reason):
            st.write(f"{drawing.plain(reason[0].upper() + reason[1:])}.")
        drawing.dataframe(
            known.rules,
            hide_index=True,
            column_config={
                "rule": "Rule",
                "says": "Says",
                "promises": st.column_config.TextColumn("What it promises", width="medium"),
                "reason": st.column_config.TextColumn("Why", width="large"),
            },
        )
