"""Every topic's recall, worst first; the page's address carries the selected topic."""

import pandas as pd
import streamlit as st

from annotate.elements import display
from annotate.elements.columns import number, text


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
    no_text = "Pooled documents that cannot be judged; they count as unjudged."
    display.table(
        rows,
        {  # The advice before the title: on a phone two columns are in sight.
            "query_id": text("Topic", 60),
            "advice": text("Advice", 215, "Random documents count where none of them is relevant."),
            "title": text("Title", 190),
            "judged": number("Judged", width=65),
            "found": number("Found", width=60, help="Relevant documents found."),
            "without_text": number("No text", width=65, help=no_text),
            "recall_low": number("Recall from", "percent", "small"),
            "recall_high": number("to", "percent", "small"),
            "of": text("Scope", 65, "A pool holds what the systems retrieved; nothing is said of the rest."),
        },
        most_height=318,
        on_select=pick,
        selection_mode="single-row",
        selection_default={"selection": {"rows": [listed.index(topic)] if topic in listed else []}},
        key=key,
        placeholder="",
        alt="Every topic's recall, worst first",
    )
    return topic
