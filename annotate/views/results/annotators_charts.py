"""Charts of the Annotators page."""

import altair as alt
import pandas as pd

from collection.charts.marks import LEGEND, POINTS, tooltips
from collection.core.vocabulary import RETRIEVAL, Vocabulary

WINDOW = 20  # judgements in the window of the running median

SHORTEST = 0.1  # least seconds on the logarithmic axis; shorter times are drawn there


def seconds_chart(times: pd.DataFrame, words: Vocabulary = RETRIEVAL) -> alt.LayerChart:
    """Seconds of judgements (``annotator``, ``judged_at``, ``seconds``, oldest first) with running medians."""
    seconds = times.groupby("annotator")["seconds"]
    shown = times.assign(
        number=seconds.cumcount() + 1,
        drawn=times["seconds"].clip(lower=SHORTEST),
        median=seconds.transform(lambda s: s.rolling(WINDOW, min_periods=1).median()).clip(lower=SHORTEST),
    )
    shown = shown.iloc[:: max(1, len(shown) // POINTS)]
    x = alt.X(
        "number:Q", title=words.apply("Judgement number"), axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False)
    )
    y = alt.Scale(type="log", domainMin=SHORTEST if (shown["drawn"] < 1).any() else 1)
    axis = alt.Axis(values=[0.1, 1, 10, 100, 1000], format="~g")
    base = alt.Chart(shown).encode(x=x, color=alt.Color("annotator:N", legend=LEGEND))
    points = base.mark_point(filled=True, opacity=0.35, size=18).encode(
        y=alt.Y("drawn:Q", title="Seconds (log scale)", scale=y, axis=axis),
        tooltip=[
            *tooltips(
                shown,
                annotator=words.apply("Annotator"),
                number=words.apply("Judgement number"),
                seconds=("Seconds", ".1f"),
            ),
            alt.Tooltip("judged_at:T", title="Time (UTC)", format="%Y-%m-%d %H:%M"),
        ],
    )
    return alt.LayerChart(
        layer=[points, base.mark_line(strokeWidth=2).encode(y=alt.Y("median:Q", scale=y))], height=300
    )


def days_chart(days: pd.DataFrame, words: Vocabulary = RETRIEVAL) -> alt.Chart:
    """Judgements of each day, stacked by annotator; `days` has ``annotator``, ``day`` and ``judgements``."""
    table = days.assign(day=days["day"].dt.strftime("%Y-%m-%d"))
    bars = alt.Chart(table, height=300).mark_bar()
    chart: alt.Chart = bars.encode(
        x=alt.X("day:O", title="Day (UTC)", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y("sum(judgements):Q", title=words.apply("Judgements"), axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("annotator:N", legend=LEGEND),
        tooltip=tooltips(
            table, annotator=words.apply("Annotator"), day="Day (UTC)", judgements=words.apply("Judgements")
        ),
    )
    return chart
