"""Charts of recall, for the pages Recall and Stopping."""

import altair as alt
import pandas as pd
import streamlit as st

from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import text
from collection.campaign.recall.recall import Recall
from collection.campaign.recall.recall_advice import CALIBRATION_TOPICS, Advice
from collection.charts.marks import BLUE, GREY, LEGEND, ORANGE, POINTS, colours, shapes, tooltips
from collection.core.vocabulary import RETRIEVAL, Vocabulary
from collection.stopping import RelevantEstimate

RELEVANT, NOT_RELEVANT = "random draw, relevant", "random draw, not relevant"
_DRAWS = {RELEVANT: ("diamond", ORANGE), NOT_RELEVANT: ("circle", GREY)}
READY, NOT_YET = "ready to stop", "not ready to stop"
_ADVICE = {READY: ("circle", BLUE), NOT_YET: ("triangle-up", GREY)}
CALIBRATION, BY_RULE = "calibration topic", Advice.CLOSED_BY_RULE.value
_ACROSS = {CALIBRATION: ("diamond", ORANGE), BY_RULE: ("square", BLUE)}


def intervals_chart(rows: pd.DataFrame, target: float, words: Vocabulary = RETRIEVAL) -> alt.LayerChart:
    """Each topic's interval of recall, in the order of the rows; a dashed line marks the target.

    `rows` has ``query_id``, ``title``, ``recall_low``, ``recall_high``, ``stop`` and ``kind``; topics without an
    estimate are left out.
    """
    known = rows.dropna(subset="recall_low")
    status = known["stop"].map({True: READY, False: NOT_YET}).mask(known["kind"] == Advice.CLOSED_BY_RULE, BY_RULE)
    status = status.mask(known["kind"].isin(CALIBRATION_TOPICS), CALIBRATION)
    known = known.assign(status=status)
    marks = {name: mark for name, mark in (_ADVICE | _ACROSS).items() if (status == name).any()}
    axis = alt.Axis(labelAngle=-45, labelOverlap=True, labelLimit=90)
    x = alt.X("query_id:N", sort=known["query_id"].tolist(), title=words.apply("Topic"), axis=axis)
    share = alt.Axis(format="%", tickCount=5)
    y = alt.Y("recall_low:Q", title="Recall", scale=alt.Scale(domain=[0, 1]), axis=share)
    base = alt.Chart(known).encode(
        x=x,
        color=colours("status", marks, LEGEND),
        tooltip=tooltips(
            known,
            query_id=words.apply("Topic"),
            title="Title",
            recall_low=("Lower bound", ".1%"),
            recall_high=("Upper bound", ".1%"),
            status="Status",
        ),
    )
    span = base.mark_rule(strokeWidth=3).encode(y=y, y2="recall_high:Q")
    shape = shapes("status", marks, LEGEND)
    low = base.mark_point(filled=True, size=70, opacity=1).encode(y=y, shape=shape)
    line = alt.Chart(pd.DataFrame({"target": [target]})).mark_rule(strokeDash=[5, 4], color=GREY)
    goal = line.encode(y="target:Q", tooltip=[alt.Tooltip("target:Q", title="Target recall", format=".1%")])
    extra_lines = max(len(marks) - 2, 0)  # on a phone, the legend has one line for each entry
    return alt.LayerChart(layer=[goal, span, low], height=260 + 30 * extra_lines)


def gain_chart(curve: pd.DataFrame, known: RelevantEstimate, words: Vocabulary = RETRIEVAL) -> alt.LayerChart:
    """Relevant documents found against documents judged, with the estimated number of relevant documents.

    `curve` has ``judged``, ``found`` and ``drawn``. A dashed line is the most likely number, a band its interval.
    """
    # A band of hundreds would flatten a curve of ten documents: it is cut off, and the caption mentions it.
    top = band_top(int(curve["found"].max()), known)
    y = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(tickMinStep=1)
    x = alt.X("judged:Q", title=words.apply("Documents judged"), scale=alt.Scale(nice=False), axis=axis)
    line = (
        alt.Chart(curve.iloc[:: max(1, len(curve) // POINTS)])
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x=x, y=alt.Y("found:Q", title=words.apply("Relevant documents found"), scale=y, axis=axis))
    )
    how = (curve["found"].diff() > 0).map({True: RELEVANT, False: NOT_RELEVANT})
    draws = curve.assign(how=how)[curve["drawn"]]
    misses = draws[draws["how"] == NOT_RELEVANT]
    draws = pd.concat([misses.iloc[:: max(1, len(misses) // POINTS)], draws[draws["how"] == RELEVANT]])
    marks = (
        alt.Chart(draws)
        .mark_point(filled=True, opacity=1)
        .encode(
            x=x,
            y=alt.Y("found:Q", scale=y),
            color=colours("how", _DRAWS, LEGEND if len(draws) else None),
            shape=shapes("how", _DRAWS),
            size=alt.Size("how:N", scale=alt.Scale(domain=list(_DRAWS), range=[120, 22]), legend=None),
            tooltip=tooltips(
                draws,
                how=words.apply("Document"),
                judged=words.apply("Documents judged"),
                found=words.apply("Relevant found"),
            ),
        )
    )
    interval = pd.DataFrame({"low": [known.low], "high": [min(known.high, top)]})
    band = alt.Chart(interval).mark_rect(color=GREY, opacity=0.15).encode(y=alt.Y("low:Q", scale=y), y2="high:Q")
    likely = pd.DataFrame({"relevant": [] if pd.isna(known.relevant) else [float(known.relevant)]})
    rule = alt.Chart(likely).mark_rule(strokeDash=[6, 4], strokeWidth=2, color=GREY)
    return alt.LayerChart(layer=[band, rule.encode(y=alt.Y("relevant:Q", scale=y)), line, marks], height=320)


def band_top(relevant: int, known: RelevantEstimate) -> int:
    """The largest number of relevant documents on the gain chart's axis."""
    likely = 0 if pd.isna(known.relevant) else int(known.relevant)
    return max(min(known.high, 2 * max(relevant, likely)), relevant, 4) + 1


def precision_chart(batches: pd.DataFrame, judged: int, words: Vocabulary) -> alt.Chart:
    """Share of relevant documents in each of the `batches`; the axis ends at `judged`, as that of the gain curve."""
    scale = alt.Scale(domain=[0, max(judged, 1)], nice=False)
    bars = alt.Chart(batches.assign(start=batches["first"] - 1, floor=0), height=220)
    chart: alt.Chart = bars.mark_rect(stroke="white", strokeWidth=0.5, strokeOpacity=0.6).encode(
        x=alt.X("start:Q", title=words.apply("Documents judged"), scale=scale, axis=alt.Axis(tickMinStep=1)),
        x2="last:Q",
        y=alt.Y(
            "precision:Q",
            title=words.apply("Share relevant"),
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%"),
        ),
        y2="floor:Q",
        tooltip=tooltips(
            batches,
            first=words.apply("First judgement"),
            last=words.apply("Last judgement"),
            judged=words.apply("Ranked documents"),
            relevant=words.apply("Relevant documents"),
            precision=(words.apply("Share relevant"), ".0%"),
        ),
    )
    return chart


def draw_rules(known: Recall) -> None:
    """Draw the reasons for the decision and for the estimate, and the decisions of other stopping rules."""
    words = widgets.words()
    for reason in dict.fromkeys((known.decision.reason, known.estimate.reason)):
        st.write(words.apply(widgets.sentence(reason)))
    rules = known.rules.assign(**{name: known.rules[name].map(words.apply) for name in ("promises", "reason")})
    columns = {"promises": text("Guarantee", "medium"), "reason": text("Reason", "large")}
    display.table(rules, {"rule": "Rule", "says": "Decision", **columns})


def draw_recall(known: Recall, confidence: str) -> None:
    """Draw both charts of a topic side by side with their captions; `confidence` is written as "95%"."""
    estimate = known.estimate
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown(f"**{widgets.words().apply('Relevant documents found')}**")
        display.altair_chart(
            gain_chart(known.curve, estimate, widgets.words()),
            alt=f"Gain curve: {known.found:,} relevant among {known.judged:,} judged; {estimate.reason}",
        )
        above = ", continues above the chart" if estimate.high >= band_top(known.found, estimate) else ""
        likely = "" if pd.isna(estimate.relevant) else " Dashed line: estimated number of relevant documents."
        band = f"Grey band: {confidence} confidence interval of the number of relevant documents "
        band += f"({estimate.low:,}-{estimate.high:,}{above}).{likely}"
        end = "Dashed line: number of relevant documents."
        st.caption(widgets.words().apply(band if estimate.low < estimate.high else end))
    with right:
        st.markdown("**Precision of the ranking**")
        display.altair_chart(
            precision_chart(known.batches, known.judged, widgets.words()),
            alt="Share of relevant documents in each batch of judgements",
        )
        excluded = "Randomly drawn documents are excluded."
        ranked = f"{excluded} Low bars at the end mean that the ranking finds few new relevant documents."
        st.caption(widgets.words().apply(ranked))
