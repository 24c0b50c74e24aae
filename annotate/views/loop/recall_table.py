"""Recall of all topics: a table whose selected topic is in the page's address."""

import numpy as np
import pandas as pd
import streamlit as st

from annotate.views.widgets import display
from annotate.views.widgets.columns import number, text


def draw(rows: pd.DataFrame, state: str) -> str | None:
    """Draw the rows, whose selection ends where `state` changes; return the topic in the page's address."""
    listed = rows["query_id"].tolist()
    key = f"rows-{hash((state, len(listed)))}"

    def pick() -> None:
        chosen = st.session_state[key]["selection"]["rows"]
        if chosen:
            st.query_params["topic"] = listed[chosen[0]]
        else:
            st.query_params.pop("topic", None)

    topic = st.query_params.get("topic")
    no_text = "Pooled documents without a text. They count as unjudged."
    hidden = ([] if rows["without_text"].any() else ["without_text"]) + (["of"] if rows["of"].nunique() < 2 else [])
    whole = {"recall_low": np.floor(100 * rows["recall_low"] + 1e-9)}  # never shown as better than they are
    whole["recall_high"] = np.ceil(100 * rows["recall_high"] - 1e-9)
    display.table(
        rows.drop(columns=hidden).assign(**whole),
        {  # The advice before the title: on a phone two columns are in sight.
            "query_id": text("Topic", 60),
            "advice": text(
                "Advice", 215, '"Judge N more at random": if none of them is relevant, the topic is ready to stop.'
            ),
            "title": text("Title", 150),
            "judged": number("Judged", width=65),
            "found": number("Relevant found", width=110),
            "without_text": number("Text missing", width=95, help=no_text),
            "recall_low": number("Recall, lower bound", "%d%%", 135),
            "recall_high": number("Recall, upper bound", "%d%%", 135),
            "of": text("Scope", 80, "Documents to which the recall refers: the pool or the whole collection."),
        },
        most_height=318,
        on_select=pick,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [listed.index(topic)] if topic in listed else []}},
        key=key,
        alt="Recall of each topic, lowest first",
    )
    return topic
