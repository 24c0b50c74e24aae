"""Tables and charts of pages, without characters that change the direction of writing.

Names come from files that nobody has checked; one with a right-to-left override reads as another name. So every page
draws tables and charts through these functions, and Markdown through :func:`annotate.views.widgets.widgets.plain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import altair as alt
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler
from streamlit.column_config import DatetimeColumn, NumberColumn, TextColumn

from annotate.auth import session
from collection.core.characters import without_bidi

if TYPE_CHECKING:
    from altair.typing import ChartType
    from streamlit.elements.lib.column_types import ColumnConfig

    Columns = Mapping[str, ColumnConfig | str | None]

SelectedRows = Mapping[str, Mapping[str, Sequence[int]]]  # as Streamlit gives it: {"selection": {"rows": [0]}}

T = TypeVar("T")
Width = Literal["small", "medium", "large"] | int | None


def number(label: str, form: str | None = None, width: Width = None, help: str | None = None) -> ColumnConfig:
    """A column of numbers; `form` is a printf pattern or one of Streamlit's names, such as ``percent``."""
    return NumberColumn(label, format=form, width=width, help=help)


def text(label: str, width: Width = None, help: str | None = None) -> ColumnConfig:
    """A column of text."""
    return TextColumn(label, width=width, help=help)


def identifier(label: str, ids: Iterable[str]) -> ColumnConfig:
    """Configure a column of ids as wide as the longest, because ids of answers and sentences differ only at the end."""
    longest = max(map(len, ids), default=0)
    return TextColumn(label, width=min(max(60, 8 * longest + 20), 200))


def timestamp(label: str, form: str = "YYYY-MM-DD HH:mm") -> ColumnConfig:
    """A column of points in time."""
    return DatetimeColumn(label, format=form)


def table(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    most_height: int | None = None,
    in_words: bool = True,
    **options: object,
) -> SelectedRows:
    """Draw some columns of a frame without its index; return the selection, where ``on_select`` asks for it.

    `columns` are column -> label or configuration, in the order in which they are shown; None is a hidden column. Those
    that the frame lacks are left out, and its other columns are not sent to the browser. Labels are put into the words
    of the campaign, except those of its topics in a task (`in_words`). Above `most_height` pixels the table scrolls.
    `options` are those of :func:`streamlit.dataframe`.
    """
    sent = {name: _in_words(column) if in_words else column for name, column in columns.items() if name in frame}
    shown = {name: column for name, column in sent.items() if column is not None}
    if most_height is not None:
        options["height"] = height(frame, most_height)
    event = dataframe(frame[list(sent)], hide_index=True, column_order=list(shown), column_config=shown, **options)
    return cast(SelectedRows, event)


def _in_words(column: ColumnConfig | str | None) -> ColumnConfig | str | None:
    """Return a column with its label in the words of the campaign."""
    if column is None or isinstance(column, str):
        return column and session.words().apply(column)
    return cast("ColumnConfig", {**column, "label": session.words().apply(str(column["label"]))})


def select_row(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    most_height: int | None = None,
    in_words: bool = True,
    **options: object,
) -> int | None:
    """Draw a table, as :func:`table` does, in which one row can be selected; return its position."""
    options |= {"on_select": "rerun", "selection_mode": "single-row"}
    return selected_row(table(frame, columns, most_height=most_height, in_words=in_words, **options), len(frame))


def selected_row(event: SelectedRows, rows: int) -> int | None:
    """The selected row of a table with so many rows; None without a selection."""
    chosen = event["selection"]["rows"]
    return int(chosen[0]) if chosen and chosen[0] < rows else None


def height(frame: pd.DataFrame, most: int) -> int:
    """The height in pixels that shows all rows, up to a limit."""
    return min(35 * len(frame) + 38, most)


def dataframe(table: pd.DataFrame | Styler, **options: object) -> object:
    """Draw a frame, or a styled one of :func:`readable`, whose columns are named as given; return the selection.

    Cells without a value are empty by default.
    """
    return st.dataframe(_readable(table), **_readable_options({"placeholder": ""} | options))


def data_editor(frame: pd.DataFrame, **options: object) -> pd.DataFrame:
    """Draw a table that can be edited; cells that nobody edited come back as they were given."""
    shown = readable(frame)
    edited = st.data_editor(shown, **_readable_options(options))
    return edited.mask(edited == shown, frame)


def altair_chart(chart: ChartType, **options: object) -> object:
    """Draw an Altair chart; return its selection, whose texts are those that are drawn."""
    return st.altair_chart(_readable(chart), **_readable_options(options))


def selected_point(event: object, name: str) -> dict[str, object]:
    """The fields of the point in a chart's selection of this name; empty without a selection."""
    selection = event.get("selection") if isinstance(event, Mapping) else None
    chosen = selection.get(name) if isinstance(selection, Mapping) else None
    return dict(chosen[0]) if chosen else {}


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    r"""The frame without characters that change the direction of writing, in cells, index and column names.

    Labels that would then be the same show these characters as escapes.

    >>> readable(pd.DataFrame({"run": ["safe_\u202egnp.exe"]}))["run"].tolist()
    ['safe_gnp.exe']
    """
    shown = frame.copy(deep=False)
    for name in [name for name, dtype in frame.dtypes.items() if _is_text(dtype)]:
        shown[name] = frame[name].map(_readable)
    return shown.set_axis(_labels(frame.index), axis="index").set_axis(_labels(frame.columns), axis="columns")


def _is_text(dtype: object) -> bool:
    return isinstance(dtype, pd.StringDtype | pd.CategoricalDtype) or dtype == "object"


def _labels(index: pd.Index) -> pd.Index:
    """An index as it is shown: unique where it is unique, which styles need."""
    if not _is_text(index.dtype):
        return index
    shown = index.map(_readable)
    if index.is_unique and not shown.is_unique:
        shown = index.map(lambda label: ascii(label)[1:-1] if _readable(label) != label else label)
    return shown.rename(index.name)


def _readable_options(options: Mapping[str, object]) -> dict[str, Any]:
    """Streamlit's options with readable labels; a key, by which the session knows the element, stays as it is."""
    return {name: value if name == "key" else _readable(value) for name, value in options.items()}


def _readable(value: T) -> T:
    """Any value with its texts made readable; a chart is changed in place."""
    result: object = value
    if isinstance(value, str):
        result = without_bidi(value)
    elif isinstance(value, pd.DataFrame):
        result = readable(value)
    elif isinstance(value, list):
        result = [_readable(each) for each in value]
    elif isinstance(value, dict):
        result = {_readable(name): _readable(each) for name, each in value.items()}
    elif isinstance(value, alt.SchemaBase):
        for name, each in value._kwds.items():
            value._kwds[name] = _readable(each)
    return cast(T, result)
