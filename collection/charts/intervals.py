"""Numbers with intervals: means, estimates, differences, agreement, and values by machine labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from collection.charts.marks import BLUE, GREY, LEGEND, ORANGE, Categories, colours, names_axis, shapes, tooltips
from collection.core.frames import ESTIMATED_STANDINGS, STANDINGS
from collection.measures import Measure, as_measure

_MARKS = (("diamond", ORANGE), ("circle", BLUE), ("triangle-down", GREY))  # of STANDINGS and ESTIMATED_STANDINGS
OUTCOMES = {"significant": ("diamond", ORANGE), "not significant": ("circle", BLUE)}
"""Results of the test of a system against its baseline."""
SCALE = alt.Scale(zero=False)
ENDS = {"low": ("CI low", ".4f"), "high": ("CI high", ".4f")}
ENDS_OF_DRAWS = {"low": ("Draws, low", ".4f"), "high": ("Draws, high", ".4f")}


def means_chart(rows: pd.DataFrame, measure: Measure | str) -> alt.LayerChart:
    """Each system's mean with its interval, cut at the ends of the measure's range.

    `rows` has ``system``, ``value``, ``low``, ``high`` (nan: no interval) and ``standing`` (one of
    :data:`collection.core.frames.STANDINGS`), in the order in which they are drawn.
    """
    marks = dict(zip(STANDINGS, _MARKS, strict=True))
    return _systems_chart(_clip(rows, *_range(measure)), "value", f"Mean {measure}", "standing", marks)


def estimates_chart(rows: pd.DataFrame, measure: Measure | str) -> alt.LayerChart:
    """Draw :func:`means_chart` for estimates: `rows` has ``estimate`` instead of ``value``, and ESTIMATED_STANDINGS."""
    title, marks = f"Mean {measure} (estimate)", dict(zip(ESTIMATED_STANDINGS, _MARKS, strict=True))
    return _systems_chart(_clip(rows, *_range(measure)), "estimate", title, "standing", marks, ENDS_OF_DRAWS)


def differences_chart(rows: pd.DataFrame, measure: Measure | str, baseline: str) -> alt.LayerChart:
    """Each system's difference from its baseline with its interval; a rule marks 0.

    `rows` has ``system``, ``difference``, ``low``, ``high`` and ``outcome`` (a key of :data:`OUTCOMES`), in order.
    """
    title = f"Difference in mean {measure} from {baseline}"
    lowest, highest = _range(measure)
    clipped = _clip(rows, lowest - highest, highest - lowest)
    return _over_zero(_systems_chart(clipped, "difference", title, "outcome", OUTCOMES))


def _over_zero(chart: alt.LayerChart) -> alt.LayerChart:
    """The chart with a rule at 0."""
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=GREY, strokeDash=[5, 4]).encode(x="zero:Q")
    return alt.LayerChart(layer=[zero, chart], height=alt.Step(22))


def _range(measure: Measure | str) -> tuple[float, float]:
    """The range of means over topics; infinite where the measure's value is not a mean."""
    entry = as_measure(measure).entry
    return (entry.lowest, entry.highest) if entry.summary == "mean" else (-np.inf, np.inf)


def _clip(rows: pd.DataFrame, lowest: float, highest: float) -> pd.DataFrame:
    return rows.assign(low=rows["low"].clip(lowest, highest), high=rows["high"].clip(lowest, highest))


def _systems_chart(
    rows: pd.DataFrame,
    value: str,
    title: str,
    category: str,
    categories: Categories,
    ends: Mapping[str, tuple[str, str]] = ENDS,
) -> alt.LayerChart:
    tips = tooltips(rows, system="System", **{value: (title, ".4f")}, **ends, **{category: category.capitalize()})
    return intervals_chart(rows, names_axis(rows, "system", 160), value, title, tips, marks={category: categories})


_WHOLE_TITLE: dict[str, Any] = {
    "titleLimit": 340,
    "titleX": alt.ExprRef("width < 300 ? width : width / 2"),
    "titleAlign": alt.ExprRef("width < 300 ? 'right' : 'center'"),
}
"""Axis options that keep a long title in sight on a phone: it ends with the axis, and extends below the row names."""


def intervals_chart(
    rows: pd.DataFrame,
    names: alt.Y,
    value: str,
    title: str,
    tips: Sequence[alt.Tooltip],
    *,
    ends: tuple[str, str] = ("low", "high"),
    marks: Mapping[str, Categories] = MappingProxyType({}),
    scale: alt.Scale = SCALE,
) -> alt.LayerChart:
    """A line for each row from one of the `ends` to the other (nan: no line), and a point at its `value`.

    `marks` may have one column, whose categories are told apart by shape and colour.
    """
    base = alt.Chart(rows).encode(y=names, tooltip=list(tips), color=alt.value(BLUE))
    shape: alt.Shape | alt.Value = alt.value("circle")
    for column, categories in marks.items():
        base = base.encode(color=colours(column, categories, LEGEND))
        shape = shapes(column, categories, LEGEND)
    low, high = ends
    x = alt.X(f"{value}:Q", title=title, scale=scale, axis=alt.Axis(labelFlush=False, **_WHOLE_TITLE))
    span = base.mark_rule(strokeWidth=2).encode(x=alt.X(f"{low}:Q", title=title), x2=f"{high}:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, shape=shape)
    return alt.LayerChart(layer=[span, points], height=alt.Step(22))


def spread_chart(rows: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Each run's values over topics as a box: the middle half, the median, the mean (a point), lowest and highest.

    `rows` has ``run``, ``lowest``, ``quarter``, ``median``, ``three_quarters``, ``highest`` and ``mean``, in order.
    """
    numbers = {
        "mean": "Mean", "median": "Median", "quarter": "First quartile", "three_quarters": "Third quartile",
        "lowest": "Lowest", "highest": "Highest",
    }  # fmt: skip
    titles = {name: (title, ".4f") for name, title in numbers.items()}
    base = alt.Chart(rows).encode(y=names_axis(rows, "run", 160), tooltip=tooltips(rows, run="Run", **titles))
    x = alt.X("lowest:Q", title=f"{measure} of each topic", scale=alt.Scale(zero=False))
    whole = base.mark_rule(color=GREY).encode(x=x, x2="highest:Q")
    half = base.mark_bar(color=BLUE, opacity=0.4, size=12).encode(x="quarter:Q", x2="three_quarters:Q")
    middle = base.mark_tick(color=BLUE, thickness=2, size=12).encode(x="median:Q")
    mean = base.mark_point(color=ORANGE, filled=True, size=50, opacity=1).encode(x="mean:Q")
    return alt.LayerChart(layer=[whole, half, middle, mean], height=alt.Step(22))


SCALES = {"graded": ("circle", BLUE), "binary": ("diamond", ORANGE)}


def coefficients_chart(values: pd.DataFrame) -> alt.LayerChart:
    """Draw each coefficient with its interval, if it has one; `values` is the frame of an agreement."""
    rows = values.dropna(subset="value")
    rows = rows.assign(name=rows["coefficient"].where(rows["scale"] == "graded", rows["coefficient"] + ", binary"))
    numbers = {"value": ("Value", ".3f"), "low": ("95% CI low", ".3f"), "high": ("95% CI high", ".3f")}
    tips, names = tooltips(rows, name="Coefficient", **numbers), names_axis(rows, "name", 200)
    scale = alt.Scale(domainMax=1)
    return intervals_chart(rows, names, "value", "Agreement", tips, marks={"scale": SCALES}, scale=scale)


INTERVAL_ENDS = {"low": ("Interval, low", ".4f"), "high": ("Interval, high", ".4f")}


def corrected_chart(values: pd.DataFrame, measure: str) -> alt.LayerChart:
    """Each run's corrected value with its interval, best first, and a cross at its value by labels alone.

    `values` are those of :class:`collection.machine_labels.CorrectedValues`.
    """
    rows = values.sort_values("corrected", ascending=False, kind="stable")
    tips = tooltips(rows, run="Run", corrected=("Corrected", ".4f"), **INTERVAL_ENDS, labels=("Labels alone", ".4f"))
    names = names_axis(rows, "run", 160)
    chart = intervals_chart(rows, names, "corrected", f"Mean {measure} (corrected estimate)", tips)
    crosses = alt.Chart(rows).mark_point(shape="cross", color=ORANGE, filled=True, size=60)
    return alt.LayerChart(layer=[chart, crosses.encode(y=names, x="labels:Q", tooltip=tips)], height=alt.Step(22))


def gains_chart(gains: pd.DataFrame) -> alt.LayerChart:
    """Draw what labels give to each run, with its interval; a rule marks 0.

    `gains` are those of :class:`collection.machine_labels.SystemEffects`.
    """
    tips = tooltips(gains, run="Run", gain=("Gain", "+.4f"), **INTERVAL_ENDS)
    return _over_zero(intervals_chart(gains, names_axis(gains, "run", 160), "gain", "Gain by labels", tips))
