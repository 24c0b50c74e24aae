"""Recall: the share of relevant documents that was found, topic by topic."""

from math import isnan

import streamlit as st

from annotate.auth import session
from annotate.charts.recall import draw_recall
from annotate.elements import display, recall_table, widgets
from annotate.elements.columns import text
from annotate.elements.service_cache import cached
from collection.phrases import count, percent_down, percent_up

campaign = session.current().campaign
counts = campaign.progress.counts()
settings = campaign.settings.loop()
goal, confidence = percent_down(settings.target), percent_down(settings.confidence)

st.title("Recall")
st.write(
    f"How much of what is relevant has been found, and may the judging of a topic stop? The goal is {goal} of the "
    f"relevant documents, with {confidence} confidence; the Loop page sets it."
)
if not counts["judgements"]:
    widgets.stop_with_next_step("Nothing is judged yet, so nothing can be said.")
key = campaign.recall.cache_key()
table = cached(campaign.recall.table, key, "Estimating", 4)()
started = table["judged"] > 0
sums = {"Ready to stop": table["stop"], "Judged": table["judged"], "Relevant found": table["found"]}
sizes = {"Topics": len(table), "Started": started.sum()} | {label: column.sum() for label, column in sums.items()}
widgets.metrics({label: int(size) for label, size in sizes.items()})
if used_up := campaign.budget.state().words:
    st.warning(widgets.plain(used_up))
widgets.missing_texts(table["without_text"])
shown = table
if not started.all() and st.toggle(f"Only what is begun: {count(int(started.sum()), 'topic')}", True):
    shown = table[started]
topic = recall_table.draw(shown, key)
st.caption(
    f"Worst first. Select a row to see the topic. Each topic's recall lies between the two shares with {confidence} "
    f"confidence; that is said of each topic by itself, so among many a few may lie outside."
)
if topic is None:
    st.stop()
if topic not in set(table["query_id"]):
    st.error(f"There is no topic {widgets.plain(topic)}.")
    st.stop()

row = table[table["query_id"] == topic].iloc[0]
known = cached(campaign.recall.of_topic, key, entries=64)(topic)
estimate = known.estimate
st.subheader(f"Topic {widgets.plain(topic)}: {widgets.plain(row['title'])}")
with st.container(border=True):
    may_stop = known.decision.stop and known.judged
    icon = "check_circle" if may_stop else "lock" if known.mode == "closed" else "hourglass_top"
    st.markdown(f"#### :material/{icon}: {widgets.plain(known.promise)}")
    if "Loop page" in known.promise:
        widgets.page_link("loop.py")
interval = likely = "not known"
if known.judged:
    interval = f"{percent_down(estimate.recall_low)} to {percent_up(estimate.recall_high)}"
    likely = likely if isnan(estimate.relevant) else f"{estimate.relevant:,.0f}"
widgets.metrics(
    {
        "Relevant found": f"{known.found:,}",
        "Judged": f"{known.judged:,} of {known.size:,}",
        f"Recall of the {row['of']}, {confidence} sure": interval,
        "Relevant, most likely": likely,
        "Judgements for the next 1%": "not known" if known.next_percent is None else f"{known.next_percent:,}",
    }
)
if may_stop and estimate.recall_low < settings.target:
    st.caption("The promise looks at one end only, and is a little stronger than the interval, which holds at both.")
for note in known.notes:
    st.warning(widgets.plain(note))
if known.mode == "closed":
    st.write("The topic is closed: nothing more is handed out for it.")
elif known.judged:
    st.write(f"**Advice:** {widgets.plain(known.advice)}. {widgets.plain(known.next_reason)}")

closed = campaign.settings.own_modes()[topic] == "closed"
# A reader cannot press the button either, since it does not run for them.
is_manager = session.current().role == "manager"
if is_manager and st.button("Open it again" if closed else "Close this topic", key="open" if closed else "close"):
    if closed:
        campaign.settings.reopen_topic(topic)
    else:
        campaign.settings.set_loop(topics=[topic], mode="closed")
    st.toast("Open again, as it was." if closed else "Closed: nothing more is handed out for it.")
    st.rerun()

if known.judged:
    draw_recall(known, confidence)
    with st.expander("What other rules say"):
        for reason in (known.decision.reason, estimate.reason):
            st.write(widgets.sentence(reason))
        columns = {"promises": text("What it promises", "medium"), "reason": text("Why", "large")}
        display.table(known.rules, {"rule": "Rule", "says": "Says", **columns})
