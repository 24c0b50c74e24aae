"""Colours and shapes of marks that can be told apart on the light and on the dark background."""

from collections.abc import Mapping

import altair as alt
import pandas as pd
from altair.utils.schemapi import UndefinedType

BLUE = "#2f7fd1"
ORANGE = "#e8590c"
GREY = "#808893"
LEGEND = alt.Legend(
    title=None, orient="bottom", labelLimit=260, symbolOpacity=1, columns=alt.ExprRef("width < 480 ? 1 : 3")
)
"""Below the chart in one line, or in one column on a phone."""
POINTS = 2_000  # points of one layer at most; more cannot be told apart
WIDTH = 520  # pixels in a notebook; a page has its own

Categories = Mapping[str, tuple[str, str]]  # categories of a column, with the shape and colour of each


def colours(column: str, categories: Categories, legend: alt.Legend | None) -> alt.Color:
    """The colour of each category of a column."""
    scale = alt.Scale(domain=list(categories), range=[colour for _, colour in categories.values()])
    return alt.Color(f"{column}:N", scale=scale, legend=legend)


def shapes(column: str, categories: Categories, legend: alt.Legend | UndefinedType = alt.Undefined) -> alt.Shape:
    """The shape of each category of a column."""
    scale = alt.Scale(domain=list(categories), range=[shape for shape, _ in categories.values()])
    return alt.Shape(f"{column}:N", scale=scale, legend=legend)


def names_axis(rows: pd.DataFrame, column: str, limit: int) -> alt.Y:
    """One line for each name, in the order of the rows; names are cut at `limit` pixels."""
    axis = alt.Axis(labelLimit=limit, labelFlush=False)
    return alt.Y(f"{column}:N", sort=rows[column].tolist(), title=None, axis=axis)


def tooltips(rows: pd.DataFrame, **columns: str | tuple[str, str]) -> list[alt.Tooltip]:
    """The tooltip of columns by their titles, or by titles and number formats."""
    lines = []
    for name, shown in columns.items():
        title, form = shown if isinstance(shown, tuple) else (shown, alt.Undefined)
        kind = "Q" if pd.api.types.is_numeric_dtype(rows[name]) else "N"
        lines.append(alt.Tooltip(f"{name}:{kind}", title=title, format=form))
    return lines
