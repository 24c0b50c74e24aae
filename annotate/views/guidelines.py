"""Guidelines: how to judge in this campaign, for everybody to read and for its manager to write."""

import streamlit as st

from annotate.auth import session
from annotate.elements import display, widgets
from collection.characters import natural_key, without_bidi
from collection.documents.rendering.markup import to_html
from collection.records import sort_naturally

now = session.current()
campaign, manages = now.campaign, now.role == "manager"
text, notes = campaign.settings.guidelines(), campaign.settings.topic_notes()
STYLE = """<style>
.guidelines { max-width: 46rem; overflow-wrap: anywhere; }
.guidelines :is(h3, h4, h5, h6) { padding: 0.9rem 0 0.3rem; }
.guidelines > :first-child { padding-top: 0; }
.guidelines a { color: inherit; }
.guidelines table { border-collapse: collapse; margin: 0.3rem 0 1rem; }
.guidelines :is(th, td) { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: 0.25rem 0.7rem;
  text-align: left; }
.guidelines blockquote { margin: 0 0 1rem; padding-left: 0.9rem;
  border-left: 3px solid color-mix(in srgb, currentColor 25%, transparent); }
</style>"""

st.title("Guidelines")
st.write(
    "How to judge in this campaign. In the judging card they are one key away (**g**), and the note of a topic "
    "stands beside its words."
)


def show(words: str) -> None:
    """Markdown as the card shows it."""
    st.html(f'{STYLE}<div class="guidelines">{to_html(words) or "&nbsp;"}</div>')


def read() -> None:
    """The guidelines as annotators see them."""
    if text:
        show(text)
    else:
        st.info(
            "Nobody has written any yet: say what each grade means here, and what to do in doubtful cases."
            if manages
            else "The manager of this campaign has written no guidelines yet."
        )


def read_notes() -> None:
    """The notes of the topics that this person sees."""
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
    """The editor; what was typed outlives a save by somebody else, who is not written over unseen."""
    begun = st.session_state.setdefault("guidelines-begun", text)
    if begun != text:
        st.warning("Somebody saved other guidelines since you opened these. Saving puts yours in their place.")
        if st.button("Take theirs instead", key="theirs"):
            st.session_state["guidelines-begun"] = st.session_state["guidelines-text"] = text
            st.rerun()
    st.session_state.setdefault("guidelines-text", text)
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
            show(written)
    changed = written.strip() != text
    if st.button("Save" if changed else "Saved", type="primary", disabled=not changed, key="save"):
        with widgets.shown_errors():
            campaign.settings.set_guidelines(written)
            st.session_state["guidelines-begun"] = campaign.settings.guidelines()
            st.toast("Saved. Cards show it when they are opened next.")
            st.rerun()


def write_notes() -> None:
    """A table of all topics with their notes."""
    topics = sort_naturally(campaign.corpus.topics())[["query_id", "title"]].reset_index(drop=True)
    if topics.empty:
        st.write("There are no topics yet.")
        return
    topics["note"] = [notes.get(query_id, "") for query_id in topics["query_id"]]
    edited = display.data_editor(
        topics,
        hide_index=True,
        height=min(35 * len(topics) + 38, 460),
        disabled=["query_id", "title"],
        key=f"notes-{hash(tuple(topics['note']))}",  # what was saved, here or elsewhere, is the new beginning
        alt="The note of each topic",
        column_config={
            "query_id": st.column_config.TextColumn("Topic", width="small"),
            "title": st.column_config.TextColumn("Title", width="medium"),
            "note": st.column_config.TextColumn("Note for annotators", width="large", max_chars=5000),
        },
    )
    edited["note"] = edited["note"].fillna("").str.strip()
    other = edited[edited["note"] != topics["note"]]
    of = f"{len(other):,} note{'s' if len(other) != 1 else ''}"
    if st.button(f"Save {of}" if len(other) else "Notes are saved", disabled=other.empty, key="save-notes"):
        with widgets.shown_errors():
            with campaign.transaction():
                for query_id, note in other[["query_id", "note"]].itertuples(index=False):
                    campaign.settings.set_topic_note(query_id, note)
            st.toast(f"{of} saved.")
            st.rerun()


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
