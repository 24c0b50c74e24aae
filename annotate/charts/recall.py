"""The charts of the Recall page."""

from typing import cast

import altair as alt
import pandas as pd
import streamlit as st

from annotate.charts.colours import NEUTRAL, ORANGE
from annotate.elements import display
from collection.campaign.recall import Recall
from collection.stopping import Estimate

POINTS = 2_000
"""Points that a line is drawn with at most; more cannot be told apart."""

_LEGEND = alt.Legend(title=None, orient="bottom", direction="vertical", labelLimit=260)
HOW = ["drawn at random, relevant", "drawn at random, not relevant"]
"""The marks on the gain curve, in words."""


def gain_chart(curve: pd.DataFrame, known: Estimate) -> alt.LayerChart:
    """Relevant documents found against documents judged; below or beside it how many there may be.

    Parameters
    ----------
    curve
        ``judged``, ``found``, ``drawn``, as :meth:`collection.Campaign.recall` gives them.
    known
        The estimate: a dashed line for the most likely number of relevant documents, a band for its interval.
    """
    found = int(curve["found"].max())
    likely = [] if pd.isna(known.relevant) else [float(known.relevant)]
    # A band of hundreds would press a curve of ten documents flat: it is cut off where the page says so.
    top = band_top(found, known)
    y = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(tickMinStep=1)
    x = alt.X("judged:Q", title="documents judged", scale=alt.Scale(nice=False), axis=axis)
    line = (
        alt.Chart(curve.iloc[:: max(1, len(curve) // POINTS)])
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x=x, y=alt.Y("found:Q", title="relevant documents", scale=y, axis=axis))
    )
    hit = curve["found"].diff() > 0
    draws = curve.assign(how=hit.map({True: HOW[0], False: HOW[1]}))[curve["drawn"]]
    misses = draws[draws["how"] == HOW[1]]
    draws = pd.concat([misses.iloc[:: max(1, len(misses) // POINTS)], draws[draws["how"] == HOW[0]]])
    marks = (
        alt.Chart(draws)
        .mark_point(filled=True, opacity=1)
        .encode(
            x=x,
            y=alt.Y("found:Q", scale=y),
            color=alt.Color(
                "how:N", scale=alt.Scale(domain=HOW, range=[ORANGE, NEUTRAL]), legend=_LEGEND if len(draws) else None
            ),
            shape=alt.Shape("how:N", scale=alt.Scale(domain=HOW, range=["diamond", "circle"])),
            size=alt.Size("how:N", scale=alt.Scale(domain=HOW, range=[120, 22]), legend=None),
            tooltip=[
                alt.Tooltip("how:N", title="document"),
                alt.Tooltip("judged:Q", title="judged"),
                alt.Tooltip("found:Q", title="found"),
            ],
        )
    )
    band = (
        alt.Chart(pd.DataFrame({"low": [known.low], "high": [min(known.high, top)]}))
        .mark_rect(color=NEUTRAL, opacity=0.15)
        .encode(y=alt.Y("low:Q", scale=y), y2="high:Q")
    )
    rule = (
        alt.Chart(pd.DataFrame({"relevant": likely}))
        .mark_rule(strokeDash=[6, 4], strokeWidth=2, color=NEUTRAL)
        .encode(y=alt.Y("relevant:Q", scale=y))
    )
    return cast(alt.LayerChart, alt.layer(band, rule, line, marks).properties(height=320))


def band_top(found: int, known: Estimate) -> int:
    """Up to how many relevant documents the gain chart reaches."""
    likely = 0 if pd.isna(known.relevant) else int(known.relevant)
    return max(min(known.high, 2 * max(found, likely)), found, 4) + 1


def precision_chart(batches: pd.DataFrame, judged: int) -> alt.Chart:
    """The share of relevant documents in each window of ranked judgements.

    Parameters
    ----------
    batches
        ``first``, ``last``, ``judged``, ``relevant``, ``precision``, as :meth:`collection.Campaign.recall` gives them.
    judged
        Judgements in all: where the axis ends, as that of the gain curve does.
    """
    scale = alt.Scale(domain=[0, max(judged, 1)], nice=False)
    bars = batches.assign(start=batches["first"] - 1, floor=0)
    chart = (
        alt.Chart(bars)
        .mark_rect(stroke="white", strokeWidth=0.5, strokeOpacity=0.6)
        .encode(
            x=alt.X("start:Q", title="documents judged", scale=scale, axis=alt.Axis(tickMinStep=1)),
            x2="last:Q",
            y=alt.Y("precision:Q", title="share relevant", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
            y2="floor:Q",
            tooltip=[
                alt.Tooltip("first:Q", title="from judgement"),
                alt.Tooltip("last:Q", title="to judgement"),
                alt.Tooltip("judged:Q", title="ranked"),
                alt.Tooltip("relevant:Q", title="relevant"),
                alt.Tooltip("precision:Q", title="share", format=".0%"),
            ],
        )
    )
    return cast(alt.Chart, chart.properties(height=220))


def recall_charts(known: Recall, sure: str) -> None:
    """Both charts of a topic side by side, with what they show in words; `sure` is the confidence, "95 %"."""
    estimate = known.estimate
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Found as judging went on**")
        display.altair_chart(
            gain_chart(known.curve, estimate),
            alt=f"Gain curve: {known.found:,} relevant among {known.judged:,} judged; {estimate.reason}",
        )
        above = "; the band goes on above the chart" if estimate.high >= band_top(known.found, estimate) else ""
        st.caption(
            f"Grey: {estimate.low:,} to {estimate.high:,} documents may be relevant, with {sure} confidence{above}. "
            "Dashed: the most likely number, once a random draw was relevant."
        )
    with right:
        st.markdown("**How much of it was relevant**")
        display.altair_chart(
            precision_chart(known.batches, known.judged), alt="Share of relevant documents as judging went on"
        )
        st.caption("Random draws are left out. Low bars: the ranking finds little more.")
