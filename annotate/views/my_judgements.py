"""My judgements: find any of them, read the document again, change or undo it."""

from uuid import uuid4

import streamlit as st

from annotate import session, widgets
from collection.records import Judgement

now = session.current()
campaign, scale = now.campaign, now.campaign.grades

st.title("My judgements")
st.caption(
    f"Those of {widgets.plain(now.annotator)}, newest first. A change is a new entry in the log; the old one stays."
)
mine = campaign.judgements(annotator=now.annotator)[::-1]
if mine.empty:
    st.write("None yet.")
    widgets.next_step(campaign.next_step())
    st.stop()

documents = campaign.documents(mine["doc_id"].tolist())
titles = campaign.topics().set_index("query_id")["title"]
mine["grade"] = [widgets.grade_name(scale, k, r) for k, r in zip(mine["kind"], mine["relevance"], strict=True)]
mine["title"] = [documents[d].title for d in mine["doc_id"]]

topic_column, grade_column, text_column = st.columns([3, 2, 3])
topic = topic_column.selectbox(
    "Topic",
    [None, *mine["query_id"].drop_duplicates()],
    format_func=lambda q: "All topics" if q is None else f"{q}: {titles[q]}",
)
grade = grade_column.selectbox(
    "Grade", [None, *sorted(mine["grade"].unique())], format_func=lambda g: g or "All grades"
)
words = text_column.text_input("Words in the document", placeholder="id, title or text")

shown = mine
if topic is not None:
    shown = shown[shown["query_id"] == topic]
if grade is not None:
    shown = shown[shown["grade"] == grade]
for word in words.lower().split():
    shown = shown[[word in f"{d} {documents[d].title} {documents[d].text or ''}".lower() for d in shown["doc_id"]]]


def pick() -> None:
    """Keep which judgement was selected, not in which row it stood: rows move when new judgements come in."""
    rows = st.session_state["judgements"]["selection"]["rows"]
    st.session_state["picked"] = st.session_state["listed"][rows[0]] if rows else None


st.session_state["listed"] = shown["uuid"].tolist()
st.dataframe(
    shown[["query_id", "doc_id", "grade", "seconds", "judged_at", "reason", "title"]],
    hide_index=True,
    height=320,
    on_select=pick,
    selection_mode="single-row",
    key="judgements",
    column_config={
        "judged_at": st.column_config.DatetimeColumn("When (UTC)", format="YYYY-MM-DD HH:mm:ss"),
        "query_id": "Topic",
        "doc_id": "Document",
        "title": "Title",
        "grade": "Grade",
        "reason": "Reason",
        "seconds": st.column_config.NumberColumn("Seconds", format="%.1f"),
    },
)
st.caption(f"{len(shown):,} of {len(mine):,} judgements. Select a row to read the document and to change the grade.")
picked = mine[mine["uuid"] == st.session_state.get("picked")]
if picked.empty:
    st.stop()

row = picked.iloc[0]
st.subheader(f"Topic {widgets.plain(row['query_id'])}: {widgets.plain(titles[row['query_id']])}")
widgets.document(documents[row["doc_id"]])

# The form carries the uuid of the judgement that it changes: it cannot reach any other pair.
with st.form(f"change-{row['uuid']}", border=False):
    choice = st.radio(
        "Grade",
        list(scale.sentences),
        index=list(scale.sentences).index(int(row["relevance"])) if row["kind"] == "graded" else None,
        format_func=lambda g: f"{g}  {widgets.plain(scale.sentences[g])}",
    )
    save, undo = st.columns([1, 1])
    change = save.form_submit_button("Save the change", type="primary", width="stretch")
    take_back = undo.form_submit_button("Undo: the pair is unjudged again", width="stretch")

if change or take_back:
    judgement = Judgement(
        str(uuid4()),
        now.annotator,
        row["query_id"],
        row["doc_id"],
        "undone" if take_back else "graded",
        relevance=None if take_back else choice,
        source="click",
    )
    if not take_back and choice is None:
        st.error("Choose a grade first.")
        st.stop()
    if not take_back and row["kind"] == "graded" and choice == row["relevance"]:
        st.info("That is the grade it has.")
        st.stop()
    result = campaign.judge([judgement])
    if result.refused:
        st.error(widgets.plain(result.refused[0].reason))
    else:
        st.toast(f"{widgets.plain(row['doc_id'])}: {'undone' if take_back else choice}. Saved.")
        st.session_state["picked"] = None if take_back else judgement.uuid
        st.rerun()

log = campaign.judgements(current=False, annotator=now.annotator, query_id=row["query_id"])
log = log[log["doc_id"] == row["doc_id"]][::-1]
if len(log) > 1:
    with st.expander(f"All that you said about this pair ({len(log)})"):
        st.dataframe(log[["judged_at", "kind", "relevance", "reason"]], hide_index=True)
