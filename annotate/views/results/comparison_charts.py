"""Charts of the Compare page: topics, and cost against effectiveness."""

from typing import Literal

import altair as alt
import pandas as pd

from annotate.views.widgets import display
from collection.charts import comparison
from collection.charts.marks import GREY, LEGEND, ORANGE, colours, shapes, tooltips
from collection.comparison import MORE_IS_BETTER_COSTS

PLACES = {"not dominated": ("diamond", ORANGE), "dominated": ("circle", GREY)}
"""Shape and colour of a system: it is dominated if another one is at least as good and as cheap, and better in one."""
UNITS = {
    "ms": "milliseconds",
    "s": "seconds",
    "usd": "US dollars",
    "eur": "euros",
    "bytes": "bytes",
    "mb": "MB",
    "gb": "GB",
    "qps": "queries per second",
}
"""Units by the last part of a cost's name."""
WIDE = 20  # ratio of the highest to the lowest cost above which the axis is logarithmic
TOPIC = "topic"  # name of the selection of the chart of topics


def topics_chart(rows: pd.DataFrame, measure: str, a: str, b: str) -> alt.Chart:
    """A bar for each topic: the value of system `a` minus that of `b`. A click on a bar selects the topic.

    `rows` has ``query_id``, ``title``, ``value_a``, ``value_b`` and ``difference``.
    """
    pick = alt.selection_point(name=TOPIC, fields=["query_id"], empty=False)
    chart: alt.Chart = (
        comparison.topics_chart(rows, measure, a, b)
        .mark_bar(cursor="pointer", stroke=GREY)
        .encode(strokeWidth=alt.when(pick).then(alt.value(3)).otherwise(alt.value(0)))
        .add_params(pick)
    )
    return chart


def selected_topic(event: object) -> str | None:
    """The topic that is selected in the event of :func:`topics_chart`; None without a selection."""
    chosen = display.selected_point(event, TOPIC)
    return str(chosen["query_id"]) if "query_id" in chosen else None


def frontier_chart(rows: pd.DataFrame, measure: str, cost: str) -> alt.LayerChart:
    """Effectiveness against cost; a line joins the systems that no other dominates.

    `rows` has ``system``, ``value``, ``cost``, ``place`` (a key of :data:`PLACES`) and ``by`` (the dominating system).
    """
    title = cost_title(cost)
    lowest = rows["cost"].min()
    is_log = lowest > 0 and rows["cost"].max() > WIDE * lowest
    x = alt.X(
        "cost:Q",
        title=f"{title}, log scale" if is_log else title,
        scale=alt.Scale(type="log") if is_log else alt.Scale(),
        axis=alt.Axis(tickCount=6, labelOverlap=True, labelFlush=False, format="~s"),
    )
    y = alt.Y("value:Q", title=f"Mean {measure}", scale=alt.Scale(zero=False, padding=20))
    best = rows[rows["place"] == "not dominated"]
    # Between two costs, the best available system is the cheaper (or faster) of the two.
    step: Literal["step-before", "step-after"] = "step-before" if cost in MORE_IS_BETTER_COSTS else "step-after"
    line = alt.Chart(best).mark_line(color=ORANGE, strokeDash=[5, 4], interpolate=step)
    points = (
        alt.Chart(rows)
        .mark_point(filled=True, opacity=1, size=90)
        .encode(
            x=x,
            y=y,
            color=colours("place", PLACES, LEGEND),
            shape=shapes("place", PLACES, LEGEND),
            tooltip=tooltips(
                rows, system="System", value=(f"Mean {measure}", ".4f"), cost=(title, ",.6~g"), by="Dominated by"
            ),
        )
    )
    # Alternately above and below, so that the names of neighbouring systems do not cover each other.
    by_cost = best.sort_values(["cost", "value"])
    names = [
        alt.Chart(by_cost.iloc[start::2])
        .mark_text(align="left", dx=7, dy=dy, color=GREY, limit=150)
        .encode(x=x, y=y, text="system:N")
        for start, dy in ((0, -11), (1, 12))
    ]
    return alt.LayerChart(layer=[line.encode(x=x, y=y, order=alt.Order("cost:Q")), points, *names], height=360)


def cost_title(cost: str) -> str:
    """The name of a cost in words, with its unit where the name has one.

    >>> cost_title("latency_ms"), cost_title("throughput_qps"), cost_title("carbon")
    ('Latency (milliseconds)', 'Throughput (queries per second)', 'Carbon')
    """
    *name, unit = cost.split("_")
    words = f"{' '.join(name)} ({UNITS[unit]})" if name and unit in UNITS else cost.replace("_", " ")
    return words[:1].upper() + words[1:]
