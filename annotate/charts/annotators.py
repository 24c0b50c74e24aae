"""The charts of the Annotators page."""

from typing import cast

import altair as alt
import pandas as pd

_LEGEND = alt.Legend(title=None, orient="bottom", columns=3, labelLimit=140, symbolOpacity=1)
POINTS = 2_000
"""Points that are drawn at most; more cannot be told apart."""

WINDOW = 20
"""Judgements over which the line takes its median."""

SHORTEST = 0.1
"""Where the axis of seconds begins; less is drawn there, since a logarithm has no 0."""


def seconds_chart(times: pd.DataFrame) -> alt.LayerChart:
    """Seconds of each judgement against its number, for each annotator, with a running median.

    Parameters
    ----------
    times
        ``annotator``, ``judged_at``, ``seconds``, oldest first: ``AnnotatorStatistics.times`` of
        :mod:`collection.annotator_agreement.annotator_statistics`.
    """
    of_each = times.groupby("annotator")["seconds"]
    shown = times.assign(
        number=of_each.cumcount() + 1,
        drawn=times["seconds"].clip(lower=SHORTEST),
        median=of_each.transform(lambda s: s.rolling(WINDOW, min_periods=1).median()).clip(lower=SHORTEST),
    )
    shown = shown.iloc[:: max(1, len(shown) // POINTS)]
    x = alt.X("number:Q", title="judgement", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False))
    y = alt.Scale(type="log", domainMin=SHORTEST)
    colour = alt.Color("annotator:N", legend=_LEGEND)
    base = alt.Chart(shown).encode(x=x, color=colour)
    points = base.mark_point(filled=True, opacity=0.35, size=18).encode(
        y=alt.Y("drawn:Q", title="seconds", scale=y, axis=alt.Axis(values=[0.1, 1, 10, 100, 1000], format="~g")),
        tooltip=[
            alt.Tooltip("annotator:N"),
            alt.Tooltip("number:Q", title="judgement"),
            alt.Tooltip("seconds:Q", format=".1f"),
            alt.Tooltip("judged_at:T", title="when (UTC)", format="%Y-%m-%d %H:%M"),
        ],
    )
    line = base.mark_line(strokeWidth=2).encode(y=alt.Y("median:Q", scale=y))
    return cast(alt.LayerChart, (points + line).properties(height=300))


def days_chart(days: pd.DataFrame) -> alt.Chart:
    """Judgements of each day, one annotator above the other.

    Parameters
    ----------
    days
        ``AnnotatorStatistics.days`` of :mod:`collection.annotator_agreement.annotator_statistics`.
    """
    table = days.assign(day=days["day"].dt.strftime("%Y-%m-%d"))
    chart = (
        alt.Chart(table)
        .mark_bar()
        .encode(
            x=alt.X("day:O", title="day (UTC)", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("sum(judgements):Q", title="judgements", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("annotator:N", legend=_LEGEND),
            tooltip=["annotator:N", "day:O", "judgements:Q"],
        )
    )
    return cast(alt.Chart, chart.properties(height=300))
