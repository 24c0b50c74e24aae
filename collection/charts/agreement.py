"""Agreement coefficients with their intervals."""

import altair as alt
import pandas as pd

from collection.charts.intervals import intervals_chart
from collection.charts.marks import BLUE, ORANGE, names_axis, tooltips

SCALES = {"graded": ("circle", BLUE), "binary": ("diamond", ORANGE)}


def coefficients_chart(values: pd.DataFrame) -> alt.LayerChart:
    """Draw each coefficient with its interval, if it has one; `values` is the frame of an agreement."""
    rows = values.dropna(subset="value")
    rows = rows.assign(name=rows["coefficient"].where(rows["scale"] == "graded", rows["coefficient"] + ", binary"))
    numbers = {"value": ("Value", ".3f"), "low": ("95% CI low", ".3f"), "high": ("95% CI high", ".3f")}
    tips, names = tooltips(rows, name="Coefficient", **numbers), names_axis(rows, "name", 200)
    scale = alt.Scale(domainMax=1)
    return intervals_chart(rows, names, "value", "Agreement", tips, marks={"scale": SCALES}, scale=scale)
