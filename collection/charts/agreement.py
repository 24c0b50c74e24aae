"""Agreement coefficients with their intervals."""

import altair as alt
import pandas as pd

from collection.charts.marks import BLUE, LEGEND, ORANGE, colours, names_axis, shapes, tooltips

SCALES = {"graded": ("circle", BLUE), "binary": ("diamond", ORANGE)}


def coefficients_chart(values: pd.DataFrame) -> alt.LayerChart:
    """Draw each coefficient with its interval, if it has one; `values` is the frame of an agreement."""
    rows = values.dropna(subset="value")
    rows = rows.assign(name=rows["coefficient"].where(rows["scale"] == "graded", rows["coefficient"] + ", binary"))
    base = alt.Chart(rows).encode(
        y=names_axis(rows, "name", 200),
        color=colours("scale", SCALES, LEGEND),
        tooltip=tooltips(
            rows,
            name="Coefficient",
            value=("Value", ".3f"),
            low=("95% CI low", ".3f"),
            high=("95% CI high", ".3f"),
        ),
    )
    x = alt.X("value:Q", title="Agreement", scale=alt.Scale(domainMax=1))
    span = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Agreement"), x2="high:Q")
    points = base.mark_point(filled=True, size=80, opacity=1).encode(x=x, shape=shapes("scale", SCALES, LEGEND))
    return alt.LayerChart(layer=[span, points], height=alt.Step(22))
