"""Probability of the order of each pair of systems."""

import altair as alt
import pandas as pd

from collection.charts.marks import BLUE, GREY, tooltips


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
