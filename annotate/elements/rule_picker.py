"""Choosing an adjudication rule with its parameters, as several pages do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotate.elements.parameter_field import parameter_field
from collection.adjudication import DEFAULT_RULE, RULES, parse

ANNOTATOR = "annotator"
"""The parameter of a rule that takes the grades of one person."""


def choose(label: str, annotators: Sequence[str], *, key: str, usual: str = DEFAULT_RULE) -> str:
    """Draw the boxes of a rule and its parameters.

    Parameters
    ----------
    label
        What the box of the rules is called.
    annotators
        Who graded anything: the choices of the rule that names one.
    key
        Parts these boxes from those of another rule on the page.
    usual
        The rule that stands in the box at first.

    Returns
    -------
    str
        The rule as :func:`collection.adjudication.parse` reads it.
    """
    names = [rule.name for rule in RULES if annotators or not rule.needs_annotator]
    name = st.selectbox(label, names, index=names.index(usual), format_func=lambda n: RULES[n].label, key=f"{key}-rule")
    entry = RULES[name]
    given: dict[str, Any] = {
        parameter: st.selectbox(entry.shown(parameter).label, annotators, key=f"{key}-annotator")
        if entry.needs_annotator and parameter == ANNOTATOR
        else parameter_field(entry, parameter, f"{key}-{name}-{parameter}")
        for parameter in entry.parameters
    }
    st.caption(entry.description)
    return str(parse(name, **given))
