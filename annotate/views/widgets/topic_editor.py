"""Tables of all topics in which one column can be edited."""

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st
from streamlit.column_config import SelectboxColumn
from streamlit.elements.lib.column_types import ColumnConfig

from annotate.auth import session
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import text
from collection.core.characters import without_bidi
from collection.core.phrases import count
from collection.core.records import sort_naturally
from collection.core.topic_fields import full_narrative

USUAL = "as the campaign"


def edit_topics(
    values: Mapping[str, str],
    columns: Mapping[str, ColumnConfig],
    most: int,
    alt: str,
    unit: str,
    save: Callable[[pd.DataFrame], None],
) -> None:
    """Draw the topics, the last column (its `values`) editable, and a button to save the changes.

    Topics with other fields have these in a column of their own. `save` gets the changed rows; `unit` is the noun for
    one of them.
    """
    records = session.current().campaign.store.corpus.topic_records()
    topics = sort_naturally(pd.DataFrame([topic[:2] for topic in records], columns=["query_id", "title"], dtype="str"))
    topics = topics.reset_index(drop=True)
    fields = {topic.query_id: full_narrative("", topic.fields, with_speakers=True) for topic in records}
    if any(fields.values()):
        topics["fields"] = topics["query_id"].map(fields).map(without_bidi)
        *former, (last, column) = columns.items()
        columns = {**dict(former), "fields": text("Other fields", 200), last: column}
    name = list(columns)[-1]
    topics[name] = topics["query_id"].map(values)
    edited = display.data_editor(
        topics,
        hide_index=True,
        height=display.height(topics, most),
        disabled=list(columns)[:-1],
        key=f"{name}s-{hash(tuple(topics[name]))}",  # a new table after each save, here or elsewhere
        alt=alt,
        column_config=columns,
    )
    edited[name] = edited[name].fillna("").str.strip()
    changed = edited[edited[name] != topics[name]]
    number = count(len(changed), unit)
    if st.button(f"Save {number}" if len(changed) else "Save", disabled=changed.empty, key=f"save-{unit}s"):
        with widgets.saving(f"Saved {number}."), session.current().campaign.transaction():
            save(changed)


def draw_modes(modes: Mapping[str, str]) -> None:
    """Draw the editor of each topic's mode; `modes` are names with labels."""
    settings = session.current().campaign.settings
    own = {query_id: mode or USUAL for query_id, mode in settings.own_modes().items()}
    if not own:
        return
    labels = {USUAL: "Campaign default", **modes}
    mode_column = SelectboxColumn(
        "Judging mode", options=list(labels), format_func=lambda mode: labels[str(mode)], required=True
    )

    def save(changed: pd.DataFrame) -> None:
        for mode, topics in changed.groupby("mode"):
            settings.set_loop(topics=topics["query_id"].tolist(), mode=None if mode == USUAL else str(mode))

    columns = {"query_id": text("Topic", 60), "title": text("Title", 150), "mode": mode_column}
    edit_topics(own, columns, 318, "Judging mode of each topic", "topic", save)
