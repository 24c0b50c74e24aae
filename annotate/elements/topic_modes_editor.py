"""How the documents of single topics are chosen, where that is another way than the campaign's."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st
from streamlit.column_config import SelectboxColumn, TextColumn

from annotate.auth import session
from annotate.elements import display
from collection.records import sort_naturally

USUAL = "as the campaign"


def draw(ways: Mapping[str, str]) -> None:
    """Draw the editor; `ways` are the modes with their labels. Without topics there is none."""
    campaign = session.current().campaign
    own = campaign.settings.own_modes()
    if not own:
        return
    st.subheader("Topic by topic")
    topics = sort_naturally(campaign.corpus.topics())[["query_id", "title"]].reset_index(drop=True)
    topics["mode"] = [own[query_id] or USUAL for query_id in topics["query_id"]]
    labels = {USUAL: "As the campaign", **ways}
    edited = display.data_editor(
        topics,
        hide_index=True,
        height=min(35 * len(topics) + 38, 318),
        disabled=["query_id", "title"],
        key=f"modes-{hash(tuple(topics['mode']))}",  # what was saved, here or elsewhere, is the new beginning
        alt="How the documents of each topic are chosen",
        column_config={
            "query_id": TextColumn("Topic", width=60),
            "title": TextColumn("Title", width=150),
            "mode": SelectboxColumn(
                "How documents are chosen",
                options=list(labels),
                format_func=lambda mode: labels[str(mode)],
                required=True,
            ),
        },
    )
    other: pd.DataFrame = edited[edited["mode"] != topics["mode"]]
    of = f"{len(other):,} topic{'s' if len(other) != 1 else ''}"
    if st.button(f"Save {of}" if len(other) else "Topics are saved", disabled=other.empty, key="save-topics"):
        for mode, some in other.groupby("mode"):
            campaign.settings.set_loop(topics=some["query_id"].tolist(), mode=None if mode == USUAL else str(mode))
        st.toast(f"{of} saved.")
        st.rerun()
