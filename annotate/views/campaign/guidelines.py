"""Guidelines: how to judge in this campaign; everybody reads them, managers write them."""

import pandas as pd
import streamlit as st
from streamlit.column_config import TextColumn

from annotate.auth import session
from annotate.views.widgets import widgets
from annotate.views.widgets.display import text
from annotate.views.widgets.topic_editor import edit_topics
from collection.core.characters import natural_key, without_bidi
from collection.documents.rendering.markup import to_html

now = session.current()
campaign, manages = now.campaign, now.role == "manager"
guidelines, notes = campaign.settings.guidelines(), campaign.store.corpus.topic_notes()

st.title("Guidelines")
st.write("Press **g** while judging to open these guidelines." if guidelines else "There are no guidelines yet.")
if manages:
    widgets.documentation_link("how-to/write-guidelines", "How to write guidelines")


def read() -> None:
    if guidelines:
        widgets.safe_html(to_html(guidelines), "guidelines")
    elif manages:
        st.write("Describe under Edit what each grade means and how to judge doubtful cases.")


def read_notes() -> None:
    topics = campaign.store.corpus.topics().set_index("query_id")["title"]
    own = set(topics.index if now.role == "reader" else campaign.progress.topics_for(now.annotator))
    shown = {query_id: note for query_id, note in notes.items() if query_id in own}
    if shown:
        st.subheader("Topic notes")
    for query_id, note in sorted(shown.items(), key=lambda topic: natural_key(topic[0])):
        with st.container(border=True):
            st.write(f"**{widgets.plain(query_id)}: {widgets.plain(topics[query_id])}**")
            st.text(without_bidi(note))


def write() -> None:
    """Draw the editor, which keeps its text when somebody else saves, and warns before overwriting theirs."""
    if st.session_state.setdefault("guidelines-begun", guidelines) != guidelines:
        st.warning("Somebody else changed the guidelines since you opened them. Saving overwrites their version.")
        if st.button("Load their version", key="theirs"):
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
            help="Headings, lists, tables, links and emphasis. HTML appears as text, images as descriptions.",
        )
    with right:
        st.caption("Preview. Press Ctrl+Enter to update it.")
        widgets.safe_html(to_html(written) or "&nbsp;", "guidelines", height=460)
    changed = written.strip() != guidelines
    if st.button("Save", type="primary", disabled=not changed, key="save"):
        with widgets.saving("Saved. Annotators see the change when they next open or reload the judging page."):
            campaign.settings.set_guidelines(written)
            st.session_state["guidelines-begun"] = campaign.settings.guidelines()


def write_notes() -> None:
    topics = campaign.store.corpus.topics()["query_id"]
    if topics.empty:
        st.write("This campaign has no topics yet.")
        widgets.page_link("import", "Import files")
        return
    note_column = TextColumn("Note for annotators", width="large", max_chars=5000)
    columns = {"query_id": text("Topic", "small"), "title": text("Title", "medium"), "note": note_column}
    edit_topics({q: notes.get(q, "") for q in topics}, columns, 460, "Note of each topic", "note", save_notes)


def save_notes(changed: pd.DataFrame) -> None:
    for query_id, note in changed[["query_id", "note"]].itertuples(index=False):
        campaign.settings.set_topic_note(query_id, note)


reading = st.container()
if manages:
    reading, writing, noting = st.tabs(["Guidelines", "Edit", "Edit topic notes"])
    with writing:
        write()
    with noting:
        write_notes()
with reading:
    read()
    read_notes()
