"""Tables and charts as pages draw them: no name or title in them changes the direction of writing.

Names come from files that nobody has checked; one with a right-to-left override reads as another name. Streamlit and
Vega-Lite draw what they get, so every page draws tables and charts through these functions, never through Streamlit's.
Labels, captions and other Markdown go through :func:`annotate.elements.drawing.plain`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from collection.characters import one_line, without_bidi

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!<>~|$:&])")
_ADDRESS = re.compile(r"://|www\.|@", re.I)
_DIRECTIVE = re.compile(
    r":(?=(?:100|1234|[\w+-]*[^\W\d][\w+-]*|[+-]1)(?:[:/]|\Z))|(?<!\S)(?:<->|->|<-|--|>=|<=|~=)(?!\S)"
)
"""What Streamlit replaces in text even where every sign is escaped: icons and emoji (:material/home:, :streamlit:,
:smile:, :100:, but not the line of an error, a.run:2:), of which a page may add the last colon, and arrows and dashes
between blanks."""
_JOINER, _BREAK = "\u2060", "\u200b"
"""Characters without width: the word joiner, where no line breaks, and the space, where one may."""


def dataframe(table: pd.DataFrame | Styler, **options: Any) -> Any:
    """Draw a table as :func:`streamlit.dataframe` does.

    Parameters
    ----------
    table
        A frame, or a styled one that was made of :func:`readable`.
    **options
        Streamlit's; keys of ``column_config`` are columns of the frame as it was given.

    Returns
    -------
    Any
        What the table's selection says, where it is asked for.
    """
    if isinstance(table, pd.DataFrame):
        table = readable(table)
    return st.dataframe(table, **_readable_options(options))


def data_editor(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Draw a table that can be edited; what nobody edited comes back as it was given."""
    shown = readable(frame)
    edited = st.data_editor(shown, **_readable_options(options))
    return edited.mask(edited == shown, frame)


def altair_chart(chart: Any, **options: Any) -> Any:
    """Draw a chart of altair as :func:`streamlit.altair_chart` does; its selection says what is drawn."""
    return st.altair_chart(_readable(chart), **_readable_options(options))


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    r"""The frame without characters that change the direction of writing, in cells, index and column names.

    Labels that would then be the same show these characters as escapes.

    Examples
    --------
    >>> readable(pd.DataFrame({"run": ["safe_\u202egnp.exe"]}))["run"].tolist()
    ['safe_gnp.exe']
    """
    shown = frame.copy(deep=False)
    for name in [name for name, dtype in frame.dtypes.items() if _is_text(dtype)]:
        shown[name] = frame[name].map(_readable)
    return shown.set_axis(_labels(frame.index), axis="index").set_axis(_labels(frame.columns), axis="columns")


def _is_text(dtype: Any) -> bool:
    return isinstance(dtype, pd.StringDtype | pd.CategoricalDtype) or pd.api.types.is_object_dtype(dtype)


def _labels(index: pd.Index) -> pd.Index:
    """An index as it is shown: unique where it is unique, which styles need."""
    if not _is_text(index.dtype):
        return index
    shown = index.map(_readable)
    if index.is_unique and not shown.is_unique:
        shown = index.map(lambda label: ascii(label)[1:-1] if _readable(label) != label else label)
    return shown.rename(index.name)


def _readable_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Streamlit's options with readable labels; a key, by which the session knows the element, stays as it is."""
    return {name: value if name == "key" else _readable(value) for name, value in options.items()}


def _readable(value: Any) -> Any:
    """Any value with its texts made readable; a chart itself is changed, not a copy of it."""
    if isinstance(value, str):
        return without_bidi(value)
    if isinstance(value, pd.DataFrame):
        return readable(value)
    if isinstance(value, list):
        return [_readable(each) for each in value]
    if isinstance(value, dict):
        return {_readable(name): _readable(each) for name, each in value.items()}
    if isinstance(value, alt.SchemaBase):
        for name, each in value._kwds.items():
            value._kwds[name] = _readable(each)
    return value


def plain(text: str) -> str:
    r"""Text from a file, made harmless where Streamlit reads Markdown (labels, headings, captions).

    Characters that change the direction of writing are dropped: they would reach beyond the text. Streamlit links
    addresses and replaces names of icons and emoji even where every sign is escaped, so a character without width
    parts them.

    Examples
    --------
    >>> plain(":material/home: *x*").replace("\u2060", "|")
    '\\:|material/home\\: \\*x\\*'
    """
    flat = one_line(without_bidi(text))  # four blanks at the beginning would be a block of code
    flat = _DIRECTIVE.sub(lambda found: f"{found[0][0]}{_JOINER}{found[0][1:]}", flat)
    return _MARKDOWN.sub(r"\\\1", _ADDRESS.sub(f"{_BREAK}\\g<0>{_BREAK}", flat))
