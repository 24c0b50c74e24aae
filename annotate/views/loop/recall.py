"""Recall: the share of relevant documents found, topic by topic, and whether judging can stop."""

from math import isnan

import streamlit as st

from annotate.auth import session
from annotate.views.loop import recall_promise, recall_table
from annotate.views.loop.recall_charts import draw_recall, intervals_chart
from annotate.views.widgets import display, widgets
from annotate.views.widgets.columns import text
from annotate.views.widgets.service_cache import cached
from collection.campaign.recall.recall_advice import ENABLE_DRAWS, describe_ready, name_scope
from collection.core.phrases import percent_down, percent_up

campaign = session.current().campaign
counts = campaign.store.judgements.counts()
settings = campaign.settings.loop()
goal, confidence = percent_down(settings.target), percent_down(settings.confidence)

st.title("Recall")
across = recall_promise.draw()
if not counts["judgements"]:
    missing = "This campaign has no judgements yet; recall is estimated from them."
    if campaign.results.overview.next_step().page == "recall":  # the page already shows it above
        st.info(missing)
        st.stop()
    widgets.stop_with_next_step(missing)
key = campaign.recall.across_topics.progress.cache_key()
table = cached(campaign.recall.table, key, "Estimating", 4)()
started = table["judged"] > 0
if across:
    st.subheader("Recall of each topic")
st.markdown(f"#### {widgets.plain(describe_ready(table, settings))}")
sizes = {"Topics ready to stop": table["stop"], "Topics started": started}
sizes |= {"Pairs judged": table["judged"], "Relevant found": table["found"]}
widgets.metrics({label: int(column.sum()) for label, column in sizes.items()})
if used_up := campaign.progress.budget.state().words:
    st.warning(widgets.plain(used_up))
widgets.missing_texts(table["without_text"])
shown = table
if not started.all() and st.toggle(f"Only started topics ({started.sum():,} of {len(table):,})", True):
    shown = table[started]
if started.any():
    chart = intervals_chart(shown, settings.target)
    display.altair_chart(chart, alt=f"Interval of the recall of each topic, and the target, {goal}")
    interval = f"{confidence} confidence interval of each topic's recall in {name_scope(shown)}"
    st.caption(f"Lines: {interval}; the symbol marks the lower bound. Dashed: target recall ({goal}).")
topic = recall_table.draw(shown, key) or (table["query_id"].iloc[0] if len(table) == 1 else None)
order = (
    "Lowest recall first." if shown["judged"].all() else "Topics without judgements first, then lowest recall first."
)
st.caption(f"{order} Select a row to see the details of its topic.")
with st.container(horizontal=True):
    widgets.documentation_link("how-to/stop-judging", "When to stop judging")
    widgets.page_link("loop", "Change the target recall")
if topic is None:
    st.stop()
if topic not in set(table["query_id"]):
    st.error(f"Topic {widgets.plain(topic)} does not exist.")
    st.stop()

row = table[table["query_id"] == topic].iloc[0]
known = cached(campaign.recall.for_topic, key, entries=64)(topic)
estimate = known.estimate
st.subheader(f"Topic {widgets.plain(topic)}: {widgets.plain(row['title'])}")
with st.container(border=True):
    may_stop = known.decision.stop and known.judged
    icon = "check_circle" if may_stop else "lock" if known.mode == "closed" else "hourglass_top"
    st.markdown(f":material/{icon}: {widgets.plain(known.promise)}")
    if known.advice == ENABLE_DRAWS:
        widgets.page_link("loop")
metrics = {"Relevant found": f"{known.found:,}", "Judged": f"{known.judged:,} of {known.size:,}"}
if known.judged:
    low, high = percent_down(estimate.recall_low), percent_up(estimate.recall_high)
    metrics[f"Recall in the {row['of']}, {confidence} CI"] = low if low == high else f"{low} to {high}"
    if estimate.low < estimate.high and not isnan(estimate.relevant):
        metrics["Estimated relevant"] = f"{estimate.relevant:,.0f}"
widgets.metrics(metrics)
if may_stop and estimate.recall_low < settings.target:
    st.caption("The guarantee is one-sided, so it can exceed the lower bound of the two-sided interval.")
for note in known.notes:
    st.warning(widgets.plain(note))
if known.mode == "closed":
    st.write("This topic is closed: annotators get no more of its documents.")
elif known.judged:
    st.write(f"**Advice:** {widgets.plain(known.advice)}.")
    st.caption(widgets.plain(known.cost))

closed = campaign.settings.own_modes()[topic] == "closed"
# A reader cannot press the button either, since it does not run for them.
is_manager = session.current().role == "manager"
if is_manager and st.button("Reopen topic" if closed else "Close topic", key="open" if closed else "close"):
    if closed:
        campaign.settings.reopen_topic(topic)
    else:
        campaign.settings.set_loop(topics=[topic], mode="closed")
    st.toast("Topic reopened." if closed else "Topic closed: annotators get no more of its documents.")
    st.rerun()

if known.judged:
    draw_recall(known, confidence)
    with st.expander("Other stopping rules"):
        for reason in dict.fromkeys((known.decision.reason, estimate.reason)):
            st.write(widgets.sentence(reason))
        columns = {"promises": text("Guarantee", "medium"), "reason": text("Reason", "large")}
        display.table(known.rules, {"rule": "Rule", "says": "Decision", **columns})
