"""The charts of the Agreement page. A click selects a cell, which `selected_cell` reads out of the chart's event."""

from typing import cast

import altair as alt
import pandas as pd
import streamlit as st

from annotate.charts.colours import BLUE, NEUTRAL, ORANGE
from annotate.elements import display

CELL = "cell"
"""Name of the charts' selection."""
NOTHING = "·"


def confusion_chart(counts: pd.DataFrame, first: str, second: str, names: dict[float, str]) -> alt.LayerChart:
    """A confusion matrix as a heat map.

    Parameters
    ----------
    counts
        Grades x grades, as :func:`collection.annotator_agreement.confusion` gives them.
    first, second
        What the rows and the columns are.
    names
        Grade -> what the scale calls it.
    """
    grades = [float(g) for g in counts.index]
    numbers = counts.to_numpy().tolist()
    cells = [(a, b, numbers[i][j]) for i, a in enumerate(grades) for j, b in enumerate(grades)]
    table = pd.DataFrame(
        [(f"{a:g}", f"{b:g}", count, a == b, names.get(a, ""), names.get(b, "")) for a, b, count in cells],
        columns=["first", "second", "count", "same", "first_name", "second_name"],
    )
    most = max(int(table["count"].max()), 1)
    order = [f"{g:g}" for g in grades]
    tooltip = [
        alt.Tooltip("first:N", title=first),
        alt.Tooltip("first_name:N", title="that is"),
        alt.Tooltip("second:N", title=second),
        alt.Tooltip("second_name:N", title="that is"),
        alt.Tooltip("count:Q", title="pairs", format=","),
    ]
    share = alt.Scale(domain=[0, most**0.5], range=[0.04, 0.9])
    return _heat(
        table.assign(shown=table["count"].map("{:,}".format), strength=table["count"] ** 0.5),
        alt.X("second:N", title=second, sort=order, axis=alt.Axis(labelAngle=0, orient="top")),
        alt.Y("first:N", title=first, sort=order),
        share,
        0.75 * most**0.5,
        tooltip,
    )


def annotators_chart(between: pd.DataFrame, label: str) -> alt.LayerChart:
    """Every annotator against every other one as a heat map.

    Parameters
    ----------
    between
        ``a``, ``b``, ``pairs``, ``value``: one row for every two.
    label
        What the value is.
    """
    mirrored = between.rename(columns={"a": "b", "b": "a"})
    table = pd.concat([between, mirrored], ignore_index=True).rename(columns={"a": "first", "b": "second"})
    names = sorted(set(table["first"]))
    shown = table["value"].map(lambda v: NOTHING if pd.isna(v) else f"{v:.2f}")
    tooltip = [
        alt.Tooltip("first:N", title="annotator"),
        alt.Tooltip("second:N", title="and"),
        alt.Tooltip("value:Q", title=label, format=".3f"),
        alt.Tooltip("pairs:Q", title="pairs in common", format=","),
    ]
    return _heat(
        table.assign(shown=shown, strength=table["value"].clip(0, 1).fillna(0), same=False),
        alt.X("second:N", title=None, sort=names, axis=alt.Axis(labelLimit=90, labelAngle=-40, orient="top")),
        alt.Y("first:N", title=None, sort=names, axis=alt.Axis(labelLimit=90)),
        alt.Scale(domain=[0, 1], range=[0.04, 0.9]),
        0.75,
        tooltip,
    )


def _heat(
    table: pd.DataFrame, x: alt.X, y: alt.Y, opacity: alt.Scale, strong: float, tooltip: list[alt.Tooltip]
) -> alt.LayerChart:
    """Cells whose strength is how much blue they have, with their text: white where it is strong; `same` is framed."""
    # Only the fields that make a cell: its count may change between two clicks.
    pick = alt.selection_point(name=CELL, fields=["first", "second"], empty=False)
    rows = table["first"].nunique()
    base = alt.Chart(table).encode(x=x, y=y, tooltip=tooltip)
    cells = (
        base.mark_rect(color=BLUE, cursor="pointer")
        .encode(
            opacity=alt.Opacity("strength:Q", scale=opacity, legend=None),
            stroke=alt.condition(pick, alt.value(ORANGE), alt.value(NEUTRAL)),
            strokeWidth=alt.when(pick)
            .then(alt.value(3))
            .when("datum.same")
            .then(alt.value(1.5))
            .otherwise(alt.value(0)),
        )
        .add_params(pick)
    )
    ink = alt.value("#eef2f6" if st.context.theme.type == "dark" else "#1b2430")
    text = base.mark_text(fontSize=13, cursor="pointer").encode(
        text="shown:N", color=alt.condition(f"datum.strength > {strong}", alt.value("white"), ink)
    )
    return cast(alt.LayerChart, (cells + text).properties(height=max(180, min(52 * rows + 40, 520))))


def selected_cell(event: object) -> tuple[str, str] | None:
    """The cell that is selected in a chart's event, as the texts of its row and column; None where none is."""
    chosen = display.selected_point(event, CELL)
    return (str(chosen["first"]), str(chosen["second"])) if {"first", "second"} <= set(chosen) else None


def windows_chart(windows: pd.DataFrame, label: str) -> alt.LayerChart:
    """A coefficient over windows of pairs in the order in which they were finished.

    Parameters
    ----------
    windows
        ``window``, ``first_at``, ``last_at``, ``pairs``, ``value``, ``low``, ``high``.
    label
        What the value is.
    """
    rows = windows.assign(
        until=windows["last_at"].dt.strftime("%Y-%m-%d %H:%M"), since=windows["first_at"].dt.strftime("%Y-%m-%d %H:%M")
    ).drop(columns=["first_at", "last_at"])
    lowest = min(0.0, float(rows[["value", "low"]].min().min()))
    base = alt.Chart(rows).encode(
        x=alt.X("window:O", title="window, in the order of time", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            alt.Tooltip("since:N", title="from"),
            alt.Tooltip("until:N", title="to"),
            alt.Tooltip("pairs:Q", title="pairs"),
            alt.Tooltip("value:Q", title=label, format=".3f"),
            alt.Tooltip("low:Q", title="95 % from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
        ],
    )
    y = alt.Y("value:Q", title=label, scale=alt.Scale(domain=[lowest, 1], nice=False))
    span = base.mark_rule(color=NEUTRAL, strokeWidth=2).encode(y=alt.Y("low:Q", title=label), y2="high:Q")
    line = base.mark_line(color=BLUE, strokeWidth=2).encode(y=y)
    points = base.mark_point(color=BLUE, filled=True, size=70, opacity=1).encode(y=y)
    return cast(alt.LayerChart, (span + line + points).properties(height=260))
