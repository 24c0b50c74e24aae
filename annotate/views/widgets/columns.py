"""Configurations of table columns, in the forms that pages use."""

from typing import Literal

from streamlit.column_config import DatetimeColumn, NumberColumn, TextColumn
from streamlit.elements.lib.column_types import ColumnConfig

Width = Literal["small", "medium", "large"] | int | None


def number(label: str, form: str | None = None, width: Width = None, help: str | None = None) -> ColumnConfig:
    """A column of numbers; `form` is a printf pattern or one of Streamlit's names, such as ``percent``."""
    return NumberColumn(label, format=form, width=width, help=help)


def text(label: str, width: Width = None, help: str | None = None) -> ColumnConfig:
    """A column of text."""
    return TextColumn(label, width=width, help=help)


def timestamp(label: str, form: str = "YYYY-MM-DD HH:mm") -> ColumnConfig:
    """A column of points in time."""
    return DatetimeColumn(label, format=form)
