"""Charts of the Agreement page. A click selects a cell, which `selected_cell` reads from the chart's event."""

import json

import altair as alt
import pandas as pd

from annotate.views.widgets import display, widgets
from collection.charts.marks import BLUE, GREY, ORANGE, tooltips

CELL = "cell"  # name of the charts' selection


def confusion_chart(
    counts: pd.DataFrame, first: str, second: str, names: dict[float, str], *, on_axes: bool = False
) -> alt.LayerChart:
    """A confusion matrix (:func:`collection.annotator_agreement.confusion`) as a heat map.

    `first` and `second` are the titles of rows and columns; `names` are the labels of the grades, which stand in place
    of the grades `on_axes`.
    """
    cells = counts.rename_axis("first").reset_index().melt("first", var_name="second", value_name="count")
    most = max(int(cells["count"].max()), 1)
    table = cells.assign(
        first=cells["first"].map("{:g}".format),
        second=cells["second"].map("{:g}".format),
        same=cells["first"] == cells["second"],
        first_name=cells["first"].map(lambda grade: f"{grade:g} · {names.get(grade, '')}"),
        second_name=cells["second"].map(lambda grade: f"{grade:g} · {names.get(grade, '')}"),
        shown=cells["count"].map("{:,}".format),
        strength=cells["count"] ** 0.5,
    )
    order = [f"{g:g}" for g in counts.index]
    named = json.dumps({f"{grade:g}": name for grade, name in names.items()}) if on_axes else "{}"
    label = f"{named}[datum.label] || datum.label"
    return _heat_map(
        table,
        alt.X("second:N", title=second, sort=order, axis=alt.Axis(labelAngle=0, orient="top", labelExpr=label)),
        alt.Y("first:N", title=first, sort=order, axis=alt.Axis(labelExpr=label)),
        most**0.5,
        tooltips(table, first_name=first, second_name=second, count=(widgets.words().apply("Pairs"), ",")),
    )


def annotators_chart(between: pd.DataFrame, label: str) -> alt.LayerChart:
    """All pairs of annotators as a heat map: ``a``, ``b``, ``pairs`` and ``value``, which is named `label`."""
    words, mirrored = widgets.words(), between.rename(columns={"a": "b", "b": "a"})
    table = pd.concat([between, mirrored], ignore_index=True).rename(columns={"a": "first", "b": "second"})
    names = sorted(set(table["first"]))
    shown = table["value"].map(lambda value: "·" if pd.isna(value) else f"{value:.2f}")
    return _heat_map(
        table.assign(shown=shown, strength=table["value"].clip(0, 1).fillna(0), same=False),
        alt.X("second:N", title=None, sort=names, axis=alt.Axis(labelLimit=90, labelAngle=-40, orient="top")),
        alt.Y("first:N", title=None, sort=names, axis=alt.Axis(labelLimit=90)),
        1,
        tooltips(
            table,
            first=words.apply("Annotator A"),
            second=words.apply("Annotator B"),
            value=(label, ".3f"),
            pairs=(words.apply("Common pairs"), ","),
        ),
    )


def judges_chart(matrix: pd.DataFrame, label: str, form: str) -> alt.LayerChart:
    """A square matrix of judges (:meth:`.JudgeComparison.matrix`) as a heat map; `form` is that of its values."""
    # Only numbers fit above the columns.
    numbered = {str(name): f"{n} {name}" for n, name in enumerate(matrix.index, start=1)}
    cells = matrix.rename_axis("first").reset_index().melt("first", var_name="second", value_name="value")
    table = cells[cells["first"] != cells["second"]].reset_index(drop=True)
    most = max(1.0, float(table["value"].abs().max())) if form == "pairs" else 1.0
    written = {"pairs": ",.0f", "bias": "+.2f"}.get(form, ".2f")
    table = table.assign(
        column=table["second"].map(numbered).str.split().str[0],
        row=table["first"].map(numbered),
        shown=table["value"].map(lambda value: "·" if pd.isna(value) else format(value, written)),
        strength=table["value"].abs().clip(0, most).fillna(0),
        same=False,
    )
    return _heat_map(
        table,
        alt.X(
            "column:N", title=None, sort=[name.split()[0] for name in numbered.values()],
            axis=alt.Axis(labelAngle=0, orient="top", labelOverlap=False),
        ),
        alt.Y(
            "row:N", title=None, sort=list(numbered.values()), axis=alt.Axis(labelLimit=150, labelOverlap=False)
        ),
        most,
        tooltips(table, first="Row", second="Column", value=(label, written)),
        row_height=30,
        font_size=13 if len(numbered) <= 14 else 10,
    )  # fmt: skip


def _heat_map(
    table: pd.DataFrame,
    x: alt.X,
    y: alt.Y,
    most: float,
    tooltip: list[alt.Tooltip],
    *,
    row_height: int | None = None,
    font_size: int = 13,
) -> alt.LayerChart:
    """Cells that are bluer up to the strength `most`, with their text; cells with `same` are framed.

    Rows are 52 pixels high, and the chart at most 520, unless a `row_height` is given.
    """
    # Only the fields that make a cell: its count may change between two clicks.
    pick = alt.selection_point(name=CELL, fields=["first", "second"], empty=False)
    base = alt.Chart(table).encode(x=x, y=y, tooltip=tooltip)
    framed = alt.when(pick).then(alt.value(3)).when("datum.same").then(alt.value(1.5)).otherwise(alt.value(0))
    cells = base.mark_rect(color=BLUE, cursor="pointer").encode(
        opacity=alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, most], range=[0.04, 0.9]), legend=None),
        stroke=alt.condition(pick, alt.value(ORANGE), alt.value(GREY)),
        strokeWidth=framed,
    )
    # The colour of the page's text, which follows a theme that is chosen while the chart is on screen.
    ink = alt.value("currentColor")
    narrow = f"width / {max(1, table['second'].nunique())} < {2.2 * font_size}"  # as on a telephone
    text = base.mark_text(fontSize=font_size, cursor="pointer", opacity=alt.ExprRef(f"{narrow} ? 0 : 1")).encode(
        text="shown:N", color=alt.condition(f"datum.strength > {0.75 * most}", alt.value("white"), ink)
    )
    rows = table["first"].nunique()
    height = max(180, min(52 * rows + 40, 520)) if row_height is None else row_height * rows
    return alt.LayerChart(layer=[cells.add_params(pick), text], height=height)


def selected_cell(event: object) -> tuple[str, str] | None:
    """The row and column of the cell that is selected in a chart's event; None without a selection."""
    chosen = display.selected_point(event, CELL)
    return (str(chosen["first"]), str(chosen["second"])) if {"first", "second"} <= set(chosen) else None


def windows_chart(windows: pd.DataFrame, label: str) -> alt.LayerChart:
    """The coefficient `label` by ``window``: ``first_at``, ``last_at``, ``pairs``, ``value``, ``low``, ``high``."""
    rows = windows.assign(
        until=windows["last_at"].dt.strftime("%Y-%m-%d %H:%M"), since=windows["first_at"].dt.strftime("%Y-%m-%d %H:%M")
    ).drop(columns=["first_at", "last_at"])
    words, lowest = widgets.words(), min(0.0, float(rows[["value", "low"]].min().min()))
    base = alt.Chart(rows).encode(
        x=alt.X("window:O", title="Window, oldest first", axis=alt.Axis(labelAngle=0)),
        tooltip=tooltips(
            rows,
            since=words.apply("First judgement (UTC)"),
            until=words.apply("Last judgement (UTC)"),
            pairs=words.apply("Pairs"),
            value=(label, ".3f"),
            low=("95% CI low", ".3f"),
            high=("95% CI high", ".3f"),
        ),
    )
    y = alt.Y("value:Q", title=label, scale=alt.Scale(domain=[lowest, 1], nice=False))
    span = base.mark_rule(color=GREY, strokeWidth=2).encode(y=alt.Y("low:Q", title=label), y2="high:Q")
    line = base.mark_line(color=BLUE, strokeWidth=2).encode(y=y)
    points = base.mark_point(color=BLUE, filled=True, size=70, opacity=1).encode(y=y)
    return alt.LayerChart(layer=[span, line, points], height=260)
