"""The field of one parameter of a registry entry."""

from __future__ import annotations

from typing import Any

import streamlit as st

from collection.registry import Entry


def parameter_field(entry: Entry[Any], name: str, key: str) -> Any:
    """Draw the field of a parameter by its type, labelled as its annotation says; return the value."""
    default, kind, shown = entry.parameters[name], entry.kind(name), entry.shown(name)
    if name in entry.choices:
        labels = {choice: shown.labels.get(choice, str(choice)) for choice in entry.choices[name]}
        index = list(labels).index(default)
        return st.selectbox(shown.label, labels, index, format_func=labels.__getitem__, help=shown.help, key=key)
    if kind is bool:
        return st.toggle(shown.label, default, help=shown.help, key=key)
    if kind in (int, float):
        least = None if shown.least is None else kind(shown.least)
        step, form = (1, None) if kind is int else (0.05, "%.2f")
        return st.number_input(
            shown.label, min_value=least, value=default, step=step, format=form, help=shown.help, key=key
        )
    return st.text_input(shown.label, default, help=shown.help, key=key)
