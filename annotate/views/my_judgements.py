"""My judgements: find any of them, read the document again, change or undo it."""

import streamlit as st

from annotate.auth import session
from annotate.elements import display, judgements_table, widgets
from annotate.judging.card import LONGEST_NOTE
from collection.characters import without_bidi

now = session.current()
campaign, scale = now.campaign, now.campaign.grades

st.title("My judgements")
st.caption(
    f"Those of {widgets.plain(now.annotator)}, newest first. A change is a new entry in the log; the old one stays."
)
mine = campaign.judgement_log.judgements(annotator=now.annotator)[::-1]
mine = mine[mine["counts_as"] == "judgement"]  # adjudications have a page of their own
if mine.empty:
    widgets.stop_with_next_step("None yet.")

documents = campaign.corpus.documents(mine["doc_id"].tolist())
titles = campaign.corpus.topics().set_index("query_id")["title"]
mine["grade"] = widgets.grade_names(scale, mine)
mine["title"] = [documents[d].title for d in mine["doc_id"]]

topic_column, grade_column, text_column, flag_column = st.columns([3, 2, 3, 1.2], vertical_alignment="bottom")
topics = {None: "All topics"} | {q: without_bidi(f"{q}: {titles[q]}") for q in mine["query_id"].drop_duplicates()}
topic = topic_column.selectbox("Topic", topics, format_func=topics.__getitem__)
grades = sorted(mine["grade"].unique())
grade = grade_column.selectbox("Grade", [None, *grades], format_func=lambda g: g or "All grades")
words = text_column.text_input("Words in the document", placeholder="id, title or text")
only_flagged = flag_column.checkbox("Flagged")

shown = mine
if topic is not None:
    shown = shown[shown["query_id"] == topic]
if grade is not None:
    shown = shown[shown["grade"] == grade]
if only_flagged:
    shown = shown[shown["flagged"]]
for word in words.lower().split():
    shown = shown[[word in f"{d} {documents[d].title} {documents[d].text or ''}".lower() for d in shown["doc_id"]]]

judgements_table.draw(shown)
st.caption(f"{len(shown):,} of {len(mine):,} judgements. Select a row to read the document and to change the grade.")
picked = mine[mine["uuid"] == st.session_state.get(judgements_table.PICKED)]
if picked.empty:
    st.stop()

row = picked.iloc[0]
st.subheader(f"Topic {widgets.plain(row['query_id'])}: {widgets.plain(titles[row['query_id']])}")
widgets.document(documents[row["doc_id"]])
if row["passages"]:
    st.caption("What you marked")
    passages = campaign.document_view.quoted(picked)["passages"].iloc[0]
    quoted = [passage["text"] for passage in passages if passage["text"]]
    for words in quoted:
        st.text(f"“{without_bidi(words)}”")
    if not quoted:
        st.text("The document no longer has these places.")

# The form carries the uuid of the judgement that it changes: it cannot reach any other pair.
with st.form(f"change-{row['uuid']}", border=False):
    options = {g: f"{g}  {widgets.plain(sentence)}" for g, sentence in scale.sentences.items()}
    index = list(options).index(int(row["relevance"])) if row["kind"] == "graded" else None
    choice = st.radio("Grade", options, index=index, format_func=options.__getitem__)
    former = row["note"] if isinstance(row["note"], str) else ""
    note = st.text_area("Note", former, height=80, max_chars=LONGEST_NOTE, key=f"note-{row['uuid']}").strip()
    flagged = st.checkbox("Flagged: to be looked at again", bool(row["flagged"]), key=f"flag-{row['uuid']}")
    save, undo = st.columns([1, 1])
    change = save.form_submit_button("Save the change", type="primary", width="stretch")
    take_back = undo.form_submit_button("Undo: the pair is unjudged again", width="stretch")

if change or take_back:
    # Another note alone leaves a "cannot judge" as it is.
    still = not take_back and choice is None and row["kind"] == "cannot judge"
    same = note == former and flagged == row["flagged"]
    if still and same:
        st.error("Choose a grade first, or write another note.")
        st.stop()
    if not take_back and row["kind"] == "graded" and choice == row["relevance"] and same:
        st.info("That is the grade and the note it has.")
        st.stop()
    with widgets.shown_errors():
        judgement = campaign.judging.judge(
            now.annotator,
            row["query_id"],
            row["doc_id"],
            None if take_back else choice,
            cannot_judge=row["reason"] if still else None,
            undo=take_back,
            note=None if take_back else note or None,
            source="click",
            # What was marked in the text stays marked.
            flagged=flagged and not take_back,
            passages=() if take_back else row["passages"],
        )
        said = "undone" if take_back else widgets.grade_name(scale, judgement.kind, choice)
        st.toast(f"{widgets.plain(row['doc_id'])}: {widgets.plain(said)}. Saved.")
        st.session_state[judgements_table.PICKED] = None if take_back else judgement.uuid
        st.rerun()

log = campaign.judgement_log.judgements(current=False, annotator=now.annotator, query_id=row["query_id"])
log = log[log["doc_id"] == row["doc_id"]][::-1]
if len(log) > 1:
    with st.expander(f"All that you said about this pair ({len(log)})"):
        columns = ["judged_at", "kind", "relevance", "reason", "flagged", "note", "counts_as"]
        display.dataframe(log[columns], hide_index=True)

if not campaign.settings.assignment().blind:
    judgements_table.draw_others(row["query_id"], row["doc_id"], now.annotator)
