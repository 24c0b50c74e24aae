"""Pairs of systems: their differences by topic, and the probability of their order."""

import altair as alt
import pandas as pd

from collection.charts.marks import BLUE, GREY, ORANGE, tooltips
from collection.core.records import sort_naturally


def topics_chart(rows: pd.DataFrame, measure: str, a: str, b: str) -> alt.Chart:
    """A bar for each topic: the value of system `a` minus that of `b`, largest first.

    `rows` has ``query_id``, ``value_a``, ``value_b``, ``difference`` and, for the tooltip, perhaps ``title``.
    """
    # The field names are fixed, so that names of systems cannot be taken for paths into the data.
    order = sort_naturally(rows).sort_values("difference", ascending=False, kind="stable")["query_id"].tolist()
    title = {"title": "Title"} if "title" in rows else {}
    chart: alt.Chart = (
        alt.Chart(rows, height=340)
        .mark_bar(stroke=GREY, strokeWidth=0)
        .encode(
            x=alt.X("query_id:N", sort=order, title="Topic", axis=alt.Axis(labelAngle=-60, labelOverlap=True)),
            y=alt.Y("difference:Q", title=f"{measure}: {a} minus {b}", axis=alt.Axis(titleLimit=340)),
            color=alt.condition("datum.difference >= 0", alt.value(ORANGE), alt.value(BLUE)),
            tooltip=tooltips(
                rows,
                query_id="Topic",
                **title,
                value_a=(a, ".4f"),
                value_b=(b, ".4f"),
                difference=("Difference", "+.4f"),
            ),
        )
    )
    return chart


def certainty_chart(pairs: pd.DataFrame, systems: list[str]) -> alt.Chart:
    """A cell for each pair of systems, the better one in the row; dark where its order is certain.

    `pairs` has ``system_a``, ``system_b``, ``probability_better`` (of the present order) and ``difference_estimate``;
    `systems` is the order.
    """
    colour = alt.Color(
        "probability_better:Q",
        scale=alt.Scale(domain=[0.5, 1], range=["#e4e7eb", BLUE], clamp=True),
        legend=alt.Legend(title="Probability of this order", orient="bottom", format=".0%", titleLimit=260),
    )
    chart: alt.Chart = (
        alt.Chart(pairs, height=alt.Step(16))
        .mark_rect(stroke=GREY, strokeWidth=0.3)
        .encode(
            x=alt.X(
                "system_b:N",
                sort=systems,
                title="Worse system",
                axis=alt.Axis(labelLimit=130, labelOverlap=True, labelFlush=False, labelAngle=-90),
            ),
            y=alt.Y(
                "system_a:N",
                sort=systems,
                title="Better system",
                axis=alt.Axis(labelLimit=130, labelOverlap=False, labelFlush=False),
            ),
            color=colour,
            tooltip=tooltips(
                pairs,
                system_a="Better",
                system_b="Worse",
                probability_better=("Probability of this order", ".1%"),
                difference_estimate=("Difference (estimate)", "+.4f"),
            ),
        )
    )
    return chart
