"""Tables of all topics in which one column can be edited."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st
from streamlit.column_config import SelectboxColumn
from streamlit.elements.lib.column_types import ColumnConfig

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.elements.columns import text
from collection.records import sort_naturally

USUAL = "as the campaign"


def edit_topics(values: Mapping[str, str], columns: Mapping[str, ColumnConfig], most: int, alt: str) -> pd.DataFrame:
    """Draw the topics with the `values` of the last of the columns, which can be edited; return the changed rows."""
    topics = sort_naturally(session.current().campaign.corpus.topics())[["query_id", "title"]].reset_index(drop=True)
    name = list(columns)[-1]
    topics[name] = topics["query_id"].map(values)
    edited = display.data_editor(
        topics,
        hide_index=True,
        height=display.height(topics, most),
        disabled=["query_id", "title"],
        key=f"{name}s-{hash(tuple(topics[name]))}",  # begins anew after each save, here or elsewhere
        alt=alt,
        column_config=columns,
    )
    edited[name] = edited[name].fillna("").str.strip()
    return edited[edited[name] != topics[name]]


def draw_modes(modes: Mapping[str, str]) -> None:
    """Draw the editor of each topic's mode, unless there are no topics; `modes` have labels."""
    settings = session.current().campaign.settings
    own = {query_id: mode or USUAL for query_id, mode in settings.own_modes().items()}
    if not own:
        return
    labels = {USUAL: "As the campaign", **modes}
    mode_column = SelectboxColumn(
        "How documents are chosen", options=list(labels), format_func=lambda mode: labels[str(mode)], required=True
    )
    st.subheader("Topic by topic")
    columns = {"query_id": text("Topic", 60), "title": text("Title", 150), "mode": mode_column}
    changed = edit_topics(own, columns, 318, "How the documents of each topic are chosen")
    count = f"{len(changed):,} topic{'s' if len(changed) != 1 else ''}"
    label = f"Save {count}" if len(changed) else "Topics are saved"
    if st.button(label, disabled=changed.empty, key="save-topics"):
        with widgets.saving(f"{count} saved."):
            for mode, topics in changed.groupby("mode"):
                settings.set_loop(topics=topics["query_id"].tolist(), mode=None if mode == USUAL else str(mode))
