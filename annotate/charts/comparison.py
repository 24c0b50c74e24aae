"""The charts of the Compare page: systems with intervals, topics, and what accuracy costs.

What a mark means is said by its shape as well as by its colour, and both can be seen on the light and on the dark
background.
"""

from typing import Literal, cast

import altair as alt
import numpy as np
import pandas as pd

from annotate.charts.colours import BLUE, NEUTRAL, ORANGE
from annotate.elements import display
from collection.comparison import MORE_IS_BETTER_COSTS
from collection.measures import parse
from collection.records import sort_naturally

STANDINGS = {"best": ("diamond", ORANGE), "may be as good": ("circle", BLUE), "worse": ("triangle-down", NEUTRAL)}
"""How a system stands beside the best one: words, and the shape and colour of its mark."""
OUTCOMES = {"different": ("diamond", ORANGE), "may be equal": ("circle", BLUE)}
"""What a test says of a system and its baseline."""
PLACES = {"worth its cost": ("diamond", ORANGE), "dominated": ("circle", NEUTRAL)}
"""Whether some other system is as good and as cheap, and better in one of both."""
UNITS = {
    "ms": "milliseconds",
    "s": "seconds",
    "usd": "US dollars",
    "eur": "euros",
    "bytes": "bytes",
    "mb": "MB",
    "gb": "GB",
    "qps": "queries a second",
}
"""What the last part of a cost's name says of its unit."""
WIDE = 20
"""Costs that differ by more than so many times are drawn on a logarithmic axis: the cheap ones lie apart there."""
_LEGEND = alt.Legend(title=None, orient="bottom")
TOPIC = "topic"
"""Name of the selection of the chart of topics."""


def means_chart(rows: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Each system's mean with its interval, best first.

    An interval is drawn up to the ends of the measure's range at most: a t interval of few topics runs beyond what the
    measure can be.

    Parameters
    ----------
    rows
        ``system``, ``value``, ``low``, ``high`` (nan: no interval), ``standing`` (a key of :data:`STANDINGS`), in the
        order in which they are drawn.
    measure
        What the value is.
    """
    return _intervals(_within(rows, *_range(measure)), "value", f"mean {measure}", "standing", STANDINGS)


def differences_chart(rows: pd.DataFrame, measure: str, baseline: str) -> alt.LayerChart:
    """Each system's difference from its baseline with its interval; a rule marks no difference.

    As in :func:`means_chart`, an interval ends where no difference can be larger.

    Parameters
    ----------
    rows
        ``system``, ``difference``, ``low``, ``high``, ``outcome`` (a key of :data:`OUTCOMES`), in their order.
    measure, baseline
        What the difference is of, and from what.
    """
    title = f"difference in mean {measure} from {baseline}"
    lowest, highest = _range(measure)
    chart = _intervals(_within(rows, lowest - highest, highest - lowest), "difference", title, "outcome", OUTCOMES)
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=NEUTRAL, strokeDash=[5, 4]).encode(x="zero:Q")
    return cast(alt.LayerChart, (zero + chart).properties(height=alt.Step(22)))


def _range(measure: str) -> tuple[float, float]:
    """What means over topics can be: the measure's range, and anything where its value is no mean."""
    entry = parse(measure).entry
    return (entry.lowest, entry.highest) if entry.summary == "mean" else (-np.inf, np.inf)


def _within(rows: pd.DataFrame, lowest: float, highest: float) -> pd.DataFrame:
    """The rows with intervals that end there; the axis follows, since it spans what is drawn."""
    return rows.assign(low=rows["low"].clip(lowest, highest), high=rows["high"].clip(lowest, highest))


def _intervals(
    rows: pd.DataFrame, column: str, title: str, kind: str, kinds: dict[str, tuple[str, str]]
) -> alt.LayerChart:
    """Points with intervals, one row a system; `kind` is the column that says shape and colour."""
    x = alt.X(f"{column}:Q", title=title, scale=alt.Scale(zero=False), axis=alt.Axis(titleLimit=340, labelFlush=False))
    base = alt.Chart(rows).encode(
        y=alt.Y(
            "system:N",
            sort=rows["system"].tolist(),
            title=None,
            axis=alt.Axis(labelLimit=160, labelOverlap=False, labelFlush=False),
        ),
        color=_colours(kind, kinds),
        tooltip=[
            alt.Tooltip("system:N"),
            alt.Tooltip(f"{column}:Q", title=title, format=".4f"),
            alt.Tooltip("low:Q", title="interval from", format=".4f"),
            alt.Tooltip("high:Q", title="to", format=".4f"),
            alt.Tooltip(f"{kind}:N", title="that is"),
        ],
    )
    span = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, shape=_shapes(kind, kinds))
    return cast(alt.LayerChart, (span + points).properties(height=alt.Step(22)))


def topics_chart(rows: pd.DataFrame, measure: str, a: str, b: str) -> alt.Chart:
    """One bar a topic: by how much `a` is above `b`, or below it. A click on a bar selects the topic.

    Parameters
    ----------
    rows
        ``query_id``, ``title``, ``value_a``, ``value_b``, ``difference``.
    measure, a, b
        What the values are, and whose.
    """
    # The field names are fixed, so that names of systems cannot be taken for paths into the data.
    pick = alt.selection_point(name=TOPIC, fields=["query_id"], empty=False)
    order = sort_naturally(rows).sort_values("difference", ascending=False, kind="stable")["query_id"].tolist()
    chart = (
        alt.Chart(rows)
        .mark_bar(cursor="pointer", stroke=NEUTRAL)
        .encode(
            x=alt.X("query_id:N", sort=order, title="topic", axis=alt.Axis(labelAngle=-60, labelOverlap=True)),
            y=alt.Y("difference:Q", title=f"difference in {measure}"),
            color=alt.condition("datum.difference >= 0", alt.value(ORANGE), alt.value(BLUE)),
            strokeWidth=alt.when(pick).then(alt.value(3)).otherwise(alt.value(0)),
            tooltip=[
                alt.Tooltip("query_id:N", title="topic"),
                alt.Tooltip("title:N", title="that is"),
                alt.Tooltip("value_a:Q", title=a, format=".4f"),
                alt.Tooltip("value_b:Q", title=b, format=".4f"),
                alt.Tooltip("difference:Q", title="difference", format="+.4f"),
            ],
        )
        .add_params(pick)
    )
    return cast(alt.Chart, chart.properties(height=340))


def selected_topic(event: object) -> str | None:
    """The topic that is selected in the event of :func:`topics_chart`; None where none is."""
    chosen = display.selected_point(event, TOPIC)
    return str(chosen["query_id"]) if "query_id" in chosen else None


def frontier_chart(rows: pd.DataFrame, measure: str, cost: str) -> alt.LayerChart:
    """What systems are worth against what they cost; a line joins those that none dominates.

    Parameters
    ----------
    rows
        ``system``, ``value``, ``cost``, ``place`` (a key of :data:`PLACES`), ``by`` (who dominates it).
    measure, cost
        What the two numbers are.
    """
    title = cost_title(cost)
    positive = rows["cost"].min() > 0
    scale = alt.Scale(type="log") if positive and rows["cost"].max() > WIDE * rows["cost"].min() else alt.Scale()
    if scale["type"] == "log":
        title += ", logarithmic"
    x = alt.X(
        "cost:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6, labelOverlap=True, labelFlush=False, format="~s")
    )
    y = alt.Y("value:Q", title=f"mean {measure}", scale=alt.Scale(zero=False, padding=20))
    best = rows[rows["place"] == "worth its cost"]
    # What is to be had for so much is what the next system has that costs less, or that is faster.
    step: Literal["step-before", "step-after"] = "step-before" if cost in MORE_IS_BETTER_COSTS else "step-after"
    line = (
        alt.Chart(best)
        .mark_line(color=ORANGE, strokeDash=[5, 4], interpolate=step)
        .encode(x=x, y=y, order=alt.Order("cost:Q"))
    )
    points = (
        alt.Chart(rows)
        .mark_point(filled=True, opacity=1, size=90)
        .encode(
            x=x,
            y=y,
            color=_colours("place", PLACES),
            shape=_shapes("place", PLACES),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("value:Q", title=f"mean {measure}", format=".4f"),
                alt.Tooltip("cost:Q", title=cost_title(cost), format=",.6~g"),
                alt.Tooltip("by:N", title="dominated by"),
            ],
        )
    )
    # By turns above and below, so that names of systems that lie close to each other do not cover each other.
    turns = best.sort_values(["cost", "value"])
    names = [
        alt.Chart(turns.iloc[start::2])
        .mark_text(align="left", dx=7, dy=dy, color=NEUTRAL, limit=150)
        .encode(x=x, y=y, text="system:N")
        for start, dy in ((0, -11), (1, 12))
    ]
    return cast(alt.LayerChart, alt.layer(line, points, *names).properties(height=360))


def cost_title(cost: str) -> str:
    """The name of a cost in words, with its unit where the name has one.

    >>> cost_title("latency_ms"), cost_title("throughput_qps"), cost_title("carbon")
    ('latency (milliseconds)', 'throughput (queries a second)', 'carbon')
    """
    *name, unit = cost.split("_")
    return f"{' '.join(name)} ({UNITS[unit]})" if name and unit in UNITS else cost.replace("_", " ")


def _colours(kind: str, kinds: dict[str, tuple[str, str]]) -> alt.Color:
    scale = alt.Scale(domain=list(kinds), range=[colour for _, colour in kinds.values()])
    return alt.Color(f"{kind}:N", scale=scale, legend=_LEGEND)


def _shapes(kind: str, kinds: dict[str, tuple[str, str]]) -> alt.Shape:
    scale = alt.Scale(domain=list(kinds), range=[shape for shape, _ in kinds.values()])
    return alt.Shape(f"{kind}:N", scale=scale, legend=_LEGEND)
