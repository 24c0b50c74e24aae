"""Adjudicate: the pairs on which annotators differ, on the card; one grade ends each."""

from collections.abc import Hashable
from functools import partial
from uuid import uuid4

import pandas as pd
import streamlit as st

from annotate.auth import session
from annotate.elements import display, widgets
from annotate.judging.card import ADJUDICATE, PairFilter, grade_buttons, mount
from collection.adjudication import filter_queue
from collection.characters import without_bidi

now = session.current()
campaign, scale = now.campaign, now.campaign.grades
PAIR, LISTED, PICKED = (f"adjudicate-{name}" for name in ("pair", "listed", "picked"))
picked = st.session_state.get(PICKED, "")

WHY = {"disagreement": "Disagreements", "calibration": "Calibration set, not settled"}


@st.cache_data(show_spinner="Looking for disagreements", max_entries=4)
def queue_of(campaign_id: str, version: tuple[Hashable, ...]) -> pd.DataFrame:
    """The queue with the pairs that are ended; kept while nobody judges and no text is imported."""
    return session.current().campaign.adjudication.queue(ended=True)


def pick(table: str) -> None:
    """Show the pair of the selected row: the pair is kept, not the row in which it stood."""
    rows = st.session_state[table]["selection"]["rows"]
    if rows:
        st.session_state[PICKED] = str(uuid4())  # the open card tells it from those of a session before this one
        st.session_state[PAIR] = st.session_state[LISTED][rows[0]]


everything = queue_of(campaign.id, campaign.adjudication.version())
waiting = int(everything["held_back"].sum())
everything = everything[~everything["held_back"]].reset_index(drop=True)
pairs_wait = "1 pair waits" if waiting == 1 else f"{waiting:,} pairs wait"
for_texts = f"{pairs_wait} for the text of the document and cannot be adjudicated before it is imported."

if everything.empty:
    st.title("Adjudicate")
    if waiting:
        st.write(for_texts)
        st.stop()
    several = campaign.agreement.disagreements().pairs
    if several:
        pairs = "The only pair" if several == 1 else f"All {several:,} pairs"
        st.write(f"{pairs} with two or more judgements: the annotators agree. There is nothing to adjudicate.")
    else:
        st.write("There is nothing to adjudicate: no pair has judgements by two or more annotators yet.")
        widgets.next_step(campaign.overview.next_step())
    st.stop()

titles = campaign.corpus.topics().set_index("query_id")["title"]
order = {query_id: n for n, query_id in enumerate(titles.index)}
above = st.container(horizontal=True, vertical_alignment="center", gap="small")

with above.popover("Filter", icon=":material/filter_list:"):
    why = st.selectbox(
        "Pairs",
        ["", *sorted(everything["why"].unique(), reverse=True)],
        format_func=lambda w: WHY.get(w, "All"),
        key="why",
    )
    topic = st.selectbox(
        "Topic",
        ["", *sorted(everything["query_id"].unique(), key=order.__getitem__)],
        format_func=lambda q: without_bidi(f"{q}: {titles[q]}") if q else "All topics",
        key="topic",
    )
    distance = st.selectbox(
        "Distance between highest and lowest grade",
        [-1, *sorted(map(int, everything["distance"].unique()), reverse=True)],
        format_func=lambda d: "Any" if d < 0 else str(d) if d else "0: a grade and a “cannot judge”",
        key="distance",
    )
    people = st.multiselect(
        "Judged by all of",
        sorted({name for names in everything["names"] for name in names}),
        format_func=without_bidi,
        key="people",
    )
    conditions: PairFilter = {
        "why": why or None,
        "query_id": topic or None,
        "distance": None if distance < 0 else distance,
        "names": people,
    }

with above.popover("Queue", icon=":material/list:", on_change="rerun", key="queue-open") as listed:
    if listed.open:
        left = filter_queue(everything[~everything["ended"]], **conditions)
        st.session_state[LISTED] = list(zip(left["query_id"], left["doc_id"], strict=True))
        display.table(
            left,
            {"query_id": "Topic", "grades": "Grades", "distance": "Distance", "doc_id": "Document"},
            on_select=partial(pick, f"queue-{picked}"),
            selection_mode="single-row",
            key=f"queue-{picked}",  # a new one has no row selected
        )
        st.caption('Select a row to show the pair. Grades are sorted; "?" stands for "cannot judge".')

with above.popover("Done", icon=":material/done_all:", on_change="rerun", key="done-open") as done:
    if done.open:
        ended = campaign.judgement_log.adjudications()[::-1]
        display.table(
            ended.assign(grade=widgets.grade_names(scale, ended), note=ended["note"].fillna("")),
            {
                "query_id": "Topic",
                "doc_id": "Document",
                "grade": "Grade",
                "annotator": "Adjudicator",
                "note": st.column_config.TextColumn("Note", width="medium"),
                "judged_at": st.column_config.DatetimeColumn("Time (UTC)", format="YYYY-MM-DD HH:mm"),
            },
        )
        st.caption("Newest first. On the card, u takes back your last one, and ← looks back at yours.")

if waiting:
    st.caption(for_texts)
mount(
    {
        "scale": grade_buttons(scale),
        "query_id": None,
        "card": {},
        "filter": conditions,
        "pair": st.session_state.get(PAIR),
        "picked": picked,
    },
    ADJUDICATE,
    "adjudicate",
)
