"""Guidelines: how to judge in this campaign, for everybody to read and for its manager to write."""

import pandas as pd
import streamlit as st
from streamlit.column_config import TextColumn

from annotate.auth import session
from annotate.elements import widgets
from annotate.elements.columns import text
from annotate.elements.topic_editor import edit_topics
from collection.characters import natural_key, without_bidi
from collection.documents.rendering.markup import to_html

now = session.current()
campaign, manages = now.campaign, now.role == "manager"
guidelines, notes = campaign.settings.guidelines(), campaign.settings.topic_notes()

st.title("Guidelines")
st.write(
    "How to judge in this campaign. In the judging card they are one key away (**g**), and the note of a topic "
    "stands beside its words."
)


def read() -> None:
    if guidelines:
        widgets.safe_html(to_html(guidelines), "guidelines")
    else:
        st.info(
            "Nobody has written any yet: say what each grade means here, and what to do in doubtful cases."
            if manages
            else "The manager of this campaign has written no guidelines yet."
        )


def read_notes() -> None:
    topics = campaign.corpus.topics().set_index("query_id")["title"]
    mine = set(topics.index if now.role == "reader" else campaign.progress.topics_for(now.annotator))
    shown = {query_id: note for query_id, note in notes.items() if query_id in mine}
    if shown:
        st.subheader("Notes for topics")
    for query_id, note in sorted(shown.items(), key=lambda topic: natural_key(topic[0])):
        with st.container(border=True):
            st.write(f"**{widgets.plain(query_id)}: {widgets.plain(topics[query_id])}**")
            st.text(without_bidi(note))


def write() -> None:
    """Draw the editor, which keeps its text when somebody else saves, and warns before it overwrites theirs."""
    if st.session_state.setdefault("guidelines-begun", guidelines) != guidelines:
        st.warning("Somebody saved other guidelines since you opened these. Saving puts yours in their place.")
        if st.button("Take theirs instead", key="theirs"):
            st.session_state["guidelines-begun"] = st.session_state["guidelines-text"] = guidelines
            st.rerun()
    st.session_state.setdefault("guidelines-text", guidelines)
    left, right = st.columns(2, gap="medium")
    with left:
        written = st.text_area(
            "Markdown",
            key="guidelines-text",
            height=460,
            placeholder="# What counts as relevant\n\nA document is **relevant** when …",
            help="Headings, lists, tables, links, emphasis. HTML is shown as it is written, a picture as its words.",
        )
    with right:
        st.caption("As annotators will read it; press Ctrl+Enter to see what you typed.")
        with st.container(border=True, height=460):
            widgets.safe_html(to_html(written) or "&nbsp;", "guidelines")
    changed = written.strip() != guidelines
    if st.button("Save" if changed else "Saved", type="primary", disabled=not changed, key="save"):
        with widgets.saving("Saved. Cards show it when they are opened next."):
            campaign.settings.set_guidelines(written)
            st.session_state["guidelines-begun"] = campaign.settings.guidelines()


def write_notes() -> None:
    topics = campaign.corpus.topics()["query_id"]
    if topics.empty:
        st.write("There are no topics yet.")
        return
    note_column = TextColumn("Note for annotators", width="large", max_chars=5000)
    columns = {"query_id": text("Topic", "small"), "title": text("Title", "medium"), "note": note_column}
    edit_topics({q: notes.get(q, "") for q in topics}, columns, 460, "The note of each topic", "note", save_notes)


def save_notes(changed: pd.DataFrame) -> None:
    for query_id, note in changed[["query_id", "note"]].itertuples(index=False):
        campaign.settings.set_topic_note(query_id, note)


reading = st.container()
if manages:
    reading, writing, noting = st.tabs(["Read", "Write", "Notes for topics"])
    with writing:
        write()
    with noting:
        write_notes()
with reading:
    read()
    read_notes()
