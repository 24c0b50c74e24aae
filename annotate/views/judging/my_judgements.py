"""My judgements: find a judgement, read the document again, change or undo the judgement."""

from uuid import uuid4

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn

from annotate.auth import session
from annotate.card.server.lenient import LONGEST_NOTE
from annotate.views.judging import answers as answer_fields
from annotate.views.widgets import display, widgets
from annotate.views.widgets.display import number, text, timestamp
from collection.core.characters import without_bidi
from collection.core.errors import JudgementError
from collection.core.phrases import count, duration
from collection.core.questions import find_missing
from collection.core.records import Judgement
from collection.core.review import REASON

# Session keys of the uuids of the listed judgements and of the selected one; rows may move.
LISTED, PICKED = "listed", "picked"

now = session.current()
campaign, scale = now.campaign, now.campaign.settings.grades
questions = campaign.settings.questions()

words = campaign.settings.vocabulary
st.title(widgets.page_title("my-judgements"))
own = campaign.store.judgements.table(annotator=now.annotator)[::-1]
own = own[own["counts_as"] == "judgement"]  # adjudications have a page of their own
if own.empty:
    widgets.stop_with_next_step(words.apply("You have not judged any documents yet."))

st.write(
    f"You have made {words.count_judgements(len(own))}. Select one to read the {words.document} again or to change "
    f"the {words.grade}."
)
documents = campaign.store.corpus.documents(own["doc_id"].tolist())
titles = campaign.store.corpus.topics().set_index("query_id")["title"]
own["grade"] = widgets.grade_names(scale, own)
own["title"] = [documents[d].title for d in own["doc_id"]]

topic_column, grade_column, text_column, flag_column = st.columns([3, 2, 3, 1.2], vertical_alignment="bottom")
topics = {None: words.apply("All topics")}
topics |= {q: widgets.topic_label(q, titles[q]) for q in own["query_id"].drop_duplicates()}
topic = topic_column.selectbox(words.apply("Topic"), topics, format_func=topics.__getitem__)
grades = sorted(own["grade"].unique())
grade = grade_column.selectbox(
    words.apply("Grade"), [None, *grades], format_func=lambda g: g or words.apply("All grades")
)
wanted = text_column.text_input(words.apply("Search documents"), placeholder="Words in id, title, text or fields")
only_flagged = flag_column.checkbox("Flagged")


def searched(doc_id: str) -> str:
    """Return the text that the search reads: id, title, text, and fields such as authors and year."""
    document = documents[doc_id]
    return f"{doc_id} {document.title} {document.text or ''} {document.metadata}".lower()


shown = own
if topic is not None:
    shown = shown[shown["query_id"] == topic]
if grade is not None:
    shown = shown[shown["grade"] == grade]
if only_flagged:
    shown = shown[shown["flagged"]]
for word in wanted.lower().split():
    shown = shown[[word in searched(doc_id) for doc_id in shown["doc_id"]]]

st.caption(f"{len(shown):,} of {words.count_judgements(len(own))}, newest first.")


def pick() -> None:
    """Keep the uuid of the selected judgement in the session."""
    rows = st.session_state["judgements"]["selection"]["rows"]
    st.session_state[PICKED] = st.session_state[LISTED][rows[0]] if rows else None


st.session_state[LISTED] = shown["uuid"].tolist()
is_review = campaign.settings.review() is not None
listed = answer_fields.with_words(shown, questions).assign(
    stage=[topics[q] for q in shown["query_id"]], doc_id=shown["doc_id"].map(widgets.record_id)
)
if is_review and "answers" in listed:  # the only question of a review: the column names it
    listed["answers"] = listed["answers"].str.removeprefix(f"{REASON}: ")
display.table(
    listed,
    {
        "stage" if is_review else "query_id": words.apply("Topic"),
        "grade": words.apply("Grade"),
        "answers": text("Reason", 165) if is_review else text("Answers", 200),
        "title": text("Title", 180),
        "doc_id": text(words.apply("Document"), 180),
        "judged_at": timestamp(words.apply("Judged (UTC)")),
        "note": text("Note", 150),
        "flagged": CheckboxColumn("Flagged", width="small"),
    },
    height=320,
    on_select=pick,
    selection_mode="single-row",
    key="judgements",
)
picked = own[own["uuid"] == st.session_state.get(PICKED)]
if picked.empty:
    st.stop()

row = picked.iloc[0]
query_id = row["query_id"]
name = f"Topic {widgets.plain(query_id)}: {widgets.plain(titles[query_id])}"
st.subheader(widgets.plain(topics[query_id]) if campaign.settings.review() else name)
widgets.document(documents[row["doc_id"]])
times = {"on screen": row["seconds"], "away": row["away"]}
details = [f"{duration(seconds)} {where}" for where, seconds in times.items() if pd.notna(seconds) and seconds]
if isinstance(row["reason"], str):
    details.append(f"reason: {row['reason']}")
st.caption(widgets.plain(" · ".join(details)))
if row["passages"]:
    st.caption("Marked passages")
    passages = campaign.corpus.view.quoted(picked)["passages"].iloc[0]
    quoted = [passage["text"] for passage in passages if passage["text"]]
    for passage in quoted:
        st.text(f"“{without_bidi(passage)}”")
    if not quoted:
        st.text(words.apply("The document has changed and no longer contains the marked passages."))

# The form carries the uuid of the judgement that it changes: it cannot reach any other pair.
with st.form(f"change-{row['uuid']}", border=False):
    options = {g: f"{g}  {widgets.plain(sentence)}" for g, sentence in scale.sentences.items()}
    if campaign.settings.review():
        options = {g: widgets.plain(sentence) for g, sentence in scale.sentences.items()}
    index = list(options).index(int(row["relevance"])) if row["kind"] == "graded" else None
    choice = st.radio(words.apply("Grade"), options, index=index, format_func=options.__getitem__)
    answers = answer_fields.draw_fields(questions, row["answers"], f"answer-{row['uuid']}")
    former = row["note"] if isinstance(row["note"], str) else ""
    note = st.text_area("Note", former, height=80, max_chars=LONGEST_NOTE, key=f"note-{row['uuid']}").strip()
    flagged = st.checkbox("Flag for review", bool(row["flagged"]), key=f"flag-{row['uuid']}")
    save, undo = st.columns([1, 1])
    change = save.form_submit_button("Save", type="primary", width="stretch")
    take_back = undo.form_submit_button(words.apply("Undo judgement"), width="stretch")

if change or take_back:
    # A changed note alone keeps a "cannot judge".
    still = not take_back and choice is None and row["kind"] == "cannot judge"
    asked = [question for question in questions if not take_back and question.is_asked(choice)]
    names = {question.name for question in asked}
    same_grade = not take_back and row["kind"] == "graded" and choice == row["relevance"]
    before = row["answers"] if same_grade else {}
    # With the same grade, answers to questions that are no longer asked stay, and what was missing may stay missing.
    answers = {name: answer for name, answer in answers.items() if name in names} | {
        name: answer for name, answer in before.items() if name not in names
    }
    missing = find_missing(asked, choice, answers, row["query_id"])
    lacking = [question for question in missing if question.name in before or not same_grade]
    same = note == former and flagged == row["flagged"] and answers == before
    if still and same:
        st.error(words.apply("Choose a grade, or change the note or the flag."))
        st.stop()
    if same_grade and same:
        st.info(f"Nothing to save: {words.grade}, {'answers, ' if questions else ''}note and flag are unchanged.")
        st.stop()
    with widgets.shown_errors():
        if lacking:
            raise JudgementError(f"expected an answer to the question {lacking[0].name!r}, found none")
        judgement = Judgement(
            str(uuid4()),
            now.annotator,
            row["query_id"],
            row["doc_id"],
            "undone" if take_back else "cannot judge" if still else "graded",
            None if take_back else choice,
            row["reason"] if still else None,
            note=None if take_back else note or None,
            source="click",
            # Marked passages are kept.
            flagged=flagged and not take_back,
            passages=() if take_back else row["passages"],
            answers=answers,
        )
        campaign.judging.write(judgement, from_card=True)
        new = "undone" if take_back else widgets.grade_name(scale, judgement.kind, choice)
        st.toast(f"{widgets.plain(widgets.record_id(row['doc_id']) or row['title'])}: {widgets.plain(new)}. Saved.")
        st.session_state[PICKED] = None if take_back else judgement.uuid
        st.rerun()

log = campaign.store.judgements.table(current=False, annotator=now.annotator, query_id=row["query_id"])
log = log[log["doc_id"] == row["doc_id"]][::-1]
if len(log) > 1:
    with st.expander(f"History of this {words.pair} ({count(len(log), 'entry', 'entries')})"):
        display.table(
            answer_fields.with_words(log.assign(grade=widgets.grade_names(scale, log)), questions),
            {
                "judged_at": timestamp(words.apply("Judged (UTC)"), "YYYY-MM-DD HH:mm:ss"),
                "grade": words.apply("Grade"),
                "answers": text("Answers", "medium"),
                "reason": "Reason",
                "flagged": CheckboxColumn("Flagged", width="small"),
                "note": text("Note", "large"),
            },
            alt=words.apply("Earlier and current judgements of this pair"),
        )

if not campaign.settings.assignment().blind:
    others = campaign.judging.explanations.others_said(row["query_id"], row["doc_id"], now.annotator)
    ranks = campaign.judging.explanations.ranks_of(row["query_id"], row["doc_id"])
    st.subheader(words.apply("Judgements by others"))
    if others.empty:
        st.write(words.apply("Nobody else has judged this pair."))
    else:
        display.table(
            others.assign(grade=widgets.grade_names(scale, others)),
            {
                "annotator": words.apply("Annotator"),
                "grade": words.apply("Grade"),
                "counts_as": "Counts as",
                "note": text("Note", "large"),
                "judged_at": timestamp(words.apply("Judged (UTC)"), "YYYY-MM-DD HH:mm:ss"),
            },
            alt=words.apply("Judgements of this pair by others"),
        )
    st.subheader("Ranks in the runs")
    if ranks.empty:
        st.write("No run retrieved this document.")
    else:
        display.table(
            ranks,
            {"run": "Run", "rank": "Rank", "score": number("Score", "%.6g")},
            alt="Ranks of the document in the runs",
        )
