"""The fields of a pooling strategy's parameters."""

from collections.abc import Callable
from typing import Any, get_type_hints

import pandas as pd
import streamlit as st

from collection.registry import Entry

# Parameter -> what its field is called, and its help.
LABELS = {
    "depth": ("Depth", "Ranks of each run."),
    "ties": ("Ties", "Equal scores: as the runs list them, or also as measures order them."),
    "budget": ("Pairs per topic", "How many pairs each topic gets."),
    "total": ("Pairs in all", "All topics together, in place of pairs per topic; 0: pairs per topic hold."),
    "k": ("Constant k", "The higher, the less the first ranks stand out."),
    "p": ("Persistence p", "How likely a reader goes on to the next document: above 0, below 1."),
    "n": ("Documents", "How many each run brings to each topic."),
    "fusion": ("Fusion", "The strategy whose first documents are taken."),
    "rate": ("Share drawn", "Of each topic's depth pool: above 0, at most 1."),
    "strata": ("Strata", "Depth:rate, from the top down: 10:1,50:.3 draws all of the first ten ranks, then 30 %."),
    "seed": ("Seed", "Another seed, another sample; the same seed, the same sample."),
}
FROM_ZERO = ("k", "total", "seed")  # whole numbers that may be 0


def draw(entry: Entry[Callable[..., pd.DataFrame]]) -> dict[str, Any]:
    """Draw one field for each parameter, by its type."""
    kinds = get_type_hints(entry.function)
    return {name: _field(entry, name, kinds[name]) for name in entry.parameters}


def _field(entry: Entry[Callable[..., pd.DataFrame]], name: str, kind: object) -> Any:
    default = entry.parameters[name]
    label, words = LABELS.get(name, (name.capitalize(), None))
    key = f"{entry.name}-{name}"
    if name in entry.choices:
        choices = entry.choices[name]
        return st.selectbox(label, choices, index=choices.index(default), help=words, key=key)
    if kind is int:
        return st.number_input(label, min_value=int(name not in FROM_ZERO), value=default, step=1, help=words, key=key)
    if kind is float:
        return st.number_input(label, value=default, step=0.05, format="%.2f", help=words, key=key)
    return st.text_input(label, default, help=words, key=key)
