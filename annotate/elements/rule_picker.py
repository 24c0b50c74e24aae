"""Choosing an adjudication rule with its parameters, as several pages do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from collection.adjudication import DEFAULT_RULE, RULES, parse

TIES = {"lower": "the lower", "higher": "the higher", "adjudicate": "none before somebody adjudicates"}


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
    names = [rule.name for rule in RULES if rule.name != "annotator" or annotators]
    name = st.selectbox(label, names, index=names.index(usual), format_func=lambda n: RULES[n].label, key=f"{key}-rule")
    given: dict[str, Any] = {}
    entry = RULES[name]
    if "ties" in entry.parameters:
        given["ties"] = st.selectbox(
            "Of grades given equally often",
            entry.choices["ties"],
            format_func=lambda t: TIES.get(t, t),
            key=f"{key}-{name}-ties",
        )
    if "annotator" in entry.parameters:
        given["annotator"] = st.selectbox("Whose grades", annotators, key=f"{key}-annotator")
    st.caption(entry.description)
    return str(parse(name, **given))
