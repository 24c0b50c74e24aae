"""Every topic's recall, worst first; a selected topic goes into the page's address."""

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from annotate.elements import display


def draw(rows: pd.DataFrame, state: str) -> str | None:
    """Draw the rows of :meth:`collection.Campaign.recall_table`, kept by the `state` that they rest on.

    Returns the topic in the page's address, which need not be one of these.
    """
    listed = rows["query_id"].tolist()
    # Another order, another table: a selected row never stays where another topic has come to stand.
    key = f"rows-{hash((state, len(listed)))}"

    def pick() -> None:
        """The address carries the topic, so that it can be sent to somebody."""
        chosen = st.session_state[key]["selection"]["rows"]
        if chosen:
            st.query_params["topic"] = listed[chosen[0]]
        else:
            st.query_params.pop("topic", None)

    topic = st.query_params.get("topic")
    display.table(
        rows,
        {  # The advice before the title: on a phone two columns are in sight.
            "query_id": TextColumn("Topic", width=60),
            "advice": TextColumn("Advice", width=215, help="Random documents count where none of them is relevant."),
            "title": TextColumn("Title", width=190),
            "judged": NumberColumn("Judged", width=65),
            "found": NumberColumn("Found", width=60, help="Relevant documents found."),
            "without_text": NumberColumn(
                "No text", width=65, help="Pooled documents that cannot be judged; they count as unjudged."
            ),
            "recall_low": NumberColumn("Recall from", format="percent", width="small"),
            "recall_high": NumberColumn("to", format="percent", width="small"),
            "of": TextColumn(
                "Scope", width=65, help="A pool holds what the systems retrieved; nothing is said of the rest."
            ),
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
