"""Values by machine labels beside values corrected by people's grades."""

from __future__ import annotations

import altair as alt
import pandas as pd

from collection.charts.intervals import intervals_chart
from collection.charts.marks import GREY, ORANGE, names_axis, tooltips

ENDS = {"low": ("Interval, low", ".4f"), "high": ("Interval, high", ".4f")}


def corrected_chart(values: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Each run's corrected value with its interval, best first, and a cross at its value by labels alone.

    `values` are those of :class:`collection.machine_labels.CorrectedValues`.
    """
    rows = values.sort_values("corrected", ascending=False, kind="stable")
    tips = tooltips(rows, run="Run", corrected=("Corrected", ".4f"), **ENDS, labels=("Labels alone", ".4f"))
    names = names_axis(rows, "run", 160)
    chart = intervals_chart(rows, names, "corrected", f"Mean {measure} (corrected estimate)", tips)
    crosses = alt.Chart(rows).mark_point(shape="cross", color=ORANGE, filled=True, size=60)
    return alt.LayerChart(layer=[chart, crosses.encode(y=names, x="labels:Q", tooltip=tips)], height=alt.Step(22))


def gains_chart(gains: pd.DataFrame) -> alt.LayerChart:
    """Draw what labels give to each run, with its interval; a rule marks 0.

    `gains` are those of :class:`collection.machine_labels.SystemEffects`.
    """
    tips = tooltips(gains, run="Run", gain=("Gain", "+.4f"), **ENDS)
    chart = intervals_chart(gains, names_axis(gains, "run", 160), "gain", "Gain by labels", tips)
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=GREY, strokeDash=[5, 4]).encode(x="zero:Q")
    return alt.LayerChart(layer=[zero, chart], height=alt.Step(22))
