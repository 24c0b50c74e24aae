"""System order: how certain the order of the systems is, pair by pair, and whether judging can stop."""

from functools import partial

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import display, downloads, pickers, widgets
from annotate.views.widgets.display import number, text
from annotate.views.widgets.downloads import downloadable_chart
from annotate.views.widgets.service_cache import cached
from collection.campaign.loop.system_order import CONFIDENCE, TARGET
from collection.charts.comparison import certainty_chart
from collection.charts.intervals import estimates_chart
from collection.core.phrases import count, join, percent_down
from collection.formats import to_tsv

campaign = session.current().campaign
NARROW = 130  # pixels of a name, so that a phone shows all columns of the table
counts = campaign.store.judgements.counts()
settings = campaign.settings.loop()

st.title("System order")
if missing := [name for name in ("runs", "judgements") if not counts[name]]:
    absent = join(missing, "or")
    widgets.stop_with_next_step(f"This campaign has no {absent} yet; the order of the systems is estimated from both.")

answer = st.container()  # drawn first, computed from the settings below it
with st.expander("Settings: target and confidence"):
    left, right = st.columns(2)
    hint = (
        "Judging can stop when Kendall's tau between the current order and the order with all pairs judged reaches it."
    )
    target = left.number_input("Target tau", 0.5, 1.0, TARGET, 0.05, key="target", help=hint)
    with right:
        confidence = pickers.pick_share("Confidence (%)", 50.0, 99.0, CONFIDENCE, "confidence")
    widgets.page_link("loop", "Change the measure")
sure = percent_down(confidence)
with widgets.shown_errors():
    order = cached(
        campaign.loop.system_order.assess, campaign.loop.system_order.cache_key(), "Estimating unjudged grades", 8
    )(target=target, confidence=confidence)
    if session.current().role == "manager":  # a reader changes nothing
        campaign.loop.system_order.store_advice(order)  # before drawing, since leaving the page ends its script
    measure, pairs, pool = order.measure, order.pairs, order.estimates.pool
    rows = order.estimates.standings(measure)
    with answer:
        st.markdown(f"#### {widgets.plain(order.reason)}")
        widgets.metrics(
            {
                "Judged pairs": f"{pool.judged:,} of {pool.pairs:,}",
                "Expected tau, all pairs judged": f"{order.tau:.2f}",
                f"Tau, lower bound ({sure})": f"{order.lowest_tau:.2f}",
                "Undecided pairs of systems": f"{order.open_pairs:,} of {len(pairs):,}",
            }
        )
        if pool.unjudged:
            st.info(
                f"All values are estimates. The grades of {count(pool.unjudged, 'unjudged pair')} of "
                f"{count(pool.topics, 'topic')} are drawn from a model of the judged ones. In replays, the ranges of "
                "values were too narrow."
            )
        st.write(
            f"This page estimates the order that you would get on these {count(pool.topics, 'topic')} if all pairs "
            "were judged. It does not test whether the differences hold on other topics; *Compare* does, on the judged "
            "topics."
        )
        widgets.page_link("compare", "Compare the systems")
        if order.caution:
            st.caption(widgets.plain(order.caution))
        downloadable_chart(
            estimates_chart(rows, measure),
            "system-order",
            f"Estimated mean {measure}. Lines: {sure} of the draws of the unjudged grades. "
            f"Worse than the best: probability of {sure} or more. Undecided: lower probability.",
            alt=f"Estimated {measure} of each system",
        )
    chart = certainty_chart(pairs, rows["system"].tolist())
    st.subheader("Pairs of systems")
    display.altair_chart(chart, alt="Probability of the order of each pair of systems")
    undecided = ~pairs["decided"]
    label = f"Only undecided pairs ({undecided.sum():,} of {len(pairs):,})"
    shown = pairs[undecided] if undecided.any() and st.toggle(label, True, key="open") else pairs
    columns = {
        "system_a": text("System A", NARROW),
        "system_b": text("System B", NARROW),
        "probability_better": number("P(A better)", "%.1f%%", 95, "Probability that A is better than B."),
    }
    percents = shown.assign(probability_better=100 * shown["probability_better"])
    display.table(percents, columns, most_height=388, alt="Pairs of systems, closest first")
    widgets.documentation_link("how-to/rank-with-fewer-judgements", "How to rank systems with fewer judgements")
    st.caption(f"Closest first. A pair is decided if one order, or equality, has a probability of {sure} or more.")
    downloads.offer_results(
        {
            "system-order.tsv": ("Estimates (TSV)", partial(to_tsv, order.values)),
            "system-pairs.tsv": ("Probabilities (TSV)", partial(to_tsv, pairs)),
        }
    )
