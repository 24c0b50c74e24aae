"""Two systems topic by topic."""

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
