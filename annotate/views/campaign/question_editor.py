"""Further questions: what they ask in words, their editor, and their file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from annotate.auth import session
from annotate.views.widgets import pickers, widgets
from collection.campaign.settings.settings import parse_questions
from collection.core.phrases import count, join, plural
from collection.core.questions import (
    QUESTION_KINDS,
    Question,
    QuestionKind,
    describe_bounds,
    parse_answer_lines,
    write_answer_lines,
)

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

EDITED = "edited-question"  # session key of the name of the question in the form; "" for a new one

KINDS: dict[QuestionKind, str] = {"grades": "Grade", "choice": "Choice", "tags": "Tags"}

ANSWERS_HELP = (
    "For a grade: 0-3, or a line for each grade, such as 0: Not credible. Otherwise a line for each answer: a label, "
    "or a short name, a colon and a sentence, such as population: Wrong population. Files and exports use the name."
)


Upload = Callable[[str], "UploadedFile | None"]
"""Draws the field of a JSON file with this label. The page itself has it, since it says which pages take files."""


def draw(upload: Upload) -> None:
    """Draw the further questions of the campaign with their editor."""
    campaign = session.current().campaign
    questions, states = campaign.settings.questions(), campaign.results.overview.questions()
    st.subheader("Further questions")
    introduction = (
        "Annotators answer these right after the grade of a document, with one key each. A change applies to "
        "judgements from then on and never touches answers that were given."
    )
    st.write(campaign.settings.vocabulary.apply(introduction))
    widgets.documentation_link("how-to/ask-several-questions", "How to ask several questions")
    for place, (question, state) in enumerate(zip(questions, states, strict=True)):
        if st.session_state.get(EDITED) == question.name:
            _draw_form(question)
        else:
            _draw_question(question, state, place, len(questions))
    if st.session_state.get(EDITED) == "":
        _draw_form(None)
    elif st.button("Add question", icon=":material/add:", key="add-question"):
        st.session_state[EDITED] = ""
        st.rerun()
    given = campaign.store.judgements.count_answers()
    names = {question.name for question in questions}
    if removed := [f"{widgets.plain(name)} ({number:,})" for name, number in given.items() if name not in names]:
        st.caption(f"Answers to removed questions stay in the log and in its exports: {join(removed)}.")
    _draw_file(questions, upload)


def _draw_question(question: Question, state: Mapping[str, Any], place: int, number: int) -> None:
    """Draw what a question asks, how often it was answered, and buttons to change it."""
    with st.container(border=True):
        st.write(f"**{widgets.plain(question.sentence)}**")
        st.caption(_words(question))
        if state["asked"]:
            st.caption(_counts(question, state))
        with st.container(horizontal=True):
            if st.button("Edit", key=f"edit-{question.name}"):
                st.session_state[EDITED] = question.name
                st.rerun()
            if st.button("Move up", key=f"up-{question.name}", disabled=place == 0):
                _move(place, place - 1)
            if st.button("Move down", key=f"down-{question.name}", disabled=place == number - 1):
                _move(place, place + 1)
            if st.button("Remove", key=f"remove-{question.name}"):
                others = [
                    each for each in session.current().campaign.settings.questions() if each.name != question.name
                ]
                _save(others, f"Removed {question.name}. Its answers stay in the log.")


def _words(question: Question) -> str:
    """Return what annotators answer, and when, in words."""
    labels = " / ".join(map(question.choice_label, question.answers))  # a label may have commas
    answers = f"{QUESTION_KINDS[question.kind]} {labels}"
    required = "required" if question.required else "optional"
    return widgets.plain(f"{question.name}: {answers}; asked at {describe_bounds(question)}; {required}")


def _counts(question: Question, state: Mapping[str, Any]) -> str:
    """Return how many judgements have an answer, whose answers are missing, and what happens with their judgements."""
    have = plural(state["answered"], "has", "have")
    counts = f"{state['answered']:,} of {count(state['asked'], 'judgement')} at these grades {have} an answer."
    if not state["missing"]:
        return counts
    people = [f"{widgets.plain(row['annotator'])} {row['missing']:,}" for row in state["annotators"] if row["missing"]]
    future = "Their annotators get them again." if question.again else "They are not handed out again."
    lack = plural(state["missing"], "lacks", "lack")
    return f"{counts} {state['missing']:,} {lack} one ({', '.join(people)}). {future}"


def _move(place: int, to: int) -> None:
    questions = list(session.current().campaign.settings.questions())
    questions.insert(to, questions.pop(place))
    _save(questions, "Saved the order.")


def _save(questions: list[Question], message: str) -> None:
    with widgets.saving(widgets.plain(message)):
        session.current().campaign.settings.set_questions(questions)
        st.session_state.pop(EDITED, None)


def _draw_form(question: Question | None) -> None:
    """Draw the form of a question, or of a new one."""
    campaign = session.current().campaign
    grades = campaign.settings.grades
    bounds = {g: f"{g} \u00b7 {grades.label(g)}" for g in grades.sentences}
    is_named = question is not None and question.name in campaign.store.judgements.count_answers()
    with st.form("question", enter_to_submit=False):
        st.write("**New question**" if question is None else f"**Edit {widgets.plain(question.name)}**")
        left, right = st.columns(2, gap="large")
        with left:
            hint = (
                "One short line without comma, colon or |. Files and exports use this name, so it cannot change once "
                "annotators have answered."
            )
            now = "" if question is None else question.name
            name = st.text_input("Name", now, key="question-name", help=hint, disabled=is_named)
            sentence = st.text_input("Question", "" if question is None else question.sentence, key="question-sentence")
            kinds = list(QUESTION_KINDS)
            index = 0 if question is None else kinds.index(question.kind)
            kind = st.selectbox("Kind of answer", kinds, index, format_func=KINDS.__getitem__, key="question-kind")
            lines = "" if question is None else write_answer_lines(question)
            hint = "0-3 for grades, or one answer a line"
            answers = st.text_area(
                "Answers", lines, key="question-answers", height=150, help=ANSWERS_HELP, placeholder=hint
            )
        with right:
            low = None if question is None else question.asked_from
            high = None if question is None else question.asked_to
            asked_from = _pick_bound("Asked from grade", bounds, low, "question-from")
            asked_to = _pick_bound("Asked up to grade", bounds, high, "question-to")
            words = session.current().campaign.settings.vocabulary
            st.caption(words.apply("The question is never asked about documents that cannot be judged."))
            hint = "If not required, Enter skips the question. Required tags can be answered with none of them."
            required = st.checkbox("Required", question is None or question.required, "question-required", hint)
            hint = "For required questions. Annotators get these documents after the others, opened at this question."
            hint = words.apply(hint)
            label = "Hand out judgements without an answer again"
            again = st.checkbox(label, question is not None and question.again, "question-again", hint)
        with st.container(horizontal=True):
            save = st.form_submit_button("Save question", type="primary", key="save-question")
            cancel = st.form_submit_button("Cancel", key="cancel-question")
    if cancel:
        del st.session_state[EDITED]
        st.rerun()
    if save:
        with widgets.shown_errors():
            parsed = parse_answer_lines(answers, kind)
            edited = Question(name.strip(), sentence, kind, parsed, required, asked_from, asked_to, again)
            before = campaign.settings.questions()
            if question is None:
                questions = [*before, edited]
            else:
                questions = [edited if each.name == question.name else each for each in before]
            _save(questions, f"Saved {edited.name}. Open pages ask it once they are reloaded.")


def _pick_bound(label: str, bounds: Mapping[int, str], grade: int | None, key: str) -> int | None:
    # -1 means no limit: with None, the field would have a button that clears it, and say "Choose an option".
    picked = pickers.pick(label, {-1: "No limit", **bounds}, -1 if grade is None else grade, key)
    return None if picked < 0 else picked


def _draw_file(questions: tuple[Question, ...], upload: Upload) -> None:
    """Draw the download of the questions, and what replaces them by those of a file."""
    with st.expander("Questions as a file"):
        content = json.dumps([question.to_json() for question in questions], ensure_ascii=False, indent=2) + "\n"
        st.download_button(
            "Download questions.json", content, "questions.json", on_click="ignore", key="questions-file"
        )
        file = upload("Questions of another campaign, as JSON")
        if file is None:
            return
        with widgets.shown_errors():
            uploaded = parse_questions(file.getvalue(), file.name)
            st.write(f"{count(len(uploaded), 'question')}:")
            for question in uploaded:
                st.caption(f"**{widgets.plain(question.sentence)}** {_words(question)}")
            if st.button("Replace the questions above", key="replace-questions"):
                _save(list(uploaded), f"Saved {count(len(uploaded), 'question')}.")
