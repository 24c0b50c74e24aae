"""Recall: the share of relevant documents found, topic by topic, and whether judging can stop."""

from math import isnan

import numpy as np
import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.views.loop import recall_promise
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.recall_charts import draw_recall, draw_rules, intervals_chart
from annotate.views.widgets.service_cache import cached
from collection.campaign.recall.recall_advice import Advice, describe_ready, name_scope
from collection.core.phrases import percent_down, percent_up

campaign = session.current().campaign
counts = campaign.store.judgements.counts()
settings = campaign.settings.loop()
goal, confidence = percent_down(settings.target), percent_down(settings.confidence)


def draw_table(rows: pd.DataFrame, state: str) -> str | None:
    """Draw the rows, whose selection ends where `state` changes; return the topic in the page's address."""
    listed = rows["query_id"].tolist()
    key = f"rows-{hash((state, len(listed)))}"

    def pick() -> None:
        chosen = st.session_state[key]["selection"]["rows"]
        if chosen:
            st.query_params["topic"] = listed[chosen[0]]
        else:
            st.query_params.pop("topic", None)

    topic = st.query_params.get("topic")
    no_text = "Pooled documents without a text. They count as unjudged."
    hidden = ([] if rows["without_text"].any() else ["without_text"]) + (["of"] if rows["of"].nunique() < 2 else [])
    whole = {"recall_low": np.floor(100 * rows["recall_low"] + 1e-9)}  # never shown as better than they are
    whole["recall_high"] = np.ceil(100 * rows["recall_high"] - 1e-9)
    display.table(
        rows.drop(columns=["kind", *hidden]).assign(**whole),
        {  # The advice before the title: on a phone two columns are in sight.
            "query_id": display.identifier("Topic", rows["query_id"]),
            "advice": text(
                "Advice", 215, '"Judge N more at random": if none of them is relevant, the topic is ready to stop.'
            ),
            "title": text("Title", 150),
            "judged": number("Judged", width=65),
            "found": number("Relevant found", width=110),
            "without_text": number("Text missing", width=95, help=no_text),
            "recall_low": number("Recall, lower bound", "%d%%", 135),
            "recall_high": number("Recall, upper bound", "%d%%", 135),
            "of": text("Scope", 80, "Documents to which the recall refers: the pool or the whole collection."),
        },
        most_height=318,
        on_select=pick,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [listed.index(topic)] if topic in listed else []}},
        key=key,
        alt="Recall of each topic, lowest first",
    )
    return topic


st.title("Recall")
across = recall_promise.draw()
if not counts["judgements"]:
    missing = "This campaign has no judgements yet; recall is estimated from them."
    if campaign.results.overview.next_step().page == "recall":  # the page already shows it above
        st.info(missing)
        st.stop()
    widgets.stop_with_next_step(missing)
key = campaign.recall.across_topics.cache_key()
table = cached(campaign.recall.table, key, "Estimating", 4)()
started = table["judged"] > 0
if across:
    st.subheader("Recall of each topic")
st.markdown(f"#### {widgets.plain(describe_ready(table, settings))}")
sizes = {"Topics ready to stop": table["stop"], "Topics started": started}
sizes |= {"Pairs judged": table["judged"], "Relevant found": table["found"]}
widgets.metrics({label: int(column.sum()) for label, column in sizes.items()})
if (review := campaign.settings.review()) is not None and review.screeners > 1:
    st.caption(
        "A record counts as screened from its first decision on. *Stopping* also counts missing second decisions."
    )
if used_up := campaign.progress.budget.state().words:
    st.warning(widgets.plain(used_up))
widgets.missing_texts(table["without_text"])
shown = table
if not started.all() and st.toggle(f"Only started topics ({started.sum():,} of {len(table):,})", True):
    shown = table[started]
if started.any():
    chart = intervals_chart(shown, settings.target, widgets.words())
    display.altair_chart(chart, alt=f"Interval of the recall of each topic, and the target, {goal}")
    interval = f"{confidence} confidence interval of each topic's recall in {name_scope(shown)}"
    st.caption(f"Lines: {interval}; the symbol marks the lower bound. Dashed: target recall ({goal}).")
topic = draw_table(shown, key) or (table["query_id"].iloc[0] if len(table) == 1 else None)
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
    if known.kind is Advice.ENABLE_DRAWS:
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
        draw_rules(known)
